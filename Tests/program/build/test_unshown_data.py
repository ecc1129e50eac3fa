"""What files hold beside the pixels that tiles show: alpha that colours are multiplied by is undone; gain maps, depth
maps, videos and further pictures are reported."""

import io
import json
import struct
import subprocess
import unittest
import zipfile
from pathlib import Path

import numpy
import tifffile
from PIL import Image

from harness import CommandTest, folder, run


def picture() -> numpy.ndarray:
    y, x = numpy.mgrid[0:90, 0:120]
    return numpy.stack([x * 2, y * 2, 255 - x - y], -1).clip(0, 255).astype(numpy.uint8)


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture()).save(out, "JPEG", quality=90)
    return out.getvalue()


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def xmp(attributes: str) -> bytes:
    packet = (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
             f'<rdf:Description rdf:about="" {attributes}/></rdf:RDF></x:xmpmeta>')
    return segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet.encode())


def with_segments(*segments: bytes) -> bytes:
    return jpeg()[:2] + b"".join(segments) + jpeg()[2:]


def multi_picture(*others: tuple[int, bytes]) -> bytes:
    """A Multi-Picture file of pictures with their types behind the first one (CIPA DC-007)."""
    def index(offsets):
        entries = struct.pack(">IIIHH", 0x030000, 0, 0, 0, 0)
        for (kind, data), offset in zip(others, offsets):
            entries += struct.pack(">IIIHH", kind, len(data), offset, 0, 0)
        count = len(others) + 1
        fields = struct.pack(">HHI4s", 0xB000, 7, 4, b"0100") + struct.pack(">HHII", 0xB001, 4, 1, count)
        fields += struct.pack(">HHII", 0xB002, 7, 16 * count, 8 + 2 + 36 + 4)
        return segment(0xE2, b"MPF\0MM\0*" + struct.pack(">IH", 8, 3) + fields + bytes(4) + entries)

    first = with_segments(index([0] * len(others)))
    place = first.index(b"MPF\0") + 4
    offsets, at = [], len(first)
    for _, data in others:
        offsets.append(at - place)
        at += len(data)
    return with_segments(index(offsets)) + b"".join(data for _, data in others)


def exr(pixels: numpy.ndarray) -> bytes:
    """Red, green, blue and alpha as 32-bit floats without compression (OpenEXR File Layout)."""
    rows, columns, _ = pixels.shape
    def attribute(name, kind, value):
        return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value
    channels = b"".join(name + b"\0" + struct.pack("<IIii", 2, 0, 1, 1) for name in (b"A", b"B", b"G", b"R")) + b"\0"
    window = struct.pack("<4i", 0, 0, columns - 1, rows - 1)
    head = struct.pack("<II", 20000630, 2) + attribute(b"channels", b"chlist", channels) + attribute(
        b"compression", b"compression", b"\0") + attribute(b"dataWindow", b"box2i", window) + attribute(
        b"displayWindow", b"box2i", window) + attribute(b"lineOrder", b"lineOrder", b"\0") + attribute(
        b"pixelAspectRatio", b"float", struct.pack("<f", 1)) + attribute(
        b"screenWindowCenter", b"v2f", struct.pack("<ff", 0, 0)) + attribute(
        b"screenWindowWidth", b"float", struct.pack("<f", 1)) + b"\0"
    lines = [struct.pack("<iI", y, 16 * columns) + b"".join(
        pixels[y, :, band].astype("<f4").tobytes() for band in (3, 2, 1, 0)) for y in range(rows)]
    start = len(head) + 8 * rows
    return head + b"".join(struct.pack("<Q", start + len(lines[0]) * y) for y in range(rows)) + b"".join(lines)


