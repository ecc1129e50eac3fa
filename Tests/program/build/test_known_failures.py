"""Pictures that cannot be built: reported when they are new, and not tried again before something changes."""

import json
import shutil
import time
import unittest

from harness import CommandTest, folder, photo, run
from opened_files import OpenedFiles


class KnownFailures(CommandTest):
    def setUp(self):
        self.base = folder("known")
        self.photos, self.library = self.base / "photos", self.base / "library"
        photo(self.photos / "good.jpg", 60, 40)
        (self.photos / "bad.jpg").write_text("no picture")

    def build(self, *options, code=0):
        result = run("build", self.photos, "--library", self.library, "--summary", *options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr.splitlines()

    def settle(self):
        """Until a change of the files would be seen by their times."""
        time.sleep(max(0, max(path.stat().st_ctime for path in self.photos.iterdir()) + 3.1 - time.time()))

    def test_only_a_new_failure_ends_with_1(self):
        ignore = ("--known-failures", "ignore")
        first = self.build(*ignore, code=1)
        self.assertEqual((len(first), first[-1]), (2, "1 built, 1 failed"))
        self.assertEqual(self.build(*ignore), ["0 built, 1 unchanged, 1 known failure"])
        # The default still reports it.
        line, last = self.build(code=1)
        self.assertIn(first[0] + " (known since ", line)
        self.assertEqual(last, "0 built, 1 unchanged, 1 failed")
        (self.photos / "worse.png").write_text("no picture either")
        lines = self.build(*ignore, code=1)
        self.assertEqual((len(lines), lines[-1]), (2, "0 built, 1 unchanged, 1 failed, 1 known failure"))
        self.assertIn("worse.png: ", lines[0])
        self.assertEqual(self.build(*ignore), ["0 built, 1 unchanged, 2 known failures"])
        lines = [json.loads(line) for line in run("build", self.photos, "--library", self.library, "--json", "--quiet", *ignore).stdout.splitlines()]
        self.assertEqual({line["id"]: line.get("known") for line in lines if line["status"] == "failed"}, {"bad": True, "worse": True})

    def test_what_is_tried_again(self):
        ignore = ("--known-failures=ignore",)
        self.build(*ignore, code=1)
        self.assertEqual(self.build(*ignore)[-1], "0 built, 1 unchanged, 1 known failure")
        # By force, with other options, and with other content.
        self.assertEqual(self.build(*ignore, "--force", code=1)[-1], "1 built, 1 failed")
        self.assertEqual(self.build(*ignore, "--quality", "70", code=1)[-1], "1 built, 1 failed")
        self.assertEqual(self.build(*ignore, "--quality", "70")[-1], "0 built, 1 unchanged, 1 known failure")
        (self.photos / "bad.jpg").write_text("another file that is no picture")
        self.assertEqual(self.build(*ignore, "--quality", "70", code=1)[-1], "0 built, 1 unchanged, 1 failed")
        photo(self.photos / "bad.jpg", 61, 40)
        self.assertEqual(self.build(*ignore, "--quality", "70")[-1], "1 built, 1 unchanged")
        # A source that was repaired and breaks again is new.
        (self.photos / "bad.jpg").write_text("another file that is no picture")
        self.build(*ignore, "--quality", "70", code=1)

    def test_a_file_that_has_not_changed_is_not_read_again(self):
        self.settle()
        self.build("--known-failures", "ignore", code=1)
        opened = OpenedFiles(self.photos)
        self.build("--known-failures", "ignore")
        self.assertEqual(set(opened.names(".jpg")), {"good.jpg"})

    def test_a_copy_with_another_time_is_still_known(self):
        self.build(code=1)
        shutil.copyfile(self.photos / "bad.jpg", self.base / "copy")
        (self.photos / "bad.jpg").unlink()
        (self.base / "copy").rename(self.photos / "bad.jpg")
        self.assertEqual(self.build("--known-failures", "ignore"), ["0 built, 1 unchanged, 1 known failure"])

    def test_usage(self):
        self.assertUsageError(run("build", self.photos, "--library", self.library, "--known-failures", "new"),
                              "invalid value 'new' for --known-failures (expected report or ignore)")


if __name__ == "__main__":
    unittest.main()
