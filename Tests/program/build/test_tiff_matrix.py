"""TIFF files of every kind that the tags allow, each compared with its samples, which tifffile reads back.

FULL=1 builds all of them, some thousands; otherwise a random part is built. KEEP=folder keeps the files that differ.

Longer than 600 lines because the matrix and the masks write their files by the same functions.
"""

import io
import itertools
import json
import os
import random
import struct
import subprocess
import unittest
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy
import tifffile
from harness import CommandTest, folder, run, seed
from PIL import Image
from tiff_files import (
    APERIO_RGB,
    APERIO_YCBCR,
    BLACK_IS_ZERO,
    CCITT_RLE,
    CCITT_T4,
    CCITT_T6,
    CIELAB,
    COLOURS,
    COMPLEX,
    COMPLEX_INT,
    DEFLATE,
    FLOAT,
    ICCLAB,
    INT,
    ITULAB,
    JPEG,
    JPEG2000,
    JPEGXL,
    LERC,
    LZMA,
    LZW,
    MASK,
    NONE,
    OLD_DEFLATE,
    PACKBITS,
    PALETTE,
    RGB,
    SEPARATED,
    UINT,
    WEBP,
    WHITE_IS_ZERO,
    YCBCR,
    ZSTD,
    Picture,
    file,
)

FULL = bool(os.environ.get("FULL"))
# How many of the files a usual run builds.
PART = 250
# Files of one build.
FOLDER = 1000
ROWS, COLUMNS, TILE = 37, 45, 16

NAMES = {WHITE_IS_ZERO: "miw", BLACK_IS_ZERO: "mib", RGB: "rgb", PALETTE: "palette", MASK: "mask", SEPARATED: "cmyk",
         YCBCR: "ycbcr", CIELAB: "lab", ICCLAB: "icclab", ITULAB: "itulab"}
FORMATS = {UINT: "u", INT: "i", FLOAT: "f", COMPLEX_INT: "ci", COMPLEX: "c"}
LOSSLESS = (NONE, LZW, DEFLATE, OLD_DEFLATE, PACKBITS, ZSTD, LZMA)
NUMBERS = [(UINT, bits) for bits in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 64)] + [
    (INT, bits) for bits in (8, 12, 16, 24, 32, 64)] + [(FLOAT, bits) for bits in (16, 24, 32, 64)] + [
    (COMPLEX_INT, 32), (COMPLEX, 64), (COMPLEX, 128)]


@dataclass
class Case:
    name: str
    picture: Picture
    order: str
    is_big: bool

    @property
    def data(self) -> bytes:
        return file([self.picture], self.order, self.is_big)


def fractions(samples: int, colours: int, extra: tuple[int, ...]) -> numpy.ndarray:
    """Smooth samples of 0…1; the first two pixels are the least and the greatest, so that every range is used. Colours are
    multiplied by alpha where it is associated."""
    y, x = numpy.mgrid[0:ROWS, 0:COLUMNS]
    bands = [((x * (band + 1) + y * (5 - band)) % 97 / 96 if band % 2 == 0 else (x + y * 2 + 11 * band) / 160) for band in range(samples)]
    found = numpy.clip(numpy.stack(bands, -1), 0, 1)
    found[0, 0, :], found[0, 1, :] = 0, 1
    for index, kind in enumerate(extra):
        if kind in (1, 2):
            found[..., colours + index] = 0.5 + found[..., colours + index] / 2
    if 1 in extra:
        found[..., :colours] *= found[..., colours + extra.index(1), None]
    return found


def numbers(found: numpy.ndarray, format: int, bits: int) -> numpy.ndarray:
    if format == FLOAT:
        return found.astype({16: numpy.float16, 24: numpy.float32, 32: numpy.float32, 64: numpy.float64}[bits])
    if format in (COMPLEX_INT, COMPLEX):
        return found.astype(numpy.complex64 if bits == 64 else numpy.complex128) if format == COMPLEX else (
            found * 1000).astype(numpy.uint32)
    size = next(size for size in (8, 16, 32, 64) if bits <= size)
    low = -(1 << (bits - 1)) if format == INT else 0
    if bits == 64:
        # Above 2⁵³ floats are coarse: by whole numbers of 32 bits.
        high = numpy.rint(found * 0xffffffff).astype(numpy.uint64)
        whole = high << numpy.uint64(32) | high
        return whole if format == UINT else (whole ^ numpy.uint64(1 << 63)).view(numpy.int64)
    whole = numpy.rint(found * ((1 << bits) - 1)).astype(numpy.int64) + low
    return whole.astype(numpy.dtype(f"{'i' if format == INT else 'u'}{size // 8}"))


