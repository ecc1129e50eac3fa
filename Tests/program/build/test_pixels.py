"""What a source's pixels are, where that is to be decided: PDF and SVG that are drawn, samples of 16 bits, many bands."""

import io
import json
import struct
import unittest
import zipfile
import zlib
from pathlib import Path

import imagecodecs
import numpy
import tifffile
from harness import CommandTest, folder, run
from pdf import pictured_pdf
from PIL import Image, ImageCms


def tiff(path: Path, pixels: numpy.ndarray, photometric: int = 1, description: str = "") -> Path:
    """A TIFF of one strip: rows, columns and, where there is more than one, bands of any integer or float type."""
    rows, columns = pixels.shape[:2]
    bands = pixels.shape[2] if pixels.ndim == 3 else 1
    kind = {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]
    bits = pixels.dtype.itemsize * 8
    data = pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
    extra = bands - (3 if photometric == 2 else 1)
    tags = [(256, 4, [columns]), (257, 4, [rows]), (258, 3, [bits] * bands), (259, 3, [1]), (262, 3, [photometric]),
            (273, 4, [8]), (277, 3, [bands]), (278, 4, [rows]), (279, 4, [len(data)]), (284, 3, [1])]
    tags += [(338, 3, [0] * extra)] if extra else []
    tags += [(339, 3, [kind] * bands)]
    if description:
        tags.append((270, 2, [*description.encode(), 0]))
    tags.sort()
    after = 8 + len(data) + 2 + 12 * len(tags) + 4
    entries, tail = b"", b""
    for tag, size, values in tags:
        packed = b"".join(struct.pack({2: "<B", 3: "<H", 4: "<I"}[size], value) for value in values)
        if len(packed) > 4:
            value = struct.pack("<I", after + len(tail))
            tail += packed
        else:
            value = packed.ljust(4, b"\0")
        entries += struct.pack("<HHI", tag, size, len(values)) + value
    path.write_bytes(b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + entries
                     + bytes(4) + tail)
    return path


def jpeg(width: int, height: int) -> bytes:
    """Black and white columns of one pixel each: no drawing but one pixel for a pixel keeps them."""
    pixels = numpy.zeros((height, width, 3), numpy.uint8)
    pixels[:, ::2] = 255
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    return out.getvalue()


TEXT = "BT /F 24 Tf 40 40 Td (Words) Tj ET"


class Pixels(CommandTest):
    def built(self, source: Path, *options) -> tuple[dict, Path]:
        """The build's report of its one image, and the archive."""
        library = folder("library")
        result = run("build", source, "--library", library, "--json", "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout.splitlines()[0])
        return report, library / f"{report['id']}.szi"

    def pixels(self, archive: Path) -> numpy.ndarray:
        """The first tile of full resolution."""
        with zipfile.ZipFile(archive) as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))))

    def refused(self, source: Path, *options) -> str:
        result = run("build", source, "--library", folder("library"), "--quiet", *options)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr


