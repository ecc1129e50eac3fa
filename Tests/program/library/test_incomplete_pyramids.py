"""Pyramids that are not all there: `vips dzsave --depth one` and `onetile`, `--skip-blanks`, lost tiles and levels."""

import io
import json
import shutil
import unittest
import zipfile

from PIL import Image, ImageChops, ImageStat

from harness import CommandTest, Server, ServerTest, folder, photo, run
from szi import levels
from test_deep_zoom_folders import dzsave, picture

WIDTH, HEIGHT = 1300, 900
LEVELS = levels(WIDTH, HEIGHT)
TOP = len(LEVELS) - 1
# The coarsest level that is stored: all of them, what fits one tile, full resolution.
DEPTHS = {"onepixel": 0, "onetile": 8, "one": TOP}


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference in lightness; the pictures have one size."""
    assert one.size == other.size, f"{one.size}, {other.size}"
    return ImageStat.Stat(ImageChops.difference(one.convert("L"), other.convert("L"))).mean[0]


def tolerance(level: int) -> int:
    """Of pixels that are few, the odd last ones count much."""
    return 6 if min(LEVELS[level]) > 25 else 40


class Depths(ServerTest):
    """Levels that were not written are made from the coarsest that was, under Deep Zoom's own numbers."""

    @classmethod
    def setUpClass(cls):
        base = folder("depths")
        source = photo(base / "photo.png", WIDTH, HEIGHT)
        cls.source = Image.open(source).convert("RGB")
        cls.place = base / "served"
        cls.ids = {}
        for depth, coarsest in DEPTHS.items():
            options = ["--depth", depth, "--tile-size", "256", "--overlap", "0", "--suffix", ".jpg[Q=95]"]
            dzsave(source, cls.place / depth, *options)
            dzsave(source, cls.place / f"zip-{depth}.szi", "--container", "szi", *options)
            cls.ids |= {depth: coarsest, f"zip-{depth}": coarsest}
        dzsave(source, cls.place / "overlap", "--depth", "one", "--tile-size", "254", "--overlap", "1", "--suffix", ".png")
        cls.ids["overlap"] = TOP
        cls.server = Server(cls.place)

    def get(self, path: str, status: int = 200):
        answer = self.server.get(path)
        self.assertEqual(answer.status, status, path)
        return answer

    def test_every_tile_of_every_level_shows_its_place(self):
        for name in self.ids:
            side, overlap, ending = (254, 1, "png") if name == "overlap" else (256, 0, "jpg")
            for level, (width, height) in enumerate(LEVELS):
                whole = self.source.reduce(1 << (TOP - level)) if level < TOP else self.source
                self.assertEqual(whole.size, (width, height))
                for column in range(-(-width // side)):
                    for row in range(-(-height // side)):
                        place = (max(0, column * side - overlap), max(0, row * side - overlap),
                                 min(width, (column + 1) * side + overlap), min(height, (row + 1) * side + overlap))
                        path = f"/dzi/{name}_files/{level}/{column}_{row}.{ending}"
                        self.assertLess(difference(picture(self.get(path)), whole.crop(place)), tolerance(level), path)
                self.get(f"/dzi/{name}_files/{level}/{width // side + 1}_0.{ending}", 404)
            self.get(f"/dzi/{name}_files/{TOP + 1}/0_0.{ending}", 404)

    def test_stored_tiles_are_the_files_bytes(self):
        for depth, coarsest in DEPTHS.items():
            for level in range(coarsest, TOP + 1):
                stored = (self.place / f"{depth}_files/{level - coarsest}/0_0.jpg").read_bytes()
                for name in (depth, f"zip-{depth}"):
                    answer = self.get(f"/dzi/{name}_files/{level}/0_0.jpg")
                    self.assertEqual(answer.body, stored, f"{name} {level}")
                    self.assertEqual(self.server.get(f"/dzi/{name}_files/{level}/0_0.jpg", If_None_Match=answer["etag"]).status, 304)

    def test_what_is_made_has_manners(self):
        for path in ("/dzi/one_files/8/0_0.jpg", "/dzi/zip-one_files/0/0_0.jpg", "/dzi/zip-onetile_files/3/0_0.jpg"):
            answer = self.get(path)
            self.assertEqual(answer["content-type"], "image/jpeg")
            self.assertEqual(self.server.get(path, If_None_Match=answer["etag"]).status, 304)
            self.assertEqual(self.server.get(path, Range="bytes=0-9").body, answer.body[:10])
            self.assertEqual(self.server.get(path, "HEAD")["content-length"], str(len(answer.body)))

    def test_they_are_listed_as_what_they_are(self):
        page = json.loads(self.get("/api/images").body)
        self.assertEqual({image["id"]: (image["width"], image["height"]) for image in page["images"]},
                         dict.fromkeys(self.ids, (WIDTH, HEIGHT)))
        for name in self.ids:
            self.assertEqual(len(json.loads(self.get(f"/api/images/{name}").body)["levels"]), len(LEVELS))

    def test_iiif_lists_the_stored_levels(self):
        for name, coarsest in self.ids.items():
            for version in "23":
                reported = json.loads(self.get(f"/iiif/{version}/{name}/info.json").body)
                self.assertEqual([(size["width"], size["height"]) for size in reported["sizes"]], LEVELS[coarsest:])
                self.assertEqual(reported["tiles"][0]["scaleFactors"], [1 << shift for shift in range(TOP - coarsest + 1)])

    def test_every_protocol_shows_the_whole(self):
        small = self.source.resize((163, 113), Image.Resampling.BOX)
        for name in self.ids:
            for path in (f"/iiif/3/{name}/full/163,113/0/default.png", f"/iiif/2/{name}/full/163,113/0/default.png",
                         f"/api/images/{name}/viewport.png?width=163&height=113"):
                self.assertLess(difference(picture(self.get(path)), small), 6, path)
            tile = picture(self.get(f"/zoomify/{name}/TileGroup0/0-0-0.png"))
            self.assertLess(difference(tile.resize((163, 113)), small), 8, name)
            self.assertEqual(picture(self.get(f"/xyz/{name}/0/0/0.png")).size[0], 254 if name == "overlap" else 256)

    def test_a_viewport_names_tiles_that_can_be_had(self):
        for name in ("onetile", "zip-one", "overlap"):
            for scheme in ("dzi", "xyz", "iiif3", "iiif2"):
                query = f"width=300&height=200&fallback=true&scheme={scheme}"
                for tile in json.loads(self.get(f"/api/images/{name}/viewport?{query}").body)["tiles"]:
                    self.get(tile["url"])

    def test_a_viewports_tiles_come_with_it(self):
        for name in self.ids:
            for query in ("width=300&height=200&include=overview,description", "width=300&height=200&scale=1&x=400&y=300",
                          "width=600&height=400&fallback=true"):
                answer = self.get(f"/api/images/{name}/viewport.tiles?{query}")
                self.assertEqual(answer["content-type"], "application/vnd.ziggurat.viewport-tiles")
                parts, body = [], answer.body
                while body:
                    count = int.from_bytes(body[:4], "big")
                    parts.append(body[4:4 + count])
                    body = body[4 + count:]
                tiles = json.loads(parts[0])["tiles"]
                self.assertEqual(len(tiles), len(parts) - 1)
                for tile, part in zip(tiles, parts[1:]):
                    image = Image.open(io.BytesIO(part))
                    self.assertEqual(image.size, (tile["source"]["width"], tile["source"]["height"]))
                    self.assertEqual(part, self.get(tile["url"]).body)
                again = self.server.get(f"/api/images/{name}/viewport.tiles?{query}", If_None_Match=answer["etag"])
                self.assertEqual(again.status, 304)


class Blanks(unittest.TestCase):
    """`--skip-blanks` leaves blank tiles out: they look as the coarser levels do."""

    def test_what_is_left_out_has_the_background_colour(self):
        base = folder("blanks")
        spot = photo(base / "spot.png", 300, 300)
        for name, colour in (("white", (255, 255, 255)), ("black", (0, 0, 0)), ("rose", (210, 160, 170))):
            whole = Image.new("RGB", (WIDTH, HEIGHT), colour)
            whole.paste(Image.open(spot).convert("RGB"), (0, 0))
            whole.save(base / f"{name}.png")
            options = ["--skip-blanks", "5", "--background", " ".join(map(str, colour)), "--tile-size", "256", "--overlap",
                       "0", "--suffix", ".jpg[Q=95]"]
            dzsave(base / f"{name}.png", base / "served" / name, *options)
            dzsave(base / f"{name}.png", base / f"served/zip-{name}.szi", "--container", "szi", *options)
            self.assertLess(len(list((base / f"served/{name}_files/11").iterdir())), 5, "most tiles are left out")
        with Server(base / "served") as server:
            for name in ("white", "black", "rose"):
                whole = Image.open(base / f"{name}.png")
                for name in (name, f"zip-{name}"):
                    for level, (width, height) in enumerate(LEVELS):
                        reduced = whole.reduce(1 << (TOP - level)) if level < TOP else whole
                        for column in range(-(-width // 256)):
                            for row in range(-(-height // 256)):
                                answer = server.get(f"/dzi/{name}_files/{level}/{column}_{row}.jpg")
                                self.assertEqual(answer.status, 200, f"{name} {level} {column} {row}")
                                place = (column * 256, row * 256, min(width, column * 256 + 256), min(height, row * 256 + 256))
                                self.assertLess(difference(picture(answer), reduced.crop(place)), tolerance(level),
                                                f"{name} {level} {column} {row}")
                    for path in ("/iiif/3/{}/0,0,1300,900/700,/0/default.png", "/api/images/{}/viewport.png?width=700&height=485",
                                 "/xyz/{}/3/4/2.png", "/zoomify/{}/TileGroup0/3-3-1.png",
                                 "/api/images/{}/viewport.tiles?width=1300&height=900&scale=1"):
                        self.assertEqual(server.get(path.format(name)).status, 200, path)
                    self.assertLess(difference(picture(server.get(f"/iiif/3/{name}/700,500,500,300/max/0/default.png")),
                                               whole.crop((700, 500, 1200, 800))), 3)


class Losses(CommandTest):
    def test_a_lost_tile_shows_the_coarser_level_until_it_is_there(self):
        base = folder("lost")
        source = photo(base / "a.png", 600, 400)
        dzsave(source, base / "served/a", "--overlap", "0", "--tile-size", "256", "--suffix", ".jpg[Q=95]")
        tile = base / "served/a_files/10/1_0.jpg"
        tile.rename(base / "kept.jpg")
        with Server(base / "served") as server:
            made = server.get("/dzi/a_files/10/1_0.jpg")
            self.assertEqual(made.status, 200)
            self.assertLess(difference(picture(made), Image.open(source).convert("RGB").crop((256, 0, 512, 256))), 12)
            (base / "kept.jpg").rename(tile)
            stored = server.get("/dzi/a_files/10/1_0.jpg", If_None_Match=made["etag"])
            self.assertEqual((stored.status, stored.body), (200, tile.read_bytes()))

    def test_a_lost_finest_level_is_an_error(self):
        base = folder("lost-level")
        dzsave(photo(base / "a.png", 600, 400), base / "served/a", "--overlap", "0", "--tile-size", "256")
        shutil.rmtree(base / "served/a_files/10")
        with Server(base / "served") as server:
            self.assertEqual(server.get("/dzi/a_files/10/0_0.jpeg").status, 500)
            self.assertEqual(server.get("/dzi/a_files/9/0_0.jpeg").status, 200)
            self.assertEqual(server.get("/iiif/3/a/0,0,99,99/max/0/default.jpg").status, 500)

    def test_levels_that_come_later_are_seen(self):
        base = folder("copied")
        dzsave(photo(base / "a.png", 1300, 900), base / "whole/a", "--overlap", "0", "--tile-size", "256")
        place = base / "served"
        (place / "a_files").mkdir(parents=True)
        shutil.copy(base / "whole/a.dzi", place)
        with Server(place) as server:
            for level in range(TOP + 1):
                shutil.copytree(base / f"whole/a_files/{level}", place / f"a_files/{level}")
                server.get(f"/dzi/a_files/{level}/0_0.jpeg")
            for level in range(TOP + 1):
                self.assertEqual(server.get(f"/dzi/a_files/{level}/0_0.jpeg").body,
                                 (place / f"a_files/{level}/0_0.jpeg").read_bytes())

    def test_a_tile_of_our_own_archive_that_is_lost_is_an_error(self):
        base = folder("own")
        photo(base / "photos/a.jpg", 700, 500)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        whole, lost = base / "library/a.szi", {"a/a_files/10/1_0.jpg", "a/a_files/0/0_0.jpg"}
        with zipfile.ZipFile(whole) as source, zipfile.ZipFile(base / "less.szi", "w") as target:
            for name in source.namelist():
                if name not in lost:
                    target.writestr(name, source.read(name))
        (base / "less.szi").rename(whole)
        with Server(base / "library") as server:
            for tile in ("10/1_0", "0/0_0"):
                self.assertEqual(server.get(f"/dzi/a_files/{tile}.jpg").status, 500)
            self.assertEqual(server.get("/dzi/a_files/10/0_0.jpg").status, 200)
        verified = run("verify", base / "library")
        self.assertEqual((verified.returncode, verified.stdout.count("is missing")), (1, 2))

    def test_levels_that_others_omitted_are_no_defect(self):
        base = folder("verified")
        source = photo(base / "a.png", 700, 500)
        for depth in DEPTHS:
            dzsave(source, base / f"library/{depth}.szi", "--container", "szi", "--depth", depth, "--overlap", "0")
        verified = run("verify", base / "library")
        self.assertEqual((verified.returncode, verified.stdout), (0, ""))

    def test_exports_have_every_tile(self):
        base = folder("exported")
        source = photo(base / "a.png", 700, 500)
        for name, options in (("one", ["--depth", "one"]), ("onetile", ["--depth", "onetile"]), ("whole", [])):
            dzsave(source, base / f"{name}.szi", "--container", "szi", "--overlap", "0", "--tile-size", "256",
                   "--suffix", ".jpg[Q=95]", *options)
            for layout in ("dz", "xyz", "zoomify", "iiif3"):
                target = base / "out" / layout / name
                self.assertEqual(run("export", base / f"{name}.szi", "--layout", layout, "--output", target).returncode, 0)
        for layout in ("dz", "xyz", "zoomify", "iiif3"):
            found = {name: {str(path.relative_to(base / "out" / layout / name)).replace(name, "name")
                            for path in (base / "out" / layout / name).rglob("*.jpg")} for name in ("one", "onetile", "whole")}
            self.assertEqual(found["one"], found["whole"])
            self.assertEqual(found["onetile"], found["whole"])
        for path in (base / "out/dz/one").rglob("*.jpg"):
            whole = base / "out/dz/whole" / str(path.relative_to(base / "out/dz/one")).replace("one", "whole")
            self.assertLess(difference(Image.open(path), Image.open(whole)), 12, path)


if __name__ == "__main__":
    unittest.main()
