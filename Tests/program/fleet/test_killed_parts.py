"""Builders of parts that are killed during a build into an object store: neither what they sent nor what they reported is lost."""

import hashlib
import json
import signal
import subprocess
import time
import unittest

from harness import BINARY, Server, photo, run, seed
from pdf import labelled_pdf
from planned import digests
from test_store import StoreTest


class KilledParts(StoreTest):
    def kill_at_will(self, plan, random) -> int:
        """Kills a part's builder at a random time, after so many archives, unless it ends before. Returns the number of kills."""
        build = subprocess.Popen([BINARY, "build", "--plan", plan, "--library", self.bucket, "--journal-dir", self.reports, "--jobs", "1"], stderr=subprocess.DEVNULL)
        end, last = time.monotonic() + 120, len(self.sent()) + random.randint(2, 9)
        while build.poll() is None and len(self.sent()) < last:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        try:
            build.wait(random.uniform(0, 0.1))
            return 0
        except subprocess.TimeoutExpired:
            build.send_signal(signal.SIGKILL)
            build.wait()
            return 1

    def sent(self) -> list[str]:
        """Of archives that the store was sent."""
        with self.store.lock:
            return [key for method, key in self.store.requests if method == "PUT" and "/szi/" in key]

    def test_what_killed_builders_of_a_part_had_sent_is_announced_by_the_next_and_not_built_again(self):
        for number in range(60):
            photo(self.photos / f"p{number}.jpg", 60 + number, 40 + number)
        (self.photos / "five.pdf").write_bytes(labelled_pdf(5))
        plan, random, kills = self.plan(), seed("parts killed in a store"), 0
        self.store.delay = 0.02
        for _ in range(5):
            # Sooner than most of it is announced.
            kills += self.kill_at_will(plan, random)
        result = self.build("--plan", plan, "--journal-dir", self.reports)
        self.assertEqual(result.returncode, 0, f"after {kills} kills: {result.stderr}")
        sent = self.sent()
        self.assertLessEqual(len(sent), 65 + kills, f"after {kills} kills")
        print(f"[{len(sent)} archives sent of 65 images, {kills} kills]", end=" ", flush=True)
        # A report about a picture that no kill undid remains, once for each.
        reported = self.outcomes(plan, self.reports)
        self.assertEqual((self.report.returncode, len(reported)), (0, 65), self.report.stderr)
        built = [line["image"]["id"] for line in self.reported() if line.get("image", {}).get("status") == "built"]
        self.assertEqual(sorted(built), sorted(reported), "each is told as built by whoever built it, and by nobody else")
        self.build(library=self.library)
        self.assertEqual({hashlib.sha256(body).hexdigest() for body in self.archives().values()}, set(digests(self.library).values()))
        verified = run("verify", self.bucket)
        self.assertEqual((verified.returncode, verified.stderr), (0, "65 archives read, no faults\n"))

    def test_a_killed_builder_s_result_that_the_store_lacks_is_rebuilt(self):
        for number in range(30):
            photo(self.photos / f"p{number}.jpg", 60 + number, 40 + number)
        plan, random = self.plan(), seed("lost archives")
        self.store.delay = 0.02
        for _ in range(20):
            self.kill_at_will(plan, random)
            latest = max(self.reports.iterdir(), key=lambda path: path.stat().st_mtime_ns)
            # Of this builder, which nobody has announced.
            notices = [line for line in map(json.loads, latest.read_text().splitlines()) if "notice" in line]
            if len(notices) > 3:
                break
        self.assertGreater(len(notices), 3)
        lost = [key for notice in notices[:2] for key in self.archives() if notice["notice"]["text"].split("\t")[2] in key]
        self.assertEqual(len(lost), 2)
        for key in lost:
            del self.store.objects[key]
        # Half of a line, and one that would be two.
        broken = dict(notices[2], notice=dict(notices[2]["notice"], text=notices[2]["notice"]["text"] + "\nimage"))
        with latest.open("a") as report:
            report.write(json.dumps(broken) + "\n" + json.dumps(notices[3])[:60])
        before = len(self.sent())
        result = self.build("--plan", plan, "--journal-dir", self.reports)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(set(lost), set(self.sent()[before:]))
        verified = run("verify", self.bucket)
        self.assertEqual((verified.returncode, verified.stderr), (0, "30 archives read, no faults\n"))

    def test_a_directory_that_is_away_is_asked_once_for_all_that_is_sent_meanwhile(self):
        for number in range(24):
            photo(self.photos / f"p{number}.jpg", 60 + number, 40 + number)
        self.store.delay = 0.2
        below = "some/library/directory/"
        build = subprocess.Popen([BINARY, "build", self.photos, "--library", self.bucket, "--jobs", "1"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(build.kill)
        # Away from the first archive to the last.
        end, failures = time.monotonic() + 240, [503] * 1000
        while len(sent := self.sent()) < 24:
            self.assertLess(time.monotonic(), end, sent)
            if sent:
                self.store.errors_below[below] = failures
            time.sleep(0.01)
        asked = 1000 - len(failures)
        self.store.errors_below.clear()
        self.assertEqual(build.wait(60), 0, build.stderr.read())
        build.stderr.close()
        # A request has a builder's retry policy: five tries.
        self.assertEqual(asked, 5)
        with Server(self.bucket) as server:
            self.assertEqual(len(self.ids(server)), 24)


if __name__ == "__main__":
    unittest.main()
