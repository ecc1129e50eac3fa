"""PNG by its chunks: bit depth × colour type × tRNS × marks of colour × interlacing, each file compared.

The files are written here, so that their samples are known; colours are converted by LittleCMS, or by the formulas of
the standards.
"""

import io
import json
import struct
import sys
import unittest
import zipfile
import zlib
from pathlib import Path

import numpy
from PIL import Image, ImageCms

from harness import ROOT, CommandTest, folder, run

sys.path.insert(0, str(ROOT / "Tests/colour"))
import colour_science as science

WIDTH, HEIGHT = 37, 29
ICC = Path("/usr/share/color/icc/ghostscript")
GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
KINDS = [(GRAY, 1), (GRAY, 2), (GRAY, 4), (GRAY, 8), (GRAY, 16), (RGB, 8), (RGB, 16), (PALETTE, 1), (PALETTE, 2),
         (PALETTE, 4), (PALETTE, 8), (GRAY_ALPHA, 8), (GRAY_ALPHA, 16), (RGBA, 8), (RGBA, 16)]
SAMPLES = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}
# ITU-R BT.709's primaries to Display P3's, and Adobe RGB's, as XYZ under D65.
P3 = numpy.array([[0.486571, 0.265668, 0.198217], [0.228975, 0.691739, 0.079287], [0, 0.045113, 1.043944]])
SRGB = numpy.array([[0.412391, 0.357584, 0.180481], [0.212639, 0.715169, 0.072192], [0.019331, 0.119195, 0.950532]])
ADOBE_POINTS = (31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)
ADOBE = numpy.array([[0.576669, 0.185558, 0.188229], [0.297345, 0.627364, 0.075291], [0.027031, 0.070689, 0.991338]])


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def packed(samples: numpy.ndarray, depth: int) -> bytes:
    """Rows of samples, each with a filter's number, which changes from row to row where pixels are whole bytes."""
    rows, previous, out = samples.reshape(len(samples), -1), None, b""
    for number, row in enumerate(rows):
        if depth == 16:
            data = row.astype(">u2").tobytes()
        elif depth == 8:
            data = row.astype(numpy.uint8).tobytes()
        else:
            bits = "".join(format(int(sample), f"0{depth}b") for sample in row)
            bits += "0" * (-len(bits) % 8)
            data = bytes(int(bits[at:at + 8], 2) for at in range(0, len(bits), 8))
        step = max(1, samples.shape[2] * depth // 8)
        kind = number % 3
        above = previous or bytes(len(data))
        if kind == 1:
            filtered = bytes((byte - (data[at - step] if at >= step else 0)) & 255 for at, byte in enumerate(data))
        elif kind == 2:
            filtered = bytes((byte - up) & 255 for byte, up in zip(data, above))
        else:
            filtered = data
        out += bytes([kind]) + filtered
        previous = data
    return out


def png(samples: numpy.ndarray, kind: int, depth: int, chunks: list[bytes], is_interlaced: bool) -> bytes:
    if is_interlaced:
        passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
        parts = [samples[y::down, x::across] for x, y, across, down in passes]
        data = b"".join(packed(part, depth) for part in parts if part.size)
    else:
        data = packed(samples, depth)
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, kind, 0, 0, int(is_interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunks) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def profile_chunk(profile: bytes) -> bytes:
    return chunk(b"iCCP", b"p\0\0" + zlib.compress(profile))


def by_profile(profile: bytes):
    """Converts 8-bit pixels as LittleCMS does."""
    def convert(rgb: numpy.ndarray, is_gray: bool) -> numpy.ndarray:
        pixels = numpy.rint(rgb * 255).astype(numpy.uint8)
        image = Image.fromarray(pixels[..., 0] if is_gray else pixels)
        made = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"),
                                         outputMode="RGB")
        return numpy.asarray(made) / 255
    return convert


def by_light(light, to_xyz: numpy.ndarray):
    """Converts by a curve and primaries; white stays white."""
    def convert(rgb: numpy.ndarray, is_gray: bool) -> numpy.ndarray:
        linear = light(rgb) if is_gray else light(rgb) @ (numpy.linalg.inv(SRGB) @ to_xyz).T
        return science.numbers(linear.clip(0, 1))
    return convert


