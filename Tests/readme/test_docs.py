"""docs/ is true: each command in its pages runs, in order, where their pictures are; those for root are tried by `make test-package`."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "program/build", "program/fleet")]

import numpy  # noqa: E402
from fronts import free_port  # noqa: E402
from harness import BINARY, ROOT, folder, photo, run  # noqa: E402
from small_store import SmallStore  # noqa: E402
from test_pixels import tiff  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md"))
KINDS = {"sh", "sh as-root", "html", "python", "text"}


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```([^\n]+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


class Docs(unittest.TestCase):
    def place(self) -> Path:
        """The pictures that the pages speak of."""
        place = folder("docs")
        for name in ("harbour", "INV-0091"):
            photo(place / f"pictures/{name}.jpg", 1600, 1000)
        for number in range(1, 4):
            photo(place / f"codex/f00{number}r.jpg", 300, 400)
        values = numpy.linspace(0, 4095, 300 * 200).astype(numpy.uint16).reshape(200, 300)
        tiff(place / "camera.tif", values, description='<OME><Image><Pixels ID="P" PhysicalSizeX="0.5"/></Image></OME>')
        tiff(place / "six-bands.tif", numpy.zeros((50, 60, 6), numpy.uint8))
        (place / "bin").mkdir()
        (place / "bin/ziggurat").symlink_to(BINARY)
        return place

    def test_each_command_runs(self):
        store = SmallStore()
        self.addCleanup(store.close)
        self.assertGreater(len(PAGES), 5)
        for page in PAGES:
            with self.subTest(page.name):
                script = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
                for kind, text in blocks(page):
                    self.assertIn(kind, KINDS)
                    if kind == "sh":
                        # Whoever reads it waits until the server listens.
                        script += re.sub(r"^(ziggurat serve .*) &$", r"rm -f ready; \1 > ready &\nuntil grep -qs listening ready; do sleep 0.05; done",
                                         text, flags=re.MULTILINE)
                    if kind == "python":
                        script += f"python3 - <<'PYTHON'\n{text}PYTHON\n"
                place, port = self.place(), str(free_port())
                store.objects["scans/2026/f001r.jpg"] = (place / "codex/f001r.jpg").read_bytes()
                script = script.replace("localhost:8080", f"localhost:{port}").replace("127.0.0.1:9100", f"127.0.0.1:{free_port()}")
                result = subprocess.run(
                    ["bash", "-c", script], cwd=place, capture_output=True, text=True, timeout=120,
                    env={**store.environment, "PATH": f"{place}/bin:/usr/bin:/bin", "ZIGGURAT_PORT": port, "HOME": str(place), "LANG": "C.UTF-8"})
                self.assertEqual(result.returncode, 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}")

    def test_what_root_does_is_what_the_package_brings(self):
        text = "".join(text for page in PAGES for kind, text in blocks(page) if kind == "sh as-root")
        units = set(re.findall(r"\bziggurat(?:-build)?\b(?:\.timer|\.socket|\.service)?", " ".join(re.findall(r"systemctl .*", text))))
        self.assertEqual(units, {"ziggurat", "ziggurat-build.timer", "ziggurat-build", "ziggurat.service", "ziggurat.socket"})
        self.assertTrue((ROOT / "packaging/ziggurat.socket").exists())
        for unit in ("ziggurat-build.service", "ziggurat-build.timer"):
            self.assertTrue((ROOT / "packaging/debian" / unit).exists())
        self.assertIn("$SOURCES", (ROOT / "packaging/debian/ziggurat-build.service").read_text())

    def test_links_lead_somewhere_and_options_are_there(self):
        options = set()
        for command in re.findall(r"^  ziggurat (\w+)", run("--help").stdout, re.MULTILINE):
            options |= set(re.findall(r"^  (--[a-z-]+)", run("help", command).stdout, re.MULTILINE))
        for page in PAGES:
            text = page.read_text()
            for link in re.findall(r"\]\((?!http)([^)#]+)", text):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")
            # The element's custom properties begin alike, and are tried by Tests/browser/elsewhere.
            for option in re.findall(r"`(--(?!ziggurat-)[a-z-]+)", text):
                self.assertIn(option, options, page.name)

    def test_the_page_of_what_a_large_library_takes_is_what_the_model_prints(self):
        printed = subprocess.run([ROOT / "Tests/scale/model"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((ROOT / "docs/scale.md").read_text(), printed)

    def test_the_tools_that_they_use_are_here(self):
        for tool in ("curl", "rsync", "exiftool"):
            self.assertIsNotNone(shutil.which(tool), tool)


if __name__ == "__main__":
    unittest.main()
