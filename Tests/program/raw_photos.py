"""RAW photographs made of a picture: what a sensor with that scene before it writes, as DNG and as cameras lay it out."""

import struct
from pathlib import Path

import numpy
from PIL import Image
from slides import jpeg

# Colour filters by rows, as CFAPattern has them: 0 red, 1 green, 2 blue.
FILTERS = {"RGGB": (0, 1, 1, 2), "BGGR": (2, 1, 1, 0), "GRBG": (1, 0, 2, 1), "GBRG": (1, 2, 0, 1)}
# What this sensor sees of white, and XYZ of linear sRGB (IEC 61966-2-1).
NEUTRAL = (0.5, 1.0, 0.6)
XYZ = numpy.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
SIZES = {1: "B", 2: "B", 3: "H", 4: "I", 5: "II", 7: "B", 10: "ii"}


def mosaic(picture: Image.Image, filters: str, bits: int) -> bytes:
    """The sensor's samples, packed from the highest bit on, as TIFF 6.0 packs them."""
    linear = (numpy.asarray(picture.convert("RGB")) / 255.0) ** 2.2 * NEUTRAL
    height, width = linear.shape[:2]
    place = numpy.tile(numpy.array(FILTERS[filters]).reshape(2, 2), (height // 2, width // 2))
    samples = numpy.rint(numpy.take_along_axis(linear, place[..., None], 2)[..., 0] * (2**bits - 1)).astype(numpy.uint16)
    if bits == 16:
        return samples.astype("<u2").tobytes()
    planes = [(samples >> bit) & 1 for bit in reversed(range(bits))]
    return numpy.packbits(numpy.stack(planes, 2).reshape(height, -1), axis=1).tobytes()


def rationals(values) -> list[int]:
    return [number for value in values for number in (round(value * 10000), 10000)]


def sensor(picture: Image.Image, filters: str = "RGGB", bits: int = 16) -> dict:
    """The directory of a mosaic; `data` are its samples."""
    return {"data": mosaic(picture, filters, bits), 254: (4, [0]), 256: (4, [picture.width]), 257: (4, [picture.height]),
            258: (3, [bits]), 259: (3, [1]), 262: (3, [32803]), 277: (3, [1]), 278: (4, [picture.height]), 284: (3, [1]),
            33421: (3, [2, 2]), 33422: (1, [*FILTERS[filters]])}


def preview(picture: Image.Image) -> dict:
    """The directory of a JPEG."""
    return {"data": jpeg(picture, 90), 254: (4, [1]), 256: (4, [picture.width]), 257: (4, [picture.height]), 258: (3, [8, 8, 8]),
            259: (3, [7]), 262: (3, [6]), 277: (3, [3]), 278: (4, [picture.height]), 284: (3, [1]), 530: (3, [2, 2])}


def names(maker: str, model: str, orientation: int = 1) -> dict:
    return {271: (2, [*maker.encode(), 0]), 272: (2, [*model.encode(), 0]), 274: (3, [orientation])}


def dng(bits: int = 16, maker: str = "Acme", model: str = "One", orientation: int = 1) -> dict:
    """What makes a directory a DNG's first (DNG 1.4, chapter 4)."""
    matrix = numpy.diag(NEUTRAL) @ numpy.linalg.inv(XYZ)
    return names(maker, model, orientation) | {
        50706: (1, [1, 4, 0, 0]), 50708: (2, [*f"{maker} {model}".encode(), 0]), 50714: (3, [0]), 50717: (4, [2**bits - 1]),
        50721: (10, rationals(matrix.ravel())), 50728: (5, rationals(NEUTRAL)), 50778: (3, [21])}


def write(path: Path, first: dict, *parts: dict) -> Path:
    """A classic TIFF of little-endian numbers: one directory, and those that its SubIFDs lists."""
    with open(path, "wb") as out:
        out.write(b"II*\0\0\0\0\0")

        def add(directory: dict) -> int:
            tags = {tag: value for tag, value in directory.items() if tag != "data"}
            tags[273], tags[279] = (4, [out.tell()]), (4, [len(directory["data"])])
            out.write(directory["data"] + b"\0" * (len(directory["data"]) % 2))
            entries = b""
            for tag, (kind, values) in sorted(tags.items()):
                data = struct.pack(f"<{len(values)}{SIZES[kind][0]}", *values)
                count = len(values) // len(SIZES[kind])
                if len(data) > 4:
                    data, place = struct.pack("<I", out.tell()), out.write(data + b"\0" * (len(data) % 2))
                entries += struct.pack("<HHI", tag, kind, count) + data.ljust(4, b"\0")
            start = out.tell()
            out.write(struct.pack("<H", len(tags)) + entries + bytes(4))
            return start

        places = [add(part) for part in parts]
        start = add(first | ({330: (4, places)} if places else {}))
        out.seek(4)
        out.write(struct.pack("<I", start))
    return path
