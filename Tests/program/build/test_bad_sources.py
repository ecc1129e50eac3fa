"""Bad sources: each failure one line with the file's name, exit code 1, and the rest of the work done."""

import os
import shutil
import stat
import unittest

from harness import BINARY, CommandTest, Server, folder, photo, run, scratch
from szi import archives, leftovers

NOBODY = 65534


def truncated(path, fraction):
    whole = photo(path.with_name(f"whole-{path.name}"), 900, 700)
    data = whole.read_bytes()
    whole.unlink()
    path.write_bytes(data[:int(len(data) * fraction)])


def whole_png():
    return photo(folder("whole") / "whole.png", 64, 64).read_bytes()


def flipped_header(path):
    photo(path, 64, 64)
    data = bytearray(path.read_bytes())
    data[4:24] = bytes(byte ^ 0x5A for byte in data[4:24])
    path.write_bytes(data)


def lying_png(path):
    """A header that promises 2^31-1 pixels each way, and no pixels."""
    import struct
    import zlib
    chunk = b"IHDR" + struct.pack(">IIBBBBB", 0x7FFFFFFF, 0x7FFFFFFF, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
                     + struct.pack(">I", zlib.crc32(chunk)) + struct.pack(">I", 0) + b"IEND\xaeB`\x82")


BAD = {
    "text.jpg": lambda path: path.write_text("This is not an image.\n" * 100),
    "empty.png": lambda path: path.touch(),
    "empty.jpg": lambda path: path.touch(),
    "zeros.tif": lambda path: path.write_bytes(bytes(100_000)),
    "head.jpg": lambda path: truncated(path, 0.01),
    "head.png": lambda path: path.write_bytes(whole_png()[:40]),
    "stub.jpg": lambda path: path.write_bytes(b"\xff\xd8\xff\xe0"),
    "flipped.png": flipped_header,
    "lying.png": lying_png,
    "loop.jpg": lambda path: path.symlink_to(path.name),
    "dangling.jpg": lambda path: path.symlink_to("nowhere.jpg"),
    "fifo.jpg": os.mkfifo,
}


