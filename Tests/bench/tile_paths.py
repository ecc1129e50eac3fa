"""The address of one stored tile in every protocol, worked out from the specifications alone."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """A tile of an archive: the image's id and full size, the pyramid's tile size, the tile's place."""
    image: str
    width: int
    height: int
    side: int
    level: int
    column: int
    row: int
    extension: str

    @classmethod
    def parse(cls, name: str, width: int, height: int, side: int) -> "Tile":
        """From an archive's entry, `NAME_files/LEVEL/COLUMN_ROW.EXT`."""
        image, level, column, row, extension = re.fullmatch(r"(.+)_files/(\d+)/(\d+)_(\d+)\.(\w+)", name).groups()
        return cls(image, width, height, side, int(level), int(column), int(row), extension)

    @property
    def step(self) -> int:
        """Image pixels to a pixel of the level."""
        return 1 << ((max(self.width, self.height) - 1).bit_length() - self.level)

    @property
    def is_full(self) -> bool:
        return all((place + 1) * self.side <= -(-length // self.step)
                   for place, length in ((self.column, self.width), (self.row, self.height)))

    @property
    def dzi(self) -> str:
        return f"/dzi/{self.image}_files/{self.level}/{self.column}_{self.row}.{self.extension}"

    def _region(self) -> tuple[str, int, int]:
        x, y = self.column * self.side * self.step, self.row * self.side * self.step
        width, height = (min(self.side * self.step, length - at) for length, at in ((self.width, x), (self.height, y)))
        return f"{x},{y},{width},{height}", -(-width // self.step), -(-height // self.step)

    @property
    def iiif3(self) -> str:
        region, width, height = self._region()
        return f"/iiif/3/{self.image}/{region}/{width},{height}/0/default.jpg"

    @property
    def iiif2(self) -> str:
        region, width, _ = self._region()
        return f"/iiif/2/{self.image}/{region}/{width},/0/default.jpg"

    @property
    def xyz(self) -> str | None:
        """None where XYZ pads the tile, so that it is not the stored one, or has no such level."""
        top = (max(self.width, self.height) - 1).bit_length()
        first = top - max(0, (-(-max(self.width, self.height) // self.side) - 1).bit_length())
        if self.level < first or not self.is_full:
            return None
        return f"/xyz/{self.image}/{self.level - first}/{self.column}/{self.row}.{self.extension}"


SCHEMES = {"Deep Zoom": "dzi", "IIIF 3": "iiif3", "IIIF 2": "iiif2", "XYZ": "xyz"}
