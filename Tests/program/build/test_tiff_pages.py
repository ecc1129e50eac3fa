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
        report = {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(result.returncode, 1)
        self.assertEqual(list(report), [f"letter/{number}" for number in range(1, 10)])
        self.assertEqual(report, {f"letter/{number}": "failed" if number == 5 else "built" for number in range(1, 10)})

    def test_what_is_left_out_is_reported_once(self):
        source = folder("pages") / "letter.tif"
        with tifffile.TiffWriter(source) as file:
            for number in range(8):
                file.write(pages(3)[1], metadata=None, photometric="minisblack", subfiletype=1 if number == 3 else 0)
        result = run("build", source, "--library", folder("library"), "--json", "--quiet", "--jobs", "4")
        report = [json.loads(line).get("leftOut") for line in result.stdout.splitlines()]
        self.assertEqual(report, [["reduced copy"]] + [None] * 6)


class Halves(CommandTest):
    """Pages each of which has half the sides of the one before."""

    def built(self, planes: list[numpy.ndarray], tags: list[dict]) -> dict[str, numpy.ndarray]:
        source, library = folder("halves") / "a.tif", folder("library")
        with tifffile.TiffWriter(source) as file:
            for plane, further in zip(planes, tags, strict=True):
                file.write(plane, photometric="rgb" if plane.ndim == 3 else "minisblack", metadata=None, compression="zlib",
                           **further)
        result = run("build", source, "--library", library, "--format", "png", "--fidelity", "exact", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {str(path.relative_to(library))[:-4]: pixels(path) for path in library.rglob("*.szi")}

    @staticmethod
    def scene(seed: int, height: int = 240, width: int = 180) -> numpy.ndarray:
        """Spots of some pixels, and noise."""
        random = numpy.random.default_rng(seed)
        coarse = numpy.kron(random.integers(0, 200, (height // 6, width // 6, 3)), numpy.ones((6, 6, 1)))
        return (coarse + random.integers(0, 55, coarse.shape)).astype(numpy.uint8)

    def levels(self) -> list[numpy.ndarray]:
        levels = [self.scene(1)]
        for _ in range(2):
            last = levels[-1].astype(float)
            quarters = last[0::2, 0::2] + last[1::2, 0::2] + last[0::2, 1::2] + last[1::2, 1::2]
            levels.append((quarters / 4).round().astype(numpy.uint8))
        return levels

    def check_pages(self, planes: list[numpy.ndarray], tags: list[dict] | None = None):
        found = self.built(planes, tags or [{}] * len(planes))
        self.assertEqual(sorted(found), [f"a/{number + 1}" for number in range(len(planes))])
        for number, plane in enumerate(planes):
            self.assertTrue(numpy.array_equal(found[f"a/{number + 1}"], plane), number + 1)

    def test_copies_without_tags_are_a_pyramid(self):
        levels = self.levels()
        for tags in ([{}] * 3, [{"description": "a slide"}, {}, {}], [{}, {"subfiletype": 1}, {"subfiletype": 1}]):
            self.assertEqual(list(self.built(levels, tags)), ["a"])
        for kind in (numpy.uint16, numpy.float32):
            deep = [level[..., 0].astype(kind) * 200 for level in levels]
            self.assertEqual(list(self.built(deep, [{}] * 3)), ["a"])

    def test_other_pictures_are_pages(self):
        self.check_pages([self.scene(1), self.scene(2, 120, 90)])
        self.check_pages([self.scene(1), self.scene(2, 120, 90), self.scene(3, 60, 48)[:, :45]])
        # Two levels of one picture, and another one.
        self.check_pages([*self.levels()[:2], self.scene(3, 60, 48)[:, :45]])
        blank = numpy.full((200, 160), 255, numpy.uint8)
        signed = blank[:100, :80].copy()
        signed[80:84, 50:60] = 0
        self.check_pages([blank, signed])

    def test_tags_and_texts_make_pages_of_copies(self):
        levels = self.levels()
        self.check_pages(levels, [{"subfiletype": 2}] * 3)
        self.check_pages(levels, [{"extratags": [(297, "H", 2, (number, 3), True)]} for number in range(3)])
        self.check_pages(levels, [{"description": f"figure {number}"} for number in range(3)])
        gray = levels[1][..., 0]
        self.check_pages([levels[0], gray])
