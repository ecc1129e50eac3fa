"""Panning a 300-megapixel picture in Chromium for half a minute: tasks of the page's thread, and its memory.

A finger throws the picture back and forth at full resolution. The browser's own trace gives the duration of each task.
Startup, until the first view is sharp, does not count.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import material
from measure import table

SECONDS, LONGEST = 30, 50  # ms a task may take
WINDOW = {"width": 1280, "height": 800}


def throw(session, start: tuple[int, int], end: tuple[int, int]) -> None:
    """A swipe of about a sixth of a second."""
    def send(kind: str, points: list) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    send("touchStart", [{"x": start[0], "y": start[1]}])
    for step in range(1, 11):
        x, y = (a + (b - a) * step / 10 for a, b in zip(start, end))
        send("touchMove", [{"x": x, "y": y}])
        time.sleep(0.016)
    send("touchEnd", [])


def tasks_and_frames(trace: bytes) -> tuple[list[tuple[float, float]], int]:
    """Milliseconds of the tasks of the page's main thread, by the clock and by its own processor time, and how many
    frames were asked for."""
    events = json.loads(trace)["traceEvents"]
    threads = {(event["pid"], event["tid"]) for event in events
               if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"}
    tasks = [(event["dur"] / 1000, event.get("tdur", event["dur"]) / 1000) for event in events
             if event.get("name") == "RunTask" and event.get("ph") == "X" and (event["pid"], event["tid"]) in threads]
    return tasks, sum(event.get("name") == "FireAnimationFrame" for event in events)


def memory(page) -> dict[str, float]:
    """Megabytes: what scripts hold, and decoded tiles."""
    return page.evaluate("""() => ({ heap: performance.memory.usedJSHeapSize / 1e6,
        tiles: document.querySelector('ziggurat-viewer').cachedBytes / 1e6 })""")


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    from playwright.sync_api import sync_playwright
    seconds = 8 if quick else SECONDS
    photo = material.SOURCES["jpeg-300mp"]()
    with tempfile.TemporaryDirectory(dir=material.CACHE) as folder:
        subprocess.run([ziggurat, "build", photo, "--library", folder, "--quiet"], check=True)
        server = subprocess.Popen([ziggurat, "serve", folder, "--port", "0", "--webroot", Path(__file__).parents[2] / "public"],
                                  stdout=subprocess.PIPE, env={**os.environ, "ZIGGURAT_LOG": "none"}, text=True)
        base = re.search(r"http://\S+", server.stdout.readline())[0]
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox", "--enable-precise-memory-info"])
                page = browser.new_context(viewport=WINDOW, has_touch=True, bypass_csp=True).new_page()
                session = page.context.new_cdp_session(page)
                page.goto(f"{base}view/{photo.stem}#scale=1&x=500&y=2000")
                page.wait_for_function("document.querySelector('ziggurat-viewer')?.isFullyLoaded")
                page.wait_for_timeout(1000)
                browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"])
                begun, samples = time.monotonic(), []
                turn = 0
                while time.monotonic() - begun < seconds:
                    # Line by line, so that new tiles are needed all the time.
                    way = (0, -1) if turn % 10 == 9 else (-1, 0) if turn // 10 % 2 == 0 else (1, 0)
                    turn += 1
                    throw(session, (640 - 450 * way[0], 400 - 300 * way[1]), (640 + 450 * way[0], 400 + 300 * way[1]))
                    page.wait_for_timeout(350)
                    samples.append(memory(page))
                counts = page.evaluate("document.querySelector('ziggurat-viewer').requestCounts")
                trace = browser.stop_tracing()
                browser.close()
        finally:
            server.terminate()
            server.wait(20)
    tasks, frames = tasks_and_frames(trace)
    above = [sum(task[kind] > LONGEST for task in tasks) for kind in (0, 1)]
    longest = [max(task[kind] for task in tasks) for kind in (0, 1)]
    third = max(1, len(samples) // 3)
    heap = [max(sample["heap"] for sample in part) for part in (samples[third:2 * third], samples[-third:])]
    tiles = max(sample["tiles"] for sample in samples)
    print(f"{turn} throws in {seconds} s, {frames} frames, {counts['requested']} tiles asked for, {counts['aborted']} aborted; "
          f"{len(tasks)} tasks, longest {longest[0]:.0f} ms ({longest[1]:.0f} ms of processor time), {above[0]} above "
          f"{LONGEST} ms ({above[1]}); heap at most {heap[0]:.1f} MB in the second third, {heap[1]:.1f} MB in the last; "
          f"decoded tiles at most {tiles:.0f} MB", flush=True)
    met = above[0] == 0 and heap[1] < heap[0] * 1.2 + 2
    rows = [[f"{seconds} s", str(frames), f"{longest[0]:.0f} ms", f"{longest[1]:.0f} ms", f"{above[0]}, {above[1]}",
             f"{heap[0]:.1f} → {heap[1]:.1f} MB", f"{tiles:.0f} MB", "met" if met else "missed"]]
    return table(["panning 300 MP", "frames", "longest task", "of processor time", f"above {LONGEST} ms, of processor time",
                  "heap", "decoded tiles", "bars"], rows)
