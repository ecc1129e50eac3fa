"""The viewport query, over HTTP and offline, against the brute-force oracle."""

import json
import math
import os
from fractions import Fraction
from urllib.parse import quote, urlencode

from harness import SampleServerTest, Server, folder, run, sample_library, seed
from oracle import Image, View
from szi import archives

QUERIES = int(os.environ.get("QUERIES", "600"))
IMAGES = {"photo": Image(3001, 1703, 512), "two words": Image(513, 511, 512), "dot": Image(1, 1, 512),
          "deep/er/leaf": Image(1024, 512, 512), "line": Image(1, 2000, 512)}


class Viewport(SampleServerTest):
    def ask(self, image: str, **parameters) -> dict:
        answer = self.server.get(f"/api/images/{quote(image, safe='')}/viewport?{urlencode(parameters)}")
        self.assertEqual(answer.status, 200, f"{parameters} {answer}")
        self.assertEqual(answer["content-type"].split(";")[0], "application/json")
        return json.loads(answer.body)

    def check(self, name: str, answer: dict, density: Fraction, exact: bool):
        """An answer's level, tiles, rectangles and order, given the viewport it says it answers."""
        image, view = IMAGES[name], View.from_answer(answer["viewport"])
        self.assertEqual(answer["level"], image.level_for(density))
        self.assertEqual(answer["levelScale"], 2.0 ** (answer["level"] - image.top))
        tiles = [tile for tile in answer["tiles"] if tile["level"] == answer["level"] and not tile["prefetch"]]
        found = [(tile["column"], tile["row"]) for tile in tiles]
        self.assertEqual(len(found), len(set(found)), "a tile twice")
        areas = image.areas(answer["level"], view)
        # Rounded coordinates may decide otherwise about a sliver: its area is its length times nothing.
        sliver = 0 if exact else Fraction(1, 10 ** 6) * max(1, (view.width + view.height) / view.scale)
        needed = {tile for tile, area in areas.items() if area > sliver}
        self.assertEqual(needed - set(found), set(), "missing")
        spare = set(found) - needed
        if exact:
            self.assertEqual(spare, set(), "spare")
        else:
            self.assertEqual({tile for tile in spare if not self.near(image, answer["level"], tile, view)}, set(), "spare")
        for tile in tiles:
            self.check_rectangles(image, view, tile)
        self.check_order(image, answer["level"], view, found)

    def near(self, image, level, tile, view) -> bool:
        """Whether a tile grown by a millionth of the view meets it: then rounding may decide."""
        grown = View(view.width * (1 + Fraction(1, 10 ** 6)), view.height * (1 + Fraction(1, 10 ** 6)), view.scale,
                     view.x - view.width / (2 * 10 ** 6), view.y - view.height / (2 * 10 ** 6), view.rotation, view.flip)
        return image.areas(level, grown)[tile] > 0

    def check_rectangles(self, image, view, tile):
        place = tile["level"], tile["column"], tile["row"]
        source = tile["source"]
        self.assertEqual((source["x"], source["y"], source["width"], source["height"]), image.source(*place))
        left, top, right, bottom = image.rectangle(*place)
        expected = (left * view.scale - view.x, top * view.scale - view.y,
                    (right - left) * view.scale, (bottom - top) * view.scale)
        target = tuple(tile["target"][name] for name in ("x", "y", "width", "height"))
        for got, want in zip(target, expected):
            self.assertAlmostEqual(got, float(want), delta=1e-6 * max(1, abs(float(want)), abs(float(view.x))))

    def check_order(self, image, level, view, found):
        """Nearest the centre first, measured to the nearest point of a tile or to its middle."""
        cx, cy = map(float, view.image_point(view.width / 2, view.height / 2))

        def nearest(tile):
            left, top, right, bottom = image.rectangle(level, *tile)
            return math.hypot(max(left - cx, 0, cx - right), max(top - cy, 0, cy - bottom))

        def middle(tile):
            left, top, right, bottom = image.rectangle(level, *tile)
            return math.hypot((left + right) / 2 - cx, (top + bottom) / 2 - cy)

        def whole(tile):  # The middle of the tile's cell, edge tiles taken as full ones.
            side = image.tile << (image.top - level)
            return math.hypot((tile[0] + 0.5) * side - cx, (tile[1] + 0.5) * side - cy)

        def sorted_by(distance) -> bool:
            steps = [distance(tile) for tile in found]
            return all(b >= a - 1e-6 * max(1, a) for a, b in zip(steps, steps[1:]))

        self.assertTrue(any(map(sorted_by, (nearest, middle, whole))), f"order {found}")

    def test_random_views_exactly(self):
        """Scales that are powers of two, whole offsets, quarter turns: no rounding, so no tolerance."""
        chance = seed("exact views")
        for _ in range(QUERIES):
            name = chance.choice(list(IMAGES))
            image = IMAGES[name]
            scale = 2.0 ** chance.randint(-13, 5)
            width, height = chance.choice((1, 2, 511, 512, 513, 1024, chance.randint(1, 3000))), chance.randint(1, 2000)
            step = chance.choice((1, 64, 512))
            x = chance.randint(int(-width - 10), int(image.width * scale) + 10) // step * step
            y = chance.randint(int(-height - 10), int(image.height * scale) + 10) // step * step
            parameters = {"width": width, "height": height, "scale": scale, "x": x, "y": y,
                          "minScale": 2.0 ** -14, "maxScale": 64, "rotation": chance.choice((0, 0, 90, 180, 270, -90)),
                          "flip": chance.choice(("true", "false")), "dpr": chance.choice((1, 2))}
            with self.subTest(image=name, **parameters):
                answer = self.ask(name, **parameters)
                view = answer["viewport"]
                self.assertEqual((view["width"], view["height"], view["scale"], view["x"], view["y"]),
                                 (width, height, scale, x, y))
                self.check(name, answer, Fraction(scale) * parameters["dpr"], exact=True)

    def test_random_views_at_any_angle(self):
        chance = seed("any views")
        for _ in range(QUERIES):
            name = chance.choice(list(IMAGES))
            image = IMAGES[name]
            scale = math.exp(chance.uniform(math.log(1e-4), math.log(30)))
            width, height = chance.uniform(1, 2500), chance.uniform(1, 2500)
            parameters = {"width": width, "height": height, "scale": scale, "minScale": 1e-5, "maxScale": 100,
                          "x": chance.uniform(-1.5 * width, image.width * scale + width / 2),
                          "y": chance.uniform(-1.5 * height, image.height * scale + height / 2),
                          "rotation": chance.choice((0, chance.uniform(-720, 720), 45, 1e-7)),
                          "flip": chance.choice(("true", "false")), "dpr": chance.choice((1, 1.25, 2, 3))}
            with self.subTest(image=name, **parameters):
                answer = self.ask(name, **parameters)
                self.assertAlmostEqual(answer["viewport"]["scale"], scale, delta=scale * 1e-12)
                self.check(name, answer, Fraction(scale) * Fraction(parameters["dpr"]), exact=False)

    def test_levels_at_their_exact_borders(self):
        for power in range(-14, 3):
            for factor in (1, 1 + 1e-12, 1 - 1e-12):
                scale = 2.0 ** power * factor
                answer = self.ask("photo", width=700, height=500, scale=repr(scale), x=0, y=0,
                                  minScale=1e-6, maxScale=100)
                self.assertEqual(answer["level"], IMAGES["photo"].level_for(Fraction(scale)), scale)

    def test_a_touched_edge_is_not_seen(self):
        for x, columns in ((512, {1}), (511, {0, 1}), (512.5, {1, 2}), (-512, set()), (-511.5, {0}), (3001, set()),
                           (3000.5, {5})):
            answer = self.ask("photo", width=512, height=100, scale=1, x=x, y=0)
            self.assertEqual({tile["column"] for tile in answer["tiles"]}, columns, x)

    def test_fits(self):
        for width, height in ((1280, 800), (300, 900), (3001, 1703), (7, 5)):
            for fit, scale in (("contain", min(width / 3001, height / 1703)), ("cover", max(width / 3001, height / 1703)),
                               ("width", width / 3001), ("none", 1), (None, min(width / 3001, height / 1703))):
                with self.subTest(width=width, height=height, fit=fit):
                    answer = self.ask("photo", width=width, height=height, **({"fit": fit} if fit else {}))
                    view = View.from_answer(answer["viewport"])
                    self.assertAlmostEqual(float(view.scale), scale, delta=scale * 1e-12)
                    centre = view.image_point(view.width / 2, view.height / 2)
                    self.assertAlmostEqual(float(centre[0]), 1500.5, delta=1e-6)
                    self.assertAlmostEqual(float(centre[1]), 851.5, delta=1e-6)
                    self.check("photo", answer, view.scale, exact=False)

    def test_the_centre_is_where_it_is_asked_for(self):
        chance = seed("centres")
        for _ in range(60):
            cx, cy, scale = chance.uniform(0, 3001), chance.uniform(0, 1703), chance.uniform(0.05, 8)
            answer = self.ask("photo", width=900, height=700, scale=scale, center=f"{cx},{cy}", minScale=0.01, maxScale=20,
                              rotation=chance.choice((0, 33)))
            middle = View.from_answer(answer["viewport"]).image_point(450, 350)
            self.assertAlmostEqual(float(middle[0]), cx, delta=1e-6)
            self.assertAlmostEqual(float(middle[1]), cy, delta=1e-6)

    def test_zoom_keeps_the_point_under_the_anchor(self):
        chance = seed("anchors")
        for _ in range(200):
            before = View(Fraction(900), Fraction(700), Fraction(chance.uniform(0.05, 2)), Fraction(chance.uniform(-300, 900)),
                          Fraction(chance.uniform(-300, 900)), chance.choice((0, 0, 90, 31.5)), chance.random() < 0.3)
            px, py = chance.uniform(0, 900), chance.uniform(0, 700)
            zoom = math.exp(chance.uniform(-2, 2))
            parameters = {"width": 900, "height": 700, "scale": repr(float(before.scale)), "x": repr(float(before.x)),
                          "y": repr(float(before.y)), "anchor": f"{px!r},{py!r}", "zoom": repr(zoom), "minScale": 1e-4,
                          "maxScale": 1000, "rotation": before.rotation, "flip": str(before.flip).lower()}
            with self.subTest(**parameters):
                answer = self.ask("photo", **parameters)
                after = View.from_answer(answer["viewport"])
                self.assertAlmostEqual(float(after.scale), float(before.scale) * zoom, delta=float(after.scale) * 1e-9)
                for was, now in zip(before.image_point(px, py), after.image_point(px, py)):
                    self.assertAlmostEqual(float(was), float(now), delta=1e-5)

    def test_zoom_stops_at_the_limits(self):
        fit = min(900 / 3001, 700 / 1703)
        for zoom, scale in ((1e-6, fit), (1e6, max(1, 16 * fit))):
            answer = self.ask("photo", width=900, height=700, scale=0.5, x=10, y=20, anchor="450,350", zoom=zoom)
            self.assertAlmostEqual(answer["viewport"]["scale"], scale, delta=scale * 1e-9)
            self.assertAlmostEqual(answer["viewport"]["minScale"], fit, delta=1e-9)
            self.assertAlmostEqual(answer["viewport"]["maxScale"], max(1, 16 * fit), delta=1e-9)

    def test_clamp_leaves_no_gap_and_centres(self):
        chance = seed("clamps")
        for _ in range(100):
            scale = math.exp(chance.uniform(math.log(0.02), math.log(4)))
            answer = self.ask("photo", width=900, height=700, scale=repr(scale), x=chance.uniform(-5000, 9000),
                              y=chance.uniform(-5000, 9000), clamp="true", minScale=0.001, maxScale=10)["viewport"]
            for offset, side, window in ((answer["x"], 3001 * scale, 900), (answer["y"], 1703 * scale, 700)):
                if side <= window:
                    self.assertAlmostEqual(offset, (side - window) / 2, delta=1e-6)
                else:
                    self.assertGreaterEqual(offset, -1e-6)
                    self.assertLessEqual(offset, side - window + 1e-6)

    def test_margin_adds_rings_that_are_marked(self):
        for margin in (0, 1, 2, 9):
            answer = self.ask("photo", width=400, height=300, scale=1, x=1100, y=600, buffer=margin)
            seen = {(tile["column"], tile["row"]) for tile in answer["tiles"] if not tile["prefetch"]}
            ahead = {(tile["column"], tile["row"]) for tile in answer["tiles"] if tile["prefetch"]}
            self.assertEqual(seen, {(2, 1)})
            around = {(column, row) for column in range(6) for row in range(4)
                      if abs(column - 2) <= margin and abs(row - 1) <= margin}
            self.assertEqual(ahead, around - seen)

    def test_more_tiles_than_anybody_shows_are_refused_with_the_limit_named(self):
        place = folder("vast")
        (place / "vast_files/17").mkdir(parents=True)
        (place / "vast_files/17/0_0.jpg").write_bytes(b"no tile")
        (place / "vast.dzi").write_text(
            '<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="64" Overlap="0" '
            'Format="jpg"><Size Width="100000" Height="100000"/></Image>')
        with Server(place) as server:
            def ask(**parameters):
                return server.get("/api/images/vast/viewport?" + urlencode({"scale": 1, **parameters}))
            answer = ask(width=6400, height=6400)
            self.assertEqual((answer.status, len(json.loads(answer.body)["tiles"])), (200, 10_000))
            for parameters, name, message in (({"width": 6401, "height": 6400}, "width", "10000 tiles cover, not 10100"),
                                            ({"width": 32768, "height": 32768}, "width", "10000 tiles"),
                                            ({"width": 1280, "height": 640, "x": 40000, "y": 40000, "buffer": 64}, "buffer",
                                             "from 0 to 42 "),
                                            # As version 0.1 called it.
                                            ({"width": 1280, "height": 640, "x": 40000, "y": 40000, "margin": 64}, "margin",
                                             "from 0 to 42 ")):
                answer = ask(**parameters)
                self.assertEqual((answer.status, answer["content-type"]), (400, "application/problem+json"), parameters)
                detail = json.loads(answer.body)["detail"]
                self.assertTrue(detail.startswith(f"{name} is '{parameters[name]}'"), detail)
                self.assertIn(message, detail)
            answer = ask(width=1280, height=640, x=40000, y=40000, buffer=42)
            self.assertLessEqual(len(json.loads(answer.body)["tiles"]), 10_000)

    def test_fallback_adds_coarser_levels_first(self):
        parameters = {"width": 640, "height": 480, "scale": 1, "x": 700, "y": 900}
        plain, more = self.ask("photo", **parameters), self.ask("photo", **parameters, fallback="true")
        order = [tile["level"] for tile in more["tiles"]]
        self.assertEqual(order, sorted(order))
        self.assertLess(order[0], plain["level"])
        self.assertEqual([tile for tile in more["tiles"] if tile["level"] == plain["level"]], plain["tiles"])
        image, view = IMAGES["photo"], View.from_answer(more["viewport"])
        for level in set(order):
            found = {(tile["column"], tile["row"]) for tile in more["tiles"] if tile["level"] == level}
            self.assertEqual(found, {tile for tile, area in image.areas(level, view).items() if area > 0})

    def test_visible_is_what_is_seen(self):
        visible = self.ask("photo", width=400, height=300, scale=0.5, x=-100, y=700)["viewport"]["visible"]
        self.assertEqual(visible, {"x": 0, "y": 1400, "width": 600, "height": 303})

    def test_nothing_visible_is_an_empty_list(self):
        for x, y in ((-5000, 0), (0, 99999), (1e15, -1e15)):
            self.assertEqual(self.ask("photo", width=400, height=300, scale=1, x=x, y=y)["tiles"], [])

    def test_urls_answer(self):
        for name in IMAGES:
            for tile in self.ask(name, width=640, height=480, buffer=1)["tiles"]:
                url = tile["url"]
                path = url[url.index("/", 9):] if url.startswith("http") else url
                answer = self.server.get(path)
                self.assertEqual((answer.status, answer["content-type"]), (200, "image/jpeg"), url)

    def test_offline_answers_are_the_same(self):
        chance = seed("offline")
        paths = {path.relative_to(sample_library()).with_suffix("").as_posix(): path
                 for path in archives(sample_library())}
        for _ in range(25):
            name = chance.choice(["photo", "two words", "deep/er/leaf"])
            width, height, scale = chance.randint(1, 2000), chance.randint(1, 2000), chance.choice((0.25, 0.7, 1, 1.5))
            x, y = chance.randint(-300, 900), chance.randint(-300, 900)
            result = run("tiles", paths[name], "--viewport", f"{width}x{height}", "--scale", scale, f"--offset={x},{y}")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            offline = json.loads(result.stdout)
            online = self.ask(name, width=width, height=height, scale=scale, x=x, y=y)
            self.assertEqual(offline["level"], online["level"])
            self.assertEqual(offline["viewport"], online["viewport"])
            strip = lambda tiles: [{key: tile[key] for key in tile if key != "url"} for tile in tiles]
            self.assertEqual(strip(offline["tiles"]), strip(online["tiles"]))

    def test_offline_a_centre_and_an_offset_contradict_each_other(self):
        [path] = [path for path in archives(sample_library()) if path.stem == "photo"]
        result = run("tiles", path, "--viewport", "300x200", "--offset", "1,2", "--center", "3,4")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--center cannot be used with --offset", result.stderr)