def is_possible(photometric: int, format: int, bits: int, is_separate: bool, extra: tuple, compression: int, predictor: int) -> bool:
    """Whether such a file can be written."""
    samples = COLOURS[photometric] + len(extra)
    if is_separate and samples == 1:
        return False
    if photometric == PALETTE and (format != UINT or bits > 16 or bits in (10, 12, 14)):
        return False
    if photometric == MASK and (format, bits, extra) not in ((UINT, 1, ()), (UINT, 8, ())):
        return False
    if photometric == YCBCR and ((format, bits) != (UINT, 8) or extra or is_separate or predictor != 1):
        return False
    if photometric in (CIELAB, ICCLAB, ITULAB) and (format != UINT or bits not in (8, 16) or 1 in extra):
        return False
    if photometric == SEPARATED and format in (COMPLEX_INT, COMPLEX):
        return False
    in_unit = 1 if is_separate else samples
    if predictor == 2 and (bits not in (8, 16, 32, 64) or format not in (UINT, INT)):
        return False
    if predictor == 3 and (format != FLOAT or bits == 24):
        return False
    if predictor != 1 and compression not in (LZW, DEFLATE, OLD_DEFLATE, ZSTD, LZMA):
        return False
    match compression:
        case c if c in LOSSLESS:
            return True
        case c if c == JPEG:
            return (format, bits) == (UINT, 8) and (in_unit == 1 or (in_unit, photometric) in (
                (3, RGB), (3, YCBCR), (4, SEPARATED))) and photometric not in (PALETTE, MASK)
        case c if c == WEBP:
            return (format, bits) == (UINT, 8) and (in_unit, photometric) in ((3, RGB), (4, RGB)) and extra in ((), (2,))
        case c if c == LERC:
            return (format, bits) in ((UINT, 8), (UINT, 16), (UINT, 32), (INT, 8), (INT, 16), (INT, 32), (FLOAT, 32), (FLOAT, 64)) \
                and photometric != YCBCR and not extra
        case c if c == JPEG2000:
            return format == UINT and bits in (8, 10, 12, 16) and photometric in (BLACK_IS_ZERO, WHITE_IS_ZERO, RGB, SEPARATED)
        case c if c == APERIO_RGB:
            return (format, bits, photometric, extra) == (UINT, 8, RGB, ())
        case c if c == APERIO_YCBCR:
            return (format, bits, photometric) == (UINT, 8, YCBCR)
        case c if c == JPEGXL:
            return (format, bits) in ((UINT, 8), (UINT, 16), (FLOAT, 32)) and photometric in (
                BLACK_IS_ZERO, WHITE_IS_ZERO, RGB) and extra in ((), (2,))
        case _:
            return (format, bits) == (UINT, 1) and photometric in (BLACK_IS_ZERO, WHITE_IS_ZERO) and not extra


COMPRESSIONS = {NONE: "none", CCITT_RLE: "rle", CCITT_T4: "t4", CCITT_T6: "t6", LZW: "lzw", JPEG: "jpeg", DEFLATE: "deflate",
                OLD_DEFLATE: "deflate2", PACKBITS: "packbits", JPEG2000: "j2k", APERIO_YCBCR: "j2ky", APERIO_RGB: "j2kr",
                LERC: "lerc", LZMA: "lzma", ZSTD: "zstd", WEBP: "webp", JPEGXL: "jxl"}
# How many files of each kind.
REPEATED = {JPEG: 4, WEBP: 10, LERC: 3, APERIO_RGB: 8, APERIO_YCBCR: 8, JPEGXL: 3, CCITT_RLE: 6, CCITT_T4: 6, CCITT_T6: 6}
EXTRA = ((), (0,), (1,), (2,), (0, 2), (2, 0), (0, 0))