GAMMA, CHROMATICITIES = chunk(b"gAMA", struct.pack(">I", 55556)), chunk(b"cHRM", struct.pack(">8I", *ADOBE_POINTS))
STANDARD = chunk(b"sRGB", b"\0")
A98, SGRAY = (ICC / "a98.icc").read_bytes(), (ICC / "ps_gray.icc").read_bytes()
# A name, the chunks of RGB and of gray, and what they say; each stands above those that are named after it.
MARKS = {
    "none": ([], [], None), "sRGB": ([STANDARD, GAMMA], [STANDARD, GAMMA], None),
    "gamma": ([GAMMA], [GAMMA], by_light(lambda v: v ** (1 / 0.55556), SRGB)),
    "points": ([GAMMA, CHROMATICITIES], [GAMMA, CHROMATICITIES], by_light(lambda v: v ** (1 / 0.55556), ADOBE)),
    "cICP": ([chunk(b"cICP", bytes([12, 13, 0, 1])), GAMMA], [chunk(b"cICP", bytes([12, 13, 0, 1])), GAMMA],
             by_light(science.light, P3)),
    "iCCP": ([profile_chunk(A98), GAMMA], [profile_chunk(SGRAY), GAMMA], (by_profile(A98), by_profile(SGRAY))),
}


class PNGMatrix(CommandTest):
    def case(self, kind: int, depth: int, is_transparent: bool, mark: str, is_interlaced: bool):
        """The file, and its pixels as RGBA of 0…1 before what the mark says."""
        random = numpy.random.default_rng(depth + 100 * kind)
        top = (1 << depth) - 1
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        colours = SAMPLES[kind]
        samples = numpy.stack([((x * (band + 2) + y * (4 - band)) * max(1, top // 100)) % (top + 1) for band in range(colours)], -1)
        samples[::5] = random.integers(0, top + 1, samples[::5].shape)
        chunks, alpha = [], numpy.ones((HEIGHT, WIDTH))
        if kind == PALETTE:
            table = random.integers(0, 256, (top + 1, 3))
            chunks.append(chunk(b"PLTE", table.astype(numpy.uint8).tobytes()))
            rgb = table[samples[..., 0]] / 255
            if is_transparent:
                opacity = random.integers(0, 256, (top + 2) // 2)
                chunks.append(chunk(b"tRNS", opacity.astype(numpy.uint8).tobytes()))
                alpha = numpy.concatenate([opacity, numpy.full(top + 1, 255)])[samples[..., 0]] / 255
        else:
            is_gray = kind in (GRAY, GRAY_ALPHA)
            rgb = numpy.repeat(samples[..., :1], 3, -1) / top if is_gray else samples[..., :3] / top
            if kind in (GRAY_ALPHA, RGBA):
                alpha = samples[..., -1] / top
            if is_transparent:
                colour = samples[HEIGHT // 2, WIDTH // 2]
                chunks.append(chunk(b"tRNS", struct.pack(f">{len(colour)}H", *map(int, colour))))
                alpha = 1 - (samples == colour).all(-1)
        marks = MARKS[mark][1 if kind in (GRAY, GRAY_ALPHA) else 0]
        return png(samples, kind, depth, marks + chunks, is_interlaced), rgb, alpha

    def test_every_kind(self):
        place, library = folder("sources"), folder("library")
        wanted = {}
        for kind, depth in KINDS:
            for is_transparent in (False, True)[:1 if kind in (GRAY_ALPHA, RGBA) else 2]:
                for mark, (_, _, convert) in MARKS.items():
                    for is_interlaced in (False, True):
                        name = f"{kind}-{depth}-{'t' if is_transparent else 'o'}-{mark}-{'i' if is_interlaced else 's'}"
                        data, rgb, alpha = self.case(kind, depth, is_transparent, mark, is_interlaced)
                        (place / f"{name}.png").write_bytes(data)
                        is_gray = kind in (GRAY, GRAY_ALPHA)
                        if isinstance(convert, tuple):
                            convert = convert[1 if is_gray else 0]
                        wanted[name] = (convert(rgb, is_gray) if convert else rgb, alpha, convert is not None)
        result = run("build", place, "--library", library, "--json", "--quiet", "--format", "png")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = {line["id"]: line for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(set(report), set(wanted))
        self.assertEqual(len(wanted), 312)
        for name, (rgb, alpha, is_converted) in wanted.items():
            with self.subTest(name):
                self.assertNotIn("damaged", report[name])
                with zipfile.ZipFile(library / f"{name}.szi") as szi:
                    pixels = numpy.array(Image.open(io.BytesIO(szi.read(f"{name}/{name}_files/6/0_0.png"))).convert("RGBA")).astype(int)
                # Of 16 bits the upper half is shown, which is up to one less than the nearest.
                self.assertLessEqual(numpy.abs(pixels[..., 3] - alpha * 255).max(), 1)
                seen = alpha > 0
                difference = numpy.abs(pixels[..., :3] - rgb * 255)[seen]
                # LittleCMS converts 16 bits by a table, which is coarse where colours leave sRGB.
                most = 12 if "-16-" in name else 3
                self.assertLessEqual(difference.max(), most if is_converted else 1)
                self.assertLess(difference.mean(), 1)


if __name__ == "__main__":
    unittest.main()
