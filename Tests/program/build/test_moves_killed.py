"""Builds that are killed while renamed sources' archives go along; libraries of two sources."""

import os
import signal
import subprocess
import time
import unittest

from harness import BINARY, Server, photo, run, seed
from test_moved_sources import MovedTest


class MovesKilled(MovedTest):
    def test_killed_at_random_moments_no_image_and_no_word_is_lost(self):
        random = seed("moves killed")
        count = 40

        def name(place, number):
            # A new folder each time, and new names in it: some archives are renamed, some written anew.
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
            told = self.build()
            self.assertFalse([status for status in told.values() if not status.startswith("moved")], told)
            self.assertEqual(self.ids(), [name(new, number) for number in range(count)])
        with Server(self.library) as server:
            for number in range(count):
                for old in range(rounds):
                    self.assertEqual(self.get(server, f"/dzi/{name(old, number)}.dzi"),
                                     (301, f"/dzi/{name(rounds, number).replace('/', '%2F')}.dzi"))


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

    def test_what_is_no_prefix(self):
        photo(self.photos / "a.jpg", 90, 60)
        for name in ("", "/", "..", "a//b", ".hidden", "~/x", "a/../b"):
            result = run("build", self.photos, "--library", self.library, "--prefix", name)
            self.assertUsageError(result, "it takes a name")


if __name__ == "__main__":
    unittest.main()
