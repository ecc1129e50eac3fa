"""How smoothly the viewer follows a hand in Chromium: panning, zooming and paging for half a minute, the first view on a slow
processor, and its memory after 500 pages.

The browser's own trace gives the duration of each task of the page's thread, and the page itself that of each frame. Nothing of
it is a test: the machine's other load is in every number, so the thread's own processor time stands beside the clock's.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import material
from measure import table
from panning_bench import tasks_and_frames, throw

ROOT = Path(__file__).resolve().parents[3]
SECONDS, LONGEST, SLOW_LONGEST = 30, 50, 200  # ms a frame or task may take; a task at a quarter of the speed
PAGES, LOOKS = 500, 5  # pages in all; how many times memory is looked at
PICTURES = 40
WINDOW = {"width": 1280, "height": 800}
CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
FRAMES = """globalThis.frames_ = []
  let last = performance.now()
  const look = (now) => { globalThis.frames_.push(now - last); last = now; requestAnimationFrame(look) }
  requestAnimationFrame(look)"""
SHARP = "document.querySelector('ziggurat-viewer')?.isFullyLoaded"
ALBUM = "document.querySelector('ziggurat-viewer').images.length > 1"


@contextmanager
def served(ziggurat: Path, photos: list[Path], folder: Path, pages: Path) -> Iterator[str]:
    """The address of a server of these pictures, ending in a slash."""
    subprocess.run([ziggurat, "build", *photos, "--library", folder, "--quiet"], check=True)
    server = subprocess.Popen([ziggurat, "serve", folder, "--port", "0", "--webroot", pages],
                              stdout=subprocess.PIPE, env={**os.environ, "ZIGGURAT_LOG": "none"}, text=True)
    try:
        yield re.search(r"http://\S+", server.stdout.readline())[0]
    finally:
        server.terminate()
        server.wait(20)


def visit(browser, url: str, slower: int = 1):
    context = browser.new_context(viewport=WINDOW, has_touch=True, bypass_csp=True)
    page = context.new_page()
    session = context.new_cdp_session(page)
    if slower > 1:
        session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    return page, session


def longest(tasks: list[tuple[float, float]]) -> tuple[float, float]:
    return max(task[0] for task in tasks), max(task[1] for task in tasks)


def by_hand(browser, url: str, seconds: int) -> tuple[float, int, float, float, int]:
    """The longest frame, how many there were, the longest task by the clock and by its processor time, pages turned."""
    page, session = visit(browser, url)
    page.goto(url)
    page.wait_for_function(f"{SHARP} && {ALBUM}")
    page.mouse.move(640, 400)
    page.evaluate(FRAMES)
    browser.start_tracing(page=page, categories=CATEGORIES)
    begun = time.monotonic()
    turned = 0
    while time.monotonic() - begun < seconds:
        for delta in (-120, -120, -120, -120):
            page.mouse.wheel(0, delta)
            page.wait_for_timeout(60)
        for start, end in (((900, 400), (400, 300)), ((400, 300), (900, 600)), ((640, 700), (640, 200))):
            throw(session, start, end)
            page.wait_for_timeout(350)
        page.keyboard.press("0")
        page.wait_for_timeout(350)
        for key in ("PageDown", "PageDown", "PageUp") if turned % 6 < 3 else ("PageUp", "PageUp", "PageDown"):
            page.keyboard.press(key)
            page.wait_for_timeout(400)
            turned += 1
    tasks, _ = tasks_and_frames(browser.stop_tracing())
    frames = page.evaluate("frames_.slice(1)")
    page.context.close()
    return max(frames), len(frames), *longest(tasks), turned


def first_view(browser, url: str, slower: int) -> tuple[float, float]:
    """The longest task until the first view is sharp, by the clock and by its processor time."""
    page, _ = visit(browser, url, slower)
    browser.start_tracing(page=page, categories=CATEGORIES)
    page.goto(url)
    page.wait_for_function(SHARP)
    tasks, _ = tasks_and_frames(browser.stop_tracing())
    page.context.close()
    return longest(tasks)


def held(session) -> tuple[float, int, int]:
    """What is left when all that can be is collected: megabytes of scripts' objects, nodes, listeners."""
    session.send("HeapProfiler.collectGarbage")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / 1e6, int(metrics["Nodes"]), int(metrics["JSEventListeners"])


