"""A library that a Slurm cluster builds by packaging/slurm, with workers and a node that are killed: byte for byte what one machine builds."""

import hashlib
import json
import os
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "program")]

from harness import BINARY, ROOT, folder, photo, run, seed  # noqa: E402
from pdf import labelled_pdf  # noqa: E402
from slurm import Slurm, processes  # noqa: E402
from szi import archives, leftovers  # noqa: E402

SHARDS, NODES, WORKERS_KILLED = 8, 4, 3
SOURCES = 200


def digests(library: Path) -> dict[str, str]:
    return {str(path.relative_to(library)): hashlib.sha256(path.read_bytes()).hexdigest() for path in archives(library)}


def make_sources(place: Path) -> None:
    """Pictures of every kind, names that collide, twins, links, pages, broken and hostile ones."""
    hostile = sorted(path for path in (ROOT / "Tests/Fixtures/hostile").iterdir() if path.is_file() and not path.name.startswith("hang"))
    for number, path in enumerate(hostile[:12]):
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
        photo(place / f"{'abcdefg'[number % 7]}/p{number // 2}.{endings[number % 4]}", 300 + 7 * number, 400 + 3 * number)


class SlurmBuilds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if not shutil.which(name, path="/usr/sbin:" + os.environ["PATH"])]
        if missing:
            raise unittest.SkipTest(f"{', '.join(missing)} is not installed: make test-scale does it")
        if os.getuid() != 0:
            raise unittest.SkipTest("virtual nodes of Slurm are started by root")

    def test_workers_and_a_node_are_killed_and_the_library_is_what_one_machine_builds(self):
        random = seed("slurm")
        base = folder("slurm")
        sources, library, reports, alone = base / "sources", base / "library", base / "reports", base / "alone"
        make_sources(sources)
        run("build", sources, "--library", alone, "--quiet", timeout=600)
        (base / "bin").mkdir()
        (base / "bin/ziggurat").symlink_to(BINARY)
        plan = base / "plan.jsonl"
        plan.write_text(run("plan", sources, "--library", library).stdout)
        slurm = Slurm(base / "cluster", NODES)
        self.addCleanup(slurm.stop)
        words = {"PLAN": str(plan), "LIBRARY": str(library), "REPORTS": str(reports), "PATH": f"{base}/bin:{os.environ['PATH']}"}

        def submit(*options: str) -> str:
            return slurm.call("sbatch", "--parsable", f"--output={base}/log-%j", *options, **words).strip()

        build = submit(f"--array=0-{SHARDS - 1}", str(ROOT / "packaging/slurm/build.sbatch"))
        index = submit(f"--dependency=afterany:{build}", str(ROOT / "packaging/slurm/index.sbatch"))
        killed: set[str] = set()
        moments = sorted(random.uniform(0.5, 12) for _ in range(WORKERS_KILLED + 1))
        node_dies = random.randrange(len(moments))
        print(f"[{len(digests(alone))} images; kills at {', '.join(f'{moment:.1f} s' for moment in moments)}, a node at the {node_dies + 1}.]", end=" ", flush=True)
        begun = time.monotonic()
        for number, moment in enumerate(moments):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            workers: list[int] = []
            while not workers and slurm.jobs():
                workers = [process for process in processes() if slurm.runs_on(process) and self.shard(process)]
                time.sleep(0.05)
            if number == node_dies:
                slurm.kill_node(random.randrange(1, NODES + 1))
                killed.add("node")
            elif left := {shard: process for process in workers if (shard := self.shard(process)) and shard not in killed}:
                # Another one each time: a picture that ends three builders is told as failed, and rightly.
                shard = random.choice(sorted(left))
                os.kill(left[shard], signal.SIGKILL)
                killed.add(shard)
        deadline = time.monotonic() + 600
        while slurm.jobs():
            self.assertLess(time.monotonic(), deadline, slurm.jobs())
            time.sleep(0.5)
        report = run("report", plan, reports, "--json")
        ours, theirs = digests(library), digests(alone)
        # It ends its decoder in one run of two.
        for library_of in (ours, theirs):
            for name in [name for name in library_of if "crash-2" in name]:
                del library_of[name]
        other = {id for id in ours.keys() | theirs.keys() if ours.get(id) != theirs.get(id)}
        self.assertFalse(other, report.stderr)
        self.assertEqual(leftovers(library), [])
        self.assertEqual(report.returncode, 1, report.stderr)
        told = [json.loads(line) for line in report.stdout.splitlines()]
        self.assertFalse([line for line in told if line["status"] == "left"])
        self.assertEqual({f"{line['id']}.szi" for line in told if line["status"] != "failed"}, set(digests(library)))
        lines = [json.loads(line) for path in reports.iterdir() for line in path.read_text().splitlines() if line.endswith("}")]
        built = [line["image"]["id"] for line in lines if line.get("image", {}).get("status") == "built"]
        self.assertLessEqual(len(built), len(digests(alone)) + 1 + len(killed))
        images = len(digests(alone))
        self.assertIn(f"{images} images", (base / f"log-{index}").read_text())
        print(f"[{images} images, {len(built)} builds, killed: {', '.join(sorted(killed))}]", end=" ", flush=True)

    @staticmethod
    def shard(process: int) -> str | None:
        """That a builder builds; nil of any other process, and of a builder's cells."""
        try:
            words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            ours = Path(f"/proc/{parent}/cmdline").read_text().split("\0")
        except OSError:
            return None
        return words[words.index("--shard") + 1] if "--shard" in words and "--shard" not in ours else None


if __name__ == "__main__":
    unittest.main()
