"""The pages as visitors load them: bundled, few and small files, the picture asked for before the script is there."""

import atexit
import functools
import itertools
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from browser import PHOTO, ROOT, TOKEN, PageTest, bundled, served, source, writable


@functools.cache
def folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-bundle-"))
    # Tests of other modules visit it, too.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def host(*options: str) -> str:
    """A server of a library of three pictures with the bundled pages."""
    photos = folder() / f"of{len(options)}/photos"
    for number in range(3):
        path = photos / f"{'deep/' if number else ''}{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source(PHOTO), path)
    return served(photos, pages=bundled(), serve=options or ("--port", "0"))


def answer(url: str, **headers: str):
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers))


def scripts(requests: list[str]) -> list[str]:
    return [url for url in requests if urllib.parse.urlsplit(url).path.endswith(".js")]


class Bundle(PageTest):
    def test_a_cold_first_view_is_the_page_its_script_and_the_picture(self):
        for view, width, height, ratio in (("", 1280, 800, 1), ("", 390, 844, 3), ("scale=1&x=1700&y=900", 1280, 800, 1),
                                           ("scale=0.9&x=1500&y=900&rotation=30&flip=true", 390, 844, 3)):
            with self.subTest(view=view, width=width):
                visit = self.visit(host=host(), width=width, height=height, ratio=ratio)
                visit.photo("deep/1", view)
                # After the view is complete, the first request is for write access. In the page's own order: a busy browser
                # reports requests in another.
                first = list(itertools.takewhile(lambda url: not url.endswith("api/session"), visit.run("return globalThis.fetched")))
                # The neighbouring pictures are requested once it is open: a busy browser may draw its tiles after that report.
                album = [url for url in first if re.search(r"/api/images(\?limit=1000&fields=cover|/[^/?]+)$", url)]
                self.assertLessEqual(len(first) - len(album), 1, first)
                self.assertLessEqual(len(album), 3, first)
                self.assertEqual(len(scripts(itertools.takewhile(lambda url: url != host() + "api/session", visit.requests))), 1)
                self.assertEqual(len([url for url in first if "/viewport.tiles?" in url]), 1, "asked ahead, and not again")
                self.assertEqual([url for url in first if "_files/" in url], [], "no tile by itself")

    def test_the_picture_is_asked_for_before_the_script_is_there(self):
        visit = self.visit(host=host(), allowed_errors=["ERR_FAILED", "view-"])
        visit.page.route("**/view-*.js", lambda route: route.abort())
        visit.photo("deep/1", wait=False)
        visit.until("return globalThis.fetched.some((url) => url.includes('/viewport.tiles?'))")

    def test_a_window_that_changed_meanwhile_requests_again(self):
        visit = self.visit(host=host())
        visit.page.add_init_script("Object.defineProperty(Element.prototype, 'clientWidth', { get: () => 77 })")
        visit.photo("deep/1")
        asked = [url for url in visit.run("return globalThis.fetched") if "/viewport.tiles?" in url]
        self.assertEqual([re.search(r"width=(\d+)", url)[1] for url in asked], ["77", "1280"])

    def test_what_a_page_loads_is_small(self):
        for path, limit in ((f"view/{urllib.parse.quote('deep/1', safe='')}", 31_700), ("", 20_000)):
            page = answer(host() + path).read().decode()
            (script,) = re.findall(r'<script type="module" src="/([^"]+)">', page)
            sent = answer(host() + script, **{"Accept-Encoding": "gzip, deflate, br"})
            self.assertEqual(sent.headers["Content-Encoding"], "br")
            self.assertLess(len(sent.read()), limit, path)
            self.assertNotIn("stylesheet", page)

    def test_what_is_named_by_its_content_is_kept_for_good(self):
        page = answer(host())
        self.assertEqual(page.headers["Cache-Control"], "public, max-age=60")
        (script,) = re.findall(r'<script type="module" src="/([^"]+)">', page.read().decode())
        for coding, sent_as in (("", None), ("gzip", "gzip"), ("br;q=0, gzip", "gzip"), ("br", "br")):
            sent = answer(host() + script, **{"Accept-Encoding": coding})
            self.assertEqual(sent.headers["Cache-Control"], "public, max-age=31536000, immutable")
            self.assertEqual(sent.headers["Content-Encoding"], sent_as)
            self.assertEqual(sent.headers["Vary"], "Accept-Encoding")
        self.assertEqual(answer(host() + script + ".map").headers["Content-Type"], "application/json")
        self.assertEqual(answer(host() + "viewer/elements.js").headers["Cache-Control"], "public, max-age=60")

    def test_the_bundle_is_the_same_wherever_it_is_made(self):
        again = folder() / "again/public"
        again.parent.mkdir()
        subprocess.run([ROOT / "packaging/bundle-pages", again], check=True)
        self.assertEqual(subprocess.run(["diff", "-r", bundled(), again], capture_output=True, text=True).stdout, "")

    def test_the_gallery_is_one_script_and_leads_to_the_picture_and_back(self):
        visit = self.visit(host=host()).open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 3 && document.querySelector('.view.waiting')")
        # One for the gallery; ahead of the pictures one, and its name.
        self.assertEqual(len(scripts(visit.requests)), 3)
        visit.page.locator("#grid a").first.click()
        visit.sharp()
        visit.until("return viewer.images.length === 3", "the album")
        visit.page.locator("#back").click()
        visit.until("return document.querySelectorAll('.there').length === 3")

    def test_a_writer_has_the_parts_for_it(self):
        library = shutil.copytree(folder() / "of0/library", folder() / "written/library") if host() else None
        visit = self.visit(host=writable(library, pages=bundled()))
        visit.open(f"#token={TOKEN}", wait=False)
        visit.page.get_by_role("button", name="Add").wait_for()
        visit.until("return document.querySelectorAll('.there').length === 3")
        visit.page.locator("#grid a").first.click(modifiers=["Control"])
        visit.page.get_by_role("toolbar", name="Selected images").get_by_role("button", name="Delete").click()
        visit.until("return document.querySelectorAll('.there').length === 2")
        visit.page.get_by_role("button", name="Undo").click()
        visit.until("return document.querySelectorAll('.there').length === 3")
        visit.page.locator("#grid a").first.click()
        visit.sharp()
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Delete").wait_for()

    def test_below_a_path_nothing_is_asked_for_elsewhere(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        host("--port", str(port), "--base-url", f"http://127.0.0.1:{port}/pictures")
        visit = self.visit(host=f"http://127.0.0.1:{port}/pictures/")
        visit.photo("deep/1")
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 3")

    def test_the_tile_source_for_openseadragon_is_one_small_file(self):
        sent = answer(host() + "openseadragon/ziggurat-tile-source.js")
        self.assertEqual(sent.headers.get_content_type(), "text/javascript")
        script = sent.read()
        self.assertLess(len(script), 5_000)
        self.assertNotIn(b"import", script)

    def test_the_declarations_for_typescript_stand_beside_the_script(self):
        # What they declare is tested in Tests/products.
        for name in ("viewer/elements.d.ts", "viewer/elements-url.d.ts", "viewer/elements-react.d.ts", "compare/ziggurat-compare.d.ts"):
            self.assertEqual(answer(host() + name).read(), (ROOT / f"public/{name}").read_bytes())

    def test_other_sites_load_one_file(self):
        visit = self.visit(host=host())
        visit.page.route("**/elsewhere", lambda route: route.fulfill(content_type="text/html", body="""<!doctype html>
            <meta charset="utf-8"><script type="module" src="/viewer/elements.js"></script>
            <ziggurat-viewer src="/dzi/deep%2F1.dzi"></ziggurat-viewer>"""))
        visit.open("elsewhere", wait=False)
        visit.run("Object.assign(viewer.style, { width: '640px', height: '400px' })")
        visit.sharp()
        self.assertEqual(len(scripts(visit.requests)), 1)


if __name__ == "__main__":
    unittest.main()
