"""A library in a folder, with its catalog in SQLite, against a build that knew no shared catalog (AGAINST), in interleaved rounds:
everything that worked without a shared catalog must perform as well with it.

Each build has a library of its own, of the same hundred thousand names. Pairs of rounds are compared, or the medians of a request over
all of them. The medians of their ratios are reported. AGAINST is the executable's path or a revision of git (default: the one before
b846860).
"""

import contextlib
import json
import os
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import before
import material
import search_bench
from measure import table
from sandbox_bench import HEADER, TOKEN, Row
from store.asking import Server

REVISION = "b846860^"
# A time may be so many times as long, a rate so many times as high, as it was.
LONGEST, LEAST = 1 / 0.98, 0.98


class Bench(search_bench.Bench):
    def __init__(self, ziggurat: Path, old: Path, quick: bool):
        super().__init__(ziggurat, quick)
        self.executables = (ziggurat, old)
        self.rounds, self.starts, self.seconds, self.asked = (3, 1, 2, 50) if quick else (15, 5, 4, 300)
        names = list(self.names())
        self.ids = random.Random(3).sample(names, min(2000, len(names)))
        self.libraries = [material.links(ziggurat, self.folder, self.folder / name, names) for name in ("now", "before")]
        (self.folder / "token").write_text(TOKEN + "\n")

    def indexed(self) -> list[str]:
        row = Row(f"index of {self.count} archives", "s", most=LONGEST)
        for number in range(3 if self.rounds > 3 else 1):
            for executable, library, times in self.pairs(row, number):
                for path in library.glob("catalog.sqlite*"):
                    path.unlink()
                began = time.monotonic()
                # The name that earlier builds know, too.
                subprocess.run([executable, "index", library], check=True, stdout=subprocess.DEVNULL)
                times.append(time.monotonic() - began)
        return row.summary()

    def pairs(self, row: Row, number: int) -> list[tuple]:
        """Both, each first in every other round."""
        both = list(zip(self.executables, self.libraries, (row.now, row.before)))
        return both if number % 2 else both[::-1]

    def serving(self, executable: Path, library: Path) -> Server:
        return Server(executable, library, "--writable", "--token-file", self.folder / "token")

    def start_up(self) -> list[str]:
        row = Row("start of serve", "s", most=LONGEST)
        for number in range(self.rounds):
            for executable, library, times in self.pairs(row, number):
                server = self.serving(executable, library)
                times.append(server.start)
                server.stop()
        return row.summary()

    def asking(self, name: str, paths: list[str]) -> list[str]:
        """All of these, one after the other."""
        return self.alternating(name, lambda server, number, round: server.ask(paths[number])[0], len(paths))

    def alternating(self, name: str, ask: Callable[[Server, int, int], float], count: int) -> list[str]:
        """Both builds get each request at nearly the same time, and the medians over the rounds are compared. A short load of the
        machine would outweigh a whole round of short requests. Servers are restarted, since the memory layout of a process makes
        it some hundredths slower or faster for as long as it runs."""
        row = Row(name, "ms each", most=LONGEST)
        times = [[[] for _ in range(count)] for _ in self.executables]
        for start in range(self.starts):
            with self.both() as servers:
                # The first round is warm, and not counted.
                for round in range(self.rounds // self.starts + 1):
                    for number in range(count):
                        for which in (0, 1) if (number + round + start) % 2 else (1, 0):
                            took = ask(servers[which], number, 100 * start + round)
                            if round:
                                times[which][number].append(1000 * took)
        row.now, row.before = ([statistics.median(each) for each in question] for question in times)
        return row.summary()

    @contextlib.contextmanager
    def both(self) -> Iterator[list[Server]]:
        servers = []
        try:
            for executable, library in zip(self.executables, self.libraries):
                servers.append(self.serving(executable, library))
            yield servers
        finally:
            for server in servers:
                server.stop()

    def edits(self) -> list[str]:
        def edit(server: Server, number: int, round: int) -> float:
            began = time.monotonic()
            server.connection.request("PATCH", f"/api/images/{quote(self.ids[number], safe='')}", json.dumps({"title": f"in round {round}"}),
                                      {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
            answer = server.connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"bench: an edit is answered {answer.status}")
            return time.monotonic() - began

        return self.alternating("an edit of an image's words", edit, 40)

    def settle(self) -> None:
        """Servers read on from each archive what the listing can do without: it is asked when they have done so."""
        with self.both() as servers:
            while any([server.works() for server in servers]):
                pass

    def tiles(self) -> list[str]:
        row = Row("tiles, 64 connections", "/s", least=LEAST)
        file = self.paths("tiles", [f"/dzi/{quote(id, safe='')}_files/9/0_0.jpg" for id in self.ids[:400]])
        for start in range(self.starts):
            with self.both() as servers:
                for number in range(self.rounds // self.starts + 1):
                    order = [(server.connection.port, rates) for server, rates in zip(servers, (row.now, row.before))]
                    for port, rates in order if (number + start) % 2 else reversed(order):
                        counts = self.load(port, file, 64)
                        if number:
                            rates.append(counts["rate"])
        return row.summary()

    def run(self, only: str | None) -> list[list[str]]:
        if only == "asking":
            for executable, library in zip(self.executables, self.libraries):
                subprocess.run([executable, "index", library], check=True, stdout=subprocess.DEVNULL)
        rows = [] if only == "asking" else [self.indexed(), self.start_up()]
        self.settle()
        return [
            *rows,
            self.asking("a search", [f"/api/images?q={quote(self.query(number))}" for number in range(self.asked)]),
            self.asking("a page of a search", ["/api/images?q=archive&limit=100&sort=-date", "/api/images?q=a&limit=100"] * 5),
            self.asking("a page of the list", ["/api/images?limit=100"] * 20),
            self.asking("a page of a folder by title", ["/api/images?limit=100&sort=title&folder=archive%20007"] * 20),
            self.asking("an image's description", [f"/api/images/{quote(id, safe='')}" for id in self.ids[:self.asked]]),
            self.edits(), self.tiles(),
        ]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("AGAINST", REVISION)
    bench = Bench(ziggurat, before.executable(), quick)
    try:
        return table(HEADER, bench.run(only))
    finally:
        bench.stop()
