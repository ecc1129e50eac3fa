"""An independent answer to "which tiles does this viewport show", by brute force in exact fractions.

Every tile of the level is a rectangle in image space; the viewport, turned back and unmirrored, is a
convex polygon; a tile belongs to the answer if and only if the area of their intersection is positive.
"""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class View:
    """A viewport as the answer states it; all numbers exact."""
    width: Fraction
    height: Fraction
    scale: Fraction
    x: Fraction
    y: Fraction
    rotation: float = 0
    flip: bool = False

    @classmethod
    def from_answer(cls, viewport: dict) -> "View":
        return cls(*(Fraction(viewport[name]) for name in ("width", "height", "scale", "x", "y")),
                   viewport["rotation"], viewport["flip"])

    def image_point(self, px, py) -> tuple[Fraction, Fraction]:
        """The image point under a point of the window: turned back about the centre, then unmirrored."""
        cos, sin = _turn(self.rotation)
        dx, dy = Fraction(px) - self.width / 2, Fraction(py) - self.height / 2
        # Clockwise with y down is (cos, -sin; sin, cos); its inverse is the transpose.
        dx, dy = cos * dx + sin * dy, -sin * dx + cos * dy
        if self.flip:
            dx = -dx
        return ((dx + self.width / 2 + self.x) / self.scale, (dy + self.height / 2 + self.y) / self.scale)

    def polygon(self) -> list[tuple[Fraction, Fraction]]:
        return [self.image_point(x, y) for x, y in
                ((0, 0), (self.width, 0), (self.width, self.height), (0, self.height))]


def _turn(degrees: float) -> tuple[Fraction, Fraction]:
    quarter = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}.get(degrees % 360)
    if quarter:
        return Fraction(quarter[0]), Fraction(quarter[1])
    return Fraction(math.cos(math.radians(degrees))), Fraction(math.sin(math.radians(degrees)))


@dataclass(frozen=True)
class Image:
    width: int
    height: int
    tile: int

    @property
    def top(self) -> int:
        return (max(self.width, self.height) - 1).bit_length()

    def level_for(self, density: Fraction) -> int:
        """The coarsest level whose pixels are at least as fine as `density` asks for."""
        return next((level for level in range(self.top + 1) if Fraction(2) ** (level - self.top) >= density),
                    self.top)

    def level_size(self, level: int) -> tuple[int, int]:
        step = 1 << (self.top - level)
        return -(-self.width // step), -(-self.height // step)

    def grid(self, level: int) -> tuple[int, int]:
        return tuple(-(-side // self.tile) for side in self.level_size(level))

    def source(self, level: int, column: int, row: int) -> tuple[int, int, int, int]:
        """A tile's x, y, width and height in level space."""
        width, height = self.level_size(level)
        x, y = column * self.tile, row * self.tile
        return x, y, min(self.tile, width - x), min(self.tile, height - y)

    def rectangle(self, level: int, column: int, row: int) -> tuple[int, int, int, int]:
        """A tile's left, top, right and bottom in image space, clipped at the image's edge."""
        step = 1 << (self.top - level)
        x, y, width, height = self.source(level, column, row)
        return x * step, y * step, min((x + width) * step, self.width), min((y + height) * step, self.height)

    def areas(self, level: int, view: View) -> dict[tuple[int, int], Fraction]:
        """The visible area of every tile of a level, in square image pixels."""
        polygon = view.polygon()
        columns, rows = self.grid(level)
        return {(column, row): _area(_clip(polygon, self.rectangle(level, column, row)))
                for column in range(columns) for row in range(rows)}


def _clip(polygon, rectangle):
    """Sutherland and Hodgman: a convex polygon cut by the four sides of a rectangle."""
    left, top, right, bottom = rectangle
    for axis, sign, limit in ((0, 1, left), (0, -1, right), (1, 1, top), (1, -1, bottom)):
        result = []
        for here, there in zip(polygon, polygon[1:] + polygon[:1]):
            a, b = sign * (here[axis] - limit), sign * (there[axis] - limit)
            if a >= 0:
                result.append(here)
            if (a > 0 > b) or (a < 0 < b):
                t = a / (a - b)
                result.append(tuple(p + t * (q - p) for p, q in zip(here, there)))
        polygon = result
        if not polygon:
            break
    return polygon


def _area(polygon) -> Fraction:
    return abs(sum((a[0] * b[1] - b[0] * a[1] for a, b in zip(polygon, polygon[1:] + polygon[:1])),
                   Fraction(0))) / 2
