"""The line that measures lengths, where microns per pixel are known."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import PageTest, served, source

MICRONS = 0.5


class Measuring(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-measuring-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "photos").mkdir()
        # Pixels a millimetre.
        subprocess.run(["vips", "copy", source("FallenLeaf"), folder / "photos" / "slide.tif", "--xres", str(1000 / MICRONS), "--yres", str(1000 / MICRONS)],
                       check=True)
        shutil.copyfile(source("FallenLeaf"), folder / "photos" / "plain.jpg")
        cls.host = served(folder / "photos")

    def measure(self, **options):
        visit = self.visit(host=self.host, **options).open("view/slide")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Measure").click()
        return visit

    LENGTH = "return viewer.shadowRoot.querySelector('.length').value"

    def microns(self, visit):
        """The shown length in microns."""
        value, unit = visit.run(self.LENGTH).replace(",", "").split()
        return float(value) * {"µm": 1, "mm": 1000, "nm": 0.001}[unit]

    def between(self, visit):
        """The same by where the ends are."""
        return MICRONS * visit.run("""const own = viewer.getBoundingClientRect()
            const [from, to] = [...viewer.shadowRoot.querySelectorAll('.measure .end')].map((grip) => {
              const { left, top, width, height } = grip.getBoundingClientRect()
              return viewer.elementToImage({ x: left + width / 2 - own.left, y: top + height / 2 - own.top })
            })
            return Math.hypot(to.x - from.x, to.y - from.y)""")

    def assertReported(self, visit):
        wanted = self.between(visit)
        self.assertAlmostEqual(self.microns(visit) / wanted, 1, delta=0.01)

    def test_it_shows_the_length_between_its_ends_in_any_position(self):
        visit = self.measure()
        self.assertReported(visit)
        box = visit.page.get_by_role("button", name="End point").bounding_box()
        x, y = box["x"] + 22, box["y"] + 22
        before = self.microns(visit)
        visit.page.mouse.move(x, y)
        visit.page.mouse.down()
        visit.page.mouse.move(x - 200, y + 120, steps=4)
        visit.page.mouse.up()
        self.assertNotEqual(self.microns(visit), before)
        self.assertReported(visit)
        # By keys, eight pixels of the window or one.
        scale = visit.run("return viewer.viewport.scale")
        visit.page.get_by_role("button", name="Start point").focus()
        start = visit.run("const { x } = viewer.shadowRoot.querySelector('.measure .end').getBoundingClientRect(); return x")
        visit.page.keyboard.press("ArrowLeft")
        visit.page.keyboard.press("Shift+ArrowLeft")
        end = visit.run("const { x } = viewer.shadowRoot.querySelector('.measure .end').getBoundingClientRect(); return x")
        self.assertAlmostEqual(start - end, 9, delta=0.6)
        self.assertReported(visit)
        self.assertEqual(visit.run("return viewer.viewport.scale"), scale)

    def test_it_stays_on_what_it_measures_however_the_picture_is_moved_and_turned(self):
        visit = self.measure()
        length = visit.run(self.LENGTH)
        for step in ("viewer.zoomBy(3, { x: 500, y: 300 })", "viewer.rotate(40)", "viewer.flip()", "viewer.fit()"):
            visit.run(step)
            visit.sharp()
            self.assertEqual(visit.run(self.LENGTH), length)
            self.assertReported(visit)
            label = visit.run("return viewer.shadowRoot.querySelector('.measure .label').getBoundingClientRect().toJSON()")
            self.assertTrue(label["left"] >= 0 and label["right"] <= 1280 and label["top"] >= 0 and label["bottom"] <= 800, label)
        visit.page.mouse.move(640, 200)
        before = visit.run("return viewer.viewport.scale")
        visit.page.mouse.wheel(0, -300)
        visit.until(f"return viewer.viewport.scale > {before} * 1.2", "the wheel zooms below it")

    def test_its_ends_stay_in_the_picture(self):
        visit = self.measure()
        box = visit.page.get_by_role("button", name="End point").bounding_box()
        visit.page.mouse.move(box["x"] + 22, box["y"] + 22)
        visit.page.mouse.down()
        visit.page.mouse.move(1279, 799, steps=3)
        visit.page.mouse.up()
        self.assertReported(visit)
        self.assertLessEqual(self.microns(visit), MICRONS * 1.01 * (2560**2 + 1600**2) ** 0.5)

    def test_escape_and_its_button_end_it_and_so_does_another_picture(self):
        for end in ("Escape", "Close", "page"):
            with self.subTest(end):
                visit = self.measure(allowed_errors=AXE_OWN)
                self.assertEqual(axe_violations(visit), [])
                if end == "Escape":
                    visit.page.keyboard.press("Escape")
                elif end == "Close":
                    visit.page.get_by_role("button", name="Close").click()
                else:
                    visit.run("viewer.open('/api/images/plain')")
                visit.until("return !viewer.shadowRoot.querySelector('.measure')")
                self.assertEqual(visit.run("return location.pathname"), "/view/slide")

    def test_where_no_scale_is_known_there_is_none(self):
        visit = self.visit(host=self.host).open("view/plain")
        self.assertNotIn("micronsPerPixel", json.dumps(visit.run("return viewer.source.details")))
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Details").wait_for()
        self.assertEqual(visit.page.get_by_role("menuitem", name="Measure").count(), 0)


if __name__ == "__main__":
    unittest.main()
