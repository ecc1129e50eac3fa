"""The gallery and the page of one image: what they show, where they lead, what the address says."""

import json
import unittest
from urllib.parse import quote

from browser import PHOTO, SOURCES, PageTest, base_url


class ViewPage(PageTest):
    def test_a_link_opens_the_exact_view(self):
        visit = self.visit().photo(view="scale=0.75&x=1234&y=567")
        self.assertEqual(visit.view(), {"scale": 0.75, "x": 1234, "y": 567, "width": 1280, "height": 800})

    def test_the_address_follows_the_view_and_leads_back_to_it(self):
        visit = self.visit().photo()
        entry = visit.run("return navigation.currentEntry.index")
        visit.page.mouse.move(500, 300)
        for _ in range(4):
            visit.page.mouse.wheel(0, -120)
        visit.page.wait_for_timeout(500)
        visit.sharp()
        view, address = visit.view(), visit.address()
        self.assertIn("#scale=", address)
        self.assertEqual(visit.run("return navigation.currentEntry.index"), entry, "no entries in the history from zooming")
        again = self.visit()
        again.page.goto(address)
        again.sharp()
        for name in view:
            self.assertAlmostEqual(again.view()[name], view[name], delta=0.02)

    def test_a_new_hash_moves_the_view(self):
        visit = self.visit().photo()
        visit.run("location.hash = '#scale=1&x=900&y=800'")
        visit.page.wait_for_timeout(200)
        visit.sharp()
        self.assertEqual((visit.view()["scale"], visit.view()["x"], visit.view()["y"]), (1, 900, 800))

    def test_a_senseless_link_shows_the_whole_image(self):
        fit = self.visit().photo().view()
        for hash in ("scale=0", "scale=-1&x=2", "scale=NaN", "scale=1e999", "nonsense", "%%%"):
            with self.subTest(hash):
                self.assertEqual(self.visit().photo(view=hash).view(), fit)

    def test_a_link_beyond_the_image_shows_its_edge(self):
        visit = self.visit().photo(view="scale=1&x=99999&y=-99999")
        self.assertEqual((visit.view()["x"], visit.view()["y"]), (5120 - 1280, 0))

    def test_keys_pan_zoom_and_fit(self):
        visit = self.visit().photo()
        fit = visit.view()

        def press(key):
            visit.page.keyboard.press(key)
            visit.page.wait_for_timeout(350)
            visit.sharp()
            return visit.view()
        zoomed = press("+")
        self.assertGreater(zoomed["scale"], fit["scale"])
        for _ in range(3):
            zoomed = press("+")
        self.assertGreater(press("ArrowRight")["x"], zoomed["x"])
        self.assertGreater(press("ArrowDown")["y"], zoomed["y"])
        press("ArrowLeft")
        back = press("ArrowUp")
        self.assertAlmostEqual(back["x"], zoomed["x"], places=3)
        self.assertAlmostEqual(back["y"], zoomed["y"], places=3)
        self.assertLess(press("-")["scale"], zoomed["scale"])
        self.assertEqual(press("0"), fit)
        self.assertEqual(press("1")["scale"], 1)
        self.assertEqual(press("Home"), fit)

    def test_the_buttons_do_what_they_say(self):
        visit = self.visit().photo()
        fit = visit.view()
        visit.page.get_by_role("button", name="Zoom in").click()
        visit.page.wait_for_timeout(350)
        self.assertGreater(visit.view()["scale"], fit["scale"])
        visit.page.get_by_role("button", name="Rotate clockwise").click()
        visit.page.wait_for_timeout(100)
        self.assertEqual(visit.run("return viewer.viewport.rotation.degrees"), 90)

    def test_a_tap_hides_the_chrome_and_another_shows_it(self):
        visit = self.visit().photo()
        for hidden in (True, False):
            visit.page.mouse.click(600, 400)
            visit.page.wait_for_timeout(500)
            self.assertEqual(visit.run("return viewer.getAttribute('ui') === 'hidden'"), hidden)
        visit.page.mouse.dblclick(600, 400)
        visit.page.wait_for_timeout(500)
        self.assertFalse(visit.run("return viewer.getAttribute('ui') === 'hidden'"), "a double click is no tap")

    def test_a_missing_image_is_reported(self):
        visit = self.visit(allowed_errors=["404"])
        visit.photo("no/such image", wait=False)
        message = visit.until(
            "const p = viewer.shadowRoot.querySelector('.notice'); return !p.hidden && p.textContent")
        self.assertEqual(message, "This image does not exist. It may have been moved or deleted.")

    def test_a_phone_that_is_turned_shows_the_same_middle(self):
        visit = self.visit(width=390, height=844, ratio=2, touch=True).photo(view="scale=0.8&x=1500&y=900")
        before = visit.image_point(195, 422)
        scale = visit.view()["scale"]
        for width, height in ((844, 390), (390, 844), (844, 390)):
            visit.page.set_viewport_size({"width": width, "height": height})
            visit.until(f"return viewer.viewport.width === {width} && viewer.isFullyLoaded")
            now = visit.image_point(width / 2, height / 2)
            self.assertAlmostEqual(now["x"], before["x"], delta=1e-6)
            self.assertAlmostEqual(now["y"], before["y"], delta=1e-6)
            self.assertEqual(visit.view()["scale"], scale)

    def test_the_picture_fits_again_when_the_window_changes(self):
        visit = self.visit().photo()
        visit.page.set_viewport_size({"width": 700, "height": 900})
        visit.page.wait_for_timeout(300)
        visit.sharp()
        self.assertAlmostEqual(visit.view()["scale"], 700 / 5120)
        self.assertEqual(visit.run(
            "const c = viewer.shadowRoot.querySelector('canvas'); return [c.width, c.height]"), [700, 900])


