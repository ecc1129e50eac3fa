"""Formats of microscopes and cameras that are recognized by their content: one line that says what to do.

The first bytes are those of the formats' specifications, or of Bio-Formats' readers.
"""

import struct
from pathlib import Path

import numpy
import tifffile
from harness import folder, run
from one_source import OneSource
from PIL import Image

CONTENTS = {
    "a Zeiss CZI file": b"ZISRAWFILE" + bytes(22),
    "a Nikon ND2 file": b"\xda\xce\xbe\x0a" + bytes(60),
    "a Leica LIF file": struct.pack("<IIBI", 0x70, 100, 0x2A, 40) + "<LMSDataContainerHeader".encode("utf-16-le"),
    "a Philips iSyntax slide": b'<?xml version="1.0"?><DataObject ObjectType="DPUfsImport">' + bytes(60),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(60),
    "a video (MP4)": b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + bytes(60),
    "a video (QuickTime)": b"\0\0\0\x14ftypqt  \0\0\2\0qt  " + bytes(60),
    "a video (Matroska)": b"\x1a\x45\xdf\xa3" + bytes(60),
    "a video (AVI)": b"RIFF\x24\1\0\0AVI LIST" + bytes(60),
    "a video (Windows Media)": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9" + bytes(60),
    "a video (MPEG transport stream)": (b"\x47\x40\0\x10" + bytes(184)) * 8,
}


class UnsupportedFormat(OneSource):
    def test_files_of_any_name_are_recognized_by_content(self):
        for what, content in CONTENTS.items():
            for name in ("file", "file.tif", "file.jpg"):
                source = folder("unread") / name
                source.write_bytes(content)
                line = self.refused(source)
                self.assertIn(f"is {what}", line)
                self.assertRegex(line, "not read here: .*(OME-TIFF|ffmpeg|export it)")

    def test_a_folder_of_zarr_is_passed_over_and_the_rest_is_built(self):
        base = folder("plate")
        (base / "image.zarr/0").mkdir(parents=True)
        (base / "image.zarr/.zgroup").write_text('{"zarr_format": 2}')
        (base / "image.zarr/0/.zarray").write_text("{}")
        (base / "image.zarr/0/0.0.png").write_bytes(b"no picture")
        (base / "v3.zarr").mkdir()
        (base / "v3.zarr/zarr.json").write_text("{}")
        Image.new("RGB", (20, 20)).save(base / "photo.png")
        result = run("build", base, "--library", folder("library"), "--verbose")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("image.zarr", "v3.zarr"):
            self.assertRegex(result.stderr, rf"(?m)^.*{base}/{name}.*a Zarr folder, which is not read here: convert")
        self.assertNotIn("0.0.png", result.stderr)
        self.assertIn("is a Zarr folder", self.refused(base / "v3.zarr"))

    def test_slides_whose_tiff_is_not_the_slide(self):
        gray = numpy.zeros((40, 50), numpy.uint8)
        overview = folder("slide") / "overview.vsi"
        tifffile.imwrite(overview, gray, metadata=None)
        self.assertIn("is an Olympus VSI slide", self.refused(overview))
        ventana = folder("slide") / "slide.bif"
        xml = b'<?xml version="1.0"?><Metadata><iScan ScannerModel="VENTANA DP 200"/></Metadata>'
        with tifffile.TiffWriter(ventana, bigtiff=True) as file:
            for text in ("Label Image", "level=0 mag=40 quality=95"):
                file.write(gray, description=text, metadata=None, extratags=[(700, 1, len(xml), xml, False)])
        self.assertIn("is a Ventana BIF slide", self.refused(ventana))

    def test_pictures_of_families_of_formats_are_still_built(self):
        """AVIF and HEIC share their container with MP4, WebP with AVI."""
        base = folder("pictures")
        for name in ("a.webp", "a.avif"):
            Image.new("RGB", (40, 30), (200, 30, 20)).save(base / name)
        result = run("build", base, "--library", folder("library"), "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
