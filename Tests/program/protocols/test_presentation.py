"""IIIF Presentation 3.0: manifests and collections, read by the reference models of iiif-prezi3."""

import json
import os
import subprocess
import unittest
from urllib.parse import quote

from iiif_prezi.loader import ManifestReader, load_document_local
from iiif_prezi3 import Collection, Manifest
from pyld import jsonld

from harness import Server, ServerTest, folder, photo, run
from szi import archives

HOST = "http://127.0.0.1"


def load_context(url: str, _=None) -> dict:
    """A context that the reader of version 2 brings along, as newer versions of its library want it."""
    document = json.loads(load_document_local(url)["document"])
    return {"contextUrl": None, "documentUrl": url, "document": document, "contentType": "application/ld+json"}


jsonld.set_document_loader(load_context)


class Presentation(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("presentation")
        photo(base / "photos/a/night watch.jpg", 1200, 900)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=De Nachtwacht", "-XMP-dc:Creator=Rembrandt",
                        "-XMP-dc:Rights=Public domain", "-XMP-dc:Description=Militia", base / "photos/a/night watch.jpg"],
                       check=True)
        # Pages of one size: a roll of them, as libvips writes many pages.
        subprocess.run(["vips", "arrayjoin", " ".join(str(photo(base / f"p/{n:02}.png", 300, 400, left=n * 200))
                                                      for n in range(12)), base / "roll.v", "--across", "1"], check=True)
        subprocess.run(["vips", "tiffsave", base / "roll.v", base / "photos/codex.tif", "--page-height", "400"], check=True)
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert result.returncode == 0, result.stderr
        assert len(archives(base / "library")) == 13
        cls.library = base / "library"
        cls.server = Server(cls.library)

    def read(self, path: str, server=None) -> dict:
        answer = (server or self.server).get(path)
        self.assertEqual(answer.status, 200, path)
        self.assertEqual(answer["content-type"],
                         'application/ld+json;profile="http://iiif.io/api/presentation/3/context.json"')
        self.assertEqual(answer["access-control-allow-origin"], "*")
        self.assertTrue(answer.body.startswith(b'{"@context":'))
        return json.loads(answer.body)

    def test_an_image_is_one_canvas_with_what_is_known_of_it(self):
        manifest = self.read("/iiif/presentation/3/a%2Fnight%20watch/manifest")
        Manifest(**manifest)
        self.assertEqual(manifest["id"], f"{HOST}/iiif/presentation/3/a%2Fnight%20watch/manifest")
        self.assertEqual((manifest["label"], manifest["summary"]), ({"none": ["De Nachtwacht"]}, {"none": ["Militia"]}))
        self.assertEqual(manifest["metadata"], [{"label": {"en": ["Creator"]}, "value": {"none": ["Rembrandt"]}}])
        self.assertEqual(manifest["requiredStatement"]["value"], {"none": ["Public domain"]})
        [canvas] = manifest["items"]
        self.assertEqual((canvas["width"], canvas["height"]), (1200, 900))
        painting = canvas["items"][0]["items"][0]
        self.assertEqual((painting["motivation"], painting["target"]), ("painting", canvas["id"]))
        self.assertEqual(painting["body"]["service"][0]["id"], f"{HOST}/iiif/3/a%2Fnight%20watch")

    def test_a_books_pages_are_its_canvases_in_order(self):
        manifest = self.read("/iiif/presentation/3/codex/manifest")
        Manifest(**manifest)
        self.assertEqual((manifest["label"], manifest["behavior"]), ({"none": ["codex"]}, ["paged"]))
        self.assertEqual([canvas["label"]["none"][0] for canvas in manifest["items"]],
                         [str(number) for number in range(1, 13)])
        services = [canvas["items"][0]["items"][0]["body"]["service"][0]["id"] for canvas in manifest["items"]]
        self.assertEqual(services, [f"{HOST}/iiif/3/codex%2F{number}" for number in range(1, 13)])
        self.assertEqual(len({canvas["id"] for canvas in manifest["items"]}), 12)
        self.assertEqual(json.loads(self.server.get(manifest["seeAlso"][0]["id"].removeprefix(HOST)).body)["id"], "codex")
        # A page alone is a manifest, too, and says which page it is.
        self.assertEqual(len(self.read("/iiif/presentation/3/codex%2F3/manifest")["items"]), 1)
        page = json.loads(self.server.get("/api/images/codex%2F3").body)
        self.assertEqual((page["page"], page["pages"]), (3, 12))

    def test_the_collection_lists_folders_images_and_books(self):
        collection = self.read("/iiif/presentation/3/collection")
        Collection(**collection)
        self.assertEqual([(item["type"], item["label"]["none"][0]) for item in collection["items"]],
                         [("Collection", "a"), ("Manifest", "codex")])
        for item in collection["items"]:
            self.assertEqual(self.read(item["id"].removeprefix(HOST))["id"], item["id"])
        [picture] = self.read("/iiif/presentation/3/a/collection")["items"]
        self.assertEqual((picture["type"], picture["label"]), ("Manifest", {"none": ["De Nachtwacht"]}))
        self.assertEqual(self.server.get("/iiif/presentation/3/collection/1").status, 404)

    def test_a_large_library_is_a_collection_of_collections(self):
        place = folder("large")
        for number in range(1203):
            os.link(self.library / "a/night watch.szi", place / f"copy {number:04}.szi")
        self.assertEqual(run("reindex", place).returncode, 0)
        with Server(place) as server:
            collection = self.read("/iiif/presentation/3/collection", server)
            Collection(**collection)
            self.assertEqual([item["label"]["none"][0] for item in collection["items"]],
                             ["1–500", "501–1000", "1001–1203"])
            found = []
            for item in collection["items"]:
                page = self.read(item["id"].removeprefix(HOST), server)
                Collection(**page)
                found += [entry["id"] for entry in page["items"]]
            self.assertEqual(found, [f"{HOST}/iiif/presentation/3/{quote(f'copy {number:04}')}/manifest"
                                     for number in range(1203)])
            for wrong in ("0", "4", "x", "01"):
                self.assertEqual(server.get(f"/iiif/presentation/3/collection/{wrong}").status, 404)

    def test_viewers_choose_the_media_type(self):
        linked = 'application/ld+json;profile="http://iiif.io/api/presentation/3/context.json"'
        for path in ("a%2Fnight%20watch/manifest", "codex/manifest", "collection"):
            for accept, expected in {
                "": linked, "*/*": linked, "application/json": "application/json", "application/ld+json": linked, linked: linked,
                "application/json, application/ld+json;q=0.5": "application/json", "text/html, */*;q=0.8": linked, "text/html": linked,
                'application/ld+json;profile="http://iiif.io/api/presentation/3/context.json", application/json;q=0.9': linked,
            }.items():
                answer = self.server.get(f"/iiif/presentation/3/{path}", **({"Accept": accept} if accept else {}))
                self.assertEqual((answer.status, answer["content-type"]), (200, expected), (path, accept))
                self.assertIn("Accept", answer["vary"].split(", "))

    def test_a_manifest_has_another_name_with_an_ending(self):
        for path in ("a%2Fnight%20watch", "codex"):
            one, other = (self.server.get(f"/iiif/presentation/3/{path}/{name}") for name in ("manifest", "manifest.json"))
            self.assertEqual((other.status, other.body, other["etag"]), (200, one.body, one["etag"]))

    def test_manifests_of_version_2_say_the_same(self):
        for path, count in (("a%2Fnight%20watch", 1), ("codex", 12)):
            for name in ("manifest", "manifest.json"):
                answer = self.server.get(f"/iiif/presentation/2/{path}/{name}")
                self.assertEqual((answer.status, answer["content-type"]), (200, "application/json"))
                self.assertIn("http://iiif.io/api/presentation/2/context.json", answer["link"])
            linked = self.server.get(f"/iiif/presentation/2/{path}/manifest", Accept="application/ld+json")
            self.assertEqual(linked["content-type"],
                             'application/ld+json;profile="http://iiif.io/api/presentation/2/context.json"')
            reader = ManifestReader(answer.body.decode(), version="2.1")
            manifest = reader.read()
            self.assertEqual(len(manifest.sequences[0].canvases), count)
            old, new = json.loads(answer.body), self.read(f"/iiif/presentation/3/{path}/manifest")
            self.assertEqual(old["@id"], f"{HOST}/iiif/presentation/2/{path}/manifest")
            self.assertEqual(old["label"], new["label"]["none"][0])
            for canvas, other in zip(old["sequences"][0]["canvases"], new["items"], strict=True):
                self.assertEqual((canvas["label"], canvas["width"], canvas["height"]),
                                 (other["label"]["none"][0], other["width"], other["height"]))
                resource, body = canvas["images"][0]["resource"], other["items"][0]["items"][0]["body"]
                self.assertEqual(canvas["images"][0]["on"], canvas["@id"])
                self.assertEqual(resource["service"]["@id"], body["service"][0]["id"].replace("/iiif/3/", "/iiif/2/"))
                for address in (resource["@id"], canvas["thumbnail"]["@id"]):
                    self.assertEqual(self.server.get(address.removeprefix(HOST)).status, 200, address)
                info = json.loads(self.server.get(resource["service"]["@id"].removeprefix(HOST) + "/info.json").body)
                self.assertEqual(info["@id"], resource["service"]["@id"])
        described = json.loads(self.server.get("/iiif/presentation/2/a%2Fnight%20watch/manifest").body)
        self.assertEqual((described["description"], described["attribution"]), ("Militia", "Public domain"))
        self.assertEqual(described["metadata"], [{"label": {"@value": "Creator", "@language": "en"}, "value": "Rembrandt"}])

    def test_small_pictures_are_their_own_thumbnails(self):
        base = folder("small")
        for width, height in ((300, 119), (119, 300), (120, 120), (40, 30)):
            photo(base / f"photos/{width}x{height}.png", width, height)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        with Server(base / "library") as server:
            for name, has in (("300x119", False), ("119x300", False), ("120x120", True), ("40x30", False)):
                manifest = self.read(f"/iiif/presentation/3/{name}/manifest", server)
                Manifest(**manifest)
                self.assertEqual("service" in manifest["thumbnail"][0], has, name)
                self.assertIn("service", manifest["items"][0]["items"][0]["items"][0]["body"])
                self.assertEqual(server.get(manifest["thumbnail"][0]["id"].removeprefix(HOST)).status, 200)

    def test_gray_pictures_list_the_qualities_that_they_have(self):
        base = folder("gray")
        source = photo(base / "colour.png", 700, 500)
        (base / "photos").mkdir()
        for name, space in (("colour", "srgb"), ("gray", "b-w")):
            subprocess.run(["vips", "colourspace", source, base / f"photos/{name}.png", space], check=True)
        for format in ("jpeg", "png"):
            library = base / format
            self.assertEqual(run("build", base / "photos", "--library", library, "--format", format, "--quiet").returncode, 0)
            with Server(library) as server:
                for name, qualities in (("colour", ["color", "gray", "bitonal"]), ("gray", ["gray", "bitonal"])):
                    three = json.loads(server.get(f"/iiif/3/{name}/info.json").body)
                    two = json.loads(server.get(f"/iiif/2/{name}/info.json").body)
                    self.assertEqual(three["extraQualities"], qualities, (format, name))
                    self.assertEqual(two["profile"][1]["qualities"], ["default", *qualities], (format, name))
                    # "A request for the color quality MUST NOT result in an error."
                    self.assertEqual(server.get(f"/iiif/3/{name}/full/100,/0/color.jpg").status, 200)

    def test_a_name_is_found_in_either_normal_form_of_unicode(self):
        composed, decomposed = "caf\u00e9", "cafe\u0301"
        for stored, asked in ((composed, decomposed), (decomposed, composed)):
            base = folder("forms")
            photo(base / f"photos/{stored}.jpg", 300, 200)
            self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
            with Server(base / "library") as server:
                for path in ("/iiif/3/{}/info.json", "/dzi/{}.dzi", "/dzi/{}_files/9/0_0.jpg", "/api/images/{}", "/view/{}",
                             "/iiif/presentation/3/{}/manifest", "/api/images/{}/viewport?width=9&height=9", "/iip?FIF={}&OBJ=Max-size"):
                    answer = server.get(path.format(quote(asked)))
                    self.assertEqual((answer.status, answer["location"]), (301, path.format(quote(stored))), path)
                    self.assertEqual(server.get(answer["location"]).status, 200, path)
                self.assertEqual(server.get(f"/dzi/{quote('cafe')}.dzi").status, 404)

    def test_what_is_not_there_is_not_found(self):
        for path in ["nothing/collection", "codex/collection", "a/collection/1", "..%2Fa/collection", "~/collection",
                     "~%2Fa/collection", "%2Fa/collection", "a%2F/collection", "/collection", "collection/collection",
                     "nothing/manifest", "codex%2F13/manifest", "manifest", "", "codex", "collection/1/2"]:
            with self.subTest(path):
                self.assertEqual(self.server.get(f"/iiif/presentation/3/{path}").status, 404)


if __name__ == "__main__":
    unittest.main()
