"""`ziggurat build` against `vips dzsave --container zip`: the same picture, tile size and quality.

Rounds are interleaved (A B C A B C …), each run writes into a folder of its own (deleting and writing the
same names again slows ext4), the medians are compared. dzsave runs as it comes and with the
VIPS_CONCURRENCY that a sweep finds best for the case. Every ratio is held against its bar: how many times as
fast, no more memory at the peak and, where the tiles are lossless, no larger archive.
"""

import itertools
import shutil
import statistics
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import material
from measure import Run, median, run, spread, table

SWEEP = (1, 4, 8)
BASELINE = "dzsave"  # as it comes: as many threads as cores


@dataclass(frozen=True)
class Way:
    """Options of ours, and how many times as fast they must be as dzsave as it comes and at its best."""
    name: str
    options: tuple[str, ...] = ()
    least: float | None = None
    least_best: float | None = None


@dataclass(frozen=True)
class Case:
    """One row: a source of `material`, what to make of it, and our ways to be compared."""
    name: str
    source: str
    ways: tuple[Way, ...]
    tile: int = 256
    suffix: str = ".jpg[Q=80]"  # dzsave's
    format: str = "jpeg"  # ours, at quality 80


EXACT = ("--fidelity", "exact")


def both(name: str, source: str, ways: tuple[Way, ...], **more) -> list[Case]:
    """A case at 256 and at 512 px."""
    return [Case(f"{name}, {tile} px", source, ways, tile=tile, **more) for tile in (256, 512)]


CASES = [
    Case("300 MP JPEG, 256 px", "jpeg-300mp", (Way("exact", EXACT, 3.0, 2.2), Way("default", (), 4.2, 3.0))),
    Case("300 MP JPEG, 512 px", "jpeg-300mp", (Way("exact", EXACT, 2.1, 2.0), Way("default", (), 2.7, 2.7)), tile=512),
    Case("300 MP tiled JPEG TIFF, 256 px", "tiff-jpeg-300mp", (Way("exact", EXACT, 3.0, 2.2), Way("default", (), 6.0))),
    Case("300 MP tiled JPEG TIFF, 512 px", "tiff-jpeg-512-300mp", (Way("exact", EXACT), Way("default")), tile=512),
    *both("300 MP tiled deflate TIFF", "tiff-deflate-300mp", (Way("default", (), 2.3, 2.0),)),
    *both("300 MP PNG", "png-300mp", (Way("default", (), 2.8, 2.8),)),
    *both("66 MP of photographs to PNG tiles", "photographs-66mp", (Way("default", (), 8.0),), suffix=".png", format="png"),
    Case("75 MP of drawings and photographs to PNG tiles, 256 px", "jpeg-75mp", (Way("default"),), suffix=".png", format="png"),
    *both("75 MP JPEG to WebP tiles", "jpeg-75mp", (Way("default", (), None, 1.2),), suffix=".webp[Q=80]", format="webp"),
    Case("300 MP progressive JPEG, 256 px", "progressive-300mp", (Way("default"),)),
]
# libvips reads them by OpenSlide.
SLIDES = both("300 MP slide of 240 px JPEG tiles", "svs-300mp", (Way("exact", EXACT), Way("default", (), 3.0)))
QUICK = [Case("75 MP JPEG, 512 px, quick", "jpeg-75mp", (Way("exact", EXACT), Way("default")), tile=512)]
PHOTOS = (Way("exact", EXACT, 2.3), Way("default", (), 3.0))


