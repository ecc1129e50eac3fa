"""Tiles that `ziggurat serve` has to ask a store for, against a bare libcurl loop over the same ranges of the same store.

The store is Ceph, started and ended here; the loop (ranges.c) asks both, so that what lies between them is the server. Its
rounds are interleaved, each with a new server, which has read no more than the end of each archive.
"""

import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import material
from measure import spread, table
from serve_bench import Bench

sys.path.append(str(Path(__file__).resolve().parents[2] / "scale"))

from ceph import Ceph  # noqa: E402
from engine import BUCKET  # noqa: E402

# Of an archive, which one question brings when it is opened.
TAIL = 256 << 10


def cold_tiles(archive: Path) -> list[tuple[str, str]]:
    """Of each tile that does not come with the archive's end its address and range."""
    tiles, size = [], archive.stat().st_size
    with zipfile.ZipFile(archive) as entries, archive.open("rb") as file:
        for entry in entries.infolist():
            file.seek(entry.header_offset + 26)
            start = entry.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
            if "_files/" in entry.filename and entry.file_size and start + entry.file_size < size - TAIL:
                tiles.append((f"/dzi/{entry.filename.removeprefix(archive.stem + '/')}", f"{start}-{start + entry.file_size - 1}"))
    return tiles


class MissesBench(Bench):
    def __init__(self, ziggurat: Path, quick: bool, store: Ceph):
        super().__init__(ziggurat, quick, 256)
        self.store = store
        self.connections = (1, 8)

    def start(self) -> None:
        os.environ |= {name: value for name, value in self.store.environment.items() if name.startswith("AWS_")}
        self.library = f"s3://{BUCKET}/library"
        near = self.folder / "library"
        for library in (near, self.library):
            subprocess.run([self.ziggurat, "build", *material.photographs(), "--library", library, "--tile-size", str(self.tile), "--quiet"], check=True)
        keys = {key.rpartition("/")[2]: key for key in self.store.keys() if key.endswith(".szi")}
        self.images, self.tiles = [], []
        for archive in sorted(near.glob("*.szi")):
            digest = subprocess.run(["sha256sum", archive], capture_output=True, text=True, check=True).stdout.split()[0]
            self.images.append(archive.stem)
            self.tiles += [(path, f"{self.store.endpoint}/{BUCKET}/{keys[f'{digest}.szi']}", part) for path, part in cold_tiles(archive)]
        random.Random(1).shuffle(self.tiles)
        self.loop = self.folder / "ranges"
        subprocess.run(["gcc", "-O2", "-o", self.loop, Path(__file__).with_name("ranges.c"), "-lcurl", "-lpthread"], check=True)
        print(f"{len(self.tiles)} tiles of {self.tile} px that no archive's end has", flush=True)

    def timed(self, lines: list[str], connections: int) -> tuple[float, int]:
        reported = subprocess.run([self.loop, str(connections), self.paths("asked", lines)], capture_output=True, text=True, check=True).stdout.split()
        return float(reported[0]), int(reported[1])

    def row(self, connections: int) -> list[str]:
        ratios, rates = [], []
        for _ in range(self.rounds):
            port = self.serve(self.library)
            for image in self.images:
                self.fetch(port, f"/dzi/{image}_files/0/0_0.jpg")
            ours, own = self.timed([f"http://127.0.0.1:{port}{path}" for path, _, _ in self.tiles], connections)
            bare, same = self.timed([f"{url} {part}" for _, url, part in self.tiles], connections)
            if own != same:
                sys.exit(f"bench: {own} bytes from the server, {same} from the store")
            server = self.processes.pop()
            server.terminate()
            server.wait(20)
            ratios.append(bare / ours)
            rates.append((len(self.tiles) / ours, len(self.tiles) / bare))
        ratio, (mine, theirs) = statistics.median(ratios), (statistics.median(each) for each in zip(*rates))
        return [f"cold tiles, {connections} at a time: {mine:.0f}/s, libcurl alone {theirs:.0f}/s", f"{ratio:.2f}×", f"±{spread(ratios):.0%}", "≥ 0.8×"]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    if not shutil.which("radosgw"):
        sys.exit("bench: Ceph is not installed; make test-scale does it")
    material.CACHE.mkdir(parents=True, exist_ok=True)
    store = Ceph()
    store.start()
    try:
        bench = MissesBench(ziggurat, quick, store)
        try:
            bench.start()
            rows = [bench.row(connections) for connections in bench.connections]
        finally:
            bench.stop()
    finally:
        store.stop()
    return table(["object store", "measured", "rounds within", "bar"], rows)
