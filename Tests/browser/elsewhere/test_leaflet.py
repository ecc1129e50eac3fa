"""Debian's Leaflet over the server's XYZ, IIIF and IIP tiles: no tile is missing at any zoom."""

import io
import itertools
import math
import re
import unittest
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

from browser import HEIGHT, PHOTO, ROOT, WIDTH, PageTest, source
from cases import every_other
from embedding import Elsewhere

GUIDE = ROOT / "docs/how-to/embed.md"
LEAFLET = Path("/usr/share/javascript/leaflet")
PAGE = """<!doctype html><meta charset="utf-8"><title>Leaflet</title>
<link rel="stylesheet" href="/leaflet/leaflet.css"><script src="/leaflet/leaflet.js"></script>
<style>body { margin: 0 } #map { width: 100vw; height: 100vh; background: #fff }</style><div id="map"></div>
"""
# A map in the picture's own pixels: at the last zoom one of them is one of the screen's.
MAP = """globalThis.show = (layer, width, height, zooms) => {
    const map = L.map('map', { crs: L.CRS.Simple, maxZoom: zooms, minZoom: 0, zoomAnimation: false, fadeAnimation: false,
                               inertia: false, attributionControl: false, zoomControl: false })
    const bounds = L.latLngBounds(map.unproject([0, height], zooms), map.unproject([width, 0], zooms))
    layer.options.bounds = bounds
    globalThis.faults = []
    layer.on('tileerror', (event) => faults.push(event.tile.src))
    Object.assign(globalThis, { map, layer, zooms })
    map.setView(bounds.getCenter(), 0)
    layer.addTo(map)
}
globalThis.look = (x, y, zoom) => map.setView(map.unproject([x, y], zooms), zoom, { animate: false })
undefined
"""
XYZ = """const description = await (await fetch('/xyz/IMAGE/tilejson.json')).json()
show(L.tileLayer(description.tiles[0], { tileSize: description.tileSize, maxZoom: description.maxzoom, noWrap: true }),
     description.width, description.height, description.maxzoom)"""
IIIF = """const info = await (await fetch('/iiif/3/IMAGE/info.json')).json()
const side = info.tiles[0].width
const zooms = Math.max(0, Math.ceil(Math.log2(Math.max(info.width, info.height) / side)))
const IIIF = L.TileLayer.extend({
    getTileUrl({ x, y, z }) {
        const scale = 2 ** (zooms - z)
        const [left, top] = [x * side * scale, y * side * scale]
        const [width, height] = [Math.min(side * scale, info.width - left), Math.min(side * scale, info.height - top)]
        return `${info.id}/${left},${top},${width},${height}/${Math.ceil(width / scale)},${Math.ceil(height / scale)}`
            + '/0/default.jpg'
    },
})
const layer = new IIIF('', { tileSize: side, maxZoom: zooms, noWrap: true })
// Tiles at the edges are smaller than the others.
layer.on('tileload', ({ tile }) => Object.assign(tile.style, { width: `${tile.naturalWidth}px`, height: `${tile.naturalHeight}px` }))
show(layer, info.width, info.height, zooms)"""

# As OpenSeadragon's IIPTileSource reckons: what it asks for, how it reads the answer, and which tile is whose.
IIP = """const server = '/iip', image = 'IMAGE.tif'
const answer = await (await fetch(
    `${server}?FIF=${image}&obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions`)).text()
const after = (name) => answer.split(`${name}:`)[1]
const [width, height] = after('Max-size').split(' ').map((text) => parseInt(text, 10))
const [side] = after('Tile-size').split(' ').map((text) => parseInt(text, 10))
const zooms = parseInt(after('Resolution-number'), 10) - 1
const widths = after('Resolutions').split(',').map((text) => parseInt(text.split(' ')[0], 10))
const IIP = L.TileLayer.extend({
    getTileUrl({ x, y, z }) { return `${server}?FIF=${image}&JTL=${z},${y * Math.ceil(widths[z] / side) + x}` },
})
const layer = new IIP('', { tileSize: side, maxZoom: zooms, noWrap: true })
layer.on('tileload', ({ tile }) => Object.assign(tile.style, { width: `${tile.naturalWidth}px`, height: `${tile.naturalHeight}px` }))
show(layer, width, height, zooms)"""


