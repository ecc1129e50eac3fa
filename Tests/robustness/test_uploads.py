"""Uploads by tus 1.0: what arrives becomes a picture, whatever breaks on the way; what must not, does not."""

import base64
import http.client
import json
import os
import struct
import subprocess
import threading
import time
import unittest
import zipfile
import zlib
from pathlib import Path

from harness import Answer, Server, archives, folder, photo, run, seed

TOKEN = "token-of-the-tests-0123456789"
TYPE = "application/offset+octet-stream"


def token_file() -> Path:
    path = folder("token") / "token"
    path.write_text(TOKEN + "\n")
    return path


def serve(library: Path, *options) -> Server:
    return Server(library, "--writable", "--token-file", token_file(), *options)


def metadata(**values: str | bytes) -> str:
    return ",".join(f"{key} {base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()}"
                    for key, value in values.items())


class Client:
    """A client of one server; a fresh connection for every request."""

    def __init__(self, server: Server):
        self.server = server

    def ask(self, method: str, path: str, body: bytes = b"", *, token: str | None = TOKEN, tus: bool = True, **headers) -> Answer:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += ["Tus-Resumable: 1.0.0"] if tus else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if method in ("POST", "PATCH") and "Transfer_Encoding" not in headers:
            lines.append(f"Content-Length: {len(body)}")
        return Answer(self.server.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body), method)

    def create(self, length: int, **values) -> Answer:
        return self.ask("POST", "/api/uploads", Upload_Length=length, Upload_Metadata=metadata(**values))

    def patch(self, path: str, offset: int, data: bytes) -> Answer:
        return self.ask("PATCH", path, data, Upload_Offset=offset, Content_Type=TYPE)

    def send(self, data: bytes, **values) -> tuple[Answer, str]:
        """Creates an upload and sends all of it."""
        made = self.create(len(data), **values)
        assert made.status == 201, made
        path = made["location"]
        return self.patch(path, 0, data), path

    def state(self, path: str) -> dict:
        return json.loads(self.ask("GET", path).body)

    def end(self, path: str, seconds: float = 60) -> dict:
        """What became of an upload."""
        until = time.monotonic() + seconds
        while (state := self.state(path))["stage"] not in ("done", "failed"):
            assert time.monotonic() < until, state
            time.sleep(0.05)
        return state

    def images(self) -> set[str]:
        return {image["id"] for image in json.loads(self.server.get("/api/images?limit=1000").body)["images"]}


def tiles(archive: Path) -> dict[str, int]:
    """The checksums of an archive's tiles by their places."""
    with zipfile.ZipFile(archive) as file:
        return {entry.filename.split("_files/")[1]: entry.CRC for entry in file.infolist() if "_files/" in entry.filename}


def rest_of(library: Path) -> list[str]:
    """What is left of uploads in a library."""
    return [str(path) for path in (library / ".ziggurat-uploads").rglob("*") if path.name != ".lock"]


