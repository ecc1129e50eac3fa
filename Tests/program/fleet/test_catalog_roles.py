"""The roles of packaging/postgresql/catalog.sql: one without a superuser's rights owns the catalog, and one can only read it."""

import json
import re
import subprocess
import time
import unittest

from harness import ROOT, Server, photo, run
from test_shared_edits import SharedMetadata

SCRIPT = ROOT / "packaging/postgresql/catalog.sql"


class Roles(SharedMetadata):
    def migrated(self):
        """The tests' own superuser has the name of the role."""
        host = re.search("host=([^&]+)", self.database.address)[1]
        self.administrator = f"postgresql:///postgres?host={host}&user=administrator"
        self.database.ask("CREATE ROLE administrator SUPERUSER LOGIN")
        self.ask_as("administrator", "ALTER ROLE ziggurat RENAME TO bootstrap", database="postgres")
        made = subprocess.run(["psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", self.administrator, "--file", SCRIPT], capture_output=True, text=True)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.database.address = self.address("ziggurat")
        super().migrated()

    def address(self, role: str, database: str = "ziggurat") -> str:
        return self.administrator.replace("/postgres?", f"/{database}?").replace("user=administrator", f"user={role}")

    def psql(self, role: str, sql: str, database: str = "ziggurat") -> subprocess.CompletedProcess:
        return subprocess.run(["psql", "-qAt", self.address(role, database), "-c", sql], capture_output=True, text=True)

    def ask_as(self, role: str, sql: str, database: str = "ziggurat") -> str:
        result = self.psql(role, sql, database)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_role_without_a_superusers_rights_suffices(self):
        self.assertEqual(self.ask_as("ziggurat", "SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls FROM pg_roles "
                                                 "WHERE rolname LIKE 'ziggurat%'").split(), ["f", "f"])
        for name in "ab":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.build()
        self.assertEqual(run("reindex", self.bucket, "--catalog", self.database.address).returncode, 0)
        self.assertEqual(run("catalog", "check", self.database.address).returncode, 0)
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "ab")
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/a", {"title": "Quay"})[0], 200)
            name = self.ask(servers[1], "DELETE", "/api/images/b")[1]["deleted"]["id"]
            self.assertEqual(self.ask(servers[1], "POST", f"/api/trash/{name}/restore")[0], 200)
            for server in servers:
                self.listed(server, "ab")
                self.eventually(lambda: [item["id"] for item in json.loads(server.get("/api/images?q=quay").body)["images"]], ["a"])
                # Nothing was refused, as the cleaning of tables would be to who does not own them.
                self.assertNotIn("permission", server.errors())
        self.ask_as("administrator", "CREATE ROLE other LOGIN")
        self.assertIn("permission denied for database", self.psql("other", "SELECT 1").stderr)

    def test_a_role_that_reads_serves_and_saves_and_writes_nothing(self):
        for name in "ab":
            photo(self.photos / f"{name}.jpg", 900, 700)
        self.build()
        reader = self.address("ziggurat_reader")
        # What nobody has written down yet, it cannot write.
        with self.server(0) as writer:
            self.listed(writer, "ab")
        with Server(self.bucket, "--catalog", reader) as server:
            self.listed(server, "ab")
            self.assertEqual(server.get("/dzi/a_files/9/0_0.jpg").status, 200)
            with self.server(0) as writer:
                self.eventually(lambda: self.ask(writer, "PATCH", "/api/images/a", {"title": "Quay"})[0], 200)
                self.eventually(lambda: [item["id"] for item in json.loads(server.get("/api/images?q=quay").body)["images"]], ["a"])
            # It asks for the right to write each second, and gets it from nobody.
            time.sleep(5)
            self.assertEqual([server.metrics()[name] for name in ("catalog_writer", "catalog_reachable")], [0, 1])
            self.assertEqual(server.get("/healthz").body, b"ok\n")
            self.assertEqual(server.get("/dzi/b_files/9/0_0.jpg").status, 200)
            self.assertEqual(server.errors(), "ziggurat: the catalog's database reports an error: permission denied for table writer\n")
        for table in self.ask_as("ziggurat", "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace").split():
            for sql in (f"DELETE FROM {table}", f"TRUNCATE {table}", f"DROP TABLE {table}"):
                self.assertRegex(self.psql("ziggurat_reader", sql).stderr, "permission denied|must be owner", sql)
        self.assertIn("permission denied", self.psql("ziggurat_reader", "CREATE TABLE mine (a int)").stderr)
        saved = subprocess.run(["pg_dump", "--no-owner", "--dbname", reader], capture_output=True, text=True)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.assertIn("Quay", saved.stdout)


if __name__ == "__main__":
    unittest.main()
