"""What is saved as a file: its name, and the files from which images were made."""

import json
import os
import re
import select
import socket
import subprocess
import unittest
from pathlib import Path
from urllib.parse import unquote

from harness import Server, ServerTest, folder, photo, run
from upload_client import Client, serve

TITLE = 'Évening / "light": 夜'
NAME = "Évening - -light-- 夜"


class Downloads(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        cls.server = serve(cls.library, "--keep-originals")
        cls.client = Client(cls.server)
        cls.source = photo(folder("p") / "x.jpg", 900, 700)
        subprocess.run(["exiftool", "-q", "-overwrite_original", f"-XMP-dc:Title={TITLE}", cls.source], check=True)
        for name, data in (("titled.JPG", cls.source.read_bytes()), ("plain.png", photo(folder("p") / "y.png", 300, 200).read_bytes())):
            state = cls.client.end(cls.client.send(data, filename=name)[1])
            assert state["status"] == "done", state

    def name(self, path, status=200, **headers):
        answer = self.server.get(path, **headers)
        self.assertEqual(answer.status, status, path)
        disposition = answer["content-disposition"]
        if not disposition:
            return None
        self.assertRegex(disposition, r'^attachment; filename="[ -~]+"; filename\*=UTF-8\'\'[\w.~%-]+$')
        return unquote(disposition.split("''")[1])

    def test_a_picture_is_saved_by_its_title_and_the_part_that_it_shows(self):
        for path, name in (
                ("/iiif/3/titled/full/max/0/default.jpg?download", f"{NAME}.jpg"),
                ("/iiif/3/titled/full/max/90/default.png?download=1", f"{NAME}.png"),
                ("/iiif/2/titled/full/full/0/default.webp?download=1", f"{NAME}.webp"),
                ("/iiif/3/titled/10,20,300,200/max/0/default.jpg?download=", f"{NAME} 10,20,300,200.jpg"),
                ("/iiif/3/plain/full/max/0/default.png?download", "plain.png"),
                ("/iiif/3/plain/full/max/0/default.jpg?v=1&download", "plain.jpg"),
                ("/dzi/titled_files/9/0_0.jpg?download", f"{NAME}.jpg"),
                ("/api/images/titled/viewport.jpg?width=90&height=70&download", f"{NAME} view.jpg")):
            with self.subTest(path):
                self.assertEqual(self.name(path), name)
                self.assertIsNone(self.name(path.replace("download", "down")) if "viewport" not in path else None)

    def test_a_title_that_was_changed_counts(self):
        answer = self.client.ask("PATCH", "/api/images/plain", json.dumps({"title": "Anew"}).encode(), Content_Type="application/json")
        self.assertEqual(answer.status, 200)
        self.assertEqual(self.name("/iiif/3/plain/full/max/0/default.jpg?download"), "Anew.jpg")

    def test_a_refusal_is_no_file(self):
        for path, status in (("/iiif/3/nobody/full/max/0/default.jpg?download", 404), ("/iiif/3/titled/0,0,0,0/max/0/default.jpg?download", 400),
                             ("/api/images/titled/viewport.jpg?width=90&download", 400), ("/api/images/titled?download", 400)):
            self.assertIsNone(self.name(path, status), path)

    def test_a_writer_gets_the_file_as_it_was_sent(self):
        image = json.loads(self.client.ask("GET", "/api/images/titled").body)
        self.assertEqual(image["original"], {"bytes": self.source.stat().st_size, "type": "image/jpeg", "url": "/api/images/titled/original"})
        answer = self.client.ask("GET", "/api/images/titled/original?download")
        self.assertEqual((answer.status, answer.body), (200, self.source.read_bytes()))
        self.assertEqual(unquote(answer["content-disposition"].split("''")[1]), f"{NAME}.JPG")
        self.assertIn("no-store", answer["cache-control"])
        part = self.client.ask("GET", "/api/images/titled/original", Range="bytes=10-19")
        self.assertEqual((part.status, part.body), (206, self.source.read_bytes()[10:20]))

    def test_everybody_has_it_where_the_owner_wants_that_also_from_a_server_that_only_shows(self):
        server = Server(self.library, "--public-originals")
        self.addCleanup(server.stop)
        image = json.loads(server.get("/api/images/titled").body)
        self.assertEqual(image["original"], {"bytes": self.source.stat().st_size, "type": "image/jpeg", "url": "/api/images/titled/original"})
        answer = server.get("/api/images/titled/original")
        self.assertEqual((answer.status, answer.body), (200, self.source.read_bytes()))
        self.assertEqual(answer["access-control-allow-origin"], "*")
        for path in ("/api/images/nobody/original", "/api/images/~%2Ftitled/original", "/api/images/..%2Ftitled/original"):
            self.assertIn(server.get(path).status, (400, 404), path)

    def test_to_all_others_there_is_none(self):
        self.assertNotIn("original", json.loads(self.server.get("/api/images/titled").body))
        self.assertEqual(self.server.get("/api/images/titled/original").status, 404)
        for method in ("POST", "PUT", "DELETE"):
            self.assertEqual(self.client.ask(method, "/api/images/titled/original", Content_Type="application/json").status, 405)

    def test_a_link_that_leads_out_is_no_original_nor_is_what_is_no_picture(self):
        (self.library / "plain.png").unlink()
        outside = photo(folder("outside") / "secret.png", 50, 50)
        (self.library / "plain.png").symlink_to(outside)
        (self.library / "plain.txt").write_text("notes")
        self.assertEqual(self.client.ask("GET", "/api/images/plain/original").status, 404)
        self.assertNotIn("original", json.loads(self.client.ask("GET", "/api/images/plain").body))


class LargeOriginals(unittest.TestCase):
    """An original is read to its end once after a start, for its digest, and nobody else waits for that."""

    BYTES = 1_500_000_000
    CLIENTS = 24

    @classmethod
    def setUpClass(cls):
        cls.library, source = folder("library"), folder("p") / "large.tif"
        subprocess.run(["vips", "copy", photo(source.parent / "large.png", 300, 200), source], check=True)
        # A TIFF file may have anything behind what its directories name; a hole takes no disk.
        os.truncate(source, cls.BYTES)
        photo(source.parent / "small.jpg", 600, 400)
        for path in (source, source.parent / "small.jpg"):
            result = run("build", path, "--library", cls.library, "--quiet")
            assert result.returncode == 0, result.stderr
        source.rename(cls.library / "large.tif")

    def read(self, server: Server) -> int:
        """Bytes that the server has read from files."""
        return int(re.search(r"rchar: (\d+)", Path(f"/proc/{server.process.pid}/io").read_text())[1])

    def ask(self, server: Server, target: str) -> socket.socket:
        connection = server.connect()
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def test_it_is_read_once_and_others_are_answered_meanwhile(self):
        server = Server(self.library, "--public-originals", "--threads", 1)
        self.addCleanup(server.stop)
        before = self.read(server)
        targets = ["/api/images/large", "/api/images/large/original", "/api/images/large/viewport?width=100&height=100&include=description"]
        waiting = [self.ask(server, targets[number % len(targets)]) for number in range(self.CLIENTS)]
        meanwhile = 0
        for target in ("/dzi/small_files/8/0_0.jpg", "/healthz", "/iiif/3/small/info.json", "/api/images/small") * 3:
            with self.ask(server, target) as connection:
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200 "), target)
            # None of those that wait has been answered yet.
            meanwhile += not select.select(waiting, [], [], 0)[0]
        self.assertGreater(meanwhile, 0)
        for number, connection in enumerate(waiting):
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(4096)
                self.assertTrue(head.startswith(b"HTTP/1.1 200 "), (targets[number % len(targets)], head))
        image = json.loads(server.get("/api/images/large").body)
        self.assertEqual(image["original"]["bytes"], self.BYTES)
        self.assertLess(self.read(server) - before, 1.5 * self.BYTES)
        self.assertGreater(self.read(server) - before, self.BYTES)

    def test_the_answers_that_wait_are_dropped_when_the_server_stops(self):
        server = Server(self.library, "--public-originals", "--threads", 1)
        waiting = [self.ask(server, "/api/images/large/original") for _ in range(self.CLIENTS)]
        self.assertEqual(server.stop(), 0)
        for connection in waiting:
            connection.close()


if __name__ == "__main__":
    unittest.main()