def after_pages(browser, url: str, pages: int) -> list[tuple[float, int, int]]:
    """What is held after each fifth of so many pages."""
    page, session = visit(browser, url)
    session.send("Performance.enable")
    page.goto(url)
    page.wait_for_function(f"{SHARP} && {ALBUM}")
    looks = []
    for number in range(pages):
        key = "PageDown" if number // (PICTURES - 1) % 2 == 0 else "PageUp"
        page.keyboard.press(key)
        page.wait_for_function(f"{SHARP} && !document.querySelector('ziggurat-viewer').shadowRoot.querySelector('.track').getAnimations().length")
        if (number + 1) % (pages // LOOKS) == 0:
            looks.append(held(session))
    page.context.close()
    return looks


def bar(is_met: bool) -> str:
    return "met" if is_met else "missed"


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    from playwright.sync_api import sync_playwright
    seconds, pages_turned = (6, 50) if quick else (SECONDS, PAGES)
    with tempfile.TemporaryDirectory(dir=material.CACHE) as place:
        folder = Path(place)
        subprocess.run([ROOT / "packaging/bundle-pages", folder / "public"], check=True)
        photographs = material.photographs()
        small = []
        (folder / "small").mkdir()
        for number in range(PICTURES):
            path = folder / f"small/{number:02}.jpg"
            material.vips("thumbnail", photographs[number % len(photographs)], path, 1400 + number)
            small.append(path)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--enable-precise-memory-info"])
            with served(ziggurat, photographs, folder / "large", folder / "public") as base:
                url = f"{base}view/{sorted(path.stem for path in photographs)[1]}"
                # The median: a browser's own first page takes longer than any that follows.
                views = {slower: sorted(first_view(browser, url, slower) for _ in range(5))[2] for slower in (1, 4)}
                frame, frames, task, processor, turned = by_hand(browser, url, seconds)
            with served(ziggurat, small, folder / "many", folder / "public") as base:
                looks = after_pages(browser, f"{base}view/00", pages_turned)
            browser.close()
    print(f"{seconds} s of panning, zooming and {turned} pages: {frames} frames, the longest {frame:.0f} ms; longest task {task:.0f} ms "
          f"({processor:.0f} ms of processor time)", flush=True)
    for slower, (wall, own) in views.items():
        print(f"first view at {slower}× CPU slow-down: longest task {wall:.0f} ms ({own:.0f} ms of processor time)", flush=True)
    print(f"{pages_turned} pages, after each fifth: " + ", ".join(
        f"{heap:.2f} MB, {nodes} nodes, {listeners} listeners" for heap, nodes, listeners in looks), flush=True)
    (first, nodes, listeners), (last, last_nodes, last_listeners) = looks[1], looks[-1]
    is_flat = last < first * 1.1 + 0.2 and last_nodes < nodes * 1.1 + 20 and last_listeners <= listeners * 1.1 + 10
    return table(["by hand", "measured", "bar", ""], [
        [f"longest frame in {seconds} s", f"{frame:.0f} ms", f"{LONGEST} ms", bar(frame <= LONGEST)],
        ["longest task, by the clock and of processor time", f"{task:.0f}, {processor:.0f} ms", f"{LONGEST} ms", bar(task <= LONGEST)],
        ["longest task of the first view", f"{views[1][0]:.0f}, {views[1][1]:.0f} ms", f"{LONGEST} ms", bar(views[1][0] <= LONGEST)],
        ["the same at 4× CPU slow-down", f"{views[4][0]:.0f}, {views[4][1]:.0f} ms", f"{SLOW_LONGEST} ms", bar(views[4][0] <= SLOW_LONGEST)],
        [f"heap over {pages_turned} pages", f"{first:.2f} → {last:.2f} MB", "flat", bar(is_flat)],
        ["nodes, listeners", f"{nodes} → {last_nodes}, {listeners} → {last_listeners}", "flat", bar(is_flat)]])
