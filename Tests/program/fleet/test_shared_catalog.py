"""Servers of one library in a store that share a catalog in PostgreSQL."""

import json
import os
import signal
import time
from pathlib import Path
from urllib.parse import quote

from databases import Database
from harness import Server, photo, run
from test_store import StoreTest


class SharedCatalogTest(StoreTest):
    def setUp(self):
        super().setUp()
        self.database = Database()
        self.addCleanup(lambda: self.database.close())

    def migrated(self):
        result = run("catalog", "migrate", self.database.address)
        self.assertEqual((result.returncode, result.stdout), (0, "version 9 now\n"), result.stderr)

    def eventually(self, ask, expected, within=30):
        end = time.monotonic() + within
        while (found := ask()) != expected:
            self.assertLess(time.monotonic(), end, found)
            time.sleep(0.1)

    def serve(self):
        return Server(self.bucket, "--catalog", self.database.address)


class SharedCatalog(SharedCatalogTest):
    def test_tables_are_created_and_reported(self):
        check = lambda: run("catalog", "check", self.database.address)
        result = check()
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "'ziggurat catalog migrate' makes them")
        result = run("serve", self.bucket, "--catalog", self.database.address, "--port", "0")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "it has no tables; 'ziggurat catalog migrate' makes them")
        self.migrated()
        self.assertEqual((check().returncode, check().stdout), (0, "version 9, as needed\n"))
        self.assertEqual(run("catalog", "migrate", self.database.address).stdout, "version 9 already\n")
        self.database.ask("UPDATE ziggurat_schema SET version = 99")
        self.assertOneLine(check(), "a newer ziggurat's")
        self.assertOneLine(run("catalog", "migrate", self.database.address), "a newer ziggurat's")

    def test_wrong_uses(self):
        for arguments, reported in (
                (("catalog", "check"), "missing URL (usage: ziggurat catalog "),
                (("catalog", "drop", "postgresql://x/y"), "unknown action 'drop'"),
                (("catalog", "check", "mysql://x:secret@/y"), "requires a URL of the form postgresql://"),
                (("serve", self.bucket, "--catalog", "/tmp/secret"), "--catalog requires a URL of the form postgresql://"),
                (("serve", self.bucket, "--catalog", "postgresql://x/y", "--advertise-url", "server-3:8080"), "invalid value 'server-3:8080' for --advertise-url"),
                (("serve", self.bucket, "--catalog", "postgresql://x/y", "--writable", "--keep-deleted", "49"), "at most 48 hours"),
                (("serve", self.bucket, "--catalog", "postgresql://x/y", "--advertise-url", "http://u:p@x/"), "for --advertise-url"),
                (("serve", self.base, "--catalog", "postgresql://x/y"), "--catalog requires a library in an object store"),
                (("reindex", self.bucket, "--catalog", ""), "--catalog requires a URL of the form postgresql://"),
                (("reindex", self.library, "--catalog", "postgresql://x/y"), "a folder has a catalog of its own")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(reported, result.stderr)
            # What is no such URL may hold a password anywhere.
            self.assertNotIn("secret", result.stderr)
        for near in ("S3://bucket/x", "s3:/bucket/x"):
            result = run("serve", near, "--port", "0")
            self.assertEqual(result.returncode, 1)
            self.assertOneLine(result, "it is not s3://BUCKET")
        result = run("catalog", "check", f"postgresql:///x?host={self.base}")
        self.assertEqual(result.returncode, 75)
        self.assertOneLine(result, "open the catalog")

    def test_index_fills_it_and_servers_list_from_it(self):
        self.pictures()
        self.build()
        self.migrated()
        ids = sorted(self.archives_by_id())
        result = run("reindex", self.bucket, "--catalog", self.database.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, f"{len(ids)} images\n{len(ids)} new in the catalog\n")
        self.assertEqual(sorted(self.database.ask("SELECT id FROM image").splitlines()), ids)
        with Server(self.bucket) as alone, self.serve() as server:
            expected = json.loads(alone.get("/api/images?limit=1000&fields=all").body)
            self.eventually(lambda: json.loads(server.get("/api/images?limit=1000&fields=all").body), expected)
            for question in ("q=a", "q=p", "sort=-size", "sort=date", "sort=title", "limit=1"):
                path = f"/api/images?{question}"
                self.assertEqual(json.loads(server.get(path).body), json.loads(alone.get(path).body), question)
            self.assertEqual(server.get("/iiif/collection.json").status, alone.get("/iiif/collection.json").status)
            result = run("reindex", self.bucket, "--catalog", self.database.address)
            self.assertEqual(result.returncode, 0)
            self.assertIn("a server keeps the catalog", result.stderr)

    def test_a_catalog_is_one_library_s(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        self.migrated()
        self.assertEqual(run("reindex", self.bucket, "--catalog", self.database.address).returncode, 0)
        for arguments in (("serve", f"{self.bucket}/other", "--port", "0"), ("reindex", f"{self.bucket}/other")):
            result = run(*arguments, "--catalog", self.database.address)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertOneLine(result, f"it is the catalog of {self.bucket}, not of {self.bucket}/other; each library needs")
        # Nor where it is met later.
        self.database.kill()
        with Server(f"{self.bucket}/other", "--catalog", self.database.address) as other:
            self.database.start()
            time.sleep(5)
            self.assertEqual(other.get("/dzi/a.dzi").status, 503)
        self.assertEqual(self.database.ask("SELECT id FROM image"), "a\n")
        with self.serve() as server:
            self.listed(server, "a")

    def archives_by_id(self) -> list[str]:
        with Server(self.bucket) as server:
            listed = json.loads(server.get("/api/images?limit=1000").body)["images"]
            ids = []
            for item in listed:
                book = quote(item["id"], safe="")
                pages = json.loads(server.get(f"/api/images?book={book}&limit=1000").body)["images"]
                ids += [page["id"] for page in pages] if item.get("isBook") else [item["id"]]
            return ids

    def test_the_next_one_writes_when_the_writer_is_gone(self):
        self.pictures()
        self.build()
        self.migrated()
        writer = lambda: self.database.ask("SELECT split_part(holder, ' ', 2) FROM writer").strip()
        with self.serve() as first:
            self.eventually(writer, str(first.process.pid))
            with self.serve() as second:
                ids = self.ids(first)
                self.assertEqual(self.ids(second), ids)
                os.kill(first.process.pid, signal.SIGSTOP)
                self.eventually(writer, str(second.process.pid))
                # What comes now the second one writes down, and the first, once it goes on, reads.
                self.photo_of_its_own("later")
                self.build()
                self.listed(second, ids + ["later"])
                os.kill(first.process.pid, signal.SIGCONT)
                self.listed(first, ids + ["later"])
                self.assertEqual(writer(), str(second.process.pid))

    def photo_of_its_own(self, name):
        pictures = sorted(path for path in self.photos.rglob("*.jpg"))
        (self.photos / f"{name}.jpg").write_bytes(pictures[0].read_bytes() + b"\0")

    def test_while_the_database_is_away_tiles_are_served_and_lists_come_back(self):
        self.pictures()
        self.build()
        self.migrated()
        with self.serve() as server:
            self.eventually(lambda: self.database.ask("SELECT count(*) > 0 FROM image").strip(), "t")
            ids = self.ids(server)
            self.assertIn("twin", ids)
            tile = "/dzi/twin.dzi"
            self.assertEqual(server.get("/healthz").body, b"ok\n")
            self.assertEqual(server.get(tile).status, 200)
            self.assertEqual(server.get("/dzi/none.dzi").status, 404)
            # What has changed is asked for at once, not when somebody wants it.
            self.database.ask("UPDATE archive SET replaced = NULL WHERE id = 'twin'")
            time.sleep(2)
            self.database.kill()
            # Nothing is called missing that cannot be asked for.
            self.eventually(lambda: b"degraded" in server.get("/healthz").body, True)
            other = quote(next(id for id in ids if id != "twin" and not id.startswith("a b")), safe="")
            for path in ("/dzi/none-either.dzi", f"/dzi/{other}.dzi", f"/dzi/{other}_files/0/0_0.jpg", f"/api/images/{other}",
                         f"/iiif/presentation/3/{other}/manifest"):
                answer = server.get(path)
                self.assertEqual((answer.status, answer["retry-after"]), (503, "1"), path)
                if path.startswith("/api/"):
                    self.assertTrue(answer["content-type"].startswith("application/problem+json"), path)
            answer = server.get("/api/images")
            self.assertEqual((answer.status, answer["retry-after"]), (503, "1"))
            self.assertIn(b"degraded", server.get("/healthz").body)
            for path in (tile, "/api/images/twin", "/iiif/presentation/3/twin/manifest", "/iiif/3/twin/info.json"):
                self.assertEqual(server.get(path).status, 200, path)
            self.database.start()
            self.eventually(lambda: server.get("/api/images").status, 200)
            self.eventually(lambda: server.get("/dzi/none-either.dzi").status, 404)
            self.assertEqual(server.get(f"/dzi/{other}.dzi").status, 200)
            self.assertEqual(self.ids(server), ids)
            self.assertEqual(server.get("/healthz").body, b"ok\n")

    def test_a_database_that_hangs_is_reported_soon_and_used_again_soon(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.build()
        self.migrated()
        with self.serve() as first, self.serve() as second:
            for server in (first, second):
                self.listed(server, "abc")
                self.assertEqual(server.get("/dzi/a.dzi").status, 200)
            for round in range(2):
                self.database.stall()
                try:
                    for server in (first, second):
                        began = time.monotonic()
                        self.assertEqual(server.get(f"/dzi/none-{round}.dzi").status, 503)
                        self.assertLess(time.monotonic() - began, 15)
                        self.eventually(lambda: b"degraded" in server.get("/healthz").body, True)
                        began = time.monotonic()
                        for path in (f"/dzi/none-{round}.dzi", "/dzi/b.dzi" if round == 0 else "/dzi/none.dzi", "/api/images"):
                            self.assertEqual(server.get(path).status, 503)
                        self.assertLess(time.monotonic() - began, 15)
                        self.assertEqual(server.get("/dzi/a.dzi").status, 200)
                finally:
                    self.database.go_on()
                for server in (first, second):
                    self.eventually(lambda: (server.get("/healthz").body, server.get(f"/dzi/none-{round}.dzi").status), (b"ok\n", 404), within=90)
                    self.listed(server, "abc")

    def test_images_are_asked_for_and_what_changes_is_seen_by_all(self):
        for name in "ab":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.migrated()
        with self.serve() as first, self.serve() as second:
            servers = (first, second)
            for server in servers:
                self.assertEqual(server.get("/dzi/a.dzi").status, 404)
            self.build()
            for server in servers:
                self.eventually(lambda: server.get("/dzi/a.dzi").status, 200)
                self.listed(server, "ab")
                # Neither list of the directory nor anything but what was asked for.
                self.assertIn(b"ziggurat_known_images 1\n", server.get("/metrics").body)
            described = lambda server: json.loads(server.get("/api/images/a").body)
            before = {server: described(server) for server in servers}
            old = before[first]["generation"]
            tile = lambda server, generation: server.get(f"/dzi/a_files/8/0_0.jpg?v={generation}")
            bodies = {old: tile(first, old).body}
            photo(self.photos / "a.jpg", 280, 190)
            (self.photos / "b.jpg").unlink()
            self.build(self.photos, "--prune")
            for server in servers:
                self.eventually(lambda: described(server)["width"], 280)
                self.eventually(lambda: server.get("/dzi/b.dzi").status, 404)
                self.listed(server, "a")
                new = described(server)["generation"]
                bodies.setdefault(new, tile(server, new).body)
                self.assertNotEqual(bodies[old], bodies[new])
                # Who has the former page goes on with the former tiles; nothing is kept for ever under another's name.
                for generation, body in bodies.items():
                    answer = tile(server, generation)
                    self.assertEqual((answer.status, answer.body), (200, body))
                    self.assertIn("immutable", answer["cache-control"])
                    self.assertTrue(answer["etag"].startswith(f'"{generation}-'), answer["etag"])
                answer = tile(server, "12345")
                self.assertEqual((answer.body, answer["cache-control"]), (bodies[new], "public, no-cache"))
            # As long as it is kept.
            self.database.ask("UPDATE archive SET replaced = replaced - interval '1 day' WHERE replaced IS NOT NULL")
            for server in servers:
                self.eventually(lambda: tile(server, old)["cache-control"], "public, no-cache")

    def test_a_book_is_seen_by_its_cover(self):
        for page in range(3):
            photo(self.photos / f"book/{page}.jpg", 300, 200)
        self.build(self.photos, "--book")
        self.migrated()
        self.assertEqual(run("reindex", self.bucket, "--catalog", self.database.address).returncode, 0)
        with Server(self.bucket) as alone, self.serve() as server:
            book = next(item["id"] for item in json.loads(alone.get("/api/images").body)["images"])
            for path in (f"/api/images/{quote(book, safe='')}", f"/api/images/{quote(book, safe='')}/viewport?width=300&height=200",
                         f"/iiif/presentation/3/{quote(book, safe='')}/manifest"):
                ours, theirs = server.get(path), alone.get(path)
                self.assertEqual((ours.status, server.portless(ours.body)), (theirs.status, alone.portless(theirs.body)), path)
                self.assertEqual(ours.status, 200)
