"""The library that is served: on a small disk of its own, of pictures that stay, that are edited and that are rebuilt."""

import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from harness import BINARY, WALLPAPER, run
from tile_paths import Tile

SIDE = 256
KINDS = ("jpg", "png", "tif", "webp")


def picture(chance: random.Random, width: int, height: int) -> Image.Image:
    """A piece of a photograph that hardly another is like."""
    global wallpaper
    if wallpaper is None:
        wallpaper = Image.open(WALLPAPER).convert("RGB")
    left, top = chance.randrange(wallpaper.width - width), chance.randrange(wallpaper.height - height)
    piece = wallpaper.crop((left, top, left + width, top + height))
    return piece.transpose(chance.choice(list(Image.Transpose)[:2])) if chance.random() < 0.5 else piece


wallpaper = None


def encoded(piece: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    options = {"jpg": {"format": "JPEG", "quality": 88}, "png": {"format": "PNG", "compress_level": 1},
               "tif": {"format": "TIFF", "compression": "tiff_lzw"}, "webp": {"format": "WEBP", "quality": 85, "method": 0}}
    piece.save(file, **options[kind])
    return file.getvalue()


class SmallDisk:
    """A file system of its own in memory, so that it can be filled; it is gone with the mount namespace of this process."""

    def __init__(self, path: Path, megabytes: int):
        self.path = path
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", path], check=True)
        self.filler = path / "filler.bin"

    def fill(self) -> None:
        """To the last byte, also of what became free since."""
        with self.filler.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def relieve(self) -> None:
        self.filler.unlink(missing_ok=True)


class Presence:
    """Whether an image exists, as far as its owner knows: `here`, `gone`, or `maybe` while that changes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.state, self.changes, self.since = "here", 0, time.monotonic()

    def set(self, state: str) -> None:
        with self.lock:
            self.state, self.changes, self.since = state, self.changes + 1, time.monotonic()

    def now(self) -> tuple[str, int]:
        with self.lock:
            return self.state, self.changes


class Library:
    """`stable`, `edited`, `rebuilt`: ids; `tiles`: of each image every tile, with the digests that its bytes may have."""

    def __init__(self, base: Path, disk: SmallDisk, chance: random.Random):
        self.base, self.path, self.chance = base, disk.path, chance
        self.tiles: dict[str, dict[Tile, set[bytes]]] = {}
        self.make()
        self.presence = {image: Presence() for image in self.tiles}

    def build(self, source: Path, library: Path | None = None, *options, timeout: float = 600) -> subprocess.CompletedProcess:
        return run("build", source, "--library", library or self.path, "--tile-size", SIDE, "--quiet", *options, timeout=timeout)

    def make(self) -> None:
        for number in range(6):
            # Of one they are WebP tiles, and of one PNG.
            self.source("stable", f"stable/{number}", number, 2400 + number, 1500 + number)
        for number in range(12):
            self.source("edited", f"edited/{number}", number, 700 + number, 500)
        for version in ("first", "second"):
            for number in range(8):
                self.source(f"rebuilt-{version}", f"rebuilt/{number}", number, 900 + number, 600)
        shutil.copytree(self.base / "rebuilt-first", self.base / "rebuilt")
        self.rebuilt_now = dict.fromkeys((f"rebuilt/{number}" for number in range(8)), "first")
        for folder, options in (("stable", ()), ("edited", ()), ("rebuilt", ())):
            self.succeed(self.build(self.base / folder, None, *options))
            self.learn(self.path, folder)
        # What another version of a picture gives is built elsewhere.
        for version in ("first", "second"):
            place = self.base / f"reference-{version}"
            self.succeed(self.build(self.base / f"rebuilt-{version}", place))
            self.learn(place, "rebuilt")
        self.foreign()
        self.stable = [image for image in self.tiles if not image.startswith(("edited/", "rebuilt/"))]
        self.edited = [image for image in self.tiles if image.startswith("edited/")]
        self.rebuilt = list(self.rebuilt_now)

    def source(self, folder: str, image: str, number: int, width: int, height: int) -> None:
        path = self.base / folder / f"{image}.{KINDS[number % len(KINDS)]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(picture(self.chance, width, height), path.suffix[1:]))

    @staticmethod
    def succeed(result: subprocess.CompletedProcess) -> None:
        if result.returncode != 0:
            sys.exit(f"soak: the library was not built: {result.stderr}")

    def foreign(self) -> None:
        """Of others' making: tiles that overlap, in an archive, and as files."""
        source = next((self.base / "stable/stable").glob("0.*"))
        for container, name in (("zip", "foreign.zip"), ("fs", "loose")):
            subprocess.run(["vips", "dzsave", source, self.base / name, "--container", container, "--suffix", ".jpg[Q=85]"],
                           check=True, capture_output=True)
        # The folder keeps the name within the archive.
        shutil.copy(self.base / "foreign.zip", self.path / "foreign.szi")
        shutil.copy(self.base / "loose.dzi", self.path)
        shutil.copytree(self.base / "loose_files", self.path / "loose_files")
        self.learn(self.path, "foreign.szi")
        width, height = Image.open(source).size
        self.tiles["loose"] = {
            Tile("loose", width, height, 254, int(path.parent.name), *map(int, path.stem.split("_")), "jpg"):
            {digest(path.read_bytes())} for path in (self.path / "loose_files").rglob("*.jpg")}

    def learn(self, library: Path, part: str) -> None:
        """The bytes of every tile of the archives below."""
        place = library / part
        for path in [place] if place.is_file() else sorted(place.rglob("*.szi")):
            image = str(path.relative_to(library))[:-4]
            for tile, data in stored_tiles(path, image):
                self.tiles.setdefault(image, {}).setdefault(tile, set()).add(digest(data))

    def swap(self, image: str) -> None:
        """Gives a rebuilt image its other version as its source."""
        version = {"first": "second", "second": "first"}[self.rebuilt_now[image]]
        (old,) = (self.base / "rebuilt").glob(f"{image}.*")
        partial = old.with_name(f".{old.name}")
        shutil.copy(self.base / f"rebuilt-{version}" / old.relative_to(self.base / "rebuilt"), partial)
        os.utime(partial)
        partial.rename(old)
        self.rebuilt_now[image] = version


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:16]


def stored_tiles(path: Path, image: str):
    """Every tile of an archive with its bytes."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        root = names[0].split("/")[0]
        descriptor = next(archive.read(name) for name in names if name.endswith(".dzi"))
        width, height = (int(re.search(rb'%s="(\d+)"' % word, descriptor)[1]) for word in (b"Width", b"Height"))
        side = int(re.search(rb'TileSize="(\d+)"', descriptor)[1])
        for name in names:
            found = re.search(r"_files/(\d+)/(\d+)_(\d+)\.(\w+)$", name)
            if found:
                yield Tile(quote(image, safe=""), width, height, side, *map(int, found.groups()[:3]), found[4]), archive.read(name)


def described(body: bytes) -> dict:
    return json.loads(body)
