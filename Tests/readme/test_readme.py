"""What README.md says is true: its example compiles and runs, its commands, options, files and packages exist."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))

from harness import ROOT, folder, photo, run  # noqa: E402

README = (ROOT / "README.md").read_text()
EXAMPLE = ROOT / "Tests/ReadmeExample/main.swift"
PACKAGES = [line.split()[:2] for line in (ROOT / "Tests/scripts/debian-packages").read_text().splitlines()
            if line and not line.startswith("#")]


class Readme(unittest.TestCase):
    def test_the_swift_example_runs(self):
        """As a package of its own it is built by `make test-package`."""
        self.assertEqual(re.findall(r"```swift\n(.*?)```", README, re.DOTALL), [EXAMPLE.read_text()])
        place = folder("example")
        photo(place / "photo.jpg", 5120, 2880)
        result = subprocess.run([ROOT / ".build/debug/readme-example"], cwd=place, capture_output=True, text=True,
                                env={**os.environ, "LC_ALL": "C"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        # 10×6 tiles at full resolution, then 5×3, 3×2, 2×1, and ten levels of one.
        self.assertEqual(lines[0], "14 levels, 93 tiles")
        # 1280 of 5120 at twice the fit is scale 0.5: 2560×1440 at that level, a window of 1280×800 in its middle.
        self.assertEqual(len(lines) - 1, 9)
        self.assertTrue(all(line.startswith("12 ") for line in lines[1:]), lines)

    def test_its_files_exist(self):
        for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", README):
            self.assertTrue((ROOT / target).exists(), target)

    def test_files_and_options_that_security_names_exist(self):
        text = (ROOT / ".github/SECURITY.md").read_text()
        targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
        self.assertGreater(len(targets), 2)
        for target in targets:
            self.assertTrue((ROOT / ".github" / target).exists(), target)
        help_ = run("help", "serve").stdout + run("help", "build").stdout
        options = set(re.findall(r"--[a-z][a-z-]+", text))
        self.assertLessEqual({"--trusted-proxy", "--image-timeout", "--audit"}, options)
        for option in options:
            self.assertIn(f"{option} ", help_)
        for line in re.findall(r"`ziggurat space (\w+)`", text):
            self.assertIn(line, run("help", "space").stdout)
        self.assertIn("cells_confined", (ROOT / "Sources/TileServing/Routes/Router+Metrics.swift").read_text())

    def test_its_make_targets_exist(self):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        named = set(re.findall(r"(?:^|`|&& |sudo )make ([a-z-]+)", README, re.MULTILINE))
        self.assertLessEqual({"demo", "test", "bench", "release", "install"}, named)
        self.assertEqual(named - targets, set())

    def test_its_commands_and_options_exist(self):
        names = re.findall(r"^  ziggurat (\w+)", run("help").stdout, re.MULTILINE)
        helps = {name: run("help", name).stdout for name in names}
        for command, rest in re.findall(r"^ziggurat (\w+)(.*)", README, re.MULTILINE):
            self.assertIn(command, helps)
            for option in re.findall(r"--[a-z-]+", rest.split("#")[0]):
                self.assertIn(option, helps[command], command)
        self.assertIn("--base-url", helps["serve"])

    def test_it_names_every_package(self):
        for group, package in PACKAGES:
            self.assertIn(f"`{package}`", README, group)
