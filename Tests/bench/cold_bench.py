"""A picture's own address, cold, in Chromium: our page as it is delivered against one with OpenSeadragon, minified, with
its canvas drawer, from the same server and the same archive.

Cold is a browser that has nothing: the page, its scripts, the description and the tiles are all loaded. Every answer is
held back by the round trip (DevTools' network emulation). The time is from the start of the navigation to every tile of
the view being drawn; rounds are interleaved, medians are compared. The same OpenSeadragon is measured with our tile source,
too, instead of Deep Zoom.

And the same picture clicked in the gallery, which has its thumbnail and its script by then, but nothing else of it.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

import material
import openseadragon
from measure import spread, table

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = [("1280×800", 1280, 800, 1), ("390×844 at 3×", 390, 844, 3), ("1920×1080 at 2×", 1920, 1080, 2)]
ROUND_TRIPS = [20, 100, 300]  # ms
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>OpenSeadragon</title><style>html, body, #viewer { margin: 0; height: 100%; background: #000 }</style></head>
<body><div id="viewer"></div><script src="/openseadragon-AAAAAAAA.js"></script>
<script>viewer = OpenSeadragon({
  id: 'viewer', drawer: 'canvas', showNavigationControl: false, tileSources: new URLSearchParams(location.search).get('dzi'),
})</script></body></html>
"""
# The two scripts and the first view come side by side, as docs/how-to/embed.md has it.
WITH_SOURCE = PAGE[:PAGE.index("<script>")].replace(
    "<style>", '<link rel="modulepreload" href="/openseadragon/ziggurat-tile-source.js"><style>').replace(
    "<script src", """<script>
const { clientWidth: width, clientHeight: height } = document.getElementById('viewer')
const query = new URLSearchParams({ width, height, dpr: devicePixelRatio * 1.00001, include: 'overview,description' })
const view = fetch(`${new URLSearchParams(location.search).get('image')}/viewport.tiles?${query}`)
</script><script src""") + """<script>
import('/openseadragon/ziggurat-tile-source.js').then(({ zigguratTileSource }) => {
  viewer = OpenSeadragon({
    id: 'viewer', drawer: 'canvas', showNavigationControl: false,
    tileSources: zigguratTileSource(OpenSeadragon, new URLSearchParams(location.search).get('image'), { element: 'viewer', view }),
  })
})</script></body></html>
"""
# The page draws on after its last tile has come: a view is there when it is loaded and nothing moves any more.
DRAWN = "globalThis.viewer?.world?.getItemAt(0)?.getFullyLoaded() && viewer.world.getItemAt(0).lastDrawn.length > 0"
SHARP = {"ziggurat": "document.querySelector('ziggurat-viewer')?.isFullyLoaded", "openseadragon": DRAWN, "source": DRAWN}


def visit(browser, url: str, who: str, width: int, height: int, ratio: int, round_trip: int) -> tuple[float, int, int]:
    """Milliseconds to the sharp view, requests, and kilobytes that came over the line."""
    context = browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=ratio)
    page = context.new_page()
    page.add_init_script(f"""sharp = new Promise((done) => {{
      const look = () => ({SHARP[who]}) ? done(performance.now()) : requestAnimationFrame(look)
      document.addEventListener('readystatechange', look, {{ once: true }})
    }})""")
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": round_trip, "downloadThroughput": -1, "uploadThroughput": -1})
    came = []
    session.on("Network.loadingFinished", lambda event: came.append(event["encodedDataLength"]))
    page.goto(url, wait_until="commit")
    time = page.evaluate("sharp")
    context.close()
    return time, len(came), round(sum(came) / 1000)


# The first frame that shows pixels of it, and that with every tile of the view and nothing in front of it any more.
OPENED = """new Promise((done) => {
  let click, frames = 0, seen
  addEventListener('click', (event) => { click = event.timeStamp }, { capture: true, once: true })
  const look = (now) => {
    const viewer = document.querySelector('.view:not(.waiting) ziggurat-viewer')
    if (click && !seen) {
      frames += 1
      if (viewer?.shadowRoot.querySelector('.preview')) seen = now - click
    }
    if (seen && viewer.isFullyLoaded && !viewer.shadowRoot.querySelector('.preview')) return done([frames, seen, now - click])
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})"""


