"""Addresses from before a rename lead to the picture that was meant, or nowhere: never to another one."""

import unittest

from harness import Server, photo, run
from test_moved_sources import MovedTest


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


if __name__ == "__main__":
    unittest.main()
