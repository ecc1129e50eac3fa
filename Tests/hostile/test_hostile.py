"""Every broken file by itself through the builder: no crash, no hang, no flood of memory, one clear line."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))

import corpus  # noqa: E402
from harness import BINARY, CRASH, folder, seed  # noqa: E402
from szi import archive_defects, archives, leftovers  # noqa: E402

SECONDS = 120  # A hang, not a speed: the files are small.
MEMORY = 400_000_000  # bytes resident, for pictures of 420×310
# Honest drawings, one of four gigapixels: libvips renders SVG in bands of 2000 rows across the whole width.
ROOMY = dict.fromkeys(["bomb-65536x65536.svg", "bomb-65536x8192.svg"], 2_000_000_000)


def must_be_reported(path: Path) -> bool:
    """A JPEG, PNG or TIFF that lost a tenth or more of its bytes; in a pyramid those are the lower levels."""
    return (path.name.startswith("cut-") and path.suffix in (".jpg", ".png", ".tif")
            and not path.name.startswith("cut-last") and "pyramid" not in path.name)


class DamagedFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = corpus.make(folder("corpus"))
        if not os.environ.get("FULL"):
            # Every lie and every bomb; of what was broken by lot a third, each time another one.
            chance = seed("broken files")
            cls.files = [path for path in cls.files if path.name.startswith(("lie-", "bomb-")) or chance.random() < 1 / 3]
        print(f"[{len(cls.files)} broken files] ", end="", flush=True)

    def build(self, path: Path, library: Path):
        """Exit code, stderr, peak memory in bytes; a negative code is a signal."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([BINARY, "build", path, "--library", library, "--quiet"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            # Four gigapixels take their time on a busy machine.
            end = time.monotonic() + SECONDS * (5 if path.name in ROOMY else 1)
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() > end:
                    process.kill()
                    os.wait4(process.pid, 0)
                    process.returncode = -9
                    self.fail("still running")
                time.sleep(0.002)
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            return process.returncode, errors.read().decode(errors="replace"), usage.ru_maxrss * 1024

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(self.files), 300)

    def test_each_file(self):
        refused, reported, peak, largest = 0, 0, 0, None
        for path in self.files:
            with self.subTest(path.name):
                library = folder("library")
                code, errors, memory = self.build(path, library)
                if memory > peak:
                    peak, largest = memory, path.name
                self.assertIn(code, (0, 1), errors[-500:])
                self.assertLess(memory, ROOMY.get(path.name, MEMORY))
                self.assertFalse(code == 0 and errors == "" and must_be_reported(path), "a picture cut short passed for whole")
                self.assertEqual(leftovers(library), [])
                lines = errors.strip().splitlines()
                if lines and all(": built, but " in line for line in lines):
                    for line in lines:
                        self.assertIn(path.name, line)
                        self.assertNotRegex(line.replace(path.name, ""), CRASH)
                    self.assertNotEqual(archives(library), [])
                    reported += 1
                    continue
                if code == 1:
                    refused += 1
                    self.assertEqual(len(lines), 1, errors[:2000])
                    self.assertIn(path.name, lines[0])
                    self.assertNotRegex(lines[0].replace(path.name, ""), CRASH)
                    self.assertEqual(archives(library), [])
                else:
                    self.assertEqual(errors, "")
                    for archive in archives(library):
                        self.assertEqual(archive_defects(archive), [])
        print(f"[{refused} refused, {reported} reported, {len(self.files) - refused - reported} still readable; peak {peak / 1e6:.0f} MB: {largest}] ",
              end="", flush=True)
        self.assertGreater(refused + reported, len(self.files) // 2)