def click(browser, url: str, width: int, height: int, ratio: int, round_trip: int) -> tuple[int, float, float]:
    """Frames and milliseconds from a click in the gallery to the first pixels, milliseconds to the sharp view."""
    context = browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=ratio)
    page = context.new_page()
    page.goto(url)
    page.locator(".view.waiting").wait_for(state="attached")
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": round_trip, "downloadThroughput": -1, "uploadThroughput": -1})
    page.evaluate(f"opened = {OPENED}; 0")
    page.locator("#grid a").first.click()
    measured = page.evaluate("opened")
    context.close()
    return measured


def from_gallery(browser, url: str, rounds: int) -> str:
    rows = []
    for window, width, height, ratio in WINDOWS:
        for round_trip in ROUND_TRIPS:
            clicks = [click(browser, url, width, height, ratio, round_trip) for _ in range(rounds)]
            frames, first, sharp = (statistics.median(values) for values in zip(*clicks))
            print(f"from the gallery, {window}, {round_trip} ms: first pixels in frame {frames:.0f} ({first:.0f} ms), sharp after "
                  f"{sharp:.0f} ms", flush=True)
            rows.append([f"{window}, {round_trip} ms", f"{frames:.0f}", f"{first:.0f}", f"{sharp:.0f}"])
    return table(["from a click in the gallery", "first pixels, frames", "ms", "sharp, ms"], rows)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    from playwright.sync_api import sync_playwright
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory(dir=material.CACHE) as folder:
        photo = max(material.photographs(), key=lambda path: path.stat().st_size)
        subprocess.run([ziggurat, "build", photo, "--library", f"{folder}/library", "--quiet"], check=True)
        pages = Path(folder) / "public"
        subprocess.run([ROOT / "packaging/bundle-pages", pages], check=True)
        shutil.copy(openseadragon.minified(), pages / "openseadragon-AAAAAAAA.js")
        subprocess.run(["brotli", "--best", pages / "openseadragon-AAAAAAAA.js"], check=True)
        (pages / "openseadragon.html").write_text(PAGE)
        (pages / "with-source.html").write_text(WITH_SOURCE)
        server = subprocess.Popen([ziggurat, "serve", f"{folder}/library", "--port", "0", "--webroot", pages],
                                  stdout=subprocess.PIPE, env={**os.environ, "ZIGGURAT_LOG": "none"}, text=True)
        base = re.search(r"http://\S+", server.stdout.readline())[0]
        name = urllib.parse.quote(photo.stem, safe="")
        urls = {"ziggurat": f"{base}view/{name}", "openseadragon": f"{base}openseadragon.html?dzi=/dzi/{name}.dzi",
                "source": f"{base}with-source.html?image=/api/images/{name}"}
        rows = []
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                for window, width, height, ratio in WINDOWS:
                    for round_trip in ROUND_TRIPS:
                        visits = {who: [] for who in urls}
                        for _ in range(rounds):
                            for who, url in urls.items():
                                visits[who].append(visit(browser, url, who, width, height, ratio, round_trip))
                        (ours, requests, size), (theirs, their_requests, their_size), (source, source_requests, source_size) = (
                            [statistics.median(values) for values in zip(*visits[who])] for who in urls)
                        ratios = [b[0] / a[0] for a, b, _ in zip(*visits.values())]
                        text, with_source = f"{theirs / ours:.2f}×", f"{theirs / source:.2f}×"
                        print(f"cold, {window}, {round_trip} ms: {ours:.0f} ms ({requests} requests, {size} kB), OpenSeadragon "
                              f"{theirs:.0f} ms ({their_requests}, {their_size} kB), ratio {text}; with our tile source "
                              f"{source:.0f} ms ({source_requests}, {source_size} kB), {with_source} sooner", flush=True)
                        rows.append([f"{window}, {round_trip} ms", f"{theirs:.0f}", f"{ours:.0f}", f"{their_requests:.0f}",
                                     f"{requests:.0f}", text, f"±{spread(ratios):.0%}", f"{source:.0f}", with_source])
                clicked = from_gallery(browser, base, rounds)
                browser.close()
        finally:
            server.terminate()
            server.wait(20)
    return table(["sharp, cold", "OpenSeadragon, ms", "ours, ms", "its requests", "ours", "sooner", "rounds within",
                  "OpenSeadragon with our source, ms", "sooner"], rows) + "\n\n" + clicked
