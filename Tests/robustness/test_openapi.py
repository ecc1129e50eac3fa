"""`/openapi.json` is true: schemathesis asks what it allows and more, and compares the answers with it."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from harness import ROOT, Server, folder, sample_library

CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
          "response_schema_conformance,unsupported_method")


class Description(unittest.TestCase):
    def test_every_answer_is_as_described(self):
        with Server(sample_library(), "--spaces", "yes") as server:
            base = folder("schemathesis")
            # Beside random ids those that exist: what they answer is what matters.
            document = json.loads(server.get("/openapi.json").body)
            for path in document["paths"].values():
                for parameter in (each for way in path.values() for each in way.get("parameters", [])):
                    if parameter["name"] == "id":
                        parameter["schema"] = {"type": "string", "minLength": 1, "enum": [
                            "photo", "two words", "deep/er/leaf", "dot", "line", "nothing", "ü?#%"]}
            # The tool knows how to send bytes by one name alone.
            bodies = document["paths"]["/api/uploads/{id}"]["patch"]["requestBody"]["content"]
            bodies["application/octet-stream"] = bodies.pop("application/offset+octet-stream")
            document["servers"] = [{"url": f"http://127.0.0.1:{server.port}"}]
            (base / "openapi.json").write_text(json.dumps(document))
            result = subprocess.run(
                [Path(sys.executable).parent / "schemathesis", "run", base / "openapi.json", "--url",
                 f"http://127.0.0.1:{server.port}", "--checks", CHECKS, "--max-examples",
                 os.environ.get("EXAMPLES", "25"), "--phases", "examples,coverage,fuzzing", "--no-color"],
                capture_output=True, text=True, timeout=300, cwd=base)
            self.assertEqual(result.returncode, 0, result.stdout[-6000:] + result.stderr[-2000:])
            self.assertRegex(result.stdout, r"\d+ generated|\d+ passed|No issues found")

    def test_it_names_what_the_readme_names(self):
        with Server(sample_library(), "--base-url", "https://example.org/images", "--max-viewport", 1234) as server:
            document = json.loads(server.get("/openapi.json").body)
        self.assertEqual((document["openapi"], document["servers"]), ("3.1.0", [{"url": "https://example.org/images"}]))
        width = next(parameter for parameter in document["paths"]["/api/images/{id}/viewport"]["get"]["parameters"]
                     if parameter["name"] == "width")
        self.assertEqual(width["schema"]["maximum"], 1234)
        told = set(re.findall(r"`(/api/images[^`?]*)", (ROOT / "README.md").read_text()))
        # A path of the description may stand for several: viewport.{format}.
        known = [re.compile(re.sub(r"\\{(?!id)\w+\\}", r"\\w+", re.escape(path))) for path in document["paths"]]
        for path in (path for path in told if "{" not in path.replace("{id}", "")):
            self.assertTrue(any(pattern.fullmatch(path) for pattern in known), path)


if __name__ == "__main__":
    unittest.main()
