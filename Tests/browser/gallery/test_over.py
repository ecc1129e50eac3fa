"""A picture opened from the gallery, in the gallery's document: as good as a page that is loaded, and there at once."""

import re
import unittest

from accessibility import AXE_OWN, axe_violations
from browser import ROOT, SOURCES, PageTest

READY = f"return document.querySelectorAll('.there').length === {len(SOURCES)} && document.querySelector('.view.waiting')"
SETTLED = "return viewer?.isFullyLoaded && !document.querySelector('.growing, .preview')"
GONE = "return document.querySelectorAll('.view').length === 1 && document.querySelector('.view.waiting')"


# Answers that do not come.
HELD = """{ const { fetch } = globalThis
  globalThis.fetch = (url, ...rest) => String(url).includes('%s') ? new Promise(() => {}) : fetch(url, ...rest) }"""


class Over(PageTest):
    def hold(self, visit, part):
        visit.run(HELD % part)

    def gallery(self, path="", **options):
        visit = self.visit(**{"height": 1600, **options}).open(path, wait=False)
        visit.until(READY, "the gallery, and what shows pictures")
        visit.run("globalThis.same = true")
        return visit

    def opened(self, visit, index):
        visit.page.locator("#grid a").nth(index).click()
        visit.until(SETTLED, "the picture")
        self.assertTrue(visit.run("return globalThis.same"), "the same document")

    def test_the_thumbnail_grows_where_it_is_and_is_the_first_that_is_seen(self):
        visit = self.gallery()
        # The first frame after the click, before anything has come.
        self.hold(visit, "/viewport.tiles")
        first = visit.run("""
            const link = document.querySelectorAll('#grid a')[1]
            const { x, y, width } = link.firstChild.getBoundingClientRect()
            link.click()
            const page = document.querySelector('.view:not(.waiting) ziggurat-viewer')
            const grown = page.shadowRoot.querySelector('canvas.preview')
            const [moves] = grown.getAnimations()
            moves.pause()
            const at = (time) => {
              moves.currentTime = time
              // Of the whole window the picture fills a part.
              const box = grown.getBoundingClientRect()
              const scale = Math.min(innerWidth / 2560, innerHeight / 1600)
              const part = 2560 * scale / innerWidth
              return [box.x + box.width * (1 - part) / 2, box.width * part]
            }
            const context = grown.getContext('2d').getImageData(0, 0, grown.width, grown.height).data
            const colours = new Set(context)
            return { thumbnail: [x, width], start: at(0), end: at(moves.effect.getTiming().duration), colours: colours.size }""")
        for value, due in zip(first["start"], first["thumbnail"]):
            self.assertAlmostEqual(value, due, delta=1)
        self.assertAlmostEqual(first["end"][1], 1280, delta=1)
        self.assertGreater(first["colours"], 50, "the thumbnail's pixels")

    def test_address_title_heading_and_focus_are_the_pictures_and_then_the_gallerys(self):
        visit = self.gallery(color_scheme="light")
        colour = "return [...document.querySelectorAll('[name=theme-color]')].map((each) => each.content)"
        before = visit.run(colour)
        self.opened(visit, 1)
        reported = """return [location.pathname, document.title, document.querySelector('#title').textContent, document.activeElement.id,
            document.querySelector('body > header').inert, document.getElementById('count').textContent]"""
        self.assertEqual(visit.run(reported), ["/view/ColorfulCups", "ColorfulCups", "ColorfulCups", "viewer", True, "/ 5"])
        self.assertEqual(visit.run(colour), ["#0d0e10", "#e9e8e4"])
        # Playwright counts what is inert until it is not painted either, two frames after the picture.
        visit.until("return document.documentElement.classList.contains('covered')")
        self.assertEqual(visit.page.get_by_role("heading", level=1).all_inner_texts(), ["ColorfulCups"])
        visit.page.keyboard.press("Escape")
        visit.until(GONE)
        self.assertEqual(visit.run("return [location.pathname, document.title, document.activeElement.dataset.index]"), ["/", "Ziggurat", "1"])
        self.assertEqual(visit.run(colour), before)
        self.assertTrue(visit.run("return globalThis.same"))

    def test_back_forward_and_reload_show_what_the_address_names(self):
        visit = self.gallery()
        self.opened(visit, 0)
        visit.page.keyboard.press("PageDown")
        visit.until("return location.pathname === '/view/ColorfulCups' && viewer.isFullyLoaded")
        visit.page.go_back()
        visit.until(GONE)
        self.assertEqual(visit.run("return document.activeElement.dataset.index"), "1", "where it was turned to")
        visit.page.go_forward()
        visit.until(SETTLED)
        self.assertEqual(visit.run("return [location.pathname, document.title, viewer.index, viewer.images.length]"),
                         ["/view/ColorfulCups", "ColorfulCups", 1, len(SOURCES)])
        visit.page.reload()
        visit.sharp()
        self.assertEqual(visit.run("return [document.title, document.body.className]"), ["ColorfulCups", "view"], "a document of its own")
        visit.page.keyboard.press("Escape")
        visit.until(READY)
        self.assertEqual(visit.run("return [location.pathname, navigation.currentEntry.index]"), ["/", 0])
        visit.page.reload()
        visit.page.go_forward()
        visit.sharp()
        self.assertEqual(visit.run("return [location.pathname, document.title]"), ["/view/ColorfulCups", "ColorfulCups"])

    def test_the_place_in_a_long_gallery_is_kept(self):
        visit = self.gallery()
        visit.page.set_viewport_size({"width": 420, "height": 400})
        visit.page.wait_for_timeout(100)
        place = visit.run("scrollTo(0, document.documentElement.scrollHeight); return scrollY")
        self.assertGreater(place, 100)
        visit.page.locator("#grid a").last.click()
        visit.until(SETTLED)
        visit.page.mouse.wheel(0, 300)
        visit.page.keyboard.press("ArrowUp")
        visit.page.go_back()
        visit.until(GONE)
        self.assertEqual(visit.run("return scrollY"), place)

    def test_a_search_is_still_there(self):
        visit = self.visit().open("?q=landscapes", wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2 && document.querySelector('.view.waiting')")
        visit.page.locator("#grid a").first.click()
        visit.until(SETTLED)
        self.assertEqual(visit.run("return viewer.images.length"), 2, "the album is what was found")
        visit.page.get_by_role("link", name="All images").click()
        visit.until(GONE)
        self.assertEqual(visit.run("return location.search + document.querySelectorAll('#grid a').length"), "?q=landscapes2")

    def test_the_album_is_known_before_the_picture_is(self):
        visit = self.gallery()
        self.hold(visit, "/viewport.tiles")
        visit.page.locator("#grid a").nth(1).click()
        self.assertEqual(visit.until("return viewer.images.length"), len(SOURCES))
        self.assertFalse(visit.run("return document.getElementById('counter').hidden"))
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.index === 2 && location.pathname === '/view/FallenLeaf'")

    def test_by_its_link_the_album_is_there_while_tiles_are_still_missing(self):
        visit = self.visit(tile_by_tile=True)
        visit.page.add_init_script(HELD % "_files/11/")
        visit.photo(wait=False)
        visit.until(f"return viewer.images.length === {len(SOURCES)}")
        self.assertFalse(visit.run("return viewer.isComplete"))

    def test_in_a_tab_of_its_own_it_is_a_page_of_its_own(self):
        visit = self.gallery()
        for options in ({"modifiers": ["Control"]}, {"button": "middle"}):
            with visit.context.expect_page() as opening:
                visit.page.locator("#grid a").nth(1).click(**options)
            opening.value.wait_for_url("**/view/ColorfulCups*")
            opening.value.close()
        self.assertEqual(visit.run("return location.pathname"), "/")

    def test_a_click_before_the_script_is_there_is_a_link(self):
        visit = self.visit(allowed_errors=["lightbox", "ERR_FAILED"])
        visit.page.route(re.compile(r"lightbox(-[A-Z0-9]{8})?\.js"), lambda route: route.abort())
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length > 3")
        visit.page.locator("#grid a").nth(1).click()
        visit.sharp()
        self.assertEqual(visit.run("return document.body.className"), "view")

    def test_nothing_moves_without_being_asked_and_nothing_at_all_where_motion_is_not_wanted(self):
        visit = self.visit(height=1600, reduced_motion="reduce")
        visit.page.add_init_script("""globalThis.shifts = []
            new PerformanceObserver((list) => globalThis.shifts.push(...list.getEntries().filter((each) => !each.hadRecentInput)
              .map(({ value }) => value))).observe({ type: 'layout-shift', buffered: true })""")
        visit.open(wait=False)
        visit.until(READY)
        visit.run("document.querySelectorAll('#grid a')[1].click()")
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.preview').getAnimations().length"), 0)
        visit.until(SETTLED)
        visit.run("history.back()")
        visit.until(GONE)
        self.assertEqual(visit.run("return globalThis.shifts"), [])

    def test_a_picture_that_is_turned_or_was_never_there_is_closed_as_well(self):
        visit = self.gallery(allowed_errors=["404"])
        self.opened(visit, 2)
        visit.run("viewer.rotate(90)")
        visit.page.keyboard.press("Escape")
        visit.until(GONE)
        visit.page.route("**/api/images/FallenLeaf*", lambda route: route.fulfill(status=404))
        visit.page.route("**/api/images/FallenLeaf/viewport.tiles?*", lambda route: route.fulfill(status=404))
        visit.page.locator("#grid a").nth(2).click()
        visit.until("return !viewer.shadowRoot.querySelector('.notice').hidden")
        visit.page.keyboard.press("Escape")
        visit.until(GONE)

    def test_axe_finds_nothing_on_a_picture_over_the_gallery(self):
        for scheme in ("dark", "light"):
            visit = self.gallery(allowed_errors=AXE_OWN, color_scheme=scheme)
            self.opened(visit, 1)
            visit.page.wait_for_timeout(500)
            self.assertEqual(axe_violations(visit), [])

    def test_what_waits_in_the_gallery_is_the_page_of_its_own(self):
        parts = []
        for name, start in (("view.html", '<body class="view">\n'), ("index.html", '<template id="page">\n')):
            page = (ROOT / "public" / name).read_text()
            parts.append(page[page.index(start) + len(start):].split("</header>")[0])
        self.assertEqual(*parts)


if __name__ == "__main__":
    unittest.main()
