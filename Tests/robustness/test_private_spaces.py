"""Private spaces from the command line: passwords, what is on the disk, kill -9."""

import http.client
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest
import zipfile
from pathlib import Path

from harness import BINARY, CRASH, folder, photo, run, seed

KILLS = int(os.environ.get("KILLS", 12))
REFUSED = "ziggurat: no space opens with this password\n"
# Of the sources, their metadata, their tiles, and what archives say of themselves.
PLAIN = [b"JFIF", b"Exif", b"http://ns.adobe.com", b"ICC_PROFILE", b"grandmother", b"Lighthouse", b"Image xmlns",
         b"sourceDigest", b"tileSize", b"entries"]


def ask(library: Path, verb: str, *answers: str, options=()) -> tuple[int, str]:
    """Runs a command at a terminal of its own, types the answers, and returns its exit code and the screen."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(BINARY, [str(BINARY), *verb.split(), str(library), *map(str, options)])
    screen, waiting = "", list(answers)
    shown = 0
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                screen += os.read(terminal, 4096).decode()
            except OSError:
                break
        if waiting and screen[shown:].rstrip(" ").endswith(":"):
            shown = len(screen)
            os.write(terminal, waiting.pop(0).encode())
    else:
        os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen


def plain_text(root: Path) -> list[str]:
    """Where known plain text is found below a folder, in names or contents."""
    found = []
    for path in root.rglob("*"):
        text = str(path.relative_to(root)).encode() + (path.read_bytes() if path.is_file() else b"")
        found += [f"{word} in {path}" for word in PLAIN if word in text]
    return found


class SpaceTest(unittest.TestCase):
    def space(self, verb: str, library, *passwords: str, code: int = 0, options=()) -> subprocess.CompletedProcess:
        """Runs `space verb`, or another command with --space, with the passwords on stdin."""
        files = []
        for name, password in zip(("password-file", "new-password-file"), passwords):
            file = folder("password") / "it"
            file.write_text(password + "\n")
            files += [f"--{name}", file]
        words = ["space", verb, library] if verb in ("create", "passwd", "list") else [verb, library, "--space"]
        result = run(*words, *files, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotRegex(result.stderr, CRASH)
        return result

    def build(self, source, library, password: str, *options, code: int = 0) -> subprocess.CompletedProcess:
        result = run("build", source, "--library", library, "--space", "--password-file", self.file(password), *options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def file(self, password: str) -> Path:
        path = folder("password") / "it"
        path.write_text(password + "\n")
        return path


class Passwords(SpaceTest):
    def test_two_passwords_open_two_spaces_and_a_third_none(self):
        library = folder("library")
        source = photo(folder("photos") / "grandmother.jpg", 700, 500)
        self.space("create", library, "the first password")
        self.space("create", library, "the second password")
        self.build(source, library, "the first password", "--quiet")
        listed = json.loads(self.space("list", library, "the first password", options=["--json"]).stdout)
        self.assertEqual((listed["id"], listed["width"], listed["height"]), ("grandmother", 700, 500))
        self.assertEqual(self.space("list", library, "the second password").stdout, "")
        for refused in (self.space("list", library, "the third", code=1),
                        self.space("verify", library, "the third", code=1),
                        self.space("list", library / "none", "the third", code=1),
                        self.space("passwd", library, "the third", "a fourth", code=1)):
            self.assertTrue(refused.stderr.endswith(REFUSED), refused.stderr)
        self.build(source, library, "the third", code=1)
        self.assertIn("archive read, no faults", self.space("verify", library, "the first password").stderr)
        self.space("passwd", library, "the first password", "changed")
        self.space("list", library, "the first password", code=1)
        self.assertIn("unchanged grandmother", self.build(source, library, "changed").stderr)

    def test_terminal_asks_without_echo_and_twice_for_a_new_one(self):
        library = folder("library")
        code, screen = ask(library, "space create", "typed in the dark\n", "typed in the dark\n")
        self.assertEqual(code, 0, screen)
        self.assertEqual((screen.count("Password of the new space: "), screen.count("Once more: ")), (1, 1))
        self.assertNotIn("dark", screen)
        code, screen = ask(library, "space create", "one thing\n", "another\n")
        self.assertEqual(code, 1)
        self.assertIn("ziggurat: the two passwords differ", screen)
        code, screen = ask(library, "space list", "typed in the dark\n")
        self.assertEqual(code, 0, screen)
        code, screen = ask(library, "space passwd", "typed in the dark\n", "new and as dark\n", "new and as dark\n")
        self.assertEqual(code, 0, screen)
        code, screen = ask(library, "space list", "\x03")
        self.assertEqual(code, 130, screen)

    def test_stdin_that_is_no_terminal_has_a_line_for_each(self):
        library = folder("library")
        for words, lines, code in ((["create"], "by the pipe\n", 0), (["passwd"], "by the pipe\nanother pipe", 0),
                                   (["list"], "another pipe\r\n", 0), (["list"], "by the pipe\n", 1)):
            result = subprocess.run([BINARY, "space", *words, library], input=lines, text=True, capture_output=True)
            self.assertEqual(result.returncode, code, (words, result.stderr))

    def test_wrong_usage_is_one_line(self):
        library = folder("library")
        for words, said in (([], "what to do is missing"), (["lits", library], "did you mean 'list'?"),
                            (["list"], "the library's folder is missing"),
                            (["list", library, "more"], "unexpected 'more'"),
                            (["list", library, "--password", "secret"], "unknown option '--password'")):
            with self.subTest(words=words):
                result = run("space", *words)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
                self.assertIn(said, result.stderr)
        for password, said in (("", "it is empty"), ("x" * 2000, "longer than 1024 bytes")):
            self.assertIn(said, self.space("create", library, password, code=1).stderr)
        result = run("space", "list", library, "--password-file", library / "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)


class Disk(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.photos = folder("photos")
        for number in range(4):
            path = photo(cls.photos / f"family/grandmother {number}.jpg", 1900, 1300, left=400 * number)
            subprocess.run(["exiftool", "-q", "-overwrite_original", "-Title=Lighthouse", "-Comment=Lighthouse", path],
                           check=True)
        photo(cls.photos / "family/grandmother.png", 1900, 1300)

    def test_nothing_of_the_pictures_can_be_read(self):
        self.assertTrue(plain_text(self.photos), "the search finds what there is")
        library, temporary = folder("library"), folder("temporary")
        self.space("create", library, "correct horse")
        # All that is opened for writing is known to strace; without it, what is left in the folders.
        result = run("build", self.photos, "--library", library, "--space", "--password-file",
                     self.file("correct horse"), environment={"TMPDIR": str(temporary)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(plain_text(library), [])
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual([path.name for path in library.iterdir()], [".spaces"])
        plain = folder("plain")
        self.assertEqual(run("build", self.photos, "--library", plain, "--quiet").returncode, 0)
        self.assertTrue(plain_text(plain))

    def test_flipped_bytes_are_faults_of_their_image_only(self):
        library = folder("library")
        self.space("create", library, "correct horse")
        self.build(self.photos, library, "correct horse", "--quiet")
        places = seed("flips")
        files = sorted(path for path in (library / ".spaces").iterdir() if path.stat().st_size > 70_000)
        files = [path for path in files if path.name != "keyring"]
        self.assertEqual(len(files), 5)
        for file in files:
            whole = file.read_bytes()
            damaged = bytearray(whole)
            damaged[places.randrange(len(whole))] ^= 1 << places.randrange(8)
            file.write_bytes(damaged)
            faults = self.space("verify", library, "correct horse", code=1).stdout.splitlines()
            self.assertEqual(len({fault.split(":")[0] for fault in faults}), 1, faults)
            # The next build heals what it can tell to be damaged when it is opened.
            file.write_bytes(whole)
        self.space("verify", library, "correct horse")

    def test_killed_at_random_moments(self):
        moments, hits, tries = seed("kill -9"), 0, 0
        first = folder("library")
        self.space("create", first, "correct horse")
        password = self.file("correct horse")
        began = time.monotonic()
        self.build(self.photos, first, "correct horse", "--quiet")
        seconds = time.monotonic() - began
        everything = self.space("list", first, "correct horse").stdout
        count = len(list((first / ".spaces").iterdir()))
        while hits < KILLS and tries < 5 * KILLS:
            tries += 1
            library = folder("library")
            shutil.rmtree(library)
            subprocess.run(["cp", "-a", first, library], check=True)
            # Everything is built once more over what is there.
            process = subprocess.Popen([BINARY, "build", self.photos, "--library", library, "--space", "--force",
                                        "--quiet", "--password-file", password])
            time.sleep(moments.uniform(0.2 * seconds, seconds))
            process.send_signal(signal.SIGKILL)
            hits += process.wait(20) == -signal.SIGKILL
            self.assertEqual(plain_text(library), [])
            self.space("verify", library, "correct horse")
            # Sizes differ by nothing, since the same pictures give the same tiles.
            self.assertEqual(self.space("list", library, "correct horse").stdout, everything)
            if tries % 4 == 0:
                self.build(self.photos, library, "correct horse", "--quiet")
                self.assertEqual(len(list((library / ".spaces").iterdir())), count, "leftovers are cleared")
            shutil.rmtree(library)
        self.assertGreater(hits, 0)


class Moving(SpaceTest):
    def setUp(self):
        self.library = folder("library")
        photographs = folder("photos")
        for name in ("grandmother", "harbour"):
            path = photo(photographs / f"family/{name}.jpg", 900, 700)
            subprocess.run(["exiftool", "-q", "-overwrite_original", f"-Title=Lighthouse {name}", path], check=True)
        self.assertEqual(run("build", photographs, "--library", self.library, "--quiet").returncode, 0)
        for secret in ("the first one", "the second one"):
            self.space("create", self.library, secret)

    def move(self, *ids, code=0, secrets=("the first one",), **options):
        words = ["space", "move", self.library, *ids]
        for name, secret in zip(("password-file", "new-password-file"), secrets):
            words += [f"--{name}", self.file(secret)]
        words += [word for name, value in options.items() for word in (f"--{name}", value)]
        result = run(*words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotRegex(result.stderr, CRASH)
        return result.stderr

    def listed(self, secret: str) -> list[str]:
        return [json.loads(line)["id"] for line in self.space("list", self.library, secret, options=["--json"]).stdout.splitlines()]

    def tiles(self) -> dict:
        with zipfile.ZipFile(self.library / "family/grandmother.szi") as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def test_into_a_space_another_and_back_is_the_same_picture(self):
        before = self.tiles()
        sidecar = self.library / "family/grandmother.xmp"
        sidecar.write_text("<x:xmpmeta>Lighthouse</x:xmpmeta>")
        self.assertIn("moved family/grandmother", self.move("family/grandmother"))
        self.assertEqual(self.listed("the first one"), ["family/grandmother"])
        self.assertEqual(sorted(path.name for path in (self.library / "family").iterdir()), ["harbour.szi"])
        # Nor does the catalog keep what it knew.
        for path in self.library.glob("catalog*"):
            self.assertNotIn(b"grandmother", path.read_bytes(), path)
        self.assertEqual([path for path in plain_text(self.library / ".spaces")], [])
        self.move("~/family/grandmother", secrets=("the first one", "the second one"), to="other-space")
        self.assertEqual((self.listed("the first one"), self.listed("the second one")), ([], ["family/grandmother"]))
        self.space("verify", self.library, "the second one")
        self.move("~/family/grandmother", secrets=("the second one",), to="library")
        self.assertEqual(self.tiles(), before)
        self.assertIn("Lighthouse", sidecar.read_text())
        self.assertEqual(self.listed("the second one"), [])
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_what_cannot_be_moved_stays(self):
        self.assertIn("none", self.move("none", code=1))
        self.assertIn("no such picture", self.move("none", code=1, to="library"))
        self.assertIn("same space", self.move("none", code=1, to="other-space", secrets=("the first one", "the first one")))
        self.assertIn("no space opens", self.move("family/harbour", code=1, secrets=("wrong",)))
        for words in ([], ["../family/harbour"], ["/etc/passwd"], [".spaces/x"]):
            self.assertEqual(self.move(*words, code=2).count("\n"), 1)
        self.move("family/harbour", code=2, to="nowhere")
        other = folder("other")
        photo(other / "family/harbour.jpg", 500, 400)
        self.build(other, self.library, "the first one", "--quiet")
        self.assertIn("another picture of that name", self.move("family/harbour", code=1))
        self.assertIn("another picture of that name", self.move("family/harbour", code=1, to="library"))
        self.assertTrue((self.library / "family/harbour.szi").exists())
        self.assertEqual(self.listed("the first one"), ["family/harbour"])

    def test_killed_at_random_moments_the_picture_is_there(self):
        moments, hits = seed("kill -9 of move"), 0
        words = [BINARY, "space", "move", self.library, "family/grandmother", "--password-file", self.file("the first one")]
        began = time.monotonic()
        subprocess.run(words, check=True, capture_output=True)
        seconds = time.monotonic() - began
        for _ in range(KILLS):
            for target in ("library", "space"):
                process = subprocess.Popen([*words, "--to", target], stderr=subprocess.DEVNULL)
                time.sleep(moments.uniform(0.5 * seconds, seconds))
                process.send_signal(signal.SIGKILL)
                hits += process.wait(20) == -signal.SIGKILL
                self.assertTrue((self.library / "family/grandmother.szi").exists()
                                or "family/grandmother" in self.listed("the first one"))
                # The same call again ends what was begun, or finds it done.
                subprocess.run([*words, "--to", target], stderr=subprocess.DEVNULL)
                self.assertEqual((self.library / "family/grandmother.szi").exists(), target == "library")
                self.assertEqual("family/grandmother" in self.listed("the first one"), target == "space")
        self.assertGreater(hits, 0)
        self.space("verify", self.library, "the first one")


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
             f"iiif/presentation/3/{ID}/manifest", f"zoomify/{ID}/ImageProperties.xml", f"xyz/{ID}/tilejson.json",
             f"xyz/{ID}/1/0/0.jpg", "none"]

    def test_every_protocol_answers_who_has_the_key_and_nobody_else(self):
        wrong = "".join("0" if digit != "0" else "1" for digit in self.key)
        for cookie in (None, "ziggurat-00000000=" + self.key, "x=" + wrong):
            self.cookie = cookie
            answers = {self.get(path)[0::2] for path in self.PATHS} | {self.get("?key=" + wrong)[0::2]}
            self.assertEqual({status for status, _ in answers}, {403}, cookie)
            self.assertEqual(len(answers), 1, "the same for every path")
        self.unlock()
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
        deadline = time.monotonic() + 10
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
        for place in range(16, len(content) - 20_000, 97):
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
        words = ["serve", self.library, "--space", "--port", "0", "--password-file"]
        refused = run(*words, self.file("no such"))
        self.assertEqual((refused.returncode, refused.stderr), (1, REFUSED))
        for more in (["--host", "0.0.0.0"], ["--log", "text"]):
            result = run(*words, self.file("correct horse"), *more)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
            self.assertIn("--space", result.stderr)


if __name__ == "__main__":
    unittest.main()
