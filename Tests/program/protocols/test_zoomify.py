"""Zoomify as its clients reckon: every tile that OpenSeadragon asks for is there, in its size."""

import io
import unittest
from xml.etree import ElementTree

from PIL import Image

from harness import Server, ServerTest, folder, photo, run

SIZES = [(1, 1), (256, 256), (257, 256), (511, 3), (512, 512), (513, 513), (1023, 700), (1025, 1537), (2049, 255),
         (2600, 2590), (5120, 1)]


def grids(width: int, height: int) -> list[tuple[int, int]]:
    """Level sizes as OpenSeadragon's ZoomifyTileSource has them: halved, rounded down."""
    sizes = [(width, height)]
    while sizes[0][0] > 256 or sizes[0][1] > 256:
        sizes.insert(0, (sizes[0][0] // 2, sizes[0][1] // 2))
    return sizes


class Zoomify(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("zoomify")
        for width, height in SIZES:
            photo(base / f"photos/{width}x{height}.png", width, height, left=0, top=0)
        for side in (256, 512):
            result = run("build", base / "photos", "--library", base / f"library/{side}", "--tile-size", side, "--quiet")
            assert result.returncode == 0, result.stderr
        cls.server = Server(base / "library")

    def test_every_tile_that_clients_ask_for_is_there_in_its_size(self):
        for side in (256, 512):
            for width, height in SIZES:
                name, index = f"{side}%2F{width}x{height}", 0
                for level, (w, h) in enumerate(grids(width, height)):
                    for y in range(-(-h // 256)):
                        for x in range(-(-w // 256)):
                            path = f"/zoomify/{name}/TileGroup{index // 256}/{level}-{x}-{y}.jpg"
                            index += 1
                            # All tiles of the larger ones take long; every seventh and the edges suffice.
                            if index > 40 and index % 7 and x < w // 256:
                                continue
                            answer = self.server.get(path)
                            self.assertEqual(answer.status, 200, path)
                            self.assertEqual(Image.open(io.BytesIO(answer.body)).size,
                                             (min(256, w - x * 256), min(256, h - y * 256)), path)
                properties = ElementTree.fromstring(self.server.get(f"/zoomify/{name}/ImageProperties.xml").body)
                self.assertEqual({key: properties.get(key) for key in ("WIDTH", "HEIGHT", "NUMTILES", "TILESIZE")},
                                 {"WIDTH": str(width), "HEIGHT": str(height), "NUMTILES": str(index), "TILESIZE": "256"})

    def test_tiles_of_256_pixels_are_the_stored_ones(self):
        one = self.server.get("/zoomify/256/1025x1537/TileGroup0/3-1-2.jpg")
        other = self.server.get("/dzi/256/1025x1537_files/11/1_2.jpg")
        self.assertEqual((one.status, one.body, one["etag"]), (200, other.body, other["etag"]))

    def test_cut_tiles_show_their_place(self):
        cut = Image.open(io.BytesIO(self.server.get("/zoomify/512/2600x2590/TileGroup0/4-3-5.png").body)).convert("L")
        stored = Image.open(io.BytesIO(self.server.get("/dzi/512/2600x2590_files/12/1_2.jpg").body)).convert("L")
        part = stored.crop((256, 256, 512, 512))
        difference = [abs(a - b) for a, b in zip(cut.getdata(), part.getdata())]
        self.assertLess(sum(difference) / len(difference), 1)

    def test_the_group_has_to_be_the_tiles_own(self):
        for path in ["TileGroup1/0-0-0.jpg", "TileGroup00/0-0-0.jpg", "TileGroup/0-0-0.jpg", "TileGroup0/9-0-0.jpg",
                     "TileGroup0/0-2-0.jpg", "TileGroup0/0-0.jpg", "TileGroup0/0-0-0.bmp", "0-0-0.jpg"]:
            with self.subTest(path):
                self.assertEqual(self.server.get(f"/zoomify/256%2F513x513/{path}").status, 404)
        self.assertEqual(self.server.get("/zoomify/nothing/ImageProperties.xml").status, 404)


if __name__ == "__main__":
    unittest.main()
