"""What other people's pages lay over the picture: it stays at its place of the image, and hides nothing from the fingers."""

import math
import unittest

from embedding import PICTURE, EmbeddingTest
from harness import seed

PINS = f"""<style>ziggurat-viewer > * {{ background: #f00; }} .pin {{ width: 30px; height: 30px; translate: -15px -15px; }}</style>
<ziggurat-viewer src="{PICTURE}"><button class="pin" data-x="2000" data-y="1500">A pin</button>
<div class="region" data-x="1000" data-y="700" data-width="800" data-height="500"></div><p id="words">Words without a place</p>
</ziggurat-viewer>"""
CORNER = """const box = document.querySelector(argument).getBoundingClientRect(), own = viewer.getBoundingClientRect()
    return [box.left - own.left, box.top - own.top, box.width, box.height]"""


class OverlaysTest(EmbeddingTest):
    def pins(self, **options):
        visit = self.page(PINS, **options)
        visit.sharp()
        return visit

    def assertInPlace(self, visit, message=""):
        left, top, width, height = visit.run(CORNER, ".pin")
        pin = visit.run("return viewer.imageToElement({ x: 2000, y: 1500 })")
        self.assertLess(math.dist((left + width / 2, top + height / 2), (pin["x"], pin["y"])), 0.5, message)
        self.assertAlmostEqual(width, 30, delta=0.01, msg="a pin has its own size")
        self.assertAlmostEqual(height, 30, delta=0.01)
        corners = visit.run("""return [[1000, 700], [1800, 700], [1800, 1200], [1000, 1200]].map(([x, y]) => viewer.imageToElement({ x, y }))""")
        left, top, width, height = visit.run(CORNER, ".region")
        xs, ys = [each["x"] for each in corners], [each["y"] for each in corners]
        for ours, theirs in zip((left, top, left + width, top + height), (min(xs), min(ys), max(xs), max(ys))):
            self.assertAlmostEqual(ours, theirs, delta=0.5, msg=message)

    def test_they_stay_at_their_place_of_the_image(self):
        chance = seed("overlays")
        visit = self.pins()
        self.assertInPlace(visit)
        for _ in range(20):
            move = {"scale": chance.uniform(0.2, 1), "x": chance.uniform(0, 900), "y": chance.uniform(0, 600),
                    "turn": chance.choice([0, 90, 33]), "flip": chance.random() < 0.3}
            visit.run("""viewer.viewport = { scale: argument.scale, x: argument.x, y: argument.y }
                viewer.rotate(argument.turn)
                if (argument.flip) viewer.flip()
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))""", move)
            self.assertInPlace(visit, f"{move}")
        self.assertFalse(visit.page.locator("#words").is_visible())

    def test_they_come_go_and_change_their_places(self):
        visit = self.pins()
        visit.run("""viewer.insertAdjacentHTML('beforeend', '<i id="late" data-x="0" data-y="0" style="width: 4px; height: 4px">')""")
        visit.until("return document.getElementById('late').style.transform")
        visit.run("document.getElementById('late').dataset.x = '1500'")
        visit.until("""const box = document.getElementById('late').getBoundingClientRect()
            const own = viewer.getBoundingClientRect()
            return Math.abs(box.left - own.left - viewer.imageToElement({ x: 1500, y: 0 }).x) < 0.5""")
        visit.run("viewer.removeAttribute('src')")
        self.assertFalse(visit.page.locator(".pin").is_visible(), "without a picture there is no place in it")

    def test_points_go_both_ways(self):
        visit = self.pins()
        there = visit.run("return viewer.elementToImage(viewer.imageToElement({ x: 123, y: 456 }))")
        self.assertLess(math.dist((there["x"], there["y"]), (123, 456)), 1e-6)

    def test_the_wheel_and_a_drag_pass_through_and_a_click_does_not(self):
        visit = self.pins()
        visit.run("""globalThis.clicks = 0; document.querySelector('.pin').onclick = () => { globalThis.clicks += 1 }
            viewer.viewport = { scale: 0.5, x: 700, y: 500 }""")
        visit.sharp()

        def middle():
            box = visit.page.locator(".pin").bounding_box()
            return box["x"] + 15, box["y"] + 15
        x, y = middle()
        visit.page.mouse.move(x, y)
        visit.page.mouse.wheel(0, -240)
        visit.until("return viewer.viewport.scale > 0.55", "the wheel zooms over a pin")
        visit.sharp()
        self.assertLess(math.dist(middle(), (x, y)), 1.5, "about the pin")
        before = visit.view()
        visit.page.mouse.down()
        visit.page.mouse.move(x - 60, y - 40, steps=5)
        visit.page.wait_for_timeout(100)
        visit.page.mouse.up()
        visit.sharp()
        self.assertGreater(visit.view()["x"], before["x"] + 40, "a drag that begins on a pin moves the picture")
        self.assertEqual(visit.run("return globalThis.clicks"), 0)
        visit.page.mouse.click(*middle())
        visit.until("return globalThis.clicks === 1", "a click is the pin's")
        visit.run("document.querySelector('.pin').focus()")
        visit.page.keyboard.press("Enter")
        self.assertEqual(visit.run("return globalThis.clicks"), 2)

    def test_two_fingers_on_overlays_zoom(self):
        visit = self.pins(touch=True)
        visit.run("viewer.viewport = { scale: 0.3, x: 150, y: 100 }")
        visit.sharp()
        left, top, width, height = visit.run(CORNER, ".region")
        box = visit.page.locator("ziggurat-viewer").bounding_box()
        x, y = box["x"] + left + width / 2, box["y"] + top + height / 2
        fingers = visit.touches()
        fingers.down((x - 20, y), (x + 20, y))
        for step in range(1, 8):
            fingers.move((x - 20 - 6 * step, y), (x + 20 + 6 * step, y))
        fingers.up()
        visit.sharp()
        self.assertGreater(visit.view()["scale"], 0.6)


if __name__ == "__main__":
    unittest.main()
