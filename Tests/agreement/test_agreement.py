"""What each fidelity promises, held on pictures of more than 100 megapixels joined from real photographs.

exact: every tile is dzsave's, byte for byte, but for the JFIF header. fast: no farther from the source than
dzsave's tiles, at every level, by PSNR and SSIM. lossless: the coefficients of full resolution are the source's.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import jpeglib
import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import material  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ZIGGURAT = os.environ.get("ZIGGURAT", str(ROOT / ".build/release/ziggurat"))
TILES_OF_A_LEVEL = 40  # compared pixel by pixel, spread over the level
Image.MAX_IMAGE_PIXELS = None


def tiles(archive: Path) -> dict[tuple[int, int, int], bytes]:
    """(level, column, row) → bytes, of an archive of either builder."""
    found = {}
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            parts = name.rsplit("/", 2)
            if len(parts) == 3 and parts[0].endswith("_files"):
                column, row = parts[2].split(".")[0].split("_")
                found[int(parts[1]), int(column), int(row)] = file.read(name)
    return found


def without_jfif(tile: bytes) -> bytes:
    """dzsave strips the header of 18 bytes behind SOI that JFIF asks for."""
    if tile[2:4] != b"\xff\xe0" or tile[6:10] != b"JFIF":
        raise AssertionError("the tile has no JFIF header")
    return tile[:2] + tile[20:]


def pixels(tile: bytes) -> numpy.ndarray:
    return numpy.asarray(Image.open(io.BytesIO(tile)).convert("RGB"), dtype=numpy.float64)


def halved(image: numpy.ndarray) -> numpy.ndarray:
    """The mean of 2×2, not rounded; an odd last column or row counts twice."""
    image = numpy.pad(image, ((0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)), mode="edge")
    columns = image[:, 0::2].astype(numpy.float32) + image[:, 1::2]
    return (columns[0::2] + columns[1::2]) / 4


def luma(image: numpy.ndarray) -> numpy.ndarray:
    return image @ (0.299, 0.587, 0.114)


def box(image: numpy.ndarray, side: int = 8) -> numpy.ndarray:
    """The mean of every window of `side`×`side`."""
    total = numpy.zeros((image.shape[0] + 1, image.shape[1] + 1))
    total[1:, 1:] = image.cumsum(0).cumsum(1)
    return (total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]) / side ** 2


def ssim(a: numpy.ndarray, b: numpy.ndarray) -> float:
    """Of luma, windows of 8×8 (Wang et al. 2004)."""
    one, two = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    ma, mb = box(a), box(b)
    va, vb, vab = box(a * a) - ma * ma, box(b * b) - mb * mb, box(a * b) - ma * mb
    return float(((2 * ma * mb + one) * (2 * vab + two) / ((ma ** 2 + mb ** 2 + one) * (va + vb + two))).mean())


class Agreement(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="agreement-", dir=material.CACHE))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first, second = material.gallery("large"), material.gallery("small")
        # Odd sizes: edges are where builders differ.
        cls.sources = {
            "4:2:0 JPEG": material.piece("agree-420.jpg", first, 15001, 10999, "Q=90", "subsample_mode=on"),
            "4:4:4 progressive JPEG": material.piece("agree-444.jpg", second, 13003, 9001, "Q=95", "interlace"),
            "JPEG tiles in TIFF": material.piece("agree-jpeg.tif", first, 14999, 11007, "compression=jpeg", "Q=80", "tile",
                                                 "tile_width=256", "tile_height=256"),
            "deflate strips in TIFF": material.piece("agree-deflate.tif", second, 12999, 9003, "compression=deflate",
                                                     "predictor=horizontal"),
            "PNG": material.piece("agree.png", first, 12345, 11111, "compression=1"),
        }

    def build(self, source: Path, tile: int, *options: str) -> Path:
        library = Path(tempfile.mkdtemp(dir=self.folder))
        subprocess.run([ZIGGURAT, "build", source, "--library", library, "--tile-size", str(tile), "--quality", "80",
                        "--quiet", *options], check=True)
        return next(library.glob("*.szi"))

    def dzsave(self, source: Path, tile: int, suffix: str) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        subprocess.run(["vips", "dzsave", source, folder / "out", "--container", "zip", "--tile-size", str(tile), "--overlap",
                        "0", "--suffix", suffix], check=True, stderr=subprocess.DEVNULL)
        return next(folder.iterdir())

    def test_exact(self):
        for (name, source), tile in ((each, tile) for each in self.sources.items() for tile in (256, 512)):
            with self.subTest(source=name, tile=tile):
                ours = tiles(self.build(source, tile, "--fidelity", "exact"))
                theirs = tiles(self.dzsave(source, tile, ".jpg[Q=80]"))
                self.assertEqual(ours.keys(), theirs.keys())
                differing = [key for key in ours if without_jfif(ours[key]) != theirs[key]]
                self.assertEqual(differing, [])
                print(f"[{name}, {tile} px: {len(ours)} tiles, the same bytes] ", end="", flush=True)

    def test_fast(self):
        for name in ("4:2:0 JPEG", "JPEG tiles in TIFF"):
            source = self.sources[name]
            ours = tiles(self.build(source, 512, "--fidelity", "fast"))
            theirs = tiles(self.dzsave(source, 512, ".jpg[Q=80]"))
            # The source itself, shrunk without rounding: dzsave's own levels would take its side.
            whole = numpy.asarray(Image.open(source).convert("RGB"))
            for level in range(max(ours)[0], -1, -1):
                keys = sorted(key for key in ours if key[0] == level)
                keys = keys[::max(1, len(keys) // TILES_OF_A_LEVEL)]
                errors, likeness, count = numpy.zeros(2), numpy.zeros(2), 0
                for key in keys:
                    top, left = key[2] * 512, key[1] * 512
                    right = whole[top:top + 512, left:left + 512].astype(numpy.float64)
                    for number, tile in enumerate((ours[key], theirs[key])):
                        made = pixels(tile)
                        errors[number] += ((made - right) ** 2).sum()
                        if min(right.shape[:2]) >= 8:
                            likeness[number] += ssim(luma(made), luma(right)) / len(keys)
                    count += right.size
                with self.subTest(source=name, level=level):
                    psnr = 10 * numpy.log10(255 ** 2 * count / numpy.maximum(errors, 1e-9))
                    print(f"[{name}, level {level}: {psnr[0]:.2f} dB, dzsave {psnr[1]:.2f}; SSIM {likeness[0]:.4f}, dzsave "
                          f"{likeness[1]:.4f}] ", end="", flush=True)
                    # Of a few hundred pixels one that is rounded the other way decides; of a million none does.
                    allowed = 0.01 if count > 3_000_000 else 0.03 if count > 30_000 else 0.3
                    self.assertGreaterEqual(psnr[0], psnr[1] - allowed)
                    self.assertGreaterEqual(likeness[0], likeness[1] - allowed / 50)
                whole = halved(whole)

    def test_lossless(self):
        source = self.sources["4:2:0 JPEG"]
        whole = jpeglib.read_dct(str(source))
        for tile in (256, 512):
            built = tiles(self.build(source, tile, "--fidelity", "lossless"))
            top = max(built)[0]
            count = 0
            for (_, column, row), data in ((key, value) for key, value in built.items() if key[0] == top):
                path = self.folder / "tile.jpg"
                path.write_bytes(data)
                piece = jpeglib.read_dct(str(path))
                self.assertTrue((piece.qt == whole.qt).all())
                for name, side in (("Y", tile // 8), ("Cb", tile // 16), ("Cr", tile // 16)):
                    mine = getattr(piece, name)
                    theirs = getattr(whole, name)[row * side:row * side + mine.shape[0], column * side:column * side + mine.shape[1]]
                    # Blocks that only fill an MCU are in no picture, and libjpeg writes them as it likes.
                    mine = mine[:theirs.shape[0], :theirs.shape[1]]
                    self.assertTrue((mine == theirs).all(), f"tile {column}_{row}, {name}")
                count += 1
            print(f"[lossless, {tile} px: {count} tiles have the source's coefficients] ", end="", flush=True)


if __name__ == "__main__":
    unittest.main()
