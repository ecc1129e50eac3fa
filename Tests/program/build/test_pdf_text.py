"""What a PDF says of itself: of one page the image's metadata, of several the book's."""

import json
import subprocess
import unittest

from exiftool import write
from harness import CommandTest, Server, folder, run
from pdf import pdf
from test_source_sidecars import parts

INFO = "<< /Title (Info title) /Author (Ann; Bob) /Subject (About things) /Keywords (alpha, beta) >>"


def document(pages: int, info: str = INFO, catalog: str = "") -> bytes:
    kids = " ".join(f"{4 + number} 0 R" for number in range(pages))
    bodies = [f"<< /Type /Catalog /Pages 2 0 R {catalog} >>", f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>", info,
              *["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 50 70] >>"] * pages]
    return pdf([body.encode() for body in bodies]).replace(b"/Root 1 0 R", b"/Root 1 0 R /Info 3 0 R")


class PDFText(CommandTest):
    def setUp(self):
        self.base = folder("pdf words")
        self.library = self.base / "library"

    def build(self, name: str, data: bytes, *tags: str):
        source = self.base / name
        source.write_bytes(data)
        if tags:
            write(source, *tags)
        result = run("build", source, "--library", self.library, "--dpi", "50")
        self.assertEqual(result.returncode, 0, result.stderr)
        return source

    def test_of_one_page_in_utf_16(self):
        def text(value: str) -> str:
            return f"<feff{value.encode('utf-16-be').hex()}>"

        info = f"<< /Title {text('Plain title')} /Author {text('Ænne')} >>"
        self.build("wide.pdf", document(1, info))
        metadata = parts(self.library / "wide.szi")[0]
        self.assertEqual((metadata["title"], metadata["creator"]), ("Plain title", "Ænne"))

    def test_of_one_page(self):
        source = self.build("one.pdf", document(1))
        metadata = parts(self.library / "one.szi")[0]
        self.assertEqual((metadata["title"], metadata["caption"], metadata["creators"], metadata["keywords"]),
                         ("Info title", "About things", ["Ann", "Bob"], ["alpha", "beta"]))
        # As pdfinfo reads it.
        report = subprocess.run(["pdfinfo", source], capture_output=True, text=True, check=True).stdout
        self.assertRegex(report, r"Title: +Info title\nSubject: +About things\nKeywords: +alpha, beta\nAuthor: +Ann; Bob")
        self.assertEqual(json.loads(run("inspect", source, "--json").stdout)["title"], "Info title")

    def test_its_xmp_stands_before_its_fields(self):
        self.build("xmp.pdf", document(1), "-XMP-dc:Title=XMP title", "-XMP-dc:Rights=CC0", "-XMP-dc:Description=described",
                   "-XMP-dc:Creator=Cleo", "-XMP-dc:Subject=k1", "-XMP-dc:Subject=k2", "-XMP-xmp:CreateDate=2024:05:01 10:20:30",
                   "-XMP-cc:License=https://example.org/by", "-XMP-dc:Date=1890")
        metadata = parts(self.library / "xmp.szi")[0]
        self.assertEqual({name: metadata[name] for name in ("title", "rights", "caption", "creator", "keywords", "license", "date")},
                         {"title": "XMP title", "rights": "CC0", "caption": "described", "creator": "Cleo",
                          "keywords": ["k1", "k2"], "license": "https://example.org/by", "date": "1890"})
        self.build("dated.pdf", document(1), "-XMP-xmp:CreateDate=2024:05:01 10:20:30")
        self.assertNotIn("date", parts(self.library / "dated.szi")[0])

    def test_of_several_pages_it_is_the_books(self):
        self.build("book.pdf", document(3, catalog="/ViewerPreferences << /Direction /R2L >>"),
                   "-XMP-dc:Rights=CC0", "-XMP-xmpRights:WebStatement=http://creativecommons.org/licenses/by/4.0/")
        self.assertEqual(parts(self.library / "book/1.szi")[0], {})
        with Server(self.library) as server:
            manifest = json.loads(server.get("/iiif/presentation/3/book/manifest").body)
        self.assertEqual(manifest["label"], {"none": ["Info title"]})
        self.assertEqual(manifest["viewingDirection"], "right-to-left")
        self.assertEqual(manifest["rights"], "http://creativecommons.org/licenses/by/4.0/")
        text = json.dumps(manifest)
        for word in ("About things", "Ann", "Bob", "alpha", "CC0"):
            self.assertIn(f'"{word}"', text)
        self.assertNotIn("Ann; Bob", text)

    def test_patients_are_not_named(self):
        self.build("slide.pdf", document(1, INFO.replace("About things", "PatientName: ROE^JANE")))
        self.assertNotIn("ROE", json.dumps(parts(self.library / "slide.szi")[0]))

    def test_a_pdf_among_pages_is_reported(self):
        place = folder("mixed") / "codex"
        place.mkdir()
        subprocess.run(["vips", "black", place / "f1.png", "8", "8"], check=True)
        (place / "note.pdf").write_bytes(document(2))
        result = run("build", place, "--library", self.library, "--book", "--dpi", "50")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "codex: has a file of several pages, or not readable, among the pages of a book; each is a book by itself")


if __name__ == "__main__":
    unittest.main()