class BadSources(CommandTest):
    def test_each_alone(self):
        for name, make in BAD.items():
            with self.subTest(name):
                base = folder("alone")
                make(base / name)
                result = run("build", base / name, "--library", base / "library", "--quiet", timeout=60)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertOneLine(result, name)
                self.assertEqual(list(base.glob("library/**/*.szi")), [])
                self.assertEqual(leftovers(base / "library"), [])

    def test_all_in_one_folder_beside_good_ones(self):
        base = folder("together")
        photos = base / "photos"
        photos.mkdir()
        for name, make in BAD.items():
            make(photos / name)
        for name in ("aaa.jpg", "mmm.png", "zzz.jpg"):
            photo(photos / name, 700, 600)
        result = run("build", photos, "--library", base / "library", "--quiet", timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual([path.stem for path in archives(base / "library")], ["aaa", "mmm", "zzz"])
        for path in archives(base / "library"):
            self.assertWhole(path)
        lines = result.stderr.splitlines()
        # A fifo or a broken link met in a folder may be passed over, as by any walk; images may not.
        for name in set(BAD) - {"fifo.jpg", "loop.jpg", "dangling.jpg"}:
            self.assertEqual(sum(name in line for line in lines), 1, f"{name} in:\n{result.stderr}")
        self.assertLessEqual(len(lines), len(BAD) + 1)
        self.assertEqual(leftovers(base / "library"), [])

    def test_devices(self):
        base = folder("devices")
        for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/stdin"):
            with self.subTest(device):
                result = run("build", device, "--library", base, "--quiet", timeout=20)
                self.assertIn(result.returncode, (1, 2))
                self.assertOneLine(result, device)
        self.assertEqual(archives(base), [])

    def test_sources_that_are_not_there(self):
        base = folder("absent")
        for source in (base / "nothing.jpg", base / "no" / "folder", base / "*.tif"):
            with self.subTest(source.name):
                result = run("build", source, "--library", base / "library", "--quiet")
                self.assertIn(result.returncode, (1, 2))
                self.assertOneLine(result, source.name)

    def test_a_folder_that_holds_itself(self):
        base = folder("loops")
        photo(base / "photos/one.jpg", 300, 200)
        photo(base / "photos/deep/two.jpg", 300, 200)
        (base / "photos/deep/up").symlink_to("..")
        (base / "photos/self").symlink_to(".")
        (base / "photos/a").symlink_to("b")
        (base / "photos/b").symlink_to("a")
        result = run("build", base / "photos", "--library", base / "library", "--quiet", timeout=60)
        self.assertIn(result.returncode, (0, 1))
        self.assertNotRegex(result.stderr, r"Fatal|Crash")
        self.assertLessEqual(len(result.stderr.splitlines()), 4, result.stderr)
        names = [str(path.relative_to(base / "library")) for path in archives(base / "library")]
        self.assertEqual([name for name in names if "/up/" not in name and not name.startswith("self")],
                         ["deep/two.szi", "one.szi"])
        self.assertLessEqual(len(names), 6, names)

    def test_what_no_library_would_show_is_not_built(self):
        base = folder("unseen")
        photo(base / "pictures/~/x.jpg", 60, 50)
        photo(base / "pictures/seen.jpg", 60, 50)
        result = run("build", base / "pictures", "--library", base / "library")
        self.assertEqual(result.returncode, 1)
        self.assertIn("would be called '~/x', as no image can be", result.stderr)
        self.assertEqual([path.name for path in archives(base / "library")], ["seen.szi"])

    def assertOnePageAnd(self, reason, base):
        result = run("build", base / "scans", "--book", "--library", base / "library")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(reason, result.stderr)
        self.assertEqual(len(archives(base / "library")), 1)

    def test_pages_with_names_that_differ_only_in_unicode_form(self):
        base = folder("composed")
        for name in ("e\u0301", "\u00e9"):
            photo(base / f"scans/b/{name}.jpg", 60, 50)
        self.assertOnePageAnd("has the same id", base)

    def test_a_description_of_a_book_that_is_no_file(self):
        base = folder("pipe")
        photo(base / "scans/b/1.jpg", 60, 50)
        os.mkfifo(base / "scans/b/book.json")
        self.assertOnePageAnd("book.json: is not a file that can be read", base)

    def test_unreadable_files_and_folders(self):
        base = folder("modes")
        photo(base / "photos/good.jpg", 300, 200)
        photo(base / "photos/locked.jpg", 300, 200).chmod(0)
        photo(base / "photos/vault/inside.jpg", 300, 200)
        (base / "photos/vault").chmod(0)
        self.addCleanup((base / "photos/vault").chmod, 0o755)
        (base / "library").mkdir()
        options = {}
        if os.geteuid() == 0:  # Modes do not bind root: run as nobody, from a place nobody can reach.
            binary = scratch() / "ziggurat"
            shutil.copy(BINARY, binary)
            binary.chmod(0o755)
            os.chown(base / "library", NOBODY, NOBODY)
            base.chmod(0o755)
            options = {"binary": binary, "user": NOBODY, "group": NOBODY, "extra_groups": []}
        result = run("build", base / "photos", "--library", base / "library", "--quiet", **options)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual([path.stem for path in archives(base / "library")], ["good"])
        lines = result.stderr.splitlines()
        for name in ("locked.jpg", "vault"):
            self.assertEqual(sum(name in line for line in lines), 1, result.stderr)
        self.assertEqual(len(lines), 2, result.stderr)


class SharedIds(CommandTest):
    def test_one_name_two_extensions(self):
        base = folder("same")
        photo(base / "photos/twin.jpg", 300, 200)
        photo(base / "photos/twin.png", 400, 300)
        photo(base / "photos/other.jpg", 200, 200)
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path.name for path in archives(base / "library")],
                         ["other.szi", "twin.jpg.szi", "twin.png.szi"])
        with Server(base / "library") as server:
            self.assertIn(b'"width":300', server.get("/api/images/twin.jpg").body.replace(b" ", b""))
            self.assertIn(b'"width":400', server.get("/api/images/twin.png").body.replace(b" ", b""))
            self.assertEqual(server.get("/dzi/twin.png.dzi").status, 200)

    def test_one_id_from_two_sources(self):
        """Nothing distinguishes them: rejected or reported, and never one silently over the other."""
        base = folder("clash")
        photo(base / "one/same.jpg", 300, 200)
        photo(base / "two/same.jpg", 400, 300)
        photo(base / "two/free.jpg", 200, 200)
        result = run("build", base / "one", base / "two", "--library", base / "library", "--quiet")
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertOneLine(result, "same")
        if result.returncode == 1:  # The rest of the work is done.
            self.assertIn("free", [path.stem for path in archives(base / "library")])
        for path in archives(base / "library"):
            self.assertWhole(path)

    def test_the_same_source_named_twice_is_one(self):
        base = folder("twice")
        one = photo(base / "photos/one.jpg", 300, 200)
        result = run("build", one, one, base / "photos", "--library", base / "library", "--quiet")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual([path.name for path in archives(base / "library")], ["one.szi"])


class DeviceFiles(CommandTest):
    @unittest.skipUnless(os.geteuid() == 0, "only root makes device files")
    def test_a_device_file_in_a_folder(self):
        base = folder("nodes")
        photo(base / "photos/good.jpg", 300, 200)
        try:
            os.mknod(base / "photos/zero.jpg", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            self.skipTest("this container may not make device files")
        result = run("build", base / "photos", "--library", base / "library", "--quiet", timeout=60)
        self.assertIn(result.returncode, (0, 1))
        self.assertEqual([path.stem for path in archives(base / "library")], ["good"])
        self.assertLessEqual(len(result.stderr.splitlines()), 1)