class Gallery(PageTest):
    def test_it_shows_every_image_and_leads_to_each(self):
        visit = self.visit(height=1600).open(wait=False)
        visit.until(f"return document.querySelectorAll('.there').length >= {len(SOURCES)}")
        links = visit.run("return [...document.querySelectorAll('#grid a')].map((a) => a.getAttribute('href'))")
        self.assertEqual(len(links), len(set(links)))
        visit.page.get_by_text("SafeLanding").click()
        visit.until("return viewer?.isFullyLoaded")
        self.assertTrue(visit.address().startswith(base_url() + "view/landscapes%2FSafeLanding"), visit.address())
        self.assertEqual(visit.page.title(), "SafeLanding")
        visit.page.get_by_label("All images").click()
        visit.until("return document.querySelectorAll('.there').length >= 3")

    def test_thumbnails_come_from_the_pyramid_one_tile_each(self):
        visit = self.visit(height=1600).open(wait=False)
        visit.until(f"return document.querySelectorAll('.there').length >= {len(SOURCES)}")
        visit.page.wait_for_load_state("networkidle")
        pictures = visit.run("""return [...document.querySelectorAll('#grid img')].map((img) => ({
            url: img.src, natural: img.naturalWidth / img.naturalHeight, width: img.naturalWidth }))""")
        tiles = [url for url in visit.requests if "_files/" in url]
        self.assertEqual((len(tiles), len(set(tiles))), (len(pictures), len(pictures)))
        for picture in pictures:
            self.assertLessEqual(picture["width"], 512)
            self.assertGreaterEqual(picture["width"], 128)

    def test_typing_searches(self):
        visit = self.visit().open(wait=False)
        visit.until("return document.querySelectorAll('.there').length >= 3")
        visit.page.keyboard.press("/")
        visit.page.keyboard.type("volna")
        visit.until("return document.querySelectorAll('#grid a').length === 1")
        self.assertIn("q=volna", visit.address())
        visit.page.get_by_role("searchbox").fill("nothing has this name")
        visit.until("return document.getElementById('note').textContent.startsWith('No results')")
        visit.page.get_by_role("searchbox").fill("")
        visit.until(f"return document.querySelectorAll('#grid a').length >= {min(len(SOURCES), 4)}")

    def test_arrow_keys_walk_and_enter_opens(self):
        visit = self.visit().open(wait=False)
        visit.until("return document.querySelectorAll('.there').length >= 3")
        visit.page.locator("#grid a").first.focus()
        index = "return Number(document.activeElement.dataset.index)"
        visit.page.keyboard.press("ArrowRight")
        self.assertEqual(visit.run(index), 1)
        visit.page.keyboard.press("ArrowDown")
        self.assertGreater(visit.run(index), 1)
        visit.page.keyboard.press("Home")
        self.assertEqual(visit.run(index), 0)
        visit.page.keyboard.press("Enter")
        visit.until("return viewer?.isFullyLoaded")

    def test_a_server_error_is_reported_and_retried(self):
        visit = self.visit(allowed_errors=["503"])
        answers = [503]

        def trouble(route):
            if answers:
                route.fulfill(status=answers.pop(), body=json.dumps({}))
            else:
                route.continue_()
        visit.page.route("**/api/images?**", trouble)
        visit.open(wait=False)
        visit.page.get_by_role("button", name="Try again").click()
        visit.until("return document.querySelectorAll('.there').length >= 3")
        self.assertTrue(visit.run("return document.getElementById('state').hidden"))

    def test_thumbnails_that_did_not_come_are_there_when_the_network_is_back(self):
        visit = self.visit(allowed_errors=["ERR_FAILED", "/dzi/"])
        visit.page.route("**/dzi/**", lambda route: route.abort())
        visit.open(wait=False)
        images = "const all = [...document.querySelectorAll('.frame img')]; "
        visit.until(images + "return all.length >= 3 && all.every((each) => each.complete && !each.naturalWidth)")
        visit.page.unroute_all()
        visit.run("dispatchEvent(new Event('online'))")
        visit.until("return document.querySelectorAll('.there').length >= 3")

    def test_the_browsers_own_colour_is_that_of_the_page(self):
        for scheme in ("dark", "light"):
            for path, ground in (("", "document.documentElement"), (f"view/{quote(PHOTO, safe='')}", "viewer")):
                with self.subTest(f"{scheme} /{path}"):
                    visit = self.visit(color_scheme=scheme).open(path, wait=bool(path))
                    reported = visit.run("""const ground = getComputedStyle(%s).backgroundColor
                        const meta = [...document.querySelectorAll('[name=theme-color]')].find(({ media }) => matchMedia(media).matches)
                        const probe = document.createElement('i')
                        document.body.append(probe)
                        probe.attributeStyleMap.set('color', meta.content)
                        return [getComputedStyle(probe).color, ground]""" % ground)
                    self.assertEqual(*reported)

    def test_pictures_and_xml_opened_by_themselves_are_laid_out_by_the_browser(self):
        for path in (f"iiif/3/{quote(PHOTO, safe='')}/full/300,/0/default.jpg", f"dzi/{quote(PHOTO, safe='')}.dzi"):
            with self.subTest(path):
                visit = self.visit(allowed_errors=["favicon.ico", "status of 404"]).open(path, wait=False)
                visit.page.wait_for_timeout(300)
                # In the middle of the window, as browsers show a picture.
                if path.endswith("jpg"):
                    box = visit.run("const { x, width } = document.images[0].getBoundingClientRect(); return [x, width]")
                    self.assertEqual(box, [490, 300])


if __name__ == "__main__":
    unittest.main()
