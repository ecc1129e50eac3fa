"""Pyramids so vast and so empty that what is asked of them would need too much to be read."""

import unittest

from harness import Server, folder, photo
from test_deep_zoom_folders import picture


class Vastness(unittest.TestCase):
    def test_what_too_much_would_have_to_be_read_for_is_404(self):
        base = folder("vast")
        tile = photo(base / "tile.jpg", 512, 512).read_bytes()
        (base / "served/vast_files/0").mkdir(parents=True)
        for name in ("0_0", "1_0", "0_1"):
            (base / f"served/vast_files/0/{name}.jpg").write_bytes(tile)
        (base / "served/vast.dzi").write_text(
            '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" TileSize="512">'
            '<Size Width="51200" Height="51200"/></Image>')
        with Server(base / "served") as server:
            self.assertEqual(server.get("/dzi/vast_files/16/0_0.jpg").body, tile)
            self.assertEqual(server.get("/dzi/vast_files/15/0_0.jpg").status, 200)
            # Left out, and there is no coarser level.
            self.assertEqual(picture(server.get("/dzi/vast_files/16/9_9.png")).getpixel((5, 5)), (255, 255, 255))
            for path in ("/dzi/vast_files/0/0_0.jpg", "/iiif/3/vast/full/300,/0/default.jpg", "/xyz/vast/0/0/0.jpg",
                         "/api/images/vast/viewport.jpg?width=300&height=300",
                         "/api/images/vast/viewport.tiles?width=300&height=300"):
                answer = server.get(path)
                self.assertEqual(answer.status, 404, path)
                self.assertIn(b"not stored", answer.body)
                self.assertEqual(answer["content-type"].startswith("application/problem+json"), path.startswith("/api"))

    def test_so_vast_that_its_pixels_hardly_are_a_number(self):
        base = folder("countless")
        tile = photo(base / "tile.jpg", 512, 512).read_bytes()
        vast = 1 << 40
        for name, width, height in (("square", (1 << 30) - 1, 1 << 30), ("wide", vast, 1 << 20), ("none", vast, vast)):
            (base / f"served/{name}_files/0").mkdir(parents=True)
            # More than one: the level is the finest.
            for place in ("0_0", "1_0", "0_1"):
                (base / f"served/{name}_files/0/{place}.jpg").write_bytes(tile)
            (base / f"served/{name}.dzi").write_text(
                '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" TileSize="512">'
                f'<Size Width="{width}" Height="{height}"/></Image>')
        with Server(base / "served") as server:
            for number in range(24):
                for name in ("square", "wide"):
                    for path in (f"/iiif/3/{name}/full/{number + 1},64/0/default.jpg", f"/xyz/{name}/0/0/0.jpg",
                                 f"/dzi/{name}_files/9/0_0.png", f"/api/images/{name}/viewport.jpg?width=300&height=300",
                                 f"/api/images/{name}/viewport.tiles?width=300&height=300&buffer=2&fallback=true"):
                        self.assertIn(server.get(path).status, (404, 400), path)
            for name in ("square", "wide"):
                for path in (f"/zoomify/{name}/ImageProperties.xml", f"/iiif/3/{name}/info.json", f"/iiif/2/{name}/info.json",
                             f"/iiif/presentation/3/{name}/manifest", f"/xyz/{name}/tilejson.json", f"/api/images/{name}",
                             f"/api/images/{name}/viewport?width=300&height=300&fallback=true"):
                    self.assertEqual(server.get(path).status, 200, path)
            # One that cannot be read, as any other.
            self.assertEqual(server.get("/zoomify/none/ImageProperties.xml").status, 500)
            self.assertEqual(server.get("/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