class Leaflet(PageTest):
    def check(self, script):
        visit = self.visit(width=1000, height=700)
        page = visit.page
        for name, kind in [("leaflet.js", "text/javascript"), ("leaflet.css", "text/css")]:
            page.route(f"**/leaflet/{name}", lambda route, _, name=name, kind=kind: route.fulfill(
                content_type=kind, body=(LEAFLET / name).read_text()))
        page.route("**/leaflet-map", lambda route: route.fulfill(content_type="text/html", body=PAGE))
        visit.open("leaflet-map", wait=False)
        page.evaluate(MAP)
        page.evaluate(f"(async () => {{ {script.replace('IMAGE', PHOTO.replace('/', '%2F'))} }})()")
        zooms = page.evaluate("zooms")
        self.assertEqual(zooms, math.ceil(math.log2(WIDTH / 512)))
        photograph = Image.open(source(PHOTO)).convert("RGB")
        points = [(WIDTH // 2, HEIGHT // 2), (0, 0), (WIDTH, HEIGHT), (0, HEIGHT), (WIDTH, 0)]
        for zoom, (x, y) in every_other(list(itertools.product(range(zooms + 1), points))):
            with self.subTest(zoom=zoom, x=x, y=y):
                page.evaluate("([x, y, zoom]) => look(x, y, zoom)", [x, y, zoom])
                page.wait_for_function("!layer.isLoading() && !map._animatingZoom", timeout=20000)
                self.look(page, zoom, zooms, photograph)
        self.assertEqual(page.evaluate("faults"), [])
        self.assertEqual(visit.errors, [])

    def look(self, page, zoom, zooms, photograph):
        """Every tile that the window needs is there, and the window shows that part of the photograph."""
        left, top = page.evaluate("(() => { const { min } = map.getPixelBounds(); return [min.x, min.y] })()")
        scale = 2 ** (zooms - zoom)
        width, height = WIDTH / scale, HEIGHT / scale
        needed = {(x, y) for x in range(max(0, math.floor(left / 512)), math.ceil(min(left + 1000, width) / 512))
                  for y in range(max(0, math.floor(top / 512)), math.ceil(min(top + 700, height) / 512))}
        there = {tuple(place) for place in page.evaluate("""Object.values(layer._tiles)
            .filter(({ el, coords, current }) => current && coords.z === map.getZoom() && el.complete && el.naturalWidth > 0)
            .map(({ coords }) => [coords.x, coords.y])""")}
        self.assertEqual(needed - there, set())
        box = [max(0, left), max(0, top), min(left + 1000, width), min(top + 700, height)]
        shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB").crop(
            [round(box[0] - left), round(box[1] - top), round(box[2] - left), round(box[3] - top)])
        part = photograph.crop([round(value * scale) for value in box]).resize(shown.size, Image.Resampling.BOX)
        # By lightness: JPEG keeps but a quarter of the colours, which in this photograph are saturated.
        [difference] = ImageStat.Stat(ImageChops.difference(shown.convert("L"), part.convert("L"))).mean
        self.assertLess(difference, 5)

    def test_the_documented_page_shows_the_whole_image_and_every_tile(self):
        [text] = [block for block in re.findall(r"```html\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "leaflet.js" in block]
        visit = self.visit(width=1000, height=700)
        page = visit.page
        text = text.replace("http://localhost:8080/", visit.host).replace("harbour", PHOTO.replace("/", "%2F"))
        server = Elsewhere({"/": ("text/html", text), "/leaflet.css": ("text/css", (LEAFLET / "leaflet.css").read_text()),
                            "/leaflet.js": ("text/javascript", (LEAFLET / "leaflet.js").read_text())})
        self.addCleanup(server.close)
        page.goto(server.address)
        shown = """(() => {
            const tiles = [...document.querySelectorAll('#map img.leaflet-tile')]
            return tiles.length > 0 && tiles.every((tile) => tile.complete && tile.naturalWidth && tile.style.opacity === '1')
                && !document.querySelector('.leaflet-zoom-anim')
        })()"""
        photograph = Image.open(source(PHOTO)).convert("L")
        zooms = math.ceil(math.log2(WIDTH / 512))
        for zoom in range(zooms + 2):
            page.wait_for_function(shown, timeout=20000)
            levels = [int(re.search(r"/(\d+)/\d+/\d+\.png", url)[1]) for url in page.evaluate(
                "[...document.querySelectorAll('#map img.leaflet-tile')].map((tile) => tile.src)")]
            if zoom == 0:
                first = levels[0]
                scale = 2 ** (zooms - first)
                self.assertGreater(WIDTH / scale, 400)
                box = page.locator("#map").bounding_box()
                picture = Image.open(io.BytesIO(page.screenshot())).convert("L")
                middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                part = [200 * scale, 100 * scale]
                seen = picture.crop([round(middle[0] - 200), round(middle[1] - 100), round(middle[0] + 200), round(middle[1] + 100)])
                expected = photograph.crop([WIDTH // 2 - part[0], HEIGHT // 2 - part[1], WIDTH // 2 + part[0], HEIGHT // 2 + part[1]])
                [difference] = ImageStat.Stat(ImageChops.difference(seen, expected.resize(seen.size, Image.Resampling.BOX))).mean
                self.assertLess(difference, 5)
            self.assertEqual(set(levels), {min(first + zoom, zooms)})
            zoom_in = page.locator(".leaflet-control-zoom-in")
            if "leaflet-disabled" in zoom_in.get_attribute("class"):
                break
            zoom_in.click()
            page.wait_for_timeout(400)
        self.assertEqual(first + zoom, zooms + 1, "one zoom beyond the image's own pixels")
        self.assertEqual(visit.errors, [])
        visit.requests[:] = [url for url in visit.requests if not url.startswith(server.address)]

    def test_shows_an_image_by_its_xyz_tiles(self):
        self.check(XYZ)

    def test_shows_an_image_by_its_iiif_tiles(self):
        self.check(IIIF)

    def test_shows_an_image_by_its_iip_tiles(self):
        self.check(IIP)


if __name__ == "__main__":
    unittest.main()
