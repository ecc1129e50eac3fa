"""A foreign page whose viewer shows descriptions of an untrusted server: no script runs, and no tab hangs."""

import base64
import io
import json
import os
import random
import subprocess
import unittest
import urllib.parse

from PIL import Image

from browser import ROOT
from embedding import EmbeddingTest

UNTRUSTED = "https://hostile.example/"
# Where the documents of Tests/viewer/sources/documents.mjs say that they are.
THEIRS = "https://images.example"
# Opens an address and then everything that the menu offers, and returns where links lead.
EVERYTHING = """
    await viewer.open(argument)
    const root = viewer.shadowRoot
    const pause = () => new Promise((done) => setTimeout(done))
    const rest = async () => { for (let turn = 0; turn < 300 && viewer.source && !viewer.isComplete; turn += 1) await new Promise((done) => setTimeout(done, 10)) }
    await rest()
    if (!viewer.source) return { told: root.querySelector('.notice').textContent, links: [] }
    const links = []
    const names = async () => {
      root.querySelector('[title=More]').click()
      for (let turn = 0; turn < 300 && !root.querySelector('.menu'); turn += 1) await new Promise((done) => setTimeout(done, 10))
      return [...root.querySelectorAll('.menu button')].map(({ textContent }) => textContent)
    }
    for (const name of await names()) {
      if (!/^(Download|Cite|Mirror|Crop|Measure|Layers|Details|Thumbnails)/.test(name)) continue
      if (!root.querySelector('.menu')) await names()
      const item = [...root.querySelectorAll('.menu button')].find(({ textContent }) => textContent === name)
      if (!item) continue
      item.click()
      await pause()
      links.push(...[...root.querySelectorAll('a, img')].map((each) => each.href ?? each.src).filter(Boolean))
      for (const close of root.querySelectorAll('.cropbar button')) if (close.textContent === 'Cancel') close.click()
      root.querySelector('dialog')?.close()
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
      viewer.removeAttribute('filmstrip')
    }
    if (viewer.images.length > 1) { viewer.goTo(1); await rest() }
    return { told: '', links }
"""
UNSAFE = "This image was not opened because one of its addresses uses neither http nor https."
PIXEL = io.BytesIO()
Image.new("RGB", (8, 8), "teal").save(PIXEL, "PNG")
ATTACKS = ("javascript:globalThis.owned=1//", "JAVASCRIPT:globalThis.owned=1//", " \u0001java\tscr\nipt:globalThis.owned=1//",
           "data:text/html,<script>opener.owned=1</script>", "vbscript:owned=1", "blob:null/1", "file:///etc/passwd")


def image(**others) -> dict:
    return {"id": "a", "title": "A", "width": 3000, "height": 2000, "tileSize": 512, "format": "jpg", "urls": {"dzi": "/dzi/a.dzi"}} | others


def info(**others) -> dict:
    return {"@context": "http://iiif.io/api/image/3/context.json", "id": UNTRUSTED + "iiif/3/a", "type": "ImageService3",
            "protocol": "http://iiif.io/api/image", "profile": "level2", "width": 3000, "height": 2000, "tiles": [{"width": 512}]} | others


def manifest(*bodies: dict) -> dict:
    return {"type": "Manifest", "label": {"en": ["A"]}, "items": [
        {"type": "Canvas", "id": f"{UNTRUSTED}c{number}", "width": 3000, "height": 2000, "items": [{"items": [{"body": body}]}]} for number, body in enumerate(bodies)]}


