"""JPEG by its markers: sampling × colour transform × profile × orientation, each file compared.

djpeg decodes, LittleCMS converts colours, and numpy turns.
"""

import io
import json
import struct
import subprocess
import unittest
import zipfile
from pathlib import Path

import numpy
from PIL import Image, ImageCms

from harness import CommandTest, folder, run

WIDTH, HEIGHT = 83, 59
ICC = Path("/usr/share/color/icc/ghostscript")
A98, SRGB, GRAY, CMYK = ((ICC / f"{name}.icc").read_bytes() for name in ("a98", "srgb", "sgray", "default_cmyk"))
# What the numbers of EXIF's Orientation ask for.
TURNS = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
         5: lambda p: p.swapaxes(0, 1), 6: lambda p: numpy.rot90(p, -1), 7: lambda p: numpy.rot90(p, 2).swapaxes(0, 1),
         8: lambda p: numpy.rot90(p)}
SAMPLINGS = ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "2x2,2x1,1x2", "2x2,1x1,2x1")


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def orientation(number: int) -> bytes:
    tags = struct.pack(">HHHIHH", 1, 0x112, 3, 1, number, 0) + bytes(4)
    return segment(0xE1, b"Exif\0\0MM\0*" + struct.pack(">I", 8) + tags)


def adobe(transform: int) -> bytes:
    return segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform))


def without_markers(data: bytes) -> bytes:
    """The same without APP0 and APP14."""
    out, at = data[:2], 2
    while data[at + 1] != 0xDA:
        length = 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
        if data[at + 1] not in (0xE0, 0xEE):
            out += data[at:at + length]
        at += length
    return out + data[at:]


def with_ids(data: bytes, ids: bytes) -> bytes:
    """The same with other numbers of components, in frame and scan."""
    out = bytearray(data)
    at = 2
    while True:
        marker, length = out[at + 1], struct.unpack(">H", out[at + 2:at + 4])[0]
        if marker in (0xC0, 0xC2):
            for index, number in enumerate(ids):
                out[at + 10 + 3 * index] = number
        if marker == 0xDA:
            for index, number in enumerate(ids):
                out[at + 5 + 2 * index] = number
            return bytes(out)
        at += 2 + length


def inserted(data: bytes, *segments: bytes) -> bytes:
    return data[:2] + b"".join(segments) + data[2:]


class JPEGMatrix(CommandTest):
    def setUp(self):
        self.made = folder("made")
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        smooth = numpy.stack([x * 3, y * 4, 255 - x - y], -1)
        pixels = smooth + numpy.random.default_rng(7).integers(-20, 21, smooth.shape)
        self.pixels = pixels.clip(0, 255).astype(numpy.uint8)
        Image.fromarray(self.pixels).save(self.made / "in.ppm")
        Image.fromarray(self.pixels[..., 0]).save(self.made / "gray.pgm")

    def cjpeg(self, *options, source: str = "in.ppm") -> bytes:
        return subprocess.run(["cjpeg", "-quality", "90", *options, self.made / source], check=True, capture_output=True).stdout

    def djpeg(self, data: bytes) -> numpy.ndarray:
        """RGB."""
        made = subprocess.run(["djpeg", "-pnm"], input=data, check=True, capture_output=True).stdout
        return numpy.array(Image.open(io.BytesIO(made)).convert("RGB"))

    def converted(self, pixels: numpy.ndarray, profile: bytes, mode: str = "RGB") -> numpy.ndarray:
        made = ImageCms.profileToProfile(Image.fromarray(pixels, mode), ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                                         ImageCms.createProfile("sRGB"), outputMode="RGB")
        return numpy.array(made)

    def check(self, files: dict[str, tuple[bytes, numpy.ndarray, int]]):
        """Each file has its pixels, and how far from these the tiles may be."""
        place, library = folder("sources"), folder("library")
        for name, (data, _, _) in files.items():
            (place / f"{name}.jpg").write_bytes(data)
        result = run("build", place, "--library", library, "--json", "--quiet", "--format", "png")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = {line["id"]: line for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(set(report), set(files))
        for name, (_, wanted, within) in files.items():
            with self.subTest(name):
                self.assertNotIn("damaged", report[name])
                with zipfile.ZipFile(library / f"{name}.szi") as szi:
                    pixels = numpy.array(Image.open(io.BytesIO(szi.read(f"{name}/{name}_files/7/0_0.png"))).convert("RGB"))
                self.assertEqual(pixels.shape, wanted.shape)
                self.assertLessEqual(int(numpy.abs(pixels.astype(int) - wanted).max()), within)

    def test_sampling_and_orientation(self):
        files = {}
        for sampling in SAMPLINGS:
            for kind in ("baseline", "progressive"):
                data = self.cjpeg("-sample", sampling, *(["-progressive"] if kind == "progressive" else []))
                wanted = self.djpeg(data)
                for number, turn in TURNS.items():
                    name = f"{sampling.replace(',', '_')} {kind} {number}"
                    files[name] = inserted(data, orientation(number)), turn(wanted), 0
        gray = self.cjpeg(source="gray.pgm")
        for number, turn in TURNS.items():
            files[f"gray {number}"] = inserted(gray, orientation(number)), turn(self.djpeg(gray)), 0
        self.assertEqual(len(files), 136)
        self.check(files)

    def test_colour_transform_and_profile(self):
        rgb = without_markers(self.cjpeg("-rgb"))
        plain = without_markers(self.cjpeg("-sample", "2x2"))
        fine = without_markers(self.cjpeg("-sample", "1x1"))
        jfif = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
        kinds = {
            "jfif": inserted(plain, jfif), "adobe 1": inserted(plain, adobe(1)),
            "none": plain, "fine none": fine, "rgb adobe 0": inserted(rgb, adobe(0)), "rgb by its numbers": with_ids(rgb, b"RGB"),
            "rgb without a word": with_ids(rgb, bytes([1, 2, 3])), "odd numbers": with_ids(fine, bytes([0, 1, 2])),
            "fine adobe 0": inserted(fine, adobe(0)), "jfif and adobe": inserted(fine, jfif, adobe(1)),
        }
        files = {}
        for kind, data in kinds.items():
            decoded = self.djpeg(data)
            for name, profile in {"no profile": None, "sRGB": SRGB, "Adobe RGB": A98, "gray": GRAY, "garbage": b"abcd" * 50}.items():
                body = inserted(data, segment(0xE2, b"ICC_PROFILE\0\1\1" + profile)) if profile else data
                wanted = self.converted(decoded, A98) if profile == A98 else decoded
                for number in (1, 6):
                    files[f"{kind}, {name}, {number}"] = inserted(body, orientation(number)), TURNS[number](wanted), 1 if profile in (A98, SRGB) else 0
        self.assertEqual(len(files), 100)
        self.check(files)

    def test_cmyk_and_ycck(self):
        four = numpy.dstack([self.pixels, self.pixels[..., 1] // 3])
        out = io.BytesIO()
        Image.fromarray(four, "CMYK").save(out, "JPEG", quality=95, icc_profile=CMYK)
        data = out.getvalue()
        at = data.index(b"Adobe") + 11
        files = {}
        # The same numbers as CMYK, and taken for YCCK.
        for name, transform in {"cmyk": 0, "ycck": 2}.items():
            body = data[:at] + bytes([transform]) + data[at + 1:]
            inks = numpy.array(Image.open(io.BytesIO(body)))
            for number in (1, 6):
                files[f"{name} {number}"] = inserted(body, orientation(number)), TURNS[number](self.converted(inks, CMYK, "CMYK")), 12
        self.check(files)


if __name__ == "__main__":
    unittest.main()
