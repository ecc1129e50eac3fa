"""The viewer's controls: the fit button, navigator, menu, dialogs, ruler."""

import unittest

from browser import PageTest


class Chrome(PageTest):
    def choose(self, visit, name):
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name=name).click()

    def test_the_fit_button_walks_through_whole_width_and_original_size(self):
        visit = self.visit(width=1000, height=400).photo()
        button = visit.page.get_by_role("button", name="Change fit")
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

    def test_a_link_means_the_same_on_another_screen(self):
        corners = """const { width, height } = viewer.source.pyramid.imageSize
            return [[0, 0], [width, height]].map(([x, y]) => { const at = viewer.viewport.viewportPoint({ x, y }); return [at.x, at.y] })"""
        for view in ("", "scale=1&x=1800&y=900"):
            visit = self.visit(permissions=["clipboard-read", "clipboard-write"]).photo(view=view)
            self.choose(visit, "Copy link")
            link = visit.until("return navigator.clipboard.readText()")
            phone = self.visit(width=390, height=844, ratio=3, touch=True)
            phone.page.goto(link)
            phone.sharp()
            if view:
                for corner in ((1800, 900), (3080, 900), (1800, 1700), (3080, 1700)):
                    at = phone.viewport_point(dict(zip("xy", corner)))
                    self.assertTrue(-0.5 < at["x"] < 390.5 and -0.5 < at["y"] < 844.5, f"{corner} is at {at}: all that was seen is seen")
            else:
                (left, _), (right, _) = phone.run(corners)
                self.assertAlmostEqual(left, 0, delta=0.5)
                self.assertAlmostEqual(right, 390, delta=0.5, msg="fitted there, too")

    def test_the_menu_copies_a_link_to_the_exact_view_and_a_citation(self):
        visit = self.visit(permissions=["clipboard-read", "clipboard-write"]).photo(view="scale=1&x=500&y=300")
        self.choose(visit, "Copy link")
        link = visit.until("return navigator.clipboard.readText()")
        self.assertIn("#scale=1&x=500&y=300&width=1280&height=800", link)
        self.choose(visit, "Cite this view")
        visit.page.wait_for_timeout(100)
        text = visit.run("return navigator.clipboard.readText()")
        self.assertTrue(text.startswith("SafeLanding, 5,120 × 2,880, region 500,300,1280,800, http"), text)

    def test_where_the_clipboard_is_closed_the_text_is_shown_to_copy(self):
        visit = self.visit().photo()
        visit.run("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
        self.choose(visit, "Copy link")
        shown = visit.until("return viewer.shadowRoot.querySelector('dialog textarea')?.value")
        self.assertIn("/view/", shown)

    def test_details_describe_the_image_and_escape_closes_only_them(self):
        visit = self.visit().photo()
        self.choose(visit, "Details")
        text = visit.run("return viewer.shadowRoot.querySelector('dialog').textContent")
        for part in ("SafeLanding", "5,120 × 2,880", "landscapes/SafeLanding"):
            self.assertIn(part, text)
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_timeout(200)
        self.assertTrue(visit.run("return !viewer.shadowRoot.querySelector('dialog')"))

    def test_question_mark_lists_the_keys_and_escape_leaves(self):
        visit = self.visit().photo()
        visit.page.keyboard.press("?")
        visit.until("return viewer.shadowRoot.querySelector('dialog[open]')")
        self.assertIn("Whole image", visit.run("return viewer.shadowRoot.querySelector('dialog').textContent"))
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_timeout(200)
        visit.page.keyboard.press("Escape")
        visit.until("return document.getElementById('grid')", "back at the gallery")

    def test_the_menu_is_walked_by_keys(self):
        visit = self.visit().photo()
        visit.page.get_by_role("button", name="More").focus()
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("menu").wait_for()
        active = "return viewer.shadowRoot.activeElement?.textContent"
        self.assertEqual(visit.run(active), "Save this view")
        visit.page.keyboard.press("ArrowDown")
        self.assertEqual(visit.run(active), "Copy link")
        visit.page.keyboard.press("End")
        self.assertEqual(visit.run(active), "Keyboard shortcuts")
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
        self.assertEqual(bar, [False, "100\u00a0µm", "100px"])

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
