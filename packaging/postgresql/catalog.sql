-- Roles and database of a catalog that servers share (PostgreSQL 15 and later). Each library needs a database of its own.
-- As the administrator of the database server:
--
--   sudo -u postgres psql --set ON_ERROR_STOP=1 --file catalog.sql
--   sudo -u postgres psql --command '\password ziggurat' --command '\password ziggurat_reader'
--   ziggurat catalog migrate postgresql://ziggurat@HOST/ziggurat
--
-- Then add a line for the network of the servers to pg_hba.conf, and reload PostgreSQL:
--
--   hostssl  ziggurat  ziggurat,ziggurat_reader  10.0.0.0/24  scram-sha-256

-- Owns the tables. `catalog migrate`, `reindex --catalog` and servers use it. It is no superuser, and cannot create
-- databases, roles or extensions.
CREATE ROLE ziggurat LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;

-- Can only read: for backups (pg_dump), and for servers that never write the catalog.
CREATE ROLE ziggurat_reader LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;

CREATE DATABASE ziggurat OWNER ziggurat TEMPLATE template0 ENCODING 'UTF8';
REVOKE ALL ON DATABASE ziggurat FROM PUBLIC;
GRANT CONNECT ON DATABASE ziggurat TO ziggurat_reader;

\connect ziggurat

ALTER DEFAULT PRIVILEGES FOR ROLE ziggurat GRANT SELECT ON TABLES TO ziggurat_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE ziggurat GRANT SELECT ON SEQUENCES TO ziggurat_reader;
