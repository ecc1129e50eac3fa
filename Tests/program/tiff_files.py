"""Writes TIFF files of every kind that the tags allow: own container, encoders of imagecodecs and Pillow.

Nothing here is shared with the program, and tifffile reads the files back, so that they are what they are taken for.
"""

import io
import struct
from dataclasses import dataclass, field

import imagecodecs
import numpy
from PIL import Image

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, MASK, SEPARATED, YCBCR, CIELAB, ICCLAB, ITULAB = 0, 1, 2, 3, 4, 5, 6, 8, 9, 10
UINT, INT, FLOAT, VOID, COMPLEX_INT, COMPLEX = 1, 2, 3, 4, 5, 6
NONE, CCITT_RLE, CCITT_T4, CCITT_T6, LZW, OLD_JPEG, JPEG, DEFLATE = 1, 2, 3, 4, 5, 6, 7, 8
PACKBITS, OLD_DEFLATE, APERIO_YCBCR, APERIO_RGB = 32773, 32946, 33003, 33005
JPEG2000, LERC, LZMA, ZSTD, WEBP, JPEGXL = 34712, 34887, 34925, 50000, 50001, 50002

# Samples of a pixel's colour.
COLOURS = {WHITE_IS_ZERO: 1, BLACK_IS_ZERO: 1, PALETTE: 1, MASK: 1, RGB: 3, YCBCR: 3, CIELAB: 3, ICCLAB: 3, ITULAB: 3,
           SEPARATED: 4}
# Struct's letter for each type of field.
TYPES = {1: "B", 2: "B", 3: "H", 4: "I", 5: "II", 7: "B", 12: "d", 16: "Q"}


@dataclass
class Picture:
    """An image of a TIFF file: its samples, one array of rows × columns × samples, and what the tags say of them."""

    samples: numpy.ndarray
    photometric: int
    bits: int
    format: int = UINT
    compression: int = NONE
    # Side of tiles; 0 is strips.
    tile: int = 0
    # Rows of a strip; 0 is all.
    rows: int = 0
    is_separate: bool = False
    extra: tuple[int, ...] = ()
    predictor: int = 1
    # Bits in reverse order.
    fill_order: int = 1
    # Numbers of tiles and strips that the file does not hold.
    missing: frozenset[int] = frozenset()
    subsampling: tuple[int, int] = (1, 1)
    palette: numpy.ndarray | None = None
    # JPEG and JPEG 2000 tiles no larger than the picture's edge.
    is_cropped: bool = False
    more: dict[int, tuple[int, list]] = field(default_factory=dict)

    @property
    def columns(self) -> int:
        return self.samples.shape[1]

    @property
    def height(self) -> int:
        return self.samples.shape[0]


def units(picture: Picture) -> list[numpy.ndarray]:
    """The tiles or strips of all planes; tiles padded by their edge."""
    planes = [picture.samples[..., band:band + 1] for band in range(picture.samples.shape[2])] \
        if picture.is_separate else [picture.samples]
    found = []
    for plane in planes:
        if not picture.tile:
            rows = picture.rows or picture.height
            found += [plane[y:y + rows] for y in range(0, picture.height, rows)]
            continue
        side = picture.tile
        for y in range(0, picture.height, side):
            for x in range(0, picture.columns, side):
                part = plane[y:y + side, x:x + side]
                if not picture.is_cropped:
                    part = numpy.pad(part, ((0, side - part.shape[0]), (0, side - part.shape[1]), (0, 0)), mode="edge")
                found.append(part)
    return found


def packed(part: numpy.ndarray, picture: Picture, order: str) -> bytes:
    """Samples as they are stored before compression: rows begin at bytes; in the file's byte order where they are whole."""
    rows = part.reshape(part.shape[0], -1)
    if picture.format == FLOAT and picture.bits == 24:
        return imagecodecs.float24_encode(numpy.ascontiguousarray(rows, numpy.float32), byteorder=order)
    if picture.bits in (8, 16, 32, 64, 128):
        return rows.astype(rows.dtype.newbyteorder(order)).tobytes()
    if picture.bits == 24:
        number = rows.astype(numpy.uint32) if rows.dtype.kind == "u" else rows.astype(numpy.int32).view(numpy.uint32)
        bytes_ = number.astype("<u4").view(numpy.uint8).reshape(*rows.shape, 4)[..., :3]
        return numpy.ascontiguousarray(bytes_ if order == "<" else bytes_[..., ::-1]).tobytes()
    return b"".join(bits(row, picture.bits) for row in rows)


