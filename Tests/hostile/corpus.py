"""Makes hundreds of broken image files: truncated, flipped, lying, bombs, empty, misnamed.

Whole files of every format that libvips can write here are the start; everything is made from one seed, so
that a name always means the same bytes.
"""

import os
import random
import struct
import subprocess
import zlib
from pathlib import Path

WALLPAPER = Path("/usr/share/wallpapers/Flow/contents/images/5120x2880.jpg")
HUGE = (0, 1, 65535, 0x7FFFFFFF, 0xFFFFFFFF)

# Name → what `vips copy` writes from a 420×310 piece of a photograph, after this operation on it.
WHOLE = {
    "baseline.jpg": ("", "[Q=85,subsample_mode=on]"),
    "progressive.jpg": ("", "[Q=85,interlace]"),
    "full-chroma.jpg": ("", "[Q=95]"),
    "restarts.jpg": ("", "[Q=80,restart_interval=4]"),
    "optimized.jpg": ("", "[Q=80,optimize_coding]"),
    "gray.jpg": ("gray", "[Q=85]"),
    "cmyk.jpg": ("cmyk", "[Q=85]"),
    "rgb.png": ("", ""),
    "interlaced.png": ("", "[interlace]"),
    "palette.png": ("", "[palette]"),
    "bilevel.png": ("gray", "[palette,bitdepth=1]"),
    "sixteen.png": ("sixteen", ""),
    "alpha.png": ("alpha", ""),
    "strips.tif": ("", ""),
    "tiles.tif": ("", "[tile,tile_width=128,tile_height=128]"),
    "deflate.tif": ("", "[tile,tile_width=256,tile_height=256,compression=deflate,predictor=horizontal]"),
    "lzw.tif": ("", "[compression=lzw]"),
    "jpeg-tiles.tif": ("", "[tile,tile_width=256,tile_height=256,compression=jpeg,Q=80]"),
    "jpeg-strips.tif": ("", "[compression=jpeg,Q=80]"),
    "big.tif": ("", "[bigtiff,tile,compression=deflate]"),
    "pyramid.tif": ("", "[tile,pyramid,compression=jpeg]"),
    "photo.webp": ("", ""),
    "photo.gif": ("", ""),
    "photo.jp2": ("", ""),
    "photo.heic": ("", "[compression=av1]"),
    "photo.ppm": ("", ""),
    "photo.fits": ("", ""),
}


def whole(folder: Path) -> list[Path]:
    """The unbroken files; a format that this libvips cannot write is left out and named."""
    folder.mkdir(parents=True, exist_ok=True)

    def vips(*arguments) -> None:
        subprocess.run(["vips", *map(str, arguments)], check=True, capture_output=True)

    base = {name: folder / f"base-{name or 'rgb'}.v" for name in ("", "gray", "cmyk", "sixteen", "alpha")}
    vips("crop", WALLPAPER, base[""], 900, 700, 420, 310)
    vips("colourspace", base[""], base["gray"], "b-w")
    vips("colourspace", base[""], base["sixteen"], "rgb16")
    vips("bandjoin", f"{base['']} {base['gray']}", base["alpha"])
    vips("icc_export", base[""], base["cmyk"], "--output-profile", "cmyk")
    files = []
    for name, (kind, options) in WHOLE.items():
        try:
            vips("copy", base[kind], f"{folder / name}{options}")
            files.append(folder / name)
        except subprocess.CalledProcessError as error:
            print(f"left out: {name}: {error.stderr.decode().strip().splitlines()[-1]}")
    for path in base.values():
        path.unlink()
    return files


