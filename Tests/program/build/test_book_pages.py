"""Pages of a book that is a folder: called by their files' names, in the order in which one counts."""

import json
import subprocess
import unittest
from urllib.parse import quote

from harness import CommandTest, Server, folder, photo, run
from pdf import labelled_pdf
from szi import archives


class BookPages(CommandTest):
    def setUp(self):
        self.base = folder("book-pages")
        self.scans, self.library = self.base / "scans/codex", self.base / "library"
        for at, name in enumerate(("f001r", "f001v", "f002r", "f002v", "f010r", "cover back", "ünï %?#é")):
            photo(self.scans / f"{name}.jpg", 60, 80, left=at * 40)

    def build(self, *options) -> dict[str, str]:
        result = run("build", self.base / "scans", "--library", self.library, "--book", "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        told = [json.loads(line) for line in result.stdout.splitlines()]
        return {one["id"]: one["status"] for one in told if "id" in one}

    def manifest(self, book="codex") -> dict:
        with Server(self.library) as server:
            return json.loads(server.get(f"/iiif/presentation/3/{quote(book, safe='')}/manifest").body)

    def labels(self) -> list[str]:
        return [canvas["label"]["none"][0] for canvas in self.manifest()["items"]]

    def test_an_inserted_page_moves_no_other_and_builds_one(self):
        names = ["cover back", "f001r", "f001v", "f002r", "f002v", "f010r", "ünï %?#é"]
        self.assertEqual(self.build(), {f"codex/{name}": "built" for name in names})
        self.assertEqual(self.labels(), names)
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in archives(self.library)}
        photo(self.scans / "f001ra.jpg", 60, 80, left=900)
        photo(self.scans / "a first one.jpg", 60, 80, left=800)
        (self.scans / "a first one.jpg").rename(self.scans / "f001bis.jpg")
        told = self.build("--verbose")
        self.assertEqual({id for id, status in told.items() if status == "built"}, {"codex/f001ra", "codex/f001bis"})
        self.assertEqual(set(told.values()), {"built", "unchanged"})
        for path, (bytes, time) in before.items():
            self.assertEqual((path.read_bytes(), path.stat().st_mtime_ns), (bytes, time), path)
        names = ["cover back", "f001bis", "f001r", "f001ra", "f001v", "f002r", "f002v", "f010r", "ünï %?#é"]
        self.assertEqual(self.labels(), names)
        with Server(self.library) as server:
            pages = json.loads(server.get("/api/images?book=codex").body)["images"]
            self.assertEqual([(page["label"], page["page"], page["pages"]) for page in pages],
                             [(name, number, 9) for number, name in enumerate(names, 1)])
            page = json.loads(server.get("/api/images/codex%2Ff002r").body)
            self.assertEqual((page["label"], page["page"], page["book"]), ("f002r", 6, "codex"))

    def test_titles_of_the_pages_are_their_labels(self):
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=The Annunciation", self.scans / "f002v.jpg"], check=True)
        self.build()
        self.assertEqual(self.labels(), ["cover back", "f001r", "f001v", "f002r", "The Annunciation", "f010r", "ünï %?#é"])
        # What all are called is the book's title.
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=Hours", *self.scans.iterdir()], check=True)
        self.assertEqual(set(self.build().values()), {"reworded"})
        self.assertEqual(self.labels(), ["cover back", "f001r", "f001v", "f002r", "f002v", "f010r", "ünï %?#é"])
        self.assertEqual(self.manifest()["label"], {"none": ["Hours"]})

    def test_pages_of_a_pdf_are_called_as_it_calls_them(self):
        pdf = self.base / "preface.pdf"
        pdf.write_bytes(labelled_pdf(3))
        result = run("build", pdf, "--library", self.library, "--dpi", "40")
        self.assertEqual(result.returncode, 0, result.stderr)
        labels = [canvas["label"]["none"][0] for canvas in self.manifest("preface")["items"]]
        self.assertEqual(labels, ["i", "ii", "A-1"])


if __name__ == "__main__":
    unittest.main()
