"""Memory of 500 requests that wait for an object store, against another build (AGAINST), in interleaved rounds.

Each round starts a server over the tests' own store, opens 500 connections, and asks each for a tile that the store takes four
seconds for. The memory is the process's anonymous memory while all of them wait, less that before the connections were opened.
"""

import os
import random
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import before
import material
from measure import spread, table
from serve_bench import Bench
from store.store_bench import SmallStore
from tile_paths import Tile

# As many as a server lets wait for its store is 512.
REQUESTS = 500
DELAY = 4.0  # seconds
KINDS = {"stored tiles": "", "stored tiles with a condition": 'If-None-Match: "none"\r\n'}


def anonymous(process: subprocess.Popen) -> int:
    """Bytes of anonymous memory that are resident: files that are mapped do not count."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    sys.exit("bench: the server has ended")


class WaitsBench(Bench):
    def start(self) -> None:
        self.store = SmallStore()
        os.environ |= self.store.environment
        self.builds = {"ours": self.ziggurat, "theirs": before.executable()}
        for name, program in self.builds.items():
            # Each build has a library of its own: the directory of another version may differ.
            subprocess.run([program, "build", *material.photographs(), "--library", self.bucket(name), "--tile-size", "256", "--quiet"],
                           check=True)
        # Both builds name archives and tiles alike: the paths are read from a library in a folder.
        subprocess.run([self.ziggurat, "build", *material.photographs(), "--library", self.folder / "library", "--tile-size", "256",
                        "--quiet"], check=True)
        self.paths_of_tiles = self.tile_paths(self.folder / "library")

    def bucket(self, name: str) -> str:
        return f"s3://{self.store.BUCKET}/{name}"

    @staticmethod
    def tile_paths(library: Path) -> list[str]:
        paths = []
        for archive in sorted(library.glob("*.szi")):
            with zipfile.ZipFile(archive) as entries:
                name = archive.stem
                size = re.search(rb'Width="(\d+)" Height="(\d+)"', entries.read(f"{name}/{name}.dzi"))
                paths += [Tile.parse(entry.removeprefix(f"{name}/"), int(size[1]), int(size[2]), 256).dzi
                          for entry in entries.namelist() if "_files/" in entry and entry[-1] != "/"]
        return paths

    def waiting(self, name: str, header: str, seed: int) -> float:
        """Bytes that each of the requests takes while it waits."""
        port = self.serve(self.bucket(name), self.builds[name])
        process = self.processes.pop()
        tiles = random.Random(seed).sample(self.paths_of_tiles, REQUESTS)
        connections = []
        try:
            # The ends of the archives are read now, and whatever is made at the first request.
            for path in {path.rsplit("_files/", 1)[0]: path for path in self.paths_of_tiles}.values():
                self.fetch(port, path)
            self.store.delay = DELAY
            empty = anonymous(process)
            for path in tiles:
                connection = socket.create_connection(("127.0.0.1", port), timeout=30)
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n".encode())
                connections.append(connection)
            time.sleep(1.5)
            with selectors.DefaultSelector() as early:
                for connection in connections:
                    early.register(connection, selectors.EVENT_READ)
                answered = len(early.select(0))
            full = anonymous(process)
            # Some tiles came with a neighbour's bytes, and some requests are refused at once: they do not wait.
            waiting = REQUESTS - answered
            if waiting < REQUESTS / 2:
                sys.exit(f"bench: only {waiting} of {REQUESTS} requests wait")
            return (full - empty) / waiting
        finally:
            self.store.delay = 0
            for connection in connections:
                connection.close()
            process.terminate()
            process.wait(20)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    bench = WaitsBench(ziggurat, quick, 256)
    rows = []
    try:
        bench.start()
        for kind, header in KINDS.items():
            pairs = [[bench.waiting(name, header, seed) for name in ("ours", "theirs")] for seed in range(1 if quick else 7)]
            ours, theirs = (statistics.median(each) for each in zip(*pairs))
            ratios = [mine / other for mine, other in pairs]
            rows.append([f"{REQUESTS} waiting requests for {kind}", f"{ours / 1024:.1f} KB each", f"{theirs / 1024:.1f} KB each",
                         f"{statistics.median(ratios):.2f}×", f"±{spread(ratios):.0%}", "≤ 1.10×"])
            print(" | ".join(rows[-1]), flush=True)
    finally:
        bench.stop()
        bench.store.close()
    return table(["memory", "ours", "the other build", "ratio", "rounds within", "bar"], rows)
