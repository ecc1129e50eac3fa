"""Random image requests against a reference that uses only the text of the IIIF Image API and Pillow."""

import io
import json
import math
import sys
import unittest
from pathlib import Path

import numpy
from PIL import Image, ImageOps

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import Server, ServerTest, folder, photo, run, seed  # noqa: E402

WIDTH, HEIGHT, AREA = 1237, 811, 1_500_000


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean of the absolute differences, of 255."""
    return float(numpy.abs(numpy.asarray(one, numpy.float64) - numpy.asarray(other, numpy.float64)).mean())


def gray(picture: Image.Image) -> Image.Image:
    """As light as it is to the eye: the luminance of sRGB, not the mean of its encoded bands."""
    bands = numpy.asarray(picture, numpy.float64) / 255
    linear = numpy.where(bands <= 0.04045, bands / 12.92, ((bands + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
    encoded = numpy.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return Image.fromarray(numpy.rint(encoded * 255).astype(numpy.uint8))


class Refused(Exception):
    """400 is the answer."""


def region(chance) -> tuple[str, tuple[int, int, int, int]]:
    """What is written, and left, top, width, height; raises where the specification refuses it."""
    kind = chance.choice(["full", "square", "pixels", "pixels", "pixels", "percent"])
    if kind == "full":
        return "full", (0, 0, WIDTH, HEIGHT)
    if kind == "square":
        return "square", ((WIDTH - HEIGHT) // 2, 0, HEIGHT, HEIGHT)
    if kind == "pixels":
        x, y = chance.randint(0, WIDTH + 40), chance.randint(0, HEIGHT + 40)
        w, h = chance.choice([0, 1, 7, 256, chance.randint(1, 2000)]), chance.choice([1, 3, 256, chance.randint(1, 2000)])
        text = f"{x},{y},{w},{h}"
    else:
        # Whole pixels, so that nobody's rounding counts.
        x, y, w, h = (chance.randint(0, side) for side in (WIDTH, HEIGHT, WIDTH, HEIGHT))
        text = "pct:" + ",".join(f"{100 * part / side:.9f}" for part, side in ((x, WIDTH), (y, HEIGHT), (w, WIDTH), (h, HEIGHT)))
    if w == 0 or h == 0 or x >= WIDTH or y >= HEIGHT:
        raise Refused(text)
    return text, (x, y, min(w, WIDTH - x), min(h, HEIGHT - y))


def size(chance, width: int, height: int, version: str) -> tuple[str, tuple[int, int]]:
    """What is written, and the picture's sides; within one pixel where a side follows from the other."""
    grows = version == "3" and chance.random() < 0.4
    kind = chance.choice(["max", "w,", ",h", "pct:", "w,h", "!w,h"])
    w, h = (chance.choice([0, 1, side, chance.randint(1, 1 + side), chance.randint(1, 3 * side)]) for side in (width, height))
    percent = chance.choice([0, 12.5, 50, 100, 100.5, 250])
    wanted = {
        "max": (width, height), "w,": (w, height * w / width), ",h": (width * h / height, h),
        "pct:": (width * percent / 100, height * percent / 100), "w,h": (w, h),
        "!w,h": tuple(side * min(w / width, h / height) for side in (width, height)),
    }[kind]
    text = ("^" if grows else "") + {"max": "max", "w,": f"{w},", ",h": f",{h}", "pct:": f"pct:{percent:g}", "w,h": f"{w},{h}",
                                     "!w,h": f"!{w},{h}"}[kind]
    asked = [side for side, named in ((w, "w" in kind), (h, "h" in kind)) if named and kind != "max"] or [percent or kind == "max"]
    if 0 in asked or (kind == "pct:" and min(wanted) < 0.5):
        raise Refused(text)
    wanted = tuple(max(1, round(side)) for side in wanted)
    if version == "3" and not grows and (wanted[0] > width or wanted[1] > height):
        raise Refused(text)
    if wanted[0] * wanted[1] > AREA:
        if kind not in ("max", "!w,h"):
            raise Refused(text)
        factor = math.sqrt(AREA / wanted[0] / wanted[1])
        wanted = tuple(math.floor(side * factor) for side in wanted)
    return text, wanted


