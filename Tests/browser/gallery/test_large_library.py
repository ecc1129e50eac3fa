"""The gallery of a hundred thousand images: only what is in view exists, and scrolling stays smooth."""

import http.server
import json
import random
import threading
import unittest
import urllib.parse

from browser import ROOT, Visit

COUNT = 100_000


class Listing(http.server.ThreadingHTTPServer):
    """Serves `public/` and a list of as many images, page by page; their thumbnails are one small picture."""

    daemon_threads = True
    TILE = (b'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="300" height="200" fill="#678"/></svg>')
    TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json"}

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        chance = random.Random(1)
        self.shapes = [(chance.randrange(800, 9000), chance.randrange(800, 9000)) for _ in range(COUNT)]
        self.pages, self.thumbnails = [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def pictures(self):
        """Those of which tiles were asked for."""
        return {path.split("/")[2] for path in self.thumbnails}

    def handle_error(self, request, client_address):
        """The page went away while it was answered."""

    def page(self, query):
        start, limit = int(query.get("cursor", ["0"])[0]), int(query["limit"][0])
        self.pages.append(start)
        images = [{"id": f"image-{at}", "title": f"Image {at}", "width": self.shapes[at][0], "height": self.shapes[at][1],
                   "tileSize": 512, "format": "jpg", "urls": {"dzi": f"/dzi/image-{at}.dzi"}}
                  for at in range(start, min(start + limit, COUNT))]
        after = start + limit
        return json.dumps({"images": images, "total": COUNT, "nextCursor": str(after) if after < COUNT else None}).encode()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/api/images":
            kind, body = "application/json", self.server.page(urllib.parse.parse_qs(url.query))
        elif url.path == "/api/session":
            kind, body = "application/json", b"{}"
        elif url.path.startswith("/dzi/"):
            self.server.thumbnails.append(self.path)
            kind, body = "image/svg+xml", self.server.TILE
        else:
            name = {"/": "index.html", "/favicon.ico": "icon.svg"}.get(url.path, url.path.lstrip("/"))
            path = ROOT / "public" / name
            kind, body = self.server.TYPES[path.suffix], path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class LargeLibrary(unittest.TestCase):
    def open(self):
        listing = Listing()
        visit = Visit(host=f"http://127.0.0.1:{listing.server_port}/")
        self.addCleanup(listing.shutdown)
        self.addCleanup(visit.close)
        visit.page.goto(visit.host)
        visit.until("return document.querySelectorAll('.there').length > 8")
        return visit, listing

    def test_the_list_is_read_only_as_far_as_it_is_wanted(self):
        visit, listing = self.open()
        visit.page.wait_for_timeout(500)
        self.assertEqual(listing.pages, [0])
        self.assertLess(len(listing.thumbnails), 60)
        self.assertEqual(len(listing.thumbnails), len(set(listing.thumbnails)))

    def test_a_hundred_thousand_images_only_those_in_view_exist(self):
        visit, _ = self.open()
        shown = visit.run("""
            const { Grid } = await import('/gallery/grid.js')
            const box = document.getElementById('grid').cloneNode(false)
            document.getElementById('grid').replaceWith(box)
            const grid = new Grid(box, () => {}, () => {})
            let chance = 1
            const side = () => 800 + (chance = chance * 16807 % 2147483647) % 8000
            grid.append(Array.from({ length: argument }, (_, at) => ({
              id: `image-${at}`, title: `Image ${at}`, width: side(), height: side(), tileSize: 512, format: 'jpg',
              urls: { dzi: `/dzi/image-${at}.dzi` } })))
            const results = []
            for (const part of [0, 0.1, 0.5, 0.9, 0.33, 1]) {
              scrollTo(0, part * (document.documentElement.scrollHeight - innerHeight))
              for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
              const links = [...box.querySelectorAll('a')]
              const rows = links.map((a) => a.getBoundingClientRect()).filter((r) => r.bottom > 60 && r.top < innerHeight)
              // The pictures' own area within the window; the rest is gaps and captions.
              const area = rows.reduce((sum, r) => sum + r.width * (Math.min(r.bottom, innerHeight) - Math.max(r.top, 0)), 0)
              results.push({ exist: links.length, first: Number(links[0].dataset.index), last: Number(links.at(-1).dataset.index),
                covered: area / (innerWidth * innerHeight) })
            }
            return results""", COUNT)
        for at in shown:
            self.assertLess(at["exist"], 120)
            self.assertEqual(at["last"] - at["first"] + 1, at["exist"], "one run of images")
            self.assertGreater(at["covered"], 0.6)
        self.assertEqual(shown[0]["first"], 0)
        self.assertEqual(shown[-1]["last"], COUNT - 1)
        self.assertGreater(shown[2]["first"], COUNT * 0.4)

    def test_rows_that_fly_past_ask_for_no_thumbnails(self):
        visit, listing = self.open()
        visit.until("return !document.querySelector('#grid .frame:not(:has(img.there))')", "all of the first rows")
        before = listing.pictures()
        # Where the machine holds a step up for longer than rows have to rest, its rows do not fly past.
        rests = visit.run("""let rests = 0
            for (let step = 0; step < 6; step += 1) {
              const began = performance.now()
              scrollBy(0, 1500)
              await new Promise(requestAnimationFrame)
              await new Promise(requestAnimationFrame)
              if (performance.now() - began > 80) rests += 1
            }
            return rests""")
        visit.until("return !document.querySelector('#grid .frame:not(:has(img))')", "all of the last rows")
        shown = visit.run("return document.querySelectorAll('#grid a').length")
        self.assertLessEqual(len(listing.pictures() - before), shown * (1 + rests))

    def test_the_way_back_leads_to_the_same_place(self):
        visit, _ = self.open()
        for _ in range(12):
            visit.page.mouse.move(600, 400)
            visit.page.mouse.wheel(0, 600)
            visit.page.wait_for_timeout(60)
        visit.page.wait_for_timeout(300)
        place = visit.run("return scrollY")
        self.assertGreater(place, 3000)
        visit.run("location.href = '/package.json'")
        visit.page.wait_for_timeout(500)
        visit.page.go_back()
        visit.until("return document.querySelectorAll('.there').length > 8")
        visit.page.wait_for_timeout(300)
        self.assertAlmostEqual(visit.run("return scrollY"), place, delta=2)


if __name__ == "__main__":
    unittest.main()
