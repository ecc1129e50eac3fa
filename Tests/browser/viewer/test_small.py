"""Pictures of a few pixels: each of them is as large as it should be, to its edges."""

import io
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy
from PIL import Image

from browser import PageTest, served

COLOUR = (200, 40, 90)


class Small(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-small-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "photos").mkdir()
        for width, height in ((1, 1), (2, 1), (1, 3)):
            Image.new("RGB", (width, height), COLOUR).save(folder / f"photos/{width}x{height}.png")
        cls.host = served(folder / "photos", "--format", "png")

    def test_a_picture_of_one_colour_is_that_colour_to_its_corners(self):
        for width, height in ((1, 1), (2, 1), (1, 3)):
            for ratio in (1, 2):
                with self.subTest(width=width, height=height, ratio=ratio):
                    visit = self.visit(host=self.host, width=700, height=600, ratio=ratio).open(f"view/{width}x{height}")
                    visit.hide_ui()
                    shown = numpy.asarray(Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")).astype(int)
                    scale = min(700 / width, 600 / height) * ratio
                    left, top = (round((side * ratio - scale * pixels) / 2) for side, pixels in ((700, width), (600, height)))
                    within = shown[top + 1:round(top + scale * height) - 1, left + 1:round(left + scale * width) - 1]
                    self.assertLess(numpy.abs(within - COLOUR).max(), 3)


if __name__ == "__main__":
    unittest.main()
