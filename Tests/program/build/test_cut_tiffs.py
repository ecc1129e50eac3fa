"""TIFF files of several pages that end early, or whose list of pages is damaged: what is lost is reported, and its archives stay.

Files are laid out as libtiff writes them, each page's pixels before its directory. The number of pages that a file keeps is
known from where it was cut.
"""

import json
import struct
from pathlib import Path

import numpy
import tifffile
from harness import CommandTest, folder, run

WIDTH, HEIGHT, COUNT = 120, 90, 5
WIDTH_TAG = 256


def plane(number: int) -> numpy.ndarray:
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * (number + 1) + y) % 256).astype(numpy.uint8)


def chain(order: str = "<", is_big: bool = False, count: int = COUNT) -> tuple[bytearray, list[int]]:
    """A TIFF of gray pages with a description each, and the places of their directories."""
    number, size, entry = ("Q", 8, "HHQ") if is_big else ("I", 4, "HHI")
    mark = b"II" if order == "<" else b"MM"
    data = bytearray(mark + (struct.pack(order + "HHHQ", 43, 8, 0, 0) if is_big else struct.pack(order + "HI", 42, 0)))
    link, places = (8 if is_big else 4), []
    for page in range(count):
        start = len(data)
        data += plane(page).tobytes()
        text = b"page %d of a letter\0" % (page + 1)
        text_offset = len(data)
        data += text + bytes(-len(text) % 2)
        places.append(len(data))
        struct.pack_into(order + number, data, link, len(data))
        tags = [(256, WIDTH), (257, HEIGHT), (258, 8), (259, 1), (262, 1), (270, text_offset), (273, start), (277, 1),
                (278, HEIGHT), (279, WIDTH * HEIGHT)]
        data += struct.pack(order + ("Q" if is_big else "H"), len(tags))
        for tag, value in tags:
            kind, values = (2, len(text)) if tag == 270 else (4, 1)
            data += struct.pack(order + entry, tag, kind, values)
            # A value stands at the left of its field.
            data += (struct.pack(order + number, value) if tag == 270 else struct.pack(order + "I", value)).ljust(size, b"\0")
        link = len(data)
        data += bytes(size)
    return data, places


