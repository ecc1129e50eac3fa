"""Parts of images that the server makes images of."""

import io
import json
import subprocess
import unittest

import numpy
from harness import Server, folder, photo, run
from PIL import Image
from szi import archives
from upload_client import Client, serve

SIDE = 512


class Copies(unittest.TestCase):
    def setUp(self):
        self.library = folder("library")
        self.sources = folder("sources")
        self.client = None

    def begin(self, *options, width=1700, height=1250, name="harbour.jpg", build=()):
        photo(self.sources / name, width, height)
        made = run("build", self.sources, "--library", self.library, *build)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.server = serve(self.library, *options)
        self.addCleanup(lambda: self.server.stop())
        self.client = Client(self.server)

    def post(self, image, region, **more):
        body = {"region": dict(zip(("x", "y", "width", "height"), region)), **more}
        return self.client.ask("POST", f"/api/images/{image}/copies", json.dumps(body).encode(), tus=False)

    def copy(self, image, region, **more):
        """What became of it."""
        answer = self.post(image, region, **more)
        self.assertEqual(answer.status, 202, answer.body)
        reported = json.loads(answer.body)
        self.assertEqual((reported["copyOf"], answer["location"]), (image.replace("%2F", "/"), f"/api/uploads/{reported['id']}"))
        state = self.client.end(answer["location"])
        self.assertEqual(state["status"], "done", state)
        return state["image"]

    def brightness(self, image):
        """What the tiles of full resolution have of it, exactly as it is stored."""
        about = json.loads(self.server.get(f"/api/images/{image}").body)
        whole = numpy.zeros((about["height"], about["width"]), dtype=numpy.uint8)
        for column in range(-(-about["width"] // SIDE)):
            for row in range(-(-about["height"] // SIDE)):
                tile = self.server.get(f"/dzi/{image}_files/{len(about['levels']) - 1}/{column}_{row}.jpg")
                self.assertEqual(tile.status, 200, tile)
                with Image.open(io.BytesIO(tile.body)) as picture:
                    picture.draft("L", picture.size)
                    part = numpy.asarray(picture.convert("L"))
                whole[row * SIDE:row * SIDE + part.shape[0], column * SIDE:column * SIDE + part.shape[1]] = part
        return whole

    def pixels(self, image, region="full", rotation="0"):
        answer = self.server.get(f"/iiif/3/{image}/{region}/max/{rotation}/default.png")
        self.assertEqual(answer.status, 200, answer.body[:300])
        return numpy.asarray(Image.open(io.BytesIO(answer.body)).convert("RGB"), dtype=int)

    def test_on_borders_of_blocks_nothing_is_lost_whichever_way_it_is_turned(self):
        self.begin()
        whole = self.brightness("harbour")
        for (x, y, width, height), turn, flip in (((528, 32, 701, 555), 0, False), ((16, 496, 640, 320), 90, False), ((0, 0, 1696, 1248), 180, True),
                                                  ((512, 512, 32, 512), 270, True), ((160, 16, 16, 16), 0, True)):
            with self.subTest(turn=turn, flip=flip):
                made = self.copy("harbour", (x, y, width, height), turn=turn, flip=flip)
                wanted = whole[y:y + height, x:x + width]
                wanted = numpy.rot90(wanted[:, ::-1] if flip else wanted, -turn // 90)
                got = self.brightness(made)
                self.assertEqual(got.shape, wanted.shape)
                # Rotating coefficients rounds nothing; only decoders round a block's pixels as it lies.
                self.assertLessEqual(numpy.abs(got.astype(int) - wanted).max(), 0 if turn == 0 and not flip else 1)

    def test_anywhere_else_it_is_as_good_as_one_sees(self):
        self.begin()
        for region, turn in (((101, 203, 901, 707), 0), ((33, 40, 500, 300), 90), ((1, 1, 1, 1), 0)):
            x, y, width, height = region
            made = self.copy("harbour", region, turn=turn)
            wanted = self.pixels("harbour", f"{x},{y},{width},{height}", str(turn))
            got = self.pixels(made)
            self.assertEqual(got.shape, wanted.shape)
            self.assertLess(numpy.abs(got - wanted).mean(), 3)

    def test_straightened_it_is_what_a_window_turned_by_those_degrees_shows(self):
        self.begin()
        for degrees, turn, flip in ((7.5, 0, False), (-12.3, 90, False), (3, 180, True)):
            with self.subTest(degrees=degrees):
                made = self.copy("harbour", (500, 400, 600, 400), turn=turn, flip=flip, straighten=degrees)
                width, height = (600, 400) if turn % 180 == 0 else (400, 600)
                window = self.server.get(f"/api/images/harbour/viewport.png?width={width}&height={height}&scale=1&center=800,600"
                                         f"&rotation={turn + degrees}&flip={str(flip).lower()}")
                wanted = numpy.asarray(Image.open(io.BytesIO(window.body)).convert("RGB"), dtype=int)
                got = self.pixels(made)
                self.assertEqual(got.shape, wanted.shape)
                self.assertLess(numpy.abs(got - wanted).mean(), 3)

    def test_it_has_the_metadata_the_scale_and_the_tiles_of_its_original(self):
        source = photo(self.sources / "slides" / "leaf.png", 900, 700)
        (self.sources / "slides" / "leaf.xmp").write_text(
            '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© The Garden</rdf:li>'
            "</rdf:Alt></dc:rights></rdf:Description></rdf:RDF></x:xmpmeta>")
        # 0.5 µm a pixel.
        subprocess.run(["vips", "copy", source, self.sources / "slides" / "scaled.tif", "--xres", "2000", "--yres", "2000"], check=True)
        source.unlink()
        (self.sources / "slides" / "scaled.tif").rename(self.sources / "slides" / "leaf.tif")
        self.begin(build=("--format", "webp", "--tile-size", "256"))
        edited = self.client.ask("PATCH", "/api/images/slides%2Fleaf", json.dumps({"title": "A leaf", "caption": "From below", "keywords": ["leaf"]}).encode(),
                                 tus=False)
        self.assertEqual(edited.status, 200, edited.body)
        whole = json.loads(self.server.get("/api/images/slides%2Fleaf").body)
        made = self.copy("slides%2Fleaf", (100, 90, 400, 300))
        self.assertEqual(made, "slides/leaf-crop")
        part = json.loads(self.server.get("/api/images/slides%2Fleaf-crop").body)
        self.assertEqual((part["width"], part["height"]), (400, 300))
        for name in ("title", "caption", "rights", "keywords", "format", "tileSize", "micronsPerPixel"):
            self.assertEqual(part.get(name), whole.get(name), name)
            self.assertIn(name, part)

    def test_it_is_listed_beside_the_other_numbered_where_the_name_is_taken_and_can_be_deleted(self):
        self.begin()
        self.assertEqual([self.copy("harbour", (0, 0, 300 + 16 * more, 200)) for more in range(3)],
                         ["harbour-crop", "harbour-crop-2", "harbour-crop-3"])
        self.assertEqual(self.client.images(), {"harbour", "harbour-crop", "harbour-crop-2", "harbour-crop-3"})
        self.assertEqual(self.copy("harbour-crop", (0, 0, 100, 100)), "harbour-crop-crop")
        self.assertEqual(self.client.ask("DELETE", "/api/images/harbour-crop-2", tus=False).status, 200)
        self.assertEqual(len(archives(self.library)), 4)
        self.assertNotIn("harbour-crop-2", self.client.images())
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_a_copy_of_a_page_stands_beside_its_book(self):
        book = folder("books") / "book"
        for page in range(2):
            photo(book / f"{page}.jpg", 400, 300, left=100 * page)
        self.assertEqual(run("build", book.parent, "--book", "--library", self.library).returncode, 0)
        self.begin()
        page = json.loads(self.server.get("/api/images?book=book").body)["images"][1]["id"]
        made = self.copy(page.replace("/", "%2F"), (0, 0, 100, 100))
        self.assertEqual(made, f"book-{page.split('/')[-1]}-crop")
        self.assertEqual(len(json.loads(self.server.get("/api/images?book=book").body)["images"]), 2)

    def test_what_cannot_be_made_is_refused_with_the_reason(self):
        self.begin()
        for region, more, message in (
                ((1600, 0, 101, 100), {}, "1700×1250"), ((0, -1, 10, 10), {}, "1700×1250"), ((0, 0, 0, 10), {}, "1700×1250"),
                ((0, 0, 2**62, 2**62), {}, "1700×1250"), ((2**62, 2**62, 2**62, 2**62), {}, "1700×1250"),
                ((0, 0, 1700, 1250), {"straighten": 1}, "rotated by 1"), ((0, 0, 10, 10), {"straighten": 46}, "-45 to 45"),
                ((0, 0, 10, 10), {"rotation": 45}, "0, 90, 180 or 270"), ((0, 0, 10, 10), {"scale": 2}, "it takes"),
                ((0.5, 0, 10, 10), {}, "it takes"), ((0, 0, 10), {}, "it takes")):
            answer = self.post("harbour", region, **more)
            self.assertEqual((answer.status, answer["content-type"]), (400, "application/problem+json"), (region, more))
            self.assertIn(message, json.loads(answer.body)["detail"])
        for body in (b"", b"[]", b"{}", b'{"region": null}', b"[" * 100_000):
            self.assertEqual(self.client.ask("POST", "/api/images/harbour/copies", body, tus=False).status, 400, body[:20])
        # Too many values are refused as a whole: the answer does not name each of them.
        wide = json.dumps({"region": dict.fromkeys(map(str, range(20_001)), 1)}).encode()
        answer = self.client.ask("POST", "/api/images/harbour/copies", wide, tus=False)
        self.assertEqual((answer.status, len(json.loads(answer.body)["errors"])), (400, 1))
        good = json.dumps({"region": {"x": 0, "y": 0, "width": 10, "height": 10}}).encode()
        path = "/api/images/harbour/copies"
        self.assertEqual(self.client.ask("POST", path, good, tus=False, token=None).status, 401)
        self.assertEqual(self.client.ask("POST", path, good, tus=False, token="wrong-token-of-the-tests").status, 401)
        self.assertEqual(self.client.ask("POST", "/api/images/nobody/copies", good, tus=False).status, 404)
        self.assertEqual(self.client.ask("POST", "/api/images/~%2Fharbour/copies", good, tus=False).status, 404)
        self.assertEqual((self.client.ask("PATCH", path, good, tus=False).status, self.client.ask("PATCH", path, good, tus=False)["allow"]),
                         (405, "GET, HEAD, OPTIONS, POST"))
        self.assertEqual(self.client.images(), {"harbour"})
        self.assertEqual(json.loads(self.client.ask("GET", "/api/uploads", tus=False).body)["uploads"], [])

    def test_a_server_that_only_shows_makes_none(self):
        photo(self.sources / "harbour.jpg", 300, 200)
        run("build", self.sources, "--library", self.library)
        server = Server(self.library)
        self.addCleanup(server.stop)
        answer = Client(server).ask("POST", "/api/images/harbour/copies", b"{}", tus=False)
        self.assertEqual(answer.status, 405)

    def test_a_part_of_too_many_pixels_is_refused(self):
        subprocess.run(["vips", "black", self.sources / "sky.tif", "12000", "9000"], check=True)
        self.begin(width=100, height=100)
        answer = self.post("sky", (0, 0, 12000, 9000))
        self.assertEqual(answer.status, 400)
        self.assertIn("100000000", json.loads(answer.body)["detail"])
        self.assertEqual(self.copy("sky", (16, 16, 10000, 8000)), "sky-crop")

    def test_one_that_waits_is_made_after_the_server_was_killed(self):
        self.begin()
        answers = [self.post("harbour", (16 * more, 0, 1600, 1200)) for more in range(3)]
        self.server.stop(9)
        self.server = serve(self.library)
        self.client = Client(self.server)
        ended = [self.client.end(answer["location"]) for answer in answers]
        self.assertEqual([state["status"] for state in ended], ["done"] * 3)
        self.assertEqual(len({state["image"] for state in ended}), 3, "none in another's place")
        self.assertEqual(len(self.client.images()), 4)

    def test_its_image_gone_meanwhile_it_fails_with_the_reason_and_too_many_wait_their_turn(self):
        self.begin()
        # Room for two of the thousand that may wait.
        for _ in range(998):
            self.assertEqual(self.client.create(1000, filename="x.jpg").status, 201)
        answers = [self.post("harbour", (0, 0, 1600 - 16 * more, 1200)) for more in range(6)]
        self.assertEqual(sorted({answer.status for answer in answers}), [202, 429])
        self.assertTrue(all(answer["retry-after"] for answer in answers if answer.status == 429))
        made = [answer for answer in answers if answer.status == 202]
        self.assertEqual(self.client.ask("DELETE", "/api/images/harbour", tus=False).status, 200)
        for answer in made:
            state = self.client.end(answer["location"])
            self.assertTrue(state["status"] == "done" or "not there any more" in state["message"], state)


if __name__ == "__main__":
    unittest.main()
