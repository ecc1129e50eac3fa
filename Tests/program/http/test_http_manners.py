"""Methods, caching, CORS and ranges, as interface.md's "manners" say."""

import json
import zipfile

from harness import SampleServerTest, sample_library
from szi import archives

TILE = "/dzi/photo_files/12/0_0.jpg"


class Manners(SampleServerTest):
    def test_tiles_are_the_stored_bytes(self):
        path = next(path for path in archives(sample_library()) if path.stem == "photo")
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if "_files/" in name and name[-1] != "/":
                    answer = self.server.get(f"/dzi/{name.split('/', 1)[1]}")
                    self.assertEqual((answer.status, answer["content-type"]), (200, "image/jpeg"))
                    self.assertEqual(answer.body, archive.read(name), name)

    def test_ids_in_one_segment_or_with_raw_slashes(self):
        for target in ("/dzi/deep%2Fer%2Fleaf.dzi", "/dzi/deep/er/leaf.dzi", "/api/images/deep%2Fer%2Fleaf",
                       "/api/images/deep/er/leaf", "/dzi/deep%2Fer%2Fleaf_files/0/0_0.jpg",
                       "/dzi/deep/er/leaf_files/0/0_0.jpg", "/dzi/two%20words.dzi",
                       "/api/images/deep/er/leaf/viewport?width=9&height=9",
                       "/api/images/deep%2fer%2fleaf/viewport?width=9&height=9"):
            with self.subTest(target):
                self.assertEqual(self.server.get(target).status, 200)

    def test_the_description_of_an_image(self):
        image = json.loads(self.server.get("/api/images/photo").body)
        self.assertEqual((image["id"], image["width"], image["height"], image["tileSize"]),
                         ("photo", 3001, 1703, 512))
        self.assertEqual(len(image["levels"]), 13)
        self.assertEqual({key: image["levels"][-1][key] for key in ("width", "height", "columns", "rows")},
                         {"width": 3001, "height": 1703, "columns": 6, "rows": 4})
        self.assertEqual(image["levels"][11]["width"], 1501)

    def test_the_listing_is_paged_without_loss(self):
        ids, cursor = [], ""
        for _ in range(10):
            page = json.loads(self.server.get(f"/api/images?limit=2{cursor}").body)
            entries = page.get("images", page.get("items"))
            self.assertLessEqual(len(entries), 2)
            ids += [entry["id"] for entry in entries]
            following = page.get("nextCursor")
            if not following:
                break
            cursor = f"&cursor={following}"
        self.assertEqual(sorted(ids), ["deep/er/leaf", "dot", "line", "photo", "two words"])

    def test_head_is_get_without_the_body(self):
        for target in ("/", TILE, "/dzi/photo.dzi", "/api/images", "/api/images/photo", "/healthz",
                       "/api/images/photo/viewport?width=640&height=480", "/nothing", "/api/images/nobody"):
            with self.subTest(target):
                get, head = self.server.get(target), self.server.get(target, "HEAD")
                self.assertEqual(head.rest, b"")
                self.assertEqual(head.status, get.status)
                for name in ("content-type", "content-length", "etag", "cache-control",
                             "access-control-allow-origin"):
                    self.assertEqual(head[name], get[name], name)

    def test_other_methods_are_405_with_allow(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "BREW"):
            for target in (TILE, "/api/images", "/", "/dzi/photo.dzi"):
                with self.subTest(method=method, target=target):
                    answer = self.server.get(target, method, Content_Length=0)
                    self.assertIn(answer.status, {405, 501} if method == "BREW" else {405})
                    if answer.status == 405:
                        allowed = {name.strip() for name in answer["allow"].split(",")}
                        self.assertLessEqual({"GET", "HEAD", "OPTIONS"}, allowed)
        self.assertEqual(self.server.get(TILE).status, 200)

    def test_options(self):
        for target in (TILE, "/api/images", "/dzi/photo.dzi"):
            answer = self.server.get(target, "OPTIONS", Origin="http://example.org",
                                     Access_Control_Request_Method="GET")
            self.assertIn(answer.status, {200, 204})
            self.assertEqual(answer["access-control-allow-origin"], "*")
            self.assertIn("GET", answer["access-control-allow-methods"] or answer["allow"])

    def test_public_reads_are_open_to_every_origin(self):
        for target in (TILE, "/api/images", "/dzi/photo.dzi", "/api/images/photo", "/api/images/nobody",
                       "/api/images/photo/viewport?width=640&height=480"):
            with self.subTest(target):
                self.assertEqual(self.server.get(target)["access-control-allow-origin"], "*")

    def test_conditional_requests(self):
        for target in (TILE, "/dzi/photo.dzi", "/api/images/photo", "/", "/iiif/3/photo/0,0,99,99/max/0/default.jpg"):
            etag = self.server.get(target)["etag"]
            self.assertRegex(etag, r'^"[!#-~]+"$', f"a strong ETag for {target}")
            for condition in (etag, f"W/{etag}", "*", f'"other", {etag}', f'{etag},"other"', f'"a" , W/"b" ,{etag}',
                              f'"a,b", {etag}', f' {etag} '):
                with self.subTest(target=target, condition=condition):
                    answer = self.server.get(target, If_None_Match=condition)
                    self.assertEqual((answer.status, answer.rest), (304, b""))
                    self.assertEqual(answer["etag"], etag)
            for condition in ('"other"', f'"{etag[1:-2]}"', etag.strip('"'), '""', '"*"', ",", "W/",
                              f'"x{etag[1:]}', '"unclosed'):
                with self.subTest(target=target, condition=condition):
                    self.assertEqual(self.server.get(target, If_None_Match=condition).status, 200)

    def test_a_read_of_another_version_is_refused(self):
        for target in (TILE, "/dzi/photo.dzi", "/api/images/photo", "/iiif/3/photo/info.json", "/iiif/3/photo/0,0,99,99/max/0/default.jpg"):
            etag = self.server.get(target)["etag"]
            for condition, status in ((etag, 200), ("*", 200), (f'"other", {etag}', 200), ('"other"', 412), (f"W/{etag}", 412)):
                with self.subTest(target=target, condition=condition):
                    self.assertEqual(self.server.get(target, If_Match=condition).status, status)

    def test_etags_distinguish_tiles(self):
        etags = {self.server.get(f"/dzi/photo_files/12/{column}_{row}.jpg")["etag"]
                 for column in range(6) for row in range(4)}
        self.assertEqual(len(etags), 24)

    def test_caching(self):
        plain = self.server.get(TILE)["cache-control"]
        self.assertNotIn("immutable", plain)
        image = self.server.get("/api/images/photo/viewport?width=640&height=480")
        url = json.loads(image.body)["tiles"][0]["url"]
        path, generation = url[url.index("/dzi"):].split("?v=")
        # `g` is what version 0.1 called it.
        for name in "vg":
            cache_control = self.server.get(f"{path}?{name}={generation}")["cache-control"]
            self.assertIn("immutable", cache_control)
            self.assertIn("max-age=31536000", cache_control)
            wrong = self.server.get(f"{TILE}?{name}=wrong")
            self.assertNotIn("immutable", wrong["cache-control"], "a wrong generation must not be pinned")

    def test_ranges(self):
        whole = self.server.get(TILE).body
        size = len(whole)
        self.assertEqual(self.server.get(TILE)["accept-ranges"], "bytes")
        for text, start, end in (("0-99", 0, 100), ("100-", 100, size), ("-50", size - 50, size),
                                 (f"0-{size * 2}", 0, size), (f"{size - 1}-", size - 1, size),
                                 (f"-{size * 9}", 0, size)):
            with self.subTest(text):
                answer = self.server.get(TILE, Range=f"bytes={text}")
                self.assertEqual((answer.status, answer.body), (206, whole[start:end]))
                self.assertEqual(answer["content-range"], f"bytes {start}-{end - 1}/{size}")
        for text in (f"{size}-", f"{size + 5}-{size + 9}", "-0"):
            with self.subTest(text):
                answer = self.server.get(TILE, Range=f"bytes={text}")
                self.assertEqual((answer.status, answer["content-range"]), (416, f"bytes */{size}"))
        for text in ("bytes=5-2", "bytes=x-y", "lines=0-5", "bytes", "bytes=", "bytes=1-2-3",
                     "bytes=99999999999999999999-"):
            with self.subTest(text):
                self.assertIn(self.server.get(TILE, Range=text).status, {200, 416})
        many = self.server.get(TILE, Range="bytes=" + ",".join(f"{n}-{n}" for n in range(500)))
        self.assertIn(many.status, {200, 206, 400, 416})
        self.assertLess(len(many.rest), size * 2, "many small ranges must not cost more than the whole")

    def test_a_part_has_the_manners_of_the_whole(self):
        whole = self.server.get(TILE)
        part = self.server.get(TILE, Range="bytes=0-9")
        self.assertEqual((part["etag"], part["cache-control"]), (whole["etag"], whole["cache-control"]))
        head = self.server.get(TILE, "HEAD", Range="bytes=0-9")
        self.assertEqual((head.status, head["content-length"]), (200, str(len(whole.body))))

    def test_the_page_and_its_modules(self):
        page = self.server.get("/")
        self.assertEqual((page.status, page["content-type"].split(";")[0]), (200, "text/html"))
        self.assertEqual(self.server.get("/view/photo").status, 200)
        self.assertEqual(self.server.get("/view/deep%2Fer%2Fleaf").status, 200)

    def test_no_response_reveals_the_host(self):
        for target in ("/nothing", "/api/images/nobody", "/dzi/nobody.dzi", "/dzi/photo_files/99/0_0.jpg"):
            body = self.server.get(target).body.decode()
            self.assertNotIn("/tmp", body)
            self.assertNotIn(".swift", body)
