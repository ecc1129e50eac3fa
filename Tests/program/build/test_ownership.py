"""Builds of several sources into one library: no source replaces the image of another."""

import json
import shutil
import subprocess
import unittest

from harness import CommandTest, folder, photo, run
from szi import archives
from upload_client import Client, serve


class OwnershipTest(CommandTest):
    def setUp(self):
        self.base = folder("ownership")
        self.library = self.base / "library"

    def build(self, *sources, code=0):
        """What is reported, by id, and the messages."""
        arguments = [self.base / source if isinstance(source, str) and not source.startswith("-") else source for source in sources]
        result = run("build", *arguments, "--library", self.library, "--json", "--quiet")
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        return {line["id"]: line["status"] for line in lines if "id" in line}, result.stderr

    def content(self):
        return {str(path.relative_to(self.library))[:-4]: path.read_bytes() for path in archives(self.library)}


class Ownership(OwnershipTest):
    def test_a_second_source_with_the_same_id_is_refused(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "cb/p1.jpg", 80, 50)
        photo(self.base / "cb/p2.jpg", 80, 50)
        self.build("ca")
        (self.library / "p1.xmp").write_text("edited")
        before = self.content()
        for options in ((), ("--prune",), ("--force",), ("--dry-run",)):
            report, message = self.build("cb", *options, code=1)
            self.assertEqual(report["p1"], "failed")
            for word in (f"{self.base}/cb/p1.jpg: has the same id 'p1' as {self.base}/ca/p1.jpg", "--prefix", "--take-ownership"):
                self.assertIn(word, message)
            self.assertEqual(self.content()["p1"], before["p1"])
        self.assertEqual(set(self.content()), {"p1", "p2"})
        self.assertEqual(self.build("ca", "--prune")[0], {"p1": "unchanged"})
        # A changed source still replaces its own image.
        photo(self.base / "ca/p1.jpg", 61, 40)
        self.assertEqual(self.build("ca")[0], {"p1": "built"})
        self.assertEqual(self.build("cb", "--prefix=cb")[0], {"cb/p1": "built", "cb/p2": "built"})
        self.assertEqual((self.library / "p1.xmp").read_text(), "edited")
        # What was pruned is free.
        (self.base / "ca/p1.jpg").unlink()
        self.build("ca", "--prune=all")
        self.assertEqual(self.build("cb")[0], {"p1": "built", "p2": "unchanged"})

    def test_ownership_is_taken_on_request(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "cb/p1.jpg", 80, 50)
        self.build("ca")
        self.assertEqual(self.build("cb", "--take-ownership")[0], {"p1": "built"})
        self.assertEqual(self.build("cb")[0], {"p1": "unchanged"})
        self.assertIn("cb/p1.jpg", self.build("ca", code=1)[1])

    def test_metadata_of_a_replaced_image_goes_to_the_trash(self):
        for name in ("p1", "same"):
            photo(self.base / f"ca/{name}.jpg", 60, 40 + len(name))
        photo(self.base / "cb/p1.jpg", 80, 50)
        shutil.copyfile(self.base / "ca/same.jpg", self.base / "cb/same.jpg")
        self.build("ca")
        for name in ("p1", "same"):
            (self.library / f"{name}.xmp").write_text(f"of {name}")
        self.assertEqual(self.build("cb", "--take-ownership")[0], {"p1": "built", "same": "unchanged"})
        self.assertFalse((self.library / "p1.xmp").exists())
        trashed = [path.read_text() for path in (self.library / ".ziggurat-trash").rglob("*.xmp")]
        self.assertEqual((trashed, (self.library / "same.xmp").read_text()), (["of p1"], "of same"))
        # A changed picture of its own source keeps its metadata.
        (self.library / "p1.xmp").write_text("of the second")
        photo(self.base / "cb/p1.jpg", 81, 50)
        self.assertEqual(self.build("cb", "--take-ownership")[0], {"p1": "built", "same": "unchanged"})
        self.assertEqual((self.library / "p1.xmp").read_text(), "of the second")

    def test_a_copy_in_another_source_is_refused_and_a_moved_file_is_not(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "ca/other.jpg", 60, 41)
        (self.base / "cb").mkdir()
        shutil.copyfile(self.base / "ca/p1.jpg", self.base / "cb/p1.jpg")
        self.build("ca")
        self.build("cb", code=1)
        (self.base / "ca/p1.jpg").unlink()
        self.assertEqual(self.build("cb")[0], {"p1": "unchanged"})
        # It is now an image of the second source.
        self.assertEqual(self.build("ca", "--prune")[0], {"other": "unchanged"})
        self.assertEqual(set(self.content()), {"p1", "other"})

    def test_one_file_may_be_named_in_many_ways(self):
        photo(self.base / "photos/a.jpg", 60, 40)
        for sources in (("photos",), ("photos/a.jpg",), (f"{self.base}/photos/*.jpg",), ("photos",)):
            photo(self.base / "photos/a.jpg", 60, 40 + len(sources[0]))
            self.assertEqual(self.build(*sources)[0], {"a": "built"})
        (self.base / "link").symlink_to(self.base / "photos")
        self.assertEqual(self.build("link")[0], {"a": "unchanged"})

    def test_a_renamed_source_folder(self):
        for number in range(6):
            photo(self.base / f"old/deep/{number}.jpg", 60, 40 + number)
        self.build("old")
        (self.base / "old").rename(self.base / "new")
        photo(self.base / "new/deep/3.jpg", 70, 50)
        report, _ = self.build("new")
        self.assertEqual(report, {f"deep/{number}": "built" if number == 3 else "unchanged" for number in range(6)})
        # The images are those of the new folder.
        (self.base / "new/deep/5.jpg").unlink()
        self.assertEqual(self.build("new", "--prune")[0]["deep/5"], "pruned")

    def test_an_unmounted_source_is_not_taken_for_a_renamed_one(self):
        for number in range(4):
            photo(self.base / f"ca/{number}.jpg", 60, 40 + number)
            photo(self.base / f"cb/{number}.jpg", 70, 50 + number)
        shutil.copyfile(self.base / "ca/0.jpg", self.base / "cb/0.jpg")
        self.build("ca")
        before = self.content()
        (self.base / "ca").rename(self.base / "away")
        (self.base / "ca").mkdir()
        report, message = self.build("cb", code=1)
        # Not the one with the same content, either.
        self.assertEqual([report[str(number)] for number in range(4)], ["failed"] * 4)
        self.assertIn("which is not there now (is its disk mounted?)", message)
        self.assertEqual(self.content(), before)

    def test_many_images_of_an_unmounted_source_have_one_line(self):
        for number in range(6):
            photo(self.base / f"disk/photos/{number}.jpg", 60, 40 + number)
        self.build("disk/photos")
        (self.base / "disk/photos").rename(self.base / "copy")
        for options in ((), ("--dry-run",), ("--summary",)):
            result = run("build", self.base / "copy", "--library", self.library, *options)
            self.assertEqual(result.returncode, 1)
            lines = result.stderr.splitlines()
            self.assertEqual(sum("has the same id" in line for line in lines), 3, result.stderr)
            self.assertEqual(sum(f"6 images belong to {self.base}/disk/photos, which is not there now: is its disk mounted?" in line
                                 for line in lines), 1, result.stderr)
            self.assertIn("6 failed", lines[-1])
        # Each has its status in JSON.
        self.assertEqual(self.build("copy", code=1)[0], {str(number): "failed" for number in range(6)})
        # A few have no such line.
        for number in range(3, 6):
            (self.base / f"copy/{number}.jpg").unlink()
        self.assertNotIn("images belong to", self.build("copy", code=1)[1])

    def test_a_copy_of_an_unmounted_disk_takes_nothing_over(self):
        for number in range(4):
            photo(self.base / f"disk/photos/{number}.jpg", 60, 40 + number)
        shutil.copytree(self.base / "disk/photos", self.base / "copy")
        self.build("disk/photos")
        for place in ("disk/photos", "disk"):
            # The mount point is the folder itself, or the one above it.
            away = self.base / "away"
            (self.base / place).rename(away)
            (self.base / place).mkdir()
            report, message = self.build("copy", code=1)
            self.assertEqual(set(report.values()), {"failed"}, place)
            self.assertIn("is its disk mounted?", message)
            (self.base / place).rmdir()
            away.rename(self.base / place)
        self.assertEqual(set(self.build("disk/photos", "--prune")[0].values()), {"unchanged"})
        # A file that is gone from a folder with others is gone.
        (self.base / "disk/photos/0.jpg").unlink()
        report, _ = self.build("copy", code=1)
        self.assertEqual(report, {"0": "unchanged", "1": "failed", "2": "failed", "3": "failed"})

    def test_pages_have_an_owner_too(self):
        for place, height in (("ca", 40), ("cb", 50)):
            tall = photo(self.base / f"{place}.png", 60, 2 * height)
            (self.base / place).mkdir()
            subprocess.run(["vips", "copy", tall, f"{self.base}/{place}/roll.tif[page-height={height}]"], check=True)
        self.assertEqual(self.build("ca")[0], {"roll/1": "built", "roll/2": "built"})
        before = self.content()
        report, message = self.build("cb", code=1)
        self.assertEqual(report, {"roll/1": "failed", "roll/2": "failed"})
        self.assertIn(f"{self.base}/ca/roll.tif", message)
        self.assertEqual(self.content(), before)

    def test_without_the_catalog_changed_sources_are_still_built(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "ca/p2.jpg", 60, 40)
        self.build("ca")
        for path in self.library.glob("catalog.sqlite*"):
            path.unlink()
        photo(self.base / "ca/p1.jpg", 61, 40)
        self.assertEqual(self.build("ca")[0], {"p1": "built", "p2": "unchanged"})

    def test_without_the_catalog_another_source_replaces_nothing(self):
        for number in range(3):
            photo(self.base / f"ca/p{number}.jpg", 60, 40 + number)
            photo(self.base / f"cb/p{number}.jpg", 80, 50 + number)
        self.build("ca")
        before = self.content()
        for path in self.library.glob("catalog.sqlite*"):
            path.unlink()
        report, message = self.build("cb", code=1)
        self.assertEqual(set(report.values()), {"failed"})
        self.assertIn("its owner is unknown", message)
        self.assertEqual(self.content(), before)
        self.assertEqual(set(self.build("ca")[0].values()), {"unchanged"})

    def test_archives_of_other_programs_are_not_replaced(self):
        photo(self.base / "ca/theirs.jpg", 60, 40)
        self.library.mkdir()
        subprocess.run(["vips", "dzsave", self.base / "ca/theirs.jpg", self.library / "theirs.zip", "--container", "zip"],
                       check=True, capture_output=True)
        (self.library / "theirs.zip").rename(self.library / "theirs.szi")
        before = self.content()
        self.assertIn("an archive that was not built from a source", self.build("ca", code=1)[1])
        self.assertEqual(self.content(), before)

    def test_a_private_space_keeps_its_images(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "cb/p1.jpg", 80, 50)
        (self.base / "password").write_text("a password of the tests\n")
        self.library.mkdir()
        password = ("--password-file", self.base / "password")
        self.assertEqual(run("space", "create", self.library, *password).returncode, 0)
        arguments = ("--library", self.library, "--space", *password)
        self.assertEqual(run("build", self.base / "ca", *arguments).returncode, 0)
        result = run("build", self.base / "cb", *arguments)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("has the same id 'p1' as an image of another source of this library", result.stderr)
        self.assertEqual(run("build", self.base / "ca", *arguments, "--summary").stderr, "0 built, 1 unchanged\n")

    def test_parts_of_a_plan_replace_no_image_of_another_source(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "cb/p1.jpg", 80, 50)
        self.build("ca")
        before = self.content()
        plan = self.base / "plan.jsonl"
        plan.write_text(run("plan", self.base / "cb", "--library", self.library).stdout)
        for shard in ("0/2", "1/2"):
            result = run("build", "--plan", plan, "--shard", shard, "--library", self.library, "--journal-dir", self.base / "reports")
            self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(run("report", plan, self.base / "reports").returncode, 1)
        self.assertEqual(self.content(), before)


