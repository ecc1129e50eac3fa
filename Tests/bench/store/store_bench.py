"""`ziggurat serve` of a library in an object store, against the same library in a folder, on this machine's 127.0.0.1.

The store is the tests' own, in this process: what is measured is what a server does with what it has read, while the store is
slow, and when it is away. Real stores are met by `make test-scale`.
"""

import collections
import io
import os
import pickle
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import material
from measure import spread, table
from PIL import Image
from serve_bench import Bench

sys.path.append(str(Path(__file__).resolve().parents[2] / "program/fleet"))

from small_store import SmallStore  # noqa: E402

SLOW = 2.0  # seconds
MISSING = 8  # clients


def megabytes(process: subprocess.Popen) -> float:
    """Of memory that the process has now."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


class StoreBench(Bench):
    """`ours` serves from the store, `peer` the same library from a folder."""

    peer_name = "folder"

    def start(self) -> None:
        self.store = SmallStore()
        os.environ |= self.store.environment
        super().start()
        folder, nginx = self.ours, self.processes.pop()
        nginx.terminate()
        nginx.wait(20)
        bucket = f"s3://{self.store.BUCKET}/library"
        for prefix in ("", "cold"):
            subprocess.run([self.ziggurat, "build", *material.photographs(), "--library", bucket, "--tile-size", str(self.tile),
                            "--quiet", *(("--prefix", prefix) if prefix else ())], check=True)
        self.peer, self.ours = folder, self.serve(bucket)
        self.cold = [tile.dzi.replace("/dzi/", "/dzi/cold%2F") for tile in self.tiles]
        random.Random(3).shuffle(self.cold)
        unlike = [tile.dzi for tile in self.tiles if self.fetch(self.ours, tile.dzi) != self.fetch(self.peer, tile.dzi)]
        if unlike:
            sys.exit(f"bench: {unlike[0]} is not the folder's from the store")
        self.hot = self.paths("hot", [tile.dzi for tile in self.tiles])

    def ask(self, path: str) -> tuple[int, float]:
        """Status and seconds of one answer."""
        began = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ours}{path}", timeout=20) as answer:
                answer.read()
                status = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
        return status, time.monotonic() - began

    def slow(self) -> list[list[str]]:
        """Hits while others ask for tiles that the store takes two seconds for."""
        alone, beside, late = [], [], []
        for _ in range(self.rounds):
            alone.append(self.load(self.ours, self.hot, 64)["p99"])
            self.store.delay, is_over = SLOW, threading.Event()

            def miss() -> None:
                while not is_over.is_set() and self.cold:
                    late.append(self.ask(self.cold.pop()))

            others = [threading.Thread(target=miss) for _ in range(MISSING)]
            for each in others:
                each.start()
            beside.append(self.load(self.ours, self.hot, 64)["p99"])
            is_over.set()
            for each in others:
                each.join()
            self.store.delay = 0
        ratios = [after / before for before, after in zip(alone, beside)]
        return [["p99 of hits beside misses of a store at 2 s, against alone", f"{statistics.median(ratios):.2f}×", f"±{spread(ratios):.0%}", "≤ 1.5×"],
                [f"longest of {len(late)} such misses", f"{max(seconds for _, seconds in late):.2f} s", "", "≤ 5.1 s"]]

    def away(self) -> list[list[str]]:
        """With the store gone, and back."""
        port = self.store.server.server_port
        self.store.close()
        for _ in range(40):
            self.ask(self.cold.pop())
        answers = [self.ask(self.cold.pop()) for _ in range(100)]
        # Some came with the ends of their archives.
        refused = [answer for answer in answers if answer[0] != 200]
        if {status for status, _ in refused} != {503}:
            sys.exit(f"bench: tiles that cannot be had are answered {refused}")
        objects, self.store = self.store.objects, SmallStore(port=port)
        self.store.objects = objects
        began = time.monotonic()
        while self.ask(self.cold[-1])[0] != 200:
            if time.monotonic() - began > 30:
                sys.exit("bench: the store is back, and its tiles are not")
            time.sleep(0.02)
        back = time.monotonic() - began
        return [["median answer while the store is away", f"{statistics.median(seconds for _, seconds in refused) * 1000:.1f} ms", "", "≤ 20 ms"],
                ["longest of them", f"{max(seconds for _, seconds in refused) * 1000:.1f} ms", "", "≤ 20 ms"],
                ["until tiles come again", f"{back:.2f} s", "", "≤ 3 s"],
                ["memory of the server", f"{megabytes(self.processes[-1]):.0f} MB", "", f"≤ {256 + 150} MB"]]

    def asked(self) -> dict[str, int]:
        """How many requests of each kind came since the store was asked last."""
        kinds = collections.Counter()
        for method, key in self.store.taken():
            kinds["lists" if method == "GET" and not key else f"{method} {'archives' if '/szi/' in key else 'directory'}"] += 1
        return dict(kinds)

    def many(self, count: int) -> list[list[str]]:
        """What a large library costs of requests, and a start with its directory; it is made once."""
        kept = material.CACHE / f"built-{count}.pickle"
        if not kept.exists():
            sources, one = self.folder / "many", io.BytesIO()
            Image.new("RGB", (40, 30), "teal").save(one, "png")
            for number in range(count):
                place = sources / f"{number // 1000}"
                place.mkdir(parents=True, exist_ok=True)
                # No links, which would be one picture.
                (place / f"p{number}.png").write_bytes(one.getvalue())
            bucket, asked = f"s3://{self.store.BUCKET}/many", {}
            for command in (["build", sources, "--library", bucket, "--quiet"], ["reindex", bucket]):
                self.store.taken()
                subprocess.run([self.ziggurat, *command], check=True, stdout=subprocess.DEVNULL)
                asked[command[0]] = self.asked()
            kept.write_bytes(pickle.dumps((asked, {key: self.store.objects[key] for key in self.store.keys("many/directory/")})))
        asked, directory = pickle.loads(kept.read_bytes())
        self.store.objects |= directory
        starts, memory = [], []
        for _ in range(3):
            self.store.taken()
            began = time.monotonic()
            self.serve(f"s3://{self.store.BUCKET}/many")
            starts.append(time.monotonic() - began)
            memory.append(megabytes(self.processes[-1]))
            asked["start"] = self.asked()
        costs = [[f"asked by {name}, {count:,} archives", ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items())), "", ""]
                 for name, kinds in asked.items()]
        size = sum(map(len, directory.values()))
        return [*costs, ["its directory", f"{size / count:.0f} bytes an image", "", ""],
                [f"listens, {count:,} archives", f"{statistics.median(starts):.2f} s", "", "< 2 s"],
                ["its memory then", f"{statistics.median(memory):.0f} MB", "", "< 200 MB"]]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    bench = StoreBench(ziggurat, quick, 512)
    try:
        bench.start()
        rows = [[f"{name}, {connections} connections, against the folder", ratio, far, "≥ 0.85×"]
                for name, connections, ratio, _, far in
                (bench.compare("tiles in memory", bench.hot, bench.hot, count) for count in bench.connections)]
        for part in (bench.slow, bench.away, lambda: bench.many(5_000 if quick else 100_000)):
            rows += part()
            print("\n".join(" | ".join(row) for row in rows[-6:]), flush=True)
    finally:
        bench.stop()
        bench.store.close()
    return table(["object store", "measured", "rounds within", "bar"], rows)
