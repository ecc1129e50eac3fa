"""Rights, identifiers, every creator and every language of a title: embedded or beside the archive, they reach the API and manifests.

And what machines wrote where captions are looked for does not. ExifTool writes all of it.
"""

import json
import unittest
import zipfile
from urllib.parse import quote

from iiif_prezi3 import Manifest

from exiftool import write
from harness import Server, folder, photo, run

FIELDS = ("titles", "creators", "license", "webStatement", "usageTerms", "identifier", "source", "credit")

METADATA = ["-charset", "UTF8", "-XMP-dc:Title=Hase", "-XMP-dc:Title-en=Hare", "-XMP-dc:Title-ja=兎, 野", "-XMP-dc:Creator=Dürer, Albrecht",
         "-XMP-dc:Creator=Workshop", "-XMP-cc:License=https://creativecommons.org/licenses/by/4.0/deed.de",
         "-XMP-xmpRights:WebStatement=https://example.org/rights?a=1&b=2", "-XMP-xmpRights:UsageTerms=Name the museum",
         "-XMP-dc:Identifier=INV-0091", "-XMP-photoshop:Source=Albertina", "-XMP-photoshop:Credit=Albertina, Wien", "-XMP-dc:Rights=© Albertina"]
PARSED = {"titles": {"en": "Hare", "ja": "兎, 野"}, "creators": ["Dürer, Albrecht", "Workshop"],
        "license": "https://creativecommons.org/licenses/by/4.0/deed.de", "webStatement": "https://example.org/rights?a=1&b=2",
        "usageTerms": "Name the museum", "identifier": "INV-0091", "source": "Albertina", "credit": "Albertina, Wien"}

# As the makers' programs write them: Aperio ImageScope, Bio-Formats, tifffile, ImageJ, Trestle, ScanImage, Leica SCN, Olympus.
MACHINES = [
    "Aperio Image Library v10.0.51\r\n46920x33014 [0,100 46000x32914] (256x256) JPEG/RGB Q=30|AppMag = 20|StripeWidth = 2040|"
    "ScanScope ID = CPAPERIOCS|Filename = CMU-1|Date = 12/29/09|Time = 09:59:15|User = b414003d-95c6-48b0-9369-8010ed517ba7|MPP = 0.4990",
    "ScanScope v2\r\n1000x800|AppMag = 40|User = jdoe|ScanScope ID = SS1302",
    '<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Experimenter UserName="jdoe"/></OME>',
    '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"/></OME>',
    '{"shape": [5, 301, 219]}', '{"shape": [3, 4], "axes": "YX"}', "shape=(3, 4)",
    "ImageJ=1.53t\nimages=15\nchannels=3\nslices=5\nhyperstack=true\nmode=composite\nloop=false\nmin=0.0\nmax=255.0\n",
    "Background Color=00e9f5;White Balance=1;Objective Magnification=20;JPEG Quality=80",
    "scanimage.SI.LINE_FORMAT_VERSION = 1\nscanimage.SI.acqsPerLoop = 10", "OLYMPUS DIGITAL CAMERA         ", "Exif_JPEG_PICTURE",
]
# People write signs, too. In "Left: Ada\nRight: Bo" Ada might be a patient: lists of keys are no captions.
PEOPLE = ["The harbour", "a | b", "E = mc², 1905", "<b>Bold</b> words", "{sic}", "[1923]", "Key = C major; tempo = slow", "1 < 2 > 0",
          "Left: Ada.\nRight: Bo.", "Aperio's wife"]


