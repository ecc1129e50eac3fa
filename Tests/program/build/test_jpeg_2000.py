"""JPEG 2000 files whose header libvips ignores: profiles, colour spaces, channels, depths and subsampling. The pixels are
those of LittleCMS (Pillow), OpenJPEG's opj_decompress and libvips' CMYK profile, or the file is refused by name."""

import io
import json
import struct
import subprocess
from pathlib import Path

import numpy
from harness import folder, run
from one_source import OneSource
from PIL import Image, ImageCms

WIDTH, HEIGHT = 61, 45
Y, X = numpy.mgrid[0:HEIGHT, 0:WIDTH]
COLOUR = numpy.stack([X * 4 % 256, Y * 5 % 256, (X + Y) * 2 % 256], -1).astype(numpy.uint8)
ALPHA = ((X * 4 + 3) % 256).astype(numpy.uint8)
FOUR = numpy.dstack([COLOUR, ALPHA])
GHOSTSCRIPT = Path("/usr/share/color/icc/ghostscript")


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", 8 + len(body)) + name + body


def enumerated(number: int) -> bytes:
    return box(b"colr", struct.pack(">BBBI", 1, 0, 0, number))


def profile(data: bytes, method: int = 2) -> bytes:
    return box(b"colr", bytes([method, 0, 0]) + data)


def channels(*entries: tuple[int, int, int]) -> bytes:
    """A channel definition box: numbers, types and associations (ITU-T T.800, I.5.3.6)."""
    return box(b"cdef", struct.pack(">H", len(entries)) + b"".join(struct.pack(">HHH", *entry) for entry in entries))


