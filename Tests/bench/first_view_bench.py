"""The viewer's first view in Chromium, from one request and tile by tile, at 100 ms round trip.

The browser opens six connections to a host, as it does by itself; every answer is held back by the round
trip (DevTools' network emulation). The time is from the first question about the image to every tile of the
view being drawn; rounds are interleaved, medians are compared.
"""

import os
import re
import statistics
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

import material
from measure import spread, table

ROUND_TRIP = 100  # ms
VIEWS = [("fit, 1280×800", "", 1280, 800, 1), ("fit, 1920×1080 at 2×", "", 1920, 1080, 2),
         ("full resolution, 1920×1080", "scale=1&x=1500&y=800", 1920, 1080, 1),
         ("a link on a phone, 390×844 at 3×", "scale=0.5&x=900&y=300", 390, 844, 3)]
SHARP = """() => new Promise((done) => {
  const viewer = document.querySelector('ziggurat-viewer')
  const look = () => viewer?.isFullyLoaded ? done(performance.now()) : requestAnimationFrame(look)
  look()
})"""


def visit(browser, url: str, width: int, height: int, ratio: int, tile_by_tile: bool) -> tuple[float, int]:
    """Milliseconds to the sharp view, and how many requests it took beyond the page's own files."""
    context = browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=ratio, bypass_csp=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "_files/" in request.url or "/api/" in request.url else None)
    if tile_by_tile:
        # As from a server without it: the page goes on at once, without a round trip lost.
        page.add_init_script("""const fetch = globalThis.fetch
          globalThis.fetch = (url, options) => String(url).includes('/viewport.tiles?')
            ? Promise.resolve(new Response(null, { status: 204 })) : fetch(url, options)""")
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": ROUND_TRIP, "downloadThroughput": -1, "uploadThroughput": -1})
    page.goto(url, wait_until="commit")
    sharp = page.evaluate(SHARP)
    # The page's own files are the same either way: the time counts from the first question about the image.
    start = page.evaluate("""Math.min(...performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('/api/images/')).map(({ startTime }) => startTime))""")
    context.close()
    return sharp - start, len(asked)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    from playwright.sync_api import sync_playwright
    rounds = 3 if quick else 9
    with tempfile.TemporaryDirectory(dir=material.CACHE) as folder:
        photo = max(material.photographs(), key=lambda path: path.stat().st_size)
        subprocess.run([ziggurat, "build", photo, "--library", folder, "--quiet"], check=True)
        server = subprocess.Popen([ziggurat, "serve", folder, "--port", "0", "--webroot", Path(__file__).parents[2] / "public"],
                                  stdout=subprocess.PIPE, env={**os.environ, "ZIGGURAT_LOG": "none"}, text=True)
        base = re.search(r"http://\S+", server.stdout.readline())[0]
        rows = []
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
                for name, view, width, height, ratio in VIEWS:
                    url = f"{base}view/{urllib.parse.quote(photo.stem, safe='')}" + (f"#{view}" if view else "")
                    times = {True: [], False: []}
                    counts = {}
                    for _ in range(rounds):
                        for alone in (False, True):
                            time, counts[alone] = visit(browser, url, width, height, ratio, alone)
                            times[alone].append(time)
                    one, many = statistics.median(times[False]), statistics.median(times[True])
                    ratio_text = f"{many / one:.2f}×"
                    print(f"first view, {name}: one request {one:.0f} ms ({counts[False]} asked), tile by tile {many:.0f} ms "
                          f"({counts[True]} asked), ratio {ratio_text}", flush=True)
                    rows.append([name, str(counts[True]), str(counts[False]), ratio_text, f"±{spread([a / b for a, b in zip(times[True], times[False])]):.0%}"])
                browser.close()
        finally:
            server.terminate()
            server.wait(20)
    return table(["first view at 100 ms round trip", "requests tile by tile", "in one", "faster", "rounds within"], rows)
