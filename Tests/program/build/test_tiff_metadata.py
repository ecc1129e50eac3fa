"""Metadata in the directories of TIFF files: each page has its own, BigTIFF has the same as TIFF, EXIF says what colours are.

Files are written here; ExifTool reads them, too.
"""

import io
import json
import struct
import subprocess
import zipfile
from pathlib import Path

import numpy
from harness import CommandTest, folder, run
from PIL import Image, ImageCms
from test_source_sidecars import parts

ASCII, SHORT, LONG, UNDEFINED, BYTE, RATIONAL = 2, 3, 4, 7, 1, 5
WIDTH, HEIGHT = 64, 40
ADOBE = Path("/usr/share/color/icc/compatibleWithAdobeRGB1998.icc")

XMP = ('<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
       'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
       'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt>'
       '</dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>')


def iptc(text: str) -> bytes:
    """One dataset of IPTC-IIM: a caption."""
    return b"\x1c\x02\x78" + struct.pack(">H", len(text)) + text.encode()


def tiff(pages: list[dict], order: str = "<", is_big: bool = False, pixels: numpy.ndarray | None = None) -> bytes:
    """A TIFF of pages of one strip. `pages` are further tags, each with its type and value: bytes, numbers, or the tags of a
    directory of its own."""
    pixels = numpy.full((HEIGHT, WIDTH), 90, numpy.uint8) if pixels is None else pixels
    samples = 1 if pixels.ndim == 2 else pixels.shape[2]
    number, room, head = ("Q", 8, "Q") if is_big else ("I", 4, "H")
    data = bytearray((b"II" if order == "<" else b"MM")
                     + (struct.pack(order + "HHHQ", 43, 8, 0, 0) if is_big else struct.pack(order + "HI", 42, 0)))

    def directory(tags: dict, links: bool) -> tuple[int, int]:
        """Where it begins, and where its link to the next one is."""
        packed = []
        for tag, (kind, value) in sorted(tags.items()):
            if isinstance(value, dict):
                value = [directory(value, False)[0]]
            if isinstance(value, bytes):
                count = len(value)
            else:
                count = len(value)
                form = {BYTE: "B", SHORT: "H", LONG: "I", RATIONAL: "II"}[kind]
                value = b"".join(struct.pack(order + form, *(each if kind == RATIONAL else [each])) for each in value)
            if len(value) > room:
                data.extend(bytes(-len(data) % 2))
                place = len(data)
                data.extend(value)
                value = struct.pack(order + number, place)
            packed.append(struct.pack(order + "HH" + number, tag, kind, count) + value.ljust(room, b"\0"))
        data.extend(bytes(-len(data) % 2))
        start = len(data)
        data.extend(struct.pack(order + head, len(packed)) + b"".join(packed) + bytes(room))
        return start, len(data) - room

    link = 8 if is_big else 4
    for more in pages:
        place = len(data)
        data += pixels.tobytes()
        start, after = directory({
            256: (LONG, [WIDTH]), 257: (LONG, [HEIGHT]), 258: (SHORT, [8] * samples), 259: (SHORT, [1]),
            262: (SHORT, [2 if samples == 3 else 1]), 273: (LONG, [place]), 277: (SHORT, [samples]), 278: (LONG, [HEIGHT]),
            279: (LONG, [pixels.size]), **more}, True)
        struct.pack_into(order + number, data, link, start)
        link = after
    return bytes(data)


def text(value: str) -> tuple[int, bytes]:
    return ASCII, value.encode() + b"\0"


