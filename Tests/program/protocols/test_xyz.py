"""XYZ tiles: one full-size grid over the same stored tiles."""

import io
import json
import unittest

from PIL import Image

from harness import Server, ServerTest, folder, photo, run
from szi import levels

SIZES = {"large": (1500, 1100), "exact": (1024, 512), "wide": (1025, 3), "tiny": (1, 1), "one": (256, 256)}
SIDE = 256


def picture(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


class XYZ(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("xyz")
        for name, (width, height) in SIZES.items():
            photo(base / f"photos/{name}.png", width, height)
        result = run("build", base / "photos", "--library", base / "library", "--tile-size", SIDE, "--quiet")
        assert result.returncode == 0, result.stderr
        cls.server = Server(base / "library")

    def test_every_tile_of_every_zoom_is_full_size_and_holds_the_stored_pixels(self):
        for name, (width, height) in SIZES.items():
            sizes = [size for size in levels(width, height)]
            base = max(at for at, size in enumerate(sizes) if max(size) <= SIDE)
            described = json.loads(self.server.get(f"/xyz/{name}/tilejson.json").body)
            self.assertEqual((described["minzoom"], described["maxzoom"]), (0, len(sizes) - 1 - base))
            for z, (w, h) in enumerate(sizes[base:]):
                for x in range(-(-w // SIDE)):
                    for y in range(-(-h // SIDE)):
                        with self.subTest(name=name, z=z, x=x, y=y):
                            self.check(name, z, x, y, base + z, min(SIDE, w - x * SIDE), min(SIDE, h - y * SIDE))

    def test_tiles_of_twice_the_pixels_are_of_the_next_level(self):
        for name, (width, height) in SIZES.items():
            described = json.loads(self.server.get(f"/xyz/{name}/tilejson.json").body)
            self.assertEqual([url.replace("@2x", "") for url in described["tiles2x"]], described["tiles"])
            sizes = levels(width, height)[-1 - described["maxzoom"]:]
            for z, (w, h) in enumerate(sizes):
                for x in range(-(-w // SIDE)):
                    for y in range(-(-h // SIDE)):
                        answer = self.server.get(f"/xyz/{name}/{z}/{x}/{y}@2x.png")
                        self.assertEqual(answer.status, 200)
                        if z == described["maxzoom"]:
                            # There are no more pixels: browsers scale the tile to its place.
                            self.assertEqual(answer.body, self.server.get(f"/xyz/{name}/{z}/{x}/{y}.png").body)
                            continue
                        seen = picture(answer.body)
                        self.assertEqual(seen.size, (2 * SIDE, 2 * SIDE))
                        finer = Image.new("RGB", seen.size, (255, 255, 255))
                        for dx in range(2):
                            for dy in range(2):
                                part = self.server.get(f"/xyz/{name}/{z + 1}/{2 * x + dx}/{2 * y + dy}.png")
                                if part.status == 200:
                                    finer.paste(picture(part.body), (dx * SIDE, dy * SIDE))
                        difference = [abs(a - b) for a, b in zip(seen.convert("L").getdata(), finer.convert("L").getdata())]
                        self.assertLess(sum(difference) / len(difference), 0.5, (name, z, x, y))
        for wrong in ("0/0/0@3x.png", "0/0/0@2x", "0/0/0@2xpng", "0/0/@2x.png", "0/0/0@2x@2x.png", "9/0/0@2x.png", "0/1/0@2x.png"):
            self.assertEqual(self.server.get(f"/xyz/large/{wrong}").status, 404, wrong)

    def check(self, name, z, x, y, level, width, height):
        answer = self.server.get(f"/xyz/{name}/{z}/{x}/{y}.jpg")
        stored = self.server.get(f"/dzi/{name}_files/{level}/{x}_{y}.jpg")
        self.assertEqual((answer.status, answer["content-type"]), (200, "image/jpeg"))
        if (width, height) == (SIDE, SIDE):
            self.assertEqual((answer.body, answer["etag"]), (stored.body, stored["etag"]))
            return
        self.assertNotEqual(answer["etag"], stored["etag"])
        tile, padded = picture(stored.body), picture(self.server.get(f"/xyz/{name}/{z}/{x}/{y}.png").body)
        self.assertEqual(picture(answer.body).size, (SIDE, SIDE))
        self.assertEqual((padded.size, tile.size), ((SIDE, SIDE), (width, height)))
        # Two decoders may widen colour at half resolution differently; lightness they must agree on.
        lightness = zip(padded.crop((0, 0, width, height)).convert("L").getdata(), tile.convert("L").getdata())
        difference = [abs(one - other) for one, other in lightness]
        self.assertLess(sum(difference) / len(difference), 1)
        self.assertLessEqual(max(difference), 12)
        for box in [(width, 0, SIDE, SIDE), (0, height, SIDE, SIDE)]:
            if box[0] < SIDE and box[1] < SIDE:
                self.assertEqual(set(padded.crop(box).getdata()), {(255, 255, 255)})
                for ending in ("png", "webp"):
                    clear = Image.open(io.BytesIO(self.server.get(f"/xyz/{name}/{z}/{x}/{y}.{ending}").body))
                    self.assertEqual(clear.mode, "RGBA")
                    self.assertEqual(set(clear.crop(box).getchannel("A").getdata()), {0}, "the page shows beside the picture")
                    self.assertEqual(set(clear.crop((0, 0, width, height)).getchannel("A").getdata()), {255})

    def test_what_the_grid_does_not_have_is_refused(self):
        for path in ["large/4/0/0.jpg", "large/0/1/0.jpg", "large/3/6/0.jpg", "large/3/0/5.jpg", "large/00/0/0.jpg",
                     "large/0/0/-1.jpg", "large/0/0/0.bmp", "large/0/0/0", "nothing/0/0/0.jpg", "nothing/tilejson.json",
                     "large", "", "large/99999999999999999999/0/0.jpg"]:
            with self.subTest(path):
                self.assertEqual(self.server.get(f"/xyz/{path}").status, 404)

    def test_tilejson_names_this_server_and_where_the_image_lies(self):
        described = json.loads(self.server.get("/xyz/large/tilejson.json").body)
        self.assertEqual(described["tilejson"], "3.0.0")
        url = described["tiles"][0]
        self.assertTrue(url.startswith("http://127.0.0.1/xyz/large/{z}/{x}/{y}.jpg?v="), url)
        west, south, east, north = described["bounds"]
        self.assertAlmostEqual(west, -180)
        self.assertAlmostEqual(north, 85.0511287798066)
        self.assertAlmostEqual((east + 180) / 360, 1500 / 2048)
        self.assertLess(south, 0)
        tile = self.server.get(url.removeprefix("http://127.0.0.1").format(z=0, x=0, y=0))
        self.assertIn("immutable", tile["cache-control"])

    def test_tilejson_says_what_edge_tiles_are_filled_with(self):
        self.assertEqual(json.loads(self.server.get("/xyz/large/tilejson.json").body)["edgeTiles"], "rgb(255, 255, 255)")
        base = folder("clear")
        photo(base / "photos/large.png", 600, 500)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--format", "webp").returncode, 0)
        with Server(base / "library") as server:
            described = json.loads(server.get("/xyz/large/tilejson.json").body)
            self.assertEqual(described["edgeTiles"], "transparent")
            url = described["tiles"][0].removeprefix("http://127.0.0.1").format(z=described["maxzoom"], x=1, y=0)
            tile = Image.open(io.BytesIO(server.get(url).body))
            self.assertEqual((tile.size, tile.mode, tile.getpixel((511, 511))[3], tile.getpixel((10, 10))[3]),
                             ((512, 512), "RGBA", 0, 255))
        for format, said in [("jpeg", "rgb(1, 2, 3)"), ("png", "transparent")]:
            to = base / f"exported-{format}"
            done = run("export", base / "library/large.szi", "--layout", "xyz", "--output", to, "--format", format, "--background", "1,2,3")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads((to / "tilejson.json").read_text())["edgeTiles"], said)
            [edge] = to.glob("1/1/0.*")
            tile = Image.open(edge)
            if format == "png":
                self.assertEqual(tile.convert("RGBA").getpixel((511, 511))[3], 0)
            else:
                self.assertLess(max(abs(one - other) for one, other in zip(tile.getpixel((511, 511)), (1, 2, 3))), 6)

    def test_a_forged_host_is_not_repeated(self):
        answer = self.server.raw(b'GET /xyz/large/tilejson.json HTTP/1.1\r\nHost: a"/b<c>\r\nConnection: close\r\n\r\n')
        self.assertNotIn(b"<c>", answer)

    def test_the_viewport_query_writes_xyz_urls(self):
        for query in ["width=800&height=600&scale=1&x=900&y=700", "width=20&height=20", "width=700&height=700&fallback=1"]:
            tiles = json.loads(self.server.get(f"/api/images/large/viewport?{query}&scheme=xyz").body)["tiles"]
            self.assertTrue(tiles)
            for tile in tiles:
                answer = self.server.get(tile["url"])
                self.assertEqual(answer.status, 200, tile["url"])
                self.assertEqual(picture(answer.body).size, (tile["source"]["width"], tile["source"]["height"]))
                # Interior tiles have one address, edge tiles the stored bytes.
                self.assertEqual("@unpadded." in tile["url"], picture(answer.body).size != (SIDE, SIDE))
                stored = self.server.get(f"/dzi/large_files/{tile['level']}/{tile['column']}_{tile['row']}.jpg")
                self.assertEqual((answer.body, answer["etag"]), (stored.body, stored["etag"]))
                self.assertIn("immutable", answer["cache-control"])


if __name__ == "__main__":
    unittest.main()
