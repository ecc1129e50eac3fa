"""Colours against references that share no code with the builder's way: LittleCMS in one step from the
source's profile to sRGB, and arithmetic. The mean CIEDE2000 is under 1, at full resolution and shrunk."""

import base64
import io
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import json
import numpy as np
from PIL import Image, ImageCms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import folder, run
import colour_science as science

ICC = Path("/usr/share/color/icc")
INTENTS = {"perceptual": 0, "relative": 1, "saturation": 2, "absolute": 3}
SIZE = 256


def colours(seed, bands):
    """A slope through the space with flat patches of every colour on it, and 16-pixel steps to survive JPEG."""
    random = np.random.default_rng(seed)
    patches = random.integers(0, 256, (SIZE // 16, SIZE // 16, bands)).repeat(16, 0).repeat(16, 1)
    slope = np.linspace(0, 255, SIZE).astype(int)
    patches[:64] = np.stack([slope if band % 2 else slope[::-1] for band in range(bands)], -1)
    return patches.astype(np.uint8)


def halved(picture):
    return np.rint(picture.reshape(SIZE // 2, 2, SIZE // 2, 2, -1).mean((1, 3))).astype(np.uint8).squeeze()


BLACK_POINT_COMPENSATION = 0x2000


def by_littlecms(image, profile, intent="perceptual", flags=0):
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    return np.asarray(ImageCms.profileToProfile(
        image, source, ImageCms.createProfile("sRGB"), renderingIntent=INTENTS[intent], outputMode="RGB",
        flags=flags))


class Colour(unittest.TestCase):
    def built(self, source, *options):
        """The levels 256 and 128 pixels wide, and the record of the build."""
        base = folder("library")
        result = run("build", source, "--library", base, "--format", "png", "--quiet", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with zipfile.ZipFile(base / f"{source.stem}.szi") as archive:
            def picture(name):
                return np.asarray(Image.open(io.BytesIO(archive.read(f"{source.stem}/{source.stem}_files/{name}"))))
            record = json.loads(archive.read(f"{source.stem}/vendor/ziggurat/build.json"))
            return picture("8/0_0.png"), picture("7/0_0.png"), record

    def assertNear(self, wanted, source, *options, step=None):
        top, shrunk, record = self.built(source, *options)
        reference = halved(wanted)
        for built, picture in ((top, wanted), (shrunk, reference)):
            difference = science.ciede2000(science.lab(built), science.lab(picture))
            print(f"{difference.mean():.3f} ", end="")
            self.assertLess(difference.mean(), 1)
        if step:
            self.assertTrue(any(step in line for line in record["steps"]), record["steps"])
        return record

    def test_formula_of_ciede2000(self):
        # From the table of Sharma, Wu and Dalal.
        for first, second, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                                      ((50, 2.5, 0), (73, 25, -18), 27.1492),
                                      ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
                                      ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373)):
            self.assertAlmostEqual(float(science.ciede2000(np.array(first), np.array(second))), wanted, 4)

    def test_rgb_profiles(self):
        names = ["compatibleWithAdobeRGB1998.icc", "LStar-RGB.icc", "colord/ProPhotoRGB.icc",
                 "colord/WideGamutRGB.icc", "colord/AppleRGB.icc", "colord/ECI-RGBv2.icc",
                 "colord/SwappedRedAndGreen.icc", "colord/Rec709.icc", "sRGB.icc"]
        for number, name in enumerate(names):
            profile = (ICC / name).read_bytes()
            for ending, saving in (("png", {}), ("tif", {}), ("jpg", {"quality": 100, "subsampling": 0})):
                with self.subTest(f"{name} {ending}"):
                    source = folder("rgb") / f"picture.{ending}"
                    Image.fromarray(colours(number, 3)).save(source, icc_profile=profile, **saving)
                    is_srgb = name == "sRGB.icc"
                    record = self.assertNear(by_littlecms(Image.open(source), profile), source,
                                             step=None if is_srgb else "to sRGB by its embedded profile")
                    if is_srgb:
                        self.assertEqual(record["steps"], [])

    def test_a_kept_profile_is_in_every_tile_and_the_colours_are_the_sources(self):
        profile = (ICC / "colord/AdobeRGB1998.icc").read_bytes()
        # Every way to a tile: rows, planes, coefficients, and each format's own place for a profile.
        for ending, saving, options in (
                ("png", {}, ("--format", "png")), ("png", {}, ("--format", "jpeg")), ("png", {}, ("--format", "webp")),
                ("png", {}, ("--format", "avif")), ("jpg", {"quality": 90, "subsampling": 2}, ("--fidelity", "fast")),
                ("jpg", {"quality": 75, "subsampling": 2}, ("--fidelity", "lossless")), ("png", {}, ("--format", "jxl")),
                ("jpg", {"quality": 75, "subsampling": 2}, ("--fidelity", "lossless", "--format", "jxl")), ("tif", {}, ("--format", "webp"))):
            with self.subTest(f"{ending} {options}"):
                source, base = folder("kept") / f"picture.{ending}", folder("library")
                Image.fromarray(colours(3, 3)).save(source, icc_profile=profile, **saving)
                result = run("build", source, "--library", base, "--profile", "keep", "--quiet", *options)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(run("verify", base, "--quiet").returncode, 0)
                with zipfile.ZipFile(base / "picture.szi") as archive:
                    tiles = [name for name in archive.namelist() if "_files/" in name]
                    for name in tiles:
                        # Pillow reads no AVIF and no JPEG XL; libvips reads all of them.
                        tile = base / f"tile{Path(name).suffix}"
                        tile.write_bytes(archive.read(name))
                        found = subprocess.run(["vipsheader", "-f", "icc-profile-data", tile], capture_output=True)
                        self.assertEqual(base64.b64decode(found.stdout), profile, name)
                        if "/8/" in name:
                            subprocess.run(["vips", "copy", tile, base / "top.png[strip]"], check=True)
                            top = np.asarray(Image.open(base / "top.png").convert("RGB"))
                    record = json.loads(archive.read("picture/vendor/ziggurat/build.json"))
                self.assertEqual(record["steps"], ['embedded profile "Compatible with Adobe RGB (1998)" kept, in every tile'])
                difference = np.abs(top.astype(int) - np.asarray(Image.open(source).convert("RGB")).astype(int))
                self.assertLessEqual(difference.mean(), 0 if "png" in options else 6)

    def test_what_is_made_of_kept_colours_is_srgb(self):
        profile = (ICC / "colord/AdobeRGB1998.icc").read_bytes()
        for tiles in ("png", "jpeg"):
            with self.subTest(tiles):
                source, base = folder("kept") / "picture.png", folder("library")
                Image.fromarray(colours(4, 3)).save(source, icc_profile=profile)
                run("build", source, "--library", base, "--profile", "keep", "--format", tiles, "--quality", "100")
                run("export", base / "picture.szi", "--layout", "dz", "--tile-size", "100", "--format", "png",
                    "--output", base / "tree")
                made = Image.open(base / "tree/picture_files/8/1_1.png")
                self.assertNotIn("icc_profile", made.info)
                wanted = by_littlecms(Image.open(source), profile, "relative")[100:200, 100:200]
                difference = science.ciede2000(science.lab(np.asarray(made.convert("RGB"))), science.lab(wanted))
                # Chroma of half resolution blurs the patches' borders.
                self.assertLess(difference.mean(), 0.5 if tiles == "png" else 4)

    def test_what_needs_no_profile_keeps_none(self):
        base = folder("kept")
        Image.fromarray(colours(3, 3)).save(base / "picture.png", icc_profile=(ICC / "sRGB.icc").read_bytes())
        top, _, record = self.built(base / "picture.png", "--profile", "keep")
        self.assertEqual(record["steps"], [])

    def test_cmyk_is_converted_even_where_profiles_are_kept(self):
        profile = (ICC / "ghostscript/default_cmyk.icc").read_bytes()
        source = folder("cmyk") / "picture.tif"
        Image.fromarray(colours(5, 4), "CMYK").save(source, icc_profile=profile)
        self.assertNear(by_littlecms(Image.open(source), profile), source, "--profile", "keep", step="to sRGB")

    def test_intents_of_cmyk(self):
        profile = (ICC / "ghostscript/default_cmyk.icc").read_bytes()
        for intent in INTENTS:
            for ending, saving in (("tif", {}), ("jpg", {"quality": 100, "subsampling": 0})):
                with self.subTest(f"{intent} {ending}"):
                    source = folder("cmyk") / f"picture.{ending}"
                    Image.fromarray(colours(5, 4), "CMYK").save(source, icc_profile=profile, **saving)
                    self.assertNear(by_littlecms(Image.open(source), profile, intent), source,
                                    "--intent", intent, step=f", {intent}")

    def test_cmyk_without_profile(self):
        base = folder("bare")
        Image.fromarray(colours(6, 3)).save(base / "rgb.png")
        subprocess.run(["vips", "icc_export", base / "rgb.png", base / "told.tif", "--output-profile", "cmyk"],
                       check=True)
        profile = Image.open(base / "told.tif").info["icc_profile"]
        for ending in ("tif", "jpg"):
            with self.subTest(ending):
                source = base / f"picture.{ending}"
                Image.fromarray(colours(6, 4), "CMYK").save(source)
                self.assertNear(by_littlecms(Image.open(source), profile, "relative", BLACK_POINT_COMPENSATION),
                                source, step="without a profile")
                self.assertNear(by_littlecms(Image.open(source), profile, "relative"), source,
                                "--intent", "relative", step="own, relative")

    def test_gray_profiles(self):
        for name in ("Gray.icc", "Gray-CIE_L.icc"):
            with self.subTest(name):
                profile = (ICC / name).read_bytes()
                source = folder("gray") / "picture.png"
                Image.fromarray(colours(7, 1)[..., 0]).save(source, icc_profile=profile)
                self.assertNear(by_littlecms(Image.open(source), profile)[..., 1], source, step="embedded profile")

    def test_gray_under_a_profile_of_rgb(self):
        profile = (ICC / "colord/ProPhotoRGB.icc").read_bytes()
        source = folder("gray") / "picture.tif"
        Image.fromarray(colours(8, 1)[..., 0]).save(source, icc_profile=profile)
        self.assertNear(by_littlecms(Image.open(source).convert("RGB"), profile)[..., 1], source, step="perceptual")

    def test_16_bits_under_a_profile(self):
        # Adobe RGB (1998) by its own numbers: gamma 563/256 and primaries, adapted to D50.
        matrix = np.array([[0.60974, 0.20528, 0.14919], [0.31111, 0.62567, 0.06322], [0.01947, 0.06087, 0.74457]])
        base = folder("deep")
        deep = colours(9, 3).astype(np.uint16) * 257
        (base / "deep.ppm").write_bytes(b"P6 %d %d 65535\n" % (SIZE, SIZE) + deep.astype(">u2").tobytes())
        for ending in ("tif", "png"):
            with self.subTest(ending):
                source = base / f"picture.{ending}"
                subprocess.run(["vips", "copy", base / "deep.ppm",
                                f"{source}[profile={ICC}/compatibleWithAdobeRGB1998.icc]"], check=True)
                wanted = science.xyz_to_srgb((deep / 65535) ** (563 / 256) @ matrix.T)
                self.assertNear(wanted, source, step="rgb16 to sRGB")

    def test_16_bits_and_linear_floats_without_profile(self):
        base = folder("bare")
        eight = colours(10, 3)
        (base / "picture.ppm").write_bytes(
            b"P6 %d %d 65535\n" % (SIZE, SIZE) + (eight.astype(np.uint16) * 257).astype(">u2").tobytes())
        self.assertNear(eight, base / "picture.ppm", step="from rgb16")
        Image.fromarray(eight).save(base / "eight.png")
        for factor, step in ((1, "from scrgb"), (2, "light above 1 is white: its values go up to 2")):
            with self.subTest(factor):
                source = base / f"float{factor}.tif"
                subprocess.run(["vips", "colourspace", base / "eight.png", base / "one.v", "scrgb"], check=True)
                subprocess.run(["vips", "linear", base / "one.v", source, str(factor), "0"], check=True)
                wanted = np.rint(255 * science.numbers(factor * science.light(eight / 255))).astype(np.uint8)
                self.assertNear(wanted, source, step=step)

    def test_lab(self):
        lab = colours(11, 3).astype(float) * [100 / 255, 0.4, 0.4] - [0, 51, 51]
        base = folder("lab")
        (base / "lab.raw").write_bytes(lab.astype("<f4").tobytes())
        subprocess.run(["vips", "rawload", base / "lab.raw", base / "raw.v", str(SIZE), str(SIZE), "3",
                        "--format", "float", "--interpretation", "lab"], check=True)
        subprocess.run(["vips", "copy", base / "raw.v", base / "picture.tif"], check=True)
        self.assertNear(science.xyz_to_srgb(science.lab_to_xyz(lab)), base / "picture.tif", step="from lab")

    def test_profile_that_is_none(self):
        source = folder("broken") / "picture.png"
        picture = colours(12, 3)
        Image.fromarray(picture).save(source, icc_profile=b"no profile at all" * 20)
        self.assertNear(picture, source)

    def test_linear_light(self):
        source = folder("linear") / "picture.png"
        picture = colours(13, 3)
        picture[::2, ::2] = 255 - picture[::2, ::2]
        Image.fromarray(picture).save(source)
        top, shrunk, record = self.built(source, "--downsample", "linear")
        self.assertTrue((top == picture).all())
        mean = science.light(picture / 255).reshape(SIZE // 2, 2, SIZE // 2, 2, 3).mean((1, 3))
        wanted = np.rint(255 * science.numbers(mean)).astype(int)
        self.assertLessEqual(np.abs(shrunk.astype(int) - wanted).max(), 1)
        self.assertEqual(record["steps"], ["shrunk in linear light"])
        # The two means do differ on such a picture, or this would prove nothing.
        self.assertGreater(np.abs(halved(picture).astype(int) - wanted).max(), 20)

    def test_bad_intent(self):
        result = run("build", "x.png", "--library", folder("x"), "--intent", "vivid")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assertIn("invalid value 'vivid' for --intent (expected perceptual, relative, saturation or absolute)", result.stderr)


if __name__ == "__main__":
    unittest.main()
