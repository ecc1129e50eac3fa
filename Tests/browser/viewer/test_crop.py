"""Crop and turn: the frame, its handles and its limits."""

import unittest

from browser import HEIGHT, WIDTH
from cropping import CropTest


class Crop(CropTest):
    def test_each_handle_moves_its_edges_and_no_other(self):
        visit = self.open()
        edges = {"Top left": (0, 1), "Top": (1,), "Top right": (1, 2), "Right": (2,), "Bottom right": (2, 3),
                 "Bottom": (3,), "Bottom left": (0, 3), "Left": (0,)}
        for name, moved in edges.items():
            with self.subTest(name):
                before = self.frame(visit)
                self.drag(visit, name, 14, 10).up()
                after = self.frame(visit)
                for edge in range(4):
                    self.assertAlmostEqual(after[edge] - before[edge], (14, 10)[edge % 2] if edge in moved else 0, delta=0.6)

    def test_the_middle_moves_the_frame_as_a_whole_inside_the_image(self):
        visit = self.open()
        (_, _, width, height), *_ = self.address(visit)
        self.drag(visit, "Move the frame", -900, -900).up()
        self.assertEqual(self.address(visit)[0], (0, 0, width, height))
        self.drag(visit, "Move the frame", 2000, 2000).up()
        self.assertEqual(self.address(visit)[0], (WIDTH - width, HEIGHT - height, width, height))

    def test_it_is_held_inside_the_image_and_above_its_least_size(self):
        visit = self.open()
        self.drag(visit, "Bottom right", 3000, 3000).up()
        x, y, width, height = self.address(visit)[0]
        self.assertEqual((x + width, y + height), (WIDTH, HEIGHT))
        self.drag(visit, "Bottom right", -3000, -3000).up()
        left, top, right, bottom = self.frame(visit)
        self.assertAlmostEqual(right - left, 48, delta=1)
        self.assertAlmostEqual(bottom - top, 48, delta=1)

    def test_a_locked_ratio_is_kept(self):
        visit = self.open()
        visit.page.get_by_label("Aspect ratio").select_option("3 : 2")
        for name, dx, dy in (("Bottom right", -120, 10), ("Left", 50, 0), ("Top", 0, 40), ("Top right", 300, -300)):
            self.drag(visit, name, dx, dy).up()
            left, top, right, bottom = self.frame(visit)
            self.assertAlmostEqual((right - left) / (bottom - top), 1.5, delta=0.01)

    def test_outside_it_is_dim_except_while_a_handle_moves(self):
        visit = self.open()
        shade = "return getComputedStyle(viewer.shadowRoot.querySelector('.frame')).boxShadow.includes('9999px')"
        visit.until(shade, "dim")
        mouse = self.drag(visit, "Top left", 30, 30)
        visit.until(shade.replace("return ", "return !"), "clear")
        mouse.up()
        visit.until(shade, "dim again")

    def test_the_picture_pans_and_zooms_beneath_the_frame(self):
        visit = self.open()
        frame, region = self.frame(visit), self.address(visit)[0]
        visit.page.mouse.move(400, 300)
        visit.page.mouse.wheel(0, -240)
        visit.page.wait_for_timeout(600)
        visit.sharp()
        for before, after in zip(frame, self.frame(visit)):
            self.assertAlmostEqual(before, after, delta=0.6)
        smaller = self.address(visit)[0]
        self.assertLess(smaller[2], region[2])
        view = visit.view()
        left = visit.run("return viewer.shadowRoot.querySelector('.surface').getBoundingClientRect().left")
        self.assertAlmostEqual(smaller[0], (view["x"] + frame[0] - left) / view["scale"], delta=2)
        self.assertAlmostEqual(smaller[2], (frame[2] - frame[0]) / view["scale"], delta=2)

    def test_a_picture_pulled_too_far_and_let_go_leaves_the_frame_where_it_was(self):
        visit = self.open()
        self.drag(visit, "Move the frame", 2000, 0).up()
        before = self.address(visit), self.frame(visit)
        visit.page.mouse.move(40, 400)
        visit.page.mouse.down()
        visit.page.mouse.move(-400, 380, steps=6)
        visit.page.wait_for_timeout(50)
        self.assertLess(self.frame(visit)[2], before[1][2] - 50, "held inside the picture")
        visit.page.mouse.up()
        visit.page.wait_for_timeout(900)
        self.assertEqual((self.address(visit), self.frame(visit)), before)

    def test_quarter_turns_keep_the_part_and_turn_the_result(self):
        visit = self.open()
        region = self.address(visit)[0]
        for name, rotation in (("Rotate right", "90"), ("Rotate right", "180"), ("Rotate left", "90"), ("Rotate left", "0")):
            visit.page.get_by_role("button", name=name).click()
            visit.page.wait_for_timeout(150)
            self.assertEqual(self.address(visit)[:2], (region, rotation))

    def test_at_first_it_is_the_whole_picture_and_so_it_is_after_a_reset(self):
        for view in ("", "scale=2&x=4000&y=2000&rotation=90", "scale=0.5&x=100&y=100&rotation=30"):
            with self.subTest(view):
                visit = self.open(view, inside=False)
                region, rotation, _ = self.address(visit)
                self.assertEqual((region, rotation), ((0, 0, WIDTH, HEIGHT), "90" if "=90" in view else "0"))
                first = self.frame(visit)
                grips = visit.run("return [...viewer.shadowRoot.querySelectorAll('.grip')].map((grip) => grip.getBoundingClientRect().toJSON())")
                for grip in grips:
                    self.assertTrue(grip["left"] >= 0 and grip["top"] >= 0 and grip["right"] <= 1280, grip)
                    self.assertGreaterEqual(min(grip["width"], grip["height"]), 44)
                visit.page.get_by_label("Aspect ratio").select_option("1 : 1")
                visit.page.get_by_role("button", name="Rotate left").click()
                self.drag(visit, "Top left", 60, 60).up()
                visit.page.get_by_role("button", name="Reset").click()
                visit.page.wait_for_timeout(100)
                self.assertEqual((*self.address(visit)[:2], self.frame(visit)), (region, rotation, first))
                self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.cropbar select').value"), "Free")

    def test_ratios_go_both_ways_and_the_size_is_shown_as_rotated(self):
        visit = self.open(inside=False)
        size = "return viewer.shadowRoot.querySelector('.size').value"
        for ratio, wanted in (("Original", "5,120 × 2,880"), ("2 : 3", "1,920 × 2,880"), ("9 : 16", "1,620 × 2,880"), ("1 : 1", "1,620 × 1,620")):
            visit.page.get_by_label("Aspect ratio").select_option(ratio)
            self.assertEqual(visit.run(size), wanted)
        visit.page.get_by_role("button", name="Reset").click()
        visit.page.get_by_role("button", name="Rotate right").click()
        visit.page.wait_for_timeout(100)
        self.assertEqual(visit.run(size), "2,880 × 5,120")

    def test_no_handle_gets_behind_the_bar_however_the_picture_is_turned_and_the_window_sized(self):
        for width, height, touch in ((1280, 800, False), (390, 844, True), (844, 390, True), (700, 500, False)):
            with self.subTest(width=width, height=height):
                visit = self.open(width=width, height=height, touch=touch)

                def clear():
                    visit.page.wait_for_timeout(200)
                    bar, grip = visit.run("return ['.cropbar', '.frame .grip:nth-child(5)'].map((name) => "
                                          "viewer.shadowRoot.querySelector(name).getBoundingClientRect().toJSON())")
                    self.assertLess(grip["bottom"], bar["top"] + 2)
                self.drag(visit, "Bottom right", 3000, 3000).up()
                clear()
                for _ in range(2):
                    visit.page.get_by_role("button", name="Rotate right").click()
                    visit.page.wait_for_timeout(100)
                    self.drag(visit, "Bottom right", 3000, 3000).up()
                    clear()
                visit.page.set_viewport_size({"width": 600, "height": 480})
                clear()
                visit.page.get_by_role("button", name="Cancel").click()
                visit.page.wait_for_timeout(200)
                self.assertEqual(visit.view()["height"], 480, "the picture has the window again")

    def test_neither_a_swipe_nor_a_tap_nor_a_key_loses_the_frame(self):
        visit = self.open(width=390, height=844, touch=True)
        visit.until("return viewer.images.length > 1")
        self.drag(visit, "Right", -150, 0).up()
        before = self.address(visit), visit.run("return viewer.index")
        fingers = visit.touches()
        fingers.down((350, 300))
        for x in range(330, 40, -30):
            fingers.move((x, 300))
        fingers.up()
        visit.page.wait_for_timeout(600)
        fingers.tap(350, 300)
        visit.page.wait_for_timeout(500)
        self.assertEqual(visit.run("return viewer.getAttribute('ui') === 'hidden'"), False)
        visit.page.keyboard.press("PageDown")
        fingers.down((350, 300))
        visit.page.wait_for_timeout(700)
        fingers.up()
        visit.page.wait_for_timeout(400)
        self.assertEqual((self.address(visit), visit.run("return viewer.index")), before)
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelectorAll('.menu').length"), 0)
        visit.run("viewer.focus()")
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_timeout(300)
        self.assertEqual(visit.run("return [location.pathname, viewer.hasAttribute('cropping')]"),
                         ["/view/landscapes%2FSafeLanding", False])
        fingers.down((350, 300))
        for x in range(330, 40, -30):
            fingers.move((x, 300))
        fingers.up()
        visit.until(f"return viewer.index === {before[1] + 1}", "after it a swipe turns the page")


if __name__ == "__main__":
    unittest.main()
