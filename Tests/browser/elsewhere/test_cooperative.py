"""A viewer in a page that scrolls: `gesture-handling="cooperative"` leaves the wheel and one finger to the page, and says what zooms."""

import unittest

from embedding import EmbeddingTest

BODY = """<style>body { margin: 0 } ziggurat-viewer { width: 390px; height: 500px }</style>
<ziggurat-viewer gesture-handling="cooperative" src="/api/images/landscapes%2FSafeLanding"></ziggurat-viewer><div style="height: 3000px"></div>"""
NOTICE = "return viewer.shadowRoot.querySelector('.notice:not([hidden])')?.textContent ?? ''"


class Cooperative(EmbeddingTest):
    def open(self, **options):
        visit = self.page(BODY, sized=False, **{"width": 390, "height": 800, **options})
        visit.sharp()
        return visit

    def test_a_wheel_scrolls_the_page_and_a_hint_says_what_zooms(self):
        visit = self.open()
        before = visit.view()
        visit.page.mouse.move(195, 300)
        visit.page.mouse.wheel(0, 120)
        visit.until("return scrollY > 100", "the page scrolls")
        self.assertEqual(visit.view(), before)
        self.assertRegex(visit.run(NOTICE), r"^Hold (Ctrl|⌘) and scroll to zoom\.$")
        visit.until("return viewer.shadowRoot.querySelector('.notice').hidden", "a short hint")

    def test_with_control_the_wheel_zooms_and_the_page_stays(self):
        visit = self.open()
        before = visit.view()["scale"]
        visit.page.mouse.move(195, 300)
        visit.page.keyboard.down("Control")
        visit.page.mouse.wheel(0, -120)
        visit.page.keyboard.up("Control")
        visit.until(f"return viewer.viewport.scale > {before * 1.15}", "it zooms")
        self.assertEqual(visit.run("return scrollY"), 0)
        self.assertEqual(visit.run(NOTICE), "")

    def test_one_finger_scrolls_the_page_and_two_zoom(self):
        visit = self.open(touch=True)
        before = visit.view()
        fingers = visit.touches()
        fingers.down((195, 450))
        for y in range(440, 240, -20):
            fingers.move((195, y))
        visit.until("return scrollY > 100", "the page scrolls")
        visit.run("globalThis.rests = false; addEventListener('scrollend', () => { rests = true })")
        fingers.up()
        visit.until("return rests", "the page at rest")
        self.assertEqual(visit.view(), before)
        self.assertEqual(visit.until(NOTICE, "a hint"), "Use two fingers to move and zoom the image.")
        visit.run("scrollTo(0, 0)")
        fingers.down((150, 250), (240, 250))
        for step in range(1, 9):
            # Both move along: the page would scroll by that.
            fingers.move((150 - 8 * step, 250 + 10 * step), (240 + 8 * step, 250 + 10 * step))
        visit.until(f"return viewer.viewport.scale > {before['scale'] * 1.5}", "it zooms")
        fingers.up()
        self.assertEqual(visit.run("return scrollY"), 0)

    def test_a_finger_that_goes_aside_moves_the_picture(self):
        visit = self.open(touch=True)
        visit.run("viewer.zoomTo(0.5)")
        visit.sharp()
        before = visit.view()["x"]
        fingers = visit.touches()
        fingers.down((300, 250))
        for x in range(290, 190, -10):
            fingers.move((x, 250))
        visit.until(f"return viewer.viewport.x > {before + 60}")
        fingers.up()

    def test_the_attribute_counts_whenever_it_is_set_and_not_where_nothing_scrolls(self):
        visit = self.open()
        before = visit.view()["scale"]
        visit.run("viewer.removeAttribute('gesture-handling')")
        visit.page.mouse.move(195, 300)
        visit.page.mouse.wheel(0, -120)
        visit.until(f"return viewer.viewport.scale > {before * 1.15}", "it zooms")
        visit.sharp()
        visit.run("viewer.setAttribute('gesture-handling', 'cooperative')")
        visit.page.mouse.wheel(0, 120)
        visit.until("return scrollY > 100")
        visit.run("scrollTo(0, 0)")
        visit.page.keyboard.press("Tab")
        visit.run("viewer.focus()")
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement === viewer")
        visit.sharp()
        before = visit.view()["scale"]
        visit.page.mouse.wheel(0, -120)
        visit.until(f"return viewer.viewport.scale > {before * 1.15}", "in full screen it zooms")


if __name__ == "__main__":
    unittest.main()
