"""TileGeometry as a product of its own: what a program that uses it alone links, and Embedded Swift without a system.

The seed of the random views is printed, and taken from SEED.
"""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "Sources/TileGeometry").glob("*.swift"))
ARTICLE = ROOT / "docs/TileGeometry.docc/TileGeometry.md"
SWIFT = subprocess.run([ROOT / "Tests/scripts/swift-toolchain"], capture_output=True, text=True, check=True).stdout.strip()
ENVIRONMENT = {**os.environ, "PATH": f"{SWIFT}:{os.environ['PATH']}"}

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "scrolling",
  dependencies: [.package(name: "ziggurat", path: "{root}")],
  targets: [
    .executableTarget(name: "scrolling", dependencies: [.product(name: "TileGeometry", package: "ziggurat")])
  ],
  swiftLanguageModes: [.v6]
)
"""
# Rotations, fits, logarithms and tiles: what might need a mathematical library.
PROGRAM = """
import TileGeometry

let image = PixelSize(width: 20_000, height: 15_000)!
let limits = ScaleLimits(containing: image, width: 1280, height: 800)
var viewport = Viewport(fitting: image, .contain, width: 1280, height: 800, rotation: Rotation(degrees: 390))
viewport = viewport.scaled(to: 5 * viewport.scale).rubberBanded(on: image, limits: limits)
let coverage = Coverage(pyramid: Pyramid(imageSize: image, tileSize: 512)!, viewport: viewport)
print(coverage.changes(from: nil, margin: 1).added.count, coverage.level, viewport.rotation.degrees)
"""
# Libraries of the C library and of Swift's, which come with the toolchain or are part of every system that has Swift.
SYSTEM = re.compile(r"libc\.so|libm\.so|libgcc_s\.so|ld-linux|libpthread\.so|libdl\.so|libstdc\+\+\.so|libswift\w+\.so")

WASM = """
@_cdecl("tiles")
public func tiles(
  _ width: Double, _ height: Double, _ scale: Double, _ x: Double, _ y: Double, _ degrees: Double
) -> Double {
  guard let size = PixelSize(width: Int(width), height: Int(height)),
    let pyramid = Pyramid(imageSize: size, tileSize: 256)
  else { return -1 }
  let viewport = Viewport(width: 800, height: 600, scale: scale, x: x, y: y, rotation: Rotation(degrees: degrees))
  let limits = ScaleLimits(containing: size, width: 800, height: 600, rotation: viewport.rotation)
  let settled = viewport.rubberBanded(on: size, limits: limits).settled(on: size, limits: limits)
  let coverage = Coverage(pyramid: pyramid, viewport: settled)
  let changes = coverage.changes(from: Coverage(pyramid: pyramid, viewport: viewport), margin: 1)
  return Double(changes.added.count * 1_000_000 + changes.kept.count * 1000 + changes.dropped.count)
}
"""
# Runs the WebAssembly beside the viewer's geometry. Memory comes from the end of what is there, and is never freed.
COMPARISON = """
import { readFileSync } from 'node:fs'
const [wasm, root, views] = process.argv.slice(2)
const { Coverage } = await import(root + '/public/geometry/coverage.js')
const { defaultLimits } = await import(root + '/public/geometry/fit.js')
const { Pyramid } = await import(root + '/public/geometry/pyramid.js')
const { TileSet } = await import(root + '/public/geometry/tile-set.js')
const { Rotation } = await import(root + '/public/geometry/rotation.js')
const { Viewport } = await import(root + '/public/geometry/viewport.js')
let end = 0
const env = {
  posix_memalign(place, alignment, size) {
    if (!end || end + size + alignment > memory.buffer.byteLength) {
      end = memory.buffer.byteLength
      memory.grow(Math.ceil((size + alignment) / 65536) + 64)
    }
    end = Math.ceil(end / alignment) * alignment
    new DataView(memory.buffer).setUint32(place, end, true)
    end += size
    return 0
  },
  free() {},
  arc4random_buf(place, length) { new Uint8Array(memory.buffer, place, length).fill(7) },
}
const { instance } = await WebAssembly.instantiate(readFileSync(wasm), { env })
const { memory, tiles } = instance.exports
const answers = JSON.parse(views).map(([width, height, scale, x, y, degrees]) => {
  const image = { width, height }
  const pyramid = new Pyramid(image, 256)
  const viewport = new Viewport({ width: 800, height: 600, scale, x, y, rotation: new Rotation(degrees) })
  const limits = defaultLimits(image, viewport, viewport.rotation)
  const settled = viewport.rubberBanded(image, limits).settled(image, limits)
  const set = (each) => new TileSet(new Coverage(pyramid, each), { margin: 1 })
  const { added, kept, dropped } = set(settled).changes(set(viewport))
  return [tiles(width, height, scale, x, y, degrees), added.length * 1e6 + kept.length * 1000 + dropped.length]
})
console.log(JSON.stringify(answers))
"""


def run(*command: object, **options: object) -> str:
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=ENVIRONMENT, **options)
    if ran.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {ran.returncode}:\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}")
    return ran.stdout


def undefined(path: Path) -> set[str]:
    return {line.split()[-1] for line in run("llvm-nm", "--undefined-only", path).splitlines() if line.strip()}


def documented() -> set[str]:
    """The functions that the article lists for programs without a system."""
    (section,) = re.findall(r"### Embedded Swift\n(.*?)(?=\n##|\Z)", ARTICLE.read_text(), re.DOTALL)
    return set(re.findall(r"^- `(\w+)`", section, re.MULTILINE))


class Geometry(unittest.TestCase):
    def test_a_program_that_uses_it_alone_links_in_debug_and_release(self):
        package = ROOT / ".cache/scrolling"  # Kept, so that the next run only compiles what changed.
        (package / "Sources/scrolling").mkdir(parents=True, exist_ok=True)
        (package / "Package.swift").write_text(MANIFEST.format(root=ROOT))
        (package / "Sources/scrolling/main.swift").write_text(PROGRAM)
        for configuration in ("debug", "release"):
            with self.subTest(configuration=configuration):
                options = ["--package-path", package, "-c", configuration]
                run("swift", "build", *options, "--product", "scrolling")
                program = Path(run("swift", "build", *options, "--show-bin-path").strip()) / "scrolling"
                needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program))
                self.assertTrue(needed)
                self.assertEqual([library for library in needed if not SYSTEM.match(library)], [])
                self.assertFalse([library for library in needed if "Foundation" in library])
                self.assertEqual(run(program).split()[1:], ["13", "30.0"])

    def test_it_imports_nothing(self):
        # Nothing that Apple's platforms, Linux and WebAssembly name differently, so that all of them compile it.
        for path in SOURCES:
            self.assertEqual(re.findall(r"^.*\bimport\b.*$|#if (?:os|canImport|arch).*", path.read_text(), re.MULTILINE), [], path.name)

    def test_the_fixture_is_what_exact_fractions_give(self):
        run(ROOT / "Tests/scripts/scroll-cases", "--check")

    def compile(self, out: Path, target: str, *sources: object) -> None:
        run("swiftc", "-target", target, "-swift-version", "6", "-enable-experimental-feature", "Embedded", "-wmo", "-O",
            "-Xfrontend", "-disable-stack-protector", "-parse-as-library", "-module-name", "TileGeometry", "-c", *SOURCES, *sources, "-o", out)

    def test_as_embedded_swift_it_needs_no_more_than_is_documented(self):
        with tempfile.TemporaryDirectory() as folder:
            for target in ("wasm32-unknown-none-wasm", "arm64-apple-ios18.0", "riscv32-none-none-eabi"):
                with self.subTest(target=target):
                    made = Path(folder) / f"{target}.o"
                    self.compile(made, target)
                    # Places that the linker defines, and what compilers of C take for granted.
                    given = {"__indirect_function_table", "__memory_base", "__stack_pointer", "__table_base"}
                    if not target.startswith("wasm32"):
                        continue
                    self.assertEqual(undefined(made) - given, documented())

    def test_in_webassembly_it_answers_as_the_viewer_does(self):
        seed = int(os.environ.get("SEED", time.time_ns() % 2**32))
        print(f"[SEED={seed}]", end=" ", flush=True)
        import random
        numbers = random.Random(seed)
        views = [[numbers.randint(1, 60_000), numbers.randint(1, 60_000), 2 ** numbers.uniform(-8, 3), numbers.uniform(-2000, 40_000),
                  numbers.uniform(-2000, 40_000), numbers.choice([0, 90, 270, numbers.uniform(-1000, 1000)])] for _ in range(400)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "tiles.swift").write_text(WASM)
            (folder / "compare.mjs").write_text(COMPARISON)
            self.compile(folder / "tiles.o", "wasm32-unknown-none-wasm", folder / "tiles.swift")
            run("wasm-ld", "--no-entry", "--export=tiles", "--allow-undefined", folder / "tiles.o", "-o", folder / "tiles.wasm")
            answers = json.loads(run("node", folder / "compare.mjs", folder / "tiles.wasm", ROOT, json.dumps(views)))
        differing = [(view, answer) for view, answer in zip(views, answers) if answer[0] != answer[1]]
        self.assertEqual(differing, [])
        self.assertGreater(len({answer[0] for answer in answers}), 50)


if __name__ == "__main__":
    unittest.main()
