"""`inspect` of sources: by which way their tiles would be made, with the options that a build would have."""

import json
import subprocess
import unittest

from harness import CommandTest, folder, photo, run


def vips(*arguments):
    subprocess.run(["vips", *map(str, arguments)], check=True, capture_output=True)


class Sources(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("inspect")
        cls.plain = photo(cls.base / "plain.v", 320, 256)

    def route(self, source, *options):
        result = run("inspect", source, "--json", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["route"]

    def made(self, name, *saving):
        """The photograph saved as `name`, with what libvips' saver takes in brackets."""
        path = self.base / name
        vips("copy", self.plain, f"{path}[{','.join(saving)}]" if saving else path)
        return path

    def test_what_libvips_reads_and_why(self):
        for name, saving, reason in (
                ("palette.png", ("palette",), "its palette"), ("interlaced.png", ("interlace",), "its interlacing"),
                ("two.png", ("palette", "bitdepth=1"), "its palette"), ("a.webp", (), "its format (webp)"),
                ("a.gif", (), "its format (gif)"), ("a.avif", (), "its format (heif)"), ("a.ppm", (), "its format (ppm)"),
                ("zstd.tif", ("compression=zstd",), "its compression (50000)"),
                ("large.tif", ("tile", "tile-width=256", "tile-height=256"),
                 "its strips or tiles of 256 × 256, too large to be decoded by themselves")):
            with self.subTest(name):
                route = self.route(self.made(name, *saving), "--tile-size", "100")
                self.assertEqual(route, f"exact: read by libvips, for {reason}")

    def test_kinds_of_samples(self):
        base = self.base
        vips("colourspace", self.plain, base / "deep.png", "rgb16")
        vips("colourspace", self.plain, base / "deep.tif", "rgb16")
        vips("colourspace", self.plain, base / "float.tif", "scrgb")
        vips("colourspace", self.plain, base / "lab.tif", "lab")
        vips("colourspace", self.plain, base / "cmyk.tif", "cmyk")
        vips("colourspace", self.plain, base / "cmyk.jpg", "cmyk")
        vips("bandjoin_const", self.plain, base / "alpha.png", "128")
        vips("bandjoin_const", self.plain, base / "alpha.tif", "128")
        for name, reason in (("deep.png", "its 16 bits a channel"), ("deep.tif", "its 16 bits a channel"),
                             ("float.tif", "its floating-point samples"), ("lab.tif", "its floating-point samples"),
                             ("cmyk.tif", "its CMYK"), ("cmyk.jpg", "its CMYK"),
                             ("alpha.png", "its alpha, which the tiles have not"), ("alpha.tif", "its 4 channels")):
            with self.subTest(name):
                route = self.route(base / name)
                self.assertTrue(route.startswith(f"exact: read by libvips, for {reason}"), route)
        self.assertEqual(self.route(base / "alpha.png", "--format", "webp"), "exact: PNG rows")
        self.assertEqual(self.route(base / "alpha.png", "--format", "auto"), "exact: PNG rows")

    def test_what_is_done_to_every_pixel(self):
        turned = self.made("turned.jpg")
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-n", "-Orientation=6", turned], check=True)
        self.assertEqual(self.route(turned), "exact: read by libvips, for its EXIF orientation 6")
        reported = self.base / "told.jpg"
        vips("copy", self.plain, f"{reported}[profile=/usr/share/color/icc/colord/ProPhotoRGB.icc]")
        self.assertIn("read by libvips, for its profile \"", self.route(reported))
        self.assertNotIn("libvips", self.route(reported, "--profile", "keep"))

    def test_pages(self):
        book = self.base / "book.tif"
        vips("copy", self.plain, self.base / "page.tif")
        vips("arrayjoin", f"{self.base}/page.tif {self.base}/page.tif", self.base / "both.v", "--across", "1")
        vips("tiffsave", self.base / "both.v", book, "--page-height", "256")
        self.assertEqual(self.route(book), "exact: read by libvips, for page 1 of a file of several")

    def test_the_options_of_a_build(self):
        photograph = self.made("photograph.jpg", "Q=60")
        for options, word in (
                ((), "lossless: "), (("--fidelity", "exact"), "exact: as asked"), (("--fidelity", "fast"), "planar: "),
                (("--quality", "30"), "planar: "), (("--tile-size", "250"), "exact: the tile size is not a multiple of 16"),
                (("--format", "png"), "exact: the tiles are not JPEG"), (("--quality", "90"), "lossless: "),
                (("--downsample", "linear"), "exact: linear light")):
            with self.subTest(options):
                self.assertIn(word, self.route(photograph, *options)[:len(word) + 1])
                library = folder("library")
                result = run("build", photograph, "--library", library, "--json", "--quiet", *options)
                self.assertEqual(json.loads(result.stdout)["route"], self.route(photograph, *options))
        self.assertUsageError(run("inspect", photograph, "--quality", "101"), "--quality", "1 to 100")
        self.assertUsageError(run("inspect", photograph, "--fidelity", "best"), "--fidelity", "best")
        self.assertUsageError(run("inspect", photograph, "--fidelty", "fast"), "did you mean '--fidelity'")


if __name__ == "__main__":
    unittest.main()
