"""The policies of packaging/s3: each lets its command do all of its work, and has no right that the work does not need."""

import fnmatch
import json
import re
import unittest

from harness import ROOT, Server, photo, run
from test_shared_edits import WritersTest
from test_store import StoreTest
from upload_client import metadata

POLICIES = ROOT / "packaging/s3"
SEGMENT = "library/directory/"
# What a request needs, by method and by the names in its query that matter (Amazon S3 API reference, "Required permissions").
RIGHTS = {("GET", "list-type"): "s3:ListBucket", ("GET", ""): "s3:GetObject", ("HEAD", ""): "s3:GetObject", ("PUT", ""): "s3:PutObject",
          ("DELETE", ""): "s3:DeleteObject", ("POST", "uploads"): "s3:PutObject", ("PUT", "uploadId"): "s3:PutObject",
          ("POST", "uploadId"): "s3:PutObject", ("DELETE", "uploadId"): "s3:AbortMultipartUpload"}
# Archives of more than a gigabyte are sent in parts, which the store of the tests does not take.
OF_PARTS = "s3:AbortMultipartUpload"


class Policy:
    """One or more policies, evaluated as their language says, and which of their rights were needed."""

    def __init__(self, *names: str):
        self.statements = [statement for name in names for statement in json.loads((POLICIES / f"{name}.json").read_text())["Statement"]]
        self.used, self.refused = set(), []

    def allows(self, method: str, key: str, query: dict) -> bool:
        what = next((name for name in ("list-type", "uploadId", "uploads") if name in query), "")
        # A store asks itself whether a client may know that an object does not exist.
        action = "s3:ListBucket" if not key else RIGHTS[method, what]
        resource = "arn:aws:s3:::pictures" + (f"/{key}" if key else "")
        isAllowed = False
        for number, statement in enumerate(self.statements):
            for pattern in statement["Resource"]:
                prefixes = statement.get("Condition", {}).get("StringLike", {}).get("s3:prefix", ["*"])
                fits = action in statement["Action"] and fnmatch.fnmatchcase(resource, pattern)
                if fits and any(fnmatch.fnmatchcase(query.get("prefix", ""), prefix) for prefix in prefixes):
                    self.used.add((number, action, pattern))
                    isAllowed = True
        if not isAllowed:
            self.refused.append((method, key, query))
        return isAllowed

    def unused(self) -> set[tuple[str, str]]:
        every = {(number, action, pattern) for number, statement in enumerate(self.statements)
                 for action in statement["Action"] for pattern in statement["Resource"]}
        return {(action, pattern) for _, action, pattern in every - self.used if action != OF_PARTS}