def make(folder: Path, seed: int = 20240229) -> list[Path]:
    """All broken files, in `folder`, sorted by name."""
    chance = random.Random(seed)
    sources = whole(folder / "whole")
    broken = folder / "broken"
    broken.mkdir()

    def write(name: str, data: bytes) -> None:
        (broken / name).write_bytes(data)

    for source in sources:
        data, name = source.read_bytes(), source.name
        for tenth in range(1, 10):
            write(f"cut-{tenth}0-{name}", data[:len(data) * tenth // 10])
        write(f"cut-last-{name}", data[:-1])
        write(f"cut-head-{name}", data[:12])
        for number in range(6):
            flipped = bytearray(data)
            # The first half of them in the header, where a flip changes what is promised.
            reach = min(len(data), 400) if number < 3 else len(data)
            for _ in range(1 + number):
                flipped[chance.randrange(reach)] ^= 1 << chance.randrange(8)
            write(f"flip-{number}-{name}", bytes(flipped))
        start = chance.randrange(len(data) // 3, len(data) // 2)
        write(f"zeroed-{name}", data[:start] + bytes(len(data) // 4) + data[start + len(data) // 4:])
        write(f"noise-{name}", data[:start] + chance.randbytes(len(data) // 4) + data[start + len(data) // 4:])
        for other in (".jpg", ".png", ".tif"):
            if source.suffix != other and chance.random() < 0.3:
                write(f"misnamed-{name}{other}", data[:len(data) * 2 // 3])
    for suffix in ("jpg", "png", "tif", "webp", "gif", "jp2", "heic", "ppm", "svg", "pdf", "fits"):
        write(f"empty.{suffix}", b"")
        write(f"zeros.{suffix}", bytes(4096))
        write(f"random.{suffix}", chance.randbytes(4096))
        write(f"text.{suffix}", b"This is a letter, not a picture.\n" * 40)
    by_name = {path.name: path.read_bytes() for path in sources}
    for name in ("baseline.jpg", "progressive.jpg"):
        lying_jpeg(by_name[name], name, write)
    lying_png(by_name["rgb.png"], write)
    for name in ("strips.tif", "tiles.tif", "jpeg-tiles.tif", "deflate.tif"):
        lying_tiff(by_name[name], name, write)
    bombs(write)
    return sorted(broken.iterdir())


def lying_jpeg(data: bytes, name: str, write) -> None:
    """Frame headers with other sizes, components and precision; segments of wrong lengths."""
    frame = next(at for at in range(len(data)) if data[at:at + 2] in (b"\xff\xc0", b"\xff\xc2"))
    for field, at, size in (("height", 5, 2), ("width", 7, 2), ("components", 9, 1), ("precision", 4, 1),
                            ("sampling", 11, 1), ("table", 12, 1), ("length", 2, 2)):
        for value in (0, 1, 0x7F, 0xFF) if size == 1 else (0, 1, 0x7FFF, 0xFFFF):
            lie = data[:frame + at] + value.to_bytes(size, "big") + data[frame + at + size:]
            write(f"lie-{field}-{value}-{name}", lie)
    # Many scans over one image cost time without end in a careless decoder.
    scan = data.index(b"\xff\xda")
    write(f"lie-scans-{name}", data[:scan] + data[scan:-2] * 40 + data[-2:])
    write(f"lie-no-tables-{name}", data[:2] + data[frame:])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def lying_png(data: bytes, write) -> None:
    """Headers with right checksums and wrong promises, and pixel data that disagrees."""
    rest = data[8 + 25:]
    for width, height, depth, colour, interlace in (
        (420, 0x7FFFFFFF, 8, 2, 0), (0x7FFFFFFF, 310, 8, 2, 0), (0, 310, 8, 2, 0), (420, 0, 8, 2, 0),
        (46341, 46341, 8, 2, 0), (420, 310, 3, 2, 0), (420, 310, 8, 5, 0), (420, 310, 16, 6, 0), (420, 310, 8, 3, 0),
        (420, 310, 8, 2, 1), (420, 310, 8, 2, 9), (840, 620, 8, 2, 0), (210, 155, 8, 2, 0), (1, 1, 8, 2, 0),
    ):
        header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
        write(f"lie-{width}x{height}-{depth}-{colour}-{interlace}.png", data[:8] + _chunk(b"IHDR", header) + rest)
    write("lie-no-header.png", data[:8] + rest)
    write("lie-chunk-length.png", data[:33] + b"\xff\xff\xff\xff" + data[37:])
    profile = b"x\x00\x00" + zlib.compress(bytes(50_000_000), 9)
    write("bomb-profile.png", data[:33] + _chunk(b"iCCP", profile) + rest)
    write("bomb-text.png", data[:33] + _chunk(b"zTXt", profile) + rest)


TAGS = {"width": 256, "height": 257, "bits": 258, "compression": 259, "photometric": 262, "offsets": 273,
        "samples": 277, "rows": 278, "counts": 279, "planar": 284, "tile-width": 322, "tile-height": 323,
        "tile-offsets": 324, "tile-counts": 325, "format": 339}


def lying_tiff(data: bytes, name: str, write) -> None:
    """Directory entries of a little-endian TIFF with other values, types and counts."""
    directory = struct.unpack_from("<I", data, 4)[0]
    entries = struct.unpack_from("<H", data, directory)[0]
    places = {struct.unpack_from("<H", data, directory + 2 + 12 * number)[0]: directory + 2 + 12 * number
              for number in range(entries)}
    for word, tag in TAGS.items():
        if tag in places:
            for value in HUGE:
                lie = bytearray(data)
                struct.pack_into("<HII", lie, places[tag] + 2, 4, 1, value)
                write(f"lie-{word}-{value}-{name}", bytes(lie))
            lie = bytearray(data)
            struct.pack_into("<I", lie, places[tag] + 4, 0xFFFFFFF)
            write(f"lie-{word}-count-{name}", bytes(lie))
    loop = bytearray(data)
    struct.pack_into("<I", loop, directory + 2 + 12 * entries, directory)
    write(f"lie-loop-{name}", bytes(loop))


def bombs(write) -> None:
    """Small files that promise, or unfold to, far more than they hold."""
    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    pixels = zlib.compressobj(9)
    packed = b"".join(pixels.compress(bytes(180001)) for _ in range(300)) + pixels.flush()
    write("bomb-rows.png", b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b""))
    sizes = [(2 ** 31 - 1, 1), (1, 2 ** 31 - 1), (2 ** 31, 2 ** 31)]
    for width, height in (*sizes, (65536, 65536)):
        write(f"bomb-{width}x{height}.ppm", b"P6\n%d %d\n255\n" % (width, height) + bytes(1000))
    # An honest drawing, of four gigapixels where there is time.
    for width, height in (*sizes, (65536, 65536 if os.environ.get("FULL") else 8192)):
        write(f"bomb-{width}x{height}.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"/>' % (width, height))
    # Each by another way: native, 16 bits, interlaced, palette.
    for name, width, height, depth, colour, interlace in (
        ("wide", 2 ** 31 - 1, 1, 8, 2, 0), ("deep", 2 ** 31 - 1, 2 ** 31 - 1, 16, 2, 0), ("tall", 1, 2 ** 31 - 1, 16, 0, 0),
        ("interlaced", 60000, 60000, 8, 2, 1), ("palette", 2 ** 31 - 1, 1, 8, 3, 0),
    ):
        start = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))
        start += _chunk(b"PLTE", bytes(768)) if colour == 3 else b""
        write(f"bomb-{name}.png", b"\x89PNG\r\n\x1a\n" + start + _chunk(b"IDAT", zlib.compress(bytes(100_000)))
              + _chunk(b"IEND", b""))
    entity = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    write("bomb-laughs.svg", f'<!DOCTYPE svg [<!ENTITY l0 "ha">{entity}]><svg xmlns="http://www.w3.org/2000/svg" '
          f'width="9" height="9"><text>&l9;</text></svg>'.encode())
    write("outside.svg", b'<!DOCTYPE svg [<!ENTITY f SYSTEM "file:///etc/passwd">]><svg '
          b'xmlns="http://www.w3.org/2000/svg" width="90" height="90"><text y="9">&f;</text></svg>')
