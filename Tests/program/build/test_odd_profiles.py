"""Profiles that do not fit their pictures: of another colour space, or broken. They are ignored and reported, in every
format. What is right is the same picture without a profile."""

import io
import json
import subprocess
import unittest
import zipfile
from pathlib import Path

import numpy
import tifffile
from PIL import Image, ImageCms, PngImagePlugin

from harness import CommandTest, folder, run

ICC = Path("/usr/share/color/icc/ghostscript")
GRAY, CMYK, RGB = ((ICC / f"{name}.icc").read_bytes() for name in ("sgray", "default_cmyk", "srgb"))
# A profile that opens and has no table to convert by.
HOLLOW = bytearray(RGB)
for number, tag in enumerate((b"rXYZ", b"gXYZ", b"bXYZ", b"rTRC")):
    at = HOLLOW.index(tag, 128)
    HOLLOW[at:at + 4] = b"xxx%d" % number
ODD = {"of gray": (GRAY, "it is for GRAY, and the picture is srgb"), "of CMYK": (CMYK, "it is for CMYK, and the picture is srgb"),
       "garbage": (b"abcd" * 100, "embedded profile ignored: it is no ICC profile"), "hollow": (bytes(HOLLOW), "ignored: it is damaged")}


def picture() -> numpy.ndarray:
    y, x = numpy.mgrid[0:90, 0:120]
    return numpy.stack([x * 2, y * 2, 255 - x - y], -1).clip(0, 255).astype(numpy.uint8)


