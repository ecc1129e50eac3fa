"""What is saved as a file: its name, and the files from which images were made."""

import json
import subprocess
import unittest
from urllib.parse import unquote

from harness import Server, ServerTest, folder, photo
from upload_client import Client, serve

TITLE = 'Évening / "light": 夜'
NAME = "Évening - -light-- 夜"


class Downloads(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        cls.server = serve(cls.library, "--keep-sources")
        cls.client = Client(cls.server)
        cls.source = photo(folder("p") / "x.jpg", 900, 700)
        subprocess.run(["exiftool", "-q", "-overwrite_original", f"-XMP-dc:Title={TITLE}", cls.source], check=True)
        for name, data in (("titled.JPG", cls.source.read_bytes()), ("plain.png", photo(folder("p") / "y.png", 300, 200).read_bytes())):
            state = cls.client.end(cls.client.send(data, filename=name)[1])
            assert state["stage"] == "done", state

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
                ("/iiif/3/plain/full/max/0/default.jpg?g=1&download", "plain.jpg"),
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

    def test_whoever_may_write_has_the_file_as_it_was_sent(self):
        image = json.loads(self.client.ask("GET", "/api/images/titled").body)
        self.assertEqual(image["original"], {"bytes": self.source.stat().st_size, "type": "image/jpeg", "url": "/api/images/titled/original"})
        answer = self.client.ask("GET", "/api/images/titled/original?download")
        self.assertEqual((answer.status, answer.body), (200, self.source.read_bytes()))
        self.assertEqual(unquote(answer["content-disposition"].split("''")[1]), f"{NAME}.JPG")
        self.assertIn("no-store", answer["cache-control"])
        part = self.client.ask("GET", "/api/images/titled/original", Range="bytes=10-19")
        self.assertEqual((part.status, part.body), (206, self.source.read_bytes()[10:20]))

    def test_everybody_has_it_where_the_owner_wants_that_also_from_a_server_that_only_shows(self):
        server = Server(self.library, "--offer-originals")
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


if __name__ == "__main__":
    unittest.main()
