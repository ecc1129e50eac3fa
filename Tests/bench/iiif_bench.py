"""IIIF grid tiles and off-grid regions: `ziggurat serve` against iipsrv behind nginx, the same picture.

iipsrv (Debian's iipimage-server) reads a tiled pyramid TIFF of the same image, tile size and quality. Two of its
processes run, one a core, without FastCGI keep-alive: one of them serves one connection at a time.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import material
import serve_bench
from measure import spread, table
from tile_paths import Tile

HERE = Path(__file__).resolve().parent
IIPSRV = "/usr/lib/iipimage-server/iipsrv.fcgi"
WIDTH, HEIGHT, SIDE = 10000, 7500, 256
CACHE = 64  # MB for each of iipsrv's two processes
LOCATION = """
    location /iiif/2/ {
      fastcgi_pass iipsrv; fastcgi_keep_conn off;
      fastcgi_param REQUEST_URI $request_uri; fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method; fastcgi_param HTTP_HOST $host;
    }
"""


class Bench(serve_bench.Bench):
    peer_name = "iipsrv"

    def __init__(self, ziggurat: Path, quick: bool):
        super().__init__(ziggurat, quick, SIDE)
        self.rounds = 3 if quick else 5

    def start(self) -> None:
        source = material.SOURCES["jpeg-75mp"]()
        library, images = self.folder / "library", self.folder / "images"
        images.mkdir()
        (self.folder / "photos").mkdir()
        shutil.copyfile(source, self.folder / "photos/photo.jpg")
        subprocess.run([self.ziggurat, "build", self.folder / "photos", "--library", library, "--tile-size", str(SIDE),
                        "--quiet"], check=True)
        material.vips("tiffsave", source, images / "photo", "--tile", "--pyramid", "--compression", "jpeg", "--Q", 80,
                      "--tile-width", SIDE, "--tile-height", SIDE)
        self.ours = self.serve(library)
        ports = [self.start_iipsrv(images) for _ in range(2)]
        servers = "".join(f"server 127.0.0.1:{port}; " for port in ports)
        self.peer = self.start_nginx(images, LOCATION, f"upstream iipsrv {{ least_conn; {servers}}}")

    def start_iipsrv(self, images: Path) -> int:
        port = serve_bench.free_port()
        environment = {**os.environ, "FILESYSTEM_PREFIX": f"{images}/", "MAX_IMAGE_CACHE_SIZE": str(CACHE),
                       "JPEG_QUALITY": "80", "VERBOSITY": "0", "LOGFILE": "/dev/null", "OMP_NUM_THREADS": "1",
                       "URI_MAP": "iiif/2=>IIIF", "CORS": "*"}
        self.processes.append(subprocess.Popen([IIPSRV, "--bind", f"127.0.0.1:{port}", "--backlog", "1024"],
                                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(0.3)
        return port

    def rows(self) -> list[list[str]]:
        chance = random.Random(4)
        top = (max(WIDTH, HEIGHT) - 1).bit_length()
        tiles = []
        for level in range(8, top + 1):
            step = 1 << (top - level)
            width, height = -(-WIDTH // step), -(-HEIGHT // step)
            tiles += [Tile("photo", WIDTH, HEIGHT, SIDE, level, column, row, "jpg").iiif2
                      for column in range(-(-width // SIDE)) for row in range(-(-height // SIDE))]
        chance.shuffle(tiles)
        regions = [f"/iiif/2/photo/{chance.randint(0, WIDTH - 3000)},{chance.randint(0, HEIGHT - 2000)},3000,2000/750,/0/"
                   "default.jpg" for _ in range(4000)]
        rows = []
        for name, paths in (("IIIF grid tiles", tiles), ("IIIF regions of 3000×2000 at 750×500", regions)):
            self.check(paths[:12])
            file = self.paths(name.replace(" ", "-"), paths)
            for connections in (16,):
                rows.append(self.compare(name, file, file, connections))
        return [*rows, self.beside_renders(self.paths("tiles", tiles), self.paths("regions", regions))]

    def beside_renders(self, tiles: Path, regions: Path) -> list[str]:
        """Stored tiles while regions keep every render thread busy, against the same tiles alone."""
        alone, beside = [], []
        for _ in range(self.rounds):
            alone.append(self.load(self.ours, tiles, 64))
            # Nice, since this client's own work is no part of what is measured.
            renders = subprocess.Popen(["nice", "-n", "19", "wrk", "-t1", "-c32", f"-d{self.seconds + 2}s", "-s",
                                        HERE / "paths.lua", f"http://127.0.0.1:{self.ours}", "--", regions],
                                       stdout=subprocess.PIPE, text=True)
            time.sleep(0.7)
            beside.append(self.load(self.ours, tiles, 64))
            output = renders.communicate(timeout=60)[0]
            rendered = json.loads(output[output.index("{\"requests"):].splitlines()[0])["rate"]
        rate = statistics.median(b["rate"] / a["rate"] for a, b in zip(alone, beside))
        late = statistics.median(b["p99"] / a["p99"] for a, b in zip(alone, beside))
        far = spread([b["rate"] / a["rate"] for a, b in zip(alone, beside)])
        print(f"tiles, 64 connections: beside {rendered:.0f} renders a second {rate:.2f} of the rate alone (rounds within "
              f"±{far:.0%}); p99 {late:.2f} of that alone", flush=True)
        return ["tiles beside renders, against tiles alone", "64", f"{rate:.2f}×", f"{late:.2f}×", f"±{far:.0%}"]

    def check(self, paths: list[str]) -> None:
        """Both answer with the same picture, as far as two encoders and scalers can."""
        for path in paths:
            files = []
            for number, port in enumerate((self.ours, self.peer)):
                data = self.fetch(port, path)
                if data is None:
                    sys.exit(f"bench: {('ziggurat', 'iipsrv')[number]} does not answer {path}")
                files.append(self.folder / f"check-{number}.jpg")
                files[-1].write_bytes(data)
            material.vips("subtract", *files, self.folder / "difference.v")
            material.vips("abs", self.folder / "difference.v", self.folder / "absolute.v")
            mean = float(subprocess.run(["vips", "avg", self.folder / "absolute.v"], capture_output=True, text=True,
                                        check=True).stdout)
            # Noise at twice the quality 80 of both differs by up to 4.5; another region by 20 and more.
            if mean > 6:
                sys.exit(f"bench: {path} differs by {mean:.1f} of 255 on average")


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    if not Path(IIPSRV).exists():
        return "iipsrv is not installed: Tests/scripts/install-packages bench-iiif\n"
    material.CACHE.mkdir(parents=True, exist_ok=True)
    bench = Bench(ziggurat, quick)
    try:
        bench.start()
        if bench.fetch(bench.ours, "/iiif/2/photo/full/256,/0/default.jpg") is None:
            return "This build does not serve IIIF: nothing to compare.\n"
        rows = bench.rows()
    finally:
        bench.stop()
    return table(["requests", "connections", "requests a second against iipsrv", "p99 against iipsrv", "rounds within"], rows)
