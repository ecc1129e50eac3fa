"""Books among other images: found by what is said of them as wholes, and in their places by title and date."""

import json
import subprocess
import time
import unittest

from harness import CommandTest, Server, folder, photo, run


class Listed(CommandTest):
    """What is said of a book as a whole is found, and sorted by."""

    def setUp(self):
        self.base = folder("books-listed")
        self.scans, self.library = self.base / "scans/hours", self.base / "library"
        self.file = self.scans / "book.json"
        for at, name in enumerate(("f1r", "f1v", "f2r")):
            photo(self.scans / f"{name}.jpg", 60, 80, left=at * 40)
        photo(self.base / "scans/map 10.jpg", 90, 60)
        photo(self.base / "scans/map 9.jpg", 90, 61)
        photo(self.base / "scans/zebra.jpg", 90, 62)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=A zebra", "-XMP-photoshop:DateCreated=1900", self.base / "scans/zebra.jpg"],
                       check=True)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-photoshop:DateCreated=1600", self.base / "scans/map 9.jpg"], check=True)

    def ids(self, server, query) -> list[str]:
        answer = server.get(f"/api/images?{query}")
        self.assertEqual(answer.status, 200, answer)
        page = json.loads(answer.body)
        self.assertEqual(page["total"], len(page["images"]))
        return [image["id"] for image in page["images"]]

    def write(self, **fields):
        self.scans.mkdir(exist_ok=True)
        self.file.write_text(json.dumps(fields))

    def test_a_book_is_found_and_sorted_by_its_own_metadata(self):
        self.write(title={"fr": "Très riches heures", "en": "Book of hours"}, creator="Jean Colombe", date="1485", keywords="calendar")
        self.build_loose()
        with Server(self.library) as server:
            for query in ("tres+riches", "book+of+hou", "colombe", "1485", "calendar", "hours"):
                self.assertEqual(self.ids(server, f"q={query}"), ["hours"], query)
            self.assertEqual(self.ids(server, "q=colombe&sort=-title"), ["hours"])
            # Of its pages none is meant.
            self.assertEqual(self.ids(server, "q=colombe&book=hours"), [])
            self.assertEqual(self.ids(server, "q=f1v&book=hours"), ["hours/f1v"])
            self.assertEqual(self.ids(server, "sort=date"), ["hours", "map 9", "zebra", "map 10"])
            self.assertEqual(self.ids(server, "sort=title"), ["zebra", "hours", "map 9", "map 10"])
            self.assertEqual(self.ids(server, "sort=-title"), ["map 10", "map 9", "hours", "zebra"])
            self.assertEqual(self.ids(server, "sort=name"), ["hours", "map 9", "map 10", "zebra"])
            self.assertEqual(self.ids(server, "sort=-title&book=hours"), ["hours/f2r", "hours/f1v", "hours/f1r"])

    def test_what_changes_is_noticed_by_builds_and_servers(self):
        self.build_loose()
        with Server(self.library) as server:
            self.assertEqual(self.ids(server, "q=colombe"), [])
            self.write(title="Zodiac", creator="Colombe")
            self.build_loose()
            self.until(lambda: self.ids(server, "q=colombe") == ["hours"])
            self.assertEqual(self.ids(server, "sort=title"), ["zebra", "map 9", "map 10", "hours"])
            # A page that comes to be the cover.
            photo(self.scans / "f0.jpg", 60, 80, left=400)
            self.build_loose()
            self.until(lambda: json.loads(server.get("/api/images/hours").body)["cover"] == "hours/f0")
            self.until(lambda: self.ids(server, "q=colombe") == ["hours"])
            # What a person writes into the library.
            (self.library / "hours/book.json").write_text(json.dumps({"title": "Astronomy"}))
            self.until(lambda: self.ids(server, "q=astronomy") == ["hours"])
            self.assertEqual(self.ids(server, "q=colombe"), [])
            (self.library / "hours/book.json").unlink()
            self.until(lambda: self.ids(server, "q=astronomy") == [])
        result = run("reindex", self.library)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_source_and_credit_are_those_of_the_first_page_whichever_the_cover_is(self):
        for page, name in (("f1r", "First"), ("f1v", "Second")):
            subprocess.run(["exiftool", "-q", "-overwrite_original", f"-XMP-photoshop:Credit={name} Donor", f"-XMP-photoshop:Source={name} Archive",
                            self.scans / f"{page}.jpg"], check=True)
        for cover in ({}, {"cover": "f1v"}):
            self.write(title="Hours", **cover)
            self.build_loose()
            with Server(self.library) as server:
                book = json.loads(server.get("/api/images/hours").body)
                self.assertEqual((book["cover"], book["credit"], book["source"]), (f"hours/{cover.get('cover', 'f1r')}", "First Donor", "First Archive"))
                [listed] = json.loads(server.get("/api/images?fields=credit&q=hours").body)["images"]
                self.assertEqual(listed["credit"], "First Donor")

    def test_the_cover_is_chosen(self):
        for chosen, page in (("f2r", "f2r"), (2, "f1v"), ("2", "f1v"), ("nothing", "f1r"), (99, "f1r")):
            with self.subTest(chosen):
                self.write(title="Hours", cover=chosen)
                self.build_loose()
                with Server(self.library) as server:
                    image = json.loads(server.get("/api/images/hours").body)
                    self.assertEqual((image["cover"], image["pages"]), (f"hours/{page}", 3))
                    [item] = [image for image in json.loads(server.get("/api/images").body)["images"] if image["id"] == "hours"]
                    self.assertEqual((item["cover"], item["isBook"], item["pages"]), (f"hours/{page}", True, 3))
                    self.assertEqual(self.ids(server, "q=f1"), ["hours"])
                    self.assertEqual(self.ids(server, "book=hours"), ["hours/f1r", "hours/f1v", "hours/f2r"])
                    self.assertIn(f"hours%2F{page}", server.get("/view/hours")["location"])

    def test_misspelt_members_and_dead_references_are_reported_in_one_line(self):
        def reported(**fields):
            self.write(**fields)
            result = run("build", self.base / "scans/hours", "--library", self.library, "--book", "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
            return [line for line in result.stderr.splitlines() if "book.json" in line]
        self.assertEqual(reported(title="x", _note="mine", chapters=[{"title": "a", "page": "f1v"}, {"title": "b", "page": 3}]), [])
        [line] = reported(title="x", author="A", inventory={"title": 1, "a": ["title", {"b": 1}]}, note="mine", creators=["A"])
        for message in ("'author' is unknown and ignored; did you mean 'creator'?", "'inventory' is unknown", "'note' is unknown"):
            self.assertIn(message, line)
        self.assertEqual(line.count("unknown"), 3, line)
        [line] = reported(titel="x", viewingdirection="left-to-right", creators=["A"], chapters=[{"title": "One", "page": "f7r"}])
        for message in ("'titel'", "did you mean 'title'?", "did you mean 'viewingDirection'?", "'One'", "'f7r'"):
            self.assertIn(message, line)
        [line] = reported(cover="f9", chapters=[{"title": str(page), "page": page} for page in (0, 1, 3, 4, -1)])
        for message in ("3 of its chapters", "the first to '0'", "its cover is the page 'f9'"):
            self.assertIn(message, line)
        # All else counts.
        with Server(self.library) as server:
            manifest = json.loads(server.get("/iiif/presentation/3/hours/manifest").body)
            self.assertEqual(len(manifest["structures"]), 2)

    def build_loose(self):
        """The folder a book, the pictures beside it pictures."""
        for source, options in ((self.base / "scans/hours", ("--book",)), (self.base / "scans/*.jpg", ())):
            result = run("build", source, "--library", self.library, *options)
            self.assertEqual(result.returncode, 0, result.stderr)

    @staticmethod
    def until(holds):
        end = time.monotonic() + 20
        while not holds():
            if time.monotonic() > end:
                raise AssertionError("it did not come to that")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
