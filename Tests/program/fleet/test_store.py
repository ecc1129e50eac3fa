"""A library in an object store: built, listed, read and verified there, what comes of it is what a folder has."""

import hashlib
import json
import os
import select
import signal
import subprocess
import threading
import time
import unittest
from unittest import mock
from urllib.parse import quote

from harness import BINARY, Answer, Server, heard, photo, run, seed
from PIL import Image
from planned import PlanTest, digests
from small_store import SmallStore


class StoreTest(PlanTest):
    def setUp(self):
        super().setUp()
        # Of two keys a page: what is listed is listed to its end.
        self.store = SmallStore(page=2)
        self.addCleanup(self.store.close)
        environment = {**self.store.environment, "TMPDIR": str(self.base / "scratch")}
        (self.base / "scratch").mkdir()
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        self.addCleanup(patched.stop)
        self.bucket = f"s3://{self.store.BUCKET}/some/library"

    def build(self, *arguments, library=None):
        return run("build", *(arguments or (self.photos,)), "--library", library or self.bucket, "--json")

    def statuses(self, result) -> dict[str, str]:
        return {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines()) if "id" in line}

    def archives(self) -> dict[str, bytes]:
        return {key: self.store.objects[key] for key in self.store.keys("some/library/szi/")}

    def ids(self, server) -> list[str]:
        return sorted(item["id"] for item in json.loads(server.get("/api/images?limit=1000").body)["images"])

    def listed(self, server, ids) -> None:
        """Waits until a server lists just these."""
        end = time.monotonic() + 20
        while self.ids(server) != sorted(ids):
            self.assertLess(time.monotonic(), end, self.ids(server))
            time.sleep(0.05)


