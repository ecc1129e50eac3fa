"""PDFs as files: with a password, damaged, cut off, and as pages of books. What is expected comes from qpdf, libvips' own
loader and pdfinfo."""

import io
import json
import subprocess
import unittest
import zipfile
from pathlib import Path

import numpy
from harness import CommandTest, folder, photo, run
from pdf import labelled_pdf, pdf
from PIL import Image

SECRET = "Zügel-9 käse"
STREAM = (b"0.9 0.2 0.1 rg 10 10 90 60 re f 0 0 1 RG 3 w 20 100 m 60 20 140 160 180 40 c S "
          b"BT /F 30 Tf 15 150 Td (Words) Tj ET")


def drawing(*streams: bytes, size: tuple[int, int] = (200, 180), more: bytes = b"") -> bytes:
    """A page for each of these streams of operators."""
    kids = " ".join(f"{4 + 2 * page} 0 R" for page in range(len(streams)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {len(streams)} /Kids [{kids}] >>".encode(),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for page, stream in enumerate(streams):
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /Font << /F 3 0 R >> >> >>"
                       % (*size, 5 + 2 * page))
        objects.append(b"<< /Length %d %s >>\nstream\n" % (len(stream), more) + stream + b"\nendstream")
    return pdf(objects)


class PDFFiles(CommandTest):
    def setUp(self):
        super().setUp()
        self.base = folder("pdf-files")
        self.library = self.base / "library"

    def source(self, data: bytes, name: str = "page.pdf") -> Path:
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def reports(self, *arguments, code: int = 0) -> dict[str, dict]:
        result = run("build", *arguments, "--library", self.library, "--json", "--quiet")
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        return {line["id"]: line for line in lines if "id" in line}

    def pixels(self, name: str = "page") -> numpy.ndarray:
        """The one tile of full resolution."""
        with zipfile.ZipFile(self.library / f"{name}.szi") as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))).convert("RGB"))

    # Drawing

    def test_pages_are_drawn_as_libvips_draws_them(self):
        source = self.source(drawing(STREAM, b"1 0 0 rg 5 5 30 30 re f", b"", size=(91, 77)))
        self.reports(source, "--format", "png", "--dpi", "151", "--tile-size", "512")
        for page in range(3):
            expected = self.base / f"{page}.png"
            subprocess.run(["vips", "flatten", f"{source}[page={page},scale={151 / 72!r}]", expected, "--background", "255"], check=True)
            numpy.testing.assert_array_equal(self.pixels(f"page/{page + 1}"), numpy.array(Image.open(expected)))

    # Passwords

    def test_a_password_opens_a_pdf_and_is_kept_nowhere(self):
        secret, wrong = self.base / "secret", self.base / "wrong"
        secret.write_text(SECRET + "\n")
        wrong.write_text("another one\n")
        for options in (["256"], ["128", "--use-aes=y"], ["40"]) if self.qpdf_writes_weak() else (["256"],):
            weak = [] if options == ["256"] else ["--allow-weak-crypto"]
            with self.subTest(options=options):
                plain, source = self.source(drawing(STREAM), "plain.pdf"), self.base / "page.pdf"
                subprocess.run(["qpdf", *weak, f"--password-mode={'unicode' if options == ['256'] else 'bytes'}", "--encrypt",
                                SECRET if options == ["256"] else SECRET.encode("latin-1"), "owner", *options, "--", plain, source],
                               check=True)
                result = run("build", source, "--library", self.library, "--quiet")
                self.assertEqual(result.returncode, 1)
                self.assertIn("encrypted with a password: give it with --pdf-password-file FILE", result.stderr)
                result = run("build", source, "--library", self.library, "--quiet", "--pdf-password-file", wrong)
                self.assertEqual((result.returncode, len(result.stderr.splitlines())), (1, 1), result.stderr)
                self.assertIn("the password of --pdf-password-file does not open it", result.stderr)
                # A failure that is known is tried again with another password.
                self.reports(source, "--pdf-password-file", secret, "--format", "png", "--force")
                found = self.pixels()
                self.reports(plain, "--format", "png")
                numpy.testing.assert_array_equal(found, self.pixels("plain"))
                inspected = run("inspect", source, "--json", environment={"ZIGGURAT_PDF_PASSWORD_FILE": str(secret)})
                self.assertEqual((inspected.returncode, json.loads(inspected.stdout)["pages"]), (0, 1), inspected.stderr)
        for path in self.library.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                self.assertNotIn(SECRET.encode(), data, path)
                self.assertNotIn(SECRET.encode("latin-1"), data, path)

    @staticmethod
    def qpdf_writes_weak() -> bool:
        return subprocess.run(["qpdf", "--help=--allow-weak-crypto"], capture_output=True).returncode == 0

    def test_a_known_failure_is_tried_again_with_a_password(self):
        source = self.source(drawing(STREAM), "plain.pdf")
        subprocess.run(["qpdf", "--encrypt", "right", "owner", "256", "--", source, self.base / "page.pdf"], check=True)
        source.unlink()
        (self.base / "secret").write_text("right\n")
        for arguments in ([], ["--pdf-password-file", self.base / "wrong"], ["--pdf-password-file", self.base / "secret"]):
            (self.base / "wrong").write_text("left\n")
            result = run("build", self.base / "page.pdf", "--library", self.library, "--quiet", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_file_without_a_password_is_refused(self):
        empty = self.base / "empty"
        empty.write_text("\n")
        for path in (empty, self.base / "none"):
            result = run("build", self.source(drawing(STREAM)), "--library", self.library, "--pdf-password-file", path)
            self.assertEqual(result.returncode, 2, result.stderr)

    # Damage

    def test_a_damaged_content_stream_is_reported(self):
        source = self.source(drawing(STREAM))
        whole = source.read_bytes()
        compressed = self.base / "compressed.pdf"
        subprocess.run(["qpdf", "--compress-streams=y", "--object-streams=disable", source, compressed], check=True)
        data = compressed.read_bytes()
        at = data.index(b"stream\n") + len(b"stream\n")
        broken = {"operators": whole.replace(b" re f", b" zz f"),
                  "deflate": data[:at + 2] + b"\xff" * 12 + data[at + 14:]}
        for kind, damaged in broken.items():
            with self.subTest(kind):
                source = self.source(damaged, f"{kind}.pdf")
                [report] = self.reports(source, code=1).values()
                self.assertEqual((report["status"], report["damaged"]), ("built", True), report)
                self.assertIn("the PDF is damaged", report["reason"])
                refused = run("build", source, "--library", folder("none"), "--fail-on", "error", "--quiet")
                self.assertEqual((refused.returncode, "built" in refused.stderr), (1, False), refused.stderr)

    def test_damage_of_one_page_is_not_another_page_s(self):
        self.source(drawing(STREAM, b"1 0 0 rg 5 5 30 30 zz", STREAM))
        reports = self.reports(self.base / "page.pdf", code=1)
        self.assertEqual({name: report.get("damaged", False) for name, report in reports.items()},
                         {"page/1": False, "page/2": True, "page/3": False})

    def test_a_file_that_lost_its_end_is_built_and_reported(self):
        whole = drawing(STREAM, STREAM)
        # Without the place of its table of objects, which pdfinfo rebuilds; nothing of the pages is lost.
        source = self.source(whole[:whole.rindex(b"startxref")])
        info = subprocess.run(["pdfinfo", source], capture_output=True, text=True)
        self.assertIn("Pages:           2", info.stdout)
        reports = self.reports(source)
        self.assertEqual(set(reports), {"page/1", "page/2"})
        for report in reports.values():
            self.assertTrue(report["damaged"])
            self.assertIn("the PDF is cut off", report["reason"])
        refused = run("build", source, "--library", folder("none"), "--fail-on", "truncated", "--quiet")
        self.assertEqual(refused.returncode, 1)
        # Nothing is left, or nothing by which poppler finds the pages.
        for length in (40, whole.rindex(b"trailer")):
            source = self.source(whole[:length], "head.pdf")
            self.assertNotIn("Pages:", subprocess.run(["pdfinfo", source], capture_output=True, text=True).stdout)
            refused = run("build", source, "--library", folder("none"), "--quiet")
            self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (1, 1), refused.stderr)
            self.assertIn("the PDF is cut off, and nothing of it can be read", refused.stderr)

    def test_a_table_of_objects_that_is_wrong_is_no_damage_of_pages(self):
        whole = drawing(STREAM)
        source = self.source(whole.replace(b"startxref\n", b"startxref\n9"))
        [report] = self.reports(source).values()
        self.assertIn("the PDF is damaged beside its pages", report["reason"])
        found = self.pixels()
        self.reports(self.source(whole, "whole.pdf"))
        numpy.testing.assert_array_equal(found, self.pixels("whole"))

    # Books

    def test_a_pdf_of_one_page_is_a_page_of_its_folder_s_book(self):
        scans = self.base / "scans/codex"
        for number in (1, 3):
            photo(scans / f"p{number}.jpg", 60, 80, left=number * 40)
        self.source(drawing(STREAM), "scans/codex/p2.pdf")
        self.source(labelled_pdf(3), "scans/codex/plates.pdf")
        self.assertIn("Pages:           1", subprocess.run(["pdfinfo", scans / "p2.pdf"], capture_output=True, text=True).stdout)
        result = run("build", self.base / "scans", "--library", self.library, "--book", "--json", "--dpi", "40")
        self.assertEqual(result.returncode, 0, result.stderr)
        ids = {line["id"] for line in map(json.loads, result.stdout.splitlines()) if "id" in line}
        self.assertEqual(ids, {"codex/p1", "codex/p2", "codex/p3", *(f"codex/plates/{page}" for page in (1, 2, 3))})
        self.assertIn("has a file of several pages", result.stderr.replace("\n", " "))
        folios = {}
        for archive in self.library.rglob("*.szi"):
            with zipfile.ZipFile(archive) as szi:
                [name] = [name for name in szi.namelist() if name.endswith("build.json")]
                folios[archive.relative_to(self.library).with_suffix("").as_posix()] = json.loads(szi.read(name)).get("folio")
        self.assertEqual({name: folio for name, folio in folios.items() if folio},
                         {"codex/p1": "p1", "codex/p2": "p2", "codex/p3": "p3"})
        again = run("build", self.base / "scans", "--library", self.library, "--book", "--json", "--dpi", "40", "--verbose")
        reported = [json.loads(line) for line in again.stdout.splitlines()]
        self.assertEqual({line["status"] for line in reported if "id" in line}, {"unchanged"}, again.stdout)

    def test_pages_that_capitals_put_in_another_order_are_reported(self):
        for number, name in enumerate(("P1", "p2", "P3")):
            photo(self.base / f"scans/codex/{name}.jpg", 60, 80, left=number * 40)
        result = run("build", self.base / "scans", "--library", self.library, "--book")
        self.assertIn("has the page 'P3' before the page 'p2'", result.stderr)


if __name__ == "__main__":
    unittest.main()
