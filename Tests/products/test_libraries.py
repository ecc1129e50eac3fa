"""TileStorage and PyramidBuilding as products: a program that sees their public declarations alone, and its archives."""

import io
import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT, folder  # noqa: E402
from szi import levels  # noqa: E402

# Targets below the two products, whose types a program that imports a product cannot name.
INTERNAL = ("Files", "Concurrency", "Sandbox", "Imaging", "Metadata")
TYPE = re.compile(r"^public (?:final )?(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.MULTILINE)


class Example(unittest.TestCase):
    """What Tests/LibraryExample prints and writes. Its files import one product each."""

    @classmethod
    def setUpClass(cls):
        cls.place = folder("library-example")
        cls.ran = subprocess.run([ROOT / ".build/debug/ziggurat-library-example"], cwd=cls.place, capture_output=True, text=True, timeout=120,
                                 env={**os.environ, "LC_ALL": "C"})
        cls.lines = cls.ran.stdout.splitlines()

    def test_it_prints_what_each_part_of_the_libraries_returns(self):
        self.assertEqual((self.ran.returncode, self.ran.stderr), (0, ""))
        size = (self.place / "written.szi").stat().st_size
        # 3×2 pixels, 2×1 and 1×1 in tiles of a pixel.
        self.assertEqual(self.lines[:4], [f"written image/png 9 tiles, {size} bytes", "scale 0.5 metadata none", "in place 67 bytes",
                                          "copied 67 bytes true"])
        self.assertEqual([line.split()[0] for line in self.lines[4:7]],
                         ["associated_images/label.png", "scan-properties.xml", "written.dzi"])
        # 4×3 tiles, 2×2, and nine levels of one.
        self.assertEqual(self.lines[7:], [
            "refused: invalidArgument cannot read a tile of written: the pyramid has no tile 99/0_0",
            "refused: invalidArgument cannot write a.szi: invalid name 'a/b' (expected 1 to 255 bytes without a slash)",
            "gradient 25 tiles, progress 1.0", "encoded 25 tiles", "stopped: cancelled",
            "no such source: none.jpg: No such file or directory",
            "refused: invalidArgument none: invalid quality 500 (expected 1 to 100)"])

    def test_another_program_reads_its_archives(self):
        self.assertEqual(sorted(path.name for path in self.place.iterdir()), ["encoded.szi", "gradient.szi", "written.szi"])
        for name, ending, top in (("written", "png", "2/2_1"), ("gradient", "webp", "10/3_2"), ("encoded", "png", "10/3_2")):
            with self.subTest(name), zipfile.ZipFile(self.place / f"{name}.szi") as archive:
                self.assertIsNone(archive.testzip())
                self.assertEqual({each.compress_type for each in archive.infolist()}, {zipfile.ZIP_STORED})
                with Image.open(io.BytesIO(archive.read(f"{name}/{name}_files/{top}.{ending}"))) as tile:
                    tile.load()
                    self.assertEqual(tile.format.lower(), ending)

    def test_pixels_of_the_program_come_out_with_their_upper_half(self):
        width, height, side = 1000, 700, 256
        with zipfile.ZipFile(self.place / "encoded.szi") as archive:
            top = len(levels(width, height)) - 1
            for column, row in ((0, 0), (3, 2)):
                with Image.open(io.BytesIO(archive.read(f"encoded/encoded_files/{top}/{column}_{row}.png"))) as tile:
                    left, upper = column * side, row * side
                    self.assertEqual(tile.size, (min(side, width - left), min(side, height - upper)))
                    pixels = tile.load()
                    for x in range(0, tile.size[0], 17):
                        for y in range(0, tile.size[1], 13):
                            samples = ((left + x) * 65, (upper + y) * 90, 0x8000)
                            self.assertEqual(pixels[x, y], tuple(sample >> 8 for sample in samples))
            self.assertIn(b"<name>MicronsPerPixel</name>\n      <value type=\"gdouble\">2.0<", archive.read("encoded/scan-properties.xml"))


class PublicDeclarations(unittest.TestCase):
    def test_no_target_below_the_products_has_one(self):
        found = [f"{path.relative_to(ROOT)}: {line.strip()}" for target in INTERNAL
                 for path in sorted((ROOT / "Sources" / target).rglob("*.swift"))
                 for line in path.read_text().splitlines() if re.search(r"^[^/\"]*\bpublic (?!import)", line)]
        self.assertEqual(found, [])

    def test_each_type_of_a_product_is_in_its_documentation(self):
        for product in ("TileStorage", "PyramidBuilding"):
            types = {name for path in (ROOT / "Sources" / product).rglob("*.swift") for name in TYPE.findall(path.read_text())}
            listed = set(re.findall(r"^- ``(\w+)``", (ROOT / f"docs/{product}.docc/{product}.md").read_text(), re.MULTILINE))
            self.assertTrue(types)
            self.assertEqual(listed, types, product)


if __name__ == "__main__":
    unittest.main()
