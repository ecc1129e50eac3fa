"""Sources that lie in a real object store under keys of any letters: what is built of them is what is built of the same files in a folder."""

import datetime
import hashlib
import hmac
import os
import shutil
import unittest
import urllib.request
import uuid
from urllib.parse import quote, urlsplit

from harness import folder, photo, run
from szi import archives

BUCKET = os.environ.get("ZIGGURAT_TEST_BUCKET")
NAMES = ("sc ans/a b/é+%41 #?&=.jpg", "sc ans/a b/e\u0301 two.png", "sc ans/a b/ü;:@$,!*'().jpg", "sc ans/日本/%2F%25.jpg", "sc ans/\u0301accent.jpg", "sc ans/~tilde_-.jpg")


def put(key: str, body: bytes) -> None:
    """Stores an object, signed as AWS has it (Signature Version 4): curl's command signs no such keys."""
    endpoint, region = os.environ["AWS_ENDPOINT_URL_S3"], os.environ["AWS_REGION"]
    path = quote(f"/{BUCKET}/{key}", safe="/~")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": urlsplit(endpoint).netloc, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": now}
    names = ";".join(headers)
    request = "\n".join(["PUT", path, "", *(f"{name}:{value}" for name, value in headers.items()), "", names, headers["x-amz-content-sha256"]])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    secret = f"AWS4{os.environ['AWS_SECRET_ACCESS_KEY']}".encode()
    for word in scope.split("/"):
        secret = hmac.digest(secret, word.encode(), "sha256")
    canonical = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(request.encode()).hexdigest()])
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={os.environ['AWS_ACCESS_KEY_ID']}/{scope}, SignedHeaders={names}, "
                                f"Signature={hmac.new(secret, canonical.encode(), 'sha256').hexdigest()}")
    with urllib.request.urlopen(urllib.request.Request(endpoint + path, data=body, method="PUT", headers=headers)) as answer:
        assert answer.status == 200, answer.status


@unittest.skipUnless(BUCKET, "no store is named: make test-scale starts one")
class AnyKeys(unittest.TestCase):
    def test_archives_are_those_of_the_same_files_in_a_folder(self):
        base, prefix = folder("keys"), str(uuid.uuid4())
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        sources = base / "sources"
        for number, name in enumerate(NAMES):
            photo(sources / name, 300 + 10 * number, 200)
            put(f"{prefix}/{name}", (sources / name).read_bytes())
        found = {}
        for place, library in ((sources, base / "near"), (f"s3://{BUCKET}/{prefix}", base / "far")):
            built = run("build", place, "--library", library, timeout=120)
            self.assertEqual(built.returncode, 0, built.stderr)
            found[library.name] = {str(path.relative_to(library)): hashlib.sha256(path.read_bytes()).hexdigest() for path in archives(library)}
        self.assertEqual(len(found["near"]), len(NAMES))
        self.assertEqual(found["far"], found["near"])
        # As parts of a plan, one object alone, and once more without asking for what is the same.
        plan = base / "plan.jsonl"
        plan.write_text(run("plan", f"s3://{BUCKET}/{prefix}/{NAMES[0]}").stdout)
        planned = run("build", "--plan", plan, "--library", base / "one", "--json")
        self.assertEqual((planned.returncode, planned.stdout.count('"built"')), (0, 1), planned.stderr)
        again = run("build", f"s3://{BUCKET}/{prefix}", "--library", base / "far", "--json")
        self.assertEqual((again.returncode, again.stdout.count('"unchanged"')), (0, len(NAMES)), again.stderr)


if __name__ == "__main__":
    unittest.main()
