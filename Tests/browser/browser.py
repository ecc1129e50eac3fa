"""What the page's tests share: a small library of real photographs, served, and Chromium to look at it.

    python Tests/scripts/python-tests Tests/browser            all of them
    python Tests/scripts/python-tests Tests/browser -k pinch   those with "pinch" in their name

needs playwright, pillow and numpy from PyPI and Debian's chromium-headless-shell. CHROMIUM names another browser,
ZIGGURAT another executable, PHOTOS another folder of photographs, ZIGGURAT_URL a server that has the same images,
PUBLIC=public the pages' sources, file by file, where the pages as they are delivered are tried otherwise.
"""

import atexit
import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from playwright.sync_api import Error, sync_playwright
from touches import Touches

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ZIGGURAT", ROOT / ".build/release/ziggurat")).resolve()
PHOTOS = Path(os.environ.get("PHOTOS", "/usr/share/wallpapers"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
# What the library holds, by id: photographs of Debian's plasma-workspace-wallpapers.
SOURCES = {
    "landscapes/SafeLanding": "SafeLanding/contents/images/5120x2880.jpg",
    "landscapes/Volna": "Volna/contents/images/5120x2880.jpg",
    "FallenLeaf": "FallenLeaf/contents/images/2560x1600.jpg",
    "ColorfulCups": "ColorfulCups/contents/images/2560x1600.jpg",
    "AltaiTall": "Altai/contents/images/1080x1920.png",
}
PHOTO = "landscapes/SafeLanding"
# SLOWER=4: pages as on a machine four times as slow, to find tests that are races.
SOURCE_PAGES = ROOT / "public"
SLOWER = float(os.environ.get("SLOWER", 1))
WIDTH, HEIGHT = 5120, 2880
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("ZIGGURAT_")}


def source(image: str) -> Path:
    return PHOTOS / SOURCES[image]


@functools.cache
def bundled() -> Path:
    """The pages as they are delivered. Suites that run side by side share them; who changes something in them takes a copy."""
    made = ROOT / ".build/public"
    sources = [ROOT / "packaging/bundle-pages", SOURCE_PAGES, *SOURCE_PAGES.rglob("*")]
    made.parent.mkdir(exist_ok=True)
    with open(made.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        index = made / "index.html"
        # Its folder shows whether a file is gone.
        if not index.exists() or index.stat().st_mtime < max(path.stat().st_mtime for path in sources):
            subprocess.run([ROOT / "packaging/bundle-pages", made], check=True)
    return made


def pages_tried() -> Path:
    """What servers serve: a visit to the sources takes twice the processor's time."""
    given = os.environ.get("PUBLIC")
    return ROOT / given if given else bundled()


@functools.cache
def base_url() -> str:
    """The address of a server with the sources above, ending in a slash."""
    given = os.environ.get("ZIGGURAT_URL")
    if given:
        return given.rstrip("/") + "/"
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-browser-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for image in SOURCES:
        copy = folder / "photos" / (image + source(image).suffix)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source(image), copy)
    # Lossless tiles: what the canvas shows can then be held to the source itself.
    return served(folder / "photos", "--format", "png")


def served(photos: Path, *options: str, pages: Path | None = None, serve: tuple[str, ...] = ("--port", "0")) -> str:
    """The address of a server, ending in a slash, that shows what is built of a folder until the tests end."""
    library = photos.parent / "library"
    subprocess.run([BINARY, "build", photos, "--library", library, *options],
                   check=True, env=CLEAN, timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = subprocess.Popen([BINARY, "serve", library, "--webroot", pages or pages_tried(), *serve],
                              env=CLEAN, stdout=subprocess.PIPE, text=True)
    atexit.register(lambda: (server.terminate(), server.wait(10)))
    line = server.stdout.readline()
    found = re.match(r"listening on (http://\S+)", line)
    assert found, f"no ready line but {line!r}"
    return found[1].rstrip("/") + "/"


TOKEN = "token-of-the-browser-tests"


def writable(library: Path, *options: str, pages: Path | None = None) -> str:
    """The address of a server of a library, ending in a slash, that lets who has the token write."""
    (library.parent / "token").write_text(TOKEN)
    (library.parent / "token").chmod(0o600)
    server = subprocess.Popen([BINARY, "serve", library, "--port", "0", "--webroot", pages or pages_tried(), "--writable",
                               "--token-file", library.parent / "token", *options], env=CLEAN, stdout=subprocess.PIPE, text=True)
    atexit.register(lambda: (server.terminate(), server.wait(20)))
    line = server.stdout.readline()
    found = re.match(r"listening on http://\S+:(\d+)/", line)
    assert found, f"no ready line but {line!r}"
    return f"http://127.0.0.1:{found[1]}/"


@functools.cache
def playwright():
    running = sync_playwright().start()
    atexit.register(running.stop)
    return running


browsers = []


def chromium():
    """The browser; a new one where the last one died, so that one test's end is not the end of all."""
    if not browsers or not browsers[-1].is_connected():
        browsers.append(playwright().chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]))
        atexit.register(browsers[-1].close)
    return browsers[-1]