class TIFFTest(CommandTest):
    def built(self, files: dict[str, bytes], *options) -> dict[str, dict]:
        self.sources, self.library = folder("sources"), folder("library")
        for name, data in files.items():
            (self.sources / f"{name}.tif").write_bytes(data)
        result = run("build", self.sources, "--library", self.library, "--json", "--quiet", "--format", "png", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {line["id"]: line for line in map(json.loads, result.stdout.splitlines())}

    def metadata(self, id: str) -> dict:
        return parts(self.library / f"{id}.szi")[0]

    def pixels(self, id: str) -> numpy.ndarray:
        with zipfile.ZipFile(self.library / f"{id}.szi") as szi:
            names = [name for name in szi.namelist() if name.endswith("/0_0.png")]
            top = max(names, key=lambda name: int(name.split("/")[-2]))
            return numpy.array(Image.open(io.BytesIO(szi.read(top))).convert("RGB")).astype(int)

    def exiftool(self, name: str, *tags: str) -> dict:
        found = subprocess.run(["exiftool", "-j", *tags, self.sources / f"{name}.tif"], check=True, capture_output=True)
        return json.loads(found.stdout)[0]


class PageMetadata(TIFFTest):
    def test_big_tiff_has_the_metadata_of_tiff(self):
        exif = {0x9003: text("1998:07:06 05:04:03")}
        files = {}
        for order in "<>":
            for is_big in (False, True):
                name = f"{'big' if is_big else 'classic'}-{'little' if order == '<' else 'big'}"
                files[f"tags-{name}"] = tiff([{270: text("A view of the town"), 315: text("Ann"), 33432: text("(c) Me"),
                                               34665: (LONG, exif)}], order, is_big)
                files[f"xmp-{name}"] = tiff([{700: (BYTE, XMP.format("By the river").encode())}], order, is_big)
                files[f"iptc-{name}"] = tiff([{33723: (UNDEFINED, iptc("Boats below the bridge"))}], order, is_big)
        self.built(files)
        for name in files:
            with self.subTest(name):
                metadata = self.metadata(name)
                if name.startswith("tags"):
                    read = self.exiftool(name, "-ImageDescription", "-Artist", "-Copyright", "-DateTimeOriginal")
                    self.assertEqual((metadata.get("caption"), metadata.get("creator"), metadata.get("rights")),
                                     (read["ImageDescription"], read["Artist"], read["Copyright"]))
                    self.assertEqual(metadata.get("date"), "1998-07-06T05:04:03")
                elif name.startswith("xmp"):
                    self.assertEqual(metadata.get("title"), self.exiftool(name, "-XMP-dc:Title")["Title"])
                else:
                    self.assertEqual(metadata.get("caption"), self.exiftool(name, "-Caption-Abstract")["Caption-Abstract"])

    def test_each_page_has_its_own_metadata(self):
        pages = [{270: text("A view of the town"), 315: text("Ann")}, {270: text("A view of the river"), 315: text("Bob")}, {},
                 {700: (BYTE, XMP.format("By the sea").encode()), 34665: (LONG, {0x9003: text("1998:07:06 05:04:03")})}]
        for order in "<>":
            for is_big in (False, True):
                with self.subTest(order=order, is_big=is_big):
                    self.built({"letter": tiff(pages, order, is_big)})
                    found = [self.metadata(f"letter/{number}") for number in range(1, 5)]
                    self.assertEqual([metadata.get("caption") for metadata in found],
                                     ["A view of the town", "A view of the river", None, None])
                    self.assertEqual([metadata.get("creator") for metadata in found], ["Ann", "Bob", None, None])
                    self.assertEqual([metadata.get("title") for metadata in found], [None, None, None, "By the sea"])
                    self.assertEqual([metadata.get("date") for metadata in found], [None, None, None, "1998-07-06T05:04:03"])

    def test_xmp_of_the_first_directory_alone_describes_all_pages(self):
        """As exiftool writes it."""
        self.built({"letter": tiff([{700: (BYTE, XMP.format("By the sea").encode())}, {}, {270: text("A view of the river")}])})
        found = [self.metadata(f"letter/{number}") for number in range(1, 4)]
        self.assertEqual([metadata.get("title") for metadata in found], ["By the sea"] * 3)
        self.assertEqual([metadata.get("caption") for metadata in found], [None, None, "A view of the river"])

    def test_a_page_whose_metadata_changes(self):
        pages = [{270: text("A view of the town")}, {270: text("A view of the river")}]
        self.built({"letter": tiff(pages)})
        source = self.sources / "letter.tif"
        source.write_bytes(tiff([{270: text("A view of the hills")}, {270: text("A view of the coast")}]))
        run("build", self.sources, "--library", self.library, "--quiet", "--format", "png")
        self.assertEqual([self.metadata(f"letter/{number}")["caption"] for number in (1, 2)],
                         ["A view of the hills", "A view of the coast"])

    def test_a_picture_behind_a_reduced_copy(self):
        """The metadata are those of the picture that is shown."""
        self.built({"scan": tiff([{254: (LONG, [1]), 270: text("A small copy")}, {270: text("A view of the town")}])})
        self.assertEqual(self.metadata("scan")["caption"], "A view of the town")


class Scale(TIFFTest):
    def test_orientations_that_exchange_rows_and_columns(self):
        """0.25 µm across and 0.5 µm down as stored (EXIF 2.32, orientation)."""
        files = {str(orientation): tiff([{282: (RATIONAL, [(40000, 1)]), 283: (RATIONAL, [(20000, 1)]), 296: (SHORT, [3]),
                                          274: (SHORT, [orientation])}]) for orientation in range(1, 9)}
        self.built(files)
        for orientation in range(1, 9):
            with self.subTest(orientation):
                found = json.loads(run("inspect", self.library / f"{orientation}.szi", "--json").stdout)["micronsPerPixel"]
                self.assertEqual(found, [0.25, 0.5] if orientation < 5 else [0.5, 0.25])


class Colours(TIFFTest):
    def test_adobe_rgb_by_exif(self):
        """DCF 2.0: InteroperabilityIndex R03; some cameras write ColorSpace 2. Converted by LittleCMS."""
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        pixels = numpy.stack([40 + x * 3, 60 + y * 4, 50 + x + y], -1).astype(numpy.uint8)
        marks = {"index": {40961: (SHORT, [65535]), 40965: (LONG, {1: text("R03")})}, "space": {40961: (SHORT, [2])},
                 "srgb": {40961: (SHORT, [1]), 40965: (LONG, {1: text("R98")})}}
        files = {f"{name}{order == '>':d}{is_big:d}": tiff([{34665: (LONG, exif)}], order, is_big, pixels)
                 for name, exif in marks.items() for order in "<>" for is_big in (False, True)}
        report = self.built(files, "--tile-size", "4096")
        wanted = numpy.array(ImageCms.profileToProfile(
            Image.fromarray(pixels), str(ADOBE), ImageCms.createProfile("sRGB"), renderingIntent=1)).astype(int)
        self.assertGreater(numpy.abs(wanted - pixels).max(), 10)
        for name in files:
            with self.subTest(name):
                found = self.pixels(name)
                if name.startswith("srgb"):
                    self.assertTrue((found == pixels).all())
                else:
                    self.assertLessEqual(numpy.abs(found - wanted).max(), 2)
                    self.assertIn("Adobe RGB", " ".join(report[name]["steps"]))