def cases() -> list[Case]:
    """Every possible picture; what hardly depends on the others, as byte order, is drawn by lot, the same each time."""
    lot = random.Random(37)
    found = []
    for photometric, (format, bits), is_separate, extra, compression in itertools.product(
            NAMES, NUMBERS, (False, True), EXTRA, COMPRESSIONS):
        for predictor, tile in itertools.product((1, 2, 3), (0, TILE)):
            if not is_possible(photometric, format, bits, is_separate, extra, compression, predictor):
                continue
            # Rare things beside rare things: a part of them is enough. Of what is possible of few pictures, several.
            rarity = (bits in (3, 6, 10, 14, 20, 24, 128)) + (len(extra) > 1) + 2 * (compression in (OLD_DEFLATE, LZMA)) + (
                compression in (PACKBITS, LZW, ZSTD)) + 2 * (format in (COMPLEX_INT, COMPLEX))
            if rarity and lot.random() > 0.5 ** rarity:
                continue
            count = 8 if photometric == YCBCR else REPEATED.get(compression, 1)
            found += [case(len(found) + number, lot, photometric, format, bits, is_separate, extra, compression, predictor, tile)
                      for number in range(count)]
    return found


def case(number: int, lot: random.Random, photometric: int, format: int, bits: int, is_separate: bool, extra: tuple, compression: int,
         predictor: int, tile: int) -> Case:
    colours = COLOURS[photometric]
    samples = numbers(fractions(colours + len(extra), colours, extra), format, bits)
    picture = Picture(samples, photometric, bits, format, compression, tile, lot.choice((0, 16)), is_separate, extra, predictor)
    if photometric == PALETTE:
        ramp = numpy.linspace(0, 65535, 1 << bits).astype(numpy.uint16)
        picture.palette = numpy.stack([ramp, ramp[::-1], numpy.roll(ramp, (1 << bits) // 3)], -1)
    if photometric == YCBCR:
        picture.subsampling = (1, 1) if compression in (APERIO_YCBCR,) else lot.choice(((1, 1), (2, 1), (2, 2)))
        across, down = picture.subsampling
        # Chroma of one value for so many pixels, so that it is known.
        rows, columns = numpy.arange(ROWS)[:, None] // down * down, numpy.arange(COLUMNS)[None] // across * across
        picture.samples[..., 1:] = picture.samples[rows, columns, 1:]
        if compression != JPEG and lot.random() < 0.5:
            picture.more[532] = (5, [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)])
    if compression in (NONE, LZW, DEFLATE, PACKBITS) and bits in (1, 8) and predictor == 1 and lot.random() < 0.15:
        picture.fill_order = 2
    if compression in (JPEG, JPEG2000, APERIO_RGB) and tile and lot.random() < 0.5:
        picture.is_cropped = True
    if lot.random() < 0.1:
        count = len(picture_units(picture))
        picture.missing = frozenset({lot.randrange(count)} if count > 1 else set())
    # LERC's blobs are little-endian by themselves.
    order, is_big = lot.choice("<>") if compression != LERC else "<", lot.random() < 0.2
    name = "-".join([f"{number:05}", NAMES[photometric], f"{FORMATS[format]}{bits}", "sep" if is_separate else "con",
                     "x" + "".join(map(str, extra)), COMPRESSIONS[compression], f"p{predictor}",
                     f"t{tile}" if tile else f"s{picture.rows}", "le" if order == "<" else "be"]
                    + ["big"] * is_big + ["fill2"] * (picture.fill_order == 2) + ["cropped"] * picture.is_cropped
                    + ["missing"] * bool(picture.missing) + (
                        [f"{picture.subsampling[0]}{picture.subsampling[1]}"] if photometric == YCBCR else []))
    return Case(name, picture, order, is_big)


def picture_units(picture: Picture) -> list:
    planes = picture.samples.shape[2] if picture.is_separate else 1
    down = -(-ROWS // (picture.tile or picture.rows or ROWS))
    return [0] * (planes * down * (-(-COLUMNS // picture.tile) if picture.tile else 1))


def stored(case: Case, data: bytes) -> numpy.ndarray:
    """The samples as tifffile decodes them, rows × columns × samples. Where it cannot, those that were written."""
    picture = case.picture
    expected = with_missing(picture, picture.samples)
    if picture.photometric == YCBCR and picture.compression != JPEG or picture.format in (COMPLEX_INT, COMPLEX):
        return expected
    if (picture.format, picture.bits) == (INT, 12) or picture.format in (INT, UINT) and picture.bits == 24:
        # It reads them in no byte order, or not at all; libtiff and GDAL go by the file's.
        return expected
    page = tifffile.TiffFile(io.BytesIO(data)).pages[0]
    read = page.asarray()
    if picture.is_separate and read.ndim == 3:
        read = numpy.moveaxis(read, 0, -1)
    read = read.reshape(expected.shape)
    if picture.compression == JPEG:
        return read
    if picture.format == FLOAT and picture.bits == 24:
        return read.astype(numpy.float32)
    assert (read.astype(expected.dtype) == expected).all(), f"{case.name}: tifffile reads other samples than were written"
    return expected


def with_missing(picture: Picture, samples: numpy.ndarray) -> numpy.ndarray:
    """0 where the file holds nothing."""
    found = samples.copy()
    height, width = picture.tile or picture.rows or ROWS, picture.tile or COLUMNS
    down, across = -(-ROWS // height), -(-COLUMNS // width)
    for unit in picture.missing:
        plane, place = divmod(unit, down * across)
        y, x = place // across * height, place % across * width
        found[y:y + height, x:x + width, plane if picture.is_separate else slice(None)] = 0
    return found


def refusal(picture: Picture) -> str | None:
    """What the message of a picture says that cannot be shown; None for all others."""
    if picture.format in (COMPLEX_INT, COMPLEX):
        return f"SampleFormat {picture.format}"
    if picture.photometric == SEPARATED and picture.format == INT:
        return "SampleFormat 2"
    return None


def shares(samples: numpy.ndarray, picture: Picture) -> numpy.ndarray:
    """Samples as shares of the greatest value, 0…1: of the whole range of their type."""
    if picture.format == FLOAT:
        return samples.astype(float)
    low = -(1 << (picture.bits - 1)) if picture.format == INT else 0
    return (samples.astype(float) - low) / ((1 << picture.bits) - 1)


# Of XYZ under D50, as ICC profiles have it, to the primaries of sRGB (IEC 61966-2-1, adapted by Bradford).
XYZ_TO_SRGB = numpy.array([[3.1338561, -1.6168667, -.4906146], [-.9787684, 1.9161415, .0334540], [.0719453, -.2289914, 1.4052427]])
D50 = numpy.array([.9642, 1, .8249])


def from_lab(lab: numpy.ndarray) -> numpy.ndarray:
    """sRGB of L* 0…100, a* and b*. NaN where sRGB does not have the colour, or one near it: what then comes nearest is the
    colour engine's affair, which interpolates in steps of 8."""
    steps = itertools.product((-4, 0, 4), (-9, 0, 9), (-9, 0, 9))
    inside = numpy.all([((linear(lab + step) > 0) & (linear(lab + step) < 1)).all(-1) for step in steps], 0)
    return gamma(numpy.where(inside[..., None], linear(lab), numpy.nan))


def linear(lab: numpy.ndarray) -> numpy.ndarray:
    """Linear light of CIELAB (CIE 15, section 8.2.1)."""
    middle = (lab[..., 0] + 16) / 116
    steps = numpy.stack([middle + lab[..., 1] / 500, middle, middle - lab[..., 2] / 200], -1)
    xyz = D50 * numpy.where(steps > 6 / 29, steps ** 3, 3 * (6 / 29) ** 2 * (steps - 4 / 29))
    return xyz @ XYZ_TO_SRGB.T


def gamma(linear: numpy.ndarray) -> numpy.ndarray:
    """sRGB of linear light."""
    return numpy.where(linear <= .0031308, 12.92 * linear, 1.055 * numpy.maximum(linear, 1e-9) ** (1 / 2.4) - .055)


def from_ycbcr(samples: numpy.ndarray, picture: Picture) -> numpy.ndarray:
    """TIFF 6.0, section 21, with the coefficients of Rec. 601."""
    reference = [value / by for value, by in picture.more.get(532, (5, [(0, 1), (255, 1), (128, 1), (255, 1), (128, 1), (255, 1)]))[1]]
    y = (samples[..., 0] - reference[0]) * 255 / (reference[1] - reference[0])
    cb = (samples[..., 1] - reference[2]) * 127 / (reference[3] - reference[2])
    cr = (samples[..., 2] - reference[4]) * 127 / (reference[5] - reference[4])
    red, blue = y + cr * (2 - 2 * .299), y + cb * (2 - 2 * .114)
    green = (y - .114 * blue - .299 * red) / .587
    return numpy.clip(numpy.stack([red, green, blue], -1), 0, 255) / 255


def shown(case: Case, samples: numpy.ndarray) -> numpy.ndarray:
    """What of a picture is shown: gray or sRGB, with alpha where the file says so, 0…255."""
    picture, colours = case.picture, COLOURS[case.picture.photometric]
    found = shares(samples, picture)
    kinds = [index for index, kind in enumerate(picture.extra) if kind in (1, 2)]
    alpha = found[..., colours + kinds[0], None] if kinds else None
    is_associated = bool(kinds) and picture.extra[kinds[0]] == 1
    if picture.photometric == RGB and not picture.extra and samples.shape[2] == 4:
        alpha = found[..., 3:]
    planes = samples.shape[2] - (alpha is not None)
    if picture.photometric == BLACK_IS_ZERO and planes == 3 and (picture.format, picture.bits) == (UINT, 8) and (
            not kinds or kinds[0] == 2):
        # As GDAL shows them.
        colours = 3
    colour = found[..., :colours]
    if is_associated:
        colour = numpy.where(alpha > 0, colour / numpy.maximum(alpha, 1e-9), 0).clip(0, 1)
    match picture.photometric:
        case c if c == WHITE_IS_ZERO:
            colour = 1 - colour
        case c if c == PALETTE:
            colour = (picture.palette[samples[..., 0]] >> 8) / 255
        case c if c == YCBCR and picture.compression != JPEG:
            # What the file does not hold is black, not what Y'CbCr of three zeros would be.
            colour = from_ycbcr(samples.astype(float), picture) * with_missing(picture, numpy.ones_like(samples))
        case c if c in (CIELAB, ICCLAB, ITULAB):
            colour = from_lab(lab(samples, picture))
        case c if c == SEPARATED:
            colour = from_cmyk(colour)
        case c if c == RGB and picture.format == FLOAT:
            # Floats are linear light.
            colour = gamma(colour)
    return numpy.rint(255 * numpy.concatenate([colour] + ([alpha] if alpha is not None else []), -1))


def lab(samples: numpy.ndarray, picture: Picture) -> numpy.ndarray:
    wide = picture.bits == 16
    whole = samples[..., :3].astype(float)
    if picture.photometric == ITULAB:
        # ITU-T T.42; RFC 2301, section 6.2.3.
        zero = numpy.array([0, 128, 96]) * (256 if wide else 1)
        return (whole - zero) * numpy.array([100, 170, 200]) / (65535 if wide else 255)
    if picture.photometric == ICCLAB:
        return numpy.concatenate([whole[..., :1] * 100 / (65280 if wide else 255), whole[..., 1:] / (256 if wide else 1) - 128], -1)
    signed = samples[..., 1:3].astype(numpy.int16 if wide else numpy.int8).astype(float) / (256 if wide else 1)
    return numpy.concatenate([whole[..., :1] * 100 / (65535 if wide else 255), signed], -1)


CMYK: dict[bytes, numpy.ndarray] = {}


def from_cmyk(colour: numpy.ndarray) -> numpy.ndarray:
    """By the profile that libvips brings along, which no TIFF comes near to: the picture as raw bytes."""
    whole = numpy.rint(colour * 65535).astype("<u2")
    key = whole.tobytes()
    if key not in CMYK:
        place = folder("cmyk")
        (place / "in.raw").write_bytes(key)
        for command in (f"rawload in.raw raw.v {COLUMNS} {ROWS} 8", "copy raw.v cmyk.v --interpretation cmyk --format ushort --bands 4",
                      "icc_transform cmyk.v out.v srgb --input-profile cmyk --intent relative --black-point-compensation",
                      "rawsave out.v out.raw"):
            subprocess.run(["vips", *command.split()], cwd=place, check=True, capture_output=True)
        CMYK[key] = numpy.frombuffer((place / "out.raw").read_bytes(), numpy.uint8).reshape(ROWS, COLUMNS, 3) / 255
    return CMYK[key]


def tolerance(picture: Picture) -> int:
    """How far a sample of the picture may be from what is expected."""
    if picture.photometric in (CIELAB, ICCLAB, ITULAB):
        return 6
    if picture.compression == JPEG or picture.photometric in (YCBCR, SEPARATED):
        return 3
    if 1 in picture.extra:
        return 2
    return 0 if picture.bits <= 8 or picture.photometric == PALETTE else 1


def pixels(archive: Path) -> numpy.ndarray:
    with zipfile.ZipFile(archive) as szi:
        names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
        top = max(names, key=lambda name: int(name.split("/")[-2]))
        found = numpy.array(Image.open(io.BytesIO(szi.read(top))))
    return found if found.ndim == 3 else found[..., None]


class Matrix(CommandTest):
    maxDiff = None

    def mismatches(self, cases: list[Case]) -> list[str]:
        place, library = folder("sources"), folder("library")
        samples = {}
        for case in cases:
            data = case.data
            samples[case.name] = stored(case, data)
            (place / f"{case.name}.tif").write_bytes(data)
        result = run("build", place, "--library", library, "--json", "--quiet", "--format", "png", timeout=900)
        reports = {}
        for line in result.stdout.splitlines():
            reported = json.loads(line)
            if "id" in reported:
                reports[reported["id"]] = reported
        errors = {Path(line.removeprefix("ziggurat: ").split(": ")[0]).stem: line.partition(".tif: ")[2]
                  for line in result.stderr.splitlines()}
        found = []
        for case in cases:
            if mismatch := self.mismatch(case, samples[case.name], library / f"{case.name}.szi", errors.get(case.name, "")):
                found.append(f"{case.name}: {mismatch}")
                if keep := os.environ.get("KEEP"):
                    Path(keep).mkdir(exist_ok=True)
                    (Path(keep) / f"{case.name}.tif").write_bytes(case.data)
        return found

    def mismatch(self, case: Case, samples: numpy.ndarray, archive: Path, message: str) -> str | None:
        wanted = refusal(case.picture)
        if not archive.exists():
            if wanted is None:
                return f"refused: {message}"
            return None if wanted in message else f"refused in other words than {wanted!r}: {message}"
        if wanted is not None:
            return f"built, though it cannot be right ({wanted})"
        found, expected = pixels(archive), shown(case, samples)
        if found.shape[2] + 2 == expected.shape[2]:
            found = numpy.concatenate([found[..., :1].repeat(3, 2), found[..., 1:]], -1)
        if found.shape != expected.shape:
            return f"{found.shape} instead of {expected.shape}"
        difference = numpy.nan_to_num(numpy.abs(found.astype(int) - expected))
        worst = numpy.unravel_index(difference.argmax(), difference.shape)
        if difference.max() <= tolerance(case.picture):
            return None
        return (f"differs by {int(difference.max())} at {tuple(map(int, worst))}: {found[worst[:2]].tolist()} instead of "
                f"{expected[worst[:2]].tolist()}; {int((difference > tolerance(case.picture)).any(-1).sum())} pixels")

    def test_every_kind(self):
        every = cases()
        if not FULL:
            every = seed("matrix").sample(every, PART)
        print(f"[{len(every)} files] ", end="", flush=True)
        found = []
        for start in range(0, len(every), FOLDER):
            found += self.mismatches(every[start:start + FOLDER])
        if os.environ.get("FAULTS"):
            Path(os.environ["FAULTS"]).write_text("\n".join(found) + "\n")
        self.assertEqual(len(found), 0, "\n".join(found[:40]))

    def test_tiles_larger_than_libvips_reads(self):
        samples = numpy.zeros((70, 8300, 3), numpy.uint8)
        samples[..., 0], samples[..., 1] = numpy.arange(8300) % 251, numpy.arange(70)[:, None]
        place, library = folder("sources"), folder("library")
        (place / "large.tif").write_bytes(file([Picture(samples, RGB, 8, compression=DEFLATE, tile=8192)]))
        result = run("build", place, "--library", library, "--format", "png", "--tile-size", "8192")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((pixels(library / "large.szi") == samples[:, :8192]).all())

    def refused(self, data: bytes) -> str:
        place = folder("sources")
        (place / "refused.tif").write_bytes(data)
        result = run("build", place, "--library", folder("library"), "--quiet")
        self.assertEqual(result.returncode, 1)
        return result.stderr

    def test_a_refusal_names_the_tag_and_its_value(self):
        gray = numpy.zeros((20, 20, 1), numpy.uint8)
        for reason, picture in {
                "PhotometricInterpretation 51177": Picture(gray, 51177, 8),
                "InkSet 2": Picture(numpy.zeros((20, 20, 5), numpy.uint8), SEPARATED, 8, more={332: (3, [2])}),
                "PhotometricInterpretation 32844": Picture(gray, 32844, 8),
                "BitsPerSample, SampleFormat": Picture(numpy.zeros((20, 20, 3), numpy.uint8), RGB, 8, more={258: (3, [5, 6, 5])}),
                "SampleFormat 6": Picture(gray.astype(numpy.complex64), BLACK_IS_ZERO, 64, COMPLEX),
                "BitsPerSample 16": Picture(numpy.zeros((20, 20, 3), numpy.uint16), YCBCR, 16),
        }.items():
            with self.subTest(reason):
                message = self.refused(file([picture]))
                self.assertIn(reason, message)
                self.assertEqual(len(message.splitlines()), 1)
                self.assertNotRegex(message, "tiff2vips|TIFF[A-Z][a-z]+")
        data = file([Picture(gray, BLACK_IS_ZERO, 8)])
        entry = data.index(struct.pack("<HHI", 259, 3, 1))
        self.assertIn("Compression 22610", self.refused(data[:entry + 8] + struct.pack("<I", 22610) + data[entry + 12:]))


class Masks(CommandTest):
    """NewSubfileType: 1 a reduced copy, 2 a page, 4 a mask, and their sums."""

    def built(self, pictures: list[Picture], *options) -> tuple[dict[str, numpy.ndarray], list[dict]]:
        return self.built_of(file(pictures), *options)

    def built_of(self, data: bytes, *options) -> tuple[dict[str, numpy.ndarray], list[dict]]:
        place, library = folder("sources"), folder("library")
        (place / "a.tif").write_bytes(data)
        result = run("build", place, "--library", library, "--json", "--quiet", *(options or ("--format", "png")))
        self.assertEqual(result.returncode, 0, result.stderr)
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        return {str(archive.relative_to(library))[:-4]: pixels(archive) for archive in library.rglob("*.szi")}, reports

    @staticmethod
    def subfile(kind: int) -> dict:
        return {254: (4, [kind])}

    def page(self, *, bits: int = 8, rows: int = ROWS, kind: int = 0, seed_: int = 0) -> Picture:
        samples = numbers(fractions(3, 3, ()), UINT, bits)
        samples = numpy.roll(samples, seed_, 1)[:rows]
        return Picture(samples, RGB, bits, more=self.subfile(kind))

    def mask(self, *, bits: int = 1, kind: int = 4, rows: int = ROWS, seed_: int = 0, compression: int = DEFLATE) -> Picture:
        y, x = numpy.mgrid[0:rows, 0:COLUMNS]
        inside = ((x + seed_ - 20) ** 2 + (y - 18) ** 2 < 200)[..., None]
        return Picture((inside * ((1 << bits) - 1)).astype(numpy.uint8), MASK, bits, compression=compression, more=self.subfile(kind))

    def check(self, found: numpy.ndarray, page: Picture, mask: Picture | None):
        expected = page.samples if page.bits == 8 else page.samples >> 8
        self.assertEqual(found.shape[2], 3 if mask is None else 4)
        self.assertLessEqual(int(numpy.abs(found[..., :3].astype(int) - expected).max()), page.bits > 8)
        if mask is not None:
            self.assertTrue((found[..., 3] == (mask.samples[..., 0] > 0) * 255).all())

    def test_a_mask_is_the_alpha_of_its_page(self):
        for bits, mask_bits in ((8, 1), (8, 8), (16, 1)):
            with self.subTest((bits, mask_bits)):
                page, mask = self.page(bits=bits), self.mask(bits=mask_bits)
                found, reports = self.built([page, mask])
                self.assertEqual(list(found), ["a"])
                self.check(found["a"], page, mask)
                self.assertIn("its mask taken as alpha", reports[0]["steps"])
                self.assertNotIn("leftOut", reports[0])

    def test_a_mask_before_its_page(self):
        page, mask = self.page(), self.mask()
        found, reports = self.built([mask, page])
        self.assertEqual(list(found), ["a"])
        self.check(found["a"], page, mask)
        self.assertNotIn("leftOut", reports[0])
        # One behind a page belongs to it, and not to the next one.
        pages = [self.page(kind=2, seed_=number) for number in range(2)]
        found, _ = self.built([pages[0], mask, pages[1]])
        self.check(found["a/1"], pages[0], mask)
        self.check(found["a/2"], pages[1], None)

    @staticmethod
    def with_parts(pages: list[tuple[Picture, list[Picture]]], big: bool) -> bytes:
        """Each page with the masks that its SubIFDs lists, behind a reduced copy."""
        out = io.BytesIO()
        with tifffile.TiffWriter(out, bigtiff=big) as writer:
            for page, masks in pages:
                writer.write(page.samples, photometric="rgb", subfiletype=2 * (len(pages) > 1), subifds=1 + len(masks), metadata=None)
                writer.write(page.samples[::2, ::2], photometric="rgb", subfiletype=1, metadata=None)
                for mask in masks:
                    writer.write(mask.samples[..., 0] > 0, photometric="minisblack", subfiletype=4, compression="deflate", metadata=None)
        return out.getvalue()

    def test_a_mask_in_sub_ifds(self):
        pages = [self.page(seed_=number) for number in range(3)]
        masks = [self.mask(seed_=0), None, self.mask(seed_=8)]
        for big in (False, True):
            for count in (1, 3):
                with self.subTest((big, count)):
                    data = self.with_parts([(page, [mask] if mask else []) for page, mask in zip(pages[:count], masks, strict=False)], big)
                    found, reports = self.built_of(data)
                    self.assertEqual(sorted(found), ["a"] if count == 1 else ["a/1", "a/2", "a/3"])
                    for name, page, mask in zip(sorted(found), pages, masks, strict=False):
                        self.check(found[name], page, mask)
                    for report in reports:
                        self.assertNotIn("leftOut", report)
                        self.assertNotIn("dropped", report)

    def test_a_mask_in_sub_ifds_that_is_not_applied(self):
        page, mask = self.page(), self.mask()
        # The first of several.
        found, reports = self.built_of(self.with_parts([(page, [mask, self.mask(seed_=8)])], False))
        self.check(found["a"], page, mask)
        self.assertEqual(reports[0]["dropped"], ["a transparency mask in SubIFDs"])
        whole = self.mask()
        whole.samples[:] = 1
        for other in (whole, self.mask(rows=19)):
            found, reports = self.built_of(self.with_parts([(page, [other])], False))
            self.check(found["a"], page, None)
            self.assertNotIn("dropped", reports[0])

    def test_reduced_copies_and_their_masks_are_left_out(self):
        page, mask = self.page(), self.mask()
        small, small_mask = self.page(rows=19, kind=1), self.mask(rows=19, kind=5)
        for order in ([page, mask, small, small_mask], [page, small, mask, small_mask], [page, small, small_mask, mask]):
            found, _ = self.built(order)
            self.assertEqual(list(found), ["a"])
            self.check(found["a"], page, mask)

    def test_each_page_has_its_own(self):
        pages = [self.page(kind=2, seed_=number) for number in range(3)]
        masks = [self.mask(seed_=0), None, self.mask(seed_=8, kind=6)]
        found, _ = self.built([picture for pair in zip(pages, masks, strict=True) for picture in pair if picture is not None])
        self.assertEqual(sorted(found), ["a/1", "a/2", "a/3"])
        for number, (page, mask) in enumerate(zip(pages, masks, strict=True), 1):
            self.check(found[f"a/{number}"], page, mask)

    def test_a_mask_that_hides_nothing_changes_nothing(self):
        page, mask = self.page(), self.mask()
        mask.samples[:] = 1
        self.check(self.built([page, mask])[0]["a"], page, None)
        self.check(self.built([page, self.mask(rows=19)])[0]["a"], page, None)

    def test_tiles_without_alpha_show_the_background(self):
        page, mask = self.page(), self.mask()
        found = self.built([page, mask], "--format", "png", "--bands", "1,2,3")[0]["a"]
        self.assertEqual(found.shape[2], 3)
        found = self.built([page, mask], "--format", "jpeg", "--background", "0,0,255", "--quality", "100")[0]["a"]
        outside = mask.samples[..., 0] == 0
        outside &= numpy.roll(outside, 8, 0) & numpy.roll(outside, -8, 0) & numpy.roll(outside, 8, 1) & numpy.roll(outside, -8, 1)
        self.assertLessEqual(int(numpy.abs(found[outside].astype(int) - (0, 0, 255)).max()), 20)


if __name__ == "__main__":
    unittest.main()
