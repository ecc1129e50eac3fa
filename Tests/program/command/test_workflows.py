"""The workflows of .github: YAML, and nothing in them that is not there."""

import re
import subprocess
import unittest

import yaml

from harness import ROOT

WORKFLOWS = {path.name: yaml.safe_load(path.read_text()) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}


def commands(workflow: dict) -> list[str]:
    """What its steps run, once for each row of a matrix."""
    found = []
    for job in workflow["jobs"].values():
        rows = job.get("strategy", {}).get("matrix", {}).get("include", [{}])
        for step in job.get("steps", []):
            found += [re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda name: row[name[1]], step["run"]) for row in rows if "run" in step]
    return found


class Workflows(unittest.TestCase):
    def test_they_make_what_there_is_to_make(self):
        self.assertEqual(set(WORKFLOWS), {"api.yml", "ci.yml", "nightly.yml", "release.yml"})
        makefile = (ROOT / "Makefile").read_text()
        targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
        made = set()
        for workflow in WORKFLOWS.values():
            for command in commands(workflow):
                self.assertNotIn("${{", command)
                for arguments in re.findall(r"(?:^|&& )make ([a-z].*)$", command, re.MULTILINE):
                    for word in arguments.split():
                        name, _, value = word.partition("=")
                        self.assertIn(name, set(re.findall(r"\b[A-Z_]+\b", makefile)) if value else targets, command)
                        made.add(name)
                for script in re.findall(r"(?:^|\$\()((?:\.ci|packaging)/[a-z-]+)", command, re.MULTILINE):
                    self.assertTrue((ROOT / script).exists(), script)
        self.assertLessEqual({"release-files", "api-changes", "fuzz", "fuzz-store", "soak"}, made)

    def test_they_may_do_no_more_than_they_need(self):
        for name, workflow in WORKFLOWS.items():
            self.assertEqual(workflow["permissions"], {"contents": "read"}, name)
            for job, steps in workflow["jobs"].items():
                if "permissions" in steps:
                    self.assertEqual((name, job, steps["permissions"]), ("release.yml", "draft", {"contents": "write"}))
            for used in re.findall(r"uses: (\S+)", (ROOT / ".github/workflows" / name).read_text()):
                # GitHub's own, of a version.
                self.assertRegex(used, r"^actions/[a-z-]+@v\d+$|^\./\.github/workflows/[a-z]+\.yml$")

    def test_a_release_says_what_the_changelog_says(self):
        script = next(command for command in commands(WORKFLOWS["release.yml"]) if command.startswith("awk "))
        result = subprocess.run(["bash", "-euc", script.replace(".build/notes.md", "/dev/stdout", 1).split("\n")[0]], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("\n## ", result.stdout)
        self.assertIn("### To change when you upgrade", result.stdout)


if __name__ == "__main__":
    unittest.main()
