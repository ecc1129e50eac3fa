"""Foreign archives, read-only: a tile is decoded by the decoder of its archive's format or by none, and at the size of its
position or not at all."""

import os
import struct
import subprocess
import unittest
import zipfile
import zlib
from pathlib import Path

from harness import CRASH, ROOT, CommandTest, Server, folder, photo, run
from preload import preloaded
from szi import archives

WIDTH, HEIGHT, LEVEL = 300, 200, 9
FIXTURES = ROOT / "Tests/Fixtures/hostile"
# What a picture of an archive is asked for by, without its id: off the grid, in another format, as a window.
ASKED = ["/iiif/3/{}/5,5,100,90/99,/0/default.jpg", "/iiif/2/{}/full/full/90/default.png", "/dzi/{}_files/9/0_0.gif",
         "/api/images/{}/viewport.jpg?width=200&height=100&scale=1", "/iiif/3/{}/full/max/0/gray.jpg"]


def made(name: str, *options: str) -> bytes:
    """A picture of the archive's size in any format that libvips writes."""
    path = folder("made") / name
    subprocess.run(["vips", "copy", photo(path.with_suffix(".v"), WIDTH, HEIGHT), f"{path}{''.join(options)}"], check=True,
                   capture_output=True)
    return path.read_bytes()


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new):]


