"""Books in the API: one item each, with its cover; their pages in the order in which one counts."""

import json
import subprocess
import time
import unittest
from urllib.parse import quote, urlencode

from harness import Server, ServerTest, folder, photo, run


class Books(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("books")
        for name in ("attic", "codex-a", "zoo/9", "zoo/10"):
            photo(base / f"photos/{name}.jpg", 120, 90)
        # Pages of one size: a roll of them, as libvips writes many pages.
        subprocess.run(["vips", "arrayjoin", " ".join(str(photo(base / f"p/{n:02}.png", 60, 80, left=n * 20))
                                                      for n in range(12)), base / "roll.v", "--across", "1"], check=True)
        subprocess.run(["vips", "tiffsave", base / "roll.v", base / "photos/codex.tif", "--page-height", "80"], check=True)
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert result.returncode == 0, result.stderr
        cls.library = base / "library"
        cls.server = Server(cls.library)

    def read(self, path: str, status=200) -> dict:
        answer = self.server.get(path)
        self.assertEqual(answer.status, status, path)
        return json.loads(answer.body)

    def images(self, limit=100, **parameters) -> list[dict]:
        """Of all pages of the listing, which together are as many as each of them says."""
        images, cursor = [], {}
        while True:
            page = self.read(f"/api/images?{urlencode({'limit': limit, **parameters, **cursor})}")
            images += page["images"]
            if "nextCursor" not in page:
                self.assertEqual(len(images), page["total"], parameters)
                return images
            cursor = {"cursor": page["nextCursor"]}

    def test_a_book_is_one_item_with_its_cover(self):
        for limit in (1, 2, 100):
            self.assertEqual([image["id"] for image in self.images(limit)], ["attic", "codex", "codex-a", "zoo/9", "zoo/10"])
        [codex] = [image for image in self.images() if image.get("isBook")]
        self.assertEqual((codex["id"], codex["cover"], codex["pages"], codex["title"]), ("codex", "codex/1", 12, "codex"))
        self.assertEqual((codex["width"], codex["height"]), (60, 80))
        self.assertEqual(self.server.get(codex["urls"]["dzi"]).status, 200)
        self.assertNotIn("page", codex)
        whole = self.read("/api/images/codex")
        self.assertEqual([image for image in self.images(fields="all") if image["id"] == "codex"], [whole])
        self.assertEqual({name: whole[name] for name in codex if name != "urls"}, {name: codex[name] for name in codex if name != "urls"})
        self.assertEqual(whole["urls"]["self"], "/api/images/codex")
        for name in ("manifest", "self", "iiif3"):
            self.assertEqual(self.server.get(whole["urls"][name]).status, 200, name)
        self.assertEqual(whole["urls"]["view"], "/view/codex")
        answer = self.server.get("/view/codex")
        self.assertEqual((answer.status, answer["location"]), (303, "/view/codex%2F1"))

    def test_its_pages_are_in_it_in_the_order_in_which_one_counts(self):
        numbers = list(range(1, 13))
        for limit in (1, 5, 100):
            pages = self.images(limit, book="codex")
            self.assertEqual([(page["id"], page["page"], page["pages"], page["book"]) for page in pages],
                             [(f"codex/{number}", number, 12, "codex") for number in numbers])
        self.assertEqual([page["page"] for page in self.images(limit=5, sort="-name", book="codex")], numbers[::-1])
        page = self.read("/api/images/codex%2F7")
        self.assertEqual((page["page"], page["pages"], page["book"]), (7, 12, "codex"))
        self.assertNotIn("isBook", page)
        for book in ("attic", "nothing", "codex/1", "zoo"):
            self.assertEqual(self.images(book=book), [], book)

    def test_every_order_search_and_folder_has_it_once(self):
        for order in ("name", "-name", "date", "-date", "added", "-added", "size", "-size"):
            ids = [image["id"] for image in self.images(limit=2, sort=order)]
            self.assertEqual((len(ids), ids.count("codex")), (5, 1), order)
        self.assertEqual([image["id"] for image in self.images(q="codex")], ["codex", "codex-a"])
        self.assertEqual([image["id"] for image in self.images(q="codex", sort="-name")], ["codex-a", "codex"])
        self.assertEqual([image["id"] for image in self.images(q="codex 12")], ["codex"])
        self.assertEqual([image["id"] for image in self.images(q="12", book="codex")], ["codex/12"])
        self.assertEqual([image["id"] for image in self.images(folder="zoo")], ["zoo/9", "zoo/10"])
        self.assertEqual(self.images(folder="codex"), [])

    def test_invalid_requests_are_reported(self):
        for query, message in {"book=": "book is ''", "book=..": "book is '..'", "book=codex&folder=zoo": "book cannot be used with folder"}.items():
            self.assertIn(message, self.read(f"/api/images?{query}", 400)["detail"])

    def test_the_cover_goes_and_comes_back(self):
        # Out of the way and back: a book is what it has now.
        first, away = self.library / "codex/1.szi", self.library / "codex/.1.szi"
        self.addCleanup(lambda: away.exists() and away.rename(first))
        first.rename(away)
        self.eventually(("codex/2", 11))
        away.rename(first)
        self.eventually(("codex/1", 12))

    def test_it_is_one_item_while_the_catalog_is_made(self):
        for _ in range(5):
            for file in self.library.glob("catalog.sqlite*"):
                file.unlink()
            with Server(self.library) as server:
                for _ in range(20):
                    images, cursor = [], ""
                    while cursor is not None:
                        page = json.loads(server.get(f"/api/images?limit=2{cursor}").body)
                        images += page["images"]
                        cursor = f"&cursor={quote(page['nextCursor'])}" if "nextCursor" in page else None
                    self.assertEqual([(image["id"], image["pages"]) for image in images],
                                     [("attic", 1), ("codex", 12), ("codex-a", 1), ("zoo/9", 1), ("zoo/10", 1)])

    def eventually(self, cover: tuple[str, int]):
        found, end = None, time.monotonic() + 30
        while time.monotonic() < end:
            found = [(image["cover"], image["pages"]) for image in self.read("/api/images")["images"] if image.get("isBook")]
            if found == [cover]:
                return
        self.fail(f"{found}, not {cover}")


if __name__ == "__main__":
    unittest.main()
