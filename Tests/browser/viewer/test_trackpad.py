"""Two fingers on a trackpad: they pan where the picture goes on, turn pages where it does not, and pinch; a wheel zooms."""

import unittest

from browser import PHOTO, SOURCES, PageTest
from test_zoom_at_point import LESS_THAN_A_PIXEL, middle

ORDER = sorted(SOURCES)
AT = ORDER.index(PHOTO)
# CSS pixels of successive events: a push, and what coasts when the fingers have lifted.
THROW = [2, 6, 15, 31, 48, 44, 37, 31, 26, 22, 18, 15, 12, 10, 8, 6, 5, 4, 3, 2, 2, 1, 1, 1]
TRACK = "return viewer.shadowRoot.querySelector('.track').style.translate"


class Trackpad(PageTest):
    def open(self, image=PHOTO, view="", **options):
        visit = self.visit(**options).photo(image, view)
        visit.until("return viewer.images.length > 1 && viewer.shadowRoot.querySelectorAll('.preview').length")
        visit.page.mouse.move(640, 400)
        return visit

    def scroll(self, visit, *moves, gap=16, **keys):
        """Events as Chromium on a Mac makes them of a trackpad, by a clock of their own, however busy the machine is; answers
        with how far the page is drawn along by then."""
        return visit.run("""
            const box = viewer.getBoundingClientRect()
            for (const [deltaX, deltaY] of argument.moves) {
              globalThis.clock = (globalThis.clock ?? 1000) + argument.gap
              const event = new WheelEvent('wheel', { deltaX, deltaY, clientX: box.x + 640, clientY: box.y + 400,
                bubbles: true, cancelable: true, composed: true, ...argument.keys })
              Object.defineProperty(event, 'timeStamp', { value: globalThis.clock })
              Object.defineProperty(event, 'wheelDeltaX', { value: -3 * deltaX })
              Object.defineProperty(event, 'wheelDeltaY', { value: -3 * deltaY })
              viewer.shadowRoot.querySelector('.surface').dispatchEvent(event)
              await new Promise(requestAnimationFrame)
            }
            return viewer.shadowRoot.querySelector('.track').style.translate""", {"moves": moves, "gap": gap, "keys": keys})

    def pause(self, visit):
        """The fingers rest, by their clock."""
        visit.run("globalThis.clock += 500")

    def throw(self, visit, x, y=0):
        self.scroll(visit, *((step * x, step * y) for step in THROW))

    def assertShows(self, visit, index):
        visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded && !viewer.shadowRoot.querySelector('.track').getAnimations().length",
                    f"image {index}")

    def test_zoomed_in_two_fingers_pan_pixel_for_pixel(self):
        visit = self.open(view=middle(1280, 800, 6))
        before = visit.view()
        self.scroll(visit, (0, 3), (7, 12), (20, -5), (11, 0))
        after = visit.view()
        self.assertEqual(after["scale"], before["scale"])
        self.assertAlmostEqual(after["x"] - before["x"], 38, delta=0.01)
        self.assertAlmostEqual(after["y"] - before["y"], 10, delta=0.01)
        self.assertEqual(visit.run("return viewer.index"), AT)

    def test_a_turned_picture_goes_where_the_fingers_go(self):
        visit = self.open(view=middle(1280, 800, 6) + "&rotation=90")
        point = visit.image_point(640, 400)
        self.scroll(visit, (3, 0), (30, 0), (27, 0))
        seen = visit.viewport_point(point)
        self.assertLess(abs(seen["x"] - 580) + abs(seen["y"] - 400), LESS_THAN_A_PIXEL)

    def test_at_fit_a_throw_turns_one_page_either_way_and_up_and_down_none(self):
        visit = self.open()
        fitted = visit.view()
        self.throw(visit, 0, 1)
        self.assertEqual(visit.view(), fitted)
        self.assertEqual(visit.run("return viewer.index"), AT)
        self.pause(visit)
        self.throw(visit, 1)
        self.assertShows(visit, AT + 1)
        # It coasts on while the next picture is there already.
        self.scroll(visit, *[(2, 0)] * 8, (1, 0), (1, 0))
        self.assertShows(visit, AT + 1)
        self.pause(visit)
        self.throw(visit, -1)
        self.assertShows(visit, AT)

    def test_throws_one_after_the_other_turn_a_page_each(self):
        visit = self.open(ORDER[0])
        for _ in range(3):
            self.scroll(visit, *((step, 0) for step in THROW[:14]))
            self.scroll(visit, (1, 0), gap=60)
        self.assertShows(visit, 3)

    def test_fingers_draw_the_page_along_and_it_springs_back_when_they_lift(self):
        visit = self.open()
        self.assertEqual(self.scroll(visit, (4, 0), (16, 0), (30, 0)), "-50px")
        visit.until(TRACK + " === ''", "it springs back")
        self.assertEqual(visit.run("return viewer.index"), AT)

    def test_the_last_page_gives_way_and_springs_back(self):
        visit = self.open(ORDER[-1])
        self.throw(visit, 1)
        visit.until(TRACK + " === ''", "it springs back")
        self.assertEqual(visit.run("return viewer.index"), len(ORDER) - 1)

    def test_a_throw_to_the_edge_stops_there_and_the_next_one_turns_the_page(self):
        visit = self.open(view=middle(1280, 800, 6))
        right = visit.run("return viewer.viewport.permittedOffsets(viewer.source.pyramid.imageSize).x.high")
        visit.look(middle(1280, 800, 6).replace("&x=", f"&x={right - 100}&was="))
        self.throw(visit, 1)
        self.assertAlmostEqual(visit.view()["x"], right, delta=0.01)
        self.assertEqual(visit.run("return [viewer.index, viewer.shadowRoot.querySelector('.track').style.translate]"), [AT, ""])
        self.pause(visit)
        self.throw(visit, 1)
        self.assertShows(visit, AT + 1)

    def test_while_it_is_cut_no_page_turns(self):
        visit = self.open()
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Crop and rotate").click()
        visit.until("return viewer.hasAttribute('cropping')")
        self.throw(visit, 1)
        self.assertEqual(visit.run("return viewer.index"), AT)

    def test_a_pinch_zooms_at_the_pointer_with_the_fingers(self):
        visit = self.open(view=middle(1280, 800, 4))
        point, before = visit.image_point(640, 400), visit.view()["scale"]
        self.scroll(visit, *[(0, -5)] * 10, ctrlKey=True)
        # At once: no glide of its own follows.
        self.assertAlmostEqual(visit.view()["scale"] / before, 2.718281828 ** 0.5, delta=0.001)
        seen = visit.viewport_point(point)
        self.assertLess(abs(seen["x"] - 640) + abs(seen["y"] - 400), LESS_THAN_A_PIXEL)

    def test_a_pinch_that_safari_reports_as_a_gesture_zooms(self):
        visit = self.open(view=middle(1280, 800, 4))
        point, before = visit.image_point(640, 400), visit.view()["scale"]
        visit.run("""for (const [type, scale] of [['gesturestart', 1], ['gesturechange', 1.2], ['gesturechange', 1.5], ['gestureend', 1.5]]) {
              const event = Object.assign(new Event(type, { bubbles: true, cancelable: true, composed: true }), { scale, clientX: 640, clientY: 400 })
              viewer.shadowRoot.querySelector('.surface').dispatchEvent(event)
              if (!event.defaultPrevented && type !== 'gestureend') throw new Error(`${type} zooms the page`)
            }
            await new Promise(requestAnimationFrame)""")
        self.assertAlmostEqual(visit.view()["scale"] / before, 1.5, delta=0.001)
        seen = visit.viewport_point(point)
        self.assertLess(abs(seen["x"] - 640) + abs(seen["y"] - 400), LESS_THAN_A_PIXEL)

    def test_a_wheel_of_the_browsers_own_zooms(self):
        visit = self.open()
        before = visit.view()["scale"]
        visit.page.mouse.wheel(0, -120)
        visit.until(f"return viewer.viewport.scale > {before * 1.2}")

    def test_reduced_motion_turns_at_once(self):
        visit = self.open(reduced_motion="reduce")
        self.scroll(visit, *((step, 0) for step in THROW[:6]))
        self.assertShows(visit, AT + 1)


if __name__ == "__main__":
    unittest.main()
