"""Tiles drawn as the API describes them make the picture that the server makes, in every scheme.

The drawing here is numpy, written from docs/reference/viewport-query.md alone. Tiles are lossless, so that nothing but rounding
differs.
"""

import io
import json
import math
import re
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlencode

import numpy
from PIL import Image

from harness import Server, folder, photo, run
from test_viewport_tiles import parts

WIDTH, HEIGHT, SIDE = 701, 493, 128
SCHEMES = ("dzi", "iiif3", "iiif2", "xyz")
CENTER = f"{WIDTH / 2},{HEIGHT / 2}"
# Windows that show the right and lower edges, whose tiles are smaller, and parts of all levels.
VIEWS = [
    {"width": 260, "height": 190, "fit": "contain"}, {"width": 260, "height": 190, "fit": "contain", "dpr": 2},
    {"width": 200, "height": 150, "scale": 1, "x": 560, "y": 400}, {"width": 200, "height": 150, "scale": 0.37, "x": 100, "y": 80},
    {"width": 220, "height": 160, "scale": 0.6, "center": "600,420", "rotation": 30},
    {"width": 220, "height": 160, "scale": 0.21, "center": CENTER, "rotation": 118.5, "flip": "true"},
    {"width": 160, "height": 220, "scale": 0.5, "center": "650,460", "flip": "true"},
    {"width": 160, "height": 220, "scale": 0.5, "center": "650,460", "rotation": 90},
    {"width": 150, "height": 150, "scale": 2.7, "center": "690,485", "rotation": -15, "dpr": 1.5},
    {"width": 40, "height": 30, "scale": 0.03, "center": CENTER, "rotation": 200},
]


def bilinear(pixels: numpy.ndarray, x: numpy.ndarray, y: numpy.ndarray) -> numpy.ndarray:
    """Pixels at places, of which pixel 0 covers 0 to 1; at the edges the last pixel goes on."""
    height, width = pixels.shape[:2]
    x, y = numpy.clip(x - 0.5, 0, width - 1), numpy.clip(y - 0.5, 0, height - 1)
    left, top = numpy.floor(x).astype(int), numpy.floor(y).astype(int)
    right, bottom = numpy.minimum(left + 1, width - 1), numpy.minimum(top + 1, height - 1)
    dx, dy = (x - left)[..., None], (y - top)[..., None]
    return ((pixels[top, left] * (1 - dx) + pixels[top, right] * dx) * (1 - dy)
            + (pixels[bottom, left] * (1 - dx) + pixels[bottom, right] * dx) * dy)


