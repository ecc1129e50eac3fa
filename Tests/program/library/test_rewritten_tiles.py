"""Tiles of a `.dzi` folder that are replaced or written over while they are served: the next answer is the new tile's."""

import json
import os
import unittest
from pathlib import Path

from PIL import Image

from harness import Server, folder, photo
from test_deep_zoom_folders import difference, dzsave, picture

# Answers that show the tile: stored, cut, rendered, gathered.
SHOWING = ("/dzi/a_files/10/0_0.jpg", "/dzi/a_files/10/0_0.png", "/iiif/3/a/0,0,256,256/256,256/0/default.jpg",
           "/iiif/2/a/0,0,256,256/256,/0/default.jpg", "/iiif/3/a/10,10,100,90/max/0/default.png", "/xyz/a/2/0/0.jpg",
           "/xyz/a/2/0/0.png", "/zoomify/a/TileGroup0/2-0-0.jpg", "/api/images/a/viewport.png?width=90&height=80&scale=1&x=9&y=9",
           "/api/images/a/viewport.tiles?width=90&height=80&scale=1&x=9&y=9")
# Answers that do not.
OTHERS = ("/dzi/a_files/10/1_1.jpg", "/dzi/a_files/9/0_0.jpg", "/iiif/3/a/300,260,90,80/max/0/default.png", "/dzi/a.dzi",
          "/api/images/a/viewport.png?width=90&height=80&scale=1&x=400&y=300")


def fresh(path: Path, data: bytes, *, replace: bool):
    """Rewrites the tile, in place or beside it and renamed, with a modification time of its own."""
    before = path.stat().st_mtime_ns
    target = path.with_suffix(".part") if replace else path
    target.write_bytes(data)
    # A file system's clock may stand still between two writes.
    os.utime(target, ns=(before + 1_000_000_000,) * 2)
    target.replace(path)


class Rewritten(unittest.TestCase):
    def setUp(self):
        base = folder("rewritten")
        dzsave(photo(base / "a.png", 600, 400), base / "served/a", "--overlap", "0", "--tile-size", "256", "--suffix", ".jpg")
        self.place, self.tile = base / "served", base / "served/a_files/10/0_0.jpg"
        Image.new("RGB", (256, 256), (250, 250, 250)).save(base / "white.jpg")
        self.white = (base / "white.jpg").read_bytes()

    def test_the_new_tile_is_seen_through_every_protocol(self):
        for replace in (False, True):
            with self.subTest(replace=replace), Server(self.place) as server:
                before = {path: server.get(path) for path in (*SHOWING, *OTHERS)}
                self.assertEqual({answer.status for answer in before.values()}, {200})
                original = self.tile.read_bytes()
                fresh(self.tile, self.white, replace=replace)
                for path in SHOWING:
                    after = server.get(path, If_None_Match=before[path]["etag"])
                    self.assertEqual(after.status, 200, path)
                    self.assertNotEqual(after["etag"], before[path]["etag"], path)
                    self.assertNotEqual(after.body, before[path].body, path)
                    if "viewport.tiles" not in path:
                        self.assertLess(difference(picture(after), Image.new("RGB", picture(after).size, (250, 250, 250))), 3)
                    self.assertEqual(server.get(path, If_None_Match=after["etag"]).status, 304, path)
                self.assertEqual(server.get(SHOWING[0]).body, self.white)
                for path in OTHERS:
                    self.assertEqual(server.get(path, If_None_Match=before[path]["etag"]).status, 304, path)
                fresh(self.tile, original, replace=replace)
                self.assertEqual(server.get(SHOWING[0]).body, original)

    def test_a_restarted_server_knows_the_entity_tags(self):
        with Server(self.place) as server:
            tags = {path: server.get(path)["etag"] for path in SHOWING}
        with Server(self.place) as server:
            for path, tag in tags.items():
                self.assertEqual(server.get(path, If_None_Match=tag).status, 304, path)
        fresh(self.tile, self.white, replace=False)
        with Server(self.place) as server:
            for path, tag in tags.items():
                self.assertEqual(server.get(path, If_None_Match=tag).status, 200, path)

    def test_a_picture_of_very_many_tiles_is_never_taken_for_known(self):
        base = folder("many")
        dzsave(photo(base / "a.png", 420, 400), base / "served/a", "--overlap", "0", "--tile-size", "4", "--suffix", ".jpg")
        with Server(base / "served") as server:
            for path, status in (("/iiif/3/a/full/max/0/default.jpg", 200), ("/iiif/3/a/0,0,90,80/max/0/default.jpg", 304)):
                tag = server.get(path)["etag"]
                self.assertEqual(server.get(path, If_None_Match=tag).status, status, path)

    def test_no_answer_is_kept_for_ever(self):
        with Server(self.place) as server:
            generation = json.loads(server.get("/api/images/a").body)["generation"]
            for path in SHOWING[:7]:
                self.assertEqual(server.get(f"{path}?v={generation}")["cache-control"], "public, no-cache", path)

    def test_old_tiles_are_let_go(self):
        with Server(self.place) as server:
            for turn in range(1200):
                os.utime(self.tile, ns=(turn * 1_000_000_000,) * 2)
                self.assertEqual(server.get(SHOWING[0]).status, 200)
            maps = Path(f"/proc/{server.process.pid}/maps").read_text()
            self.assertLess(maps.count("0_0.jpg"), 1100)


if __name__ == "__main__":
    unittest.main()
