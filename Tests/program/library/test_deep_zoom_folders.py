"""Images as `vips dzsave` leaves them: folders of tiles with any overlap, and ZIP files."""

import io
import json
import subprocess
import unittest
import zipfile
from pathlib import Path

from PIL import Image

from harness import Server, ServerTest, folder, photo, run
from szi import levels

WIDTH, HEIGHT = 1300, 900


def dzsave(source: Path, target: Path, *options):
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["vips", "dzsave", source, target, *options], check=True, capture_output=True)


def many_tiles(source: Path, target: Path):
    """An archive of tiles of 2 pixels, as `dzsave` writes it, which takes half a millisecond for each."""
    whole = Image.open(source).convert("RGB")
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(f"{target.stem}/{target.stem}.dzi", '<?xml version="1.0" encoding="UTF-8"?>\n<Image xmlns='
                         '"http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" TileSize="2">'
                         f'<Size Height="{whole.height}" Width="{whole.width}"/></Image>')
        for level, size in enumerate(levels(*whole.size)):
            shrunk = whole.resize(size, Image.Resampling.BOX)
            for column in range(0, shrunk.width, 2):
                for row in range(0, shrunk.height, 2):
                    tile = io.BytesIO()
                    shrunk.crop((column, row, min(column + 2, shrunk.width), min(row + 2, shrunk.height))).save(tile, "JPEG", quality=90)
                    archive.writestr(f"{target.stem}/{target.stem}_files/{level}/{column // 2}_{row // 2}.jpg", tile.getvalue())


