"""The viewer in frames of other sites: whose page may hold it, what it shows, oEmbed; and the page that documents it."""

import functools
import html
import http.server
import json
import re
import shutil
import tempfile
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import ROOT, PageTest, bundled, served, source


@functools.cache
def folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-frames-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    (folder / "photos/deep").mkdir(parents=True)
    shutil.copy(source("FallenLeaf"), folder / "photos/deep/a leaf.jpg")
    shutil.copy(source("AltaiTall"), folder / "photos/tall.png")
    return folder


@functools.cache
def host() -> str:
    return served(folder() / "photos", pages=bundled())


def oembed(**parameters) -> dict:
    with urllib.request.urlopen(f"{host()}oembed?{urllib.parse.urlencode(parameters)}") as answer:
        return json.load(answer)


def status(path: str) -> int:
    try:
        return urllib.request.urlopen(host() + path).status
    except urllib.error.HTTPError as error:
        return error.code


LEAF = urllib.parse.quote("deep/a leaf", safe="")


class Frames(PageTest):
    def elsewhere(self, body: str, headers: dict[str, str] | None = None):
        """A page of another site with this body: a real one, since browsers know where a page comes from that may frame
        what is on this machine."""
        page = f"<!doctype html><meta charset=utf-8><title>Elsewhere</title><link rel=icon href=data:,>{body}".encode()

        class Elsewhere(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                for name, value in {"Content-Type": "text/html", "Content-Length": str(len(page)), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        visit = self.visit(host=host())
        visit.page.goto(f"http://localhost:{server.server_port}/")
        # What is somebody else's asks for nothing else.
        visit.requests = [url for url in visit.requests if "//localhost" not in url]
        return visit

    def framed(self, visit):
        """The frame's page, once it is sharp."""
        for _ in range(600):
            frame = next((each for each in visit.page.frames if "/embed/" in each.url), None)
            if frame and frame.evaluate("document.querySelector('ziggurat-viewer')?.isFullyLoaded"):
                return frame
            visit.page.wait_for_timeout(50)
        raise AssertionError("never sharp")

    def test_what_oembed_says_shows_the_picture_in_another_site_s_page(self):
        reported = oembed(url=f"{host()}view/{LEAF}#scale=1&x=100&y=100", maxwidth=640)
        self.assertEqual((reported["version"], reported["type"], reported["width"], reported["height"]), ("1.0", "rich", 640, 400))
        self.assertEqual(reported["title"], "a leaf")
        for headers in ({}, {"Cross-Origin-Embedder-Policy": "require-corp"}):
            visit = self.elsewhere(reported["html"], headers)
            frame = self.framed(visit)
            self.assertEqual(frame.evaluate("[innerWidth, innerHeight, document.getElementById('title').textContent]"), [640, 400, "a leaf"])
            self.assertEqual(frame.evaluate("document.getElementById('title').href"), f"{host()}view/{LEAF}")

    def test_a_frame_takes_a_view_a_language_and_less_around_it(self):
        visit = self.elsewhere(f'<iframe src="{host()}embed/{LEAF}?controls=none&lang=de#scale=1&x=500&y=300" width="600" height="400"></iframe>')
        frame = self.framed(visit)
        view = frame.evaluate("(({ scale, x, y }) => [scale, x, y])(document.querySelector('ziggurat-viewer').viewport)")
        self.assertEqual(view, [1, 500, 300])
        self.assertEqual(frame.evaluate("document.getElementById('facts').textContent"), "2.560 × 1.600")
        self.assertFalse(frame.evaluate("document.querySelector('ziggurat-viewer').shadowRoot.querySelector('.controls').checkVisibility()"))

    def test_no_other_page_is_framed(self):
        for path in (f"view/{LEAF}", "", "embed"):
            visit = self.elsewhere(f'<iframe src="{host()}{path}"></iframe>')
            visit.errors.clear()
            visit.page.wait_for_timeout(500)
            for frame in visit.page.frames[1:]:
                self.assertNotIn(frame.url, (host() + path,))
            visit.errors.clear()

    def test_the_page_of_a_picture_names_its_embedding(self):
        page = urllib.request.urlopen(f"{host()}view/{LEAF}").read().decode()
        link = html.unescape(re.search(r'<link rel="alternate" type="application/json\+oembed" href="([^"]+)"', page)[1])
        with urllib.request.urlopen(link) as answer:
            self.assertEqual(json.load(answer)["title"], "a leaf")

    def test_frames_keep_the_shape_of_the_picture_within_what_is_asked_for(self):
        tall = f"{host()}view/tall"
        for parameters, size in (({}, (405, 720)), ({"maxwidth": 100}, (100, 177)), ({"maxheight": 90}, (50, 90)), ({"maxwidth": 1, "maxheight": 1}, (1, 1))):
            reported = oembed(url=tall, **parameters)
            self.assertEqual((reported["width"], reported["height"]), size, parameters)
        self.assertEqual(urllib.request.urlopen(oembed(url=tall)["thumbnail_url"]).headers["Content-Type"], "image/jpeg")

    def test_what_is_no_picture_s_page_has_no_embedding(self):
        for query, code in (("", 400), ("url=", 404), (f"url={host()}view/nobody", 404), ("url=https://example.org/view/tall", 404),
                            (f"url={host()}", 404), (f"url={host()}view/~%252Ftall", 404), (f"url={host()}view/tall&maxwidth=0", 400),
                            (f"url={host()}view/tall&maxheight=x", 400), (f"url={host()}view/tall&format=xml", 501)):
            self.assertEqual(status(f"oembed?{query}"), code, query)
        self.assertEqual((status("embed/nobody"), status("embed/tall"), status("embed")), (404, 200, 200))

    def test_the_page_about_embedding_is_a_running_example(self):
        visit = self.visit(host=host()).open("embed")
        visit.until("return [...document.querySelectorAll('#events li')].some((line) => line.textContent === 'viewport: program' || line.textContent === 'fully-loaded')")
        self.assertIn(host() + "viewer/elements.js", visit.run("return document.querySelector('pre').textContent"))
        visit.page.get_by_label('ui="hidden"').check()
        self.assertTrue(visit.run("return viewer.getAttribute('ui') === 'hidden'"))
        visit.page.get_by_label('ui="hidden"').uncheck()
        visit.page.locator("select").select_option("fr")
        visit.until("return viewer.shadowRoot.querySelector('.more').title === 'Plus'")
        self.assertTrue(visit.run("return viewer.querySelector('[data-x]').checkVisibility()"), "an overlay")

    def test_axe_finds_nothing_on_a_frame_and_on_the_page_about_embedding(self):
        for scheme in ("dark", "light"):
            for path in (f"embed/{LEAF}", "embed"):
                visit = self.visit(host=host(), allowed_errors=AXE_OWN, color_scheme=scheme).open(path)
                self.assertEqual(axe_violations(visit), [], f"{path}, {scheme}")

    def test_the_page_about_embedding_has_everything_that_the_documents_name(self):
        page = (ROOT / "public/embed.html").read_text()
        reference = (ROOT / "docs/reference/viewer-element.md").read_text()
        guide = (ROOT / "docs/how-to/embed.md").read_text()
        for part in re.findall(r"::part\([a-z-]+\)|--ziggurat-[a-z-]+", guide):
            self.assertIn(part, page)
        attributes = re.findall(r"^\| `(?:[a-z-]+)[^|]*\|", reference.split("`: attributes")[1].split("| property or method")[0], re.MULTILINE)
        self.assertGreater(len(attributes), 5)
        for attribute in attributes:
            for name in re.findall(r"`([a-z-]+)", attribute):
                self.assertIn(name, page)
        for line in re.findall(r"^(?:Content-Security-Policy|Cross-Origin-Embedder-Policy): .+$", guide, re.MULTILINE):
            self.assertIn(line, html.unescape(page))


if __name__ == "__main__":
    unittest.main()