class Rights:
    """For tests of a store: a library where the policies have theirs."""

    def setUp(self):
        super().setUp()
        self.bucket = f"s3://{self.store.BUCKET}/library"

    def under(self, *names: str) -> Policy:
        policy = Policy(*names)
        self.store.allows = policy.allows
        return policy

    def check(self, policy: Policy) -> None:
        self.assertEqual(policy.refused, [])
        self.assertEqual(policy.unused(), set())

    def succeed(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result


class LibraryRights(Rights, StoreTest):
    def test_a_builder(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 60 + ord(name), 40)
        policy = self.under("build")
        self.succeed("plan", self.photos, "--library", self.bucket)
        (self.base / "plan.jsonl").write_text(run("plan", self.photos, "--library", self.bucket).stdout)
        part = ("build", "--plan", self.base / "plan.jsonl", "--library", self.bucket, "--journal-dir", self.reports)
        # One that cannot announce what it has sent: the next one asks the store for it.
        self.store.errors_below[SEGMENT] = [403] * 100
        self.assertNotEqual(run(*part).returncode, 0)
        self.store.errors_below.clear()
        self.succeed(*part)
        # After some hundred segments a build puts them together.
        for key in self.store.keys(SEGMENT):
            for number in range(201):
                self.store.objects[f"{SEGMENT}{number:013}-{number:x}"] = self.store.objects[key]
        self.succeed("build", self.photos, "--library", self.bucket)
        self.assertLess(len(self.store.keys(SEGMENT)), 5)
        (self.photos / "a.jpg").unlink()
        self.succeed("build", self.photos, "--library", self.bucket, "--prune=all")
        self.check(policy)

    def test_a_server_and_all_that_only_reads(self):
        photo(self.photos / "a.jpg", 900, 700)
        self.assertEqual(self.build().returncode, 0)
        policy = self.under("serve")
        with Server(self.bucket) as server:
            self.assertEqual(server.get("/dzi/a_files/9/0_0.jpg").status, 200)
        self.succeed("verify", self.bucket)
        self.succeed("export", self.bucket, "--layout", "iiif3", "--output", self.base / "exported")
        self.check(policy)

    def test_the_index_and_a_sweep(self):
        for width in (60, 90, 120):
            photo(self.photos / "a.jpg", width, 40)
            self.assertEqual(self.build().returncode, 0)
        policy = self.under("index")
        self.succeed("reindex", self.bucket)
        self.check(policy)
        photo(self.photos / "a.jpg", 150, 40)
        self.store.allows = None
        self.assertEqual(self.build().returncode, 0)
        policy = self.under("sweep")
        self.assertIn("; 3 marked", self.succeed("reindex", self.bucket, "--gc").stdout)
        marks = "library/sweep/marks"
        self.store.objects[marks] = re.sub(rb"(?m)^\d+ ", b"1000000 ", self.store.objects[marks])
        for key in self.store.written:
            self.store.written[key] = 1
        self.assertIn("3 archives without images removed", self.succeed("reindex", self.bucket, "--gc").stdout)
        self.check(policy)

    def test_sources(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.store.objects["scans/2026/a.jpg"] = (self.photos / "a.jpg").read_bytes()
        policy = self.under("sources")
        for source in ("s3://pictures/scans/2026/a.jpg", "s3://pictures/scans/2026"):
            self.succeed("plan", source)
            self.succeed("build", source, "--library", self.library, "--take-ownership")
        self.check(policy)

    def test_without_a_right_a_build_fails(self):
        photo(self.photos / "a.jpg", 60, 40)
        policy = self.under("serve")
        result = run("build", self.photos, "--library", self.bucket)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual({method for method, _, _ in policy.refused}, {"PUT"})

    def test_a_missing_object_is_missing_and_not_refused(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.assertEqual(self.build().returncode, 0)
        (key,) = self.store.keys("library/szi/")
        del self.store.objects[key]
        self.under("serve")
        result = run("verify", self.bucket)
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("403", result.stderr)


class SharedRights(Rights, WritersTest):
    def test_a_server_that_takes_changes(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.assertEqual(self.build().returncode, 0)
        policy = self.under("serve-writable")
        (self.base / "uploads").mkdir()
        with self.server(0, "--upload-dir", self.base / "uploads") as server:
            self.listed(server, "a")
            self.assertEqual(server.get("/dzi/a_files/8/0_0.jpg").status, 200)
            picture = photo(self.base / "sent.jpg", 200, 100).read_bytes()
            status, body, headers = self.asked(server, "POST", "/api/uploads", None, Tus_Resumable="1.0.0", Upload_Length=str(len(picture)),
                                               Upload_Metadata=metadata(filename="b.jpg"))
            self.assertEqual(status, 201, body)
            path = headers["Location"].partition("/api/")[2]
            self.assertEqual(self.asked(server, "PATCH", f"/api/{path}", picture, Tus_Resumable="1.0.0", Upload_Offset="0",
                                        Content_Type="application/offset+octet-stream")[0], 204)
            self.listed(server, "ab")
            status, body, _ = self.asked(server, "DELETE", "/api/images/a")
            self.assertEqual(status, 200, body)
            name = json.loads(body)["deleted"]["id"]
            self.assertEqual(self.asked(server, "POST", f"/api/trash/{name}/restore")[0], 200)
            self.eventually(lambda: self.database.ask("SELECT count(*) FROM archive WHERE unannounced").strip(), "0")
        self.check(policy)


class Requests(unittest.TestCase):
    def test_the_program_has_no_other_requests(self):
        """Those that the store of the tests does not take are known by the source alone."""
        found = set()
        for path in (ROOT / "Sources/ObjectStore").rglob("*.swift"):
            text = path.read_text()
            for method, query in re.findall(r"request\(\s*\.(get|head|put|post|delete), (?:key|\"\")(?:, (\"\w+=|query))?", text):
                found.add((method.upper(), query.strip('"=') if query != "query" else "query"))
        self.assertEqual(found, {("GET", "query"), ("HEAD", ""), ("PUT", ""), ("DELETE", ""), ("POST", "uploads"), ("POST", "uploadId"),
                                 ("PUT", "query"), ("DELETE", "uploadId")})


if __name__ == "__main__":
    unittest.main()
