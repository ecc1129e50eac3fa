"""Which values become black and white: percentiles, and values that are not finite. NumPy reckons what is wanted."""

import io
from pathlib import Path

import numpy
import tifffile
from harness import folder, run
from one_source import OneSource
from PIL import Image

WIDTH, HEIGHT = 90, 70


def samples(kind: str) -> numpy.ndarray:
    random = numpy.random.default_rng(5)
    wide = random.normal(1000, 300, (HEIGHT, WIDTH))
    return numpy.clip(wide, -100 if kind[0] != "u" else 0, 30000).astype(kind)


class Windows(OneSource):
    def pixels(self, source: Path, *options) -> numpy.ndarray:
        _, archive = self.built(source, "--format", "png", *options)
        return numpy.array(Image.open(io.BytesIO(self.tiles(archive)[0, 0])), float)

    def assertSpread(self, pixels: numpy.ndarray, values: numpy.ndarray, low: float, high: float) -> None:
        wanted = numpy.clip((values.astype(float) - low) / (high - low), 0, 1) * 255
        finite = numpy.isfinite(values)
        self.assertLess(abs(pixels - wanted)[finite].max(), 1.01)

    def test_percentiles_of_every_kind_of_samples(self):
        for kind in ("uint16", "int16", "uint32", "int32", "float32", "float64"):
            with self.subTest(kind):
                values = samples(kind)
                values[3, 4] = 65535 if kind == "uint16" else 32767
                source = folder("window") / "hot.tif"
                tifffile.imwrite(source, values, metadata=None)
                for low, high in ((0.5, 99.5), (0, 90), (12.5, 100)):
                    least, greatest = numpy.percentile(values.astype(float), [low, high])
                    self.assertSpread(self.pixels(source, "--window", f"p{low},p{high}"), values, least, greatest)
                self.assertSpread(self.pixels(source, "--window", "p1,2000"), values, numpy.percentile(values.astype(float), 1), 2000)

    def test_channels_have_their_own(self):
        planes = numpy.stack([samples("uint16"), samples("uint16") * 7 + 11])
        source = folder("window") / "two.ome.tif"
        tifffile.imwrite(source, planes, ome=True, metadata={"axes": "CYX"})
        pixels = self.pixels(source, "--window", "p2,p98")
        for band, plane in enumerate(planes):
            self.assertSpread(pixels[:, :, band], plane, *numpy.percentile(plane, [2, 98]))
        pixels = self.pixels(source, "--window", "p2,p98/0,9000")
        self.assertSpread(pixels[:, :, 0], planes[0], *numpy.percentile(planes[0], [2, 98]))
        self.assertSpread(pixels[:, :, 1], planes[1], 0, 9000)

    def test_what_is_not_finite_spoils_no_range(self):
        for kind in ("float32", "float64"):
            for odd in ([numpy.inf], [-numpy.inf], [numpy.nan], [numpy.inf, -numpy.inf, numpy.nan]):
                values = samples(kind)
                for number, each in enumerate(odd):
                    values[number * 7, 3] = each
                finite = values[numpy.isfinite(values)]
                source = folder("window") / "odd.tif"
                tifffile.imwrite(source, values, metadata=None)
                for options in ((), ("--window", "auto")):
                    pixels = self.pixels(source, *options)
                    self.assertSpread(pixels, values, finite.min(), finite.max())
                    self.assertTrue((pixels[values == numpy.inf] == 255).all())
                    self.assertTrue((pixels[values == -numpy.inf] == 0).all())
                self.assertSpread(self.pixels(source, "--window", "p1,p99"), values, *numpy.percentile(finite, [1, 99]))

    def test_what_is_no_number_is_black_and_in_alpha_transparent(self):
        values = numpy.linspace(0, 1, WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
        hole = numpy.zeros(values.shape, bool)
        hole[20:40, 30:70] = True
        source = folder("window") / "hole.tif"
        for kind in ("float16", "float32", "float64"):
            for factor, offset in ((1, 0), (200, 0), (9000, -500)):
                gray = (values * factor + offset).astype(kind)
                gray[hole] = numpy.nan
                tifffile.imwrite(source, gray, metadata=None)
                low, high = offset, offset + factor
                for options in ((), ("--window", "auto"), ("--window", f"{low + factor / 10},{high}")):
                    with self.subTest(kind, factor=factor, options=options):
                        found = self.pixels(source, *options)
                        self.assertTrue((found[numpy.isnan(gray)] == 0).all())
                        self.assertTrue((found[-5:, -5:] > 170).all())
            with self.subTest(kind, colours=4):
                colours = numpy.stack([values, values, values, numpy.ones_like(values)], -1).astype(kind)
                colours[hole, 1] = numpy.nan
                colours[5, 5, 3] = numpy.nan
                tifffile.imwrite(source, colours, photometric="rgb", extrasamples=["unassalpha"], metadata=None)
                found = self.pixels(source)
                # Colours of linear light have no meaning one by one.
                self.assertTrue((found[hole] == (0, 0, 0, 255)).all())
                self.assertEqual((found[5, 5, 3], found[5, 6, 3]), (0, 255))

    def test_a_picture_without_a_finite_value_is_built(self):
        source = folder("window") / "none.tif"
        tifffile.imwrite(source, numpy.full((HEIGHT, WIDTH), numpy.nan, "float32"), metadata=None)
        for options in ((), ("--window", "auto"), ("--window", "p1,p99")):
            self.assertEqual(numpy.unique(self.pixels(source, *options)).tolist(), [0])

    def test_what_is_no_window(self):
        source = folder("window") / "a.tif"
        tifffile.imwrite(source, samples("uint16"), metadata=None)
        for wrong in ("p1", "p99,p1", "p-1,p50", "p0,p101", "p1,px", "5,p", "9,3"):
            self.assertUsageError(run("build", source, "--library", "x", "--window", wrong), "--window")
