"""The pages as they are written, file by file: for who develops them, or copies the folder anywhere."""

import itertools
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from browser import SOURCE_PAGES, PageTest, served, source


class SourcePages(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-source-pages-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "photos").mkdir()
        for name in ("leaf", "other"):
            shutil.copy(source("FallenLeaf"), folder / f"photos/{name}.jpg")
        cls.host = served(folder / "photos", pages=SOURCE_PAGES)

    def test_a_page_names_every_file_it_starts_with_so_that_none_waits_for_another(self):
        for page, ready in (("view/leaf", "return viewer?.isFullyLoaded"), ("", "return document.querySelector('.there')")):
            visit = self.visit(host=self.host).open(page, wait=False)
            visit.until(ready)
            named = visit.run("return [...document.querySelectorAll('head [href], head [src]')].map((link) => link.href || link.src)")
            # What shows pictures is loaded ahead of them, once the gallery is there.
            first = itertools.takewhile(lambda url: not url.endswith("/page/lightbox.js"), visit.requests)
            needed = {url for url in first if url.endswith((".js", ".css"))}
            needed -= {url for url in needed if "/editing/" in url}  # Loaded for those who may write.
            needed = {url for url in needed if not re.search("/crop/|/measure/|/menus/(?!lazy-menus)|/viewer/dialog|/paging/filmstrip|/i18n/(menus|editing|spaces)|/drawing/snapshot", url)}  # Once that is done.
            self.assertEqual(needed, {url for url in named if url.endswith((".js", ".css"))})
            self.assertEqual(len(named), len(set(named)))

    def test_from_the_gallery_to_the_picture_its_menu_and_its_crop_all_is_there(self):
        visit = self.visit(host=self.host).open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2 && document.querySelector('.view.waiting')")
        visit.page.locator("#grid a").first.click()
        visit.until("return viewer.isFullyLoaded && viewer.images.length === 2 && !document.querySelector('.growing')")
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.index === 1 && viewer.isFullyLoaded")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Crop and rotate").click()
        visit.page.get_by_role("button", name="Bottom right").wait_for()
        visit.page.keyboard.press("Escape")
        visit.until("return !viewer.hasAttribute('cropping')")

    def test_a_strict_content_security_policy_is_kept(self):
        visit = self.visit(host=self.host)
        policy = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'"

        def strict(route):
            answer = route.fetch()
            route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": policy})
        visit.page.route("**/view/**", strict)
        visit.photo("leaf")
        visit.page.route(self.host, strict)
        visit.page.goto(self.host)
        visit.until("return document.querySelectorAll('.there').length === 2")

    def test_an_element_keeps_its_children_in_place(self):
        visit = self.visit(host=self.host)
        visit.page.route("**/elsewhere", lambda route: route.fulfill(content_type="text/html", body="""<!doctype html><title>A page</title>
            <script type="module" src="/viewer/elements.js"></script><link rel="icon" href="data:,">
            <ziggurat-viewer src="/api/images/leaf" style="height: 400px"><b data-x="100" data-y="100">A pin</b></ziggurat-viewer>"""))
        visit.open("elsewhere")
        visit.until("return document.querySelector('b').checkVisibility() && document.querySelector('b').style.transform")


if __name__ == "__main__":
    unittest.main()
