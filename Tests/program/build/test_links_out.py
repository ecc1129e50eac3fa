"""Links that lead out of what was named: of a source folder, of a library, of an export's output."""

import json
import os
import unittest

from harness import folder, photo, run


class LinksOutOfSources(unittest.TestCase):
    def setUp(self):
        self.base = folder("links")
        self.photos, self.library = self.base / "photos", self.base / "library"
        photo(self.photos / "a.jpg", 90, 60)
        photo(self.base / "elsewhere/b.jpg", 80, 60)
        photo(self.base / "elsewhere/deep/c.jpg", 70, 60)
        (self.photos / "inside.jpg").symlink_to("a.jpg")
        (self.photos / "b.jpg").symlink_to("../elsewhere/b.jpg")
        (self.photos / "deep").symlink_to(self.base / "elsewhere/deep")
        (self.photos / "a.xmp").symlink_to("/etc/hostname")

    def build(self, *options, sources=None):
        return run("build", *(sources or [self.photos]), "--library", self.library, *options)

    def images(self) -> list[str]:
        return sorted(str(path.relative_to(self.library))[:-4] for path in self.library.rglob("*.szi"))

    def test_they_are_passed_over_and_reported(self):
        result = self.build()
        self.assertEqual((result.returncode, self.images()), (0, ["a"]), result)
        for name in ("b.jpg", "deep", "a.xmp"):
            self.assertIn(f"passed over: {self.photos}/{name} is a link that leads out of its folder", result.stderr)
        self.assertIn("3 links passed over (--follow-links follows them)", result.stderr)
        self.assertNotIn("inside.jpg", result.stderr)

    def test_follow_links(self):
        result = self.build("--follow-links")
        self.assertEqual((result.returncode, self.images()), (0, ["a", "b", "deep/c"]), result)
        self.assertNotIn("passed over:", result.stderr)
        # What was built by links is not taken for gone by a build that passes them over.
        for options in (["--prune"], ["--prune=all"]):
            result = self.build(*options)
            self.assertEqual((result.returncode, self.images()), (0, ["a", "b", "deep/c"]), result)

    def test_a_link_that_is_named_is_followed(self):
        (self.base / "current").symlink_to("photos")
        result = self.build(sources=[self.base / "current", self.photos / "b.jpg"])
        self.assertEqual((result.returncode, self.images()), (0, ["a", "b"]), result)

    def test_a_plan_passes_them_over_too(self):
        plan = self.base / "plan.jsonl"
        for options, count in ([], 1), (["--follow-links"], 3):
            result = run("plan", self.photos, *options)
            self.assertEqual(result.returncode, 0, result)
            plan.write_text(result.stdout)
            lines = [json.loads(line) for line in result.stdout.splitlines()]
            self.assertEqual(sum("source" in line for line in lines), count)
            self.assertEqual("3 links passed over" in result.stderr, not options)
        self.assertEqual(self.build("--plan", plan, sources=["--quiet"]).returncode, 0)
        self.assertEqual(self.images(), ["a", "b", "deep/c"])

    def test_a_book_s_description_out_of_the_folder_is_none(self):
        (self.base / "elsewhere/book.json").write_text('{"title": "secret"}')
        (self.photos / "book.json").symlink_to("../elsewhere/book.json")
        result = self.build("--book")
        self.assertEqual(result.returncode, 0, result)
        self.assertFalse(list(self.library.rglob("book.json")))


class LinksOutOfOutputs(unittest.TestCase):
    def setUp(self):
        self.base = folder("outputs")
        self.outside = self.base / "outside"
        self.outside.mkdir()
        photo(self.base / "photos/x/a.jpg", 90, 60)
        photo(self.base / "photos/b.jpg", 80, 60)

    def test_a_build_writes_into_its_library_alone(self):
        library = self.base / "library"
        library.mkdir()
        (library / "x").symlink_to(self.outside)
        result = run("build", self.base / "photos", "--library", library)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"a link leads out of {library}", result.stderr)
        self.assertEqual(os.listdir(self.outside), [])
        self.assertTrue((library / "b.szi").exists())
        # A link that stays within is fine, and so is a library that is a link itself.
        (library / "x").unlink()
        (library / "y").mkdir()
        (library / "x").symlink_to(library / "y")
        (self.base / "current").symlink_to("library")
        result = run("build", self.base / "photos", "--library", self.base / "current")
        self.assertEqual(result.returncode, 0, result)
        self.assertTrue((library / "y/a.szi").exists())

    def test_an_export_writes_into_its_output_alone(self):
        library = self.base / "library"
        self.assertEqual(run("build", self.base / "photos", "--library", library).returncode, 0)
        for name, target in ("x", self.outside), ("b", self.outside), ("x", "../outside"):
            for options in ([], ["--force"]):
                with self.subTest(name=name, target=target, options=options):
                    output = self.base / f"output {name}"
                    output.mkdir(exist_ok=True)
                    (output / name).unlink(missing_ok=True)
                    (output / name).symlink_to(target)
                    result = run("export", library, "--layout", "dz", "--output", output, *options)
                    self.assertEqual(result.returncode, 1, result)
                    self.assertIn(f"a link leads out of {output}", result.stderr)
                    self.assertEqual(os.listdir(self.outside), [])
        (self.base / "named").symlink_to("outside")
        result = run("export", library, "--layout", "dz", "--output", self.base / "named")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(sorted(os.listdir(self.outside)), ["b", "x"])


if __name__ == "__main__":
    unittest.main()