class CutTIFF(CommandTest):
    def setUp(self):
        self.sources, self.library = folder("sources"), folder("library")

    def built(self, *options) -> list[dict]:
        self.result = run("build", self.sources, "--library", self.library, "--json", "--quiet", *options)
        return [json.loads(line) for line in self.result.stdout.splitlines()]

    def ids(self) -> list[str]:
        return sorted(str(path.relative_to(self.library))[:-4] for path in self.library.rglob("*.szi")
                      if not any(part.startswith(".") for part in path.relative_to(self.library).parts))

    def put(self, name: str, data: bytes) -> Path:
        (self.sources / name).write_bytes(data)
        return self.sources / name

    def assertCut(self, report: list[dict], kept: int, kind: str = "truncated"):
        self.assertEqual([line["status"] for line in report], ["built"] * kept, report)
        self.assertEqual([line.get("damage") for line in report], [kind] + [None] * (kept - 1), report)
        self.assertIn(f"{kept} page{' is' if kept == 1 else 's are'} read", report[0]["reason"])

    def test_pages_behind_the_end(self):
        for order in "<>":
            for is_big in (False, True):
                data, places = chain(order, is_big)
                for kept in (1, 3, 4):
                    # Within the pixels of the first page that is lost, and within its directory.
                    for end in (places[kept] - 1000, places[kept] + 30):
                        with self.subTest(order=order, is_big=is_big, kept=kept, end=end):
                            self.setUp()
                            self.put("scan.tif", data[:end])
                            self.assertCut(self.built(), kept)
                            self.assertEqual(self.result.returncode, 0, self.result.stderr)

    def test_whole_files_have_no_damage(self):
        for order in "<>":
            for is_big in (False, True):
                self.put(f"{'big' if is_big else 'classic'}{order == '>':d}.tif", chain(order, is_big)[0])
        report = self.built()
        self.assertEqual([line.get("damage") for line in report], [None] * 4 * COUNT, report)

    def test_cut_files_are_refused_if_asked_for(self):
        data, places = chain()
        self.put("scan.tif", data[:places[3] - 10])
        report = self.built("--fail-on", "truncated")
        self.assertEqual(self.result.returncode, 1)
        self.assertEqual([line["status"] for line in report], ["failed"], report)
        self.assertEqual(self.ids(), [])

    def test_a_directory_that_is_none(self):
        """Its count of entries is 0, which TIFF 6.0, section 2, does not allow."""
        data, places = chain()
        data[places[3]:places[3] + 2] = bytes(2)
        self.put("scan.tif", data)
        self.assertCut(self.built(), 3, "error")

    def test_pages_behind_one_that_libtiff_refuses(self):
        """Page 3 has no width: it alone is lost, and reported."""
        data, places = chain()
        at = places[2] + 2
        self.assertEqual(struct.unpack_from("<H", data, at)[0], WIDTH_TAG)
        struct.pack_into("<H", data, at, 255)
        self.put("scan.tif", data)
        report = {line["id"]: line["status"] for line in self.built()}
        self.assertEqual(report, {f"scan/{page}": "failed" if page == 3 else "built" for page in range(1, COUNT + 1)})

    def test_values_behind_the_end(self):
        """libtiff writes values behind their directory, such as this description."""
        data, places = chain(count=2)
        text = b"a description that is lost"
        at = places[1] + 2 + 5 * 12
        self.assertEqual(struct.unpack_from("<H", data, at)[0], 270)
        struct.pack_into("<HHII", data, at, 270, 2, len(text), len(data))
        self.put("scan.tif", data + text[:10])
        report = self.built()
        self.assertEqual([line.get("damage") for line in report], ["truncated", None], report)
        self.assertRegex(report[0]["reason"], "page 2 .tag 270. lies behind its end")

    def test_a_reduced_copy_behind_the_end(self):
        """tifffile writes the directories that a page lists behind the page."""
        path = self.sources / "scan.tif"
        with tifffile.TiffWriter(path) as file:
            file.write(plane(1), subifds=1, metadata=None)
            file.write(plane(1)[::2, ::2], subfiletype=1, metadata=None)
        with tifffile.TiffFile(path) as file:
            place = file.pages[0].pages[0].offset
        path.write_bytes(path.read_bytes()[:place + 4])
        report = self.built()
        self.assertEqual([line.get("damage") for line in report], ["truncated"], report)
        self.assertRegex(report[0]["reason"], "a directory that page 1 lists lies behind its end; 1 page is read")

    def test_nothing_of_a_cut_file_is_pruned(self):
        data, places = chain()
        whole = [f"scan/{page}" for page in range(1, COUNT + 1)]
        self.put("scan.tif", data)
        self.put("other.tif", chain(count=1)[0])
        self.built("--prune")
        self.assertEqual(self.ids(), ["other", *whole])
        self.put("scan.tif", data[:places[3] - 10])
        dry = [line["id"] for line in self.built("--prune", "--dry-run") if "prune" in line["status"]]
        self.assertEqual(dry, [])
        self.assertEqual({line["status"] for line in self.built("--prune")} & {"pruned"}, set())
        self.assertEqual(self.ids(), ["other", *whole])
        # The next build changes nothing and still knows.
        self.built("--prune")
        self.assertEqual(self.ids(), ["other", *whole])
        # One page is left, which then is an image by itself.
        self.put("scan.tif", data[:places[1] - 10])
        self.built("--prune")
        self.assertEqual(self.ids(), ["other", "scan", *whole])
        # A whole file of fewer pages is another matter.
        self.put("scan.tif", chain(count=3)[0])
        self.built("--prune")
        self.assertEqual(self.ids(), ["other", *whole[:3]])

    def test_stacks(self):
        planes = numpy.stack([plane(number) for number in range(6)]).reshape(2, 3, HEIGHT, WIDTH)
        for name, how in (("cells.ome.tif", {"ome": True, "metadata": {"axes": "ZCYX"}, "photometric": "minisblack"}),
                          ("cells.tif", {"imagej": True, "metadata": {"axes": "ZCYX", "mode": "composite"}})):
            for share in (0.5, 0.9):
                with self.subTest(name, share=share):
                    self.setUp()
                    source = self.sources / name
                    tifffile.imwrite(source, planes, **how)
                    data = source.read_bytes()
                    source.write_bytes(data[:int(len(data) * share)])
                    report = self.built()
                    self.assertEqual(report[0].get("damage"), "truncated", report)

    def test_imagej_stack_without_directories(self):
        """As ImageJ writes more than 4 GB: one directory, and the planes one behind the other."""
        count = 4
        text = f"ImageJ=1.53t\nimages={count}\nslices={count}\n".encode() + b"\0"
        planes = b"".join(plane(number).tobytes() for number in range(count))
        tags = [(256, 4, 1, WIDTH), (257, 4, 1, HEIGHT), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (270, 2, len(text), 0),
                (273, 4, 1, 0), (277, 3, 1, 1), (278, 4, 1, HEIGHT), (279, 4, 1, WIDTH * HEIGHT)]
        after = 8 + 2 + 12 * len(tags) + 4
        values = {270: after, 273: after + len(text)}
        head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(
            struct.pack("<HHII", tag, kind, values_, values.get(tag, value)) for tag, kind, values_, value in tags)
        data = head + bytes(4) + text + planes
        self.put("whole.tif", data)
        self.put("cut.tif", data[:-WIDTH * HEIGHT - 10])
        report = {line["id"]: line for line in self.built()}
        self.assertNotIn("damage", report["whole"])
        self.assertEqual(report["cut"].get("damage"), "truncated", report)
        self.assertIn("2 of 4 planes", report["cut"]["reason"])
