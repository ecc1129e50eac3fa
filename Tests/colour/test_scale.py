"""How large a pixel is in the world: kept where a slide tells it, not where only a printer was meant."""

import json
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "robustness"))
from harness import folder, run


class Scale(unittest.TestCase):
    def built(self, saving):
        base = folder("slide")
        subprocess.run(["vips", "black", base / f"slide.tif[{saving}]", "700", "600", "--bands", "3"], check=True)
        result = run("build", base / "slide.tif", "--library", base / "library", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        archive = base / "library/slide.szi"
        told = json.loads(run("inspect", archive, "--json").stdout)
        with zipfile.ZipFile(archive) as file:
            return file.read("slide/scan-properties.xml").decode(), told.get("micronsPerPixel")

    def test_microns_of_a_tiled_pyramid(self):
        xml, told = self.built("tile,pyramid,xres=4000,yres=2000,resunit=cm")
        self.assertIn('<name>MicronsPerPixelX</name>\n      <value type="gdouble">0.25</value>', xml)
        self.assertIn('<name>MicronsPerPixelY</name>\n      <value type="gdouble">0.5</value>', xml)
        self.assertEqual(told, [0.25, 0.5])

    def test_a_printing_resolution_is_none(self):
        xml, told = self.built("xres=11.811,yres=11.811")
        self.assertNotIn("MicronsPerPixel", xml)
        self.assertIsNone(told)


if __name__ == "__main__":
    unittest.main()
