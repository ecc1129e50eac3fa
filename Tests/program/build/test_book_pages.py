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
        report = [json.loads(line) for line in result.stdout.splitlines()]
        return {one["id"]: one["status"] for one in report if "id" in one}

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
        report = self.build("--verbose")
        self.assertEqual({id for id, status in report.items() if status == "built"}, {"codex/f001ra", "codex/f001bis"})
        self.assertEqual(set(report.values()), {"built", "unchanged"})
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
        self.assertEqual(set(self.build().values()), {"metadata-updated"})
        self.assertEqual(self.labels(), ["cover back", "f001r", "f001v", "f002r", "f002v", "f010r", "ünï %?#é"])
        self.assertEqual(self.manifest()["label"], {"none": ["Hours"]})

    def test_pages_of_a_pdf_are_called_as_it_calls_them(self):
        pdf = self.base / "preface.pdf"
        pdf.write_bytes(labelled_pdf(3))
        result = run("build", pdf, "--library", self.library, "--dpi", "40")
        self.assertEqual(result.returncode, 0, result.stderr)
        labels = [canvas["label"]["none"][0] for canvas in self.manifest("preface")["items"]]
        self.assertEqual(labels, ["i", "ii", "A-1"])

    def test_a_tiff_of_several_pages_among_pages_is_a_book_by_itself(self):
        several = self.tiff(self.base / "scans/codex/letters.tif", 3)
        self.tiff(self.base / "scans/codex/one.tif", 1)
        self.assertEqual({id for id in self.build() if "letters" in id or "one" in id},
                         {"codex/letters/1", "codex/letters/2", "codex/letters/3", "codex/one"})
        self.assertEqual(len(self.manifest("codex/letters")["items"]), 3)
        # The same with its folder to itself.
        several.rename(self.base / "letters.tif")
        result = run("build", self.base / "letters.tif", "--library", folder("alone"), "--book")
        self.assertEqual((result.returncode, result.stderr.splitlines()[-1]), (0, "3 built"))

    def test_a_sidecar_describes_a_file_of_several_pages_beside_their_labels(self):
        source = self.tiff(self.base / "letters.tif", 3)
        self.sidecar(source.with_suffix(".xmp"), "Letter book")
        build = lambda: self.assertEqual(run("build", source, "--library", self.library).returncode, 0)  # noqa: E731
        build()
        self.sidecar(self.library / "letters/3.xmp", "To the abbot")
        manifest = self.manifest("letters")
        self.assertEqual(manifest["label"], {"none": ["Letter book"]})
        self.assertEqual([canvas["label"]["none"][0] for canvas in manifest["items"]], ["1", "2", "To the abbot"])
        source.with_suffix(".xmp").unlink()
        build()
        self.assertEqual(self.manifest("letters")["label"], {"none": ["letters"]})

    def test_an_edited_description_of_a_file_stays(self):
        source = self.tiff(self.base / "letters.tif", 3)
        self.sidecar(source.with_suffix(".xmp"), "Letter book")
        build = lambda: self.assertEqual(run("build", source, "--library", self.library).returncode, 0)  # noqa: E731
        build()
        file = self.library / "letters/book.json"
        edited = {**json.loads(file.read_text()), "chapters": [{"title": "Mills", "page": 2}]}
        # As the build writes it, and as an editor does.
        for separators, indent in ((",", ":"), None), (None, 2):
            file.write_text(json.dumps(edited, separators=separators, indent=indent, sort_keys=True))
            build()
            self.assertEqual(json.loads(file.read_text()), edited)
            self.assertEqual(self.manifest("letters")["structures"][0]["label"], {"none": ["Mills"]})
        # What nobody has edited follows its source, also if a line of it is cut where it is read.
        file.unlink()
        source.with_suffix(".xmp").unlink()
        self.sidecar(source.with_suffix(".xmp"), "Letter book\n" + "x" * 2000)
        build()
        self.assertTrue(file.exists())
        source.with_suffix(".xmp").unlink()
        build()
        self.assertFalse(file.exists())

    def test_the_cover_is_the_thumbnail(self):
        (self.scans / "book.json").write_text('{"title": "Hours", "cover": "f002r"}')
        self.build()
        with Server(self.library) as server:
            for version in (2, 3):
                report = json.loads(server.get(f"/iiif/presentation/{version}/codex/manifest").body)["thumbnail"]
                self.assertIn("codex%2Ff002r", (report[0]["id"] if version == 3 else report["@id"]))
            # Whatever number a description names, as of an archive that somebody else made.
            for cover, page in ((4, "f002r"), (-9223372036854775808, "cover"), (9223372036854775807, "cover"), (0, "cover"), ("-1", "cover")):
                (self.library / "codex/book.json").write_text(json.dumps({"title": "Hours", "cover": cover}))
                answer = server.get("/iiif/presentation/3/codex/manifest")
                self.assertEqual(answer.status, 200, cover)
                self.assertIn(f"codex%2F{page}", json.loads(answer.body)["thumbnail"][0]["id"])

    def tiff(self, path, pages: int):
        subprocess.run(["vips", "black", f"{path.parent / 'pages.v'}", "60", f"{80 * pages}", "--bands", "3"], check=True)
        subprocess.run(["vips", "copy", f"{path.parent / 'pages.v'}", f"{path}[page-height=80]"], check=True)
        (path.parent / "pages.v").unlink()
        return path

    def sidecar(self, path, title: str):
        subprocess.run(["exiftool", "-q", f"-XMP-dc:Title={title}", "-o", path], check=True)


if __name__ == "__main__":
    unittest.main()
