"""Labels and macros of slides in files that OpenSlide does not read: they are nowhere unless they were asked for."""

import contextlib
import io
import json
import sqlite3
import zipfile
from pathlib import Path

import numpy
from harness import folder, run
from one_source import OneSource, picture
from PIL import Image
from slides import Directory, strip, write

LABEL, MACRO = (250, 20, 20), (20, 20, 250)


def ome(*names: str, sizes: dict[int, str] = {}) -> str:
    """Of each image its name; all of red, green and blue, a directory each."""
    images = "".join(
        f'<Image ID="Image:{number}" Name="{name}"><Pixels ID="Pixels:{number}" DimensionOrder="XYCZT" Type="uint8" SizeX="300" '
        f'SizeY="200" SizeC="3" SizeZ="1" SizeT="1" {sizes.get(number, "")}><Channel ID="Channel:{number}:0" '
        f'SamplesPerPixel="3"/><TiffData IFD="{number}" PlaneCount="1"/></Pixels></Image>' for number, name in enumerate(names))
    return f'<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">{images}</OME>'


def qptiff(kind: str) -> str:
    return ('<?xml version="1.0" encoding="utf-16"?>\n<PerkinElmer-QPI-ImageDescription>'
            f'<ImageType>{kind}</ImageType></PerkinElmer-QPI-ImageDescription>')


def scan(description: str = "", **how) -> Directory:
    return strip(picture(300, 200), description, **how)


def label(description: str = "", **how) -> Directory:
    return strip(Image.new("RGB", (120, 140), LABEL), description, **how)


def macro(description: str = "", **how) -> Directory:
    return strip(Image.new("RGB", (320, 110), MACRO), description, **how)


def named(directory: Directory, name: str) -> Directory:
    directory.fields = {285: (2, [*name.encode(), 0])}
    return directory


def lens(directory: Directory, magnification: int, kind: int = 11) -> Directory:
    """Hamamatsu writes floating-point numbers, other programs whole ones."""
    directory.fields = {65421: (kind, [magnification])}
    return directory


# Of each file its directories, and the ids that it is to have.
FILES = {
    "aperio.tif": ([scan("Scanner X"), label("Scanner X\nlabel 120x140"), macro("macro 320x110")], ["aperio"]),
    "bits.tif": ([scan("Scanner X"), label(subfile=1), macro(subfile=9)], ["bits"]),
    "qptiff.tif": ([scan(qptiff("FullResolution")), scan(qptiff("FullResolution")), macro(qptiff("Overview")),
                    label(qptiff("Label"))], ["qptiff/1", "qptiff/2"]),
    "names.tif": ([named(scan(), "S21-0815"), named(label(), "S21-0815 Label"), named(macro(), "Macro Image")], ["names"]),
    "lens.tif": ([lens(scan(), 20), lens(macro(), -1), lens(macro(), -2, 9)], ["lens"]),
    "between.tif": ([scan("one"), label("LABEL IMAGE"), scan("two"), macro("overview")], ["between/1", "between/2"]),
    "first.tif": ([label("label"), scan()], ["first"]),
    "brackets.ome.tif": ([scan(ome("slide.svs [0]", "slide.svs [label]", "slide.svs [macro]")), label(), macro()],
                         ["brackets.ome"]),
    "last.ome.tif": ([scan(ome("slide", "macro image", "Label image")), macro(), label()], ["last.ome"]),
    "macro-first.ome.tif": ([macro(ome("macro image", "slide", "label image")), scan(), label()], ["macro-first.ome"]),
}


