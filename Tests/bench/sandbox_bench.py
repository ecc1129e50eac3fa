"""The cost of the sandbox: `ziggurat` against a build that decoded in its own process (AGAINST), in interleaved rounds.

Each row has its bar. Pairs of rounds are compared, so that the machine's other load affects both; the medians of their
ratios are reported. AGAINST is the executable's path or a revision of git (default 9db3bf4).
"""

import base64
import http.client
import itertools
import os
import random
import re
import select
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import before
import material
import serve_bench
from measure import run, spread, table
from tile_paths import Tile

HEADER = ["what", "now", "before", "now against before", "rounds within", "bar", "met"]
ATTACKS = Path(os.environ.get("HOSTILE") or Path(__file__).resolve().parents[1] / "Fixtures/hostile")
TOKEN = "token-of-the-benchmark-0123456789"


class Row:
    """Pairs of a number now and before, which should be at least, or at most, so many times as large."""

    def __init__(self, name: str, unit: str, least: float | None = None, most: float | None = None):
        self.name, self.unit, self.least, self.most = name, unit, least, most
        self.now: list[float] = []
        self.before: list[float] = []

    def summary(self) -> list[str]:
        ratios = [a / b for a, b in zip(self.now, self.before)]
        ratio = statistics.median(ratios)
        bar = f"≥ {self.least:.2f}×" if self.least else f"≤ {self.most:.2f}×" if self.most else "none"
        met = (not self.least or ratio >= self.least) and (not self.most or ratio <= self.most)
        return self.row(f"{ratio:.3f}×", f"±{spread(ratios):.1%}", bar, met)

    def row(self, ratio: str, far: str, bar: str, met: bool) -> list[str]:
        now, old = (f"{statistics.median(each):.4g} {self.unit}" for each in (self.now, self.before))
        row = [self.name, now, old, ratio, far, bar, "met" if met else "missed"]
        print(f"{self.name}: now {now}, before {old}, {ratio} (rounds within {far}; bar {bar}): {row[-1]}", flush=True)
        return row


class Difference(Row):
    """A row whose numbers may differ by so much, in the unit of the row."""

    def summary(self) -> list[str]:
        differences = [a - b for a, b in zip(self.now, self.before)]
        middle = statistics.median(differences)
        far = (max(differences) - min(differences)) / 2
        return self.row(f"{middle:+.1f} {self.unit}", f"±{far:.1f} {self.unit}", f"≤ +{self.most:g} {self.unit}", middle <= self.most)


def small_pictures() -> Path:
    """2,000 JPEGs of 300×200."""

    def make(partial: Path) -> None:
        from PIL import Image  # Of the tests' own environment, which only this needs here.

        partial.mkdir(exist_ok=True)
        chance = random.Random(5)
        sources = [Image.open(path).convert("RGB") for path in material.photographs()[:4]]
        for number in range(2000):
            source = sources[number % len(sources)]
            left, top = chance.randrange(source.width - 300), chance.randrange(source.height - 200)
            source.crop((left, top, left + 300, top + 200)).save(partial / f"small-{number:04}.jpg", quality=90)

    return material.made("small-pictures", make)


