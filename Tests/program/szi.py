"""The tests' view of a library's archives, by the specification: their tiles, their sizes, their defects."""

import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

DZI = "{http://schemas.microsoft.com/deepzoom/2008}"


def archives(library: Path) -> list[Path]:
    return sorted(path for path in library.rglob("*.szi") if ".ziggurat-trash" not in path.parts)


def leftovers(library: Path) -> list[str]:
    """Everything in a library that is neither an archive nor the catalog (nor SQLite's side files)."""
    return sorted(str(path.relative_to(library)) for path in library.rglob("*")
                  if path.is_file() and path.suffix != ".szi" and not path.name.startswith("catalog."))


def levels(width: int, height: int) -> list[tuple[int, int]]:
    """The sizes of all levels, from 1×1 to full resolution: each half of the next, rounded up."""
    sizes = [(width, height)]
    while sizes[0] != (1, 1):
        sizes.insert(0, ((sizes[0][0] + 1) // 2, (sizes[0][1] + 1) // 2))
    return sizes


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height from a JPEG's frame header."""
    position = 2
    while data[position] == 0xFF:
        marker, length = data[position + 1], int.from_bytes(data[position + 2:position + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return (int.from_bytes(data[position + 7:position + 9], "big"),
                    int.from_bytes(data[position + 5:position + 7], "big"))
        position += 2 + length
    raise ValueError("no frame header")


def archive_defects(path: Path) -> list[str]:
    """All that is wrong with an SZI archive of JPEG tiles, by the specification; empty when it is whole."""
    tested = subprocess.run(["unzip", "-tqq", path], capture_output=True, text=True)
    if tested.returncode != 0:
        return [f"unzip -t: {tested.stdout.strip()} {tested.stderr.strip()}"]
    defects = []
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        root = names[0].split("/")[0]
        defects += [f"not stored: {entry.filename}" for entry in archive.infolist()
                   if entry.compress_type != zipfile.ZIP_STORED]
        defects += [f"outside {root}/: {name}" for name in names if not name.startswith(root + "/")]
        defects += [f"twice: {name}" for name in names if names.count(name) > 1] if len(names) < 2000 else []
        image = ElementTree.fromstring(archive.read(f"{root}/{root}.dzi"))
        size, tile = image.find(f"{DZI}Size"), int(image.get("TileSize"))
        extension = image.get("Format")
        if image.get("Overlap") != "0":
            defects.append(f"overlap {image.get('Overlap')}")
        expected = {}
        for level, (width, height) in enumerate(levels(int(size.get("Width")), int(size.get("Height")))):
            for column in range(-(-width // tile)):
                for row in range(-(-height // tile)):
                    expected[f"{root}/{root}_files/{level}/{column}_{row}.{extension}"] = (
                        min(tile, width - column * tile), min(tile, height - row * tile))
        found = {name for name in names if name.startswith(f"{root}/{root}_files/") and name[-1] != "/"}
        defects += [f"missing: {name}" for name in sorted(expected.keys() - found)]
        defects += [f"spare: {name}" for name in sorted(found - expected.keys())]
        if extension == "jpg":
            defects += [f"{name}: {jpeg_size(archive.read(name))}, not {expected[name]}"
                       for name in sorted(expected.keys() & found)
                       if jpeg_size(archive.read(name)) != expected[name]]
        if f"{root}/scan-properties.xml" not in names:
            defects.append("no scan-properties.xml")
    return defects
