"""The benefit of a cache in front: the share of the browsers' requests that it answers after the first time, and its speed.

Chromium's own requests are recorded, of this viewer and of OpenSeadragon, as they are taken to random views. Then they are sent
through nginx (packaging/nginx-edge.conf) before three servers, twice, with a longer pause than the lifetime of responses without
a version in their URL. The rate is that of a loop of libcurl (ranges.c), of tiles that the cache has, and of the same tiles of one
server that has to ask the store, Ceph, for each.
"""

import collections
import http.client
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import material
import openseadragon
from measure import spread, table
from store.misses_bench import MissesBench

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "Tests" / name) for name in ("scale", "program", "program/fleet")]

from ceph import Ceph  # noqa: E402
from edges import Nginx  # noqa: E402
from harness import Server  # noqa: E402

SEED, WINDOW = 1, {"width": 1280, "height": 800}
OPEN = """<!doctype html><meta charset="utf-8"><style>body { margin: 0 } #viewer { width: 100vw; height: 100vh }</style><div id="viewer"></div>
<script src="/openseadragon.js"></script><script type="module">
import { zigguratTileSource } from '/openseadragon/ziggurat-tile-source.js'
globalThis.osd = OpenSeadragon({ id: 'viewer', drawer: 'canvas', showNavigationControl: false, animationTime: 0, tileSources: SOURCE })
globalThis.isSharp = () => Boolean(osd.world.getItemAt(0)?.getFullyLoaded())
globalThis.go = (x, y, zoom) => { osd.viewport.zoomTo(zoom, null, true); osd.viewport.panTo(new OpenSeadragon.Point(x, y), true) }
</script>"""
# What is opened, by what it is called.
SOURCES = {
    "OpenSeadragon, our tile source": "zigguratTileSource(OpenSeadragon, '/api/images/ID', { element: 'viewer' })",
    "OpenSeadragon, `.dzi?v=…`": "'/dzi/ID.dzi?v=GENERATION'",
    "OpenSeadragon, `.dzi`": "'/dzi/ID.dzi'",
}


def with_body(kind: str, body: str):
    """What answers in a server's place."""
    return lambda route: route.fulfill(content_type=kind, body=body)


def traces(server: Server, ids: list[str], views: int) -> dict[str, list[str]]:
    """The targets that each viewer asks for, in their order."""
    from playwright.sync_api import sync_playwright
    script = openseadragon.minified().read_text()
    base, found = f"http://127.0.0.1:{server.port}", collections.defaultdict(list)
    chance = random.Random(SEED)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])

        def visit(name: str):
            page = browser.new_context(viewport=WINDOW, bypass_csp=True, service_workers="block").new_page()
            page.set_default_timeout(60_000)
            page.on("request", lambda request: found[name].append(request.url.removeprefix(base)) if request.url.startswith(base + "/") else None)
            return page

        for id in ids:
            segment = urllib.parse.quote(id, safe="")
            page = visit("our viewer")
            page.goto(f"{base}/view/{segment}")
            sharp = "document.querySelector('ziggurat-viewer')?.isFullyLoaded"
            page.wait_for_function(sharp)
            for _ in range(views):
                page.mouse.move(chance.randrange(100, 1180), chance.randrange(100, 700))
                page.mouse.wheel(0, chance.choice([-400, -250, -250, 300]))
                page.mouse.down()
                page.mouse.move(chance.randrange(100, 1180), chance.randrange(100, 700), steps=8)
                page.mouse.up()
                page.wait_for_timeout(300)
                page.wait_for_function(sharp)
            page.context.close()
            generation = json.loads(server.get(f"/api/images/{segment}").body)["generation"]
            for name, source in SOURCES.items():
                page = visit(name)
                page.route("**/openseadragon.js", with_body("text/javascript", script))
                page.route("**/opened", with_body("text/html", OPEN.replace("SOURCE", source).replace("ID", segment).replace("GENERATION", generation)))
                page.goto(f"{base}/opened", wait_until="commit")
                page.wait_for_function("globalThis.isSharp?.()")
                for _ in range(views):
                    page.evaluate("view => go(...view)", [chance.uniform(0.1, 0.9), chance.uniform(0.1, 0.6), chance.uniform(1, 6)])
                    page.wait_for_timeout(300)
                    page.wait_for_function("isSharp()")
                page.context.close()
        browser.close()
    # The browser's own way to these: they are of no server.
    return {name: [target for target in targets if target not in ("/opened", "/openseadragon.js")] for name, targets in found.items()}