def bits(row: numpy.ndarray, count: int) -> bytes:
    """Numbers of so many bits, the highest bit first."""
    numbers = row.astype(numpy.int64).astype(numpy.uint64)
    spread = (numbers[:, None] >> numpy.arange(count - 1, -1, -1, dtype=numpy.uint64)) & numpy.uint64(1)
    return numpy.packbits(spread.astype(numpy.uint8).ravel()).tobytes()


def differences(part: numpy.ndarray, picture: Picture) -> numpy.ndarray:
    """Each sample less that of the pixel before (TIFF 6.0, section 14)."""
    whole = part.view({1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}[part.dtype.itemsize])
    found = whole.copy()
    found[:, 1:] -= whole[:, :-1]
    return found


def encoded(part: numpy.ndarray, picture: Picture, order: str) -> bytes:
    part = numpy.ascontiguousarray(part)
    plain = part[..., 0] if part.shape[2] == 1 else part
    match picture.compression:
        case c if c == JPEG:
            space = {1: "GRAYSCALE", 3: "YCBCR" if picture.photometric == YCBCR else "RGB", 4: "CMYK"}[part.shape[2]]
            options = {"subsampling": {(1, 1): "444", (2, 1): "422", (2, 2): "420", (4, 1): "411"}[picture.subsampling]} \
                if picture.photometric == YCBCR and part.shape[2] == 3 else {}
            source = "RGB" if space == "YCBCR" else space
            return imagecodecs.jpeg8_encode(plain, 95, colorspace=source, outcolorspace=space, **options)
        case c if c == WEBP:
            return imagecodecs.webp_encode(plain, lossless=True)
        case c if c == LERC:
            return imagecodecs.lerc_encode(plain, version=4)
        case c if c in (JPEG2000, APERIO_YCBCR, APERIO_RGB):
            space = "SRGB" if part.shape[2] == 3 else "GRAY" if part.shape[2] == 1 else "UNSPECIFIED"
            return imagecodecs.jpeg2k_encode(
                plain, 0, codecformat="J2K", colorspace=space, reversible=True, mct=c != APERIO_YCBCR and part.shape[2] == 3,
                bitspersample=picture.bits, resolutions=2)
        case c if c == JPEGXL:
            return imagecodecs.jpegxl_encode(plain, lossless=True, bitspersample=picture.bits)
        case c if c in (CCITT_RLE, CCITT_T4, CCITT_T6):
            return fax(part, picture)
    if picture.photometric == YCBCR and picture.subsampling != (1, 1):
        raw = data_units(part, picture.subsampling)
    elif picture.predictor == 2:
        part = differences(part, picture)
        raw = packed(part, picture, order)
    elif picture.predictor == 3:
        rows = numpy.ascontiguousarray(part.astype(part.dtype.newbyteorder(">")))
        raw = floating_differences(rows)
    else:
        raw = packed(part, picture, order)
    if picture.fill_order == 2 and picture.compression == NONE:
        return imagecodecs.bitorder_encode(raw)
    data = compressed(raw, picture.compression)
    return imagecodecs.bitorder_encode(data) if picture.fill_order == 2 else data


def data_units(part: numpy.ndarray, subsampling: tuple[int, int]) -> bytes:
    """Y of so many pixels, then their Cb and Cr (TIFF 6.0, section 21)."""
    across, down = subsampling
    part = numpy.pad(part, ((0, -part.shape[0] % down), (0, -part.shape[1] % across), (0, 0)), mode="edge")
    return b"".join(part[y:y + down, x:x + across, 0].tobytes() + part[y, x, 1:].tobytes()
                    for y in range(0, part.shape[0], down) for x in range(0, part.shape[1], across))


def floating_differences(rows: numpy.ndarray) -> bytes:
    """Bytes of a row by their weight, each less that of the sample before it in its pixel (Adobe's TIFF Technical Note 3)."""
    height, width, samples = rows.shape
    size = rows.dtype.itemsize
    planes = rows.view(numpy.uint8).reshape(height, width * samples, size).transpose(0, 2, 1).reshape(height, -1)
    found = planes.copy()
    found[:, samples:] -= planes[:, :-samples]
    return found.tobytes()


