"""IIIF over HTTP: grid tiles are the stored ones, everything else is rendered once, kept, and never of another archive."""

import concurrent.futures
import json
import re
import select
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import Server, folder, photo, run  # noqa: E402

WIDTH, HEIGHT, SIDE = 1700, 1100, 256


def size(data: bytes) -> tuple[int, int, int]:
    """Width, height and bands, by libvips."""
    path = folder("answer") / "picture"
    path.write_bytes(data)
    fields = [subprocess.run(["vipsheader", "-f", field, path], capture_output=True, text=True, check=True).stdout
              for field in ("width", "height", "bands")]
    return tuple(map(int, fields))


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        photos, cls.library = folder("photos"), folder("library")
        photo(photos / "a/b c.jpg", WIDTH, HEIGHT)
        built = run("build", photos, "--library", cls.library, "--tile-size", SIDE)
        assert built.returncode == 0, built.stderr
        cls.server = Server(cls.library)
        cls.addClassCleanup(cls.server.stop)

    def test_grid_tiles_are_the_stored_ones(self):
        id, top = "a%2Fb%20c", 11
        for level in range(top + 1):
            factor = 1 << top - level
            width, height = -(-WIDTH // factor), -(-HEIGHT // factor)
            for column in range(-(-width // SIDE)):
                for row in range(-(-height // SIDE)):
                    x, y = column * SIDE * factor, row * SIDE * factor
                    w, h = min(SIDE * factor, WIDTH - x), min(SIDE * factor, HEIGHT - y)
                    region = "full" if (w, h) == (WIDTH, HEIGHT) else f"{x},{y},{w},{h}"
                    stored = self.server.get(f"/dzi/{id}_files/{level}/{column}_{row}.jpg")
                    tile = f"{-(-w // factor)},{-(-h // factor)}"
                    for url in (f"/iiif/2/{id}/{region}/{tile}/0/default.jpg",
                                # As viewers write it: the whole in numbers, the height left out.
                                f"/iiif/2/{id}/{x},{y},{w},{h}/{tile.split(',')[0]},/0/default.jpg",
                                f"/iiif/3/{id}/{region}/{tile}/0/default.jpg",
                                f"/iiif/3/{id}/{region}/{tile}/0/color.jpg", f"/iiif/3/a/b c/{region}/{tile}/0/default.jpg"
                                .replace(" ", "%20")):
                        answer = self.server.get(url)
                        self.assertEqual((answer.status, answer.body), (200, stored.body), url)
                        self.assertEqual(answer["etag"], stored["etag"], url)
                        canonical, profile = re.fullmatch(
                            r'<([^>]*)>;rel="canonical",<([^>]*)>;rel="profile"', answer["link"]).groups()
                        version = url.split("/")[2]
                        self.assertEqual(profile, f"http://iiif.io/api/image/{version}/level2.json")
                        # The canonical URL is its own.
                        again = self.server.get(re.sub("^http://[^/]*", "", canonical))
                        self.assertEqual((again.body, again["link"]), (stored.body, answer["link"]), url)

    def test_folders_of_deep_zoom_tiles(self):
        source, images = photo(folder("source") / "s.png", 900, 700), folder("images")
        subprocess.run(["vips", "dzsave", source, images / "lace", "--tile-size", "254", "--overlap", "1", "--suffix",
                        ".png"], check=True)
        server = Server(images)
        self.addCleanup(server.stop)
        stored = (images / "lace_files/7/0_0.png").read_bytes()
        for url in ("/iiif/3/lace/full/113,88/0/default.png", "/iiif/2/lace/full/113,/0/default.png",
                    "/iiif/2/lace/full/pct:12.5/0/default.png"):
            self.assertEqual(server.get(url).body, stored, url)
        # Overlapping tiles are put together without their seams.
        answer = server.get("/iiif/3/lace/200,200,400,300/400,300/0/default.png")
        cut = folder("cut")
        (cut / "ours.png").write_bytes(answer.body)
        subprocess.run(["vips", "crop", source, cut / "theirs.png", "200", "200", "400", "300"], check=True)
        subprocess.run(["vips", "subtract", cut / "ours.png", cut / "theirs.png", cut / "difference.v"], check=True)
        for extreme in ("min", "max"):
            found = subprocess.run(["vips", extreme, cut / "difference.v"], capture_output=True, text=True, check=True)
            self.assertEqual(float(found.stdout), 0)

    def test_the_rest_is_rendered_to_the_size_asked_for(self):
        for request, expected in {
            "100,100,600,400/300,200/0/default.jpg": (300, 200, 3), "101,33,601,401/,100/90/default.png": (100, 150, 3),
            "square/64,64/!180/gray.jpg": (64, 64, 1), "full/170,/0/bitonal.png": (170, 110, 1),
            "full/!100,100/0/gray.webp": (100, 65, 3), "pct:10,10,20,20/max/0/default.tif": (340, 220, 3),
            "full/200,/0/default.gif": (200, 129, 3), "full/85,55/0/default.avif": (85, 55, 3),
            "0,0,100,100/100,100/45/default.png": (141, 141, 4), "0,0,100,100/100,100/45/default.jpg": (141, 141, 3),
        }.items():
            for version in "23":
                url = f"/iiif/{version}/a%2Fb%20c/{request}"
                if version == "2":
                    url = url.replace("/max/", "/full/")
                answer = self.server.get(url)
                self.assertEqual(answer.status, 200, url)
                found = size(answer.body)
                if expected[:2] == (141, 141):
                    self.assertTrue(all(abs(side - 141) <= 1 for side in found[:2]), (url, found))
                    self.assertEqual(found[2], expected[2], url)
                else:
                    self.assertEqual(found[:2], expected[:2], url)
                    if not url.endswith((".webp", ".gif", ".avif")):
                        self.assertEqual(found[2], expected[2], url)
                self.assertIn(f'<http://iiif.io/api/image/{version}/level2.json>;rel="profile"', answer["link"])
                self.assertIn('rel="canonical"', answer["link"])
                self.assertEqual(answer["access-control-allow-origin"], "*")
                head = self.server.get(url, "HEAD")
                self.assertEqual((head.status, head.body), (200, b""))
                for name in ("etag", "content-type", "content-length", "link"):
                    self.assertEqual(head[name], answer[name], (url, name))
                again = self.server.get(url, If_None_Match=answer["etag"])
                self.assertEqual((again.status, again.body), (304, b""))

    def test_what_cannot_be_answered_is_told_with_400_or_404(self):
        good = "full/max/0/default.jpg"
        for path, status in {
            f"/iiif/3/nobody/{good}": 404, f"/iiif/3/a/{good}": 404, "/iiif/3/nobody": 404, "/iiif/3/nobody/info.json": 404,
            "/iiif/3/a%2Fb%20c/full/max/0": 404, f"/iiif/4/a%2Fb%20c/{good}": 404, "/iiif/3/": 404, "/iiif/3": 404,
            "/iiif/3/a%2Fb%20c/full/max/0/default": 400, "/iiif/3/a%2Fb%20c/full/full/0/default.jpg": 400,
            "/iiif/3/a%2Fb%20c/full/2000,/0/default.jpg": 400, "/iiif/3/a%2Fb%20c/full/^99999,/0/default.jpg": 400,
            "/iiif/3/a%2Fb%20c/9999,0,1,1/max/0/default.jpg": 400, "/iiif/3/a%2Fb%20c/full/max/400/default.jpg": 400,
            f"/iiif/3/a%2Fb%20c/{good}/": 404, "/iiif/3/a%2Fb%20c/info.json/": 404, f"/iiif/3/{good}": 404,
            "/iiif/3/a%2Fb%20c/<>[\\]^`/max/0/default.jpg": 400, "/iiif/3/a%2Fb%20c/full/^20000,10/0/default.webp": 400,
        }.items():
            answer = self.server.get(path)
            self.assertEqual(answer.status, status, path)
            self.assertNotIn(str(self.library).encode(), answer.body)

    def test_descriptions(self):
        for version, key in (("2", "@id"), ("3", "id")):
            base = self.server.get(f"/iiif/{version}/a%2Fb%20c")
            self.assertEqual(base.status, 303)
            self.assertTrue(base["location"].endswith(f"/iiif/{version}/a%2Fb%20c/info.json"))
            answer = self.server.get(f"/iiif/{version}/a%2Fb%20c/info.json")
            info = json.loads(answer.body)
            self.assertEqual(list(info)[0], "@context")
            self.assertEqual(info[key], f"http://127.0.0.1/iiif/{version}/a%2Fb%20c")
            self.assertEqual((info["width"], info["height"]), (WIDTH, HEIGHT))
            self.assertEqual(len(info["sizes"]), 12)
            self.assertEqual(info["tiles"][0]["scaleFactors"], [1 << power for power in range(12)])
            linked = self.server.get(f"/iiif/{version}/a%2Fb%20c/info.json", Accept="application/ld+json")
            self.assertTrue(linked["content-type"].startswith("application/ld+json"))
            plain = self.server.get(f"/iiif/{version}/a%2Fb%20c/info.json", Accept="application/json")
            self.assertEqual(plain["content-type"], "application/json")
        self.assertTrue(self.server.get("/iiif/3/a%2Fb%20c/info.json")["content-type"]
                        .startswith('application/ld+json;profile="http://iiif.io/api/image/3/context.json"'))

    def test_the_media_type_of_a_description_is_negotiated(self):
        url = "/iiif/{}/a%2Fb%20c/info.json"
        linked3 = 'application/ld+json;profile="http://iiif.io/api/image/3/context.json"'
        plain, linked = "application/json", "application/ld+json"
        for accept, three, two in ((None, linked3, plain), ("*/*", linked3, plain), ("text/html", linked3, plain),
                                   (plain, plain, plain), (linked, linked3, linked), (f"{plain}, */*", plain, plain),
                                   (f"{linked};q=0, {plain}", plain, plain), (f"{plain};q=0.3, {linked};q=0.7", linked3, linked),
                                   (f"{linked};q=0.3, {plain};q=0.7", plain, plain)):
            for version, expected in (("3", three), ("2", two)):
                answer = self.server.get(url.format(version), **({"Accept": accept} if accept else {}))
                self.assertEqual((answer.status, answer["content-type"]), (200, expected), (version, accept))
                self.assertEqual(answer["vary"], "Accept, Accept-Encoding")
                # Plain JSON of 2.1 says where its context is; linked data must not.
                self.assertEqual("json-ld#context" in answer["link"], expected == plain and version == "2", accept)
                self.assertIn(f'<http://iiif.io/api/image/{version}/level2.json>;rel="profile"', answer["link"])

    def test_the_canonical_url_is_one_however_an_image_is_asked_for(self):
        for request in ("0,0,256,256/256,256", "10,10,256,256/200,200"):
            links = {self.server.get(f"/iiif/3/{id}/{request}/0/default.jpg")["link"]
                     for id in ("a%2Fb%20c", "a/b%20c", "a%2fb%20c", "%61%2F%62%20%63")}
            self.assertEqual(len(links), 1, links)
            self.assertIn(f"/iiif/3/a%2Fb%20c/{request.split('/')[0]}/", links.pop())

    def test_the_viewport_as_a_picture(self):
        query = "width=320&height=200&scale=0.5&x=-20&y=30"
        for ending in ("jpg", "png", "webp"):
            answer = self.server.get(f"/api/images/a%2Fb%20c/viewport.{ending}?{query}&dpr=2&rotation=10&flip=true")
            self.assertEqual(answer.status, 200)
            self.assertEqual(size(answer.body)[:2], (640, 400))
        for query, word in (("width=0&height=5", "width"), ("width=9000&height=9000", "pixels"), ("height=5", "width")):
            answer = self.server.get(f"/api/images/a%2Fb%20c/viewport.jpg?{query}")
            self.assertEqual((answer.status, answer["content-type"]), (400, "application/problem+json"))
            self.assertIn(word, json.loads(answer.body)["detail"])
        self.assertEqual(self.server.get("/api/images/a%2Fb%20c/viewport.bmp?width=5&height=5").status, 404)

    def test_tiles_in_other_formats(self):
        for ending, loader in (("png", "png"), ("webp", "webp"), ("avif", "avif"), ("jpeg", "jpeg")):
            answer = self.server.get(f"/dzi/a%2Fb%20c_files/11/6_4.{ending}")
            self.assertEqual((answer.status, answer["content-type"]), (200, f"image/{loader}"))
            self.assertEqual(size(answer.body)[:2], (WIDTH - 6 * SIDE, HEIGHT - 4 * SIDE))


class Rendering(unittest.TestCase):
    def serve(self, *options) -> tuple[Server, Path, Path]:
        photos, library = folder("photos"), folder("library")
        photo(photos / "p.jpg", 2400, 1600)
        self.assertEqual(run("build", photos, "--library", library).returncode, 0)
        server = Server(library, *options)
        self.addCleanup(server.stop)
        return server, photos, library

    def test_equal_requests_share_one_answer_and_a_full_queue_says_503(self):
        server, _, _ = self.serve("--render-threads", 1, "--render-queue", 2)
        slow = "/iiif/3/p/full/max/1.5/default.png"
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            same = [pool.submit(server.get, slow) for _ in range(12)]
            time.sleep(0.5)
            others = [pool.submit(server.get, f"/iiif/3/p/full/max/{angle}.5/default.png") for angle in range(2, 10)]
            time.sleep(0.1)
            self.assertEqual(server.get("/dzi/p_files/12/0_0.jpg").status, 200)
            rendering = [one for one in same + others if not one.done()]
            same, others = [one.result() for one in same], [one.result() for one in others]
        self.assertEqual({answer.status for answer in same}, {200})
        self.assertEqual(len({answer.body for answer in same}), 1)
        counted = dict(line.split() for line in server.get("/metrics").body.decode().splitlines() if line[0] != "#")
        rendered = 1 + sum(answer.status == 200 for answer in others)
        self.assertEqual(int(counted["ziggurat_renders_total"]), rendered)
        self.assertEqual(int(counted["ziggurat_renders_shared_total"]), 11)
        self.assertEqual(int(counted["ziggurat_renders_refused_total"]), sum(answer.status == 503 for answer in others))
        statuses = sorted(answer.status for answer in others)
        self.assertEqual(set(statuses), {200, 503})
        for answer in others:
            if answer.status == 503:
                self.assertTrue(answer["retry-after"].isdigit())
        self.assertNotEqual(rendering, [], "the tile was answered while pictures were rendered")
        self.assertEqual(server.get(slow).body, same[0].body)

    def test_a_rebuilt_archive_never_serves_an_old_crop(self):
        server, photos, library = self.serve()
        url = "/iiif/3/p/100,100,500,300/250,150/0/default.jpg"
        before = server.get(url)
        self.assertEqual(server.get(url).body, before.body)
        photo(photos / "p.jpg", 2400, 1600, left=0, top=0)
        self.assertEqual(run("build", photos, "--library", library).returncode, 0)
        deadline = time.monotonic() + 30
        while (after := server.get(url))["etag"] == before["etag"]:
            self.assertEqual(after.body, before.body)
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertNotEqual(after.body, before.body)
        self.assertEqual(server.get(url, If_None_Match=before["etag"]).status, 200)

    def test_clients_that_leave_and_a_stop_while_rendering(self):
        server, _, _ = self.serve("--render-threads", 1)
        for angle in range(1, 8):
            connection = server.connect()
            connection.sendall(f"GET /iiif/3/p/full/max/{angle}.25/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(0.02)
            connection.close()
        self.assertTrue(server.alive())
        waiting = [server.connect() for _ in range(4)]
        for number, connection in enumerate(waiting):
            connection.sendall(f"GET /iiif/3/p/full/max/{number}.75/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(0.1)
        self.assertEqual(server.stop(), 0)

    def counted(self, server: Server, name: str) -> int:
        return int(re.search(rf"^ziggurat_{name} (\d+)$", server.get("/metrics").body.decode(), re.MULTILINE)[1])

    # Takes long: half a minute and more, were nobody to end it.
    DEAR = "/iiif/3/p/full/^8000,6000/{}.5/default.png"

    def ask(self, server: Server, path: str, address: str = "127.0.0.1") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=120, source_address=(address, 0))
        self.addCleanup(connection.close)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def test_the_last_client_that_leaves_ends_a_render(self):
        server, _, _ = self.serve("--render-threads", 1)
        first, second = (self.ask(server, self.DEAR.format(1)) for _ in range(2))
        behind = self.ask(server, "/iiif/3/p/full/^4000,/0.5/default.png")
        while self.counted(server, "renders_shared_total") < 1 or self.counted(server, "render_queue_length") != 1:
            time.sleep(0.05)
        first.close()
        second.close()
        self.assertIn(b" 200 ", behind.recv(100))
        self.assertEqual((self.counted(server, "renders_abandoned_total"), self.counted(server, "renders_total")), (1, 1))

    def test_what_is_not_ready_in_time_is_503_and_ends(self):
        server, _, _ = self.serve("--render-threads", 1, "--render-timeout", 1)
        answer = server.get(self.DEAR.format(1))
        self.assertEqual((answer.status, answer["retry-after"]), (503, "30"))
        self.assertEqual(self.counted(server, "renders_late_total"), 1)
        self.assertEqual(server.get("/iiif/3/p/full/300,/0/default.jpg").status, 200)

    def test_a_crowd_at_one_address_takes_nothing_from_another(self):
        server, _, _ = self.serve("--render-threads", 1, "--render-queue", 4)
        crowd = [self.ask(server, self.DEAR.format(number), "127.0.0.2") for number in range(1, 6)]
        while self.counted(server, "render_queue_length") < 4:
            time.sleep(0.05)
        # No stored tile: those never wait.
        single = self.ask(server, "/iiif/3/p/full/310,/0/default.jpg", "127.0.0.3")
        self.assertIn(b" 200 ", single.recv(100))
        # One of the crowd made room; one or two were before it.
        answers = [one.recv(100).split()[1] for one in select.select(crowd, [], [], 60)[0]]
        self.assertEqual(answers.count(b"503"), 1)
        self.assertEqual(set(answers) - {b"503", b"200"}, set())

    def test_formats_that_take_long_may_have_fewer_pixels(self):
        server, _, _ = self.serve("--max-pixels", 1_000_000)
        for ending, width, status in (("jpg", 1200, 200), ("png", 1200, 200), ("avif", 1200, 200), ("webp", 1200, 200),
                                      ("tif", 1200, 400), ("tif", 900, 200), ("gif", 900, 400), ("gif", 700, 200)):
            answer = server.get(f"/iiif/3/p/full/{width},/0/default.{ending}")
            self.assertEqual(answer.status, status, (ending, width))
            if status == 400:
                self.assertIn("at most", answer.body.decode())

    def test_a_damaged_tile_is_500_and_never_a_picture(self):
        server, _, library = self.serve()
        server.stop()
        path = library / "p.szi"
        data = bytearray(path.read_bytes())
        start = data.index(b"p/p_files/12/1_1.jpg") + len("p/p_files/12/1_1.jpg")
        data[start:start + 400] = bytes(400)
        path.write_bytes(data)
        again = Server(library)
        self.addCleanup(again.stop)
        self.assertEqual(again.get("/iiif/3/p/500,500,200,200/max/0/default.png").status, 500)
        self.assertEqual(again.get("/iiif/3/p/0,0,200,200/max/0/default.png").status, 200)


if __name__ == "__main__":
    unittest.main()
