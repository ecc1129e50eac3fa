"""RAW photographs: developed as LibRaw does it by itself, or as the camera's JPEG of full size, and never as a small one."""

import io
import json
import re
import struct
import unittest
from pathlib import Path

import numpy
import raw_photos
import rawpy
import slides
from harness import folder, photo, run
from one_source import OneSource, picture
from PIL import Image

SCENE = picture(320, 210)
STARTS = {"a.cr3": b"\0\0\0\x18ftypcrx \0\0\0\1crx isom", "a.raf": b"FUJIFILMCCD-RAW 0201", "a.orf": b"IIRO\x08\0\0\0",
          "a.rw2": b"IIU\0\x18\0\0\0", "a.crw": b"II\x1a\0\0\0HEAPCCDR", "a.x3f": b"FOVb\0\0\2\0"}


def single(path: Path, filters: str = "RGGB", bits: int = 16, orientation: int = 1) -> Path:
    return raw_photos.write(path, raw_photos.sensor(SCENE, filters, bits) | raw_photos.dng(bits, orientation=orientation))


def of_camera(path: Path, side: int, maker: str = "Acme", model: str = "One", **fields) -> Path:
    """As cameras lay it out: a preview first, the sensor in a SubIFD."""
    small = SCENE.resize((side, side * SCENE.height // SCENE.width))
    first = raw_photos.preview(small) | raw_photos.names(maker, model, fields.pop("orientation", 1))
    return raw_photos.write(path, first, raw_photos.sensor(SCENE) | {int(tag[1:]): value for tag, value in fields.items()})


def psnr(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return 10 * numpy.log10(255**2 / max(((one - other) ** 2).mean(), 1e-9))


class RawFiles(OneSource):
    def pixels(self, archive: Path) -> numpy.ndarray:
        """The full resolution of an archive of one tile."""
        (tile,) = self.tiles(archive).values()
        return numpy.asarray(Image.open(io.BytesIO(tile)).convert("RGB")).astype(float)

    def developed(self, source: Path) -> numpy.ndarray:
        with rawpy.imread(str(source)) as raw:
            return raw.postprocess(use_camera_wb=True).astype(float)

    def test_developed_as_by_libraw_alone(self):
        """Of a LibRaw of another version, with the same parameters."""
        sources, library = folder("sources"), folder("library")
        for filters in raw_photos.FILTERS:
            for bits in (12, 14, 16):
                single(sources / f"{filters}-{bits}.dng", filters, bits)
        for orientation in range(1, 9):
            single(sources / f"turned-{orientation}.dng", orientation=orientation)
        self.assertEqual(run("build", sources, "--library", library, "--format", "png").returncode, 0)
        for source in sorted(sources.iterdir()):
            with self.subTest(source.name):
                expected, found = self.developed(source), self.pixels(library / f"{source.stem}.szi")
                self.assertEqual(found.shape, expected.shape)
                self.assertGreaterEqual(psnr(found, expected), 45)
        # That it can fail: the picture turned by 180° is another one.
        one, other = (self.pixels(library / f"turned-{number}.szi") for number in (1, 3))
        self.assertLess(psnr(one, other), 30)
        self.assertGreaterEqual(psnr(one, other[::-1, ::-1]), 30)
        # The scene itself, brighter.
        for band in range(3):
            self.assertGreater(numpy.corrcoef(one[..., band].ravel(), numpy.asarray(SCENE)[..., band].ravel())[0, 1], 0.9)

    def test_developed_under_any_name_and_with_the_sensor_in_any_position(self):
        place = folder("raw")
        for source in (single(place / "photo.tif"), single(place / "photo.cr2"),
                       raw_photos.write(place / "sub.dng", raw_photos.preview(SCENE.resize((128, 84))) | raw_photos.dng(),
                                        raw_photos.sensor(SCENE))):
            reported, archive = self.built(source, "--format", "png")
            self.assertEqual((reported["width"], reported["height"]), SCENE.size)
            self.assertGreaterEqual(psnr(self.pixels(archive), self.developed(source)), 45)
        inspected = json.loads(run("inspect", place / "photo.tif", "--json").stdout)
        self.assertEqual((inspected["width"], inspected["format"]), (SCENE.width, "raw"))
        self.assertRegex(" ".join(inspected["steps"]), r"developed by LibRaw [\d.]+ with the camera's white balance")

    def test_the_preview_where_it_is_asked_for(self):
        source = of_camera(folder("raw") / "a.dng", SCENE.width, t50706=(1, [1, 4, 0, 0]))
        expected = numpy.asarray(Image.open(io.BytesIO(slides.jpeg(SCENE, 90)))).astype(float)
        _, archive = self.built(source, "--format", "png", "--raw", "preview")
        self.assertGreaterEqual(psnr(self.pixels(archive), expected), 45)
        _, archive = self.built(source, "--format", "png", "--raw", "camera")
        self.assertLess(psnr(self.pixels(archive), expected), 40)

    def test_the_preview_of_full_size_of_cameras_that_libraw_does_not_know(self):
        place = folder("raw")
        expected = numpy.asarray(Image.open(io.BytesIO(slides.jpeg(SCENE, 90)))).astype(float)
        # One that LibRaw opens, one whose compression it does not have, and one without a maker.
        for source in (of_camera(place / "a.nef", SCENE.width), of_camera(place / "b.nef", SCENE.width, t259=(3, [50000])),
                       of_camera(place / "c.nef", SCENE.width, "", "")):
            with self.subTest(source.name):
                reported, archive = self.built(source, "--format", "png")
                self.assertGreaterEqual(psnr(self.pixels(archive), expected), 45)
                self.assertRegex(" ".join(reported["steps"]), r"preview of 320×210 .*not developed: LibRaw [\d.]+ does not know")
        turned, _ = self.built(of_camera(place / "d.nef", SCENE.width, orientation=6))
        self.assertEqual((turned["width"], turned["height"]), (SCENE.height, SCENE.width))

    def test_floating_point_dng_is_refused_by_name(self):
        """LibRaw 0.20 takes such samples for integers, or for damage."""
        place = folder("raw")
        first = raw_photos.sensor(SCENE) | raw_photos.dng()
        light = (numpy.asarray(SCENE) / 255.0).astype("<f2")
        linear = first | {"data": light.tobytes(), 262: (3, [34892]), 277: (3, [3]), 258: (3, [16] * 3), 339: (3, [3] * 3)}
        for tag in (33421, 33422):
            linear.pop(tag)
        deep = first | {"data": light[..., 0].astype("<f4").tobytes(), 258: (3, [32]), 339: (3, [3])}
        for name, directory in (("linear", linear), ("mosaic", deep)):
            source = raw_photos.write(place / f"{name}.dng", directory)
            self.assertRegex(self.refused(source), "is a RAW photograph .DNG. that cannot be built: floating-point DNG is not read, "
                             "and it has no preview; develop it first")
        source = of_camera(place / "preview.dng", SCENE.width, t50706=(1, [1, 4, 0, 0]), t339=(3, [3]))
        report, _ = self.built(source)
        self.assertRegex(" ".join(report["steps"]), "preview of 320×210 .*not developed: floating-point DNG is not read")

    def test_a_small_preview_is_never_the_photograph(self):
        place = folder("raw")
        for source in (of_camera(place / "a.nef", 160), of_camera(place / "b.nef", 160, t259=(3, [50000]))):
            self.assertRegex(self.refused(source), r"is a RAW photograph .* cannot be built: LibRaw [\d.]+ does not know .*, "
                             r"and it has a preview of 160×105 pixels only; develop it first")
        known = raw_photos.write(place / "c.dng", raw_photos.preview(SCENE.resize((128, 84))) | raw_photos.dng(),
                                 raw_photos.sensor(SCENE))
        self.assertRegex(self.refused(known, "--raw", "preview"), "cannot be built: it has a preview of 128×84 pixels only")
        for name, start in STARTS.items():
            for source in (place / ("photo" + name[1:]), place / "photo.tif"):
                source.write_bytes(start + bytes(5000))
                self.assertRegex(self.refused(source), "is a RAW photograph .* it has no preview")
        reduced = slides.strip(picture(160, 120), "", 1)
        self.assertIn("small pictures only", self.refused(slides.write(place / "photo.iiq", [reduced])))

    def needed(self, source: Path, *options) -> int:
        """The MB that a build is said to take."""
        reported = self.refused(source, "--memory-limit", "100", *options)
        return int(re.search(r"takes about (\d+) MB", reported)[1])

    def test_memory(self):
        place, (width, height) = folder("raw"), (3000, 2000)
        large = SCENE.resize((width, height))
        sensor = raw_photos.sensor(large)
        mosaic = raw_photos.write(place / "mosaic.dng", sensor | raw_photos.dng())
        # Three samples for each pixel (DNG 1.4, LinearRaw): LibRaw keeps four of two bytes, instead of one.
        samples = numpy.asarray(large).astype("<u2") * 257
        linear = {tag: value for tag, value in sensor.items() if tag not in (33421, 33422)} | {
            "data": samples.tobytes(), 258: (3, [16] * 3), 262: (3, [34892]), 277: (3, [3])}
        linear = raw_photos.write(place / "linear.dng", linear | raw_photos.dng())
        self.assertEqual(self.built(linear)[0]["width"], width)
        pixels = width * height
        self.assertGreaterEqual((self.needed(linear) - self.needed(mosaic)) << 20, 5 * pixels)
        # A preview is decoded whole.
        large, unread = SCENE.resize((6000, 4000)), {256: (4, [6000]), 257: (4, [4000]), 259: (3, [50000])}
        first = raw_photos.preview(large) | raw_photos.names("Acme", "One")
        self.assertGreaterEqual(self.needed(raw_photos.write(place / "a.nef", first, sensor | unread)) << 20, 3 * 6000 * 4000)

    def test_damaged(self):
        place = folder("raw")
        source = single(place / "a.dng")
        whole = source.read_bytes()
        # Most samples lie behind the file's end.
        source.write_bytes(whole.replace(struct.pack("<HHII", 273, 4, 1, 8), struct.pack("<HHII", 273, 4, 1, len(whole) - 1000)))
        self.assertIn("is a RAW photograph that is damaged or cut short", self.refused(source))

    def test_other_pictures_with_their_names(self):
        plain = slides.write(folder("raw") / "photo.nef", [slides.strip(picture(300, 200), "")])
        self.assertEqual(self.built(plain)[0]["width"], 300)
        source = photo(folder("raw") / "photo.jpg", 300, 200).rename(folder("raw") / "photo.dng")
        self.assertEqual(self.built(source)[0]["width"], 300)

    def test_in_a_folder(self):
        sources, library = folder("photos"), folder("library")
        photo(sources / "one.jpg", 300, 200)
        single(sources / "one.DNG")
        single(sources / "two.dng")
        of_camera(sources / "three.NEF", 160)
        result = run("build", sources, "--library", library)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(?m)/three\.NEF: is a RAW photograph")
        self.assertEqual(result.stderr.splitlines()[-1], "3 built, 1 failed")
        self.assertEqual(sorted(path.stem for path in library.glob("*.szi")), ["one.DNG", "one.jpg", "two"])
        self.assertEqual(run("build", sources, "--library", library, "--json").stdout.count('"unchanged"'), 3)

    def test_what_was_built_of_a_preview_is_no_reason_to_call_it_unchanged(self):
        source, library = slides.write(folder("raw") / "photo.tif", [slides.strip(picture(300, 200), "")]), folder("library")
        self.assertEqual(run("build", source, "--library", library).returncode, 0)
        single(source)
        self.assertEqual(run("build", source, "--library", library).returncode, 0)
        self.assertEqual(self.pixels(library / "photo.szi").shape, (SCENE.height, SCENE.width, 3))

    def test_pyramids_in_subifds_are_pictures(self):
        """Smaller ones, as libvips and Bio-Formats write them."""
        first = slides.strip(picture(400, 300), "")
        first.parts = [slides.strip(picture(200, 150), "", 1)]
        self.assertEqual(self.built(slides.write(folder("pyramid") / "a.tif", [first]))[0]["width"], 400)


if __name__ == "__main__":
    unittest.main()
