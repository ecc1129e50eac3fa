"""A shared catalog that servers cannot use, or only in part: they report the reason, call nothing missing, and recover with it."""

import json
import time
import unittest

from harness import photo, run
from test_shared_catalog import SharedCatalogTest
from test_shared_edits import SharedMetadata


class Refusals(SharedCatalogTest):
    def test_a_server_that_its_tables_do_not_suit_when_they_are_there_takes_no_right_and_calls_nothing_missing(self):
        self.migrated()
        self.database.ask("UPDATE ziggurat_schema SET version = 99")
        self.database.kill()
        with self.serve() as server:
            self.database.start()
            self.eventually(lambda: "images in memory are served meanwhile: its tables are a newer ziggurat's" in server.errors(), True)
            self.assertIn("degraded", server.get("/healthz").body.decode())
            time.sleep(3)
            for path in ("/api/images", "/api/images/a", "/dzi/a.dzi"):
                self.assertEqual(server.get(path).status, 503, path)
            self.assertEqual(self.database.ask("SELECT epoch FROM writer").strip(), "0")
            self.database.ask("UPDATE ziggurat_schema SET version = 9")
            self.eventually(lambda: server.get("/api/images").status, 200)
            self.eventually(lambda: self.database.ask("SELECT epoch FROM writer").strip(), "1")
            self.assertEqual(server.get("/healthz").body, b"ok\n")
            self.eventually(lambda: "the catalog can be reached again" in server.errors(), True)

    def test_before_the_directory_was_read_nothing_is_called_missing(self):
        self.migrated()
        with self.serve() as server:
            self.eventually(lambda: server.get("/api/images/a").status, 404)
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        # As after a new database.
        self.database.ask("TRUNCATE archive, image, part")
        with self.store.lock:
            self.store.errors_below["some/library/directory"] = [503] * 10_000
        with self.serve() as server:
            for _ in range(20):
                for path in ("/api/images/a", "/dzi/a.dzi", "/iiif/3/a/info.json"):
                    self.assertEqual(server.get(path).status, 503, path)
                time.sleep(0.1)
            with self.store.lock:
                self.store.errors_below.clear()
            self.eventually(lambda: server.get("/api/images/a").status, 200)
            self.eventually(lambda: server.get("/api/images/b").status, 404)

    def test_missing_tables_are_reported_and_repaired(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        self.migrated()
        with self.serve() as server:
            self.listed(server, "a")
            self.database.ask("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            self.eventually(lambda: "it has no tables; 'ziggurat catalog migrate' makes them" in server.errors(), True)
            self.assertIn(b"degraded", server.get("/healthz").body)
            for path in ("/api/images", "/api/images?q=a", "/api/images/b"):
                self.assertEqual(server.get(path).status, 503, path)
            self.migrated()
            self.listed(server, "a")
            self.eventually(lambda: server.get("/healthz").body, b"ok\n")

    def test_no_picture_of_an_id_that_cannot_be_asked_for_is_another_ids(self):
        self.migrated()
        with self.serve() as server:
            self.eventually(lambda: server.get("/api/images").status, 200)
            self.database.kill()
            self.eventually(lambda: b"degraded" in server.get("/healthz").body, True)
            for path in ("/iiif/3/c/full/100,/0/default.jpg", "/iiif/2/c/full/100,/0/default.jpg", "/iip?IIIF=c/full/100,/0/default.jpg"):
                answer = server.get(path)
                self.assertEqual((answer.status, answer["retry-after"]), (503, "1"), path)
            self.database.start()


class Rights(SharedMetadata):
    def test_writes_that_the_database_denies_are_reported(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        self.database.ask("CREATE ROLE reader LOGIN; GRANT pg_read_all_data TO reader")
        reader = self.database.address.replace("user=ziggurat", "user=reader")
        self.assertNotEqual(reader, self.database.address)
        result = run("reindex", self.bucket, "--catalog", reader)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "permission denied for table writer")
        with self.server(0) as server:
            self.listed(server, "a")
            self.database.ask("ALTER TABLE sidecar RENAME TO elsewhere")
            self.assertEqual(self.ask(server, "PATCH", "/api/images/a", {"title": "Said"})[0], 503)
            self.eventually(lambda: 'reports an error: relation "sidecar" does not exist' in server.errors(), True)
            self.database.ask("ALTER TABLE elsewhere RENAME TO sidecar")
            self.eventually(lambda: self.ask(server, "PATCH", "/api/images/a", {"title": "Said"})[0], 200)


if __name__ == "__main__":
    unittest.main()
