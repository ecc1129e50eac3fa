"""The library products are anyone's dependency: the example of docs/reference/swift-libraries.md is built as a package of its own."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT  # noqa: E402

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "example",
  dependencies: [.package(name: "ziggurat", path: "{root}")],
  targets: [
    .executableTarget(
      name: "example",
      dependencies: ["PyramidBuilding", "TileGeometry", "TileStorage"].map {{ .product(name: $0, package: "ziggurat") }})
  ],
  swiftLanguageModes: [.v6]
)
"""


class Products(unittest.TestCase):
    def test_the_example_is_built_by_a_package_of_its_own(self):
        package = ROOT / ".cache/readme-example"  # Kept, so that the next run only compiles what changed.
        (package / "Sources/example").mkdir(parents=True, exist_ok=True)
        (package / "Package.swift").write_text(MANIFEST.format(root=ROOT))
        (package / "Sources/example/main.swift").write_text((ROOT / "Tests/ReadmeExample/main.swift").read_text())
        built = subprocess.run(["swift", "build", "--package-path", package], capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stdout[-4000:] + built.stderr[-4000:])


if __name__ == "__main__":
    unittest.main()
