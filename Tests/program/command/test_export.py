"""`export`: into which folders it writes, on a full disk, and from archives that lie."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zipfile

from harness import BINARY, CommandTest, folder, photo, run

LAYOUTS = ("dz", "zoomify", "xyz", "iiif3")


def tree(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


class Exports(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("export")
        photo(cls.base / "picture.jpg", 1100, 700)
        result = run("build", cls.base / "picture.jpg", "--library", cls.base, "--tile-size", "256", "--quiet")
        assert result.returncode == 0, result.stderr
        cls.archive = cls.base / "picture.szi"

    def export(self, output, *options, archive=None, layout="dz", **how):
        return run("export", archive or self.archive, "--layout", layout, "--output", output, *options, **how)


class Places(Exports):
    def test_an_empty_folder_is_filled(self):
        for layout in LAYOUTS:
            with self.subTest(layout):
                base = folder("places")
                self.assertEqual(self.export(base / "new", layout=layout).returncode, 0)
                (base / "empty").mkdir(mode=0o750)
                inode = (base / "empty").stat().st_ino
                result = self.export(base / "empty", layout=layout)
                self.assertEqual((result.returncode, tree(base / "empty")), (0, tree(base / "new")), result.stderr)
                # The folder stays the one that it was: it may be mounted, or somebody's working directory.
                self.assertEqual((base / "empty").stat().st_ino, inode)
                self.assertEqual((base / "empty").stat().st_mode & 0o777, 0o750)
                self.assertEqual(sorted(os.listdir(base)), ["empty", "new"])

    def test_an_example_address_is_reported(self):
        for options, isReported in ((), True), (("--base-url", "https://example.org/photo"), False):
            result = run("export", self.archive, "--layout", "iiif3", "--output", self.base / f"iiif-{isReported}", *options)
            self.assertEqual((result.returncode, "only with --base-url" in result.stderr), (0, isReported), result.stderr)

    def test_the_working_directory_and_a_link(self):
        base = folder("places")
        (base / "here").mkdir()
        self.assertEqual(self.export(".", cwd=base / "here").returncode, 0)
        (base / "there").mkdir()
        (base / "link").symlink_to("there")
        self.assertEqual(self.export(base / "link").returncode, 0)
        self.assertTrue((base / "link").is_symlink())
        self.assertEqual(tree(base / "here"), tree(base / "there"))

    def test_a_folder_with_something_in_it_is_refused_and_left_alone(self):
        base = folder("places")
        for name in ("mine.txt", ".hidden"):
            with self.subTest(name):
                place = base / name.strip(".")
                place.mkdir()
                (place / name).write_text("mine")
                for output in (place, place / name):
                    result = self.export(output)
                    self.assertEqual(result.returncode, 1)
                    self.assertOneLine(result, "something of that name is there", str(output))
                self.assertEqual(tree(place), [name])
        for name in ("mine.txt", ".hidden"):
            place = base / name.strip(".")
            result = self.export(place, "--force")
            self.assertEqual(result.returncode, 1)
            self.assertOneLine(result, f"no export wrote {place / name}")
            self.assertEqual(tree(place), [name])

    def test_force_replaces_only_what_an_export_wrote(self):
        base = folder("force")
        for layout in LAYOUTS:
            with self.subTest(layout):
                place = base / layout
                self.assertEqual(self.export(place, layout=layout).returncode, 0)
                before = tree(place)
                for other in LAYOUTS:
                    self.assertEqual(self.export(place, "--force", layout=other).returncode, 0)
                    self.assertEqual(self.export(place, "--force", layout=layout).returncode, 0)
                self.assertEqual(tree(place), before)
                # A file of somebody's anywhere in it.
                folders = [place, *(path for path in place.rglob("*") if path.is_dir())]
                for where in folders[:4] + folders[-2:]:
                    for name in ("notes.txt", "photo.jpg"):
                        (where / name).write_text("mine")
                        result = self.export(place, "--force", layout=layout)
                        self.assertEqual(result.returncode, 1, where)
                        self.assertOneLine(result, f"no export wrote {where / name}")
                        self.assertEqual((where / name).read_text(), "mine")
                        (where / name).unlink()
                self.assertEqual(tree(place), before)

    def test_force_replaces_no_file_and_no_source(self):
        base = folder("force")
        copy = base / "copy.szi"
        shutil.copyfile(self.archive, copy)
        (base / "letter.txt").write_text("mine")
        for output in (copy, base / "letter.txt"):
            content = output.read_bytes()
            result = self.export(output, "--force", archive=copy)
            self.assertEqual(result.returncode, 1)
            self.assertOneLine(result, "it is a file", str(output))
            self.assertEqual(output.read_bytes(), content)
        # A Deep Zoom folder is an archive, too, and an export at the same time.
        place = base / "loose"
        self.assertEqual(self.export(place).returncode, 0)
        before = tree(place)
        result = self.export(place, "--force", archive=place / "picture.dzi", layout="xyz")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "the archive that is exported is in it", str(place / "picture.dzi"))
        self.assertEqual(tree(place), before)


class Several(Exports):
    def setUp(self):
        self.place = folder("several")
        photo(self.place / "photos/deep/a b.jpg", 300, 200)
        photo(self.place / "photos/c.png", 90, 50)
        result = run("build", self.place / "photos", "--library", self.place / "library", "--tile-size", "128", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_library_is_a_folder_for_each_image(self):
        for layout in LAYOUTS:
            with self.subTest(layout):
                output = self.place / layout
                result = run("export", self.place / "library", "--layout", layout, "--output", f"{output}/", "--base-url", "https://example.org/t/")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stderr.splitlines()[-1], "2 images exported")
                for id, part in (("deep/a b", "deep/a%20b"), ("c", "c")):
                    alone = folder("alone") / "x"
                    self.assertEqual(self.export(alone, "--base-url", f"https://example.org/t/{part}", layout=layout,
                                                 archive=self.place / f"library/{id}.szi").returncode, 0)
                    self.assertEqual(tree(output / id), tree(alone))
                    for name in tree(alone):
                        if (alone / name).is_file():
                            self.assertEqual((output / id / name).read_bytes(), (alone / name).read_bytes(), name)
                self.assertEqual(sorted(os.listdir(output)), ["c", "deep"])

    def test_an_export_beside_its_archive_is_reported(self):
        library = self.place / "library"
        run("reindex", "--library", library)
        result = run("export", library / "c.szi", "--layout", "dz", "--output", library / "tiles", check=True)
        self.assertIn(f"is in the library {library}", result.stderr)
        self.assertIn("c.dzi", tree(library / "tiles"))

    def test_several_archives_and_what_is_in_the_way(self):
        output = self.place / "out"
        (output / "c").mkdir(parents=True)
        (output / "c/mine").write_text("mine")
        arguments = ("export", self.archive, self.place / "library/c.szi", "--layout", "dz", "--output", output)
        result = run(*arguments)
        self.assertEqual(result.returncode, 1)
        self.assertIn("something of that name is there", result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], "1 image exported, 1 failed")
        self.assertEqual(tree(output / "c"), ["mine"])
        self.assertIn("picture.dzi", tree(output / "picture"))
        result = run(*arguments, "--force", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, f"no export wrote {output / 'c/mine'}")
        (output / "c/mine").unlink()
        result = run(*arguments, "--force", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("c.dzi", tree(output / "c"))

    def test_force_replaces_no_archive(self):
        library = self.place / "library"
        before = tree(library)
        for output in (library, library / "deep", library / "deep/new", self.place):
            # Beside the library a folder for each image is nobody's loss, nor is a new folder for one within it.
            allowed = {self.place: library, library / "deep/new": library / "c.szi"}.get(output)
            for what in {library, library / "c.szi"} - {allowed}:
                result = run("export", what, "--layout", "xyz", "--output", output, "--force")
                self.assertEqual(result.returncode, 1, output)
                self.assertIn(f"{output}", result.stderr)
        # Moved elsewhere without its catalog.
        moved = self.place / "moved/c"
        shutil.copytree(library / "deep", moved)
        result = run("export", library, "--layout", "dz", "--output", self.place / "moved", "--force")
        self.assertEqual(result.returncode, 1)
        self.assertIn("an archive is in it", result.stderr)
        self.assertEqual((tree(library), tree(moved)), (before, ["a b.szi"]))

    def test_an_image_that_has_the_name_of_tiles_of_another_is_refused_before_anything_is_written(self):
        for layout, clashes, free in (
                ("dz", ["c_files", "c.dzi"], ["d_files", "c"]), ("zoomify", ["TileGroup0", "ImageProperties.xml"], ["TileGroup1"]),
                ("xyz", ["0/inner", "1", "tilejson.json"], ["9", "01"]), ("iiif3", ["full", "0,0,128,128"], ["1"])):
            place = folder("nested")
            photo(place / "photos/c.jpg", 300, 200)
            for part in clashes + free:
                photo(place / f"photos/c/{part}.jpg", 60, 50)
            library, output = place / "library", place / "tiles"
            self.assertEqual(run("build", place / "photos", "--library", library, "--tile-size", "128", "--quiet").returncode, 0)
            alone = place / "alone"
            self.assertEqual(self.export(alone, layout=layout, archive=library / "c.szi").returncode, 0)
            for options in ((), ("--force",)):
                with self.subTest(layout, options=options):
                    result = run("export", library, "--layout", layout, "--output", output, "--quiet", *options)
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertEqual(sorted(result.stderr.splitlines()), sorted(
                        f"ziggurat: cannot export {library}/c/{name}.szi: {output}/c/{name.split('/')[0]} has a file or folder of the layout "
                        f"{layout} of {library}/c.szi; export one of the two alone, to another folder" for name in clashes))
                    # All others are there.
                    written = tree(output / "c")
                    self.assertEqual([name for name in written if name.split("/")[0] not in free], tree(alone))
                    self.assertEqual({name.split("/")[0] for name in written} & set(free), set(free))
                    for name in tree(alone):
                        if (alone / name).is_file():
                            self.assertEqual((output / "c" / name).read_bytes(), (alone / name).read_bytes(), name)

    def test_two_of_one_name_and_none(self):
        result = run("export", self.place / "library", self.place / "library/c.szi", self.place / "photos/c.szi",
                     "--layout", "dz", "--output", self.place / "out", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "is called 'c', too")
        self.assertEqual(sorted(os.listdir(self.place / "out")), ["c", "deep"])
        result = run("export", self.place / "photos", "--layout", "dz", "--output", self.place / "none", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "no archive is in this folder")
        self.assertFalse((self.place / "none").exists())


class Killed(Exports):
    def test_what_a_killed_export_left_the_next_one_removes(self):
        for inside in (False, True):
            with self.subTest(inside=inside):
                place = folder("killed")
                output = place / "tiles"
                if inside:
                    output.mkdir()
                process = subprocess.Popen([BINARY, "export", self.large(), "--layout", "xyz", "--output", output, "--tile-size", "16", "--quiet"])
                rests = lambda: list(place.rglob(".ziggurat-folder-*"))
                end = time.monotonic() + 20
                while not any(rest.rglob("*.jpg") for rest in rests()):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.01)
                process.kill()
                process.wait()
                self.assertEqual(len(rests()), 1)
                # Another one at work is left alone.
                other = (output if inside else place) / ".ziggurat-folder-others"
                other.mkdir()
                lock = os.open(other, os.O_RDONLY)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not inside:
                    self.assertEqual(self.export(output).returncode, 0)
                    self.assertEqual(rests(), [other])
                os.close(lock)
                result = self.export(output, "--quiet", *([] if inside else ["--force"]))
                self.assertEqual((result.returncode, result.stderr, rests()), (0, "", []))
                self.assertIn("picture.dzi", tree(output))

    def large(self):
        photo(self.base / "large.jpg", 3000, 2500)
        self.assertEqual(run("build", self.base / "large.jpg", "--library", self.base, "--quiet").returncode, 0)
        return self.base / "large.szi"


class FullDisk(Exports):
    def test_a_small_file_system(self):
        probe = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no user namespaces here: a small file system cannot be mounted")
        for layout in LAYOUTS:
            for inside in ("", "/new"):
                with self.subTest(layout + inside):
                    place = folder("full")
                    script = ('mount -t tmpfs -o size=100k none "$0" || exit 99; "$@"; code=$?; '
                              'find "$0" -mindepth 1 >&2; exit $code')
                    result = subprocess.run(
                        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, place, BINARY, "export",
                         self.archive, "--layout", layout, "--output", f"{place}{inside}"],
                        capture_output=True, text=True, timeout=60)
                    self.assertEqual(result.returncode, 75, result.stderr)
                    self.assertOneLine(result, "no space left")  # One line also says: find listed nothing.

    def test_files_limited_in_size(self):
        def limit():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        base = folder("limited")
        result = self.export(base / "out", preexec_fn=limit)
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertOneLine(result, "file too large")
        self.assertEqual(os.listdir(base), [])


class UntrustedArchives(Exports):
    def refused(self, archive, *arguments, **how):
        base = folder("hostile")
        for layout in LAYOUTS:
            for options in ((), ("--tile-size", "300")) if layout != "zoomify" else ((),):
                with self.subTest(f"{layout} {options}"):
                    result = self.export(base / "out", *options, archive=archive, layout=layout, timeout=60)
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertOneLine(result, *arguments)
                    self.assertEqual(os.listdir(base), [])

    def rewritten(self, change):
        """The archive with each entry's name and bytes as `change` gives them; None leaves it out."""
        path = folder("rewritten") / "picture.szi"
        with zipfile.ZipFile(self.archive) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.infolist():
                made = change(entry.filename, old.read(entry))
                if made:
                    new.writestr(zipfile.ZipInfo(made[0]), made[1])
        return path

    def test_the_rewritten_archive_exports(self):
        archive = self.rewritten(lambda name, data: (name, data))
        self.assertEqual(self.export(folder("good") / "out", archive=archive).returncode, 0)

    def test_cut_short(self):
        data = self.archive.read_bytes()
        for part in (0, 1, 100, len(data) // 2, len(data) - 1):
            path = folder("cut") / "picture.szi"
            path.write_bytes(data[:part])
            self.refused(path)

    def test_a_tile_that_is_missing(self):
        self.refused(self.rewritten(lambda name, data: None if name.endswith("/11/2_1.jpg") else (name, data)), "2_1")

    def test_a_size_that_its_tiles_have_not(self):
        for width in ("2147483647", "1000000", "0", "-5", "99999999999999999999"):
            self.refused(self.rewritten(
                lambda name, data: (name, data.replace(b'Width="1100"', f'Width="{width}"'.encode()))
                if name.endswith(".dzi") else (name, data)))

    def test_tiles_that_are_no_images_are_refused_where_they_are_read(self):
        archive = self.rewritten(lambda name, data: (name, b"no image") if name.endswith(".jpg") else (name, data))
        base = folder("none")
        result = self.export(base / "out", "--tile-size", "300", archive=archive)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "tile")
        self.assertEqual(os.listdir(base), [])

    def test_names_that_lead_elsewhere(self):
        for name in ("..", ".", "../../evil", "/tmp/evil", "a\\b", "\x1b[2J", "n" * 300):
            with self.subTest(name):
                archive = self.rewritten(lambda entry, data: (entry.replace("picture", name), data))
                base = folder("names")
                result = self.export(base / "deep/out", archive=archive)
                self.assertIn(result.returncode, (0, 1), result.stderr)
                if result.returncode == 1:
                    self.assertOneLine(result)
                self.assertNotIn("\x1b", result.stderr)
                self.assertEqual({entry.split("/")[0] for entry in tree(base)} - {"deep"}, set())
                self.assertEqual({entry.split("/")[1] for entry in tree(base / "deep") if "/" in entry}
                                 - {f"{name}.dzi", f"{name}_files"}, set())

    def test_an_entry_that_points_beyond_the_file(self):
        data = bytearray(self.archive.read_bytes())
        at = data.index(b"PK\x01\x02")
        while at >= 0:
            struct.pack_into("<I", data, at + 42, 0xfffffff0)
            at = data.find(b"PK\x01\x02", at + 4)
        path = folder("beyond") / "picture.szi"
        path.write_bytes(data)
        self.refused(path)


if __name__ == "__main__":
    unittest.main()
