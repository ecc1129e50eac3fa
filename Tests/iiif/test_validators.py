"""Both official IIIF validators against a running server: every test of level 2 must pass, in 2.0 and 3.0.

They install a module of the same name, so each has a virtual environment of its own below .cache/. What passes
beyond level 2 is printed: with iiif-validator all but its tests of webp, jp2 and pdf, which call a function that
Python 3 has not; with iiif-validator-ng all but, by the angle it draws, one that takes the corners of a turned
JPEG for black, where they are white here.
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT, Server, folder, run  # noqa: E402

IMAGE = "67352ccc-d1b0-11e1-89ae-279075081939"
PACKAGES = {"iiif-validator": "1.0.5", "iiif-validator-ng": "0.1.0"}


def environment(package: str) -> Path:
    """The package's virtual environment, made where it is missing."""
    path = ROOT / ".cache" / package
    if not (path / ".complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", path], check=True)
        subprocess.run([path / "bin/pip", "install", "--quiet", "--disable-pip-version-check",
                        f"{package}=={PACKAGES[package]}"], check=True)
        (path / ".complete").touch()
    return path

# Its own way to run its tests needs Python 3.12, which Debian 12 does not have; the tests themselves do not.
NEWER = """
import json, sys
from iiif_validator.tests.test import ComplianceLevel, IIIFVersion, TargetServer, ValidationFailure, get_tests
version = IIIFVersion.V2 if sys.argv[2] == "2" else IIIFVersion.V3
server = TargetServer(sys.argv[1], validation_id=sys.argv[3], version=version)
features = server.feature_set()
offered = {*features.extra_qualities, *features.extra_formats, *features.extra_features}
verdict = {"level": features.compliance_level.name, "required": 0, "optional": 0, "failed": [], "missed": []}
for test in get_tests(version):
    level = test.compliance_level
    level = level[version] if isinstance(level, dict) else level
    names = test.extra_name or []
    required = level <= ComplianceLevel.LEVEL_2
    if not required and not offered.intersection([names] if isinstance(names, str) else names):
        continue
    results = test.run(server)
    for result in results if isinstance(results, list) else [results]:
        if isinstance(result, ValidationFailure):
            verdict["failed" if required else "missed"].append(f"{test.name}: {result.details} {result.url}")
        else:
            verdict["required" if required else "optional"] += 1
print(json.dumps(verdict))
"""


class Validators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        newer = environment("iiif-validator-ng")
        material = next(newer.glob("lib/python3*/site-packages/iiif_validator/validation_image.png"))
        photos, library = folder("photos"), folder("library")
        (photos / f"{IMAGE}.png").write_bytes(material.read_bytes())
        # PNG tiles: the validators compare single pixels beside sharp edges, which no JPEG of a JPEG keeps.
        built = run("build", photos, "--library", library, "--format", "png", "--tile-size", "256")
        assert built.returncode == 0, built.stderr
        cls.server = Server(library)
        cls.addClassCleanup(cls.server.stop)

    def check_first(self, version: str):
        tool = environment("iiif-validator") / "bin/iiif-validate.py"

        def validate(level: int) -> subprocess.CompletedProcess:
            return subprocess.run(
                [tool, "-s", f"127.0.0.1:{self.server.port}", "-p", f"iiif/{version[0]}", "-i", IMAGE,
                 f"--version={version}", f"--level={level}"], capture_output=True, text=True, timeout=300)

        done = validate(2)
        text = done.stdout + done.stderr
        tests, failures = map(int, re.search(r"Done \((\d+) tests, (\d+) failures\)", text).groups())
        # The exit code is the number of failures; too few tests would mean that it did not know the version.
        self.assertEqual((done.returncode, failures), (0, 0), text)
        self.assertGreaterEqual(tests, 30, text)
        optional = validate(3)
        print(f"[{tests} tests of level 2; with the optional ones "
              + re.search(r"Done \((.*)\)", optional.stdout + optional.stderr).group(1) + "] ", end="", flush=True)

    def test_first_validator_2_0(self):
        self.check_first("2.0")

    def test_first_validator_3_0(self):
        self.check_first("3.0")

    def check_newer(self, version: str):
        done = subprocess.run(
            [environment("iiif-validator-ng") / "bin/python", "-c", NEWER,
             f"http://127.0.0.1:{self.server.port}/iiif/{version}", version, IMAGE],
            capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        verdict = json.loads(done.stdout)
        self.assertEqual(verdict["level"], "LEVEL_2")
        self.assertEqual(verdict["failed"], [])
        self.assertGreater(verdict["required"], 60)
        missed = f", missed {verdict['missed']}" if verdict["missed"] else ""
        print(f"[{verdict['required']} of level 2, {verdict['optional']} optional{missed}] ", end="", flush=True)

    def test_newer_validator_2(self):
        self.check_newer("2")

    def test_newer_validator_3(self):
        self.check_newer("3")


if __name__ == "__main__":
    unittest.main()
