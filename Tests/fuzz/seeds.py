"""The first inputs of every target, made once in .cache/fuzz/seeds: small complete files of each kind that it takes."""

import json
import os
import struct
import subprocess
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / ".cache/fuzz/seeds"
ZIGGURAT = Path(os.environ.get("ZIGGURAT", ROOT / ".build/release/ziggurat"))
WALLPAPER = "/usr/share/wallpapers/Autumn/contents/images/2560x1600.jpg"
SRGB = "/usr/share/color/icc/colord/sRGB.icc"
# The options of `vips copy` for each first input; "gray", "alpha": bands of the picture.
PICTURES = {
    "jpeg": [("", "[Q=80]"), ("", "[Q=95]"), ("", "[Q=80,interlace]"), ("gray", "[Q=80]"),
             ("", "[Q=80,restart_interval=2]"), ("", "[Q=60,optimize_coding]")],
    "png": [("", ""), ("", "[filter=all]"), ("gray", "[filter=paeth]"), ("alpha", "[filter=avg]"), ("", "[interlace]"),
            ("", "[compression=0]")],
    "tiff": [("", ""), ("", "[compression=lzw]"), ("", "[compression=deflate,predictor=horizontal]"),
             ("", "[tile,tile_width=64,tile_height=64,compression=jpeg,Q=80]"), ("", "[compression=jpeg,Q=80]"),
             ("", "[tile,tile_width=32,tile_height=32,compression=deflate]"), ("gray", "[tile,tile_width=48,tile_height=48]"),
             ("", "[tile,tile_width=128,tile_height=128,compression=jpeg,Q=80]"),
             ("gray", "[tile,tile_width=64,tile_height=64,compression=jpeg]"), ("", "[bigtiff,compression=lzw]"),
             ("", "[compression=jpeg,Q=95]")],
}
ENDINGS = {"jpeg": "jpg", "png": "png", "tiff": "tif"}
TILES = {"color.jpg": ("", "[Q=80]"), "full.jpg": ("", "[Q=95]"), "gray.jpg": ("gray", "[Q=80]"), "color.png": ("", ""),
         "alpha.png": ("alpha", ""), "color.webp": ("", "[Q=80]"), "alpha.webp": ("alpha", "[lossless]"),
         "color.avif": ("", "[compression=av1,effort=0]"), "color.jxl": ("", "[Q=80]"), "alpha.jxl": ("alpha", "[lossless]"), "progressive.jpg": ("", "[Q=80,interlace]")}
XMP = ["-XMP-dc:Title=Night watch", "-XMP-dc:Description=Two\nlines", "-XMP-dc:Subject=a", "-XMP-dc:Subject=b",
       "-XMP-dc:Rights=CC0", "-XMP-photoshop:City=Delft", "-XMP-exif:DateTimeOriginal=2024:05:01 10:20:30"]
EXIF = ["-EXIF:ImageDescription=Words", "-EXIF:Artist=Somebody", "-EXIF:DateTimeOriginal=2024:05:01 10:20:30",
        "-EXIF:UserComment=A comment", "-EXIF:XPTitle=A title", "-EXIF:GPSLatitude=52", "-EXIF:OffsetTimeOriginal=+02:00"]
IPTC = ["-IPTC:ObjectName=Name", "-IPTC:Keywords=one", "-IPTC:Keywords=two", "-IPTC:Caption-Abstract=Caption", "-IPTC:City=Delft"]
PROFILES = ["colord/Gamma5000K.icc", "colord/SMPTE-C-RGB.icc", "colord/sRGB.icc", "colord/x11-colors.icc", "Gray.icc",
            "Gray-CIE_L.icc", "sRGB.icc", "ITULab.icc", "LStar-RGB.icc", "compatibleWithAdobeRGB1998.icc"]


