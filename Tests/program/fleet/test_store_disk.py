"""A disk between a server and its store, by packaging/nginx-store.conf: the same bytes, and no question twice."""

import json
import os
import re
import unittest
from unittest import mock

from edges import StoreDisk
from harness import Server, folder, photo, run
from planned import PlanTest
from small_store import SmallStore


class Disk(PlanTest):
    # Of another store, which is there.
    bucket = f"s3://{SmallStore.BUCKET}/library"

    def setUp(self):
        super().setUp()
        self.store = SmallStore()
        self.addCleanup(self.store.close)
        self.use(self.store.environment)
        self.begin(self.store.server.server_port)

    def begin(self, port: int) -> None:
        photo(self.photos / "wide.png", 3000, 2000)
        photo(self.photos / "a/small.jpg", 300, 200)
        for library in (self.library, self.bucket):
            built = run("build", self.photos, "--library", library, "--tile-size", "256", "--quiet")
            self.assertEqual(built.returncode, 0, built.stderr)
        self.disk = StoreDisk(folder("disk"))
        self.addCleanup(self.disk.stop)
        self.disk.start([port])
        self.near = Server(self.library)
        self.addCleanup(self.near.stop)

    def use(self, environment: dict[str, str]) -> None:
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        self.addCleanup(patched.stop)

    def asked(self) -> int:
        """Questions for archives since this was asked last."""
        return sum(re.search("/szi/", key) is not None for _, key in self.store.taken())

    def read(self, server: Server) -> int:
        """All tiles of all images, which must be the folder's."""
        count = 0
        for image in json.loads(self.near.get("/api/images?fields=all").body)["images"]:
            for level, size in enumerate(image["levels"]):
                for row in range(size["rows"]):
                    for column in range(size["columns"]):
                        path = f"{image['urls']['dzi'].removesuffix('.dzi')}_files/{level}/{column}_{row}.{image['format']}"
                        ours, theirs = server.get(path), self.near.get(path)
                        self.assertEqual((ours.status, ours["etag"], ours.body), (200, theirs["etag"], theirs.body), path)
                        count += 1
        return count

    def test_the_store_is_asked_for_each_slice_once(self):
        self.asked()
        self.use({"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.disk.port}"})
        counts = []
        for _ in range(2):
            with Server(self.bucket) as server:
                self.assertGreater(self.read(server), 100)
            counts.append(self.asked())
        size = sum(path.stat().st_size for path in self.library.rglob("*.szi"))
        # A slice for each megabyte that was begun, and of the first one more, where an archive's end is asked for first.
        self.assertLessEqual(counts[0], size // (1 << 20) + 4)
        self.assertGreater(counts[0], 1)
        self.assertEqual(counts[1], 0)

    def test_nothing_but_reading_goes_through(self):
        self.use({"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.disk.port}"})
        photo(self.photos / "new.png", 100, 100)
        built = run("build", self.photos, "--library", self.bucket, "--tile-size", "256", "--quiet")
        self.assertNotEqual(built.returncode, 0)
        self.assertEqual(len(self.store.keys("library/szi/")), 2)


if __name__ == "__main__":
    unittest.main()