class Books(OwnershipTest):
    """A book belongs to the source folder that made it."""

    def setUp(self):
        super().setUp()
        for place, height in (("ca", 40), ("cb", 50)):
            for name in ("p1", f"only in {place}"):
                photo(self.base / place / f"codex/{name}.jpg", 60, height + len(name))
            self.describe(place)

    def describe(self, place, title=None):
        (self.base / place / "codex/book.json").write_text(json.dumps({"title": title or f"The book of {place}"}))

    def title(self):
        return json.loads((self.library / "codex/book.json").read_text())["title"]

    def test_a_book_of_the_same_name_is_refused(self):
        self.assertEqual(set(self.build("ca", "--book")[0].values()), {"built"})
        before = self.content()
        self.assertEqual(self.title(), "The book of ca")
        for place in ("cb", "cb/codex"):
            report, message = self.build(place, "--book", code=1)
            self.assertEqual(report, {"codex/p1": "failed", "codex/only in cb": "failed"})
            for word in ("is of the book 'codex', which belongs to ", "ca/codex", "--prefix", "--take-ownership"):
                self.assertIn(word, message)
        self.assertEqual((self.content(), self.title()), (before, "The book of ca"))
        self.assertEqual(self.build("cb", "--book", "--prefix=cb")[0], {"cb/codex/p1": "built", "cb/codex/only in cb": "built"})
        # Its own folder changes it, also by another argument.
        self.describe("ca", "Changed")
        self.build("ca", "--book")
        self.assertEqual(self.title(), "Changed")
        self.describe("ca", "Changed again")
        self.build("ca/codex", "--book")
        self.assertEqual(self.title(), "Changed again")

    def test_without_pages_of_the_same_name(self):
        self.build("ca", "--book")
        (self.base / "cb/codex/p1.jpg").unlink()
        self.assertEqual(self.build("cb", "--book", code=1)[0], {"codex/only in cb": "failed"})
        self.assertEqual(self.title(), "The book of ca")
        # The same without the catalog.
        for path in self.library.glob("catalog.sqlite*"):
            path.unlink()
        self.assertEqual(self.build("cb", "--book", code=1)[0], {"codex/only in cb": "failed"})
        self.assertEqual(self.title(), "The book of ca")
        self.assertEqual(set(self.build("ca", "--book")[0].values()), {"unchanged"})

    def test_ownership_of_a_book_is_taken_on_request(self):
        self.build("ca", "--book")
        self.assertEqual(set(self.build("cb", "--book", "--take-ownership")[0].values()), {"built"})
        self.assertEqual(self.title(), "The book of cb")
        for options in ((), ("--prune",)):
            # A page that the other folder alone has stays, and is the book's.
            report, _ = self.build("ca", "--book", *options, code=1)
            self.assertEqual(set(report.values()), {"failed"})
        self.assertEqual(self.title(), "The book of cb")
        self.assertEqual(set(self.build("cb", "--book")[0].values()), {"unchanged"})

    def test_what_was_pruned_is_free(self):
        self.build("ca", "--book")
        shutil.rmtree(self.base / "ca/codex")
        self.build("ca", "--book", "--prune=all")
        self.assertEqual(set(self.build("cb", "--book")[0].values()), {"built"})
        self.assertEqual(self.title(), "The book of cb")

    def test_a_moved_book_keeps_its_pages(self):
        photo(self.base / "ca/other/p.jpg", 60, 40)
        self.build("ca", "--book")
        shutil.rmtree(self.base / "cb")
        (self.base / "cb").mkdir()
        (self.base / "ca/codex").rename(self.base / "cb/codex")
        self.assertEqual(set(self.build("cb", "--book")[0].values()), {"unchanged"})
        self.describe("cb")
        self.build("cb", "--book")
        self.assertEqual(self.title(), "The book of cb")

    def test_documents_and_folders(self):
        for place, height in (("da", 40), ("db", 50)):
            tall = photo(self.base / f"{place}.png", 60, (2 if place == "da" else 3) * height)
            (self.base / place).mkdir()
            subprocess.run(["vips", "copy", tall, f"{self.base}/{place}/codex.tif[page-height={height}]"], check=True)
        self.assertEqual(self.build("da")[0], {"codex/1": "built", "codex/2": "built"})
        before = self.content()
        # The third page is not added to the other document.
        self.assertEqual(self.build("db", code=1)[0], {f"codex/{page}": "failed" for page in (1, 2, 3)})
        self.assertEqual(self.build("ca", "--book", code=1)[0], {"codex/p1": "failed", "codex/only in ca": "failed"})
        self.assertEqual(self.content(), before)
        self.assertFalse((self.library / "codex/book.json").exists())


