"""The description of a book as a whole, in manifests and the API: book.json, book.xmp, a PDF's own text and outline."""

import json
import os
import subprocess
import unittest
from urllib.parse import quote

from iiif_prezi3 import Manifest

from harness import CommandTest, Server, folder, photo, run
from pdf import labelled_pdf


class Descriptions(CommandTest):
    def setUp(self):
        self.base = folder("described")
        self.scans, self.library = self.base / "scans/hours", self.base / "library"
        self.file = self.scans / "book.json"

    def pages(self, *names):
        for at, name in enumerate(names):
            photo(self.scans / f"{name}.jpg", 60, 80, left=at * 40)

    def build(self, *options, status=0):
        result = run("build", self.base / "scans", "--library", self.library, "--book", *options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def read(self, *paths) -> list[dict]:
        with Server(self.library) as server:
            answers = [server.get(path) for path in paths]
        for answer, path in zip(answers, paths):
            self.assertEqual(answer.status, 200, path)
        return [json.loads(answer.body) for answer in answers]

    def manifest(self, book="hours") -> dict:
        [manifest] = self.read(f"/iiif/presentation/3/{quote(book, safe='')}/manifest")
        Manifest(**manifest)
        return manifest

    def ranges(self, manifest) -> list:
        """Titles with what is in them, canvases by their names."""
        def one(item):
            if item["type"] == "Canvas":
                return item["id"].split("/canvas/")[1]
            return [item["label"]["none"][0], *map(one, item["items"])]
        canvases, ids = {canvas["id"] for canvas in manifest["items"]}, []
        def check(item):
            ids.append(item["id"]) if item["type"] == "Range" else self.assertIn(item["id"], canvases)
            for each in item.get("items", []):
                check(each)
        for item in manifest.get("structures", []):
            check(item)
        self.assertEqual(len(ids), len(set(ids)))
        return [one(item) for item in manifest.get("structures", [])]

    def test_book_json(self):
        self.pages("f1r", "f1v", "f2r", "f2v")
        self.build()
        manifest = self.manifest()
        self.assertEqual((manifest["label"], manifest["behavior"]), ({"none": ["hours"]}, ["paged"]))
        self.assertEqual({"viewingDirection", "structures"} & set(manifest), set())
        self.file.write_text(json.dumps({
            "title": {"en": "Book of Hours", "fr": "Livre d'heures"}, "creators": ["Boucicaut Master", "A workshop"], "date": "1410",
            "description": "For the use of Rome.", "license": "https://creativecommons.org/publicdomain/mark/1.0/",
            "viewingDirection": "right-to-left", "behavior": "individuals", "shelf": {"what": ["nobody", "knows"]},
            "chapters": [{"title": "Calendar", "page": "f1r"}, {"title": "March", "page": "f1v", "level": 1}, {"title": "Psalms", "page": 3}]}))
        reported = [json.loads(line)["status"] for line in self.build("--json").stdout.splitlines()]
        self.assertEqual(reported, ["unchanged"] * 4, "a word builds nothing again")
        manifest, item, listing, collection, page = self.read(
            "/iiif/presentation/3/hours/manifest", "/api/images/hours", "/api/images", "/iiif/presentation/3/collection",
            "/api/images/hours%2Ff1v")
        Manifest(**manifest)
        self.assertEqual(manifest["label"], {"en": ["Book of Hours"], "fr": ["Livre d'heures"]})
        self.assertEqual(manifest["summary"], {"none": ["For the use of Rome."]})
        self.assertEqual((manifest["behavior"], manifest["viewingDirection"]), (["individuals"], "right-to-left"))
        self.assertIn({"label": {"en": ["Creator"]}, "value": {"none": ["Boucicaut Master", "A workshop"]}}, manifest["metadata"])
        self.assertEqual(manifest["rights"], "http://creativecommons.org/publicdomain/mark/1.0/")
        self.assertEqual(self.ranges(manifest), [["Calendar", "f1r", ["March", "f1v"]], ["Psalms", "f2r", "f2v"]])
        self.assertEqual((item["title"], item["titles"]["fr"], item["creators"]), ("Book of Hours", "Livre d'heures", ["Boucicaut Master", "A workshop"]))
        self.assertEqual((page["bookTitle"], page["label"]), ("Book of Hours", "f1v"))
        self.assertEqual((page["viewingDirection"], item["viewingDirection"]), ("right-to-left", "right-to-left"))
        self.assertEqual([(image["title"], image["pages"]) for image in listing["images"]], [("Book of Hours", 4)])
        self.assertEqual(collection["items"][0]["label"], {"none": ["Book of Hours"]})
        self.file.unlink()
        self.build()
        self.assertEqual(self.manifest()["label"], {"none": ["hours"]})
        self.assertFalse((self.library / "hours/book.json").exists())

    def test_what_a_person_wrote_into_the_library_stays(self):
        self.pages("f1r")
        self.build()
        own = self.library / "hours/book.json"
        own.write_text('{"title": "Mine"}')
        self.assertEqual(self.manifest()["label"], {"none": ["Mine"]})
        self.file.write_text('{"title": "Theirs"}')
        self.build()
        self.assertEqual(own.read_text(), '{"title": "Mine"}')
        for content in ("", "[]", "{", '{"title": 1}', '{"behavior": "upside-down"}'):
            own.write_text(content)
            self.assertEqual(self.manifest()["label"], {"none": ["hours"]}, content)
        # No link leads out of the library.
        (self.base / "outside.json").write_text('{"title": "Secret"}')
        own.unlink()
        own.symlink_to(self.base / "outside.json")
        self.assertEqual(self.manifest()["label"], {"none": ["hours"]})

    def test_book_xmp(self):
        self.pages("f1r")
        subprocess.run(["exiftool", "-q", "-XMP-dc:Title=Stundenbuch", "-XMP-dc:Creator=Meister", "-o", self.scans / "book.xmp"], check=True)
        self.build()
        manifest = self.manifest()
        self.assertEqual(manifest["label"], {"none": ["Stundenbuch"]})
        self.assertEqual(manifest["metadata"], [{"label": {"en": ["Creator"]}, "value": {"none": ["Meister"]}}])

    def test_folders_of_a_described_book_are_its_parts(self):
        self.pages("1 front/f1r", "1 front/f1v", "2 months/january/f2r", "2 months/january/f10r", "2 months/march/f11r", "a cover")
        self.file.write_text("{}")
        self.build()
        manifest = self.manifest()
        self.assertEqual([canvas["label"]["none"][0] for canvas in manifest["items"]], ["f1r", "f1v", "f2r", "f10r", "f11r", "a cover"])
        self.assertEqual(self.ranges(manifest), [
            ["1 front", "1%20front%2Ff1r", "1%20front%2Ff1v"],
            ["2 months", ["january", "2%20months%2Fjanuary%2Ff2r", "2%20months%2Fjanuary%2Ff10r"], ["march", "2%20months%2Fmarch%2Ff11r"]]])
        [listing, pages] = self.read("/api/images", "/api/images?book=hours")
        self.assertEqual([(image["id"], image["pages"]) for image in listing["images"]], [("hours", 6)])
        self.assertEqual([page["label"] for page in pages["images"]], ["f1r", "f1v", "f2r", "f10r", "f11r", "a cover"])

    def test_an_invalid_description_is_reported_in_one_line_and_stops_nothing(self):
        self.pages("f1r", "f2r")
        for content, message in {
            "": "is not valid JSON (it ends too early, at line 1, column 1)", "[1]": "is not a JSON object",
            '{"title": ["x", 1]}': "has a 'title", '{"date": "1410",\n "creators": 7}': "has a 'creators' of a wrong type (line 2)",
            '{\n  "title": "é",\n  "date" "1410"\n}': "is not valid JSON (line 3, column 10: ", '{"title": "x"\n}}': "(line 2, column 2: ",
            '{"behavior": "upside-down"}': "it takes paged, continuous, individuals, unordered", '{"behavior": ["paged", "unordered"]}': "exclude each other",
            '{"viewingDirection": "inwards"}': "it takes left-to-right", '{"license": "javascript:alert(1)"}': "which is not a URL",
            '{"title": {"<b>": "x"}}': "which is not a language tag", '{"chapters": [{"title": "x", "page": 1, "level": 99}]}': "of a level that is not 0 to 7",
            '{"chapters": [%s]}' % ",".join(['{"title": "x", "page": 1}'] * 2001): "more than 2000 chapters",
            '{"creators": [%s]}' % ",".join(['"x"'] * 101): "more than 100", "[" * 100_000: " levels", '{"title": "\\ud800"}': "has a 'title' of a wrong type (line 1)",
        }.items():
            with self.subTest(content[:60]):
                self.file.write_text(content)
                reported = self.build("--quiet", status=1).stderr.splitlines()
                self.assertEqual([message in line for line in reported if "book.json" in line], [True], reported)
        self.file.write_bytes('{\n "title": "Glück für Éva"\n}'.encode("latin-1"))
        self.assertIn("is not encoded in UTF-8 (line 2, column 14)", self.build(status=1).stderr)
        with open(self.file, "wb") as file:
            file.write(b'{"title": "')
            os.truncate(file.fileno(), 100 << 20)
        self.assertIn("has more than 2 MB", self.build(status=1).stderr)
        self.assertEqual(self.manifest()["label"], {"none": ["hours"]})
        self.file.unlink()
        os.mkfifo(self.file)
        self.assertIn("is not a file that can be read", self.build(status=1).stderr)
        self.file.unlink()
        self.file.symlink_to("/dev/zero")
        self.assertIn("book.json is a link that leads out of its folder", self.build().stderr)

    def test_a_description_goes_to_the_trash_with_the_last_page(self):
        headers = {"Authorization": "Bearer a-token-for-these-tests", "Content_Length": "0"}
        for how in ("prune", "DELETE"):
            for is_edited in (True, False):
                with self.subTest(how, is_edited=is_edited):
                    self.setUp()
                    self.pages("f1", "f2")
                    self.file.write_text('{"title": "Diary"}')
                    self.build("--quiet")
                    kept = self.library / "hours/book.json"
                    if is_edited:
                        kept.write_text(kept.read_text().replace("Diary", "Edited diary"))
                    before = kept.read_bytes()
                    (self.base / "scans/other").mkdir()
                    photo(self.base / "scans/other/p.jpg", 20, 20)
                    (self.base / "token").write_text("a-token-for-these-tests\n")
                    (self.base / "token").chmod(0o600)
                    with Server(self.library, "--writable", "--token-file", self.base / "token") as server:
                        if how == "prune":
                            for path in (*self.scans.glob("*.jpg"), self.file):
                                path.unlink()
                            self.build("--prune=all", "--quiet")
                        else:
                            self.assertEqual(server.get("/api/images/hours%2Ff1", "DELETE", **headers).status, 200)
                            self.assertEqual(kept.read_bytes(), before, "there is a page yet")
                            self.assertEqual(server.get("/api/images/hours%2Ff2", "DELETE", **headers).status, 200)
                        self.assertFalse(kept.exists())
                        [trashed] = (self.library / ".ziggurat-trash").rglob("book.json")
                        self.assertEqual(trashed.read_bytes(), before)
                        # The first page comes back with the description that went with the last one.
                        items = json.loads(server.get("/api/trash", **headers).body)["items"]
                        for item in reversed(items):
                            self.assertEqual(server.get(f"/api/trash/{item['id']}/restore", "POST", **headers).status, 200)
                            self.assertEqual(kept.read_bytes(), before)
                        self.assertEqual(list((self.library / ".ziggurat-trash").rglob("book.json")), [])
                    self.pages("f1", "f2")
                    self.file.write_text('{"title": "Diary"}')
                    self.build("--quiet")
                    self.assertEqual(kept.read_bytes(), before)
                    # The next book of that name has its own description, also if the old one is restored.
                    for path in (*self.scans.glob("*.jpg"), self.file):
                        path.unlink()
                    self.build("--prune=all", "--quiet")
                    self.assertFalse(kept.exists())
                    self.pages("g1")
                    self.file.write_text('{"title": "Cookery book"}')
                    self.build("--quiet")
                    self.assertEqual(json.loads(kept.read_text())["title"], "Cookery book")
                    with Server(self.library, "--writable", "--token-file", self.base / "token") as server:
                        [item] = json.loads(server.get("/api/trash", **headers).body)["items"]
                        self.assertEqual(server.get(f"/api/trash/{item['id']}/restore", "POST", **headers).status, 200)
                        self.assertEqual(json.loads(server.get("/api/images/hours").body)["title"], "Cookery book")
                    self.assertEqual(json.loads(kept.read_text())["title"], "Cookery book")
                    self.assertEqual([path.read_bytes() for path in (self.library / ".ziggurat-trash").rglob("book.json")], [before])

    def test_markup_and_odd_characters_are_text(self):
        self.pages("<b>", "\u202ef1\u0301")
        self.file.write_text(json.dumps({"title": "<script>alert(1)</script>", "chapters": [{"title": "a\u0000b\nc", "page": "<b>"}]}))
        self.build()
        manifest = self.manifest()
        self.assertEqual(manifest["label"], {"none": ["<script>alert(1)</script> "]})
        self.assertEqual([canvas["label"]["none"][0] for canvas in manifest["items"]], ["<b> ", "\u202ef1\u0301"])
        self.assertEqual(self.ranges(manifest), [["a b c", "%3Cb%3E", "%E2%80%AEf1%CC%81"]])


class Outlines(Descriptions):
    """Of PDFs (ISO 32000-1, section 12.3.3)."""

    test_book_json = test_what_a_person_wrote_into_the_library_stays = test_book_xmp = None
    test_a_description_goes_to_the_trash_with_the_last_page = None
    test_folders_of_a_described_book_are_its_parts = test_markup_and_odd_characters_are_text = None
    test_an_invalid_description_is_reported_in_one_line_and_stops_nothing = None

    def pdf(self, items: list[str], count=4, first=9) -> dict:
        """- items: from object 9 on; the outline's root is 8."""
        assert first == 5 + count
        info = "<< /Title (Annals \\(I\\)) /Author (A. Author) >>"
        data = labelled_pdf(count, f"/Outlines {4 + count} 0 R", (info, f"<< /First {first} 0 R /Last {first} 0 R >>", *items))
        data = data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Info %d 0 R" % (3 + count))
        path = self.base / "annals.pdf"
        path.write_bytes(data)
        result = run("build", path, "--library", self.library, "--dpi", "20", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.manifest("annals")

    @staticmethod
    def item(title: str, page: int, links: str) -> str:
        return f"<< /Title ({title}) /Parent 8 0 R /Dest [{2 + page} 0 R /Fit] {links} >>"

    def test_title_author_and_outline(self):
        manifest = self.pdf([self.item("Preface", 1, "/Next 10 0 R"),
                             self.item("Book I", 2, "/First 11 0 R /Last 12 0 R /Count 2"),
                             self.item("One", 2, "/Next 12 0 R"), self.item("Two", 4, "")])
        self.assertEqual(manifest["label"], {"none": ["Annals (I)"]})
        self.assertIn({"label": {"en": ["Creator"]}, "value": {"none": ["A. Author"]}}, manifest["metadata"])
        self.assertEqual(self.ranges(manifest), [["Preface", "1"], ["Book I", ["One", "2", "3"], ["Two", "4"]]])
        self.assertEqual([canvas["label"]["none"][0] for canvas in manifest["items"]], ["i", "ii", "iii", "A-1"])
        [item] = self.read("/api/images/annals")
        self.assertEqual((item["title"], item["pages"], item["isBook"]), ("Annals (I)", 4, True))

    def test_an_outline_that_leads_in_circles_or_has_no_end_is_cut(self):
        for items in (
            [self.item("Itself", 1, "/Next 9 0 R /First 9 0 R /Last 9 0 R")],
            [self.item("There", 1, "/Next 10 0 R /First 10 0 R /Last 10 0 R"), self.item("Back", 2, "/Next 9 0 R /First 9 0 R /Last 9 0 R")],
            [self.item("No page", 99, "")],
            # Each as far as from the first page to the last, and within each other.
            [self.item(f"Part {n}", 1 + n % 2 * 3, f"/Next {10 + n} 0 R" + (f" /First {10 + n} 0 R /Last {10 + n} 0 R" if n < 20 else ""))
             for n in range(6000)],
        ):
            manifest = self.pdf(items)
            self.ranges(manifest)
            self.assertEqual(len(manifest["items"]), 4)
            self.assertLess(len(json.dumps(manifest)), 4_000_000)


if __name__ == "__main__":
    unittest.main()
