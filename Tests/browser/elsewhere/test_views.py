"""The pages of docs/how-to/views.md: an image opens at a rectangle, and an address leads back to its view."""

import re
import unittest

from browser import ROOT
from embedding import Elsewhere, EmbeddingTest

GUIDE = (ROOT / "docs/how-to/views.md").read_text()
RECTANGLE, PAGE = re.findall(r"^```html\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
# The names in the guide, and the images here.
NAMES = {"night-watch": "FallenLeaf", "harbour": "landscapes%2FSafeLanding"}
STATE = """const { width, height, rotation } = viewer.viewport
    const { x, y } = viewer.elementToImage({ x: 0, y: 0 }), end = viewer.elementToImage({ x: width, y: height })
    return { title: viewer.source.title, box: [x, y, end.x, end.y], degrees: rotation.degrees, isFlipped: rotation.isFlipped }"""


class Views(EmbeddingTest):
    def guide(self, text, fragment="", **options):
        visit = self.visit(**options)
        text = text.replace("http://localhost:8080", visit.host.rstrip("/"))
        for name, image in NAMES.items():
            text = text.replace(f"id={name}&", f"id={image}&").replace(f"/{name}", f"/{image}").replace(f"'{name}'", f"'{image.replace('%2F', '/')}'")
        server = Elsewhere({"/": ("text/html", "<!doctype html><link rel=icon href=data:,>" + text)})
        self.addCleanup(server.close)
        visit.page.goto(server.address + fragment)
        visit.until("return viewer.isFullyLoaded")
        visit.requests[:] = [url for url in visit.requests if not url.startswith(server.address)]
        self.addCleanup(lambda: visit.requests.__setitem__(slice(None), [url for url in visit.requests if not url.startswith(server.address)]))
        return visit

    def assert_rectangle(self, state):
        self.assertEqual(state["title"], "SafeLanding")
        left, top, right, bottom = state["box"]
        # In the middle, and one side fills the element.
        self.assertAlmostEqual((left + right) / 2, 1600, 3)
        self.assertAlmostEqual((top + bottom) / 2, 1000, 3)
        self.assertAlmostEqual(max(1200 / (right - left), 800 / (bottom - top)), 1, 6)

    def test_a_rectangle(self):
        for width, height in ((1000, 700), (500, 800)):
            with self.subTest(width=width):
                visit = self.guide("<style>ziggurat-viewer { height: 30rem }</style>" + RECTANGLE, width=width, height=height)
                self.assert_rectangle(visit.run(STATE))
                visit.run("viewer.fit()")
                visit.until("return viewer.isFullyLoaded")
                visit.run("viewer.zoomToRegion({ x: 1000, y: 600, width: 1200, height: 800 })")
                visit.until("return viewer.isFullyLoaded")
                self.assert_rectangle(visit.run(STATE))

    def test_links_and_the_address(self):
        visit = self.guide(PAGE)
        self.assertEqual(visit.run(STATE)["title"], "SafeLanding")
        visit.page.click("text=The Night Watch")
        visit.until("return viewer.source?.title === 'FallenLeaf' && viewer.isFullyLoaded")
        visit.page.click("text=The captain")
        visit.until("return viewer.source?.title === 'SafeLanding' && viewer.isFullyLoaded")
        self.assert_rectangle(visit.run(STATE))
        visit.run("viewer.rotate(30); viewer.flip(); viewer.zoomTo(0.5)")
        visit.until("return viewer.isFullyLoaded")
        state, fragment = visit.run(STATE), visit.run("return location.hash")
        self.assertEqual([state["degrees"], state["isFlipped"]], [30, True])
        again = self.guide(PAGE, fragment).run(STATE)
        for value, expected in zip(again.pop("box"), state.pop("box")):
            self.assertAlmostEqual(value, expected, 3)
        self.assertEqual(again, state)

    def test_a_view_that_is_restored(self):
        [program] = [block for block in re.findall(r"^```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL) if "JSON.parse" in block]
        visit = self.guide(PAGE)
        saved, rest = program.split("\n", 1)
        # The view that is shown already, and another.
        for move in ("", "viewer.viewport = { scale: 0.5, x: 0, y: 0 }"):
            restored = visit.run(f"{saved}\n{move}\n{rest}\nreturn [viewer.isComplete, JSON.stringify(viewer.viewport) === saved]")
            self.assertEqual(restored, [True, True], move)


if __name__ == "__main__":
    unittest.main()
