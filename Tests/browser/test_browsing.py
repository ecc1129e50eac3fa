"""The photo browser: turning pages by swipe and key, the counter, neighbours, menu, navigator, states."""

import unittest
import urllib.parse

from browser import SOURCES, PHOTO, PageTest
from test_zoom_at_point import middle

ORDER = sorted(SOURCES)  # As the library lists them.
AT = ORDER.index(PHOTO)
PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}


class Paging(PageTest):
    def open(self, image=PHOTO, view="", **options):
        visit = self.visit(**{**PHONE, **options}).photo(image, view)
        visit.until("return viewer.images.length > 1 && viewer.shadowRoot.querySelectorAll('.preview').length")
        visit.page.wait_for_timeout(200)
        return visit

    def swipe(self, visit, start, end, steps=6, y=420):
        fingers = visit.touches()
        fingers.down((start, y))
        for step in range(1, steps + 1):
            fingers.move((start + (end - start) * step / steps, y))
        fingers.up()

    def assertShows(self, visit, index):
        visit.until(f"return viewer.index === {index} && viewer.isSharp", f"image {index}")
        name = urllib.parse.quote(ORDER[index], safe="")
        visit.until(f"return location.pathname === '/view/{name}'", f"the address of image {index}")
        visit.until(f"return document.getElementById('number').value === '{index + 1}'")
        visit.until(f"return document.title === '{ORDER[index].split('/')[-1]}'", f"the title of image {index}")

    def test_a_swipe_turns_the_page_either_way(self):
        visit = self.open()
        self.swipe(visit, 320, 60)
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        self.swipe(visit, 60, 320)
        self.assertShows(visit, AT)

    def test_a_finger_swipes_on_from_an_image_that_cannot_be_read(self):
        visit = self.visit(faults=["503"], **PHONE)
        visit.page.route("**/api/images/FallenLeaf**", lambda route: route.fulfill(status=503))
        broken = ORDER.index("FallenLeaf")
        visit.photo(ORDER[broken - 1])
        visit.until("return viewer.images.length > 1 && !document.getElementById('counter').hidden")
        for start, end, index in ((320, 60, broken + 1), (60, 320, broken - 1)):
            self.swipe(visit, start, end)
            visit.until(f"return viewer.index === {broken} && !viewer.shadowRoot.querySelector('.notice').hidden")
            self.swipe(visit, start, end)
            self.assertShows(visit, index)

    def test_a_short_slow_swipe_springs_back(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((300, 400))
        for x in range(295, 230, -5):
            fingers.move((x, 400))
        # The browser tells of moves once a frame.
        visit.until("return viewer.shadowRoot.querySelector('.track').style.translate === '-65px'")
        visit.page.wait_for_timeout(200)
        fingers.up()
        visit.page.wait_for_timeout(600)
        self.assertEqual(visit.run("return [viewer.index, viewer.shadowRoot.querySelector('.track').style.translate]"), [AT, ""])

    def test_a_swipe_that_the_system_takes_away_turns_no_page(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((330, 400))
        for x in range(310, 90, -20):
            fingers.move((x, 400))
        visit.until("return parseFloat(viewer.shadowRoot.querySelector('.track').style.translate) < -150")
        fingers.send("touchCancel", [])
        visit.page.wait_for_timeout(700)
        self.assertEqual(visit.run("return [viewer.index, viewer.shadowRoot.querySelector('.track').style.translate]"), [AT, ""])

    def test_with_reduced_motion_a_swipe_turns_the_page_and_says_so(self):
        visit = self.open(reduced_motion="reduce")
        self.swipe(visit, 320, 60)
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        self.assertEqual(visit.run("return [viewer.shadowRoot.querySelector('.spoken').textContent, location.hash]"),
                         [f"{ORDER[AT + 1].split('/')[-1]}, image {AT + 2} of {len(ORDER)}", ""])

    def test_a_tap_beside_the_menu_closes_it_and_nothing_else(self):
        visit = self.open()
        fingers = visit.touches()
        fingers.down((200, 420))
        visit.until("return viewer.shadowRoot.querySelector('.menu')")
        fingers.up()
        visit.page.wait_for_timeout(200)
        fingers.tap(40, 120)
        visit.until("return !viewer.shadowRoot.querySelector('.menu')")
        visit.page.wait_for_timeout(500)
        self.assertFalse(visit.run("return viewer.hasAttribute('quiet')"))
        fingers.tap(40, 120)
        visit.until("return viewer.hasAttribute('quiet')", "the next tap hides the chrome")

    def test_escape_leaves_full_screen_before_it_leaves_the_picture(self):
        visit = self.open(width=1280, height=800, touch=False)
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement === viewer")
        visit.page.keyboard.press("Escape")
        visit.until("return !document.fullscreenElement")
        visit.page.wait_for_timeout(300)
        self.assertTrue(visit.address().endswith("/view/landscapes%2FSafeLanding"), visit.address())
        visit.page.keyboard.press("Escape")
        visit.until("return location.pathname === '/'")

    def test_zoomed_in_a_drag_reaches_the_edge_first_and_then_turns_the_page(self):
        visit = self.open(view=middle(390, 844, 6))
        right = visit.run("return viewer.viewport.offsets(viewer.source.pyramid.imageSize).across.last")
        visit.look(middle(390, 844, 6).replace("&x=", f"&x={right - 100}&was="))
        fingers = visit.touches()
        fingers.down((350, 400))
        fingers.move((300, 400))
        fingers.move((290, 400))
        visit.page.wait_for_timeout(50)
        self.assertAlmostEqual(visit.view()["x"], right - 40, delta=0.5)
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.track').style.translate"), "")
        for x in range(270, 60, -20):
            fingers.move((x, 400))
        visit.page.wait_for_timeout(50)
        self.assertAlmostEqual(visit.view()["x"], right, delta=0.5)
        self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.track').style.translate"), "-180px")
        fingers.up()
        self.assertShows(visit, AT + 1)

    def test_the_first_and_the_last_image_bounce(self):
        for image, start, end in ((ORDER[0], 60, 320), (ORDER[-1], 320, 60)):
            visit = self.open(image)
            fingers = visit.touches()
            fingers.down((start, 400))
            for step in range(1, 7):
                fingers.move((start + (end - start) * step / 6, 400))
            moved = abs(float(visit.run("return parseFloat(viewer.shadowRoot.querySelector('.track').style.translate)")))
            self.assertTrue(20 < moved < 150, moved)
            fingers.up()
            visit.page.wait_for_timeout(700)
            self.assertEqual(visit.run("return viewer.index"), ORDER.index(image))
            self.assertEqual(visit.run("return viewer.shadowRoot.querySelector('.track').style.translate"), "")

    def test_neighbours_are_loaded_as_one_coarse_tile_and_far_ones_let_go(self):
        visit = self.open()
        for index in (AT - 1, AT + 1):
            tiles = visit.tiles(ORDER[index])
            self.assertEqual(len(tiles), 1, "one tile of a neighbour")
            self.assertEqual(tiles[0][1:], (0, 0))
        self.assertEqual(visit.tiles(ORDER[0]), [])
        visit.page.keyboard.press("PageDown")
        self.assertShows(visit, AT + 1)
        visit.page.wait_for_timeout(300)
        shown = visit.tiles(ORDER[AT + 1])
        self.assertEqual(len(shown), len(set(shown)), "the coarse tile was asked for again")
        self.assertLessEqual(visit.run("return viewer.shadowRoot.querySelectorAll('.preview').length"), 2)

    def test_keys_turn_pages(self):
        visit = self.open(width=1280, touch=False)
        visit.page.keyboard.press("PageDown")
        self.assertShows(visit, AT + 1)
        visit.page.keyboard.press("PageUp")
        self.assertShows(visit, AT)
        visit.page.keyboard.press("PageUp")
        self.assertShows(visit, AT - 1)

    def test_quick_swipes_and_keys_turn_a_page_each(self):
        visit = self.open(ORDER[1])
        self.swipe(visit, 320, 60, steps=3)
        visit.until("return viewer.shadowRoot.querySelector('.track').getAnimations().length || viewer.index === 2")
        fingers = visit.touches()
        fingers.down((320, 400))
        self.assertEqual(visit.run("return viewer.index"), 2, "the turn under way is over")
        for x in range(300, 60, -40):
            fingers.move((x, 400))
        fingers.up()
        self.assertShows(visit, 3)
        visit.run("viewer.goBy(-1); viewer.goBy(-1)")
        self.assertShows(visit, 1)

    def test_the_counter_tells_the_place_and_takes_a_number(self):
        visit = self.open(width=1280, touch=False)
        self.assertEqual(visit.run("return document.getElementById('count').textContent"), f"/ {len(ORDER)}")
        field = visit.page.get_by_label("Go to image number")
        field.fill("1")
        field.press("Enter")
        self.assertShows(visit, 0)
        field.fill("999")
        field.press("Enter")
        visit.page.wait_for_timeout(200)
        self.assertShows(visit, 0)

    def test_from_the_gallery_the_pages_are_those_of_the_search(self):
        visit = self.visit().open("?q=landscapes", wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2")
        visit.page.get_by_text("Volna").click()
        visit.until("return viewer?.images?.length === 2")
        self.assertEqual(visit.run("return [viewer.index, document.getElementById('count').textContent]"), [1, "/ 2"])

    def test_right_to_left_pages_turn_the_other_way(self):
        visit = self.open()
        visit.run("document.documentElement.dir = 'rtl'; viewer.setImages(viewer.images, viewer.index)")
        visit.page.wait_for_timeout(400)
        self.swipe(visit, 60, 320)
        self.assertShows(visit, AT + 1)


class Chrome(PageTest):
    def choose(self, visit, name):
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name=name).click()

    def test_the_fit_button_walks_through_whole_width_and_original_size(self):
        visit = self.visit(width=1000, height=400).photo()
        button = visit.page.get_by_role("button", name="Fit, width")
        seen = []
        for _ in range(4):
            button.click()
            visit.page.wait_for_timeout(400)
            visit.sharp()
            seen.append(visit.view()["scale"])
        whole, width = 400 / 2880, 1000 / 5120
        for scale, wanted in zip(seen, (width, 1, whole, width)):
            self.assertAlmostEqual(scale, wanted)
        visit.page.mouse.move(500, 200)
        visit.page.mouse.wheel(0, -100)
        visit.page.wait_for_timeout(500)
        button.click()
        visit.page.wait_for_timeout(400)
        self.assertAlmostEqual(visit.view()["scale"], whole, msg="a zoom leaves the states")

    def test_the_navigator_shows_what_is_seen_and_goes_where_it_is_pressed(self):
        visit = self.visit().photo()
        hidden = "return viewer.shadowRoot.querySelector('.navigator').hidden"
        self.assertTrue(visit.run(hidden))
        visit.look("scale=1&x=500&y=300")
        self.assertFalse(visit.run(hidden))
        points = visit.run("return viewer.shadowRoot.querySelector('polygon').getAttribute('points')")
        corners = [tuple(map(float, pair.split(","))) for pair in points.split()]
        self.assertEqual(corners, [(500, 300), (1780, 300), (1780, 1100), (500, 1100)])
        box = visit.page.locator(".navigator").bounding_box()
        visit.page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.5)
        visit.page.wait_for_timeout(200)
        view = visit.view()
        self.assertAlmostEqual(view["x"] + 640, 5120 * 0.75, delta=40)
        self.assertAlmostEqual(view["y"] + 400, 2880 * 0.5, delta=40)

    def test_the_menu_copies_a_link_to_the_exact_view_and_a_citation(self):
        visit = self.visit(permissions=["clipboard-read", "clipboard-write"]).photo(view="scale=1&x=500&y=300")
        self.choose(visit, "Copy link")
        link = visit.until("return navigator.clipboard.readText()")
        self.assertIn("#scale=1&x=500&y=300&width=1280&height=800", link)
        self.choose(visit, "Cite this view")
        visit.page.wait_for_timeout(100)
        words = visit.run("return navigator.clipboard.readText()")
        self.assertTrue(words.startswith("SafeLanding, 5,120 × 2,880, region 500,300,1280,800, http"), words)

    def test_where_the_clipboard_is_closed_the_text_is_shown_to_copy(self):
        visit = self.visit().photo()
        visit.run("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
        self.choose(visit, "Copy link")
        shown = visit.until("return viewer.shadowRoot.querySelector('dialog textarea')?.value")
        self.assertIn("/view/", shown)

    def test_save_hands_over_the_view_as_a_picture(self):
        visit = self.visit().photo()
        with visit.page.expect_download() as download:
            self.choose(visit, "Save this view")
        self.assertEqual(download.value.suggested_filename, "SafeLanding.png")
        from PIL import Image
        with Image.open(download.value.path()) as picture:
            self.assertEqual(picture.size, (1280, 800))

    def test_details_tell_the_image_and_escape_closes_them_only(self):
        visit = self.visit().photo()
        self.choose(visit, "Details")
        words = visit.run("return viewer.shadowRoot.querySelector('dialog').textContent")
        for part in ("SafeLanding", "5,120 × 2,880", "landscapes/SafeLanding"):
            self.assertIn(part, words)
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_timeout(200)
        self.assertTrue(visit.run("return !viewer.shadowRoot.querySelector('dialog')"))

    def test_question_mark_lists_the_keys_and_escape_leaves(self):
        visit = self.visit().photo()
        visit.page.keyboard.press("?")
        self.assertIn("Whole image", visit.run("return viewer.shadowRoot.querySelector('dialog').textContent"))
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_timeout(200)
        visit.page.keyboard.press("Escape")
        visit.until("return document.getElementById('grid')", "back at the gallery")

    def test_the_menu_is_walked_by_keys(self):
        visit = self.visit().photo()
        visit.page.get_by_role("button", name="More").focus()
        visit.page.keyboard.press("Enter")
        active = "return viewer.shadowRoot.activeElement?.textContent"
        self.assertEqual(visit.run(active), "Save this view")
        visit.page.keyboard.press("ArrowDown")
        self.assertEqual(visit.run(active), "Copy link")
        visit.page.keyboard.press("End")
        self.assertEqual(visit.run(active), "Keys")
        visit.page.keyboard.press("Escape")
        self.assertEqual(visit.run("return viewer.shadowRoot.activeElement?.getAttribute('aria-label')"), "More")

    def test_a_scale_bar_shows_where_the_resolution_is_known(self):
        visit = self.visit(tile_by_tile=True)

        def scanned(route):
            answer = route.fetch()
            route.fulfill(response=answer, json={**answer.json(), "micronsPerPixel": 0.5})
        visit.page.route("**/api/images/*", scanned)
        visit.photo(view="scale=0.5&x=0&y=0")
        bar = visit.run("const r = viewer.shadowRoot.querySelector('.ruler'); return [r.hidden, r.textContent, r.style.width]")
        self.assertEqual(bar, [False, "100 µm", "100px"])

    def test_reduced_motion_moves_at_once(self):
        visit = self.visit(reduced_motion="reduce").photo()
        moves = visit.run("""let moves = 0
            viewer.addEventListener('viewport', () => { moves += 1 })
            viewer.zoomTo(1)
            await new Promise((done) => setTimeout(done, 400))
            return [moves, viewer.viewport.scale]""")
        self.assertEqual(moves, [1, 1])


if __name__ == "__main__":
    unittest.main()
