"""Zooming by wheel, fingers and double click at a point: the image point under it stays there."""

import itertools
import json
import math
import unittest

from browser import HEIGHT, PHOTO, WIDTH, PageTest
from cases import alternating

# Windows and device pixel ratios; points as parts of the window.
SCREENS = [(1280, 800, 1), (1000, 700, 1.5), (390, 844, 3), (1600, 900, 2)]
POINTS = [(0.5, 0.5), (0.31, 0.42), (0.07, 0.93), (0.88, 0.12)]
LESS_THAN_A_PIXEL = 1.0


def middle(width, height, factor=8):
    """A view around the image's middle at `factor` times fit, no edge near."""
    scale = min(width / WIDTH, height / HEIGHT) * factor
    return f"scale={scale}&x={WIDTH * scale / 2 - width / 2}&y={HEIGHT * scale / 2 - height / 2}"


class ZoomAtPoint(PageTest):
    def assertStayed(self, visit, x, y, at_least=1):
        """The watched image point was at (x, y) at every frame drawn, not only at the last."""
        track = visit.track()
        self.assertGreaterEqual(len(track), at_least, "the picture did not move")
        farthest = max(math.dist(seen, (x, y)) for seen in track)
        self.assertLess(farthest, LESS_THAN_A_PIXEL, f"moved {farthest:.2f} px of {len(track)} frames")

    def test_wheel_zoom_keeps_the_image_point_under_the_pointer(self):
        for number, (width, height, ratio) in enumerate(SCREENS):
            visit = self.visit(width=width, height=height, ratio=ratio).photo()
            # Over the screens each point meets each wheel.
            wheels = [(-120, 4), (120, 3), (-33, 9)] * 2
            for right, down, (delta, steps) in alternating(wheels[number % 3:][:3], among=POINTS):
                with self.subTest(window=(width, height, ratio), point=(right, down), delta=delta):
                    visit.look(middle(width, height))
                    x, y = round(width * right), round(height * down)
                    before = visit.view()["scale"]
                    visit.watch(visit.image_point(x, y))
                    visit.page.mouse.move(x, y)
                    for _ in range(steps):
                        visit.page.mouse.wheel(0, delta)
                        visit.page.wait_for_timeout(20)
                    visit.sharp()
                    after = visit.view()["scale"]
                    self.assertEqual(after > before, delta < 0)
                    self.assertStayed(visit, x, y, at_least=3)

    def test_wheel_zoom_from_fit_ends_with_the_image_point_under_the_pointer(self):
        visit = self.visit().photo()
        # Points that one turn of the wheel brings clear of the edges, where the picture is centred first.
        for x, y in ((400, 300), (640, 400), (900, 640), (60, 150)):
            with self.subTest(point=(x, y)):
                visit.look()
                point = visit.image_point(x, y)
                visit.page.mouse.move(x, y)
                for _ in range(4):
                    visit.page.mouse.wheel(0, -200)
                    visit.page.wait_for_timeout(30)
                visit.sharp()
                seen = visit.viewport_point(point)
                self.assertLess(math.dist((seen["x"], seen["y"]), (x, y)), LESS_THAN_A_PIXEL)

    def test_pinch_keeps_the_image_point_between_the_fingers(self):
        for width, height, ratio in SCREENS:
            visit = self.visit(width=width, height=height, ratio=ratio, touch=True).photo()
            for right, down, (start, end) in alternating(((40, 75), (110, 70)), among=[(0.5, 0.5), (0.35, 0.4), (0.6, 0.7)]):
                with self.subTest(window=(width, height, ratio), point=(right, down), fingers=(start, end)):
                    visit.look(middle(width, height))
                    x, y = round(width * right), round(height * down)
                    before = visit.view()["scale"]
                    visit.watch_between(visit.image_point(x, y))
                    fingers = visit.touches()
                    fingers.down((x - start, y), (x + start, y))
                    for step in range(1, 13):
                        gap = start + (end - start) * step / 12
                        fingers.move((x - gap, y + step), (x + gap, y - step))
                    fingers.up()
                    visit.sharp()
                    wanted = math.hypot(end, 12) / start
                    self.assertAlmostEqual(visit.view()["scale"] / before / wanted, 1, places=2)
                    self.assertStayed(visit, 0, 0, at_least=3)

    def test_pinch_follows_fingers_that_move_along(self):
        visit = self.visit(width=390, height=844, ratio=3, touch=True)
        visit.photo(view=middle(390, 844))
        point = visit.image_point(200, 400)
        fingers = visit.touches()
        fingers.down((150, 400), (250, 400))
        for step in range(1, 11):
            fingers.move((150 + 4 * step, 400 - 5 * step), (250 + 4 * step, 400 - 5 * step))
        # The last move is drawn when the machine comes to it.
        visit.until("const { x, y } = viewer.viewport.viewportPoint(" + json.dumps(point) + ")"
                    "; return Math.hypot(x - 240, y - 350) < 1", "the point is under the fingers")
        fingers.up()

    def test_turned_and_mirrored_the_point_stays_as_well(self):
        """Photographs lying and standing, at any angle: wheel, pinch and double click."""
        for image, (across, down), ratio in ((PHOTO, (WIDTH, HEIGHT), 1), ("AltaiTall", (1080, 1920), 2.75)):
            visit = self.visit(width=1000, height=700, ratio=ratio, touch=True).photo(image)
            # At the last one the fingers pass the largest scale: it springs back about their middle.
            turns = ("rotation=90", "rotation=203", "rotation=290&flip=true")
            moves = (self.turn_the_wheel, self.spread_two_fingers, self.click_twice)
            for turn, move, (x, y) in alternating(((500, 350), (420, 270)), among=list(itertools.product(turns, moves))):
                scale = 8 * min(1000 / across, 700 / down)
                view = f"scale={scale}&x={across * scale / 2 - 500}&y={down * scale / 2 - 350}&{turn}"
                with self.subTest(image=image, ratio=ratio, turn=turn, point=(x, y), move=move.__name__):
                    visit.look()
                    visit.look(view)
                    point, before = visit.image_point(x, y), visit.view()["scale"]
                    move(visit, x, y)
                    visit.sharp()
                    self.assertNotAlmostEqual(visit.view()["scale"] / before, 1, places=2)
                    if move == self.click_twice and visit.view()["scale"] < before:
                        continue  # Back to fit, where the picture is centred.
                    seen = visit.viewport_point(point)
                    self.assertLess(math.dist((seen["x"], seen["y"]), (x, y)), LESS_THAN_A_PIXEL)

    def turn_the_wheel(self, visit, x, y):
        visit.page.mouse.move(x, y)
        for _ in range(3):
            visit.page.mouse.wheel(0, -80)
        visit.page.wait_for_timeout(100)

    def spread_two_fingers(self, visit, x, y):
        fingers = visit.touches()
        fingers.down((x - 60, y), (x + 60, y))
        for gap in range(62, 90, 4):
            fingers.move((x - gap, y), (x + gap, y))
        fingers.up()

    def click_twice(self, visit, x, y):
        visit.page.mouse.dblclick(x, y)
        visit.page.wait_for_timeout(400)

    def test_double_click_zooms_at_the_point_and_again_goes_back_to_fit(self):
        visit = self.visit().photo()
        for x, y in ((640, 400), (500, 350), (820, 470)):
            with self.subTest(point=(x, y)):
                visit.look()
                fit = visit.view()
                point = visit.image_point(x, y)
                visit.page.mouse.dblclick(x, y)
                visit.until(f"return viewer.viewport.scale > {fit['scale']}")
                visit.sharp()
                self.assertGreater(visit.view()["scale"], fit["scale"] * 2)
                seen = visit.viewport_point(point)
                self.assertLess(math.dist((seen["x"], seen["y"]), (x, y)), LESS_THAN_A_PIXEL)
                visit.page.mouse.dblclick(x, y)
                visit.page.wait_for_timeout(400)
                visit.sharp()
                self.assertEqual(visit.view(), fit)

    def test_double_tap_zooms_at_the_point(self):
        visit = self.visit(width=390, height=844, ratio=3, touch=True)
        visit.photo()
        fit = visit.view()
        x, y = 195, 422
        point = visit.image_point(x, y)
        fingers = visit.touches(pace=0.02)
        fingers.second_down(x, y)
        fingers.up()
        visit.page.wait_for_timeout(400)
        visit.sharp()
        self.assertGreater(visit.view()["scale"], fit["scale"] * 2)
        seen = visit.viewport_point(point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (x, y)), LESS_THAN_A_PIXEL)

    def test_drag_moves_the_image_with_the_pointer_and_clamps_on_release(self):
        visit = self.visit()
        visit.photo(view=middle(1280, 800))
        point = visit.image_point(600, 400)
        mouse = visit.page.mouse
        mouse.move(600, 400)
        mouse.down()
        for step in range(1, 9):
            mouse.move(600 + 20 * step, 400 - 10 * step)
        visit.page.wait_for_timeout(120)
        seen = visit.viewport_point(point)
        self.assertLess(math.dist((seen["x"], seen["y"]), (760, 320)), LESS_THAN_A_PIXEL)
        mouse.up()
        visit.sharp()
        # Alone, since with a neighbour a drag past the left edge turns the page.
        visit.run("viewer.setImages([viewer.images[viewer.index]])")
        for way, (x, y) in (((-1, -1), (0, 0)), ((1, 1), (WIDTH, HEIGHT))):
            for _ in range(12):
                mouse.move(640 + 500 * way[0], 400 + 380 * way[1])
                mouse.down()
                mouse.move(640, 400, steps=3)
                mouse.move(640 - 500 * way[0], 400 - 380 * way[1], steps=3)
                mouse.up()
            visit.page.wait_for_timeout(1500)
            visit.sharp()
            view = visit.view()
            self.assertAlmostEqual(view["x"], max(0, x * view["scale"] - 1280), places=3)
            self.assertAlmostEqual(view["y"], max(0, y * view["scale"] - 800), places=3)


if __name__ == "__main__":
    unittest.main()