def codestream(pixels: numpy.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG2000", no_jp2=True, irreversible=False, mct=0)
    return out.getvalue()


def compressed(samples: bytes, form: str) -> bytes:
    """Samples of a form that Pillow does not write, as opj_compress names it."""
    place = folder("compressed")
    (place / "a.raw").write_bytes(samples)
    subprocess.run(["opj_compress", "-i", place / "a.raw", "-o", place / "a.j2k", "-F", form], check=True,
                   capture_output=True)
    return (place / "a.j2k").read_bytes()


def jp2(code: bytes, *boxes: bytes) -> bytes:
    height, width = struct.unpack(">I", code[12:16])[0], struct.unpack(">I", code[8:12])[0]
    count = struct.unpack(">H", code[40:42])[0]
    header = box(b"ihdr", struct.pack(">IIHBBBB", height, width, count, code[42], 7, 0, 0)) + b"".join(boxes)
    return (box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ") + box(b"jp2h", header) + box(b"jp2c", code))


def by_littlecms(pixels: numpy.ndarray, data: bytes) -> numpy.ndarray:
    return numpy.array(ImageCms.profileToProfile(
        Image.fromarray(pixels), ImageCms.ImageCmsProfile(io.BytesIO(data)), ImageCms.createProfile("sRGB"),
        outputMode="RGB"))


class JPEG2000Files(OneSource):
    def shown(self, data: bytes, *options) -> tuple[dict, numpy.ndarray]:
        self.source = folder("source") / "a.jp2"
        self.source.write_bytes(data)
        report, archive = self.built(self.source, "--format", "png", *options)
        return report, numpy.array(Image.open(io.BytesIO(self.tiles(archive)[0, 0])))

    def assertNear(self, found: numpy.ndarray, wanted: numpy.ndarray, distance: int):
        if found.ndim == 2 and wanted.ndim == 3:
            found = numpy.dstack([found] * 3)
        self.assertEqual(found.shape, wanted.shape)
        self.assertLessEqual(numpy.abs(found.astype(int) - wanted.astype(int)).max(), distance)

    def refusal(self, data: bytes) -> str:
        source = folder("source") / "a.jp2"
        source.write_bytes(data)
        return self.refused(source)

    def test_an_embedded_profile_is_applied(self):
        adobe, gray = (GHOSTSCRIPT / "a98.icc").read_bytes(), (GHOSTSCRIPT / "ps_gray.icc").read_bytes()
        large = adobe + bytes(1 << 17)
        large = struct.pack(">I", len(large)) + large[4:]
        for data, pixels, icc in ((jp2(codestream(COLOUR), profile(adobe)), COLOUR, adobe),
                                  (jp2(codestream(COLOUR), profile(large, 3)), COLOUR, adobe),
                                  (jp2(codestream(COLOUR[..., 0]), profile(gray)), COLOUR[..., 0], gray)):
            report, found = self.shown(data)
            self.assertNear(found, by_littlecms(pixels, icc), 2)
            self.assertTrue(any("by its embedded profile" in step for step in report["steps"]), report["steps"])
            facts = run("inspect", self.source, "--json")
            self.assertTrue(json.loads(facts.stdout)["profile"], facts.stdout)

    def test_the_first_colour_specification_counts(self):
        adobe = (GHOSTSCRIPT / "a98.icc").read_bytes()
        _, found = self.shown(jp2(codestream(COLOUR), enumerated(16), profile(adobe)))
        self.assertNear(found, COLOUR, 0)
        # One of an unknown method is ignored.
        _, found = self.shown(jp2(codestream(COLOUR), box(b"colr", b"\x05\0\0" + bytes(16)), profile(adobe)))
        self.assertNear(found, by_littlecms(COLOUR, adobe), 2)

    def test_a_damaged_file_keeps_its_profile(self):
        adobe = (GHOSTSCRIPT / "a98.icc").read_bytes()
        data = jp2(codestream(COLOUR), profile(adobe))
        report, found = self.shown(data[:-2])
        self.assertNear(found, by_littlecms(COLOUR, adobe), 2)

    def test_cmyk(self):
        place = folder("cmyk")
        Image.fromarray(FOUR, "CMYK").save(place / "a.tif")
        subprocess.run(["vips", "icc_transform", place / "a.tif", place / "a.png", "srgb", "--input-profile", "cmyk",
                        "--intent", "relative", "--black-point-compensation"], check=True)
        report, found = self.shown(jp2(codestream(FOUR), enumerated(12)))
        self.assertNear(found, numpy.array(Image.open(place / "a.png"))[..., :3], 1)
        self.assertTrue(any("converted from cmyk" in step for step in report["steps"]), report["steps"])
        ink = numpy.zeros((HEIGHT, WIDTH, 4), numpy.uint8)
        ink[:, 30:, 3] = 255
        _, found = self.shown(jp2(codestream(ink), enumerated(12)))
        self.assertTrue((found[:, :30] == 255).all())
        self.assertLess(found[:, 30:].max(), 60)

    def test_fewer_than_8_bits(self):
        for bits in range(1, 8):
            white = (1 << bits) - 1
            gray = ((X // 3 + Y // 5) % (white + 1)).astype(numpy.uint8)
            # The precision in the header decides the shift to values without a sign (ITU-T T.800, G.1.2), and no more.
            code = bytearray(codestream(gray + numpy.uint8(128 - (1 << bits - 1))))
            code[42] = bits - 1
            for data in (jp2(bytes(code), enumerated(17)), bytes(code)):
                _, found = self.shown(data)
                self.assertNear(found, (gray * (255.0 / white)).round(), 1)

    def test_sycc_with_subsampled_chroma(self):
        for width in (60, 61):
            for steps, down in (("2x1", 1), ("2x2", 2)):
                luma = numpy.broadcast_to(numpy.arange(width) * 4, (HEIGHT, width)).astype(numpy.uint8)
                columns, rows = (width + 1) // 2, -(-HEIGHT // down)
                blue = numpy.broadcast_to(100 + numpy.arange(columns), (rows, columns)).astype(numpy.uint8)
                red = numpy.broadcast_to(150 - numpy.arange(rows)[:, None], (rows, columns)).astype(numpy.uint8)
                code = compressed(luma.tobytes() + blue.tobytes() + red.tobytes(),
                                  f"{width},{HEIGHT},3,8,u@1x1:{steps}:{steps}")
                place = folder("sycc")
                (place / "a.jp2").write_bytes(jp2(code, enumerated(18)))
                subprocess.run(["opj_decompress", "-i", place / "a.jp2", "-o", place / "a.png"], check=True,
                               capture_output=True)
                _, found = self.shown((place / "a.jp2").read_bytes())
                self.assertNear(found, numpy.array(Image.open(place / "a.png")), 2)

    def test_romm_rgb(self):
        # ISO 22028-2: a power of 1.8, D50 and its primaries; adapted to D65 by Bradford's method.
        light = numpy.where(COLOUR / 255 < 1 / 32, COLOUR / 255 / 16, (COLOUR / 255) ** 1.8)
        to_srgb = numpy.array([[2.0341926, -0.7274198, -0.3067655], [-0.2288108, 1.2317292, -0.0029216],
                               [-0.0085649, -0.1532726, 1.1618390]])
        linear = (light @ to_srgb.T).clip(0, 1)
        wanted = 255 * numpy.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
        report, found = self.shown(jp2(codestream(COLOUR), enumerated(21)))
        self.assertNear(found, wanted.round(), 3)
        self.assertTrue(any("ROMM RGB" in step for step in report["steps"]), report["steps"])

    def test_other_colour_spaces_are_refused_by_name(self):
        lab = bytearray((GHOSTSCRIPT / "a98.icc").read_bytes())
        lab[16:20] = b"Lab "
        for boxes, name in ((enumerated(14), "CIELab"), (enumerated(24), "e-sYCC"), (enumerated(20), "e-sRGB"),
                            (enumerated(99), "colour space 99"),
                            (profile(bytes(lab), 3), "Lab, as its profile says")):
            line = self.refusal(jp2(codestream(COLOUR), boxes))
            self.assertRegex(line, rf"is JPEG 2000 with colours in {name}, which is not read here: .*opj_decompress")

    def test_only_a_declared_channel_is_alpha(self):
        colours = [(0, 0, 1), (1, 0, 2), (2, 0, 3)]
        report, found = self.shown(jp2(codestream(FOUR), enumerated(16), channels(*colours, (3, 65535, 65535))))
        self.assertNear(found, COLOUR, 0)
        self.assertEqual(report["dropped"], ["1 channel without a colour"])
        _, found = self.shown(jp2(codestream(FOUR), enumerated(16), channels(*colours, (3, 1, 0))))
        self.assertNear(found, FOUR, 0)
        # OpenJPEG exchanges channels until each colour is at its place.
        mixed = codestream(numpy.ascontiguousarray(FOUR[..., [3, 2, 1, 0]]))
        _, found = self.shown(jp2(mixed, enumerated(16), channels((0, 1, 0), (1, 0, 3), (2, 0, 2), (3, 0, 1))))
        self.assertNear(found, FOUR, 0)
        _, found = self.shown(jp2(mixed, enumerated(16), channels((0, 65535, 65535), (1, 0, 3), (2, 0, 2), (3, 0, 1))))
        self.assertNear(found, COLOUR, 0)
        pair = codestream(numpy.dstack([COLOUR[..., 0], ALPHA]))
        _, found = self.shown(jp2(pair, enumerated(17), channels((0, 0, 1), (1, 65535, 65535))))
        self.assertNear(found, COLOUR[..., 0], 0)
