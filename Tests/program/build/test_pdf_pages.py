"""The resolution of PDF pages: drawings, scans in layers and parts, and pages rounded to whole points. Pixels that are
expected come from pdfimages."""

import io
import json
import subprocess
import unittest
import zipfile
from pathlib import Path

import numpy
from harness import CommandTest, folder, run
from pdf import pdf
from PIL import Image

TEXT = "BT /F 5 Tf 20 40 Td (Words) Tj ET"


def image(pixels: numpy.ndarray, more: str = "") -> bytes:
    """An image of 8-bit gray, uncompressed."""
    rows, columns = pixels.shape
    return (f"<< /Type /XObject /Subtype /Image /Width {columns} /Height {rows} /ColorSpace /DeviceGray /BitsPerComponent 8 "
            f"/Length {pixels.size} {more} >>\nstream\n".encode() + pixels.astype(numpy.uint8).tobytes() + b"\nendstream")


def stencil(columns: int, rows: int) -> bytes:
    """An image mask of vertical lines, one pixel wide."""
    data = bytes([0x55]) * ((columns + 7) // 8 * rows)
    return (f"<< /Type /XObject /Subtype /Image /ImageMask true /Width {columns} /Height {rows} /BitsPerComponent 1 "
            f"/Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream")


def lines(columns: int, rows: int) -> numpy.ndarray:
    """Lines and columns of one pixel each, which no resampling keeps."""
    pixels = numpy.zeros((rows, columns), numpy.uint8)
    pixels[:, ::2] = 255
    pixels[1::3] = 128
    return pixels


def page_pdf(size: tuple[float, float], operators: str, images: list[bytes], more: str = "", trailer: str = "") -> bytes:
    """One page; its operators call the first of the images /I0. Images are numbered from object 6."""
    names = " ".join(f"/I{number} {6 + number} 0 R" for number in range(len(images)))
    data = pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents 4 0 R {more} "
                f"/Resources << /Font << /F 5 0 R >> /XObject << {names} >> /Shading << /S << /ShadingType 2 "
                f"/ColorSpace /DeviceGray /Coords [0 0 100 0] /Function << /FunctionType 2 /N 1 /Domain [0 1] >> >> >> "
                f">> >>".encode(),
                f"<< /Length {len(operators)} >>\nstream\n{operators}\nendstream".encode(),
                b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", *images])
    return data.replace(b"trailer\n<< ", f"trailer\n<< {trailer} ".encode())


class PDFPages(CommandTest):
    def setUp(self):
        super().setUp()
        self.source = folder("pdf") / "page.pdf"

    def built(self, data: bytes, *options) -> dict:
        self.source.write_bytes(data)
        self.library = folder("library")
        result = run("build", self.source, "--library", self.library, "--json", "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[0])

    def size(self, data: bytes, *options) -> tuple[int, int]:
        report = self.built(data, *options)
        return report["width"], report["height"]

    def test_images_without_an_area_have_no_resolution(self):
        """Writers draw lines as images of no height. The page is one of vectors, and its build ends."""
        for matrix in ("30 1 0 0 0 0", "0 0 0 0 5 5", "30 0 0 0 10 10", "0 0 0 30 10 10"):
            with self.subTest(matrix):
                page = page_pdf((72, 36), f"9 w 1 1 m 60 30 l S q {matrix} cm /I0 Do Q", [image(lines(40, 30))])
                self.assertEqual(self.size(page), (300, 150))

    def refusal(self, data: bytes) -> str:
        self.source.write_bytes(data)
        result = run("build", self.source, "--library", folder("library"), "--quiet")
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (1, 1), result.stderr)
        return result.stderr

    def images(self, data: bytes) -> list[numpy.ndarray]:
        """As pdfimages extracts them."""
        self.source.write_bytes(data)
        place = folder("images")
        subprocess.run(["pdfimages", "-png", self.source, place / "image"], check=True)
        return [numpy.array(Image.open(path).convert("L")) for path in sorted(place.iterdir())]

    def pixels(self) -> numpy.ndarray:
        """The one tile of full resolution."""
        [archive] = self.library.rglob("*.szi")
        with zipfile.ZipFile(archive) as szi:
            names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))).convert("L"))

    def test_a_drawing_on_a_coarse_picture_is_drawn_at_300_dpi(self):
        size, cover = (288, 432), "q 288 0 0 432 0 0 cm /I0 Do Q"
        for picture in ((1, 1), (1, 2), (96, 144)):
            for drawing in ("10 10 m 200 300 l S", "20 20 30 0 360 re 20 30 m 60 90 120 90 200 20 c f", "/S sh",
                            TEXT, f"2 Tr {TEXT}"):
                with self.subTest(picture=picture, drawing=drawing):
                    data = page_pdf(size, f"{cover} {drawing}", [image(lines(*picture))])
                    self.assertEqual(self.size(data), (1200, 1800))
        # A page of one colour is no scan of one pixel.
        self.assertEqual(self.size(page_pdf(size, cover, [image(lines(1, 1))])), (1200, 1800))

    def test_text_over_a_photograph_is_drawn_at_300_dpi_unless_it_is_invisible(self):
        size, cover = (144, 216), "q 144 0 0 216 0 0 cm /I0 Do Q"
        photograph = [image(lines(320, 480))]
        self.assertEqual(self.size(page_pdf(size, f"{cover} {TEXT}", photograph)), (600, 900))
        self.assertEqual(self.size(page_pdf(size, f"{cover} {TEXT.replace('BT', 'BT 3 Tr')}", photograph)), (320, 480))
        # As are text and rectangles below the scan, and a white page.
        self.assertEqual(
            self.size(page_pdf(size, f"1 g 0 0 144 216 re f 0 g {TEXT} 9 9 99 99 re f {cover}", photograph)), (320, 480))
        # A scan of higher resolution keeps its pixels below a visible stamp.
        self.assertEqual(self.size(page_pdf(size, f"{cover} {TEXT}", [image(lines(800, 1200))])), (800, 1200))

    def test_masks_and_stencils_count_with_their_own_resolution(self):
        size, ink = (72, 108), "q 72 0 0 108 0 0 cm /I1 Do Q"
        cover = "q 72 0 0 108 0 0 cm /I0 Do Q"
        ground, colour = image(lines(75, 112)), numpy.zeros((30, 20))
        tiles = " ".join(f"q 18 0 0 9 {9 + 18 * column} {9 * row} cm /I1 Do Q" for column in range(3) for row in range(10))
        for kind, operators, images in (
                ("mask", ink, [ground, image(colour, "/Mask 8 0 R"), stencil(600, 900)]),
                ("soft mask", ink, [ground, image(colour, "/SMask 8 0 R"), image(lines(600, 900))]),
                ("stencil", ink, [ground, stencil(600, 900)]),
                ("tiles", tiles, [ground, stencil(150, 75)])):
            with self.subTest(kind):
                data = page_pdf(size, f"{cover} {operators}", images)
                self.assertEqual(max(each.shape[::-1] for each in self.images(data)), (600, 900) if kind != "tiles" else (150, 75))
                self.assertEqual(self.size(data), (600, 900))

    def test_strips_and_halves_keep_their_pixels(self):
        scan = lines(240, 180)
        for kind, boxes in (("strips", [(0, 60 * row, 240, 60) for row in range(3)]),
                            ("halves", [(120 * column, 0, 120, 180) for column in range(2)])):
            with self.subTest(kind):
                # 600 dpi.
                operators = " ".join(
                    f"q {wide * .12} 0 0 {high * .12} {left * .12} {(180 - top - high) * .12} cm /I{number} Do Q"
                    for number, (left, top, wide, high) in enumerate(boxes))
                data = page_pdf((28.8, 21.6), operators, [
                    image(scan[top:top + high, left:left + wide]) for left, top, wide, high in boxes])
                extracted = numpy.concatenate(self.images(data), axis=0 if kind == "strips" else 1)
                self.built(data, "--format", "png")
                numpy.testing.assert_array_equal(self.pixels(), extracted)

    def test_a_page_of_whole_points_keeps_every_pixel_of_its_scan(self):
        # 200 dpi of a page of 54.72×79.2 points, and of one a little larger than its picture.
        for page, place in (((55, 79), "55 0 0 79 0 0"), ((55, 80), "54.72 0 0 79.2 0 0"), ((55, 79), "0 79 -55 0 55 0")):
            with self.subTest(place):
                is_turned = place.startswith("0")
                data = page_pdf(page, f"q {place} cm /I0 Do Q", [image(lines(220, 152) if is_turned else lines(152, 220))])
                [scan] = self.images(data)
                report = self.built(data, "--format", "png")
                self.assertEqual((report["width"], report["height"]), (152, 220))
                numpy.testing.assert_array_equal(self.pixels(), numpy.rot90(scan) if is_turned else scan)
        # Fax has other proportions of pixels than of its page: they are made square.
        self.assertEqual(self.size(page_pdf((72, 72), "q 72 0 0 72 0 0 cm /I0 Do Q", [image(lines(204, 98))])), (204, 204))

    def test_pictures_of_more_pixels_than_poppler_draws(self):
        def page(wide: int, high: int, more: str = "") -> bytes:
            size = (wide * .072, high * .072)
            return page_pdf(size, f"q {size[0]} 0 0 {size[1]} 0 0 cm /I0 Do Q {more}", [image(numpy.full((high, wide), 90))])

        for size in ((32_767, 50), (50, 32_767)):
            with self.subTest(size):
                data = page(*size)
                # As cairo draws it, without a word: blank.
                self.source.write_bytes(data)
                subprocess.run(["pdftocairo", "-png", "-r", "200", "-singlefile", self.source, self.source.with_suffix("")], check=True)
                self.assertEqual(numpy.array(Image.open(self.source.with_suffix(".png"))).min(), 255)
                self.assertIn(f"its picture of {size[0]}×{size[1]} pixels cannot be drawn (poppler draws 32766 pixels a side at most): "
                              "extract it, as with 'pdfimages -all FILE NAME'", self.refusal(data))
        # A pixel less is drawn.
        for size in ((32_766, 50), (50, 32_766)):
            with self.subTest(size):
                self.assertEqual(self.size(page(*size), "--format", "png"), size)
                self.assertEqual(set(self.pixels().ravel()), {90})
        # The rest of a page is built.
        self.source.write_bytes(page(32_767, 50, "0 0 1 rg 0 0 30 2 re f"))
        result = run("build", self.source, "--library", folder("library"), "--json", "--quiet")
        report = json.loads(result.stdout)
        self.assertEqual((report["status"], report["damage"], report["reason"]),
                         ("built", "error", "a picture of 32767×50 pixels of the page is missing: poppler draws 32766 pixels a side at most"))

    def test_units_of_a_page(self):
        # ISO 32000-1, table 30: lengths of the page are multiples of 1/72 inch.
        self.assertEqual(self.size(page_pdf((36, 72), TEXT, [], "/UserUnit 2")), (300, 600))
        self.assertEqual(self.size(page_pdf((36, 72), TEXT, [], "/UserUnit 2"), "--dpi", 100), (100, 200))
        report = self.built(page_pdf((36, 72), "q 36 0 0 72 0 0 cm /I0 Do Q", [image(lines(144, 288))], "/UserUnit 2"))
        self.assertEqual((report["width"], report["height"]), (144, 288))
        self.assertIn("drawn at 144.0 dpi, its picture's own", report["steps"])

    def test_bytes_before_the_header(self):
        data = page_pdf((72, 108), "q 72 0 0 108 0 0 cm /I0 Do Q", [image(lines(150, 225))])
        for front in (b"\n", b"HTTP/1.1 200 OK\r\n\r\n", bytes(1000)):
            self.assertEqual(self.size(front + data), (150, 225))

    def test_files_that_cannot_be_read_are_refused_in_a_line(self):
        password = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >> /ID [<00> <00>]".format("5a" * 32)
        encrypted = page_pdf((72, 72), TEXT, [], trailer=password)
        self.assertIn("encrypted with a password", self.refusal(encrypted))
        self.assertIn("Incorrect password", subprocess.run(["pdfinfo", self.source], capture_output=True, text=True).stderr)
        self.assertIn("no pages", self.refusal(pdf([
            b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 0 /Kids [] >>"])))

    def test_the_page_that_cannot_be_read_is_named(self):
        good = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>"
        error = self.refusal(pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 3 /Kids [3 0 R 4 0 R 5 0 R] >>",
                                  good, good, b"(no page)"]))
        self.assertIn("page 3", error)


if __name__ == "__main__":
    unittest.main()