class Profiles(CommandTest):
    def built(self, place: Path, *options) -> dict[str, tuple[dict, numpy.ndarray]]:
        library = folder("library")
        result = run("build", place, "--library", library, "--json", "--quiet", "--format", "png", *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = {}
        for line in result.stdout.splitlines():
            reported = json.loads(line)
            with zipfile.ZipFile(library / f"{reported['id']}.szi") as szi:
                names = [name for name in szi.namelist() if "_files/" in name and "/0_0." in name]
                top = max(names, key=lambda name: int(name.split("/")[-2]))
                found[Path(reported["source"]).name] = reported, numpy.array(Image.open(io.BytesIO(szi.read(top))).convert("RGB"))
        return found

    def write(self, place: Path, name: str, profile: bytes | None):
        rgb = Image.fromarray(picture())
        extra = {"icc_profile": profile} if profile else {}
        rgb.save(place / f"{name}.jpg", quality=90, **extra)
        rgb.save(place / f"{name}.turned.jpg", quality=90, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", **extra)
        rgb.save(place / f"{name}.png", **extra)
        rgb.quantize(32).save(place / f"{name}.palette.png", **extra)
        rgb.save(place / f"{name}.tif", compression="tiff_lzw", **extra)
        rgb.save(place / f"{name}.webp", lossless=True, **extra)
        rgb.save(place / f"{name}.avif", quality=100, subsampling="4:4:4", **extra)

    def test_rgb_under_profiles_of_other_spaces_and_broken_ones(self):
        place = folder("profiles")
        self.write(place, "none", None)
        for name, (profile, _) in ODD.items():
            self.write(place, name, profile)
        found = self.built(place)
        for name, (_, reason) in ODD.items():
            for ending in ("jpg", "turned.jpg", "png", "palette.png", "tif", "webp", "avif"):
                with self.subTest(name, ending=ending):
                    reported, pixels = found[f"{name}.{ending}"]
                    self.assertTrue((pixels == found[f"none.{ending}"][1]).all())
                    # libspng, as libpng, gives no reason why it passes over a profile.
                    wanted = "embedded profile" if ending.endswith("png") else reason
                    self.assertEqual(sum(wanted in step and "ignored" in step for step in reported["steps"]), 1, reported["steps"])
                    self.assertNotIn("damaged", reported)
        facts = json.loads(run("inspect", place / "of gray.jpg", "--json").stdout)
        self.assertFalse(facts["profile"])
        self.assertTrue(any("it is for GRAY" in step for step in facts["steps"]))

    def test_heic_under_profiles_of_other_spaces_and_broken_ones(self):
        """heif-enc takes a PNG's profile; then others of its length are put in its place."""
        place, made = folder("profiles"), folder("made")
        for name, profile in {"none": b"", **{name: profile for name, (profile, _) in ODD.items()}}.items():
            # Zeros behind its last tag, and a size that counts them.
            own = bytearray(RGB + bytes(max(0, len(profile) - len(RGB))))
            own[:4] = len(own).to_bytes(4, "big")
            other = bytearray((profile or own) + bytes(len(own) - len(profile or own)))
            if profile[36:40] == b"acsp":
                other[:4] = len(other).to_bytes(4, "big")
            Image.fromarray(picture()).save(made / "in.png", **({"icc_profile": bytes(own)} if profile else {}))
            subprocess.run(["heif-enc", "-q", "95", made / "in.png", "-o", made / "out.heic"], check=True, capture_output=True)
            data = (made / "out.heic").read_bytes()
            self.assertEqual(data.count(own), 1 if profile else 0)
            (place / f"{name}.heic").write_bytes(data.replace(own, other))
        found = self.built(place)
        for name, (_, reason) in ODD.items():
            with self.subTest(name):
                reported, pixels = found[f"{name}.heic"]
                self.assertTrue((pixels == found["none.heic"][1]).all())
                self.assertEqual(sum(reason in step for step in reported["steps"]), 1, reported["steps"])

    def test_jpeg_xl_by_its_profile(self):
        """libjxl holds profiles in its own coding, and writes none that does not fit its picture."""
        place, made = folder("profiles"), folder("made")
        profile = Path("/usr/share/color/icc/compatibleWithAdobeRGB1998.icc").read_bytes()
        image = Image.fromarray(picture())
        image.save(made / "in.png", icc_profile=profile)
        subprocess.run(["cjxl", made / "in.png", place / "wide.jxl", "-d", "0"], check=True, capture_output=True)
        image.save(place / "wide.png", icc_profile=profile)
        found = self.built(place)
        wanted = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"),
                                           outputMode="RGB")
        for name in ("wide.jxl", "wide.png"):
            self.assertLess(numpy.abs(found[name][1].astype(int) - numpy.array(wanted)).mean(), 2, name)
        self.assertLess(numpy.abs(found["wide.jxl"][1].astype(int) - found["wide.png"][1]).max(), 3)

    def test_cmyk_under_profiles_of_other_spaces(self):
        place = folder("profiles")
        cmyk = Image.fromarray(picture()).convert("CMYK")
        for name, profile in {"none": None, "of gray": GRAY, "of rgb": RGB, "garbage": b"abcd" * 100}.items():
            extra = {"icc_profile": profile} if profile else {}
            cmyk.save(place / f"{name}.jpg", quality=95, **extra)
            cmyk.save(place / f"{name}.tif", **extra)
        cmyk.save(place / "own.tif", icc_profile=CMYK)
        found = self.built(place)
        for name in ("of gray", "of rgb", "garbage"):
            for ending in ("jpg", "tif"):
                with self.subTest(name, ending=ending):
                    reported, pixels = found[f"{name}.{ending}"]
                    self.assertTrue((pixels == found[f"none.{ending}"][1]).all())
                    self.assertEqual(sum("ignored: it is" in step for step in reported["steps"]), 1, reported["steps"])
        wanted = ImageCms.profileToProfile(cmyk, ImageCms.ImageCmsProfile(io.BytesIO(CMYK)), ImageCms.createProfile("sRGB"), outputMode="RGB")
        self.assertLess(numpy.abs(found["own.tif"][1].astype(int) - numpy.array(wanted)).mean(), 3)

    def test_gray_under_profiles(self):
        place = folder("profiles")
        gray = Image.fromarray(picture()[..., 0])
        for name, profile in {"none": None, "of cmyk": CMYK, "garbage": b"abcd" * 100}.items():
            extra = {"icc_profile": profile} if profile else {}
            gray.save(place / f"{name}.jpg", quality=95, **extra)
            gray.save(place / f"{name}.tif", **extra)
        found = self.built(place)
        for name in ("of cmyk", "garbage"):
            for ending in ("jpg", "tif"):
                with self.subTest(name, ending=ending):
                    reported, pixels = found[f"{name}.{ending}"]
                    self.assertTrue((pixels == found[f"none.{ending}"][1]).all())
                    self.assertEqual(sum("ignored: it is" in step for step in reported["steps"]), 1, reported["steps"])

    def test_floats_under_profiles(self):
        """As the same numbers in 16 bits, which Pillow's LittleCMS converts in 8."""
        place, right = folder("floats"), picture()
        gbr = ICC / "../colord/AdobeRGB1998.icc"
        for name, profile in (("srgb", RGB), ("adobe", gbr.read_bytes())):
            image = Image.fromarray(right)
            wanted = numpy.array(ImageCms.profileToProfile(image, io.BytesIO(profile), ImageCms.createProfile("sRGB"),
                                                           renderingIntent=ImageCms.Intent.PERCEPTUAL))
            for depth in (numpy.float32, numpy.float16):
                tifffile.imwrite(place / f"{name}.tif", (right / 255).astype(depth), photometric="rgb", iccprofile=profile)
                _, pixels = self.built(place / f"{name}.tif")[f"{name}.tif"]
                # At the edge of a wide space a table of 16 bits is coarser.
                self.assertLessEqual(numpy.percentile(abs(pixels.astype(int) - wanted), 98), 3, (name, depth))
        for name, profile in (("far", RGB), ("bare", None)):
            tifffile.imwrite(place / f"{name}.tif", (right * 3.0).astype(numpy.float32), photometric="rgb", iccprofile=profile)
        report, pixels = self.built(place / "far.tif")["far.tif"]
        self.assertTrue(any("embedded profile ignored" in step for step in report["steps"]), report)
        self.assertTrue((pixels == self.built(place / "bare.tif")["bare.tif"][1]).all())
        self.assertGreater(pixels.std(), 10)

    def test_tiles_keep_no_profile_that_does_not_fit(self):
        place = folder("profiles")
        Image.fromarray(picture()).save(place / "a.jpg", icc_profile=GRAY)
        reported, _ = self.built(place, "--profile", "keep")["a.jpg"]
        self.assertFalse(any("kept" in step for step in reported["steps"]))

    def test_tiles_of_rgb_keep_no_profile_of_gray(self):
        """LittleCMS shows each tile as the picture by its profile: WebP and AVIF have no gray."""
        place, library = folder("profiles"), folder("library")
        gray, profile = numpy.full((40, 64), 130, numpy.uint8), (ICC / "ps_gray.icc").read_bytes()
        Image.fromarray(gray).save(place / "a.png", icc_profile=profile)
        clear = numpy.dstack([gray, numpy.full((40, 64), 255, numpy.uint8)])
        Image.fromarray(clear, "LA").save(place / "b.png", icc_profile=profile)
        srgb = ImageCms.createProfile("sRGB")

        def meant(image: Image.Image, icc: bytes) -> tuple:
            image = image.convert("L") if icc[16:20] == b"GRAY" and image.mode == "LA" else image
            return ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(icc)), srgb, outputMode="RGB").getpixel((30, 20))
        wanted = meant(Image.fromarray(gray), profile)
        for form, background in (("webp", ""), ("avif", ""), ("jpeg", ""), ("png", ""), ("jpeg", "255,0,0")):
            with self.subTest(form, background=background):
                run("build", place, "--library", library, "--format", form, "--profile", "keep", "--quality", "100",
                    "--force", *(["--background", background] if background else []))
                for name in ("a", "b"):
                    with zipfile.ZipFile(library / f"{name}.szi") as szi:
                        (tile,) = [entry for entry in szi.namelist() if "_files/6/0_0" in entry]
                        image = Image.open(io.BytesIO(szi.read(tile)))
                    icc = image.info.get("icc_profile")
                    found = meant(image, icc) if icc else image.convert("RGB").getpixel((30, 20))
                    self.assertLessEqual(max(abs(a - b) for a, b in zip(found, wanted)), 2, (name, found, wanted))

    def test_gamma_counts_where_the_profile_does_not(self):
        """As in libpng: gAMA and cHRM are for readers that cannot use the profile."""
        place = folder("profiles")
        rgb = Image.fromarray(picture())
        for name, profile in {"none": None, "garbage": b"abcd" * 100}.items():
            info = PngImagePlugin.PngInfo()
            info.add(b"gAMA", (55556).to_bytes(4, "big"))
            rgb.save(place / f"{name}.png", pnginfo=info, **({"icc_profile": profile} if profile else {}))
        found = self.built(place)
        self.assertTrue((found["garbage.png"][1] == found["none.png"][1]).all())
        self.assertFalse((found["none.png"][1] == picture()).all())


if __name__ == "__main__":
    unittest.main()
