"""What the samples of a TIFF mean by its tags: parts that the file does not hold, extra samples, colours that are not RGB.

The files are written here, so that their samples are known; conversions are Pillow's, whose libtiff is another one.
"""

import io
import json
import struct
import unittest
import zipfile
import zlib
from pathlib import Path

import imagecodecs
import numpy
from harness import CommandTest, folder, run
from PIL import Image

NONE, OLD_JPEG, JPEG, DEFLATE, PACKBITS = 1, 6, 7, 8, 32773
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, CMYK, YCBCR, CIELAB, ICCLAB = 0, 1, 2, 3, 5, 6, 8, 9


def file(units: list[bytes | None], tags: dict, places: int = 273, counts: dict | None = None) -> bytes:
    """A TIFF of one image. `tags` are numbers, each with its type and values; None is a unit that the file does not hold.

    `counts` replaces byte counts."""
    data, offsets, sizes = b"II*\0\0\0\0\0", [], []
    for index, unit in enumerate(units):
        offsets.append(len(data) if unit is not None else 0)
        sizes.append((counts or {}).get(index, len(unit or b"")))
        data += unit or b""
        data += bytes(len(data) % 2)
    tags = {**tags, places: (4, offsets), {273: 279, 324: 325}[places]: (4, sizes)}
    after = len(data) + 2 + 12 * len(tags) + 4
    entries, tail = b"", b""
    for tag, (kind, values) in sorted(tags.items()):
        if kind == 5:
            packed = b"".join(struct.pack("<II", *value) for value in values)
        else:
            packed = b"".join(struct.pack({1: "<B", 2: "<B", 3: "<H", 4: "<I", 7: "<B"}[kind], value) for value in values)
        if len(packed) > 4:
            value = struct.pack("<I", after + len(tail))
            tail += packed + bytes(len(packed) % 2)
        else:
            value = packed.ljust(4, b"\0")
        entries += struct.pack("<HHI", tag, kind, len(values)) + value
    start = struct.pack("<I", len(data))
    return data[:4] + start + data[8:] + struct.pack("<H", len(tags)) + entries + bytes(4) + tail


def packbits(data: bytes) -> bytes:
    return b"".join(bytes([len(part) - 1]) + part for part in (data[i:i + 128] for i in range(0, len(data), 128)))


def compressed(data: bytes, compression: int) -> bytes:
    return {NONE: lambda: data, DEFLATE: lambda: zlib.compress(data), PACKBITS: lambda: packbits(data)}[compression]()


def jpeg(pixels: numpy.ndarray, **options) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def tags(pixels: numpy.ndarray, photometric: int, compression: int = NONE, extra: list[int] | None = None) -> dict:
    rows, columns, bands = pixels.shape
    kind = {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]
    found = {256: (4, [columns]), 257: (4, [rows]), 258: (3, [pixels.dtype.itemsize * 8] * bands),
             259: (3, [compression]), 262: (3, [photometric]), 277: (3, [bands]), 284: (3, [1]), 339: (3, [kind] * bands)}
    return {**found, 338: (3, extra)} if extra else found


def strips(pixels: numpy.ndarray, photometric: int, *, rows: int = 0, compression: int = NONE, missing=(), extra=None,
           more: dict | None = None, is_separate: bool = False, counts: dict | None = None) -> bytes:
    """Strips of so many rows."""
    rows = rows or len(pixels)
    planes = [pixels[..., band:band + 1] for band in range(pixels.shape[2])] if is_separate else [pixels]
    parts = [plane[y:y + rows] for plane in planes for y in range(0, len(pixels), rows)]
    encode = jpeg if compression == JPEG else lambda part: compressed(part.tobytes(), compression)
    units = [None if index in missing else encode(numpy.ascontiguousarray(part)) for index, part in enumerate(parts)]
    fields = {**tags(pixels, photometric, compression, extra), 278: (4, [rows]), 284: (3, [2 if is_separate else 1])}
    return file(units, {**fields, **(more or {})}, counts=counts)


