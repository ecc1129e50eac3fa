"""Variants of formats that libvips reads otherwise than their specifications have them: the pixels are those of Pillow,
ImageMagick and librsvg, or the file is refused in one line that says what to do.

Longer than 600 lines because the functions that write such files stand beside the tests that use them."""

import io
import json
import struct
import subprocess
import zlib
from pathlib import Path

import numpy
from harness import folder, run
from one_source import OneSource
from PIL import Image, ImageOps

WIDTH, HEIGHT = 96, 72


def picture() -> numpy.ndarray:
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return numpy.stack([x * 255 // 95, y * 255 // 71, 128 + (x + y) % 96], -1).astype(numpy.uint8)


def encoded(form: str, pixels: numpy.ndarray | Image.Image | None = None, **options) -> bytes:
    out = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(picture() if pixels is None else pixels)
    image.save(out, form, **options)
    return out.getvalue()


def converted(source: Path, *options: str) -> numpy.ndarray:
    """The picture as ImageMagick reads it, in 8 bits."""
    out = folder("converted") / "out.png"
    subprocess.run(["convert", source, *options, "-depth", "8", f"PNG24:{out}"], check=True, capture_output=True)
    return numpy.array(Image.open(out))


def gif(frame: tuple[int, int, int, int], background: int, transparent: int | None = None) -> bytes:
    """A GIF of one frame of the colour 1, whose codes are not compressed."""
    palette = bytes([10, 20, 30, 40, 200, 60, 70, 80, 90, 1, 2, 3, 9, 9, 9, 255, 0, 0]).ljust(3 * 128, b"\0")
    data = b"GIF89a" + struct.pack("<HHBBB", 20, 15, 0xF6, background, 0) + palette
    if transparent is not None:
        data += b"\x21\xf9\x04" + bytes([1, 0, 0, transparent, 0])
    codes = bytearray()
    for _ in range(frame[2] * frame[3]):
        codes += b"\x80\x01"
    codes.append(0x81)
    data += b"," + struct.pack("<HHHHB", *frame, 0) + b"\x07"
    for at in range(0, len(codes), 255):
        data += bytes([len(codes[at:at + 255])]) + codes[at:at + 255]
    return data + b"\0;"


def packed(row: bytes) -> bytes:
    """PackBits of repeated and of other bytes."""
    out, at = b"", 0
    while at < len(row):
        count = 1
        while at + count < len(row) and count < 128 and row[at + count] == row[at]:
            count += 1
        out += bytes([257 - count, row[at]]) if count > 1 else bytes([0, row[at]])
        at += count
    return out


def psd(mode: int, planes: list[numpy.ndarray], *, runs: bool = False, alpha: bool = False) -> bytes:
    """Of 8 or 16 bits. With `alpha` the last plane is the transparency of the composite: the number of layers is negative."""
    height, width = planes[0].shape
    header = b"8BPS" + struct.pack(">H6xHIIHH", 1, len(planes), height, width, 8 * planes[0].dtype.itemsize, mode) + bytes(8)
    header += struct.pack(">IIhI", 10, 2, -1, 0) if alpha else bytes(4)
    rows = [row.tobytes() for plane in planes for row in plane.astype(plane.dtype.newbyteorder(">"))]
    if not runs:
        return header + bytes(2) + b"".join(rows)
    rows = [packed(row) for row in rows]
    return header + b"\0\1" + b"".join(struct.pack(">H", len(row)) for row in rows) + b"".join(rows)


def exr(channels: dict[str, numpy.ndarray], *attributes: bytes) -> bytes:
    """Floats by rows, without compression."""
    height, width = next(iter(channels.values())).shape
    names = sorted(channels)
    listed = b"".join(name.encode() + b"\0" + struct.pack("<IIII", 2, 0, 1, 1) for name in names) + b"\0"
    window = struct.pack("<iiii", 0, 0, width - 1, height - 1)
    head = b"\x76\x2f\x31\x01\x02\0\0\0" + attribute("channels", "chlist", listed)
    head += b"".join(attributes) + attribute("compression", "compression", b"\0") + attribute("dataWindow", "box2i", window)
    head += attribute("displayWindow", "box2i", window) + attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    head += attribute("screenWindowCenter", "v2f", struct.pack("<ff", 0, 0))
    head += attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
    size = 8 + 4 * width * len(names)
    offsets = b"".join(struct.pack("<Q", len(head) + 8 * height + size * y) for y in range(height))
    rows = b"".join(struct.pack("<iI", y, size - 8) + b"".join(
        channels[name][y].astype("<f4").tobytes() for name in names) for y in range(height))
    return head + offsets + rows


def attribute(name: str, kind: str, value: bytes) -> bytes:
    """An attribute of an OpenEXR header."""
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(value)) + value


def xcf(width: int, height: int, *layers: tuple[numpy.ndarray, int, int, int]) -> bytes:
    """A file of GIMP whose runs are not compressed: layers of RGBA, the uppermost first, each with its offsets and opacity."""
    out = bytearray(b"gimp xcf file\0" + struct.pack(">III", width, height, 0))
    out += struct.pack(">IIB", 17, 1, 1) + bytes(8)
    pointers = len(out)
    out += bytes(4 * (len(layers) + 1) + 4)
    for number, (pixels, x, y, opacity) in enumerate(layers):
        struct.pack_into(">I", out, pointers + 4 * number, len(out))
        rows, columns = pixels.shape[:2]
        out += struct.pack(">III", columns, rows, 1) + struct.pack(">I", 2) + b"L\0"
        out += struct.pack(">III", 6, 4, opacity) + struct.pack(">III", 8, 4, 1) + struct.pack(">IIii", 15, 8, x, y)
        out += struct.pack(">III", 7, 4, 0) + bytes(8)
        hierarchy = len(out)
        out += bytes(8)
        struct.pack_into(">I", out, hierarchy, len(out))
        out += struct.pack(">III", columns, rows, 4)
        level = len(out)
        out += bytes(8)
        struct.pack_into(">I", out, level, len(out))
        out += struct.pack(">II", columns, rows)
        tiles = [(top, left) for top in range(0, rows, 64) for left in range(0, columns, 64)]
        places = len(out)
        out += bytes(4 * (len(tiles) + 1))
        for index, (top, left) in enumerate(tiles):
            struct.pack_into(">I", out, places + 4 * index, len(out))
            tile = pixels[top:top + 64, left:left + 64]
            for channel in range(4):
                out += b"\x80" + struct.pack(">H", tile.shape[0] * tile.shape[1]) + tile[..., channel].tobytes()
    return bytes(out)


def bmp(pixels: numpy.ndarray, compression: int, header: int, masks: bytes = b"") -> bytes:
    """A BMP of 32 bits, blue first, whose last row comes first."""
    height, width = pixels.shape[:2]
    info = struct.pack("<IiiHHIIiiII", header, width, height, 1, 32, compression, 4 * width * height, 0, 0, 0, 0)
    info += masks
    data = numpy.ascontiguousarray(pixels[::-1, :, [2, 1, 0, 3]]).tobytes()
    return b"BM" + struct.pack("<IHHI", 14 + len(info) + len(data), 0, 0, 14 + len(info)) + info + data


def linear_to_srgb(light: numpy.ndarray) -> numpy.ndarray:
    light = light.clip(0, 1)
    return 255 * numpy.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def fits(*images: numpy.ndarray) -> bytes:
    """Units of 8 bits; one that is empty has no axes."""
    out = b""
    for number, image in enumerate(images):
        first = "SIMPLE  =                    T" if number == 0 else "XTENSION= 'IMAGE   '"
        axes = image.shape[::-1] if image.size else ()
        cards = [first, "BITPIX  =                    8", f"NAXIS   = {len(axes):20}"]
        cards += [f"NAXIS{axis + 1}  = {length:20}" for axis, length in enumerate(axes)]
        cards += ["PCOUNT  =                    0", "GCOUNT  =                    1"] if number else []
        cards.append("END")
        out += "".join(card.ljust(80) for card in cards).encode().ljust(-(-len(cards) * 80 // 2880) * 2880)
        data = image.tobytes()
        out += data.ljust(-(-len(data) // 2880) * 2880, b"\0")
    return out


def with_palette(jp2: bytes, palette: list[tuple[int, int, int]]) -> bytes:
    """A JPEG 2000 file of one component whose values choose colours (ITU-T T.800, I.5.3.4 and I.5.3.5)."""
    at = jp2.index(b"jp2h") - 4
    size = struct.unpack(">I", jp2[at:at + 4])[0]
    colours = struct.pack(">HB3B", len(palette), 3, 7, 7, 7) + bytes(value for entry in palette for value in entry)
    boxes = struct.pack(">I", 8 + len(colours)) + b"pclr" + colours
    boxes += struct.pack(">I", 20) + b"cmap" + b"".join(struct.pack(">HBB", 0, 1, column) for column in range(3))
    header = jp2[at + 8:at + size].replace(b"colr\x01\0\0" + struct.pack(">I", 17), b"colr\x01\0\0" + struct.pack(">I", 16))
    return jp2[:at] + struct.pack(">I", size + len(boxes)) + b"jp2h" + header + boxes + jp2[at + size:]


class FormatPixels(OneSource):
    def shown(self, data: bytes, name: str, *options) -> tuple[dict, numpy.ndarray]:
        """What a build reports, and the pixels."""
        self.source = folder("source") / name
        self.source.write_bytes(data)
        reported, archive = self.built(self.source, "--format", "png", *options)
        tiles = self.tiles(archive)
        self.assertEqual(list(tiles), [(0, 0)])
        return reported, numpy.array(Image.open(io.BytesIO(tiles[0, 0])))

    def assertNear(self, found: numpy.ndarray, wanted: numpy.ndarray, distance: int = 1):
        if found.ndim == 3 and wanted.ndim == 2:
            wanted = wanted[..., None]
        self.assertLessEqual(numpy.abs(found.astype(int) - wanted.astype(int)).max(), distance)

    def damage(self, data: bytes, name: str) -> dict:
        """What a build reports of a file that may be damaged."""
        source = folder("source") / name
        source.write_bytes(data)
        return json.loads(run("build", source, "--library", folder("library"), "--json", "--quiet").stdout)

    def refusal(self, data: bytes, name: str) -> str:
        source = folder("source") / name
        source.write_bytes(data)
        return self.refused(source)

    # Netpbm

    def test_netpbm_is_scaled_to_its_greatest_value(self):
        rgb = picture()
        gray = rgb[..., 0]
        files = {
            "p6.ppm": b"P6 96 72 100\n" + (rgb // 3).clip(0, 100).astype(numpy.uint8).tobytes(),
            "p5.pgm": b"P5\n# by hand\n96 72\n7\n" + (gray // 32).tobytes(),
            "p2.pgm": b"P2\n96 72\n15\n" + b"\n".join(b" ".join(b"%d" % v for v in row) for row in gray // 16),
            "p1.pbm": b"P1\n# no spaces\n96 72\n" + b"\n".join(
                b"".join(b"1" if v > 99 else b"0" for v in row) for row in gray),
        }
        for name, data in files.items():
            with self.subTest(name):
                _, found = self.shown(data, name)
                image = Image.open(io.BytesIO(data))
                self.assertNear(found, numpy.array(image.convert("L" if image.mode == "1" else image.mode)))

    def test_netpbm_of_16_bits_is_scaled_to_its_greatest_value(self):
        values = (picture()[..., 0].astype(int) * 2).astype(">u2")
        data = b"P5 96 72 1000\n" + values.tobytes()
        _, found = self.shown(data, "p5.pgm")
        self.assertNear(found, numpy.array(Image.open(io.BytesIO(data))) / 257)
        # A window has the file's own values.
        _, found = self.shown(data, "p5.pgm", "--window", "0,500")
        self.assertNear(found, (values * 255.0 / 500).clip(0, 255))

    def test_pam_is_read(self):
        rgba = numpy.dstack([picture(), picture()[..., 1]])
        head = b"P7\nWIDTH 96\nHEIGHT 72\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
        _, found = self.shown(head + rgba.tobytes(), "a.pam")
        self.assertTrue((found == rgba).all())

    def test_pfm_is_linear_and_has_its_last_row_first(self):
        light = ((picture() / 255) ** 2).astype("<f4")
        for name, head, samples in (("rgb.pfm", b"PF", light), ("gray.pfm", b"Pf", light[..., 1])):
            with self.subTest(name):
                reported, found = self.shown(head + b"\n96 72\n-1.0\n" + samples[::-1].tobytes(), name)
                self.assertNear(found, converted(self.source, "-set", "colorspace", "RGB", "-colorspace", "sRGB"))
                self.assertIn("converted from scrgb to srgb", reported["steps"])

    def test_netpbm_without_its_end(self):
        gray = picture()[..., 0]
        bits = numpy.packbits(gray > 99, axis=1)
        files = {
            "p2.pgm": b"P2\n96 72\n255\n" + b"\n".join(b" ".join(b"%d" % v for v in row) for row in gray),
            "p4.pbm": b"P4 96 72\n" + bits.tobytes(), "p5.pgm": b"P5 96 72 255\n" + gray.tobytes(),
            "p6.ppm": b"P6 96 72 255\n" + picture().tobytes(),
            "rgb.pfm": b"PF\n96 72\n-1.0\n" + (picture() / 255).astype("<f4")[::-1].tobytes(),
        }
        for name, data in files.items():
            with self.subTest(name):
                reported, whole = self.shown(data, name)
                self.assertNotIn("damage", reported)
                reported, part = self.shown(data[:len(data) * 2 // 3], name)
                self.assertEqual(reported["damage"], "truncated")
                self.assertRegex(reported["reason"], r"the PNM file is cut off: 2[45] of 72 rows are missing")
                rows = slice(26, None) if name == "rgb.pfm" else slice(0, 46)
                self.assertTrue((part[rows] == whole[rows]).all())
                self.assertFalse((part == whole).all())

    # JPEG 2000

    def test_jpeg_2000_with_a_palette(self):
        indices = (picture()[..., 0] // 16).astype(numpy.uint8)
        palette = [(17 * i, 255 - 13 * i, (i * 71) % 256) for i in range(16)]
        data = with_palette(encoded("JPEG2000", indices, irreversible=False), palette)
        _, found = self.shown(data, "palette.jp2")
        self.assertTrue((found == numpy.array(palette, numpy.uint8)[indices]).all())

    def test_jpeg_2000_in_sycc(self):
        data = encoded("JPEG2000", irreversible=False, mct=0).replace(
            b"colr\x01\0\0" + struct.pack(">I", 16), b"colr\x01\0\0" + struct.pack(">I", 18))
        _, found = self.shown(data, "sycc.jp2")
        self.assertNear(found, numpy.array(Image.open(io.BytesIO(data))), 2)

    def test_jpeg_2000_with_an_offset(self):
        for tile in ((128, 128), (32, 32)):
            data = encoded("JPEG2000", irreversible=False, offset=(7, 5), tile_size=tile)
            _, found = self.shown(data, "offset.jp2")
            self.assertTrue((found == numpy.array(Image.open(io.BytesIO(data)))).all())

    # Animations

    def test_the_first_frame_of_an_animated_jpeg_xl(self):
        place = folder("animation")
        noise = numpy.random.default_rng(1).integers(0, 256, (2, *picture().shape), numpy.uint8)
        frames = [Image.fromarray(pixels) for pixels in (picture(), *noise)]
        frames[0].save(place / "a.png", save_all=True, append_images=frames[1:], duration=100)
        for name in ("bare", "container"):
            out = place / f"{name}.jxl"
            subprocess.run(["cjxl", place / "a.png", out, "-d", "0", f"--container={int(name == 'container')}"],
                           check=True, capture_output=True)
            reported, found = self.shown(out.read_bytes(), out.name)
            self.assertTrue((found[..., :3] == picture()).all(), name)
            self.assertEqual(reported["dropped"], ["frames of an animation"])
            self.assertNotIn("damage", reported)
            data = out.read_bytes()
            reported, found = self.shown(data[:len(data) // 2], out.name)
            self.assertTrue((found[..., :3] == picture()).all(), name)
            self.assertEqual(reported["damage"], "truncated")

    def test_what_no_frame_of_a_gif_covers(self):
        for data in (gif((5, 4, 6, 5), 5), gif((5, 4, 6, 5), 0), gif((5, 4, 6, 5), 5, transparent=2)):
            _, found = self.shown(data, "a.gif")
            wanted = numpy.array(Image.open(io.BytesIO(data)).convert("RGBA"))
            if found.shape[2] == 3:
                self.assertTrue((wanted[..., 3] == 255).all())
                self.assertTrue((found == wanted[..., :3]).all())
            else:
                self.assertTrue((found[..., 3] == wanted[..., 3]).all())
                self.assertTrue((found[4:9, 5:11] == wanted[4:9, 5:11]).all())

    def test_a_gif_frame_whose_codes_end_early(self):
        y, x = numpy.mgrid[0:200, 0:300]
        noise = numpy.random.default_rng(0).integers(0, 12, (200, 300, 3))
        pixels = (numpy.stack([x * .8, y * 1.2, (x + y) * .5], -1) + noise).clip(0, 255).astype(numpy.uint8)
        data = encoded("GIF", Image.fromarray(pixels).quantize(64))
        reported, whole = self.shown(data, "a.gif")
        self.assertNotIn("damage", reported)
        noticed = 0
        for place, count, value in ((0.4, 200, 0), (0.5, 600, 0), (0.3, 300, 255), (0.7, 100, 0), (0.6, 1, 7)):
            at = int(len(data) * place)
            damaged = data[:at] + bytes([value]) * count + data[at + count:]
            try:
                Image.open(io.BytesIO(damaged)).load()
                continue
            except OSError:
                noticed += 1
            with self.subTest(place=place, count=count, value=value):
                reported = self.damage(damaged, "a.gif")
                self.assertTrue(reported["status"] == "failed" or reported.get("damage") == "error", reported)
        self.assertGreater(noticed, 2)
        # The end code in the middle: no decoder's error, and half of the pixels.
        codes = gif((0, 0, 20, 15), 0)
        end = codes.index(b"\x80\x01" * 100) + 200
        reported = self.damage(codes[:end] + b"\x81" + codes[end + 1:], "a.gif")
        self.assertEqual(reported.get("damage"), "error")
        self.assertRegex(reported["reason"], r"[12]\d\d of 300 pixels of its first frame are missing")

    # Layers and sizes

    def test_xcf_is_shown_only_if_it_is_flat(self):
        under = numpy.dstack([picture(), numpy.full((HEIGHT, WIDTH), 255, numpy.uint8)])
        over = numpy.zeros((20, 30, 4), numpy.uint8)
        over[:] = [255, 0, 0, 255]
        _, found = self.shown(xcf(WIDTH, HEIGHT, (under, 0, 0, 255)), "a.xcf")
        self.assertNear(found[..., :3], converted(self.source, "-flatten"), 0)
        line = self.refusal(xcf(WIDTH, HEIGHT, (over, 10, 15, 255), (under, 0, 0, 255)), "a.xcf")
        self.assertRegex(line, "is an XCF file of 2 layers, which are not composed here: flatten it, .*convert FILE .*-flatten")
        for layer in ((over, 10, 15, 255), (under, 3, 0, 255), (under, 0, 0, 128)):
            self.assertRegex(self.refusal(xcf(WIDTH, HEIGHT, layer), "a.xcf"), "does not fill its canvas, or is not opaque: flatten it")

    def test_the_largest_picture_of_an_icon(self):
        y, x = numpy.mgrid[0:256, 0:256]
        image = Image.fromarray(numpy.dstack([x, y, (x + y) // 2, 255 - 0 * x]).astype(numpy.uint8))
        for sizes in ([16, 32, 256], [256, 16], [48]):
            for form in ("png", "bmp"):
                images = [image.resize((size, size)) for size in sizes]
                data = encoded("ICO", image, sizes=[(size, size) for size in sizes], append_images=images,
                               bitmap_format=form)
                reported, found = self.shown(data, "a.ico")
                wanted = numpy.array(Image.open(io.BytesIO(data)).convert("RGBA"))
                self.assertEqual(found.shape[:2], wanted.shape[:2])
                self.assertTrue((found[..., :3] == wanted[..., :3]).all())
                others = len(sizes) - 1
                self.assertEqual(reported.get("dropped"), [f"{others} further size{'s'[:others > 1]}"] if others else None)

    # Channels and colours

    def test_bmp_of_32_bits_without_an_alpha_mask(self):
        rgba = numpy.dstack([picture(), picture()[..., 1]])
        colours, alpha = struct.pack("<III", 0xFF0000, 0xFF00, 0xFF), struct.pack("<I", 0xFF000000)
        rest = b"BGRs" + bytes(64 - 4 - 4 - 4 - 4 + 4 + 12)
        for data in (bmp(rgba, 0, 40), bmp(rgba, 3, 40, colours), bmp(rgba, 3, 124, colours + alpha + rest)):
            _, found = self.shown(data, "a.bmp")
            image = Image.open(io.BytesIO(data))
            self.assertEqual(found.shape[2], len(image.mode))
            self.assertTrue((found == numpy.array(image)).all())

    def test_radiance_in_any_order_of_rows_and_pixels(self):
        y, x = numpy.mgrid[0:45, 0:61]
        # The exponent 128 stands for a factor of 1 / 256 (colr_color in Radiance's color.c).
        upright = numpy.stack([x * 4, y * 5, (x + y) * 2, 128 + 0 * x], -1).astype(numpy.uint8)
        wanted = linear_to_srgb((upright[..., :3] + 0.5) / 256)
        transposed = upright.transpose(1, 0, 2)
        files = {"-Y 45 +X 61": upright, "-Y 45 -X 61": upright[:, ::-1], "+Y 45 -X 61": upright[::-1, ::-1],
                 "+Y 45 +X 61": upright[::-1], "+X 61 -Y 45": transposed, "-X 61 -Y 45": transposed[::-1],
                 "-X 61 +Y 45": transposed[::-1, ::-1], "+X 61 +Y 45": transposed[:, ::-1]}
        for order, pixels in files.items():
            with self.subTest(order):
                data = f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n{order}\n".encode()
                reported, found = self.shown(data + numpy.ascontiguousarray(pixels).tobytes(), "a.hdr")
                self.assertEqual(found.shape[:2], (45, 61))
                self.assertNear(found, wanted.round(), 2)

    def test_radiance_in_xyz(self):
        y, x = numpy.mgrid[0:45, 0:61]
        stored = numpy.stack([x + 60, y + 90, (x + y) // 2 + 40, 128 + 0 * x], -1).astype(numpy.uint8)
        # IEC 61966-2-1.
        matrix = numpy.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])
        wanted = linear_to_srgb((stored[..., :3] + 0.5) / 256 @ matrix.T)
        report, found = self.shown(b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 45 +X 61\n" + stored.tobytes(), "a.hdr")
        self.assertNear(found, wanted.round(), 2)
        self.assertLess(numpy.abs(found.astype(int) - converted(self.source)).mean(), 3)
        self.assertIn("converted from CIE XYZ", report["steps"])
        _, turned = self.shown(b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n+Y 45 +X 61\n" + stored.tobytes(), "a.hdr")
        self.assertTrue((turned == found[::-1]).all())

    def test_fits_pixels_without_a_value(self):
        """BLANK (FITS Standard 4.0, section 4.4.2.5): black, and not in the range."""
        values = numpy.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) // 28
        hole = numpy.zeros((HEIGHT, WIDTH), bool)
        hole[10:20, 30:50] = True
        for bits, blank, zero, scale in ((16, -32768, 0, 1), (16, 32767, 32768, 1), (16, -1, 0, 0.5), (32, -9, 0, 1)):
            with self.subTest(bits=bits, zero=zero, scale=scale):
                samples = numpy.where(hole, blank, values - zero).astype(f">i{bits // 8}")
                cards = ["SIMPLE  =                    T", f"BITPIX  = {bits:20}", "NAXIS   =                    2",
                         f"NAXIS1  = {WIDTH:20}", f"NAXIS2  = {HEIGHT:20}", f"BLANK   = {blank:20}",
                         f"BSCALE  = {scale:20}", f"BZERO   = {zero:20}", "END"]
                data = "".join(card.ljust(80) for card in cards).encode().ljust(2880) + samples.tobytes()
                _, found = self.shown(data.ljust(-(-len(data) // 2880) * 2880, b"\0"), "a.fits")
                # The first row of the file is the lowest (section 5.1). Fractions within 0 to 255 are taken at their word.
                top = 255 / values.max() if scale == 1 else scale
                wanted = numpy.where(hole, 0, values * top)[::-1]
                self.assertNear(found, wanted.round(), 1)
        gray = numpy.where(hole, 200, values % 150).astype(numpy.uint8)
        data = fits(gray).replace(b"END" + b" " * 77, b"BLANK   =                  200".ljust(80) + b"END" + b" " * 77, 1)
        _, found = self.shown(data[:2880] + data[-(len(data) - 2880 - 80) // 2880 * 2880:], "a.fits")
        self.assertNear(found, numpy.where(hole, 0, gray)[::-1], 0)

    def test_monochrome_avif_of_limited_range(self):
        gray = numpy.broadcast_to((numpy.arange(96) * 2.6).clip(0, 255), (64, 96)).astype(numpy.uint8)
        for limits in ("full", "limited"):
            data = encoded("AVIF", Image.fromarray(gray).convert("RGB"), quality=95, subsampling="4:0:0", range=limits)
            reported, found = self.shown(data, "a.avif")
            self.assertNear(found, numpy.array(Image.open(io.BytesIO(data)).convert("RGB")), 2)
            self.assertEqual("gray spread from limited range" in reported["steps"], limits == "limited")
        place = folder("heif")
        Image.fromarray(gray).save(place / "a.png")
        for ending, option in (("avif", "-A"), ("heic", "-q")):
            subprocess.run(["heif-enc", option, *(["95"] if option == "-q" else []), place / "a.png", "-o", place / f"a.{ending}"],
                           check=True, capture_output=True)
            reported, found = self.shown((place / f"a.{ending}").read_bytes(), f"a.{ending}")
            self.assertLess(numpy.abs(found.astype(int)[..., 0] - gray).mean(), 3)

    def test_exr_chromaticities(self):
        linear = (picture() / 255).astype(numpy.float32)
        planes = dict(zip("RGB", numpy.moveaxis(linear, -1, 0)))
        aces = struct.pack("<8f", 0.7347, 0.2653, 0, 1, 0.0001, -0.077, 0.32168, 0.33767)
        # ACES2065-1 to CIE XYZ (SMPTE ST 2065-1), white adapted by Bradford's method, and to sRGB (IEC 61966-2-1).
        to_xyz = numpy.array([[0.9525523959, 0, 0.0000936786], [0.3439664498, 0.7281660966, -0.0721325464], [0, 0, 1.0088251844]])
        cone = numpy.array([[.8951, .2664, -.1614], [-.7502, 1.7135, .0367], [.0389, -.0685, 1.0296]])
        white = [numpy.array([x / y, 1, (1 - x - y) / y]) for x, y in ((0.32168, 0.33767), (0.3127, 0.3290))]
        adapted = numpy.linalg.inv(cone) @ numpy.diag(cone @ white[1] / (cone @ white[0])) @ cone
        from_srgb = numpy.array([[0.412391, 0.357584, 0.180481], [0.212639, 0.715169, 0.072192], [0.019331, 0.119195, 0.950532]])
        matrix = numpy.linalg.inv(from_srgb) @ adapted @ to_xyz
        reported, found = self.shown(exr(planes, attribute("chromaticities", "chromaticities", aces)), "a.exr")
        self.assertNear(found[..., :3], linear_to_srgb(linear @ matrix.T).round(), 2)
        self.assertIn("colours converted from the file's chromaticities", reported["steps"])
        self.assertFalse([step for step in reported["steps"] if "divided by alpha" in step])
        standard = struct.pack("<8f", 0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290)
        reported, found = self.shown(exr(planes, attribute("chromaticities", "chromaticities", standard)), "a.exr")
        self.assertNear(found[..., :3], linear_to_srgb(linear).round(), 2)
        self.assertNotIn("colours converted from the file's chromaticities", reported["steps"])

    def test_exif_behind_the_pixels_of_a_png(self):
        exif = b"MM\0*\0\0\0\x08\0\x01" + struct.pack(">HHIHH", 274, 3, 1, 6, 0) + bytes(4)
        png = encoded("PNG")
        data = png[:-12] + chunk(b"eXIf", exif) + png[-12:]
        reported, found = self.shown(data, "a.png")
        image = Image.open(io.BytesIO(data))
        image.load()
        self.assertTrue((found == numpy.array(ImageOps.exif_transpose(image))).all())
        self.assertEqual(found.shape[:2], (WIDTH, HEIGHT))

    def test_exif_behind_any_number_of_chunks_of_pixels(self):
        """Those of equal length are skipped by doubling steps."""
        exif = b"MM\0*\0\0\0\x08\0\x01" + struct.pack(">HHIHH", 274, 3, 1, 6, 0) + bytes(4)
        png = encoded("PNG")
        start = png.index(b"IDAT") - 4
        body = png[start + 8:start + 8 + struct.unpack(">I", png[start:start + 4])[0]]
        end = png[-12:]
        for lengths in ([len(body)], *([size] for size in (1, 7, 64, 100, len(body) // 2, len(body) // 3)), [50, 50, 50, 0, 50, 3], [9, 9, 8]):
            with self.subTest(lengths):
                parts, at, number = [], 0, 0
                while at < len(body):
                    size = lengths[number % len(lengths)]
                    parts.append(chunk(b"IDAT", body[at:at + size]))
                    at, number = at + size, number + 1
                data = png[:start] + b"".join(parts) + chunk(b"eXIf", exif) + end
                reported, found = self.shown(data, "a.png")
                self.assertEqual(found.shape[:2], (WIDTH, HEIGHT))
                self.assertNotIn("dropped", reported)
                self.assertNotIn("damage", reported)
                reported, _ = self.shown(data + b"PK\3\4" + bytes(2000), "a.png")
                self.assertEqual(reported["dropped"], ["data behind its end"])

    def test_gray_with_alpha_over_a_coloured_background(self):
        gray = numpy.zeros((32, 64, 2), numpy.uint8)
        gray[:, :32] = [200, 255]
        self.source = folder("source") / "a.png"
        Image.fromarray(gray, "LA").save(self.source)
        under = Image.new("RGBA", (64, 32), (255, 0, 0, 255))
        wanted = numpy.array(Image.alpha_composite(under, Image.fromarray(gray, "LA").convert("RGBA")).convert("RGB"))
        _, archive = self.built(self.source, "--format", "jpeg", "--quality", "100", "--background", "255,0,0")
        found = numpy.array(Image.open(io.BytesIO(self.tiles(archive)[0, 0])).convert("RGB"))
        self.assertNear(found[5, [5, 60]], wanted[5, [5, 60]], 2)
        _, archive = self.built(self.source, "--format", "jpeg", "--background", "99,99,99")
        self.assertEqual(Image.open(io.BytesIO(self.tiles(archive)[0, 0])).mode, "L")

    def test_further_pictures_are_reported(self):
        ppm = b"P6 96 72 255\n" + picture().tobytes()
        gray = picture()[..., 0]
        empty = numpy.zeros(0, numpy.uint8)
        for data, name, wanted in (
                (ppm, "a.ppm", None), (ppm + ppm, "a.ppm", ["further pictures"]), (ppm + b"\n", "a.ppm", None),
                (fits(gray), "a.fits", None), (fits(empty, gray), "a.fits", None),
                (fits(gray, gray[:50], gray), "a.fits", ["2 further units"])):
            reported, _ = self.shown(data, name)
            self.assertEqual(reported.get("dropped"), wanted, name)
        # A unit whose header is nonsense ends the search.
        for number in (-2**63, 2**62):
            lie = fits(gray, gray).replace(b"PCOUNT  =                    0", f"PCOUNT  ={number:21}".encode())
            lie = lie[:5760] + lie[5760:].replace(b"BITPIX  =                    8", f"BITPIX  ={number:21}".encode())
            reported, _ = self.shown(lie, "a.fits")
            self.assertEqual(reported.get("dropped"), None)

    def test_exr_by_its_channels(self):
        plane = numpy.linspace(0, 1, WIDTH * HEIGHT, dtype=numpy.float32).reshape(HEIGHT, WIDTH)
        line = self.refusal(exr({"Z": plane}), "z.exr")
        self.assertRegex(line, r"without channels R, G, B or Y \(it has Z\): name .*oiiotool FILE --ch Y=Z ")
        layer = {f"diffuse.{name}": plane for name in "RGB"}
        self.assertIn("--ch R=diffuse.R,G=diffuse.G,B=diffuse.B -o", self.refusal(exr(layer), "layer.exr"))
        reported, _ = self.shown(exr({**{name: plane for name in "RGB"}, "Z": plane, "id": plane}), "z.exr")
        self.assertEqual(reported["dropped"], ["channels Z, id"])
        reported, _ = self.shown(exr({name: plane for name in "RGB"}), "plain.exr")
        self.assertNotIn("dropped", reported)

    def test_psd_of_two_grays(self):
        gray = numpy.where(picture()[..., 0] > 99, 255, 0).astype(numpy.uint8)
        _, found = self.shown(psd(1, [gray]), "a.psd")
        self.assertNear(found, numpy.array(Image.open(io.BytesIO(psd(1, [gray])))), 0)

    def test_psd_of_16_bit_gray_is_opaque(self):
        gray = numpy.linspace(0, 65535, WIDTH * HEIGHT).reshape(HEIGHT, WIDTH).round().astype(numpy.uint16)
        for mode in (1, 8):
            _, found = self.shown(psd(mode, [gray]), "a.psd")
            self.assertEqual(found.shape[2], 3)
            self.assertNear(found, converted(self.source), 1)

    def test_psd_in_cmyk(self):
        """As Pillow reads it: by the same route, a TIFF of the inks."""
        inks = numpy.dstack([picture(), picture()[::-1, ::-1, 0]])
        # White, black ink alone, and half of it.
        inks[:8, :8], inks[:8, 8:16], inks[:8, 16:24] = 0, (0, 0, 0, 255), (0, 0, 0, 128)
        planes = [255 - inks[..., ink] for ink in range(4)]
        read = Image.open(io.BytesIO(psd(4, planes)))
        self.assertEqual(read.mode, "CMYK")
        self.assertTrue((numpy.array(read) == inks).all())
        _, wanted = self.shown(encoded("TIFF", read), "a.tif")
        deep = [plane.astype(numpy.uint16) * 257 for plane in planes]
        for data in (psd(4, planes), psd(4, planes, runs=True), psd(4, deep), psd(4, deep, runs=True),
                     psd(4, [*planes, planes[0]])):
            _, found = self.shown(data, "a.psd")
            self.assertEqual(found.shape, wanted.shape)
            self.assertNear(found, wanted, 1)
            self.assertGreater(int(found[4, 4].min()), 250)
            self.assertLess(int(found[4, 12].max()), 50)
            self.assertGreater(int(found[4, 20].min()), 100)
        alpha = picture()[..., 2]
        _, found = self.shown(psd(4, [*planes, alpha], alpha=True), "a.psd")
        self.assertEqual(found.shape[2], 4)
        self.assertNear(found[..., :3], wanted, 1)
        self.assertNear(found[..., 3], alpha, 0)

    def test_psd_in_cmyk_that_is_damaged(self):
        planes = [picture()[..., band % 3] for band in range(4)]
        data = psd(4, planes, runs=True)
        report = self.damage(data[:-500], "a.psd")
        self.assertEqual((report["status"], report["damage"]), ("built", "truncated"))
        # A row whose first run says more than the row has.
        rows = [len(packed(row.tobytes())) for plane in planes for row in plane]
        last = len(data) - rows[-1]
        report = self.damage(data[:last] + b"\x81" + data[last + 1:], "a.psd")
        self.assertEqual((report["status"], report["damage"]), ("built", "error"))
        self.assertIn("the PSD file is damaged: row 72 of channel 4 cannot be decoded", report["reason"])

    def test_psd_in_modes_that_are_not_read(self):
        gray = picture()[..., 0]
        indexed = psd(2, [gray])
        indexed = indexed[:26] + struct.pack(">I", 768) + bytes(range(256)) * 3 + indexed[30:]
        Image.open(io.BytesIO(indexed)).load()
        line = self.refusal(indexed, "a.psd")
        self.assertRegex(line, "is a PSD file in indexed colours, which is not read here: save it in RGB")
        self.assertNotIn("damaged", line)
        line = self.refusal(psd(9, [gray] * 3), "a.psd")
        self.assertRegex(line, "is a PSD file in CIELab, which is not read here: convert it, .*convert")

    # Damage

    def test_ends_that_no_decoder_reports(self):
        place = folder("made")
        Image.fromarray(picture()).save(place / "a.png")
        subprocess.run(["convert", place / "a.png", place / "a.png", place / "a.png", place / "layers.psd"], check=True)
        for name in ("rle.sgi", "plain.sgi"):
            subprocess.run(["convert", place / "a.png", "-compress", name[:3].replace("pla", "None"), place / name], check=True)
        subprocess.run(["vips", "copy", place / "a.png", place / "adam7.png[interlace]"], check=True)
        frames = [Image.fromarray(numpy.roll(picture(), 9 * i, 1)).quantize(64) for i in range(4)]
        animation = encoded("GIF", frames[0], save_all=True, append_images=frames[1:])
        files = {name: (place / name).read_bytes() for name in ("layers.psd", "rle.sgi", "plain.sgi", "adam7.png")}
        files |= {"a.gif": animation, "a.ico": encoded("ICO", sizes=[(32, 32), (64, 64)], bitmap_format="bmp")}
        cuts = {"layers.psd": [0.8], "rle.sgi": [0.8], "plain.sgi": [0.5], "adam7.png": [-1, -2], "a.gif": [0.6, -1],
                "a.ico": [-1]}
        for name, data in files.items():
            reported, whole = self.shown(data, name)
            self.assertNotIn("damage", reported, name)
            for cut in cuts[name]:
                with self.subTest(name, cut=cut):
                    reported, part = self.shown(data[:cut] if cut < 0 else data[:int(len(data) * cut)], name)
                    self.assertEqual(reported["damage"], "truncated")
                    self.assertIn("file is cut off", reported["reason"])
                    facts = run("inspect", self.source, "--json")
                    self.assertEqual(json.loads(facts.stdout)["damage"], "truncated", facts.stderr)
                    refused = run("inspect", self.source, "--fail-on", "truncated")
                    self.assertEqual((refused.returncode, refused.stdout), (1, ""))
                    self.assertIn("file is cut off", refused.stderr)
                    if name in ("adam7.png", "a.gif"):
                        self.assertTrue((part == whole).all())

    def test_runs_that_do_not_fill_the_picture(self):
        """Nothing else in Targa and PCX files says that bytes are wrong."""
        image = Image.fromarray(picture())
        gray = image.convert("L")
        files = {"rgb.tga": encoded("TGA", image, compression="tga_rle"), "gray.tga": encoded("TGA", gray, compression="tga_rle"),
                 "palette.tga": encoded("TGA", image.quantize(64), compression="tga_rle"),
                 "alpha.tga": encoded("TGA", image.convert("RGBA"), compression="tga_rle"),
                 "plain.tga": encoded("TGA", image), "rgb.pcx": encoded("PCX", image), "gray.pcx": encoded("PCX", gray),
                 "palette.pcx": encoded("PCX", image.quantize(64))}
        for name, data in files.items():
            with self.subTest(name):
                report, _ = self.shown(data, name)
                self.assertNotIn("damage", report)
        for name in ("rgb.tga", "gray.tga", "rgb.pcx", "gray.pcx"):
            with self.subTest(name):
                data = bytearray(files[name])
                if name.endswith("tga"):
                    # The first packet, which has the pixels of a row, says that it has three less.
                    data[18] -= 3
                else:
                    middle = len(data) // 2
                    data[middle:middle + 40] = b"\xc9" * 40
                report = self.damage(bytes(data), name)
                self.assertIn(report["damage"], ("error", "truncated"))
                self.assertRegex(report["reason"], r"the (TGA|PCX) file is (damaged: its run lengths|cut off: )")
                source = folder("damaged") / name
                source.write_bytes(data)
                self.assertEqual(run("build", source, "--library", folder("library"), "--fail-on", "error").returncode, 1)

    # Analyze

    def test_an_analyze_pair_is_one_source(self):
        """Analyze 7.5, of which the header is big-endian: 16 bits, 96 × 72 × 1."""
        place = folder("pair")
        header = bytearray(348)
        header[0:4] = struct.pack(">i", 348)
        header[40:56] = struct.pack(">8h", 3, WIDTH, HEIGHT, 1, 1, 0, 0, 0)
        header[70:74] = struct.pack(">hh", 4, 16)
        samples = (numpy.arange(WIDTH * HEIGHT) * 4).astype(">i2").tobytes()
        (place / "an.hdr").write_bytes(header)
        (place / "an.img").write_bytes(samples)
        for arguments in ([place], [place / "an.hdr"], [place / "an.img"], [place / "an.hdr", place / "an.img"]):
            result = run("build", *arguments, "--library", folder("library"), "--json", "--quiet")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            (report,) = map(json.loads, result.stdout.splitlines())
            self.assertEqual((report["id"], report["width"], report["height"]), ("an", WIDTH, HEIGHT))
        # Samples without a header are still reported.
        (place / "an.hdr").unlink()
        self.assertEqual(run("build", place, "--library", folder("library")).returncode, 1)

    def sgi(self, *options: str) -> bytes:
        """A picture in steps, with runs."""
        source = folder("made") / "a.png"
        Image.fromarray(picture() // 16 * 16).save(source)
        subprocess.run(["convert", source, *options, "-compress", "RLE", source.with_suffix(".sgi")], check=True)
        return source.with_suffix(".sgi").read_bytes()

    def test_sgi_rows_whose_runs_do_not_fill_them(self):
        for name, options, rows in (("rgb", [], 3 * HEIGHT), ("gray", ["-colorspace", "gray"], HEIGHT), ("alpha", ["-alpha", "set"], 4 * HEIGHT)):
            with self.subTest(name):
                data = bytearray(self.sgi(*options))
                reported, _ = self.shown(bytes(data), "a.sgi")
                self.assertNotIn("damage", reported)
                # The first run of the first row has a pixel less; its length is in the lower seven bits.
                place = int.from_bytes(data[512:516], "big")
                self.assertGreater(data[place] & 0x7f, 1)
                data[place] -= 1
                reported = self.damage(bytes(data), "a.sgi")
                self.assertEqual((reported["status"], reported["damage"]), ("built", "error"))
                self.assertEqual(reported["reason"], f"the SGI file is damaged: the run lengths of 1 of {rows} rows do not give the "
                                                 "number of their pixels")

    @staticmethod
    def runs(bits: int, stream: bytes, rows: int = 3) -> bytes:
        """A BMP of 6 pixels a row."""
        palette = b"".join(bytes([40 * n, 255 - 40 * n, 9, 0]) for n in range(4))
        start = 54 + len(palette)
        info = struct.pack("<IiiHHIIiiII", 40, 6, rows, 1, bits, 1 if bits == 8 else 2, len(stream), 2835, 2835, 4, 4)
        return b"BM" + struct.pack("<IHHI", start + len(stream), 0, 0, start) + info + palette + stream

    def test_bmp_runs_that_do_not_fill_the_picture(self):
        row, literal = b"\x06\x01\0\0", b"\x02\x01\0\x04\1\2\1\2\0\0"
        narrow = b"\x06\x12\0\0", b"\x02\x11\0\x04\x12\x12\0\0"
        for name, bits, stream, damage, reason in (
                ("whole", 8, row + literal + row + b"\0\1", None, None),
                ("whole", 4, narrow[0] + narrow[1] + narrow[0] + b"\0\1", None, None),
                ("without the mark of its end", 8, row * 3, None, None),
                ("a run that is too long", 8, row + b"\x07\x01\0\0" + row + b"\0\1", "error", "its run lengths do not give"),
                ("too many rows", 8, row * 4 + b"\0\1", "error", "its run lengths do not give"),
                ("a run that is too short", 8, row + b"\x04\x01\0\0" + row + b"\0\1", "error", "damaged: 2 of 18 pixels have no colour"),
                ("an early end", 8, row * 2 + b"\x03\x01\0\1", "error", "damaged: 3 of 18 pixels have no colour"),
                ("cut off", 8, row * 2, "truncated", "cut off: 6 of 18 pixels have no colour"),
                ("moves", 8, b"\x02\x01\0\2\0\1\x04\x01\0\0" + row + b"\0\1", "warning", "leaves pixels out: 6 of 18 pixels have no colour"),
                ("short rows", 8, b"\x04\x01\0\0" * 3 + b"\0\1", "warning", "leaves pixels out: 6 of 18 pixels have no colour")):
            with self.subTest((name, bits)):
                reported = self.damage(self.runs(bits, stream), "a.bmp")
                if "status" in reported and reported["status"] == "failed" and damage == "truncated":
                    # What ImageMagick refuses.
                    continue
                self.assertEqual((reported["status"], reported.get("damage")), ("built", damage), reported)
                if reason:
                    self.assertIn(reason, reported["reason"])

    def test_avif_with_bad_bytes(self):
        """dav1d makes a picture of most such files, and does not report it."""
        place = folder("made")
        lot = numpy.random.default_rng(7)
        noise = lot.integers(0, 60, (240, 320, 3), numpy.uint8)
        (place / "a.ppm").write_bytes(encoded("PPM", noise))
        subprocess.run(["vips", "heifsave", place / "a.ppm", f"{place / 'a.avif'}", "--compression", "av1", "--lossless"], check=True)
        data = (place / "a.avif").read_bytes()
        self.assertNotIn("damage", self.shown(data, "a.avif")[0])
        start = data.index(b"mdat") + 200
        built = 0
        for _ in range(10):
            bad = bytearray(data)
            bad[int(lot.integers(start, len(bad) - 50))] ^= 0x10
            reported = self.damage(bytes(bad), "a.avif")
            if reported["status"] == "built":
                built += 1
                self.assertEqual((reported["damage"], reported["reason"]), ("error", "the AVIF file is damaged (Corrupt frame detected)"))
        self.assertGreater(built, 0)

    # SVG

    def test_svg_in_units_of_length_has_96_pixels_to_the_inch(self):
        """Sizes are those of Chromium's naturalWidth and naturalHeight, pixels those of rsvg-convert."""
        box = 'viewBox="0 0 40 30"'
        shapes = '<rect x="3" y="2" width="20" height="10" fill="red"/><rect x="1mm" y="10pt" width="0.1in" height="5" fill="navy"/>'
        for root, size in (
                ('width="100mm" height="50mm" viewBox="0 0 100 50"', (378, 189)), ('width="1in" height="2in"', (96, 192)),
                ('width="72pt" height="36pt"', (96, 48)), ('width="2.54cm" height="5cm"', (96, 189)), ('width="6pc" height="12pc"', (96, 192)),
                (f'width="40" height="30px" {box}', (40, 30)),
                ('width="200" height="100"', (200, 100)), (f'width="200" {box}', (200, 150)), (f'height="90" {box}', (120, 90)),
                (f'width="2in" height="100%" {box}', (192, 144)), (f'width="100mm" {box}', (378, 283)), (box, (40, 30))):
            with self.subTest(root):
                text = f'<svg xmlns="http://www.w3.org/2000/svg" {root}>{shapes}</svg>'.encode()
                _, found = self.shown(text, "a.svg")
                self.assertEqual(found.shape[1::-1], size)
                place = folder("rsvg") / "a.svg"
                place.write_bytes(text)
                subprocess.run(["rsvg-convert", place, "-o", place.with_suffix(".png")], check=True)
                wanted = numpy.array(Image.open(place.with_suffix(".png")))
                # Millimetres are no whole pixels, which each program rounds in its own way, as colours divided by alpha.
                if "mm" not in root and "cm" not in root:
                    self.assertNear(found, wanted, 2)

    def test_svg_whose_first_bytes_do_not_say_so(self):
        drawing = ('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">'
                   '<rect width="10" height="10" fill="#4080c0"/></svg>')
        prefixed = ('<s:svg xmlns:s="http://www.w3.org/2000/svg" width="20" height="10">'
                    '<s:rect width="10" height="10" fill="#4080c0"/></s:svg>')
        doctype = '<!DOCTYPE svg [<!ENTITY a "' + "b" * 3000 + '">]>'
        texts = {
            "plain": drawing.encode(), "comment": f'<?xml version="1.0"?>\n<!-- {"long " * 600}-->{drawing}'.encode(),
            "utf16": ('<?xml version="1.0" encoding="UTF-16"?>' + drawing).encode("utf-16"),
            "prefixed": prefixed.encode(), "doctype": (doctype + drawing).encode(),
        }
        wanted = folder("rsvg") / "a.png"
        (wanted.parent / "a.svg").write_bytes(texts["plain"])
        subprocess.run(["rsvg-convert", wanted.parent / "a.svg", "-o", wanted], check=True)
        for name, text in texts.items():
            with self.subTest(name):
                _, found = self.shown(text, f"{name}.svg")
                self.assertTrue((found == numpy.array(Image.open(wanted))).all())
        self.assertIn("in no format that is read", self.refusal(b"<!-- " + b"x" * 2000 + b"--><html/>", "a.svg"))

    # What is not read

    def test_volumes_and_scans_of_film_are_refused_with_advice(self):
        header = bytearray(352)
        header[0:4] = struct.pack("<i", 348)
        header[40:48] = struct.pack("<hhhh", 3, 96, 72, 1)
        nifti = bytes(header[:344]) + b"n+1\0" + bytes(100)
        for data, name, what in (
                (nifti, "a.nii", "a NIfTI volume"), (bytes(header), "a.hdr", "a little-endian Analyze volume"),
                (bytes(header[:344]) + b"ni1\0" + bytes(8), "b.hdr", "a NIfTI volume"),
                (bytes(500), "a.img", "an Analyze or NIfTI volume"),
                (b"\x1f\x8b\x08\0" + bytes(100), "a.nii.gz", "a NIfTI volume")):
            with self.subTest(name):
                self.assertRegex(self.refusal(data, name), rf"is {what}.*: convert it to OME-TIFF, .*bfconvert")
        cineon = folder("cineon") / "a.cin"
        Image.fromarray(picture()).save(cineon.parent / "a.png")
        subprocess.run(["convert", cineon.parent / "a.png", "-colorspace", "Log", cineon], check=True)
        self.assertRegex(self.refused(cineon), "is a Cineon file, .*convert FILE -colorspace sRGB FILE.png")

    def test_folders_say_why_files_are_passed_over(self):
        base = folder("scan")
        for name in ("a.nii.gz", "b.nii", "c.bw", "d.cin", "e.gz"):
            (base / name).write_bytes(b"\0")
        Image.fromarray(picture()).save(base / "photo.tif")
        for name in ("e.lsm", "f.stk"):
            (base / name).write_bytes((base / "photo.tif").read_bytes())
        result = run("build", base, "--library", folder("library"), "--verbose", "--json")
        reported = {Path(line["source"]).name: line for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(sorted(name for name, line in reported.items() if line["status"] == "built"),
                         ["e.lsm", "f.stk", "photo.tif"])
        for name, reason in (("a.nii.gz", "NIfTI.*bfconvert"), ("b.nii", "NIfTI.*bfconvert"),
                             ("c.bw", "SGI.*name the file"), ("d.cin", "Cineon.*convert"), ("e.gz", "no image by its name")):
            self.assertRegex(result.stderr, rf"(?m)^.*{base}/{name}.*{reason}")

    def test_a_decoders_message_follows_the_file_name(self):
        line = self.refusal(psd(3, [picture()[..., 0]] * 3)[:2000], "a.psd")
        self.assertNotIn("@ error", line)
        self.assertRegex(line, r"the PSD file .*\(\w+\)$")
