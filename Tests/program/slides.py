"""TIFF files as scanners of slides write them, put together of JPEG tiles: what OpenSlide's own samples are like."""

import io
import struct
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

APERIO = ("Aperio Image Library v11.2.1 \r\n{0}x{1} [0,0 {0}x{1}] ({2}x{2}) JPEG/RGB Q=70|AppMag = 20|ScanScope ID = "
          "CPAPERIOCS|Filename = CMU-1|User = b414003d|MPP = 0.4990|OriginalWidth = {0}|OriginalHeight = {1}")


@dataclass
class Directory:
    """One picture of a TIFF: `pieces` are its tiles, or its strips where `tile` is None."""
    width: int
    height: int
    pieces: list[bytes]
    tile: int | None = None
    photometric: int = 6
    sampling: tuple[int, int] = (2, 2)
    tables: bytes = b""
    description: str = ""
    subfile: int = 0
    bits: int = 8
    # Of fields that are to say something else.
    fields: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    # What SubIFDs has.
    parts: list["Directory"] = field(default_factory=list)

    def tags(self) -> dict[int, tuple[int, list[int]]]:
        tags = {254: (4, [self.subfile]), 256: (4, [self.width]), 257: (4, [self.height]), 258: (3, [self.bits] * 3),
                259: (3, [7]), 262: (3, [self.photometric]), 277: (3, [3]), 284: (3, [1])}
        if self.description:
            tags[270] = (2, [*self.description.encode(), 0])
        if self.tile:
            tags |= {322: (4, [self.tile]), 323: (4, [self.tile])}
        else:
            tags[278] = (4, [self.height])
        if self.tables:
            tags[347] = (7, [*self.tables])
        if self.photometric == 6:
            tags[530] = (3, [*self.sampling])
        return tags | self.fields


SIZES = {1: "B", 2: "B", 3: "H", 4: "I", 5: "Q", 7: "B", 9: "i", 11: "f", 16: "Q"}


def write(path: Path, directories: list[Directory]) -> Path:
    """A BigTIFF of little-endian numbers, one directory after the other."""
    with open(path, "wb") as out:
        out.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0))

        def add(each: Directory) -> int:
            """Where the directory begins; its link to the next one is the last that is written."""
            places = []
            for piece in each.pieces:
                # A tile that is missing lies nowhere and is as long.
                places.append(out.tell() if piece else 0)
                out.write(piece)
            offsets, counts = (324, 325) if each.tile else (273, 279)
            tags = each.tags()
            tags.setdefault(offsets, (16, places))
            tags.setdefault(counts, (4, [len(piece) for piece in each.pieces]))
            if each.parts:
                tags[330] = (16, [add(part) for part in each.parts])
            entries = b""
            for tag, (kind, values) in sorted(tags.items()):
                data = struct.pack(f"<{len(values)}{SIZES[kind]}", *values)
                if len(data) > 8:
                    data, place = struct.pack("<Q", out.tell()), out.write(data)
                entries += struct.pack("<HHQ", tag, kind, len(values)) + data.ljust(8, b"\0")
            start = out.tell()
            out.write(struct.pack("<Q", len(tags)) + entries + bytes(8))
            return start

        link = 8
        for each in directories:
            start = add(each)
            out.seek(link)
            out.write(struct.pack("<Q", start))
            out.seek(0, 2)
            link = out.tell() - 8
    return path


def read(path: Path) -> Directory:
    """The first picture of a tiled JPEG TIFF of little-endian numbers, as libvips writes it."""
    with open(path, "rb") as file:
        def numbers(kind: int, count: int, place: int | None = None) -> tuple[int, ...]:
            if place is not None:
                file.seek(place)
            return struct.unpack(f"<{count}{SIZES[kind]}", file.read(count * struct.calcsize(f"<{SIZES[kind]}")))

        file.seek(2)
        big = numbers(3, 1)[0] == 43
        wide = 16 if big else 4
        start = numbers(wide, 1, 8 if big else 4)[0]
        found: dict[int, tuple[int, ...]] = {}
        step, length = (20, 8) if big else (12, 2)
        for entry in range(numbers(16 if big else 3, 1, start)[0]):
            tag, kind = numbers(3, 2, start + length + step * entry)
            count, = numbers(wide, 1)
            if kind in SIZES:
                whole = count * struct.calcsize(f"<{SIZES[kind]}")
                found[tag] = numbers(kind, count, None if whole <= (8 if big else 4) else numbers(wide, 1)[0])
        pieces = []
        for place, size in zip(found[324], found[325]):
            file.seek(place)
            pieces.append(file.read(size))
    return Directory(found[256][0], found[257][0], pieces, found[322][0], found[262][0], found.get(530, (1, 1)),
                     bytes(found.get(347, ())))


