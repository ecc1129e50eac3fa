"""`ziggurat serve` against nginx serving the same tiles as files, under wrk, on this machine's 127.0.0.1; or against another
build of it, which AGAINST names.

Both servers run throughout; rounds are interleaved (ours, nginx, ours, nginx …); medians are compared. Each
round asks for real tiles of all photographs in one shuffled order. An answer that is not 200 ends the run.
"""

import json
import os
import random
import re
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import before
import material
from measure import spread, table
from tile_paths import SCHEMES, Tile

HERE = Path(__file__).resolve().parent
NGINX = """
{user}daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  include /etc/nginx/mime.types; access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; server_tokens off;
  keepalive_timeout 60; keepalive_requests 100000000;
  open_file_cache max=100000 inactive=10m; open_file_cache_valid 10m;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024 reuseport; root {root};
    add_header Access-Control-Allow-Origin *; add_header Cache-Control "public, max-age=3600"; {locations} }}
  {upstreams}
}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Bench:
    peer_name = "nginx"

    def __init__(self, ziggurat: Path, quick: bool, tile: int, only: str | None = None):
        self.ziggurat, self.tile, self.only = ziggurat, tile, only
        self.rounds, self.seconds = (3, 2) if quick else (21, 2)
        self.connections = (64,) if quick else (1, 64, 256)
        self.folder = Path(tempfile.mkdtemp(prefix="serve-", dir=material.CACHE))
        self.folder.chmod(0o755)
        self.processes = []

    def start(self) -> None:
        library, root = self.folder / "library", self.folder / "root"
        subprocess.run([self.ziggurat, "build", *material.photographs(), "--library", library, "--tile-size", str(self.tile),
                        "--quiet"], check=True)
        self.tiles = []
        for archive in sorted(library.glob("*.szi")):
            (root / "dzi").mkdir(parents=True, exist_ok=True)
            subprocess.run(["unzip", "-qq", archive, "-d", self.folder / "unzipped"], check=True)
            name = archive.stem
            (self.folder / "unzipped" / name / f"{name}_files").rename(root / "dzi" / f"{name}_files")
            with zipfile.ZipFile(archive) as entries:
                size = re.search(rb'Width="(\d+)" Height="(\d+)"', entries.read(f"{name}/{name}.dzi"))
                self.tiles += [Tile.parse(entry.removeprefix(f"{name}/"), int(size[1]), int(size[2]), self.tile)
                               for entry in entries.namelist() if "_files/" in entry and entry[-1] != "/"]
        random.Random(1).shuffle(self.tiles)
        sizes = sorted((root / tile.dzi[1:]).stat().st_size for tile in self.tiles)
        print(f"{len(self.tiles)} tiles of {self.tile} px, median {sizes[len(sizes) // 2]} bytes", flush=True)
        self.ours = self.serve(library)
        if os.environ.get("AGAINST"):
            self.peer_name, old = "the other build", before.executable()
            # A library of its own: the catalog of another version may not be the same.
            other = self.folder / "library-of-the-other"
            subprocess.run([old, "build", *material.photographs(), "--library", other, "--tile-size", str(self.tile), "--quiet"], check=True)
            self.peer = self.serve(other, old)
        else:
            self.peer = self.start_nginx(root)
        for tile in random.Random(2).sample(self.tiles, 50):  # The same bytes, or the comparison is void.
            if self.fetch(self.ours, tile.dzi) != self.fetch(self.peer, tile.dzi):
                sys.exit(f"bench: {tile.dzi} is not the same from both servers")

    @staticmethod
    def fetch(port: int, path: str) -> bytes | None:
        """The answer's body, or None for a route that this build does not have."""
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20).read()
        except urllib.error.HTTPError:
            return None

    def serve(self, library: Path, ziggurat: Path | None = None) -> int:
        process = subprocess.Popen([ziggurat or self.ziggurat, "serve", library, "--port", "0"], stdout=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "ZIGGURAT_LOG": "none"})
        self.processes.append(process)
        ready, _, _ = select.select([process.stdout], [], [], 30)
        found = re.search(r":(\d+)/", process.stdout.readline().decode() if ready else "")
        if not found:
            sys.exit("bench: ziggurat serve did not say that it listens")
        return int(found[1])

    def start_nginx(self, root: Path, locations: str = "", upstreams: str = "") -> int:
        port = free_port()
        config = self.folder / "nginx.conf"
        # Started by root, its workers would be another user, who may not read a home folder.
        user = "user root; " if os.geteuid() == 0 else ""
        config.write_text(NGINX.format(user=user, folder=self.folder, port=port, root=root, locations=locations, upstreams=upstreams))
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        self.processes.append(subprocess.Popen([nginx, "-c", config, "-e", self.folder / "error.log"]))
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return port
            except OSError:
                time.sleep(0.05)
        sys.exit(f"bench: nginx did not start: {(self.folder / 'error.log').read_text()}")

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
            process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, port: int, paths: Path, connections: int) -> dict:
        """One round of wrk; its script prints its counts as one JSON line."""
        threads = min(2, connections)
        result = subprocess.run(["wrk", f"-t{threads}", f"-c{connections}", f"-d{self.seconds}s", "-s", HERE / "paths.lua",
                                 f"http://127.0.0.1:{port}", "--", paths], capture_output=True, text=True, check=True)
        counts = json.loads(result.stdout[result.stdout.index("{\"requests"):].splitlines()[0])
        if counts["errors"]:
            sys.exit(f"bench: {counts['errors']} answers were errors\n{result.stdout}")
        return counts

    def compare(self, name: str, ours: Path, theirs: Path, connections: int) -> list[str]:
        """One row: `ours` and `theirs` are files of paths, one a line; the peer is what listens at `self.peer`."""
        for port, paths in ((self.ours, ours), (self.peer, theirs)):
            self.load(port, paths, connections)  # Warm, and not counted.
        mine, peer = [], []
        # Many short pairs, each the other way round than the one before: what else the machine does hits both sides alike.
        for number in range(self.rounds):
            sides = [(mine, self.ours, ours), (peer, self.peer, theirs)]
            for results, port, paths in sides if number % 2 == 0 else reversed(sides):
                results.append(self.load(port, paths, connections))
        ratio = statistics.median(a["rate"] / b["rate"] for a, b in zip(mine, peer))
        late = statistics.median(a["p99"] / b["p99"] for a, b in zip(mine, peer))
        far = spread([a["rate"] / b["rate"] for a, b in zip(mine, peer)])
        middle = [statistics.median(each[key] for each in runs) for key in ("rate", "p99") for runs in (mine, peer)]
        print(f"{name}, {connections} connections: ziggurat {middle[0]:.0f}/s, {self.peer_name} {middle[1]:.0f}/s, ratio {ratio:.2f} "
              f"(rounds within ±{far:.0%}); p99 {middle[2] / 1000:.2f} ms, {self.peer_name} {middle[3] / 1000:.2f} ms, ratio {late:.2f}",
              flush=True)
        return [name, str(connections), f"{ratio:.2f}×", f"{late:.2f}×", f"±{far:.0%}"]

    def rows(self) -> list[list[str]]:
        """Each protocol's addresses of the same stored tiles; nginx is asked for the files, another build for the addresses."""
        rows = []
        for label, scheme in SCHEMES.items():
            if self.only and self.only.lower() not in label.lower():
                continue
            tiles = [tile for tile in self.tiles if getattr(tile, scheme)]
            if self.fetch(self.ours, getattr(tiles[0], scheme)) is None:
                print(f"{label}: this build does not serve it, no row", flush=True)
                continue
            unlike = [tile for tile in tiles if self.fetch(self.ours, getattr(tile, scheme)) != self.fetch(self.peer, tile.dzi)]
            if unlike:
                sys.exit(f"bench: {len(unlike)} of {len(tiles)} are not the stored bytes: {getattr(unlike[0], scheme)}")
            ours = self.paths(f"{scheme}-ours", [getattr(tile, scheme) for tile in tiles])
            theirs = ours if os.environ.get("AGAINST") else self.paths(f"{scheme}-nginx", [tile.dzi for tile in tiles])
            rows += [self.compare(f"{label}, {self.tile} px", ours, theirs, connections) for connections in self.connections]
        return rows if self.only and self.only not in "viewport queries" else rows + self.viewports()

    def viewports(self) -> list[list[str]]:
        """Viewport queries, computed for each request; nginx's tiles are only this machine's yardstick."""
        chance = random.Random(3)
        queries = [f"/api/images/{tile.image}/viewport?width={chance.randint(300, 2000)}&height={chance.randint(300, 1200)}"
                   f"&scale={chance.uniform(0.05, 1):.4f}&x={chance.randint(-200, 1500)}&y={chance.randint(-200, 900)}"
                   for tile in chance.choices(self.tiles, k=2000)]
        ours = self.paths("viewport", queries)
        theirs = ours if os.environ.get("AGAINST") else self.paths("dzi-nginx", [tile.dzi for tile in self.tiles])
        return [self.compare(f"viewport queries, {self.tile} px", ours, theirs, 64)]

    def paths(self, name: str, paths: list[str]) -> Path:
        file = self.folder / f"{name}.paths"
        file.write_text("".join(f"{path}\n" for path in paths))
        return file


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    rows = []
    for tile in ((512,) if quick else (512, 256)):
        bench = Bench(ziggurat, quick, tile, only)
        try:
            bench.start()
            rows += bench.rows()
        finally:
            bench.stop()
    peer = "the other build" if os.environ.get("AGAINST") else "nginx"
    return table(["tiles", "connections", f"requests a second against {peer}", f"p99 against {peer}", "rounds within"], rows)
