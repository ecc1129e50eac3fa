"""The files of a release: the same bytes from the same commit, in another folder, by another user's settings, at another time."""

import os
import shutil
import subprocess
import sys
import tarfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT, folder  # noqa: E402

# What no test builds twice: its compiler takes minutes.
EXECUTABLE = Path(os.environ.get("STANDALONE", ROOT / ".build/standalone/release/ziggurat"))
SETTINGS = ({"TZ": "UTC", "LANG": "C.UTF-8", "umask": "022"}, {"TZ": "Asia/Tokyo", "LANG": "C", "umask": "077"})


class ReleaseFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = []
        for number, settings in enumerate(SETTINGS):
            tree = folder("release") / f"sources-{number}"
            # A commit of its own: what is not committed yet belongs to the test, too.
            subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, tree], check=True, stderr=subprocess.DEVNULL)
            changed = subprocess.run(["git", "diff", "--binary", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
            if changed:
                subprocess.run(["git", "apply", "--index"], cwd=tree, input=changed, check=True)
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=x"], cwd=tree, check=True,
                               env={**os.environ, "GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"})
            script = """umask "$1"; packaging/bundle-pages .build/public; packaging/docs-site/build .build/docs "$3"/*.doccarchive; packaging/build-deb "$2"
exec packaging/release-files .build/release-files .build/ziggurat_*.deb"""
            made = subprocess.run(["bash", "-euc", script, "bash", settings["umask"], EXECUTABLE, ROOT / ".build/libraries"], cwd=tree, capture_output=True, text=True,
                                  env={**os.environ, **settings})
            assert made.returncode == 0, made.stderr
            cls.made.append(tree / ".build/release-files")
            # Times of files have a resolution of seconds.
            time.sleep(1.1)

    def test_the_same_commit_gives_the_same_bytes(self):
        first, second = ({path.name: path.read_bytes() for path in made.iterdir()} for made in self.made)
        self.assertEqual(set(first), set(second))
        self.assertEqual({name for name in first if first[name] != second[name]}, set())

    def test_there_is_what_a_release_consists_of(self):
        version = subprocess.run([ROOT / "packaging/version"], capture_output=True, text=True, check=True).stdout.strip()
        made = self.made[0]
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
        expected = {f"ziggurat-{version}.tar.gz", f"ziggurat-pages-{version}.tar.gz", f"ziggurat-docs-{version}.tar.gz", f"ziggurat_{version}_{architecture}.deb", "SHA256SUMS"}
        self.assertEqual({path.name for path in made.iterdir()}, expected)
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=made, check=True)
        self.assertEqual(len((made / "SHA256SUMS").read_text().splitlines()), 4)
        for name, member in ((f"ziggurat-{version}.tar.gz", f"ziggurat-{version}/Package.swift"),
                             (f"ziggurat-pages-{version}.tar.gz", f"ziggurat-pages-{version}/index.html"),
                             (f"ziggurat-docs-{version}.tar.gz", f"ziggurat-docs-{version}/index.html")):
            with tarfile.open(made / name) as archive:
                names = archive.getnames()
                self.assertIn(member, names)
                self.assertTrue(all(each.split("/")[0] == member.split("/")[0] for each in names))
                self.assertEqual({(each.uid, each.gid) for each in archive.getmembers()}, {(0, 0)})
        # Compressed files contain neither a time nor a name (RFC 1952, section 2.3).
        for path in made.glob("*.gz"):
            self.assertEqual(path.read_bytes()[3:8], bytes(5), path.name)

    def test_what_is_not_committed_and_another_version_are_refused(self):
        tree = self.made[0].parents[1]
        (tree / "README.md").write_text("changed")
        self.addCleanup(lambda: subprocess.run(["git", "checkout", "--quiet", "README.md"], cwd=tree, check=True))
        package = next((tree / ".build").glob("*.deb"))
        result = subprocess.run(["packaging/release-files", folder("out"), package], cwd=tree, capture_output=True, text=True)
        self.assertEqual((result.returncode, "not committed" in result.stderr), (1, True))
        subprocess.run(["git", "checkout", "--quiet", "README.md"], cwd=tree, check=True)
        other = folder("other") / "ziggurat_9.9.9_amd64.deb"
        shutil.copy(package, other)
        result = subprocess.run(["packaging/release-files", folder("out"), other], cwd=tree, capture_output=True, text=True)
        self.assertEqual((result.returncode, "is not of version" in result.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
