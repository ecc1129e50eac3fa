"""Pages of one TIFF of 64×64 gray pixels, each an archive: seconds of a build, and how they grow with the pages.

The peer reads the same pages, and no more: `vips copy FILE[n=-1]`.
"""

import shutil
import tempfile
from pathlib import Path

import material
import numpy
from measure import median, run, table
from PIL import Image

# Seconds of the largest file, on two idle cores; and how much more time a page of it takes than one of a file with a quarter.
BAR, GROWTH = 3.0, 1.25


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-pages-bench-", dir=material.CACHE))
    try:
        return compared(ziggurat, folder, [50, 200] if quick else [500, 2000], 1 if quick else 3)
    finally:
        shutil.rmtree(folder)


def compared(ziggurat: Path, folder: Path, counts: list[int], rounds: int) -> str:
    random = numpy.random.default_rng(1)
    rows, walls = [], []
    for count in counts:
        source = folder / f"pages{count}.tif"
        pages = [Image.fromarray(random.integers(0, 256, (64, 64), dtype=numpy.uint8)) for _ in range(count)]
        pages[0].save(source, save_all=True, append_images=pages[1:])
        ours, theirs = [], []
        for number in range(rounds):
            ours.append(run([str(ziggurat), "build", str(source), "--library", str(folder / f"{count}-{number}"), "--quiet"]))
            theirs.append(run(["vips", "copy", f"{source}[n=-1]", str(folder / "pages.v")]))
        mine, other = median(ours), median(theirs)
        walls.append(mine.wall)
        is_last = count == counts[-1]
        growth = walls[-1] / walls[0] * counts[0] / count
        met = "" if not is_last else "yes" if mine.wall <= BAR and growth <= GROWTH else "no"
        print(f"{count} pages: {mine.wall:.2f} s, {1000 * mine.wall / count:.2f} ms each; vips reads them in {other.wall:.2f} s: "
              f"{mine.wall / other.wall:.2f}; a page takes {growth:.2f} of the first file's", flush=True)
        rows.append([f"{count} pages", f"{mine.wall:.2f}", f"{other.wall:.2f}", f"{mine.wall / other.wall:.2f}",
                     f"{1000 * mine.wall / count:.2f} ms", f"{growth:.2f}", f"≤ {BAR} s, ≤ {GROWTH}" if is_last else "", met])
    return table(["what", "build, s", "vips reads, s", "ratio", "a page", "growth", "bar", "met"], rows)
