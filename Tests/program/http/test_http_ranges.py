"""Conditions in several lines, and ranges of every answer whose bytes are known (RFC 9110, sections 5.3, 13 and 14)."""

import unittest

from harness import SampleServerTest

TILE = "/dzi/photo_files/12/0_0.jpg"
# Rendered, gathered, made in memory, read from a file.
WHOLES = ("/iiif/3/photo/7,9,300,200/max/0/default.jpg", "/iiif/2/photo/full/90,/0/gray.png",
          "/api/images/photo/viewport.jpg?width=64&height=48", "/api/images/photo/viewport.png?width=64&height=48",
          "/api/images/photo/viewport.tiles?width=640&height=480", "/dzi/photo_files/12/0_0.webp",
          "/zoomify/photo/TileGroup0/1-0-0.jpg", "/dzi/photo.dzi", "/iiif/3/photo/info.json", "/api/images/photo", "/",
          "/api/images", "/iiif/presentation/3/photo/manifest", "/xyz/photo/tilejson.json", "/zoomify/photo/ImageProperties.xml")


class ConditionsInSeveralLines(SampleServerTest):
    def test_all_lines_of_if_none_match_count(self):
        for target in (TILE, *WHOLES):
            etag = self.server.get(target)["etag"]
            for lines, status in (([etag, '"other"'], 304), (['"other"', etag], 304), (['"a"', f'"b", W/{etag}'], 304),
                                  (['"a"', '"b"', etag], 304), (['"a"', '"b"'], 200)):
                with self.subTest(target=target, lines=lines):
                    self.assertEqual(self.server.get(target, If_None_Match=lines).status, status)

    def test_all_lines_of_if_match_count(self):
        for target in (TILE, *WHOLES):
            etag = self.server.get(target)["etag"]
            for lines, status in (([etag, '"other"'], 200), (['"other"', etag], 200), (['"a"', '"b"'], 412)):
                with self.subTest(target=target, lines=lines):
                    self.assertEqual(self.server.get(target, If_Match=lines).status, status)

    def test_what_is_accepted_may_stand_in_several_lines(self):
        for target, lines in (("/", ["br", "gzip"]), ("/", ["gzip;q=0", "br"])):
            answer = self.server.get(target, Accept_Encoding=lines)
            self.assertEqual(answer["content-encoding"], "gzip" if "gzip" in lines else "")
        answer = self.server.get("/iiif/2/photo/info.json", Accept=["text/html", "application/ld+json"])
        self.assertIn("application/ld+json", answer["content-type"])


class Ranges(SampleServerTest):
    def test_a_part_of_every_kind_of_answer(self):
        for target in WHOLES:
            whole = self.server.get(target)
            size, etag = len(whole.body), whole["etag"]
            self.assertEqual((whole.status, whole["accept-ranges"]), (200, "bytes"), target)
            for text, start, end in (("0-0", 0, 1), ("3-40", 3, 41), (f"{size - 5}-", size - 5, size), ("-7", size - 7, size),
                                     (f"1-{size + 5}", 1, size), ("0-", 0, size)):
                with self.subTest(target=target, text=text):
                    part = self.server.get(target, Range=f"bytes={text}")
                    self.assertEqual((part.status, part.rest), (206, whole.body[start:end]))
                    self.assertEqual(part["content-range"], f"bytes {start}-{end - 1}/{size}")
                    for name in ("etag", "cache-control", "content-type", "accept-ranges"):
                        self.assertEqual(part[name], whole[name], name)
            for text in (f"{size}-", "-0"):
                answer = self.server.get(target, Range=f"bytes={text}")
                self.assertEqual((answer.status, answer["content-range"], answer.rest), (416, f"bytes */{size}", b""))
            for text in ("bytes=5-2", "lines=0-5", "bytes=", "bytes=0-1,4-5"):
                answer = self.server.get(target, Range=text)
                self.assertEqual((answer.status, answer.body), (200, whole.body), text)
            self.assertEqual(self.server.get(target, Range="Bytes=0-9").rest, whole.body[:10])
            head = self.server.get(target, "HEAD", Range="bytes=0-9")
            self.assertEqual((head.status, head["content-length"], head["accept-ranges"]), (200, str(size), "bytes"))

    def test_if_range_takes_the_strong_tag_alone(self):
        for target in (TILE, *WHOLES):
            etag = self.server.get(target)["etag"]
            for condition, status in ((etag, 206), (f"W/{etag}", 200), ('"other"', 200), (f'"a", {etag}', 200),
                                      ("Sat, 21 Nov 2026 20:00:00 GMT", 200), ("", 200)):
                with self.subTest(target=target, condition=condition):
                    self.assertEqual(self.server.get(target, Range="bytes=0-9", If_Range=condition).status, status)

    def test_other_conditions_come_first(self):
        for target in (TILE, *WHOLES):
            etag = self.server.get(target)["etag"]
            self.assertEqual(self.server.get(target, Range="bytes=0-9", If_None_Match=etag).status, 304)
            self.assertEqual(self.server.get(target, Range="bytes=0-9", If_None_Match='"other"').status, 206)
            self.assertEqual(self.server.get(target, Range="bytes=0-9", If_Match='"other"').status, 412)

    def test_a_part_of_what_is_compressed_is_a_part_of_the_compressed(self):
        for target in ("/", "/api/images/photo", "/openapi.json"):
            whole = self.server.get(target, Accept_Encoding="gzip")
            part = self.server.get(target, Accept_Encoding="gzip", Range="bytes=5-24", If_Range=whole["etag"])
            self.assertEqual((part.status, part.body, part["content-encoding"]), (206, whole.body[5:25], "gzip"))

    def test_refusals_have_no_parts(self):
        for target, status in (("/nothing", 404), ("/api/images/nobody", 404), ("/iiif/3/photo/full/max/7x/default.jpg", 400)):
            self.assertEqual(self.server.get(target, Range="bytes=0-3").status, status)


if __name__ == "__main__":
    unittest.main()
