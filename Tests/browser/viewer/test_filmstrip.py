"""The thumbnails of an album: the open one in the middle, as many as are seen, by mouse, finger and keys."""

import unittest

from accessibility import AXE_OWN, axe_violations
from browser import PHOTO, SOURCES
from embedding import VIEWER, EmbeddingTest

ORDER = sorted(SOURCES)
AT = ORDER.index(PHOTO)
STRIP = "const strip = viewer.shadowRoot.querySelector('div.filmstrip'); "
MIDDLE = STRIP + """const own = strip.getBoundingClientRect(), thumb = strip.querySelector('[aria-selected="true"]').getBoundingClientRect()
    return (thumb.x + thumb.width / 2) - (own.x + own.width / 2)"""


class Filmstrip(EmbeddingTest):
    def assertOpen(self, visit, index):
        visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded", f"image {index}")
        visit.until(STRIP + f"return strip.querySelector('[aria-selected=\"true\"]').ariaLabel.startsWith('Image {index + 1:,} of ')")
        visit.until("return Math.abs((() => { " + MIDDLE + " })()) < 1", "the open one in the middle")

    def photos(self, **options):
        visit = self.visit(**options).photo()
        visit.until("return viewer.images.length > 1")
        return visit

    def many(self, count, **options):
        visit = self.page(VIEWER, **options)
        visit.sharp()
        visit.run("""viewer.setImages(Array.from({ length: argument.count }, (_, index) =>
              `/api/images/${encodeURIComponent(argument.order[index % argument.order.length])}#${index}`), 0)
            viewer.setAttribute('filmstrip', '')""", {"count": count, "order": ORDER})
        visit.until(STRIP + "return strip?.querySelectorAll('canvas').length > 5")
        return visit

    def test_a_mouse_has_a_button_for_it_and_a_click_opens(self):
        visit = self.photos(allowed_errors=AXE_OWN)
        visit.page.get_by_role("button", name="Thumbnails").click()
        visit.until(STRIP + f"return strip?.querySelectorAll('canvas').length === {len(ORDER)}", "a thumbnail of each")
        self.assertOpen(visit, AT)
        visit.page.get_by_role("option", name="Image 1 of 5").click()
        self.assertOpen(visit, 0)
        visit.page.keyboard.press("PageDown")
        self.assertOpen(visit, 1)
        self.assertEqual(axe_violations(visit), [])
        # Nothing lies over it.
        boxes = visit.run(STRIP + """return ['.controls', 'div.filmstrip'].map((each) => {
              const { top, bottom } = viewer.shadowRoot.querySelector(each).getBoundingClientRect(); return [top, bottom] })""")
        self.assertLessEqual(boxes[0][1], boxes[1][0])
        visit.page.get_by_role("button", name="Thumbnails").click()
        visit.until("return !viewer.shadowRoot.querySelector('div.filmstrip')")

    def test_a_phone_has_it_in_the_menu(self):
        visit = self.photos(width=390, height=844, touch=True, ratio=2)
        self.assertFalse(visit.page.get_by_role("button", name="Thumbnails").is_visible())
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Thumbnails").click()
        visit.until(STRIP + "return strip?.querySelectorAll('canvas').length > 3")
        visit.touches().tap(200, 300)
        visit.until("return viewer.getAttribute('ui') === 'hidden'")
        visit.until(STRIP + "return getComputedStyle(strip).visibility === 'hidden'", "it goes with the chrome")

    def test_keys_go_through_it_and_the_focus_goes_along(self):
        visit = self.photos()
        visit.page.keyboard.press("t")
        visit.until(STRIP + "return strip?.querySelectorAll('canvas').length")
        visit.run(STRIP + "strip.querySelector('[tabindex=\"0\"]').focus()")
        for key, index in (("ArrowLeft", AT - 1), ("End", len(ORDER) - 1), ("Home", 0), ("ArrowRight", 1)):
            visit.page.keyboard.press(key)
            self.assertOpen(visit, index)
            self.assertEqual(visit.run("return viewer.shadowRoot.activeElement.ariaSelected"), "true")

    def test_of_four_thousand_those_near_the_window_exist(self):
        visit = self.many(4000)
        before = len(visit.requests)
        visit.run("viewer.goTo(2500)")
        self.assertOpen(visit, 2500)
        visit.until(STRIP + "return [...strip.querySelectorAll('.thumb')].every((each) => each.firstChild)", "all that are seen")
        self.assertLess(visit.run(STRIP + "return strip.querySelectorAll('.thumb').length"), 640 / 70 + 12)
        self.assertLess(len(visit.requests) - before, 120, "nothing of what lies between")
        labels = visit.run(STRIP + "return [...strip.querySelectorAll('.thumb')].map((each) => each.ariaLabel)")
        self.assertEqual(labels, sorted(labels), "in their order")

    def test_a_wheel_over_it_leads_along_and_zooms_nothing(self):
        visit = self.many(200)
        box = visit.run(STRIP + "const { x, y } = strip.getBoundingClientRect(); return [x + 300, y + 40]")
        before = visit.view()
        visit.page.mouse.move(*box)
        visit.page.mouse.wheel(0, 700)
        visit.until(STRIP + "return strip.scrollLeft >= 700")
        visit.until(STRIP + "return [...strip.querySelectorAll('.thumb')].some((each) => each.ariaLabel === 'Image 13 of 200' && each.firstChild)")
        self.assertEqual([visit.view(), visit.run("return viewer.index")], [before, 0])

    def test_right_to_left_the_next_one_is_on_the_left(self):
        visit = self.many(9)
        visit.run("viewer.setImages(viewer.images, 2, { viewingDirection: 'right-to-left' })")
        visit.until(STRIP + "return strip.querySelectorAll('.thumb').length === 9")
        left = "return parseFloat(viewer.shadowRoot.querySelector('.thumb[aria-label=\"Image %d of 9\"]').style.left)"
        self.assertLess(visit.run(left % 4), visit.run(left % 3))

    def test_it_stays_from_one_picture_to_the_next(self):
        visit = self.photos()
        visit.page.keyboard.press("t")
        visit.until(STRIP + "return strip")
        visit.photo(ORDER[0])
        visit.until(STRIP + "return strip?.querySelectorAll('canvas').length")


if __name__ == "__main__":
    unittest.main()
