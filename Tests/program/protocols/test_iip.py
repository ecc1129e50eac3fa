"""IIP over HTTP: tiles are the stored ones, names are found as a site of IIPImage has them, refusals say why."""

import io
import json
import unittest

from PIL import Image

from harness import SECRET, SampleServerTest, Server, folder, photo, run

# 3001×1703 at 512: 375, 750, 1500 and 3001 pixels wide.
COLUMNS = [1, 2, 3, 6]


class IIP(SampleServerTest):
    def get(self, query: str, **headers):
        return self.server.get("/iip?" + query, **headers)

    def test_a_tile_is_the_stored_one_under_its_one_tag(self):
        for resolution, columns in enumerate(COLUMNS):
            for number in (0, columns - 1, columns):
                answer = self.get(f"FIF=photo&JTL={resolution},{number}")
                # The first two are one row each.
                if resolution < 2 and number == columns:
                    self.assertEqual(answer.status, 404)
                    continue
                place = f"{resolution + 9}/{number % columns}_{number // columns}"
                stored = self.server.get(f"/dzi/photo_files/{place}.jpg")
                self.assertEqual((answer.status, answer.body, answer["etag"], answer["content-type"]),
                                 (200, stored.body, stored["etag"], "image/jpeg"), place)
        tag = self.get("FIF=photo&JTL=3,7")["etag"]
        self.assertEqual(self.get("FIF=photo&JTL=3,7", If_None_Match=tag).status, 304)
        part = self.get("FIF=photo&JTL=3,7", Range="bytes=0-9")
        self.assertEqual((part.status, len(part.body)), (206, 10))
        generation = json.loads(self.server.get("/api/images/photo").body)["generation"]
        self.assertIn("immutable", self.get(f"FIF=photo&JTL=3,7&v={generation}")["cache-control"])
        self.assertIn("no-cache", self.get("FIF=photo&JTL=3,7")["cache-control"])

    def test_an_image_is_found_by_its_id_or_by_the_name_of_its_file(self):
        for name in ["deep/er/leaf", "deep%2Fer%2Fleaf", "deep/er/leaf.tif", "/deep/er/leaf.tif", "deep/er/leaf.jp2",
                     "two%20words", "two+words", "two+words.tif", "two%20words.png", "%64eep/er/leaf"]:
            for command in ("JTL=0,0", "OBJ=Max-size", "CVT=jpeg&WID=20", "jtl=0%2C0"):
                with self.subTest(name=name, command=command):
                    self.assertEqual(self.get(f"FIF={name}&{command}").status, 200)
        for name in ["deep/er", "leaf", "photo.tif.tif", "photo.", "photox", ".tif", "../secret.txt", "%2e%2e/secret",
                     "photo%00", "photo%ff"]:
            with self.subTest(name):
                expected = 200 if name == "photo." else 404
                answer = self.get(f"FIF={name}&OBJ=Max-size")
                self.assertEqual(answer.status, expected)
                self.assertNotIn(SECRET.encode(), answer.body)

    def test_iiif_takes_the_quality_that_iipsrv_lists(self):
        native = self.get("IIIF=photo/full/300,/0/native.jpg")
        default = self.get("IIIF=photo/full/300,/0/default.jpg")
        self.assertEqual((native.status, native.body, native["link"]), (200, default.body, default["link"]))
        self.assertEqual(self.server.get("/iiif/2/photo/full/300,/0/native.jpg").status, 400)

    def test_two_sources_of_one_name_are_distinguished_by_their_extensions(self):
        base = folder("endings")
        photo(base / "photos/one.jpg", 300, 200)
        photo(base / "photos/one.png", 500, 400)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        with Server(base / "library") as server:
            for name, size in [("one.jpg", "300 200"), ("one.png", "500 400")]:
                self.assertEqual(server.get(f"/iip?FIF={name}&OBJ=Max-size").body, f"Max-size:{size}\r\n".encode())
                self.assertEqual(server.get(f"/iip?FIF={name}.tif&OBJ=Max-size").body, f"Max-size:{size}\r\n".encode())
            self.assertEqual(server.get("/iip?FIF=one.tif&OBJ=Max-size").status, 404)

    def test_tiles_of_other_formats_are_transcoded(self):
        base = folder("formats")
        photo(base / "photos/one.jpg", 700, 600)
        for stored in ("png", "webp"):
            library = base / stored
            result = run("build", base / "photos", "--library", library, "--format", stored, "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
            with Server(library) as server:
                answer, other = server.get("/iip?FIF=one&JTL=1,3"), server.get("/dzi/one_files/10/1_1.jpg")
                self.assertEqual((answer.status, answer["content-type"], answer.body, answer["etag"]),
                                 (200, "image/jpeg", other.body, other["etag"]))
                own = server.get(f"/iip?FIF=one&{stored[0]}tl=1,3")
                self.assertEqual(own.body, server.get(f"/dzi/one_files/10/1_1.{stored}").body)

    def test_a_picture_has_the_quality_turn_and_format_that_it_is_asked_for(self):
        sizes = [len(self.get(f"FIF=photo&WID=600&QLT={quality}&CVT=jpeg").body) for quality in (10, 50, 95)]
        self.assertEqual(sizes, sorted(sizes))
        self.assertLess(sizes[0] * 3, sizes[2])
        tags = {self.get(f"FIF=photo&WID=600&QLT={quality}&CVT=jpeg")["etag"] for quality in (10, 50, 95)}
        self.assertEqual(len(tags), 3)
        for kind, name in [("jpeg", "JPEG"), ("png", "PNG"), ("webp", "WEBP"), ("tiff", "TIFF"), ("GIF", "GIF")]:
            picture = Image.open(io.BytesIO(self.get(f"FIF=photo&WID=60&ROT=90&CVT={kind}").body))
            self.assertEqual((picture.format, picture.size), (name, (34, 60)))

    def test_refusals_say_why_and_no_path_of_the_host(self):
        for query, status in [("", 400), ("FIF=photo", 400), ("JTL=0,0", 400), ("FIF=photo&JTL=0", 400), ("FIF=%zz&JTL=0,0", 400),
                              ("FIF=photo&OBJ=icc", 400), ("FIF=photo&CVT=bmp", 400), ("FIF=photo&JTL=0,0&INV=1", 400),
                              ("FIF=none&JTL=0,0", 404), ("FIF=photo&JTL=0,1", 404), ("FIF=photo&JTL=4,0", 404),
                              ("FIF=photo&RGN=1,1,1,1&CVT=jpeg", 400), ("DeepZoom=photo", 404), ("IIIF=none/info.json", 404)]:
            with self.subTest(query):
                answer = self.get(query)
                self.assertEqual(answer.status, status)
                self.assertTrue(0 < len(answer.body) < 120 and b"/" not in answer.body, answer.body)
        self.assertEqual(self.server.get("/iip").status, 400)
        self.assertEqual(self.server.get("/iip?FIF=photo&JTL=0,0", "POST", Content_Length=0).status, 405)

    def test_iiif_through_it_leads_on_to_itself(self):
        information = self.get("IIIF=photo/info.json")
        self.assertTrue(json.loads(information.body)["@id"].endswith("/iip?IIIF=photo"))
        base = self.get("IIIF=photo")
        self.assertEqual(base.status, 303)
        self.assertTrue(base["location"].endswith("/iip?IIIF=photo/info.json"), base["location"])
        tile, other = (self.server.get(f"{base}photo/0,0,512,512/512,/0/default.jpg") for base in ("/iip?IIIF=", "/iiif/2/"))
        self.assertEqual((tile.body, tile["etag"], tile["link"]), (other.body, other["etag"], other["link"]))

    def test_the_api_names_it(self):
        urls = json.loads(self.server.get("/api/images/deep%2Fer%2Fleaf").body)["urls"]
        self.assertEqual(urls["iip"], "/iip?FIF=deep%2Fer%2Fleaf")
        self.assertEqual(self.server.get(urls["iip"] + "&OBJ=Max-size").body, b"Max-size:1024 512\r\n")


if __name__ == "__main__":
    unittest.main()
