"""The manifests of packaging/kubernetes: what Kubernetes' schemas ask for, and what their containers run, without a cluster."""

import copy
import os
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import kubernetes_validate
import yaml
from harness import BINARY, ROOT, run
from planned import PlanTest, digests

# Of what the manifests need the oldest, and the newest whose schemas there are.
VERSIONS = [f"1.{minor}" for minor in range(28, 38)]


def manifest(name: str) -> dict:
    return yaml.safe_load((ROOT / f"packaging/kubernetes/{name}.yaml").read_text())


class Manifests(PlanTest):
    def test_they_are_what_the_schemas_ask_for_and_a_slip_is_not(self):
        for name in ("build", "index"):
            for version in VERSIONS:
                kubernetes_validate.validate(manifest(name), version, strict=True)
        slips = (lambda job: job["spec"].update(completionmode="Indexed"), lambda job: job["spec"].update(parallelism="16"),
                 lambda job: job["spec"]["template"]["spec"]["containers"][0].pop("name"), lambda job: job.update(kind="Jobs"))
        for number, slip in enumerate(slips):
            job = copy.deepcopy(manifest("build"))
            slip(job)
            with self.subTest(number), self.assertRaises((kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError)):
                kubernetes_validate.validate(job, VERSIONS[-1], strict=True)

    def test_what_their_containers_run_builds_the_library(self):
        self.pictures()
        build, index = manifest("build")["spec"], manifest("index")["spec"]
        (self.base / "bin").mkdir()
        (self.base / "bin/ziggurat").symlink_to(BINARY)
        environment = {**os.environ, "PATH": f"{self.base}/bin:{os.environ['PATH']}"}
        self.plan()

        def start(job: dict, **variables: str) -> int:
            """What the job's container ends with, where its volume is a folder."""
            container = job["template"]["spec"]["containers"][0]
            arguments = [word.replace("/shared", str(self.base)) for word in container["command"] + container["args"]]
            return subprocess.run(arguments, env={**environment, **variables}, capture_output=True, timeout=120).returncode

        with ThreadPoolExecutor(4) as pods:
            codes = list(pods.map(lambda number: start(build, JOB_COMPLETION_INDEX=str(number)), range(build["completions"])))
        # One picture is broken.
        self.assertEqual(sorted(codes), [0] * (build["completions"] - 1) + [1])
        failed = build["podFailurePolicy"]["rules"][0]
        self.assertEqual((failed["action"], failed["onExitCodes"]["values"]), ("FailIndex", [1, 2]))
        self.assertEqual(start(index), 1)
        self.assertEqual(run("build", self.photos, "--library", self.base / "alone").returncode, 1)
        self.assertEqual(digests(self.library), digests(self.base / "alone"))


if __name__ == "__main__":
    unittest.main()
