"""OpenSeadragon, as released, with our tile source: the first view in one answer, and no tile missing wherever one goes."""

import io
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

from browser import HEIGHT, PHOTO, ROOT, WIDTH, PageTest, served, source

sys.path.append(str(ROOT / "Tests/bench"))
import openseadragon  # noqa: E402
from harness import seed  # noqa: E402

# `make test-moves` goes to a thousand.
MOVES = int(os.environ.get("MOVES", 100))
ADDRESS = "/api/images/" + PHOTO.replace("/", "%2F")
PAGE = """<!doctype html><meta charset="utf-8"><title>OpenSeadragon</title><script src="/openseadragon.js"></script>
<style>body { margin: 0 } #viewer { width: 100vw; height: 100vh; background: #fff }</style><div id="viewer"></div>
"""
# It keeps few tiles, so that many are asked for again; but a view on the slant and what is coarser, together some 35, for it drops
# and asks for ever where it may keep fewer than it shows.
OPEN = """
import { zigguratTileSource } from '/openseadragon/ziggurat-tile-source.js'
globalThis.faults = []
globalThis.jobs = []
let frame = 0
const count = () => { frame += 1; requestAnimationFrame(count) }
count()
const { addJob } = OpenSeadragon.ImageLoader.prototype
OpenSeadragon.ImageLoader.prototype.addJob = function (job) { jobs.push(frame); return addJob.call(this, job) }
globalThis.osd = OpenSeadragon({ id: 'viewer', drawer: 'canvas', showNavigationControl: false, animationTime: 0, blendTime: 0, maxImageCacheCount: 48,
  tileSources: zigguratTileSource(OpenSeadragon, 'ADDRESS', { element: 'viewer' }) })
osd.addHandler('tile-load-failed', ({ tile }) => faults.push(String(tile)))
const look = () => osd.world.getItemAt(0)?.getFullyLoaded() && osd.world.getItemAt(0).lastDrawn.length
  ? globalThis.askedWhenSharp = [...fetched] : requestAnimationFrame(look)
look()
osd.addHandler('open-failed', ({ message }) => faults.push(message))
"""
# To a view, and until it is whole: what is missing of it then, by the arithmetic of Deep Zoom.
GO = """globalThis.go = async ({ x, y, zoom, rotation }) => {
  osd.viewport.zoomTo(zoom, null, true)
  osd.viewport.panTo(new OpenSeadragon.Point(x, y), true)
  osd.viewport.setRotation(rotation, true)
  const item = osd.world.getItemAt(0)
  await new Promise((done) => {
    const look = () => item.getFullyLoaded() && !osd.world.needsDraw() ? done() : requestAnimationFrame(look)
    requestAnimationFrame(() => requestAnimationFrame(look))
  })
  const { source } = item
  const scale = osd.viewport.getContainerSize().x * osd.viewport.getZoom(true) / source.width
  const level = Math.max(source.minLevel, Math.min(source.maxLevel, Math.floor(source.maxLevel + Math.log2(scale * devicePixelRatio * 2) + 1e-9)))
  const bounds = osd.viewport.getBounds(true).getBoundingBox()
  const unit = source.width / 2 ** (source.maxLevel - level) / 512
  const across = Math.ceil(Math.ceil(source.width / 2 ** (source.maxLevel - level)) / 512)
  const down = Math.ceil(Math.ceil(source.height / 2 ** (source.maxLevel - level)) / 512)
  const missing = []
  // A rotated view's box holds tiles that are not in it: its middle is what is looked at then.
  const part = rotation ? 0.5 : 1
  const [left, top] = [bounds.x + bounds.width * (1 - part) / 2, bounds.y + bounds.height * (1 - part) / 2]
  const span = rotation ? 0 : 1
  for (let column = 0; column < across; column += 1) {
    for (let row = 0; row < down; row += 1) {
      const [x0, y0, x1, y1] = [column / unit, row / unit, (column + 1) / unit, (row + 1) / unit]
      const seen = x0 < left + bounds.width * part * span - 1e-6 && x1 > left + 1e-6 && y0 < top + bounds.height * part * span - 1e-6 && y1 > top + 1e-6
      if (seen && !item.tilesMatrix[level]?.[column]?.[row]?.loaded) missing.push(`${level}/${column}_${row}`)
    }
  }
  return { missing, level }
}
undefined"""