class Slides(OneSource):
    def build(self, sources: Path, library: Path, *options) -> list[dict]:
        result = run("build", sources, "--library", library, "--json", "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def ids(self, library: Path) -> list[str]:
        return sorted(str(path.relative_to(library))[:-4] for path in library.rglob("*.szi")
                      if ".ziggurat-trash" not in path.parts)

    def colours(self, archive: Path) -> set[tuple[int, int, int]]:
        """Which of the colours of labels and macros stand anywhere in the archive."""
        found = set()
        with zipfile.ZipFile(archive) as szi:
            for name in szi.namelist():
                if name.endswith(".jpg"):
                    pixels = numpy.array(Image.open(io.BytesIO(szi.read(name))).convert("RGB"), int)
                    found |= {colour for colour in (LABEL, MACRO) if (abs(pixels - colour).max(2) < 12).mean() > 0.5}
        return found


class Labels(Slides):
    def test_neither_a_page_nor_the_picture(self):
        for name, (directories, ids) in FILES.items():
            with self.subTest(name):
                library = folder("library")
                source = write(folder("slide") / name, directories)
                report = self.build(source, library)
                self.assertEqual(self.ids(library), ids)
                for id in ids:
                    self.assertEqual(self.colours(library / f"{id}.szi"), set(), id)
                    self.assertEqual(run("verify", library / f"{id}.szi", "--quiet").returncode, 0)
                self.assertTrue(set(report[0]["leftOut"]) <= {"label", "macro", "overview", "reduced copy"}, report)
                self.assertEqual({each["status"] for each in self.build(source, library)}, {"unchanged"})

    def test_small_pictures_with_a_short_description_of_a_label(self):
        for text in ("label: S21-0815", "Patient label", "barcode: 123", "label (cropped)", '{"Label": true}'):
            with self.subTest(text):
                library = folder("library")
                self.build(write(folder("slide") / "slide.tif", [scan("Scan"), label(text)]), library)
                self.assertEqual(self.ids(library), ["slide"])
                self.assertEqual(self.colours(library / "slide.szi"), set())

    def test_in_any_form_of_a_description(self):
        long = "Vendor: ACME Scanner Works of Somewhere, Anywhere, with a name that is longer than short descriptions are"
        kinds = ["ORIGINAL", "PRIMARY", "LABEL", "NONE"]
        texts = {
            "json": json.dumps({"shape": [140, 120, 3], "ImageType": kinds, "Vendor": long}),
            "lines of JSON": json.dumps({"Vendor": long, "ImageType": kinds}, indent=2),
            "python": f"{long}\nImageType: {kinds}\nModel: 7", "aperio": f"ACME v1|{long}|ImageType = label|User = x",
            "flavor": f"{long}\nImage Flavor: LABEL", "property": f'<P><A v="{long}"/><Property name="ImageType" value="Label"/></P>',
            "entity": f"<D><V>{long}</V><ImageType>&#76;abel</ImageType></D>", "key": f"<D><V>{long}</V><IMAGE-TYPE>LABEL</IMAGE-TYPE></D>",
            "bom": f"\ufeff<D><V>{long}</V><ImageType>Label</ImageType></D>", "plural": "Labels", "french": "\u00c9tiquette"}
        fields = {name: text.encode() + b"\0" for name, text in texts.items()}
        fields |= {"utf-16": "\ufeffLabel".encode("utf-16-le"), "second string": b"ACME\0label 120x140\0", "first is empty": b"\0Label\0"}
        for name, data in fields.items():
            with self.subTest(name):
                each = label()
                each.fields = {270: (2, list(data))}
                library = folder("library")
                report = self.build(write(folder("slide") / "slide.tif", [scan("Scan"), each]), library)
                self.assertEqual((self.ids(library), report[0]["leftOut"]), (["slide"], ["label"]))

    def test_a_small_picture_whose_description_is_not_read_is_left_out_and_reported(self):
        library = folder("library")
        source = write(folder("slide") / "slide.tif", [scan("Scan"), label("x" * (1 << 20) + "\nImageType: Label")])
        report = self.build(source, library)
        self.assertEqual((self.ids(library), report[0]["leftOut"]), (["slide"], ["small picture whose description cannot be read"]))

    def test_ordinary_captions_of_photos_stay(self):
        for text in ("Label printing workshop", "Etiquette", "Labels", "Labels of beer bottles"):
            with self.subTest(text):
                library = folder("library")
                self.build(write(folder("photo") / "photo.tif", [scan(text)]), library)
                self.build(write(folder("pages") / "pages.tif", [scan("Front"), scan(text)]), library)
                self.assertEqual(self.ids(library), ["pages/1", "pages/2", "photo"])

    def test_what_is_left_out_is_reported(self):
        source, library = write(folder("slide") / "slide.tif", FILES["aperio.tif"][0]), folder("library")
        result = run("build", source, "--library", library)
        self.assertIn("; left out: label, macro\n", result.stderr)
        report = json.loads(run("inspect", source, "--json").stdout)
        self.assertEqual((report["pages"], report["associated"], report["leftOut"]), (1, ["label", "macro"], ["label", "macro"]))
        self.assertIn("label, macro", run("inspect", source).stdout)

    def test_as_pictures_of_their_own_where_they_are_asked_for(self):
        for name, page in (("aperio", "aperio"), ("qptiff", "qptiff/1")):
            source, library = write(folder("slide") / f"{name}.tif", FILES[f"{name}.tif"][0]), folder("library")
            report = self.build(source, library, "--associated")
            self.assertEqual(self.colours(library / f"{name}/label.szi"), {LABEL})
            other = "macro" if name == "aperio" else "overview"
            self.assertEqual(self.colours(library / f"{name}/{other}.szi"), {MACRO})
            self.assertEqual({each["status"] for each in report}, {"built"})
            self.assertEqual({each["status"] for each in self.build(source, library, "--associated")}, {"unchanged"})

    def test_a_label_alone_is_refused_and_built_when_it_is_asked_for(self):
        source = write(folder("slide") / "a.tif", [label("label 120x140")])
        self.assertRegex(self.refused(source), "holds only the label of a slide.*--associated")
        library = folder("library")
        self.build(source, library, "--associated")
        self.assertEqual(self.ids(library), ["a"])

    def test_what_only_sounds_like_one_stays(self):
        pages = [scan("Labelled cells"), scan("Label of a bottle, 1890"), scan("Overview of the harbour")]
        library = folder("library")
        report = self.build(write(folder("book") / "pages.tif", pages), library)
        self.assertEqual(self.ids(library), ["pages/1", "pages/2", "pages/3"])
        self.assertNotIn("leftOut", report[0])

    def test_masks_and_reduced_copies_are_no_pages(self):
        small = strip(picture(150, 100), "", 1)
        mask = strip(Image.new("RGB", (300, 200), "white"), "", 4)
        for directories in ([scan(), small], [scan(), mask, small], [small, scan()]):
            library = folder("library")
            report = self.build(write(folder("copies") / "a.tif", directories), library)
            self.assertEqual(self.ids(library), ["a"])
            self.assertEqual((report[0]["width"], report[0]["height"]), (300, 200))

    def test_the_scale_is_the_slides(self):
        sizes = {0: 'PhysicalSizeX="50" PhysicalSizeY="50"', 1: 'PhysicalSizeX="0.25" PhysicalSizeY="0.25"'}
        text = ome("macro image", "slide", sizes=sizes)
        _, archive = self.built(write(folder("slide") / "a.ome.tif", [macro(text), scan()]))
        self.assertEqual(json.loads(run("inspect", archive, "--json").stdout)["micronsPerPixel"], [0.25, 0.25])


class Repairs(Slides):
    """Libraries that an earlier version built, of which some archives show labels: as they were, by the records of their
    builds."""

    def earlier(self, library: Path, id: str, shown: Directory, **record) -> None:
        """What a version built that took every directory for a page."""
        alone = write(folder("earlier") / "one.tif", [Directory(**{**vars(shown), "description": "", "subfile": 0, "fields": {}})])
        target = folder("earlier library")
        self.build(alone, target)
        source = zipfile.ZipFile(target / "one.szi")
        path = library / f"{id}.szi"
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as szi:
            for name in source.namelist():
                data = source.read(name)
                if name.endswith("vendor/ziggurat/build.json"):
                    report = json.loads(data)
                    report.pop("pixelDigest", None)
                    data = json.dumps(report | record).encode()
                szi.writestr(name.replace("one", id.split("/")[-1]), data)

    def library(self, name: str) -> tuple[Path, Path]:
        """The source and the library."""
        sources = folder("sources")
        source, library = write(sources / name, FILES[name][0]), folder("library")
        self.build(sources, library)
        return source, library

    def record(self, archive: Path) -> dict:
        with zipfile.ZipFile(archive) as szi:
            [name] = [name for name in szi.namelist() if name.endswith("vendor/ziggurat/build.json")]
            return json.loads(szi.read(name))

    def test_pages_that_are_labels_go_without_prune(self):
        source, library = self.library("qptiff.tif")
        known = self.record(library / "qptiff/1.szi")
        for page, shown in ((3, macro()), (4, label())):
            self.earlier(library, f"qptiff/{page}", shown, page=page, sourceName="qptiff.tif",
                         sourceDigest=known["sourceDigest"], sourceBytes=known["sourceBytes"])
        before = (library / "qptiff/1.szi").read_bytes()
        report = self.build(source.parent, library)
        self.assertEqual({each["id"]: each["status"] for each in report},
                         {"qptiff/1": "unchanged", "qptiff/2": "unchanged", "qptiff/3": "pruned", "qptiff/4": "pruned"})
        self.assertEqual(self.ids(library), ["qptiff/1", "qptiff/2"])
        self.assertEqual((library / "qptiff/1.szi").read_bytes(), before)
        self.assertEqual(len(list((library / ".ziggurat-trash").rglob("*.szi"))), 2)

    def test_pages_of_what_is_one_picture_now_go(self):
        source, library = self.library("aperio.tif")
        known = self.record(library / "aperio.szi")
        for page, shown in ((1, scan()), (2, label()), (3, macro())):
            self.earlier(library, f"aperio/{page}", shown, page=page, sourceName="aperio.tif",
                         sourceDigest=known["sourceDigest"], sourceBytes=known["sourceBytes"])
        self.build(source.parent, library)
        self.assertEqual(self.ids(library), ["aperio"])

    def test_a_macro_that_was_taken_for_the_picture_is_built_again(self):
        source, library = self.library("macro-first.ome.tif")
        archive = library / "macro-first.ome.szi"
        known = self.record(archive)
        self.earlier(library, "macro-first.ome", macro(), sourceName=source.name, sourceDigest=known["sourceDigest"],
                     sourceBytes=known["sourceBytes"], dimensions=known["dimensions"], steps=["the first of 3 images"])
        self.assertEqual(self.colours(archive), {MACRO})
        result = run("verify", library, "--quiet")
        self.assertEqual((result.returncode, result.stdout.count("published a label")), (1, 1), result.stdout)
        self.assertEqual([each["status"] for each in self.build(source.parent, library)], ["built"])
        self.assertEqual(self.colours(archive), set())
        self.assertEqual(run("verify", library, "--quiet").returncode, 0)

    def test_verify_names_them_by_originals_of_either_name(self):
        source, library = self.library("macro-first.ome.tif")
        archive = library / "macro-first.ome.szi"
        known = self.record(archive)
        for file in library.glob("catalog.sqlite*"):
            file.unlink()
        content = source.read_bytes()
        source.unlink()
        # As uploads are kept: with the ending that was sent, or the format's own; with the digest if that name was taken.
        for sent in ("macro-first.ome.tif", "macro-first.ome.TIF", "macro-first.svs"):
            self.earlier(library, "macro-first.ome", macro(), sourceName=sent, sourceDigest=known["sourceDigest"],
                         sourceBytes=known["sourceBytes"], dimensions=known["dimensions"], steps=["the first of 3 images"])
            ending = "tif" if sent.endswith(".svs") else sent[-3:]
            for name in (ending, f"{known['sourceDigest']}.{ending}"):
                with self.subTest(sent, name=name):
                    original = library / f"macro-first.ome.{name}"
                    self.assertEqual(run("verify", library, "--quiet").stdout.count("published a label"), 0)
                    original.write_bytes(content)
                    self.assertEqual(run("verify", library, "--quiet").stdout.count("published a label"), 1)
                    original.unlink()

    def test_verify_names_them_and_repairs_them(self):
        source, library = self.library("qptiff.tif")
        known = self.record(library / "qptiff/1.szi")
        self.earlier(library, "qptiff/4", label(), page=4, sourceName="qptiff.tif", sourceDigest=known["sourceDigest"],
                     sourceBytes=known["sourceBytes"], options=known["options"])
        # Where it came from is known of it, as after every build.
        with contextlib.closing(sqlite3.connect(library / "catalog.sqlite")) as catalog, catalog:
            for table in ("origin", "source"):
                rows = catalog.execute(f"SELECT * FROM {table} WHERE id = 'qptiff/1'")
                names = [column[0] for column in rows.description]
                row = dict(zip(names, rows.fetchone())) | {"id": "qptiff/4"}
                catalog.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                                [row[name] for name in names])
        result = run("verify", library)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"qptiff/4\.szi: published a label: it shows the label of a slide")
        self.assertEqual(result.stdout.count("published"), 1)
        result = run("verify", library, "--repair")
        self.assertEqual((result.returncode, self.ids(library)), (0, ["qptiff/1", "qptiff/2"]), result.stderr)
        self.assertIn("qptiff/4.szi: moved to the trash", result.stdout)


class PhysicalUnits(OneSource):
    def scale(self, description: str, resolution: int, unit: int) -> list[float] | None:
        directory = scan(description)
        # Rationals: one is the denominator.
        directory.fields = {282: (5, [resolution | 1 << 32]), 283: (5, [resolution | 1 << 32]), 296: (3, [unit])}
        _, archive = self.built(write(folder("scale") / "a.tif", [directory]))
        return json.loads(run("inspect", archive, "--json").stdout).get("micronsPerPixel")

    def test_a_resolution_without_a_unit_is_no_scale(self):
        self.assertIsNone(self.scale("", 40_000, 1))
        self.assertEqual(self.scale("", 40_000, 3), [0.25, 0.25])

    def test_imagej_names_its_unit(self):
        for unit, wanted in (("micron", 0.005), ("um", 0.005), ("\\u00B5m", 0.005), ("mm", 5), ("cm", 50), ("inch", 127),
                             ("pixel", None)):
            found = self.scale(f"ImageJ=1.53t\nimages=1\nunit={unit}\n", 200, 1)
            self.assertEqual(found, wanted and [wanted, wanted], unit)
