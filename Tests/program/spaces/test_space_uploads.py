"""Uploads into a private space: sealed while they come, while they are tiled and ever after."""

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest
import zipfile

from exiftool import write
from harness import CRASH, Server, folder, heard, photo, run, seed
from PIL import Image
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser, Owner, SpaceTest, open_plain_text, password, plain_text
from upload_client import TYPE, metadata, serve, token_file

KILLS = int(os.environ.get("KILLS", 6))
ONE, TWO = "the first of the passwords", "the second of the passwords"


class Sender(Owner):
    """A visitor who sends files by tus 1.0."""

    def create(self, length: int, *, headers=None, **values):
        return self.ask("api/uploads", "POST", b"", Tus_Resumable="1.0.0", Upload_Length=length,
                        Upload_Metadata=metadata(**values), **(headers or {}))

    def patch(self, path: str, offset: int, data: bytes, **headers):
        return self.ask(path, "PATCH", data, Tus_Resumable="1.0.0", Upload_Offset=offset, Content_Type=TYPE, **headers)

    def offset(self, path: str):
        answer = self.ask(path, "HEAD", Tus_Resumable="1.0.0")
        return int(answer["upload-offset"]) if answer.status == 200 else answer.status

    def begin(self, data: bytes, part: int, **values) -> str:
        """Sends the first `part` bytes; the upload's path."""
        made = self.create(len(data), **values)
        assert made.status == 201, made
        path = made["location"].lstrip("/")
        sent = self.patch(path, 0, data[:part])
        assert sent.status == 204, sent
        return path

    def end(self, path: str, seconds: float = 60) -> dict:
        until = time.monotonic() + seconds
        while (state := json.loads(self.ask(path).body))["status"] not in ("done", "failed"):
            assert time.monotonic() < until, state
            time.sleep(0.05)
        return state

    def uploads(self) -> list[dict]:
        return json.loads(self.ask("api/uploads").body)["uploads"]


