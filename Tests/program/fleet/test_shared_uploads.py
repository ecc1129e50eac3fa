"""Uploads into a library in an object store that servers share: at any server, the one that writes accepts them."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import threading
import time
from base64 import b64encode
from pathlib import Path
from unittest import mock
from urllib.parse import quote, urlsplit

from harness import photo, run
from preload import preloaded
from test_shared_edits import TOKEN, WritersTest


class SharedUploads(WritersTest):
    def server(self, number):
        folder = self.base / f"server-{number}.example"
        folder.mkdir(exist_ok=True)
        return super().server(number, "--upload-dir", folder)

    @contextlib.contextmanager
    def killed(self, server):
        """A server that comes to its end where this does."""
        yield server
        server.stop(signal.SIGKILL)

    def begin(self, server, picture, name, folder=""):
        """An upload without its bytes; its path."""
        metadata = ",".join(f"{key} {b64encode(text.encode()).decode()}" for key, text in (("filename", name), ("folder", folder)))
        status, reply, headers = self.asked(
            server, "POST", "/api/uploads", None, Tus_Resumable="1.0.0", Upload_Length=str(picture.stat().st_size), Upload_Metadata=metadata)
        self.assertEqual(status, 201, reply)
        return urlsplit(headers["Location"]).path

    def send(self, server, path, picture, offset=0):
        status, reply, headers = self.asked(
            server, "PATCH", path, picture.read_bytes()[offset:], Tus_Resumable="1.0.0", Upload_Offset=str(offset), Content_Type="application/offset+octet-stream")
        self.assertEqual(status, 204, reply)

    def upload(self, server, picture, name, folder=""):
        path = self.begin(server, picture, name, folder)
        self.send(server, path, picture)
        return path

    def end(self, server, path):
        """What became of an upload."""
        found = lambda: json.loads(self.asked(server, "GET", path)[1])
        self.eventually(lambda: found()["status"] in ("done", "failed"), True)
        return found()

    def test_a_listener_is_notified_to_the_end(self):
        with self.server(0) as server:
            self.eventually(lambda: self.asked(server, "GET", "/api/uploads")[0], 200)
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {TOKEN}"})
            stream = connection.getresponse()
            path = self.upload(server, photo(self.base / "told.png", 300, 200), "told.png")
            reply = {}
            while reply.get("status") != "done":
                line = stream.readline()
                if line.startswith(b"data: ") and json.loads(line[6:])["id"] in path:
                    reply = json.loads(line[6:])
            self.assertEqual(reply["image"], "told")
            connection.close()

    def test_the_picture_is_available_at_every_server(self):
        pictures = [photo(self.base / f"{number}.png", 300 + number, 200) for number in range(4)]
        with self.writable(3) as servers:
            for number, server in enumerate(servers):
                reply = self.end(server, self.upload(server, pictures[number], "harbour.png", "trip"))
                self.assertEqual((reply["status"], reply["image"]), ("done", "trip/harbour" + (f"-{number + 1}" if number else "")))
                for each in servers:
                    self.eventually(lambda: each.get(f"/api/images/{quote(reply['image'], safe='')}").status, 200)
            # The same once more is the picture that is there.
            reply = self.end(servers[0], self.upload(servers[1], pictures[1], "other.png"))
            self.assertEqual((reply["image"], reply["duplicate"]), ("trip/harbour-2", True))
            # A crop of one becomes an image, with its metadata.
            status = self.asked(servers[1], "PATCH", "/api/images/trip%2Fharbour", json.dumps({"title": "Quay"}))[0]
            self.assertEqual(status, 200)
            region = {"region": {"x": 10, "y": 20, "width": 100, "height": 50}}
            status, reply, headers = self.asked(servers[2], "POST", "/api/images/trip%2Fharbour/copies", json.dumps(region))
            self.assertEqual(status, 202, reply)
            self.assertEqual(self.end(servers[0], urlsplit(headers["Location"]).path)["image"], "trip/harbour-crop")
            for each in servers:
                self.eventually(lambda: [json.loads(each.get("/api/images/trip%2Fharbour-crop").body).get(key) for key in ("width", "height", "title")],
                                [100, 50, "Quay"])
            # What only begins like a picture fails, and leaves its name to the next.
            (self.base / "no.png").write_bytes(pictures[3].read_bytes()[:100] + bytes(1000))
            self.assertEqual(self.end(servers[0], self.upload(servers[0], self.base / "no.png", "sky.png"))["status"], "failed")
            self.assertEqual(self.end(servers[0], self.upload(servers[0], pictures[3], "sky.png"))["image"], "sky")
        self.assertEqual(run("verify", self.bucket).returncode, 0)
        # Nothing of it stays on any server.
        for name in self.servers:
            self.assertEqual(list((self.base / name / "archives").iterdir()), [])

    def test_many_of_one_name_at_once_are_as_many_pictures(self):
        pictures = [photo(self.base / f"{number}.png", 100 + number, 90) for number in range(12)]
        with self.writable(3) as servers:
            paths = [None] * len(pictures)

            def one(number):
                paths[number] = self.upload(servers[number % 3], pictures[number], "same.png")

            threads = [threading.Thread(target=one, args=(number,)) for number in range(len(pictures))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            images = [self.end(servers[0], path)["image"] for path in paths]
            self.assertEqual(sorted(images), sorted(f"same-{number}" if number > 1 else "same" for number in range(1, 13)))
            for number, image in enumerate(images):
                self.eventually(lambda: json.loads(servers[1].get(f"/api/images/{image}").body).get("width"), 100 + number)

    def test_what_a_killed_server_had_begun_it_ends_and_an_interrupted_upload_goes_on(self):
        pictures = [photo(self.base / f"{number}.png", 900 + number, 700) for number in range(2)]
        with self.killed(self.server(0)) as server:
            half = self.begin(server, pictures[0], "half.png")
            status, _, headers = self.asked(server, "PATCH", half, pictures[0].read_bytes()[:1000], Tus_Resumable="1.0.0", Upload_Offset="0",
                                             Content_Type="application/offset+octet-stream")
            self.assertEqual((status, headers["Upload-Offset"]), (204, "1000"))
            whole = self.upload(server, pictures[1], "whole.png")
        # A killed server counts as alive for three seconds.
        with self.server(0) as server:
            self.eventually(lambda: self.asked(server, "HEAD", half, Tus_Resumable="1.0.0")[0], 200)
            self.send(server, half, pictures[0], 1000)
            self.assertEqual(self.end(server, half)["image"], "half")
            self.assertEqual(self.end(server, whole)["image"], "whole")
            for name, width in (("half", 900), ("whole", 901)):
                self.eventually(lambda: json.loads(server.get(f"/api/images/{name}").body).get("width"), width)

    def test_a_copy_is_made_by_a_server_that_was_asked_for_nothing_and_what_is_cancelled_leaves_its_id(self):
        picture = photo(self.base / "0.png", 900, 700)
        with self.killed(self.server(0)) as server:
            self.end(server, self.upload(server, picture, "quay.png"))
            # Two that wait behind another one.
            photo(self.base / "large.png", 6000, 5000)
            self.upload(server, self.base / "large.png", "large.png")
            status, reply, headers = self.asked(server, "POST", "/api/images/quay/copies", json.dumps({"region": {"x": 1, "y": 1, "width": 99, "height": 88}}))
            self.assertEqual(status, 202, reply)
            copy = urlsplit(headers["Location"]).path
            other = self.upload(server, photo(self.base / "1.png", 300, 200), "other.png")
            self.assertEqual(self.asked(server, "DELETE", other, Tus_Resumable="1.0.0")[0], 204)
        with self.server(0) as server:
            self.eventually(lambda: self.asked(server, "GET", copy)[0], 200)
            self.assertEqual(self.end(server, copy)["image"], "quay-crop")
            self.eventually(lambda: self.database.ask("SELECT count(*) FROM origin WHERE id NOT IN (SELECT id FROM image)").strip(), "0")
            self.assertEqual(self.end(server, self.upload(server, self.base / "1.png", "other.png"))["image"], "other")

    def test_no_upload_fails_by_a_store_that_is_away_and_none_waits_long_when_it_is_back(self):
        picture = photo(self.base / "0.png", 300, 200)
        with self.server(0) as server:
            self.eventually(lambda: server.get("/api/images").status, 200)
            with self.store.lock:
                self.store.errors_below["some/library/szi/"] = [503] * 10_000
            path = self.upload(server, picture, "quay.png")
            tries = lambda: sum(verb == "PUT" and "/szi/" in key for verb, key in self.store.requests)
            self.eventually(lambda: tries() > 0, True)
            asked = lambda: json.loads(self.asked(server, "GET", path)[1])
            self.eventually(lambda: asked().get("message") is not None, True)
            # It is away again, after which other clients' pictures would wait a minute.
            first = tries()
            self.eventually(lambda: tries() > first, True, 40)
            time.sleep(8)
            with self.store.lock:
                self.store.errors_below.clear()
            self.eventually(lambda: asked()["status"], "done", 50)

    def test_no_upload_fails_by_a_database_that_is_away_for_an_hour(self):
        picture = photo(self.base / "0.png", 300, 200)
        # An hour of its own clock is twelve seconds.
        with mock.patch.dict(os.environ, {"LD_PRELOAD": preloaded(Path(__file__).with_name("hasty.c"))}):
            server = self.server(0)
        with server:
            self.eventually(lambda: server.get("/api/images").status, 200)
            path = self.begin(server, picture, "quay.png")
            self.database.kill()
            self.send(server, path, picture)
            asked = lambda: json.loads(self.asked(server, "GET", path)[1])
            self.eventually(lambda: asked().get("message"), "the catalog cannot be reached, so it is unknown whether the image exists already")
            begun = time.monotonic()
            while time.monotonic() < begun + 14:
                self.assertNotEqual(asked()["status"], "failed")
                time.sleep(0.2)
            self.database.start()
            self.assertEqual(self.end(server, path)["image"], "quay")

    def deep(self, name, height=150):
        """A picture of 16 bits, which the server keeps."""
        photo(self.base / "plain.png", 200, height)
        subprocess.run(["vips", "cast", self.base / "plain.png", self.base / name, "ushort", "--shift"], check=True)
        return self.base / name

    def purge(self):
        self.database.ask("UPDATE deletion SET time = 1")
        self.eventually(lambda: self.database.ask("SELECT count(*) FROM deletion").strip(), "0")

    def delete(self, server, *ids):
        for id in ids:
            self.eventually(lambda: self.asked(server, "DELETE", f"/api/images/{quote(id, safe='')}")[0], 200)

    def test_an_original_goes_when_its_image_is_purged(self):
        place = self.base / "server-0.example"
        kept = lambda: sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and not str(path.relative_to(place)).startswith("."))
        one, two = self.deep("one.png"), self.deep("two.png", 140)
        subprocess.run(["vips", "copy", photo(self.base / "pages.png", 200, 300), f"{self.base}/book.tif[page-height=150]"], check=True)
        with self.server(0) as server:
            for picture, name in ((one, "one.png"), (two, "two.png"), (self.base / "book.tif", "book.tif")):
                reply = self.end(server, self.upload(server, picture, name, "trip"))
                self.assertEqual(reply["status"], "done", reply)
            everything = ["trip/book.tif", "trip/one.png", "trip/two.png"]
            self.assertEqual(kept(), everything)
            # Somebody's own files, one of which has the name that the original of an image would have.
            photo(place / "trip/one.jpg", 90, 60)
            photo(place / "trip/own.png", 90, 60)
            own = ["trip/one.jpg", "trip/own.png"]
            self.delete(server, "trip/one", "trip/book/1")
            # It can come back.
            self.assertEqual(kept(), sorted(everything + own))
            self.purge()
            self.delete(server, "trip/two")
        # Another server purges; the one that has the originals is not the one that writes.
        with WritersTest.server(self, 1) as other:
            self.eventually(lambda: self.database.ask("SELECT count(*) FROM writer WHERE address LIKE '%server-1%'").strip(), "1")
            with self.server(0) as server:
                self.eventually(kept, ["trip/book.tif", "trip/one.jpg", "trip/own.png", "trip/two.png"])
                self.delete(other, "trip/book/2")
                self.purge()
            time.sleep(1)
            self.assertIn("trip/book.tif", kept())
            with self.server(0):
                self.eventually(kept, own)
                self.eventually(lambda: self.asked(other, "GET", "/api/images/trip%2Ftwo")[0], 404)

    def test_a_server_that_runs_looks_for_purged_originals_now_and_then(self):
        place = self.base / "server-0.example"
        # Ten minutes of its own clock are two seconds.
        with mock.patch.dict(os.environ, {"LD_PRELOAD": preloaded(Path(__file__).with_name("hasty.c"))}):
            server = self.server(0)
        with server:
            self.assertEqual(self.end(server, self.upload(server, self.deep("one.png"), "one.png"))["status"], "done")
            self.assertTrue((place / "one.png").exists())
            self.delete(server, "one")
            self.purge()
            self.eventually(lambda: (place / "one.png").exists(), False, 40)

    def test_a_server_that_accepts_changes_but_no_uploads_reports_it(self):
        reply = "uploads are refused: --upload-dir is not given"
        with WritersTest.server(self, 0) as silent, self.server(1) as server:
            self.eventually(lambda: reply in silent.errors(), True)
            self.assertNotIn(reply, server.errors())

    def test_wrong_uses(self):
        for arguments, reply in (
                (("serve", self.bucket, "--upload-dir", self.base), "--upload-dir requires --writable"),
                (("serve", self.bucket, "--writable", "--upload-dir", self.base), "an object store without --catalog"),
                (("serve", self.base, "--writable", "--upload-dir", self.base), "--upload-dir requires a library in an object store"),
                (("serve", self.bucket, "--catalog", self.database.address, "--writable", "--upload-dir", self.base / "none"), "expected an existing folder"),
                (("serve", self.bucket, "--catalog", self.database.address, "--writable", "--upload-dir", self.base, "--keep-originals"),
                 "--keep-originals cannot be used with a library in an object store")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(reply, result.stderr)