class ForeignTiles(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("foreign")
        cls.source = photo(cls.base / "photo.png", WIDTH, HEIGHT)
        cls.calls = cls.base / "calls"
        cls.watched = {"LD_PRELOAD": preloaded(Path(__file__).with_name("uncommon.c")), "CALLS": str(cls.calls)}

    def archive(self, library: Path, name: str, tile: bytes, ending: str = "jpg"):
        """As `vips dzsave` writes it, with another tile of full resolution."""
        whole = self.base / f"whole-{ending}.szi"
        if not whole.exists():
            subprocess.run(["vips", "dzsave", self.source, whole, "--container", "szi", "--tile-size", "512", "--overlap", "0",
                            "--suffix", f".{ending}"], check=True, capture_output=True)
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(library / f"{name}.szi", "w") as new:
            for entry in old.namelist():
                data = old.read(entry)
                new.writestr(entry.replace(f"whole-{ending}", name), tile if entry.endswith(f"_files/{LEVEL}/0_0.{ending}") else data)

    def asked(self, server: Server, name: str) -> list[int]:
        answers = [server.get(path.format(name)) for path in ASKED]
        for answer in answers:
            self.assertNotRegex(answer.body.decode("latin-1") if answer.status != 200 else "", str(self.base))
        return [answer.status for answer in answers]

    def count(self) -> int:
        """How often one of the decoders was called so far."""
        return struct.unpack("Q", self.calls.read_bytes())[0] if self.calls.exists() else 0

    def pictures(self) -> dict[str, bytes]:
        svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"><rect width="90" height="90"/></svg>').encode()
        rows = bytes(WIDTH * HEIGHT * 3)
        bmp = (b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + len(rows), 0, 54, 40, WIDTH, HEIGHT, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows)
        return {
            "svg": svg, "svgz": zlib.compress(svg, wbits=31), "bmp": bmp, "ppm": b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + rows,
            "pdf": b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
                   b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj\ntrailer<</Root 1 0 R>>\n",
            "mvg": b"push graphic-context\nviewbox 0 0 300 200\nfill 'url(/etc/passwd)'\npop graphic-context\n",
            "msl": b'<?xml version="1.0"?><image><read filename="/etc/passwd"/></image>',
            "pcx": bytes([0x0a, 5, 1, 8]) + bytes(200), "psd": b"8BPS\0\1" + bytes(300), "ico": bytes([0, 0, 1, 0, 1, 0]) + bytes(200),
            "dicom": bytes(128) + b"DICM" + bytes(300), "jxl": (FIXTURES / "bomb-100mp.jxl").read_bytes(),
            "jp2": (FIXTURES / "crash-1.jp2").read_bytes(), "j2k": (FIXTURES / "crash-2.j2k").read_bytes(),
            "exr": bytes([0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0]) + bytes(300), "mat": b"MATLAB 5.0 MAT-file" + bytes(300),
            "text": b"This is a letter.\n" * 30, "v": bytes([0xb6, 0xa6, 0xf2, 0x08]) + bytes(5000),
        }

    def test_what_hardly_any_picture_needs_is_never_reached(self):
        # What is watched for is seen: a drawing of one's own is built, by the decoder of drawings.
        drawing = self.base / "drawing.svg"
        drawing.write_bytes(self.pictures()["svg"])
        self.assertEqual(run("build", drawing, "--library", self.base / "drawn", "--quiet", environment=self.watched).returncode, 0)
        before = self.count()
        self.assertGreater(before, 0)
        library = folder("library")
        names = []
        for kind, data in self.pictures().items():
            for ending in ("jpg", "png", "webp"):
                names.append(f"{kind}-{ending}")
                self.archive(library, names[-1], data, ending)
        environment = dict(os.environ)
        os.environ.update(self.watched)
        try:
            server = Server(library)
        finally:
            os.environ.clear()
            os.environ.update(environment)
        with server:
            for name in names:
                with self.subTest(name):
                    self.assertEqual(self.asked(server, name), [500] * len(ASKED))
                    self.assertEqual(self.count(), before)
            self.assertTrue(server.alive())
        for command in (["verify", library], ["export", library / "svg-jpg.szi", "--layout", "xyz", "--output", self.base / "out"],
                        ["reindex", library]):
            result = run(*command, environment=self.watched)
            self.assertEqual(result.returncode, 0 if command[0] == "reindex" else 1, result.stderr)
            self.assertEqual(self.count(), before, command)
            self.assertNotRegex(result.stdout + result.stderr, CRASH)

    def test_a_picture_of_another_format_is_reported(self):
        library = folder("library")
        others = {"gif": made("x.gif"), "tiff": made("x.tif"), "heic": made("x.heic"), **{e: made(f"x.{e}") for e in ("jpg", "png", "webp", "avif", "jxl")}}
        for kind, data in others.items():
            for ending in ("jpg", "png", "webp", "avif", "jxl"):
                self.archive(library, f"{kind}-{ending}", data, ending)
        with Server(library) as server:
            for path in archives(library):
                kind, ending = path.stem.split("-")
                with self.subTest(path.stem):
                    self.assertEqual(self.asked(server, path.stem), [200 if kind == ending else 500] * len(ASKED))
        result = run("verify", library)
        self.assertEqual(result.returncode, 1)
        defects = [line for line in result.stdout.splitlines() if " tile 9/0_0" in line]
        self.assertEqual(len(defects), 8 * 5 - 5, result.stdout)
        for line in defects:
            self.assertRegex(line, r"tile 9/0_0\.(jpg is no image/jpeg|png is no image/png|webp is no image/webp|avif is no image/avif|jxl is no image/jxl)$")

    def large(self) -> dict[str, tuple[bytes, str, str]]:
        """Tiles of some kilobytes, whole or not, that say they are vast; each with its ending and its size."""
        jpeg, png = made("x.jpg", "[Q=20]"), made("x.png")
        progressive = made("p.jpg", "[Q=20,interlace]")
        frames = [next(at for at in range(len(data)) if data[at] == 0xff and data[at + 1] == marker)
                  for data, marker in ((jpeg, 0xc0), (progressive, 0xc2))]
        header = b"IHDR" + struct.pack(">II", 20000, 20000) + png[24:29]
        avif, bomb = made("x.avif", "[Q=20]"), (FIXTURES / "bomb-100mp.avif").read_bytes()
        return {
            "jpeg": (patched(jpeg, frames[0] + 5, struct.pack(">HH", 20000, 20000)), "jpg", "20000×20000"),
            "progressive": (patched(progressive, frames[1] + 5, struct.pack(">HH", 20000, 20000)), "jpg", "20000×20000"),
            "png": (png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:], "png", "20000×20000"),
            "webp": ((FIXTURES / "bomb-256mp.webp").read_bytes(), "webp", "16000×16000"),
            "avif": (bomb, "avif", "10000×10000"),
            "jxl": ((FIXTURES / "bomb-100mp.jxl").read_bytes(), "jxl", "10000×10000"),
            "stated": (patched(avif, avif.index(b"ispe") + 8, struct.pack(">II", 12000, 12000)), "avif", "12000×12000"),
            # Its boxes say what its place wants; its data is what is decoded.
            "lying": (patched(bomb, bomb.index(b"ispe") + 8, struct.pack(">II", WIDTH, HEIGHT)), "avif", "10000×10000"),
        }

    def test_a_tile_of_another_size_costs_nothing(self):
        library = folder("library")
        for name, (data, ending, _) in self.large().items():
            self.archive(library, name, data, ending)
        self.archive(library, "good", made("x.jpg"))
        with Server(library) as server:
            def peak() -> int:
                status = Path(f"/proc/{server.process.pid}/status").read_text()
                return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
            self.assertEqual(self.asked(server, "good"), [200] * len(ASKED))
            before = peak()
            for name in self.large():
                with self.subTest(name):
                    self.assertEqual(self.asked(server, name), [500] * len(ASKED))
                    self.assertLess(peak() - before, 60_000, "kB")
        result = run("verify", library)
        self.assertEqual(result.returncode, 1)
        for name, (_, ending, size) in self.large().items():
            self.assertRegex(result.stdout, rf"{name}\.szi: tile 9/0_0\.{ending} has {size} pixels, not {WIDTH}×{HEIGHT}")
        # The same where a picture is made of it at once.
        result = run("export", library / "jpeg.szi", "--layout", "xyz", "--output", self.base / "large")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "20000×20000 pixels", f"not {WIDTH}×{HEIGHT}")

    def test_a_jpeg_xl_of_layers_is_none(self):
        """One of them may be larger than what they are put together to; nor has one part of a tile two sizes."""
        library = folder("library")
        layer, good = (FIXTURES / "layer-100mp.jxl").read_bytes(), made("x.jxl")
        for name, tile in {"layer": layer, "cut": good[:len(good) // 2], "good": good}.items():
            self.archive(library, name, tile, "jxl")
        with Server(library) as server:
            for path in archives(library):
                self.assertEqual(self.asked(server, path.stem), [200 if path.stem == "good" else 500] * len(ASKED), path.stem)
        result = run("verify", library)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"layer\.szi: tile 9/0_0\.jxl does not decode: it is more than one frame of its size")
        self.assertRegex(result.stdout, r"cut\.szi: tile 9/0_0\.jxl does not decode: it is damaged or cut short")

    def test_an_avif_of_several_pictures_is_none(self):
        """The picture of a grid has another size than its header declares."""
        library = folder("library")
        tile = made("x.avif")
        for kind in (b"grid", b"iovl", b"iden", b"hvc1"):
            self.archive(library, kind.decode(), patched(tile, tile.index(b"av01", tile.index(b"infe")), kind), "avif")
        with Server(library) as server:
            for path in archives(library):
                self.assertEqual(self.asked(server, path.stem), [500] * len(ASKED), path.stem)


if __name__ == "__main__":
    unittest.main()