class Reference(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("reference")
        cls.image = Image.open(photo(base / "photos/p.png", WIDTH, HEIGHT)).convert("RGB")
        # Lossless tiles: what is not scaled is the same to the pixel.
        built = run("build", base / "photos", "--library", base / "library", "--tile-size", 256, "--format", "png")
        assert built.returncode == 0, built.stderr
        cls.library = base / "library"
        cls.server = Server(cls.library, "--max-pixels", AREA)

    def expected(self, area, wanted, mirrored: bool, turn: int) -> Image.Image:
        x, y, w, h = area
        picture = self.image.crop((x, y, x + w, y + h))
        if picture.size != wanted:
            picture = picture.resize(wanted, Image.BOX if wanted[0] <= w and wanted[1] <= h else Image.BICUBIC)
        picture = ImageOps.mirror(picture) if mirrored else picture
        return picture.rotate(-turn, expand=True)

    def test_random_requests(self):
        chance, refused, exact, scaled = seed("IIIF", 1), 0, 0, 0
        for number in range(400):
            version = chance.choice("23")
            mirrored, turn = chance.random() < 0.3, chance.choice([0, 0, 90, 180, 270])
            quality = chance.choice(["default", "color", "gray", "bitonal"])
            try:
                place, area = region(chance)
            except Refused as reason:
                place, area = str(reason), None
            try:
                extent, wanted = size(chance, *(area or (0, 0, 99, 99))[2:], version)
            except Refused as reason:
                extent, wanted = str(reason), None
            url = f"/iiif/{version}/p/{place}/{extent}/{'!' if mirrored else ''}{turn}/{quality}.png"
            answer = self.server.get(url)
            with self.subTest(url):
                if area is None or wanted is None:
                    self.assertEqual(answer.status, 400)
                    refused += 1
                    continue
                self.assertEqual(answer.status, 200, answer.body[:200])
                seen = Image.open(io.BytesIO(answer.body))
                sides = wanted if turn % 180 == 0 else wanted[::-1]
                for found, side in zip(seen.size, sides):
                    self.assertLessEqual(abs(found - side), 1, (seen.size, sides))
                found = seen.size if turn % 180 == 0 else seen.size[::-1]
                picture = self.expected(area, found, mirrored, turn)
                if quality == "bitonal":
                    self.assertEqual(seen.mode in ("1", "L"), True, seen.mode)
                    self.assertLessEqual(set(seen.convert("L").getdata()), {0, 255})
                elif quality == "gray":
                    self.assertEqual(seen.mode, "L")
                    if min(found) > 8:
                        # Of a dozen pixels a side more than of many: 9.9 at 10, 6.7 at 14, 2.4 at 100.
                        self.assertLess(difference(seen, gray(picture)), 8 if min(found) > 16 else 14)
                elif found == area[2:]:
                    self.assertEqual(seen.convert("RGB").tobytes(), picture.tobytes())
                    exact += 1
                elif min(found) > 8:
                    self.assertLess(difference(seen.convert("RGB"), picture), 6)
                    scaled += 1
                # The canonical URL of the answer is the same picture.
                canonical = answer["link"].split(">")[0].removeprefix("<http://127.0.0.1")
                self.assertEqual(self.server.get(canonical).body, answer.body, canonical)
        # A run that only refuses shows nothing.
        self.assertGreater(min(refused, exact, scaled), 20, (refused, exact, scaled))

    def test_every_announced_size_exists(self):
        for version in "23":
            info = json.loads(self.server.get(f"/iiif/{version}/p/info.json").body)
            limits = info if version == "3" else info["profile"][1]
            self.assertEqual(limits["maxArea"], AREA)
            self.assertGreater(len(info["sizes"]), 5)
            for reported in info["sizes"]:
                answer = self.server.get(f"/iiif/{version}/p/full/{reported['width']},{reported['height']}/0/default.jpg")
                self.assertEqual(answer.status, 200, reported)
                self.assertEqual(Image.open(io.BytesIO(answer.body)).size, (reported["width"], reported["height"]))
        with Server(self.library, "--max-pixels", 100_000) as small:
            info = json.loads(small.get("/iiif/3/p/info.json").body)
            self.assertLess(max(reported["width"] * reported["height"] for reported in info["sizes"]), 100_001)
            self.assertEqual(len(info["sizes"]), 10)
            self.assertEqual(small.get("/iiif/3/p/full/max/0/default.jpg").status, 200)
            self.assertEqual(small.get(f"/iiif/3/p/full/{WIDTH},/0/default.jpg").status, 400)


if __name__ == "__main__":
    unittest.main()
