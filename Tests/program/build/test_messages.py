"""What is printed of files that are broken: one line for each, which says what the file is and what is the matter. What a
decoder says stands behind that, in brackets."""

import re
import subprocess
import unittest
from pathlib import Path

import numpy
import tifffile
from harness import WALLPAPER, CommandTest, folder, run
from pdf import labelled_pdf
from PIL import Image

# The formats by the endings of their files, and what makes one of a.png.
PILLOW = {"jpg": "JPEG", "png": "PNG", "webp": "WebP", "gif": "GIF", "avif": "AVIF", "jp2": "JPEG 2000"}
MAGICK = {"bmp": "BMP", "psd": "PSD", "tga": "TGA", "pcx": "PCX", "sgi": "SGI", "dpx": "DPX", "ico": "ICO", "dds": "DDS",
          "sun": "Sun raster", "cin": "Cineon"}
VIPS = {"tif": "TIFF", "fits": "FITS", "ppm": "PNM", "hdr": "Radiance", "v": "libvips", "jxl": "JPEG XL"}
NAMES = {**PILLOW, **MAGICK, **VIPS, "heic": "HEIF", "exr": "OpenEXR", "svg": "SVG", "pdf": "PDF", "lzw.tif": "TIFF",
         "jpeg.tif": "TIFF", "dcm": "DICOM"}
# Ends of sentences that only the author of a decoder understands.
INNER = re.compile(r"tiff2vips|vips2|jp2kload|magick2vips|libvips gave|bad seek|@ error/|libMagick error")


def broken(data: bytes) -> dict[str, bytes]:
    third, quarter = len(data) // 3, max(8, len(data) // 4)
    return {"head": data[:max(12, len(data) // 10)], "half": data[:len(data) // 2],
            "zeros": data[:third] + bytes(quarter) + data[third + quarter:],
            "header": data[:16] + bytes((37 * each + 11) % 256 for each in range(24)) + data[40:]}


def corpus(place: Path) -> dict[str, bytes]:
    image = Image.open(WALLPAPER).convert("RGB").crop((700, 500, 796, 564))
    image.save(place / "a.png")
    for ending in PILLOW:
        image.save(place / f"a.{ending}")
    for ending in MAGICK:
        small = ["-resize", "32x32"] if ending == "ico" else []
        subprocess.run(["convert", place / "a.png", *small, place / f"a.{ending}"], check=True, capture_output=True)
    for ending in VIPS:
        band = ["extract_band", place / "a.png", place / f"a.{ending}", "0"]
        copy = ["copy", place / "a.png", place / f"a.{ending}"]
        subprocess.run(["vips", *(band if ending == "fits" else copy)], check=True, capture_output=True)
    for ending, compression in (("lzw.tif", "lzw"), ("jpeg.tif", "jpeg")):
        subprocess.run(["vips", "copy", place / "a.png", f"{place / f'a.{ending}'}[compression={compression}]"], check=True)
    subprocess.run(["heif-enc", place / "a.png", "-o", place / "a.heic"], check=True, capture_output=True)
    (place / "a.pdf").write_bytes(labelled_pdf(1))
    (place / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="30" height="20"/></svg>')
    return {path.name[2:]: path.read_bytes() for path in sorted(place.glob("a.*"))}


class Messages(CommandTest):
    def test_each_broken_file_has_a_line_of_its_own(self):
        sources = folder("broken")
        for ending, data in corpus(folder("whole")).items():
            for kind, bytes_ in broken(data).items():
                (sources / f"{kind}-{ending.replace('.', '-')}").mkdir()
                (sources / f"{kind}-{ending.replace('.', '-')}" / f"a.{ending}").write_bytes(bytes_)
        result = run("build", sources, "--library", folder("library"), "--quiet", timeout=300)
        self.assertEqual(result.returncode, 1)
        lines = result.stderr.splitlines()
        self.assertGreater(len(lines), 40)
        for line in lines:
            with self.subTest(line):
                found = re.fullmatch(r"ziggurat: .*/(\w+)-([\w-]+)/a\.([\w.]+): (built, but )?(.+)", line)
                self.assertTrue(found, line)
                name, message = NAMES[found[3]], found[5]
                self.assertRegex(
                    message, rf"^(the {re.escape(name)} file |the {re.escape(name)} |the SVG file |is |holds |has |needs |says |a value in |would take )")
                self.assertNotRegex(message, INNER)
                # What a decoder says is behind what is said of the file.
                self.assertFalse(message.startswith("("))
                self.assertNotRegex(message, r"the (\w+) file .*\(the \1 file ")


    def test_ycbcr_of_other_than_8_bits_is_refused_with_its_tags(self):
        pixels = numpy.zeros((40, 60, 3))
        for kind, bits, format_ in (("uint16", 16, 1), ("float32", 32, 3)):
            source = folder("ycbcr") / "a.tif"
            tifffile.imwrite(source, pixels.astype(kind), photometric="ycbcr", metadata=None)
            result = run("build", source, "--library", folder("library"), "--quiet")
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (1, 1), result.stderr)
            self.assertIn(f"BitsPerSample {bits}, SampleFormat {format_}", result.stderr)
            self.assertIn("PhotometricInterpretation 6", result.stderr)


if __name__ == "__main__":
    unittest.main()
