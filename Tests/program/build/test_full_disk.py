"""A full disk: what was acknowledged stays, what does not fit is refused, and all goes on where there is room again."""

import errno
import json
import os
import resource
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from harness import folder, photo, run
from szi import archives
from upload_client import Client, rest_of, serve

UNLIMITED = resource.RLIM_INFINITY


def fill(path: Path) -> None:
    """Writes until nothing is free."""
    with path.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            assert error.errno == errno.ENOSPC, error


class FullDisk(unittest.TestCase):
    def until(self, server, health: bytes) -> None:
        end = time.monotonic() + 60
        while (answer := server.get("/healthz")).body != health:
            self.assertLess(time.monotonic(), end, answer)
            time.sleep(0.1)
        self.assertEqual(answer.status, 200)

    def test_commands_say_that_the_disk_is_full(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system is mounted by root alone")
        library = folder("small")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", library], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            photos = folder("photos")
            photo(photos / "a.png", 300, 200)
            (photos / "password").write_text("a password of the tests\n")
            arguments = ("--password-file", photos / "password")
            self.assertEqual(run("build", photos, "--library", library, "--quiet").returncode, 0)
            self.assertEqual(run("space", "create", library, *arguments).returncode, 0)
            fill(library / "filler.bin")
            result = run("reindex", library)
            self.assertEqual((result.returncode, result.stderr), (75, f"ziggurat: cannot write {library}/catalog.sqlite: the disk is full\n"))
            result = run("space", "move", library, "a", *arguments)
            self.assertEqual((result.returncode, result.stderr.splitlines()[0]), (75, "ziggurat: cannot move a: No space left on device"), result.stderr)
            self.assertTrue((library / "a.szi").exists())
            (library / "filler.bin").unlink()
            self.assertEqual(run("space", "move", library, "a", *arguments).returncode, 0)
            fill(library / "filler.bin")
            result = run("space", "move", library, "a", "--to", "library", *arguments)
            self.assertEqual(result.returncode, 75, result.stderr)
            (library / "filler.bin").unlink()
            self.assertEqual(run("space", "move", library, "a", "--to", "library", *arguments).returncode, 0)
            self.assertEqual(run("verify", library).returncode, 0)
        finally:
            subprocess.run(["umount", "--lazy", library])

    def test_a_small_file_system(self):
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
            small = folder("small")
            photo(small / "photos/small.jpg", 90, 70)
            self.assertEqual(run("build", small / "photos", "--library", small / "library", "--quiet").returncode, 0)
            made = small / "library/small.szi"
            shutil.copy(made, library / "small.szi")
            with serve(library) as server:
                client = Client(server)
                refused = client.create(20 << 20, filename="too big.png")
                self.assertEqual(refused.status, 507)
                self.assertGreater(int(refused["retry-after"]), 0)
                path = client.create(len(data), filename="big.png")["location"]
                self.assertEqual(client.patch(path, 0, data[:500_000]).status, 204)
                filler = library / "filler.bin"
                filler.write_bytes(bytes(8 << 20))
                self.assertEqual(client.patch(path, 500_000, data[500_000:]).status, 507)
                self.assertEqual(client.ask("HEAD", path)["upload-offset"], "500000")
                self.until(server, b"degraded: the disk is nearly full, and uploads are refused\n")
                fill(filler)
                self.until(server, b"degraded: the disk is full\n")
                answer = client.ask("PATCH", "/api/images/small", json.dumps({"title": "x" * 900}).encode(), tus=False)
                self.assertEqual((answer.status, json.loads(answer.body)["detail"]), (507, "the server's disk is full; nothing was changed"))
                self.assertLess(server.metrics()["library_free_bytes"], 1 << 20)
                self.assertEqual(server.errors().splitlines(), [f"ziggurat: the disk of {library} is nearly full; uploads are answered with 507",
                                                                f"ziggurat: the disk of {library} is full; changes and uploads are answered with 507"])
                filler.unlink()
                self.until(server, b"ok\n")
                self.assertEqual(client.patch(path, 500_000, data[500_000:]).status, 204)
                self.assertEqual(client.end(path)["image"], "big")
            self.assertEqual(run("verify", library).returncode, 0)
        finally:
            subprocess.run(["umount", "-l", library], check=True)

    def test_the_trash_is_emptied_on_a_full_disk(self):
        """Deleted images stay on the disk: emptying the trash must not need room."""
        if os.geteuid() != 0:
            self.skipTest("a small file system is mounted by root alone")
        library, photos = folder("full"), folder("photos")
        for name in ("kept", "deleted", "gone"):
            photo(photos / f"{name}.png", 1600, 1200)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=72m", "tmpfs", library], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            self.assertEqual(run("build", photos, "--library", library, "--quiet", "--format", "png").returncode, 0)
            with serve(library) as server:
                client = Client(server)
                self.assertEqual(client.ask("DELETE", "/api/images/deleted", tus=False).status, 200)
            (photos / "deleted.png").unlink()
            fill(library / "filler.bin")
            size = (library / "gone.szi").stat().st_size
            before = shutil.disk_usage(library).free
            self.assertLess(before, 4096)
            run("build", photos, "--library", library, "--prune", "--keep-deleted", "0h", "--quiet")
            self.assertGreater(shutil.disk_usage(library).free, before + size // 2)
            self.assertEqual(run("build", photos, "--library", library, "--quiet").returncode, 0)
            self.assertEqual(run("verify", library).returncode, 0)
        finally:
            subprocess.run(["umount", "-l", library], check=True)

    def test_a_file_system_without_inodes_is_not_called_full(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system is mounted by root alone")
        library, photos = folder("inodes"), folder("photos")
        for number in range(20):
            photo(photos / f"{number:02}.jpg", 60, 40 + number)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=12", "tmpfs", library], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            result = run("build", photos, "--library", library, "--jobs", 1, "--quiet")
            self.assertEqual(result.returncode, 75, result.stderr)
            self.assertIn("No inodes left on the file system, which has too many files", result.stderr)
            self.assertIn("the file system has no inodes left: ", result.stderr)
            self.assertNotIn("disk is full", result.stderr)
            self.assertNotIn("No space left", result.stderr)
        finally:
            subprocess.run(["umount", "-l", library], check=True)

    def limit(self, server, size: int):
        """No file of the server may grow beyond so many bytes: a full disk for any user who runs the tests."""
        # Sandboxed processes have the limits of the processes that start them.
        processes = [server.process.pid]
        for process in processes:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (size, UNLIMITED))
            processes += map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())

    def test_uploads_wait_for_room(self):
        library = folder("library")
        data = photo(folder("photos") / "big.png", 1600, 1200).read_bytes()
        self.assertGreater(len(data), 800_000)
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.end(client.send(photo(folder("p") / "x.jpg", 90, 70).read_bytes(), filename="first.jpg")[1])["status"], "done")
            path = client.create(len(data), filename="big.png")["location"]
            self.assertEqual(client.patch(path, 0, data[:200_000]).status, 204)
            self.limit(server, 300_000)
            answer = client.patch(path, 200_000, data[200_000:])
            self.assertEqual((answer.status, answer["upload-offset"], answer["retry-after"]), (507, "200000", "20"))
            self.assertEqual(client.ask("HEAD", path)["upload-offset"], "200000")
            # Read it can meanwhile.
            self.assertEqual(client.images(), {"first"})
            self.assertEqual(server.get("/dzi/first_files/6/0_0.jpg").status, 200)
            self.limit(server, UNLIMITED)
            self.assertEqual(client.patch(path, 200_000, data[200_000:]).status, 204)
            self.assertEqual(client.end(path)["image"], "big")
            self.assertEqual(client.images(), {"first", "big"})
        self.assertEqual(run("verify", library).returncode, 0)

    def test_tiling_waits_for_room(self):
        library = folder("library")
        data = photo(folder("photos") / "big.jpg", 5000, 2800).read_bytes()
        with serve(library) as server:
            client = Client(server)
            path = client.create(len(data), filename="big.jpg")["location"]
            self.limit(server, len(data) + 1000)
            self.assertEqual(client.patch(path, 0, data).status, 204)
            until = time.monotonic() + 30
            while not (state := client.state(path)).get("message"):
                self.assertLess(time.monotonic(), until, state)
                time.sleep(0.1)
            # Not given up: the picture was acknowledged.
            self.assertEqual((state["status"], archives(library)), ("waiting", []))
            self.limit(server, UNLIMITED)
            self.assertEqual(client.end(path)["image"], "big")
            self.assertEqual(rest_of(library), [])
        self.assertEqual(run("verify", library).returncode, 0)

    def test_edits_and_deletions_are_whole_or_not_at_all(self):
        base = folder("edits")
        library = base / "library"
        for name in ("one", "two"):
            photo(base / f"photos/{name}.jpg", 300, 200)
        self.assertEqual(run("build", base / "photos", "--library", library, "--quiet").returncode, 0)
        with serve(library) as server:
            client = Client(server)
            edit = lambda title: client.ask("PATCH", "/api/images/one", json.dumps({"title": title}).encode(), tus=False)
            self.assertEqual(edit("before").status, 200)
            sidecar = (library / "one.xmp").read_bytes()
            self.limit(server, 100)
            answer = edit("after")
            self.assertEqual((answer.status, answer["content-type"], answer["retry-after"]), (507, "application/problem+json", "20"))
            self.assertNotIn(str(library), answer.body.decode())
            self.assertEqual((library / "one.xmp").read_bytes(), sidecar)
            self.assertEqual(json.loads(server.get("/api/images/one").body)["title"], "before")
            # Moving takes no room.
            deleted = client.ask("DELETE", "/api/images/two", tus=False)
            self.assertEqual((deleted.status, client.images()), (200, {"one"}))
            self.limit(server, UNLIMITED)
            self.assertEqual(edit("after").status, 200)
            name = json.loads(deleted.body)["deleted"]["id"]
            self.assertEqual(client.ask("POST", f"/api/trash/{name}/restore", tus=False).status, 200)
            found = json.loads(server.get("/api/images?q=after").body)
            self.assertEqual(([image["id"] for image in found["images"]], client.images()), (["one"], {"one", "two"}))
        self.assertEqual([path for path in library.rglob(".*") if path.is_file() and "partial" in path.name], [])
        # Changes that did not reach the catalog are in the archives and sidecars.
        with serve(library) as server:
            # A server waits briefly for its catalog, and no longer beside other work.
            end = time.monotonic() + 20
            while not (found := json.loads(server.get("/api/images?q=after").body)["images"]) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual([image["title"] for image in found], ["after"])


if __name__ == "__main__":
    unittest.main()
