"""`/metrics` as Prometheus' own parser reads it, and whether it tells what a client saw."""

import collections
import concurrent.futures
import json
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families

from harness import Server, sample_library, seed

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
    def test_they_tell_what_a_client_saw(self):
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

    def test_archives_renders_and_caches(self):
        with Server(sample_library(), "--open-archives", 2) as server:
            images = json.loads(server.get("/api/images").body)["total"]
            for name in ("photo", "dot", "line"):
                server.get(f"/dzi/{name}.dzi")
            for _ in range(3):
                server.get("/iiif/3/photo/9,9,300,300/50,/0/default.jpg")
            found = families(server)
            for name, value in (("images", images), ("open_archives", 2), ("renders", 1), ("render_cache_hits", 2),
                                ("render_queue_length", 0), ("connections", 1)):
                self.assertEqual(found[f"ziggurat_{name}"].samples[0].value, value, name)
            self.assertGreater(found["ziggurat_render_cache_bytes"].samples[0].value, 500)
            self.assertGreater(found["ziggurat_tile_cache_bytes"].samples[0].value, 100_000)


if __name__ == "__main__":
    unittest.main()
