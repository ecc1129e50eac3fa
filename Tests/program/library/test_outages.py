"""A library's folder that goes away under a running server, as a share that is unmounted, and comes back."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import harness
from harness import BINARY, Server, folder, photo, run
from test_editing import TOKEN, ask, writable

TILE = "/dzi/photo_files/8/0_0.jpg"


def until(what, seconds: float = 20):
    """Waits until it is so; a server looks once a second."""
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


class Outages(unittest.TestCase):
    def setUp(self):
        self.base = folder("outages")
        self.library = self.base / "library"
        photo(self.base / "photos/photo.jpg", 600, 400)
        photo(self.base / "photos/other.jpg", 300, 200)
        self.assertEqual(run("build", self.base / "photos", "--library", self.library).returncode, 0)

    def assertAway(self, server: Server):
        answer = until(lambda: (answer := server.get("/healthz")).status == 503 and answer)
        self.assertTrue(answer, server.get("/healthz"))
        self.assertIn(b"degraded", answer.body)
        for target in (TILE, "/dzi/other.dzi", "/api/images/photo", "/api/images", "/iiif/3/photo/info.json",
                       "/view/photo", "/embed/photo", "/iiif/3/photo/full/50,/0/default.jpg"):
            with self.subTest(target):
                answer = server.get(target)
                self.assertEqual(answer.status, 503)
                self.assertGreaterEqual(int(answer["retry-after"]), 1)
        self.assertEqual(server.metrics()["library_reachable"], 0)

    def assertBack(self, server: Server):
        self.assertTrue(until(lambda: server.get("/healthz").status == 200))
        # At once: the listing was not emptied in between.
        self.assertEqual(json.loads(server.get("/api/images").body)["total"], 2)
        self.assertEqual([server.get(target).status for target in (TILE, "/api/images/other")], [200, 200])
        self.assertEqual(server.metrics()["library_reachable"], 1)

    def assertReportedOnce(self, server: Server, times: int = 1):
        lines = [line for line in server.errors().splitlines() if str(self.library) in line]
        self.assertEqual(len(lines), 2 * times, lines)
        self.assertIn("cannot be reached", lines[0])
        self.assertIn("can be reached again", lines[1])

    def test_a_folder_that_was_renamed_and_an_empty_one_in_its_place(self):
        away = self.base / "away"
        with Server(self.library) as server:
            self.assertEqual(server.get(TILE).status, 200)
            self.library.rename(away)
            self.library.mkdir()
            self.assertAway(server)
            time.sleep(2.5)
            self.assertEqual(os.listdir(self.library), [])
            # As a server left it that was started before its share was mounted, and as administrators mark it.
            (self.library / "catalog.sqlite").touch()
            (self.library / "NOT_MOUNTED").touch()
            for _ in range(20):
                self.assertAway(server)
                time.sleep(0.1)
            for path in self.library.iterdir():
                path.unlink()
            self.library.rmdir()
            away.rename(self.library)
            self.assertBack(server)
            # Gone altogether.
            self.library.rename(away)
            self.assertAway(server)
            away.rename(self.library)
            self.assertBack(server)
            self.assertReportedOnce(server, 2)

    def test_nothing_is_written_into_the_empty_folder(self):
        token = self.base / "token"
        token.write_text("a token of some length\n".replace(" ", "-"))
        away = self.base / "away"
        with Server(self.library, "--writable", "--token-file", token) as server:
            self.library.rename(away)
            self.library.mkdir()
            self.assertAway(server)
            headers = {"Authorization": "Bearer a-token-of-some-length", "Content_Length": "0"}
            for method, target in (("DELETE", "/api/images/photo"), ("PATCH", "/api/images/photo"), ("POST", "/api/uploads")):
                with self.subTest(method):
                    self.assertEqual(server.get(target, method, **headers).status, 503)
            self.assertEqual(os.listdir(self.library), [])
            self.library.rmdir()
            away.rename(self.library)
            self.assertBack(server)

    def test_a_library_that_takes_the_place_of_another_is_shown(self):
        photo(self.base / "new/new.jpg", 100, 100)
        self.assertEqual(run("build", self.base / "new", "--library", self.base / "next").returncode, 0)
        with Server(self.library) as server:
            self.library.rename(self.base / "away")
            (self.base / "next").rename(self.library)
            self.assertTrue(until(lambda: server.get("/api/images/new").status == 200))
            self.assertEqual((server.get("/api/images/photo").status, server.get("/healthz").status), (404, 200))

    def test_an_emptied_library_is_no_outage(self):
        with Server(self.library) as server:
            for path in self.library.glob("*.szi"):
                path.unlink()
            self.assertTrue(until(lambda: server.get("/api/images/photo").status == 404))
            self.assertEqual(server.get("/healthz").status, 200)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_share_that_is_unmounted(self):
        """A bind mount in a namespace of the server's own."""
        share = self.base / "share"
        self.library.rename(share)
        self.library.mkdir()
        start = self.base / "ziggurat"
        start.write_text(f"#!/bin/sh\nexec unshare --mount --propagation private sh -c "
                         f"'mount --bind \"{share}\" \"{self.library}\" && exec \"{BINARY}\" \"$@\"' sh \"$@\"\n")
        start.chmod(0o755)
        tried = subprocess.run(["unshare", "--mount", "--propagation", "private", "mount", "--bind", share, self.library], capture_output=True)
        if tried.returncode != 0:
            self.skipTest(f"no mounts here: {tried.stderr.decode().strip()}")
        with mock.patch.object(harness, "BINARY", start), Server(self.library) as server:
            def inside(*command):
                subprocess.run(["nsenter", "--target", str(server.process.pid), "--mount", "--wd=/", *map(str, command)], check=True)
            self.assertEqual(server.get(TILE).status, 200)
            inside("umount", "--lazy", self.library)
            self.assertAway(server)
            self.assertEqual(os.listdir(self.library), [])
            inside("mount", "--bind", share, self.library)
            self.assertBack(server)
            self.assertReportedOnce(server)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_folder_on_a_disk_that_is_unmounted(self):
        # Another file system, mounted in a namespace of the server's own.
        share = Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, share)
        if share.stat().st_dev == self.library.stat().st_dev:
            self.skipTest("no other file system here")
        self.unmount(share)

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_folder_of_the_same_file_system_that_is_unmounted(self):
        self.unmount(self.base / "share")

    def unmount(self, share: Path):
        share.mkdir(exist_ok=True)
        disk = self.library / "disk"
        (self.base / "token").write_text(TOKEN + "\n")
        for name in ("open", "closed"):
            photo(self.base / f"photos/disk/deep/{name}.jpg", 500, 400)
        self.assertEqual(run("build", self.base / "photos", "--library", self.library).returncode, 0)
        shutil.move(disk / "deep", share / "deep")
        tried = subprocess.run(["unshare", "--mount", "--propagation", "private", "mount", "--bind", share, disk], capture_output=True)
        if tried.returncode != 0:
            self.skipTest(f"no mounts here: {tried.stderr.decode().strip()}")
        start = self.base / "ziggurat"
        start.write_text(f"#!/bin/sh\nexec unshare --mount --propagation private sh -c "
                         f"'mount --bind \"{share}\" \"{disk}\" && exec \"{BINARY}\" \"$@\"' sh \"$@\"\n")
        start.chmod(0o755)
        with mock.patch.object(harness, "BINARY", start), writable(self.library) as server:
            def inside(*command):
                subprocess.run(["nsenter", "--target", str(server.process.pid), "--mount", "--wd=/", *map(str, command)], check=True)
            def names():
                return [image["id"] for image in json.loads(server.get("/api/images").body)["images"]]
            all_names = names()
            self.assertEqual(sorted(all_names), ["disk/deep/closed", "disk/deep/open", "other", "photo"])
            self.assertEqual(server.get("/dzi/disk/deep/open_files/8/0_0.jpg").status, 200)
            for turn in range(2):
                inside("umount", "--lazy", disk)
                self.assertTrue(until(lambda: server.get("/healthz").body.startswith(b"degraded")))
                time.sleep(2.5)
                self.assertEqual((server.get("/healthz").status, names()), (200, all_names))
                for target in ("/dzi/disk/deep/closed_files/8/0_0.jpg", "/api/images/disk%2Fdeep%2Fclosed", "/iiif/3/disk%2Fdeep%2Fclosed/info.json"):
                    answer = server.get(target)
                    mounts = Path(f"/proc/{server.process.pid}/mountinfo").read_text()
                    self.assertEqual((answer.status, answer["retry-after"]), (503, "1"),
                                     (target, turn, str(disk) in mounts, server.get("/healthz").body, server.errors()))
                self.assertEqual([server.get(target).status for target in (TILE, "/api/images/other")], [200, 200])
                for method, body in (("PATCH", {"title": "x"}), ("DELETE", None)):
                    self.assertEqual(ask(server, method, "/api/images/disk%2Fdeep%2Fclosed", body)[0], 503, method)
                # As seen outside of the namespace.
                self.assertEqual(os.listdir(disk), [])
                inside("mount", "--bind", share, disk)
                self.assertTrue(until(lambda: server.get("/healthz").body.startswith(b"ok")), server.get("/healthz"))
                self.assertEqual((server.get("/api/images/disk%2Fdeep%2Fopen").status, names()), (200, all_names))
            self.assertEqual(server.get("/dzi/disk/deep/closed_files/8/0_0.jpg").status, 200)
            inside("umount", "--lazy", disk)
            self.assertTrue(until(lambda: server.get("/healthz").body.startswith(b"degraded")))
            disk.rmdir()
            self.assertTrue(until(lambda: len(names()) == 2), "a folder that was removed")
            lines = [line for line in server.errors().splitlines() if str(disk) in line]
            self.assertEqual(len(lines), 6, lines)