def picture(answer) -> Image.Image:
    return Image.open(io.BytesIO(answer.body)).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference in lightness; the pictures have one size."""
    assert one.size == other.size, f"{one.size}, {other.size}"
    pairs = zip(one.convert("L").getdata(), other.convert("L").getdata())
    return sum(abs(a - b) for a, b in pairs) / (one.width * one.height)


class DeepZoomFolders(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("dzi")
        source = photo(base / "photo.png", WIDTH, HEIGHT)
        cls.source = Image.open(source).convert("RGB")
        cls.place = base / "served"
        dzsave(source, cls.place / "sub/overlap", "--tile-size", "254", "--overlap", "1", "--suffix", ".jpg[Q=95]")
        dzsave(source, cls.place / "plain", "--tile-size", "256", "--overlap", "0", "--suffix", ".jpeg")
        dzsave(source, cls.place / "wide", "--tile-size", "200", "--overlap", "17", "--suffix", ".png")
        dzsave(source, cls.place / "zipped.zip", "--container", "zip", "--tile-size", "256", "--overlap", "0")
        dzsave(source, cls.place / "szi.szi", "--container", "szi", "--tile-size", "256", "--overlap", "0")
        (cls.place / "notes.zip").write_bytes(b"PK no archive of tiles")
        cls.before = sorted(cls.place.rglob("*"))
        cls.server = Server(cls.place)

    def get(self, path: str, status: int = 200):
        answer = self.server.get(path)
        self.assertEqual(answer.status, status, path)
        return answer

    def test_all_are_listed_with_their_overlap(self):
        page = json.loads(self.get("/api/images").body)
        found = {image["id"]: (image["tileSize"], image["overlap"], image["width"]) for image in page["images"]}
        self.assertEqual(found, {"sub/overlap": (254, 1, WIDTH), "plain": (256, 0, WIDTH), "wide": (200, 17, WIDTH),
                                 "zipped": (256, 0, WIDTH), "szi": (256, 0, WIDTH)})
        self.assertEqual(page["total"], 5)
        self.get("/api/images/notes", 500)

    def test_tiles_are_the_files_bytes(self):
        for name, side, ending in [("sub/overlap", 254, "jpg"), ("plain", 256, "jpeg"), ("wide", 200, "png")]:
            for level, (width, height) in enumerate(levels(WIDTH, HEIGHT)):
                for column in range(-(-width // side)):
                    for row in range(-(-height // side)):
                        path = f"{name}_files/{level}/{column}_{row}.{ending}"
                        answer = self.get(f"/dzi/{path}")
                        self.assertEqual(answer.body, (self.place / path).read_bytes())
                        self.assertEqual(self.server.get(f"/dzi/{path}", If_None_Match=answer["etag"]).status, 304)
            self.assertIn(b'Overlap="', self.get(f"/dzi/{name}.dzi").body)
        self.get("/dzi/plain_files/11/99_0.jpeg", 404)

    def test_every_protocol_shows_the_same_picture(self):
        for name in ("sub%2Foverlap", "plain", "wide", "zipped", "szi"):
            with self.subTest(name):
                side = json.loads(self.get(f"/api/images/{name}").body)["tileSize"]
                for path in (f"/iiif/3/{name}/300,200,400,300/max/0/default.png",
                             f"/iiif/2/{name}/300,200,400,300/full/0/default.png",
                             f"/api/images/{name}/viewport.png?width=400&height=300&scale=1&x=300&y=200"):
                    self.assertLess(difference(picture(self.get(path)), self.source.crop((300, 200, 700, 500))), 3, path)
                top = max(json.loads(self.get(f"/xyz/{name}/tilejson.json").body)["maxzoom"], 0)
                tile = picture(self.get(f"/xyz/{name}/{top}/1/1.png"))
                self.assertLess(difference(tile, self.source.crop((side, side, 2 * side, 2 * side))), 3)
                tile = picture(self.get(f"/iiif/3/{name}/{side},{side},{side},{side}/{side},{side}/0/default.jpg"))
                self.assertLess(difference(tile, self.source.crop((side, side, 2 * side, 2 * side))), 4)
                tile = picture(self.get(f"/zoomify/{name}/TileGroup0/3-1-2.png"))
                self.assertLess(difference(tile, self.source.crop((256, 512, 512, 768))), 4)

    def test_viewport_tiles_come_in_every_scheme(self):
        for name in ("sub%2Foverlap", "plain", "zipped"):
            for scheme in ("dzi", "xyz", "iiif3", "iiif2"):
                query = f"width=700&height=500&scale=1&x=500&y=300&scheme={scheme}"
                for tile in json.loads(self.get(f"/api/images/{name}/viewport?{query}").body)["tiles"]:
                    seen, source = picture(self.get(tile["url"])), tile["source"]
                    if scheme != "xyz":
                        self.assertEqual(seen.size, (source["width"], source["height"]), tile["url"])
                    place = (source["x"], source["y"], source["x"] + source["width"], source["y"] + source["height"])
                    seen = seen.crop((0, 0, source["width"], source["height"]))
                    self.assertLess(difference(seen, self.source.crop(place)), 4, tile["url"])

    def test_a_damaged_tile_is_an_error_not_an_empty_tile(self):
        base = folder("dzi-broken")
        dzsave(photo(base / "a.png", 600, 400), base / "served/a", "--overlap", "0", "--tile-size", "256")
        (base / "served/a_files/10/0_1.jpeg").write_bytes(b"")
        (base / "served/a_files/10/1_0.jpeg").write_bytes(b"no picture")
        with Server(base / "served") as server:
            self.assertEqual(server.get("/dzi/a_files/10/0_1.jpeg").status, 500)
            for place in ("0,256,256,144", "256,0,256,256"):
                self.assertEqual(server.get(f"/iiif/3/a/{place}/200,/0/default.png").status, 500)
            self.assertEqual(server.get("/dzi/a_files/10/0_0.jpeg").status, 200)

    def test_thousands_of_tiles_stay_served(self):
        base = folder("dzi-many")
        dzsave(photo(base / "a.png", 1600, 1400), base / "served/a", "--overlap", "0", "--tile-size", "32")
        with Server(base / "served") as server:
            for turn in range(2):
                for column in range(50):
                    for row in range(44):
                        self.assertEqual(server.get(f"/dzi/a_files/11/{column}_{row}.jpeg").status, 200)
            maps = Path(f"/proc/{server.process.pid}/maps").read_text()
            self.assertLess(maps.count(".jpeg"), 1200)

    def test_a_zip_of_more_entries_than_its_old_directory_counts(self):
        base = folder("dzi-zip64")
        source = photo(base / "a.png", 452, 440)
        many_tiles(source, base / "served/a.szi")
        with zipfile.ZipFile(base / "served/a.szi") as archive, Server(base / "served") as server:
            names = [name for name in archive.namelist() if name.endswith((".jpg", ".jpeg"))]
            self.assertGreater(len(names), 65_535)
            # The first and the last of the directory, and some between.
            for name in [*names[:20], *names[::5000], *names[-20:]]:
                self.assertEqual(server.get("/dzi/" + name.split("/", 1)[1]).body, archive.read(name), name)
            crop = picture(server.get("/iiif/3/a/100,80,300,200/max/0/default.png"))
            self.assertLess(difference(crop, Image.open(source).convert("RGB").crop((100, 80, 400, 280))), 6)

    def test_verify_reads_the_files_that_there_are(self):
        base = folder("verify-dzi")
        dzsave(photo(base / "photo.png", WIDTH, HEIGHT), base / "image", "--tile-size", "256", "--overlap", "0")
        tiles = base / "image_files"

        def defects() -> list[str]:
            done = run("verify", base / "image.dzi")
            reported = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if "image.dzi: " in line]
            self.assertEqual(done.returncode, 1 if reported else 0, done.stderr)
            return reported

        self.assertEqual(defects(), [])
        # As --skip-blanks leaves them.
        (tiles / "11/0_0.jpeg").unlink()
        self.assertEqual(defects(), [])
        cut = tiles / "10/1_1.jpeg"
        cut.write_bytes(cut.read_bytes()[:200])
        self.assertEqual([line.split(" ")[1] for line in defects()], ["10/1_1.jpeg"])
        for tile in (tiles / "9").iterdir():
            tile.unlink()
        self.assertIn("level 9 has no tiles", defects())

    def test_verify_of_an_endless_pyramid_ends(self):
        base = folder("vast-dzi")
        (base / "vast_files/29").mkdir(parents=True)
        photo(base / "tile.png", 512, 512)
        subprocess.run(["vips", "copy", base / "tile.png", base / "vast_files/29/0_0.jpg"], check=True)
        (base / "vast.dzi").write_text('<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" '
                                       'Format="jpg" Overlap="0" TileSize="512"><Size Width="536870912" Height="536870912"/></Image>')
        done = run("verify", "--quiet", base / "vast.dzi", timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_nothing_is_written_beside_them(self):
        self.assertEqual(sorted(self.place.rglob("*")), self.before)


if __name__ == "__main__":
    unittest.main()
