"""Sources of a build that lie in an object store: what comes of them is what comes of the same files in a folder."""

import json
import os
import unittest
from unittest import mock

from harness import photo, run
from planned import PlanTest, digests
from small_store import SmallStore

XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt></dc:title>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


class SourcesTest(PlanTest):
    scans = "s3://pictures/the scans"

    def setUp(self):
        super().setUp()
        self.store = SmallStore(page=2)
        self.addCleanup(self.store.close)
        self.scratch = self.base / "scratch"
        self.scratch.mkdir()
        patched = mock.patch.dict(os.environ, {**self.store.environment, "TMPDIR": str(self.scratch)})
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(lambda: self.assertEqual([path for path in self.scratch.rglob("*") if path.is_file()], [], "copies went"))

    def send(self):
        """Has the store hold what the folder holds, and no more."""
        below = "the scans/"
        for key in self.store.keys(below):
            del self.store.objects[key]
        for path in self.photos.rglob("*"):
            if path.is_file():
                self.store.objects[below + str(path.relative_to(self.photos))] = path.read_bytes()

    def build(self, *arguments, library=None):
        return run("build", *(arguments or (self.scans,)), "--library", library or self.library, "--json")

    def statuses(self, result) -> dict[str, str]:
        return {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines()) if "id" in line}

    def read(self) -> list[str]:
        """The keys whose objects were asked for since this was asked last."""
        return sorted({key.removeprefix("the scans/") for method, key in self.store.taken() if method == "GET" and key})


class Builds(SourcesTest):
    def test_archives_ids_and_failures_are_those_of_the_same_files_in_a_folder(self):
        self.pictures()
        (self.photos / "linked.jpg").unlink()
        (self.photos / "a/p0.jpg.xmp").write_text(XMP.format("A title & more"))
        (self.photos / "twice+%41 #?.jpg").write_bytes((self.photos / "b/p1.jpg").read_bytes())
        (self.photos / "notes.txt").write_text("no picture")
        (self.photos / ".hidden").mkdir()
        photo(self.photos / ".hidden/not.jpg", 20, 20)
        (self.photos / "empty.png").write_bytes(b"")
        self.send()
        self.store.objects["the scans/made/"] = b""
        self.store.objects["the scans/a//double.jpg"] = self.store.objects["the scans/b/p1.jpg"]
        self.store.objects["the scans of others/not.jpg"] = self.store.objects["the scans/b/p1.jpg"]
        near = self.build(self.photos, library=self.base / "near")
        far = self.build(self.scans + "/")
        self.assertEqual((near.returncode, far.returncode), (1, 1), far.stderr)
        self.assertEqual(digests(self.base / "near"), digests(self.library))
        self.assertEqual(self.statuses(near), self.statuses(far))
        # Reports are ordered by duration.
        # For a copy from the store, the format that the file's name states is unknown.
        reported = lambda result, place: sorted(line.split("] ")[-1].split(", though its name says")[0]
                                            for line in result.stderr.replace(str(place), "PLACE").splitlines())
        self.assertEqual(reported(near, self.photos), reported(far, self.scans))
        self.assertEqual(set(self.statuses(self.build()).values()), {"unchanged", "failed"})

    def test_names_of_two_compositions_are_two_sources_of_which_the_second_is_refused(self):
        photo(self.photos / "e\u0301.jpg", 50, 60)
        photo(self.photos / "\u00e9.jpg", 50, 60)
        photo(self.photos / "\u0301accent.jpg", 50, 60)
        self.send()
        near, far = self.build(self.photos, library=self.base / "near"), self.build()
        self.assertEqual((near.returncode, far.returncode), (1, 1), far.stderr)
        self.assertEqual(self.statuses(near), self.statuses(far))
        # An archive has its source's name in it, which no folder's name is part of.
        self.assertEqual(digests(self.base / "near"), digests(self.library))
        for result in (near, far):
            self.assertIn("has the same id", result.stderr)

    def test_books_are_bound_as_in_folders(self):
        for name in ("page2", "page10", "page1"):
            photo(self.photos / f"hours/{name}.jpg", 50, 60)
        self.send()
        self.build(self.photos, "--book", library=self.base / "near")
        result = self.build(self.scans, "--book")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(digests(self.base / "near"), digests(self.library))

    def test_one_object_is_a_source_with_its_sidecar(self):
        photo(self.photos / "a.jpg", 50, 60)
        photo(self.photos / "a.jpg.more.jpg", 50, 61)
        (self.photos / "a.xmp").write_text(XMP.format("One"))
        self.send()
        self.build(self.photos / "a.jpg", library=self.base / "near")
        result = self.build(self.scans + "/a.jpg")
        self.assertEqual((result.returncode, self.statuses(result)), (0, {"a": "built"}), result.stderr)
        self.assertEqual(digests(self.base / "near"), digests(self.library))

    def test_parts_of_a_plan_build_what_was_planned_and_nothing_else(self):
        self.pictures()
        (self.photos / "linked.jpg").unlink()
        self.send()
        plan = self.plan(self.scans)
        self.build(self.photos, library=self.base / "near")
        changed = "the scans/a/p3.jpg"
        self.store.objects[changed] += b"."
        del self.store.objects["the scans/a/p6.jpg"]
        shards = [self.shard(plan, number, 2) for number in range(2)]
        errors = "".join(shard.stderr for shard in shards)
        self.assertLessEqual({shard.returncode for shard in shards}, {0, 1}, errors)
        near = {name: digest for name, digest in digests(self.base / "near").items() if name not in ("a/p3.szi", "a/p6.szi")}
        self.assertEqual(digests(self.library), near, errors)
        report = run("report", plan, self.reports)
        self.assertEqual(report.returncode, 1)
        for name in ("p3", "p6"):
            self.assertIn(f"{self.scans}/a/{name}.jpg: has changed since it was listed", report.stderr)

    def test_what_the_ledger_knows_is_not_read_again(self):
        for name in "abcd":
            photo(self.photos / f"{name}.jpg", 50, 40 + ord(name))
        (self.photos / "c.jpg.xmp").write_text(XMP.format("Before"))
        self.send()
        ledger = ("--digest-cache", self.base / "ledger")
        self.assertEqual(set(self.statuses(self.build(self.scans, *ledger)).values()), {"built"})
        self.assertEqual(self.read(), ["a.jpg", "b.jpg", "c.jpg", "c.jpg.xmp", "d.jpg"])
        self.assertEqual(set(self.statuses(self.build(self.scans, *ledger)).values()), {"unchanged"})
        self.assertEqual(self.read(), ["c.jpg.xmp"])
        photo(self.photos / "b.jpg", 70, 40)
        (self.photos / "c.jpg.xmp").write_text(XMP.format("After"))
        (self.photos / "d.jpg").unlink()
        self.send()
        again = self.build(self.scans, "--prune", *ledger)
        self.assertEqual(self.statuses(again), {"a": "unchanged", "b": "built", "c": "metadata-updated", "d": "pruned"}, again.stderr)
        self.assertEqual(self.read(), ["b.jpg", "c.jpg", "c.jpg.xmp"])

    def test_from_a_bucket_into_the_same_one(self):
        photo(self.photos / "a.jpg", 50, 60)
        self.send()
        result = self.build("s3://pictures", library="s3://pictures/library")
        self.assertEqual((result.returncode, self.statuses(result)), (0, {"the scans/a": "built"}), result.stderr)
        again = self.build("s3://pictures", library="s3://pictures/library")
        self.assertEqual((again.returncode, self.statuses(again)), (0, {"the scans/a": "unchanged"}), again.stderr)


