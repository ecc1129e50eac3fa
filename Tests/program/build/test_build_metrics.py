"""`build --metrics-file`, as node_exporter's textfile collector and Prometheus' own tools read it."""

import shutil
import stat
import subprocess
import time

from prometheus_client.parser import text_string_to_metric_families

from harness import CommandTest, folder, photo, run


class BuildMetrics(CommandTest):
    def setUp(self):
        self.base = folder("metrics")
        for name in ("one", "two", "three"):
            photo(self.base / f"photos/{name}.jpg", 300, 200, left=10 * len(name))
        self.file = self.base / "collected/ziggurat.prom"
        self.file.parent.mkdir()

    def build(self, code: int, *options) -> tuple[dict[str, float], dict[str, float]]:
        """The values of a build by name, and its images by outcome."""
        before = time.time()
        result = run("build", self.base / "photos", "--library", self.base / "library", "--metrics-file", self.file, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        judged = subprocess.run(["promtool", "check", "metrics"], input=self.file.read_bytes(), capture_output=True)
        self.assertEqual((judged.returncode, judged.stdout, judged.stderr), (0, b"", b""))
        found = {family.name.removeprefix("ziggurat_last_build_"): family for family in text_string_to_metric_families(self.file.read_text())}
        images = {sample.labels["outcome"]: sample.value for sample in found.pop("images").samples}
        numbers = {name: family.samples[0].value for name, family in found.items()}
        self.assertEqual(set(numbers), {"end_time_seconds", "duration_seconds", "exit_code"})
        self.assertTrue(before - 1 <= numbers["end_time_seconds"] <= time.time() + 1, numbers)
        self.assertTrue(0 < numbers["duration_seconds"] <= time.time() - before, numbers)
        # Another user collects it, and nothing half is there for it.
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        self.assertEqual([path.name for path in self.file.parent.iterdir()], ["ziggurat.prom"])
        return numbers, {outcome: count for outcome, count in images.items() if count}

    def test_it_has_how_the_last_build_ended(self):
        numbers, images = self.build(0)
        self.assertEqual((numbers["exit_code"], images), (0, {"built": 3}))
        (self.base / "photos/broken.jpg").write_bytes(b"no picture")
        numbers, images = self.build(1)
        self.assertEqual((numbers["exit_code"], images), (1, {"unchanged": 3, "failed": 1}))
        (self.base / "photos/broken.jpg").unlink()
        (self.base / "photos/one.jpg").unlink()
        numbers, images = self.build(0, "--prune=all")
        self.assertEqual((numbers["exit_code"], images), (0, {"unchanged": 2, "pruned": 1}))

    def test_a_file_that_cannot_be_written_is_reported_and_the_library_built(self):
        result = run("build", self.base / "photos", "--library", self.base / "library", "--metrics-file", self.base / "none/ziggurat.prom")
        self.assertEqual(result.returncode, 0)
        self.assertIn(str(self.base / "none"), result.stderr)
        self.assertTrue((self.base / "library/one.szi").exists())

    def test_another_file_is_not_replaced(self):
        for option, own in (("--metrics-file", "# HELP ziggurat_last_build_"), ("--digest-cache", '{"content":')):
            for content in (b"somebody's only copy", b"# HELP node_x y\n", b'{"a":1}\n', b"\0"):
                self.file.write_bytes(content)
                result = run("build", self.base / "photos", "--library", self.base / "library", option, self.file)
                self.assertEqual(result.returncode, 1)
                self.assertOneLine(result, f"cannot replace {self.file}: it is not a", "delete this one")
                self.assertEqual(self.file.read_bytes(), content)
                self.assertFalse((self.base / "library").exists())
            self.file.write_bytes(b"")
            for _ in range(2):
                result = run("build", self.base / "photos", "--library", self.base / "library", option, self.file)
                self.assertEqual(result.returncode, 0, result.stderr)
                # Files as fresh as these are not in the cache yet.
                self.assertIn(self.file.read_text()[:len(own)], (own, "") if option == "--digest-cache" else (own,))
            shutil.rmtree(self.base / "library")

    def test_a_dry_run_has_none(self):
        result = run("build", self.base / "photos", "--library", self.base / "library", "--metrics-file", self.file, "--dry-run")
        self.assertUsageError(result, "--metrics-file cannot be used with --dry-run")
