"""A plan, what builds parts of it, and what they report."""

import hashlib
import json
import shutil
from pathlib import Path

from harness import CommandTest, folder, photo, run
from pdf import labelled_pdf
from szi import archives


def digests(library: Path) -> dict[str, str]:
    return {str(path.relative_to(library)): hashlib.sha256(path.read_bytes()).hexdigest() for path in archives(library)}


class PlanTest(CommandTest):
    def setUp(self):
        self.base = folder("plan")
        self.photos, self.library, self.reports = self.base / "photos", self.base / "library", self.base / "reports"
        self.photos.mkdir()

    def plan(self, *arguments, code: int = 0, name: str = "plan.jsonl") -> Path:
        result = run("plan", *(arguments or (self.photos,)), "--library", self.library)
        self.assertEqual(result.returncode, code, result.stderr)
        (self.base / name).write_text(result.stdout)
        return self.base / name

    def shard(self, plan: Path, number: int, count: int, *arguments):
        return run("build", "--plan", plan, "--shard", f"{number}/{count}", "--library", self.library,
                   "--journal-dir", self.reports, "--json", *arguments)

    def reported(self) -> list[dict]:
        """The lines of all reports, file by file."""
        files = sorted(self.reports.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        return [json.loads(line) for path in files for line in path.read_text().splitlines() if line.endswith("}")]

    def outcomes(self, *arguments) -> dict[str, str]:
        """By `ziggurat report`, how each image came out."""
        self.report = run("report", *arguments, "--json")
        return {line["id"]: line["status"] for line in map(json.loads, self.report.stdout.splitlines())}

    def pictures(self):
        """Names that collide, pages, duplicates, links, broken ones."""
        for number in range(9):
            photo(self.photos / f"{'abc'[number % 3]}/p{number}.jpg", 60 + number, 40)
        photo(self.photos / "a/p0.png", 30, 20)
        shutil.copy(self.photos / "b/p1.jpg", self.photos / "twin.jpg")
        (self.photos / "linked.jpg").symlink_to("a/p0.jpg")
        (self.photos / "a b – é.pdf").write_bytes(labelled_pdf(3))
        (self.photos / "broken.tif").write_text("no picture")
