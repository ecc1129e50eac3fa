"""Back in the gallery: the keyboard's place is the picture that was open, as in a list a browser leaves and comes back to."""

import re
import unittest

from browser import SOURCES, Error, PageTest, base_url, playwright

FOCUS = "const link = document.activeElement; return [link.dataset.index, link.matches(':focus-visible')]"
THERE = f"return document.querySelectorAll('#grid a').length === {len(SOURCES)}"


class WayBack(PageTest):
    def gallery(self):
        visit = self.visit().open(wait=False)
        visit.until(THERE, "the gallery")
        return visit

    def back(self, visit, index):
        visit.page.go_back()
        visit.until(f"return document.activeElement.dataset.index === '{index}'", f"the focus on picture {index}")

    def test_the_focus_is_on_the_picture_that_was_opened(self):
        visit = self.gallery()
        visit.page.locator("#grid a").first.focus()
        visit.page.keyboard.press("ArrowRight")
        visit.page.keyboard.press("Enter")
        visit.sharp()
        self.back(visit, 1)
        self.assertEqual(visit.run(FOCUS), ["1", True], "seen, since keys led there")
        visit.page.keyboard.press("ArrowRight")
        self.assertEqual(visit.run(FOCUS), ["2", True], "keys go on from there")

    def test_the_focus_is_on_the_picture_that_was_paged_to(self):
        visit = self.gallery()
        visit.page.locator("#grid a").nth(1).focus()
        visit.page.keyboard.press("Enter")
        visit.until("return viewer?.isFullyLoaded && viewer.images.length > 1")
        for index in (2, 3):
            visit.page.keyboard.press("PageDown")
            visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded && document.getElementById('number').value === '{index + 1}'")
        self.back(visit, 3)

    def test_the_page_is_left_the_way_it_was_come_to(self):
        for leave in ("key", "arrow"):
            with self.subTest(leave):
                visit = self.gallery()
                visit.page.locator("#grid a").nth(1).focus()
                visit.page.keyboard.press("Enter")
                visit.until("return viewer?.isFullyLoaded && viewer.images.length > 1")
                visit.page.keyboard.press("PageDown")
                visit.until("return viewer.index === 2 && viewer.isFullyLoaded && document.getElementById('number').value === '3'")
                if leave == "key":
                    visit.page.keyboard.press("Escape")
                else:
                    visit.page.get_by_role("link", name="All images").click()
                visit.until("return location.pathname === '/' && document.activeElement.dataset.index === '2'")
                self.assertEqual(visit.run("return navigation.currentEntry.index"), 0, "the same gallery, not another one")

    def test_a_page_come_to_by_its_link_is_left_for_the_gallery(self):
        visit = self.visit().photo()
        visit.page.keyboard.press("Escape")
        visit.until("return location.pathname === '/'")
        visit.until(THERE, "the gallery")

    def test_a_pointer_leaves_no_ring_and_a_reload_moves_no_focus(self):
        visit = self.gallery()
        visit.page.locator("#grid a").nth(2).click()
        visit.sharp()
        self.back(visit, 2)
        self.assertEqual(visit.run(FOCUS), ["2", False])
        visit.page.reload()
        visit.until(THERE, "the gallery")
        visit.until("return document.querySelectorAll('.there').length > 2")
        self.assertEqual(visit.run("return document.activeElement.localName"), "body")

    def test_so_it_is_where_the_browser_kept_the_page(self):
        # The whole browser: what has no window keeps no page.
        browser = playwright().chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"],
                                               ignore_default_args=["--disable-back-forward-cache"])
        self.addCleanup(browser.close)
        page = browser.new_page()
        # Without what opens pictures over the gallery, their pages are loaded.
        page.route(re.compile(r"lightbox(-[A-Z0-9]{8})?\.js"), lambda route: route.abort())

        def until(script):
            for _ in range(800):
                try:
                    if page.evaluate(f"() => {{ const viewer = document.querySelector('ziggurat-viewer'); {script} }}"):
                        return
                except Error:
                    pass  # A page is just giving way to the next.
                page.wait_for_timeout(25)
            self.fail(f"never: {script}")
        page.goto(base_url())
        until(THERE)
        page.evaluate("addEventListener('pageshow', ({ persisted }) => { globalThis.wasKept = persisted })")
        page.locator("#grid a").nth(1).focus()
        page.keyboard.press("Enter")
        until("return viewer?.isFullyLoaded && viewer.images.length > 1")
        page.keyboard.press("PageDown")
        until("return viewer.index === 2 && viewer.isFullyLoaded && document.getElementById('number').value === '3'")
        page.go_back(wait_until="commit")
        until("return document.activeElement.dataset.index === '2'")
        self.assertTrue(page.evaluate("globalThis.wasKept"), "the browser kept the page")


if __name__ == "__main__":
    unittest.main()