class OpenSeadragon(PageTest):
    def osd(self, address=ADDRESS, allowed_errors=(), **options):
        visit = self.visit(allowed_errors=allowed_errors, **options)
        script = openseadragon.minified().read_text()
        visit.page.route("**/openseadragon.js", lambda route: route.fulfill(content_type="text/javascript", body=script))
        visit.page.route("**/with-openseadragon", lambda route: route.fulfill(
            content_type="text/html", body=f"{PAGE}<script type=module>{OPEN.replace('ADDRESS', address)}</script>"))
        visit.open("with-openseadragon", wait=False)
        return visit

    def sharp(self, visit):
        visit.until("return globalThis.osd?.world.getItemAt(0)?.getFullyLoaded() && osd.world.getItemAt(0).lastDrawn.length > 0", seconds=20)

    def difference(self, visit):
        """How far what is shown is from the photograph, in lightness."""
        box = visit.run("const { x, y, width, height } = osd.viewport.getBounds(true); return [x, y, x + width, y + height]")
        shown = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
        scale = shown.width / ((box[2] - box[0]) * WIDTH)
        inside = [max(0, box[0] * WIDTH), max(0, box[1] * WIDTH), min(box[2] * WIDTH, WIDTH), min(box[3] * WIDTH, HEIGHT)]
        left, top = box[0] * WIDTH, box[1] * WIDTH
        shown = shown.crop([round((inside[0] - left) * scale), round((inside[1] - top) * scale),
                            round((inside[2] - left) * scale), round((inside[3] - top) * scale)])
        # Small: the test checks which tile is missing, not how a canvas scales.
        size = (200, max(1, round(200 * shown.height / shown.width)))
        shown = shown.resize(size, Image.Resampling.BOX)
        part = Image.open(source(PHOTO)).convert("RGB").resize(size, Image.Resampling.BOX, box=inside)
        [difference] = ImageStat.Stat(ImageChops.difference(shown.convert("L"), part.convert("L"))).mean
        return difference

    def test_jpeg_xl_which_the_browser_lacks_is_whole_tile_by_tile(self):
        place = Path(tempfile.mkdtemp(prefix="ziggurat-jxl-"))
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        (place / "photos").mkdir()
        shutil.copy(source(PHOTO), place / "photos/photo.jpg")
        visit = self.osd("/api/images/photo", host=served(place / "photos", "--format", "jxl"))
        self.sharp(visit)
        self.assertEqual(visit.run("return faults"), [])
        self.assertLess(self.difference(visit), 8)

    def test_the_first_view_is_one_answer(self):
        for width, height, ratio in ((1280, 800, 1), (390, 844, 3), (1024, 576, 1)):
            with self.subTest(width=width, ratio=ratio):
                visit = self.osd(width=width, height=height, ratio=ratio)
                self.sharp(visit)
                visit.until("return globalThis.askedWhenSharp")
                asked = [url for url in visit.run("return globalThis.askedWhenSharp") if "SafeLanding" in url]
                self.assertIn("&include=overview%2Cdescription", asked[0])
                # Of what is coarser than the view, some may have been asked for on a slow machine.
                coarse = [float(re.search(r"&scale=([\d.]+)", url)[1]) for url in asked[1:]]
                self.assertTrue(all(scale < min(width / WIDTH, height / HEIGHT) * ratio for scale in coarse), asked)
                self.assertLess(self.difference(visit), 5)
                # By itself it takes ten tiles in the first frame, and one in each that follows.
                jobs = visit.run("return jobs")
                self.assertLessEqual(len(set(jobs)), 3, jobs)
                self.assertEqual(visit.run("return globalThis.faults"), [])

    def test_a_first_view_that_the_page_has_asked_for_is_taken_and_one_that_failed_is_asked_for_again(self):
        script = openseadragon.minified().read_text()
        for failed in (False, True):
            with self.subTest(failed=failed):
                visit = self.visit(width=1280, height=800, allowed_errors=["404"] if failed else [])
                begun = f"""<script>const query = new URLSearchParams({{ width: innerWidth, height: innerHeight, dpr: devicePixelRatio * 1.00001,
                    include: 'overview,description' }})
                    globalThis.view = fetch(`{ADDRESS}{"-gone" if failed else ""}/viewport.tiles?${{query}}`)</script>"""
                body = f"{begun}{PAGE}<script type=module>{OPEN.replace('ADDRESS', ADDRESS)}</script>".replace("{ element: 'viewer' }", "{ element: 'viewer', view }")
                visit.page.route("**/openseadragon.js", lambda route: route.fulfill(content_type="text/javascript", body=script))
                visit.page.route("**/with-openseadragon", lambda route: route.fulfill(content_type="text/html", body=body))
                visit.open("with-openseadragon", wait=False)
                self.sharp(visit)
                visit.until("return globalThis.askedWhenSharp")
                views = [url for url in visit.requests if "include=overview%2Cdescription" in url]
                self.assertEqual(len(views), 2 if failed else 1, views)
                self.assertLess(self.difference(visit), 5)
                self.assertEqual(visit.run("return globalThis.faults"), [])

    def test_random_moves_miss_no_tile(self):
        chance = seed("openseadragon")
        visit = self.osd(width=700, height=500)
        self.sharp(visit)
        visit.page.evaluate(GO)
        for round_ in range(MOVES // 20):
            moves = [{"x": chance.uniform(0, 1), "y": chance.uniform(0, HEIGHT / WIDTH), "zoom": 2 ** chance.uniform(-0.5, 3.5),
                      "rotation": chance.choice([0, 0, 0, 90, 30])} for _ in range(20)]
            for move, result in zip(moves, visit.run("const results = []\nfor (const move of argument) results.push(await go(move))\n"
                                                     "return results", moves)):
                self.assertEqual(result["missing"], [], f"{move} at level {result['level']}")
            if round_ % 4 == 0:
                visit.run("return go(argument)", {"x": 0.4, "y": 0.3, "zoom": 1 + round_ % 40 / 8, "rotation": 0})
                self.assertLess(self.difference(visit), 5)
        self.assertEqual(visit.run("return globalThis.faults"), [])
        asked = [url for url in visit.run("return globalThis.fetched") if "SafeLanding" in url]
        together = [url for url in asked if "viewport.tiles" in url]
        self.assertGreater(len(together), MOVES / 5, "tiles of a move come together")

    def test_an_answer_that_is_cut_short_is_completed_tile_by_tile(self):
        visit = self.visit(width=700, height=500)
        visit.page.route("**/viewport.tiles?*", lambda route: route.fulfill(body=route.fetch().body()[:60_000]))
        script = openseadragon.minified().read_text()
        visit.page.route("**/openseadragon.js", lambda route: route.fulfill(content_type="text/javascript", body=script))
        visit.page.route("**/with-openseadragon", lambda route: route.fulfill(
            content_type="text/html", body=f"{PAGE}<script type=module>{OPEN.replace('ADDRESS', ADDRESS)}</script>"))
        visit.open("with-openseadragon", wait=False)
        self.sharp(visit)
        self.assertTrue([url for url in visit.requests if "_files/" in url])
        self.assertLess(self.difference(visit), 5)
        self.assertEqual(visit.run("return globalThis.faults"), [])

    def test_a_missing_image_is_reported(self):
        visit = self.osd("/api/images/nope", allowed_errors=["404"])
        visit.until("return globalThis.faults?.length")
        self.assertIn("404", visit.run("return globalThis.faults[0]"))


if __name__ == "__main__":
    unittest.main()
