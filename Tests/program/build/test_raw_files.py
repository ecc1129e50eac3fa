"""RAW photographs: never built as their preview or as the samples of a sensor, and named in one line each."""

import json
from pathlib import Path

import numpy
from harness import folder, photo, run
from one_source import OneSource, picture
from slides import Directory, plane, strip, write

SENSOR = (numpy.arange(800 * 600, dtype=numpy.uint16) % 4096).reshape(600, 800)


def preview(**fields) -> Directory:
    directory = strip(picture(256, 192), "", 1)
    directory.fields = {int(tag[1:]): value for tag, value in fields.items()}
    return directory


def sensor(photometric: int = 32803) -> Directory:
    directory = plane(SENSOR)
    directory.photometric = photometric
    return directory


def raw(path: Path, kind: str) -> Path:
    """A file as cameras lay it out, or what Adobe's converter makes of it."""
    first = preview()
    if kind == "dng":
        first = preview(t50706=(1, [1, 4, 0, 0]))
        first.parts = [sensor()]
    elif kind == "linear":
        first.parts = [sensor(34892)]
    elif kind == "cfa first":
        first = sensor()
    elif kind == "pattern":
        first = plane(SENSOR)
        first.fields |= {33421: (3, [2, 2]), 33422: (1, [0, 1, 1, 2])}
    elif kind == "plain preview":
        first.parts = [strip(picture(800, 600), "")]
    else:
        first.parts = [sensor()]
    return write(path, [first])


KINDS = ("dng", "linear", "cfa first", "pattern", "plain preview", "nef")
STARTS = {"a.cr3": b"\0\0\0\x18ftypcrx \0\0\0\1crx isom", "a.raf": b"FUJIFILMCCD-RAW 0201", "a.orf": b"IIRO\x08\0\0\0",
          "a.rw2": b"IIU\0\x18\0\0\0", "a.crw": b"II\x1a\0\0\0HEAPCCDR", "a.x3f": b"FOVb\0\0\2\0"}


class RawFiles(OneSource):
    def test_refused_by_their_content_whatever_they_are_called(self):
        for kind in KINDS:
            with self.subTest(kind):
                source = raw(folder("raw") / "photo.tif", kind)
                self.assertRegex(self.refused(source), r"photo\.tif: is a RAW photograph \(.*\), which cannot be built here: develop it")
                self.assertEqual(run("inspect", source).returncode, 1)
        for name, start in STARTS.items():
            source = folder("raw") / ("photo" + name[1:])
            source.write_bytes(start + bytes(5000))
            self.assertIn("is a RAW photograph", self.refused(source))
            other = folder("raw") / "photo.tif"
            other.write_bytes(start + bytes(5000))
            self.assertIn("is a RAW photograph", self.refused(other))

    def test_refused_by_their_names(self):
        for ending in ("dng", "CR2", "nef", "arw", "pef", "srw", "rw2"):
            source = write(folder("raw") / f"photo.{ending}", [strip(picture(300, 200), "")])
            self.assertIn("is a RAW photograph", self.refused(source))

    def test_a_jpeg_stays_one(self):
        source = photo(folder("raw") / "photo.jpg", 300, 200).rename(folder("raw") / "photo.dng")
        self.assertEqual(self.built(source)[0]["width"], 300)

    def test_those_in_a_folder_are_named_and_counted_and_harm_nothing(self):
        sources, library = folder("photos"), folder("library")
        for name in ("one.jpg", "two.jpg"):
            photo(sources / name, 300, 200)
        raw(sources / "one.NEF", "nef")
        raw(sources / "other.dng", "dng")
        raw(sources / "hidden.tif", "dng")
        result = run("build", sources, "--library", library, "--prune")
        self.assertEqual(result.returncode, 1)
        for name in ("one.NEF", "other.dng", "hidden.tif"):
            self.assertRegex(result.stderr, rf"(?m)/{name}: is a RAW photograph")
        self.assertEqual(result.stderr.splitlines()[-1], "2 built, 3 failed")
        # The photograph beside it keeps its id.
        self.assertEqual(sorted(path.stem for path in library.glob("*.szi")), ["one", "two"])
        # They are no reason to spare what is gone.
        (sources / "hidden.tif").unlink()
        (sources / "two.jpg").unlink()
        result = run("build", sources, "--library", library, "--prune", "--json")
        told = {line.get("id"): line["status"] for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual((told["one"], told["two"]), ("unchanged", "pruned"))

    def test_what_was_built_of_a_preview_is_no_reason_to_call_it_unchanged(self):
        source, library = write(folder("raw") / "photo.tif", [strip(picture(300, 200), "")]), folder("library")
        self.assertEqual(run("build", source, "--library", library).returncode, 0)
        raw(source, "dng")
        self.assertEqual(run("build", source, "--library", library).returncode, 1)

    def test_pyramids_in_subifds_are_pictures(self):
        """Smaller ones, as libvips and Bio-Formats write them."""
        first = strip(picture(400, 300), "")
        first.parts = [strip(picture(200, 150), "", 1)]
        self.assertEqual(self.built(write(folder("pyramid") / "a.tif", [first]))[0]["width"], 400)
