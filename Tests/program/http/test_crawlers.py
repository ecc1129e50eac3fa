"""What browsers and crawlers ask of every host: /favicon.ico and /robots.txt."""

import io
import shutil
import unittest
import urllib.robotparser
from pathlib import Path

from PIL import Image

from harness import SampleServerTest, Server, folder, sample_library

ROOT = Path(__file__).resolve().parents[3]


def may_fetch(rules: str, path: str) -> bool:
    """By RFC 9309, section 2.2.2: the longest rule that matches counts, `*` is anything. Python's own parser takes the first rule and no `*`."""
    import re
    best = ("", "Allow")
    for line in rules.splitlines():
        kind, _, pattern = line.partition(": ")
        if kind not in ("Allow", "Disallow"):
            continue
        matches = re.match(".*".join(map(re.escape, pattern.split("*"))), path)
        if matches and (len(pattern), kind == "Allow") > (len(best[0]), best[1] == "Allow"):
            best = (pattern, kind)
    return best[1] == "Allow"


class Crawlers(SampleServerTest):
    def test_pages_and_whole_pictures_may_be_fetched_and_tiles_may_not(self):
        answer = self.server.get("/robots.txt")
        self.assertEqual((answer.status, answer["content-type"]), (200, "text/plain; charset=utf-8"))
        self.assertEqual(self.server.get("/robots.txt", **{"If-None-Match": answer["etag"]}).status, 304)
        rules = answer.body.decode()
        # A parser that knows nothing of the order or of `*` finds no syntax error and its group.
        parser = urllib.robotparser.RobotFileParser()
        parser.parse(rules.splitlines())
        self.assertTrue(parser.can_fetch("anybody", "/view/photo"))
        self.assertFalse(parser.can_fetch("anybody", "/xyz/photo/0/0/0.jpg"))
        page = self.server.get("/view/photo").body.decode()
        picture = page.partition('property="og:image" content="')[2].partition('"')[0]
        self.assertIn("/iiif/3/photo/full/", picture)
        for path in ("/", "/view/photo", "/embed/photo", "/oembed?url=x", "/theme.css", "/api/images", "/api/images?cursor=a",
                     "/api/images/photo", "/api/images/photo/viewport.tiles?width=9", "/iiif/presentation/3/photo/manifest", "/dzi/photo.dzi",
                     "/iiif/3/photo/info.json", "/" + picture.split("/", 3)[3], "/favicon.ico"):
            self.assertTrue(may_fetch(rules, path), path)
        for path in ("/dzi/photo_files/0/0_0.jpg", "/iiif/3/photo/0,0,9,9/max/0/default.jpg", "/iiif/2/photo/0,0,9,9/full/0/default.jpg",
                     "/zoomify/photo/TileGroup0/0-0-0.jpg", "/xyz/photo/0/0/0.jpg", "/iip?FIF=photo", "/metrics", "/api/uploads",
                     "/api/images/photo/viewport.jpg?width=9", "/api/events"):
            self.assertFalse(may_fetch(rules, path), path)

    def test_the_icon_is_one_that_every_browser_shows(self):
        answer = self.server.get("/favicon.ico")
        self.assertEqual((answer.status, answer["content-type"]), (200, "image/x-icon"))
        icon = Image.open(io.BytesIO(answer.body))
        self.assertEqual(icon.ico.sizes(), {(16, 16), (32, 32), (48, 48)})
        # That of the pages: its stairs are in the middle, its corners are round.
        self.assertEqual(icon.convert("RGBA").getpixel((0, 0))[3], 0)
        self.assertGreater(icon.convert("RGB").getpixel((24, 30))[0], 200)
        self.assertEqual(self.server.get("/favicon.ico", method="HEAD").status, 200)

    def test_below_a_path_the_rules_have_that_path(self):
        with Server(sample_library(), "--base-url", "https://example.org/images") as server:
            for path in ("/images/robots.txt", "/robots.txt"):
                rules = server.get(path).body.decode()
                self.assertIn("Disallow: /images/xyz/\n", rules)
                self.assertTrue(may_fetch(rules, "/images/view/photo"))
                self.assertFalse(may_fetch(rules, "/images/dzi/photo_files/0/0_0.jpg"))
            self.assertEqual(server.get("/images/favicon.ico").status, 200)

    def test_files_of_the_public_folder_win(self):
        public = folder("crawlers") / "public"
        shutil.copytree(ROOT / "public", public)
        (public / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
        (public / "favicon.ico").write_bytes(b"ours")
        with Server(sample_library(), "--webroot", public) as server:
            self.assertEqual(server.get("/robots.txt").body, b"User-agent: *\nDisallow: /\n")
            self.assertEqual(server.get("/favicon.ico").body, b"ours")
            # One that cannot be read is not replaced by rules that allow more.
            (public / "robots.txt").unlink()
            (public / "robots.txt").write_bytes(b"x" * (17 << 20))
            self.assertEqual(server.get("/robots.txt").status, 500)


if __name__ == "__main__":
    unittest.main()
