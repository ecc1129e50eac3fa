"""Sources that are damaged: what can be decoded of them is built and reported, and refused by --fail-on.

What is left of a picture is known from how its file was damaged, or from Pillow, djpeg and zlib.
"""

import io
import json
import re
import struct
import subprocess
import unittest
import zipfile
import zlib
from pathlib import Path

import numpy
import tifffile
from PIL import Image, ImageFile

from harness import CommandTest, folder, run
from szi import archives

WIDTH, HEIGHT = 300, 220


def picture(seed: int = 1) -> numpy.ndarray:
    """Gradients with noise, in which no sample is 0."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    smooth = numpy.stack([40 + (x + y) % 200, 40 + (2 * x + 3 * y) % 200, 40 + (x + 2 * y) % 200], -1)
    return (smooth + numpy.random.default_rng(seed).integers(-6, 7, smooth.shape)).clip(1, 254).astype(numpy.uint8)


def encoded(format: str, pixels: numpy.ndarray | Image.Image | None = None, **options) -> bytes:
    out = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(picture() if pixels is None else pixels)
    image.save(out, format, **options)
    return out.getvalue()


def by_vips(ending: str, pixels: numpy.ndarray | None = None, *, convert: str | None = None) -> bytes:
    """The picture as libvips writes it; the ending may have its options."""
    place = folder("made")
    (place / "in.png").write_bytes(encoded("PNG", pixels))
    arguments = ["vips", "colourspace", place / "in.png", place / f"out.{ending}", convert] if convert else [
        "vips", "copy", place / "in.png", place / f"out.{ending}"]
    subprocess.run(arguments, check=True, capture_output=True)
    return (place / f"out.{ending.partition('[')[0]}").read_bytes()


def chunks(png: bytes) -> list[tuple[bytes, int, int]]:
    """The name, the place and the length of each."""
    found, at = [], 8
    while at + 8 <= len(png):
        length = struct.unpack(">I", png[at:at + 4])[0]
        found.append((png[at + 4:at + 8], at, length))
        at += 12 + length
    return found


def chunk(name: bytes, body: bytes, checksum: int | None = None) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(
        ">I", zlib.crc32(name + body) if checksum is None else checksum)


def whole_rows(png: bytes, row_size: int) -> int:
    """How many rows zlib gets out of a PNG, which may be cut off."""
    data = b"".join(png[at + 8:at + 8 + length] for name, at, length in chunks(png) if name == b"IDAT")
    return len(zlib.decompressobj().decompress(data)) // (row_size + 1)


def zeroed(data: bytes, first: float, share: float = 0.05) -> bytes:
    start, count = int(len(data) * first), int(len(data) * share)
    return data[:start] + bytes(count) + data[start + count:]


class Damaged(CommandTest):
    def built(self, files: dict[str, bytes], *options, code: int | None = None) -> dict[str, dict]:
        """What a build reports of each file; the archives of `self.library` have PNG tiles."""
        self.sources, self.library = folder("sources"), folder("library")
        for name, data in files.items():
            (self.sources / name).write_bytes(data)
        return self.again(*options, code=code)

    def again(self, *options, code: int | None = None) -> dict[str, dict]:
        self.result = run("build", self.sources, "--library", self.library, "--json", "--quiet", "--format", "png",
                          *options)
        if code is not None:
            self.assertEqual(self.result.returncode, code, self.result.stderr)
        self.lines = [json.loads(line) for line in self.result.stdout.splitlines()]
        return {Path(line["source"]).name: line for line in self.lines}

    def pixels(self, report: dict) -> numpy.ndarray:
        with zipfile.ZipFile(self.library / f"{report['id']}.szi") as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))).convert("RGB"))

    def assertDamage(self, report: dict, kind: str | None):
        self.assertEqual(report["status"], "built", report)
        self.assertEqual(report.get("damage"), kind, report)
        self.assertEqual(report.get("damaged"), True if kind else None)
        self.assertEqual("reason" in report, kind is not None)

    def assertMissing(self, report: dict, missing: int, rows: int):
        """That the reason counts the rows that are missing; one may be there in part."""
        found = re.search(rf": (\d+) of {rows} rows are missing$", report["reason"])
        self.assertIsNotNone(found, report["reason"])
        self.assertLessEqual(abs(int(found[1]) - missing), 1, report["reason"])

    def test_jpeg_without_its_end(self):
        files = {"baseline.jpg": encoded("JPEG", quality=90), "fine.jpg": encoded("JPEG", quality=90, subsampling=0),
                 "gray.jpg": encoded("JPEG", Image.fromarray(picture()).convert("L")),
                 "cmyk.jpg": encoded("JPEG", Image.fromarray(picture()).convert("CMYK")),
                 "turned.jpg": encoded("JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0\0\0\0\0")}
        cut = {f"half {name}": data[:len(data) // 2] for name, data in files.items()}
        end = {f"end {name}": data[:-2] for name, data in files.items()}
        report = self.built({**files, **cut, **end}, "--fidelity", "exact", code=0)
        for name in files:
            with self.subTest(name):
                self.assertDamage(report[name], None)
                self.assertDamage(report[f"half {name}"], "truncated")
                self.assertDamage(report[f"end {name}"], "truncated")
                # Nothing of the picture is missing.
                whole = self.pixels(report[name])
                self.assertTrue((self.pixels(report[f"end {name}"]) == whole).all())
                half = self.pixels(report[f"half {name}"])
                if name == "turned.jpg":
                    whole, half = whole[::-1], half[::-1]
                self.assertTrue((half[:80] == whole[:80]).all())
                self.assertFalse((half[-20:] == whole[-20:]).all())
        self.assertRegex(report["half baseline.jpg"]["reason"], r"cut off: \d+ of 220 rows are missing$")
        # As libjpeg has it.
        (self.sources / "x.ppm").write_bytes(
            subprocess.run(["djpeg", "-pnm", self.sources / "half baseline.jpg"], capture_output=True).stdout)
        wanted = numpy.array(Image.open(self.sources / "x.ppm"))
        self.assertTrue((self.pixels(report["half baseline.jpg"]) == wanted).all())

    def test_jpeg_of_several_scans_or_arithmetic_coding_without_its_end(self):
        place, files = folder("made"), {}
        Image.fromarray(picture()).save(place / "in.ppm")
        (place / "scans").write_text("0;\n1;\n2;\n")
        for name, options in (("progressive", ["-progressive"]), ("apart", ["-scans", place / "scans"]), ("arithmetic", ["-arithmetic"])):
            data = subprocess.run(["cjpeg", "-quality", "90", *options, place / "in.ppm"], check=True, capture_output=True).stdout
            scans = [at for at in range(len(data) - 1) if data[at:at + 2] == b"\xff\xda"]
            files[f"{name} end.jpg"] = data[:-2]
            files |= {f"{name} {number}.jpg": data[:at] for number, at in enumerate(scans) if number}
            if name == "arithmetic":
                files["arithmetic half.jpg"] = data[:len(data) // 2]
        report = self.built(files, code=0)
        self.assertGreater(len(files), 12)
        for name in files:
            with self.subTest(name):
                self.assertDamage(report[name], "truncated")
                behind = report[name]["reason"].endswith("is cut off behind its last row")
                self.assertEqual(behind, name.endswith("end.jpg"), report[name]["reason"])
        self.assertRegex(report["progressive 1.jpg"]["reason"], "is cut off before scans that complete or refine its pixels$")
        self.assertRegex(report["arithmetic half.jpg"]["reason"], r"cut off: \d+ of 220 rows are missing$")

    def test_jpeg_with_a_bad_sector(self):
        files = {"baseline.jpg": encoded("JPEG", quality=80), "fine.jpg": encoded("JPEG", quality=90, subsampling=0),
                 "progressive.jpg": encoded("JPEG", progressive=True),
                 "turned.jpg": encoded("JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")}
        report = self.built({name: zeroed(data, 0.6) for name, data in files.items()}, code=1)
        for name in files:
            with self.subTest(name):
                self.assertDamage(report[name], "error")
                self.assertEqual(
                    sum(name in line and "built, but" in line for line in self.result.stderr.splitlines()), 1)
        # Lossless tiles too, which take the coefficients as they are.
        for fidelity in ("lossless", "fast", "exact"):
            self.assertDamage(self.again("--force", "--fidelity", fidelity, code=1)["baseline.jpg"], "error")

    def test_a_jpeg_that_is_filled_up_is_no_damage(self):
        data = encoded("JPEG")
        report = self.built({"zeros.jpg": data[:-2] + bytes(300) + data[-2:], "behind.jpg": data + bytes(range(200))}, code=0)
        self.assertDamage(report["zeros.jpg"], "warning")
        self.assertDamage(report["behind.jpg"], None)

    def test_png_without_its_end(self):
        rgb, gray16 = picture(), picture()[..., 0].astype(numpy.uint16) * 257
        palette = Image.fromarray(rgb).quantize(64)
        kinds = {"rgb": (encoded("PNG"), 3 * WIDTH, rgb), "alpha": (encoded("PNG", Image.fromarray(rgb).convert("RGBA")), 4 * WIDTH, rgb),
                 "palette": (encoded("PNG", palette), WIDTH, numpy.array(palette.convert("RGB"))),
                 "deep": (encoded("PNG", gray16), 2 * WIDTH, numpy.repeat(rgb[..., :1], 3, 2))}
        files = {f"{name} {share}.png": data[:len(data) * share // 100]
                 for name, (data, _, _) in kinds.items() for share in (40, 97)}
        files |= {f"{name} end.png": data[:-6] for name, (data, _, _) in kinds.items()}
        report = self.built(files, "--background", "0,0,0", code=0)
        for name, (_, row_size, wanted) in kinds.items():
            for share in (40, 97):
                with self.subTest(name, share=share):
                    file = f"{name} {share}.png"
                    self.assertDamage(report[file], "truncated")
                    rows = whole_rows(files[file], row_size)
                    self.assertGreater(rows, 40)
                    self.assertMissing(report[file], HEIGHT - rows, HEIGHT)
                    pixels = self.pixels(report[file])
                    self.assertLessEqual(int(numpy.abs(pixels[:rows].astype(int) - wanted[:rows]).max()), 1)
                    lost = 0 if name != "palette" else numpy.array(palette.getpalette()[:3])
                    self.assertTrue((pixels[rows + 1:] == lost).all())
            if name in ("rgb", "alpha"):
                self.assertDamage(report[f"{name} end.png"], "truncated")

    def test_interlaced_png_without_its_end(self):
        data = by_vips("png[interlace]")
        report = self.built({"half.png": data[:len(data) // 2], "whole.png": data}, code=0)
        self.assertDamage(report["half.png"], "truncated")
        # The first row and the distance of rows of each pass (PNG, third edition, 8.2).
        rows = sum(len(range(first, HEIGHT, step)) for first, step in ((0, 8), (0, 8), (4, 8), (0, 4), (2, 4), (0, 2), (1, 2)))
        self.assertRegex(report["half.png"]["reason"], rf": \d+ of {rows} rows of its passes are missing$")
        half, whole = self.pixels(report["half.png"]), self.pixels(report["whole.png"])
        # The first six passes, a quarter and more of all pixels, are in the first half of the data.
        self.assertTrue((half[::8, ::8] == whole[::8, ::8]).all())
        self.assertTrue((half[1::2][-20:] == 0).all())

    def test_png_with_bad_bytes(self):
        rgb = picture()
        data = encoded("PNG", rgb)
        body = b"".join(data[at + 8:at + 8 + length] for name, at, length in chunks(data) if name == b"IDAT")
        at = next(at for name, at, _ in chunks(data) if name == b"IDAT")
        sound = data[:at], data[-12:]
        rows = len(zlib.decompressobj().decompress(body[:int(len(body) * 0.6)])) // (3 * WIDTH + 1)
        # Read by libvips, after a repair.
        deep = encoded("PNG", numpy.random.default_rng(2).integers(256, 65536, (HEIGHT, WIDTH)).astype(numpy.uint16))
        [deep_at] = [at for name, at, _ in chunks(deep) if name == b"IDAT"][:1]
        deep_body = b"".join(deep[at + 8:at + 8 + length] for name, at, length in chunks(deep) if name == b"IDAT")
        files = {
            # The data of which only the checksum is wrong are whole.
            "checksum.png": sound[0] + chunk(b"IDAT", body, 1) + sound[1],
            "adler.png": sound[0] + chunk(b"IDAT", body[:-4] + bytes(4)) + sound[1],
            "zeros.png": sound[0] + chunk(b"IDAT", zeroed(body, 0.6)) + sound[1],
            "deep.png": deep[:deep_at] + chunk(b"IDAT", zeroed(deep_body, 0.6)) + deep[-12:],
            "text.png": sound[0] + chunk(b"tEXt", b"Title\0x", 1) + data[at:],
            "gamma.png": sound[0] + chunk(b"gAMA", struct.pack(">I", 100000), 1) + data[at:],
        }
        report = self.built(files, code=1)
        for file, kind in {"checksum.png": "error", "adler.png": "error", "zeros.png": "error", "deep.png": "error", "text.png": "warning",
                           "gamma.png": "warning"}.items():
            with self.subTest(file):
                self.assertDamage(report[file], kind)
                pixels = self.pixels(report[file])
                if file == "deep.png":
                    # The first row whose filter does not exist (PNG, third edition, 9.2).
                    rows = zlib.decompressobj().decompress(zeroed(deep_body, 0.6)[:-4])[::2 * WIDTH + 1]
                    self.assertMissing(report[file], HEIGHT - next(at for at, filter in enumerate(rows) if filter > 4), HEIGHT)
                elif file == "zeros.png":
                    self.assertGreater(rows, 100)
                    self.assertTrue((pixels[:rows - 1] == rgb[:rows - 1]).all())
                    self.assertTrue((pixels[-1] == 0).all())
                else:
                    # A chunk whose checksum is wrong is ignored, as by libpng: no gamma.
                    self.assertTrue((pixels == rgb).all())

    def test_tiff_with_bad_parts(self):
        rgb = picture()
        files, wanted = {}, {}
        for name, options in {"none": {}, "lzw": {"compression": "tiff_lzw"}, "deflate": {"compression": "tiff_adobe_deflate"},
                              "jpeg": {"compression": "jpeg"}}.items():
            files[f"{name}.tif"] = zeroed(encoded("TIFF", rgb, tiffinfo={278: 24}, **options), 0.6)
        deep = by_vips("tif[compression=lzw,predictor=none]", convert="rgb16")
        files["deep.tif"] = zeroed(deep, 0.6, 0.02)
        files["tiles.tif"] = zeroed(by_vips("tif[tile,tile-width=64,tile-height=64,compression=lzw]"), 0.6)
        report = self.built(files, "--fidelity", "exact", code=1)
        for name in files:
            # Nobody can see that in data without checksum.
            if name == "none.tif":
                continue
            with self.subTest(name):
                self.assertDamage(report[name], "error")
                self.assertRegex(report[name]["reason"], r"(strip|tile) \d+ of \d+")
                pixels = self.pixels(report[name])
                if name != "jpeg.tif":
                    same = (numpy.abs(pixels.astype(int) - rgb) <= 1).all(-1)
                    self.assertTrue(same[:60].all())
                    self.assertTrue((same | (pixels == 0).all(-1)).all() or name == "deflate.tif")
                    self.assertGreater(same.mean(), 0.5)

    def test_tiff_without_its_last_strips_by_every_compression(self):
        """The file's end is that of one strip in its middle: the strip, and all that lie behind, are missing."""
        chance = numpy.random.default_rng(6)
        files = {}
        for bits in (8, 16):
            samples = chance.integers(0, 1 << bits, (HEIGHT, WIDTH, 3), f"u{bits // 8}")
            for compression in (None, "lzw", "zlib", "packbits"):
                for pages in (1, 2):
                    path = folder("tiff") / "whole.tif"
                    with tifffile.TiffWriter(path) as writer:
                        for _ in range(pages):
                            writer.write(samples, photometric="rgb", compression=compression, rowsperstrip=20, metadata=None)
                    page = tifffile.TiffFile(path).pages[-1]
                    starts, counts = page.dataoffsets, page.databytecounts
                    last = len(starts) // 2
                    data = path.read_bytes()
                    # Its directory lies before its strips, or behind them: then nothing of the page can be read.
                    if page.offset > starts[last]:
                        continue
                    for behind in (0, 1, counts[last] - 1):
                        files[f"{bits} {compression} {pages} {behind}.tif"] = data[:starts[last] + behind]
        self.assertGreater(len(files), 15)
        reports = self.built(files, code=0)
        for name in files:
            with self.subTest(name):
                mine = [line for line in self.lines if Path(line["source"]).name == name]
                self.assertEqual([line.get("damage") for line in mine], [None] * (len(mine) - 1) + ["truncated"], mine)
                self.assertRegex(mine[-1]["reason"], "cut off")
        # What was built before stays.
        archives = {line["id"]: (self.library / f"{line['id']}.szi").read_bytes() for line in self.lines if "damage" in line}
        self.assertEqual(len(archives), len(files))
        # By two bytes: with one, some would have the content that others had, as renamed files have.
        for path in self.sources.iterdir():
            path.write_bytes(path.read_bytes()[:-2])
        self.again("--fail-on", "truncated", code=1)
        self.assertEqual({line["id"] for line in self.lines if line["status"] == "failed"}, set(archives))
        self.assertEqual({id: (self.library / f"{id}.szi").read_bytes() for id in archives}, archives)

    def test_what_is_damaged_and_cut_off_is_refused_as_truncated_too(self):
        """The worse damage must not hide that the file ends early."""
        chance = numpy.random.default_rng(7)
        files = {}
        for bits in (8, 16):
            path = folder("tiff") / "whole.tif"
            samples = chance.integers(0, 1 << bits, (HEIGHT, WIDTH, 3), f"u{bits // 8}")
            tifffile.imwrite(path, samples, photometric="rgb", compression="zlib", rowsperstrip=20, metadata=None)
            page = tifffile.TiffFile(path).pages[0]
            data = bytearray(path.read_bytes())
            # The checksum of the second strip.
            data[page.dataoffsets[1] + page.databytecounts[1] - 1] ^= 1
            files[f"{bits}.tif"] = bytes(data[:page.dataoffsets[7]])
        png = encoded("PNG", samples.astype(numpy.uint8))
        packed = b"".join(png[at + 8:at + 8 + length] for name, at, length in chunks(png) if name == b"IDAT")
        start = next(at for name, at, _ in chunks(png) if name == b"IDAT")
        half = len(packed) // 2
        files["a.png"] = png[:start] + chunk(b"IDAT", packed[:half], 7) + chunk(b"IDAT", packed[half:])[:half // 2]
        reports = self.built(files, code=1)
        for name in files:
            self.assertDamage(reports[name], "error")
        for level in ("truncated", "error", "warning"):
            reports = self.again("--force", "--fail-on", level, code=1)
            self.assertEqual({line["status"] for line in reports.values()}, {"failed"}, level)

    def test_tiff_without_its_end(self):
        rgb = picture()
        one = encoded("TIFF", rgb, tiffinfo={278: HEIGHT})
        # Pillow writes the directory first.
        self.assertLess(struct.unpack("<I", one[4:8])[0], 1000)
        several = encoded("TIFF", rgb, tiffinfo={278: 10})
        last = by_vips("tif[compression=deflate]")
        report = self.built({"one.tif": one[:-5 * 3 * WIDTH], "several.tif": several[:-25 * 3 * WIDTH], "last.tif": last[:-100]}, code=1)
        self.assertDamage(report["one.tif"], "truncated")
        self.assertDamage(report["several.tif"], "truncated")
        one, several = self.pixels(report["one.tif"]), self.pixels(report["several.tif"])
        self.assertTrue((one[:HEIGHT - 5] == rgb[:HEIGHT - 5]).all() and (one[HEIGHT - 5:] == 0).all())
        self.assertTrue((several[:190] == rgb[:190]).all() and (several[200:] == 0).all())
        self.assertEqual(report["last.tif"]["status"], "failed")
        self.assertIn("is cut off: its end, which describes the picture", report["last.tif"]["reason"])

    def test_other_formats_without_their_ends(self):
        rgb = picture()
        files = {"lossy.webp": encoded("WEBP"), "lossless.webp": encoded("WEBP", lossless=True),
                 "alpha.webp": encoded("WEBP", Image.fromarray(rgb).convert("RGBA"), lossless=True),
                 "frame.gif": encoded("GIF", Image.fromarray(rgb).quantize(64)), "x.jxl": by_vips("jxl"),
                 "tiles.jp2": by_vips("jp2[tile-width=64,tile-height=64]")}
        cut = {f"cut {name}": data[:len(data) * 9 // 10] for name, data in files.items()}
        report = self.built({**files, **cut}, code=0)
        for name in files:
            with self.subTest(name):
                self.assertDamage(report[name], None)
                self.assertDamage(report[f"cut {name}"], "truncated")
                whole, part = self.pixels(report[name]), self.pixels(report[f"cut {name}"])
                self.assertTrue((part[:100] == whole[:100]).all() or name == "x.jxl")
                self.assertLess(numpy.abs(part[:100].astype(int) - whole[:100]).mean(), 16)
                self.assertFalse((part == whole).all())

    def test_jpeg_2000_without_its_end(self):
        place = folder("made")
        (place / "in.png").write_bytes(encoded("PNG"))
        files = {}
        for ending in ("jp2", "j2k"):
            subprocess.run(["opj_compress", "-i", place / "in.png", "-o", place / f"whole.{ending}", "-r", "4"], check=True,
                           capture_output=True)
            whole = (place / f"whole.{ending}").read_bytes()
            files |= {f"whole.{ending}": whole, f"half.{ending}": whole[:len(whole) // 2], f"most.{ending}": whole[:-300]}
        report = self.built(files, code=0)
        for name, data in files.items():
            with self.subTest(name):
                self.assertDamage(report[name], None if name.startswith("whole") else "truncated")
                (place / name).write_bytes(data)
                subprocess.run(["opj_decompress", "-allow-partial", "-i", place / name, "-o", place / "out.png"], check=True,
                               capture_output=True)
                expected = numpy.array(Image.open(place / "out.png"))
                numpy.testing.assert_array_equal(self.pixels(report[name]), expected)

    def test_heif_without_its_end_is_refused_in_a_line_that_says_so(self):
        place = folder("made")
        (place / "in.png").write_bytes(encoded("PNG"))
        files = {}
        for name, more in (("a.heic", []), ("b.avif", ["-A"])):
            subprocess.run(["heif-enc", *more, place / "in.png", "-o", place / name], check=True, capture_output=True)
            data = (place / name).read_bytes()
            for part in (len(data) // 2, 100):
                files[f"{part} {name}"] = data[:part]
        report = self.built(files, code=1)
        for name in files:
            with self.subTest(name):
                self.assertEqual(report[name]["status"], "failed")
                kind = "HEIF" if name.endswith("heic") else "AVIF"
                self.assertRegex(report[name]["reason"], f"^the {kind} file is cut off: .*no part can be decoded")

    def test_what_has_no_pixels_left_is_refused(self):
        files = {"head.jpg": encoded("JPEG")[:700], "head.png": encoded("PNG")[:60], "head.webp": encoded("WEBP")[:60],
                 "start.avif": encoded("AVIF")[:-100]}
        report = self.built(files, code=1)
        for name in files:
            with self.subTest(name):
                self.assertEqual(report[name]["status"], "failed")
        self.assertEqual(archives(self.library), [])

    def test_fail_on(self):
        data = encoded("JPEG")
        files = {"whole.jpg": data, "truncated.jpg": data[:-2], "error.jpg": zeroed(data, 0.6),
                 "warning.png": encoded("PNG")[:33] + chunk(b"tEXt", b"a\0b", 1) + encoded("PNG")[33:]}
        kept = {"none": [*files], "truncated": ["error.jpg", "warning.png", "whole.jpg"], "error": ["warning.png", "whole.jpg"],
                "warning": ["whole.jpg"]}
        self.built({})
        for name, data in files.items():
            (self.sources / name).write_bytes(data)
        for level, names in kept.items():
            with self.subTest(level):
                self.library = folder("library")
                report = self.again("--fail-on", level, code=1)
                self.assertEqual(sorted(name for name, line in report.items() if line["status"] == "built"), sorted(names))
                self.assertEqual(sorted(path.stem for path in archives(self.library)),
                                 sorted(Path(name).stem for name in names))
        # What is there and would be refused now is refused, and stays.
        self.library = folder("library")
        self.again(code=1)
        report = self.again("--fail-on", "warning", code=1)
        self.assertEqual({name: line["status"] for name, line in report.items()},
                         {"whole.jpg": "unchanged", "truncated.jpg": "failed", "error.jpg": "failed", "warning.png": "failed"})
        self.assertEqual(len(archives(self.library)), 4)
        wrong = run("build", self.sources, "--library", self.library, "--fail-on", "damage")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("invalid value 'damage' for --fail-on (expected none, truncated, error or warning)", wrong.stderr)

    def test_later_builds_and_verify_report_the_damage(self):
        data = encoded("JPEG")
        self.built({"whole.jpg": data, "truncated.jpg": data[:-2], "error.jpg": zeroed(data, 0.6)}, code=1)
        report = self.again(code=1)
        self.assertEqual({name: (line["status"], line.get("damage")) for name, line in report.items()},
                         {"whole.jpg": ("unchanged", None), "truncated.jpg": ("unchanged", "truncated"),
                          "error.jpg": ("unchanged", "error")})
        self.assertIn("error.jpg: unchanged, but the JPEG file is damaged", self.result.stderr)
        self.again("--known-failures", "ignore", code=0)
        summary = run("build", self.sources, "--library", self.library, "--format", "png")
        self.assertIn("3 unchanged, 2 of damaged sources", summary.stderr)
        record = json.loads(zipfile.ZipFile(self.library / "error.szi").read("error/vendor/ziggurat/build.json"))
        self.assertEqual(record["damage"]["kind"], "error")
        verified = run("verify", self.library)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertEqual(verified.stdout, "")
        self.assertIn("error.szi: is whole, but shows damage of its source", verified.stderr)
        self.assertIn("3 archives read, no faults, 2 of damaged sources", verified.stderr)
        # A damaged archive is another matter.
        path = self.library / "error.szi"
        bytes_ = bytearray(path.read_bytes())
        bytes_[len(bytes_) // 3] ^= 0xFF
        path.write_bytes(bytes_)
        verified = run("verify", self.library, "--json")
        self.assertEqual(verified.returncode, 1)
        lines = [json.loads(line) for line in verified.stdout.splitlines()]
        self.assertEqual([Path(line["archive"]).name for line in lines if "fault" in line], ["error.szi"])
        self.assertEqual([Path(line["archive"]).name for line in lines if "sourceDamage" in line], ["truncated.szi"])

    def test_inspect_reports_it_of_archives(self):
        self.built({"a.jpg": encoded("JPEG")[:-2]}, code=0)
        facts = json.loads(run("inspect", self.library / "a.szi", "--json").stdout)
        self.assertEqual((facts["damaged"], facts["damage"]), (True, "truncated"))


ImageFile.LOAD_TRUNCATED_IMAGES = False

if __name__ == "__main__":
    unittest.main()