def png(width: int, height: int) -> bytes:
    """A PNG that promises so many pixels and holds next to none."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b""))


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        cls.server = serve(cls.library, "--upload-size", 8)
        cls.client = Client(cls.server)
        cls.photo = photo(folder("photos") / "harbour.jpg", 900, 700).read_bytes()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def test_what_the_server_can(self):
        answer = self.client.ask("OPTIONS", "/api/uploads", tus=False, token=None)
        self.assertEqual((answer.status, answer["tus-version"], answer["tus-max-size"]), (204, "1.0.0", str(8 << 20)))
        self.assertLessEqual({"creation", "creation-with-upload", "expiration", "termination"},
                             set(answer["tus-extension"].split(",")))

    def test_in_pieces_of_any_size(self):
        chance = seed("pieces")
        made = self.client.create(len(self.photo), filename="in pieces.jpg", folder="a/b")
        path, offset = made["location"], 0
        while offset < len(self.photo):
            piece = self.photo[offset:offset + chance.choice([1, 63, 64, 5000, 100_000])]
            chunked = chance.random() < 0.5
            if chunked:
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(piece), piece)
                answer = self.client.ask("PATCH", path, body, Upload_Offset=offset, Content_Type=TYPE, Transfer_Encoding="chunked")
            else:
                answer = self.client.patch(path, offset, piece)
            offset += len(piece)
            self.assertEqual((answer.status, answer["upload-offset"]), (204, str(offset)))
            head = self.client.ask("HEAD", path)
            self.assertEqual((head["upload-offset"], head["upload-length"]), (str(offset), str(len(self.photo))))
        state = self.client.end(path)
        self.assertEqual((state["stage"], state["image"]), ("done", "a/b/in pieces"))
        self.assertIn("a/b/in pieces", self.client.images())
        # The very tiles that the command line makes of the same file.
        source = folder("source") / "in pieces.jpg"
        source.write_bytes(self.photo)
        other = folder("other")
        self.assertEqual(run("build", source, "--library", other, "--quiet").returncode, 0)
        self.assertEqual(tiles(self.library / "a/b/in pieces.szi"), tiles(other / "in pieces.szi"))

    def test_creation_with_upload(self):
        data = photo(folder("photos") / "with.jpg", 500, 400, left=1200).read_bytes()
        answer = self.client.ask("POST", "/api/uploads", data, Upload_Length=len(data), Content_Type=TYPE,
                                 Upload_Metadata=metadata(filename="with.jpg"))
        self.assertEqual((answer.status, answer["upload-offset"]), (201, str(len(data))))
        self.assertEqual(self.client.end(answer["location"])["image"], "with")

    def test_the_same_picture_twice_is_noticed(self):
        data = photo(folder("photos") / "twice.jpg", 600, 400, left=2000).read_bytes()
        first = self.client.end(self.client.send(data, filename="first.jpg")[1])
        before = {path: path.stat().st_mtime_ns for path in archives(self.library)}
        second = self.client.end(self.client.send(data, filename="second.jpg", folder="elsewhere")[1])
        self.assertEqual((first["duplicate"], second["duplicate"], second["image"]), (False, True, first["image"]))
        self.assertEqual({path: path.stat().st_mtime_ns for path in archives(self.library)}, before)

    def test_another_picture_of_the_same_name_gets_a_number(self):
        ids = [self.client.end(self.client.send(photo(folder("p") / "x.jpg", 300, 200, left=100 * n).read_bytes(),
                                                filename="image.jpg")[1])["image"] for n in range(3)]
        self.assertEqual(ids, ["image", "image-2", "image-3"])

    def test_refusals(self):
        made = self.client.create(1000, filename="refused.jpg")["location"]
        for status, answer in (
            (401, self.client.ask("POST", "/api/uploads", token=None, Upload_Length=5)),
            (401, self.client.ask("POST", "/api/uploads", token="wrong-token-of-the-tests", Upload_Length=5)),
            (401, self.client.ask("GET", made, token=None)), (401, self.client.ask("GET", "/api/events", token=None)),
            (401, self.client.ask("DELETE", made, token=None)), (401, self.client.ask("GET", "/api/uploads", token=None)),
            (412, self.client.ask("POST", "/api/uploads", tus=False, Upload_Length=5)),
            (412, self.client.ask("HEAD", made, tus=False)),
            (400, self.client.ask("POST", "/api/uploads")), (400, self.client.ask("POST", "/api/uploads", Upload_Length="x")),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=0)),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=-5)),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=5, Upload_Metadata="filename !!!")),
            (413, self.client.ask("POST", "/api/uploads", Upload_Length=(8 << 20) + 1)),
            (415, self.client.ask("PATCH", made, b"x", Upload_Offset=0, Content_Type="text/plain")),
            (400, self.client.ask("PATCH", made, b"x", Content_Type=TYPE)),
            (409, self.client.patch(made, 5, b"x")), (413, self.client.patch(made, 0, b"x" * 1001)),
            (404, self.client.patch("/api/uploads/" + "0" * 32, 0, b"x")), (404, self.client.ask("HEAD", "/api/uploads/x")),
            (404, self.client.ask("DELETE", "/api/uploads/..%2F..%2Fetc")), (405, self.client.ask("PUT", made)),
            (405, self.client.ask("PATCH", "/api/uploads", Upload_Offset=0)),
        ):
            with self.subTest(status, answer=answer):
                self.assertEqual(answer.status, status)
        self.assertEqual(self.client.ask("HEAD", made)["upload-offset"], "0")

    def test_more_than_was_told_in_chunks(self):
        made = self.client.create(1000, filename="more.jpg")["location"]
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (5000, b"\xff\xd8\xff" + bytes(4997))
        answer = self.client.ask("PATCH", made, body, Upload_Offset=0, Content_Type=TYPE, Transfer_Encoding="chunked")
        self.assertEqual(answer.status, 413)
        self.assertEqual(self.client.ask("DELETE", made).status, 204)

    def test_termination(self):
        made = self.client.create(1000, filename="gone.jpg")["location"]
        self.client.patch(made, 0, b"\xff\xd8\xff" + bytes(500))
        self.assertEqual(self.client.ask("DELETE", made).status, 204)
        self.assertEqual(self.client.ask("HEAD", made).status, 410)
        self.assertEqual(self.client.patch(made, 503, b"x").status, 410)
        self.assertFalse([path for path in rest_of(self.library) if made.split("/")[-1] in path])

    def test_a_second_request_takes_over(self):
        data = photo(folder("photos") / "over.jpg", 800, 500, left=3000).read_bytes()
        path = self.client.create(len(data), filename="over.jpg")["location"]
        with self.server.connect() as hanging:
            hanging.sendall(f"PATCH {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nTus-Resumable: 1.0.0\r\n"
                            f"Upload-Offset: 0\r\nContent-Type: {TYPE}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data[:5000])
            time.sleep(0.2)
            self.assertEqual(self.client.patch(path, 0, data).status, 204)
            try:
                hanging.sendall(data[5000:])
                self.assertIn(Answer(hanging.recv(1000)).status, (0, 409))
            except OSError:
                pass
        self.assertEqual(self.client.end(path)["image"], "over")

    def test_forged_by_another_site(self):
        login = self.client.ask("POST", "/api/session", json.dumps({"token": TOKEN}).encode(), token=None, tus=False,
                                Content_Type="application/json")
        self.assertEqual(login.status, 200, login)
        cookie = login["set-cookie"].split(";")[0]
        for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                        {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://127.0.0.1.evil.example"}):
            for method, path in (("POST", "/api/uploads"), ("DELETE", "/api/uploads/" + "0" * 32)):
                with self.subTest(headers, method=method):
                    answer = self.client.ask(method, path, token=None, Cookie=cookie, Upload_Length=5, **headers)
                    self.assertEqual(answer.status, 403)
        answer = self.client.ask("POST", "/api/uploads", token=None, Cookie=cookie, Upload_Length=5, Origin="http://127.0.0.1")
        self.assertEqual(answer.status, 201)
        self.client.ask("DELETE", answer["location"])

    def test_events_tell_of_sending_and_tiling(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {TOKEN}"})
        stream = connection.getresponse()
        self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
        data = photo(folder("photos") / "told.jpg", 3000, 2000).read_bytes()
        _, path = self.client.send(data, filename="told.jpg")
        stages = []
        while not stages or stages[-1]["stage"] != "done":
            line = stream.readline()
            if line.startswith(b"data: ") and json.loads(line[6:])["id"] in path:
                stages.append(json.loads(line[6:]))
        self.assertEqual(stages[-1]["image"], "told")
        self.assertIn("tiling", [state["stage"] for state in stages])
        self.assertIn(len(data), [state["offset"] for state in stages])
        connection.close()

    def test_listeners_are_bounded(self):
        open_ones = [self.server.connect() for _ in range(70)]
        statuses = []
        for connection in open_ones:
            connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            statuses.append(int(connection.recv(2000).split()[1]))
        for connection in open_ones:
            connection.close()
        self.assertEqual(set(statuses), {200, 503})
        self.assertTrue(self.server.alive())
        # The places of those that left are found empty within some beats.
        until = time.monotonic() + 40
        while True:
            with self.server.connect() as connection:
                connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
                if connection.recv(2000).startswith(b"HTTP/1.1 200"):
                    break
            self.assertLess(time.monotonic(), until)
            time.sleep(1)


class Pairing(unittest.TestCase):
    def test_a_phone_scans_the_code_and_may_write_once(self):
        with serve(folder("library"), "--base-url", "http://192.168.77.1:8080") as server:
            client = Client(server)
            self.assertEqual(client.ask("GET", "/api/qr.svg", token=None).status, 401)
            picture = folder("qr") / "code.svg"
            picture.write_bytes(client.ask("GET", "/api/qr.svg").body)
            subprocess.run(["vips", "svgload", picture, picture.with_suffix(".png"), "--scale", "8"], check=True)
            read = subprocess.run(["zbarimg", "-q", "--raw", picture.with_suffix(".png")], capture_output=True, text=True, check=True)
            address, _, code = read.stdout.strip().partition("#token=")
            self.assertEqual(address, "http://192.168.77.1:8080/")
            login = lambda: client.ask("POST", "/api/session", json.dumps({"token": code}).encode(), token=None, tus=False,
                                       Content_Type="application/json")
            answer = login()
            self.assertEqual((answer.status, json.loads(answer.body)["writable"]), (200, True))
            self.assertEqual(login().status, 401)

    def test_who_is_alone_has_no_code(self):
        with serve(folder("library")) as server:
            self.assertEqual(Client(server).ask("GET", "/api/qr.svg").status, 204)


class HostileContent(unittest.TestCase):
    def setUp(self):
        self.library = folder("library")
        self.server = serve(self.library, "--upload-pixels", 50)
        self.client = Client(self.server)
        self.addCleanup(lambda: self.server.stop())

    def test_what_is_no_image_whatever_it_is_called(self):
        for data in (b"<svg xmlns='http://www.w3.org/2000/svg'/>" + bytes(200), b"%PDF-1.7\n" + bytes(200), b"hello " * 50,
                     b"GIF", b"#!/bin/sh\n" + bytes(100), b"PK\x03\x04" + bytes(100), b"\x7fELF" + bytes(100), b"BM" + bytes(100), b"x"):
            with self.subTest(data[:10]):
                answer, path = self.client.send(data, filename="photo.jpg")
                self.assertEqual(answer.status, 415)
                self.assertEqual(self.client.state(path)["stage"], "failed")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))

    def test_what_only_begins_like_one(self):
        chance = seed("hollow")
        whole = photo(folder("photos") / "hollow.jpg", 900, 700).read_bytes()
        for data in (b"\xff\xd8\xff" + chance.randbytes(5000), b"\x89PNG\r\n\x1a\n" + chance.randbytes(5000),
                     b"II*\0" + chance.randbytes(5000), b"GIF89a" + chance.randbytes(5000), whole[:200]):
            answer, path = self.client.send(data, filename="photo.jpg")
            self.assertEqual(answer.status, 204)
            state = self.client.end(path)
            self.assertEqual(state["stage"], "failed", state)
            self.assertTrue(state["reason"])
            self.assertNotIn(str(self.library), json.dumps(state))
        self.assertEqual((rest_of(self.library), archives(self.library), self.client.images()), ([], [], set()))

    def test_bombs(self):
        for width, height in ((60_000, 60_000), (2_000_000, 30), (2_147_483_647, 2_147_483_647)):
            _, path = self.client.send(png(width, height), filename="bomb.png")
            self.assertEqual(self.client.end(path)["stage"], "failed")
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        self.assertLess(peak, 700_000, "kB of memory")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))

    def test_names_that_try_paths(self):
        names = ["../../escape.jpg", "/etc/passwd.jpg", "..\\..\\windows.jpg", "....//x.jpg", ".hidden.jpg", "a\0b.jpg", "a\nb.jpg",
                 "\u202egpj.exe", "..", ".", "", "/", "~/secret.jpg", "x" * 5000 + ".jpg", "é" * 3000, "con.jpg", "a/b/c.jpg",
                 "%2e%2e%2fx.jpg", "-rf.jpg", "<script>alert(1)</script>.jpg", "'; DROP TABLE image; --.jpg", "x.szi", ".record"]
        data = photo(folder("photos") / "small.jpg", 64, 48).read_bytes()
        outside = sorted(self.library.parent.iterdir())
        for number, name in enumerate(names):
            with self.subTest(name[:40]):
                # Each another picture: bytes behind the end of a JPEG are nothing.
                answer, path = self.client.send(data + bytes([number]), filename=name)
                self.assertEqual(answer.status, 204)
                state = self.client.end(path)
                self.assertEqual(state["stage"], "done", state)
                self.assertTrue((self.library / (state["image"] + ".szi")).is_file())
                self.assertNotRegex(state["image"], r"[/\\\x00-\x1f\u202e]|^[.~]")
                self.assertLess(len(state["image"].encode()), 200)
        self.assertEqual(sorted(self.library.parent.iterdir()), outside)
        for path in self.library.rglob("*"):
            self.assertIn(self.library.resolve(), path.resolve().parents)
        self.assertEqual(len(self.client.images()), len(names))

    def test_folders_that_are_none(self):
        for name in ("..", "a/../b", "/a", "a/", "a//b", ".a", "a/.b", "~", "~/a", "a\\b", "a\0", "a\nb", "x" * 200, "a/" * 30 + "a", " a"):
            with self.subTest(name[:30]):
                self.assertEqual(self.client.create(100, filename="x.jpg", folder=name).status, 400)
        self.assertEqual(self.client.create(100, filename=b"\xff\xfe").status, 400)


class Limits(unittest.TestCase):
    def test_types(self):
        with serve(folder("library"), "--upload-types", "png,webp") as server:
            client = Client(server)
            self.assertEqual(client.send(photo(folder("p") / "x.jpg", 90, 70).read_bytes(), filename="x.png")[0].status, 415)
            self.assertEqual(client.send(photo(folder("p") / "x.png", 90, 70).read_bytes(), filename="x.jpg")[0].status, 204)

    def test_ten_thousand_uploads(self):
        library = folder("library")
        with serve(library, "--upload-count", 300) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            statuses = {}
            for number in range(10_000):
                connection.request("POST", "/api/uploads", headers={
                    "Authorization": f"Bearer {TOKEN}", "Tus-Resumable": "1.0.0", "Upload-Length": "1000",
                    "Upload-Metadata": metadata(filename=f"{number}.jpg")})
                answer = connection.getresponse()
                answer.read()
                statuses[answer.status] = statuses.get(answer.status, 0) + 1
            self.assertEqual(statuses, {201: 300, 429: 9700})
            self.assertTrue(server.alive())
            self.assertEqual(len(list((library / ".ziggurat-uploads").glob("?" * 32))), 300)
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
            self.assertLess(resident, 400_000, "kB of memory")

    def test_three_hundred_at_once(self):
        data = photo(folder("photos") / "small.jpg", 64, 48).read_bytes()
        with serve(folder("library"), "--upload-count", 50) as server:
            client = Client(server)
            failures = []

            def work(numbers):
                for number in numbers:
                    while (made := client.create(len(data) + 2, filename="x.jpg")).status == 429:
                        time.sleep(0.1)
                    answer = client.patch(made["location"], 0, data + struct.pack("H", number))
                    if answer.status != 204:
                        failures.append(answer)
            threads = [threading.Thread(target=work, args=(range(first, 300, 6),)) for first in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            until = time.monotonic() + 120
            while len(client.images()) < 300:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.3)

    def test_unfinished_ones_expire(self):
        library = folder("library")
        with serve(library, "--upload-expiry", 1) as server:
            client = Client(server)
            made = client.create(1000, filename="late.jpg")
            self.assertIn("GMT", made["upload-expires"])
            until = time.monotonic() + 15
            while client.ask("HEAD", made["location"]).status != 410:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.2)
            self.assertEqual(rest_of(library), [])

    def test_disk_full(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system is mounted by root alone")
        library = folder("small")
        # The server leaves 64 MB free.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "tmpfs", library], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            data = photo(folder("photos") / "big.png", 1600, 1200).read_bytes()
            self.assertGreater(len(data), 1 << 20)
            with serve(library) as server:
                client = Client(server)
                self.assertEqual(client.create(20 << 20, filename="too big.png").status, 507)
                path = client.create(len(data), filename="big.png")["location"]
                self.assertEqual(client.patch(path, 0, data[:500_000]).status, 204)
                filler = library / "filler.bin"
                filler.write_bytes(bytes(8 << 20))
                self.assertEqual(client.patch(path, 500_000, data[500_000:]).status, 507)
                self.assertEqual(client.ask("HEAD", path)["upload-offset"], "500000")
                filler.unlink()
                self.assertEqual(client.patch(path, 500_000, data[500_000:]).status, 204)
                self.assertEqual(client.end(path)["image"], "big")
            self.assertEqual(run("verify", library).returncode, 0)
        finally:
            subprocess.run(["umount", "-l", library], check=True)


class Crashes(unittest.TestCase):
    KILLS = int(os.environ.get("UPLOAD_KILLS", 25))

    def test_killed_at_any_byte(self):
        """kill -9 while bytes come and while tiles are made: what was acknowledged is there, the rest is nowhere."""
        chance = seed("kills")
        library, sent = folder("library"), {}
        server = serve(library)
        kills = 0
        try:
            while kills < self.KILLS:
                number = len(sent)
                width = chance.choice([300, 900, 1800])
                data = photo(folder("p") / "x.jpg", width, 600, left=chance.randrange(3000)).read_bytes() + struct.pack("I", number)
                client = Client(server)
                path = client.create(len(data), filename=f"picture {number}.jpg")["location"]
                sent[f"picture {number}"] = path
                offset = highest = 0
                while True:
                    # The whole rest, of which some bytes or all are sent before the server dies.
                    count = chance.randint(0, len(data) - offset)
                    with server.connect() as connection:
                        connection.sendall(
                            f"PATCH {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nTus-Resumable: 1.0.0\r\n"
                            f"Upload-Offset: {offset}\r\nContent-Type: {TYPE}\r\nContent-Length: {len(data) - offset}\r\n\r\n".encode()
                            + data[offset:offset + count])
                        time.sleep(chance.random() * 0.03)
                    if chance.random() < 0.6:
                        server.stop(9)
                        kills += 1
                        server = serve(library)
                        client = Client(server)
                        if chance.random() < 0.3:
                            self.assertNotIn(f"picture {number}", client.images())
                    head = client.ask("HEAD", path)
                    self.assertEqual(head.status, 200, head)
                    highest = max(highest, offset + count)
                    self.assertLessEqual(int(head["upload-offset"]), highest)
                    self.assertGreaterEqual(int(head["upload-offset"]), offset)
                    offset = int(head["upload-offset"])
                    if chance.random() < 0.5:
                        break
                # Of the request before, which broke, more may have arrived since it was asked.
                while (answer := client.patch(path, offset, data[offset:])).status == 409:
                    now = int(client.ask("HEAD", path)["upload-offset"])
                    if now == len(data):
                        break
                    self.assertGreater(now, offset)
                    offset = now
                else:
                    self.assertEqual(answer.status, 204)
                if chance.random() < 0.7:
                    time.sleep(chance.random() * 0.3)
                    server.stop(9)
                    kills += 1
                    server = serve(library)
            client = Client(server)
            until = time.monotonic() + 120
            while len(client.images()) < len(sent):
                self.assertLess(time.monotonic(), until, sorted(set(sent) - client.images()))
                time.sleep(0.2)
            self.assertEqual(client.images(), set(sent))
            self.assertEqual(rest_of(library), [])
        finally:
            server.stop(9)
        result = run("verify", library)
        self.assertEqual(result.returncode, 0, result.stderr)
        print(f"{kills} kills, {len(sent)} uploads", end=" ", flush=True)

    def test_two_servers_do_not_share_uploads(self):
        library = folder("library")
        with serve(library):
            second = run("serve", library, "--port", 0, "--writable", "--token-file", token_file(), timeout=20)
            self.assertEqual(second.returncode, 1)
            self.assertIn("another server", second.stderr)


if __name__ == "__main__":
    unittest.main()
