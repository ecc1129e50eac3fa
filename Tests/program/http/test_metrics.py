"""`/metrics` as Prometheus' own parser reads it, and whether it matches what a client saw."""

import collections
import concurrent.futures
import json
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from harness import Server, folder, photo, run, sample_library, seed
from upload_client import Client, serve

# Every route and every status that a reader meets.
REQUESTS = [
    ("dzi", "GET", "/dzi/photo_files/12/0_0.jpg", {}), ("dzi", "HEAD", "/dzi/photo_files/12/1_0.jpg", {}),
    ("dzi", "GET", "/dzi/photo_files/12/0_0.jpg", {"Range": "bytes=5-104"}),
    ("dzi", "GET", "/dzi/photo_files/12/0_0.jpg", {"Range": "bytes=99999999-"}),
    ("dzi", "GET", "/dzi/photo_files/12/0_0.jpg", {"If_None_Match": "*"}), ("dzi", "GET", "/dzi/nobody.dzi", {}),
    ("dzi", "GET", "/dzi/photo_files/12/2_2.png", {}), ("xyz", "GET", "/xyz/photo/1/0/0.jpg", {}),
    ("iip", "GET", "/iip?FIF=photo&JTL=3,7", {}), ("iip", "GET", "/iip?FIF=photo.tif&OBJ=Max-size", {}),
    ("iip", "GET", "/iip?FIF=photo&WID=90&CVT=jpeg", {}), ("iip", "GET", "/iip", {}),
    ("xyz", "GET", "/xyz/photo/tilejson.json", {}), ("zoomify", "GET", "/zoomify/photo/ImageProperties.xml", {}),
    ("zoomify", "GET", "/zoomify/photo/TileGroup0/1-0-0.jpg", {}), ("iiif2", "GET", "/iiif/2/photo/info.json", {}),
    ("iiif3", "GET", "/iiif/3/photo", {}), ("iiif3", "GET", "/iiif/3/photo/9,9,300,300/50,/0/default.jpg", {}),
    ("iiif3", "GET", "/iiif/3/photo/9,9,300,300/999,/0/default.jpg", {}),
    ("iiif3", "GET", "/iiif/3/photo/9,9,300,300/50,/0/default.jpg", {"Range": "bytes=5-104"}),
    ("iiif3", "GET", "/iiif/3/photo/9,9,300,300/50,/0/default.jpg", {"Range": "bytes=99999999-"}),
    ("iiif3", "GET", "/iiif/3/photo/9,9,300,300/50,/0/default.jpg", {"If_Match": '"other"'}),
    ("iiif3", "GET", "/iiif/3/photo/0,0,512,512/512,512/0/default.jpg", {}),
    ("presentation", "GET", "/iiif/presentation/3/photo/manifest", {}), ("api", "GET", "/api/images", {}),
    ("api", "GET", "/api/images", {"Accept_Encoding": "gzip"}), ("api", "OPTIONS", "/api/images", {}),
    ("api", "POST", "/api/images", {"Content_Length": "0"}), ("api", "GET", "/api/images/photo/viewport?width=0", {}),
    ("api", "GET", "/api/images/photo/viewport.tiles?width=900&height=700", {}),
    ("api", "GET", "/api/images/photo/viewport.tiles?width=900&height=700", {"Range": "bytes=-77777"}),
    ("api", "GET", "/api/images", {"Range": "bytes=-7"}),
    ("api", "GET", "/api/images/photo/viewport.jpg?width=200&height=100", {}), ("page", "GET", "/nothing", {}),
    ("healthz", "GET", "/healthz", {}),
]


def families(server: Server) -> dict:
    """By name; the parser refuses what is not the format."""
    answer = server.get("/metrics")
    return {family.name: family for family in text_string_to_metric_families(answer.body.decode())}


def values(family, name: str = "") -> dict[tuple, float]:
    """Of one sample's name, by the values of its labels."""
    return {tuple(sample.labels.values()): sample.value for sample in family.samples if sample.name.endswith(name)}


