"""Accessibility: no violation that axe finds, keyboard alone, right to left, light and dark."""

import re
import unittest

from accessibility import AXE_OWN, axe_violations
from browser import PHOTO, ROOT, SOURCES, PageTest


class Everyone(PageTest):
    def assertNoViolation(self, visit):
        self.assertEqual(axe_violations(visit), [])

    def test_axe_finds_nothing_on_the_gallery(self):
        for scheme in ("dark", "light"):
            visit = self.visit(allowed_errors=AXE_OWN, color_scheme=scheme).open(wait=False)
            visit.until("return document.querySelectorAll('.there').length >= 3")
            visit.page.wait_for_timeout(500)
            self.assertNoViolation(visit)

    def test_axe_finds_nothing_on_the_viewer_its_menu_and_dialogs(self):
        for scheme in ("dark", "light"):
            visit = self.visit(allowed_errors=AXE_OWN, color_scheme=scheme).photo(view="scale=0.8&x=900&y=700")
            visit.until("return viewer.images.length > 1")
            self.assertNoViolation(visit)
            visit.page.get_by_role("button", name="More").click()
            self.assertNoViolation(visit)
            visit.page.get_by_role("menuitem", name="Details").click()
            visit.page.wait_for_timeout(200)
            self.assertNoViolation(visit)

    def test_a_screen_reader_gets_the_name_and_the_position(self):
        visit = self.visit().photo()
        visit.run("viewer.zoomTo(1)")
        visit.page.wait_for_timeout(400)
        visit.sharp()
        spoken = visit.run("return viewer.shadowRoot.querySelector('.spoken').textContent")
        self.assertEqual(spoken, "Zoom 100 percent, 50 percent from the left, 50 percent from the top")
        self.assertEqual(visit.page.get_by_role("region", name="SafeLanding").count(), 1)

    def test_turning_a_page_speaks_its_title_and_which_image_of_how_many_it_is(self):
        visit = self.visit().photo()
        visit.until("return viewer.images.length > 1")
        at = sorted(SOURCES).index(PHOTO)
        for key, index in (("PageUp", at - 1), ("PageDown", at), ("PageUp", at - 1)):
            visit.page.keyboard.press(key)
            expected = f"{sorted(SOURCES)[index].split('/')[-1]}, image {index + 1} of {len(SOURCES)}"
            visit.until(f"return viewer.shadowRoot.querySelector('.spoken').textContent === {expected!r}", f"spoken: {expected}")
            visit.sharp()
            visit.page.wait_for_timeout(400)
            spoken = visit.run("const line = viewer.shadowRoot.querySelector('.spoken'); return [line.textContent, line.role]")
            self.assertEqual(spoken, [expected, "status"], "said over")

    def test_in_a_part_of_a_long_album_the_whole_is_counted(self):
        visit = self.visit().photo()
        visit.until("return viewer.images.length > 1")
        visit.run("viewer.setImages(viewer.images, viewer.index, { offset: 4000, total: 12345 })")
        visit.page.keyboard.press("PageUp")
        at = sorted(SOURCES).index(PHOTO)
        visit.until(f"return viewer.shadowRoot.querySelector('.spoken').textContent.endsWith(', image {4000 + at:,} of 12,345')")

    def test_tab_reaches_every_control_and_the_focus_is_seen(self):
        visit = self.visit().photo()
        visit.until("return viewer.images.length > 1")
        names = []
        for _ in range(12):
            visit.page.keyboard.press("Tab")
            names.append(visit.run("""
                let element = document.activeElement
                while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
                const style = getComputedStyle(element)
                const after = getComputedStyle(element, '::after')
                const ring = style.outlineStyle !== 'none' || after.borderTopWidth === '2px'
                return [element.getAttribute('aria-label') ?? element.localName, ring]"""))
        reached = [name for name, _ in names]
        for name in ("SafeLanding", "Zoom out", "Zoom in", "Rotate clockwise", "Full screen", "More", "All images",
                     "Go to image number"):
            self.assertIn(name, reached)
        self.assertEqual([name for name, ring in names if not ring and name != "body"], [])

    def test_right_to_left_the_pages_are_mirrored(self):
        visit = self.visit().open(wait=False)
        visit.until("return document.querySelectorAll('.there').length >= 3")
        visit.run("document.documentElement.dir = 'rtl'; document.getElementById('grid').style.width = '900px'")
        visit.page.wait_for_timeout(300)
        first, second = visit.run("""return [0, 1].map((index) =>
            document.querySelector(`#grid [data-index="${index}"]`).getBoundingClientRect().right)""")
        self.assertGreater(first, second)
        visit.page.locator("#grid a").first.focus()
        visit.page.keyboard.press("ArrowLeft")
        self.assertEqual(visit.run("return document.activeElement.dataset.index"), "1")

    def test_from_a_phone_to_a_wall_nothing_sticks_out(self):
        for width, height, ratio in ((320, 568, 2), (390, 844, 3), (844, 390, 3), (1280, 800, 1), (3840, 2160, 1)):
            with self.subTest(window=(width, height)):
                visit = self.visit(width=width, height=height, ratio=ratio).photo(view="scale=0.5&x=900&y=700")
                visit.until("return viewer.images.length > 1")
                sticking = visit.run("""return [...viewer.shadowRoot.querySelectorAll('button, .navigator, .scale'),
                    ...document.querySelectorAll('#bar *')].filter((element) => {
                      const box = element.getBoundingClientRect()
                      return box.width > 0 && (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight)
                    }).map((element) => element.className || element.id)""")
                self.assertEqual(sticking, [])
                visit.open(wait=False)
                visit.until("return document.querySelectorAll('.there').length >= 1")
                self.assertLessEqual(visit.run("return document.documentElement.scrollWidth"), width)

    def test_no_page_has_inline_script_or_style(self):
        for path in (ROOT / "public").rglob("*.html"):
            # Examples are text.
            text = re.sub(r"<code>.*?</code>", "", path.read_text(), flags=re.DOTALL)
            self.assertNotIn("<script>", text)
            self.assertNotIn("<style", text)
            self.assertNotIn(" style=", text)


if __name__ == "__main__":
    unittest.main()