def tiles(pixels: numpy.ndarray, photometric: int, side: int, *, compression: int = NONE, missing=(), more=None) -> bytes:
    high, wide = -len(pixels) % side, -pixels.shape[1] % side
    padded = numpy.pad(pixels, ((0, high), (0, wide), (0, 0)))
    parts = [padded[y:y + side, x:x + side] for y in range(0, len(padded), side) for x in range(0, padded.shape[1], side)]
    encode = jpeg if compression == JPEG else lambda part: compressed(part.tobytes(), compression)
    units = [None if index in missing else encode(numpy.ascontiguousarray(part)) for index, part in enumerate(parts)]
    fields = {**tags(pixels, photometric, compression), 322: (4, [side]), 323: (4, [side])}
    return file(units, {**fields, **(more or {})}, places=324)


def gradient(rows: int, columns: int, bands: int, kind=numpy.uint8, low: int = 40) -> numpy.ndarray:
    """No value is 0 where `low` is not, so that missing samples can be recognized."""
    y, x = numpy.mgrid[0:rows, 0:columns]
    return numpy.stack([low + (x * (band + 1) + y * (5 - band)) % 200 for band in range(bands)], -1).astype(kind)


def without(pixels: numpy.ndarray, missing, side: int | None = None, rows: int | None = None) -> numpy.ndarray:
    """The same with 0 in the parts of those numbers."""
    pixels = pixels.copy()
    columns = 1 if side is None else -(-pixels.shape[1] // side)
    height, width = side or rows, side or pixels.shape[1]
    for index in missing:
        top, left = index // columns * height, index % columns * width
        pixels[top:top + height, left:left + width] = 0
    return pixels


class Samples(CommandTest):
    def built(self, sources: dict[str, bytes], *options) -> dict[str, tuple[dict, numpy.ndarray]]:
        """What the build reports of each file, and the pixels of its first tile of full resolution."""
        place, library = folder("sources"), folder("library")
        for name, data in sources.items():
            (place / f"{name}.tif").write_bytes(data)
        result = run("build", place, "--library", library, "--json", "--quiet",
                     *([] if "--format" in options else ["--format", "png"]), *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        return {report["id"]: (report, self.pixels(library / f"{report['id']}.szi")) for report in reports if "steps" in report}

    def pixels(self, archive: Path) -> numpy.ndarray:
        with zipfile.ZipFile(archive) as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            pixels = numpy.array(Image.open(io.BytesIO(szi.read(top))))
            return pixels if pixels.ndim == 3 else pixels[..., None]

    def check(self, cases: dict[str, tuple[bytes, numpy.ndarray]], within: int = 0, *options) -> dict:
        found = self.built({name: data for name, (data, _) in cases.items()}, *options)
        self.assertEqual(set(found), set(cases))
        for name, (_, wanted) in cases.items():
            with self.subTest(name):
                pixels = found[name][1]
                if pixels.shape[2] == 1 and wanted.shape[2] == 3:
                    pixels = numpy.repeat(pixels, 3, axis=2)
                self.assertEqual(pixels.shape, wanted.shape)
                self.assertLessEqual(int(numpy.abs(pixels.astype(int) - wanted.astype(int)).max()), within)
        return {name: report for name, (report, _) in found.items()}


class Sparse(Samples):
    def test_what_a_file_does_not_hold_is_0(self):
        rgb, gray = gradient(150, 170, 3), gradient(150, 170, 1)
        gray16 = gradient(150, 170, 1, numpy.uint16) * 257
        cases = {}
        for compression in (NONE, DEFLATE, PACKBITS):
            for missing in ((3,), (0, 2), (0, 1, 2, 3)):
                name = f"{compression}-{''.join(map(str, missing))}"
                cases[f"strips-{name}"] = (strips(rgb, RGB, rows=40, compression=compression, missing=missing),
                                           without(rgb, missing, rows=40))
                cases[f"tiles-{name}"] = (tiles(rgb, RGB, 96, compression=compression, missing=missing),
                                          without(rgb, missing, side=96))
                cases[f"wide-{name}"] = (strips(gray16, BLACK_IS_ZERO, rows=40, compression=compression, missing=missing),
                                         without(gray, missing, rows=40))
        every = (1, 5, 9)
        cases["planes"] = (strips(rgb, RGB, rows=40, missing=every, is_separate=True), without(rgb, (1,), rows=40))
        reports = self.check(cases)
        self.assertIn("2 of 4 strips are not stored: their samples are 0", reports["strips-1-02"]["steps"])
        self.assertIn("2 of 4 tiles are not stored: their samples are 0", reports["tiles-8-02"]["steps"])

    def test_jpeg_tiles_that_are_missing_are_black(self):
        picture = gradient(200, 250, 3)
        more = {530: (3, [2, 2])}
        sources = {name: tiles(picture, YCBCR, side, compression=JPEG, missing=missing, more=more)
                   for name, side, missing in (("first", 128, (0,)), ("all", 128, (0, 1, 2, 3)), ("small", 64, (5, 15)))}
        for fidelity in ("exact", "fast", "lossless", "auto"):
            for name, (_, pixels) in self.built(sources, "--fidelity", fidelity, "--format", "jpg").items():
                with self.subTest(f"{name} {fidelity}"):
                    side, missing = {"first": (128, [0]), "all": (128, [0, 1, 2, 3]), "small": (64, [5, 15])}[name]
                    columns = -(-250 // side)
                    for index in range(columns * -(-200 // side)):
                        top, left = index // columns * side, index % columns * side
                        part = pixels[top + 16:top + side - 16, left + 16:left + side - 16]
                        if part.size == 0:
                            continue
                        self.assertEqual(int(part.max()) <= 2, index in missing, (index, part.max()))

    def test_lengths_count(self):
        # The third strip declares half of its bytes; those of the fourth follow. libtiff corrects the second's.
        for photometric, pixels in ((RGB, gradient(110, 80, 3)), (BLACK_IS_ZERO, gradient(110, 80, 1, numpy.uint16))):
            data = strips(pixels, photometric, rows=30, counts={2: 30 * 40 * pixels.shape[2]})
            source = folder("short") / "short.tif"
            source.write_bytes(data)
            result = run("build", source, "--library", folder("library"), "--quiet")
            self.assertEqual(result.returncode, 1)
            self.assertIn("strip 3 of 4 has", result.stderr)


class ExtraSamples(Samples):
    def test_alpha_is_what_the_file_calls_so(self):
        rgba, la = gradient(60, 80, 4), gradient(60, 80, 2)
        flat = numpy.full((60, 80, 4), (40, 20, 10, 80), numpy.uint8)
        straight = numpy.full((60, 80, 4), (128, 64, 32, 80), numpy.uint8)
        five = gradient(60, 80, 5)
        wide = rgba.astype(numpy.uint16) * 257
        reports = self.check({
            "unassociated": (strips(rgba, RGB, extra=[2]), rgba),
            "associated": (strips(flat, RGB, extra=[1]), straight),
            "associated-sparse": (strips(flat, RGB, extra=[1], rows=30, missing=(1,)),
                                  numpy.concatenate([straight[:30], numpy.zeros((30, 80, 4), numpy.uint8)])),
            "unspecified": (strips(rgba, RGB, extra=[0]), rgba[..., :3]),
            # As Pillow.
            "untold": (strips(rgba, RGB), rgba),
            "corel": (strips(rgba, RGB, extra=[999]), rgba),
            "wide": (strips(wide, RGB, extra=[2]), rgba),
            "wide-unspecified": (strips(wide, RGB, extra=[0]), rgba[..., :3]),
            "gray": (strips(la, BLACK_IS_ZERO, extra=[2]), la),
            "gray-unspecified": (strips(la, BLACK_IS_ZERO, extra=[0]), la[..., :1]),
            "gray-untold": (strips(la, BLACK_IS_ZERO), la[..., :1]),
            "infrared-and-alpha": (strips(five, RGB, extra=[0, 2]), five[..., [0, 1, 2, 4]]),
            "alpha-and-infrared": (strips(five, RGB, extra=[2, 0]), five[..., :4]),
            "two-unspecified": (strips(five, RGB, extra=[0, 0]), five[..., :3]),
        })
        note = "band 4 left out: neither colour nor alpha (--bands takes it)"
        self.assertIn(note, reports["unspecified"]["steps"])
        self.assertNotIn(note, reports["unassociated"]["steps"])
        self.assertEqual(reports["unassociated"]["steps"], [])

    def test_floats(self):
        flat = numpy.full((60, 80, 4), (.25, .5, .125, .5), numpy.float32)
        straight = numpy.full((60, 80, 4), (.5, 1, .25, .5), numpy.float32)
        opaque = flat[..., :3]
        found = self.built({
            "associated": strips(flat, RGB, extra=[1]), "straight": strips(straight, RGB, extra=[2]),
            "unspecified": strips(flat, RGB, extra=[0]), "opaque": strips(opaque, RGB)})
        self.assertTrue((found["associated"][1] == found["straight"][1]).all())
        self.assertTrue((found["unspecified"][1] == found["opaque"][1]).all())
        self.assertLessEqual(abs(int(found["straight"][1][0, 0, 3]) - 128), 1)

    def test_cmyk_with_a_spot_colour_and_lab_with_alpha(self):
        cmyks, lab = gradient(60, 80, 5), gradient(60, 80, 4)
        lab[..., 3] = numpy.arange(80) * 3
        wide = lab.astype(numpy.uint16) * 256
        wide[..., 3] = lab[..., 3].astype(numpy.uint16) * 257
        plain = numpy.ascontiguousarray(cmyks[..., :4])
        found = self.built({
            "cmyk": strips(plain, CMYK), "spot": strips(cmyks, CMYK, extra=[0]), "alpha": strips(cmyks, CMYK, extra=[2]),
            "lab": strips(numpy.ascontiguousarray(lab[..., :3]), CIELAB), "laba": strips(lab, CIELAB, extra=[2]),
            "labs": strips(lab, CIELAB, extra=[0]), "lab16a": strips(wide, CIELAB, extra=[2])})
        self.assertTrue((found["cmyk"][1] == found["spot"][1]).all())
        self.assertTrue((found["alpha"][1][..., 3] == cmyks[..., 4]).all())
        self.assertTrue((found["laba"][1][..., 3] == lab[..., 3]).all())
        self.assertTrue((found["lab16a"][1][..., 3] == lab[..., 3]).all())
        for name in ("laba", "labs"):
            difference = found[name][1][..., :3].astype(int) - found["lab"][1]
            self.assertEqual(int(numpy.abs(difference).max()), 0, name)

    def test_bands_of_gray(self):
        three, four = gradient(60, 80, 3), gradient(60, 80, 4)
        wide = three.astype(numpy.uint16) * 257
        reports = self.check({
            # GDAL shows three bands of bytes as red, green and blue.
            "three": (strips(three, BLACK_IS_ZERO, extra=[0, 0]), three),
            "separate": (strips(three, BLACK_IS_ZERO, extra=[0, 0], is_separate=True), three),
            "three-and-alpha": (strips(four, BLACK_IS_ZERO, extra=[0, 0, 2]), four),
            "wide": (strips(wide, BLACK_IS_ZERO, extra=[0, 0]), three[..., :1]),
            "four": (strips(four, BLACK_IS_ZERO, extra=[0, 0, 0]), four[..., :1]),
        })
        self.assertIn("bands 2, 3, 4 left out: neither colour nor alpha (--bands takes them)", reports["four"]["steps"])
        self.assertIn("its 3 bands of gray taken as red, green and blue", reports["three"]["steps"])
        self.check({"four": (strips(four, BLACK_IS_ZERO, extra=[0, 0, 0]), four[..., [3, 1, 0]])}, 0, "--bands", "4,2,1")


class Inverted(Samples):
    def test_every_kind_of_sample(self):
        values = gradient(60, 80, 1, low=0)
        values[0, 0], values[0, 1] = 0, 255
        whole = values.astype(int)
        inverted = 255 - values
        self.check({
            "u8": (strips(values, WHITE_IS_ZERO), inverted),
            "u16": (strips((whole * 257).astype(numpy.uint16), WHITE_IS_ZERO), inverted),
            "u32": (strips((whole * 0x1010101).astype(numpy.uint32), WHITE_IS_ZERO), inverted),
            "i8": (strips((whole - 128).astype(numpy.int8), WHITE_IS_ZERO), inverted),
            "i16": (strips((whole * 257 - 32768).astype(numpy.int16), WHITE_IS_ZERO), inverted),
            "i32": (strips((whole * 0x1010101 - (1 << 31)).astype(numpy.int32), WHITE_IS_ZERO), inverted),
            "f32": (strips((values / 255).astype(numpy.float32), WHITE_IS_ZERO), inverted),
            "f32-bytes": (strips(values.astype(numpy.float32), WHITE_IS_ZERO), inverted),
            "f64": (strips((values / 255).astype(numpy.float64), WHITE_IS_ZERO), inverted),
        }, 1)


class Colours(Samples):
    def ycbcr(self, across: int = 1, down: int = 1, compression: int = NONE, more: dict | None = None, rows: int = 16) -> bytes:
        """Chroma of one value for so many pixels, as TIFF 6.0, section 21, packs it."""
        pixels = numpy.array(Image.fromarray(gradient(64, 96, 3, low=20)).convert("YCbCr"))
        units = []
        for top in range(0, 64, rows):
            part = pixels[top:top + rows]
            packed = b"".join(
                part[y:y + down, x:x + across, 0].tobytes() + part[y, x, 1:].tobytes()
                for y in range(0, rows, down) for x in range(0, 96, across))
            units.append(compressed(packed, compression))
        fields = {**tags(pixels, YCBCR, compression), 278: (4, [rows]), 530: (3, [across, down])}
        del fields[339]
        return file(units, {**fields, **(more or {})})

    def pillows(self, *arguments, **options) -> numpy.ndarray:
        """The same deflated, which Pillow leaves to libtiff."""
        options["compression"] = DEFLATE
        return numpy.array(Image.open(io.BytesIO(self.ycbcr(*arguments, **options))).convert("RGB"))

    def test_ycbcr_without_jpeg(self):
        studio = {"more": {532: (5, [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)])}}
        hdtv = {"more": {529: (5, [(2126, 10000), (7152, 10000), (722, 10000)])}}
        cases = {f"{across}{down}-{compression}": (self.ycbcr(across, down, compression), self.pillows(across, down))
                 for across, down in ((1, 1), (2, 1), (2, 2)) for compression in (NONE, DEFLATE)}
        cases |= {"studio": (self.ycbcr(**studio), self.pillows(**studio)), "hdtv": (self.ycbcr(**hdtv), self.pillows(**hdtv)),
                  "one-strip": (self.ycbcr(2, 2, rows=64), self.pillows(2, 2)),
                  # libtiff's interface would turn, too.
                  "turned": (self.ycbcr(more={274: (3, [6])}), numpy.rot90(self.pillows(), -1))}
        self.check(cases, 1)

    def old_jpeg(self) -> bytes:
        data = jpeg(gradient(64, 96, 3), subsampling=0)
        scan = data.index(b"\xff\xda")
        start = scan + 2 + int.from_bytes(data[scan + 2:scan + 4], "big")
        pixels = numpy.zeros((64, 96, 3), numpy.uint8)
        fields = {**tags(pixels, YCBCR, OLD_JPEG), 278: (4, [64]), 512: (3, [1]), 513: (4, [8]), 514: (4, [len(data)]),
                  530: (3, [1, 1])}
        del fields[339]
        whole = file([data], fields)
        # The strip is the scan inside the JPEG.
        entry = whole.index(struct.pack("<HHI", 273, 4, 1))
        return whole[:entry + 8] + struct.pack("<I", 8 + start) + whole[entry + 12:]

    def test_jpeg_of_the_first_manner(self):
        wanted = numpy.array(Image.open(io.BytesIO(jpeg(gradient(64, 96, 3), subsampling=0))))
        self.check({"old": (self.old_jpeg(), wanted)}, 2)

    def test_ycbcr_under_a_tag_that_says_rgb(self):
        pixels = gradient(64, 96, 3)
        data = jpeg(pixels, subsampling=0)
        wanted = numpy.array(Image.open(io.BytesIO(data)))
        fields = {**tags(pixels, RGB, JPEG), 278: (4, [64])}
        self.check({"upright": (file([data], fields), wanted),
                    "turned": (file([data], {**fields, 274: (3, [6])}), numpy.rot90(wanted, -1))}, 2)

    def test_files_that_do_not_say_what_their_samples_are(self):
        """Without PhotometricInterpretation libtiff's RGBA interface takes one sample for gray, of fax for inverted gray, and
        three for red, green and blue (`TIFFRGBAImageBegin`)."""
        def without(data: bytes) -> bytes:
            entry = data.index(struct.pack("<HHI", 262, 3, 1))
            # Of a private tag, behind which nobody looks.
            return data[:entry] + struct.pack("<HHI", 261, 3, 1) + data[entry + 8:]

        cases = {}
        for kind in (numpy.uint8, numpy.uint16):
            gray, rgb = gradient(64, 96, 1, kind), gradient(64, 96, 3, kind)
            cases[f"gray-{gray.itemsize}"] = (without(strips(gray, BLACK_IS_ZERO, rows=20)), gray)
            cases[f"rgb-{rgb.itemsize}"] = (without(strips(rgb, RGB, rows=20)), rgb)
        report = self.built({name: data for name, (data, _) in cases.items()})
        for name, (_, wanted) in cases.items():
            with self.subTest(name):
                found = report[name][1].astype(int)
                self.assertEqual(found.shape, wanted.shape)
                # 16 bits are shown within their range, in the same order.
                exact = wanted.astype(int) if name.endswith("1") else None
                if exact is not None:
                    self.assertTrue((found == exact).all())
                else:
                    same = numpy.corrcoef(found.ravel(), wanted.ravel().astype(float))[0, 1]
                    self.assertGreater(same, .999)
        out = io.BytesIO()
        bilevel = Image.fromarray(((gradient(64, 96, 1)[..., 0] > 140) * 255).astype(numpy.uint8)).convert("1")
        bilevel.save(out, "TIFF", compression="group4")
        self.assertIn(struct.pack("<HHIHH", 262, 3, 1, 1, 0), out.getvalue())
        fax = out.getvalue().replace(struct.pack("<HHIHH", 262, 3, 1, 1, 0), struct.pack("<HHIHH", 261, 3, 1, 1, 0))
        found = self.built({"fax": fax})["fax"][1][..., 0]
        # The samples that were written as black is 0, read as white is 0.
        self.assertTrue((found == numpy.where(numpy.array(bilevel), 0, 255)).all())
        place = folder("sources")
        (place / "five.tif").write_bytes(without(strips(gradient(64, 96, 5), RGB)))
        result = run("build", place, "--library", folder("library"), "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no PhotometricInterpretation", result.stderr)

    def test_logarithms_of_luminance(self):
        """LogL as SGI's encoding has it (libtiff, `tif_luv.c`): 16 bits, of which each byte has a plane of runs; Y is
        2^((L + 0.5) / 256 - 64), linear light, which sRGB's own curve brings to bytes (IEC 61966-2-1)."""
        y, x = numpy.mgrid[0:40, 0:64]
        light = ((x * 40 + y + 1) / (64 * 40)).astype(float)
        logs = numpy.floor(256 * (numpy.log2(light) + 64)).astype(numpy.uint16)
        rows = b"".join(bytes([64]) + (logs[row] >> shift & 255).astype(numpy.uint8).tobytes()
                        for row in range(40) for shift in (8, 0))
        fields = {256: (4, [64]), 257: (4, [40]), 258: (3, [16]), 259: (3, [34676]), 262: (3, [32844]), 277: (3, [1]),
                  278: (4, [40]), 284: (3, [1]), 339: (3, [2])}
        linear = 2 ** ((logs + .5) / 256 - 64)
        shown = numpy.where(linear <= .0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - .055).clip(0, 1) * 255
        wanted = numpy.repeat(shown.round()[..., None], 3, axis=2)
        report = self.check({"log": (file([rows], fields), wanted)}, 1)
        self.assertIn("scrgb", " ".join(report["log"]["steps"]))

    def test_jpeg_data_that_libjpeg_does_not_read(self):
        """They are not damaged: imagecodecs reads them."""
        pixels = gradient(64, 96, 1)
        data = imagecodecs.ljpeg_encode(pixels[..., 0], bitspersample=8)
        self.assertTrue((imagecodecs.ljpeg_decode(data) == pixels[..., 0]).all())
        place = folder("sources")
        for name, photometric in (("gray", BLACK_IS_ZERO), ("inverted", WHITE_IS_ZERO)):
            (place / f"{name}.tif").write_bytes(file([data], {**tags(pixels, photometric, JPEG), 278: (4, [64])}))
        result = run("build", place, "--library", folder("library"), "--quiet")
        self.assertEqual(result.returncode, 1)
        for line in result.stderr.splitlines()[:2]:
            self.assertRegex(line, "lossless .SOF3., which is not read: .*COMPRESS=LZW")
            self.assertNotIn("damaged", line)

    def test_icc_lab(self):
        lab = gradient(64, 96, 3)
        icc = lab.copy()
        icc[..., 1:] ^= 0x80
        found = self.built({"cie": strips(lab, CIELAB), "icc": strips(icc, ICCLAB)})
        difference = found["cie"][1].astype(int) - found["icc"][1]
        self.assertEqual(int(numpy.abs(difference).max()), 0)


if __name__ == "__main__":
    unittest.main()