class Drawn(Pixels):
    def size(self, report: dict) -> tuple[int, int]:
        return report["width"], report["height"]

    def test_a_scan_has_its_own_pixels(self):
        page = (210 / 25.4 * 72, 297 / 25.4 * 72)
        place = folder("scan") / "scan.pdf"
        for width, height in ((1240, 1754), (2480, 3508), (827, 1169)):
            cover = f"q {page[0]} 0 0 {page[1]} 0 0 cm /I0 Do Q"
            report, archive = self.built(pictured_pdf(place, [(page, cover, [jpeg(width, height)])]), "--format", "png")
            self.assertLessEqual(abs(report["width"] - width), 1)
            self.assertLessEqual(abs(report["height"] - height), 1)
            self.assertRegex(report["steps"][0], r"^drawn at \d+(\.\d)? dpi, its picture's own$")
            # The picture's own columns, not blended with their neighbours.
            row = self.pixels(archive)[100, :200].reshape(200, -1)[:, 0].astype(int)
            self.assertGreater(numpy.abs(numpy.diff(row)).mean(), 200)

    def test_a_scan_that_fills_its_page_keeps_its_size_and_every_pixel(self):
        # As programs write that make a page as large as the scan: 300, 144 and 200 dpi.
        for size, dpi in (((2480, 3508), 300), ((1111, 777), 144), ((641, 1203), 200)):
            page = tuple(side * 72 / dpi for side in size)
            picture = jpeg(*size)
            report, archive = self.built(pictured_pdf(folder("scan") / "scan.pdf", [
                (page, f"q {page[0]:f} 0 0 {page[1]:f} 0 0 cm /I0 Do Q", [picture])]), "--format", "png")
            self.assertEqual((self.size(report), report["steps"][0]), (size, f"drawn at {dpi}.0 dpi, its picture's own"))
            drawn, source = self.pixels(archive)[..., :3], numpy.array(Image.open(io.BytesIO(picture)))
            rows, columns = drawn.shape[:2]
            self.assertLess(numpy.abs(drawn.astype(int) - source[:rows, :columns]).mean(), 3)

    def test_a_rotated_scan_and_one_under_recognized_text(self):
        page, place = (595, 842), folder("scan") / "scan.pdf"
        for cover, more, picture, wanted in (
                # The page is turned as it is shown.
                ("q 595 0 0 842 0 0 cm /I0 Do Q", "/Rotate 90", (1654, 2339), (2339, 1654)),
                # The picture is turned on the page.
                ("q 0 842 -595 0 595 0 cm /I0 Do Q", "", (2339, 1654), (1654, 2339)),
                # Invisible text, as text recognition lays it over a scan.
                ("q 595 0 0 842 0 0 cm /I0 Do Q BT 3 Tr /F 24 Tf 40 40 Td (Words) Tj ET", "", (1654, 2339), (1654, 2339)),
                # With margins.
                ("q 555 0 0 802 20 20 cm /I0 Do Q", "", (1131, 1600), (1213, 1716))):
            with self.subTest(cover + more):
                report, _ = self.built(pictured_pdf(place, [(page, f"{cover}|{more}", [jpeg(*picture)])]))
                for side, want in zip(self.size(report), wanted):
                    self.assertLess(abs(side - want) / want, 0.01, (self.size(report), wanted))

    def test_what_is_no_scan_is_drawn_at_300(self):
        page, place = (72 * 4, 72 * 5), folder("words") / "words.pdf"
        for operators, pictures in (
                (TEXT, []),
                # A small picture, and a coarse background.
                (f"{TEXT} q 100 0 0 100 90 200 cm /I0 Do Q", [jpeg(1000, 1000)]),
                (f"q 288 0 0 360 0 0 cm /I0 Do Q {TEXT}", [jpeg(288, 360)])):
            report, _ = self.built(pictured_pdf(place, [(page, operators, pictures)]))
            self.assertEqual((self.size(report), report["steps"][0]), ((1200, 1500), "drawn at 300 dpi"))
        report, _ = self.built(place, "--dpi", 100)
        self.assertEqual((self.size(report), report["steps"][0]), ((400, 500), "drawn at 100 dpi"))
        report, _ = self.built(place, "--dpi", "auto")
        self.assertEqual(self.size(report), (1200, 1500))

    def test_each_page_has_its_own_resolution(self):
        page = (300, 400)
        cover = "q 300 0 0 400 0 0 cm /I0 Do Q"
        source = pictured_pdf(folder("pages") / "pages.pdf", [
            (page, cover, [jpeg(600, 800)]), (page, cover, [jpeg(900, 1200)]), (page, TEXT, [])])
        library = folder("library")
        result = run("build", source, "--library", library, "--json", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = {line["id"]: self.size(line) for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(report, {"pages/1": (600, 800), "pages/2": (900, 1200), "pages/3": (1250, 1667)})
        inspected = json.loads(run("inspect", source, "--json").stdout)
        self.assertEqual((inspected["width"], inspected["height"]), (600, 800))
        self.assertIn("drawn at 144.0 dpi, its picture's own", inspected["steps"])
        self.assertIn("unchanged", run("build", source, "--library", library).stderr)

    def test_svg_is_drawn_as_large_as_asked(self):
        source = folder("svg") / "plan.svg"
        source.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">'
                          '<path d="M0 0h200v100z" fill="navy"/></svg>')
        for options, size in (((), (200, 100)), (("--dpi", 144), (300, 150))):
            report, _ = self.built(source, *options)
            self.assertEqual(self.size(report), size)
        self.assertIn("drawn at 144 dpi", report["steps"])
        self.assertRegex(run("inspect", source).stdout, r"format +svg\n")
        self.assertUsageError(run("build", source, "--library", "x", "--dpi", 0), "--dpi")


class Samples(Pixels):
    def ramp(self, kind: type, low: int, high: int, bands: int = 1) -> numpy.ndarray:
        values = numpy.linspace(low, high, 256 * 200).round().astype(kind).reshape(200, 256)
        return values if bands == 1 else numpy.stack([values] * bands, axis=2)

    def levels(self, source: Path, *options) -> tuple[numpy.ndarray, list[str]]:
        report, archive = self.built(source, "--format", "png", *options)
        return numpy.unique(numpy.atleast_3d(self.pixels(archive))[..., 0]), report["steps"]

    def test_cameras_of_10_12_and_14_bits_are_seen(self):
        place = folder("depth")
        for bits in (9, 10, 12, 14, 15):
            for bands in (1, 3):
                pixels = self.ramp(numpy.uint16, 0, (1 << bits) - 1, bands)
                found, steps = self.levels(tiff(place / "camera.tif", pixels, 2 if bands == 3 else 1))
                self.assertGreaterEqual(len(found), 250, (bits, bands))
                self.assertEqual((found[0], found[-1]), (0, 255))
                self.assertIn(f"values from 0 to {(1 << bits) - 1} spread from black to white", steps)

    def test_one_value_in_the_upper_half_and_nothing_is_moved(self):
        pixels = self.ramp(numpy.uint16, 0, 4095)
        pixels[-1, -1] = 40_000
        found, steps = self.levels(tiff(folder("depth") / "full.tif", pixels))
        self.assertEqual(found[:-1].tolist(), [*range(17)])
        self.assertIn(found[-1], (155, 156))
        self.assertFalse([step for step in steps if "spread" in step])

    def test_the_window_that_was_asked_for(self):
        source = tiff(folder("depth") / "window.tif", self.ramp(numpy.uint16, 0, 4095))
        found, _ = self.levels(source, "--window", "full")
        self.assertEqual(found.tolist(), list(range(17)))
        found, steps = self.levels(source, "--window", "1000,2000")
        self.assertEqual(len(found), 256)
        self.assertIn("values from 1000 to 2000 spread from black to white", steps)
        report, archive = self.built(source, "--format", "png", "--window", "1000,2000")
        shown = self.pixels(archive).astype(float)
        exact = numpy.clip((self.ramp(numpy.uint16, 0, 4095).astype(float) - 1000) / 1000, 0, 1) * 255
        self.assertLessEqual(numpy.abs(shown - exact).max(), 1)
        full = tiff(folder("depth") / "wide.tif", self.ramp(numpy.uint16, 20_000, 60_000))
        self.assertEqual(len(self.levels(full, "--window", "auto")[0]), 256)
        for wrong in ("bogus", "5", "5,5", "6,5", "1,2,3", "nan,1", ""):
            self.assertUsageError(run("build", source, "--library", "x", "--window", wrong), "--window")

    def test_signed_and_longer_integers(self):
        place = folder("signed")
        for kind, low, high, report in (
                (numpy.int8, -128, 127, "-128 to 127"), (numpy.int8, -20, 20, "-20 to 20"),
                (numpy.int16, 0, 3000, "0 to 3000"), (numpy.int16, -30_000, 30_000, "-32768 to 32767"),
                (numpy.uint32, 0, 100_000, "0 to 100000")):
            with self.subTest(kind=kind, high=high):
                found, steps = self.levels(tiff(place / "a.tif", self.ramp(kind, low, high)))
                self.assertGreater(len(found), min(200, high - low - 1))
                self.assertIn(f"values from {report} spread from black to white", steps)

    def test_windows_of_linear_light_and_of_inverted_gray(self):
        place = folder("windows")
        values = self.ramp(numpy.float32, 0, 5000, 3)
        shares = numpy.clip((values - 1000) / 3000, 0, 1)
        # sRGB's transfer function, IEC 61966-2-1.
        exact = numpy.where(shares <= 0.0031308, 12.92 * shares, 1.055 * shares ** (1 / 2.4) - 0.055) * 255
        report, archive = self.built(tiff(place / "light.tif", values, 2), "--format", "png", "--window", "1000,4000")
        self.assertLessEqual(numpy.abs(self.pixels(archive).astype(float) - exact).max(), 1.01)
        self.assertIn("values from 1000 to 4000 spread from black to white", report["steps"])
        self.assertFalse([step for step in report["steps"] if "above 1" in step])
        # White is the least value: the file's own numbers are the window's. Percentiles of 32 bits are exact to 24 bits.
        for kind, factor, windows in ((numpy.uint16, 1, ("1000,4000", "p20,p80")), (numpy.int16, 1, ("1000,4000", "p20,p80")),
                                      (numpy.uint32, 1, ("1000,4000",)), (numpy.uint32, 1 << 18, ("262144000,1048576000", "p20,p80"))):
            for window in windows:
                with self.subTest(kind=kind, window=window):
                    values = self.ramp(kind, 0, 5000 * factor)
                    exact = numpy.clip((4000 * factor - values.astype(float)) / 3000 / factor, 0, 1) * 255
                    report, archive = self.built(tiff(place / "inverted.tif", values, 0), "--format", "png", "--window", window)
                    self.assertLessEqual(numpy.abs(self.pixels(archive).astype(float) - exact).max(), 1.01)
                    if window[0] != "p":
                        low, high = window.split(",")
                        self.assertIn(f"values from {high} to {low} spread from black to white", report["steps"])

    def test_bands_of_floats(self):
        place = folder("floats")
        shares = numpy.stack([self.ramp(numpy.float64, 0, 255), 255 - self.ramp(numpy.float64, 0, 255)] * 2 +
                             [self.ramp(numpy.float64, 0, 255)], axis=2)
        for kind in (numpy.float16, numpy.float32, numpy.float64):
            for white in (1, 255, 5100):
                with self.subTest(kind=kind, white=white):
                    source = tiff(place / "five.tif", (shares * white / 255).astype(kind))
                    for chosen in ("3,2,1", "2"):
                        _, archive = self.built(source, "--format", "png", "--bands", chosen)
                        shown = numpy.atleast_3d(self.pixels(archive)).astype(float)
                        exact = shares[..., [int(band) - 1 for band in chosen.split(",")]]
                        self.assertLessEqual(numpy.abs(shown[..., :exact.shape[2]] - exact).max(), 1.2)

    def test_a_dark_picture_stays_dark_where_the_file_states_what_is_white(self):
        place = folder("dark")
        shares = self.ramp(numpy.float64, 0, 255, 3) / 255 * 0.45
        whole = (shares * 65535).round().astype(">u2")

        def chunk(name: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        rows = b"".join(b"\0" + row.tobytes() for row in whole)
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 256, 200, 16, 2, 0, 0, 0))
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        for name, colours in (("srgb", chunk(b"sRGB", b"\0")), ("cicp", chunk(b"cICP", bytes([1, 13, 0, 1]))),
                              ("icc", chunk(b"iCCP", b"p\0\0" + zlib.compress(profile)))):
            (place / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + header + colours + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        tifffile.imwrite(place / "icc.tif", whole.astype("<u2"), photometric="rgb", iccprofile=profile)
        (place / "ten.avif").write_bytes(imagecodecs.avif_encode(
            (shares * 1023).round().astype(numpy.uint16), level=100, bitspersample=10, pixelformat="444", primaries=1, transfer=13, matrix=1))
        bits = numpy.unpackbits((shares * 4095).round().astype(">u2").view(numpy.uint8).reshape(200, 256 * 3, 2), axis=2)[:, :, 4:]
        packed = numpy.packbits(bits.reshape(200, -1), axis=1).tobytes()
        tags = [(256, 4, 256), (257, 4, 200), (259, 3, 1), (262, 3, 2), (277, 3, 3), (278, 4, 200), (279, 4, len(packed))]
        entries = sorted([(tag, struct.pack("<HHII", tag, kind, 1, value)) for tag, kind, value in tags]
                         + [(258, struct.pack("<HHII", 258, 3, 3, 8)), (273, struct.pack("<HHII", 273, 4, 1, 14))])
        (place / "twelve.tif").write_bytes(b"II*\0" + struct.pack("<I", 14 + len(packed)) + struct.pack("<HHH", 12, 12, 12) + packed
                                           + struct.pack("<H", len(entries)) + b"".join(entry for _, entry in entries) + bytes(4))
        for source in sorted(place.iterdir()):
            with self.subTest(source.name):
                _, archive = self.built(source, "--format", "png")
                shown = self.pixels(archive).astype(float)
                self.assertLessEqual(numpy.abs(shown - shares * 255).max(), 3 if source.suffix == ".avif" else 1.1)

    def test_alpha_stays_what_it_is(self):
        pixels = self.ramp(numpy.uint16, 0, 4095, 4)
        pixels[..., 3] = 65535
        pixels[0, 0, 3] = 0
        path = folder("alpha") / "alpha.tif"
        data = bytearray(tiff(path, pixels, 2).read_bytes())
        # The fourth band is alpha (ExtraSamples 2).
        at = data.index(struct.pack("<HHI", 338, 3, 1))
        data[at + 8] = 2
        path.write_bytes(data)
        _, archive = self.built(path, "--format", "png")
        shown = self.pixels(archive)
        self.assertEqual((shown[0, 0, 3], shown[0, 1, 3], shown[-1, -1].tolist()), (0, 255, [255] * 4))


class Scale(Pixels):
    def test_a_microscope_says_how_large_a_pixel_is(self):
        source = tiff(folder("scale") / "cells.ome.tif", numpy.zeros((50, 60), numpy.uint8), description=(
            '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
            '<Pixels ID="Pixels:0" SizeX="60" SizeY="50" PhysicalSizeX="325" PhysicalSizeXUnit="nm" PhysicalSizeY="0.5" '
            'Type="uint8"><Channel/></Pixels></Image></OME>'))
        _, archive = self.built(source)
        self.assertEqual(json.loads(run("inspect", archive, "--json").stdout)["micronsPerPixel"], [0.325, 0.5])

    def test_sizes_that_no_number_holds_are_no_scale(self):
        # Beyond the largest double when rounded, and 0 when rounded.
        for size in ("1e305", "1e308", "1e-9", "5e-324"):
            source = tiff(folder("scale") / "cells.ome.tif", numpy.zeros((50, 60), numpy.uint8), description=(
                '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
                f'<Pixels ID="Pixels:0" SizeX="60" SizeY="50" PhysicalSizeX="{size}" PhysicalSizeY="{size}" '
                'Type="uint8"><Channel/></Pixels></Image></OME>'))
            with self.subTest(size):
                _, archive = self.built(source)
                for path in (source, archive):
                    result = run("inspect", path, "--json")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertFalse(json.loads(result.stdout).get("micronsPerPixel"))


class Bands(Pixels):
    def test_more_bands_than_a_picture_has_are_refused_and_chosen(self):
        pixels = numpy.stack([numpy.full((60, 80), 30 * band, numpy.uint8) for band in range(1, 7)], axis=2)
        source = tiff(folder("bands") / "six.tif", pixels)
        self.assertIn("has 6 bands", self.refused(source))
        self.assertIn("--bands", self.refused(source))
        for bands, wanted in (("4,2,6", [120, 60, 180]), ("1,1,1", [30, 30, 30])):
            report, archive = self.built(source, "--format", "png", "--bands", bands)
            self.assertEqual(self.pixels(archive)[5, 5].tolist(), wanted)
            self.assertIn(f"bands {bands.replace(',', ', ')} taken", report["steps"])
        _, archive = self.built(source, "--format", "png", "--bands", 5)
        self.assertEqual(self.pixels(archive)[5, 5], 150)
        self.assertIn("no band 7", self.refused(source, "--bands", "1,2,7"))
        for wrong in ("1,2", "0", "a", "1,2,3,4", ""):
            self.assertUsageError(run("build", source, "--library", "x", "--bands", wrong), "--bands")

    def test_bands_of_16_bits_and_of_a_photograph(self):
        base = folder("bands")
        deep = numpy.stack([numpy.full((60, 80), 1000 * band, numpy.uint16) for band in range(1, 9)], axis=2)
        _, archive = self.built(tiff(base / "eight.tif", deep), "--format", "png", "--bands", "8,1,4", "--window", "0,8000")
        shown = self.pixels(archive)[5, 5].astype(int)
        self.assertLessEqual(numpy.abs(shown - [255, 32, 128]).max(), 1)
        Image.fromarray(numpy.full((20, 20, 3), (10, 20, 30), numpy.uint8)).save(base / "photo.png")
        _, archive = self.built(base / "photo.png", "--format", "png", "--bands", "3,2,1")
        self.assertEqual(self.pixels(archive)[0, 0].tolist(), [30, 20, 10])


if __name__ == "__main__":
    unittest.main()
