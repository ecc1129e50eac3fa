"""Title, caption, date, place, creator and rights, as EXIF, IPTC and XMP hold them, reach the API, its list and manifests.

ExifTool writes them, which shares no code with what reads them here.
"""

import json
import subprocess
import unittest
from urllib.parse import quote

from exiftool import write
from harness import Server, ServerTest, folder, photo, run

SIX = ("title", "caption", "date", "location", "creator", "rights")

XMP = ["-XMP-dc:Title={}", "-XMP-dc:Description={}, caption", "-XMP-photoshop:DateCreated=1931-02", "-XMP-photoshop:City={} City",
       "-XMP-dc:Creator={} One", "-XMP-dc:Creator={} Two", "-XMP-dc:Rights=© {}"]
IPTC = ["-IPTC:ObjectName={}", "-IPTC:Caption-Abstract={}, caption", "-IPTC:DateCreated=1931:02:03", "-IPTC:City={} City",
        "-IPTC:By-line={} One", "-IPTC:By-line={} Two", "-IPTC:CopyrightNotice=© {}"]
EXIF = ["-EXIF:XPTitle={}", "-EXIF:ImageDescription={}, caption", "-EXIF:DateTimeOriginal=1931:02:03 04:05:06",
        "-EXIF:Artist={} One; {} Two", "-EXIF:Copyright=© {}"]


def metadata(text: str, date: str, place: bool = True) -> dict:
    reported = {"title": text, "caption": f"{text}, caption", "date": date, "creator": f"{text} One; {text} Two", "rights": f"© {text}"}
    return reported | ({"location": f"{text} City"} if place else {})


# Every source of metadata, and what is to be shown.
PICTURES = {
    "xmp.jpg": (["-charset", "UTF8", *XMP], "Fähre 港 “λ”", "1931-02"),
    "xmp.png": (["-charset", "UTF8", *XMP], "Fähre 港", "1931-02"),
    "xmp.tif": (["-charset", "UTF8", *XMP], "Fähre 港", "1931-02"),
    "xmp.webp": (["-charset", "UTF8", *XMP], "Fähre 港", "1931-02"),
    "iptc utf8.jpg": (["-charset", "IPTC=UTF8", "-IPTC:CodedCharacterSet=UTF8", *IPTC], "Fähre 港", "1931-02-03"),
    "iptc latin1.jpg": (["-charset", "IPTC=Latin1", "-IPTC:CodedCharacterSet=", *IPTC], "Fähre à l’île – «Ñ»", "1931-02-03"),
    "iptc latin1.tif": (["-charset", "IPTC=Latin1", "-IPTC:CodedCharacterSet=", *IPTC], "Fähre", "1931-02-03"),
    "iptc says nothing.jpg": (["-charset", "IPTC=UTF8", "-IPTC:CodedCharacterSet=", *IPTC], "Fähre 港", "1931-02-03"),
    # EXIF knows coordinates alone, which are not shown.
    "exif.jpg": (["-charset", "EXIF=UTF8", "-GPSLatitude=53.5", "-GPSLatitudeRef=N", *EXIF], "Fähre 港", "1931-02-03T04:05:06"),
    "exif latin1.jpg": (["-charset", "EXIF=Latin1", *EXIF], "Fähre", "1931-02-03T04:05:06"),
    "exif.webp": (["-charset", "EXIF=UTF8", *EXIF], "Fähre 港", "1931-02-03T04:05:06"),
}


def of_manifest(manifest: dict) -> dict:
    """The six as a manifest shows them."""
    fields = {field["label"]["en"][0].lower(): "; ".join(field["value"]["none"]) for field in manifest.get("metadata", [])}
    reported = {"title": manifest["label"]["none"][0], "caption": manifest.get("summary", {}).get("none", [None])[0],
            "rights": manifest.get("requiredStatement", {}).get("value", {}).get("none", [manifest.get("rights")])[0],
            "date": fields.get("date"), "location": fields.get("place"), "creator": fields.get("creator")}
    return {name: text for name, text in reported.items() if text}


