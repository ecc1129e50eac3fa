"""Plans, of which many machines build parts: what comes of them is what one machine builds; and ledgers, by which what nobody has touched is not read again."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import BINARY, photo, run, seed
from opened_files import OpenedFiles
from planned import PlanTest, digests
from szi import leftovers


class Shards(PlanTest):
    def test_what_parts_build_is_what_one_machine_builds(self):
        self.pictures()
        alone = self.base / "alone"
        self.assertEqual(run("build", self.photos, "--library", alone).returncode, 1)
        plan = self.plan()
        random = seed("shards")
        count = random.randrange(2, 7)
        order = random.sample(range(count), count)
        results = {number: self.shard(plan, number, count) for number in order}
        self.assertEqual(sorted(result.returncode for result in results.values()), [0] * (count - 1) + [1])
        self.assertEqual(digests(self.library), digests(alone))
        self.assertEqual(leftovers(self.library), [])
        self.assertFalse((self.library / "catalog.sqlite").exists())
        built = [line["id"] for result in results.values() for line in map(json.loads, result.stdout.splitlines())]
        self.assertEqual(len(built), len(set(built)))
        # A source's pages are built together.
        self.assertEqual(len({number for number, result in results.items() if "a b" in result.stdout}), 1)
        outcomes = self.outcomes(plan, self.reports)
        self.assertEqual((self.report.returncode, outcomes.pop("broken")), (1, "failed"))
        self.assertEqual(set(outcomes.values()), {"built"})
        self.assertEqual({f"{id}.szi" for id in outcomes}, set(digests(alone)))
        # Again: nothing is.
        again = self.shard(plan, 0, count)
        self.assertEqual({line["status"] for line in map(json.loads, again.stdout.splitlines())} - {"unchanged", "failed"}, set())

    def test_books_are_whole(self):
        for number in range(12):
            photo(self.photos / f"codex-{number % 3}/f{number}.jpg", 60 + number, 40)
        (self.photos / "codex-0/book.json").write_text('{"title": "Hours"}')
        alone = self.base / "alone"
        run("build", self.photos, "--library", alone, "--book")
        plan = self.plan(self.photos, "--book")
        for number in range(4):
            result = self.shard(plan, number, 4)
            books = {line["id"].rsplit("/", 1)[0] for line in map(json.loads, result.stdout.splitlines())}
            self.assertEqual(len(result.stdout.splitlines()), 4 * len(books))
        self.assertEqual(digests(self.library), digests(alone))
        self.assertEqual((self.library / "codex-0/book.json").read_bytes(), (alone / "codex-0/book.json").read_bytes())

    def test_index_knows_afterwards_where_images_came_from_and_parts_prune_by_it(self):
        self.pictures()
        (self.photos / "broken.tif").unlink()
        plan = self.plan()
        for number in range(3):
            self.shard(plan, number, 3)
        indexed = run("reindex", self.library, "--plan", plan, "--journal-dir", self.reports)
        self.assertEqual(indexed.returncode, 0, indexed.stderr)
        before = set(digests(self.library))
        self.assertIn(f"{len(before)} images", indexed.stdout)
        for name in ("twin.jpg", "c/p2.jpg", "a b – é.pdf"):
            (self.photos / name).unlink()
        after = self.plan(name="after.jsonl")
        gone = set()
        for number in range(3):
            result = self.shard(after, number, 3, "--prune")
            pruned = {line["id"] for line in map(json.loads, result.stdout.splitlines()) if line["status"] == "pruned"}
            self.assertFalse(gone & pruned)
            gone |= pruned
        self.assertEqual(gone, {"twin", "c/p2", "a b – é/i", "a b – é/ii", "a b – é/A-1"} if "a b – é/i.szi" in before
                         else {"twin", "c/p2", "a b – é/1", "a b – é/2", "a b – é/3"})
        self.assertEqual({f"{id}.szi" for id in gone}, before - set(digests(self.library)))
        # A share that is not mounted.
        shutil.rmtree(self.photos)
        self.photos.mkdir()
        empty = self.plan(name="empty.jsonl")
        for number in range(3):
            result = self.shard(empty, number, 3, "--prune")
            self.assertEqual(result.returncode, 1)
            self.assertIn("is it mounted?", result.stderr)
        self.assertEqual({f"{id}.szi" for id in gone}, before - set(digests(self.library)))

    def test_a_plan_without_parts_is_an_ordinary_build(self):
        self.pictures()
        plan = self.plan()
        self.assertEqual(run("build", "--plan", plan, "--library", self.library).returncode, 1)
        alone = self.base / "alone"
        run("build", self.photos, "--library", alone)
        self.assertEqual(digests(self.library), digests(alone))
        (self.photos / "twin.jpg").unlink()
        self.assertIn("pruned twin", run("build", self.photos, "--library", self.library, "--prune").stderr)


class Kills(PlanTest):
    def test_parts_that_are_killed_are_finished_by_the_next_try(self):
        random = seed("shards killed")
        for number in range(40):
            photo(self.photos / f"p{number}.jpg", 400 + number, 300)
        alone = self.base / "alone"
        run("build", self.photos, "--library", alone)
        plan, kills = self.plan(), 0
        # Two of each part: an image that three builders had begun when they were killed is not begun again.
        for number in random.sample([0, 1] * 2, 4):
            process = subprocess.Popen([BINARY, "build", "--plan", plan, "--shard", f"{number}/2", "--library", self.library,
                                        "--journal-dir", self.reports, "--quiet"], stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0.02, 0.6))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() != 0
        left = {id for id, status in self.outcomes(plan, self.reports).items() if status == "left"}
        self.assertEqual(self.report.returncode, 75 if left else 0)
        for number in range(2):
            shard = self.shard(plan, number, 2)
            self.assertEqual(shard.returncode, 0, shard.stderr)
        self.assertEqual(digests(self.library), digests(alone))
        self.assertEqual(leftovers(self.library), [])
        self.assertEqual(set(self.outcomes(plan, self.reports)), {f"p{number}" for number in range(40)})
        self.assertEqual(self.report.returncode, 0, self.report.stderr)
        built = sum(line.get("image", {}).get("status") == "built" for line in self.reported())
        jobs = os.cpu_count()
        self.assertLessEqual(built, 40 + kills * jobs)

    def test_stopped_parts_are_left_and_their_sources_are_not_blamed(self):
        for number in range(30):
            photo(self.photos / f"p{number}.jpg", 1500 + number, 1000)
        plan = self.plan()
        for _ in range(4):
            process = subprocess.Popen([BINARY, "build", "--plan", plan, "--shard", "0/1", "--library", self.library, "--journal-dir", self.reports,
                                        "--json", "--force"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            process.stdout.readline()
            process.terminate()
            process.stdout.read()
            process.stdout.close()
            self.assertEqual(process.wait(), 130)
            self.assertIn("left", self.outcomes(plan, self.reports).values())
            self.assertEqual(self.report.returncode, 75, self.report.stderr)
        self.assertEqual(self.shard(plan, 0, 1).returncode, 0)
        self.outcomes(plan, self.reports)
        self.assertEqual(self.report.returncode, 0, self.report.stderr)

    def ended(self, plan: Path, number: int, *ids: str):
        """A report as builders leave it that are killed while they build these."""
        self.reports.mkdir(exist_ok=True)
        [name] = [json.loads(line)["report"]["plan"] for line in self.begun(plan).read_text().splitlines() if "report" in line][:1]
        lines = [{"report": {"version": 1, "plan": name, "shard": "0/1"}}] + [{"start": id} for id in ids]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.reports / f"{name}.0-of-1.{number}.jsonl").write_text(text + '{"sta')

    def begun(self, plan: Path) -> Path:
        """A report that is none of `reports`."""
        place = self.base / "elsewhere"
        if not place.exists():
            run("build", "--plan", plan, "--library", self.base / "elsewhere-library", "--journal-dir", place)
        [report] = place.iterdir()
        return report

    def test_what_ended_builders_comes_last_and_alone_and_at_last_not_at_all(self):
        for name in "abcdef":
            photo(self.photos / f"{name}.jpg", 60, 40 + ord(name))
        plan = self.plan()
        self.ended(plan, 1, "b", "d", "e")
        self.ended(plan, 2, "b", "d")
        self.ended(plan, 3, "d")
        result = run("build", "--plan", plan, "--library", self.library, "--journal-dir", self.reports, "--json", "--jobs", "3")
        self.assertEqual(result.returncode, 1)
        status = {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(status, {**dict.fromkeys("abcef", "built"), "d": "failed"})
        self.assertIn("d.jpg: 3 builders have begun it, and it was the end of each", result.stderr)
        [own] = [path for path in self.reports.iterdir() if path.name.endswith(".4.jsonl")]
        events = [(kind, line[kind]) for line in map(json.loads, own.read_text().splitlines()) for kind in ("start", "end") if kind in line]
        self.assertEqual(events[-3:], [("start", "b"), ("end", "b"), ("end", "d")])
        self.assertEqual({id for _, id in events[:-3]}, set("acef"))
        self.outcomes(plan, self.reports)
        self.assertEqual(self.report.returncode, 1)

    def test_what_a_builder_at_work_has_begun_is_not_held_against_it(self):
        photo(self.photos / "a.jpg", 60, 40)
        plan = self.plan()
        for number in (1, 2, 3):
            self.ended(plan, number, "a")
        held = [subprocess.Popen(["flock", path, "sh", "-c", "echo; exec sleep 100"], stdout=subprocess.PIPE)
                for path in self.reports.iterdir()]
        try:
            for process in held:
                process.stdout.readline()
            result = run("build", "--plan", plan, "--library", self.library, "--journal-dir", self.reports)
            self.assertEqual(result.returncode, 0, result.stderr)
        finally:
            for process in held:
                process.kill()
                process.wait()
                process.stdout.close()


class Plans(PlanTest):
    def build(self, plan: Path, *arguments):
        return run("build", "--plan", plan, "--library", self.library, *arguments)

    def test_a_source_that_has_changed_since_is_not_built(self):
        photo(self.photos / "a.jpg", 60, 40)
        photo(self.photos / "b.jpg", 60, 41)
        plan = self.plan()
        photo(self.photos / "a.jpg", 60, 42)
        result = self.build(plan)
        self.assertEqual((result.returncode, list(digests(self.library))), (1, ["b.szi"]))
        self.assertIn("a.jpg: has changed since the plan was made", result.stderr)

    def test_half_a_plan_is_none(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 60, 40)
        plan = self.plan()
        text = plan.read_bytes()
        random = seed("half a plan")
        for end in [0, 1, len(text) - 1, *random.sample(range(len(text)), 20)]:
            with self.subTest(end):
                plan.write_bytes(text[:end])
                self.assertOneLine(self.build(plan), "read the plan")
        lines = text.splitlines(keepends=True)
        for damaged in (lines[:-1], lines[1:], lines + lines[-1:], lines[:2] + [b"{}}\n"] + lines[2:], [b"\xff\n"], [b"[" * 100_000],
                        [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]], [text.replace(b'"id":"a"', b'"id":"../a"')],
                        [text.replace(b'"id":"a"', b'"id":".a"')], [text.replace(b'"root":0', b'"root":7')],
                        [text, b"x" * 3_000_000 + b"\n"]):
            plan.write_bytes(b"".join(damaged))
            self.assertOneLine(self.build(plan), "read the plan")
        self.assertFalse(self.library.exists())

    def test_an_unplannable_source_is_reported_by_one_part(self):
        photo(self.photos / "a.jpg", 60, 40)
        plan = self.plan(self.photos, self.base / "nowhere", code=1)
        results = [self.shard(plan, number, 3) for number in range(3)]
        self.assertEqual([result.returncode for result in results], [1, 0, 0])
        self.assertIn("nowhere: No such file", results[0].stderr)

    def test_wrong_uses(self):
        photo(self.photos / "a.jpg", 60, 40)
        plan = self.plan()
        for arguments, meant in ((("--shard", "3/3"), "from 0 to N − 1"), (("--shard", "x"), "expected I/N"), (("--shard", "-1/3"), "expected I/N"),
                             (("--book",), "--plan cannot be used with --book"), (("--watch",), "--plan cannot be used with --watch"), ((self.photos,), "--plan cannot be used with sources"),
                             (("--prefix", "x"), "--plan cannot be used with --prefix"), (("--space",), "--plan cannot be used with --space")):
            self.assertUsageError(self.build(plan, *arguments), meant)
        self.assertUsageError(run("build", self.photos, "--library", self.library, "--shard", "0/2"), "--shard requires --plan")
        self.assertUsageError(run("plan"), "missing source")
        self.assertUsageError(run("report", plan), "missing journals")
        self.assertUsageError(run("reindex", self.library, "--plan", plan), "--journal-dir")
        self.assertOneLine(run("report", plan, self.base), "no report is of the plan")
        self.assertOneLine(self.build(self.base / "nowhere"), "No such file")


class Ledgers(PlanTest):
    def build(self):
        result = run("build", self.photos, "--library", self.library, "--digest-cache", self.base / "ledger", "--json", timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}

    def test_untouched_sources_are_not_read_again(self):
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
            (self.base / "ledger").write_bytes(b'{"content":"' + b"\xff" * 100 + b"\n{}\n")
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
