"""Pages of TIFF files that tifffile writes: each is itself, wherever in the file it lies, and whichever thread builds it."""

import io
import json
import zipfile
from pathlib import Path

import numpy
import tifffile
from harness import CommandTest, folder, run
from PIL import Image


def pages(count: int) -> list[numpy.ndarray]:
    """Of sizes and values of their own."""
    random = numpy.random.default_rng(count)
    return [random.integers(0, 256, (20 + number, 50 - number) + ((3,) if number % 3 == 0 else ()), dtype=numpy.uint8)
            for number in range(count)]


def write(path: Path, planes: list[numpy.ndarray], **how) -> Path:
    with tifffile.TiffWriter(path, **how) as file:
        for number, plane in enumerate(planes):
            file.write(plane, metadata=None, photometric="rgb" if plane.ndim == 3 else "minisblack",
                       compression=(None, "zlib")[number % 2], description=f"page {number + 1} of a letter")
    return path


def pixels(archive: Path) -> numpy.ndarray:
    with zipfile.ZipFile(archive) as szi:
        names = [name for name in szi.namelist() if name.endswith("/0_0.png")]
        top = max(names, key=lambda name: int(name.split("/")[-2]))
        return numpy.array(Image.open(io.BytesIO(szi.read(top))))


class PagesOfTIFF(CommandTest):
    def build(self, source: Path, *options) -> Path:
        library = folder("library")
        result = run("build", source, "--library", library, "--format", "png", "--quiet", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return library

    def test_every_page_by_every_header(self):
        planes = pages(24)
        for byte_order in "<>":
            for is_big in (False, True):
                with self.subTest(byte_order=byte_order, is_big=is_big):
                    source = write(folder("pages") / "letter.tif", planes, byteorder=byte_order, bigtiff=is_big)
                    library = self.build(source)
                    for number, plane in enumerate(planes):
                        self.assertTrue(numpy.array_equal(pixels(library / f"letter/{number + 1}.szi"), plane), number + 1)

    def test_threads_make_the_same_archives(self):
        source = write(folder("pages") / "letter.tif", pages(24))
        one, many = self.build(source, "--jobs", "1"), self.build(source, "--jobs", "4")
        for number in range(24):
            name = f"letter/{number + 1}.szi"
            self.assertEqual((one / name).read_bytes(), (many / name).read_bytes())

    def test_a_damaged_page_is_one_failure(self):
        """Its strips lie behind the end of the file; the others are whole."""
        planes = pages(9)
        source = write(folder("pages") / "letter.tif", planes)
        with tifffile.TiffFile(source, mode="r+b") as file:
            file.pages[4].tags["StripOffsets"].overwrite(1 << 30)
        result = run("build", source, "--library", folder("library"), "--format", "png", "--json", "--quiet", "--jobs", "3")
        told = {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(result.returncode, 1)
        self.assertEqual(list(told), [f"letter/{number}" for number in range(1, 10)])
        self.assertEqual(told, {f"letter/{number}": "failed" if number == 5 else "built" for number in range(1, 10)})

    def test_what_is_left_out_is_reported_once(self):
        source = folder("pages") / "letter.tif"
        with tifffile.TiffWriter(source) as file:
            for number in range(8):
                file.write(pages(3)[1], metadata=None, photometric="minisblack", subfiletype=1 if number == 3 else 0)
        result = run("build", source, "--library", folder("library"), "--json", "--quiet", "--jobs", "4")
        told = [json.loads(line).get("leftOut") for line in result.stdout.splitlines()]
        self.assertEqual(told, [["reduced copy"]] + [None] * 6)
