"""Turning pages by swipe, key and number: one a time, at the edge of the picture first, with neighbours at hand."""

import unittest
import urllib.parse

from browser import SOURCES, PHOTO, PageTest
from test_zoom_at_point import middle

ORDER = sorted(SOURCES)  # As the library lists them.
AT = ORDER.index(PHOTO)
PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}


class Paging(PageTest):
    def open(self, image=PHOTO, view="", **options):
        visit = self.visit(**{**PHONE, **options}).photo(image, view)
        visit.until("return viewer.images.length > 1 && viewer.shadowRoot.querySelectorAll('.preview').length")
        visit.page.wait_for_timeout(200)
        return visit

    def swipe(self, visit, start, end, steps=6, y=420):
        fingers = visit.touches()
        fingers.down((start, y))
        for step in range(1, steps + 1):
            fingers.move((start + (end - start) * step / steps, y))
        fingers.up()

    def assertShows(self, visit, index):
        visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded", f"image {index}")
        name = urllib.parse.quote(ORDER[index], safe="")
        visit.until(f"return location.pathname === '/view/{name}'", f"the address of image {index}")
        visit.until(f"return document.getElementById('number').value === '{index + 1}'")
        visit.until(f"return document.title === '{ORDER[index].split('/')[-1]}'", f"the title of image {index}")

    def test_a_swipe_turns_the_page_either_way(self):
        visit = self.open()
        self.swipe(visit, 320, 60)
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        self.swipe(visit, 60, 320)
        self.assertShows(visit, AT)

    def test_a_finger_swipes_on_from_an_image_that_cannot_be_read(self):
        visit = self.visit(allowed_errors=["503"], **PHONE)
        visit.page.route("**/api/images/FallenLeaf**", lambda route: route.fulfill(status=503))
        broken = ORDER.index("FallenLeaf")
        visit.photo(ORDER[broken - 1])
        visit.until("return viewer.images.length > 1 && !document.getElementById('counter').hidden")
        for start, end, index in ((320, 60, broken + 1), (60, 320, broken - 1)):
            self.swipe(visit, start, end)
            visit.until(f"return viewer.index === {broken} && !viewer.shadowRoot.querySelector('.notice').hidden")
            self.swipe(visit, start, end)
            self.assertShows(visit, index)

    def test_a_short_slow_swipe_springs_back(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((300, 400))
        for x in range(295, 230, -5):
            fingers.move((x, 400))
        # The browser reports moves once a frame.
        visit.until("return viewer.shadowRoot.querySelector('.track').style.translate === '-65px'")
        visit.page.wait_for_timeout(200)
        fingers.up()
        visit.page.wait_for_timeout(600)
        self.assertEqual(visit.run("return [viewer.index, viewer.shadowRoot.querySelector('.track').style.translate]"), [AT, ""])

    def test_a_swipe_that_the_system_takes_away_turns_no_page(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((330, 400))
        for x in range(310, 90, -20):
            fingers.move((x, 400))
        visit.until("return parseFloat(viewer.shadowRoot.querySelector('.track').style.translate) < -150")
        fingers.send("touchCancel", [])
        visit.page.wait_for_timeout(700)
        self.assertEqual(visit.run("return [viewer.index, viewer.shadowRoot.querySelector('.track').style.translate]"), [AT, ""])

    def test_with_reduced_motion_a_swipe_turns_the_page_and_says_so(self):
        visit = self.open(reduced_motion="reduce")
        self.swipe(visit, 320, 60)
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        self.assertEqual(visit.run("return [viewer.shadowRoot.querySelector('.spoken').textContent, location.hash]"),
                         [f"{ORDER[AT + 1].split('/')[-1]}, image {AT + 2} of {len(ORDER)}", ""])

    def test_a_tap_beside_the_menu_closes_it_and_nothing_else(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((200, 420))
        visit.until("return viewer.shadowRoot.querySelector('.menu')")
        fingers.up()
        visit.page.wait_for_timeout(200)
        fingers.tap(40, 120)
        visit.until("return !viewer.shadowRoot.querySelector('.menu')")
        visit.page.wait_for_timeout(500)
        self.assertFalse(visit.run("return viewer.getAttribute('ui') === 'hidden'"))
        fingers.tap(40, 120)
        visit.until("return viewer.getAttribute('ui') === 'hidden'", "the next tap hides the controls")

    def test_escape_leaves_full_screen_before_it_leaves_the_picture(self):
        visit = self.open(width=1280, height=800, touch=False)
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement?.contains(viewer)")
        visit.page.keyboard.press("Escape")
        visit.until("return !document.fullscreenElement")
        visit.page.wait_for_timeout(300)
        self.assertTrue(visit.address().endswith("/view/landscapes%2FSafeLanding"), visit.address())
        visit.page.keyboard.press("Escape")
        visit.until("return location.pathname === '/'")

    def test_zoomed_in_a_drag_reaches_the_edge_first_and_then_turns_the_page(self):
        visit = self.open(view=middle(390, 844, 6))
        right = visit.run("return viewer.viewport.permittedOffsets(viewer.source.pyramid.imageSize).x.high")
        visit.look(middle(390, 844, 6).replace("&x=", f"&x={right - 100}&was="))
        fingers = visit.touches()
        fingers.down((350, 400))
        fingers.move((300, 400))
        fingers.move((290, 400))
        visit.until(f"return Math.abs(viewer.viewport.x - {right - 40}) < 0.5", "the finger's way")
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.track').style.translate"), "")
        for x in range(270, 60, -20):
            fingers.move((x, 400))
        visit.until("return viewer.shadowRoot.querySelector('.track').style.translate === '-180px'", "the page drawn along")
        self.assertAlmostEqual(visit.view()["x"], right, delta=0.5)
        fingers.up()
        self.assertShows(visit, AT + 1)

    def test_the_first_and_the_last_image_bounce(self):
        for image, start, end in ((ORDER[0], 60, 320), (ORDER[-1], 320, 60)):
            visit = self.open(image)
            fingers = visit.touches()
            fingers.down((start, 400))
            for step in range(1, 7):
                fingers.move((start + (end - start) * step / 6, 400))
            moved = abs(float(visit.run("return parseFloat(viewer.shadowRoot.querySelector('.track').style.translate)")))
            self.assertTrue(20 < moved < 150, moved)
            fingers.up()
            visit.page.wait_for_timeout(700)
            self.assertEqual(visit.run("return viewer.index"), ORDER.index(image))
            self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.track').style.translate"), "")

    def test_neighbours_are_loaded_as_one_coarse_tile_and_far_ones_let_go(self):
        visit = self.open()
        for index in (AT - 1, AT + 1):
            tiles = visit.tiles(ORDER[index])
            self.assertEqual(len(tiles), 1, "one tile of a neighbour")
            self.assertEqual(tiles[0][1:], (0, 0))
        self.assertEqual(visit.tiles(ORDER[0]), [])
        visit.page.keyboard.press("PageDown")
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        shown = visit.tiles(ORDER[AT + 1])
        self.assertEqual(len(shown), len(set(shown)), "the coarse tile was asked for again")
        self.assertLessEqual(visit.run("return viewer.shadowRoot.querySelectorAll('.preview').length"), 2)

    def test_keys_turn_pages(self):
        visit = self.open(width=1280, touch=False)
        visit.page.keyboard.press("PageDown")
        self.assertShows(visit, AT + 1)
        visit.page.keyboard.press("PageUp")
        self.assertShows(visit, AT)
        visit.page.keyboard.press("PageUp")
        self.assertShows(visit, AT - 1)

    def test_quick_swipes_and_keys_turn_a_page_each(self):
        visit = self.open(ORDER[1])
        self.swipe(visit, 320, 60, steps=3)
        visit.until("return viewer.shadowRoot.querySelector('.track').getAnimations().length || viewer.index === 2")
        fingers = visit.touches()
        fingers.down((320, 400))
        self.assertEqual(visit.run("return viewer.index"), 2, "the turn under way is over")
        for x in range(300, 60, -40):
            fingers.move((x, 400))
        fingers.up()
        self.assertShows(visit, 3)
        visit.run("viewer.goBy(-1); viewer.goBy(-1)")
        self.assertShows(visit, 1)

    def test_the_counter_shows_the_position_and_accepts_a_number(self):
        visit = self.open(width=1280, touch=False)
        self.assertEqual(visit.run("return document.getElementById('count').textContent"), f"/ {len(ORDER)}")
        field = visit.page.get_by_label("Go to image number")
        field.fill("1")
        field.press("Enter")
        self.assertShows(visit, 0)
        field.fill("999")
        field.press("Enter")
        visit.page.wait_for_timeout(200)
        self.assertShows(visit, 0)

    def test_from_the_gallery_the_pages_are_those_of_the_search(self):
        visit = self.visit().open("?q=landscapes", wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2")
        visit.page.get_by_text("Volna").click()
        visit.until("return viewer?.images?.length === 2")
        self.assertEqual(visit.run("return [viewer.index, document.getElementById('count').textContent]"), [1, "/ 2"])

    def test_right_to_left_pages_turn_the_other_way(self):
        visit = self.open()
        visit.run("document.documentElement.dir = 'rtl'; viewer.setImages(viewer.images, viewer.index)")
        visit.page.wait_for_timeout(400)
        self.swipe(visit, 60, 320)
        self.assertShows(visit, AT + 1)


if __name__ == "__main__":
    unittest.main()
