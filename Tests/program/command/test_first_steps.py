"""A user's first attempts succeed, or fail with one line: books, folders of pictures, disks that are full or read-only."""

import json
import os
import subprocess
import time
import unittest

from harness import CommandTest, Server, folder, photo, run
from pdf import labelled_pdf
from szi import archives


class FirstSteps(CommandTest):
    def setUp(self):
        self.base = folder("first")
        self.photos, self.library = self.base / "photos", self.base / "library"

    def build(self, *arguments, code=0):
        result = run("build", *(arguments or [self.photos]), "--library", self.library)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def ids(self):
        return [str(path.relative_to(self.library))[:-4] for path in archives(self.library)]


class Books(FirstSteps):
    def test_a_pdf_and_loose_pictures_beside_folders(self):
        for name in ("codex/f1r", "codex/f1v", "loose"):
            photo(self.photos / f"{name}.jpg", 60, 40 + len(name))
        (self.photos / "roll.pdf").write_bytes(labelled_pdf(2))
        (self.photos / "codex.pdf").write_bytes(labelled_pdf(3))
        self.build("--book", self.photos)
        # A PDF is a book by itself; a folder's own pictures are its book; two of one name keep their endings.
        self.assertEqual(self.ids(), ["codex/f1r", "codex/f1v", "codex.pdf/1", "codex.pdf/2", "codex.pdf/3", "photos/loose", "roll/1", "roll/2"])
        with Server(self.library) as server:
            listed = json.loads(server.get("/api/images").body)["images"]
            self.assertEqual([(image["id"], image["pages"]) for image in listed], [("codex", 2), ("codex.pdf", 3), ("photos", 1), ("roll", 2)])

    def test_files_that_are_named_alone(self):
        photo(self.photos / "codex/f1r.jpg", 60, 40)
        photo(self.base / "map.jpg", 60, 41)
        self.build("--book", self.photos, self.base / "map.jpg")
        self.assertEqual(self.ids(), ["codex/f1r", "map"])

    def test_a_request_for_a_book_names_its_cover(self):
        for name in ("f1r", "f1v"):
            photo(self.photos / f"codex/{name}.jpg", 60, 40)
        (self.photos / "codex/book.json").write_text(json.dumps({"title": {"fr": "Heures"}, "cover": "f1v"}))
        self.build("--book", self.photos)
        with Server(self.library) as server:
            query = "width=30&height=20"
            for question in ("viewport", "viewport.jpg", "viewport.tiles"):
                answers = [server.get(f"/api/images/{id}/{question}?{query}") for id in ("codex", "codex%2Ff1v")]
                self.assertEqual([answer.status for answer in answers], [200, 200], question)
                self.assertEqual(answers[0].body, answers[1].body, question)
            self.assertEqual(server.get(f"/api/images/cod/viewport?{query}").status, 404)
            manifest = json.loads(server.get("/iiif/presentation/3/codex/manifest").body)
            self.assertEqual(manifest["homepage"][0]["label"], {"fr": ["Heures"]})

    def test_a_private_space_says_that_it_keeps_no_description(self):
        photo(self.photos / "codex/f1r.jpg", 60, 40)
        (self.photos / "codex/book.json").write_text('{"title": "Hours"}')
        (self.base / "password").write_text("correct horse battery staple\n")
        (self.base / "password").chmod(0o600)
        self.library.mkdir()
        result = run("space", "create", self.library, "--password-file", self.base / "password")
        result = run("build", self.photos, "--book", "--space", "--password-file", self.base / "password", "--library", self.library)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("in a private space a book is its pages alone"), 1, result.stderr)


