"""A library that a Slurm cluster builds by packaging/slurm while its workers and nodes are killed, as tests of it share."""

import collections
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "program")]

from harness import BINARY, ROOT, folder, photo, run  # noqa: E402
from pdf import labelled_pdf  # noqa: E402
from slurm import Slurm, processes  # noqa: E402
from szi import archives  # noqa: E402

SHARDS, NODES, WORKERS_KILLED = 8, 4, 3
SOURCES = 200


def digests(library: Path) -> dict[str, str]:
    """The SHA-256 of each image's archive."""
    return {str(path.relative_to(library).with_suffix("")): hashlib.sha256(path.read_bytes()).hexdigest() for path in archives(library)}


def make_sources(place: Path, scale: int = 1) -> None:
    """Pictures of every kind, names that collide, duplicates, links, pages, broken and untrusted ones."""
    untrusted = sorted(path for path in (ROOT / "Tests/Fixtures/hostile").iterdir() if path.is_file() and not path.name.startswith("hang"))
    for number, path in enumerate(untrusted[:12]):
        (place / "hostile").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place / f"hostile/{number}-{path.name}")
    first = photo(place / "first.jpg", 900, 700)
    for name in ("twin.jpg", "first.png"):
        shutil.copy(first, place / name)
    (place / "linked.jpg").symlink_to("first.jpg")
    (place / "broken.tif").write_text("no picture")
    (place / "cut.jpg").write_bytes(first.read_bytes()[:5000])
    for number in range(5):
        (place / f"volume {number}.pdf").write_bytes(labelled_pdf(3 + number))
    endings = ("jpg", "png", "tif", "webp")
    left = SOURCES - sum(1 for path in place.rglob("*") if path.is_file())
    for number in range(left):
        photo(place / f"{'abcdefg'[number % 7]}/p{number // 2}.{endings[number % 4]}", scale * (300 + 7 * number), scale * (400 + 3 * number))


class ClusterTest(unittest.TestCase):
    """A cluster, sources of every kind, and what one machine builds of them."""

    # Of the pictures: a build that is to last longer has larger ones.
    scale = 1

    @classmethod
    def setUpClass(cls):
        missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if not shutil.which(name, path="/usr/sbin:" + os.environ["PATH"])]
        if missing:
            raise unittest.SkipTest(f"{', '.join(missing)} is not installed: make test-scale does it")
        if os.getuid() != 0:
            raise unittest.SkipTest("virtual nodes of Slurm are started by root")

    def setUp(self):
        self.base = folder("slurm")
        self.sources, self.reports, self.plan = self.base / "sources", self.base / "reports", self.base / "plan.jsonl"
        make_sources(self.sources, self.scale)
        run("build", self.sources, "--library", self.base / "alone", "--quiet", timeout=600)
        self.alone = digests(self.base / "alone")
        (self.base / "bin").mkdir()
        (self.base / "bin/ziggurat").symlink_to(BINARY)
        self.slurm = Slurm(self.base / "cluster", NODES)
        self.addCleanup(self.slurm.stop)
        # What was killed: parts by their names, nodes, and what else a test has.
        self.killed: collections.Counter[str] = collections.Counter()

    def build(self, library: str | Path, chance: random.Random, **environment: str) -> None:
        """Plans a library and has the cluster build it."""
        self.chance = chance
        self.plan.write_text(run("plan", self.sources, "--library", library, environment=environment).stdout)
        variables = {"PLAN": str(self.plan), "LIBRARY": str(library), "REPORTS": str(self.reports),
                 "PATH": f"{self.base}/bin:{os.environ['PATH']}", **environment}

        def submit(*options: str) -> str:
            return self.slurm.call("sbatch", "--parsable", f"--output={self.base}/log-%j", *options, **variables).strip()

        build = submit(f"--array=0-{SHARDS - 1}", str(ROOT / "packaging/slurm/build.sbatch"))
        self.index = submit(f"--dependency=afterany:{build}", str(ROOT / "packaging/slurm/index.sbatch"))
        self.begun = time.monotonic()

    def go_on(self, acts: list[tuple[float, Callable[[], None]]]) -> None:
        """Does each at its second of the build, and waits until the cluster has nothing more to do."""
        acts = sorted(acts, key=lambda act: act[0])
        while self.slurm.jobs():
            seconds = time.monotonic() - self.begun
            self.assertLess(seconds, 900, self.slurm.jobs())
            while acts and acts[0][0] <= seconds:
                acts.pop(0)[1]()
            self.slurm.hurry()
            time.sleep(min(0.3, max(0.0, self.begun + acts[0][0] - time.monotonic()) if acts else 0.3))
        self.seconds = time.monotonic() - self.begun

    def kill_worker(self) -> None:
        """The first worker at its task, each time of another part, since a picture that ends three builders is reported as failed."""
        while self.slurm.jobs():
            workers = {shard: process for process in processes() if self.slurm.runs_on(process) and (shard := self.shard(process))}
            if left := sorted(workers.keys() - self.killed.keys()):
                shard = self.chance.choice(left)
                os.kill(workers[shard], signal.SIGKILL)
                self.killed[shard] += 1
                return
            self.slurm.hurry()
            time.sleep(0.05)

    def kill_node(self) -> None:
        self.slurm.kill_node(self.chance.randrange(1, NODES + 1))
        self.killed["node"] += 1

    def compare(self, library: dict[str, str]) -> None:
        """Whether it is what one machine builds, and the report is complete."""
        # It ends its decoder in one run of two.
        ours, theirs = ({id: digest for id, digest in found.items() if "crash-2" not in id} for found in (library, self.alone))
        report = run("report", self.plan, self.reports, "--json")
        other = {id for id in ours.keys() | theirs.keys() if ours.get(id) != theirs.get(id)}
        self.assertFalse(other, report.stderr)
        self.assertEqual(report.returncode, 1, report.stderr)
        reported = [json.loads(line) for line in report.stdout.splitlines()]
        self.assertFalse([line for line in reported if line["status"] == "left"])
        self.assertEqual({line["id"] for line in reported if line["status"] != "failed"}, set(library))
        self.assertIn(f"{len(library)} images", (self.base / f"log-{self.index}").read_text())
        self.built = 0
        done: set[str] = set()
        # A part's tries one after the other: what one has ended none builds again.
        for path in sorted(self.reports.iterdir(), key=lambda path: int(path.name.split(".")[-2])):
            lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
            built = {line["image"]["id"] for line in lines if line.get("image", {}).get("status") == "built"}
            self.assertFalse(built & done)
            done |= built & {line["end"] for line in lines if "end" in line}
            self.built += len(built)
        print(f"[{len(library)} images, {self.built} builds in {self.seconds:.0f} s, killed: {', '.join(sorted(self.killed))}]", end=" ", flush=True)

    @staticmethod
    def shard(process: int) -> str | None:
        """The part that a builder builds; None for any other process, and for a builder's sandboxed processes."""
        try:
            arguments = Path(f"/proc/{process}/cmdline").read_text().split("\0")
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            ours = Path(f"/proc/{parent}/cmdline").read_text().split("\0")
        except OSError:
            return None
        return arguments[arguments.index("--shard") + 1] if "--shard" in arguments and "--shard" not in ours else None
