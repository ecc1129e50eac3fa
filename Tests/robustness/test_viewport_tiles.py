"""`viewport.tiles`: the coverage and the covering tiles in one answer."""

import json
import unittest

from harness import SampleServerTest


def parts(body: bytes) -> list[bytes]:
    """The parts of an answer, each behind its length: 4 bytes, big-endian."""
    found, at = [], 0
    while at < len(body):
        size = int.from_bytes(body[at:at + 4], "big")
        found.append(body[at + 4:at + 4 + size])
        at += 4 + size
    assert at == len(body), f"the last part ends {at - len(body)} bytes behind the body"
    return found


class ViewportTiles(SampleServerTest):
    def test_holds_the_coverage_and_then_the_stored_tiles_in_its_order(self):
        for image, query, count in [("photo", "width=1280&height=800&scale=1&x=300&y=200", 8),
                                    ("photo", "width=1280&height=800&scale=1&margin=1&rotation=20", None),
                                    ("photo", "width=900&height=700&fallback=true", None),
                                    ("deep/er/leaf", "width=500&height=500&dpr=2", None),
                                    ("photo", "width=100&height=100&scale=1&x=-1000&y=0", 0)]:
            with self.subTest(image=image, query=query):
                alone = self.server.get(f"/api/images/{image}/viewport?{query}")
                answer = self.server.get(f"/api/images/{image}/viewport.tiles?{query}")
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(answer["content-type"], "application/vnd.ziggurat.viewport-tiles")
                self.assertEqual(answer["access-control-allow-origin"], "*")
                coverage, *tiles = parts(answer.body)
                self.assertEqual(coverage, alone.body)
                listed = json.loads(coverage)["tiles"]
                self.assertEqual(len(tiles), len(listed))
                if count is not None:
                    self.assertEqual(len(tiles), count)
                for tile, bytes_ in zip(listed, tiles):
                    self.assertEqual(bytes_, self.server.get(tile["url"]).body, tile["url"])

    def test_a_first_view_needs_nothing_else(self):
        """The image's description and the tile that shows it whole come along where they are asked for."""
        query = "width=800&height=600&scale=1&x=300&y=200&overview=true&describe=true"
        coverage, *tiles = parts(self.server.get(f"/api/images/photo/viewport.tiles?{query}").body)
        answer = json.loads(coverage)
        self.assertEqual(answer["description"], json.loads(self.server.get("/api/images/photo").body))
        whole, *rest = answer["tiles"]
        plain = json.loads(self.server.get("/api/images/photo/viewport?width=800&height=600&scale=1&x=300&y=200").body)
        self.assertEqual(rest, plain["tiles"])
        levels = answer["description"]["levels"]
        single = max(level for level, size in enumerate(levels) if size["columns"] == size["rows"] == 1)
        self.assertEqual((whole["level"], whole["column"], whole["row"]), (single, 0, 0))
        self.assertEqual(tiles[0], self.server.get(whole["url"]).body)
        # Not twice where it is among the others anyway, and not for nothing.
        for query, count in [("width=200&height=150&overview=true", 1), ("width=9&height=9&scale=1&x=-99&y=0&overview=1", 0)]:
            answer = json.loads(self.server.get(f"/api/images/photo/viewport?{query}").body)
            self.assertEqual(len(answer["tiles"]), count, query)

    def test_is_revalidated_by_its_tag_and_has_no_body_for_head(self):
        target = "/api/images/photo/viewport.tiles?width=640&height=480"
        answer = self.server.get(target)
        self.assertEqual(self.server.get(target, If_None_Match=answer["etag"]).status, 304)
        self.assertNotEqual(answer["etag"], self.server.get(target.replace(".tiles", ""))["etag"])
        head = self.server.get(target, "HEAD")
        self.assertEqual((head.status, head["content-length"]), (200, str(len(answer.body))))

    def test_refuses_what_the_viewport_query_refuses(self):
        for target, status in [("photo/viewport.tiles?width=0&height=10", 400), ("photo/viewport.tiles", 400),
                               ("nothing/viewport.tiles?width=10&height=10", 404)]:
            with self.subTest(target=target):
                answer = self.server.get(f"/api/images/{target}")
                self.assertEqual(answer.status, status)
                self.assertEqual(answer["content-type"], "application/problem+json")


if __name__ == "__main__":
    unittest.main()