class Metrics(unittest.TestCase):
    def test_they_match_what_a_client_saw(self):
        chance, asked = seed("metrics"), REQUESTS * 6
        chance.shuffle(asked)
        with Server(sample_library()) as server:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda one: server.get(one[2], one[1], **one[3]), asked))
            seen, sent = collections.Counter(), collections.Counter()
            for (route, _, _, _), answer in zip(asked, answers):
                seen[route, str(answer.status)] += 1
                sent[route] += len(answer.body)
            self.assertGreaterEqual({status for _, status in seen},
                                    {"200", "204", "206", "303", "304", "400", "404", "405", "412", "416"})
            # An answer counts when it was sent, which its client may see first.
            deadline = time.monotonic() + 30
            while sum(values(families(server)["ziggurat_requests"]).values()) < len(asked) and time.monotonic() < deadline:
                time.sleep(0.05)
            found = families(server)
            counted = {key: value for key, value in values(found["ziggurat_requests"]).items() if key[0] != "metrics"}
            self.assertEqual(counted, {key: float(value) for key, value in seen.items()})
            total = values(found["ziggurat_sent_bytes"])
            for route in sent:
                self.assertEqual(total[route,], sent[route], route)

    def test_histograms_are_whole(self):
        with Server(sample_library()) as server:
            for _, method, target, headers in REQUESTS:
                server.get(target, method, **headers)
            found = families(server)
            histogram, requests = found["ziggurat_request_duration_seconds"], values(found["ziggurat_requests"])
            counts = values(histogram, "_count")
            for (route,), count in counts.items():
                buckets = [(float(sample.labels["le"]), sample.value) for sample in histogram.samples
                           if sample.name.endswith("_bucket") and sample.labels["route"] == route]
                self.assertEqual(buckets, sorted(buckets))
                self.assertEqual(buckets[-1], (float("inf"), count))
                self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets))
                self.assertEqual(count, sum(value for key, value in requests.items() if key[0] == route), route)
            self.assertEqual({family.type for family in found.values()}, {"counter", "gauge", "histogram"})
            for name, family in found.items():
                self.assertTrue(family.documentation, name)

    def test_promtool_finds_nothing_to_complain_of(self):
        with Server(sample_library()) as server:
            for _, method, target, headers in REQUESTS:
                server.get(target, method, **headers)
            found = server.get("/metrics").body
        judged = subprocess.run(["promtool", "check", "metrics"], input=found, capture_output=True)
        self.assertEqual((judged.returncode, judged.stdout, judged.stderr), (0, b"", b""))

    def test_the_process_is_described_as_the_kernel_describes_it(self):
        with Server(sample_library()) as server:
            place = Path("/proc") / str(server.process.pid)
            found = {name: values(family).popitem()[1] for name, family in families(server).items() if name.startswith("process_")}
            limit = re.search(r"^Max open files +(\d+)", (place / "limits").read_text(), re.MULTILINE)[1]
            self.assertEqual(found["process_max_fds"], int(limit))
            # One more or less for the connection that asks.
            self.assertAlmostEqual(found["process_open_fds"], len(list((place / "fd").iterdir())), delta=3)
            resident = int(re.search(r"^VmRSS:\s+(\d+) kB", (place / "status").read_text(), re.MULTILINE)[1]) * 1024
            self.assertAlmostEqual(found["process_resident_memory_bytes"] / resident, 1, delta=0.25)
            # As the kernel dates the process's folder, to the second.
            self.assertAlmostEqual(found["process_start_time_seconds"], float(subprocess.run(
                ["stat", "--format=%Y", place], capture_output=True, text=True).stdout), delta=2)
            before = found["process_cpu_seconds"]
            for _ in range(200):
                server.get("/api/images")
            self.assertGreater(values(families(server)["process_cpu_seconds"]).popitem()[1], before)

    def test_slow_answers_have_buckets_up_to_the_time_limit_of_renders(self):
        with Server(sample_library()) as server:
            histogram = families(server)["ziggurat_request_duration_seconds"]
            bounds = {float(sample.labels["le"]) for sample in histogram.samples if sample.name.endswith("_bucket")}
            self.assertLessEqual({2.5, 10, 30}, bounds)

    def test_free_space_uploads_and_refused_logins(self):
        base = folder("watched")
        photo(base / "photos/one.jpg", 300, 200)
        self.assertEqual(run("build", base / "photos", "--library", base / "library").returncode, 0)
        with serve(base / "library") as server:
            def now(name: str) -> float:
                return values(families(server)[f"ziggurat_{name}"]).popitem()[1]

            end = time.monotonic() + 30
            while "ziggurat_library_free_bytes" not in families(server):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
            free = shutil.disk_usage(base).free
            for name in ("library_free_bytes", "uploads_free_bytes"):
                self.assertAlmostEqual(now(name) / free, 1, delta=0.5, msg=name)
            self.assertEqual([now(name) for name in ("uploads_receiving", "uploads_waiting", "uploads_failed", "logins_refused")], [0, 0, 0, 0])
            client = Client(server)
            for _ in range(3):
                answer = client.ask("POST", "/api/session", b'{"token": "wrong"}', token=None, tus=False, Content_Type="application/json")
                self.assertEqual(answer.status, 401)
            self.assertEqual(now("logins_refused"), 3)
            begun = client.create(1000, filename="half.jpg")
            self.assertEqual((begun.status, now("uploads_receiving")), (201, 1))
            self.assertEqual(client.ask("DELETE", "/api/uploads/" + begun["location"].split("/")[-1]).status, 204)
            _, path = client.send(b"no picture at all", filename="broken.jpg")
            self.assertEqual(client.end(path)["status"], "failed")
            self.assertEqual([now(name) for name in ("uploads_failed", "uploads_receiving", "uploads_waiting")], [1, 0, 0])

    def test_archives_renders_and_caches(self):
        with Server(sample_library()) as server:
            images = json.loads(server.get("/api/images").body)["total"]
            for name in ("photo", "dot", "line"):
                server.get(f"/dzi/{name}.dzi")
            for _ in range(3):
                server.get("/iiif/3/photo/9,9,300,300/50,/0/default.jpg")
            found = families(server)
            for name, value in (("images", images), ("open_archives", 3), ("renders", 1), ("render_cache_hits", 2),
                                ("render_queue_length", 0), ("connections", 1)):
                self.assertEqual(found[f"ziggurat_{name}"].samples[0].value, value, name)
            self.assertGreater(found["ziggurat_render_cache_bytes"].samples[0].value, 500)
            self.assertGreater(found["ziggurat_tile_cache_bytes"].samples[0].value, 100_000)


if __name__ == "__main__":
    unittest.main()
