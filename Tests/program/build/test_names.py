"""Renames: builds that are killed amid them, names that change hands, old addresses; libraries of two sources."""

import os
import signal
import subprocess
import time
import unittest

from harness import BINARY, Server, photo, run, seed
from test_moved_sources import MovedTest


class MovesKilled(MovedTest):
    def test_killed_at_random_times_no_image_and_no_metadata_are_lost(self):
        random = seed("moves killed")
        count = 40

        def name(place, number):
            # A new folder each time, and new names in it: some archives are renamed, some rebuilt.
            return f"{place}/{'x' * (place % 3)}{number:02}"

        first = photo(self.photos / f"{name(0, 0)}.png", 20, 10).read_bytes()
        for number in range(count):
            (self.photos / f"{name(0, number)}.png").write_bytes(first + bytes([number]))
        self.build()
        for number in range(count):
            (self.library / f"{name(0, number)}.xmp").write_text(str(number))
        rounds = int(os.environ.get("KILLS", 8))
        for old in range(rounds):
            new = old + 1
            (self.photos / f"{new}").mkdir()
            for number in range(count):
                (self.photos / f"{name(old, number)}.png").rename(self.photos / f"{name(new, number)}.png")
            process = subprocess.Popen([BINARY, "build", self.photos, "--library", self.library, "--quiet", *self.options])
            time.sleep(random.uniform(0.02, 0.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
            for number in range(count):
                homes = [name(place, number) for place in (old, new) if (self.library / f"{name(place, number)}.szi").exists()]
                self.assertEqual(len(homes), 1, number)
                self.assertEqual((self.library / f"{homes[0]}.xmp").read_text(), str(number))
            report = self.build()
            # Records of those that were moved just before the kill may lack their sources' new names.
            others = [status for status in report.values() if not status.startswith("moved")]
            self.assertLessEqual(set(others), {"metadata-updated"}, report)
            self.assertLessEqual(len(others), os.cpu_count() or 1, report)
            self.assertEqual(self.ids(), [name(new, number) for number in range(count)])
        with Server(self.library) as server:
            for number in range(count):
                for old in range(rounds):
                    self.assertEqual(self.get(server, f"/dzi/{name(old, number)}.dzi"),
                                     (301, f"/dzi/{name(rounds, number).replace('/', '%2F')}.dzi"))


class NamesChangeHands(MovedTest):
    def setUp(self):
        super().setUp()
        for number, name in enumerate("abcdef"):
            photo(self.photos / f"{name}.jpg", 90, 60 + number)
        self.options += ("--jobs", "1")
        self.build()
        for name in "abcdef":
            (self.library / f"{name}.xmp").write_text(name)

    def rename(self, **names):
        """All at once: by the old names the new ones."""
        for old in names:
            (self.photos / f"{old}.jpg").rename(self.base / old)
        for old, new in names.items():
            (self.base / old).rename(self.photos / f"{new}.jpg")

    def assertMoved(self, *options, others=None, **names):
        wanted = {new: f"moved {old}" for old, new in names.items()} | (others or {})
        self.assertEqual(self.build("--dry-run"), {id: {"built": "would build"}.get(status, status.replace("moved", "would move"))
                                                   for id, status in wanted.items()})
        self.assertEqual(self.build(*options), wanted)
        for old, new in names.items():
            self.assertEqual((self.library / f"{new}.xmp").read_text(), old)
        self.assertAsRebuilt()
        self.assertFalse(list(self.library.glob("*moving*")))
        self.assertEqual(self.build(), {})

    def test_two_change_places(self):
        self.rename(a="b", b="a")
        self.assertMoved(a="b", b="a")

    def test_circles_and_chains_at_once(self):
        self.rename(a="b", b="c", c="a", d="e", e="f", f="g")
        self.assertMoved(a="b", b="c", c="a", d="e", e="f", f="g")
        with Server(self.library) as server:
            self.assertEqual([self.get(server, f"/api/images/{id}")[0] for id in "abcefg"], [200] * 6)
            self.assertEqual(self.get(server, "/api/images/d"), (301, "/api/images/e"))

    def test_scans_of_one_size(self):
        for name in "abc":
            photo(self.photos / f"plain/{name}.ppm", 40, 30, left=ord(name))
        self.build()
        for old, new in ("cd", "bc", "ab"):
            (self.photos / f"plain/{old}.ppm").rename(self.photos / f"plain/{new}.ppm")
        photo(self.photos / "plain/a.ppm", 40, 30, left=999)
        self.assertEqual(self.build(), {"plain/b": "moved plain/a", "plain/c": "moved plain/b", "plain/d": "moved plain/c", "plain/a": "built"})
        self.assertAsRebuilt()

    def test_a_chain_that_ends_at_a_place_that_is_taken(self):
        # What stood at c is nowhere now.
        (self.photos / "c.jpg").unlink()
        self.rename(a="b", b="c")
        self.assertEqual(self.build(), {"b": "moved a", "c": "moved b"})
        self.assertEqual([(self.library / f"{name}.xmp").read_text() for name in "bc"], ["a", "b"])
        [gone] = (self.library / ".ziggurat-trash").rglob("c.xmp")
        self.assertEqual((gone.read_text(), gone.with_suffix(".szi").exists()), ("c", True))

    def test_addresses_from_before_follow_the_pictures(self):
        self.rename(a="x", b="y")
        self.build()
        self.rename(x="y", y="x")
        self.assertEqual(self.build(), {"x": "moved y", "y": "moved x"})
        with Server(self.library) as server:
            self.assertEqual([self.get(server, f"/api/images/{id}") for id in "ab"], [(301, "/api/images/y"), (301, "/api/images/x")])

    def test_pages_of_a_book(self):
        for number in (1, 2, 3):
            photo(self.photos / f"codex/f{number}.jpg", 60, 40 + number)
        self.options += ("--book",)
        (self.base / "second").mkdir()
        (self.photos / "codex").rename(self.base / "second/codex")
        self.photos, self.library = self.base / "second", self.base / "books"
        self.build()
        pages = self.photos / "codex"
        for old, new in (("f2", "x"), ("f3", "f2"), ("x", "f3")):
            (pages / f"{old}.jpg").rename(pages / f"{new}.jpg")
        self.assertEqual(self.build("--prune"), {"codex/f2": "moved codex/f3", "codex/f3": "moved codex/f2"})
        self.assertAsRebuilt()

    def test_killed_amid_a_circle(self):
        random = seed("circle killed")
        for _ in range(int(os.environ.get("KILLS", 6))):
            self.rename(a="b", b="a")
            process = subprocess.Popen([BINARY, "build", self.photos, "--library", self.library, "--quiet", *self.options])
            time.sleep(random.uniform(0.02, 0.3))
            process.send_signal(signal.SIGKILL)
            process.wait()
            report = self.build("--prune=all")
            # Records of those that were moved before the kill, or by their journal, may lack their sources' new names.
            others = {id for id, status in report.items() if not status.startswith("moved")}
            self.assertLessEqual({report[id] for id in others}, {"metadata-updated"}, report)
            self.assertLessEqual(others, {"a", "b"}, report)
            self.assertEqual(self.build("--prune=all"), {})
            self.assertEqual(self.ids(), list("abcdef"))
            self.assertEqual(sorted((self.library / f"{name}.xmp").read_text() for name in "ab"), ["a", "b"])


class OldAddresses(MovedTest):
    def rename(self, old, new):
        (self.photos / new).parent.mkdir(parents=True, exist_ok=True)
        (self.photos / old).rename(self.photos / new)

    def assertLeads(self, **wanted):
        """Where each id leads, or the status where it does not."""
        with Server(self.library) as server:
            found = {id: self.get(server, f"/dzi/{id}.dzi") for id in wanted}
        self.assertEqual({id: location or status for id, (status, location) in found.items()},
                         {id: lead if isinstance(lead, int) else f"/dzi/{lead}.dzi" for id, lead in wanted.items()})

    def test_another_picture_takes_the_new_name_after_the_first_is_gone(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        self.rename("a.jpg", "b.jpg")
        self.build()
        (self.photos / "b.jpg").unlink()
        self.assertEqual(self.build("--prune=all"), {"b": "pruned"})
        photo(self.photos / "b.jpg", 60, 90)
        self.assertEqual(self.build(), {"b": "built"})
        self.assertLeads(a=404, b=200)
        # An edited picture is the one that it was.
        self.rename("b.jpg", "c.jpg")
        self.build()
        photo(self.photos / "c.jpg", 61, 90)
        self.assertEqual(self.build(), {"c": "built"})
        self.assertLeads(b="c")

    def test_another_picture_takes_a_name_between(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        for old, new in ("ab", "bc"):
            self.rename(f"{old}.jpg", f"{new}.jpg")
            self.build()
        self.assertLeads(a="c", b="c")
        photo(self.photos / "b.jpg", 60, 90)
        self.assertEqual(self.build(), {"b": "built"})
        self.assertLeads(a="c", b=200)
        # And by a rename.
        self.rename("c.jpg", "d.jpg")
        self.build()
        self.rename("b.jpg", "c.jpg")
        self.assertEqual(self.build(), {"c": "moved b"})
        self.assertLeads(a="d", b="c", c=200)

    def test_another_book_takes_the_name(self):
        self.options += ("--book",)
        for number in (1, 2):
            photo(self.photos / f"codex/f{number}.jpg", 60, 40 + number)
        self.build()
        (self.photos / "codex").rename(self.photos / "chronicle")
        self.build()
        with Server(self.library) as server:
            self.assertEqual(self.get(server, "/iiif/presentation/3/codex/manifest"), (301, "/iiif/presentation/3/chronicle/manifest"))
        for page in (self.photos / "chronicle").iterdir():
            page.unlink()
        photo(self.photos / "z.jpg", 70, 40)
        self.build("--prune=all", sources=[self.photos])
        photo(self.photos / "chronicle/g1.jpg", 60, 50)
        self.build()
        with Server(self.library) as server:
            self.assertEqual(self.get(server, "/api/images/chronicle")[0], 200)
            self.assertEqual(self.get(server, "/iiif/presentation/3/codex/manifest")[0], 404)

    def test_folders_that_are_called_like_what_is_written_down(self):
        for number, (name, folder) in enumerate((("a", "a.new"), ("b", "b.to"))):
            photo(self.photos / f"{name}.jpg", 90, 60 + number)
            photo(self.photos / f"{folder}/x.jpg", 60, 90 + number)
        self.build()
        self.rename("a.jpg", "p.jpg")
        self.rename("a.new/x.jpg", "q.jpg")
        self.rename("b.to/x.jpg", "r.jpg")
        self.rename("b.jpg", "s.jpg")
        self.assertEqual(self.build(), {"p": "moved a", "q": "moved a.new/x", "r": "moved b.to/x", "s": "moved b"})
        self.assertLeads(**{"a": "p", "a.new%2Fx": "q", "b.to%2Fx": "r", "b": "s"})

    def test_a_picture_of_another_source_takes_the_name(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        self.rename("a.jpg", "b.jpg")
        self.build()
        (self.library / "b.szi").unlink()
        photo(self.base / "other/b.jpg", 60, 90)
        self.assertEqual(run("build", self.base / "other", "--library", self.library).returncode, 0)
        self.assertLeads(a=404, b=200)


class Prefixes(MovedTest):
    def test_two_sources_of_one_library(self):
        photo(self.photos / "a.jpg", 90, 60)
        photo(self.base / "slides/a.jpg", 60, 40)
        photo(self.base / "slides/b.jpg", 60, 41)
        photo(self.base / "slides/c.jpg", 60, 42)
        self.build()
        slides = {"sources": [self.base / "slides"]}
        self.assertEqual(self.build("--prefix", "lab/slides/", **slides), {f"lab/slides/{id}": "built" for id in "abc"})
        self.assertEqual(self.build("--prefix", "lab/slides", "--prune", **slides), {})
        # Each is pruned by itself.
        (self.base / "slides/b.jpg").unlink()
        (self.base / "slides/c.jpg").rename(self.base / "slides/d.jpg")
        self.assertEqual(self.build("--prune"), {})
        self.assertEqual(self.build("--prune", "--prefix", "lab/slides", **slides), {"lab/slides/b": "pruned", "lab/slides/d": "moved lab/slides/c"})
        self.assertEqual(self.ids(), ["a", "lab/slides/a", "lab/slides/d"])
        # The same folder without it is another source.
        self.assertEqual(self.build(code=0, sources=[self.base / "slides"], library=self.base / "second"), {"a": "built", "d": "built"})
        (self.library / "lab/slides/a.szi").write_bytes(b"damaged")
        self.assertEqual(run("verify", self.library, "--repair").returncode, 0)
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_books_have_it_too(self):
        photo(self.photos / "codex/p1.jpg", 90, 60)
        photo(self.photos / "codex/p2.jpg", 90, 61)
        self.build("--book", "--prefix", "library")
        self.assertTrue(all(id.startswith("library/codex/") for id in self.ids()), self.ids())

    def test_marks_of_direction_are_shown_as_numbers(self):
        photo(self.photos / "x\u202egnp.jpg", 60, 40)
        photo(self.photos / "y\u2066\u200f.jpg", 61, 40)
        result = run("build", self.photos, "--library", self.library)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("built x\\u{202E}gnp: ", result.stderr)
        self.assertIn("built y\\u{2066}\\u{200F}: ", result.stderr)
        self.assertTrue((self.library / "x\u202egnp.szi").exists())

    def test_a_folder_that_has_the_name_of_an_archive(self):
        photo(self.photos / "y.jpg", 90, 60)
        photo(self.photos / "y.szi/a.jpg", 91, 60)
        photo(self.photos / "z.szi/deep/b.jpg", 92, 60)
        result = run("build", self.photos, "--library", self.library, "--quiet")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr, f"ziggurat: {self.photos}/y.szi/a.jpg: would lie in the library's folder 'y.szi', but the archive of 'y' has that name; rename the folder\n")
        self.assertEqual(sorted(str(path.relative_to(self.library)) for path in self.library.rglob("*.szi") if path.is_file()), ["y.szi", "z.szi/deep/b.szi"])
        # What is there already, from another source.
        other = self.photos.parent / "other"
        photo(other / "z.jpg", 93, 60)
        result = run("build", other, "--library", self.library, "--quiet")
        self.assertEqual((result.returncode, result.stderr), (1, f"ziggurat: {other}/z.jpg: cannot write {self.library}/z.szi: a folder has this name; rename it\n"))

    def test_what_is_no_prefix(self):
        photo(self.photos / "a.jpg", 90, 60)
        for name in ("", "/", "..", "a//b", ".hidden", "~", "~/x", "a/../b", "a.szi", "b/a.zip/c", "a.dzi/"):
            result = run("build", self.photos, "--library", self.library, "--prefix", name)
            self.assertUsageError(result, "expected a name")


if __name__ == "__main__":
    unittest.main()
