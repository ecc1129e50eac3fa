"""The controls around the picture: targets, contrast, how they return, and messages when something is missing."""

import io
import unittest

import numpy
from accessibility import AXE_OWN, axe_violations
from browser import PHOTO, PageTest
from PIL import Image

PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}


def luminance(colour):
    """Relative, of sRGB (WCAG 2.2)."""
    parts = [value / 255 for value in colour[:3]]
    parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Around(PageTest):
    def test_a_second_tap_on_the_button_closes_its_menu_and_hits_no_item(self):
        for width, height in ((412, 800), (320, 420), (667, 320), (1200, 800)):
            with self.subTest(width=width, height=height):
                visit = self.visit(width=width, height=height).photo()
                visit.run("viewer.actions = [{ name: 'Delete', run: () => { viewer.dataset.deleted = 'yes' } }]")
                box = visit.page.get_by_role("button", name="More").bounding_box()
                middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                visit.page.mouse.click(*middle)
                visit.page.get_by_role("menu").wait_for()
                visit.page.mouse.click(*middle)
                visit.until("return !viewer.shadowRoot.querySelector('.menu')")
                self.assertIsNone(visit.run("return viewer.dataset.deleted ?? null"))

    def test_every_target_is_large_enough_for_a_finger(self):
        for width, height in ((390, 844), (1280, 800)):
            visit = self.visit(width=width, height=height).photo()
            visit.until("return viewer.images.length > 1 && !document.getElementById('counter').hidden")
            visit.page.get_by_role("button", name="More").click()
            visit.page.get_by_role("menu").wait_for()
            small = visit.run("""const all = [...viewer.shadowRoot.querySelectorAll('button'), ...document.querySelectorAll('#back, #counter')]
                return all.filter((each) => each.checkVisibility()).map((each) => [each.title || each.textContent, each.offsetWidth, each.offsetHeight])
                  .filter(([, width, height]) => width < 44 || height < 44)""")
            self.assertEqual(small, [])
            bar = visit.page.get_by_role("toolbar").bounding_box()
            self.assertTrue(bar["x"] >= 0 and bar["x"] + bar["width"] <= width, bar)

    def test_in_a_low_window_the_menu_scrolls(self):
        visit = self.visit(width=667, height=320).photo()
        visit.page.get_by_role("button", name="More").click()
        menu = visit.page.get_by_role("menu")
        menu.wait_for()
        box = menu.bounding_box()
        self.assertTrue(box["y"] >= 0 and box["y"] + box["height"] <= 320, box)
        scale = visit.view()["scale"]
        visit.page.mouse.move(box["x"] + 40, box["y"] + 100)
        visit.page.mouse.wheel(0, 900)
        visit.until("const menu = viewer.shadowRoot.querySelector('.menu'); return menu.scrollTop > 0 && "
                    "menu.lastElementChild.getBoundingClientRect().bottom <= 320", "the last line in view")
        self.assertEqual(visit.view()["scale"], scale, "the picture does not zoom below")

    def test_text_is_legible_on_black_and_on_white_in_both_schemes(self):
        for scheme in ("dark", "light"):
            for ground in ("#000", "#fff"):
                with self.subTest(scheme=scheme, ground=ground):
                    visit = self.visit(color_scheme=scheme).photo()
                    visit.until("return !document.getElementById('counter').hidden")
                    visit.run("""viewer.shadowRoot.querySelector('.picture').style.cssText = `filter: brightness(0) ${argument === '#fff' ? 'invert(1)' : ''}`
                        viewer.style.setProperty('--ziggurat-ground', argument)""", ground)
                    for name in ("#title", "#facts", ".ruler"):
                        colour, box = visit.run("""const element = document.querySelector(argument) ?? viewer.shadowRoot.querySelector(argument)
                            if (argument === '.ruler') Object.assign(element, { hidden: false, textContent: '10 mm' }).style.width = '100px'
                            const colour = getComputedStyle(element).color.match(/[\\d.]+/g).map(Number)
                            const box = element.getBoundingClientRect()
                            element.style.color = 'transparent'
                            element.style.textShadow = 'none'
                            return [colour, { x: box.x + 6, y: box.y + 1, width: Math.min(box.width, 90) - 12, height: box.height - 5 }]""", name)
                        pixels = numpy.asarray(Image.open(io.BytesIO(visit.page.screenshot(clip=box))).convert("RGB"))
                        worst = min(contrast(colour, pixel) for pixel in numpy.unique(pixels.reshape(-1, 3), axis=0).tolist())
                        self.assertGreaterEqual(worst, 4.5, name)

    def test_a_mouse_that_hid_the_chrome_brings_it_back_by_moving_on(self):
        visit = self.visit().photo()
        quiet = "return viewer.getAttribute('ui') === 'hidden'"
        visit.page.mouse.click(600, 300)
        visit.until(quiet)
        visit.page.mouse.move(606, 303)
        visit.page.wait_for_timeout(100)
        self.assertTrue(visit.run(quiet), "a hand that is not quite still brings nothing back")
        visit.page.mouse.move(660, 330, steps=4)
        visit.until("return viewer.getAttribute('ui') !== 'hidden'")

    def test_full_screen_keeps_title_and_counter(self):
        visit = self.visit().photo()
        visit.until("return !document.getElementById('counter').hidden")
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement")
        for name in ("title", "counter", "back"):
            self.assertTrue(visit.run(f"const box = document.getElementById('{name}').getBoundingClientRect()\n"
                                      "return document.fullscreenElement.contains(document.getElementById(argument)) && box.width > 0", name))

    def test_a_tap_may_leave(self):
        visit = self.visit(**PHONE).photo()
        visit.run("viewer.setAttribute('tap', 'close'); globalThis.left = 0; viewer.addEventListener('close', (event) => { left += 1; event.stopImmediatePropagation() }, true)")
        visit.touches().tap(200, 400)
        visit.until("return left === 1")
        self.assertFalse(visit.run("return viewer.getAttribute('ui') === 'hidden'"))

    def test_a_finger_that_throws_the_whole_picture_down_puts_it_away(self):
        for view, away in (("", 1), ("scale=1&x=1500&y=900", 0)):
            visit = self.visit(**PHONE).photo(view=view)
            visit.run("globalThis.left = 0; viewer.addEventListener('close', (event) => { left += 1; event.stopImmediatePropagation() }, true)")
            # By the fingers' own clock: a throw that a busy machine saw late would be a slow one.
            fingers = visit.touches(pace=0.016)
            fingers.down((200, 300))
            for y in range(320, 620, 40):
                fingers.move((204, y))
            fingers.up()
            if away:
                visit.until("return left", "the picture put away")
            visit.page.wait_for_timeout(400)
            self.assertEqual(visit.run("return left"), away)

    def test_a_picture_out_of_reach_opens_by_itself_or_by_the_button_when_the_server_is_back(self):
        for by in ("itself", "button"):
            visit = self.visit(allowed_errors=["503"])
            is_away = True
            visit.page.route("**/api/images/landscapes**", lambda route: route.fulfill(status=503) if is_away else route.continue_())
            visit.photo(wait=False)
            visit.until("return viewer?.shadowRoot.querySelector('.notice').textContent === 'The image could not be loaded.'")
            again = visit.page.get_by_role("button", name="Try again")
            again.wait_for()
            is_away = False
            if by == "button":
                again.click()
            visit.sharp()
            self.assertFalse(again.is_visible())
            self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.notice').textContent"), "")

    def test_where_there_is_no_picture_nothing_looks_as_if_it_did_something(self):
        visit = self.visit(allowed_errors=["404", *AXE_OWN])
        visit.photo("nobody", wait=False)
        visit.until("return viewer?.shadowRoot.querySelector('.notice').textContent === 'This image does not exist. It may have been moved or deleted.'")
        self.assertEqual(visit.run("return [...viewer.shadowRoot.querySelectorAll('button')].filter((each) => each.checkVisibility()).length"), 0)
        self.assertEqual(axe_violations(visit), [])
        way_on = visit.page.get_by_role("link", name="All images", exact=True)
        self.assertGreater(way_on.bounding_box()["width"], 100, "it says in words where it leads")
        way_on.click()
        visit.until("return document.getElementById('grid')")

    def test_delayed_parts_load_by_themselves_and_missing_ones_are_reported(self):
        visit = self.visit(allowed_errors=["503"]).photo()
        is_away = True
        visit.page.route("**/*_files/**", lambda route: route.fulfill(status=503) if is_away else route.continue_())
        visit.run("viewer.zoomTo(1)")
        reported = "const p = viewer.shadowRoot.querySelector('.notice'); return p.hidden ? '' : p.textContent"
        visit.until("return viewer.isComplete && viewer.missingTiles")
        count = visit.run("return viewer.missingTiles")
        self.assertTrue(visit.run(reported).startswith(f"{count} parts"), visit.run(reported))
        # Of another view others are missing.
        visit.run("viewer.panTo({ x: 500, y: 500 })")
        visit.until("return viewer.isComplete && viewer.missingTiles")
        self.assertTrue(visit.run(reported).startswith(f"{visit.run('return viewer.missingTiles')} parts"))
        is_away = False
        visit.sharp()
        self.assertEqual(visit.run(reported), "")

    def test_printed_it_is_the_picture_alone(self):
        visit = self.visit().photo()
        visit.until("return viewer.images.length > 1")
        visit.page.emulate_media(media="print")
        shown = visit.run("""return [...document.querySelectorAll('#bar'), ...viewer.shadowRoot.querySelectorAll('.controls, .turner, .navigator')]
            .filter((each) => each.checkVisibility()).length""")
        self.assertEqual(shown, 0)
        self.assertEqual(visit.run("return getComputedStyle(viewer.shadowRoot.querySelector('.picture')).objectFit"), "contain")

    def test_the_original_size_is_one_pixel_of_the_screen_and_keeps_what_is_looked_at(self):
        visit = self.visit(ratio=2).photo(PHOTO, "scale=0.35&x=200&y=150")
        before = visit.run("return viewer.viewport.imageCenter")
        visit.page.keyboard.press("1")
        visit.page.wait_for_timeout(400)
        visit.sharp()
        self.assertEqual(visit.view()["scale"], 0.5)
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.scale').textContent"), "100%")
        after = visit.run("return viewer.viewport.imageCenter")
        self.assertAlmostEqual(after["x"], before["x"], delta=1)
        self.assertAlmostEqual(after["y"], before["y"], delta=1)


if __name__ == "__main__":
    unittest.main()
