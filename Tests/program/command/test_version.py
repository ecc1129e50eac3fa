"""The version is defined once, and every output of it is the same."""

import json
import re
import subprocess
import unittest

from harness import ROOT, Server, folder, run

VERSION = subprocess.run([ROOT / "packaging/version"], capture_output=True, text=True, check=True).stdout.strip()
# Who writes down what earlier versions did names them.
HISTORY = re.compile(r"CHANGELOG\.md|docs/\S*(?:operat|upgrad)\w*\.md")


class Version(unittest.TestCase):
    def test_everything_reports_the_same(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        self.assertEqual(run("--version").stdout, f"ziggurat {VERSION}\n")
        self.assertIn(f"ziggurat {VERSION}", run("man").stdout.splitlines()[0])
        with Server(folder("empty")) as server:
            self.assertEqual(json.loads(server.get("/openapi.json").body)["info"]["version"], VERSION)
            self.assertIn(f'ziggurat_build_info{{version="{VERSION}",', server.get("/metrics").body.decode())

    def test_no_other_file_writes_it(self):
        files = subprocess.run(["git", "grep", "--files-with-matches", "--fixed-strings", "--word-regexp", VERSION], cwd=ROOT, capture_output=True,
                               text=True).stdout.split()
        numbers = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d./])")
        def writes(file: str) -> bool:
            # The upload protocol tus has a version of its own.
            lines = re.split(r"\n", (ROOT / file).read_text(errors="replace"))
            return any(numbers.search(line) and not re.search(r'tus|"enum"|9\.9\.9', line, re.IGNORECASE) for line in lines)
        found = {file for file in files if not HISTORY.fullmatch(file) and writes(file)}
        # Another program's, that of a test's dependency.
        self.assertEqual(found - {"Tests/iiif/test_validators.py"}, {"Sources/ziggurat/Ziggurat.swift"})

    def test_the_changelog_begins_with_it_or_with_what_comes_next(self):
        sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        dated = [section for section in sections if section != "Unreleased"]
        self.assertRegex(dated[0], rf"^{re.escape(VERSION)} - \d{{4}}-\d\d-\d\d$")
        self.assertLessEqual(sections.index(dated[0]), 1)


if __name__ == "__main__":
    unittest.main()