class Builds:
    def __init__(self, ziggurat: Path, old: Path, quick: bool):
        self.executables, self.quick = (ziggurat, old), quick
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=material.CACHE))
        self.numbers = itertools.count()

    def build(self, executable: Path, source: Path) -> float:
        """Seconds; into a folder of its own, since deleting and writing the same names again slows ext4."""
        output = self.folder / str(next(self.numbers))
        output.mkdir()
        return run([str(executable), "build", str(source), "--library", str(output), "--quiet"]).wall

    def row(self, name: str, source: Path, most: float, rounds: int) -> list[str]:
        row = Row(name, "s", most=most)
        for executable in self.executables:
            self.build(executable, source)  # Warm, and not counted.
        for number in range(rounds):
            # Who begins alternates, too.
            for executable in self.executables if number % 2 else reversed(self.executables):
                (row.now if executable is self.executables[0] else row.before).append(self.build(executable, source))
        summary = row.summary()
        for path in self.folder.iterdir():
            shutil.rmtree(path)
        return summary

    def rows(self) -> list[list[str]]:
        try:
            if self.quick:
                return [self.row("75 MP JPEG, quick", material.SOURCES["jpeg-75mp"](), 1.02, 3)]
            return [self.row("2,000 pictures of 300×200", small_pictures(), 1.25, 5),
                    self.row("300 MP JPEG", material.SOURCES["jpeg-300mp"](), 1.02, 9),
                    self.row("100 photos of 12 to 24 MP", material.hundred_photos(), 1.03, 5)]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class Serving(serve_bench.Bench):
    """Two servers with a library each; `self.peer` is the port of the one before."""

    def __init__(self, ziggurat: Path, old: Path, quick: bool):
        super().__init__(ziggurat, quick, 256)
        self.executables = (ziggurat, old)
        self.rounds, self.seconds = (3, 2) if quick else (9, 5)

    def start(self) -> None:
        source = material.SOURCES["jpeg-75mp"]()
        libraries = [self.folder / name for name in ("now", "before")]
        material.vips("dzsave", source, self.folder / "foreign.zip", "--container", "zip", "--suffix", ".jpg[Q=80]")
        (self.folder / "photos").mkdir()
        shutil.copyfile(source, self.folder / "photos/photo.jpg")
        for library in libraries:
            library.mkdir()
            subprocess.run([self.executables[1], "build", self.folder / "photos", "--library", library, "--tile-size", "256",
                            "--quiet"], check=True)
            shutil.copy(self.folder / "foreign.zip", library / "foreign.szi")
        self.libraries = libraries
        self.ours, self.peer = (self.serving(executable, library) for executable, library in zip(self.executables, libraries))

    def serving(self, executable: Path, library: Path) -> int:
        self.ziggurat = executable
        return self.serve(library)

    def start_up(self) -> list[str]:
        """From the call to the line that it listens."""
        row = Difference("start of serve", "ms", most=20)
        for _ in range(31 if self.rounds > 3 else 5):
            for executable, library, times in zip(self.executables, self.libraries, (row.now, row.before)):
                began = time.monotonic()
                process = subprocess.Popen([executable, "serve", library, "--port", "0"], stdout=subprocess.PIPE,
                                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                select.select([process.stdout], [], [], 60)
                process.stdout.readline()
                times.append(1000 * (time.monotonic() - began))
                process.terminate()
                process.wait(20)
                process.stdout.close()
        return row.summary()

    def rate(self, name: str, paths: Callable[[], list[str]], connections: int, least: float, rounds: int = 0) -> list[list[str]]:
        """Requests a second, and the 99th percentile of the latency. Each round requests other `paths`, so that pictures are
        rendered and not taken from a cache."""
        file = self.paths(re.sub(r"\W", "-", name), paths())
        for path in random.Random(6).sample(paths(), 20):
            if None in (bodies := [self.fetch(port, path) for port in (self.ours, self.peer)]):
                raise SystemExit(f"bench: {path} is not answered by both: {[body and len(body) for body in bodies]}")
        rate, late = Row(name, "/s", least=least), Row(f"{name}, p99", "ms")
        for port in (self.ours, self.peer):
            self.load(port, file, connections)  # Warm, and not counted.
        for number in range(rounds or self.rounds):
            file = self.paths(re.sub(r"\W", "-", name), paths())
            order = [(self.ours, rate.now, late.now), (self.peer, rate.before, late.before)]
            for port, rates, lates in order if number % 2 else reversed(order):
                counts = self.load(port, file, connections)
                rates.append(counts["rate"])
                lates.append(counts["p99"] / 1000)
        return [rate.summary(), late.summary()]

    def rows(self) -> list[list[str]]:
        chance = random.Random(4)
        width, height = 10000, 7500
        top = (width - 1).bit_length()
        tiles = [Tile("photo", width, height, 256, top, column, row, "jpg").dzi
                 for column in range(width // 256) for row in range(height // 256)]
        chance.shuffle(tiles)
        def regions(w: int, h: int, size: str):
            return lambda: [f"/iiif/2/foreign/{chance.randint(0, width - w)},{chance.randint(0, height - h)},{w},{h}/{size}/0/"
                            "default.jpg" for _ in range(4000)]

        # One round of tiles differs from the next by a quarter: a hundredth shows in many of them.
        return [self.start_up(), *self.rate("tiles, 64 connections", lambda: tiles, 64, 0.99, 41 if self.rounds > 3 else 0),
                *self.rate("IIIF regions of 3000×2000 at 750 of a foreign archive", regions(3000, 2000, "750,"), 16, 0.90),
                *self.rate("IIIF regions of 700×500 of a foreign archive", regions(700, 500, "full"), 16, 0.90),
                *self.beside_attacks(tiles)]

    def beside_attacks(self, tiles: list[str]) -> list[list[str]]:
        """Tiles while what attacks decoders is sent by tus without a pause, against the same tiles alone."""
        attacks = sorted(path for path in ATTACKS.iterdir() if path.suffix != ".md") if ATTACKS.is_dir() else []
        if not attacks:
            print(f"no attacks in {ATTACKS}: no row")
            return []
        (self.folder / "token").write_text(TOKEN + "\n")
        process = subprocess.Popen([self.executables[0], "serve", self.libraries[0], "--port", "0", "--writable", "--token-file",
                                    self.folder / "token"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.processes.append(process)
        port = int(re.search(r":(\d+)/", process.stdout.readline().decode())[1])
        file = self.paths("beside", tiles)
        row = Row("tiles' p99 beside uploads of attacks, against alone", "ms", most=2)
        rate = Row("tiles' rate beside uploads of attacks, against alone", "/s")
        self.load(port, file, 64)
        for _ in range(self.rounds):
            for beside in (False, True):
                sender = Attacker(port, attacks) if beside else None
                time.sleep(0.5)
                counts = self.load(port, file, 64)
                (row.now if beside else row.before).append(counts["p99"] / 1000)
                (rate.now if beside else rate.before).append(counts["rate"])
                if sender:
                    sender.end()
        return [row.summary(), rate.summary()]


class Attacker:
    """Sends one attack after the other, each other bytes than the last time, until it is stopped."""

    numbers = itertools.count()

    def __init__(self, port: int, files: list[Path]):
        self.port, self.files, self.ending = port, files, threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while not self.ending.is_set():
            number = next(self.numbers)
            path = self.files[number % len(self.files)]
            data = path.read_bytes() + number.to_bytes(8, "little")
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            name = base64.b64encode(f"{number} {path.name}".encode()).decode()
            connection.request("POST", "/api/uploads", data, {
                "Authorization": f"Bearer {TOKEN}", "Tus-Resumable": "1.0.0", "Upload-Length": str(len(data)),
                "Content-Type": "application/offset+octet-stream", "Upload-Metadata": f"filename {name}"})
            connection.getresponse().read()
            connection.close()
            # Some always wait, so that a decoder is always at work.
            self.ending.wait(0.5)

    def end(self) -> None:
        self.ending.set()
        self.thread.join(130)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    old = before.executable()
    rows = [] if only == "serve" else Builds(ziggurat, old, quick).rows()
    if only != "build":
        bench = Serving(ziggurat, old, quick)
        try:
            bench.start()
            rows += bench.rows()
        finally:
            bench.stop()
    return table(HEADER, rows)
