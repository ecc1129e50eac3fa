"""Folders, orders, dates and badges of the gallery, and what stands there where there is no picture."""

import functools
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import TOKEN, PageTest, served, source, writable
from PIL import Image

DATES = {"a": "2021:05:03 10:00:00", "paintings/b": "2024:11:20 10:00:00", "paintings/old/c": "2024:11:02 10:00:00", "d": None}


@functools.cache
def host() -> str:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-browsing-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    for number, (name, date) in enumerate(DATES.items()):
        path = folder / "photos" / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), f"{path}[strip]", str(500 * number), "400",
                        str(600 + 100 * number), "400"], check=True)
        if date:
            subprocess.run(["exiftool", "-q", "-overwrite_original", f"-DateTimeOriginal={date}", path], check=True)
    # Two frames of eight pixels.
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(folder / "photos/e.gif", save_all=True, append_images=frames[1:], duration=120, loop=0)
    return served(folder / "photos")


class Browsing(PageTest):
    def gallery(self, path="", count=5, **options):
        visit = self.visit(host=host(), **options).open(path, wait=False)
        self.shows(visit, count)
        return visit

    def shows(self, visit, count):
        visit.until(f"return document.querySelectorAll('#grid a').length === {count} && document.getElementById('state').hidden")

    def names(self, visit):
        return visit.run("return [...document.querySelectorAll('#grid .caption')].map((each) => each.textContent).join('')")

    def places(self, visit):
        return visit.run("return [...document.querySelectorAll('.place')].map((each) => each.textContent)")

    def test_folders_lead_down_and_up_and_are_places_in_the_history(self):
        visit = self.gallery()
        self.assertEqual(self.places(visit), ["paintings"])
        visit.page.get_by_role("link", name="paintings", exact=True).click()
        self.shows(visit, 2)
        self.assertEqual((self.places(visit), visit.run("return location.search")), (["All", "paintings", "old"], "?folder=paintings"))
        visit.page.get_by_role("link", name="old").click()
        self.shows(visit, 1)
        self.assertEqual((self.names(visit), visit.run("return location.search")), ("c", "?folder=paintings/old"))
        visit.page.go_back()
        self.shows(visit, 2)
        visit.page.reload()
        self.shows(visit, 2)
        self.assertEqual(self.places(visit), ["All", "paintings", "old"])
        visit.page.get_by_role("link", name="All", exact=True).click()
        self.shows(visit, 5)

    def test_a_picture_opened_in_a_folder_leads_back_to_it_and_leafs_through_it(self):
        visit = self.gallery("?folder=paintings&sort=-date", 2)
        self.assertEqual(self.names(visit), "bc")
        visit.until("return document.querySelector('.view.waiting')")
        visit.page.locator("#grid a").last.click()
        visit.sharp()
        self.assertEqual(visit.run("return [viewer.images.length, viewer.index, location.search]"), [2, 1, ""])
        visit.page.get_by_role("link", name="All images").click()
        visit.until("return location.search === '?folder=paintings&sort=-date' && document.activeElement.dataset.index === '1'")

    def test_orders_and_dates_as_headings(self):
        visit = self.gallery()
        self.assertEqual(self.names(visit), "adebc")
        order = visit.page.get_by_role("combobox", name="Sort by")
        order.select_option("-date")
        visit.until("return document.querySelectorAll('h2').length === 3")
        self.assertEqual(visit.run("return [...document.querySelectorAll('#grid > *')].map((each) => each.textContent)"),
                         ["November 2024", "b", "c", "May 2021", "a", "No date", "d", "e"])
        self.assertIn("sort=-date", visit.address())
        # Each stands above its pictures and below those before.
        tops = visit.run("return [...document.querySelectorAll('#grid > *')].map((each) => each.getBoundingClientRect().top)")
        self.assertEqual(tops, sorted(tops))
        order.select_option("-size")
        visit.until("return !document.querySelector('h2')")
        self.shows(visit, 5)
        self.assertEqual(self.names(visit), "dcbae")

    def test_what_moves_has_a_badge(self):
        visit = self.gallery()
        badge = visit.page.get_by_role("img", name="Animation")
        self.assertEqual(badge.count(), 1)
        self.assertEqual(visit.run("return document.querySelector('.badge').closest('a').textContent"), "e")

    def test_nothing_found_says_what_next(self):
        visit = self.gallery("?folder=paintings", 2)
        visit.page.get_by_role("searchbox").fill("zebra")
        visit.until("return document.getElementById('note').textContent === 'No results for “zebra” in “paintings”.'")
        visit.page.get_by_role("button", name="Search all folders").click()
        visit.until("return document.getElementById('note').textContent === 'No results for “zebra”.'")
        self.assertEqual(visit.run("return location.search"), "?q=zebra")
        visit.page.get_by_role("button", name="Clear search").click()
        self.shows(visit, 5)
        self.assertEqual(visit.run("return [location.search, document.getElementById('search').value]"), ["", ""])

    def test_a_folder_that_is_not_there_leads_to_all_pictures(self):
        visit = self.visit(host=host()).open("?folder=nowhere", wait=False)
        visit.page.get_by_role("button", name="All images").click()
        self.shows(visit, 5)

    def test_a_library_that_is_empty_offers_to_add_to_it(self):
        library = Path(tempfile.mkdtemp(prefix="ziggurat-empty-")) / "library"
        self.addCleanup(shutil.rmtree, library.parent, ignore_errors=True)
        library.mkdir()
        visit = self.visit(host=writable(library)).open(f"#token={TOKEN}", wait=False)
        visit.page.locator("#steps").get_by_role("button", name="Add images").click()
        visit.until("return document.querySelector('dialog.uploads').open")

    def test_offline_is_reported_and_ends_by_itself(self):
        visit = self.visit(host=host(), allowed_errors=["ERR_INTERNET_DISCONNECTED", "ERR_FAILED", *AXE_OWN])
        visit.page.add_init_script("""globalThis.isOffline = true
            { const { fetch } = globalThis
              // The words are there as the scripts are.
              globalThis.fetch = (...rest) => globalThis.isOffline && !String(rest[0]).endsWith('/i18n/en.json') ? Promise.reject(new TypeError('offline')) : fetch(...rest)
              Object.defineProperty(navigator, 'onLine', { get: () => !globalThis.isOffline }) }""")
        visit.open(wait=False)
        visit.until("return document.getElementById('note').textContent.startsWith('You are offline')")
        self.assertEqual(axe_violations(visit), [])
        visit.run("globalThis.isOffline = false; dispatchEvent(new Event('online'))")
        self.shows(visit, 5)

    def test_axe_finds_nothing_in_any_of_these(self):
        for scheme in ("dark", "light"):
            visit = self.gallery("?folder=paintings&sort=-date", 2, allowed_errors=AXE_OWN, color_scheme=scheme)
            visit.page.wait_for_timeout(400)
            self.assertEqual(axe_violations(visit), [])
            visit.open("?q=zebra", wait=False)
            visit.page.get_by_role("button", name="Clear search").wait_for()
            self.assertEqual(axe_violations(visit), [])


if __name__ == "__main__":
    unittest.main()
