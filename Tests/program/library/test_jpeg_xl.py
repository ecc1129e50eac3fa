"""JPEG XL tiles: built, served as they are and in other formats, exported, checked; lossless ones are JPEGs in fewer bytes."""

import json
import subprocess
import unittest
import zipfile
from pathlib import Path

from harness import Server, folder, photo, run
from szi import archives

WIDTH, HEIGHT = 1200, 800


def tiles(archive: Path) -> dict[str, bytes]:
    """By level and place: `11/0_1`."""
    with zipfile.ZipFile(archive) as file:
        return {name.split("_files/")[1].rpartition(".")[0]: file.read(name) for name in file.namelist() if "_files/" in name}


def loader(data: bytes) -> list[str]:
    """What libvips says of a picture: how it is read, and its size."""
    path = folder("answer") / "picture"
    path.write_bytes(data)
    return [subprocess.run(["vipsheader", "-f", field, path], capture_output=True, text=True, check=True).stdout.strip()
            for field in ("vips-loader", "width", "height")]


class JPEGXL(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.photos, cls.plain, cls.library = folder("photos"), folder("plain"), folder("library")
        photo(cls.photos / "lossless.jpg", WIDTH, HEIGHT)
        (cls.photos / "lossy").mkdir()
        photo(cls.photos / "lossy/lossy.png", WIDTH, HEIGHT)
        common = ("--tile-size", "256", "--fidelity", "lossless", "--quiet")
        for library, format in ((cls.plain, "jpeg"), (cls.library, "jxl")):
            result = run("build", cls.photos, "--library", library, "--format", format, *common)
            assert (result.returncode, result.stderr) == (0, ""), result.stderr
        cls.server = Server(cls.library)
        cls.addClassCleanup(cls.server.stop)

    def test_a_stored_tile_is_the_answer_and_every_protocol_has_it(self):
        for name, id in (("lossless", "lossless"), ("lossy/lossy", "lossy%2Flossy")):
            stored = tiles(self.library / f"{name}.szi")
            for place in ("11/4_3", "11/0_0", "8/0_0", "0/0_0"):
                answer = self.server.get(f"/dzi/{id}_files/{place}.jxl")
                self.assertEqual((answer.status, answer["content-type"]), (200, "image/jxl"))
                self.assertEqual(answer.body, stored[place])
            tile = self.server.get(f"/dzi/{id}_files/11/1_2.jxl")
            for path in (f"/xyz/{id}/3/1/2.jxl", f"/iiif/3/{id}/256,512,256,256/256,256/0/default.jxl",
                         f"/iiif/2/{id}/256,512,256,256/256,/0/default.jxl"):
                answer = self.server.get(path)
                self.assertEqual((answer.status, answer.body, answer["etag"]), (200, tile.body, tile["etag"]), path)
            self.assertEqual(self.server.get(f"/dzi/{id}_files/11/1_2.jxl", If_None_Match=tile["etag"]).status, 304)

    def test_each_lossless_tile_is_given_back_as_the_jpeg_that_it_was(self):
        plain, ours = tiles(self.plain / "lossless.szi"), tiles(self.library / "lossless.szi")
        self.assertEqual(plain.keys(), ours.keys())
        self.assertLess(sum(map(len, ours.values())), 0.9 * sum(map(len, plain.values())))
        for place, wanted in plain.items():
            answer = self.server.get(f"/dzi/lossless_files/{place}.jpg")
            self.assertEqual((answer.status, answer["content-type"], answer.body), (200, "image/jpeg", wanted), place)
        # On the grid by another protocol, and after it was decoded for another picture.
        self.assertEqual(self.server.get("/iiif/3/lossless/0,0,512,512/256,256/0/default.jpg").body, plain["10/0_0"])
        self.assertEqual(self.server.get("/iiif/3/lossless/3,5,500,500/300,/0/default.jpg").status, 200)
        self.assertEqual(self.server.get("/xyz/lossless/3/0/0.jpg").body, plain["11/0_0"])
        zoomify = self.server.get("/zoomify/lossless/TileGroup0/3-1-1.jpg")
        self.assertEqual((zoomify.status, zoomify.body), (200, plain["11/1_1"]))

    def test_other_formats_and_pictures_off_the_grid_are_rendered(self):
        for id in ("lossless", "lossy%2Flossy"):
            for path, kind, size in ((f"/dzi/{id}_files/11/4_3.png", "pngload", ("176", "32")),
                                     (f"/dzi/{id}_files/11/4_3.webp", "webpload", ("176", "32")),
                                     (f"/dzi/{id}_files/10/0_0.jpg", "jpegload", ("256", "256")),
                                     (f"/dzi/{id}_files/10/0_0.avif", "heifload", ("256", "256")),
                                     (f"/iiif/3/{id}/5,5,300,200/150,100/90/gray.jxl", "jxlload", ("100", "150")),
                                     (f"/iiif/3/{id}/full/600,400/0/default.jxl", "jxlload", ("600", "400")),
                                     (f"/api/images/{id}/viewport.jpg?width=200&height=100&scale=1", "jpegload", ("200", "100"))):
                answer = self.server.get(path)
                self.assertEqual(answer.status, 200, path)
                self.assertEqual(tuple(loader(answer.body)[1:]), size, path)
                self.assertEqual(loader(answer.body)[0].removesuffix("_source"), kind, path)

    def test_pictures_are_near_their_source(self):
        for id, name, mean in (("lossless", "lossless.jpg", 4), ("lossy%2Flossy", "lossy/lossy.png", 4)):
            base = folder("near")
            (base / "ours.png").write_bytes(self.server.get(f"/iiif/3/{id}/100,100,600,500/max/0/default.png").body)
            subprocess.run(["vips", "crop", self.photos / name, base / "theirs.png", "100", "100", "600", "500"], check=True)
            subprocess.run(["vips", "subtract", base / "ours.png", base / "theirs.png", base / "difference.v"], check=True)
            subprocess.run(["vips", "abs", base / "difference.v", base / "absolute.v"], check=True)
            found = subprocess.run(["vips", "avg", base / "absolute.v"], capture_output=True, text=True, check=True)
            self.assertLess(float(found.stdout), mean, name)

    def test_descriptions_name_it(self):
        for version in "23":
            info = json.loads(self.server.get(f"/iiif/{version}/lossless/info.json").body)
            formats = info["extraFormats"] if version == "3" else info["profile"][1]["formats"]
            self.assertIn("jxl", formats)
            if version == "3":
                self.assertEqual(info["preferredFormats"], ["jxl", "jpg"])
        self.assertEqual(json.loads(self.server.get("/api/images/lossless").body)["format"], "jxl")
        self.assertIn(b'Format="jxl"', self.server.get("/dzi/lossless.dzi").body)
        self.assertIn("/{z}/{x}/{y}.jxl", json.loads(self.server.get("/xyz/lossless/tilejson.json").body)["tiles"][0])
        reported = run("inspect", self.library / "lossless.szi", "--json")
        self.assertEqual(json.loads(reported.stdout)["format"], "jxl")
        self.assertIn("; the JPEG tiles are recompressed", reported.stdout)

    def test_exports_copy_the_tiles_or_give_the_jpegs_back(self):
        archive = self.library / "lossless.szi"
        for layout in ("dz", "xyz", "iiif3"):
            output = folder("export") / "tree"
            result = run("export", archive, "--layout", layout, "--output", output)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(list(output.rglob("*.jxl")))
        trees = []
        for library, format in ((self.plain, ()), (self.library, ("--format", "jpeg"))):
            output = folder("export") / "tree"
            result = run("export", library / "lossless.szi", "--layout", "dz", "--output", output, *format)
            self.assertEqual(result.returncode, 0, result.stderr)
            trees.append({str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()})
        self.assertEqual(*trees)
        result = run("export", archive, "--layout", "zoomify", "--output", folder("export") / "tree")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_whole_archives_are_found_whole_and_damaged_ones_are_not(self):
        self.assertEqual(run("verify", self.library).returncode, 0)
        damaged = folder("damaged")
        for path in archives(self.library):
            data = bytearray(path.read_bytes())
            tile = max(tiles(path).values(), key=len)
            at = data.index(tile) + len(tile) // 2
            data[at:at + 40] = bytes(40)
            (damaged / path.name).write_bytes(data)
        result = run("verify", damaged)
        self.assertEqual(result.returncode, 1)
        for path in archives(damaged):
            self.assertRegex(result.stdout, rf"{path.name}: tile \d+/\d_\d\.jxl ")

    def test_a_rebuild_leaves_it_alone_and_the_same_bytes_come_of_one_thread(self):
        again = folder("again")
        options = ("--format", "jxl", "--tile-size", "256", "--fidelity", "lossless")
        self.assertIn("2 unchanged", run("build", self.photos, "--library", self.library, *options).stderr)
        self.assertEqual(run("build", self.photos, "--library", again, *options, "--jobs", "1").returncode, 0)
        for path in archives(self.library):
            self.assertEqual(path.read_bytes(), (again / path.relative_to(self.library)).read_bytes())


if __name__ == "__main__":
    unittest.main()
