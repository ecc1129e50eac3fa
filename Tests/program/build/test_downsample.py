"""How levels shrink: the mean, the nearest or the most frequent of 2×2 pixels, reckoned by NumPy level by level."""

import io
import unittest
import zipfile
from pathlib import Path

import numpy
import tifffile
from harness import folder, run, seed
from one_source import OneSource, picture
from PIL import Image

LABELS = [(0, 0, 0), (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0), (64, 32, 96)]


def blocks(width: int, height: int, count: int = 6) -> numpy.ndarray:
    random = numpy.random.default_rng(seed("labels").randrange(1 << 30))
    small = random.integers(0, count, (height // 5 + 1, width // 7 + 1), dtype=numpy.uint8)
    return small.repeat(5, 0).repeat(7, 1)[:height, :width]


def paletted(path: Path, labels: numpy.ndarray, colours=None, bits: int | None = None) -> Path:
    image = Image.fromarray(labels, "P")
    image.putpalette([value for colour in colours or LABELS for value in colour])
    image.save(path, **({"bits": bits} if bits else {}))
    return path


def even(pixels: numpy.ndarray) -> numpy.ndarray:
    """Odd edges repeated."""
    return numpy.pad(pixels, ((0, pixels.shape[0] % 2), (0, pixels.shape[1] % 2), (0, 0)), mode="edge")


def quarters(pixels: numpy.ndarray) -> list[numpy.ndarray]:
    pixels = even(pixels)
    return [pixels[y::2, x::2] for y in (0, 1) for x in (0, 1)]


def nearest(pixels: numpy.ndarray) -> numpy.ndarray:
    return quarters(pixels)[0]


def mode(pixels: numpy.ndarray) -> numpy.ndarray:
    parts = quarters(pixels)
    count = numpy.stack([sum((one == other).all(axis=2).astype(int) for other in parts) for one in parts])
    return numpy.take_along_axis(numpy.stack(parts), count.argmax(axis=0)[None, :, :, None], 0)[0]


def mean(pixels: numpy.ndarray) -> numpy.ndarray:
    return ((sum(part.astype(int) for part in quarters(pixels)) + 2) // 4).astype(numpy.uint8)


class Downsample(OneSource):
    def levels(self, archive: Path) -> list[numpy.ndarray]:
        """From full resolution on, those of one tile."""
        with zipfile.ZipFile(archive) as szi:
            tiles = {int(name.split("/")[-2]): szi.read(name) for name in szi.namelist() if name.endswith("/0_0.png")}
        return [numpy.array(Image.open(io.BytesIO(tiles[level])).convert("RGB")) for level in sorted(tiles, reverse=True)]

    def assertShrunk(self, archive: Path, pixels: numpy.ndarray, shrink) -> None:
        for level in self.levels(archive):
            self.assertTrue(numpy.array_equal(level, pixels))
            pixels = shrink(pixels)

    def test_levels_by_every_way(self):
        for width, height in ((200, 150), (201, 151), (333, 77)):
            pixels = numpy.array(picture(width, height))
            source = folder("plain") / "plain.png"
            Image.fromarray(pixels).save(source)
            for name, shrink in (("nearest", nearest), ("mode", mode), ("mean", mean), ("auto", mean)):
                report, archive = self.built(source, "--format", "png", "--downsample", name)
                self.assertShrunk(archive, pixels, shrink)
                self.assertEqual([step for step in report["steps"] if "levels" in step],
                                 [f"levels by {name}"] if name in ("nearest", "mode") else [])

    def test_more_than_a_tile(self):
        labels = blocks(700, 530)
        report, archive = self.built(paletted(folder("labels") / "mask.png", labels), "--format", "png", "--tile-size", "128")
        pixels = numpy.array(LABELS, numpy.uint8)[labels]
        with zipfile.ZipFile(archive) as szi:
            tops = sorted({int(name.split("/")[-2]) for name in szi.namelist() if name.endswith(".png")}, reverse=True)
            for level in tops:
                for name in (name for name in szi.namelist() if f"_files/{level}/" in name):
                    column, row = map(int, name.split("/")[-1].split(".")[0].split("_"))
                    tile = numpy.array(Image.open(io.BytesIO(szi.read(name))).convert("RGB"))
                    self.assertTrue(numpy.array_equal(tile, pixels[row * 128:][:128, column * 128:][:, :128]), name)
                pixels = mode(pixels)

    def test_palettes_of_labels_by_themselves(self):
        labels = blocks(300, 200)
        pixels = numpy.array(LABELS, numpy.uint8)[labels]
        base = folder("labels")
        tiff = base / "mask.tif"
        table = numpy.zeros((3, 256), numpy.uint16)
        table[:, :len(LABELS)] = numpy.array(LABELS).T * 257
        tifffile.imwrite(tiff, labels, photometric="palette", colormap=table, metadata=None)
        for source in (paletted(base / "four.png", labels, bits=4), paletted(base / "eight.png", labels), tiff):
            report, archive = self.built(source, "--format", "png")
            self.assertShrunk(archive, pixels, mode)
            self.assertIn("levels by mode: the colours of its palette are labels", report["steps"])
            self.assertShrunk(self.built(source, "--format", "png", "--downsample", "mean")[1], pixels, mean)

    def test_other_palettes_have_the_mean(self):
        """Those of photographs, of drawings with smooth edges, and of black and white."""
        base = folder("palettes")
        photo = picture(300, 200).quantize(64)
        photo.save(base / "photo.png")
        smooth = Image.fromarray(blocks(75, 50) * 40).resize((300, 200), Image.Resampling.BICUBIC).quantize(16)
        smooth.save(base / "smooth.png")
        paletted(base / "scan.png", blocks(300, 200, 2), [(255, 255, 255), (0, 0, 0)])
        # Ink of two colours on paper.
        paletted(base / "page.png", blocks(300, 200, 3), [(255, 255, 255), (20, 20, 20), (200, 30, 30)])
        for source in sorted(base.iterdir()):
            with self.subTest(source.name):
                pixels = numpy.array(Image.open(source).convert("RGB"))
                _, archive = self.built(source, "--format", "png")
                self.assertShrunk(archive, pixels, mean)

    def test_jpegs_by_whole_pixels(self):
        source = folder("jpeg") / "photo.jpg"
        picture(300, 200).save(source, quality=85)
        _, whole = self.built(source, "--format", "png", "--fidelity", "exact", "--downsample", "mean")
        for name, shrink in (("nearest", nearest), ("mode", mode)):
            report, archive = self.built(source, "--format", "png", "--downsample", name)
            self.assertShrunk(archive, self.levels(whole)[0], shrink)
        report, _ = self.built(source, "--downsample", "mode", "--fidelity", "lossless")
        self.assertEqual(report["route"], "exact: levels by mode take whole pixels")

    def test_what_is_asked_for_wrongly(self):
        source = folder("plain") / "plain.png"
        picture(20, 20).save(source)
        self.assertUsageError(run("build", source, "--library", "x", "--downsample", "median"), "--downsample")
        self.assertUsageError(run("build", source, "--library", "x", "--downsample", "linear", "--profile", "keep"), "--profile keep")


if __name__ == "__main__":
    unittest.main()
