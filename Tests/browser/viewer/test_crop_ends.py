"""What comes of a crop: a file, a link, or everything as it was before."""

import io
import unittest
import urllib.request

import numpy
from accessibility import AXE_OWN, axe_violations
from browser import PHOTO, source
from cases import alternating
from cropping import CropTest
from PIL import Image


class CropEnds(CropTest):
    def shown(self, visit):
        return visit.run("""return { frame: viewer.shadowRoot.querySelector('.crop.done .frame').getBoundingClientRect().toJSON(),
            window: viewer.shadowRoot.querySelector('.surface').getBoundingClientRect().toJSON(),
            size: [...viewer.shadowRoot.querySelectorAll('.size')].find((each) => each.offsetWidth).value,
            words: viewer.shadowRoot.querySelector('.cropbar').textContent }""")

    def test_done_keeps_the_crop_on_the_screen_to_be_downloaded_in_three_formats_or_linked(self):
        visit = self.open(permissions=["clipboard-read", "clipboard-write"])
        (x, y, width, height), *_ = self.address(visit)
        visit.page.get_by_role("button", name="Done").click()
        visit.page.wait_for_timeout(400)
        visit.sharp()
        shown = self.shown(visit)
        frame, window = shown["frame"], shown["window"]
        self.assertAlmostEqual(frame["width"] / frame["height"], width / height, delta=0.01)
        self.assertTrue(frame["height"] > window["height"] - 2 or frame["width"] > window["width"] - 2, "it fills the window")
        self.assertEqual(shown["size"], f"{width:,} × {height:,}")
        self.assertNotIn("http", shown["words"])
        self.assertEqual(visit.page.get_by_role("textbox").count(), 0, "no address to be read")
        for format, ending in (("JPEG", "jpg"), ("PNG", "png"), ("WebP", "webp")):
            visit.page.get_by_label("Format").select_option(format)
            self.assertEqual(self.address(visit)[2], ending)
        with visit.page.expect_download() as download:
            visit.page.get_by_role("link", name="Download").click()
        self.assertEqual(download.value.suggested_filename, f"SafeLanding {x},{y},{width},{height}.webp")
        with Image.open(download.value.path()) as picture:
            self.assertEqual(picture.size, (width, height))
        visit.page.get_by_role("button", name="Copy link").click()
        copied = visit.until("return navigator.clipboard.readText()")
        self.assertEqual(copied, visit.run(self.FILE))
        # Nothing moves it, and it can be changed.
        visit.page.mouse.move(500, 300)
        visit.page.mouse.wheel(0, -300)
        visit.page.keyboard.press("+")
        visit.page.wait_for_timeout(300)
        self.assertEqual(self.shown(visit)["frame"], frame)
        visit.page.get_by_role("button", name="Back to editing").click()
        self.assertEqual(self.address(visit)[0], (x, y, width, height))
        self.drag(visit, "Right", -50, 0).up()
        self.assertLess(self.address(visit)[0][2], width)

    def test_cancel_and_escape_bring_everything_back(self):
        views = ("", "scale=2&x=4000&y=2000&rotation=90", "scale=0.5&x=100&y=100&rotation=30&flip=true")
        for end, view in alternating(views, among=[("Cancel",), ("Escape",), ("Done, Escape",), ("Done, Close",)]):
            with self.subTest(view=view, end=end):
                visit = self.visit().photo(view=view)
                visit.until("return viewer.images.length > 1")
                everything = "const { scale, x, y, width, height, rotation } = viewer.viewport; return [{ scale, x, y, width, height, ...rotation }, location.href]"
                before = visit.run(everything)
                self.begin(visit)
                visit.page.get_by_role("button", name="Rotate right").click()
                self.drag(visit, "Top left", 100, 60).up()
                visit.page.wait_for_timeout(200)
                for step in end.split(", "):
                    if step == "Escape":
                        visit.page.keyboard.press("Escape")
                    else:
                        visit.page.get_by_role("button", name=step).click()
                    visit.page.wait_for_timeout(200)
                visit.sharp()
                (view_after, address), (view_before, address_before) = visit.run(everything), before
                self.assertEqual(address, address_before)
                for name, value in view_before.items():
                    self.assertAlmostEqual(view_after[name], value, delta=1e-6, msg=name)
                self.assertTrue(visit.run("return document.activeElement === viewer && !viewer.hasAttribute('cropping')"))

    def test_the_result_is_the_part_at_full_resolution_the_way_it_is_turned(self):
        visit = self.open()
        self.drag(visit, "Top left", 90, 60).up()
        self.drag(visit, "Bottom right", -140, -90).up()
        visit.run("""const format = viewer.shadowRoot.querySelector('.cropbar select[aria-label="Format"]') ??
                [...viewer.shadowRoot.querySelectorAll('.cropbar select')].at(-1)
            format.selectedIndex = 1
            format.dispatchEvent(new Event('change'))""")
        whole = Image.open(source(PHOTO)).convert("RGB")
        turns = {"0": None, "90": Image.Transpose.ROTATE_270, "180": Image.Transpose.ROTATE_180, "270": Image.Transpose.ROTATE_90}
        for _ in turns:
            visit.page.wait_for_timeout(150)
            (x, y, width, height), rotation, _ = self.address(visit)
            wanted = whole.crop((x, y, x + width, y + height))
            if turns[rotation] is not None:
                wanted = wanted.transpose(turns[rotation])
            with urllib.request.urlopen(visit.run(self.FILE)) as answer:
                got = Image.open(io.BytesIO(answer.read())).convert("RGB")
            self.assertEqual(got.size, wanted.size, rotation)
            difference = numpy.abs(numpy.asarray(got, dtype=int) - numpy.asarray(wanted, dtype=int))
            # Neither the tiles nor the crop lose anything.
            self.assertEqual(difference.max(), 0, rotation)
            visit.page.get_by_role("button", name="Rotate right").click()

    def test_keys_move_a_handle_and_escape_ends_it(self):
        visit = self.open()
        before = self.frame(visit)
        visit.page.get_by_role("button", name="Right", exact=True).focus()
        visit.page.keyboard.press("ArrowLeft")
        self.assertAlmostEqual(before[2] - self.frame(visit)[2], 8, delta=0.6)
        visit.page.keyboard.press("Escape")
        visit.until("return !viewer.shadowRoot.querySelector('.crop') && !viewer.hasAttribute('cropping')")

    def test_axe_finds_nothing_on_crop(self):
        visit = self.open(allowed_errors=AXE_OWN)
        visit.page.wait_for_timeout(300)
        self.assertEqual(axe_violations(visit), [])
        visit.page.get_by_role("button", name="Done").click()
        visit.page.wait_for_timeout(300)
        self.assertEqual(axe_violations(visit), [])


if __name__ == "__main__":
    unittest.main()
