"""The Debian package in a Debian 12 that has nothing else: installed, it builds and serves; removed, it leaves the library.

Needs root, for debootstrap and chroot. PACKAGE names the package; what debootstrap made is kept in .cache/.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT, photo  # noqa: E402

PACKAGE = Path(os.environ["PACKAGE"])
SYSTEM = ROOT / ".cache/bookworm"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8"}


def inside(*command, check: bool = True, **options) -> subprocess.CompletedProcess:
    """Runs a command in the system that was installed."""
    result = subprocess.run(["chroot", SYSTEM, *map(str, command)], text=True, capture_output=True, env=ENVIRONMENT, **options)
    if check and result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result


def unmount() -> None:
    subprocess.run(["umount", "--recursive", SYSTEM / "proc"], stderr=subprocess.DEVNULL)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise AssertionError("debootstrap and chroot take root")
        unmount()
        if not (SYSTEM / "usr/bin/apt-get").exists():
            shutil.rmtree(SYSTEM, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", SYSTEM], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["mount", "-t", "proc", "proc", SYSTEM / "proc"], check=True)
        cls.addClassCleanup(unmount)
        inside("apt-get", "update", "-qq")
        inside("apt-get", "purge", "-y", "-qq", "ziggurat", check=False)
        shutil.rmtree(SYSTEM / "var/lib/ziggurat", ignore_errors=True)
        shutil.copy(PACKAGE, SYSTEM / "tmp/ziggurat.deb")
        inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "/tmp/ziggurat.deb", timeout=900)

    def test_1_nothing_of_the_toolchain_is_needed(self):
        linked = inside("ldd", "/usr/bin/ziggurat").stdout
        self.assertNotIn("not found", linked)
        self.assertNotIn("swift", linked)
        self.assertNotIn("/opt", linked)
        self.assertRegex(inside("ziggurat", "--version").stdout, r"^ziggurat \d+\.\d+\.\d+\n$")
        # The least: a library that is not there fails here, not in a user's hands.
        depends = inside("dpkg-query", "-W", "-f", "${Depends}", "ziggurat").stdout
        for library in ("libvips42", "libmicrohttpd12", "libsqlite3-0", "libgexiv2-2", "libc6"):
            self.assertIn(library, depends)

    def test_2_it_builds_and_serves(self):
        pictures = SYSTEM / "srv/pictures"
        shutil.rmtree(pictures, ignore_errors=True)
        photo(pictures / "harbour.jpg", 1200, 800)
        photo(pictures / "deep/leaf.png", 300, 200)
        # As the nightly unit does it, by the user that it has.
        def as_ziggurat(*command):
            return inside("setpriv", "--reuid", "ziggurat", "--regid", "ziggurat", "--init-groups", *command)
        as_ziggurat("ziggurat", "build", "/srv/pictures", "--library", "/var/lib/ziggurat")
        process = subprocess.Popen(
            ["chroot", SYSTEM, "setpriv", "--reuid", "ziggurat", "--regid", "ziggurat", "--init-groups", "ziggurat", "serve",
             "/var/lib/ziggurat", "--port", "0", "--public", "/usr/share/ziggurat/public"],
            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        try:
            address = re.fullmatch(r"listening on (http://\S+)\n", process.stdout.readline())[1]
            def read(path: str, kind: str) -> bytes:
                with urllib.request.urlopen(address + path, timeout=30) as answer:
                    self.assertEqual(answer.headers.get_content_type(), kind)
                    content = answer.read()
                self.assertGreater(len(content), 100)
                return content
            read("dzi/harbour_files/10/0_0.jpg", "image/jpeg")
            read("iiif/3/deep%2Fleaf/full/max/0/default.webp", "image/webp")
            # Bundled: the scripts are called as the page says.
            scripts = re.findall(r'<script[^>]* src="/([^"]+)"', read("", "text/html").decode())
            self.assertTrue(scripts)
            for script in scripts:
                read(script, "text/javascript")
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)
            process.stdout.close()

    def test_3_what_it_brings(self):
        files = inside("dpkg", "-L", "ziggurat").stdout.split()
        for each in ("/lib/systemd/system/ziggurat.service", "/lib/systemd/system/ziggurat.socket", "/lib/systemd/system/ziggurat-build.timer",
                     "/usr/share/man/man1/ziggurat-build.1.gz", "/usr/share/bash-completion/completions/ziggurat",
                     "/usr/share/doc/ziggurat/copyright", "/etc/default/ziggurat"):
            self.assertTrue(any(name == each for name in files) or (SYSTEM / each[1:]).exists(), each)
        for unit in SYSTEM.glob("lib/systemd/system/ziggurat*"):
            self.assertNotIn("/usr/local", unit.read_text())
            for program in re.findall(r"^ExecStart=(\S+)", unit.read_text(), re.MULTILINE):
                self.assertTrue((SYSTEM / program[1:]).exists(), program)

    def test_4_removed_it_leaves_the_library(self):
        # Alphabetical order: after the others.
        library = SYSTEM / "var/lib/ziggurat"
        before = {path: path.read_bytes() for path in library.rglob("*.szi")}
        self.assertEqual(len(before), 2)
        inside("apt-get", "purge", "-y", "-qq", "ziggurat")
        self.assertFalse((SYSTEM / "usr/bin/ziggurat").exists())
        self.assertEqual({path: path.read_bytes() for path in library.rglob("*.szi")}, before)
        inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "/tmp/ziggurat.deb")
        self.assertEqual(inside("ziggurat", "verify", "/var/lib/ziggurat").returncode, 0)


if __name__ == "__main__":
    unittest.main()