class EmbeddedMetadata(unittest.TestCase):
    def built(self, *options: str, name="one.tif"):
        base = folder("rights")
        source = photo(base / name, 60, 40)
        if options:
            write(source, *options)
        self.build(source, base / "library")
        return base / "library"

    def build(self, source, library):
        built = run("build", source, "--library", library, "--quiet")
        self.assertEqual(built.returncode, 0, built.stderr)

    def read(self, library, id="one"):
        with Server(library) as server:
            part = quote(id, safe="")
            return [json.loads(server.get(path).body) for path in (
                f"/api/images/{part}", f"/iiif/presentation/3/{part}/manifest", f"/iiif/3/{part}/info.json", f"/iiif/2/{part}/info.json")]

    def assertAll(self, image, manifest):
        self.assertEqual({name: image.get(name) for name in FIELDS}, PARSED)
        self.assertEqual((image["title"], image["creator"], image["rights"]), ("Hase", "Dürer, Albrecht; Workshop", "© Albertina"))
        Manifest(**manifest)
        self.assertEqual(manifest["label"], {"none": ["Hase"], "en": ["Hare"], "ja": ["兎, 野"]})
        self.assertEqual(manifest["rights"], "http://creativecommons.org/licenses/by/4.0/")
        self.assertEqual(manifest["requiredStatement"], {
            "label": {"en": ["Rights"]}, "value": {"none": ["© Albertina", "Name the museum", "Albertina, Wien"]}})
        self.assertEqual({field["label"]["en"][0]: field["value"]["none"] for field in manifest["metadata"]}, {
            "Creator": ["Dürer, Albrecht", "Workshop"], "Identifier": ["INV-0091"], "Source": ["Albertina"],
            "Rights statement": ["https://example.org/rights?a=1&b=2"]})

    def test_embedded_metadata_reach_the_api_and_manifests(self):
        for name in ("one.tif", "one.jpg", "one.png", "one.webp"):
            with self.subTest(name):
                image, manifest, three, two = self.read(self.built(*METADATA, name=name))
                self.assertAll(image, manifest)
                self.assertEqual(three["rights"], "http://creativecommons.org/licenses/by/4.0/")
                self.assertEqual((two["license"], two["attribution"]), (
                    "http://creativecommons.org/licenses/by/4.0/", "© Albertina\nName the museum\nAlbertina, Wien"))

    def test_a_sidecar_says_the_same(self):
        library = self.built()
        write(library / "one.xmp", *METADATA)
        self.assertAll(*self.read(library)[:2])

    def test_a_sidecars_licence_takes_back_the_pictures(self):
        library = self.built("-XMP-cc:License=http://creativecommons.org/licenses/by/4.0/", "-XMP-dc:Title-de=Hase", "-XMP-dc:Identifier=1")
        write(library / "one.xmp", "-XMP-xmpRights:WebStatement=https://rightsstatements.org/page/InC/1.0/?language=en", "-XMP-dc:Title=Hare")
        image, manifest, *_ = self.read(library)
        self.assertEqual(manifest["rights"], "http://rightsstatements.org/vocab/InC/1.0/")
        self.assertNotIn("license", image)
        self.assertEqual((manifest["label"], image["identifier"]), ({"none": ["Hare"]}, "1"))

    def test_iptc_names_credit_and_source(self):
        image, manifest, *_ = self.read(self.built("-IPTC:Credit=Agency", "-IPTC:Source=Estate", name="one.jpg"))
        self.assertEqual((image["credit"], image["source"]), ("Agency", "Estate"))
        self.assertEqual(manifest["requiredStatement"], {"label": {"en": ["Credit"]}, "value": {"none": ["Agency"]}})

    def test_images_are_found_by_them(self):
        with Server(self.built(*METADATA)) as server:
            for query in ("INV-0091", "hare", "兎", "Albertina"):
                self.assertEqual(json.loads(server.get(f"/api/images?q={quote(query)}").body)["total"], 1, query)

    def test_only_addresses_of_known_licences_are_rights(self):
        for address in ("javascript:alert(1)//creativecommons.org/licenses/by/4.0/", "https://example.org/licenses/by/4.0/", "not an address",
                        "https://creativecommons.org.example.org/licenses/by/4.0/", "http://creativecommons.org/"):
            with self.subTest(address):
                image, manifest, three, two = self.read(self.built(f"-XMP-cc:License={address}", f"-XMP-xmpRights:WebStatement={address}"))
                self.assertNotIn("rights", manifest)
                self.assertNotIn("rights", three)
                for reported in (image.get("license"), image.get("webStatement"), two.get("license")):
                    self.assertRegex(reported or "https://", "^https?://")

    def test_an_untrusted_value_is_text_of_bounded_length(self):
        script = "<script>alert(\"1\")</script>"
        options = [f"-XMP-{name}={script}" for name in ("cc:License", "xmpRights:WebStatement", "xmpRights:UsageTerms", "dc:Identifier",
                                                        "photoshop:Source", "photoshop:Credit", "dc:Title-de", "dc:Creator")]
        image, manifest, _, two = self.read(self.built(*options))
        self.assertEqual((image["identifier"], image["creators"], image["titles"]), (script, [script], {"de": script}))
        self.assertNotIn("license", image)
        self.assertNotIn("webStatement", image)
        self.assertNotRegex(two["attribution"], "[<>]")
        values = [text for field in [*manifest["metadata"], manifest["requiredStatement"]] for text in field["value"]["none"]]
        for text in values + [text for texts in manifest["label"].values() for text in texts]:
            self.assertFalse(text.startswith("<") and text.endswith(">"), text)
        image = self.read(self.built("-XMP-dc:Identifier=" + "x" * 30_000, "-XMP-xmpRights:UsageTerms=" + "y" * 100_000,
                                     "-XMP-dc:Title-de=" + "z" * 30_000))[0]
        self.assertEqual([len(text) for text in (image["identifier"], image["usageTerms"], image["titles"]["de"])], [1000, 20_000, 1000])

    def test_what_machines_wrote_is_no_caption(self):
        base = folder("machines")
        for number, text in enumerate(MACHINES + PEOPLE):
            write(photo(base / f"photos/{number}.tif", 60, 40), f"-EXIF:ImageDescription={text}", "-EXIF:XPTitle=Slide")
        self.build(base / "photos", base / "library")
        with Server(base / "library") as server:
            reported = {image["id"]: image for image in json.loads(server.get("/api/images?limit=1000&fields=all").body)["images"]}
            for number, text in enumerate(MACHINES):
                with self.subTest(text):
                    self.assertEqual((reported[str(number)].get("caption"), reported[str(number)]["title"]), (None, "Slide"))
                    manifest = server.get(f"/iiif/presentation/3/{number}/manifest").body
                    self.assertNotIn("summary", json.loads(manifest))
                    # Nor does the archive have them.
                    with zipfile.ZipFile(base / f"library/{number}.szi") as archive:
                        self.assertNotRegex(archive.read(f"{number}/vendor/ziggurat/metadata.json"), b"jdoe|ScanScope")
            for number, text in enumerate(PEOPLE, len(MACHINES)):
                self.assertEqual(reported[str(number)].get("caption"), text)

    def test_a_program_that_copied_it_into_xmp_makes_it_no_caption(self):
        self.assertNotIn("caption", self.read(self.built(f"-XMP-dc:Description={MACHINES[0]}"))[0])
        self.assertEqual(self.read(self.built("-XMP-dc:Description=<b>Words</b>"))[0]["caption"], "<b>Words</b>")


if __name__ == "__main__":
    unittest.main()