def call(*arguments) -> None:
    subprocess.run([*map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def base(kind: str, width: int = 139, height: int = 101) -> Path:
    """A piece of a photograph, in RGB, gray or with alpha."""
    path = HERE / f"base-{width}-{kind or 'rgb'}.v"
    if not path.exists():
        HERE.mkdir(parents=True, exist_ok=True)
        if not kind:
            call("vips", "crop", WALLPAPER, path, 700, 500, width, height)
        elif kind == "gray":
            call("vips", "colourspace", base("", width, height), path, "b-w")
        else:
            call("vips", "bandjoin", f"{base('', width, height)} {base('gray', width, height)}", path)
    return path


def pictures(name: str, place: Path) -> None:
    for number, (kind, options) in enumerate(PICTURES[name]):
        options = f"{options[:-1]},strip]" if options else "[strip]"
        call("vips", "copy", base(kind), f"{place}/{number}.{ENDINGS[name]}{options}")

    if name == "tiff":
        tagged(place)


def tagged(place: Path) -> None:
    """TIFFs that libvips does not write: 24 × 16 pixels each."""
    ramp = bytes(range(256)) * 30
    # Photometric, bits, format, samples, planar configuration, compression, data of the strips; further tags.
    kinds = [(1, 12, 1, 1, 1, 1, [576], {}), (2, 10, 1, 3, 1, 1, [1440], {}), (1, 16, 3, 1, 1, 1, [768], {}), (1, 24, 3, 1, 1, 1, [1152], {}),
             (1, 64, 1, 1, 1, 1, [3072], {}), (0, 64, 3, 1, 1, 1, [3072], {}), (2, 8, 1, 4, 2, 1, [384] * 4, {338: (3, [1])}),
             (3, 4, 1, 2, 1, 1, [384], {338: (3, [2]), 320: (3, [*range(0, 65536, 1366)])}), (4, 1, 1, 1, 1, 1, [48], {254: (4, [4])}),
             (5, 32, 1, 5, 1, 1, [7680], {338: (3, [2])}), (6, 8, 1, 3, 1, 1, [576], {530: (3, [2, 2])}), (8, 16, 1, 4, 1, 1, [3072], {338: (3, [2])}),
             (9, 8, 1, 3, 1, 1, [1152], {}), (10, 8, 1, 3, 2, 1, [384] * 3, {}), (2, 8, 1, 3, 1, 1, [0], {})]
    for number, (photometric, bits, kind, samples, planar, compression, sizes, more) in enumerate(kinds):
        tagged_tiff(place / f"tags-{number}.tif", photometric, bits, kind, samples, planar, compression, [ramp[:size] for size in sizes], more)
    for ending, compression, options in (("j2k", 34712, "[lossless]"), ("j2k", 33003, "[Q=60]"), ("jxl", 50002, "[lossless]"), ("jxl", 50002, "[Q=70]")):
        coded = place / f"coded.{ending}"
        call("vips", "crop", base(""), f"{coded}{options}", 0, 0, 24, 16)
        tagged_tiff(place / f"coded-{compression}{options.strip('[]')}.tif", 6 if compression == 33003 else 2, 8, 1, 3, 1, compression, [coded.read_bytes()], {})
        coded.unlink()
    # JPEG tiles of two kinds: another chroma sampling, and no pixels beyond the edge.
    tiles = {}
    for kind, width, options in (("", 16, "on"), ("", 16, "off"), ("gray", 16, "off"), ("gray", 8, "off")):
        call("vips", "crop", base(kind), f"{place}/tile.jpg[strip,subsample-mode={options}]", 0, 0, width, 16)
        tiles[kind, width, options] = (place / "tile.jpg").read_bytes()
    (place / "tile.jpg").unlink()
    half, full, whole, cropped = tiles.values()
    for number, (photometric, bits, samples, pair) in enumerate(((6, 8, 3, [half, full]), (6, 8, 3, [full, half]), (1, 8, 1, [whole, cropped]), (1, 1, 1, [whole, cropped]))):
        tagged_tiff(place / f"tiles-{number}.tif", photometric, bits, 1, samples, 1, 7, pair, {322: (4, [16]), 323: (4, [16])})


def tagged_tiff(path: Path, photometric: int, bits: int, kind: int, samples: int, planar: int, compression: int, strips: list[bytes], more: dict) -> None:
    data, places = b"", []
    for strip in strips:
        places.append(8 + len(data) if strip else 0)
        data += strip + bytes(len(strip) % 2)
    tags = {256: (4, [24]), 257: (4, [16]), 258: (3, [bits] * samples), 259: (3, [compression]), 262: (3, [photometric]), 273: (4, places),
            277: (3, [samples]), 278: (4, [16]), 279: (4, [len(strip) for strip in strips]), 284: (3, [planar]), 339: (3, [kind] * samples), **more}
    entries, tail, after = b"", b"", 8 + len(data) + 2 + 12 * len(tags) + 4
    for tag, (type_, values) in sorted(tags.items()):
        value = struct.pack(f"<{len(values)}{'H' if type_ == 3 else 'I'}", *values)
        if len(value) > 4:
            value, spill = struct.pack("<I", after + len(tail)), value
            tail += spill + bytes(len(spill) % 2)
        entries += struct.pack("<HHI", tag, type_, len(values)) + value.ljust(4, b"\0")
    path.write_bytes(b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + entries + bytes(4) + tail)


def ends(place: Path) -> None:
    """Small pictures of the formats that declare their end, alone and before another file."""
    for ending in ("jpg", "png", "webp", "gif", "avif", "jxl", "jp2"):
        call("vips", "copy", base(""), place / f"alone.{ending}")
        picture = (place / f"alone.{ending}").read_bytes()
        (place / f"before.{ending}").write_bytes(picture + (place / "alone.jpg").read_bytes())
        (place / f"padded.{ending}").write_bytes(picture + bytes(1500) + b"PK\3\4")
    for name, options in (("a.psd", ("-colorspace", "CMYK")), ("deep.psd", ("-colorspace", "CMYK", "-depth", "16")),
                          ("a.tga", ("-compress", "RLE")), ("a.sgi", ("-compress", "RLE")), ("a.bmp", ("-type", "Palette", "-compress", "RLE")), ("a.pcx", ()), ("a.fits", ())):
        call("convert", place / "alone.png", *options, place / name)


def raw(place: Path) -> None:
    """DNGs of each number of bits, and one as cameras write it: a preview before the sensor's data."""
    width, height, small = 64, 48, HERE / "small.jpg"
    call("vips", "copy", base("", width, height), f"{small}[Q=80,strip]")
    marks = {50706: (1, [1, 4, 0, 0]), 50721: (10, [n for value in (1, 0, 0, 0, 1, 0, 0, 0, 1) for n in (value, 1)]),
             50728: (5, [1, 2, 1, 1, 3, 5]), 50778: (3, [21])}
    for number, (bits, compression) in enumerate(((16, 1), (14, 1), (12, 1), (8, 1), (16, 7), (16, 34892))):
        data = small.read_bytes() if compression != 1 else bytes((x * 7 + x // 97) % 256 for x in range(width * height * bits // 8))
        (place / f"{number}.dng").write_bytes(tiff(camera(width, height, 32803, bits, compression) | marks, data))
    sensor = camera(width, height, 32803, 16, 1), bytes(x % 251 for x in range(width * height * 2))
    for maker in ("NIKON CORPORATION", "Canon", "SONY", "Acme"):
        preview = camera(width, height, 6, 8, 7) | {271: (2, [*maker.encode(), 0]), 272: (2, [*b"One", 0])}
        (place / f"{maker[:4]}.nef").write_bytes(tiff(preview, small.read_bytes(), sensor))
    for name, start in (("cr2", b"II*\0\x10\0\0\0CR\2\0"), ("raf", b"FUJIFILMCCD-RAW 0201"), ("orf", b"IIRO\x08\0\0\0"),
                        ("rw2", b"IIU\0\x18\0\0\0"), ("x3f", b"FOVb\0\0\2\0"), ("cr3", b"\0\0\0\x18ftypcrx \0\0\0\1crx isom")):
        (place / f"a.{name}").write_bytes(start + small.read_bytes())


def dicom(place: Path) -> None:
    """DICOM files of each kind of samples, with a window, a table and frames, and in RLE."""
    width, height = 12, 10
    def element(group: int, number: int, kind: bytes, value: bytes) -> bytes:
        value += (b"\0" if kind in (b"UI", b"OB", b"OW") else b" ") * (len(value) % 2)
        length = struct.pack("<2xI", len(value)) if kind in (b"OB", b"OW", b"SQ") else struct.pack("<H", len(value))
        return struct.pack("<HH", group, number) + kind + length + value
    def short(number: int, value: int) -> bytes:
        return element(0x28, number, b"US", struct.pack("<H", value))
    for name, photometric, samples, allocated, stored, signed, frames, more in (
            ("gray", b"MONOCHROME2", 1, 16, 12, 0, 1, b""), ("bytes", b"MONOCHROME1", 1, 8, 8, 0, 1, b""), ("colour", b"RGB", 3, 8, 8, 0, 1, b""),
            ("signed", b"MONOCHROME2", 1, 16, 16, 1, 1, element(0x28, 0x1052, b"DS", b"-1024") + element(0x28, 0x1053, b"DS", b"1")),
            ("window", b"MONOCHROME2", 1, 16, 12, 0, 2, element(0x28, 0x1050, b"DS", b"1000") + element(0x28, 0x1051, b"DS", b"1500")),
            ("ybr", b"YBR_FULL", 3, 8, 8, 0, 1, b""), ("long", b"MONOCHROME2", 1, 32, 32, 0, 1, b"")):
        data = bytes(each * 7 % 251 for each in range(width * height * samples * allocated // 8 * frames))
        syntax = element(2, 0x10, b"UI", b"1.2.840.10008.1.2.1")
        body = (element(8, 0x16, b"UI", b"1.2.840.10008.5.1.4.1.1.7") + element(0x28, 2, b"US", struct.pack("<H", samples)) + element(0x28, 4, b"CS", photometric)
                + (short(6, 0) if samples == 3 else b"") + element(0x28, 8, b"IS", b"%d" % frames) + short(0x10, height) + short(0x11, width)
                + short(0x100, allocated) + short(0x101, stored) + short(0x102, stored - 1) + short(0x103, signed) + more
                + element(0x7FE0, 0x10, b"OB" if allocated == 8 else b"OW", data))
        (place / f"{name}.dcm").write_bytes(bytes(128) + b"DICM" + element(2, 0, b"UL", struct.pack("<I", len(syntax))) + syntax + body)


def pdfs(place: Path) -> None:
    """Pages with boxes, units, rotations, text, drawings, pictures, an outline and labels."""
    image = b"<< /Type /XObject /Subtype /Image /Width 8 /Height 4 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 32 %s >>\nstream\n" + bytes(range(32)) + b"\nendstream"
    text = b"BT /F 9 Tf 5 5 Td (Words) Tj ET"
    for number, (boxes, operators, more) in enumerate((
            (b"/MediaBox [0 0 72 36]", b"q 72 0 0 36 0 0 cm /I Do Q", b""), (b"/MediaBox [-9 -9 90 70] /CropBox [0 0 72 36] /Rotate 90", text, b""),
            (b"/MediaBox [0 0 7.2 3.6] /UserUnit 10", b"q 7.2 0 0 3.6 0 0 cm /I Do Q " + text, b""), (b"/MediaBox [0 0 72 36]", b"9 w 1 1 m 60 30 l S q 30 0 0 9 0 0 cm /I Do Q", b"/SMask 6 0 R"),
            (b"/MediaBox [0 0 72 36] /UserUnit 0", b"3 Tr " + text + b" q 72 0 0 36 0 0 cm BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI Q", b""))):
        objects = [b"<< /Type /Catalog /Pages 2 0 R /Outlines 7 0 R /PageLabels << /Nums [0 << /S /r >>] >> /ViewerPreferences << /Direction /R2L >> >>",
                   b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
                   b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R /Resources << /Font << /F 5 0 R >> /XObject << /I 8 0 R >> >> >>" % boxes,
                   b"<< /Length %d >>\nstream\n%s\nendstream" % (len(operators), operators), b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
                   image % b"", b"<< /First 9 0 R /Last 9 0 R /Count 1 >>", image % more, b"<< /Title (One) /Parent 7 0 R /Dest [3 0 R /Fit] >>"]
        data, places = b"%PDF-1.6\n", []
        for index, each in enumerate(objects, 1):
            places.append(len(data))
            data += b"%d 0 obj\n%s\nendobj\n" % (index, each)
        table = b"".join(b"%010d 00000 n \n" % at for at in places)
        data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
        (place / f"{number}.pdf").write_bytes(data)


def camera(width: int, height: int, photometric: int, bits: int, compression: int) -> dict:
    samples = 3 if photometric == 6 else 1
    tags = {254: (4, [0]), 256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * samples), 259: (3, [compression]),
            262: (3, [photometric]), 277: (3, [samples]), 278: (4, [height]), 284: (3, [1])}
    return tags | ({} if samples == 3 else {33421: (3, [2, 2]), 33422: (1, [0, 1, 1, 2])})


def tiff(tags: dict, data: bytes, part: tuple[dict, bytes] | None = None) -> bytes:
    """A TIFF of one directory, perhaps with another in its SubIFDs."""
    out = bytearray(b"II*\0\0\0\0\0")

    def add(tags: dict, data: bytes) -> int:
        tags = tags | {273: (4, [len(out)]), 279: (4, [len(data)])}
        out.extend(data + b"\0" * (len(data) % 2))
        entries = b""
        for tag, (kind, values) in sorted(tags.items()):
            value = struct.pack(f"<{len(values)}{ {1: 'B', 2: 'B', 3: 'H', 4: 'I', 5: 'I', 10: 'i'}[kind]}", *values)
            count = len(values) // (2 if kind in (5, 10) else 1)
            if len(value) > 4:
                place = len(out)
                out.extend(value + b"\0" * (len(value) % 2))
                value = struct.pack("<I", place)
            entries += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
        start = len(out)
        out.extend(struct.pack("<H", len(tags)) + entries + bytes(4))
        return start

    if part:
        tags = tags | {330: (4, [add(*part)])}
    out[4:8] = struct.pack("<I", add(tags, data))
    return bytes(out)


def metadata(place: Path) -> None:
    for number, (ending, options) in enumerate(
            (ending, options) for ending in ("jpg", "png", "tif", "webp") for options in (XMP, EXIF, XMP + EXIF)):
        path = place / f"{number}.{ending}"
        call("vips", "copy", base("", 16, 12), f"{path}[strip]")
        call("exiftool", "-q", "-overwrite_original", *options, path)
    for number, ending in enumerate(("jpg", "tif")):
        path = place / f"iptc-{number}.{ending}"
        call("vips", "copy", base("", 16, 12), f"{path}[strip]")
        call("exiftool", "-q", "-overwrite_original", *IPTC, path)


def books(place: Path) -> None:
    chapters = [{"title": "One", "page": 1}, {"title": "Two", "page": "f1r", "level": 1}]
    for number, book in enumerate(({"title": {"en": "Hours", "none": "H"}, "creators": ["A", "B"], "license": "https://a/b", "built": True},
                                   {"title": "H", "creator": "A", "behavior": ["paged"], "viewingDirection": "right-to-left"},
                                   {"chapters": chapters, "description": "x", "keywords": "k"})):
        (place / str(number)).write_text(json.dumps(book))


def ome(place: Path) -> None:
    for number, inside in enumerate(('<Channel Name="DAPI" Color="-16776961"/>', '<Channel SamplesPerPixel="3"/>',
                                     '<TiffData IFD="1" FirstC="1" FirstZ="0" PlaneCount="2"><UUID FileName="a.tif"/></TiffData>')):
        (place / f"{number}.xml").write_text(
            f'<?xml version="1.0"?><!-- x --><OME><Image Name="a &amp; b"><Pixels DimensionOrder="XYZCT" SizeC="3" SizeZ="4" '
            f'SizeT="2" PhysicalSizeX="0.5" PhysicalSizeXUnit="nm">{inside}</Pixels></Image></OME>')


def sidecars(place: Path) -> None:
    for number, options in enumerate((XMP, XMP[:1], ["-XMP-dc:Title-de=Nachtwache", "-XMP-dc:Title=Night", "-XMP-xmp:Rating=4"],
                                      ["-XMP-crs:Exposure2012=1", "-XMP-dc:Description=x"])):
        path = place / f"{number}.xmp"
        path.unlink(missing_ok=True)
        call("exiftool", "-q", *options, path)


def archives(place: Path) -> None:
    photo = HERE / "photo.jpg"
    call("vips", "copy", base(""), f"{photo}[Q=60,strip]")
    call("exiftool", "-q", "-overwrite_original", *XMP, photo)
    for ending in ("jpeg", "png", "webp"):
        library = HERE / f"library-{ending}"
        call(ZIGGURAT, "build", photo, "--library", library, "--tile-size", 64, "--format", ending, "--quality", 40, "--force")
        (place / f"own-{ending}.szi").write_bytes((library / "photo.szi").read_bytes())
    for number, options in enumerate(([], ["--depth", "one"], ["--depth", "onetile"], ["--skip-blanks", 0], ["--overlap", 0])):
        path = place / f"foreign-{number}.zip"
        path.unlink(missing_ok=True)
        call("vips", "dzsave", base("gray"), path, "--container", "zip", "--tile-size", 62, "--suffix", ".jpg[Q=30]",
             *options)


def records(place: Path) -> None:
    record = {"sourceName": "a.tif", "page": 2, "folio": "f/1r", "label": "1r", "sourceBytes": 10, "sourceDigest": "00", "pixelDigest": "01",
              "sidecarDigest": "02", "options": "o", "route": "r", "steps": ["a", "b"], "micronsPerPixel": [0.5, 0.5],
              "animation": {"frames": 3, "format": "gif"}, "associatedImages": ["label"], "associatedAs": "macro",
              "dimensions": {"channels": [{"name": "DAPI", "colour": "#0000ff", "isShown": True}], "sizeZ": 2, "sizeT": 1, "z": 0, "t": 0}}
    metadata = {"title": "A \u1f431", "titles": {"de": "Ä", "en": "A"}, "caption": "two\nlines", "creator": "A; B", "creators": ["A", "B"],
                "date": "2024-05-01", "place": "Porto", "rights": "R", "license": "https://a/b", "webStatement": "https://a/c",
                "usageTerms": "U", "identifier": "I", "source": "S", "credit": "C", "keywords": ["k", "l"]}
    for number, value in enumerate((record, metadata, {"keywords": []}, [[[[1]]]], list(range(99)))):
        (place / f"{number}.json").write_text(json.dumps(value))
        (place / f"{number}-spelled.json").write_text(json.dumps(value, ensure_ascii=False, indent=1))
    (place / "utf16.json").write_bytes(json.dumps(metadata).encode("utf-16"))


def descriptors(place: Path) -> None:
    image = '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="{}" Overlap="{}" TileSize="{}"><Size Width="{}" Height="{}"/></Image>'
    for number, values in enumerate((("jpg", 0, 512, 5120, 2880), ("png", 1, 254, 1, 1), ("webp", 2, 256, 1 << 40, 1))):
        (place / f"{number}.dzi").write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{image.format(*values)}')
    for encoding in ("utf-16", "iso-8859-1"):
        (place / f"{encoding}.dzi").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{image.format("jpg", 0, 8, 9, 9)}'.encode(encoding))
    (place / "properties.xml").write_text(
        '<image xmlns="http://www.pathozoom.com/szi"><properties><property><name>MicronsPerPixelX</name><value type="gdouble">0.25</value></property>'
        '<property><name>MicronsPerPixelY</name><value>2.5e-1</value></property></properties></image>')


def profiles(place: Path) -> None:
    for path in map(Path, PROFILES):
        data = (Path("/usr/share/color/icc") / path).read_bytes()
        if len(data) <= 40_000:
            (place / path.name).write_bytes(data)


def tiles(place: Path) -> None:
    for name, (kind, options) in TILES.items():
        call("vips", "copy", base(kind, 64, 48), f"{place / name}{f'{options[:-1]},strip]' if options else '[strip]'}")
    call("vips", "copy", base("", 64, 48), f"{place / 'profile.jpg'}[Q=60,profile={SRGB}]")
    # A JPEG's coefficients, with the data that reconstruct that JPEG.
    call(ZIGGURAT, "build", place / "color.jpg", "--library", HERE / "library-jxl", "--format", "jxl", "--fidelity", "lossless", "--force")
    with zipfile.ZipFile(HERE / "library-jxl/color.szi") as archive:
        (place / "recompressed.jxl").write_bytes(archive.read("color/color_files/6/0_0.jxl"))


def sandbox(place: Path) -> None:
    """Replies of a sandboxed process, message by message, after the byte that chooses the request."""

    def message(kind: int, body: bytes) -> bytes:
        return struct.pack("<II", kind, len(body)) + body

    def json_message(kind: int, value) -> bytes:
        return message(kind, json.dumps(value).encode())

    def tile(number: int) -> bytes:
        data = b"\xff\xd8 a tile \xff\xd9"
        return message(13, struct.pack("<QI", number, zlib.crc32(data)) + data)

    # 600×300 has 12 tiles of 512 px.
    plan = json_message(12, {"width": 600, "height": 300, "tileSize": 512, "format": "jpg", "memory": 1_000_000})
    tiles = b"".join(map(tile, range(12)))
    entry = message(14, b"vendor/ziggurat/build.json\0{}")
    built = json_message(16, {"route": "exact: a reason", "steps": ["one"]})
    failed = json_message(17, {"reason": "it is damaged", "isTemporary": False})
    for number, body in enumerate((plan + tiles + entry + json_message(15, [0.5]) + built, plan + tile(0) + tile(0), plan + built, failed,
                                   plan + failed, json_message(11, [7]), plan + tiles + entry + entry + built)):
        (place / f"build-{number}").write_bytes(b"\0" + body)
    inspection = {"width": 600, "height": 300, "bands": 3, "format": "jpeg", "colour": "srgb", "hasProfile": False,
                  "hasAlpha": False, "orientation": 1, "pages": 1, "route": "exact", "steps": []}
    (place / "inspection").write_bytes(b"\1" + json.dumps(inspection).encode())
    (place / "sidecar").write_bytes(b"\2" + json.dumps({"metadata": {"title": "T", "keywords": ["a"]}, "removed": ["caption"]}).encode())
    (place / "spawn").write_bytes(b"\3" + struct.pack("<5q", 1, 0, 1 << 28, 1 << 30, 60))
    start = (7, 600, 300, 512, 0, 0, 0, 0)
    for number, body in enumerate(((0, 0, 10, 20, 300, 200, 150, 100, 0, 0, 0), (2, 1, 10, 20, 30, 40, 9, 256, 256), (3, 0, 9, 0, 0))):
        (place / f"render-{number}").write_bytes(b"\3" + struct.pack(f"<{8 + len(body) + 3}q", *start, *body, 3, 1, 9))


REQUESTS = [
    "/dzi/a.dzi", "/dzi/a_files/12/3_4.jpg", "/xyz/a/3/1/2.webp", "/xyz/a/tilejson.json", "/zoomify/a/ImageProperties.xml",
    "/zoomify/a/TileGroup0/3-1-1.jpg", "/iiif/3/a%2Fb/info.json", "/iiif/3/a/full/max/0/default.jpg",
    "/iiif/2/a/pct:10,10.5,20,30/!400,300/!90/gray.png", "/iiif/3/a/square/^pct:50/22.5/bitonal.tif",
    "/iip?FIF=a&JTL=3,4", "/iip?FIF=a.tif&RGN=0.1,0.2,0.3,0.4&WID=500&HEI=400&QLT=70&ROT=!90&CVT=jpeg",
    "/iip?FIF=a&OBJ=IIP,1.0&OBJ=Max-size&OBJ=Resolution-number", "/iip?DeepZoom=a.dzi", "/iip?Zoomify=a/TileGroup0/0-0-0.jpg",
    "/iip?IIIF=a/full/!200,200/0/default.jpg", "/api/images/~%2Fa/viewport?width=640&height=480&fit=contain&rotation=30&buffer=2&include=overview,description",
    "/xyz/a/3/1/2@2x.webp", "/iip?IIIF=a/full/3,/0/native.jpg", "/iiif/presentation/2/a/manifest.json",
    "for=192.0.2.60;proto=https;host=\"a.example:8443\", for=\"[2001:db8::17]:4711\";host=b",
    "/api/images?q=a+b&limit=10&cursor=x", "/iiif/presentation/3/a/manifest", "/iiif/presentation/3/collection/2", "/view/a"]


def requests(place: Path) -> None:
    for number, text in enumerate(REQUESTS):
        (place / f"{number}").write_text(text)


def lists(place: Path) -> None:
    item = "<Contents><Key>{}</Key><ETag>&quot;e1&quot;</ETag><Size>{}</Size></Contents>"
    keys = ("directory/1700000000000-ab", "directory/1700000000000-ab-whole", "szi/ab/" + "ab" * 32 + ".szi", "a%2Fb+c%20%C3%A9", "%FF%00")
    for number, encoded in enumerate(("<EncodingType>url</EncodingType>", "")):
        (place / f"list-{number}").write_text(
            f'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{encoded}<IsTruncated>false</IsTruncated>'
            + "".join(item.format(key, 7) for key in keys) + "</ListBucketResult>")
    (place / "upload").write_text("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
    (place / "whole").write_text("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")
    for number, range in enumerate(("bytes 3-8/100", "bytes 50-99/100")):
        (place / f"head-{number}").write_bytes(
            f'HTTP/1.1 206 Partial\r\nETag: "e"\r\nContent-Range: {range}\r\nContent-Length: 6\r\nRetry-After: 3\r\n'.encode())


def directories(place: Path) -> None:
    image = "\t".join(("image", "a%2Fb", "ab" * 32, '"e1"', "900", "1f", "600", "400", "256", "jpg", '{"a":1}', '{"title":"T"}'))
    for number, lines in enumerate(((image,), ("gone\ta%2Fb",), ("origin\ta%2Fb\t0123456789abcdef",), ("holds\t1700000000000-ab",),
                                    (image, "holds\ta//x"))):
        (place / f"lines-{number}").write_text("\n".join(("ziggurat-directory 1", *lines, f"end\t{len(lines)}\t0", "")))
    # A segment with the digest of no lines.
    (place / "empty").write_text("ziggurat-directory 1\nend\t0\t0\n")
    (place / "marks").write_text('ziggurat-sweep 1\n5 "e1" szi/ab/x.szi\n')


TARGETS = {"jpeg": lambda place: pictures("jpeg", place), "png": lambda place: pictures("png", place),
           "tiff": lambda place: pictures("tiff", place), "end": ends, "raw": raw, "dicom": dicom, "pdf": pdfs, "metadata": metadata, "ome": ome,
           "sidecar": sidecars, "book": books, "archive": archives, "record": records, "descriptor": descriptors,
           "profile": profiles, "tile": tiles, "sandbox": sandbox, "request": requests, "list": lists, "directory": directories}


def folder(target: str) -> Path:
    place = HERE / target
    if not (place / ".complete").exists():
        place.mkdir(parents=True, exist_ok=True)
        TARGETS[target](place)
        (place / ".complete").touch()
    return place
