"""`verify --repair`: what is damaged is rebuilt from its source, as it was, and nothing else is touched."""

import json
import shutil
import subprocess
import unittest

import numpy
from harness import CommandTest, folder, photo, run
from pdf import labelled_pdf
from slides import plane, write
from szi import archives


def cut(path):
    path.write_bytes(path.read_bytes()[:300])


def flip(path):
    """One bit of a tile is another; no directory shows it."""
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)


class Repairs(CommandTest):
    def setUp(self):
        self.base = folder("repair")
        self.library = self.base / "library"
        photo(self.base / "photos/a.jpg", 300, 200)
        photo(self.base / "photos/deep/b.png", 90, 50)
        photo(self.base / "photos/c.jpg", 200, 200)
        tall = photo(self.base / "tall.png", 60, 120)
        subprocess.run(["vips", "copy", tall, f"{self.base}/photos/roll.tif[page-height=40]"], check=True)
        self.options = ("--tile-size", "128", "--format", "png", "--background", "1,2,3")
        self.build()
        self.before = self.content()

    def build(self):
        self.assertEqual(run("build", self.base / "photos", "--library", self.library, "--quiet", *self.options).returncode, 0)

    def content(self):
        return {str(path.relative_to(self.library)): path.read_bytes() for path in archives(self.library)}

    def verify(self, code, *options):
        result = run("verify", self.library, *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_what_is_damaged_is_as_it_was(self):
        (self.library / "a.xmp").write_text("somebody's words")
        times = {path.name: path.stat().st_mtime_ns for path in archives(self.library)}
        flip(self.library / "a.szi")
        cut(self.library / "deep/b.szi")
        cut(self.library / "roll/2.szi")
        self.verify(1)
        # Whatever the environment has: each is built with its own options, and nothing else is done.
        result = run("verify", self.library, "--repair", environment={"ZIGGURAT_PRUNE": "all", "ZIGGURAT_TILE_SIZE": "256"})
        self.assertEqual(result.returncode, 0, result.stderr)
        repaired = [line for line in result.stdout.splitlines() if ": rebuilt from " in line]
        self.assertEqual(repaired, [f"{self.library}/{name}.szi: rebuilt from {self.base}/photos" for name in ("a", "deep/b", "roll/2")])
        self.assertEqual(self.content(), self.before)
        self.assertEqual((self.library / "a.xmp").read_text(), "somebody's words")
        self.assertEqual((self.library / "c.szi").stat().st_mtime_ns, times["c.szi"])
        self.verify(0, "--repair")
        # The next build has nothing to do.
        result = run("build", self.base / "photos", "--library", self.library, "--summary", *self.options)
        self.assertEqual(result.stderr, "0 built, 6 unchanged\n")

    def test_an_archive_without_a_source_is_reported_and_left(self):
        for name in ("a", "deep/b", "c"):
            cut(self.library / f"{name}.szi")
        shutil.copyfile(self.library / "c.szi", self.library / "nobody's.szi")
        (self.base / "photos/a.jpg").unlink()
        photo(self.base / "photos/deep/b.png", 90, 51)
        damaged = self.content()
        result = self.verify(1, "--repair", "--json")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        report = {line["archive"].removeprefix(f"{self.library}/"): line for line in lines if "repaired" in line}
        self.assertEqual({name: line["repaired"] for name, line in report.items()},
                         {"a.szi": False, "deep/b.szi": False, "c.szi": True, "nobody's.szi": False})
        self.assertIn("is not in", report["a.szi"]["reason"])
        self.assertIn("is unknown", report["nobody's.szi"]["reason"])
        self.assertIn("deep/b.png: has changed since its archive was built", result.stderr)
        self.assertEqual(sum("left as it is" in line for line in result.stderr.splitlines()), 3)
        self.assertEqual(self.content(), {**damaged, "c.szi": self.before["c.szi"]})

    def test_a_source_that_is_away(self):
        cut(self.library / "a.szi")
        (self.base / "photos").rename(self.base / "away")
        self.assertIn("left as it is", self.verify(1, "--repair").stderr)
        (self.base / "away").rename(self.base / "photos")
        self.verify(0, "--repair")
        self.assertEqual(self.content(), self.before)

    def test_without_a_catalog_a_build_reports_first(self):
        for path in self.library.glob("catalog.sqlite*"):
            path.unlink()
        flip(self.library / "a.szi")
        self.assertIn("its source is unknown: build the source again", self.verify(1, "--repair").stderr)
        self.build()
        self.verify(0, "--repair")
        self.assertEqual(self.content(), self.before)

    def test_another_pictures_archive_in_its_place_is_left(self):
        other = folder("other")
        photo(other / "photos/a.jpg", 70, 60)
        run("build", other / "photos", "--library", other / "library", "--quiet", *self.options)
        shutil.copyfile(other / "library/a.szi", self.library / "a.szi")
        flip(self.library / "a.szi")
        damaged = self.content()
        self.assertIn("it is not the archive that was built from", self.verify(1, "--repair").stderr)
        self.assertEqual(self.content(), damaged)

    def test_a_catalog_names_no_file_that_the_library_is_not_made_of(self):
        """An untrusted catalog, which tries to get a picture of ours, does not have its digest."""
        secret = photo(self.base / "secrets/a.jpg", 123, 45)
        rows = self.sql("SELECT path FROM place")
        self.assertEqual(rows, f"{self.base}/photos")
        self.sql(f"UPDATE place SET path = '{secret.parent}'")
        cut(self.library / "a.szi")
        damaged = self.content()
        self.assertIn("has changed since its archive was built", self.verify(1, "--repair").stderr)
        self.assertEqual(self.content(), damaged)

    def sql(self, query):
        import sqlite3
        with sqlite3.connect(self.library / "catalog.sqlite") as catalog:
            return "\n".join(row[0] for row in catalog.execute(query))

    def test_names_that_differ_by_composition_alone(self):
        base = folder("composed")
        for name, left in (("\u00e9", 0), ("e\u0301", 50)):
            photo(base / f"in/{name}.jpg", 300, 200, left=left)
            self.assertEqual(run("build", base / "in", "--library", base / "library").returncode, 0)
            (base / f"in/{name}.jpg").rename(base / f"{left}.jpg")
        damaged = sorted((base / "library").glob("*.szi"))
        self.assertEqual(len(damaged), 2)
        for path in damaged:
            with open(path, "r+b") as file:
                file.seek(3000)
                file.write(bytes(200))
        (base / "0.jpg").rename(base / "in/\u00e9.jpg")
        result = run("verify", base / "library", "--repair")
        whole = run("verify", base / "library").returncode == 0
        self.assertEqual(result.returncode == 0, whole, result.stderr)
        self.assertFalse(whole, "the other's source is away")
        self.assertIn("left as it is", result.stderr)

    def test_every_recorded_option_is_given_again(self):
        base = folder("options")
        (base / "page.pdf").write_bytes(labelled_pdf(1))
        (base / "drawing.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle cx="20" cy="15" r="9"/></svg>')
        photo(base / "photo.jpg", 200, 130)
        ome = ('<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels ID="Pixels:0" '
               'DimensionOrder="XYCZT" Type="uint16" SizeX="40" SizeY="30" SizeZ="1" SizeC="2" SizeT="1">'
               '<Channel ID="Channel:0:0" Name="red, 50 % &quot;a&quot;"/><Channel ID="Channel:0:1" Name="DAPI"/></Pixels></Image></OME>')
        write(base / "stack.ome.tif", [plane(numpy.full((30, 40), value, numpy.uint16), text) for value, text in ((500, ome), (900, ""))])
        wanted = [("photo.jpg", f"--{name}={value}") for name, values in {
            "tile-size": ["128"], "format": ["auto", "jpeg", "png", "webp", "avif", "jxl"], "quality": ["55"],
            "fidelity": ["exact", "fast", "lossless", "auto"], "intent": ["perceptual", "relative", "saturation", "absolute"],
            "profile": ["srgb", "keep"], "downsample": ["auto", "mean", "linear", "nearest", "mode"],
            "background": ["1,2,3"], "window": ["0,255", "p0.5,p99.5", "auto", "full"], "bands": ["3,2,1", "2"]}.items() for value in values]
        wanted += [(name, f"--dpi={value}") for name in ("page.pdf", "drawing.svg") for value in ("auto", "60")]
        wanted += [("stack.ome.tif", option) for option in (
            '--channels="red, 50 % ""a"""', "--channels=2,DAPI", "--scene=1", "--depth=1", "--time=1", "--associated")]
        wanted += [("page.pdf", "--associated")]
        library = base / "library"
        built = []
        for number, (name, option) in enumerate(wanted):
            result = run("build", base / name, "--library", library, "--prefix", f"o{number}", "--quiet", option)
            # An option may not apply to the source.
            if result.returncode == 0:
                built.append(option)
        self.assertGreater(len(built), len(wanted) - 6, set(option for _, option in wanted) - set(built))
        before = {path: path.read_bytes() for path in archives(library)}
        self.assertGreaterEqual(len(before), len(built))
        for path in before:
            path.unlink()
        result = run("verify", library, "--repair", timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({path: path.read_bytes() for path in archives(library)}, before)

    def test_a_repair_that_fails_by_its_own_arguments_removes_nothing(self):
        for options in ("5 dpi=nonsense", "5 nonsense=1", "nonsense"):
            with self.subTest(options):
                self.sql(f"UPDATE source SET options = '{options}' WHERE id = 'a'")
                (self.library / "a.szi").unlink(missing_ok=True)
                result = self.verify(1, "--repair")
                self.assertIn(f"{self.library}/a.szi: left as it is", result.stderr)
                self.assertEqual(self.sql("SELECT id FROM image WHERE id = 'a'"), "a")

    def test_a_missing_archive_whose_disk_is_perhaps_not_mounted_is_left(self):
        photos, away = self.base / "photos", self.base / "away"
        for emptied in (photos, photos / "deep"):
            for remains in (False, True):
                if emptied != photos and not remains:
                    # A folder that does not exist in one that has files was removed.
                    continue
                with self.subTest(emptied=emptied.name, remains=remains):
                    (self.library / "deep/b.szi").unlink(missing_ok=True)
                    emptied.rename(away)
                    if remains:
                        emptied.mkdir()
                    result = self.verify(1, "--repair")
                    self.assertIn("is its disk mounted?", result.stderr)
                    self.assertNotIn("delete", result.stderr)
                    self.assertEqual(self.sql("SELECT id FROM image WHERE id = 'deep/b'"), "deep/b")
                    if remains:
                        emptied.rmdir()
                    away.rename(emptied)
                    self.verify(0, "--repair")
                    self.assertEqual(self.content(), self.before)

    def test_sources_behind_links(self):
        other = folder("elsewhere")
        photo(other / "x.png", 70, 50)
        photo(other / "sub/y.png", 71, 50)
        (self.base / "photos/x.png").symlink_to(other / "x.png")
        (self.base / "photos/sub").symlink_to(other / "sub")
        self.options += ("--follow-links",)
        self.build()
        before = self.content()
        (self.library / "x.szi").unlink()
        (self.library / "sub/y.szi").unlink()
        result = self.verify(1, "--repair")
        self.assertEqual(sum("use --follow-links" in line for line in result.stderr.splitlines()), 2, result.stderr)
        # The link leads to a disk that is not mounted.
        other.rename(f"{other}-away")
        self.assertEqual(self.verify(1, "--repair", "--follow-links").stderr.count("is its disk mounted?"), 2)
        other.with_name(other.name + "-away").rename(other)
        self.verify(0, "--repair", "--follow-links")
        self.assertEqual(self.content(), before)

    def test_a_damaged_source_is_built_again_as_it_was(self):
        whole = photo(self.base / "whole.jpg", 300, 200).read_bytes()
        (self.base / "photos/cut.jpg").write_bytes(whole[:len(whole) * 6 // 10])
        self.build()
        before = self.content()
        (self.library / "cut.szi").unlink()
        self.assertIn("cut.szi: rebuilt from", self.verify(0, "--repair").stdout)
        self.assertEqual(self.content(), before)

    def test_encrypted_documents(self):
        plain, password = self.base / "plain.pdf", self.base / "password"
        plain.write_bytes(labelled_pdf(1))
        password.write_text("a password\n")
        subprocess.run(["qpdf", "--encrypt", "a password", "owner", "256", "--", plain, self.base / "photos/locked.pdf"], check=True)
        self.options += ("--pdf-password-file", password)
        self.build()
        before = self.content()
        (self.library / "locked.szi").unlink()
        result = self.verify(1, "--repair")
        self.assertIn("locked.szi: left as it is: it was not rebuilt from its source: ", result.stderr)
        self.assertIn("--pdf-password-file", result.stderr)
        self.verify(0, "--repair", "--pdf-password-file", password)
        self.assertEqual(self.content(), before)

    def test_usage(self):
        for option in (("--follow-links",), ("--pdf-password-file", self.base / "password")):
            self.assertUsageError(run("verify", self.library, *option), f"{option[0]} requires --repair")
        self.assertUsageError(run("verify", self.library, "--repair", "--space"), "--repair cannot be used with --space")
        flip(self.library / "a.szi")
        self.assertIn("takes the library's folder", run("verify", self.library / "a.szi", "--repair").stderr)
        for arguments in (("--only", "-"), ("--only", self.base / "nothing"), ("--only", self.base / "photos/a.jpg")):
            self.assertUsageError(run("build", self.base / "photos", "--library", self.library, *arguments), "a JSON object")


if __name__ == "__main__":
    unittest.main()
