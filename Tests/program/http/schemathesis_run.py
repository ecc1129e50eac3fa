"""schemathesis (https://schemathesis.io) against a server: it asks what `/openapi.json` allows and more, and compares
every answer with it."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

from harness import Server, folder

CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
          "response_schema_conformance,unsupported_method")


def resolved(document: dict, value: dict) -> dict:
    """A parameter itself, where it stands as a reference."""
    if "$ref" not in value:
        return value
    return copy.deepcopy(document["components"]["parameters"][value["$ref"].rsplit("/", 1)[1]])


def check(server: Server, values: dict[str, list[str]], *options, checks: str = CHECKS, examples: int = 25) -> subprocess.CompletedProcess:
    """One run.

    - values: by the names of path parameters or the ids of operations, what to ask for beside what the tool makes up: what exists is what matters.
    """
    base = folder("schemathesis")
    document = json.loads(server.get("/openapi.json").body)
    for name, path in document["paths"].items():
        for way in path.values():
            # What several operations take stands among the components; each has its own values here.
            way["parameters"] = [resolved(document, parameter) for parameter in way.get("parameters", [])]
            for parameter in way["parameters"]:
                key = "upload" if name.startswith("/api/uploads") else parameter["name"]
                enum = values.get(way["operationId"], values.get(key))
                if parameter["in"] == "path" and enum:
                    parameter["schema"] = {"type": "string", "minLength": 1, "enum": enum}
    (base / "openapi.json").write_text(json.dumps(document))
    return subprocess.run(
        [Path(sys.executable).parent / "schemathesis", "run", base / "openapi.json",
         "--url", f"http://127.0.0.1:{server.port}", "--checks", checks,
         "--max-examples", os.environ.get("EXAMPLES", str(examples)), "--phases", "examples,coverage,fuzzing",
         # The same questions each time, unless a campaign asks for others.
         "--seed", os.environ.get("SEED", "1"),
         # The largest pictures take a busy machine some time.
         "--request-timeout", "60", "--no-color", *options],
        capture_output=True, text=True, timeout=300, cwd=base,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(Path(__file__).parent)})