class Bench:
    def __init__(self, ziggurat: Path, cases: list[Case], photos: bool, rounds: int = 3):
        self.ziggurat, self.cases, self.photos, self.rounds = ziggurat, cases, photos, rounds
        self.folder = Path(tempfile.mkdtemp(prefix="build-", dir=self.cache()))
        self.numbers = itertools.count()

    @staticmethod
    def cache() -> Path:
        material.CACHE.mkdir(parents=True, exist_ok=True)
        return material.CACHE

    def fresh(self) -> Path:
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        return folder

    def build(self, source: Path, tile: int, format: str, options: tuple[str, ...]) -> Run:
        output = self.fresh()
        return run([str(self.ziggurat), "build", str(source), "--library", str(output), "--tile-size", str(tile),
                    "--format", format, "--quality", "80", "--quiet", *options], output=output)

    def dzsave(self, source: Path, tile: int, suffix: str, concurrency: int | None) -> Run:
        output = self.fresh()
        return run(["vips", "dzsave", str(source), str(output / "out"), "--container", "zip", "--tile-size", str(tile),
                    "--overlap", "0", "--suffix", suffix],
                   {"VIPS_CONCURRENCY": str(concurrency)} if concurrency else None, output)

    def dzsave_folder(self, folder: Path, tile: int) -> Run:
        script = ('ls "$1" | xargs -P2 -I{} vips dzsave "$1/{}" "$2/{}" --container zip --tile-size "$3" '
                  '--overlap 0 --suffix ".jpg[Q=80]"')
        output = self.fresh()
        made = run(["sh", "-c", script, "sh", str(folder), str(output), str(tile)], output=output)
        return replace(made, peak=2 * made.peak)  # Two processes at a time.

    def contenders(self, case: Case) -> dict:
        """Each a function that does the whole work once; ours first, then dzsave as it comes, then at its best."""
        source = material.SOURCES[case.source]()
        sweep = {count: self.dzsave(source, case.tile, case.suffix, count).wall for count in SWEEP}
        best = min(sweep, key=sweep.get)
        print("  sweep of VIPS_CONCURRENCY: " + ", ".join(f"{count}: {wall:.2f} s" for count, wall in sweep.items()))
        found = {way.name: lambda way=way: self.build(source, case.tile, case.format, way.options) for way in case.ways}
        found[BASELINE] = lambda: self.dzsave(source, case.tile, case.suffix, None)
        found[f"dzsave at {best}"] = lambda: self.dzsave(source, case.tile, case.suffix, best)
        return found

    def interleaved(self, contenders: dict) -> dict[str, list[Run]]:
        runs = {label: [] for label in contenders}
        for _ in range(self.rounds):
            for label, work in contenders.items():
                runs[label].append(work())
        return runs

    def rows(self, name: str, ways: tuple[Way, ...], runs: dict[str, list[Run]], lossless: bool) -> list[list[str]]:
        medians = {label: median(each) for label, each in runs.items()}
        peers = [label for label in runs if label not in {way.name for way in ways}]
        rows = []
        for way, (number, peer) in itertools.product(ways, enumerate(peers)):
            mine, theirs = medians[way.name], medians[peer]
            # Round by round: what else the machine does at the time hits both.
            ratios = [b.wall / a.wall for a, b in zip(runs[way.name], runs[peer])]
            ratio = statistics.median(ratios)
            work = statistics.median(b.cpu / a.cpu for a, b in zip(runs[way.name], runs[peer]))
            misses = []
            bar = way.least_best if number else way.least
            if bar and ratio < bar:
                misses.append("too slow")
            if mine.peak > theirs.peak:
                misses.append("more memory")
            if lossless and mine.made > theirs.made:
                misses.append("larger")
            verdict = f"missed: {', '.join(misses)}" if misses else "met"
            print(f"  {way.name} {mine.wall:.2f} s, {mine.peak / 1e6:.0f} MB; {peer} {theirs.wall:.2f} s, "
                  f"{theirs.peak / 1e6:.0f} MB; ratio {ratio:.2f} (rounds within ±{spread(ratios):.0%}; bar "
                  f"{bar or 'none'}), cpu ratio {work:.2f}, memory ratio {mine.peak / theirs.peak:.2f}, size ratio "
                  f"{mine.made / theirs.made:.2f}: {verdict}", flush=True)
            rows.append([name, way.name, peer, f"{ratio:.2f}×", f"{bar}×" if bar else "", f"{work:.2f}×",
                         f"{mine.peak / 1e6:.0f} MB", f"{theirs.peak / 1e6:.0f} MB",
                         f"{mine.made / theirs.made:.2f}×", verdict])
        return rows

    def run(self) -> str:
        rows = []
        try:
            for case in self.cases:
                print(f"{case.name}", flush=True)
                runs = self.interleaved(self.contenders(case))
                rows += self.rows(case.name, case.ways, runs, case.suffix == ".png")
                self.clear()
            if self.photos:
                rows += self.hundred(512) + self.hundred(256)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return table(["input", "ziggurat", "against", "times as fast", "bar", "processor time", "peak memory",
                      "its peak memory", "archive size", "bars"], rows)

    def hundred(self, tile: int) -> list[list[str]]:
        name = f"100 photos of 12 to 24 MP, {tile} px"
        print(name, flush=True)
        photos = material.hundred_photos()
        contenders = {way.name: lambda way=way: self.build(photos, tile, "jpeg", way.options) for way in PHOTOS}
        contenders["xargs -P2 dzsave"] = lambda: self.dzsave_folder(photos, tile)
        return self.rows(name, PHOTOS, self.interleaved(contenders), False)

    def clear(self) -> None:
        """Between cases only: never between the rounds that are compared."""
        for path in self.folder.iterdir():
            shutil.rmtree(path)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    cases = [case for case in (QUICK if quick else CASES) if not only or only in case.name]
    return Bench(ziggurat, cases, not quick and (not only or only in "100 photos")).run()


def slides(ziggurat: Path, quick: bool, only: str | None) -> str:
    return Bench(ziggurat, SLIDES[1:] if quick else SLIDES, False, 1 if quick else 3).run()
