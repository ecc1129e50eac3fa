"""Ledgers: sources that nobody has touched are not read again."""

import json
import os
import time
import unittest

from harness import photo, run
from opened_files import OpenedFiles
from planned import PlanTest


class Ledgers(PlanTest):
    def build(self):
        result = run("build", self.photos, "--library", self.library, "--ledger", self.base / "ledger", "--json", timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}

    def test_what_nobody_has_touched_is_not_read_again(self):
        for name in "abc":
            path = self.photos / f"{name}.ppm"
            path.write_bytes(b"P6 4 4 255\n" + name.encode() * 48)
        # Files as fresh as these may change once more without another time.
        deadline = path.stat().st_ctime + 2.1
        while time.time() < deadline:
            time.sleep(0.1)
        self.assertEqual(set(self.build().values()), {"built"})
        with OpenedFiles(self.photos) as opened:
            self.assertEqual(set(self.build().values()), {"unchanged"})
            self.assertEqual(opened.read(".ppm"), set())
            # A change that keeps size and time.
            data, status = (self.photos / "b.ppm").read_bytes(), (self.photos / "b.ppm").stat()
            (self.photos / "b.ppm").write_bytes(data[:-1] + b"x")
            os.utime(self.photos / "b.ppm", ns=(status.st_atime_ns, status.st_mtime_ns))
            opened.read(".ppm")
            self.assertEqual(self.build(), {"a": "unchanged", "b": "built", "c": "unchanged"})
            self.assertEqual(opened.read(".ppm"), {"b.ppm"})
            # A damaged ledger is none, and what is gone is not in it.
            (self.base / "ledger").write_bytes(b"\xff" * 100 + b"\n{}\n")
            (self.photos / "c.ppm").unlink()
            self.assertEqual(set(self.build().values()), {"unchanged"})
            self.assertEqual(opened.read(".ppm"), {"a.ppm", "b.ppm"})
        self.assertNotIn("c.ppm", (self.base / "ledger").read_text())

    def test_it_is_a_hint_and_no_archive(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        time.sleep(2.1)
        self.assertEqual(self.build(), {"a": "unchanged"})
        (self.library / "a.szi").unlink()
        self.assertEqual(self.build(), {"a": "built"})


if __name__ == "__main__":
    unittest.main()
