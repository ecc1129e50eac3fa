"""Untrusted uploads: files that are no images, that declare too many pixels, names and folders that try paths."""

import contextlib
import json
import struct
import subprocess
import unittest
import zlib
from pathlib import Path

from harness import folder, photo, seed
from szi import archives
from upload_client import Client, rest_of, serve


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int) -> bytes:
    """A PNG that promises so many pixels and holds at most 100,000 bytes of them."""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b""))


class UntrustedContent(unittest.TestCase):
    def setUp(self):
        self.library = folder("library")
        self.server = serve(self.library, "--max-upload-megapixels", 50)
        self.client = Client(self.server)
        self.addCleanup(lambda: self.server.stop())

    def test_files_that_are_no_images_by_any_name(self):
        for data in (b"<svg xmlns='http://www.w3.org/2000/svg'/>" + bytes(200), b"%PDF-1.7\n" + bytes(200), b"hello " * 50,
                     b"GIF", b"#!/bin/sh\n" + bytes(100), b"PK\x03\x04" + bytes(100), b"\x7fELF" + bytes(100), b"BM" + bytes(100), b"x"):
            with self.subTest(data[:10]):
                answer, path = self.client.send(data, filename="photo.jpg")
                self.assertEqual(answer.status, 415)
                self.assertEqual(self.client.state(path)["status"], "failed")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))

    def test_what_only_begins_like_one(self):
        chance = seed("hollow")
        whole = photo(folder("photos") / "hollow.jpg", 900, 700).read_bytes()
        for data in (b"\xff\xd8\xff" + chance.randbytes(5000), b"\x89PNG\r\n\x1a\n" + chance.randbytes(5000),
                     b"II*\0" + chance.randbytes(5000), b"GIF89a" + chance.randbytes(5000), whole[:200]):
            answer, path = self.client.send(data, filename="photo.jpg")
            self.assertEqual(answer.status, 204)
            state = self.client.end(path)
            self.assertEqual(state["status"], "failed", state)
            self.assertTrue(state["message"])
            self.assertNotIn(str(self.library), json.dumps(state))
        self.assertEqual((rest_of(self.library), archives(self.library), self.client.images()), ([], [], set()))

    def test_reasons_keep_their_text_if_the_library_is_served_by_a_short_name(self):
        library = folder("short")
        with contextlib.chdir(library):
            server = serve(Path("."))
        self.addCleanup(server.stop)
        client = Client(server)
        _, path = client.send(b"\0\0\0\x20ftypavif\0\0\0\0avifmif1" + bytes(3000), filename="broken.avif")
        reason = client.end(path)["message"]
        self.assertIn("box", reason)
        self.assertNotIn("…", reason)

    def assertRefused(self, data: bytes, name: str):
        _, path = self.client.send(data, filename=name)
        state = self.client.end(path)
        self.assertEqual((state["status"], bool(state["message"])), ("failed", True), state)
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        self.assertLess(peak, 700_000, f"kB of memory after {name}")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))

    def test_pictures_that_promise_more_pixels_than_they_hold(self):
        for width, height in ((60_000, 60_000), (2_000_000, 30), (2_147_483_647, 2_147_483_647)):
            self.assertRefused(png(width, height), f"{width}.png")

    def test_small_files_of_many_pixels(self):
        """As small as their formats can make them, and whole: 400 megapixels of one colour, where 50 may come."""
        base = folder("bombs")
        subprocess.run(["vips", "black", base / "black.v", "20000", "20000"], check=True)
        for name in ("x.png[compression=9]", "x.tif[compression=deflate,tile]", "x.jpg[Q=10]"):
            path = base / name.split("[")[0]
            subprocess.run(["vips", "copy", base / "black.v", base / name], check=True)
            self.assertLess(path.stat().st_size, 5 << 20)
            self.assertRefused(path.read_bytes(), path.name)

    def test_small_files_of_many_pages(self):
        """Each page is within the limit, all together are not."""
        base = folder("bombs")
        subprocess.run(["vips", "black", base / "black.v", "1000", "300000"], check=True)
        subprocess.run(["vips", "copy", base / "black.v", f"{base}/x.tif[compression=deflate,page-height=1000]"], check=True)
        self.assertRefused((base / "x.tif").read_bytes(), "x.tif")
        for side, frames in ((50_000, 1), (1000, 2000)):
            size = struct.pack("<HH", side, side)
            frame = b"\x2c\0\0\0\0" + size + b"\0\x02\x02\x44\x01\0"
            self.assertRefused(b"GIF89a" + size + b"\x80\0\0\0\0\0\xff\xff\xff" + frame * frames + b";", f"{frames}.gif")

    def test_metadata_and_profiles_that_unpack_to_gigabytes(self):
        """The picture is small; what is packed beside it is left packed, or refused."""
        packer = zlib.compressobj(9)
        zeros = b"".join([packer.compress(bytes(1 << 20)) for _ in range(1024)] + [packer.flush()])
        whole = png(64, 48)
        header, rest = whole[:33], whole[33:]
        for name, data in ((b"iCCP", b"icc\0\0" + zeros), (b"zTXt", b"Comment\0\0" + zeros),
                           (b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zeros)):
            with self.subTest(name):
                _, path = self.client.send(header + chunk(name, data) + rest, filename=f"{name.decode()}.png")
                self.assertIn(self.client.end(path)["status"], ("done", "failed"))
                status = Path(f"/proc/{self.server.process.pid}/status").read_text()
                peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
                self.assertLess(peak, 700_000, f"kB of memory after {name.decode()}")
                self.assertTrue(self.server.alive())

    def test_what_libvips_holds_for_unproven_is_taken_where_it_is_common(self):
        """JPEG 2000 and JPEG XL alone: a later file in the same process is recognized by its content as before."""
        base = folder("uncommon")
        for name in ("x.jp2", "x.jxl"):
            data = photo(base / name, 300, 200).read_bytes()
            _, path = self.client.send(data, filename=name)
            self.assertEqual(self.client.end(path)["status"], "done")
        # It begins as JPEG XL does, and ImageMagick, where it is asked, finds DICOM in it.
        _, path = self.client.send(b"\xff\x0a" + bytes(126) + b"DICM" + bytes(2000), filename="y.jxl")
        self.assertEqual(self.client.end(path)["status"], "failed")

    def test_names_that_try_paths(self):
        names = ["../../escape.jpg", "/etc/passwd.jpg", "..\\..\\windows.jpg", "....//x.jpg", ".hidden.jpg", "a\0b.jpg", "a\nb.jpg",
                 "\u202egpj.exe", "..", ".", "", "/", "~/secret.jpg", "x" * 5000 + ".jpg", "é" * 3000, "con.jpg", "a/b/c.jpg",
                 "%2e%2e%2fx.jpg", "-rf.jpg", "<script>alert(1)</script>.jpg", "'; DROP TABLE image; --.jpg", "x.szi", ".record"]
        data = photo(folder("photos") / "small.jpg", 64, 48).read_bytes()
        outside = sorted(self.library.parent.iterdir())
        for number, name in enumerate(names):
            with self.subTest(name[:40]):
                # Each another picture: bytes behind the end of a JPEG are nothing.
                answer, path = self.client.send(data + bytes([number]), filename=name)
                self.assertEqual(answer.status, 204)
                state = self.client.end(path)
                self.assertEqual(state["status"], "done", state)
                self.assertTrue((self.library / (state["image"] + ".szi")).is_file())
                self.assertNotRegex(state["image"], r"[/\\\x00-\x1f\u202e]|^[.~]")
                self.assertLess(len(state["image"].encode()), 200)
        self.assertEqual(sorted(self.library.parent.iterdir()), outside)
        for path in self.library.rglob("*"):
            self.assertIn(self.library.resolve(), path.resolve().parents)
        self.assertEqual(len(self.client.images()), len(names))

    def test_folders_that_are_none(self):
        for name in ("..", "a/../b", "/a", "a/", "a//b", ".a", "a/.b", "~", "~a", "a\\b", "a\0", "a\nb", "x" * 200, "a/" * 30 + "a", " a"):
            with self.subTest(name[:30]):
                self.assertEqual(self.client.create(100, filename="x.jpg", folder=name).status, 400)
        self.assertEqual(self.client.create(100, filename=b"\xff\xfe").status, 400)
        self.assertEqual(self.client.create(100, filename="x.jpg", folder="~/a").status, 403, "no space is open")


if __name__ == "__main__":
    unittest.main()
