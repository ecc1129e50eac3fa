"""The first command of the README: what `make demo` builds of Debian's wallpapers."""

import shlex
import subprocess

from harness import ROOT, CommandTest, folder, run


class Demo(CommandTest):
    def test_its_photographs_are_built(self):
        photos = folder("demo") / "photos"
        subprocess.run([ROOT / "Tests/scripts/wallpapers", photos], check=True, capture_output=True)
        recipe = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        command = next(line for line in recipe.splitlines() if " build '.cache/photos' " in line)
        arguments = shlex.split(command.split("||")[0])
        options = arguments[arguments.index("--library") + 2:]
        result = run("build", photos, "--library", folder("library"), "--dry-run", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], f"{len(list(photos.iterdir()))} would be built")
