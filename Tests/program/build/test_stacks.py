"""OME-TIFF: channels, planes of depth and time points are one picture's, of which a part is shown."""

import io
import itertools
import json
from pathlib import Path

import numpy
import tifffile
from harness import CRASH, Server, folder, run, seed
from one_source import OneSource
from PIL import Image
from slides import plane, write

WIDTH, HEIGHT = 96, 64


def ome(order: str = "XYCZT", channels: tuple[str, ...] = ("", "", ""), z: int = 1, t: int = 1, inside: str = "",
        before: str = "") -> str:
    """Of each channel its further attributes."""
    reported = "".join(f'<Channel ID="Channel:0:{number}" SamplesPerPixel="1" {each}/>' for number, each in enumerate(channels))
    return (f'<?xml version="1.0" encoding="UTF-8"?><!-- <Pixels SizeC="9"> --><OME xmlns="http://www.openmicroscopy.org/'
            f'Schemas/OME/2016-06">{before}<Image ID="Image:0" Name="cells"><Pixels ID="Pixels:0" DimensionOrder="{order}" '
            f'Type="uint16" SizeX="{WIDTH}" SizeY="{HEIGHT}" SizeC="{len(channels)}" SizeZ="{z}" SizeT="{t}" '
            f'PhysicalSizeX="0.25" PhysicalSizeY="0.25">{reported}{inside}</Pixels></Image></OME>')


