"""Files of a library that the server's user has no right to read, as after a command by root: reported at once, with their owner."""

import json
import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from harness import Server, folder, photo, run
from space_client import Browser, password

# Root reads everything: a server without privileges is another user's.
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def owner() -> str:
    return subprocess.run(["id", "--user", "--name"], capture_output=True, text=True, check=True).stdout.strip()


def until(what, seconds: float = 90):
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


class Unreadable(unittest.TestCase):
    def setUp(self):
        self.base = folder("unreadable")
        self.base.chmod(0o755)
        self.library = self.base / "library"
        for name in ("one", "two", "deep/three"):
            photo(self.base / f"photos/{name}.jpg", 300, 200 + len(name))
        self.assertEqual(run("build", self.base / "photos", "--library", self.library, "--quiet").returncode, 0)
        # The catalog is the server's, as after its first start.
        if NOBODY:
            for path in (self.library, *self.library.glob("catalog.*")):
                os.chown(path, NOBODY["user"], NOBODY["group"])

    def served(self, server: Server) -> list[str]:
        return [image["id"] for image in json.loads(server.get("/api/images").body)["images"]]

    def lines(self, server: Server, text: str) -> list[str]:
        return [line for line in server.errors().splitlines() if text in line]

    def test_archives(self):
        for name in ("one", "two"):
            (self.library / f"{name}.szi").chmod(0o600)
            if not NOBODY:
                (self.library / f"{name}.szi").chmod(0)
        mode = "0600" if NOBODY else "00"
        # A catalog that knows the archives, and one that does not.
        for _ in range(2):
            with Server(self.library, **NOBODY) as server:
                line = f"ziggurat: 2 of 3 archives cannot be read and are not listed: cannot read {self.library}/one.szi: permission denied (owner {owner()}, mode {mode})"
                self.assertTrue(until(lambda: self.lines(server, "cannot be read")), server.errors())
                self.assertEqual(self.lines(server, "cannot be read"), [line])
                self.assertEqual(self.served(server), ["deep/three"])
                self.assertEqual(server.metrics()["images"], 1)
                self.assertEqual(server.get("/healthz").body, b"ok\n")
        # Permissions leave the file's time and size as they are, and the catalog has them.
        for name in ("one", "two"):
            (self.library / f"{name}.szi").chmod(0o644)
        with Server(self.library, **NOBODY) as server:
            self.assertTrue(until(lambda: len(self.served(server)) == 3), self.served(server))
            self.assertEqual(json.loads(server.get("/api/images").body)["total"], 3)
            self.assertEqual(self.lines(server, "cannot be read"), [])

    def test_all_archives(self):
        for path in self.library.rglob("*.szi"):
            path.chmod(0o600 if NOBODY else 0)
        log = (self.base / "log").open("w+b")
        with Server(self.library, log=log, **NOBODY) as server:
            self.assertTrue(until(lambda: server.get("/healthz").body == b"degraded: no archive of the library can be read\n"), server.get("/healthz"))
            self.assertEqual(server.get("/healthz").status, 200)
            self.assertNotIn("serving 3 images", (self.base / "log").read_text())

    def test_verify_goes_on_behind_a_folder(self):
        (self.library / "deep").chmod(0o700 if NOBODY else 0)
        self.addCleanup((self.library / "deep").chmod, 0o755)
        result = run("verify", self.library, "--json", **NOBODY)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"{self.library}/deep", result.stdout)
        self.assertIn("cannot be read", result.stdout)
        # What lies in it is not called missing: --repair would remove it from the catalog.
        self.assertNotIn("missing", result.stdout + result.stderr)
        self.assertIn("2 archives read, 1 fault", result.stderr)

    def test_a_folder(self):
        (self.library / "deep").chmod(0o700 if NOBODY else 0)
        self.addCleanup((self.library / "deep").chmod, 0o755)
        with Server(self.library, **NOBODY) as server:
            mode = "0700" if NOBODY else "00"
            line = f"ziggurat: cannot read {self.library}/deep: permission denied (owner {owner()}, mode {mode}); its images are not served"
            self.assertTrue(until(lambda: self.lines(server, "cannot read")), server.errors())
            self.assertEqual(self.lines(server, "cannot read"), [line])
            self.assertEqual(self.served(server), ["one", "two"])
            self.assertEqual(server.get("/healthz").body, b"degraded: a folder of the library cannot be read\n")

    def test_private_spaces(self):
        secret = password("correct horse battery")
        created = run("space", "create", self.library, "--password-file", secret)
        self.assertEqual(created.returncode, 0, created.stderr)
        spaces = self.library / ".spaces"
        if not NOBODY:
            spaces.chmod(0)
            self.addCleanup(spaces.chmod, 0o700)
        with Server(self.library, **NOBODY) as server:
            mode = "0700" if NOBODY else "00"
            line = f"ziggurat: cannot read {spaces}: permission denied (owner {owner()}, mode {mode}); private spaces cannot be opened, or lack images"
            self.assertTrue(until(lambda: self.lines(server, str(spaces))), server.errors())
            self.assertEqual(self.lines(server, str(spaces)), [line])
            self.assertEqual(server.get("/healthz").body, b"degraded: the private spaces cannot be read\n")
            # Not that it takes no passwords.
            answer = Browser(server).unlock("correct horse battery")
            self.assertEqual((answer.status, json.loads(answer.body)["detail"]), (500, "the private spaces cannot be read"))
            if NOBODY:
                shutil.chown(spaces, NOBODY["user"], NOBODY["group"])
                for path in spaces.iterdir():
                    shutil.chown(path, NOBODY["user"], NOBODY["group"])
            else:
                spaces.chmod(0o700)
            self.assertTrue(until(lambda: server.get("/healthz").body == b"ok\n"), server.get("/healthz"))
            self.assertEqual(Browser(server).unlock("correct horse battery").status, 200)

    def test_a_token_that_everybody_can_read(self):
        token = self.base / "token"
        token.write_text("a-token-of-some-length\n")
        for mode, count in ((0o644, 1), (0o600, 0)):
            token.chmod(mode)
            with Server(self.library, "--writable", "--token-file", token) as server:
                until(lambda: "serving" in Path(f"/proc/self/fd/{server.log.fileno()}").read_text())
                self.assertEqual(self.lines(server, "chmod 600"), [f"{token} can be read by every user of this machine: chmod 600 {token}"] * count)


class Messages(unittest.TestCase):
    def test_an_empty_folder_may_be_a_disk_that_is_not_mounted(self):
        empty = folder("empty")
        for options in ([], ["--writable"]):
            with Server(empty, *options) as server:
                line = f"{empty} contains no archive (.szi, .dzi or .zip). Is its disk mounted? To make archives: ziggurat build PICTURES --library {empty}"
                self.assertTrue(until(lambda: line in server.errors().splitlines()), server.errors())

    def test_a_variable_unlike_any_option_gets_no_suggestion(self):
        for name, reported in (("ZIGGURAT_FOO", ""), ("ZIGGURAT_BASE_ULR", "; did you mean ZIGGURAT_BASE_URL?")):
            result = run("inspect", "none", environment={name: "1"})
            self.assertIn(f"the environment variable {name} sets no option{reported}\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
