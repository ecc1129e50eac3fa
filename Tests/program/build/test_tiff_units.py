"""Tiles and strips of TIFF files that are not what the tags say, that are damaged, or that only our own decoder reads.

Expected values are those of Pillow, tifffile, numpy and zlib.
"""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy
import tifffile
from harness import CommandTest, folder, run
from PIL import Image

WIDTH, HEIGHT = 200, 160
ANY_RAMP = numpy.add.outer(numpy.arange(HEIGHT), numpy.arange(WIDTH))


def jpeg_tiles(path: Path, width: int, height: int, side: int, tiles: list[bytes], samples: int, photometric: int,
               bits: int = 8):
    """A TIFF of JPEG files as its tiles, as tifffile writes none: each may be of another kind."""
    out, places = bytearray(b"II*\0\0\0\0\0"), []
    for tile in tiles:
        places.append(len(out))
        out += tile + bytes(len(tile) % 2)

    def put(form: str, *values: int) -> int:
        out.extend(struct.pack(form, *values))
        return len(out) - struct.calcsize(form)

    count = len(tiles)
    offsets, counts = put(f"<{count}I", *places), put(f"<{count}I", *map(len, tiles))
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, samples, put("<4H", *[bits] * 4) if samples > 2 else bits),
               (259, 3, 1, 7), (262, 3, 1, photometric), (277, 3, 1, samples), (284, 3, 1, 1), (322, 4, 1, side),
               (323, 4, 1, side), (324, 4, count, offsets), (325, 4, count, counts)]
    start = put("<H", len(entries))
    for entry in entries:
        put("<HHII", *entry)
    put("<I", 0)
    out[4:8] = struct.pack("<I", start)
    path.write_bytes(out)


def jpeg(pixels: numpy.ndarray, **options) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def with_unit(path: Path, page: int, unit: int, change) -> bytes:
    """The file with another stream for one tile or strip, at its end; `change` gets the one that it has."""
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as tiff:
        tags = tiff.pages[page].tags
        start, count = tiff.pages[page].dataoffsets[unit], tiff.pages[page].databytecounts[unit]
        stream = change(bytes(data[start:start + count]))
        for offset, value in ((273 if 273 in tags else 324, len(data)), (279 if 279 in tags else 325, len(stream))):
            # Short numbers would not hold a place; these are small files.
            size = {3: 2, 4: 4}[tags[offset].dtype]
            place = tags[offset].valueoffset + size * unit
            data[place:place + size] = value.to_bytes(size, "little")
    return bytes(data) + stream


class Units(CommandTest):
    def setUp(self):
        self.sources, self.library = folder("sources"), folder("library")

    def built(self, *options) -> dict[str, list[dict]]:
        self.result = run("build", self.sources, "--library", self.library, "--json", "--quiet", "--format", "png",
                          "--tile-size", "4096", *options)
        report: dict[str, list[dict]] = {}
        for line in map(json.loads, self.result.stdout.splitlines()):
            report.setdefault(Path(line["source"]).name, []).append(line)
        return report

    def pixels(self, report: dict, mode: str = "RGB") -> numpy.ndarray:
        self.assertEqual(report["status"], "built", report)
        with zipfile.ZipFile(self.library / f"{report['id']}.szi") as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))).convert(mode)).astype(int)

    def route(self, path: Path) -> str:
        return json.loads(run("inspect", path, "--json").stdout)["route"]


