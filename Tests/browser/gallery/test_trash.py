"""What is deleted: the next picture, Ctrl+Z, the trash; and how one comes to be let in."""

import unittest

from accessibility import AXE_OWN, axe_violations
from browser import TOKEN, Visit
from editing import EditingTest

TITLE = "return document.getElementById('title').textContent"


class Trash(EditingTest):
    def opened(self, visit, name):
        visit.until("return document.querySelector('.view.waiting')")
        self.picture(visit, name).click()
        visit.until("return viewer?.isFullyLoaded && viewer.actions.length === 2 && !document.querySelector('.growing')")

    def delete(self, visit):
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Delete").wait_for()  # menus come after the first view
        items = visit.page.get_by_role("menuitem").all_inner_texts()
        self.assertEqual(items[-2:], ["Edit title and caption", "Delete"], "Keys stands elsewhere")
        visit.page.get_by_role("menuitem", name="Delete").click()

    def test_in_the_viewer_it_goes_on_to_the_next_and_ctrl_z_brings_it_back(self):
        visit = self.writer()
        self.opened(visit, "c")
        self.delete(visit)
        visit.until(f"{TITLE} === 'd'")
        visit.until("return viewer.isFullyLoaded && viewer.images.length === 7 && location.pathname === '/view/d'")
        self.assertEqual(self.ids(), ["a", "b", "d", "e", "f", "g"])
        visit.page.keyboard.press("Control+z")
        visit.until(f"{TITLE} === 'c'")
        self.assertEqual(self.ids(), ["a", "b", "c", "d", "e", "f", "g"])
        self.assertEqual(visit.run("return [viewer.images.length, location.pathname, document.getElementById('number').value]"),
                         [8, "/view/c", "3"])

    def test_search_and_place_are_kept(self):
        for name in "bde":
            self.api(f"images/{name}", "PATCH", {"keywords": ["kept"]})
        visit = self.writer()
        visit.page.get_by_role("searchbox").fill("kept")
        self.shown(visit, ["b", "d", "e"])
        visit.until("return document.querySelectorAll('#grid a').length === 3 && document.querySelector('.view.waiting')")
        visit.page.locator("#grid a").nth(1).click()
        visit.until("return viewer?.isFullyLoaded && viewer.actions.length === 2 && !document.querySelector('.growing')")
        self.delete(visit)
        visit.until(f"{TITLE} === 'e'")
        visit.page.keyboard.press("Escape")
        self.shown(visit, ["b", "e"])
        visit.until("return document.querySelectorAll('#grid a').length === 2 && location.search === '?q=kept'")

    def test_by_its_own_link_it_is_the_same(self):
        visit = self.writer()
        visit.photo("g")
        visit.until("return viewer.images.length === 8 && viewer.actions.length")
        self.delete(visit)
        visit.until(f"{TITLE} !== 'g' && viewer.isFullyLoaded")
        visit.page.get_by_role("button", name="Undo").click()
        visit.until(f"{TITLE} === 'g'")

    def test_the_trash_shows_its_retention_and_restores(self):
        for scheme in ("dark", "light"):
            visit = self.writer(AXE_OWN, color_scheme=scheme)
            self.api("trash", "POST", {"ids": ["a"]})
            self.api("trash", "POST", {"ids": ["b", "c", "d", "e"]})
            visit.open("", wait=False)
            visit.page.get_by_role("button", name="Trash").click()
            rows = visit.page.locator(".trash li")
            rows.nth(1).wait_for()
            self.assertEqual(sorted(rows.locator("strong").all_inner_texts()), ["a", "b, c, d and 1 more"])
            self.assertIn("Expires in 24 hours", rows.first.inner_text())
            self.assertEqual(axe_violations(visit), [])
            rows.first.get_by_role("button", name="Restore").click()
            visit.until("return document.querySelectorAll('.trash li').length === 1")
            rows.first.get_by_role("button", name="Restore").click()
            # Its text is in the page before it is visible.
            visit.page.get_by_text("The Trash is empty.").wait_for()
            self.assertEqual(rows.count(), 0)
            self.assertEqual(len(self.ids()), 7)

    def test_an_address_with_a_token_counts_in_an_open_gallery_and_leaves_the_address_bar(self):
        visit = Visit(host=self.host)
        self.addCleanup(visit.close, ["401"])
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length > 4")
        visit.run("location.hash = 'token=wrong'")
        visit.until("return document.querySelector('.toast')?.textContent.includes('has expired')")
        self.assertEqual(visit.run("return location.hash"), "")
        visit.run(f"location.hash = 'token={TOKEN}'")
        visit.page.locator("button.add").wait_for()
        self.assertNotIn("token", visit.address())


if __name__ == "__main__":
    unittest.main()
