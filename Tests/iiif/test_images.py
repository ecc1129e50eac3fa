"""IIIF over HTTP: grid tiles are the stored ones, everything else is made as it was asked for."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from PIL import Image

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
            "full/200,/0/default.gif": (200, 129, 3), "full/85,55/0/default.avif": (85, 55, 3), "full/85,55/0/default.jxl": (85, 55, 3),
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
                    if not url.endswith((".webp", ".gif", ".avif", ".jxl")):
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

    def test_bitonal_pictures_have_two_values_in_every_format(self):
        for ending in ("jpg", "png", "webp", "tif", "gif", "avif", "jxl"):
            for turn in ("0", "!90", "33"):
                answer = self.server.get(f"/iiif/3/a%2Fb%20c/full/401,/{turn}/bitonal.{ending}")
                self.assertEqual(answer.status, 200, ending)
                place = folder("bitonal")
                (place / f"seen.{ending}").write_bytes(answer.body)
                # Decoded by others: libvips' loaders, and their pixels by Pillow.
                subprocess.run(["vips", "copy", place / f"seen.{ending}", place / "decoded.png"], check=True)
                seen = Image.open(place / "decoded.png")
                values = {value for band in seen.split() for value in band.getdata()}
                self.assertEqual(values, {0, 255}, (ending, turn))

    def test_an_invalid_request_gets_400_or_404(self):
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
        for ending, loader in (("png", "png"), ("webp", "webp"), ("avif", "avif"), ("jxl", "jxl"), ("jpeg", "jpeg")):
            answer = self.server.get(f"/dzi/a%2Fb%20c_files/11/6_4.{ending}")
            self.assertEqual((answer.status, answer["content-type"]), (200, f"image/{loader}"))
            self.assertEqual(size(answer.body)[:2], (WIDTH - 6 * SIDE, HEIGHT - 4 * SIDE))


if __name__ == "__main__":
    unittest.main()
