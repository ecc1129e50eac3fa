"""What a build with --prune takes from a library, and what it spares."""

import json
import os
import shutil
import subprocess
import unittest

from harness import BINARY, CommandTest, Server, folder, photo, run
from szi import archives


def ids(library):
    return [str(path.relative_to(library))[:-4] for path in archives(library)]


class Pruning(CommandTest):
    def test_without_it_nothing_goes(self):
        base = folder("prune")
        photo(base / "photos/a.jpg", 60, 40)
        gone = photo(base / "photos/b.jpg", 60, 40)
        arguments = ("build", base / "photos", "--library", f"{base}/library/")
        run(*arguments)
        gone.unlink()
        self.assertEqual(run(*arguments).returncode, 0)
        self.assertEqual(ids(base / "library"), ["a", "b"])
        result = run(*arguments, "--prune")
        self.assertEqual((result.returncode, ids(base / "library")), (0, ["a"]))
        self.assertIn("pruned b\n", result.stderr)

    def test_a_source_that_is_empty_now_is_reported_also_without_it(self):
        base = folder("empty")
        photo(base / "photos/a.jpg", 60, 40)
        photo(base / "photos/b.jpg", 60, 40)
        arguments = ("build", base / "photos", "--library", base / "library")
        self.assertEqual(run(*arguments).returncode, 0)
        (base / "photos").rename(base / "away")
        (base / "photos").mkdir()
        for more in ((), ("--quiet",), ("--dry-run",)):
            with self.subTest(more):
                result = run(*arguments, *more)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("photos: contains no images although 2 images were built from it: is its disk mounted?", result.stderr)
        self.assertEqual(ids(base / "library"), ["a", "b"])
        # A folder that never had images is no error.
        (base / "new").mkdir()
        result = run("build", base / "new", "--library", base / "library")
        self.assertNotIn("is its disk mounted", result.stderr)
        (base / "photos").rmdir()
        (base / "away").rename(base / "photos")
        self.assertEqual(run(*arguments).returncode, 0)

    def test_an_empty_folder_below_a_source_is_reported_also_without_it(self):
        """As the mount point of a disk that is not mounted."""
        base = folder("empty")
        for name in ("a", "2024/b", "2024/trip/c", "2023/d"):
            photo(base / f"photos/{name}.jpg", 60, 40)
        subprocess.run(["vips", "copy", base / "photos/a.jpg", f"{base}/photos/doc.tif[page-height=20]"], check=True)
        (base / "photos/new").mkdir()
        # Beside the file whose pages have this folder in their ids.
        (base / "photos/doc").mkdir()
        arguments = ("build", base / "photos", "--library", base / "library")
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        everything = ids(base / "library")
        (base / "photos/2024").rename(base / "away")
        (base / "photos/2024").mkdir()
        (base / "photos/2024/.hidden").touch()
        report = f"{base}/photos/2024: is empty although 2 images were built from it: is its disk mounted? (--prune=all moves them to the trash)"
        for more in ((), ("--quiet",), ("--dry-run",), ("--summary",)):
            with self.subTest(more):
                result = run(*arguments, *more)
                self.assertEqual((result.returncode, result.stderr.count(f"ziggurat: {report}\n")), (1, 1), result.stderr)
        self.assertEqual(ids(base / "library"), everything)
        # Nor with --prune, if a source that cannot be read keeps everything.
        result = run(*arguments, base / "none", "--prune", "--quiet")
        self.assertEqual((result.returncode, result.stderr.count(report)), (1, 1), result.stderr)
        (base / "photos/2023/d.jpg").unlink()
        result = run(*arguments, "--quiet")
        self.assertEqual(result.stderr, f"ziggurat: {base}/photos/2023: is empty, like 1 other folder, although 3 images were built from them: are their "
                         "disks mounted? (--prune=all moves them to the trash)\n")
        with Server(base / "library") as server:
            self.assertEqual(json.loads(server.get("/api/images").body)["total"], 5)
        (base / "photos/2023").rmdir()
        shutil.rmtree(base / "photos/2024")
        (base / "away").rename(base / "photos/2024")
        self.assertEqual(run(*arguments).returncode, 0)
        # Of books, too, whose ids may begin with the folder's name.
        book = ("build", base / "photos/2024", "--book", "--library", base / "books")
        self.assertEqual(run(*book).returncode, 0)
        (base / "photos/2024/trip/c.jpg").unlink()
        result = run(*book, "--quiet")
        self.assertIn(f"{base}/photos/2024/trip: is empty although 1 image was built from it", result.stderr)

    def test_what_others_built_stays(self):
        base = folder("prune")
        photo(base / "photos/a.jpg", 60, 40)
        (base / "library").mkdir()
        subprocess.run(["vips", "dzsave", base / "photos/a.jpg", base / "library/theirs.zip", "--container", "zip"],
                       check=True, capture_output=True)
        (base / "library/theirs.zip").rename(base / "library/theirs.szi")
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--prune").returncode, 0)
        self.assertEqual(ids(base / "library"), ["a", "theirs"])

    def test_sources_that_cannot_be_read_keep_their_archives(self):
        base = folder("prune")
        photo(base / "photos/a.jpg", 60, 40)
        photo(base / "photos/b.jpg", 60, 40)
        arguments = ("build", base / "photos", base / "more", "--library", base / "library", "--prune")
        photo(base / "more/c.jpg", 60, 40)
        run(*arguments)
        (base / "photos/a.jpg").write_text("no picture any more")
        (base / "photos/b.jpg").unlink()
        self.assertEqual(run(*arguments).returncode, 1)
        self.assertEqual(ids(base / "library"), ["a", "c"])
        # A whole source that is away, perhaps a disk that is not mounted.
        shutil.rmtree(base / "more")
        self.assertEqual(run(*arguments).returncode, 1)
        self.assertEqual(ids(base / "library"), ["a", "c"])


    def test_what_lies_on_another_mount_goes_into_the_trash_too(self):
        base = folder("prune")
        for name in ("a", "b", "deep/c", "deep/d", "stays"):
            photo(base / f"photos/{name}.jpg", 60, 40)
        arguments = ("build", base / "photos", "--library", base / "library")
        self.assertEqual(run(*arguments).returncode, 0)
        (base / "library/deep/c.xmp").write_text("words")
        (base / "library/deep/c.xmp").chmod(0o600)
        before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (base / "library/deep").iterdir()}
        for name in ("a", "b", "deep/c", "deep/d"):
            (base / f"photos/{name}.jpg").unlink()
        # As docs/reference/formats.md has it of archives elsewhere; what is itself a mount cannot be moved at all.
        photo(base / "photos/deep/e.jpg", 60, 41)
        (base / "library/deep").rename(base / "elsewhere")
        (base / "library/deep").mkdir()
        mounts = 'mount --bind "$1/elsewhere" "$1/library/deep" && mount --bind "$1/library/a.szi" "$1/library/a.szi" && shift && exec "$@"'
        space = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
        if subprocess.run([*space, "sh", "-c", mounts, "sh", base, "true"], capture_output=True).returncode != 0:
            self.skipTest("nothing can be mounted here")
        result = subprocess.run([*space, "sh", "-c", mounts, "sh", base, BINARY, *arguments, "--prune"], capture_output=True, text=True,
                                timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual([line for line in result.stderr.splitlines() if line.startswith("pruned ")],
                         ["pruned b", "pruned deep/c", "pruned deep/d"])
        self.assertRegex(result.stderr, r"cannot move .*/a\.szi: Device or resource busy")
        self.assertEqual(ids(base / "library"), ["a", "stays"])
        self.assertEqual([path.name for path in (base / "elsewhere").iterdir()], ["e.szi"])
        (trash,) = (base / "library/.ziggurat-trash").iterdir()
        after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (trash / "deep").iterdir()}
        self.assertEqual(after, before)
        self.assertEqual((trash / "deep/c.xmp").stat().st_mode & 0o777, 0o600)

    def big(self, count: int, place: str = "photos"):
        """A library of so many pictures; its folder."""
        base = folder("prune")
        first = photo(base / place / "000.png", 20, 10).read_bytes()
        for number in range(1, count):
            (base / place / f"{number:03}.png").write_bytes(first)
        self.assertEqual(run("build", base / place, "--library", base / "library", "--quiet").returncode, 0)
        self.assertEqual(len(archives(base / "library")), count)
        return base

    def assertSpared(self, base, result, gone: int, *parts):
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(sum(line.startswith("would prune ") for line in lines), gone, result.stderr)
        failure = [line for line in lines if line.startswith("ziggurat: ")]
        self.assertEqual(len(failure), 1, result.stderr)
        for word in (*parts, "nothing is pruned", "--prune=all"):
            self.assertIn(word, failure[0])
        self.assertFalse((base / "library/.ziggurat-trash").exists())

    def test_an_empty_source_takes_nothing_along(self):
        """As when a share is not mounted."""
        base = self.big(3)
        for path in (base / "photos").iterdir():
            path.unlink()
        for options in ((), ("--dry-run",), ("--quiet",)):
            self.assertSpared(base, run("build", base / "photos", "--library", base / "library", "--prune", *options),
                              3, str(base / "photos"), "holds no image")
        self.assertEqual(len(archives(base / "library")), 3)
        result = run("build", base / "photos", "--library", base / "library", "--prune", "--json", "--quiet")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["status"] for line in lines], ["would prune"] * 3 + ["failed"])
        # Another empty folder is another source, from which nothing came.
        (base / "empty").mkdir()
        self.assertEqual(run("build", base / "empty", "--library", base / "library", "--prune=all").returncode, 0)
        self.assertEqual(len(archives(base / "library")), 3)
        result = run("build", base / "photos", "--library", base / "library", "--prune=all")
        self.assertEqual((result.returncode, archives(base / "library")), (0, []), result.stderr)
        self.assertEqual(len(list((base / "library/.ziggurat-trash").rglob("*.szi"))), 3)

    def test_an_empty_folder_below_a_source_keeps_its_images(self):
        base = self.big(2)
        photo(base / "photos/disk/b.png", 20, 11)
        photo(base / "photos/disk/deep/c.png", 20, 12)
        arguments = ("build", base / "photos", "--library", base / "library")
        self.assertEqual(run(*arguments).returncode, 0)
        (base / "photos/001.png").unlink()
        shutil.rmtree(base / "photos/disk")
        (base / "photos/disk").mkdir()
        for options in (("--dry-run",), ()):
            result = run(*arguments, "--prune", *options)
            self.assertEqual(result.returncode, 1, result.stderr)
            for word in ("would prune disk/b\n", "would prune disk/deep/c\n", f"2 images not pruned, since {base}/photos/disk is empty", "--prune=all"):
                self.assertIn(word, result.stderr)
        # All others go.
        self.assertEqual(ids(base / "library"), ["000", "disk/b", "disk/deep/c"])
        result = run(*arguments, "--prune=all")
        self.assertEqual((result.returncode, ids(base / "library")), (0, ["000"]), result.stderr)
        # A folder that was removed is no mount point.
        photo(base / "photos/disk/b.png", 20, 11)
        self.assertEqual(run(*arguments).returncode, 0)
        shutil.rmtree(base / "photos/disk")
        result = run(*arguments, "--prune")
        self.assertEqual((result.returncode, ids(base / "library")), (0, ["000"]), result.stderr)

    def test_a_source_that_is_gone_for_good(self):
        base = self.big(3)
        photo(base / "more/b.png", 20, 11)
        self.assertEqual(run("build", base / "more", "--library", base / "library", "--quiet").returncode, 0)
        shutil.rmtree(base / "photos")
        result = run("build", base / "photos", base / "more", "--library", base / "library", "--prune", "--quiet")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(f"nothing is pruned, since {base}/photos does not exist; if it is gone for good, --prune=all moves the 3 images", result.stderr)
        self.assertEqual(len(archives(base / "library")), 4)
        # A folder that never was a source.
        result = run("build", base / "none", "--library", base / "library", "--prune", "--quiet")
        self.assertIn("nothing is pruned, since not every source could be read", result.stderr)
        result = run("build", base / "photos", "--library", base / "library", "--prune=all", "--summary")
        self.assertEqual((result.returncode, ids(base / "library")), (0, ["b"]), result.stderr)
        self.assertIn("3 pruned", result.stderr)

    def test_a_large_part_is_spared(self):
        base = self.big(30)
        for number in range(11):
            (base / f"photos/{number:03}.png").unlink()
        for options in (("--prune",), ("--prune", "--dry-run"), ("--prune=yes",)):
            self.assertSpared(base, run("build", base / "photos", "--library", base / "library", *options), 11,
                              "11 of 30 images")
        result = run("build", base / "photos", "--library", base / "library", "--prune=all", "--dry-run")
        self.assertEqual((result.returncode, result.stderr.count("would prune")), (0, 11))
        self.assertEqual(len(archives(base / "library")), 30)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--prune=all").returncode, 0)
        self.assertEqual(len(archives(base / "library")), 19)
        for arguments in (("--prune=most",), ("--keep-deleted", "-1")):
            self.assertUsageError(run("build", base / "photos", "--library", base / "library", *arguments), arguments[0].split("=")[0])
        environment = {"ZIGGURAT_PRUNE": "all"}
        (base / "photos/020.png").unlink()
        self.assertEqual(run("build", base / "photos", "--library", base / "library", environment=environment).returncode, 0)
        self.assertEqual(len(archives(base / "library")), 18)

    def test_books_pictures_and_parts_do_not_prune_each_other(self):
        base = self.big(6)
        (base / "photos/part").mkdir()
        (base / "photos/000.png").rename(base / "photos/part/x.png")
        arguments = ("--library", base / "library", "--prune")
        self.assertEqual(run("build", base / "photos", *arguments).returncode, 0)
        self.assertEqual(run("build", base / "photos", "--book", *arguments).returncode, 0)
        self.assertEqual(run("build", base / "photos/part", *arguments).returncode, 0)
        plain = [f"00{number}" for number in range(1, 6)]
        book = [f"photos/{name}" for name in plain]
        self.assertEqual(ids(base / "library"), plain + ["part/x"] + book + ["x"])
        self.assertEqual(run("build", base / "photos", *arguments).returncode, 0)
        self.assertEqual(len(ids(base / "library")), 12)

    def test_what_was_pruned_comes_back_by_the_server_and_is_emptied_on_request(self):
        base = self.big(4)
        (base / "library/001.xmp").write_text("words")
        (base / "photos/001.png").unlink()
        arguments = ("build", base / "photos", "--library", base / "library", "--prune")
        (base / "token").write_text("0123456789abcdef\n")
        bearer = {"Authorization": "Bearer 0123456789abcdef"}
        with Server(base / "library", "--writable", "--token-file", base / "token") as server:
            self.assertEqual(run(*arguments).returncode, 0)
            self.assertFalse((base / "library/001.xmp").exists())
            report = json.loads(server.get("/api/trash", **bearer).body)["items"]
            self.assertEqual([each["images"] for each in report], [["001"]])
            path = f"/api/trash/{report[0]['id']}/restore"
            self.assertEqual(json.loads(server.get(path, "POST", **bearer, **{"Content-Length": "0"}).body)["restored"], ["001"])
        self.assertEqual((base / "library/001.xmp").read_text(), "words")
        # Who brought it back wants it.
        self.assertEqual((run(*arguments).returncode, len(archives(base / "library"))), (0, 4))
        (base / "photos/002.png").unlink()
        self.assertEqual(run(*arguments, "--keep-deleted", 1).returncode, 0)
        self.assertEqual(len(list((base / "library/.ziggurat-trash").rglob("*.szi"))), 1)
        self.assertEqual(run(*arguments, "--keep-deleted", 0).returncode, 0)
        self.assertEqual(list((base / "library/.ziggurat-trash").rglob("*.szi")), [])

    def test_a_private_space_is_pruned_with_the_same_care(self):
        base = folder("prune")
        for name in ("a.png", "b.png", "deep/c.png"):
            photo(base / "photos" / name, 20, 10)
        (base / "password").write_text("a password of the tests\n")
        arguments = ("--library", base / "library", "--space", "--password-file", base / "password")
        (base / "library").mkdir()
        self.assertEqual(run("space", "create", base / "library", *arguments[-2:]).returncode, 0)

        def build(place, *options):
            return run("build", base / place, *arguments, *options)

        self.assertEqual(build("photos").returncode, 0)
        self.assertEqual(build("photos/deep", "--prune").stderr.count("prune"), 0)
        shutil.rmtree(base / "photos")
        (base / "photos").mkdir()
        result = build("photos", "--prune")
        self.assertSpared(base, result, 3, "holds no image")
        self.assertEqual(build("photos", "--prune", "--dry-run").stderr.count("would prune"), 3)
        result = build("photos", "--prune=all")
        self.assertEqual((result.returncode, result.stderr.count("pruned ")), (0, 3), result.stderr)
        self.assertEqual(build("photos", "--prune").returncode, 0)
        self.assertEqual([path.name for path in (base / "library").iterdir()], [".spaces"])

    def test_without_a_catalog_nothing_is_pruned_and_that_is_reported(self):
        base = self.big(3)
        for path in (base / "library").glob("catalog*"):
            path.unlink()
        (base / "library/catalog.sqlite").mkdir()
        (base / "photos/001.png").unlink()
        result = run("build", base / "photos", "--library", base / "library", "--prune", "--quiet")
        self.assertEqual((result.returncode, len(archives(base / "library"))), (0, 3), result.stderr)
        self.assertIn("nothing of before is pruned", result.stderr)

    def test_with_a_catalog_that_is_read_only_it_is_known_what_came_from_where(self):
        base = self.big(4)
        (base / "photos/001.png").unlink()
        photo(base / "photos/new.png", 20, 12)
        catalog = base / "library/catalog.sqlite"
        mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        space = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
        if subprocess.run([*space, "sh", "-c", mount, catalog, "true"], capture_output=True).returncode != 0:
            self.skipTest("nothing can be mounted here")
        result = subprocess.run([*space, "sh", "-c", mount, catalog, BINARY, "build", base / "photos", "--library", base / "library", "--prune", "--quiet"],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual((result.returncode, ids(base / "library")), (0, ["000", "002", "003", "new"]), result.stderr)
        self.assertEqual(result.stderr, f"{catalog} cannot be written (its permissions do not allow it): a later --prune spares what is built now\n")
        # Also without it: what is not recorded now is nobody's later.
        photo(base / "photos/newer.png", 20, 13)
        result = subprocess.run([*space, "sh", "-c", mount, catalog, BINARY, "build", base / "photos", "--library", base / "library", "--quiet"],
                                capture_output=True, text=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr.count("a later --prune spares what is built now")), (0, 1), result.stderr)

    def test_the_library_is_no_source(self):
        base = self.big(1, "library/pictures")
        self.assertOneLine(run("build", base / "library", "--library", base / "library", "--quiet"), "is the library itself")
        self.assertOneLine(run("build", ".", "--library", ".", "--quiet", cwd=base / "library"), "is the library itself")


if __name__ == "__main__":
    unittest.main()
