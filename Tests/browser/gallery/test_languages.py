"""The reader's language: chosen by the browser, by the page, by an element; texts, numbers and dates; from right to left."""

import functools
import shutil
import tempfile
import unittest
import urllib.request
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import PHOTO, TOKEN, PageTest, bundled, served, source, writable


@functools.cache
def folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-languages-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    (folder / "photos").mkdir()
    for number in range(3):
        shutil.copy(source("FallenLeaf"), folder / f"photos/{number}.jpg")
    return folder


@functools.cache
def host() -> str:
    return served(folder() / "photos", pages=bundled())


def labels(visit):
    return visit.run("return [...viewer.shadowRoot.querySelectorAll('.controls button')].map((each) => each.ariaLabel)")


ZOOM_IN = {"en-GB": "Zoom in", "de-AT": "Vergrößern", "fr-CA": "Agrandir", "zh-CN": "放大", "pt-BR": "Zoom in"}
SIZE = {"en-GB": "5,120 × 2,880", "de-AT": "5.120 × 2.880", "fr-CA": "5\u202f120 × 2\u202f880", "zh-CN": "5,120 × 2,880", "pt-BR": "5,120 × 2,880"}


class Languages(PageTest):
    def test_the_browser_s_language_is_spoken_everywhere(self):
        for locale, zoom in ZOOM_IN.items():
            with self.subTest(locale=locale):
                visit = self.visit(locale=locale).photo()
                self.assertIn(zoom, labels(visit))
                self.assertEqual(visit.run("return document.getElementById('facts').textContent"), SIZE[locale])
                self.assertEqual(visit.run("return document.documentElement.lang"), "en" if locale == "pt-BR" else locale)
                visit.page.locator("#back").click()
                visit.until("return document.querySelectorAll('.there').length")
                search = {"de-AT": "Suchen", "fr-CA": "Rechercher", "zh-CN": "搜索"}.get(locale, "Search")
                self.assertEqual(visit.run("return document.getElementById('search').placeholder"), search)

    def test_axe_finds_nothing_in_any_language_and_from_right_to_left(self):
        for locale, more in (("de-DE", "Mehr"), ("fr-FR", "Plus"), ("zh-CN", "更多"), (None, "More")):
            with self.subTest(locale=locale):
                visit = self.visit(locale=locale or "en", host=host(), allowed_errors=AXE_OWN)
                if not locale:
                    visit.page.add_init_script("new MutationObserver(() => { document.documentElement.dir = 'rtl' }).observe(document, { childList: true })")
                visit.photo("1")
                visit.page.get_by_role("button", name=more, exact=True).click()
                visit.page.get_by_role("menu").wait_for()
                visit.until("return viewer.shadowRoot.getAnimations().length === 0")
                self.assertEqual(axe_violations(visit), [])
                visit.open(wait=False)
                visit.until("return document.querySelectorAll('.there').length === 3 && document.getAnimations().length === 0")
                self.assertEqual(axe_violations(visit), [])

    def test_no_english_is_seen_before_another_language_which_takes_one_more_request(self):
        visit = self.visit(locale="de-DE", host=host())
        visit.page.add_init_script("""globalThis.seen = []
            new MutationObserver(() => { for (const each of document.querySelectorAll('#facts, #back')) seen.push(each.textContent, each.title) })
              .observe(document, { subtree: true, childList: true, characterData: true, attributes: true })""")
        visit.photo("1")
        seen = [text for text in visit.run("return seen") if text.strip()]
        self.assertEqual(set(seen), {"Alle Bilder", "2.560 × 1.600"})
        languages = [url for url in visit.requests if url.endswith(".json")]
        self.assertEqual(len(languages), 1, languages)
        self.assertLess(visit.requests.index(languages[0]), 4, "asked for beside the script")
        with urllib.request.urlopen(languages[0]) as answer:
            self.assertEqual(answer.headers["Cache-Control"], "public, max-age=31536000, immutable")
        english = self.visit(host=host()).photo("1")
        self.assertEqual([url for url in english.requests if url.endswith(".json")], [])

    def test_english_is_used_if_a_language_cannot_be_loaded(self):
        visit = self.visit(locale="de-DE", allowed_errors=["ERR_FAILED", "/i18n/de"], host=host())
        visit.page.route("**/i18n/*.json", lambda route: route.abort())
        visit.photo("1")
        self.assertIn("Zoom in", labels(visit))
        self.assertEqual(visit.run("return document.getElementById('facts').textContent"), "2,560 × 1,600")

    def test_an_element_and_its_page_may_change_their_language(self):
        for other in (None, host()):
            visit = self.visit(host=other)
            visit.photo("1" if other else PHOTO)
            visit.run("viewer.lang = 'fr'")
            visit.until("return viewer.shadowRoot.querySelector('.more').title === 'Plus'")
            visit.page.get_by_role("button", name="Plus").click()
            visit.page.get_by_role("menuitem", name="Copier le lien").wait_for()
            visit.page.keyboard.press("Escape")
            visit.run("viewer.removeAttribute('lang'); document.documentElement.lang = 'de'")
            visit.until("return viewer.shadowRoot.querySelector('.more').title === 'Mehr'")
            visit.run("document.documentElement.lang = 'en'")
            visit.until("return viewer.shadowRoot.querySelector('.more').title === 'More'")

    def test_on_a_foreign_page_the_page_s_language_counts(self):
        visit = self.visit(locale="de-DE", host=host())
        visit.page.route("**/elsewhere", lambda route: route.fulfill(content_type="text/html", body="""<!doctype html><html lang="zh-CN">
            <meta charset="utf-8"><script type="module" src="/viewer/elements.js"></script>
            <ziggurat-viewer src="/api/images/1" style="height: 400px"></ziggurat-viewer><ziggurat-viewer lang="pt"></ziggurat-viewer>"""))
        visit.open("elsewhere", wait=False)
        visit.until("return viewer?.shadowRoot.querySelector('.more').title === '更多'")
        visit.until("return document.querySelector('[lang=pt]').shadowRoot.querySelector('.more').title === 'Mehr'")
        self.assertEqual(visit.run("return document.querySelector('[lang=pt]').ariaLabel"), "Zoombares Bild")

    def test_plurals_numbers_and_dates_of_the_trash(self):
        library = shutil.copytree(folder() / "library", folder() / "written/library") if host() else None
        visit = self.visit(locale="de-DE", host=writable(library, pages=bundled()))
        visit.open(f"#token={TOKEN}", wait=False)
        visit.until("return document.querySelectorAll('.there').length === 3")
        toast = "return document.querySelector('.toast span')?.textContent"
        visit.page.locator("#grid a").first.click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Löschen", exact=True).click()
        visit.until(f"{toast} === '1 Bild gelöscht.'")
        visit.page.get_by_role("button", name="Papierkorb").click()
        reported = visit.page.locator("dialog.trash li span").inner_text()
        self.assertRegex(reported, r"^Gelöscht am \d\d\.\d\d\.\d{4}, \d\d:\d\d\. Läuft in 24 Stunden ab\.$")
        visit.page.get_by_role("button", name="Wiederherstellen").click()
        visit.until(f"{toast} === '1 Bild wiederhergestellt.'")

    def test_dates_are_written_as_the_reader_has_them(self):
        for locale, more, name, date in (("de-DE", "Mehr", "Details", "29. Oktober 2015 um 15:44"), ("en-GB", "More", "Details", "29 October 2015 at 15:44"),
                                         ("fr-FR", "Plus", "Détails", "29 octobre 2015 à 15:44")):
            visit = self.visit(locale=locale, host=host()).photo("1")
            visit.page.get_by_role("button", name=more).click()
            visit.page.get_by_role("menuitem", name=name).click()
            self.assertIn(date, visit.page.locator("dialog dl").inner_text())

    def test_from_right_to_left_all_around_the_picture_is_mirrored(self):
        def places(visit):
            return visit.run("""const middle = (each) => { const box = each.getBoundingClientRect(); return box.left + box.width / 2 }
                const find = (name) => document.querySelector(name) ?? viewer.shadowRoot.querySelector(name)
                return Object.fromEntries(['#back', '.words', '#counter', '.zoomOut', '.zoomIn', '.more', '.navigator'].map((name) => [name, middle(find(name))]))""")
        found = {}
        for direction in ("ltr", "rtl"):
            visit = self.visit()
            visit.page.add_init_script(f"new MutationObserver(() => {{ document.documentElement.dir = '{direction}' }}).observe(document, {{ childList: true }})")
            visit.photo(view="scale=1&x=1500&y=900")
            visit.until("return !document.getElementById('counter').hidden && !viewer.shadowRoot.querySelector('.navigator').hidden")
            found[direction] = places(visit)
            if direction == "rtl":
                self.assertEqual(visit.run("return new DOMMatrix(getComputedStyle(document.querySelector('#back svg')).transform).a"), -1, "the arrow points back")
                visit.page.get_by_role("button", name="More").click()
                visit.page.get_by_role("menu").wait_for()
                self.assertEqual(visit.run("const { direction, textAlign } = getComputedStyle(viewer.shadowRoot.querySelector('.menu button')); return [direction, textAlign]"), ["rtl", "start"])
        for name, middle in found["ltr"].items():
            self.assertAlmostEqual(found["rtl"][name], 1280 - middle, delta=1.5, msg=name)

    def test_from_right_to_left_the_gallery_is_mirrored(self):
        visit = self.visit(host=host())
        visit.page.add_init_script("new MutationObserver(() => { document.documentElement.dir = 'rtl' }).observe(document, { childList: true })")
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 3")
        title, search, first, second = visit.run("""return ['h1', '#search', '.picture', '.picture + .picture']
            .map((name) => document.querySelector(name).getBoundingClientRect().left)""")
        self.assertGreater(title, search)
        self.assertGreater(first, second)


if __name__ == "__main__":
    unittest.main()