class Uploads(CommandTest):
    def test_a_build_does_not_replace_an_upload(self):
        library, photos = folder("library"), folder("photos")
        picture = photo(photos / "a" / "p1.jpg", 300, 200).read_bytes()
        photo(photos / "b" / "p1.jpg", 320, 200)
        photo(photos / "b" / "p2.jpg", 320, 200)
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.end(client.send(picture, filename="p1.jpg")[1])["image"], "p1")
            before = (library / "p1.szi").read_bytes()
            # With the catalog and without it.
            for _ in range(2):
                result = run("build", photos / "b", "--library", library, "--quiet")
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("has the same id 'p1' as an uploaded image", result.stderr)
                self.assertEqual((library / "p1.szi").read_bytes(), before)
                for path in library.glob("catalog.sqlite*"):
                    path.unlink()
            # The original of one that is replaced goes to the trash.
            kept = library / "p1.jpg"
            kept.write_bytes(picture)
            result = run("build", photos / "b", "--library", library, "--quiet", "--take-ownership")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(kept.exists())
            self.assertEqual([path.read_bytes() for path in (library / ".ziggurat-trash").rglob("p1.jpg")], [picture])
            # An upload of a name that a build has taken gets a number.
            self.assertEqual(client.end(client.send(photo(photos / "c" / "p2.jpg", 300, 210).read_bytes(), filename="p2.jpg")[1])["image"],
                             "p2-2")


