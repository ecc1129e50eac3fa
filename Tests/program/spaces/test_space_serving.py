"""`ziggurat serve --space`: one space, for this machine alone."""

import http.client
import json
import signal
import subprocess
import time
import unittest
import zipfile

from harness import BINARY, Server, folder, photo, run
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import REFUSED, SpaceTest, plain_text


class Serving(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.photos, cls.library, cls.plain = folder("photos"), folder("library"), folder("plain")
        photo(cls.photos / "family/grandmother.jpg", 1900, 1300)

    def setUp(self):
        if not (self.library / ".spaces").exists():
            self.space("create", self.library, "correct horse")
        self.build(self.photos, self.library, "correct horse", "--quiet")
        self.start()

    def tearDown(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(self.process.stderr.read(), "")
        self.process.stdout.close()
        self.process.stderr.close()

    def get(self, path: str, method: str = "GET", headers=None):
        """Status, headers and body, redirects not followed."""
        host, port = self.root.split("/")[2].split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        connection.request(method, "/" + path, headers={**({"Cookie": self.cookie} if self.cookie else {}),
                                                        **(headers or {})})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body

    def unlock(self):
        status, headers, _ = self.get("?key=" + self.key)
        self.assertEqual((status, headers["location"]), (303, "/"))
        self.assertIn("HttpOnly; SameSite=Strict", headers["set-cookie"])
        self.cookie = "other=1; " + headers["set-cookie"].split(";")[0]

    ID = "family%2Fgrandmother"
    PATHS = ["", f"view/{ID}", "api/images", f"api/images/{ID}", f"api/images/{ID}/viewport?width=300&height=200",
             f"api/images/{ID}/viewport.jpg?width=300&height=200", f"dzi/{ID}.dzi", f"dzi/{ID}_files/9/0_0.jpg",
             f"iiif/3/{ID}/info.json", f"iiif/2/{ID}/0,0,512,512/512,/0/default.jpg", f"iiif/3/{ID}/full/max/0/default.jpg",
             f"iip?FIF={ID}&JTL=0,0", f"iip?FIF={ID}&OBJ=Max-size",
             f"iiif/presentation/3/{ID}/manifest", f"zoomify/{ID}/ImageProperties.xml", f"xyz/{ID}/tilejson.json",
             f"xyz/{ID}/1/0/0.jpg", "none"]

    def test_every_protocol_answers_only_clients_with_the_key(self):
        wrong = "".join("0" if digit != "0" else "1" for digit in self.key)
        for cookie in (None, "ziggurat-00000000=" + self.key, "x=" + wrong):
            self.cookie = cookie
            answers = {self.get(path)[0::2] for path in self.PATHS} | {self.get("?key=" + wrong)[0::2]}
            self.assertEqual({status for status, _ in answers}, {403}, cookie)
            self.assertEqual(len(answers), 1, "the same for every path")
        self.unlock()
        held = self.cookie
        self.cookie = f"{held}; {held.split('; ')[1]}"
        self.assertEqual({self.get(path)[0] for path in self.PATHS}, {400}, "two cookies of one name")
        self.cookie = held
        for path in self.PATHS:
            for method in ("GET", "HEAD", "OPTIONS"):
                status, headers, _ = self.get(path, method)
                expected = 204 if method == "OPTIONS" else 404 if path == "none" else 200
                self.assertEqual(status, expected, (method, path))
                self.assertEqual(headers["cache-control"], "private, no-store", path)
                self.assertNotIn("etag", headers)
                self.assertEqual([name for name in headers if name.startswith("access-control")], [], path)
        status, headers, _ = self.get(self.PATHS[7], headers={"Range": "bytes=0-9"})
        self.assertEqual((status, headers["cache-control"]), (206, "private, no-store"))
        self.assertNotIn("access-control-allow-origin", headers)

    def test_tiles_are_those_of_the_plain_archive(self):
        self.assertEqual(run("build", self.photos, "--library", self.plain, "--quiet").returncode, 0)
        self.unlock()
        with zipfile.ZipFile(self.plain / "family/grandmother.szi") as archive:
            names = [name for name in archive.namelist() if name.endswith(".jpg")]
            self.assertGreater(len(names), 15)
            for name in names:
                tile = name.split("_files/")[1]
                self.assertEqual(self.get(f"dzi/{self.ID}_files/{tile}")[2], archive.read(name), tile)

    def test_what_is_built_meanwhile_appears_and_nothing_is_written(self):
        self.unlock()
        before = {path.name for path in self.library.iterdir()}
        photo(self.photos / "later.jpg", 700, 500)
        self.build(self.photos, self.library, "correct horse", "--quiet")
        deadline = time.monotonic() + 30
        while b'"later"' not in self.get("api/images")[2] and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertIn(b'"later"', self.get("api/images")[2])
        self.assertEqual({path.name for path in self.library.iterdir()}, before | {".spaces"})
        self.assertEqual(plain_text(self.library), [])

    def test_damaged_tile_is_an_error_not_another_picture(self):
        self.unlock()
        tiles = [f"dzi/{self.ID}_files/{level}/0_0.jpg" for level in range(12)]
        whole = [self.get(tile)[2] for tile in tiles]
        file = max((path for path in (self.library / ".spaces").iterdir() if path.name != "keyring"),
                   key=lambda path: path.stat().st_size)
        content = file.read_bytes()
        # In place, as no program of ours writes: the server has the file mapped. Its decrypted tiles stay right.
        damaged = bytearray(content)
        for place in range(16, len(content) // 2, 97):
            damaged[place] ^= 1
        self.tearDown()
        try:
            file.write_bytes(damaged)
            self.start()
            self.unlock()
            statuses = set()
            for tile, bytes_ in zip(tiles, whole):
                status, _, body = self.get(tile)
                statuses.add(status)
                if status == 200:
                    self.assertEqual(body, bytes_)
            self.assertIn(500, statuses)
        finally:
            file.write_bytes(content)

    def start(self):
        self.process = subprocess.Popen(
            [BINARY, "serve", self.library, "--space", "--port", "0", "--password-file", self.file("correct horse")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.root, self.key = self.process.stdout.readline().split()[-1].split("?key=")
        self.cookie = None

    def test_wrong_password_and_open_hosts_are_refused(self):
        arguments = ["serve", self.library, "--space", "--port", "0", "--password-file"]
        refused = run(*arguments, self.file("no such"))
        self.assertEqual((refused.returncode, refused.stderr), (1, REFUSED))
        for more in (["--host", "0.0.0.0"], ["--log", "text"]):
            result = run(*arguments, self.file("correct horse"), *more)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
            self.assertIn("--space", result.stderr)


class MadeWhileServing(SpaceTest):
    def test_a_space_that_is_made_while_the_server_runs_can_be_unlocked(self):
        library, photos = folder("library"), folder("photos")
        photo(photos / "a.jpg", 300, 200)
        with Server(library) as server:
            def session(password=None):
                """Status of a login, or whether passwords are accepted."""
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                body = json.dumps({"password": password}) if password else None
                connection.request("POST" if body else "GET", "/api/session", body, {"Content-Type": "application/json"} if body else {})
                answer = connection.getresponse()
                cookie, content = answer.getheader("Set-Cookie"), answer.read()
                connection.close()
                return (answer.status, cookie) if body else json.loads(content)["acceptsPassword"]

            self.assertEqual((session(), session("correct horse")[0]), (False, 403))
            self.space("create", library, "correct horse")
            self.build(photos, library, "correct horse", "--quiet")
            self.assertTrue(session())
            self.assertEqual(session("wrong horse")[0], 401)
            status, cookie = session("correct horse")
            self.assertEqual(status, 200)
            headers = {"Cookie": cookie.split(";")[0]}
            self.assertEqual(server.get("/api/images/~%2Fa", **headers).status, 200)
            self.assertEqual(server.get("/api/images/~%2Fa").status, 404)
            # Answers that are the same for everybody may become those of a session.
            self.assertIn("Cookie", server.get("/api/images")["vary"])


if __name__ == "__main__":
    unittest.main()
