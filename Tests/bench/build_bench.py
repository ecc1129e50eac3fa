"""`ziggurat build` against `vips dzsave --container zip`: the same picture, tile size and quality.

Rounds are interleaved (A B C A B C …), each run writes into a folder of its own (deleting and writing the
same names again slows ext4), the medians are compared. dzsave runs as it comes and with the
VIPS_CONCURRENCY that a sweep finds best for the case.
"""

import itertools
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import material
from measure import Run, median, run, spread, table

SWEEP = (1, 2, 4, 8)


@dataclass(frozen=True)
class Case:
    """One row: a source of `material`, what to make of it, and our options for each way to be compared."""
    name: str
    source: str
    tile: int = 256
    suffix: str = ".jpg[Q=80]"  # dzsave's
    format: str = "jpeg"  # ours, at quality 80
    ours: tuple[tuple[str, tuple[str, ...]], ...] = (("ziggurat", ()),)


WAYS = (("exact", ("--fidelity", "exact")), ("default", ()))
CASES = [
    Case("300 MP JPEG, 256 px", "jpeg-300mp", ours=WAYS),
    Case("300 MP JPEG, 512 px", "jpeg-300mp", tile=512, ours=WAYS),
    Case("300 MP progressive JPEG", "progressive-300mp", ours=WAYS),
    Case("300 MP tiled JPEG TIFF", "tiff-jpeg-300mp", ours=WAYS),
    Case("300 MP tiled deflate TIFF", "tiff-deflate-300mp", ours=WAYS),
    Case("300 MP PNG", "png-300mp", ours=WAYS),
    Case("75 MP JPEG to PNG tiles", "jpeg-75mp", suffix=".png", format="png"),
    Case("75 MP JPEG to WebP tiles", "jpeg-75mp", suffix=".webp[Q=80]", format="webp"),
]
QUICK = [Case("75 MP JPEG, 512 px, quick", "jpeg-75mp", tile=512)]


class Bench:
    def __init__(self, ziggurat: Path, quick: bool, only: str | None, fidelity: bool):
        self.ziggurat, self.rounds = ziggurat, 3 if quick else 5
        self.cases = [case for case in (QUICK if quick else CASES) if not only or only in case.name]
        self.photos = not quick and (not only or only in "100 photos")
        self.fidelity = fidelity
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

    def dzsave_folder(self, folder: Path, processes: int) -> Run:
        script = ('ls "$1" | xargs -P "$3" -I{} vips dzsave "$1/{}" "$2/{}" --container zip --tile-size 512 '
                  '--overlap 0 --suffix ".jpg[Q=80]"')
        output = self.fresh()
        return run(["sh", "-c", script, "sh", str(folder), str(output), str(processes)], output=output)

    def contenders(self, case: Case) -> dict:
        """Each a function that does the whole work once; ours first, then dzsave as it comes, then at its best."""
        source = material.SOURCES[case.source]()
        sweep = {count: min(self.dzsave(source, case.tile, case.suffix, count).wall for _ in range(2)) for count in SWEEP}
        best = min(sweep, key=sweep.get)
        print("  sweep of VIPS_CONCURRENCY: " + ", ".join(f"{count}: {wall:.2f} s" for count, wall in sweep.items()))
        ways = case.ours if self.fidelity else (("ziggurat", ()),)
        found = {label: lambda options=options: self.build(source, case.tile, case.format, options)
                 for label, options in ways}
        found["dzsave"] = lambda: self.dzsave(source, case.tile, case.suffix, None)
        found[f"dzsave at {best}"] = lambda: self.dzsave(source, case.tile, case.suffix, best)
        return found

    def interleaved(self, contenders: dict) -> dict[str, list[Run]]:
        runs = {label: [] for label in contenders}
        for _ in range(self.rounds):
            for label, work in contenders.items():
                runs[label].append(work())
        return runs

    def rows(self, name: str, runs: dict[str, list[Run]], ours: int) -> list[list[str]]:
        medians = {label: median(each) for label, each in runs.items()}
        labels = list(medians)
        rows = []
        for us, peer in itertools.product(labels[:ours], labels[ours:]):
            mine, theirs = medians[us], medians[peer]
            # Round by round: what else the machine does at the time hits both.
            ratios = [b.wall / a.wall for a, b in zip(runs[us], runs[peer])]
            ratio, work = statistics.median(ratios), statistics.median(b.cpu / a.cpu for a, b in zip(runs[us], runs[peer]))
            print(f"  {us} {mine.wall:.2f} s, {mine.peak / 1e6:.0f} MB; {peer} {theirs.wall:.2f} s, "
                  f"{theirs.peak / 1e6:.0f} MB; ratio {ratio:.2f} (rounds within ±{spread(ratios):.0%}), "
                  f"cpu ratio {work:.2f}, memory ratio {mine.peak / theirs.peak:.2f}, size ratio "
                  f"{mine.made / theirs.made:.2f}", flush=True)
            rows.append([name, us, peer, f"{ratio:.2f}×", f"{work:.2f}×",
                         f"{mine.peak / 1e6:.0f} MB", f"{theirs.peak / 1e6:.0f} MB",
                         f"{mine.made / theirs.made:.2f}×"])
        return rows

    def run(self) -> str:
        rows = []
        try:
            for case in self.cases:
                print(f"{case.name}", flush=True)
                contenders = self.contenders(case)
                rows += self.rows(case.name, self.interleaved(contenders), len(contenders) - 2)
                self.clear()
            if self.photos:
                rows += self.hundred()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return table(["input", "ziggurat", "against", "times as fast", "processor time", "peak memory", "its peak memory",
                      "archive size"], rows)

    def hundred(self) -> list[list[str]]:
        print("100 photos of 12 to 24 MP, 512 px", flush=True)
        photos = material.hundred_photos()
        ways = WAYS if self.fidelity else (("ziggurat", ()),)
        contenders = {label: lambda options=options: self.build(photos, 512, "jpeg", options) for label, options in ways}
        contenders["a loop of dzsave"] = lambda: self.dzsave_folder(photos, 1)
        contenders["xargs -P2 dzsave"] = lambda: self.dzsave_folder(photos, 2)
        self.rounds = min(self.rounds, 3)
        return self.rows("100 photos", self.interleaved(contenders), len(ways))

    def clear(self) -> None:
        """Between cases only: never between the rounds that are compared."""
        for path in self.folder.iterdir():
            shutil.rmtree(path)


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    import subprocess
    offers = subprocess.run([ziggurat, "help", "build"], capture_output=True, text=True).stdout
    return Bench(ziggurat, quick, only, "--fidelity" in offers).run()
