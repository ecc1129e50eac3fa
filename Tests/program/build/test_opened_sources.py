"""Sources are opened once and passed on: each open of a file on another machine is a question to that machine."""

import unittest

from harness import folder, photo, run
from opened_files import OpenedFiles

# Once by the process that reads folders; the others by the sandboxed process that decodes.
FORMATS = {"jpg": 11, "png": 16, "tif": 19}


class OpenedSources(unittest.TestCase):
    def test_an_unchanged_source_is_opened_once_for_its_digest(self):
        source, library = folder("sources"), folder("library")
        for ending in FORMATS:
            photo(source / f"photo.{ending}", 1200, 900).rename(source / f"{ending}.{ending}")
        self.assertEqual(run("build", source, "--library", library).returncode, 0)
        with OpenedFiles(source) as opened:
            self.assertEqual(run("build", source, "--library", library).returncode, 0)
            names = [name for name in opened.names("") if name]
            self.assertEqual(sorted(names), [f"{ending}.{ending}" for ending in sorted(FORMATS)])

    def test_no_more_opens_than_are_known_for_each_format(self):
        for ending, most in FORMATS.items():
            with self.subTest(ending):
                source, library = folder("sources"), folder("library")
                photo(source / f"photo.{ending}", 1200, 900)
                with OpenedFiles(source) as opened:
                    self.assertEqual(run("build", source, "--library", library).returncode, 0)
                    self.assertLessEqual(len(opened.names(f".{ending}")), most)


if __name__ == "__main__":
    unittest.main()