class Metadata(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("metadata")
        for name, (options, text, _) in PICTURES.items():
            source = photo(cls.base / f"photos/{name.split('.')[1]}/{name}", 60, 40)
            write(source, *(option.replace("{}", text) for option in options))
        # One file of three pages that all say the same.
        pages = cls.base / "photos/codex.tif"
        subprocess.run(["vips", "copy", photo(cls.base / "roll.png", 60, 120), f"{pages}[page-height=40]"], check=True)
        write(pages, "-XMP-dc:Title=Kodex ü", "-XMP-dc:Description=All of it", "-XMP-dc:Creator=Scribe")
        built = run("build", cls.base / "photos", "--library", cls.base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.server = Server(cls.base / "library")

    def read(self, path: str, server=None) -> dict:
        answer = (server or self.server).get(path)
        self.assertEqual(answer.status, 200, path)
        return json.loads(answer.body.decode("utf-8"))

    def assertReported(self, id: str, wanted: dict, server=None):
        """The image alone, the list, a search, and the manifest say the same."""
        image = self.read(f"/api/images/{quote(id, safe='')}", server)
        self.assertEqual({name: image[name] for name in SIX if image.get(name)}, wanted)
        listed = {each["id"]: each for each in self.read("/api/images?limit=1000&fields=all", server)["images"]}
        self.assertEqual(listed[id], image)
        manifest = self.read(f"/iiif/presentation/3/{quote(id, safe='')}/manifest", server)
        self.assertEqual(of_manifest(manifest), wanted)

    def test_every_way_of_writing_is_read_and_shown_everywhere(self):
        for name, (_, text, date) in PICTURES.items():
            with self.subTest(name):
                stem, ending = name.split(".")
                self.assertReported(f"{ending}/{stem}", metadata(text, date, place=not stem.startswith("exif")))

    def test_metadata_are_found(self):
        for query in ("Fähre", "FAHRE caption", "1931", "city", "one two"):
            found = self.read(f"/api/images?q={quote(query)}")
            self.assertGreaterEqual(found["total"], 8, query)

    def test_a_books_manifest_is_called_as_its_pages_are(self):
        manifest = self.read("/iiif/presentation/3/codex/manifest")
        self.assertEqual(of_manifest(manifest), {"title": "Kodex ü", "caption": "All of it", "creator": "Scribe"})
        labels = {item["id"].split("/")[-2]: item["label"] for item in self.read("/iiif/presentation/3/collection")["items"]}
        self.assertEqual(labels["codex"], {"none": ["Kodex ü"]})

    def test_the_catalog_adds_and_loses_nothing(self):
        """The same from archives that were read just now."""
        place = folder("copy") / "library"
        subprocess.run(["cp", "-r", self.base / "library", place], check=True)
        for path in place.glob("catalog.*"):
            path.unlink()
        self.assertEqual(run("reindex", place).returncode, 0)
        with Server(place) as server:
            for name, (_, text, date) in PICTURES.items():
                stem, ending = name.split(".")
                self.assertReported(f"{ending}/{stem}", metadata(text, date, place=not stem.startswith("exif")), server)


class Precedence(unittest.TestCase):
    def library(self, *options: str):
        base = folder("precedence")
        source = photo(base / "one.jpg", 60, 40)
        write(source, *options)
        built = run("build", source, "--library", base / "library", "--quiet")
        self.assertEqual(built.returncode, 0, built.stderr)
        return base / "library"

    def reported(self, library, **wanted):
        with Server(library) as server:
            image = json.loads(server.get("/api/images/one").body)
            manifest = json.loads(server.get("/iiif/presentation/3/one/manifest").body)
        self.assertEqual({name: image[name] for name in SIX if image.get(name)}, wanted)
        self.assertEqual(of_manifest(manifest), wanted)

    def test_xmp_before_iptc_before_exif(self):
        every = [[option.replace("{}", kind) for option in options] for options, kind in ((XMP, "x"), (IPTC, "i"), (EXIF, "e"))]
        # The camera's clock is truer than what was typed later.
        clock = {"date": "1931-02-03T04:05:06"}
        self.reported(self.library(*every[0], *every[1], *every[2]), **(metadata("x", "") | clock))
        self.reported(self.library(*every[1], *every[2]), **(metadata("i", "") | clock))
        self.reported(self.library(*every[2]), **(metadata("e", "", place=False) | clock))

    def test_each_field_by_itself(self):
        self.reported(self.library("-XMP-dc:Title=x", "-IPTC:ObjectName=i", "-IPTC:Caption-Abstract=i", "-EXIF:Copyright=e"),
                  title="x", caption="i", rights="e")

    def test_a_sidecar_stands_before_the_picture_field_by_field(self):
        library = self.library(*(option.replace("{}", "own") for option in XMP))
        own = metadata("own", "1931-02")
        self.reported(library, **own)
        write(library / "one.xmp", "-XMP-dc:Title=Seite", "-XMP-photoshop:City=Bremen", "-XMP-dc:Rights=CC0")
        self.reported(library, **(own | {"title": "Seite", "location": "Bremen", "rights": "CC0"}))
        write(library / "one.xmp", "-XMP-dc:Title=", "-XMP-dc:Creator=Säge", "-XMP-photoshop:DateCreated=2001-02-03",
              "-XMP-dc:Description=Seitlich")
        self.reported(library, **(own | {"creator": "Säge", "date": "2001-02-03", "caption": "Seitlich", "location": "Bremen", "rights": "CC0"}))
        # What goes away uncovers what was beneath.
        (library / "one.xmp").unlink()
        self.reported(library, **own)

    def test_one_of_two_sidecars_counts(self):
        library = self.library("-XMP-dc:Title=own", "-XMP-dc:Creator=own")
        write(library / "one.szi.xmp", "-XMP-dc:Title=darktable", "-XMP-dc:Creator=darktable")
        self.reported(library, title="darktable", creator="darktable")
        write(library / "one.xmp", "-XMP-dc:Title=Lightroom")
        self.reported(library, title="Lightroom", creator="own")

    def test_a_rebuilt_picture_keeps_its_sidecar(self):
        library = self.library("-XMP-dc:Title=own", "-XMP-dc:Creator=own")
        write(library / "one.xmp", "-XMP-dc:Title=Seite")
        source = library.parent / "one.jpg"
        write(source, "-XMP-dc:Title=new", "-XMP-dc:Creator=new")
        self.assertEqual(run("build", source, "--library", library, "--quiet").returncode, 0)
        self.reported(library, title="Seite", creator="new")


if __name__ == "__main__":
    unittest.main()
