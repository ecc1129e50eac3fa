"""Fingers that are quicker than pictures, windows that change below them, and two that put a picture away."""

import unittest

from browser import PHOTO, SOURCES
from embedding import VIEWER, EmbeddingTest
from test_zoom_at_point import middle

ORDER = sorted(SOURCES)
AT = ORDER.index(PHOTO)
PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}
TRACK = "parseFloat(viewer.shadowRoot.querySelector('.track').style.translate || 0)"
READY = "return document.querySelectorAll('.there').length > 1 && document.querySelector('.view.waiting')"
GONE = "return document.querySelectorAll('.view').length === 1 && document.querySelector('.view.waiting') && location.pathname === '/'"


class Swipes(EmbeddingTest):
    def open(self, image=PHOTO, view="", **options):
        visit = self.visit(**{**PHONE, **options}).photo(image, view)
        visit.until("return viewer.images.length > 1 && viewer.shadowRoot.querySelectorAll('.preview').length")
        return visit

    def test_swipes_50_ms_apart_turn_a_page_each(self):
        visit = self.page(VIEWER, width=390, height=844, touch=True, sized=False)
        visit.run("Object.assign(viewer.style, { width: '390px', height: '700px' })")
        visit.sharp()
        # The same few pictures, many times.
        visit.run("""viewer.setImages(Array.from({ length: 12 }, (_, index) =>
            `/api/images/${encodeURIComponent(argument[index % argument.length])}`), 0)""", ORDER)
        for _ in range(10):
            fingers = visit.touches()
            fingers.down((320, 420))
            for x in (270, 200, 120, 60):
                fingers.send("touchMove", [(x, 420)])
            fingers.up()
            visit.page.wait_for_timeout(50)
        visit.until("return viewer.index === 10 && viewer.isFullyLoaded", "ten pages")

    def test_a_picture_that_comes_while_a_finger_drags_does_not_stop_it(self):
        visit = self.open(ORDER[0])
        fingers = visit.touches()
        fingers.down((320, 420))
        fingers.move((260, 420))
        visit.until(f"return {TRACK} === -60")
        visit.run("viewer.open(viewer.images[1])")
        visit.sharp()
        fingers.move((230, 420))
        visit.until(f"return {TRACK} === -90", "the page follows")
        fingers.move((60, 420))
        fingers.up()
        visit.until("return viewer.index === 1 && viewer.isFullyLoaded")

    def test_a_window_that_changes_while_a_page_is_dragged_does_not_stop_it(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((320, 420))
        fingers.move((260, 420))
        visit.until(f"return {TRACK} === -60")
        visit.page.set_viewport_size({"width": 440, "height": 800})
        visit.until("return viewer.viewport.width === 440")
        fingers.move((250, 420))
        visit.until(f"return {TRACK} === -70", "the page follows")
        place = "return viewer.shadowRoot.querySelectorAll('.preview')[0].style.translate"
        self.assertEqual(visit.run(place), f"{440 + 32}px", "the next one lies beside it")
        fingers.move((80, 420))
        fingers.up()
        visit.until(f"return viewer.index === {AT + 1} && viewer.isFullyLoaded")

    def test_a_window_that_changes_while_a_picture_is_dragged_does_not_stop_it(self):
        visit = self.open(view=middle(390, 844, 8))
        fingers = visit.touches()
        start = visit.view()["x"]
        fingers.down((200, 420))
        fingers.move((180, 420))
        visit.until(f"return Math.abs(viewer.viewport.x - {start + 20}) < 0.01", "the finger is heard")
        visit.page.set_viewport_size({"width": 440, "height": 800})
        visit.until("return viewer.viewport.width === 440")
        before = visit.view()["x"]
        fingers.move((140, 420))
        visit.until(f"return Math.abs(viewer.viewport.x - {before + 40}) < 0.01", "the picture follows")
        fingers.up()

    def test_a_wheel_that_turns_while_a_mouse_drags_turns_no_page(self):
        visit = self.open(width=1280, height=800, ratio=1, touch=False)
        mouse = visit.page.mouse
        mouse.move(900, 400)
        mouse.down()
        mouse.move(890, 400)
        mouse.wheel(0, -240)
        visit.until("return viewer.viewport.scale > 0.3", "it zooms")
        mouse.move(300, 400)
        mouse.up()
        visit.sharp()
        visit.until(f"return {TRACK} === 0", "the page springs back")
        self.assertEqual(visit.run("return viewer.index"), AT)

    def gallery(self):
        visit = self.visit(**PHONE, reduced_motion="reduce").open(wait=False)
        visit.until(READY, "the gallery, and what shows pictures")
        visit.page.locator("#grid a").nth(1).click()
        visit.sharp()
        visit.until("return viewer.images.length > 1")
        return visit

    def pinch(self, visit, start, end):
        fingers = visit.touches()
        fingers.down((195 - start / 2, 420), (195 + start / 2, 420))
        for step in range(1, 9):
            gap = (start + (end - start) * step / 8) / 2
            fingers.move((195 - gap, 420), (195 + gap, 420))
        return fingers

    def test_over_the_gallery_two_fingers_put_the_picture_away(self):
        visit = self.gallery()
        smaller = self.pinch(visit, 300, 100)
        visit.until("return viewer.viewport.scale < viewer.clientWidth / viewer.source.pyramid.imageSize.width * 0.95")
        self.assertNotEqual(visit.run("return location.pathname"), "/", "not before they lift")
        smaller.up()
        visit.until(GONE)

    def test_little_smaller_or_zoomed_in_at_first_it_stays(self):
        visit = self.gallery()
        visit.run("globalThis.causes = []; viewer.addEventListener('close', ({ detail }) => causes.push(detail.cause))")
        self.pinch(visit, 300, 240).up()
        visit.sharp()
        self.pinch(visit, 100, 300).up()
        visit.sharp()
        # From there well below the fitted scale.
        self.pinch(visit, 340, 30).up()
        visit.sharp()
        self.assertEqual(visit.run("return causes"), [])
        self.pinch(visit, 300, 100).up()
        visit.until(GONE)

    def test_a_document_of_its_own_reports_but_stays(self):
        visit = self.open()
        visit.run("globalThis.causes = []; viewer.addEventListener('close', ({ detail }) => causes.push(detail.cause))")
        self.pinch(visit, 300, 100).up()
        visit.until("return causes.length")
        visit.sharp()
        self.assertEqual(visit.run("return [causes.join(), viewer.index]"), ["pinch", AT])
        self.assertAlmostEqual(visit.view()["scale"], 390 / 5120)


if __name__ == "__main__":
    unittest.main()
