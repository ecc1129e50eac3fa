"""Every combination of the viewport query's parameters, against a model written from docs/reference/viewport-query.md alone."""

import http.client
import itertools
import json
import math
import re
import unittest
from urllib.parse import urlencode

from harness import SampleServerTest, seed

WIDTH, HEIGHT = 3001, 1703
WINDOW = 300.0, 200.0
TURNS = [{}, {"rotation": 90}, {"rotation": 33, "flip": "true"}, {"rotation": -120}, {"flip": "true"}]


def box(width: float, height: float, degrees: float) -> tuple[float, float]:
    """The upright box around a rotated rectangle."""
    cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    return width * cos + height * sin, width * sin + height * cos


def fitted(fit: str, degrees: float) -> float:
    seen, window = box(WIDTH, HEIGHT, degrees), box(*WINDOW, degrees)
    return {"none": 1, "width": WINDOW[0] / seen[0], "contain": min(WINDOW[0] / seen[0], WINDOW[1] / seen[1]),
            "cover": max(window[0] / WIDTH, window[1] / HEIGHT)}[fit]


def model(query: dict) -> dict | None:
    """The viewport of a query by the numbered steps of the documentation; None if it is refused."""
    if "center" in query and ("x" in query or "y" in query) or query.get("minScale", 0) > query.get("maxScale", math.inf):
        return None
    degrees = query.get("rotation", 0)
    # 1: the fit, and 2: the scale.
    scale = query.get("scale", fitted(query.get("fit", "contain"), degrees))
    if "scale" in query and "fit" not in query:
        x, y = 0.0, 0.0
    else:
        x, y = WIDTH / 2 * scale - WINDOW[0] / 2, HEIGHT / 2 * scale - WINDOW[1] / 2
    # 3: the position.
    if "center" in query:
        x, y = (float(value) * scale - side / 2 for value, side in zip(query["center"].split(","), WINDOW))
    x, y = query.get("x", x), query.get("y", y)
    # 4 and 5: zoom and limits.
    whole = fitted("contain", degrees)
    minimum = query.get("minScale", min(whole, query.get("maxScale", whole)))
    maximum = query.get("maxScale", max(1, 16 * whole, minimum))
    zoomed = scale * query.get("zoom", 1)
    if "minScale" in query:
        zoomed = max(zoomed, minimum)
    elif zoomed < scale:
        zoomed = max(zoomed, min(minimum, scale))
    if "maxScale" in query:
        zoomed = min(zoomed, maximum)
    elif zoomed > scale:
        zoomed = max(scale, min(zoomed, max(maximum, query.get("minScale", 0))))
    # The image point at the anchor stays: the anchor before the rotation, from the middle of the window.
    px, py = (float(value) - side / 2 for value, side in zip(query.get("anchor", f"{WINDOW[0] / 2},{WINDOW[1] / 2}").split(","), WINDOW))
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    ax, ay = px * cos + py * sin, py * cos - px * sin
    if "flip" in query:
        ax = -ax
    ax, ay = ax + WINDOW[0] / 2, ay + WINDOW[1] / 2
    x, y = (x + ax) / scale * zoomed - ax, (y + ay) / scale * zoomed - ay
    # 6: the clamp.
    if query.get("clamp"):
        reach = box(*WINDOW, degrees)
        x, y = (((content - side) / 2 if content <= needed
                 else min(max(offset, (needed - side) / 2), content - (needed + side) / 2))
                for offset, content, side, needed in zip((x, y), (WIDTH * zoomed, HEIGHT * zoomed), WINDOW, reach))
    return {"scale": zoomed, "x": x, "y": y, "minScale": minimum, "maxScale": maximum}


