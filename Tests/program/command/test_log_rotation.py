"""The logrotate file of the package: access log and audit log are moved away, and the server goes on in new files."""

import json
import re
import subprocess
import time
import unittest
from pathlib import Path

from harness import ROOT, folder, photo, run
from upload_client import Client, serve


class LogRotation(unittest.TestCase):
    def rotate(self, place: Path, process: int) -> None:
        """As the package's file has it, but for the folder, the user and who knows the server's process."""
        text = (ROOT / "packaging/debian/ziggurat.logrotate").read_text()
        text, count = re.subn(r"/var/log/ziggurat/", f"{place}/", text)
        text, signals = re.subn(r"\[ ! -d /run/systemd/system \] \|\| systemctl kill --signal=HUP --kill-whom=main ziggurat.service", f"kill -HUP {process}", text)
        self.assertEqual((count, signals), (2, 2))
        self.assertEqual(len(re.findall(r"^\tsu ziggurat ziggurat$", text, re.MULTILINE)), 2)
        (place / "configuration").write_text(re.sub(r"\tsu .*\n", "", text))
        (place / "configuration").chmod(0o644)
        result = subprocess.run(["/usr/sbin/logrotate", "--force", "--state", place / "state", place / "configuration"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_no_line_is_lost_and_both_files_begin_again(self):
        base, place = folder("rotated"), folder("logs")
        place.chmod(0o750)
        photo(base / "photos/one.jpg", 300, 200)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        with serve(base / "library", "--log", "json", "--log-file", place / "access.log", "--audit-log", place / "audit.jsonl") as server:
            def change(number: int):
                answer = Client(server).ask("PATCH", "/api/images/one", json.dumps({"title": f"Title {number}"}).encode(), tus=False, Content_Type="application/json")
                self.assertEqual(answer.status, 200, answer)

            def lines(name: str, count: int) -> list[dict]:
                end = time.monotonic() + 30
                while len(text := (place / name).read_text().splitlines() if (place / name).exists() else []) < count:
                    self.assertLess(time.monotonic(), end, name)
                    time.sleep(0.05)
                return list(map(json.loads, text))

            for number in range(2):
                change(number)
                lines("access.log", 1)
                self.rotate(place, server.process.pid)
                # Until the signal has arrived.
                end = time.monotonic() + 30
                while not (place / "access.log").exists():
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
            change(2)
            self.assertEqual([entry["method"] for entry in lines("access.log", 1)], ["PATCH"])
            self.assertEqual(len(lines("audit.jsonl", 1)), 1)
            self.assertEqual([len(lines(f"{name}.1", 1)) for name in ("access.log", "audit.jsonl")], [1, 1])
        # The one before it is compressed.
        self.assertEqual(sorted(path.name for path in place.iterdir() if path.suffix == ".gz"), ["access.log.2.gz", "audit.jsonl.2.gz"])


if __name__ == "__main__":
    unittest.main()