def value(c: int, z: int, t: int) -> numpy.ndarray:
    """A distinct plane: the brightest place differs by channel, and the brightness gives depth and time point."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * 500 * (c == 0) + y * 700 * (c == 1) + (x + y) * 300 * (c == 2)) + 1000 * z + 3000 * t).astype(numpy.uint16)


def stack(path: Path, order: str = "XYCZT", sizes: tuple[int, int, int] = (3, 5, 2), shuffle: list[int] | None = None,
          **how) -> Path:
    """Planes in the order that the description says."""
    count = dict(zip("CZT", sizes))
    how.setdefault("channels", ('Name="DAPI" Color="65535"', 'Name="GFP &amp; more" Color="16711935"', 'Color="-16776961"')[:sizes[0]])
    ranges = [range(count[name]) for name in reversed(order[2:])]
    planes = []
    for place in itertools.product(*ranges):
        where = dict(zip(reversed(order[2:]), place))
        planes.append(value(where["C"], where["Z"], where["T"]))
    if shuffle:
        planes = [planes[number] for number in shuffle]
    text = ome(order, z=sizes[1], t=sizes[2], **how)
    return write(path, [plane(each, "" if number else text) for number, each in enumerate(planes)])


def shown(colours: list[tuple[int, int, int]], z: int = 2, t: int = 0, least: int = 0, most: int = 65535) -> numpy.ndarray:
    """The composite of channels in these colours."""
    total = numpy.zeros((HEIGHT, WIDTH, 3))
    for c, colour in enumerate(colours):
        gray = numpy.clip((value(c, z, t).astype(float) - least) / (most - least), 0, 1)
        total += gray[:, :, None] * numpy.array(colour)
    return numpy.clip(total, 0, 255)


BLUE, GREEN, RED = (0, 0, 255), (0, 255, 0), (255, 0, 0)
OPTIONS = ("--format", "png", "--window", "full")


class Stacks(OneSource):
    def pixels(self, archive: Path) -> numpy.ndarray:
        return numpy.array(Image.open(io.BytesIO(self.tiles(archive)[0, 0])), float)

    def assertShows(self, archive: Path, wanted: numpy.ndarray) -> None:
        self.assertLess(abs(self.pixels(archive) - wanted).max(), 3)

    def test_one_picture_of_its_channels_in_their_colours(self):
        for order in ("XYCZT", "XYZCT", "XYTZC", "XYZTC"):
            with self.subTest(order):
                reported, archive = self.built(stack(folder("stack") / "cells.ome.tif", order), *OPTIONS)
                self.assertEqual(reported["id"], "cells.ome")
                self.assertShows(archive, shown([BLUE, GREEN, RED]))
                self.assertEqual(reported["steps"][:3], [
                    "3 of 3 channels: DAPI in #0000ff, GFP & more in #00ff00, channel 3 in #ff0000", "plane 3 of 5 in depth",
                    "the first of 2 time points"])

    def test_where_the_description_says_that_planes_lie(self):
        """Not in the order of the pages."""
        shuffle = list(range(30))
        seed("stacks").shuffle(shuffle)
        inside = "".join(f'<TiffData IFD="{page}" FirstC="{number % 3}" FirstZ="{number // 3 % 5}" FirstT="{number // 15}" '
                         f'PlaneCount="1"><UUID FileName="cells.ome.tif">urn</UUID></TiffData>'
                         for page, number in enumerate(shuffle))
        _, archive = self.built(stack(folder("stack") / "cells.ome.tif", shuffle=shuffle, inside=inside), *OPTIONS)
        self.assertShows(archive, shown([BLUE, GREEN, RED]))
        whole = '<TiffData IFD="0" PlaneCount="30"/>'
        _, archive = self.built(stack(folder("stack") / "cells.ome.tif", inside=whole), *OPTIONS)
        self.assertShows(archive, shown([BLUE, GREEN, RED]))

    def test_channels_that_are_chosen(self):
        source = stack(folder("stack") / "cells.tif")
        _, archive = self.built(source, *OPTIONS, "--channels", "dapi,3")
        self.assertShows(archive, shown([BLUE, (0, 0, 0), RED]))
        reported = json.loads(run("inspect", archive, "--json").stdout)
        self.assertEqual([(each["name"], each["colour"], each["isShown"]) for each in reported["channels"]],
                         [("DAPI", "#0000ff", True), ("GFP & more", "#00ff00", False), ("channel 3", "#ff0000", True)])
        self.assertEqual((reported["sizeZ"], reported["sizeT"], reported["micronsPerPixel"]), (5, 2, [0.25, 0.25]))
        self.assertIn("has no channel 'CFP'; its channels are DAPI, GFP & more, channel 3",
                      self.refused(source, "--channels", "DAPI,CFP"))

    def test_colours_if_none_are_declared(self):
        for channels in (("", "", ""), ('Color="-1"',) * 3):
            _, archive = self.built(stack(folder("stack") / "cells.tif", channels=channels), *OPTIONS)
            self.assertShows(archive, shown([RED, GREEN, BLUE]))

    def test_inverted_tables_of_imagej(self):
        """A table from a colour to black shows the least value in that colour."""
        ramp, none = numpy.arange(256, dtype=numpy.uint8), numpy.zeros(256, numpy.uint8)
        tables = [numpy.stack([ramp[::-1], none, none]), numpy.stack([none, ramp, none])]
        y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
        channels = numpy.stack([x * 2, y * 3]).astype(numpy.uint8)
        source = folder("imagej") / "a.tif"
        tifffile.imwrite(source, channels, imagej=True, metadata={"axes": "CYX", "mode": "composite", "LUTs": tables})
        report, archive = self.built(source, "--format", "png", "--fidelity", "exact")
        self.assertIn("channel 1 is black where its values are high", report["steps"])
        wanted = numpy.dstack([255 - channels[0], channels[1], 0 * channels[0]])
        self.assertTrue((self.pixels(archive) == wanted).all())

    def test_one_channel_is_gray(self):
        _, archive = self.built(stack(folder("stack") / "cells.tif", sizes=(1, 4, 1), channels=("",)), *OPTIONS)
        self.assertLess(abs(self.pixels(archive) - value(0, 2, 0) / 257).max(), 2)

    def test_a_window_for_each_channel(self):
        """Of 12 bits and fewer, one ten times as bright as the other: both are seen."""
        bright, dark = (value(c, 0, 0) // 16 // (1, 10)[c] for c in (0, 1))
        text = ome(channels=('Name="a" Color="-16776961"', 'Name="b" Color="16711935"'))
        source = write(folder("stack") / "cells.tif", [plane(bright, text), plane(dark)])
        reported, archive = self.built(source, "--format", "png")
        pixels = self.pixels(archive)
        for band in (0, 1):
            self.assertGreaterEqual(len(numpy.unique(pixels[:, :, band])), 60)
            self.assertEqual((pixels[:, :, band].min(), pixels[:, :, band].max()), (0, 255))
        self.assertIn(f"a: values from 0 to {bright.max()} spread from black to white", reported["steps"])
        self.assertIn(f"b: values from 0 to {dark.max()} spread from black to white", reported["steps"])

    def test_windows_that_are_asked_for_channel_by_channel(self):
        text = ome(channels=('Name="a" Color="-16776961"', 'Name="b" Color="16711935"'))
        levels = [value(c, 0, 0) // 16 for c in (0, 1)]
        source = write(folder("stack") / "cells.tif", [plane(levels[0], text), plane(levels[1])])
        reported, archive = self.built(source, "--format", "png", "--window", "100,2000/full")
        red, green = (self.pixels(archive)[:, :, band] for band in (0, 1))
        self.assertLess(abs(red - numpy.clip((levels[0] - 100.0) / 1900, 0, 1) * 255).max(), 2)
        self.assertLess(abs(green - levels[1] / 257).max(), 2)
        self.assertIn("a: values from 100 to 2000 spread from black to white", reported["steps"])
        # The other way round, of one that is chosen alone, and of too many.
        other = self.built(source, "--format", "png", "--window", "full/100,2000", "--channels", "b,a")[1]
        self.assertTrue((self.pixels(other) == self.pixels(archive)).all())
        self.assertIn("--window has windows for 2 channels, and 1 is shown", self.refused(source, "--channels", "a", "--window", "1,2/3,4"))
        deep = write(folder("depth") / "deep.tif", [plane(levels[0])])
        self.assertIn("--window has windows for 2 channels, and it is not a stack of channels", self.refused(deep, "--window", "1,2/3,4"))
        self.assertUsageError(run("build", source, "--library", "x", "--window", "1,2/"), "--window")

    def test_windows_of_channels_of_8_bits(self):
        text = ome(channels=('Name="a" Color="-16776961"', 'Name="b" Color="16711935"')).replace("uint16", "uint8")
        levels = [(value(c, 0, 0) // 300).astype(numpy.uint8) for c in (0, 1)]
        source = write(folder("stack") / "cells.tif", [plane(levels[0], text), plane(levels[1])])
        _, plain = self.built(source, "--format", "png")
        for band in (0, 1):
            self.assertTrue((self.pixels(plain)[:, :, band] == levels[band]).all())
        reported, archive = self.built(source, "--format", "png", "--window", "20,100/p10,p90")
        low, high = numpy.percentile(levels[1], (10, 90))
        for band, (least, most) in enumerate(((20, 100), (low, high))):
            wanted = numpy.clip((levels[band].astype(float) - least) / (most - least), 0, 1) * 255
            self.assertLess(abs(self.pixels(archive)[:, :, band] - wanted).max(), 2)
        self.assertIn("a: values from 20 to 100 spread from black to white", reported["steps"])
        one = write(folder("one") / "plain.tif", [plane(levels[0])])
        reported, archive = self.built(one, "--format", "png", "--window", "20,100")
        self.assertIn("--window does not apply to samples of 8 bits", reported["steps"])
        self.assertTrue((self.pixels(archive) == levels[0]).all())

    def test_bands_of_a_stack_are_refused(self):
        self.assertIn("choose them with --channels", self.refused(stack(folder("stack") / "cells.tif"), "--bands", "1"))

    def test_the_api_lists_them_and_the_unchanged_is_not_built_again(self):
        source, library = stack(folder("stack") / "cells.tif"), folder("library")
        for status in ("built", "unchanged"):
            reported = [json.loads(line) for line in run("build", source, "--library", library, "--json").stdout.splitlines()]
            self.assertEqual([(each["id"], each["status"]) for each in reported], [("cells", status)])
        other = run("build", source, "--library", library, "--json", "--channels", "2").stdout.splitlines()
        self.assertEqual(json.loads(other[0])["status"], "built")
        with Server(library) as server:
            reported = json.loads(server.get("/api/images/cells").body)
        self.assertEqual(reported["dimensions"], {
            "channels": [{"name": "DAPI", "colour": "#0000ff", "isShown": False},
                         {"name": "GFP & more", "colour": "#00ff00", "isShown": True},
                         {"name": "channel 3", "colour": "#ff0000", "isShown": False}],
            "sizeZ": 5, "sizeT": 2, "z": 2, "t": 0})
        self.assertEqual(reported["micronsPerPixel"], 0.25)

    def test_a_converted_slides_label_is_no_page(self):
        before = '<Image ID="Image:9" Name="label image"/>'
        text = ome(channels=("",)).replace("</OME>", before + "</OME>")
        source = write(folder("stack") / "slide.ome.tif", [plane(value(0, 0, 0), text), plane(value(1, 0, 0))])
        reported, _ = self.built(source)
        self.assertEqual(reported["id"], "slide.ome")
        self.assertIn("the first of 2 images", reported["steps"])

    def test_descriptions_of_other_planes_give_pages(self):
        for inside, sizes in (('<TiffData><UUID FileName="a.tif"/></TiffData><TiffData><UUID FileName="b.tif"/></TiffData>', (3, 1, 1)),
                              ('<TiffData IFD="7" PlaneCount="3"/>', (3, 1, 1)), ('<TiffData IFD="-1"/>', (3, 1, 1))):
            reported, _ = self.built(stack(folder("stack") / "cells.tif", sizes=sizes, inside=inside))
            self.assertEqual(reported["id"], "cells/1")
        pages = write(folder("stack") / "pages.tif", [plane(value(c, 0, 0), "a letter") for c in range(3)])
        self.assertEqual(self.built(pages)[0]["id"], "pages/1")

    def test_planes_of_other_sizes_and_broken_text_give_one_line_or_pictures(self):
        text = ome(channels=("", ""))
        odd = write(folder("stack") / "cells.tif", [plane(value(0, 0, 0), text), plane(value(1, 0, 0)[:40])])
        self.assertIn("'channel 2' is of another size than the channel before", self.refused(odd))
        random = seed("stacks")
        for _ in range(12):
            broken = bytearray(stack(folder("stack") / "cells.tif", sizes=(2, 2, 1)).read_bytes())
            at = broken.index(b"<OME")
            for _ in range(random.choice((1, 3, 30))):
                broken[at + random.randrange(700)] = random.randrange(32, 127)
            path = folder("stack") / "cells.tif"
            path.write_bytes(broken)
            result = run("build", path, "--library", folder("library"), "--quiet")
            self.assertIn(result.returncode, (0, 1))
            lines = result.stderr.splitlines()
            # A directory that is broken, too, may be damage of a picture that is built.
            failures = [line for line in lines if ": built, but the TIFF file is " not in line]
            self.assertLessEqual(len(failures), 1, result.stderr)
            self.assertTrue(lines or result.returncode == 0, result.stderr)
            self.assertTrue(result.returncode == 1 or not failures, result.stderr)
            self.assertNotRegex(result.stderr, CRASH)
