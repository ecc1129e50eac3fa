"""Colours declared by marks other than an ICC profile: PNG's cICP, gAMA and cHRM, HEIF's nclx, EXIF."""

import struct
import subprocess
import unittest

import numpy as np
from PIL import Image, PngImagePlugin

from test_colour import ICC, Colour as Harness, by_littlecms, colours
from harness import folder, run
import colour_science as science

# RGB to XYZ under D50, as the usual profiles of these spaces have it.
DISPLAY_P3 = np.array([[0.51512, 0.29198, 0.15710], [0.24120, 0.69225, 0.06657], [-0.00105, 0.04189, 0.78407]])
BT2020 = np.array([[0.67348, 0.16566, 0.12504], [0.27903, 0.67535, 0.04561], [-0.00193, 0.02998, 0.79686]])
ADOBE = (ICC / "compatibleWithAdobeRGB1998.icc").read_bytes()
ADOBE_POINTS = (31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)
SRGB_POINTS = (31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)


def television(numbers):
    """Light of BT.709's and BT.2020's numbers."""
    return np.where(numbers < 0.081, numbers / 4.5, ((numbers + 0.099) / 1.099) ** (1 / 0.45))


def png(path, picture, **saving):
    """A PNG with chunks by their names: gAMA=…, cHRM=(…), cICP=(…), sRGB=0."""
    info = PngImagePlugin.PngInfo()
    for name, value in saving.items():
        if name == "gAMA":
            info.add(b"gAMA", struct.pack(">I", value))
        elif name == "cHRM":
            info.add(b"cHRM", struct.pack(">8I", *value))
        else:
            info.add(name.encode(), bytes(value))
    Image.fromarray(picture).save(path, pnginfo=info)
    return path


def nclx(path, picture, primaries, transfer):
    """A lossless AVIF whose nclx box says so."""
    Image.fromarray(picture).save(path.with_suffix(".png"))
    subprocess.run(["vips", "copy", path.with_suffix(".png"),
                    f"{path}[compression=av1,lossless,subsample-mode=off,effort=0]"], check=True)
    path.with_suffix(".png").unlink()
    data = bytearray(path.read_bytes())
    at = data.index(b"colrnclx") + 8
    data[at:at + 4] = struct.pack(">HH", primaries, transfer)
    path.write_bytes(data)
    return path