def jpeg(picture: Image.Image, quality: int = 70, sampling: tuple[int, int] = (2, 2), **how) -> bytes:
    """One JPEG; with `streamtype` 1 its tables alone, with 2 all but its tables."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality, subsampling={(2, 2): 2, (2, 1): 1, (1, 1): 0}[sampling], **how)
    return out.getvalue()


def segments(data: bytes):
    """A JPEG's markers up to its scan: each marker with its body, and at last 0xda with all that follows."""
    at = 2
    while data[at + 1] != 0xda:
        if data[at + 1] == 0xd9:
            return
        length = int.from_bytes(data[at + 2:at + 4])
        yield data[at + 1], data[at + 4:at + 2 + length]
        at += 2 + length
    yield 0xda, data[at + 2:]


def unmarked(data: bytes, ids: tuple[int, int, int] | None = None) -> bytes:
    """A JPEG without the markers that say which colours it has, its components called `ids`."""
    out = b"\xff\xd8"
    for marker, body in segments(data):
        body = bytearray(body)
        if marker in (0xe0, 0xee):
            continue
        if ids and marker == 0xc0:
            body[6:15:3] = bytes(ids)
        if ids and marker == 0xda:
            body[3:9:2] = bytes(ids)
        out += bytes([0xff, marker]) + (bytes(body) if marker == 0xda else struct.pack(">H", len(body) + 2) + bytes(body))
    return out if out[-2:] == b"\xff\xd9" else out + b"\xff\xd9"


def tiled(picture: Image.Image, tile: int = 240, quality: int = 70, sampling: tuple[int, int] = (2, 2), *,
          rgb: bool = False, description: str | None = None, subfile: int = 0) -> Directory:
    """A picture in tiles that share their tables, those at the edges as large as the others; with `rgb` as Aperio stores
    colours where it says so: not converted, and under the numbers that YCbCr's components have."""
    how = {"keep_rgb": True} if rgb else {}
    ids = (1, 2, 3) if rgb else None
    pieces = []
    for y in range(0, picture.height, tile):
        for x in range(0, picture.width, tile):
            # Beyond the edge the last pixels are repeated, as encoders do.
            box = picture.crop((x, y, min(x + tile, picture.width), min(y + tile, picture.height)))
            whole = Image.new("RGB", (tile, tile), box.getpixel((box.width - 1, box.height - 1)))
            whole.paste(box)
            pieces.append(unmarked(jpeg(whole, quality, sampling, streamtype=2, **how), ids))
    tables = unmarked(jpeg(picture.crop((0, 0, 16, 16)), quality, sampling, streamtype=1, **how))
    if description is None:
        description = APERIO.format(picture.width, picture.height, tile)
    return Directory(picture.width, picture.height, pieces, tile, 2 if rgb else 6, sampling, tables, description, subfile)


def strip(picture: Image.Image, description: str, subfile: int = 0) -> Directory:
    return Directory(picture.width, picture.height, [unmarked(jpeg(picture))], None, 6, (2, 2), b"", description, subfile)


def svs(path: Path, picture: Image.Image, **how) -> Path:
    """What an Aperio scanner writes: the slide, its thumbnail, a smaller level, its label, which shows the patient's
    name, and the glass as a whole."""
    main = tiled(picture, **how)
    head = main.description.split("\r\n")[0]
    small = picture.resize((max(1, picture.width // 4), max(1, picture.height // 4)))
    return write(path, [
        main,
        strip(picture.resize((200, 150)), f"{head}\r\n{picture.width}x{picture.height} -> 200x150 - |AppMag = 20"),
        tiled(small, **{**how, "description": APERIO.format(small.width, small.height, main.tile)}),
        strip(Image.new("RGB", (120, 140), (250, 20, 20)), f"{head}\nlabel 120x140", 1),
        strip(Image.new("RGB", (320, 110), (20, 20, 250)), f"{head}\nmacro 320x110", 9),
    ])


def plane(pixels, description: str = "") -> Directory:
    """Gray samples of 8 or 16 bits as they are, in one strip: a numpy array of rows and columns."""
    bits = pixels.dtype.itemsize * 8
    fields = {258: (3, [bits]), 259: (3, [1]), 277: (3, [1]), 339: (3, [1])}
    data = pixels.astype(pixels.dtype.newbyteorder("<")).tobytes()
    return Directory(pixels.shape[1], pixels.shape[0], [data], None, 1, description=description, fields=fields)
