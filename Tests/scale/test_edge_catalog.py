"""The same changes as of a folder, of a library in an object store whose servers share a catalog."""

import os
import shutil
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "program/fleet")]

import test_edge_changes  # noqa: E402
from databases import Database  # noqa: E402
from harness import Server, folder, run  # noqa: E402
from small_store import SmallStore  # noqa: E402
from upload_client import token_file  # noqa: E402


class EdgeCatalog(test_edge_changes.EdgeChanges):
    def setUp(self):
        self.store = SmallStore()
        self.addCleanup(self.store.close)
        patched = mock.patch.dict(os.environ, self.store.environment)
        patched.start()
        self.addCleanup(patched.stop)
        self.database = Database()
        self.addCleanup(lambda: self.database.close())
        self.photos, self.published = folder("photos"), 0
        self.bucket = f"s3://{self.store.BUCKET}/library"
        for path in (self.base / "sources-0").iterdir():
            shutil.copy(path, self.photos)

    def build(self, what: Path) -> None:
        built = run("build", what, "--library", self.bucket, "--quiet", timeout=300)
        self.assertEqual(built.returncode, 0, built.stderr)

    def serve(self) -> Server:
        self.build(self.photos)
        self.assertEqual(run("catalog", "migrate", self.database.address).returncode, 0)
        self.servers = []
        for number in range(3):
            self.servers.append(Server(
                self.bucket, "--catalog", self.database.address, "--writable", "--token-file", token_file(), "--advertise-url",
                f"http://server-{number}/", *self.edge.options))
            self.addCleanup(self.servers[-1].stop)
            # The first of them is the one that writes.
            while self.servers[0].metrics().get("catalog_writer") != 1:
                time.sleep(0.1)
        while self.servers[0].metrics().get("images") != test_edge_changes.IMAGES:
            time.sleep(0.1)
        return self.servers[0]

    def publish(self, number: int, version: int) -> None:
        # What was deleted stays so until the id gets another archive, which this is each time.
        self.published += 1
        source = (self.base / f"sources-{version}/i{number}.jpg").read_bytes()
        (self.photos / f"i{number}.jpg").write_bytes(source + str(self.published).encode())
        self.build(self.photos / f"i{number}.jpg")
        self.versions[number] = version


if __name__ == "__main__":
    unittest.main()