class SpaceUploads(SpaceTest):
    visitor = Sender

    @classmethod
    def setUpClass(cls):
        picture = folder("photos") / "grandmother.jpg"
        photo(picture.with_name("grandmother.jpg[Q=98]"), 3000, 2000)
        write(picture, "-Title=Lighthouse")
        cls.picture, cls.data = picture, picture.read_bytes()
        assert len(cls.data) > 600_000, len(cls.data)
        cls.empty = folder("library")
        for secret in (ONE, TWO):
            run("space", "create", cls.empty, "--password-file", password(secret), check=True)

    def setUp(self):
        self.library = folder("library")
        subprocess.run(["cp", "-a", f"{self.empty}/.", self.library], check=True)

    def assertSealed(self, server: Server):
        self.assertEqual(plain_text(self.library), [])
        self.assertEqual(open_plain_text(server), [])

    def assertNothingKept(self):
        """No file with a name belongs to an upload into a space, not even a line."""
        kept = {file.name: file.stat().st_size for file in (self.library / ".ziggurat-uploads").iterdir()}
        self.assertEqual(kept, {".ended": 0})

    def test_picture_is_sealed_from_its_first_byte_on(self):
        server = self.serve()
        sender = self.owner(server)
        path = sender.begin(self.data, 300_000, filename="grandmother.jpg", folder="~/family")
        self.assertSealed(server)
        self.assertNothingKept()
        self.assertEqual(sender.offset(path), 300_000)
        # Looked at as often as can be while it is tiled.
        found, isOver = [], threading.Event()

        def look():
            while not isOver.is_set():
                found.extend(plain_text(self.library) + open_plain_text(server))

        looking = threading.Thread(target=look)
        looking.start()
        self.assertEqual(sender.patch(path, 300_000, self.data[300_000:]).status, 204)
        state = sender.end(path)
        isOver.set()
        looking.join()
        self.assertEqual(found, [])
        self.assertEqual((state["status"], state["image"], state["folder"]), ("done", "~/family/grandmother", "~/family"))
        described = json.loads(sender.ask("api/images/~%2Ffamily%2Fgrandmother").body)
        self.assertEqual((described["title"], described["width"]), ("Lighthouse", 3000))
        # Tile for tile what the same file gives in the open.
        plain = folder("plain")
        run("build", self.picture, "--library", plain, "--quiet", check=True)
        with zipfile.ZipFile(plain / "grandmother.szi") as archive:
            names = [name for name in archive.namelist() if name.endswith(".jpg")]
            self.assertGreater(len(names), 20)
            for name in names:
                tile = name.split("_files/")[1]
                self.assertEqual(sender.ask(f"dzi/~%2Ffamily%2Fgrandmother_files/{tile}").body, archive.read(name), tile)
        self.assertSealed(server)
        self.assertNotRegex(server.errors(), CRASH)
        self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)

    def test_a_file_of_which_the_picture_shows_a_part_is_sealed_with_it(self):
        server = self.serve()
        sender = self.owner(server)
        source = folder("p") / "grandmother.png"
        # The tiles have no alpha.
        Image.new("RGBA", (301, 200), (90, 80, 70, 60)).save(source)
        data = source.read_bytes()
        path = sender.begin(data, len(data), filename="grandmother.png", folder="~/")
        self.assertEqual(sender.end(path)["image"], "~/grandmother")
        self.assertSealed(server)
        self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)
        moved = run("space", "move", self.library, "~/grandmother", "--to", "library", "--password-file", password(ONE))
        self.assertEqual(moved.returncode, 0, moved.stderr)
        self.assertEqual((self.library / "grandmother.png").read_bytes(), data)

    def test_the_original_in_a_space_is_for_its_owner(self):
        server = self.serve()
        sender, other = self.owner(server), self.owner(server, TWO)
        source = folder("p") / "grandmother.tif"
        images = [Image.new("RGB", (301 + number, 200), (90 + number, 80, 70)) for number in range(3)]
        images[0].save(source, save_all=True, append_images=images[1:])
        data = source.read_bytes()
        path = sender.begin(data, len(data), filename="grandmother.tif", folder="~/")
        self.assertEqual(sender.end(path)["status"], "done")
        # It is sealed with the first page.
        described = json.loads(sender.ask("api/images/~%2Fgrandmother%2F1").body)["original"]
        self.assertEqual((described["bytes"], described["type"]), (len(data), "image/tiff"))
        answer = sender.ask("api/images/~%2Fgrandmother%2F1/original?download")
        self.assertEqual((answer.status, answer.body), (200, data))
        self.assertIn("no-store", answer["cache-control"])
        self.assertIn(".tif", answer["content-disposition"])
        for visitor in (other, Sender(server)):
            self.assertEqual(visitor.ask("api/images/~%2Fgrandmother%2F1/original").status, 404)
        self.assertSealed(server)
        # It leaves the space with the last page.
        login = sender.log_in({"token": token_file().read_text().strip()})
        self.assertEqual(login.status, 200, login.body)
        for number in (1, 2, 3):
            self.assertEqual(list(self.library.glob("*.tif")), [])
            answer = sender.send_json(f"api/images/~%2Fgrandmother%2F{number}/move", {"to": "library"})
            self.assertEqual((answer.status, json.loads(answer.body)), (200, {"image": f"grandmother/{number}"}))
        self.assertEqual((self.library / "grandmother.tif").read_bytes(), data)
        # And goes back with the first one.
        answer = sender.send_json("api/images/grandmother%2F2/move", {"to": "space"})
        self.assertEqual(json.loads(answer.body), {"image": "~/grandmother/2"})
        self.assertFalse((self.library / "grandmother.tif").exists())
        self.assertEqual(sender.ask("api/images/~%2Fgrandmother%2F2/original").body, data)

    def test_a_move_warns_of_builds(self):
        run("build", self.picture, "--library", self.library, "--quiet", check=True)
        sender = self.owner(self.serve())
        sender.log_in({"token": token_file().read_text().strip()})
        answer = sender.send_json("api/images/grandmother/move", {"to": "space"})
        self.assertIn("the next build of the image's source publishes it again", json.loads(answer.body)["warning"])

    def test_other_clients_cannot_detect_it(self):
        server = self.serve()
        sender, other, anonymous, writer = self.owner(server), self.owner(server, TWO), Browser(server), Sender(server)
        self.assertEqual(writer.log_in({"token": token_file().read_text().strip()}).status, 200)
        reported = {name: self.listen(server, who) for name, who in (("sender", sender), ("other", other), ("writer", writer))}
        path = sender.begin(self.data, 1000, filename="grandmother.jpg", folder="~/")
        public = writer.begin(self.data, 1000, filename="harbour.jpg")
        self.assertTrue(plain_text(self.library), "the search finds what lies open")
        self.assertEqual([upload["name"] for upload in sender.uploads()], ["grandmother.jpg"])
        self.assertEqual(other.uploads(), [])
        self.assertEqual([upload["name"] for upload in writer.uploads()], ["harbour.jpg"])
        for who in (other, writer):
            self.assertEqual([who.ask(path, method).status for method in ("GET", "HEAD")], [404, 404])
            self.assertEqual(who.patch(path, 1000, self.data[1000:]).status, 404)
            self.assertEqual(who.ask(path, "DELETE", Tus_Resumable="1.0.0").status, 404)
        self.assertEqual(sender.patch(public, 1000, b"x").status, 404)
        self.assertEqual(anonymous.ask(path).status, 401)
        self.assertEqual(sender.patch(path, 1000, self.data[1000:]).status, 204)
        self.assertEqual(sender.end(path)["status"], "done")
        time.sleep(0.3)
        for name, connection in reported.items():
            events = heard(connection)
            self.assertEqual(b"grandmother" in events, name == "sender", name)
            self.assertEqual(b"harbour" in events, name == "writer", name)
        self.assertEqual((other.ids(), writer.ids()), ([], []))

    def listen(self, server: Server, who: Browser) -> socket.socket:
        connection = self.enterContext(server.connect())
        connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {who.cookie}\r\n\r\n".encode())
        return connection

    def test_broken_connection_is_gone_on_from(self):
        server = self.serve()
        sender = self.owner(server)
        path = sender.begin(self.data, 200_000, filename="grandmother.jpg", folder="~/")
        # It reports all the rest and breaks off in the middle.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.putrequest("PATCH", "/" + path)
        for name, value in (("Cookie", sender.cookie), ("Sec-Fetch-Site", "same-origin"), ("Tus-Resumable", "1.0.0"),
                            ("Upload-Offset", "200000"), ("Content-Type", TYPE),
                            ("Content-Length", str(len(self.data) - 200_000))):
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(self.data[200_000:500_000])
        time.sleep(0.3)
        # A newer request takes over while the server hears nothing of the older: from the byte that was acknowledged.
        self.assertEqual(sender.offset(path), 200_000)
        self.assertEqual(sender.patch(path, 200_000, self.data[200_000:400_000]).status, 204)
        connection.close()
        time.sleep(0.3)
        self.assertEqual(sender.offset(path), 400_000)
        self.assertEqual(sender.patch(path, 300_000, b"x" * 10).status, 409)
        self.assertSealed(server)
        self.assertEqual(sender.patch(path, 400_000, self.data[400_000:]).status, 204)
        self.assertEqual(sender.end(path)["image"], "~/grandmother")
        record = json.loads(self.space("list", self.library, ONE, options=["--json"]).stdout)
        self.assertEqual((record["id"], record["width"]), ("grandmother", 3000))

    def test_unfinished_one_is_gone_with_session_lock_and_server(self):
        server = serve(self.library)
        self.addCleanup(server.process.kill)
        sender = self.owner(server)
        for end in ("logout", "other password", "lock"):
            path = sender.begin(self.data, 100_000, filename="grandmother.jpg", folder="~/")
            if end == "logout":
                self.assertEqual(sender.ask("api/session", "DELETE").status, 204)
            elif end == "lock":
                run("space", "lock", self.library, check=True)
                self.until(lambda: not sender.state()["hasSpace"], "locked")
            else:
                self.assertEqual(sender.unlock(TWO).status, 200)
            self.assertEqual(sender.unlock(ONE).status, 200)
            self.until(lambda: (sender.offset(path), sender.uploads()) == (404, []), end)
        path = sender.begin(self.data, 100_000, filename="grandmother.jpg", folder="~/")
        self.assertEqual(server.stop(signal.SIGKILL), -signal.SIGKILL)
        self.assertNothingKept()
        self.assertEqual(plain_text(self.library), [])
        with serve(self.library) as again:
            sender = self.owner(again)
            self.assertEqual((sender.offset(path), sender.uploads(), sender.ids()), (404, [], []))

    def test_killed_while_it_is_tiled_there_is_a_picture_or_none(self):
        chance, hits, pictures = seed("kill -9 of tiling"), 0, 0
        # The keyring, two indexes with their decoys, and what is nobody's.
        beside = len([file for file in (self.library / ".spaces").iterdir() if file.name != "locked"])
        for number in range(KILLS):
            with self.subTest(number):
                server = serve(self.library)
                sender = self.owner(server)
                before = len([id for id in sender.ids() if id.startswith("~/")])
                data = self.data + bytes([number])
                path = sender.begin(data, 100_000, filename=f"grandmother {number}.jpg", folder="~/")
                self.assertEqual(sender.patch(path, 100_000, data[100_000:]).status, 204)
                time.sleep(chance.uniform(0.05, 1.5))
                hits += server.stop(signal.SIGKILL) == -signal.SIGKILL
                self.assertEqual(plain_text(self.library), [])
                with serve(self.library) as again:
                    pictures = len([id for id in self.owner(again).ids() if id.startswith("~/")])
                    self.assertIn(pictures, (before, before + 1))
                    # Unlocking clears away what was begun.
                    left = [file.name for file in (self.library / ".spaces").iterdir() if file.name != "locked"]
                    self.assertEqual(len(left), beside + pictures, left)
                self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)
        self.assertEqual(hits, KILLS)

    def test_what_may_not_come_does_not(self):
        server = self.serve("--max-upload-size", "2")
        sender, anonymous, writer = self.owner(server), Sender(server), Sender(server)
        writer.log_in({"token": token_file().read_text().strip()})
        for status, who, length, values in (
                (401, anonymous, 1000, {"folder": "~/"}), (403, writer, 1000, {"folder": "~/"}),
                (403, sender, 1000, {}), (403, sender, 1000, {"folder": "family"}),
                (400, sender, 1000, {"folder": "~/../family"}), (400, sender, 1000, {"folder": "~//x"}),
                (400, sender, 1000, {"folder": "~/.spaces"}), (400, sender, 1000, {"folder": "~/~/x"}),
                (400, sender, 0, {"folder": "~/"}), (413, sender, 3 << 20, {"folder": "~/"})):
            made = who.create(length, filename="a.jpg", **values)
            self.assertEqual(made.status, status, (values, made))
        for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            self.assertEqual(sender.create(1000, filename="a.jpg", folder="~/", headers=headers).status, 403)
        location = sender.create(1000, filename="a.jpg", folder="~/")["location"].lstrip("/")
        self.assertEqual(sender.patch(location, 0, b"these are words, no picture " * 4).status, 415)
        broken = self.data[:60_000]
        path = sender.begin(broken, len(broken), filename="broken.jpg", folder="~/")
        state = sender.end(path)
        self.assertIn(state["status"], ("done", "failed"))
        self.assertNotIn("/proc", state.get("message") or "")
        self.assertNotIn(str(self.library), state.get("message") or "")
        self.assertTrue(server.alive())
        with Server(self.library) as readable:
            self.assertEqual(self.owner(readable).create(1000, filename="a.jpg", folder="~/").status, 405)

    def test_same_picture_is_noticed_and_same_name_is_counted_on(self):
        server = self.serve()
        sender = self.owner(server)
        images = []
        other = photo(folder("photos") / "other.jpg", 900, 700, left=2000).read_bytes()
        for data, name in ((self.data, "grandmother.jpg"), (self.data, "again.jpg"), (other, "grandmother.jpg")):
            state = sender.end(sender.begin(data, len(data), filename=name, folder="~/"))
            images.append((state["image"], state["duplicate"]))
        self.assertEqual(images, [("~/grandmother", False), ("~/grandmother", True), ("~/grandmother-2", False)])
        # Two spaces know nothing of each other.
        second = self.owner(server, TWO)
        state = second.end(second.begin(self.data, len(self.data), filename="grandmother.jpg", folder="~/"))
        self.assertEqual((state["image"], state["duplicate"]), ("~/grandmother", False))
        pages = folder("photos") / "book.tif"
        subprocess.run(["vips", "arrayjoin", f"{self.picture} {self.picture}", f"{pages}.v", "--across", "1"], check=True)
        subprocess.run(["vips", "tiffsave", f"{pages}.v", pages, "--page-height", "2000"], check=True)
        book = pages.read_bytes()[:]
        state = sender.end(sender.begin(book, len(book), filename="book.tif", folder="~/"))
        self.assertEqual(state["image"], "~/book")
        self.assertEqual([id for id in sender.ids() if "book" in id], ["~/book"])
        pages = json.loads(sender.ask("api/images?book=~%2Fbook").body)["images"]
        self.assertEqual([(page["id"], page["book"], page["page"]) for page in pages],
                         [("~/book/1", "~/book", 1), ("~/book/2", "~/book", 2)])
        self.assertSealed(server)


if __name__ == "__main__":
    unittest.main()