class Marks(Harness):
    def test_gamma_and_chromaticities(self):
        picture = colours(20, 3)
        wanted = by_littlecms(Image.fromarray(picture), ADOBE)
        source = png(folder("marks") / "picture.png", picture, gAMA=45479, cHRM=ADOBE_POINTS)
        self.assertNear(wanted, source, step="converted to sRGB by its gAMA (0.45479) and cHRM (31270 32900")

    def test_gamma_alone(self):
        picture = colours(21, 3)
        for gamma, power in ((100000, 1), (55556, 1.8), (45000, 1 / 0.45)):
            source = png(folder("marks") / "picture.png", picture, gAMA=gamma)
            wanted = np.rint(255 * science.numbers((picture / 255) ** power)).astype(np.uint8)
            with self.subTest(gamma):
                self.assertNear(wanted, source, step=f"by its gAMA ({gamma / 1e5})")

    def test_gamma_of_gray(self):
        picture = colours(22, 1)[..., 0]
        source = png(folder("marks") / "picture.png", picture, gAMA=55556)
        wanted = np.rint(255 * science.numbers((picture / 255) ** 1.8)).astype(np.uint8)
        self.assertNear(wanted, source, step="by its gAMA (0.55556)")

    def test_chromaticities_alone_have_the_curve_of_srgb(self):
        picture = colours(23, 3)
        source = png(folder("marks") / "picture.png", picture,
                     cHRM=(31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000))
        wanted = science.xyz_to_srgb(science.light(picture / 255) @ DISPLAY_P3.T)
        self.assertNear(wanted, source, step="by its cHRM (31270 32900 68000 32000")

    def test_what_says_srgb_or_nothing_sensible_changes_nothing(self):
        picture = colours(24, 3)
        for saving, step in (
                ({"gAMA": 45455}, None), ({"cHRM": SRGB_POINTS}, None), ({"gAMA": 45455, "cHRM": SRGB_POINTS}, None),
                ({"gAMA": 45460, "cHRM": (31269, 32899, 63999, 33001, 30000, 60000, 15000, 5999)}, None),
                # An sRGB chunk stands above the other two.
                ({"sRGB": [0], "gAMA": 100000, "cHRM": ADOBE_POINTS}, None), ({"cICP": [1, 13, 0, 1]}, None),
                ({"gAMA": 0}, "its gAMA (0.0)"), ({"gAMA": 1}, "its gAMA (1e-05)"),
                ({"cHRM": (0,) * 8}, "its cHRM (0 0 0"), ({"cHRM": (33333,) * 8}, "its cHRM (33333"),
                ({"cHRM": (0xffffffff,) * 8}, "its cHRM (4294967295"),
                ({"cICP": [9, 16, 0, 1]}, "its cICP (primaries BT.2020, transfer PQ)"),
                ({"cICP": [77, 13, 0, 1]}, "its cICP (primaries number 77, transfer sRGB)")):
            with self.subTest(saving):
                source = png(folder("marks") / "picture.png", picture, **saving)
                top, _, record = self.built(source)
                self.assertTrue((top == picture).all())
                self.assertEqual(record["steps"], [f"taken as sRGB: no profile says what {line} says" for line in
                                                   record["steps"] and [record["steps"][0].split("what ")[1][:-5]]])
                self.assertEqual(len(record["steps"]), 0 if step is None else 1)
                self.assertIn(step or "", "".join(record["steps"]))

    def test_a_profile_stands_above_gamma_but_not_above_code_points(self):
        picture = colours(25, 3)
        base = folder("marks")
        info = PngImagePlugin.PngInfo()
        info.add(b"gAMA", struct.pack(">I", 100000))
        Image.fromarray(picture).save(base / "one.png", pnginfo=info, icc_profile=ADOBE)
        self.assertNear(by_littlecms(Image.fromarray(picture), ADOBE), base / "one.png", step="by its embedded profile")
        info.add(b"cICP", bytes([12, 13, 0, 1]))
        Image.fromarray(picture).save(base / "two.png", pnginfo=info, icc_profile=ADOBE)
        wanted = science.xyz_to_srgb(science.light(picture / 255) @ DISPLAY_P3.T)
        self.assertNear(wanted, base / "two.png", step="by its cICP (primaries Display P3, transfer sRGB)")

    def test_code_points_of_avif(self):
        picture = colours(26, 3)
        for primaries, transfer, light, matrix, description in (
                (12, 13, science.light, DISPLAY_P3, "primaries Display P3, transfer sRGB"),
                (9, 14, television, BT2020, "primaries BT.2020, transfer BT.2020"),
                (9, 13, science.light, BT2020, "primaries BT.2020, transfer sRGB"),
                (2, 8, lambda numbers: numbers, science.SRGB_TO_XYZ, "primaries unspecified, transfer linear")):
            with self.subTest(description):
                source = nclx(folder("marks") / "picture.avif", picture, primaries, transfer)
                stored = np.asarray(self.plain(source))
                wanted = science.xyz_to_srgb(light(stored / 255) @ matrix.T)
                self.assertNear(wanted, source, step=f"by its nclx ({description})")

    def plain(self, source):
        """The file's own numbers, as libvips decodes them."""
        target = folder("plain") / "plain.png"
        subprocess.run(["vips", "copy", source, target], check=True)
        return Image.open(target).convert("RGB")

    def test_high_dynamic_range_and_plain_avif(self):
        picture = colours(27, 3)
        for primaries, transfer, steps in (
                (1, 13, []), (2, 2, []),
                (9, 16, ["taken as sRGB: no profile says what its nclx (primaries BT.2020, transfer PQ) says"])):
            with self.subTest((primaries, transfer)):
                source = nclx(folder("marks") / "picture.avif", picture, primaries, transfer)
                top, _, record = self.built(source)
                self.assertTrue((top == np.asarray(self.plain(source))).all())
                self.assertEqual(record["steps"], steps)

    def test_adobe_rgb_by_exif(self):
        picture = colours(28, 3)
        for marks in (["-ColorSpace#=65535", "-InteropIndex=R03"], ["-ColorSpace#=2"]):
            for ending, saving in (("jpg", {"quality": 100, "subsampling": 0}), ("webp", {"lossless": True})):
                with self.subTest(f"{marks} {ending}"):
                    source = folder("marks") / f"picture.{ending}"
                    Image.fromarray(picture).save(source, **saving)
                    subprocess.run(["exiftool", "-q", "-overwrite_original", *marks, source], check=True)
                    self.assertNear(by_littlecms(Image.open(source), ADOBE), source,
                                    step="converted to sRGB by its EXIF (Adobe RGB)")

    def test_other_colour_spaces_of_exif_say_nothing(self):
        source = folder("marks") / "picture.jpg"
        Image.fromarray(colours(29, 3)).save(source, quality=60)
        before = self.built(source)
        for marks in (["-ColorSpace#=65535"], ["-ColorSpace#=65535", "-InteropIndex=R98"], ["-ColorSpace#=1"]):
            with self.subTest(marks):
                subprocess.run(["exiftool", "-q", "-overwrite_original", *marks, source], check=True)
                top, _, record = self.built(source)
                self.assertTrue((top == before[0]).all())
                self.assertEqual((record["steps"], record["route"]), ([], before[2]["route"]))

    def test_kept_marks_are_a_profile_in_every_tile(self):
        picture = colours(30, 3)
        source = png(folder("marks") / "picture.png", picture, gAMA=45479, cHRM=ADOBE_POINTS)
        digests = set()
        for _ in range(2):
            top, _, record = self.built(source, "--profile", "keep")
            self.assertTrue((top == picture).all())
            self.assertIn("profile made of its gAMA (0.45479) and cHRM", record["steps"][0])
            base = folder("again")
            run("build", source, "--library", base, "--profile", "keep", "--format", "png", "--quiet")
            digests.add((base / "picture.szi").read_bytes())
        self.assertEqual(len(digests), 1)
        (base / "tile.png").write_bytes(subprocess.run(
            ["unzip", "-p", base / "picture.szi", "picture/picture_files/8/0_0.png"], check=True,
            capture_output=True).stdout)
        tile = Image.open(base / "tile.png")
        difference = science.ciede2000(science.lab(by_littlecms(tile, tile.info["icc_profile"])),
                                       science.lab(by_littlecms(Image.fromarray(picture), ADOBE)))
        self.assertLess(difference.mean(), 0.5)

    def test_inspect_reports_them(self):
        source = png(folder("marks") / "picture.png", colours(31, 3), gAMA=100000)
        report = run("inspect", source)
        self.assertIn("colour       srgb, by its gAMA (1.0)\n", report.stdout)
        self.assertIn("exact: read by libvips, for its gAMA (1.0)\n", report.stdout)


# Only the harness's methods are wanted here, not its tests again.
for name in [name for name in dir(Harness) if name.startswith("test_") and name not in vars(Marks)]:
    setattr(Marks, name, None)
del Harness

if __name__ == "__main__":
    unittest.main()