class MissingArchives(unittest.TestCase):
    def test_verify_reports_archives_that_the_catalog_lists(self):
        base = folder("missing")
        library = base / "library"
        for name in ("a", "b", "deep/c"):
            photo(base / f"photos/{name}.jpg", 100, 80, left=100 * len(name))
        self.assertEqual(run("build", base / "photos", "--library", library).returncode, 0)
        self.assertEqual(run("verify", library).returncode, 0)
        for name in ("a", "deep/c"):
            (library / f"{name}.szi").unlink()
        result = run("verify", library)
        self.assertEqual((result.returncode, result.stdout.splitlines()), (1, [
            f"{library}/a.szi: is missing, and the catalog lists it", f"{library}/deep/c.szi: is missing, and the catalog lists it"]))
        # One source is there, the other is gone from its folder, which is still there with others.
        photo(base / "photos/deep/d.jpg", 20, 20)
        (base / "photos/deep/c.jpg").unlink()
        result = run("verify", library, "--repair")
        self.assertEqual(result.returncode, 0, result)
        self.assertTrue((library / "a.szi").exists())
        self.assertIn(f"{library}/deep/c.szi: removed from the catalog", result.stdout)
        result = run("verify", library)
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        with Server(library) as server:
            self.assertEqual(json.loads(server.get("/api/images").body)["total"], 2)

    def test_verify_reports_names_that_are_not_utf_8(self):
        base = folder("names")
        photo(base / "photos/a.jpg", 100, 80)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        library = os.fsencode(base / "library")
        shutil.copy(base / "library/a.szi", library + b"/b\xff.szi")
        os.mkdir(library + b"/c\xfe")
        (base / "library/no archive").write_text("")
        os.rename(base / "library/no archive", library + b"/d\xfd.txt")
        result = run("verify", base / "library")
        self.assertEqual((result.returncode, sorted(result.stdout.splitlines())), (1, [
            f"{base}/library/b\\xFF.szi: cannot be read: its name is not UTF-8; rename it",
            f"{base}/library/c\\xFE: cannot be read: its name is not UTF-8; rename it"]), result)

    def test_a_deleted_archive_is_not_missing(self):
        base = folder("missing")
        library = base / "library"
        for name in ("a", "b"):
            photo(base / f"photos/{name}.jpg", 100, 80)
        self.assertEqual(run("build", base / "photos", "--library", library, "--quiet").returncode, 0)
        (base / "token").write_text("a-token-for-these-tests\n")
        server = writable(library)
        with server:
            self.assertEqual(ask(server, "POST", "/api/trash", {"ids": ["a"]})[0], 200)
            self.assertNoDefect(library)
        self.assertNoDefect(library)
        self.assertFalse((library / "a.szi").exists())
        # A server that was killed between the two leaves the row.
        (library / "b.szi").rename(next((library / ".ziggurat-trash").iterdir()) / "b.szi")
        self.assertNoDefect(library)
        self.assertEqual(list(library.glob("*.szi")), [])

    def assertNoDefect(self, library):
        for options in ([], ["--repair"]):
            result = run("verify", library, *options)
            self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_verify_of_one_archive_asks_no_catalog(self):
        base = folder("missing")
        for name in ("a", "b"):
            photo(base / f"photos/{name}.jpg", 100, 80)
        self.assertEqual(run("build", base / "photos", "--library", base / "library").returncode, 0)
        (base / "library/a.szi").unlink()
        self.assertEqual(run("verify", base / "library/b.szi").returncode, 0)


if __name__ == "__main__":
    unittest.main()