class Unshown(CommandTest):
    def built(self, files: dict[str, bytes], *options) -> dict[str, dict]:
        self.sources, self.library = folder("sources"), folder("library")
        for name, data in files.items():
            (self.sources / name).write_bytes(data)
        result = run("build", self.sources, "--library", self.library, "--json", "--quiet", "--format", "png", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {Path(report["source"]).name: report for report in map(json.loads, result.stdout.splitlines())}

    def pixels(self, report: dict) -> numpy.ndarray:
        with zipfile.ZipFile(self.library / f"{report['id']}.szi") as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))))

    def test_alpha_that_colours_are_multiplied_by(self):
        straight = numpy.dstack([picture(), numpy.full((90, 120), 128, numpy.uint8)])
        straight[:, 60:, 3] = 255
        made = folder("made")
        Image.fromarray(straight).save(made / "straight.avif", quality=100, subsampling="4:4:4")
        avif = (made / "straight.avif").read_bytes()
        light = numpy.where(straight[..., :3] <= 10, straight[..., :3] / 255 / 12.92, ((straight[..., :3] / 255 + 0.055) / 1.055) ** 2.4)
        alpha = straight[..., 3:] / 255
        # libjxl 0.7 writes no JPEG XL whose colours are multiplied.
        Image.fromarray(straight).save(made / "in.png")
        subprocess.run(["vips", "copy", made / "in.png", f"{made / 'a.jxl'}[lossless]"], check=True, capture_output=True)
        multiplied = straight.copy()
        multiplied[..., :3] = (straight[..., :3].astype(int) * straight[..., 3:] + 127) // 255
        jp2 = {}
        for name, pixels in {"straight.jp2": straight, "multiplied.jp2": multiplied}.items():
            out = io.BytesIO()
            Image.fromarray(pixels).save(out, "JPEG2000")
            jp2[name] = out.getvalue()
        # The fourth channel is opacity; from now on premultiplied opacity.
        data = jp2["multiplied.jp2"]
        at = data.index(b"cdef") + 6 + 3 * 6 + 2
        self.assertEqual(data[at:at + 2], b"\0\1")
        jp2["multiplied.jp2"] = data[:at] + b"\0\2" + data[at + 2:]
        report = self.built({**jp2, "straight.jxl": (made / "a.jxl").read_bytes(), "straight.avif": avif,
                           "light.exr": exr(numpy.dstack([light * alpha, alpha]))})
        for name in report:
            with self.subTest(name):
                pixels = self.pixels(report[name]).astype(int)
                self.assertLessEqual(int(numpy.abs(pixels - straight).max()), 3 if name.endswith("avif") else 2)
                self.assertEqual("divided by alpha, which its colours were multiplied by" in report[name]["steps"],
                                 name in ("light.exr", "multiplied.jp2"))

    def test_premultiplied_avif(self):
        """Made by turning a straight file's reference `auxl` of alpha into one of which `prem` says the same."""
        straight = numpy.dstack([picture(), numpy.full((90, 120), 128, numpy.uint8)])
        made = folder("made")
        Image.fromarray(straight).save(made / "a.avif", quality=100, subsampling="4:4:4")
        data = (made / "a.avif").read_bytes()
        at = data.index(b"iref") - 4
        size = struct.unpack(">I", data[at:at + 4])[0]
        auxl = data.index(b"auxl", at) - 4
        alpha, main = struct.unpack(">H", data[auxl + 8:auxl + 10])[0], struct.unpack(">H", data[auxl + 12:auxl + 14])[0]
        prem = struct.pack(">I4sHHH", 14, b"prem", main, 1, alpha)
        data = data[:at] + struct.pack(">I", size + 14) + data[at + 4:at + size] + prem + data[at + size:]
        # The box around it grows, and so do the places of the pictures.
        meta = data.index(b"meta") - 4
        data = data[:meta] + struct.pack(">I", struct.unpack(">I", data[meta:meta + 4])[0] + 14) + data[meta + 4:]
        iloc = data.index(b"iloc")
        body = bytearray(data)
        count = struct.unpack(">H", data[iloc + 10:iloc + 12])[0]
        for item in range(count):
            place = iloc + 12 + 14 * item + 6
            body[place:place + 4] = struct.pack(">I", struct.unpack(">I", body[place:place + 4])[0] + 14)
        with Image.open(io.BytesIO(bytes(body))) as image:
            wanted = numpy.array(image.convert("RGBA"))
        self.assertFalse((wanted == straight).all())
        report = self.built({"a.avif": bytes(body)})["a.avif"]
        self.assertLessEqual(int(numpy.abs(self.pixels(report).astype(int) - wanted).max()), 4)
        self.assertIn("divided by alpha, which its colours were multiplied by", report["steps"])

    def test_data_beside_a_jpeg(self):
        iso = segment(0xE2, b"urn:iso:std:iso:ts:21496:-1\0\0\0\0\0")
        apple = jpeg()[:2] + xmp('xmlns:apdi="x" apdi:AuxiliaryImageType="urn:com:apple:photo:2020:aux:hdrgainmap"') + jpeg()[2:]
        files = {
            "none.jpg": (jpeg(), []), "title.jpg": (with_segments(xmp('xmlns:dc="x" dc:title="hdrgm"')), []),
            "ultra.jpg": (with_segments(xmp('xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"')), ["gain map"]),
            "iso.jpg": (with_segments(iso), ["gain map"]), "apple.jpg": (multi_picture((0, apple)), ["gain map"]),
            "preview.jpg": (multi_picture((0x010001, jpeg())), []),
            "stereo.jpg": (multi_picture((0x020002, jpeg()), (0x020002, jpeg())), ["2 further pictures"]),
            "motion.jpg": (with_segments(xmp('xmlns:GCamera="x" GCamera:MotionPhoto="1"')) + b"\0\0\0\x18ftypmp42", ["video of a motion photo"]),
            "depth.jpg": (with_segments(xmp('xmlns:GDepth="x" GDepth:Mime="image/png"')), ["depth map"]),
        }
        report = self.built({name: data for name, (data, _) in files.items()})
        for name, (_, wanted) in files.items():
            with self.subTest(name):
                self.assertEqual(report[name].get("dropped", []), wanted)
                facts = json.loads(run("inspect", self.sources / name, "--json").stdout)
                self.assertEqual(facts.get("dropped", []), wanted)
        record = json.loads(zipfile.ZipFile(self.library / "ultra.szi").read("ultra/vendor/ziggurat/build.json"))
        self.assertEqual(record["dropped"], ["gain map"])
        text = run("build", self.sources / "ultra.jpg", "--library", folder("library"))
        self.assertIn("; not shown: gain map", text.stderr)

    def test_data_behind_the_end_of_a_picture(self):
        def saved(kind: str, side: int = 90, **how) -> bytes:
            out = io.BytesIO()
            Image.fromarray(picture()).resize((side, side)).save(out, kind, **how)
            return out.getvalue()

        other = saved("PNG", 40)
        plain = {"a.jpg": jpeg(), "progressive.jpg": saved("JPEG", progressive=True, restart_marker_blocks=4), "b.png": saved("PNG"),
                 "c.webp": saved("WEBP"), "d.gif": saved("GIF"), "e.avif": saved("AVIF"), "f.jp2": saved("JPEG2000")}
        # A preview within the header has an end of its own; it is not the picture's.
        plain["preview.jpg"] = with_segments(segment(0xE1, b"Exif\0\0" + jpeg()))
        noise = bytes(1 + number * 7 % 254 for number in range(2000))
        files = {}
        for name, data in plain.items():
            files[name] = (data, [])
            files["zeros-" + name] = (data + bytes(100_000), [])
            files["line-" + name] = (data + b"\r\n", [])
            files["note-" + name] = (data + b"\0\0\xa1\x0a\x08\0\0\0Image_UTC_Data1700000000000SEFHk\0\0\0SEFT", [])
            for kind, more in {"jpeg": jpeg(), "png": other, "video": b"\0\0\0\x18ftypmp42" + bytes(20), "zip": b"PK\3\4" + bytes(30),
                               "noise": noise, "late": bytes(70_000) + other}.items():
                # libheif refuses a file with two boxes of brands.
                if (kind, name) != ("video", "e.avif"):
                    files[f"{kind}-{name}"] = (data + more, ["data behind its end"])
        files["listed.jpg"] = (multi_picture((0x010001, jpeg())) + other, ["data behind its end"])
        files["unlisted.jpg"] = (multi_picture((0x010001, jpeg())) + bytes(4096), [])
        vr = 'xmlns:GImage="http://ns.google.com/photos/1.0/image/" xmlns:GAudio="http://ns.google.com/photos/1.0/audio/"'
        files["eye.jpg"] = (with_segments(xmp(f'{vr} GImage:Mime="image/jpeg"')), ["picture for the other eye"])
        files["sound.jpg"] = (with_segments(xmp(f'{vr} GImage:Mime="image/jpeg" GAudio:Mime="audio/mp4a-latm"')),
                              ["picture for the other eye", "sound"])
        report = self.built({name: data for name, (data, _) in files.items()})
        for name, (_, wanted) in files.items():
            with self.subTest(name):
                self.assertEqual(report[name].get("dropped", []), wanted)

    def test_data_beside_the_picture_of_a_tiff(self):
        def tiff(*pages: dict) -> bytes:
            out = io.BytesIO()
            with tifffile.TiffWriter(out) as file:
                for page in pages:
                    file.write(**{"photometric": "rgb", "metadata": None, **page})
            return out.getvalue()

        pixels, small = picture(), picture()[::2, ::2].copy()
        layers = b"Adobe Photoshop Document Data Block\0MIB8ryaL" + bytes(range(200))
        gray = {"data": pixels[..., 0].astype(numpy.uint16).copy(), "photometric": "minisblack"}
        files = {
            "plain.tif": (tiff({"data": pixels}), []),
            "layers.tif": (tiff({"data": pixels, "extratags": [(37724, 7, len(layers), layers, True)]}), ["layers"]),
            "depth.tif": (tiff({"data": pixels, "subifds": 1}, gray), ["1 further picture"]),
            "pyramid.tif": (tiff({"data": pixels, "subifds": 1}, {"data": small}), []),
            "marked.tif": (tiff({"data": pixels, "subifds": 1}, {"data": small, "subfiletype": 1}), []),
            "copy.tif": (tiff({"data": pixels}, {"data": small, "subfiletype": 1}), []),
            "larger.tif": (tiff({"data": small}, {"data": pixels, "subfiletype": 1}),
                           ["a larger picture that the file calls a reduced copy"]),
        }
        report = self.built({name: data for name, (data, _) in files.items()})
        for name, (_, wanted) in files.items():
            with self.subTest(name):
                self.assertEqual(report[name].get("dropped", []), wanted)

    def test_frames_of_animations(self):
        frames = [Image.fromarray(numpy.roll(picture(), 30 * number, 1)) for number in range(3)]
        made = folder("made")
        frames[0].save(made / "a.avif", save_all=True, append_images=frames[1:], duration=100, quality=90)
        frames[0].save(made / "a.png", save_all=True, append_images=frames[1:], duration=100)
        self.assertEqual((made / "a.avif").read_bytes()[4:12], b"ftypavis")
        report = self.built({"a.avif": (made / "a.avif").read_bytes(), "b.png": (made / "a.png").read_bytes()})
        for name in report:
            with self.subTest(name):
                self.assertEqual(report[name]["dropped"], ["frames of an animation"])
                self.assertLess(numpy.abs(self.pixels(report[name])[..., :3].astype(int) - picture()).mean(), 3)

    def test_pictures_beside_a_heic(self):
        made = folder("made")
        Image.fromarray(picture()).save(made / "in.png")
        subprocess.run(["vips", "copy", made / "in.png", made / "a.heic"], check=True, capture_output=True)
        plain = (made / "a.heic").read_bytes()
        motion = plain + struct.pack(">I4s", 24, b"mpvd") + bytes(16)
        report = self.built({"plain.heic": plain, "motion.heic": motion})
        self.assertNotIn("dropped", report["plain.heic"])
        self.assertEqual(report["motion.heic"]["dropped"], ["video of a motion photo"])


if __name__ == "__main__":
    unittest.main()
