"""What a long life and a large library cost `ziggurat serve`: resident memory and start-up.

Three questions: does memory stay flat over millions of tile requests; does it stay flat when thousands of
archives are opened in turn; how long does it take to listen before a library of a hundred thousand.
"""

import http.client
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import material
import serve_bench
from measure import table


def resident(pid: int) -> int:
    """Bytes of anonymous memory in RAM: the mapped archives are the page cache's, not the server's."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024


class Bench(serve_bench.Bench):
    def __init__(self, ziggurat: Path, quick: bool):
        super().__init__(ziggurat, quick, 512)
        self.requests, self.opened, self.listed = (200_000, 500, 5_000) if quick else (10_000_000, 10_000, 100_000)

    def copies(self, count: int) -> Path:
        """A library of `count` archives of one small picture, hard links to a few files, 1000 to a folder."""
        return material.links(self.ziggurat, self.folder, self.folder / f"library-{count}",
                              (f"{number // 1000:03}/{number:06}" for number in range(count)))

    def requests_without_end(self) -> list[str]:
        self.start()
        pid = self.processes[0].pid
        paths = self.paths("dzi", [tile.dzi for tile in self.tiles])
        self.seconds = 2
        self.load(self.ours, paths, 64)
        before, done, self.seconds = resident(pid), 0, 10
        while done < self.requests:
            done += self.load(self.ours, paths, 64)["requests"]
        return self.row(f"after {done / 1e6:.1f} million tile requests", before, resident(pid))

    def archives_in_turn(self) -> list[str]:
        library = self.copies(self.opened)
        self.ours = self.serve(library)
        pid = self.processes[-1].pid
        paths = [f"/dzi/{number // 1000:03}/{number:06}_files/10/0_0.jpg" for number in range(self.opened)]
        connection = http.client.HTTPConnection("127.0.0.1", self.ours)
        sizes = []
        for number, path in enumerate(paths):
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200 or not answer.read():
                sys.exit(f"bench: {path} is {answer.status}")
            if number in (len(paths) // 4, len(paths) - 1):
                sizes.append(resident(pid))
        return self.row(f"after {self.opened} archives in turn, against a quarter of them", *sizes)

    def start_up(self) -> list[str]:
        library = self.copies(self.listed)
        began = time.monotonic()
        process = subprocess.Popen([self.ziggurat, "serve", library, "--port", "0"], stdout=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, env={**os.environ, "ZIGGURAT_LOG": "none"})
        self.processes.append(process)
        select.select([process.stdout], [], [], 300)
        seconds = time.monotonic() - began
        memory = resident(process.pid)
        began = time.monotonic()
        subprocess.run(["find", library, "-name", "*.szi", "-size", "+0"], stdout=subprocess.DEVNULL, check=True)
        listing = time.monotonic() - began
        print(f"start-up with {self.listed} archives: {seconds:.2f} s, find's walk {listing:.2f} s, ratio {seconds / listing:.1f}; "
              f"{memory / 1e6:.0f} MB", flush=True)
        return [f"start-up with {self.listed} archives: {seconds:.2f} s, {seconds / listing:.1f}× as long as find's walk", "",
                f"{memory / 1e6:.1f} MB", ""]

    def row(self, name: str, before: int, after: int) -> list[str]:
        print(f"{name}: {after / 1e6:.1f} MB, before {before / 1e6:.1f} MB, ratio {after / before:.2f}", flush=True)
        return [name, f"{before / 1e6:.1f} MB", f"{after / 1e6:.1f} MB", f"{after / before:.2f}×"]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    rows = []
    for part in (Bench.requests_without_end, Bench.archives_in_turn, Bench.start_up):
        bench = Bench(ziggurat, quick)
        try:
            rows.append(part(bench))
        finally:
            bench.stop()
    return table(["resident memory", "before", "after", "ratio"], rows)
