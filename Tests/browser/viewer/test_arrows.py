"""Arrows: to the next page where the whole picture is seen, over the picture where it goes on; and the same by mouse."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import PHOTO, SOURCES, PageTest, served, source
from test_zoom_at_point import middle

ORDER = sorted(SOURCES)
AT = ORDER.index(PHOTO)


class Arrows(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-arrows-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        pages = folder / "manga/scans/tale"
        pages.mkdir(parents=True)
        for number in range(1, 4):
            subprocess.run(["vips", "thumbnail", source(PHOTO), pages / f"{number}.jpg", str(500 + number)], check=True)
        (pages / "book.json").write_text(json.dumps({"title": "A tale", "viewingDirection": "right-to-left"}))
        cls.books = served(folder / "manga/scans", "--book")

    def open(self, view="", image=PHOTO, **options):
        visit = self.visit(**options).photo(image, view)
        visit.until("return viewer.images.length > 1")
        return visit

    def shows(self, visit, index):
        visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded", f"image {index}")

    def rests(self, visit):
        visit.page.wait_for_timeout(400)
        visit.sharp()

    def test_at_fit_they_turn_the_page_and_zoomed_in_they_move_over_the_picture(self):
        visit = self.open()
        visit.page.keyboard.press("ArrowRight")
        self.shows(visit, AT + 1)
        visit.page.keyboard.press("ArrowLeft")
        self.shows(visit, AT)
        visit.look(middle(1280, 800, 4))
        before = visit.view()
        for key, by in (("ArrowRight", (96, 0)), ("ArrowDown", (0, 96)), ("ArrowLeft", (-96, 0)), ("ArrowUp", (0, -96))):
            visit.page.keyboard.press(key)
            self.rests(visit)
            after = visit.view()
            self.assertAlmostEqual(after["x"] - before["x"], by[0], delta=0.01)
            self.assertAlmostEqual(after["y"] - before["y"], by[1], delta=0.01)
            before = after
        self.assertEqual(visit.run("return viewer.index"), AT)
        # On its way back to the whole, the picture counts as whole.
        visit.page.keyboard.press("0")
        visit.page.keyboard.press("ArrowRight")
        self.shows(visit, AT + 1)

    def test_they_go_by_what_is_seen_however_the_picture_is_turned(self):
        visit = self.open(width=700, height=800)
        # Across the window, beyond it above and below.
        visit.run("viewer.rotate(90); viewer.fit('width')")
        self.rests(visit)
        y = visit.view()
        visit.page.keyboard.press("ArrowDown")
        self.rests(visit)
        self.assertNotEqual(visit.view(), y)
        self.assertEqual(visit.run("return viewer.index"), AT)
        visit.page.keyboard.press("ArrowRight")
        self.shows(visit, AT + 1)

    def test_in_a_book_from_right_to_left_they_go_to_where_the_page_lies(self):
        visit = self.visit(host=self.books).open("view/tale%2F1")
        visit.until("return viewer.images.length === 3")
        visit.page.keyboard.press("ArrowRight")
        visit.page.wait_for_timeout(400)
        self.assertEqual(visit.run("return viewer.index"), 0)
        visit.page.keyboard.press("ArrowLeft")
        self.shows(visit, 1)
        visit.page.keyboard.press("ArrowRight")
        self.shows(visit, 0)
        sides = "return [...viewer.shadowRoot.querySelectorAll('.turner')].map((each) => [each.title, each.hidden])"
        self.assertEqual(visit.run(sides), [["Next image", False], ["Previous image", True]])
        visit.page.get_by_role("button", name="Next image").click()
        self.shows(visit, 1)

    def test_a_list_from_top_to_bottom_is_turned_by_the_arrows_down_and_up(self):
        visit = self.open()
        visit.run("viewer.setImages(viewer.images, viewer.index, { viewingDirection: 'top-to-bottom' })")
        for key, index in (("ArrowDown", AT + 1), ("ArrowUp", AT), ("ArrowRight", AT + 1)):
            visit.page.keyboard.press(key)
            self.shows(visit, index)

    def test_a_mouse_has_buttons_at_the_sides_as_far_as_there_are_images(self):
        visit = self.open(image=ORDER[1])
        following = visit.page.get_by_role("button", name="Next image")
        box = following.bounding_box()
        self.assertGreaterEqual(min(box["width"], box["height"]), 44)
        self.assertGreater(box["x"], 1180)
        for index in range(2, len(ORDER)):
            following.focus()
            visit.page.keyboard.press("Space")
            self.shows(visit, index)
        visit.until("return viewer.shadowRoot.querySelector('.pageRight').hidden")
        self.assertEqual(visit.run("return document.activeElement === viewer && !viewer.shadowRoot.activeElement"), True)
        visit.page.get_by_role("button", name="Previous image").click()
        self.shows(visit, len(ORDER) - 2)

    def test_fingers_have_none(self):
        visit = self.open(width=390, height=844, ratio=2, touch=True, is_mobile=True)
        self.assertEqual(visit.page.get_by_role("button", name="Next image").count(), 0)

    def test_a_single_image_has_none(self):
        visit = self.open()
        visit.run("viewer.setImages([viewer.images[0]], 0)")
        self.assertEqual(visit.page.get_by_role("button", name="Next image").count(), 0)
        visit.page.keyboard.press("ArrowRight")
        self.assertEqual(visit.run("return viewer.index"), 0)


if __name__ == "__main__":
    unittest.main()
