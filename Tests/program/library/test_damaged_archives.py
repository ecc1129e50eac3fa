"""Archives that are withdrawn or damaged while they are served: what clients, the log, /metrics and a build report."""

import json
import shutil
import time
import unittest
import zipfile

from harness import CommandTest, Server, folder, photo, run

WAYS = ["/api/images/{}", "/api/images/{}/viewport?width=300&height=200", "/api/images/{}/viewport.jpg?width=300&height=200",
        "/dzi/{}.dzi", "/dzi/{}_files/9/0_0.jpg", "/dzi/{}_files/9/0_0.png", "/iiif/3/{}/info.json",
        "/iiif/3/{}/full/max/0/default.jpg", "/iiif/2/{}/0,0,512,512/512,/0/default.jpg", "/xyz/{}/0/0/0.jpg",
        "/zoomify/{}/ImageProperties.xml", "/iiif/presentation/3/{}/manifest"]


class Withdrawn(unittest.TestCase):
    def library(self, count: int):
        place = folder("library")
        first = photo(place / "photos/0.png", 600, 400)
        for number in range(1, count):
            shutil.copy(first, place / f"photos/{number}.png")
        self.assertEqual(run("build", place / "photos", "--library", place / "library", "--quiet").returncode, 0)
        return place / "library"

    def test_an_archive_that_was_not_open_is_not_found_at_once(self):
        place = self.library(len(WAYS))
        with Server(place) as server:
            for number, way in enumerate(WAYS):
                (place / f"{number}.szi").unlink()
                self.assertEqual(server.get(way.format(number)).status, 404, way)
            self.assertIn("ziggurat_archive_errors_total 0", server.get("/metrics").body.decode())
            self.assertEqual(server.errors(), "")

    def test_what_was_open_is_whole_until_it_is_not_found(self):
        place = self.library(len(WAYS))
        with Server(place) as server:
            for number, way in enumerate(WAYS):
                target = way.format(number)
                self.assertEqual(server.get(target).status, 200, way)
                (place / f"{number}.szi").unlink()
                until = time.monotonic() + 30
                while (status := server.get(target).status) == 200:
                    self.assertLess(time.monotonic(), until)
                self.assertEqual(status, 404, way)


class Damaged(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("damaged")
        photo(cls.base / "photos/good/picture.jpg", 2600, 1900)
        run("build", cls.base / "photos", "--library", cls.base / "library", "--quiet", check=True)
        cls.archive = cls.base / "library/good/picture.szi"
        cls.whole = cls.archive.read_bytes()
        with zipfile.ZipFile(cls.archive) as file:
            cls.entries = {entry.filename.split("/", 1)[1]: entry for entry in file.infolist()}

    def damage(self, at: int, count: int, by: bytes = b"\0"):
        data = bytearray(self.whole)
        data[at:at + count] = by * count
        other = self.archive.with_name("other")
        other.write_bytes(data)
        other.rename(self.archive)

    def build(self) -> str:
        result = run("build", self.base / "photos", "--library", self.base / "library", "--json", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["status"]

    def assertReported(self, server, count: int, *parts):
        lines = server.errors().splitlines()
        self.assertEqual(len(lines), count, lines)
        for line in lines:
            self.assertRegex(line, r"^ziggurat: the archive of 'good/picture' cannot be read: .")
        for word in parts:
            self.assertIn(word, lines[-1])
        metrics = server.get("/metrics").body.decode()
        self.assertIn(f"ziggurat_archive_errors_total {count}\n", metrics)

    def test_what_cannot_be_opened_at_the_start_is_counted(self):
        self.archive.write_bytes(b"x")
        with Server(self.base / "library") as server:
            end = time.monotonic() + 20
            while server.metrics()["unreadable_archives"] != 1:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
            self.assertEqual(self.build(), "built")
            while server.metrics()["unreadable_archives"] != 0:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

    def test_a_defect_is_reported_once_for_each_version(self):
        tile = self.entries["picture_files/12/0_0.jpg"].header_offset
        self.archive.write_bytes(self.whole)
        with Server(self.base / "library") as server:
            def until(status, target):
                end = time.monotonic() + 30
                while server.get(target).status != status:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)

            stored = "/dzi/good%2Fpicture_files/12/0_0.jpg"
            self.assertEqual(server.get(stored).status, 200)
            self.assertReported(server, 0)
            self.damage(tile, 4)
            until(500, stored)
            for target in (stored, "/iiif/3/good%2Fpicture/3,3,300,300/300,/0/default.jpg", stored,
                           "/api/images/good%2Fpicture/viewport.tiles?width=900&height=700&scale=1&x=0&y=0"):
                answer = server.get(target)
                self.assertEqual(answer.status, 500, target)
                self.assertNotIn(str(self.base).encode(), answer.body)
            self.assertReported(server, 1, "tile 12/0_0")
            self.damage(0, 0)
            until(200, stored)
            # Inside a tile's data: the tile is answered, and what is to be made of it cannot be.
            self.damage(tile + 30 + len("picture/picture_files/12/0_0.jpg"), 2)
            end = time.monotonic() + 30
            while server.get(stored).body[:2] != b"\0\0":
                self.assertLess(time.monotonic(), end)
            self.assertEqual(server.get("/iiif/3/good%2Fpicture/5,5,300,300/300,/0/default.jpg").status, 500)
            self.assertReported(server, 2, "tile 12/0_0")
            # The directory itself.
            self.damage(len(self.whole) - 30, 30)
            until(500, stored)
            for _ in range(3):
                self.assertEqual(server.get("/api/images/good%2Fpicture").status, 500)
            self.assertReported(server, 3, "ZIP directory")
            self.damage(0, 0)
            until(200, stored)
            self.assertReported(server, 3)

    def test_a_build_repairs_damaged_archives(self):
        self.archive.write_bytes(self.whole)
        self.assertEqual(self.build(), "unchanged")
        tiles = sorted((entry for name, entry in self.entries.items() if "_files/" in name), key=lambda each: each.header_offset)
        directory = self.whole.index(b"PK\x01\x02")
        record = self.whole.index(b"sourceDigest")
        ways = {"its first bytes": (0, 4096), "the middle": (len(self.whole) // 2, len(self.whole) // 4),
                "the last tile's head": (tiles[-1].header_offset, 4), "the first tile's checksum": (tiles[0].header_offset + 14, 4),
                "the record": (record + 14, 8), "the directory": (directory, 46), "its end": (len(self.whole) - 22, 22),
                "a tile's name in the directory": (self.whole.rindex(b"_0.jpg"), 1)}
        for what, (at, count) in ways.items():
            with self.subTest(what):
                self.damage(at, count, b"\x01")
                self.assertEqual(self.build(), "built")
                self.assertEqual(self.archive.read_bytes(), self.whole)
        for what, data in (("cut short", self.whole[:-1000]), ("empty", b""), ("twice", self.whole * 2),
                           ("cut short before its directory", self.whole[:directory // 2] + self.whole[directory:])):
            with self.subTest(what):
                self.archive.write_bytes(data)
                self.assertEqual(self.build(), "built")
                self.assertEqual(self.archive.read_bytes(), self.whole)
        # Damage in a tile's pixels is found only by reading all of them.
        self.damage(tiles[0].header_offset + 300, 8, b"\x01")
        self.assertEqual(self.build(), "unchanged")
        self.assertEqual(run("verify", self.base / "library").returncode, 1)


if __name__ == "__main__":
    unittest.main()