class Visit:
    """One page in a window of its own; everything it asks for and complains of is written down."""

    def __init__(self, width=1280, height=800, ratio=1, touch=False, host=None, tile_by_tile=False, offline=False, **options):
        """- tile_by_tile: without an answer for a whole first view. - offline: with a service worker, which no route holds up."""
        self.host = host or base_url()
        self.context = chromium().new_context(
            viewport={"width": width, "height": height}, device_scale_factor=ratio, has_touch=touch, **options)
        self.page = self.context.new_page()
        if SLOWER > 1:
            self.context.new_cdp_session(self.page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        # The browser reports requests in an order of its own; this is the page's.
        self.page.add_init_script("""globalThis.fetched = []
            const fetch = globalThis.fetch
            globalThis.fetch = (url, options) => { globalThis.fetched.push(String(url)); return fetch(url, options) }""" + ("" if offline else "\ndelete Navigator.prototype.serviceWorker"))
        self.width, self.height, self.ratio = width, height, ratio
        self.requests, self.aborted, self.errors, self.tile_by_tile = [], [], [], tile_by_tile
        if tile_by_tile:
            self.page.route("**/viewport.tiles?*", lambda route: route.fulfill(status=204))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", self.failed)
        self.page.on("response", lambda answer: answer.status >= 400
                     and self.errors.append(f"{answer.status} {answer.url}"))
        self.page.on("console", lambda message: message.type in ("error", "warning")
                     and self.errors.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.errors.append(f"error: {error}"))

    def failed(self, request):
        (self.aborted if request.failure == "net::ERR_ABORTED" else self.errors).append(request.url)

    def open(self, path="", wait=True):
        self.page.goto(self.host + path)
        if wait:
            self.sharp()
        return self

    def photo(self, image=PHOTO, view="", wait=True):
        return self.open("view/" + urllib.parse.quote(image, safe="") + (f"#{view}" if view else ""), wait)

    def look(self, view=""):
        """Moves the open picture to a view, or back to fit."""
        self.run("""
            if (!argument) return viewer.fit()
            if (location.hash === '#' + argument) return
            const moved = new Promise((done) => addEventListener('hashchange', done, { once: true }))
            location.hash = argument
            await moved""", view)
        self.sharp()
        return self

    def run(self, script, argument=None):
        """JavaScript with `viewer` at hand. Never playwright's waits: they need eval, which the page forbids."""
        return self.page.evaluate(
            "async (argument) => { const viewer = document.querySelector('ziggurat-viewer'); " + script + " }", argument)

    def until(self, script, what="", seconds=60):
        """Waits until the script returns something. A script that throws has met what is not there yet: a page that
        gives way to the next, an element a module still to come will make."""
        deadline = time.monotonic() + seconds
        while True:
            met = None
            try:
                value = self.run(script)
            except Error as error:
                value, met = None, error
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"never: {what or script}") from met
            self.page.wait_for_timeout(25)

    def sharp(self):
        """Waits until the picture is at rest and every tile of the view is drawn."""
        self.until("return viewer?.isFullyLoaded", "every tile of the view drawn")

    def address(self):
        """The page's own word: playwright hears of a changed address some time later."""
        return self.run("return location.href")

    def view(self):
        return self.run("const { scale, x, y, width, height } = viewer.viewport; return { scale, x, y, width, height }")

    def image_point(self, x, y):
        return self.run("return viewer.viewport.imagePoint(argument)", {"x": x, "y": y})

    def viewport_point(self, point):
        return self.run("return viewer.viewport.viewportPoint(argument)", point)

    def modules(self):
        """Has the pages' modules at hand, each by itself below /sources/: what is delivered is bundled."""
        self.page.route("**/sources/**", lambda route: route.fulfill(
            path=SOURCE_PAGES / urllib.parse.urlsplit(route.request.url).path.split("/sources/")[1], content_type="text/javascript"))
        return self

    def hide_ui(self):
        self.run("viewer.setAttribute('ui', 'hidden'); document.body.dataset.ui = 'hidden'")
        self.page.wait_for_timeout(300)

    def watch(self, point):
        """Records from here on where the image point is shown, at every move of the picture."""
        self.run("""globalThis.track = []
            viewer.removeEventListener('viewport', globalThis.tracker)
            globalThis.tracker = () => {
              const { x, y } = viewer.viewport.viewportPoint(argument)
              globalThis.track.push([x, y])
            }
            viewer.addEventListener('viewport', globalThis.tracker)""", point)

    def watch_between(self, point):
        """The same for two fingers: the distance from the middle between them, wherever they are by then.

        The browser reports one finger after the other, and a frame may be drawn in between."""
        self.run("""globalThis.track = []
            const fingers = new Map()
            for (const type of ['pointerdown', 'pointermove']) {
              viewer.shadowRoot.addEventListener(type, ({ pointerId, clientX, clientY }) =>
                fingers.set(pointerId, [clientX, clientY]), true)
            }
            viewer.removeEventListener('viewport', globalThis.tracker)
            globalThis.tracker = () => {
              if (fingers.size !== 2) return
              const [[ax, ay], [bx, by]] = fingers.values()
              const { x, y } = viewer.viewport.viewportPoint(argument)
              globalThis.track.push([x - (ax + bx) / 2, y - (ay + by) / 2])
            }
            viewer.addEventListener('viewport', globalThis.tracker)""", point)

    def track(self):
        return self.run("return globalThis.track")

    def tiles(self, image=PHOTO):
        """What was asked for of an image: (level, column, row), in the order in which the page asked; a whole
        first view counts as its tiles."""
        name = re.escape(urllib.parse.quote(image, safe=""))
        asked = []
        for url in self.run("return globalThis.fetched"):
            if match := re.search(name + r"_files/(\d+)/(\d+)_(\d+)\.", url):
                asked.append(tuple(map(int, match.groups())))
            elif not self.tile_by_tile and re.search(name + r"/viewport\.tiles\?", url):
                answer = urllib.request.urlopen(url.replace("/viewport.tiles?", "/viewport?"))
                asked += [(tile["level"], tile["column"], tile["row"]) for tile in json.load(answer)["tiles"]]
        return asked

    def touches(self, pace=None):
        return Touches(self, pace)

    def close(self, allowed_errors=()):
        """Ends the visit; complaints beyond those expected are a failure."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.close()
        rest = [problem for problem in self.errors if not any(re.search(pattern, problem) for pattern in allowed_errors)]
        assert not rest, rest
        elsewhere = [url for url in self.requests if not url.startswith((self.host, "data:", "blob:"))]
        assert not elsewhere, f"asked another host: {elsewhere}"


class PageTest(unittest.TestCase):
    """A test that visits pages; each must end without a complaint."""

    def visit(self, allowed_errors=(), **options):
        visit = Visit(**options)
        self.addCleanup(visit.close, allowed_errors)
        return visit