class UntrustedSources(EmbeddingTest):
    def served(self, documents: dict[str, object]):
        """A page whose viewer has nothing to show yet, and a server that says what it is to say."""
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>", allowed_errors=["403", "404", "ERR_", "hostile.example"])
        self.asked = []
        self.tiles = (200, PIXEL.getvalue())

        def answer(route):
            path = urllib.parse.urlsplit(route.request.url).path.lstrip("/")
            self.asked.append(route.request.url)
            document = documents.get(path)
            if path.endswith((".jpg", ".png", ".gif")):
                status, body = self.tiles
                return route.fulfill(status=status, body=body, content_type="image/png", headers={"Access-Control-Allow-Origin": "*"})
            body = document if isinstance(document, (str, bytes)) else json.dumps(document)
            route.fulfill(status=404 if document is None else 200, body=body, headers={"Access-Control-Allow-Origin": "*"})
        visit.page.route(f"{UNTRUSTED}**", answer)
        # Asked of nobody else, which is what tests elsewhere make sure of.
        self.addCleanup(lambda: visit.requests.__setitem__(slice(None), [url for url in visit.requests if not url.startswith(UNTRUSTED)]))
        visit.run("await customElements.whenDefined('ziggurat-viewer'); document.querySelector('ziggurat-viewer').tabIndex = 0")
        return visit

    def opened(self, visit, path: str) -> str:
        """What the viewer says of an address."""
        return visit.run("""await viewer.open(argument)
            return viewer.shadowRoot.querySelector('.notice').textContent""", UNTRUSTED + path)

    def assertHarmless(self, visit):
        self.assertIsNone(visit.run("return globalThis.owned ?? null"))
        self.assertEqual(visit.page.url.partition("#")[0].rpartition("/")[2], "embedding")

    def test_no_address_of_a_description_runs_a_script_in_the_page(self):
        for attack in ATTACKS:
            documents = {
                "api/images/iiif3": image(urls={"dzi": "/dzi/a.dzi", "iiif3": attack}),
                "api/images/iiif2": image(urls={"dzi": "/dzi/a.dzi", "iiif2": attack}),
                "api/images/dzi": image(urls={"dzi": attack}),
                "api/images/original": image(original={"url": attack, "type": "image/png", "bytes": 9}),
                "api/images/animation": image(animation={"url": attack, "type": "image/gif"}),
                "info.json": info(id=attack),
                "two.json": {key: value for key, value in info().items() if key not in ("id", "type")} | {"@id": attack},
                "picture.json": manifest({"id": attack, "type": "Image", "width": 9, "height": 9}),
                "service.json": manifest({"id": f"{UNTRUSTED}a.jpg", "type": "Image", "service": [{"id": attack, "type": "ImageService3"}]}),
                "led/info.json": info(id=attack),
                "leads.json": manifest({"id": f"{UNTRUSTED}a.jpg", "type": "Image", "service": [{"id": f"{UNTRUSTED}led", "type": "ImageService3"}]}),
                "state.json": {"type": "Annotation", "target": {"id": attack, "type": "Manifest"}},
            }
            visit = self.served(documents)
            for path in documents:
                with self.subTest(attack=attack, path=path):
                    if path != "led/info.json":
                        self.assertEqual(self.opened(visit, path), UNSAFE)
            with self.subTest(attack=attack, path="the attribute"):
                self.assertEqual(visit.run("""await viewer.open(argument)
                    return viewer.shadowRoot.querySelector('.notice').textContent""", attack), UNSAFE)
            self.assertHarmless(visit)

    def test_the_links_of_what_opens_lead_to_http_alone(self):
        visit = self.served({
            "api/images/a": image(urls={"dzi": "/dzi/a.dzi", "iiif3": "/iiif/3/a/info.json"}, generation="1a", format="png",
                                  original={"url": "http://user:secret@hostile.example\\original.png", "type": "image/png", "bytes": 9}),
            "iiif/3/a/info.json": info(),
        })
        self.assertEqual(self.opened(visit, "api/images/a"), "")
        visit.sharp()
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Download").click()
        visit.page.get_by_role("dialog", name="Download").wait_for()
        links = visit.run("return [...viewer.shadowRoot.querySelectorAll('dialog a')].map(({ href }) => href)")
        self.assertEqual(links, [f"{UNTRUSTED}iiif/3/a/full/max/0/default.png?download", "http://hostile.example/original.png?download"])
        visit.page.keyboard.press("Escape")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Crop and rotate").click()
        visit.page.get_by_role("button", name="Done").click()
        link = visit.run("return viewer.shadowRoot.querySelector('.cropbar a').href")
        self.assertTrue(link.startswith(f"{UNTRUSTED}iiif/3/a/full/max/0/default.jpg"), link)
        self.assertHarmless(visit)

    def test_tiles_that_are_refused_come_by_the_button_and_those_that_are_missing_do_not(self):
        vast = io.BytesIO()
        Image.new("RGB", (5000, 5000)).save(vast, "PNG")
        notice = "return viewer.shadowRoot.querySelector('.notice').textContent"
        for status, body, comes_back in ((403, b"", True), (200, b"<html>Log in</html>", True), (200, vast.getvalue(), True), (404, b"", False)):
            with self.subTest(status=status, bytes=len(body)):
                visit = self.served({"api/images/a": image()})
                self.tiles = (status, body)
                self.opened(visit, "api/images/a")
                visit.until("return viewer.missingTiles > 0 && viewer.isComplete")
                self.assertIn("could not be loaded", visit.run(notice))
                again = visit.page.get_by_role("button", name="Try again")
                self.assertEqual(again.count(), int(comes_back))
                asked = len(self.asked)
                self.tiles = (200, PIXEL.getvalue())
                if comes_back:
                    again.click()
                    visit.sharp()
                    self.assertEqual([visit.run(notice), again.count()], ["", 0])
                else:
                    visit.run("dispatchEvent(new Event('online'))")
                    self.assertEqual(len(self.asked), asked)

    def test_the_viewer_works_after_any_error_in_a_description(self):
        seed, count = int(os.environ.get("SEED", random.randrange(1 << 31))), int(os.environ.get("HOSTILE", 25))
        written = subprocess.run(["node", ROOT / "Tests/viewer/sources/write-hostile.mjs", str(seed), str(count)],
                                 check=True, capture_output=True, text=True).stdout
        visit = self.page("<ziggurat-viewer></ziggurat-viewer>", allowed_errors=["^[45]\\d\\d https://images", "Failed to load resource", THEIRS, "^https?://other.example/"])
        self.addCleanup(lambda: visit.requests.__setitem__(slice(None), [url for url in visit.requests if not url.startswith("http")]))
        case = {}

        def answer(route):
            path = urllib.parse.urlsplit(route.request.url).path
            headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*", "Access-Control-Expose-Headers": "*"}
            if route.request.method == "OPTIONS":
                return route.fulfill(headers=headers)
            if path.endswith((".jpg", ".png", ".gif")):
                return route.fulfill(body=PIXEL.getvalue(), content_type="image/png", headers=headers)
            body = base64.b64decode(case["answers"].get(path, ""))
            first, _, last = route.request.headers.get("range", "").removeprefix("bytes=").partition("-")
            if not last or route.request.method == "HEAD":
                return route.fulfill(status=200 if path in case["answers"] else 404, body=body, headers=headers)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            route.fulfill(status=206, body=body[int(first):int(last) + 1], headers=headers)
        # Addresses of others that a description names lead nowhere.
        visit.page.route(lambda url: url.startswith("http") and not url.startswith(visit.host), lambda route: route.abort())
        visit.page.route(f"{THEIRS}/**", answer)
        visit.run("await customElements.whenDefined('ziggurat-viewer')")
        opened = 0
        for line in written.splitlines():
            case.update(json.loads(line))
            about = f"SEED={seed}: {case['opens']}: {case['changes']}"
            found = visit.run(EVERYTHING, THEIRS + case["opens"])
            opened += not found["told"]
            for link in found["links"]:
                self.assertRegex(link, "^https?://[^/@]+/", about)
            wrong = [problem for problem in visit.errors if problem.startswith("error:")]
            self.assertEqual(wrong, [], about)
            self.assertIsNone(visit.run("return {}.polluted ?? globalThis.owned ?? null"), about)
        self.assertGreater(opened, count // 10)

    def test_a_description_that_would_need_millions_of_tiles_is_refused(self):
        tiny = '<Image Format="jpg" TileSize="1" Overlap="0"><Size Width="8000" Height="6000"/></Image>'
        visit = self.served({"api/images/tiny": image(width=8000, height=6000, tileSize=1), "tiny.dzi": tiny,
                             "tiny.json": info(width=8000, height=6000, tiles=[{"width": 1}])})
        for path in ("api/images/tiny", "tiny.dzi", "tiny.json"):
            with self.subTest(path):
                self.assertEqual(self.opened(visit, path), "This image was not opened because its tiles are too small for its size.")
        self.assertEqual(visit.run("""viewer.lang = 'de'; await viewer.open(argument)
            await new Promise((done) => setTimeout(done, 500))
            await viewer.open(argument)
            return viewer.shadowRoot.querySelector('.notice').textContent""", UNTRUSTED + "tiny.dzi"),
                         "Dieses Bild wurde nicht geöffnet, weil seine Kacheln für seine Größe zu klein sind.")

    def test_descriptions_that_lead_in_a_circle_are_refused(self):
        endless = "This image was not opened because its description refers to other descriptions without end."
        within = manifest({"id": f"{UNTRUSTED}a.jpg", "service": [{"id": f"{UNTRUSTED}circle", "type": "ImageService3"}]})
        nested = {"type": "Range", "items": []}
        for _ in range(5000):
            nested = {"type": "Range", "label": {"en": ["Part"]}, "items": [nested]} if _ < 40 else nested
        laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha" * 10}">' for n in range(12))
        visit = self.served({
            "circle/info.json": within,
            "state.json": {"type": "Annotation", "target": {"id": f"{UNTRUSTED}state.json", "type": "Manifest"}},
            "api/images/book": {"id": "book", "isBook": True, "cover": "book"}, "api/images": {"images": [{"id": "book"}], "nextCursor": None},
            "deep.json": manifest({"id": f"{UNTRUSTED}a.jpg", "width": 9, "height": 9}) | {"structures": [nested]},
            "laughs.dzi": f'<!DOCTYPE Image [{laughs}]><Image Format="&a11;" TileSize="256" Overlap="0"><Size Width="9" Height="9"/></Image>',
            "collection.json": {"type": "Collection", "items": [{"id": f"{UNTRUSTED}collection.json", "type": "Collection"}]},
        })
        for path, reported in (("circle/info.json", endless), ("state.json", "The image could not be loaded."), ("api/images/book", endless),
                           ("deep.json", endless), ("laughs.dzi", "The image could not be loaded."), ("collection.json", "The image could not be loaded.")):
            with self.subTest(path):
                self.asked.clear()
                self.assertEqual(self.opened(visit, path), reported)
                self.assertLess(len(self.asked), 6, self.asked)

    def test_a_list_of_two_million_pages_is_refused(self):
        visit = self.served({"api/images/book": {"id": "book", "isBook": True},
                             "api/images": '{"nextCursor":null,"images":[' + ",".join(['{"id":"a"}'] * 2_000_000) + "]}",
                             "many.json": '{"type":"Manifest","items":[' + ",".join(["{}"] * 2_000_000) + "]}"})
        for path in ("api/images/book", "many.json"):
            with self.subTest(path):
                self.assertEqual(self.opened(visit, path), "This album was not opened because it has more than 100,000 images.")
        self.assertEqual(visit.run("return viewer.images.length"), 0)


if __name__ == "__main__":
    unittest.main()