class Folders(FirstSteps):
    def test_a_folder_of_pictures_stays_as_it_is(self):
        photo(self.photos / "a.jpg", 60, 40)
        with Server(self.photos) as server:
            self.assertEqual(json.loads(server.get("/api/images").body)["total"], 0)
        result = run("reindex", self.photos)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "contains no archive", "Is its disk mounted?", "ziggurat build")
        self.assertEqual([path.name for path in self.photos.iterdir()], ["a.jpg"])
        # A library that is empty yet is none of pictures.
        self.library.mkdir()
        self.assertEqual(run("reindex", self.library).returncode, 0)
        self.assertTrue((self.library / "catalog.sqlite").exists())

    def test_folders_that_images_left_go(self):
        for name in ("codex/part/f1", "codex/part/f2", "other/x"):
            photo(self.photos / f"{name}.jpg", 60, 40 + len(name))
        (self.photos / "codex/book.json").write_text('{"title": "Hours"}')
        self.build("--book", self.photos)
        self.assertTrue((self.library / "codex/book.json").exists())
        (self.photos / "codex").rename(self.photos / "hours")
        self.build("--book", self.photos)
        self.assertEqual(self.ids(), ["hours/part/f1", "hours/part/f2", "other/x"])
        self.assertFalse((self.library / "codex").exists())
        # What somebody else put there stays.
        (self.library / "hours/part/notes.txt").write_text("mine")
        for path in (self.photos / "hours/part").iterdir():
            path.unlink()
        (self.photos / "hours/book.json").unlink()
        self.build("--book", self.photos, "--prune=all")
        self.assertEqual((self.library / "hours/part/notes.txt").read_text(), "mine")
        self.assertEqual(self.ids(), ["other/x"])

    def test_a_named_hidden_file_is_reported(self):
        photo(self.photos / "a.jpg", 60, 40).rename(self.photos / ".a.jpg")
        result = run("build", self.photos / ".a.jpg", "--library", self.library, "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "'.a'", "as no image can be")
        self.assertEqual(self.ids(), [])


class Messages(FirstSteps):
    def test_a_dry_run_says_what_would_be(self):
        photo(self.photos / "a.jpg", 60, 40)
        reported = self.build(self.photos, "--dry-run").stderr.splitlines()[-1]
        self.assertEqual(reported, "1 would be built")
        self.build()
        (self.photos / "a.jpg").rename(self.photos / "b.jpg")
        photo(self.photos / "c.jpg", 60, 41)
        self.assertEqual(self.build(self.photos, "--dry-run").stderr.splitlines()[-1], "1 would be built, 1 would be moved")

    def test_help_without_options_has_no_empty_list(self):
        self.assertNotIn("options:", run("help", "completions").stdout)
        self.assertIn("options:", run("help", "build").stdout)

    def test_exports_refusal_names_the_way(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        command = ("export", self.library / "a.szi", "--layout", "dz", "--output", self.base / "out")
        self.assertEqual(run(*command).returncode, 0)
        self.assertOneLine(run(*command), "something of that name is there", "--force replaces it")
        self.assertEqual(run(*command, "--force").returncode, 0)

    def test_inspect_reports_a_sources_scale(self):
        photo(self.photos / "a.tif", 60, 40)
        subprocess.run(["vips", "copy", self.photos / "a.tif", f"{self.photos}/b.tif", "--xres", "2000", "--yres", "2000"], check=True)
        self.assertEqual(json.loads(run("inspect", self.photos / "b.tif", "--json").stdout)["micronsPerPixel"], [0.5, 0.5])
        self.assertIn("0.5 × 0.5", run("inspect", self.photos / "b.tif").stdout)
        self.assertNotIn("micronsPerPixel", run("inspect", photo(self.photos / "c.jpg", 60, 40), "--json").stdout)


@unittest.skipUnless(os.geteuid() == 0, "file systems are mounted by root alone")
class Disks(FirstSteps):
    def mount(self, options: str):
        self.library.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.library], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.library], check=True)

    def test_a_full_disk_ends_the_build_with_one_line(self):
        for number in range(12):
            photo(self.photos / f"{number:02}.png", 1200, 900, left=number * 100)
        self.mount("size=800k")
        result = self.build(self.photos, "--quiet", "--jobs", "3", code=75)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 2, lines)
        # The archive is named before its source, which lies on another disk.
        self.assertRegex(lines[0], rf"^ziggurat: cannot write {self.library}/\d+\.szi: No space left on device \(source {self.photos}/\d+\.png\)$")
        self.assertRegex(lines[1], r"the disk is full: \d+ sources left for another time")
        subprocess.run(["mount", "-o", "remount,size=20m", self.library], check=True)
        self.build()
        self.assertEqual(len(self.ids()), 12)
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_a_writable_server_of_what_cannot_be_written_says_so(self):
        self.mount("size=1m")
        (self.base / "token").write_text("secret" * 6)
        (self.base / "token").chmod(0o600)
        options = (self.library, "--writable", "--token-file", self.base / "token")
        subprocess.run(["mount", "-o", "remount,ro", self.library], check=True)
        result = run("serve", *options, "--port", "0")
        self.assertNotEqual(result.returncode, 0)
        self.assertOneLine(result, "read-only file system")
        # Where a server had been before it serves what there is.
        subprocess.run(["mount", "-o", "remount,rw", self.library], check=True)
        with Server(*options) as server:
            self.assertNotIn("cannot be written", server.errors())
        subprocess.run(["mount", "-o", "remount,ro", self.library], check=True)
        with Server(*options) as server:
            # The messages of its start follow shortly after its address.
            end = time.monotonic() + 20
            while "cannot be written" not in server.errors() and time.monotonic() < end:
                time.sleep(0.05)
            self.assertIn("cannot be written: read-only file system; changes and uploads will fail", server.errors().lower())


if __name__ == "__main__":
    unittest.main()
