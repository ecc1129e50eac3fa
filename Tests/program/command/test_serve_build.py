"""`serve --build`: a folder of pictures is tiled into a cache, and served."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from harness import BINARY, CommandTest, Server, folder, photo, run
from szi import archives


def images(server) -> list[str]:
    return [image["id"] for image in json.loads(server.get("/api/images").body)["images"]]


class Waiting(CommandTest):
    def reported(self, server, message: str):
        """Waits until the server has said it on stderr."""
        deadline = time.monotonic() + 60
        while message not in server.errors() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertIn(message, server.errors())


class ServeBuild(Waiting):
    def setUp(self):
        base = folder("serve-build")
        self.pictures, self.caches = base / "pictures", base / "caches"
        photo(self.pictures / "harbour.jpg", 700, 500)
        photo(self.pictures / "deep/er/leaf.png", 300, 200)
        usual = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "HOME")}

        def restore():
            for name, value in usual.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})

        self.addCleanup(restore)
        os.environ["XDG_CACHE_HOME"] = str(self.caches)

    def until(self, server, wanted: list[str]):
        deadline = time.monotonic() + 60
        while images(server) != wanted and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(images(server), wanted)

    def test_pictures_are_built_once_kept_in_the_cache_and_kept_up_with(self):
        with Server(self.pictures, "--build") as server:
            self.assertEqual(images(server), ["deep/er/leaf", "harbour"])
            self.assertEqual(server.get("/dzi/harbour_files/9/0_0.jpg").status, 200)
            self.assertIn("built harbour", server.errors())
            photo(self.pictures / "quay.jpg", 400, 300)
            self.until(server, ["deep/er/leaf", "harbour", "quay"])
        [cache] = (self.caches / "ziggurat").iterdir()
        self.assertRegex(cache.name, r"^pictures-[0-9a-f]{16}$")
        self.assertEqual((cache.stat().st_mode & 0o777, cache.parent.stat().st_mode & 0o777), (0o700, 0o700))
        before = {path.name: path.stat().st_ino for path in archives(cache)}
        self.assertEqual(sorted(before), ["harbour.szi", "leaf.szi", "quay.szi"])
        (self.pictures / "quay.jpg").unlink()
        # The same folder by another name is the same.
        (self.pictures.parent / "link").symlink_to(self.pictures)
        with Server(self.pictures.parent / "link", "--build") as server:
            self.assertNotIn("built harbour", server.errors())
            self.until(server, ["deep/er/leaf", "harbour"])
        self.assertEqual(list((self.caches / "ziggurat").iterdir()), [cache])
        self.assertEqual({path.name: path.stat().st_ino for path in archives(cache)},
                         {name: inode for name, inode in before.items() if name != "quay.szi"})
        self.assertEqual([path.name for path in self.pictures.rglob("*.szi")], [])

    def test_another_library_may_be_named(self):
        library = self.pictures.parent / "library"
        (self.pictures / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
        with Server(self.pictures, "--build", "--library", library) as server:
            self.assertEqual(images(server), ["deep/er/leaf", "harbour"])
            # What may still be on its way is looked at once more.
            self.reported(server, "broken.png")
        self.assertFalse(self.caches.exists())
        self.assertEqual(len(archives(library)), 2)

    def test_without_a_cache_a_library_is_to_be_named(self):
        del os.environ["XDG_CACHE_HOME"], os.environ["HOME"]
        self.assertUsageError(run("serve", self.pictures, "--build"), "--library")

    def test_conflicting_options_are_reported(self):
        for options, message in [(["--writable"], "--writable"), (["--space"], "--space"), (["--library", self.pictures], "another folder")]:
            self.assertUsageError(run("serve", self.pictures, "--build", *options), message)
        self.assertUsageError(run("serve", self.pictures / "harbour.jpg", "--build"), "not a folder")
        self.assertUsageError(run("serve", self.pictures / "none", "--build"), "not a folder")
        self.assertUsageError(run("serve", self.pictures, "--library", "x"), "--build")

    def test_a_signal_during_the_build_ends_it_at_once_and_leaves_nothing_half(self):
        photo(self.pictures / "large.png", 12000, 9000)
        process = subprocess.Popen([BINARY, "serve", self.pictures, "--build", "--port", "0"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stderr.readline()
        deadline = time.monotonic() + 60
        while not list(self.caches.rglob(".*partial*")) and not list(self.caches.rglob("*.szi")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (130, ""), errors)
        for path in archives(self.caches):
            self.assertWhole(path)


class NothingYet(Waiting):
    """A folder of pictures that are no archives says so wherever somebody looks."""

    def test_the_start_the_api_and_the_page_say_what_to_do(self):
        pictures = folder("pictures")
        photo(pictures / "harbour.jpg", 300, 200)
        with Server(pictures) as server:
            self.reported(server, "ziggurat build")
            listed = json.loads(server.get("/api/images").body)
            self.assertEqual((listed["images"], listed["total"]), ([], 0))
            self.assertIn("ziggurat build PICTURES --library DIR", listed["hint"])
            self.assertNotIn("hint", json.loads(server.get("/api/images?q=harbour").body))
            self.assertNotIn("hint", json.loads(server.get("/api/images?folder=x").body))
        with Server(folder("library"), "--writable") as server:
            self.assertNotIn("hint", json.loads(server.get("/api/images").body))

    def test_a_program_without_its_pages_says_so_where_they_would_be(self):
        place = folder("alone")
        (place / "library").mkdir()
        # Not a link: the pages are looked for beside the program itself.
        shutil.copy(BINARY, place / "ziggurat")
        process = subprocess.Popen([place / "ziggurat", "serve", "library", "--port", "0"], cwd=place, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20)
            self.assertEqual(refused.exception.code, 404)
            self.assertIn("--webroot", refused.exception.read().decode())
        finally:
            process.terminate()
            self.assertIn("--webroot", process.communicate(timeout=20)[1])

    def test_a_folder_that_is_its_own_library_is_reported(self):
        pictures = folder("pictures")
        photo(pictures / "harbour.jpg", 300, 200)
        result = run("build", ".", "--library", ".", cwd=pictures)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is the library itself", result.stderr)


if __name__ == "__main__":
    unittest.main()