def compressed(raw: bytes, compression: int) -> bytes:
    match compression:
        case c if c == NONE:
            return raw
        case c if c == LZW:
            return imagecodecs.lzw_encode(raw)
        case c if c in (DEFLATE, OLD_DEFLATE):
            return imagecodecs.zlib_encode(raw)
        case c if c == PACKBITS:
            return imagecodecs.packbits_encode(raw)
        case c if c == LZMA:
            return imagecodecs.lzma_encode(raw)
        case c if c == ZSTD:
            return imagecodecs.zstd_encode(raw)
    raise ValueError(f"compression {compression}")


def fax(part: numpy.ndarray, picture: Picture) -> bytes:
    """Written by Pillow's libtiff: 1 is white there."""
    out = io.BytesIO()
    name = {CCITT_RLE: "tiff_ccitt", CCITT_T4: "group3", CCITT_T6: "group4"}[picture.compression]
    white = part[..., 0] if picture.photometric == BLACK_IS_ZERO else 1 - part[..., 0]
    image = Image.fromarray((white * 255).astype(numpy.uint8)).convert("1")
    image.save(out, "TIFF", compression=name, tiffinfo={278: part.shape[0], 262: picture.photometric})
    tags = Image.open(io.BytesIO(out.getvalue())).tag_v2
    assert len(tags[273]) == 1
    return out.getvalue()[tags[273][0]:tags[273][0] + tags[279][0]]


def file(pictures: list[Picture], order: str = "<", is_big: bool = False) -> bytes:
    """A file of so many directories."""
    data = bytearray((b"II" if order == "<" else b"MM") + struct.pack(order + "H", 43 if is_big else 42)
                     + (struct.pack(order + "HHQ", 8, 0, 0) if is_big else bytes(4)))
    link = 8 if is_big else 4
    for picture in pictures:
        link = append(data, picture, order, is_big, link)
    return bytes(data)


def append(data: bytearray, picture: Picture, order: str, is_big: bool, link: int) -> int:
    """Adds a picture and its directory, whose place is put where `link` is; returns where the next link is."""
    places, sizes = [], []
    for index, part in enumerate(units(picture)):
        unit = b"" if index in picture.missing else encoded(part, picture, order)
        places.append(0 if index in picture.missing else len(data))
        sizes.append(len(unit))
        data += unit + bytes(len(unit) % 2)
    samples = picture.samples.shape[2]
    tags = {256: (4, [picture.columns]), 257: (4, [picture.height]), 258: (3, [picture.bits] * samples),
            259: (3, [picture.compression]), 262: (3, [picture.photometric]), 277: (3, [samples]),
            284: (3, [2 if picture.is_separate else 1]), 339: (3, [picture.format] * samples)}
    if picture.tile:
        tags |= {322: (4, [picture.tile]), 323: (4, [picture.tile]), 324: (4, places), 325: (4, sizes)}
    else:
        tags |= {273: (4, places), 278: (4, [picture.rows or picture.height]), 279: (4, sizes)}
    if picture.extra:
        tags[338] = (3, list(picture.extra))
    if picture.predictor != 1:
        tags[317] = (3, [picture.predictor])
    if picture.fill_order != 1:
        tags[266] = (3, [picture.fill_order])
    if picture.photometric == YCBCR:
        tags[530] = (3, list(picture.subsampling))
    if picture.palette is not None:
        tags[320] = (3, [int(value) for value in picture.palette.T.ravel()])
    if picture.compression == LERC:
        tags[50674] = (4, [4, 0])
    tags |= picture.more
    data += bytes(-len(data) % 8)
    start = len(data)
    struct.pack_into(order + ("Q" if is_big else "I"), data, link, start)
    room, size = (8, 20) if is_big else (4, 12)
    after = start + (8 if is_big else 2) + size * len(tags) + room
    entries, tail = bytearray(), bytearray()
    for tag, (kind, values) in sorted(tags.items()):
        letter = TYPES[kind]
        value = b"".join(struct.pack(order + letter, *(each if len(letter) == 2 else [each])) for each in values)
        if len(value) > room:
            value, spill = struct.pack(order + ("Q" if is_big else "I"), after + len(tail)), value
            tail += spill + bytes(-len(spill) % 8)
        entries += struct.pack(order + ("HHQ" if is_big else "HHI"), tag, kind, len(values)) + value.ljust(room, b"\0")
    data += struct.pack(order + ("Q" if is_big else "H"), len(tags)) + entries + bytes(room) + tail
    return after - room