def before_rotation(view: dict, ratio: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    """For each device pixel the point of the viewport where it would be if the picture were neither rotated nor mirrored."""
    columns, rows = round(view["width"] * ratio), round(view["height"] * ratio)
    x, y = numpy.meshgrid((numpy.arange(columns) + 0.5) / ratio - view["width"] / 2, (numpy.arange(rows) + 0.5) / ratio - view["height"] / 2)
    angle = math.radians(view["rotation"])
    x, y = x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)
    return (-x if view["flip"] else x) + view["width"] / 2, y + view["height"] / 2


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("drawing")
        source = photo(base / "photos/photo.png", WIDTH, HEIGHT)
        built = run("build", base / "photos", "--library", base / "plain", "--tile-size", SIDE, "--format", "png", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.servers = {0: Server(base / "plain")}
        cls.addClassCleanup(cls.servers[0].stop)
        place = folder("overlap")
        subprocess.run(["vips", "dzsave", source, place / "photo", "--tile-size", str(SIDE), "--overlap", "3", "--suffix", ".png"],
                       check=True, capture_output=True)
        cls.servers[3] = Server(place)
        cls.addClassCleanup(cls.servers[3].stop)
        cls.pictures = {}

    def picture(self, overlap: int, target: str) -> numpy.ndarray:
        if (overlap, target) not in self.pictures:
            answer = self.servers[overlap].get(target)
            self.assertEqual(answer.status, 200, target)
            self.pictures[overlap, target] = numpy.asarray(Image.open(io.BytesIO(answer.body)).convert("RGBA")).astype(float)
        return self.pictures[overlap, target]

    def views(self):
        """Every view of every archive in every scheme: the answer, and the pictures of its tiles."""
        for overlap, server in self.servers.items():
            for view in VIEWS:
                for scheme in SCHEMES:
                    answer = json.loads(server.get(f"/api/images/photo/viewport?{urlencode({**view, 'scheme': scheme})}").body)
                    self.assertTrue(answer["tiles"])
                    yield overlap, view, scheme, answer, [self.picture(overlap, tile["url"]) for tile in answer["tiles"]]

    def test_the_picture_of_a_tile_has_the_pixels_of_its_source(self):
        """The same pixels in every scheme, and in the answer with all tiles."""
        levels = {}
        for overlap, view, scheme, answer, pictures in self.views():
            together = self.servers[overlap].get(f"/api/images/photo/viewport.tiles?{urlencode({**view, 'scheme': scheme})}")
            self.assertEqual(together.status, 200, together)
            stored = [numpy.asarray(Image.open(io.BytesIO(part)).convert("RGBA")) for part in parts(together.body)[1:]]
            for tile, picture, part in zip(answer["tiles"], pictures, stored, strict=True):
                source = tile["source"]
                self.assertEqual(picture.shape[:2], (source["height"], source["width"]), tile["url"])
                numpy.testing.assert_array_equal(picture, part)
                if (overlap, tile["level"]) not in levels:
                    levels[overlap, tile["level"]] = self.picture(
                        overlap, f"/iiif/3/photo/full/{math.ceil(WIDTH * answer['levelScale'])},{math.ceil(HEIGHT * answer['levelScale'])}/0/default.png")
                whole = levels[overlap, tile["level"]]
                x, y = source["x"], source["y"]
                numpy.testing.assert_array_equal(picture, whole[y:y + source["height"], x:x + source["width"]], tile["url"])

    def asked(self, overlap: int, view: dict) -> numpy.ndarray:
        return self.picture(overlap, f"/api/images/photo/viewport.png?{urlencode(view)}")

    def inside(self, view: dict, ratio: float, x, y, margin: float) -> numpy.ndarray:
        """Which pixels lie in the picture, this far from its edges or farther; negative: outside, but nearer than that."""
        x, y = x + view["x"], y + view["y"]
        return ((x > margin) & (y > margin) & (x < WIDTH * view["scale"] - margin) & (y < HEIGHT * view["scale"] - margin))

    def test_tiles_side_by_side_in_their_level_make_the_picture_within_rounding(self):
        coarse = 0
        for overlap, view, scheme, answer, pictures in self.views():
            if scheme == "dzi":
                level = answer["level"]
            # XYZ has no level coarser than that of one tile, and the server draws from one.
            if answer["level"] != level:
                self.assertEqual((scheme, len(pictures)), ("xyz", 1))
                coarse += 1
                continue
            tiles, shown, ratio = answer["tiles"], answer["viewport"], view.get("dpr", 1)
            left, top = (min(tile["source"][side] for tile in tiles) for side in "xy")
            right, bottom = (max(tile["source"][side] + tile["source"][length] for tile in tiles) for side, length in (("x", "width"), ("y", "height")))
            mosaic = numpy.full((bottom - top, right - left, 4), -1000.0)
            for tile, picture in zip(tiles, pictures):
                x, y = tile["source"]["x"] - left, tile["source"]["y"] - top
                mosaic[y:y + picture.shape[0], x:x + picture.shape[1]] = picture
            x, y = before_rotation(shown, ratio)
            finer = answer["levelScale"] / shown["scale"]
            drawn = bilinear(mosaic, (x + shown["x"]) * finer - left, (y + shown["y"]) * finer - top)
            asked = self.asked(overlap, view)
            self.assertEqual(drawn.shape, asked.shape)
            rim = max(1 / finer, 1 / ratio)
            inside = self.inside(shown, ratio, x, y, rim)
            self.assertGreater(inside.sum(), 100, view)
            self.assertLessEqual(numpy.abs(drawn - asked)[inside].max(), 2, (overlap, scheme, view))
            # Beside the picture, and the part of its last level pixels that lies outside, nothing is drawn.
            self.assertEqual(asked[~self.inside(shown, ratio, x, y, -rim - 1 / finer)][:, 3].sum(), 0, view)
        self.assertLess(coarse, 6)

    def test_each_tile_drawn_into_its_target_makes_the_picture(self):
        """Edges of tiles are drawn without their neighbours' pixels here, which costs a little beside them."""
        for overlap, view, scheme, answer, pictures in self.views():
            shown, ratio = answer["viewport"], view.get("dpr", 1)
            x, y = before_rotation(shown, ratio)
            drawn = numpy.full((*x.shape, 4), -1000.0)
            for tile, picture in zip(answer["tiles"], pictures):
                target = tile["target"]
                across, down = (x - target["x"]) / target["width"], (y - target["y"]) / target["height"]
                here = (across >= 0) & (across < 1) & (down >= 0) & (down < 1)
                drawn[here] = bilinear(picture, across[here] * picture.shape[1], down[here] * picture.shape[0])
            asked = self.asked(overlap, view)
            inside = self.inside(shown, ratio, x, y, max(shown["scale"] / answer["levelScale"], 1 / ratio))
            difference = numpy.abs(drawn - asked)[inside]
            self.assertLess(difference.mean(), 4, (overlap, scheme, view))
            # No gap between tiles, and nothing drawn outside.
            self.assertGreaterEqual(drawn[inside].min(), 0, (overlap, scheme, view))
            self.assertLess(drawn[~self.inside(shown, ratio, x, y, -1e-6)].max(initial=-1000), 0, (overlap, scheme, view))

    def test_tiles_of_every_protocol_make_the_same_level(self):
        """Each protocol's tiles, laid out as it says, against those of Deep Zoom."""
        for overlap, server in self.servers.items():
            levels = []
            width, height = WIDTH, HEIGHT
            while True:
                levels.insert(0, (width, height))
                if max(width, height) == 1:
                    break
                width, height = -(-width // 2), -(-height // 2)
            whole = {}
            for level, (width, height) in enumerate(levels):
                whole[width, height] = mosaic = numpy.zeros((height, width, 4))
                for column in range(-(-width // SIDE)):
                    for row in range(-(-height // SIDE)):
                        tile = self.picture(overlap, f"/dzi/photo_files/{level}/{column}_{row}.png")
                        x, y = max(0, column * SIDE - overlap), max(0, row * SIDE - overlap)
                        mosaic[y:y + tile.shape[0], x:x + tile.shape[1]] = tile
            for protocol in (self.zoomify, self.xyz, self.xyz_unpadded, self.xyz_double, self.iip):
                count = 0
                for size, place, tile in protocol(overlap, server, levels):
                    with self.subTest(protocol.__name__, overlap=overlap, size=size, place=place):
                        (x, y), level = place, whole[size]
                        expected = level[y:y + tile.shape[0], x:x + tile.shape[1]]
                        self.assertEqual(tile.shape, expected.shape)
                        numpy.testing.assert_array_equal(tile, expected)
                    count += 1
                self.assertGreater(count, 8, protocol.__name__)

    # Each gives the size of a level, where a tile lies in it, and the tile without padding.

    def zoomify(self, overlap, server, levels):
        tree = ElementTree.fromstring(server.get("/zoomify/photo/ImageProperties.xml").body)
        side = int(tree.attrib["TILESIZE"])
        width, height = int(tree.attrib["WIDTH"]), int(tree.attrib["HEIGHT"])
        tiers = [(width, height)]
        while max(tiers[0]) > side:
            tiers.insert(0, (tiers[0][0] // 2, tiers[0][1] // 2))
        number, stored = 0, levels[-len(tiers):]
        for tier, (width, height) in enumerate(tiers):
            for row in range(-(-height // side)):
                for column in range(-(-width // side)):
                    tile = self.picture(overlap, f"/zoomify/photo/TileGroup{number // 256}/{tier}-{column}-{row}.png")
                    yield stored[tier], (column * side, row * side), tile
                    number += 1
        self.assertEqual(int(tree.attrib["NUMTILES"]), number)

    def grid(self, overlap, server, levels, suffix, padded, double=1):
        described = json.loads(server.get("/xyz/photo/tilejson.json").body)
        last = described["maxzoom"]
        for zoom, (width, height) in enumerate(levels[-1 - last:]):
            if double == 2 and zoom == last:
                continue
            size = levels[-1 - last + zoom + double - 1]
            side = SIDE * double
            for column in range(-(-width // SIDE)):
                for row in range(-(-height // SIDE)):
                    tile = self.picture(overlap, f"/xyz/photo/{zoom}/{column}/{row}{suffix}")
                    across, down = min(side, size[0] - column * side), min(side, size[1] - row * side)
                    self.assertEqual(tile.shape[:2], (side, side) if padded else (down, across))
                    # What is beside the picture is transparent.
                    self.assertEqual(tile[down:, :, 3].sum() + tile[:, across:, 3].sum(), 0)
                    yield size, (column * side, row * side), tile[:down, :across]

    def xyz(self, overlap, server, levels):
        yield from self.grid(overlap, server, levels, ".png", True)

    def xyz_unpadded(self, overlap, server, levels):
        yield from self.grid(overlap, server, levels, "@unpadded.png", False)

    def xyz_double(self, overlap, server, levels):
        yield from self.grid(overlap, server, levels, "@2x.png", True, 2)

    def iip(self, overlap, server, levels):
        facts = server.get("/iip?FIF=photo&OBJ=Max-size&OBJ=Tile-size&OBJ=Resolution-number").body.decode()
        number = {name: [int(value) for value in values.split()] for name, values in re.findall(r"^([\w-]+):([\d ]+?)\r?$", facts, re.MULTILINE)}
        (width, height), (side, _), [count] = number["Max-size"], number["Tile-size"], number["Resolution-number"]
        for resolution in range(count):
            shift = count - 1 - resolution
            columns, rows = -(-max(1, width >> shift) // side), -(-max(1, height >> shift) // side)
            for tile in range(columns * rows):
                yield levels[-1 - shift], (tile % columns * side, tile // columns * side), self.picture(overlap, f"/iip?FIF=photo&PTL={resolution},{tile}")


if __name__ == "__main__":
    unittest.main()
