"""What tests of slides and stacks share: a build of one source and what came of it."""

import functools
import json
import zipfile
from pathlib import Path

from harness import WALLPAPER, CommandTest, folder, run
from PIL import Image


@functools.cache
def wallpaper() -> Image.Image:
    return Image.open(WALLPAPER).convert("RGB")


def picture(width: int, height: int, left: int = 700, top: int = 300) -> Image.Image:
    return wallpaper().crop((left, top, left + width, top + height))


class OneSource(CommandTest):
    def built(self, source: Path, *options) -> tuple[dict, Path]:
        library = folder("library")
        result = run("build", source, "--library", library, "--json", "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = [json.loads(line) for line in result.stdout.splitlines()]
        return report[0], library / f"{report[0]['id']}.szi"

    def tiles(self, archive: Path) -> dict[tuple[int, int], bytes]:
        """Those of full resolution, by column and row."""
        with zipfile.ZipFile(archive) as szi:
            names = [name.split("/")[-2:] + [name] for name in szi.namelist() if "_files/" in name]
            top = max(int(level) for level, _, _ in names)
            return {tuple(map(int, place.split(".")[0].split("_"))): szi.read(name)
                    for level, place, name in names if int(level) == top}

    def refused(self, source: Path, *options) -> str:
        result = run("build", source, "--library", folder("library"), "--quiet", *options)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr
