"""Stacks of several scenes, depths and time points, of which a part is chosen, and those that are not whole.

Files are tifffile's, or have OME-XML as Bio-Formats writes it; what is shown is reckoned by NumPy.
"""

import io
import json
from pathlib import Path

import numpy
import tifffile
from harness import folder, run
from one_source import OneSource
from PIL import Image

WIDTH, HEIGHT = 80, 60
OPTIONS = ("--format", "png", "--window", "full")
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def value(number: int) -> numpy.ndarray:
    """The plane of a number, unlike all others."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * 2 + y + 37 * number) % 256).astype(numpy.uint8)


def image(number: int, planes: str = "", channels: str = '<Channel ID="c{n}"/><Channel ID="d{n}"/>', z: int = 1, t: int = 1,
          c: int = 2, more: str = "") -> str:
    return (f'<Image ID="Image:{number}" Name="scene {number + 1}"><Pixels ID="Pixels:{number}" DimensionOrder="XYCZT" '
            f'Type="uint8" SizeX="{WIDTH}" SizeY="{HEIGHT}" SizeC="{c}" SizeZ="{z}" SizeT="{t}" {more}>'
            f'{channels.replace("{n}", str(number))}{planes}</Pixels></Image>')


def write(path: Path, planes: list[numpy.ndarray], *images: str, attributes: str = "") -> Path:
    text = (f'<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" {attributes}>'
            + "".join(images) + "</OME>")
    with tifffile.TiffWriter(path) as file:
        for number, plane in enumerate(planes):
            file.write(plane, description=None if number else text.encode(), metadata=None, contiguous=False,
                       photometric="rgb" if plane.ndim == 3 else "minisblack")
    return path


def composite(*channels: tuple[numpy.ndarray, tuple[int, int, int]]) -> numpy.ndarray:
    total = sum(plane[:, :, None] / 255.0 * numpy.array(colour) for plane, colour in channels)
    return numpy.clip(total, 0, 255)


class Planes(OneSource):
    def assertShows(self, archive: Path, wanted: numpy.ndarray) -> None:
        pixels = numpy.array(Image.open(io.BytesIO(self.tiles(archive)[0, 0])), float)
        self.assertEqual(pixels.shape, wanted.shape)
        self.assertLess(abs(pixels - wanted).max(), 2)

    def all_built(self, source: Path, *options) -> tuple[list[dict], Path]:
        library = folder("library")
        result = run("build", source, "--library", library, "--json", "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()], library


class Scenes(Planes):
    def source(self) -> Path:
        scales = ('PhysicalSizeX="0.5"', 'PhysicalSizeX="2" PhysicalSizeXUnit="nm" PhysicalSizeYUnit="nm"', 'PhysicalSizeX="3"')
        return write(folder("scenes") / "well.ome.tif", [value(number) for number in range(6)],
                     *(image(number, f'<TiffData IFD="{2 * number}" PlaneCount="2"/>', more=scale)
                       for number, scale in enumerate(scales)))

    def test_the_first_is_built_and_the_others_are_reported(self):
        report, archive = self.built(self.source(), *OPTIONS)
        self.assertShows(archive, composite((value(0), RED), (value(1), GREEN)))
        self.assertEqual(report["leftOut"], ["2 more scenes (--scene N or --scene all builds them)"])

    def test_one_is_chosen(self):
        source = self.source()
        report, archive = self.built(source, *OPTIONS, "--scene", "3")
        self.assertEqual(report["id"], "well.ome")
        self.assertShows(archive, composite((value(4), RED), (value(5), GREEN)))
        self.assertIn("image 3 of 3", report["steps"])
        self.assertIn("has no scene 4; its 3 scenes are scene 1, scene 2, scene 3", self.refused(source, "--scene", "4"))
        self.assertUsageError(run("build", source, "--library", "x", "--scene", "0"), "--scene")

    def test_all_are_pages_each_of_its_own_scale(self):
        report, library = self.all_built(self.source(), *OPTIONS, "--scene", "all")
        self.assertEqual([each["id"] for each in report], ["well.ome/1", "well.ome/2", "well.ome/3"])
        for number, microns in enumerate((0.5, 0.002, 3)):
            archive = library / f"well.ome/{number + 1}.szi"
            self.assertShows(archive, composite((value(2 * number), RED), (value(2 * number + 1), GREEN)))
            self.assertEqual(json.loads(run("inspect", archive, "--json").stdout)["micronsPerPixel"], [microns, microns])
        again = run("build", self.source(), "--library", library, "--json", *OPTIONS, "--scene", "all").stdout
        self.assertEqual(len(again.splitlines()), 3)

    def test_what_is_unchanged_is_not_built_again(self):
        source, library = self.source(), folder("library")
        for status in ("built", "unchanged"):
            lines = run("build", source, "--library", library, "--json", "--scene", "all").stdout.splitlines()
            self.assertEqual([json.loads(line)["status"] for line in lines], [status] * 3)
        for status in ("built", "unchanged"):
            lines = run("build", source, "--library", library, "--json", "--scene", "2").stdout.splitlines()
            self.assertIn(("well.ome", status), [(json.loads(line)["id"], json.loads(line)["status"]) for line in lines])

    def test_inspect_lists_them(self):
        report = json.loads(run("inspect", self.source(), "--json").stdout)
        self.assertEqual(report["scenes"], ["scene 1", "scene 2", "scene 3"])
        self.assertEqual([each["name"] for each in report["channels"]], ["channel 1", "channel 2"])
        self.assertEqual((report["sizeZ"], report["sizeT"]), (1, 1))

    def test_single_planes_stay_pages_with_their_own_scale(self):
        source = write(folder("scenes") / "two.ome.tif", [value(0), value(1)],
                       *(image(number, f'<TiffData IFD="{number}"/>', '<Channel ID="c{n}"/>', c=1, more=f'PhysicalSizeX="{number + 1}"')
                         for number in range(2)))
        report, library = self.all_built(source, *OPTIONS)
        self.assertEqual([each["id"] for each in report], ["two.ome/1", "two.ome/2"])
        scales = [json.loads(run("inspect", library / f"two.ome/{page}.szi", "--json").stdout)["micronsPerPixel"] for page in (1, 2)]
        self.assertEqual(scales, [[1, 1], [2, 2]])


class DepthAndTime(Planes):
    def test_both_are_chosen(self):
        with tifffile.TiffWriter(folder("stack") / "cells.ome.tif", ome=True) as file:
            file.write(numpy.stack([value(number) for number in range(30)]).reshape(2, 5, 3, HEIGHT, WIDTH), metadata={"axes": "TZCYX"})
            source = Path(file.filehandle.path)
        for z, t in ((1, 1), (5, 2), (3, 1)):
            report, archive = self.built(source, *OPTIONS, "--depth", z, "--time", t)
            first = 3 * (z - 1) + 15 * (t - 1)
            self.assertShows(archive, composite((value(first), RED), (value(first + 1), GREEN), (value(first + 2), BLUE)))
            self.assertIn(f"plane {z} of 5 in depth", report["steps"])
        self.assertIn("time point 2 of 2", self.built(source, "--time", "2")[0]["steps"])
        self.assertIn("has no number 6 of its planes in depth: it has 5", self.refused(source, "--depth", "6"))
        self.assertIn("has no number 3 of its time points: it has 2", self.refused(source, "--time", "3"))

    def test_a_picture_without_planes_refuses_them(self):
        source = folder("plain") / "plain.png"
        Image.fromarray(value(0)).save(source)
        for option, count in (("--channels", "1"), ("--depth", "2"), ("--time", "2")):
            self.assertIn(f"{option} cannot be used with it", self.refused(source, option, count))
        self.assertIn("has no scene 2: it has one", self.refused(source, "--scene", "2"))
        self.built(source, "--depth", "1", "--time", "1", "--scene", "1")


class HyperstacksOfImageJ(Planes):
    def test_axes_colours_and_unit(self):
        ramp = numpy.arange(256, dtype=numpy.uint8)
        tables = [numpy.stack([ramp * 0, ramp, ramp]), numpy.stack([ramp, ramp * 0, ramp * 0])]
        for byte_order in "<>":
            source = folder("stack") / "cells.tif"
            tifffile.imwrite(source, numpy.stack([value(number) for number in range(24)]).reshape(3, 4, 2, HEIGHT, WIDTH), imagej=True,
                             byteorder=byte_order, resolution=(4, 4), metadata={"axes": "TZCYX", "unit": "micron", "LUTs": tables})
            report, archive = self.built(source, *OPTIONS)
            self.assertEqual(report["id"], "cells")
            self.assertShows(archive, composite((value(4), (0, 255, 255)), (value(5), RED)))
            self.assertEqual(json.loads(run("inspect", archive, "--json").stdout)["micronsPerPixel"], [0.25, 0.25])
            _, archive = self.built(source, *OPTIONS, "--depth", "2", "--time", "3", "--channels", "2")
            self.assertShows(archive, composite((value(2 * 1 + 8 * 2 + 1), RED)))

    def test_planes_without_directories_are_reported(self):
        source = folder("stack") / "large.tif"
        tifffile.imwrite(source, numpy.stack([value(number) for number in range(3)]), photometric="minisblack", contiguous=True,
                         metadata=None, description="ImageJ=1.53t\nimages=3\nslices=3\n")
        with tifffile.TiffFile(source) as tiff:
            first = tiff.pages[0]
            place = first.offset
            self.assertEqual(len(tiff.pages), 3)
        # The first directory alone.
        data = bytearray(source.read_bytes())
        end = place + 2 + 12 * int.from_bytes(data[place:place + 2], "little")
        data[end:end + 4] = bytes(4)
        source.write_bytes(data)
        report, archive = self.built(source, *OPTIONS)
        self.assertShows(archive, value(0).astype(float))
        self.assertIn("the 2 planes behind the first", report["leftOut"][0])

    def test_one_axis_is_pages_unless_one_is_chosen(self):
        for axis, option in (("Z", "--depth"), ("T", "--time")):
            source = folder("stack") / "slices.tif"
            tifffile.imwrite(source, numpy.stack([value(number) for number in range(5)]), imagej=True, metadata={"axes": f"{axis}YX"})
            self.assertEqual(len(self.all_built(source)[0]), 5)
            _, archive = self.built(source, *OPTIONS, option, "4")
            self.assertShows(archive, value(3).astype(float))


class PlanesThatAreNotThere(Planes):
    def test_a_plane_of_another_file_is_reported_and_never_replaced(self):
        for name, attributes, uuid in (("part.ome.tif", "", "urn:uuid:1"), ("renamed.ome.tif", 'UUID="urn:uuid:2"', "urn:uuid:1")):
            planes = (f'<TiffData FirstC="0" IFD="0"><UUID FileName="elsewhere.ome.tif">{uuid}</UUID></TiffData>'
                      '<TiffData FirstC="1" IFD="1"/>')
            source = write(folder("stack") / name, [value(0), value(1)], image(0, planes), attributes=attributes)
            report, archive = self.built(source, *OPTIONS)
            self.assertShows(archive, composite((value(1), GREEN)))
            self.assertIn("channel 1 left out: its plane lies in elsewhere.ome.tif, another file", report["steps"])
            self.assertEqual(report["leftOut"], ["what lies in other files (elsewhere.ome.tif)"])
            self.assertIn("its plane of channel 1 lies in elsewhere.ome.tif, another file", self.refused(source, "--channels", "1"))

    def test_each_file_of_a_set_shows_its_own_planes(self):
        files = ["t0.ome.tif", "t1.ome.tif"]
        planes = "".join(f'<TiffData FirstT="{t}" FirstC="{c}" IFD="{c}"><UUID FileName="{files[t]}">urn:uuid:{t}</UUID></TiffData>'
                         for t in (0, 1) for c in (0, 1))
        source = write(folder("stack") / files[1], [value(2), value(3)], image(0, planes, t=2), attributes='UUID="urn:uuid:1"')
        report, archive = self.built(source, *OPTIONS)
        self.assertShows(archive, composite((value(2), RED), (value(3), GREEN)))
        self.assertIn("time point 2 of 2", report["steps"])
        self.assertIn("lies in t0.ome.tif, another file", self.refused(source, "--time", "1"))

    def test_planes_that_no_file_has_are_reported(self):
        source = write(folder("stack") / "cut.ome.tif", [value(0), value(1)], image(0, c=3, channels=""))
        report, archive = self.built(source, *OPTIONS)
        self.assertShows(archive, composite((value(0), RED), (value(1), GREEN)))
        self.assertIn("channel 3 left out: its plane is not in the file", report["steps"])

    def test_a_description_in_another_file_is_reported(self):
        source = write(folder("stack") / "a.ome.tif", [value(0), value(1)], '<BinaryOnly MetadataFile="a.companion.ome" UUID="urn:uuid:9"/>')
        report, _ = self.all_built(source)
        self.assertEqual(report[0]["leftOut"], ["what lies in other files (a.companion.ome)"])


class ColoursOfRGB(Planes):
    colour = numpy.stack([value(10), value(20), value(30)], axis=2)

    def test_without_samples_per_pixel(self):
        source = write(folder("stack") / "rgb.ome.tif", [value(0)[:, :, None] // 2 + self.colour // 2, self.colour, self.colour // 3],
                       image(0, "<TiffData/>", '<Channel ID="a"/><Channel ID="b"/><Channel ID="c"/>', z=3, c=3))
        report, archive = self.built(source, *OPTIONS)
        self.assertEqual(report["id"], "rgb.ome")
        self.assertShows(archive, self.colour.astype(float))

    def test_beside_fluorescence(self):
        channels = ('<Channel ID="a" Name="brightfield" SamplesPerPixel="3"/><Channel ID="b" Name="DAPI" SamplesPerPixel="1" '
                    'Color="65535"/><Channel ID="c" Name="GFP" SamplesPerPixel="1" Color="16711935"/>')
        source = write(folder("stack") / "both.ome.tif", [self.colour, value(1), value(2)], image(0, "<TiffData/>", channels, c=5))
        report, archive = self.built(source, *OPTIONS)
        self.assertShows(archive, self.colour.astype(float))
        self.assertIn("1 of 3 channels: brightfield in #ffffff", report["steps"])
        _, archive = self.built(source, *OPTIONS, "--channels", "DAPI,3")
        self.assertShows(archive, composite((value(1), BLUE), (value(2), GREEN)))
        self.assertIn("'brightfield' is red, green and blue", self.refused(source, "--channels", "1,2"))


class ManyChannels(Planes):
    def source(self, count: int = 70) -> Path:
        names = {0: "CD3, total", 1: "2", 2: 'a "b", c', 3: "two words"}
        channels = "".join(f'<Channel ID="c{number}" Color="{0 if number else -16776961}" '
                           f'Name="{names.get(number, f"marker {number + 1}").replace(chr(34), "&quot;")}"/>' for number in range(count))
        return write(folder("stack") / "plex.ome.tif", [value(number) for number in range(count)],
                     image(0, "<TiffData/>", channels, c=count))

    def test_more_than_64_by_number_and_name(self):
        source = self.source()
        for wanted, numbers in (("70", [69]), ("marker 66,5", [65, 4]), ('"CD3, total","2"', [0, 1]), ('"a ""b"", c"', [2])):
            report, archive = self.built(source, *OPTIONS, "--channels", wanted)
            self.assertTrue(report["steps"][0].startswith(f"{len(numbers)} of 70 channels: "), report["steps"])
            usual = [RED, GREEN, BLUE, WHITE, (0, 255, 255), (255, 0, 255), (255, 255, 0)]
            self.assertShows(archive, composite(*((value(number), usual[number % 7]) for number in numbers)))
        self.assertIn("""has no channel 'CD3'; its channels are "CD3, total", 2, "a ""b\"", c", two words, marker 5""",
                      self.refused(source, "--channels", "CD3, total"))
        for wrong in ('"CD3', "1,,2", '"a"b', ""):
            self.assertUsageError(run("build", source, "--library", "x", "--channels", wrong), "--channels")

    def test_the_record_keeps_what_was_asked_for(self):
        source, library = self.source(4), folder("library")
        for status in ("built", "unchanged"):
            report = json.loads(run("build", source, "--library", library, "--json", "--channels", 'two words,"CD3, total"').stdout)
            self.assertEqual(report["status"], status)
        archive = library / "plex.ome.szi"
        data = bytearray(archive.read_bytes())
        data[len(data) // 3] ^= 255
        archive.write_bytes(data)
        run("verify", library, "--repair", source.parent)
        report = json.loads(run("build", source, "--library", library, "--json", "--channels", 'two words,"CD3, total"').stdout)
        self.assertEqual(report["status"], "unchanged")


class Units(Planes):
    def test_lengths_of_every_system(self):
        """Microns by the definitions of the inch (25.4 mm), the point (1/72 inch), foot, yard, line and thou."""
        for unit, microns in (("in", 25400), ("pt", 25400 / 72), ("ft", 304800), ("yd", 914400), ("li", 25400 / 12), ("thou", 25.4),
                              ("cm", 1e4), ("Å", 1e-4), ("µm", 1)):
            size = 50 if microns < 1 else 0.001
            more = f'PhysicalSizeX="{size}" PhysicalSizeXUnit="{unit}" PhysicalSizeY="{size}" PhysicalSizeYUnit="{unit}"'
            source = write(folder("stack") / "u.ome.tif", [value(0), value(1)], image(0, "<TiffData/>", more=more))
            found = json.loads(run("inspect", source, "--json").stdout)["micronsPerPixel"][0]
            self.assertAlmostEqual(found / (microns * size), 1, places=4, msg=unit)
