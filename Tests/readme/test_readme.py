"""README.md is true: its commands run, its make targets exist. So are the pages with the Swift example and the packages."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))

from harness import BINARY, ROOT, folder, photo, run  # noqa: E402

README = (ROOT / "README.md").read_text()
EXAMPLE = ROOT / "Tests/ReadmeExample/main.swift"
PACKAGES = [line.split()[:2] for line in (ROOT / "Tests/scripts/debian-packages").read_text().splitlines()
            if line and not line.startswith("#")]


class Readme(unittest.TestCase):
    def test_the_swift_example_runs(self):
        """As a package of its own it is built by `make test-package`."""
        page = (ROOT / "docs/reference/swift-libraries.md").read_text()
        self.assertEqual(re.findall(r"```swift\n(.*?)```", page, re.DOTALL), [EXAMPLE.read_text()])
        place = folder("example")
        photo(place / "photo.jpg", 5120, 2880)
        result = subprocess.run([ROOT / ".build/debug/ziggurat-readme-example"], cwd=place, capture_output=True, text=True,
                                env={**os.environ, "LC_ALL": "C"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        # 10×6 tiles at full resolution, then 5×3, 3×2, 2×1, and ten levels of one.
        self.assertEqual(lines[0], "14 levels, 93 tiles")
        # 1280 of 5120 at twice the fit is scale 0.5: 2560×1440 at that level, a window of 1280×800 in its middle.
        self.assertEqual(len(lines) - 1, 9)
        self.assertTrue(all(line.startswith("12 ") for line in lines[1:]), lines)

    def test_files_and_options_that_security_names_exist(self):
        text = (ROOT / ".github/SECURITY.md").read_text()
        targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
        self.assertGreater(len(targets), 2)
        for target in targets:
            self.assertTrue((ROOT / ".github" / target).exists(), target)
        help_ = run("help", "serve", "--all").stdout + run("help", "build", "--all").stdout
        options = set(re.findall(r"--[a-z][a-z-]+", text))
        self.assertLessEqual({"--trusted-proxy", "--image-timeout", "--audit-log"}, options)
        for option in options:
            self.assertIn(f"{option} ", help_)
        for line in re.findall(r"`ziggurat space (\w+)`", text):
            self.assertIn(line, run("help", "space").stdout)
        self.assertIn("sandbox_processes_confined", (ROOT / "Sources/TileServing/Handlers/MonitoringHandler.swift").read_text())

    def test_its_make_targets_exist(self):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        named = re.findall(r"(?:^|`|&& |sudo )make ([a-z-]+)", README, re.MULTILINE)
        self.assertEqual(named[:2], ["demo", "test"], "the first commands")
        named = {name for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
                 for name in re.findall(r"(?:^|`|&& |sudo )make ([a-z][a-z-]+)", page.read_text(), re.MULTILINE)}
        self.assertLessEqual({"demo", "test", "deb", "bench", "release", "install"}, named)
        self.assertEqual(named - targets, set())

    def test_its_commands_run(self):
        """`serve` is stopped when it listens, and its address answers."""
        place = folder("readme")
        photo(place / "Pictures/photo.jpg", 1600, 1000)
        (place / "bin").mkdir()
        (place / "bin/ziggurat").symlink_to(BINARY)
        environment = {"PATH": f"{place}/bin:/usr/bin:/bin", "HOME": str(place), "ZIGGURAT_PORT": "0", "LANG": "C.UTF-8"}
        commands = re.findall(r"^ziggurat .*", README, re.MULTILINE)
        self.assertEqual(commands[0], "ziggurat serve ~/Pictures --build")
        self.assertEqual(len(commands), 4)
        for command in commands:
            with self.subTest(command):
                if command.startswith("ziggurat serve"):
                    process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=place, env=environment, text=True,
                                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    try:
                        address = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/)\n", process.stdout.readline())[1]
                        with urlopen(f"{address}api/images/photo", timeout=60) as answer:
                            self.assertEqual(answer.status, 200)
                    finally:
                        process.terminate()
                        process.communicate(timeout=60)
                else:
                    result = subprocess.run(["bash", "-c", command], cwd=place, env=environment, capture_output=True, text=True, timeout=60)
                    self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((place / "photo/photo.dzi").exists())

    def test_the_page_of_packages_names_each(self):
        page = (ROOT / "docs/reference/debian-packages.md").read_text()
        for group, package in PACKAGES:
            self.assertIn(f"`{package}`", page, group)


if __name__ == "__main__":
    unittest.main()
