"""Momentum, rubber, double-tap-and-drag, taps, long press, and the limits that all of them keep."""

import math
import unittest

from browser import HEIGHT, WIDTH, PageTest
from test_zoom_at_point import LESS_THAN_A_PIXEL, middle

PHONE = {"width": 390, "height": 844, "ratio": 3, "touch": True}


class Gestures(PageTest):
    def assertWithinLimits(self, visit):
        errors = visit.modules().run("""
            const { Camera } = await import('/sources/viewer/camera.js')
            const view = viewer.viewport
            const { minimum, maximum } = new Camera(viewer.source.pyramid.imageSize, view).limitsOf(view)
            const rest = view.clamped(viewer.source.pyramid.imageSize)
            return [view.scale < minimum * 0.999999 || view.scale > maximum * 1.000001 ? `scale ${view.scale}` : '',
              Math.hypot(rest.x - view.x, rest.y - view.y) > 0.01 ? `offset ${view.x}, ${view.y}` : ''].filter(Boolean)""")
        self.assertEqual(errors, [])

    def rest(self, visit):
        visit.page.wait_for_timeout(150)
        visit.sharp()

    def swipe(self, visit, start, end, steps=8):
        fingers = visit.touches(pace=0.016)
        fingers.down(start)
        for step in range(1, steps + 1):
            fingers.move(tuple(a + (b - a) * step / steps for a, b in zip(start, end)))
        return fingers

    def test_a_throw_goes_on_by_itself_and_slows_down(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 12))
        before = visit.view()
        visit.run("""globalThis.path = []
            viewer.addEventListener('viewport', () => globalThis.path.push([performance.now(), viewer.viewport.x]))""")
        self.swipe(visit, (300, 400), (180, 400)).up()
        self.rest(visit)
        path = visit.run("return globalThis.path")
        released = before["x"] + 120
        self.assertGreater(visit.view()["x"], released + 20, "no momentum")
        # Coasting, not a leap: seen on the way, ever slower. However few frames a busy machine draws.
        coasting = [place for place in path if place[1] > released + 1]
        self.assertGreaterEqual(len(coasting), 3)
        speeds = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(coasting, coasting[1:]) if b[0] > a[0]]
        self.assertGreater(speeds[0], speeds[-1])
        self.assertWithinLimits(visit)

    def test_a_finger_that_rests_before_it_lifts_throws_nothing(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 12))
        fingers = self.swipe(visit, (300, 400), (180, 400))
        fingers.clock += 0.2
        visit.page.wait_for_timeout(200)
        held = visit.view()
        fingers.up()
        self.rest(visit)
        self.assertAlmostEqual(visit.view()["x"], held["x"], delta=0.01)

    def test_past_an_edge_the_picture_gives_way_like_rubber_and_springs_back(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 8))
        top = visit.run("return viewer.viewport.permittedOffsets(viewer.source.pyramid.imageSize).y.low")
        visit.look(middle(390, 844, 8).rsplit("&y=", 1)[0] + "&y=0")
        stretches = []
        fingers = visit.touches()
        fingers.down((195, 200))
        for y in range(220, 620, 20):
            fingers.move((195, y))
            visit.page.wait_for_timeout(20)
            stretches.append(top - visit.view()["y"])
        self.assertGreater(stretches[-1], 80, "it does not give way")
        self.assertLess(stretches[-1], 400 * 0.7, "it follows as if there were no edge")
        steps = [b - a for a, b in zip(stretches, stretches[1:])]
        self.assertLess(steps[-1], steps[0], "it gives way less and less")
        fingers.up()
        self.rest(visit)
        self.assertAlmostEqual(visit.view()["y"], top, delta=0.01)
        self.assertWithinLimits(visit)

    def test_past_a_scale_limit_a_pinch_gives_way_and_springs_back(self):
        for start, end in ((40, 160), (160, 40)):
            visit = self.visit(**PHONE).photo(view="" if start > end else middle(390, 844, 15))
            limits = visit.modules().run("""const { defaultLimits } = await import('/sources/geometry/fit.js')
                return defaultLimits(viewer.source.pyramid.imageSize, viewer.viewport)""")
            fingers = visit.touches()
            fingers.down((195 - start, 400), (195 + start, 400))
            for step in range(1, 13):
                gap = start + (end - start) * step / 12
                fingers.move((195 - gap, 400), (195 + gap, 400))
            visit.page.wait_for_timeout(60)
            scale = visit.view()["scale"]
            self.assertTrue(scale > limits["maximum"] if end > start else scale < limits["minimum"])
            fingers.up()
            self.rest(visit)
            limit = limits["maximum" if end > start else "minimum"]
            self.assertAlmostEqual(visit.view()["scale"] / limit, 1, places=6)
            self.assertWithinLimits(visit)

    def test_smaller_than_the_window_the_picture_is_centred_while_it_is_pinched(self):
        visit = self.visit(**PHONE).photo()
        fingers = visit.touches()
        fingers.down((60, 300), (330, 300))
        for step in range(1, 10):
            fingers.move((60 + 10 * step, 300 - 8 * step), (330 - 10 * step, 300 - 8 * step))
            visit.page.wait_for_timeout(20)
            view = visit.view()
            self.assertAlmostEqual(view["x"], (WIDTH * view["scale"] - 390) / 2, delta=0.01)
            self.assertAlmostEqual(view["y"], (HEIGHT * view["scale"] - 844) / 2, delta=0.01)
        fingers.up()
        self.rest(visit)
        self.assertWithinLimits(visit)

    def test_a_third_finger_moves_nothing_by_coming_and_going(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 12))
        fingers = visit.touches()
        fingers.down((120, 400), (270, 400))
        fingers.move((110, 400), (280, 400))
        visit.page.wait_for_timeout(60)
        before = visit.view()
        fingers.send("touchStart", [(110, 400), (280, 400), (200, 600)])
        fingers.move((110, 400), (280, 400), (200, 600))
        visit.page.wait_for_timeout(60)
        for name, value in visit.view().items():
            self.assertAlmostEqual(value, before[name], delta=0.01, msg=name)
        fingers.send("touchEnd", [(110, 400), (280, 400)])
        visit.page.wait_for_timeout(60)
        for name, value in visit.view().items():
            self.assertAlmostEqual(value, before[name], delta=0.01, msg=name)
        fingers.up()
        self.rest(visit)
        self.swipe(visit, (300, 400), (250, 400)).up()
        self.rest(visit)
        self.assertGreater(visit.view()["x"], before["x"] + 20, "one finger drags as ever")
        self.assertWithinLimits(visit)

    def test_a_second_tap_drawn_down_zooms_in_at_the_tap(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 6))
        point = visit.image_point(150, 500)
        before = visit.view()["scale"]
        fingers = visit.touches(pace=0.02)
        fingers.second_down(150, 500)
        for step in range(1, 12):
            fingers.move((150, 500 + 10 * step))
        visit.until(f"return Math.abs(viewer.viewport.scale / {before} - 2) < 0.01", "twice as large")
        seen = visit.viewport_point(point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (150, 500)), LESS_THAN_A_PIXEL)
        fingers.up()
        self.rest(visit)
        self.assertAlmostEqual(visit.view()["scale"] / before, 2, delta=0.01)
        self.assertFalse(visit.run("return viewer.getAttribute('ui') === 'hidden'"))

    def test_one_tap_hides_the_chrome_only_once_no_second_can_come(self):
        visit = self.visit(**PHONE).photo()
        visit.run("""globalThis.told = []
            viewer.addEventListener('ui-toggle', () => globalThis.told.push(performance.now() - globalThis.lifted))
            viewer.shadowRoot.addEventListener('pointerup', (event) => { globalThis.lifted = event.timeStamp }, true)""")
        visit.touches().tap(200, 300)
        reported = visit.until("return told.length && told", "the chrome hidden")
        self.assertGreater(reported[0], 299, "timers keep time to a millisecond")
        self.assertTrue(visit.run("return viewer.getAttribute('ui') === 'hidden'"))

    def test_two_fingers_turn_the_picture_where_that_is_asked_for(self):
        visit = self.visit(**PHONE).photo(view=middle(390, 844, 8))
        visit.run("viewer.setAttribute('two-finger-rotation', ''); return viewer.open(viewer.src)")
        visit.sharp()
        visit.look(middle(390, 844, 8))
        point = visit.image_point(195, 400)
        fingers = visit.touches()
        fingers.down((125, 400), (265, 400))
        for step in range(1, 16):
            angle = math.radians(3 * step)
            dx, dy = 70 * math.cos(angle), 70 * math.sin(angle)
            fingers.move((195 - dx, 400 - dy), (195 + dx, 400 + dy))
        visit.page.wait_for_timeout(50)
        self.assertAlmostEqual(visit.run("return viewer.viewport.rotation.degrees"), 45, delta=0.5)
        seen = visit.viewport_point(point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (195, 400)), LESS_THAN_A_PIXEL)
        fingers.up()

    def test_a_long_press_opens_the_menu(self):
        visit = self.visit(**PHONE).photo()
        fingers = visit.touches()
        fingers.down((200, 400))
        visit.page.wait_for_timeout(700)
        fingers.up()
        items = visit.run("return [...viewer.shadowRoot.querySelectorAll('.menu button')].map((b) => b.textContent)")
        for name in ("Save this view", "Copy link", "Cite this view", "Details"):
            self.assertIn(name, items)
        self.assertFalse(visit.run("return viewer.getAttribute('ui') === 'hidden'"))


if __name__ == "__main__":
    unittest.main()
