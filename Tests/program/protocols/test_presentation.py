"""IIIF Presentation 3.0: manifests and collections, read by the reference models of iiif-prezi3."""

import json
import os
import subprocess
import unittest
from urllib.parse import quote

from iiif_prezi3 import Collection, Manifest

from harness import Server, ServerTest, folder, photo, run
from szi import archives

HOST = "http://127.0.0.1"


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
        self.assertEqual(run("index", place).returncode, 0)
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

    def test_what_is_not_there_is_not_found(self):
        for path in ["nothing/collection", "codex/collection", "a/collection/1", "..%2Fa/collection", "~/collection",
                     "~%2Fa/collection", "%2Fa/collection", "a%2F/collection", "/collection", "collection/collection",
                     "nothing/manifest", "codex%2F13/manifest", "manifest", "", "codex", "collection/1/2"]:
            with self.subTest(path):
                self.assertEqual(self.server.get(f"/iiif/presentation/3/{path}").status, 404)


if __name__ == "__main__":
    unittest.main()
