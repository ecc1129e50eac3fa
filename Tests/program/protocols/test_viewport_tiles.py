"""`viewport.tiles`: the coverage and the covering tiles in one answer."""

import json
import subprocess
import unittest
import zipfile

from harness import Answer, SampleServerTest, Server, folder


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
                                    ("photo", "width=1280&height=800&scale=1&buffer=1&rotation=20", None),
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
        query = "width=800&height=600&scale=1&x=300&y=200&include=overview,description"
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
        for query, count in [("width=200&height=150&include=overview", 1), ("width=9&height=9&scale=1&x=-99&y=0&include=overview", 0)]:
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


class ManyTiles(unittest.TestCase):
    """More tiles than the table of an answer's pieces has room for beside a request's head."""

    @classmethod
    def setUpClass(cls):
        base = folder("many")
        # Every tile is another picture, so that none could stand for another.
        subprocess.run(["vips", "worley", base / "noise.v", "6400", "6400", "--cell-size", "300"], check=True, capture_output=True)
        subprocess.run(["vips", "cast", base / "noise.v", base / "noise.png", "uchar"], check=True, capture_output=True)
        for name, side in (("large", 512), ("small", 64)):
            (base / "library").mkdir(exist_ok=True)
            subprocess.run(["vips", "dzsave", base / "noise.png", base / f"library/{name}.szi", "--container", "szi",
                            "--tile-size", str(side), "--overlap", "0"], check=True, capture_output=True)
        cls.library = base / "library"

    def setUp(self):
        self.server = Server(self.library)
        self.addCleanup(self.server.stop)

    def ask(self, image: str, tiles: tuple[int, int], side: int, method: str = "GET", head: bytes = b"", behind: bytes = b"") -> Answer:
        """That many columns and rows of full resolution."""
        target = f"/api/images/{image}/viewport.tiles?width={tiles[0] * side}&height={tiles[1] * side}&scale=1&x=0&y=0"
        request = f"{method} {target} HTTP/1.1\r\nHost: a.localhost\r\nConnection: close\r\n".encode() + head + b"\r\n" + behind
        return Answer(self.server.raw(request), method)

    def expected(self, image: str, answer: Answer) -> list[bytes]:
        with zipfile.ZipFile(self.library / f"{image}.szi") as archive:
            return [archive.read(f"{image}/{image}_files/{tile['level']}/{tile['column']}_{tile['row']}.jpeg")
                    for tile in json.loads(parts(answer.body)[0])["tiles"]]

    def test_any_number_of_tiles_comes_whole(self):
        for image, side, tiles in [("large", 512, (n, 1)) for n in range(1, 13)] + [("large", 512, (12, 12)), ("small", 64, (24, 24)),
                                                                                  ("small", 64, (100, 100))]:
            answer = self.ask(image, tiles, side)
            with self.subTest(image=image, tiles=tiles):
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(int(answer["content-length"]), len(answer.body))
                found = parts(answer.body)[1:]
                self.assertEqual(len(found), tiles[0] * tiles[1])
                self.assertEqual(found, self.expected(image, answer))
        self.assertTrue(self.server.alive())

    def test_a_head_of_any_length_leaves_the_server_alive(self):
        """Long ones, of few long lines and of many short ones, and requests behind it that wait in the same memory."""
        heads = {b"X: " + b"x" * length + b"\r\n" for length in (0, 3000, 6000, 7000, 7600, 7800, *range(7900, 16000, 300))}
        heads |= {b"a:\r\n" * count for count in (0, 40, 80, 120, 140, *range(150, 260, 6))}
        for tiles in ((4, 2), (9, 1), (12, 12)):
            whole = self.ask("large", tiles, 512).body
            answered = 0
            for head in sorted(heads):
                for behind in (b"", b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 8000):
                    answer = self.ask("large", tiles, 512, head=head, behind=behind)
                    # Refused, or the connection ended: what the memory does not hold.
                    if answer.status == 200:
                        answered += 1
                        if not behind:
                            self.assertEqual(answer.body, whole, len(head))
                    self.assertIsNone(self.server.process.poll(), (tiles, len(head), self.server.errors()[-300:]))
            self.assertGreater(answered, 20)
        self.assertTrue(self.server.alive())

    def test_parts_tags_and_heads_are_those_of_the_whole(self):
        for image, side, tiles in (("large", 512, (4, 2)), ("large", 512, (9, 1)), ("small", 64, (50, 50))):
            whole = self.ask(image, tiles, side)
            size = len(whole.body)
            for first, last in ((0, 0), (3, 5000), (size // 2, size - 1), (size - 1, size - 1), (1, size - 2), (0, size - 1)):
                part = self.ask(image, tiles, side, head=f"Range: bytes={first}-{last}\r\n".encode())
                self.assertEqual((part.status, part["content-range"]), (206, f"bytes {first}-{last}/{size}"))
                self.assertEqual(part.body, whole.body[first:last + 1])
            self.assertEqual(self.ask(image, tiles, side, head=f"If-None-Match: {whole['etag']}\r\n".encode()).status, 304)
            head = self.ask(image, tiles, side, "HEAD")
            self.assertEqual((head.status, head["content-length"], head["etag"], head.rest), (200, str(size), whole["etag"], b""))
        self.assertTrue(self.server.alive())


if __name__ == "__main__":
    unittest.main()
