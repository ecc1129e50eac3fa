"""JPEG XL tiles against JPEG tiles of the same pictures, both `--fidelity lossless` at 512 px: bytes of the archives.

The pictures are the demo's photographs that are JPEGs: of each tile one library has the JPEG, the other what JPEG XL
makes of it, which gives the same JPEG back.
"""

import shutil
import tempfile
from pathlib import Path

import material
from measure import run, table

# Bytes of JPEG XL for each of JPEG.
BAR = 0.86


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-jxl-bench-", dir=material.CACHE))
    try:
        return compared(ziggurat, folder, [path for path in material.wallpapers() if path.suffix == ".jpg"][:3 if quick else None])
    finally:
        shutil.rmtree(folder)


def compared(ziggurat: Path, folder: Path, pictures: list[Path]) -> str:
    sources = folder / "sources"
    sources.mkdir()
    for path in pictures:
        shutil.copyfile(path, sources / path.name)
    builds = {}
    for format in ("jpeg", "jxl"):
        builds[format] = run([str(ziggurat), "build", str(sources), "--library", str(folder / format), "--format", format,
                              "--fidelity", "lossless", "--tile-size", "512", "--quiet"])
    sizes = {path.stem: [(folder / format / f"{path.stem}.szi").stat().st_size for format in builds] for path in pictures}
    jpeg, jxl = (sum(each) for each in zip(*sizes.values()))
    ratios = sorted(ours / theirs for theirs, ours in sizes.values())
    print(f"{len(sizes)} archives: {jxl:,} bytes of JPEG XL, {jpeg:,} of JPEG: {jxl / jpeg:.3f} (bar {BAR}): "
          + ("met" if jxl / jpeg <= BAR else "missed"), flush=True)
    return table(
        ["what", "JPEG XL", "JPEG", "ratio", "single pictures", "bar", "met"],
        [[f"bytes of {len(sizes)} archives", f"{jxl:,}", f"{jpeg:,}", f"{jxl / jpeg:.3f}", f"{ratios[0]:.3f} to {ratios[-1]:.3f}",
          f"≤ {BAR}", "yes" if jxl / jpeg <= BAR else "no"],
         ["seconds of the build, one round", f"{builds['jxl'].wall:.1f}", f"{builds['jpeg'].wall:.1f}",
          f"{builds['jxl'].wall / builds['jpeg'].wall:.2f}", "", "", ""]])
