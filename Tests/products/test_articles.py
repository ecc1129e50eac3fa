"""The documentation of the library products: each block of Swift in it compiles, and each product has articles and a diagram.

The blocks of a page are one program, which imports the product from outside the package. A comment `<!-- swift … -->` declares
names that a reader has besides; DocC and GitHub do not show it. As in a script, declarations are global, and statements run in the
order of the page.
"""

import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ("TileGeometry", "TileStorage", "PyramidBuilding")
CODE = re.compile(r"^(```swift|<!-- swift)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^import (\w+)$", re.MULTILINE)
# From the first line to the brace that closes it.
DECLARATION = re.compile(r"^(?:struct|enum|protocol|extension|final class|actor|func) (?:[^\n]*\}$|.*?^\}$)", re.MULTILINE | re.DOTALL)
DIAGRAM = re.compile(r"^!\[([^\]]+)\]\((\w+)\)$", re.MULTILINE)


def program(page: Path) -> str:
    """The Swift of a page as one source file. Errors name the page and its lines."""
    text = page.read_text()
    place = page.relative_to(ROOT)
    imports: set[str] = set()
    declarations, statements = [], []

    def line(offset: int) -> str:
        return f'#sourceLocation(file: "{place}", line: {text.count(chr(10), 0, offset) + 1})\n'

    for block in CODE.finditer(text):
        start, code = block.start(2), block[2]
        imports |= set(IMPORT.findall(code))
        code = IMPORT.sub("", code)
        if block[1] != "```swift":
            declarations.append(line(start) + code)
            continue
        for declaration in DECLARATION.finditer(code):
            # An import that was removed changes offsets, not lines.
            first = start + len(block[2]) - len(code) + declaration.start()
            declarations.append(line(first) + declaration[0] + "\n")
        statements.append(line(start) + DECLARATION.sub(lambda found: "\n" * found[0].count("\n"), code))
    return "".join([*(f"import {name}\n" for name in sorted(imports)), *declarations, "func article() async throws {\n", *statements, "}\n"])


class Articles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tools = subprocess.run([ROOT / "Tests/scripts/swift-toolchain"], capture_output=True, text=True, check=True).stdout.strip()
        cls.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        cls.flags = subprocess.run([ROOT / "packaging/docs-site/module-flags"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]

    def compile(self, source: str) -> tuple[int, str]:
        """The compiler's exit code and messages. It makes an object file: some checks follow the type check."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "Article.swift"
            path.write_text(source)
            ran = subprocess.run(
                ["swiftc", "-c", path, "-o", path.with_suffix(".o"), "-parse-as-library", "-module-name", "Article", "-swift-version", "6",
                 "-warnings-as-errors", *self.flags], cwd=ROOT, capture_output=True, text=True, env=self.environment)
        return ran.returncode, ran.stderr

    def test_each_block_compiles(self):
        pages = sorted(page for product in PRODUCTS for page in (ROOT / f"docs/{product}.docc").glob("*.md") if CODE.search(page.read_text()))
        self.assertGreaterEqual(len(pages), 9)
        for page in pages:
            with self.subTest(page=page.stem):
                self.assertEqual(self.compile(program(page)), (0, ""))

    def test_a_wrong_block_is_found_at_its_line(self):
        page = ROOT / "docs/TileGeometry.docc/TilesOfAViewport.md"
        code, messages = self.compile(program(page).replace("pyramid.levelCount", "pyramid.levelCounts"))
        number = next(number for number, line in enumerate(page.read_text().split("\n"), 1) if "pyramid.levelCount" in line)
        self.assertNotEqual(code, 0)
        self.assertIn(f"TilesOfAViewport.md:{number}:", messages)

    def test_each_product_has_three_articles_with_code(self):
        for product in PRODUCTS:
            catalog = ROOT / f"docs/{product}.docc"
            listed = re.findall(r"^- <doc:(\w+)>$", (catalog / f"{product}.md").read_text(), re.MULTILINE)
            self.assertEqual(sorted(listed), sorted(page.stem for page in catalog.glob("*.md") if page.stem != product))
            self.assertGreaterEqual(len(listed), 3)
            for name in listed:
                text = (catalog / f"{name}.md").read_text()
                self.assertGreaterEqual(len(re.findall(r"^```swift$", text, re.MULTILINE)), 2, name)
                # One import is enough.
                self.assertLessEqual(set(IMPORT.findall(text)), {product, "Foundation"}, name)

    def test_each_product_has_a_diagram_for_light_and_dark_pages(self):
        for product in PRODUCTS:
            catalog = ROOT / f"docs/{product}.docc"
            [(alternative, name)] = DIAGRAM.findall((catalog / f"{product}.md").read_text())
            self.assertGreater(len(alternative), 40)
            light, dark = ((catalog / f"Resources/{name}{variant}.svg").read_text() for variant in ("", "~dark"))
            for picture in (light, dark):
                found = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()}
                self.assertLessEqual({"title", "desc", "style", "text"}, found)
            style = re.compile(r"<style>.*?</style>", re.DOTALL)
            self.assertEqual(style.sub("", light), style.sub("", dark), f"{product}: the two differ in more than colours")
            self.assertNotEqual(light, dark)


if __name__ == "__main__":
    unittest.main()
