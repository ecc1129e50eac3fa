"""Slides as scanners write them: their own JPEG tiles without another loss, OpenSlide for the rest, and one line for what is
broken."""

import io
import subprocess
import zipfile
from pathlib import Path

import jpeglib
import numpy
from harness import CRASH, folder, run, seed
from one_source import OneSource, picture
from PIL import Image
from slides import Directory, jpeg, svs, tiled, unmarked, write


def coefficients(data: bytes) -> list[numpy.ndarray]:
    """The quantised DCT blocks of each component: rows, columns, 8, 8."""
    path = folder("dct") / "tile.jpg"
    path.write_bytes(data)
    found = jpeglib.read_dct(str(path))
    return [found.Y] + ([found.Cb, found.Cr] if found.Cb is not None else [])


def whole(directory: Directory) -> list[numpy.ndarray]:
    """The same of a tiled picture, as if it were one JPEG."""
    columns = -(-directory.width // directory.tile)
    grid = []
    for number, piece in enumerate(directory.pieces):
        if number % columns == 0:
            grid.append([])
        grid[-1].append(coefficients(directory.tables[:-2] + piece[2:]))
    return [numpy.concatenate([numpy.concatenate([tile[plane] for tile in row], 1) for row in grid])
            for plane in range(len(grid[0][0]))]


class Slides(OneSource):
    def same_coefficients(self, directory: Directory, archive: Path, tile: int) -> None:
        expected = whole(directory)
        tiles = self.tiles(archive)
        self.assertEqual(len(tiles), -(-directory.width // tile) * -(-directory.height // tile))
        for (column, row), data in tiles.items():
            for plane, blocks in enumerate(coefficients(data)):
                across, down = (1, 1) if plane == 0 else directory.sampling
                x, y = column * tile // 8 // across, row * tile // 8 // down
                # A component's last blocks may be there for the sake of its MCU alone.
                part = expected[plane][y:y + blocks.shape[0], x:x + blocks.shape[1]]
                self.assertTrue(numpy.array_equal(part, blocks), (column, row, plane))


KINDS = {"4:2:0": {}, "4:2:2": {"sampling": (2, 1)}, "4:4:4": {"sampling": (1, 1)},
         "RGB": {"sampling": (1, 1), "rgb": True}}


class Lossless(Slides):
    def test_full_resolution_has_the_scanners_coefficients(self):
        """Whatever the scanner's tiles, and ours: the same, some that fill one, or such as do not fit."""
        for name, how in KINDS.items():
            for own, tile in ((240, 512), (256, 512), (512, 512), (240, 240)):
                with self.subTest(name, own=own, tile=tile):
                    base, scan = folder("slide"), picture(1211, 917)
                    source = svs(base / "slide.svs", scan, tile=own, **how)
                    report, archive = self.built(source, "--tile-size", tile)
                    self.assertEqual(report["route"], "lossless: the TIFF tiles are copied, being a slide's" if own == tile
                                     else "lossless: cut from the TIFF tiles' coefficients, being a slide's")
                    directory = tiled(scan, own, **how)
                    self.same_coefficients(directory, archive, tile)
                    self.assertEqual(report["steps"], [])

    def test_the_pixels_are_openslides(self):
        """At full resolution and the level below; apart from how chroma meets at the edges of tiles."""
        for name, how in KINDS.items():
            with self.subTest(name):
                base = folder("slide")
                source = svs(base / "slide.svs", picture(1211, 917), **how)
                subprocess.run(["vips", "dzsave", source, base / "vips", "--container", "zip", "--tile-size", "512",
                                "--overlap", "0", "--suffix", ".png"], check=True, capture_output=True)
                _, archive = self.built(source)
                with zipfile.ZipFile(archive) as ours, zipfile.ZipFile(next(base.glob("vips*"))) as theirs:
                    for tile in [name for name in theirs.namelist() if "_files/11/" in name or "_files/10/" in name]:
                        found = numpy.array(Image.open(io.BytesIO(
                            ours.read(tile.replace("vips", "slide").replace(".png", ".jpg")))).convert("RGB"), int)
                        wanted = numpy.array(Image.open(io.BytesIO(theirs.read(tile))).convert("RGB"), int)
                        self.assertEqual(found.shape, wanted.shape)
                        self.assertLess(abs(found - wanted).mean(), 1.6)

    def test_exact_and_other_formats_have_openslides_pixels(self):
        for name, how in KINDS.items():
            with self.subTest(name):
                base = folder("slide")
                source = svs(base / "slide.svs", picture(531, 417), **how)
                report, archive = self.built(source, "--format", "png")
                self.assertEqual(report["route"], "exact: TIFF tiles decoded side by side")
                subprocess.run(["vips", "openslideload", source, base / "wanted.png", "--rgb"], check=True)
                tiles = self.tiles(archive)
                found = numpy.concatenate([numpy.array(Image.open(io.BytesIO(tiles[column, 0]))) for column in (0, 1)], 1)
                self.assertTrue(numpy.array_equal(found, numpy.array(Image.open(base / "wanted.png"))))

    def test_a_tiled_tiff_that_is_no_slide(self):
        """By the rule for JPEG: without loss where that costs no more bytes, or where it is asked for."""
        base, scan = folder("tiff"), picture(1000, 700)
        coarse = tiled(scan, 240, 70, description="")
        report, archive = self.built(write(base / "coarse.tif", [coarse]))
        self.assertEqual(report["route"], "lossless: cut from the TIFF tiles' coefficients, which are no larger")
        self.same_coefficients(coarse, archive, 512)
        fine = tiled(scan, 240, 92, description="")
        source = write(base / "fine.tif", [fine])
        report, _ = self.built(source)
        self.assertEqual(report["route"], "planar: the TIFF tiles keep their JPEG's samples; their coefficients would be "
                                        "larger than quality 80")
        report, archive = self.built(source, "--fidelity", "lossless")
        self.assertEqual(report["route"], "lossless: cut from the TIFF tiles' coefficients")
        self.same_coefficients(fine, archive, 512)

    def test_three_tables(self):
        """Red and blue differences are quantised differently by some scanners."""
        base, scan = folder("slide"), picture(500, 300)
        one = tiled(scan, 240, 70)
        # DQT of a third table, a copy of the second with other numbers, which the third component uses.
        at = one.tables.index(b"\xff\xdb\x00\x43\x01")
        third = b"\xff\xdb\x00\x43\x02" + bytes(min(255, 2 * value) for value in one.tables[at + 5:at + 69])
        one.tables = one.tables[:at] + third + one.tables[at:]
        one.pieces = [piece.replace(b"\x03\x11\x01", b"\x03\x11\x02", 1) for piece in one.pieces]
        report, archive = self.built(write(base / "slide.svs", [one]))
        self.assertTrue(report["route"].startswith("lossless"), report["route"])
        self.same_coefficients(one, archive, 512)
        path = base / "tile.jpg"
        path.write_bytes(self.tiles(archive)[0, 0])
        self.assertEqual(len(jpeglib.read_dct(str(path)).qt), 3)


class Broken(Slides):
    """One tile of many is not like the others, or the file is none that can be trusted."""

    def scan(self, **how) -> list[Directory]:
        return [tiled(picture(1000, 700), 240, 70, **how)]

    def written(self, directories: list[Directory]) -> Path:
        return write(folder("slide") / "slide.svs", directories)

    def test_a_missing_tile_is_openslides(self):
        scan = self.scan()
        scan[0].pieces[7] = b""
        report, _ = self.built(self.written(scan))
        self.assertEqual(report["route"], "exact: read by libvips, for its format (openslide); its own tiles are not taken, "
                                        "for tile 8 of 15 is missing")

    def test_a_tile_of_another_quantisation(self):
        for how, way in (({}, "planar: the TIFF tiles keep their JPEG's samples"),
                         ({"sampling": (1, 1)}, "exact: TIFF tiles decoded side by side")):
            scan = self.scan(**how)
            other = tiled(picture(240, 240), 240, 40, **how)
            # Its own tables stand in the tile.
            scan[0].pieces[7] = other.tables[:-2] + other.pieces[0][2:]
            report, archive = self.built(self.written(scan))
            self.assertEqual(report["route"], f"{way}; not cut from coefficients, for tile 8 of 15 has another quantisation "
                                            "than the first")
            # It is the picture all the same: the tile lies where it belongs.
            shown = numpy.array(Image.open(io.BytesIO(self.tiles(archive)[1, 0])), int)[240:480, :208]
            self.assertLess(abs(shown - numpy.array(picture(240, 240), int)[:, 32:]).mean(), 4)

    def test_a_tile_of_another_sampling(self):
        scan = self.scan()
        scan[0].pieces[7] = tiled(picture(240, 240), 240, 70, sampling=(1, 1)).pieces[0]
        report, archive = self.built(self.written(scan))
        self.assertEqual(report["route"], "exact: read by libvips, for its format (openslide); its own tiles are not taken, "
                                        "for tile 8 of 15 has another chroma sampling than the first one")

    def test_a_tile_of_another_size_and_of_12_bits_is_one_line(self):
        for change in ((5, 480 .to_bytes(2)), (3, b"\x0c"), (8, b"\x00")):
            scan = self.scan()
            piece = bytearray(scan[0].pieces[7])
            at = piece.index(b"\xff\xc0") + 1 + change[0]
            piece[at:at + len(change[1])] = change[1]
            scan[0].pieces[7] = bytes(piece)
            # OpenSlide leaves clear what it cannot read, or refuses.
            result = run("build", self.written(scan), "--library", folder("library"), "--quiet")
            self.assertLessEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(result.returncode, (0, 1))
            scan[0].description = ""
            self.assertIn("tile 8 of 15", self.refused(write(folder("tiff") / "scan.tif", scan)))

    def test_progressive_tiles_are_decoded(self):
        scan = self.scan()
        scan[0].pieces = [unmarked(jpeg(Image.open(io.BytesIO(scan[0].tables[:-2] + piece[2:])), progressive=True))
                          for piece in scan[0].pieces]
        scan[0].tables = b""
        report, _ = self.built(self.written(scan))
        self.assertTrue(report["route"].startswith("planar: "), report["route"])

    def test_any_damage_gives_a_picture_or_one_line(self):
        random = seed("slides")
        for how in ({}, {"sampling": (1, 1), "rgb": True}):
            data = bytearray(svs(folder("slide") / "slide.svs", picture(500, 400), **how).read_bytes())
            for number in range(12):
                broken = bytearray(data)
                if number < 3:
                    del broken[random.randrange(len(broken)):]
                for _ in range(1 if number % 2 else 40):
                    broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
                path = folder("slide") / ("slide.svs" if number % 3 else "slide.tif")
                path.write_bytes(broken)
                for options in (("--tile-size", "512"), ("--tile-size", "240")):
                    result = run("build", path, "--library", folder("library"), "--quiet", *options)
                    self.assertIn(result.returncode, (0, 1), result.stderr)
                    # One for each page that such a file may be taken to have; what only misses its end is built.
                    lines = result.stderr.splitlines()
                    self.assertTrue(lines if result.returncode else all("built, but the" in line and "cut off" in line for line in lines),
                                    result.stderr)
                    self.assertTrue(all(str(path) in line for line in lines), result.stderr)
                    self.assertNotRegex(result.stderr, CRASH)
