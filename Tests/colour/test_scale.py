"""The physical size of a pixel: kept if a slide declares it, not if it was meant for a printer only."""

import json
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import folder, photo, run


class Scale(unittest.TestCase):
    def built(self, saving):
        base = folder("slide")
        subprocess.run(["vips", "black", base / f"slide.tif[{saving}]", "700", "600", "--bands", "3"], check=True)
        result = run("build", base / "slide.tif", "--library", base / "library", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        archive = base / "library/slide.szi"
        report = json.loads(run("inspect", archive, "--json").stdout)
        with zipfile.ZipFile(archive) as file:
            return file.read("slide/scan-properties.xml").decode(), report.get("micronsPerPixel")

    def test_microns_of_a_tiled_pyramid(self):
        xml, report = self.built("tile,pyramid,xres=4000,yres=2000,resunit=cm")
        self.assertIn('<name>MicronsPerPixelX</name>\n      <value type="gdouble">0.25</value>', xml)
        self.assertIn('<name>MicronsPerPixelY</name>\n      <value type="gdouble">0.5</value>', xml)
        self.assertEqual(report, [0.25, 0.5])

    def test_a_printing_resolution_is_none(self):
        xml, report = self.built("xres=11.811,yres=11.811")
        self.assertNotIn("MicronsPerPixel", xml)
        self.assertIsNone(report)

    def test_microns_of_a_scanners_slide(self):
        """A TIFF whose description is an Aperio scanner's has its scale from OpenSlide."""
        for microns, wanted in (("0.2520", [0.252, 0.252]), ("0", None), ("nonsense", None)):
            with self.subTest(microns):
                base = folder("slide")
                flat = photo(base / "flat.png", 1200, 900)
                subprocess.run(["vips", "copy", flat, base / "slide.tif[tile,compression=jpeg,Q=90,strip]"], check=True)
                subprocess.run(["exiftool", "-q", "-overwrite_original", base / "slide.tif",
                                "-ImageDescription=Aperio Image Library v11.2.1\n1200x900 [0,0 1200x900] (128x128) "
                                f"JPEG/RGB Q=90|AppMag = 20|MPP = {microns}"], check=True)
                (base / "slide.tif").rename(base / "slide.svs")
                result = run("build", base / "slide.svs", "--library", base / "library", "--quiet", "--format", "png",
                             "--tile-size", "2048")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                report = json.loads(run("inspect", base / "library/slide.szi", "--json").stdout)
                self.assertEqual(report.get("micronsPerPixel"), wanted)
                self.assertEqual(report["route"], "exact: TIFF tiles decoded side by side")
                with zipfile.ZipFile(base / "library/slide.szi") as file:
                    xml = file.read("slide/scan-properties.xml").decode()
                    (base / "top.png").write_bytes(file.read("slide/slide_files/11/0_0.png"))
                self.assertEqual('<value type="gdouble">0.252</value>' in xml, wanted is not None)
                # The pixels are the slide's, to within its JPEG.
                subprocess.run(["vips", "extract_band", base / "top.png", base / "rgb.v", "0", "--n", "3"], check=True)
                subprocess.run(["vips", "subtract", base / "rgb.v", flat, base / "difference.v"], check=True)
                subprocess.run(["vips", "abs", base / "difference.v", base / "distance.v"], check=True)
                mean = subprocess.run(["vips", "avg", base / "distance.v"], check=True, capture_output=True, text=True)
                self.assertLess(float(mean.stdout), 2)


if __name__ == "__main__":
    unittest.main()
