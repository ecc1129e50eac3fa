"""Malicious request targets: 400 or 404, never a crash, never a file outside the library or the page."""

import json

from harness import SECRET, SampleServerTest, sample_library, seed

REFUSED = {400, 404, 414, 431}


class Paths(SampleServerTest):
    def assertRefused(self, target, **headers):
        answer = self.server.get(target, **headers)
        self.assertIn(answer.status, REFUSED, f"{target[:120]!r}: {answer}")
        self.assertNotIn(SECRET.encode(), answer.rest)
        self.assertNotIn(str(sample_library().parent).encode(), answer.rest, "a host path reached the client")

    def tearDown(self):
        self.assertTrue(self.server.alive(), "the server no longer answers")

    def test_ways_out_of_the_library(self):
        ways = ["..", "%2e%2e", ".%2e", "%2E.", "%252e%252e", "..%00", "%c0%ae%c0%ae", "..;", "%u002e%u002e",
                "..%5c", "..\\"]
        slashes = ["/", "%2f", "%2F", "//", "%5c", "\\"]
        for prefix in ("/", "/dzi/", "/api/images/", "/iiif/3/", "/view/", "/static/", "/photo/", "/dzi/photo_files/"):
            for way in ways:
                for slash in slashes:
                    for rest in ("secret.txt", "secret", "etc/passwd", "library/.hidden"):
                        self.assertRefused(prefix + (way + slash) * 3 + rest)
                        self.assertRefused(prefix + way + slash + rest)

    def test_absolute_and_odd_targets(self):
        for target in ("/dzi//etc/passwd", "//etc/passwd", "/dzi/%2fetc%2fpasswd", "/api/images/%2Fetc%2Fpasswd",
                       "/.hidden", "/dzi/.hidden", "/api/images/.hidden", "/.git/config", "/proc/self/environ",
                       "/Package.swift", "/dzi/photo.szi/../.hidden", "/dzi/photo.dzi/", "/dzi/photo.dzi/x",
                       "/dzi/", "/dzi", "/api/", "/api/images/", "/api/image/photo", "/view", "/dzi/.dzi",
                       "/dzi/_files/0/0_0.jpg", "/dzi/photo.DZI", "/DZI/photo.dzi", "/dzi/photo"):
            with self.subTest(target):
                self.assertRefused(target)

    def test_nul_and_control_bytes(self):
        for target in ("/dzi/photo.dzi%00", "/dzi/photo%00.dzi", "/%00", "/api/images/photo%00", "/dzi/%0d%0aX:y",
                       "/api/images/photo%0d%0aSet-Cookie:%20a=b", "/dzi/photo_files/0/0_0.jpg%00.png",
                       "/dzi/photo_files/0%00/0_0.jpg", "/healthz%00", "/index.html%00.js"):
            with self.subTest(target):
                answer = self.server.get(target)
                self.assertIn(answer.status, REFUSED, target)
                self.assertEqual(answer["set-cookie"] + answer["x"], "")

    def test_broken_percent_escapes(self):
        for target in ("/dzi/photo%", "/dzi/photo%2", "/dzi/photo%zz.dzi", "/dzi/%ff%fe.dzi", "/api/images/%",
                       "/api/images/%E9", "/dzi/photo.dzi%20", "/%%%%", "/api/images/%ed%a0%80"):
            with self.subTest(target):
                self.assertRefused(target)

    def test_doubled_slashes(self):
        for target in ("//", "//dzi/photo.dzi", "/dzi//photo.dzi", "/dzi/photo_files//0/0_0.jpg",
                       "/dzi/photo_files/0//0_0.jpg", "/api//images", "/api/images//photo", "///////",
                       "/dzi/deep//er/leaf.dzi", "/dzi/deep%2F%2Fer%2Fleaf.dzi", "//healthz"):
            with self.subTest(target):
                self.assertRefused(target)

    def test_long_targets(self):
        for length in (255, 256, 1000, 4000, 8192):
            for target in ("/" + "a" * length, "/dzi/" + "b" * length + ".dzi", "/api/images/" + "%41" * (length // 3),
                           "/dzi/" + "a/" * (length // 2) + "x.dzi", "/" + "../" * (length // 3),
                           "/dzi/photo_files/0/" + "0" * length + "_0.jpg", "/?" + "q=" * (length // 2) + "%",
                           "/api/images/" + "%00" * (length // 3)):
                answer = self.server.get(target)
                # An endless query on a page that takes none may be passed over.
                self.assertIn(answer.status, REFUSED | ({200} if target[:2] == "/?" else set()), f"{length} {target[:40]}")
        for length in (20_000, 200_000):
            answer = self.server.get("/" + "a" * length)
            self.assertIn(answer.status, REFUSED | {0}, length)

    def test_levels_and_tiles_out_of_range(self):
        # 3001×1703: levels 0…12, the last of 6×4 tiles of 512.
        good = self.server.get("/dzi/photo_files/12/5_3.jpg")
        self.assertEqual((good.status, good.body[:2]), (200, b"\xff\xd8"))
        for tile in ("13/0_0", "12/6_0", "12/0_4", "12/6_4", "0/1_0", "0/0_1", "-1/0_0", "12/-1_0", "12/0_-1",
                     "99999999999999999999/0_0", "12/99999999999999999999_0", "12/18446744073709551616_0",
                     "12/4294967296_0", "12/9223372036854775808_0", "012/0_0", "12/00_0", "12/0_00", "+12/0_0",
                     "12/+0_0", "12/%200_0", "12/0x0_0", "12/0_0_0", "12/0", "12/_0", "12/0_", "12/_", "1e1/0_0",
                     "12.0/0_0", "12/0.0_0", "/0_0", "12/٠_0", "12/0-0", "nan/0_0", "12/0_0/"):
            with self.subTest(tile):
                self.assertRefused(f"/dzi/photo_files/{tile}.jpg".encode())
        for target in ("/dzi/photo_files/12/0_0", "/dzi/photo_files/12/0_0.", "/dzi/photo_files/12/0_0.exe",
                       "/dzi/photo_files/12/0_0.jpg.jpg", "/dzi/photo_files/12/0_0.JPG", "/dzi/photo_files/12/",
                       "/dzi/photo_files/12", "/dzi/photo_files/", "/dzi/photo_files", "/dzi/nobody_files/0/0_0.jpg"):
            with self.subTest(target):
                self.assertRefused(target)

    def test_every_tile_and_no_other(self):
        image = json.loads(self.server.get("/api/images/photo").body)
        for index, level in enumerate(image["levels"]):
            columns, rows = level["columns"], level["rows"]
            for column, row in {(0, 0), (columns - 1, 0), (0, rows - 1), (columns - 1, rows - 1)}:
                self.assertEqual(self.server.get(f"/dzi/photo_files/{index}/{column}_{row}.jpg").status, 200)
            self.assertRefused(f"/dzi/photo_files/{index}/{columns}_0.jpg")
            self.assertRefused(f"/dzi/photo_files/{index}/0_{rows}.jpg")

    def test_absurd_and_duplicate_parameters(self):
        base = "width=640&height=480"
        for query in ("", "width=640", "height=480", "width=640&width=640&height=480", base + "&scale=1&scale=2",
                      base + "&x=1&x=1", "width=0&height=480", "width=-1&height=480", "width=32769&height=480",
                      "width=640.5.5&height=480", "width=a&height=480", "width=&height=480", "width&height",
                      "width=1e400&height=480", "width=NaN&height=480", "width=Infinity&height=480",
                      base + "&scale=0", base + "&scale=-1", base + "&scale=nan", base + "&scale=inf",
                      base + "&scale=1e999", base + "&scale=", base + "&scale=0x1p3", base + "&x=nan&scale=1",
                      base + "&y=-inf&scale=1", base + "&fit=sideways", base + "&fit=", base + "&center=1",
                      base + "&center=1,2,3", base + "&center=a,b", base + "&center=nan,1", base + "&anchor=1&zoom=2", base + "&anchor=1,1&zoom=0", base + "&anchor=1,1&zoom=-2",
                      base + "&anchor=1,1&zoom=nan", base + "&rotation=nan", base + "&rotation=north",
                      base + "&rotation=inf", base + "&flip=maybe", base + "&clamp=2x", base + "&dpr=0",
                      base + "&dpr=-1", base + "&dpr=nan", base + "&dpr=1e9", base + "&buffer=-1",
                      base + "&buffer=1.5", base + "&buffer=1000000", base + "&buffer=x", base + "&scheme=gopher",
                      base + "&scheme=", base + "&minScale=2&maxScale=1", base + "&minScale=nan",
                      base + "&maxScale=-1", base + "&fallback=perhaps", base + "&scale=%00", base + "&scale=%",
                      base + "&scale=%zz", base + "&" + "&".join(f"q{n}=1" for n in range(300))):
            with self.subTest(query[:100]):
                answer = self.server.get(f"/api/images/photo/viewport?{query}")
                self.assertEqual(answer.status, 400, answer)
                self.assertTrue(answer["content-type"].startswith("application/problem+json"), answer)
                problem = json.loads(answer.body)
                self.assertEqual(problem.get("status"), 400)
                said = json.dumps(problem).lower()
                names = {pair.split("=")[0].lower() for pair in query.split("&") if pair} or {"width"}
                if "%" in query:  # A name that cannot be decoded is not reported.
                    names |= {"escape", "encod"}
                self.assertTrue(any(name in said for name in names | {"width", "height", "zoom"}), said)

    def test_absurd_listings(self):
        for query in ("limit=0", "limit=-1", "limit=x", "limit=1e9", "limit=99999999999999999999", "limit=1&limit=2",
                      "limit=", "cursor=%00", "cursor=xx", "cursor=9:x", "cursor=:a", "cursor=~/xx",
                      # Of another order than is asked for.
                      "cursor=1:aa&sort=date", "cursor=date!1:aa", "cursor=date!1:aa&sort=-date", "cursor=name!1:aa", "cursor=x!1:aa"):
            with self.subTest(query):
                self.assertEqual(self.server.get(f"/api/images?{query}").status, 400)
        for query in ("cursor=%ff", "q=" + "x" * 3000, "q=%25_'\"--;", "q=", "cursor="):
            with self.subTest(query):
                self.assertIn(self.server.get(f"/api/images?{query}").status, {200, 400})

    def test_unknown_images(self):
        for target in ("/api/images/nobody", "/api/images/nobody/viewport?width=10&height=10", "/dzi/nobody.dzi",
                       "/api/images/photo/nothing", "/api/images/photo/viewport/x", "/api/images/PHOTO"):
            with self.subTest(target):
                answer = self.server.get(target)
                self.assertEqual(answer.status, 404, answer)
                if target.startswith("/api"):
                    self.assertTrue(answer["content-type"].startswith("application/problem+json"), answer)

    def test_random_bytes_as_targets(self):
        chance = seed("targets")
        pieces = ["/", "..", "%2e", "%00", "dzi", "photo", "_files", "12", "0_0", ".jpg", ".dzi", "api", "images",
                  "viewport", "?", "&", "=", "width", "%ff", "é", "\\", ";", ":", "@", "#", "~", "*", "'", "\"", "<",
                  ">", "[", "]", "^", "`", "{", "}", "|", "iiif", "3", "full", "max", "default", "-1", "1e9", "%25"]
        for _ in range(1500):
            target = "/" + "".join(chance.choices(pieces, k=chance.randint(1, 14)))
            answer = self.server.get(target.encode())
            self.assertIn(answer.status, {0, 200, 303, 400, 404, 414, 501}, target)
            self.assertNotIn(SECRET.encode(), answer.rest, target)