class StoreErrors(SourcesTest):
    def test_what_passes_is_waited_for_and_a_store_that_is_away_asks_for_another_time(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 50, 40 + ord(name))
        self.send()
        self.store.errors = [503, 500, 503]
        self.store.errors_below = {"the scans/b": [503, 503, 503]}
        self.assertEqual(self.build().returncode, 0)
        self.store.close()
        away = self.build(library=self.base / "other")
        self.assertEqual(away.returncode, 75, away.stderr)
        self.assertTrue(away.stderr.startswith(f"ziggurat: {self.scans}: "), away.stderr)
        self.assertNotEqual(self.build("--prune", self.scans).returncode, 0)
        self.assertEqual(len(digests(self.library)), 3)

    def test_rejected_and_missing_objects_are_reported_with_one_line(self):
        photo(self.photos / "a.jpg", 50, 60)
        self.send()
        for source, message in (("s3://pictures/none", "there is nothing of that name"), ("s3://others/x", "there is no such bucket"),
                              ("s3://No_Bucket/x", "it is not s3://BUCKET or s3://BUCKET/KEY")):
            result = self.build(source)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(f"{source}: {message}", result.stderr)
        result = self.build(self.scans, library=self.scans.replace(" ", "-"))
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("--watch", "--space"):
            self.assertEqual(self.build(self.scans, word).returncode, 2)
        self.store.errors_below = {"the scans/a.jpg": [403]}
        result = self.build(library=self.base / "other")
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (75, 2), result.stderr)
        self.assertIn("403", result.stderr)

    def test_a_cut_plan_line_is_refused(self):
        photo(self.photos / "a.jpg", 50, 60)
        self.send()
        plan = self.plan(self.scans)
        text = plan.read_text()
        for old, new in ((f'"remote":{{"bytes"', '"remote":{"bites"'), (f'"path":"{self.scans}/a.jpg"', '"path":"/etc/passwd"')):
            self.assertIn(old, text)
            plan.write_text(text.replace(old, new, 1))
            result = run("build", "--plan", plan, "--library", self.library)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("is damaged", result.stderr)
        # What would be a header of its own, and another place with all its letters.
        for old, new in (('"etag":"\\"', '"etag":"\\"\\r\\nX-Header: 1'), (f"{self.scans}/a.jpg", "s3://pictures/../a.jpg")):
            self.assertIn(old, text)
            plan.write_text(text.replace(old, new))
            self.store.taken()
            result = run("build", "--plan", plan, "--library", self.library)
            self.assertEqual((result.returncode, self.store.taken()), (1, []), result.stderr)
            self.assertIn("it is not s3://BUCKET/KEY with a version", result.stderr)


if __name__ == "__main__":
    unittest.main()
