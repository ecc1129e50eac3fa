"""Passwords of a catalog's database: found by libpq, and shown to nobody."""

import os
import re
import time
import unittest
from pathlib import Path
from unittest import mock

from databases import Database
from harness import Server, folder, run
from test_store import StoreTest

SECRET = "hunter2Zx"


class Messages(unittest.TestCase):
    def test_no_message_has_the_password_or_a_part_of_it(self):
        # Whole, escaped, with what belongs escaped, in the query, in an address that is none, on a port that nobody has.
        for address in (f"postgresql://u:{SECRET}@127.0.0.1:1/d", f"postgresql://u:a%40{SECRET}@127.0.0.1:1/d",
                        f"postgresql://u:{SECRET}/{SECRET}@127.0.0.1:1/d", f"postgresql://u:x@{SECRET}@127.0.0.1:1/d",
                        f"postgresql://u@127.0.0.1:1/d?password={SECRET}", f"postgresql://u:{SECRET}@[::1/d",
                        f"postgresql://u:{SECRET}@127.0.0.1:1/d?nothing=1", f"postgresql+ssl://u:{SECRET}@h/d",
                        f"postgresql://u:{SECRET}@127.0.0.1:port/d", f"postgresql://u:{SECRET}@127.0.0.1:1/d?sslmode=x"):
            for arguments in (("catalog", "check", address), ("catalog", "migrate", address), ("catalog", address),
                          ("reindex", folder("l"), "--catalog", address), ("inspect", address)):
                result = run(*arguments)
                self.assertNotEqual(result.returncode, 0, arguments)
                self.assertNotIn(SECRET, result.stdout + result.stderr, arguments)
                self.assertNotEqual(result.stderr, "", arguments)


class Processes(StoreTest):
    def test_a_list_of_processes_does_not_show_it(self):
        address = f"postgresql://u:{SECRET}@127.0.0.1:1/d"
        with Server(self.bucket, "--catalog", address, "--host", "127.0.0.1") as server:
            shown = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().split(b"\0")
            self.assertIn(f"postgresql://u:{'*' * len(SECRET)}@127.0.0.1:1/d".encode(), shown)
            self.assertEqual(shown[-3:-1], [b"--port", b"0"])
            self.assertIn(server.get("/healthz").status, (200, 503))
            self.assertNotIn(SECRET, server.errors())


class PasswordFiles(unittest.TestCase):
    def test_a_password_is_found_by_pgpassfile_and_a_service_and_not_in_the_address(self):
        database = Database()
        self.addCleanup(database.close)
        database.ask(f"ALTER ROLE ziggurat PASSWORD '{SECRET}'")
        rules = Path(database.folder.name) / "data/pg_hba.conf"
        rules.write_text("local all all scram-sha-256\n")
        place = folder("pg")
        host = re.search("host=([^&]+)", database.address)[1]
        (place / "pass").write_text(f"*:*:*:ziggurat:{SECRET}\n")
        (place / "pass").chmod(0o600)
        (place / "services").write_text(f"[images]\nhost={host}\nuser=ziggurat\ndbname=postgres\n")
        # While it still lets everybody in.
        database.ask("SELECT pg_reload_conf()")
        end = time.monotonic() + 20
        while "password" not in run("catalog", "check", database.address).stderr:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        result = run("catalog", "check", f"postgresql://ziggurat:not{SECRET}@/postgres?host={host}")
        self.assertIn("password authentication failed", result.stderr)
        self.assertNotIn(SECRET, result.stderr)
        with mock.patch.dict(os.environ, {"PGPASSFILE": str(place / "pass")}):
            self.assertEqual(run("catalog", "migrate", database.address).returncode, 0)
            with mock.patch.dict(os.environ, {"PGSERVICE": "images", "PGSERVICEFILE": str(place / "services")}):
                result = run("catalog", "check", "postgresql://")
                self.assertEqual(result.returncode, 0, result.stderr)
        # No TLS at a socket of the file system; libpq itself says so.
        result = run("catalog", "check", "postgresql://ziggurat@127.0.0.1:1/x?sslmode=nonsense")
        self.assertIn("sslmode", result.stderr)


if __name__ == "__main__":
    unittest.main()
