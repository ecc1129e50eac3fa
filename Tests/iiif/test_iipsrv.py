"""IIP against Debian's iipsrv: the same pictures, the same requests; how large the answers are, and what they show.

iipsrv's pictures are pyramids as `vips tiffsave` writes them, whose levels are halved rounding down, while stored levels
round up: a tile at the right or lower edge may show one column or row of pixels more than iipsrv's.
"""

import io
import math
import os
import socket
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import Server, ServerTest, folder, photo, run, seed  # noqa: E402

IIPSRV = "/usr/lib/iipimage-server/iipsrv.fcgi"
SIDE = 256
# Sides that are, and are not, multiples of tiles and of two; beyond a tile by a pixel; flat and steep.
SIZES = [(1501, 1003), (1024, 768), (257, 256), (513, 300), (1025, 2049), (2047, 511), (200, 90), (3000, 17)]
# Pixels along a side that both servers answer whole.
LARGEST = 8000
OBJECTS = ["IIP,1.0", "Max-size", "Tile-size", "Resolution-number", "Resolutions", "Basic-info", "IIP-server", "Colorspace",
           "colorspace,0-2,0", "Horizontal-views", "Vertical-views", "Bits-per-channel"]


class IIPServer:
    """iipsrv, asked by FastCGI (its specification 1.0)."""

    def __init__(self, pictures: Path):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.address = one.getsockname()
        environment = {**os.environ, "FILESYSTEM_PREFIX": f"{pictures}/", "JPEG_QUALITY": "90", "MAX_CVT": "20000",
                       "VERBOSITY": "0", "LOGFILE": "/dev/null", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen([IIPSRV, "--bind", "%s:%d" % self.address, "--backlog", "64"], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(self.address, timeout=5).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("iipsrv does not listen")

    def get(self, query: str) -> tuple[int, bytes]:
        """The status, and the body without what iipsrv leaves of its head in front of it."""
        parameters = b"".join(
            bytes([len(name)]) + struct.pack(">I", len(value) | 1 << 31) + name.encode() + value.encode()
            for name, value in {"QUERY_STRING": query, "REQUEST_METHOD": "GET", "REQUEST_URI": "/iip?" + query,
                                "HTTP_HOST": "host", "SERVER_PROTOCOL": "HTTP/1.1"}.items())
        with socket.create_connection(self.address, timeout=60) as connection, connection.makefile("rb") as stream:
            for kind, data in ((1, struct.pack(">HB5x", 1, 0)), (4, parameters), (4, b""), (5, b"")):
                connection.sendall(struct.pack(">BBHHBx", 1, kind, 1, len(data), 0) + data)
            answer, kind = b"", 0
            while kind != 3 and len(head := stream.read(8)) == 8:
                kind, count, padding = struct.unpack(">xBxxHBx", head)
                data = stream.read(count + padding)[:count]
                answer += data if kind == 6 else b""
        head, _, body = answer.partition(b"\r\n\r\n")
        status = [line.split()[1] for line in head.decode("latin-1").splitlines() if line.startswith("Status:")]
        return int(status[0]) if status else 200, body.removeprefix(b"\r\n")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("L")


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean of the absolute differences of lightness, of 255, within what both show."""
    box = (0, 0, min(one.width, other.width), min(one.height, other.height))
    a, b = (numpy.asarray(picture.crop(box), numpy.float64) for picture in (one, other))
    return float(numpy.abs(a - b).mean())


class Iipsrv(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("iipsrv")
        (base / "pyramids").mkdir()
        for width, height in SIZES:
            picture = photo(base / f"photos/{width}x{height}.png", width, height, left=900, top=400)
            # Averaged as stored levels are, nearly lossless: what differs is what is asked.
            subprocess.run(["vips", "tiffsave", picture, base / f"pyramids/{width}x{height}.tif", "--tile", "--pyramid",
                            "--compression", "deflate", "--tile-width", str(SIDE), "--tile-height", str(SIDE)], check=True)
        result = run("build", base / "photos", "--library", base / "library", "--tile-size", SIDE, "--quality", 90, "--quiet")
        assert result.returncode == 0, result.stderr
        cls.server, cls.reference = Server(base / "library"), IIPServer(base / "pyramids")
        cls.addClassCleanup(cls.reference.stop)

    def both(self, size: tuple[int, int], commands: str) -> tuple[tuple[int, bytes], tuple[int, bytes]]:
        """Our answer, and iipsrv's; with the name of the file as it is there, which finds our image, too."""
        query = f"FIF={size[0]}x{size[1]}.tif&{commands}"
        answer = self.server.get("/iip?" + query)
        return (answer.status, answer.body), self.reference.get(query)

    def resolutions(self, size: tuple[int, int]) -> list[tuple[int, int]]:
        line = self.reference.get(f"FIF={size[0]}x{size[1]}.tif&OBJ=Resolutions")[1].decode()
        return [tuple(map(int, part.split())) for part in line.strip().removeprefix("Resolutions:").split(",")]

    def test_objects_are_reported_in_the_same_form(self):
        chance = seed("objects", 1)
        for size in SIZES:
            for objects in [[name] for name in OBJECTS] + [["IIP,1.0", *chance.sample(OBJECTS[1:], 5)] for _ in range(5)]:
                commands = "&".join(chance.choice(["OBJ=", "obj="]) + chance.choice([name, name.upper()]) for name in objects)
                with self.subTest(size=size, commands=commands):
                    ours, theirs = self.both(size, commands)
                    self.assertEqual(ours, theirs)

    def test_every_tile_is_there_and_shows_the_same(self):
        extra, worst = 0, 0.0
        for size in SIZES:
            for resolution, (width, height) in enumerate(self.resolutions(size)):
                count = -(-width // SIDE) * -(-height // SIDE)
                for number in range(count + 1):
                    with self.subTest(size=size, resolution=resolution, number=number):
                        (status, ours), (expected, theirs) = self.both(size, f"JTL={resolution},{number}")
                        self.assertEqual((status, number < count), (expected, expected == 200))
                        if status != 200:
                            continue
                        ours, theirs = decoded(ours), decoded(theirs)
                        self.assertIn(ours.width - theirs.width, (0, 1))
                        self.assertIn(ours.height - theirs.height, (0, 1))
                        extra += ours.size != theirs.size
                        # Both are halved by averages; levels of an odd side are a little shifted and stretched.
                        apart = difference(ours, theirs)
                        worst = max(worst, apart)
                        self.assertLess(apart, 3)
            answer = self.both(size, f"JTL={len(self.resolutions(size))},0")
            self.assertEqual([status for status, _ in answer], [404, 404])
        print(f"[{extra} tiles with a row or column more; mean difference at most {worst:.2f}] ", end="")

    def drawn(self, chance) -> tuple[tuple[int, int], tuple[float, ...], int, int]:
        """A picture, a region of it in parts of its sides, and a box in pixels, 0 where a side is open.

        Only what is within the limits of both servers: beyond them each bounds an answer in its own way."""
        while True:
            size = chance.choice([size for size in SIZES if min(size) > 80])
            region = (0.0, 0.0, 1.0, 1.0)
            if chance.random() < 0.7:
                region = tuple(round(part, 4) for part in (
                    chance.uniform(0, 0.7), chance.uniform(0, 0.7), chance.uniform(0.1, 1), chance.uniform(0.1, 1)))
            width, height = chance.choice([(0, 0), (1, 0), (0, 1), (1, 1)])
            width, height = width * chance.randint(24, 1400), height * chance.randint(24, 1400)
            box = [side or math.inf for side in ((width, height) if width or height else size)]
            across = [min(region[2 + side], 1 - region[side]) * size[side] for side in (0, 1)]
            if max(across) * min(box[0] / across[0], box[1] / across[1]) <= LARGEST:
                return size, region, width, height

    def test_pictures_are_as_large_and_show_the_same(self):
        chance, exact, worst = seed("pictures", 1), 0, 0.0
        for _ in range(300):
            size, region, width, height = self.drawn(chance)
            commands = [f"WID={width}"] * (width > 0) + [f"HEI={height}"] * (height > 0)
            commands += ["RGN=" + ",".join(map(str, region))] * (region != (0, 0, 1, 1))
            chance.shuffle(commands)
            with self.subTest(size=size, commands=commands):
                (status, ours), (expected, theirs) = self.both(size, "&".join([*commands, "CVT=jpeg"]))
                self.assertEqual((status, expected), (200, 200))
                ours, theirs = decoded(ours), decoded(theirs)
                # iipsrv takes the proportions of the region in whole pixels of one of its levels, the same or twice
                # as large as the answer; each of these sides may be a pixel off.
                across = min(region[2], 1 - region[0]) * size[0]
                down = min(region[3], 1 - region[1]) * size[1]
                slack = 1.5 * (1 / min(across, ours.width) + 1 / min(down, ours.height))
                for one, other in zip(ours.size, theirs.size):
                    self.assertLessEqual(abs(one - other), 1 + slack * one, (ours.size, theirs.size))
                exact += ours.size == theirs.size
                # Bilinear there, of areas here: what is much smaller than iipsrv's smallest resolution looks different.
                if min(ours.size) < 100:
                    continue
                shown = 64, 64
                apart = difference(*(picture.resize(shown, Image.Resampling.BOX) for picture in (ours, theirs)))
                worst = max(worst, apart)
                self.assertLess(apart, 8)
        print(f"[{exact} of 300 of the very same size; mean difference at most {worst:.2f}] ", end="")

    def test_refusals_have_the_same_status(self):
        for commands in ["JTL=0,99", "JTL=9,0", "OBJ=nothing", "OBJ=", "x=1"]:
            with self.subTest(commands):
                (status, ours), (expected, _) = self.both(SIZES[0], commands)
                self.assertEqual(status, expected)
                self.assertNotIn(b"/", ours)
        self.assertEqual(self.server.get("/iip?FIF=none.tif&OBJ=Max-size").status, 404)
        self.assertEqual(self.reference.get("FIF=none.tif&OBJ=Max-size")[0], 404)

    def test_the_forms_of_other_protocols_are_there(self):
        for form, name in [("DeepZoom={}.dzi", b"<Image"), ("Zoomify={}/ImageProperties.xml", b"<IMAGE_PROPERTIES"),
                           ("IIIF={}/info.json", b"http://iiif.io/api/image")]:
            query = form.format("1501x1003.tif")
            answer, (status, body) = self.server.get("/iip?" + query), self.reference.get(query)
            self.assertEqual((answer.status, status), (200, 200), query)
            for text in (answer.body, body):
                self.assertTrue(name in text and b"1501" in text and b"1003" in text, (query, text))
        for form in ["DeepZoom={}_files/11/3_2.jpg", "DeepZoom={}_files/10/1_1.jpg", "Zoomify={}/TileGroup0/3-3-2.jpg",
                     "IIIF={}/256,512,512,256/256,128/0/default.jpg", "IIIF={}/full/300,/0/default.jpg"]:
            query = form.format("1501x1003.tif")
            answer, (status, body) = self.server.get("/iip?" + query), self.reference.get(query)
            self.assertEqual((answer.status, status), (200, 200), query)
            ours, theirs = decoded(answer.body), decoded(body)
            self.assertLessEqual(max(abs(a - b) for a, b in zip(ours.size, theirs.size)), 1, query)
            self.assertLess(difference(ours, theirs), 8, query)


if __name__ == "__main__":
    unittest.main()