class Parameters(SampleServerTest):
    def setUp(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        self.addCleanup(self.connection.close)

    def ask(self, query: dict) -> tuple[int, dict]:
        self.connection.request("GET", "/api/images/photo/viewport?" + urlencode({"width": 300, "height": 200, **query}))
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def test_every_combination_is_what_the_documentation_says(self):
        choices = {
            "fit": [None, "contain", "cover", "width", "none"], "scale": [None, 0.03, 0.7, 40],
            "position": [{}, {"x": 70}, {"x": 70, "y": -30}, {"center": "2000.5,-80"}, {"center": "9,9", "y": 1}],
            "zoom": [None, 1.01, 1000, 0.001], "anchor": [None, "20,190.5"],
            "limits": [{}, {"minScale": 0.5}, {"maxScale": 0.05}, {"minScale": 0.06, "maxScale": 0.6}, {"minScale": 2, "maxScale": 1}],
            "clamp": [None, "1"],
        }
        turns, count = itertools.cycle(TURNS), 0
        for fit, scale, position, zoom, anchor, limits, clamp in itertools.product(*choices.values()):
            query = {"fit": fit, "scale": scale, "zoom": zoom, "anchor": anchor, "clamp": clamp, **position, **limits, **next(turns)}
            query = {name: value for name, value in query.items() if value is not None}
            expected = model(query)
            status, answer = self.ask(query)
            count += 1
            if expected is None:
                self.assertEqual(status, 400, query)
                wrong = {error["parameter"] for error in answer["errors"]}
                self.assertEqual(wrong, {name for name, isWrong in (
                    ("center", "center" in query and ("x" in query or "y" in query)),
                    ("minScale", query.get("minScale", 0) > query.get("maxScale", math.inf))) if isWrong}, query)
                continue
            self.assertEqual(status, 200, query)
            for name, value in expected.items():
                self.assertAlmostEqual(answer["viewport"][name], value, delta=1e-9 * max(1, abs(value), 1e4), msg=f"{name} of {query}")
        self.assertEqual(count, math.prod(map(len, choices.values())))

    def test_a_little_zoom_changes_little(self):
        """No scale jumps to a limit when the first step of a zoom is asked for."""
        for scale, limits, clamp in itertools.product((1e-6, 0.02, 1, 30, 1e5), ({}, {"minScale": 0.01}, {"maxScale": 2}), ("0", "1")):
            query = {"scale": scale, "clamp": clamp, **limits}
            still = self.ask({**query, "zoom": 1})[1]["viewport"]["scale"]
            for zoom in (1 - 1e-9, 1 + 1e-9):
                self.assertAlmostEqual(self.ask({**query, "zoom": zoom})[1]["viewport"]["scale"], still, delta=still * 1e-8, msg=query)

    def test_a_clamp_alone_changes_no_scale(self):
        for scale in (1e-4, 0.03, 1, 50):
            self.assertEqual(self.ask({"scale": scale, "clamp": 1})[1]["viewport"]["scale"], scale)
        self.assertEqual(self.ask({"fit": "none", "clamp": 1})[1]["viewport"]["scale"], 1)
        self.assertEqual(self.ask({"fit": "none", "clamp": 1})[1]["viewport"], self.ask({"scale": 1, "fit": "none", "clamp": 1})[1]["viewport"])

    def test_points_are_taken_as_the_description_has_them(self):
        """By the patterns of /openapi.json: what they have is taken, and what any language prints of a number they have."""
        parameters = json.loads(self.server.get("/openapi.json").body)["components"]["parameters"]
        chance = seed("points")
        for name, largest in (("center", 15), ("anchor", 9)):
            pattern = re.compile(parameters[name]["schema"]["pattern"])
            made = ["0,0", "5.,.5", "+1,-1", "-0,0e-0", "1e-400,1e-7", f"{'9' * largest},-{'9' * largest}.5", f"9.99e{largest - 1},1E+0{largest % 10 - 1}"]
            for _ in range(300):
                pair = [chance.uniform(-1, 1) * 10 ** chance.uniform(-20, largest) for _ in "xy"]
                # As Python and C, JavaScript, and a fixed number of digits.
                made.append(",".join(chance.choice((repr(value), re.sub(r"e-0", "e-", repr(value)), f"{value:.6f}", f"{value:e}", f"{value:.17g}"))
                                     for value in pair))
            for text in made:
                self.assertRegex(text, pattern)
                self.assertEqual(self.ask({name: text})[0], 200, text)
            for text in ("", "1", "1,", ",1", "1,2,3", "1 ,2", "a,1", "nan,1", "inf,1", "0x1,1", "1e,1", ".,1", "1;2", "--1,1"):
                self.assertNotRegex(text, pattern)
                self.assertEqual(self.ask({name: text})[0], 400, text)

    def test_a_contradiction_is_named_with_all_other_errors(self):
        status, answer = self.ask({"center": "1,2", "x": 3, "y": 4, "minScale": 2, "maxScale": 1, "dpr": 99})
        self.assertEqual(status, 400)
        self.assertEqual([(error["parameter"], error["detail"].split(";")[0]) for error in answer["errors"]],
                         [("center", "center cannot be used with x and y"), ("minScale", "minScale is '2'"), ("dpr", "dpr is '99'")])


if __name__ == "__main__":
    unittest.main()
