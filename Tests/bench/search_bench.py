"""The duration of a search in a large library, from request to response, and of `ziggurat reindex`, which makes it searchable.

A hundred thousand archives, hard links to a few small files. Their names have terms with a natural distribution: few
terms are frequent, and most are rare. Searches are as one types: prefixes of a term, several terms, a term of every image and a
term of none. One request follows the other, beside an otherwise idle server.
"""

import http.client
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import material
import serve_bench
from measure import table

SYLLABLES = ["ba", "ko", "ri", "ten", "mu", "sal", "vi", "dro", "pel", "na", "zu", "or", "ghe", "lit", "cam", "u"]


class Bench(serve_bench.Bench):
    def __init__(self, ziggurat: Path, quick: bool):
        super().__init__(ziggurat, quick, 512)
        self.count, self.searches = (5_000, 300) if quick else (100_000, 3_000)
        self.random = random.Random(11)
        self.vocabulary = sorted({"".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4))) for _ in range(6000)})
        self.random.shuffle(self.vocabulary)
        self.weights = [1 / (rank + 1) for rank in range(len(self.vocabulary))]

    def names(self) -> Iterator[str]:
        for number in range(self.count):
            yield f"archive {number // 1000:03}/{' '.join(self.random.choices(self.vocabulary, self.weights, k=3))} {number:06}"

    def library(self) -> Path:
        return material.links(self.ziggurat, self.folder, self.folder / f"words-{self.count}", self.names())

    def query(self, number: int) -> str:
        word = self.random.choices(self.vocabulary, self.weights)[0]
        other = self.random.choices(self.vocabulary, self.weights)[0]
        return [word, word[:1], word[:2], word[:3], f"{word} {other[:2]}", f"{number:06}"[:4], "archive", "a", "nothing",
                f"{self.random.randrange(self.count):06}"][number % 10]

    def run(self) -> list[list[str]]:
        library = self.library()
        began = time.monotonic()
        subprocess.run([self.ziggurat, "reindex", library], check=True, stdout=subprocess.DEVNULL)
        indexed = time.monotonic() - began
        size = (library / "catalog.sqlite").stat().st_size
        port = self.serve(library)
        times: dict[str, list[float]] = {}
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for number in range(self.searches):
            query = self.query(number)
            began = time.monotonic()
            connection.request("GET", f"/api/images?q={quote(query)}")
            answer = connection.getresponse()
            body = answer.read()
            seconds = time.monotonic() - began
            if answer.status != 200 or not body.startswith(b"{"):
                sys.exit(f"bench: the search for {query!r} is answered {answer.status}")
            kind = ["a word", "1 letter", "2 letters", "3 letters", "two words", "4 digits", "what all have", "1 letter that all have",
                    "what none has", "one number"][number % 10]
            times.setdefault(kind, []).append(seconds)
        every = [each for kind in times.values() for each in kind]
        rows = [[name, *(f"{1000 * at(values, part):.1f} ms" for part in (0.5, 0.99, 1))]
                for name, values in [("all", every), *times.items()]]
        print(f"search of {self.count}: p50 {1000 * at(every, 0.5):.1f} ms, p99 {1000 * at(every, 0.99):.1f} ms; "
              f"index {indexed:.1f} s, {size / 1e6:.0f} MB", flush=True)
        rows.append([f"index of {self.count} archives", f"{indexed:.1f} s", f"{size / 1e6:.0f} MB", ""])
        shutil.rmtree(library)
        return rows


def at(values: list[float], part: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    bench = Bench(ziggurat, quick)
    try:
        return table(["search for", "p50", "p99", "longest"], bench.run())
    finally:
        bench.stop()