class TilesOfOtherKinds(Units):
    def test_tiles_of_another_chroma_sampling(self):
        """Memory for chroma is that of the first tile; threads begin with any other one."""
        side, count = 512, 4
        y, x = numpy.mgrid[0:side, 0:side]
        tile = numpy.stack([x // 2 % 256, y // 2 % 256, (x + y) // 4 % 256], -1).astype(numpy.uint8)
        half, full = jpeg(tile, subsampling="4:2:0"), jpeg(tile, subsampling="4:4:4")
        for name, first, other in (("half", half, full), ("full", full, half)):
            jpeg_tiles(self.sources / f"{name}.tif", side * count, side * count, side, [first] + [other] * (count**2 - 1), 3, 6)
        for fidelity, size in (("fast", "512"), ("lossless", "512"), ("lossless", "256"), ("exact", "512")):
            with self.subTest(fidelity, size=size):
                result = run("build", self.sources, "--library", folder("library"), "--json", "--quiet", "--jobs", 4,
                             "--fidelity", fidelity, "--tile-size", size, "--format", "jpg")
                for line in map(json.loads, result.stdout.splitlines()):
                    self.assertEqual((line["status"], line["damage"]), ("built", "error"), line)
                    self.assertIn("another chroma sampling", line["reason"])

    def test_cropped_tiles(self):
        side, size = 128, 200
        y, x = numpy.mgrid[0:size, 0:size]
        gray = ((x + y) // 2).astype(numpy.uint8)
        tiles = [gray[top:top + side, left:left + side] for top in (0, side) for left in (0, side)]
        coded = [jpeg(tile) for tile in tiles]
        rgb = [jpeg(numpy.stack([tile] * 3, -1)) for tile in tiles]
        jpeg_tiles(self.sources / "8.tif", size, size, side, coded, 1, 1)
        for bits in (1, 4):
            jpeg_tiles(self.sources / f"{bits}.tif", size, size, side, coded, 1, 1, bits)
        jpeg_tiles(self.sources / "1-rgb.tif", size, size, side, rgb, 3, 2, 1)
        report = self.built()
        wanted = numpy.zeros((size, size), int)
        for number, data in enumerate(coded):
            top, left = number // 2 * side, number % 2 * side
            part = numpy.array(Image.open(io.BytesIO(data)))
            wanted[top:top + part.shape[0], left:left + part.shape[1]] = part
        self.assertLessEqual(numpy.abs(self.pixels(report["8.tif"][0], "L") - wanted).max(), 1)
        for name in ("1.tif", "4.tif", "1-rgb.tif"):
            self.assertEqual(report[name][0]["status"], "failed", report[name])
            self.assertIn("BitsPerSample", report[name][0]["reason"])


def scrambled(stream: bytes) -> bytes:
    """Noise in its middle."""
    start, noise = len(stream) // 2, numpy.random.default_rng(4).integers(0, 256, 40, dtype=numpy.uint8).tobytes()
    return stream[:start] + noise + stream[start + len(noise):]


def shifted(stream: bytes) -> bytes:
    """PackBits of three more bytes, of which the last run has no room."""
    return b"\xfe\x00" + stream


class PixelsInSpiteOfDamage(Units):
    """Decoders of libtiff that report damage and return pixels. Pillow shows which files are damaged: it reads other pixels
    than were written, or none."""

    def read(self, path: Path, page: int = 0) -> numpy.ndarray | None:
        with Image.open(path) as image:
            image.seek(page)
            try:
                return numpy.array(image.convert("RGB"))
            except OSError:
                return None

    def test_fax_and_packbits(self):
        noise = numpy.random.default_rng(4).random((HEIGHT, WIDTH)) < .02
        bilevel = Image.fromarray((((ANY_RAMP // 9 % 2) ^ noise) * 255).astype(numpy.uint8)).convert("1")
        gray = Image.fromarray((ANY_RAMP * 300 % 60000).astype(numpy.uint16))
        cases = {"g3": (bilevel, "group3", scrambled), "g4": (bilevel, "group4", scrambled),
                 "packbits": (bilevel, "packbits", shifted), "deep": (gray, "packbits", shifted)}
        for name, (image, compression, change) in cases.items():
            for rows in (40, HEIGHT):
                path = self.sources / f"{name}-{rows}-sound.tif"
                image.save(path, compression=compression, tiffinfo={278: rows})
                (self.sources / f"{name}-{rows}-damaged.tif").write_bytes(with_unit(path, 0, 1 if rows == 40 else 0, change))
        report = self.built()
        self.assertEqual(self.result.returncode, 1)
        for name in cases:
            for rows in (40, HEIGHT):
                with self.subTest(name, rows=rows):
                    sound, damaged = (self.sources / f"{name}-{rows}-{state}.tif" for state in ("sound", "damaged"))
                    pixels, other = self.read(sound), self.read(damaged)
                    self.assertFalse(other is not None and (pixels == other).all())
                    self.assertNotIn("damage", report[sound.name][0])
                    self.assertEqual(report[damaged.name][0].get("damage"), "error", report[damaged.name])
                    self.assertIn("the TIFF file is damaged", report[damaged.name][0]["reason"])

    def test_samples_that_our_own_decoder_reads(self):
        """Alpha by which colours are multiplied."""
        pixels = numpy.stack([ANY_RAMP % 200] * 3 + [numpy.full_like(ANY_RAMP, 255)], -1).astype(numpy.uint8)
        path = self.sources / "sound.tif"
        tifffile.imwrite(path, pixels, photometric="rgb", extrasamples=["assocalpha"], compression="packbits", rowsperstrip=40,
                         metadata=None)
        (self.sources / "damaged.tif").write_bytes(with_unit(path, 0, 1, shifted))
        report = self.built()
        self.assertIn("libtiff", report["sound.tif"][0]["route"])
        self.assertNotIn("damage", report["sound.tif"][0])
        self.assertEqual(report["damaged.tif"][0].get("damage"), "error", report)
        self.assertRegex(report["damaged.tif"][0]["reason"], "strip 2 of 4")
        self.assertTrue((self.pixels(report["sound.tif"][0])[:40] == self.pixels(report["damaged.tif"][0])[:40]).all())

    def test_jpeg_of_a_page(self):
        pixels = numpy.stack([40 + ANY_RAMP // 3, 90 + ANY_RAMP // 6, 200 - ANY_RAMP // 5], -1).astype(numpy.uint8)
        path = self.sources / "sound.tif"
        with tifffile.TiffWriter(path) as tiff:
            for _ in range(2):
                tiff.write(pixels, photometric="rgb", compression="jpeg", rowsperstrip=80, metadata=None)
        (self.sources / "damaged.tif").write_bytes(with_unit(path, 1, 1, scrambled))
        self.assertFalse(numpy.array_equal(self.read(path, 1), self.read(self.sources / "damaged.tif", 1)))
        report = self.built()
        self.assertEqual([line.get("damage") for line in report["sound.tif"]], [None, None], report)
        self.assertEqual([line.get("damage") for line in report["damaged.tif"]], [None, "error"], report)
        result = run("build", self.sources / "damaged.tif", "--library", folder("library"), "--fail-on", "error", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertIn("page 2", result.stderr)


class OwnDecoder(Units):
    def test_ycbcr_in_separate_planes(self):
        planes = numpy.stack([40 + ANY_RAMP // 3, 90 + ANY_RAMP // 6, 200 - ANY_RAMP // 5]).astype(numpy.uint8)
        for name, how in (("strips", {"rowsperstrip": 32}), ("tiles", {"tile": (64, 64)})):
            tifffile.imwrite(self.sources / f"{name}.tif", planes, photometric="ycbcr", planarconfig="separate",
                             compression="jpeg", compressionargs={"level": 100}, subsampling=(1, 1), metadata=None, **how)
        report = self.built()
        y, cb, cr = planes.astype(float)
        # TIFF 6.0, section 21.
        wanted = numpy.stack([y + 1.402 * (cr - 128), y - .344136 * (cb - 128) - .714136 * (cr - 128),
                              y + 1.772 * (cb - 128)], -1).clip(0, 255)
        for name in ("strips", "tiles"):
            with self.subTest(name):
                self.assertLessEqual(numpy.abs(self.pixels(report[f"{name}.tif"][0]) - wanted).max(), 4)

    def test_colours_divided_by_alpha_are_rounded(self):
        random = numpy.random.default_rng(3)
        for name, type, most in (("8", numpy.uint8, 255), ("16", numpy.uint16, 65535)):
            alpha = random.integers(most // 4, most + 1, (64, 64, 1))
            colour = (random.integers(0, most + 1, (64, 64, 3)) * alpha / most).astype(int)
            samples = numpy.concatenate([colour, alpha], -1).astype(type)
            tifffile.imwrite(self.sources / f"{name}.tif", samples, photometric="rgb", extrasamples=["assocalpha"],
                             metadata=None)
            with self.subTest(name):
                report = self.built("--force")
                straight = colour * most / alpha
                # Halves may go either way.
                certain = numpy.abs(straight % 1 - .5) > .01
                wanted = numpy.floor(straight + .5).clip(0, most)
                if most == 255:
                    found = self.pixels(report["8.tif"][0], "RGBA")
                    self.assertTrue((found[..., :3] == wanted)[certain].all())
                    self.assertTrue((found[..., 3:] == alpha).all())
                else:
                    found = self.pixels(report["16.tif"][0], "RGBA")
                    self.assertLessEqual(numpy.abs(found[..., :3] - wanted / 257).max(), 1)

    def test_a_turned_picture(self):
        picture = numpy.random.default_rng(4).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(numpy.uint8)
        upright = {1: picture, 3: picture[::-1, ::-1], 6: numpy.rot90(picture, -1), 8: numpy.rot90(picture)}
        for orientation in upright:
            tifffile.imwrite(self.sources / f"{orientation}.tif", numpy.moveaxis(picture, 2, 0), photometric="rgb",
                             planarconfig="separate", tile=(32, 32), compression="zlib", metadata=None,
                             extratags=[(274, "H", 1, orientation, True)])
        report = self.built()
        for orientation, wanted in upright.items():
            with self.subTest(orientation):
                self.assertTrue((self.pixels(report[f"{orientation}.tif"][0]) == wanted).all())

    def test_reports_name_the_decoder(self):
        half = (ANY_RAMP / 400).astype(numpy.float16)
        tifffile.imwrite(self.sources / "half.tif", half, photometric="minisblack", metadata=None)
        tifffile.imwrite(self.sources / "float.tif", half.astype(numpy.float32), photometric="minisblack", metadata=None)
        self.assertTrue(self.route(self.sources / "half.tif").startswith("exact: read by libtiff, for its "))
        self.assertTrue(self.route(self.sources / "float.tif").startswith("exact: read by libvips, for its "))


class Damage(Units):
    def assertDamaged(self, report: dict, kind: str | None, reason: str = ""):
        self.assertEqual((report["status"], report.get("damage")), ("built", kind), report)
        self.assertIn(reason, report.get("reason", ""))

    def test_checksums(self):
        random = numpy.random.default_rng(5)
        # libtiff itself reads less of streams that are larger than their pixels.
        gray = ANY_RAMP * 100 + random.integers(0, 50, (HEIGHT, WIDTH))
        kinds = {
            "float": ((gray / 60_000).astype(numpy.float32), {"photometric": "minisblack", "rowsperstrip": 64}),
            "deep": (gray.astype(numpy.uint16), {"photometric": "minisblack", "rowsperstrip": 64}),
            "predicted": (gray.astype(numpy.uint16), {"photometric": "minisblack", "predictor": True, "tile": (64, 64)}),
            "half": ((gray / 60_000).astype(numpy.float16), {"photometric": "minisblack", "rowsperstrip": 64}),
            "separate": (numpy.stack([gray // 150, gray // 170, gray // 190]).astype(numpy.uint8),
                         {"photometric": "rgb", "planarconfig": "separate", "rowsperstrip": 64}),
            "plain": (numpy.stack([gray // 150, gray // 170, gray // 190], -1).astype(numpy.uint8),
                      {"photometric": "rgb", "rowsperstrip": 64}),
        }
        for name, (samples, how) in kinds.items():
            path = self.sources / f"{name}.tif"
            tifffile.imwrite(path, samples, compression="zlib", metadata=None, **how)
            # All pixels, and more; libtiff reads no further than it needs.
            longer = lambda stream: zlib.compress(zlib.decompress(stream) + bytes(7))[:-4] + stream[-4:]  # noqa: E731
            (self.sources / f"{name} longer.tif").write_bytes(with_unit(path, 0, 1, longer))
            wrong = lambda stream: stream[:-1] + bytes([stream[-1] ^ 1])  # noqa: E731
            (self.sources / f"{name} wrong.tif").write_bytes(with_unit(path, 0, 1, wrong))
        report = self.built()
        for name in kinds:
            with self.subTest(name):
                self.assertDamaged(report[f"{name}.tif"][0], None)
                self.assertDamaged(report[f"{name} wrong.tif"][0], "error", "the TIFF file is damaged")
                self.assertDamaged(report[f"{name} longer.tif"][0], "error", " 2 of ")
                self.assertIn("the checksum of ", report[f"{name} longer.tif"][0]["reason"])
                # They are all there.
                self.assertTrue((self.pixels(report[f"{name}.tif"][0]) == self.pixels(report[f"{name} longer.tif"][0])).all())

    def test_damage_of_a_later_page_is_not_its_end(self):
        pages = numpy.random.default_rng(6).integers(0, 255, (3, HEIGHT, WIDTH)).astype(numpy.uint8)
        path = self.sources / "book.tif"
        with tifffile.TiffWriter(path) as tiff:
            for page in pages:
                tiff.write(page, compression="zlib", rowsperstrip=32, photometric="minisblack", metadata=None)
        with tifffile.TiffFile(path) as tiff:
            start, count = tiff.pages[1].dataoffsets[2], tiff.pages[1].databytecounts[2]
        data = bytearray(path.read_bytes())
        data[start + count // 4:start + count // 4 + 60] = b"\xff" * 60
        path.write_bytes(data)
        report = self.built()["book.tif"]
        self.assertEqual([line.get("damage") for line in report], [None, "error", None], report)
        self.assertIn("damaged", report[1]["reason"])
        found = self.pixels(report[1], "L")
        self.assertTrue((found[:64] == pages[1][:64]).all() and (found[96:] == pages[1][96:]).all())

    def test_damage_of_a_channel_leaves_the_others(self):
        channels = numpy.random.default_rng(7).integers(0, 65535, (2, HEIGHT, WIDTH)).astype(numpy.uint16)
        names = ("whole.ome.tif", "damaged.ome.tif")
        for name in names:
            tifffile.imwrite(self.sources / name, channels, metadata={"axes": "CYX", "Channel": {"Name": ["a", "b"]}},
                             compression="zlib", rowsperstrip=32, photometric="minisblack")
        path = self.sources / names[1]
        with tifffile.TiffFile(path) as tiff:
            start, count = tiff.pages[1].dataoffsets[2], tiff.pages[1].databytecounts[2]
        data = bytearray(path.read_bytes())
        data[start + count // 4:start + count // 4 + 60] = b"\xff" * 60
        path.write_bytes(data)
        report = self.built("--window", "full")
        self.assertDamaged(report[names[0]][0], None)
        self.assertDamaged(report[names[1]][0], "error", "damaged")
        whole, found = self.pixels(report[names[0]][0]), self.pixels(report[names[1]][0])
        rows = numpy.r_[0:64, 96:HEIGHT]
        self.assertTrue((found[rows] == whole[rows]).all())
        # Of the rows that the second channel lost the first one is there.
        self.assertTrue((found[64:96, :, 0] == whole[64:96, :, 0]).all())
        self.assertGreater(int(found[64:96, :, 0].max()), 200)


class FullLastStrips(CommandTest):
    """The last strip is encoded with as many rows as the others."""

    def test_rows_beyond_the_image_are_left_out(self):
        y, x = numpy.mgrid[0:64, 0:83]
        picture = numpy.stack([x * 3, y * 4, x + y], -1).astype(numpy.uint8)
        place = folder("strips")
        for name, how in (("jpeg", {"compression": "jpeg"}),
                          ("webp", {"compression": "webp"}), ("jxl", {"compression": "jpegxl"}),
                          ("j2k", {"compression": "jpeg2000"}), ("zip", {"compression": "zlib"}), ("lzw", {"compression": "lzw"})):
            with self.subTest(name):
                source, library = place / f"{name}.tif", folder("library")
                tifffile.imwrite(source, picture, rowsperstrip=16, metadata=None, **{"photometric": "rgb"} | how)
                wanted = tifffile.imread(source)[:61]
                with tifffile.TiffFile(source, mode="r+b") as file:
                    file.pages[0].tags["ImageLength"].overwrite(61)
                result = run("build", source, "--library", library, "--format", "png", "--fidelity", "exact", "--json", "--quiet")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertNotIn("damage", json.loads(result.stdout))
                with zipfile.ZipFile(library / f"{name}.szi") as szi:
                    tile = max((each for each in szi.namelist() if each.endswith("/0_0.png")), key=lambda each: int(each.split("/")[-2]))
                    found = numpy.array(Image.open(io.BytesIO(szi.read(tile))))
                self.assertEqual(found.shape, wanted.shape)
                self.assertLessEqual(int(numpy.abs(found.astype(int) - wanted).max()), 3)
