"""What slides hold beside their picture, which shows patients, and slides that cannot be read."""

import io
import json
import zipfile
from pathlib import Path

import numpy
from harness import folder, run
from one_source import OneSource, picture
from PIL import Image
from slides import strip, svs, write


class Associated(OneSource):
    """Label, macro and thumbnail show whose tissue it is: they are nowhere unless they were asked for."""

    def ids(self, library: Path) -> list[str]:
        return sorted(str(path.relative_to(library))[:-4] for path in library.rglob("*.szi")
                      if ".ziggurat-trash" not in path.parts)

    def test_nothing_of_them_unasked(self):
        source = svs(folder("slide") / "slide.svs", picture(700, 500))
        library = folder("library")
        self.assertEqual(run("build", source, "--library", library, "--quiet").returncode, 0)
        self.assertEqual(self.ids(library), ["slide"])
        with zipfile.ZipFile(library / "slide.szi") as szi:
            names = szi.namelist()
            self.assertFalse([name for name in names if "label" in name or "macro" in name or "associated" in name], names)
            for name in names:
                # Red is the label's colour, blue the other's.
                if name.endswith(".jpg"):
                    pixels = numpy.array(Image.open(io.BytesIO(szi.read(name))).convert("RGB"), int)
                    for colour in ((250, 20, 20), (20, 20, 250)):
                        self.assertFalse((abs(pixels - colour).max(2) < 12).any(), name)
        self.assertEqual(json.loads(run("inspect", source, "--json").stdout)["associated"], ["label", "macro", "thumbnail"])

    def test_a_slide_that_openslide_may_not_read_is_no_book_of_them(self):
        """Its label would be a page like any other."""
        slide = svs(folder("slide") / "slide.svs", picture(700, 500))
        other = folder("slide") / "slide.dat"
        other.write_bytes(slide.read_bytes())
        self.assertIn("its label is not built", self.refused(other))
        # Untiled, a TIFF of several pages to libvips.
        pages = [strip(picture(300, 200), "Aperio Image Library\r\n300x200"),
                 strip(Image.new("RGB", (120, 140), (250, 20, 20)), "Aperio\nlabel 120x140", 1)]
        self.assertIn("its label is not built", self.refused(write(folder("slide") / "slide.tif", pages)))

    def test_as_entries_and_pictures_of_their_own(self):
        base = folder("slide")
        source, library = svs(base / "slide.svs", picture(700, 500)), folder("library")
        build = ("build", source, "--library", library, "--json", "--associated")
        report = [json.loads(line) for line in run(*build).stdout.splitlines()]
        ids = ["slide", "slide/label", "slide/macro", "slide/thumbnail"]
        self.assertEqual([each["id"] for each in report], ids)
        self.assertEqual({each["status"] for each in report}, {"built"})
        self.assertEqual(report[1]["route"], "exact: read by libvips, for being a slide's label")
        self.assertEqual(self.ids(library), ids)
        with zipfile.ZipFile(library / "slide.szi") as szi:
            for name, size, colour in (("label", (120, 140), (250, 20, 20)), ("macro", (320, 110), (20, 20, 250))):
                entry = Image.open(io.BytesIO(szi.read(f"slide/associated_images/{name}.jpg")))
                own = Image.open(io.BytesIO(self.tiles(library / f"slide/{name}.szi")[0, 0]))
                for shown in (entry, own):
                    self.assertEqual(shown.size, size)
                    self.assertLess(abs(numpy.array(shown.convert("RGB"), int) - colour).max(), 12)
            self.assertIn("slide/associated_images/thumbnail.jpg", szi.namelist())
        # The slide's scale is not theirs.
        self.assertEqual(json.loads(run("inspect", library / "slide.szi", "--json").stdout)["micronsPerPixel"], [0.499, 0.499])
        self.assertNotIn("micronsPerPixel", json.loads(run("inspect", library / "slide/label.szi", "--json").stdout))
        report = [json.loads(line) for line in run(*build).stdout.splitlines()]
        self.assertEqual([(each["id"], each["status"]) for each in report], [(id, "unchanged") for id in ids])
        (library / "slide/label.szi").unlink()
        report = [json.loads(line) for line in run(*build).stdout.splitlines()]
        self.assertEqual([each["status"] for each in report], ["unchanged", "built", "unchanged", "unchanged"])
        # Taken back: nothing of them stays.
        result = run(*build[:-2], "--prune=all", "--quiet")
        self.assertEqual((result.returncode, self.ids(library)), (0, ["slide"]), result.stderr)
        with zipfile.ZipFile(library / "slide.szi") as szi:
            self.assertFalse([name for name in szi.namelist() if "associated" in name])


class DICOM(OneSource):
    def dicom(self, name: str, storage: bytes) -> Path:
        path = folder("dicom") / name
        path.write_bytes(bytes(128) + b"DICM" + b"\x02\0\0\0UL\4\0\x1a\0\0\0\x02\0\x02\0UI\x1e\0" + storage + bytes(2000))
        return path

    def test_the_reason(self):
        slide, scan = b"1.2.840.10008.5.1.4.1.1.77.1.6\0", b"1.2.840.10008.5.1.4.1.1.2\0"
        for name in ("slide.dcm", "slide"):
            # Of an OpenSlide that reads some this one is none, either.
            self.assertRegex(self.refused(self.dicom(name, slide)), r"DICOM|OpenSlide")
        self.assertRegex(self.refused(self.dicom("scan.dcm", scan)), "is DICOM (without a picture|that is damaged)")

    def test_those_in_a_folder_are_named(self):
        scan = self.dicom("scan.dcm", b"1.2.840.10008.5.1.4.1.1.2\0")
        picture(60, 40).save(scan.parent / "photo.jpg")
        library = folder("library")
        result = run("build", scan.parent, "--library", library, "--quiet")
        self.assertEqual((result.returncode, (library / "photo.szi").exists()), (1, True))
        self.assertRegex(result.stderr, r"scan\.dcm: is DICOM (without a picture|that is damaged)")