class Names(CommandTest):
    """Sources of one run whose names are alike."""

    def setUp(self):
        self.base = folder("alike")
        self.library = self.base / "library"

    def build(self, *sources, code=0):
        result = run("build", *(self.base / source for source in sources), "--library", self.library, "--json", "--quiet")
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        return {line["id"]: line["source"] for line in lines if "id" in line}, result.stderr

    def test_equal_names_of_two_folders(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "cb/p1.jpg", 80, 50)
        photo(self.base / "cb/p2.jpg", 80, 50)
        self.build("ca")
        for _ in range(2):
            report, message = self.build("ca", "cb", code=1)
            # The id stays as it is; the one in the second folder is refused.
            self.assertEqual(report, {"p1": f"{self.base}/ca/p1.jpg", "p2": f"{self.base}/cb/p2.jpg"})
            self.assertOneFailure(message, "cb/p1.jpg", "has the same id 'p1' as", "ca/p1.jpg", "--prefix NAME")
            photo(self.base / "ca/p1.jpg", 62, 40)

    def assertOneFailure(self, message, *parts):
        self.assertEqual(len(message.splitlines()), 1, message)
        for word in parts:
            self.assertIn(word, message)

    def test_a_name_that_is_another_ones_stem(self):
        for name in ("a.webp", "a.png", "a.webp.png", "b.png", "b.jpg.png"):
            photo(self.base / "in" / name, 60, 40)
        report, _ = self.build("in")
        self.assertEqual({id: path.split("/")[-1] for id, path in report.items()},
                         {"a.webp": "a.webp", "a.png": "a.png", "a.webp.png": "a.webp.png", "b": "b.png", "b.jpg": "b.jpg.png"})

    def test_accents_that_are_composed_differently(self):
        photo(self.base / "in/caf\u00e9.png", 60, 40)
        photo(self.base / "in/cafe\u0301.png", 60, 41)
        _, message = self.build("in", code=1)
        self.assertOneFailure(message, "has the same id", "caf\\u{E9}.png", "cafe\\u{301}.png")


if __name__ == "__main__":
    unittest.main()
