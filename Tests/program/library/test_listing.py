"""The listing in other orders, below a folder, with other fields; and parameters and variables that there are not."""

import functools
import itertools
import json
import os
import re
import unittest
from pathlib import Path
from urllib.parse import quote, urlencode

from exiftool import write
from harness import CommandTest, Server, ServerTest, folder, photo, run

# By id: size, date, and when it came, seconds.
IMAGES = {
    "attic": ((300, 200), "1999-05-01", 50),
    "barn/door": ((900, 700), None, 10),
    "barn/inner/roof": ((200, 100), "2020-01-02", 40),
    "barn-owl": ((500, 400), "2020-01-02", 20),
    "barn0": ((640, 480), "1850", 30),
    "shed/10": ((31, 20), None, 70),
    "shed/9": ((32, 20), "1999-05-01", 80),
    "shed/009": ((33, 20), None, 90),
    "zoo/ü?#%": ((250, 250), None, 60),
}


def counted(name: str) -> bytes:
    """Compared by bytes, page 2 comes before page 10: each number behind the count of its digits."""
    def number(found: re.Match) -> str:
        digits = found[0].lstrip("0")
        return "9" * (len(digits) // 9) + str(len(digits) % 9) + digits
    return re.sub("[0-9]+", number, name).encode()


def natural(name: str) -> tuple:
    return counted(name), name.encode()


@functools.cache
def library() -> Path:
    base = folder("listing")
    for name, ((width, height), date, _) in IMAGES.items():
        path = photo(base / f"photos/{name}.jpg", width, height)
        if date:
            write(path, f"-XMP-photoshop:DateCreated={date}")
    result = run("build", base / "photos", "--library", base / "library", "--quiet")
    assert result.returncode == 0, result.stderr
    for name, (_, _, seconds) in IMAGES.items():
        os.utime(base / f"library/{name}.szi", (1_700_000_000 + seconds, 1_700_000_000 + seconds))
    return base / "library"


class Listing(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(library())

    def page(self, status=200, **parameters) -> dict:
        answer = self.server.get(f"/api/images?{urlencode(parameters)}")
        self.assertEqual(answer.status, status, (parameters, answer))
        return json.loads(answer.body)

    def ids(self, **parameters) -> list[str]:
        """Of all pages, which together are as many as each page says."""
        ids, cursor = [], {}
        for _ in range(20):
            page = self.page(**parameters, **cursor)
            ids += [image["id"] for image in page["images"]]
            if "nextCursor" not in page:
                self.assertEqual(len(ids), page["total"])
                return ids
            cursor = {"cursor": page["nextCursor"]}
        self.fail("the listing does not end")

    def expected(self, order: str, chosen=lambda name: True) -> list[str]:
        names = sorted(filter(chosen, IMAGES), key=natural)
        key = {"name": counted, "size": lambda name: IMAGES[name][0][0] * IMAGES[name][0][1],
               "added": lambda name: IMAGES[name][2], "date": lambda name: IMAGES[name][1] or ""}[order.lstrip("-")]
        known = [name for name in names if order.lstrip("-") != "date" or IMAGES[name][1]]
        # Of one key by id, whichever way; without one last.
        ordered = [name for _, group in itertools.groupby(sorted(known, key=key), key) for name in [sorted(group, key=natural)]]
        if order == "-name":
            return names[::-1]
        if order.startswith("-"):
            ordered.reverse()
        return [name for group in ordered for name in group] + [name for name in names if name not in known]

    def test_every_order_by_pages_of_every_length(self):
        for order in ("name", "-name", "date", "-date", "added", "-added", "size", "-size"):
            for limit in (1, 2, 3, 100):
                with self.subTest(order=order, limit=limit):
                    self.assertEqual(self.ids(sort=order, limit=limit), self.expected(order))
        self.assertEqual(self.ids(), self.expected("name"))

    def test_below_a_folder(self):
        for name in ("barn", "barn/", "barn/inner", "zoo", "nowhere", "attic"):
            for order in ("name", "-size", "date"):
                with self.subTest(name=name, order=order):
                    below = lambda id: id.startswith(name.rstrip("/") + "/")
                    self.assertEqual(self.ids(folder=name, sort=order, limit=1), self.expected(order, below))
        self.assertEqual(self.ids(folder="barn", q="roof"), ["barn/inner/roof"])
        self.assertEqual(self.ids(q="barn", sort="-added", limit=2),
                         self.expected("-added", lambda name: name.startswith("barn")))

    def test_fields(self):
        for image in self.page(fields="all")["images"]:
            self.assertEqual(image, json.loads(self.server.get(f"/api/images/{quote(image['id'], safe='')}").body))
            chosen = self.page(fields="date,urls,width")["images"]
            [same] = [each for each in chosen if each["id"] == image["id"]]
            self.assertEqual(same, {name: image[name] for name in ("id", "date", "urls", "width") if name in image})
        for image in self.page()["images"]:
            self.assertLess(len(json.dumps(image, separators=(",", ":"), ensure_ascii=False).encode()), 300)
            self.assertLess({"id", "title", "width", "height", "tileSize", "format", "generation", "urls"}, set(image))
            self.assertEqual(self.server.get(image["urls"]["dzi"]).status, 200)

    def test_unknown_names_are_reported_with_the_nearest(self):
        for target, reason in {
            "/api/images?Limit=3": "unknown parameter 'Limit'; did you mean 'limit'?",
            "/api/images?sorted=name": "unknown parameter 'sorted'; did you mean 'sort'?",
            "/api/images?%66oo=1": "unknown parameter 'foo'; this address takes limit, cursor, q, sort, folder, book, fields",
            "/api/images?sort=dat": "sort is 'dat'; it takes name, title, date, added, size",
            "/api/images?fields=tilte": "fields has 'tilte'; did you mean 'title'?",
            "/api/images?fields=": "fields has ''",
            "/api/images?folder=a/../b": "folder is 'a/../b'",
            "/api/images?folder=": "folder is ''",
            "/api/images?sort=name&sort=date": "sort is given twice",
            "/api/images/attic?x=1": "unknown parameter 'x'; this address takes v",
            "/api/images/attic/viewport?width=300&height=200&Scale=0.5": "unknown parameter 'Scale'; did you mean 'scale'?",
            "/api/images/attic/viewport.tiles?width=300&hieght=200": "unknown parameter 'hieght'; did you mean 'height'?",
            "/api/images/attic/viewport.jpg?widht=300&height=200": "unknown parameter 'widht'; did you mean 'width'?",
            "/api/uploads?q=1": "unknown parameter 'q'; this address takes none",
            "/api/images?" + "y" * 3000 + "=1": "unknown parameter '" + "y" * 57 + "…'",
        }.items():
            with self.subTest(target[:80]):
                answer = self.server.get(target)
                self.assertEqual((answer.status, answer["content-type"]), (400, "application/problem+json"))
                self.assertIn(reason, json.loads(answer.body)["detail"])
        # Each error is there once, however often a parameter is.
        for target, details in {
            "/api/images?q=a&q=b&q=c&limit=1&limit=2": ["q is given twice", "limit is given twice"],
            "/api/trash?x=1&x=2&%78=3": ["unknown parameter 'x'; this address takes none"],
            "/api/images/attic?x=1&x=2": ["unknown parameter 'x'; this address takes v"],
            "/api/images/attic/viewport?width=1&width=2&width=3&height=4": ["width is given twice"],
        }.items():
            reported = json.loads(self.server.get(target).body)
            self.assertEqual((reported["detail"], [error["detail"] for error in reported["errors"]]), ("; ".join(details), details))
        # A version in a query, and parameters that viewers copy from one URL to the next, are no mistakes.
        for target in ("/api/images/attic?v=12", "/api/images/attic/viewport?width=30&height=20&v=12", "/dzi/attic.dzi?Scale=1",
                       "/dzi/attic_files/0/0_0.jpg?token=x&y", "/iiif/3/attic/info.json?v=2", "/xyz/attic/tilejson.json?foo=1", "/?x", "/view/attic?x"):
            self.assertEqual(self.server.get(target).status, 200, target)

    def test_no_answer_says_twice_what_it_varies_by(self):
        for target in ("/", "/theme.css", "/api/images", "/api/images/attic", "/iiif/3/attic/info.json", "/dzi/attic.dzi", "/view/attic",
                       "/iiif/presentation/3/collection", "/openapi.json", "/metrics", "/nothing", "/api/nothing"):
            for method in ("GET", "HEAD"):
                fields = self.server.get(target, method, Accept_Encoding="gzip")["vary"].split(", ")
                self.assertEqual(len(fields), len(set(fields)), (target, fields))


class Environment(CommandTest):
    def test_a_misspelt_variable_is_reported_in_one_line(self):
        reported = run("inspect", library() / "attic.szi", environment={"ZIGGURAT_PROT": "1", "ZIGGURAT_LIBRARY": "x"})
        self.assertEqual((reported.returncode, reported.stderr), (0, "the environment variable ZIGGURAT_PROT sets no option; did you mean ZIGGURAT_PORT?\n"))
        reported = run("inspect", library() / "attic.szi", environment={"ZIGGURAT_GALACTIC_PEACE": "1"})
        self.assertEqual(reported.stderr, "the environment variable ZIGGURAT_GALACTIC_PEACE sets no option\n")


if __name__ == "__main__":
    unittest.main()
