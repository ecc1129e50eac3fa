"""Straightening what is cut."""

import io
import re
import unittest
import urllib.request

import numpy
from accessibility import AXE_OWN, axe_violations
from browser import HEIGHT, WIDTH
from cropping import CropTest
from PIL import Image


class Straightening(CropTest):
    def straighten(self, visit, degrees):
        visit.run(f"""const slider = viewer.shadowRoot.querySelector('.cropbar input')
            slider.value = '{degrees}'
            slider.dispatchEvent(new Event('input'))""")
        visit.page.wait_for_timeout(100)

    def corners(self, visit):
        """Of the frame, in the image."""
        return visit.run("""const { left, top, right, bottom } = viewer.shadowRoot.querySelector('.frame').getBoundingClientRect()
            const own = viewer.shadowRoot.querySelector('.surface').getBoundingClientRect()
            return [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) => viewer.viewport.imagePoint({ x: x - own.left, y: y - own.top }))""")

    def assertInPicture(self, visit):
        for corner in self.corners(visit):
            self.assertTrue(-1 <= corner["x"] <= WIDTH + 1 and -1 <= corner["y"] <= HEIGHT + 1, corner)

    def test_the_frame_stays_in_the_picture_and_comes_back_with_the_degrees(self):
        visit = self.open(inside=False)
        whole = self.frame(visit)
        for degrees in (10, 45, -30, 0.1, -45):
            self.straighten(visit, degrees)
            self.assertInPicture(visit)
            self.assertAlmostEqual(visit.view()["rotation"] if "rotation" in visit.view() else visit.run("return viewer.viewport.rotation.degrees"),
                                   degrees % 360, delta=1e-6)
            text = visit.run("return viewer.shadowRoot.querySelector('.degrees').value")
            self.assertEqual(text, f"{'−' if degrees < 0 else ''}{abs(degrees):.1f}°")
            left, top, right, bottom = self.frame(visit)
            self.assertAlmostEqual((right - left) / (bottom - top), WIDTH / HEIGHT, delta=0.01)
        self.straighten(visit, 0)
        for before, after in zip(whole, self.frame(visit)):
            self.assertAlmostEqual(before, after, delta=0.6)
        self.assertEqual(self.address(visit)[0], (0, 0, WIDTH, HEIGHT))

    def test_neither_handles_nor_ratios_nor_quarter_turns_lead_out_of_it(self):
        visit = self.open()
        self.straighten(visit, -12)
        for name, dx, dy in (("Top left", -400, -400), ("Right", 900, 0), ("Bottom", 0, 900), ("Move the frame", 600, -500), ("Bottom left", -50, 300)):
            self.drag(visit, name, dx, dy).up()
            self.assertInPicture(visit)
        for ratio in ("1 : 1", "16 : 9", "2 : 3"):
            visit.page.get_by_label("Aspect ratio").select_option(ratio)
            self.assertInPicture(visit)
            self.drag(visit, "Bottom right", 500, 500).up()
            self.assertInPicture(visit)
            left, top, right, bottom = self.frame(visit)
            across, down = map(int, ratio.split(" : "))
            self.assertAlmostEqual((right - left) / (bottom - top), across / down, delta=0.02)
        before = self.corners(visit)
        visit.page.get_by_role("button", name="Rotate right").click()
        visit.page.wait_for_timeout(200)
        after = self.corners(visit)
        for corner in before:
            self.assertTrue(any(abs(corner["x"] - other["x"]) < 4 and abs(corner["y"] - other["y"]) < 4 for other in after))
        visit.page.get_by_role("button", name="Reset").click()
        visit.page.wait_for_timeout(200)
        self.assertEqual(self.address(visit)[:2], ((0, 0, WIDTH, HEIGHT), "0"))
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.cropbar input').value"), "0")

    def test_what_is_on_the_screen_is_what_is_downloaded(self):
        for view, turn in (("", ""), ("rotation=90&flip=true", "Rotate right")):
            with self.subTest(view):
                visit = self.open(view)
                self.straighten(visit, 9.5)
                if turn:
                    visit.page.get_by_role("button", name=turn).click()
                    visit.page.wait_for_timeout(150)
                size = visit.run("return viewer.shadowRoot.querySelector('.size').value").replace(",", "")
                visit.page.get_by_role("button", name="Done").click()
                visit.page.wait_for_timeout(400)
                visit.sharp()
                visit.page.get_by_label("Format").select_option("PNG")
                with urllib.request.urlopen(visit.run(self.FILE).replace("&download", "")) as answer:
                    got = Image.open(io.BytesIO(answer.read())).convert("RGB")
                self.assertEqual(list(got.size), [int(side) for side in re.findall(r"\d+", size)])
                box = visit.run("return viewer.shadowRoot.querySelector('.crop.done .frame').getBoundingClientRect().toJSON()")
                clip = {"x": round(box["x"]) + 2, "y": round(box["y"]) + 2, "width": int(box["width"]) - 4, "height": int(box["height"]) - 4}
                shown = Image.open(io.BytesIO(visit.page.screenshot(clip=clip))).convert("RGB")
                scale = got.width / box["width"]
                small = got.resize(shown.size, Image.Resampling.BOX, (2 * scale, 2 * scale, got.width - 2 * scale, got.height - 2 * scale))
                difference = numpy.abs(numpy.asarray(small, dtype=int) - numpy.asarray(shown, dtype=int))
                # Of the middle, where no bar lies.
                rows = slice(shown.height // 4, 3 * shown.height // 4)
                self.assertLess(difference[rows].mean(), 6)

    def test_keys_straighten_too_and_cancel_brings_everything_back(self):
        visit = self.visit(allowed_errors=AXE_OWN).photo(view="scale=0.5&x=100&y=100&rotation=90")
        visit.until("return viewer.images.length > 1")
        everything = "const { scale, x, y, turn } = viewer.viewport; return [{ scale, x, y, degrees: turn.degrees }, location.href]"
        before = visit.run(everything)
        self.begin(visit)
        visit.page.get_by_role("slider", name="Straighten").focus()
        for _ in range(5):
            visit.page.keyboard.press("ArrowRight")
        visit.until("return Math.abs(viewer.viewport.rotation.degrees - 90.5) < 1e-6")
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.cropbar input').ariaValueText"), "0.5°")
        self.assertEqual(axe_violations(visit), [])
        visit.page.keyboard.press("Escape")
        visit.until("return !viewer.hasAttribute('cropping')")
        visit.sharp()
        (view, address), (view_before, address_before) = visit.run(everything), before
        self.assertEqual(address, address_before)
        for name, value in view_before.items():
            self.assertAlmostEqual(view[name], value, delta=1e-6, msg=name)

    def test_a_phone_has_room_for_it(self):
        visit = self.open(width=390, height=844, touch=True, allowed_errors=AXE_OWN)
        self.straighten(visit, 5)
        boxes = visit.run("""return ['.cropbar', '.cropbar input', '.frame .grip:nth-child(5)']
            .map((name) => viewer.shadowRoot.querySelector(name).getBoundingClientRect().toJSON())""")
        bar, slider, grip = boxes
        self.assertTrue(bar["left"] >= 0 and bar["right"] <= 390 and bar["bottom"] <= 844, bar)
        self.assertGreaterEqual(slider["height"], 44)
        self.assertGreaterEqual(slider["width"], 200)
        self.assertLess(grip["bottom"], bar["top"] + 2)
        small = visit.run("""return [...viewer.shadowRoot.querySelectorAll('.cropbar :is(button, select, a, input), .grip')]
            .filter((each) => each.checkVisibility()).map((each) => [each.title || each.textContent, each.offsetWidth, each.offsetHeight])
            .filter(([, width, height]) => width < 44 || height < 44)""")
        self.assertEqual(small, [])
        self.assertEqual(axe_violations(visit), [])


if __name__ == "__main__":
    unittest.main()