class Builds(StoreTest):
    def test_an_image_belongs_to_the_source_that_built_it(self):
        photo(self.base / "ca/p1.jpg", 60, 40)
        photo(self.base / "ca/p2.jpg", 60, 41)
        photo(self.base / "cb/p1.jpg", 80, 50)
        self.assertEqual(self.statuses(self.build(self.base / "ca")), {"p1": "built", "p2": "built"})
        before = self.archives()
        refused = self.build(self.base / "cb")
        self.assertEqual((refused.returncode, self.statuses(refused)), (1, {"p1": "failed"}))
        self.assertIn("has the same id 'p1' as an image of another source of this library", refused.stderr)
        self.assertEqual(self.archives(), before)
        # A folder of another name with the same pictures is the same source.
        (self.base / "ca").rename(self.base / "renamed")
        self.assertEqual(self.statuses(self.build(self.base / "renamed")), {"p1": "unchanged", "p2": "unchanged"})
        self.assertEqual(self.statuses(self.build(self.base / "cb", "--take-ownership")), {"p1": "built"})

    def test_archives_are_those_of_a_folder_and_served_as_from_there(self):
        self.pictures()
        result = self.build()
        self.assertEqual(result.returncode, 1, result.stderr)  # one picture is broken
        self.assertEqual(self.build(library=self.library).returncode, 1)
        folder = digests(self.library)
        found = {hashlib.sha256(body).hexdigest(): key for key, body in self.archives().items()}
        self.assertEqual(set(found), set(folder.values()))
        for digest, key in found.items():
            self.assertEqual(key, f"some/library/szi/{digest[:2]}/{digest}.szi")
        self.assertEqual(os.listdir(self.base / "scratch"), [f"ziggurat-{os.geteuid()}"])
        self.assertEqual(os.listdir(self.base / "scratch" / f"ziggurat-{os.geteuid()}"), [])
        with Server(self.bucket) as far, Server(self.library) as near:
            ids = [name.removesuffix(".szi") for name in folder]
            self.listed(far, self.ids(near))
            compared = 0
            for id in ids:
                path = quote(id, safe="")
                described = json.loads(near.get(f"/api/images/{path}").body)
                for level in range(len(described["levels"])):
                    for target in (f"/dzi/{path}_files/{level}/0_0.jpg", f"/xyz/{path}/{level}/0/0.jpg"):
                        ours, theirs = far.get(target), near.get(target)
                        self.assertEqual((ours.status, ours["etag"], ours.body), (theirs.status, theirs["etag"], theirs.body), target)
                        compared += ours.status == 200
                for target in (f"/iiif/3/{path}/full/max/0/default.png", f"/iiif/3/{path}/info.json", f"/iiif/presentation/3/{path}/manifest",
                               f"/api/images/{path}", f"/api/images/{path}/viewport.tiles?width=800&height=600"):
                    ours, theirs = far.get(target), near.get(target)
                    self.assertEqual(ours.status, theirs.status, target)
                    self.assertTrue(far.portless(ours.body) == near.portless(theirs.body), target)
            self.assertGreater(compared, 100)

    def test_what_is_unchanged_is_not_built_and_what_is_gone_is_pruned_when_asked(self):
        for name in "abcdefghijklmno":
            photo(self.photos / f"{name}.jpg", 60 + ord(name), 40)
        self.assertEqual(set(self.statuses(self.build()).values()), {"built"})
        self.assertEqual(set(self.statuses(self.build(self.photos, "--dry-run")).values()), {"unchanged"})
        again = self.build()
        self.assertEqual(set(self.statuses(again).values()), {"unchanged"})
        self.assertEqual([method for method, _ in self.store.taken() if method == "PUT"][15 + 1 + 1:], [])
        (self.photos / "a.jpg").unlink()
        photo(self.photos / "b.jpg", 90, 50)
        result = self.build(self.photos, "--prune")
        self.assertEqual({id: status for id, status in self.statuses(result).items() if status != "unchanged"}, {"a": "pruned", "b": "built"})
        with Server(self.bucket) as server:
            self.listed(server, "bcdefghijklmno")
            self.assertEqual(server.get("/dzi/a.dzi").status, 404)
            self.assertEqual(json.loads(server.get("/api/images/b").body)["width"], 90)

    def test_parts_of_a_plan_are_one_library_and_index_makes_its_directory_one_segment(self):
        self.pictures()
        plan = self.plan()
        random = seed("parts in a store")
        count = random.randrange(2, 6)
        parts = [subprocess.Popen([BINARY, "build", "--plan", plan, "--shard", f"{number}/{count}", "--library", self.bucket,
                                   "--journal-dir", self.reports], stderr=subprocess.DEVNULL) for number in range(count)]
        self.assertEqual(sorted(part.wait(60) for part in parts), [0] * (count - 1) + [1])
        self.build(library=self.library)
        alone = digests(self.library)
        self.assertEqual({hashlib.sha256(body).hexdigest() for body in self.archives().values()}, set(alone.values()))
        self.assertEqual(run("report", plan, self.reports).returncode, 1)
        self.assertGreaterEqual(len(self.store.keys("some/library/directory/")), count)
        indexed = run("reindex", self.bucket)
        self.assertEqual((indexed.returncode, indexed.stdout), (0, f"{len(alone)} images\n"), indexed.stderr)
        segments = self.store.keys("some/library/directory/")
        self.assertEqual([name.endswith("-whole") for name in segments], [True])
        # Nothing more to do.
        self.assertEqual(run("reindex", self.bucket).returncode, 0)
        self.assertEqual(self.store.keys("some/library/directory/"), segments)
        with Server(self.bucket) as server, Server(self.library) as near:
            self.listed(server, self.ids(near))

    def test_a_killed_build_is_finished_by_the_next(self):
        for number in range(40):
            photo(self.photos / f"p{number}.jpg", 60 + number, 40 + number)
        random = seed("builds killed")
        kills = 0
        for _ in range(4):
            build = subprocess.Popen([BINARY, "build", self.photos, "--library", self.bucket], stderr=subprocess.DEVNULL)
            try:
                build.wait(random.uniform(0.05, 0.8))
            except subprocess.TimeoutExpired:
                build.send_signal(signal.SIGKILL)
                build.wait()
                kills += 1
        result = self.build()
        self.assertEqual(result.returncode, 0, f"after {kills} kills: {result.stderr}")
        self.build(library=self.library)
        self.assertEqual({hashlib.sha256(body).hexdigest() for body in self.archives().values()}, set(digests(self.library).values()))
        verified = run("verify", self.bucket)
        self.assertEqual((verified.returncode, verified.stderr), (0, "40 archives read, no faults\n"))

    def test_a_store_that_fails_is_asked_again_and_one_that_is_away_costs_no_picture(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 60, 40 + ord(name))
        self.store.errors = [503, 500, 503]
        self.assertEqual(self.build().returncode, 0)
        self.store.errors = [403]
        refused = self.build()
        self.assertEqual((refused.returncode, refused.stderr.count("\n")), (75, 1), refused.stderr)
        self.assertIn("403", refused.stderr)

    def test_a_directory_that_is_away_for_a_while_is_waited_for_and_costs_no_picture(self):
        for name in "abcdef":
            photo(self.photos / f"{name}.jpg", 60, 40 + ord(name))
        # So slow that what was built is announced before the end, in vain; then as often as a server never asks for a segment.
        for self.store.delay, failures, status in ((0.5, 5, "built"), (0, 4, "unchanged")):
            self.store.errors_below = {"some/library/directory/": [503] * failures}
            result = self.build(self.photos, "--jobs", "1")
            self.assertEqual((result.returncode, list(self.statuses(result).values())), (0, [status] * 6), result.stderr)
            self.assertEqual(self.store.errors_below, {"some/library/directory/": []})

    def test_verify_reports_foreign_objects_of_the_store(self):
        for name in "abcd":
            photo(self.photos / f"{name}.jpg", 60, 40 + ord(name))
        self.build()
        keys = sorted(self.archives())
        body = bytearray(self.store.objects[keys[0]])
        body[len(body) // 2] ^= 1
        self.store.objects[keys[0]] = bytes(body)
        del self.store.objects[keys[1]]
        self.store.objects[keys[2]] = self.store.objects[keys[2]][:-1]
        result = run("verify", self.bucket)
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (1, 3), result.stdout + result.stderr)

    def test_wrong_uses(self):
        photo(self.photos / "a.jpg", 60, 40)
        for arguments, reported in [
            (("build", self.photos, "--library", "s3://No_Bucket"), "s3://BUCKET"),
            (("build", self.photos, "--library", f"s3://{self.store.BUCKET}/a b"), "s3://BUCKET"),
            (("verify", "s3://x/y"), "a bucket is 3 to 63 of a-z"),
            (("build", self.photos, "--library", "s3://other-bucket/x"), "no such bucket"),
            (("serve", "s3://other-bucket/x"), f"at {self.store.environment['AWS_ENDPOINT_URL_S3']})"),
            (("verify", "s3://other-bucket/x"), "no such bucket"),
            (("serve", self.bucket, "--writable"), "--writable"),
            (("serve", self.bucket, "--space"), "--space"),
            (("build", self.photos, "--library", self.bucket, "--space"), "--space"),
            (("verify", self.bucket, "--repair"), "--repair"),
        ]:
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertIn(result.returncode, (1, 2, 75))
                self.assertIn(reported, result.stderr)
                self.assertNotIn("\n", result.stderr.strip().split("\nsee")[0], result.stderr)

    def test_a_forged_index_is_rejected(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        random = seed("directories")
        [key] = self.store.keys("some/library/directory/")[:1]
        whole = self.store.objects[key]
        for _ in range(30):
            damaged = bytearray(whole)
            if random.random() < 0.3:
                damaged = damaged[:random.randrange(len(damaged))] or bytearray(b"x")
            else:
                damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
            self.store.objects[key] = bytes(damaged)
            result = run("verify", self.bucket)
            self.assertNotEqual(result.returncode, 0, bytes(damaged))
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


class Exports(StoreTest):
    def test_what_is_exported_is_what_a_folder_gives(self):
        self.pictures()
        self.build()
        self.build(library=self.library)
        for library, output in ((self.bucket, "far"), (self.library, "near")):
            result = run("export", library, "--layout", "dz", "--output", self.base / output)
            self.assertEqual(result.returncode, 0, result.stderr)
        far, near = ({path.relative_to(self.base / name): path.read_bytes() for path in (self.base / name).rglob("*") if path.is_file()}
                     for name in ("far", "near"))
        self.assertEqual(far, near)
        self.assertGreater(len(far), 50)


class Reading(StoreTest):
    def setUp(self):
        super().setUp()
        photo(self.photos / "wide.jpg", 1400, 900)
        for name in "xyz":
            photo(self.photos / f"{name}.jpg", 300, 200 + ord(name))
        self.build(self.photos, "--tile-size", "128")
        self.server = Server(self.bucket)
        self.addCleanup(self.server.__exit__, None, None, None)
        self.listed(self.server, ["wide", "x", "y", "z"])
        self.store.taken()

    def gets(self) -> int:
        return sum(key.startswith("some/library/szi/") for _, key in self.store.taken())

    def test_listing_and_describing_asks_for_nothing_and_a_first_tile_once(self):
        for target in ("/api/images", "/api/images/wide", "/iiif/3/wide/info.json", "/iiif/presentation/3/wide/manifest", "/dzi/wide.dzi",
                       "/api/images?q=wide", "/view/wide"):
            self.assertEqual(self.server.get(target).status, 200, target)
        self.assertEqual(self.gets(), 0)
        first = self.server.get("/dzi/wide_files/0/0_0.jpg")
        self.assertEqual((first.status, self.gets()), (200, 1))
        self.assertEqual(self.server.get("/dzi/wide_files/0/0_0.jpg", **{"If-None-Match": first["etag"]}).status, 304)

    def test_a_client_that_has_a_tile_causes_no_fetch(self):
        near = self.base / "near"
        self.build(self.photos, "--tile-size", "128", library=near)
        with Server(near) as folder:
            tag = folder.get("/dzi/x_files/9/1_1.jpg")["etag"]
        answer = self.server.get("/dzi/x_files/9/1_1.jpg", **{"If-None-Match": tag})
        self.assertEqual((answer.status, self.gets()), (304, 0))

    def test_a_thousand_requests_for_one_tile_cost_one_read(self):
        answers = []
        def ask():
            answers.append(self.server.get("/dzi/wide_files/0/0_0.jpg"))
        for _ in range(10):
            threads = [threading.Thread(target=ask) for _ in range(100)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual((len(answers), len({answer.body for answer in answers}), self.gets()), (1000, 1, 1))

    def test_an_animation_that_waits_for_the_store_delays_no_other_request(self):
        frames = [Image.new("RGB", (64, 48), color) for color in ("red", "green", "blue")]
        frames[0].save(self.photos / "moving.gif", save_all=True, append_images=frames[1:], duration=100)
        self.build(self.photos, "--tile-size", "128")
        self.listed(self.server, ["moving", "wide", "x", "y", "z"])
        self.store.delay = 3.0
        self.store.taken()
        animations = [self.server.connect() for _ in range(8)]
        for connection in animations:
            self.addCleanup(connection.close)
            connection.sendall(b"GET /api/images/moving/animation HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        # New connections go to each event loop in turn.
        for _ in range(8):
            self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(select.select(animations, [], [], 0)[0], [])
        self.store.delay = 0
        for connection in animations:
            answer = Answer(heard(connection, 30))
            self.assertEqual((answer.status, answer.body), (200, (self.photos / "moving.gif").read_bytes()))

    def test_what_another_builder_adds_and_replaces_is_seen(self):
        before = self.server.get("/dzi/x_files/0/0_0.jpg")
        photo(self.photos / "new.jpg", 100, 80)
        photo(self.photos / "x.jpg", 500, 400, left=10)
        self.build(self.photos, "--tile-size", "128")
        self.listed(self.server, ["new", "wide", "x", "y", "z"])
        end = time.monotonic() + 20
        while json.loads(self.server.get("/api/images/x").body)["width"] != 500:
            self.assertLess(time.monotonic(), end)
        after = self.server.get("/dzi/x_files/0/0_0.jpg")
        self.assertEqual(after.status, 200)
        self.assertNotEqual(before["etag"], after["etag"])

    def test_while_the_store_is_away_what_was_read_is_served_and_nothing_is_called_missing(self):
        here = self.server.get("/dzi/wide_files/0/0_0.jpg")
        self.store.close()
        self.assertEqual(self.server.get("/dzi/wide_files/0/0_0.jpg").body, here.body)
        metrics = self.server.metrics()
        self.assertEqual((metrics["store_requests_total"] >= 2, metrics["store_tile_hits_total"] >= 1), (True, True), metrics)
        answer = self.server.get("/dzi/y_files/0/0_0.jpg")
        self.assertEqual((answer.status, answer["retry-after"].isdigit()), (503, True))
        self.assertEqual(self.server.get("/api/images/y").status, 200)
        self.assertEqual(self.ids(self.server), ["wide", "x", "y", "z"])


if __name__ == "__main__":
    unittest.main()