def answered(port: int, targets: list[str]) -> collections.Counter:
    """What the cache says of each answer with tiles, and of all else."""
    connection, counts = http.client.HTTPConnection("127.0.0.1", port, timeout=60), collections.Counter()
    for target in targets:
        connection.request("GET", target)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"bench: {target} is answered {answer.status}")
        counts["tile" if "_files/" in target or "/viewport.tiles?" in target else "else", answer.headers["X-Cache"]] += 1
    connection.close()
    return counts


def rates(ziggurat: Path, quick: bool) -> list[list[str]]:
    """How much of the recorded requests is answered by the cache after the first time."""
    folder = Path(tempfile.mkdtemp(dir=material.CACHE))
    edge, servers = Nginx(folder), []
    try:
        photographs = material.photographs()[:2 if quick else 5]
        subprocess.run([ziggurat, "build", *photographs, "--library", folder / "library", "--quiet"], check=True)
        servers = [Server(folder / "library", *edge.options, "--webroot", ROOT / "public") for _ in range(3)]
        edge.start([server.port for server in servers])
        rows = []
        for name, targets in traces(servers[0], [path.stem for path in photographs], 4 if quick else 12).items():
            first = answered(edge.port, targets)
            time.sleep(3)
            second = answered(edge.port, targets)
            tiles = sum(count for (kind, _), count in second.items() if kind == "tile")
            others = sum(second.values()) - tiles
            hits, known = second["tile", "HIT"] / tiles, second["tile", "REVALIDATED"] / tiles
            print(f"{name}: {tiles} tiles, {others} others; the first time {dict(first)}, then {dict(second)}", flush=True)
            rows.append([f"{name}: {tiles} requests for tiles, {hits:.3f} by the cache alone, {known:.3f} asked for by ETag", f"{hits:.3f}", "",
                         "≥ 0.95" if "`.dzi`" not in name else ""])
        return rows
    finally:
        edge.stop()
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


class EdgeBench(MissesBench):
    def row(self, connections: int) -> list[str]:
        edge = Nginx(Path(tempfile.mkdtemp(dir=self.folder)))
        edge.workers = "worker_processes auto;"
        for path in (edge.cache, edge.keys):
            path.chmod(0o777)
        try:
            edge.start([self.serve(self.library)])
            through = [f"http://127.0.0.1:{edge.port}{path}?v={self.generations[path.split('/')[2].removesuffix('_files')]}" for path, _, _ in self.tiles]
            self.timed(through, connections)
            ratios, rates = [], []
            for _ in range(self.rounds):
                port = self.serve(self.library)
                for image in self.images:
                    self.fetch(port, f"/dzi/{image}_files/0/0_0.jpg")
                missed, same = self.timed([f"http://127.0.0.1:{port}{path}" for path, _, _ in self.tiles], connections)
                kept, own = self.timed(through, connections)
                if own != same:
                    sys.exit(f"bench: {own} bytes from the cache, {same} from the server")
                server = self.processes.pop()
                server.terminate()
                server.wait(20)
                ratios.append(missed / kept)
                rates.append((len(self.tiles) / kept, len(self.tiles) / missed))
            mine, theirs = (sorted(each)[len(rates) // 2] for each in zip(*rates))
            return [f"tiles through nginx, {connections} at a time: {mine:.0f}/s, one server's misses {theirs:.0f}/s", f"{sorted(ratios)[len(ratios) // 2]:.2f}×",
                    f"±{spread(ratios):.0%}", "≥ 3×"]
        finally:
            edge.stop()

    def start(self) -> None:
        super().start()
        port = self.serve(self.folder / "library")
        self.generations = {image: json.loads(self.fetch(port, f"/api/images/{image}"))["generation"] for image in self.images}


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    if not shutil.which("radosgw"):
        sys.exit("bench: Ceph is not installed; make test-scale does it")
    material.CACHE.mkdir(parents=True, exist_ok=True)
    rows = rates(ziggurat, quick)
    store = Ceph()
    store.start()
    try:
        bench = EdgeBench(ziggurat, quick, store)
        try:
            bench.start()
            rows += [bench.row(connections) for connections in bench.connections]
        finally:
            bench.stop()
    finally:
        store.stop()
    return table(["a cache in front", "measured", "rounds within", "bar"], rows)
