"""Exactly the tiles a view needs are asked for: none twice, none outside, those nobody needs aborted."""

import math
import unittest
import urllib.parse

from browser import HEIGHT, PHOTO, WIDTH, PageTest

TILE = 512
TOP = 13  # Level of full resolution of 5120×2880: 2^13 is the first power of two not below 5120.
WHOLE = (9, 0, 0)  # The finest level that is one tile: 320×180.


def covering(scale, x, y, width=1280, height=800, ratio=1):
    """The tiles of a view, computed here independently from the interface's definition."""
    level = TOP
    while level > 0 and 2.0 ** (level - 1 - TOP) >= scale * ratio:
        level -= 1
    unit = 2 ** (TOP - level)
    left, top = max(x / scale, 0), max(y / scale, 0)
    right, bottom = min((x + width) / scale, WIDTH), min((y + height) / scale, HEIGHT)
    cell = TILE * unit
    return {(level, column, row)
            for column in range(math.floor(left / cell), math.ceil(right / cell))
            for row in range(math.floor(top / cell), math.ceil(bottom / cell))}


class Requests(PageTest):
    def test_a_view_asks_for_exactly_its_tiles_the_whole_image_first(self):
        for scale, x, y, width, height, ratio in (
                (0.25, 0, -40, 1280, 800, 1), (1, 1700, 900, 1280, 800, 1), (0.31, 100, 60, 1280, 800, 1),
                (2.5, 5000, 3000, 1280, 800, 1), (0.3, 500, 10, 390, 844, 3), (0.5, 512, 256, 1024, 512, 1)):
            with self.subTest(scale=scale, x=x, y=y):
                visit = self.visit(width=width, height=height, ratio=ratio)
                visit.photo(view=f"scale={scale}&x={x}&y={y}")
                shown = visit.view()
                tiles = visit.tiles()
                self.assertEqual(tiles[0], WHOLE)
                self.assertEqual(len(tiles), len(set(tiles)), "a tile was asked for twice")
                self.assertEqual(
                    set(tiles[1:]), covering(shown["scale"], shown["x"], shown["y"], width, height, ratio))
                self.assertEqual(visit.aborted, [])

    def test_the_first_view_is_one_request(self):
        for view, width, height, ratio in (("", 1280, 800, 1), ("scale=1&x=1700&y=900", 1280, 800, 1),
                                           ("scale=0.9&x=1500&y=900&rotation=30&flip=true", 390, 844, 3)):
            with self.subTest(view=view):
                visit = self.visit(width=width, height=height, ratio=ratio)
                visit.photo(view=view)
                name = urllib.parse.quote(PHOTO, safe="")
                asked = [url for url in visit.run("return globalThis.fetched") if name in url]
                self.assertEqual(len(asked), 1, asked)
                self.assertIn("/viewport.tiles?", asked[0])

    def test_a_first_view_that_is_cut_short_is_completed_tile_by_tile(self):
        visit = self.visit()

        def cut(route):
            body = route.fetch().body()
            route.fulfill(body=body[:len(body) * 2 // 3], content_type="application/vnd.ziggurat.viewport-tiles")
        visit.page.route("**/viewport.tiles?*", cut)
        visit.photo(view="scale=1&x=1700&y=900")
        counts = visit.run("return viewer.requestCounts")
        self.assertEqual((counts["failed"], counts["loaded"]), (0, counts["requested"]))
        alone = [url for url in visit.run("return globalThis.fetched") if "_files/" in url]
        self.assertGreater(len(alone), 0)
        self.assertEqual(len(alone), len(set(alone)))

    def test_a_server_without_such_an_answer_is_asked_tile_by_tile(self):
        visit = self.visit(tile_by_tile=True)
        visit.photo(view="scale=1&x=1700&y=900")
        shown = visit.view()
        whole, *rest = visit.tiles()  # Those of its neighbours may have begun to come.
        self.assertEqual(whole, (9, 0, 0))
        self.assertEqual(len(rest), len(covering(1, shown["x"], shown["y"])))

    def test_the_tiles_nearest_the_centre_come_first(self):
        visit = self.visit()
        visit.photo(view="scale=1&x=1700&y=900")
        center = (1700 + 640, 900 + 400)
        distances = [math.dist(center, (
            (column * TILE + min(column * TILE + TILE, WIDTH)) / 2, (row * TILE + min(row * TILE + TILE, HEIGHT)) / 2))
            for level, column, row in visit.tiles()[1:]]
        self.assertEqual(distances, sorted(distances))

    def test_moving_on_asks_only_for_what_is_new(self):
        visit = self.visit()
        visit.photo(view="scale=1&x=1000&y=900")
        before = visit.tiles()
        visit.run("viewer.panTo({ x: 1640 + 600, y: 1300 })")
        visit.page.wait_for_timeout(400)
        visit.sharp()
        view = visit.view()
        added = visit.tiles()[len(before):]
        self.assertEqual(set(added), covering(1, view["x"], view["y"]) - set(before))
        self.assertEqual(len(added), len(set(added)))
        visit.run("viewer.panTo({ x: 1640, y: 1300 })")
        visit.page.wait_for_timeout(400)
        visit.sharp()
        self.assertEqual(len(visit.tiles()), len(before) + len(added), "what is still held was asked for again")

    def test_zooming_asks_for_the_level_it_ends_on_and_not_for_those_it_passes(self):
        visit = self.visit()
        visit.photo()
        before = len(visit.tiles())
        visit.run("viewer.zoomTo(1, { x: 640, y: 400 })")
        visit.page.wait_for_timeout(400)
        visit.sharp()
        view = visit.view()
        self.assertEqual(set(visit.tiles()[before:]), covering(1, view["x"], view["y"]))

    def test_unneeded_requests_are_aborted(self):
        visit = self.visit(tile_by_tile=True)
        # Every tile of full resolution is held back until the view has moved away.
        held = []
        visit.page.route("**/*_files/13/*", lambda route: held.append(route))
        visit.photo(view="scale=1&x=0&y=0", wait=False)
        visit.until("return viewer.requestCounts.requested >= 7")
        visit.run("viewer.fit()")
        visit.page.wait_for_timeout(500)
        visit.sharp()
        for route in held:
            route.abort()
        counts = visit.run("return viewer.requestCounts")
        self.assertEqual(counts["aborted"], 6, visit.tiles())
        self.assertEqual(counts["requested"], counts["loaded"] + counts["aborted"])
        self.assertEqual(len(visit.aborted), 6)
        self.assertTrue(all("_files/13/" in url for url in visit.aborted))

    def test_a_failed_tile_is_tried_again_and_arrives(self):
        visit = self.visit(allowed_errors=["503"], tile_by_tile=True)
        refused = []

        def refuse_twice(route):
            if refused.count(route.request.url) < 2 and "/13/3_1" in route.request.url:
                refused.append(route.request.url)
                route.fulfill(status=503)
            else:
                route.continue_()
        visit.page.route("**/*_files/13/*", refuse_twice)
        visit.photo(view="scale=1&x=1500&y=500")
        counts = visit.run("return viewer.requestCounts")
        self.assertEqual((len(refused), counts["retried"], counts["failed"]), (2, 2, 0))

    def test_unreachable_tiles_are_reported_and_load_with_the_network_or_a_movement(self):
        for recover in ("dispatchEvent(new Event('online'))", "viewer.panTo({ x: 2160, y: 1040 })"):
            with self.subTest(recover):
                visit = self.visit(allowed_errors=["503"]).photo()
                is_away = True
                visit.page.route("**/*_files/**", lambda route: route.fulfill(status=503) if is_away else route.continue_())
                visit.run("viewer.zoomTo(1)")
                notice = "const p = viewer.shadowRoot.querySelector('.notice'); return p.hidden ? '' : p.textContent"
                visit.until(f"return (() => {{ {notice} }})() === '8 parts of the image could not be loaded.'")
                # Not before: the browser reports this change some time later.
                is_away = False
                visit.page.wait_for_timeout(100)
                state = "return [viewer.isComplete, viewer.isFullyLoaded, viewer.missingTiles]"
                self.assertEqual(visit.run(state), [True, False, 8], "given up is not sharp")
                visit.run("""globalThis.told = []
                    for (const type of ['complete', 'fully-loaded']) viewer.addEventListener(type, () => told.push(type))""")
                visit.run(recover)
                visit.sharp()
                self.assertEqual(visit.run(state), [True, True, 0])
                visit.until("return told.length > 1")
                self.assertEqual(visit.run("return told"), ["complete", "fully-loaded"])
                self.assertEqual(visit.run(notice), "")
                counts = visit.run("return viewer.requestCounts")
                self.assertEqual((counts["failed"], counts["retried"]), (8, 24))

    def test_an_image_out_of_reach_opens_when_the_network_is_back(self):
        visit = self.visit(allowed_errors=["503"])
        is_away = True
        visit.page.route("**/api/images/**", lambda route: route.fulfill(status=503) if is_away else route.continue_())
        visit.photo(wait=False)
        notice = "return viewer.shadowRoot.querySelector('.notice').textContent"
        visit.until(f"{notice} === 'The image could not be loaded.'")
        is_away = False
        visit.run("dispatchEvent(new Event('online'))")
        visit.sharp()
        self.assertEqual(visit.run(notice), "")

    def test_an_image_that_cannot_be_paged_to_is_named_and_the_next_ones_are_not_lost(self):
        visit = self.visit(allowed_errors=["503"]).photo("ColorfulCups")
        visit.until("return viewer.images.length > 1 && document.getElementById('counter').hidden === false")
        visit.page.route("**/api/images/landscapes%2FSafeLanding**", lambda route: route.fulfill(status=503))
        visit.run("viewer.goTo(3)")
        visit.until("return viewer.shadowRoot.querySelector('.notice').textContent === 'The image could not be loaded.'")
        self.assertEqual(visit.run("return [document.title, document.getElementById('facts').textContent]"), ["SafeLanding", ""])
        visit.run("viewer.goTo(2)")
        visit.until("return viewer.isFullyLoaded && document.title === 'FallenLeaf'")

    def test_a_missing_tile_is_reported_and_requested_once(self):
        visit = self.visit(allowed_errors=["404"], tile_by_tile=True)
        visit.page.route("**/*_files/13/3_1*", lambda route: route.fulfill(status=404))
        visit.page.add_init_script("""globalThis.told = []
            for (const type of ['complete', 'fully-loaded']) {
              document.addEventListener(type, () => globalThis.told.push(type), true)
            }""")
        visit.photo(view="scale=1&x=1500&y=500", wait=False)
        visit.until("return told.length > 0", "nothing more to come")
        self.assertEqual(visit.run("return [viewer.isComplete, viewer.isFullyLoaded, viewer.missingTiles]"), [True, False, 1])
        self.assertEqual(visit.tiles().count((13, 3, 1)), 1)
        notice = visit.run("const p = viewer.shadowRoot.querySelector('.notice'); return p.hidden ? '' : p.textContent")
        self.assertEqual(notice, "One part of the image could not be loaded.")
        # Where nothing is missing it is sharp, and so once more where all of it is seen.
        visit.look("scale=1&x=0&y=2000")
        self.assertEqual(visit.run("return [viewer.isComplete, viewer.missingTiles]"), [True, 0])
        visit.until("return told.length > 2")
        self.assertEqual(visit.run("return told"), ["complete", "complete", "fully-loaded"])


if __name__ == "__main__":
    unittest.main()
