"""Collections by folder, and who stands behind them: --site-name and --provider."""

import json
import os
import unittest
from pathlib import Path
from urllib.parse import quote, unquote

from iiif_prezi3 import Collection, Manifest

from harness import CommandTest, Server, ServerTest, folder, photo, run

HOST = "http://127.0.0.1"
START = "/iiif/presentation/3/"
PROVIDER = {"id": "https://example.org/about", "type": "Agent", "label": {"en": ["Example Museum"], "de": ["Beispiel"]},
            "homepage": [{"id": "https://example.org", "type": "Text", "label": {"en": ["Home"]}, "format": "text/html"}],
            "logo": [{"id": "https://example.org/logo.png", "type": "Image", "format": "image/png", "width": 100, "height": 20}]}
IDS = ["loose", "loose/inside", "loose-leaf/sheet", "maps/1700/coast", "maps/1700/land", "maps/1800/sea & sky", "maps/atlas", "ü/ö"]


def library() -> Path:
    base = folder("collections")
    photo(base / "one/one.jpg", 700, 500)
    result = run("build", base / "one", "--library", base / "library", "--quiet")
    assert result.returncode == 0, result.stderr
    one = base / "library/one.szi"
    for id in IDS:
        (base / f"library/{id}.szi").parent.mkdir(parents=True, exist_ok=True)
        os.link(one, base / f"library/{id}.szi")
    one.unlink()
    return base / "library"


class Nested(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.library = library()
        (cls.library / "../provider.json").write_text(json.dumps(PROVIDER))
        cls.server = Server(cls.library, "--site-name", "Fish & <Chips>", "--provider", cls.library / "../provider.json")

    def read(self, url: str, server=None) -> dict:
        answer = (server or self.server).get(url.removeprefix(HOST))
        self.assertEqual(answer.status, 200, url)
        return json.loads(answer.body)

    def walk(self, url: str, server=None) -> tuple[list[str], list[str]]:
        """The ids of all manifests below a collection, and of all collections, each read and checked."""
        collection = self.read(url, server)
        Collection(**collection)
        self.assertEqual(unquote(collection["id"]), unquote(url if url.startswith("http") else HOST + url))
        manifests, collections = [], [collection["id"]]
        for item in collection["items"]:
            if item["type"] == "Collection":
                more = self.walk(item["id"], server)
                manifests, collections = manifests + more[0], collections + more[1]
                below = self.read(item["id"], server)
                self.assertEqual(below["partOf"][0]["id"], collection["id"])
                self.assertEqual(below["label"], item["label"])
            else:
                manifest = self.read(item["id"], server)
                Manifest(**manifest)
                self.assertEqual(manifest["label"], item["label"])
                self.assertEqual(manifest["thumbnail"], item["thumbnail"])
                manifests.append(unquote(item["id"].split("/3/")[1].removesuffix("/manifest")))
        return manifests, collections

    def test_every_image_is_in_the_collection_of_its_folder_once(self):
        manifests, collections = self.walk(START + "collection")
        self.assertEqual(sorted(manifests), sorted(IDS))
        self.assertEqual([unquote(url.split("/3/")[1]) for url in collections],
                         ["collection", "loose/collection", "loose-leaf/collection", "maps/collection", "maps/1700/collection",
                          "maps/1800/collection", "ü/collection"])

    def test_entries_have_pictures_and_labels(self):
        for url in [START + "collection", START + "maps/collection"]:
            for item in self.read(url)["items"]:
                [picture] = item["thumbnail"]
                answer = self.server.get(picture["id"].removeprefix(HOST))
                self.assertEqual((answer.status, answer["content-type"]), (200, "image/jpeg"))
                self.assertTrue(item["label"]["none"][0])

    def test_a_manifest_leads_to_its_folder_its_data_and_its_provider(self):
        manifest = self.read(START + quote("maps/1800/sea & sky", safe="") + "/manifest")
        self.assertEqual(manifest["partOf"], [{"id": f"{HOST}{START}maps%2F1800/collection", "type": "Collection",
                                               "label": {"none": ["1800"]}}])
        [data] = manifest["seeAlso"]
        self.assertEqual((data["type"], data["format"]), ("Dataset", "application/json"))
        self.assertEqual(self.read(data["id"])["id"], "maps/1800/sea & sky")
        self.assertEqual(self.read(data["profile"])["openapi"][:2], "3.")
        self.assertEqual(manifest["provider"], [PROVIDER])
        self.assertEqual(self.read(START + "loose/manifest")["partOf"][0],
                         {"id": f"{HOST}{START}collection", "type": "Collection", "label": {"none": ["Fish & <Chips>"]}})

    def test_collections_lead_to_the_listing_of_the_same(self):
        collection = self.read(START + "maps/collection")
        listed = self.read(collection["seeAlso"][0]["id"])
        self.assertEqual([image["id"] for image in listed["images"]], [id for id in IDS if id.startswith("maps/")])
        self.assertEqual(collection["provider"], [PROVIDER])
        root = self.read(START + "collection")
        self.assertEqual(root["homepage"][0]["id"], HOST + "/")
        self.assertEqual(self.read(root["seeAlso"][0]["id"])["total"], len(IDS))

    def test_pages_have_the_owners_name(self):
        for path in ["/", "/view/loose"]:
            page = self.server.get(path).body.decode()
            self.assertIn("<title>Fish &amp; &lt;Chips&gt;</title>", page)
            self.assertNotIn("<Chips>", page)
        self.assertIn("Fish &amp; &lt;Chips&gt;</h1>", self.server.get("/").body.decode())

    def test_below_a_path_every_link_has_it(self):
        with Server(self.library, "--base-url", "https://example.org/images", "--provider", "A. B. <https://example.org/x>") as server:
            def urls(value):
                if isinstance(value, dict):
                    yield from ([value["id"]] if "id" in value else [])
                    for one in value.values():
                        yield from urls(one)
                elif isinstance(value, list):
                    for one in value:
                        yield from urls(one)

            for path in ["collection", "maps/collection", "maps%2F1700/collection", "loose/manifest"]:
                document = json.loads(server.get("/images" + START + path).body)
                self.assertEqual(document, json.loads(server.get(START + path).body))
                (Manifest if path.endswith("manifest") else Collection)(**document)
                agent = document.pop("provider")[0]
                self.assertEqual((agent["id"], agent["type"], agent["label"], agent["homepage"][0]["id"]),
                                 ("https://example.org/x", "Agent", {"none": ["A. B."]}, "https://example.org/x"))
                found = list(urls(document))
                self.assertGreater(len(found), 4)
                for url in found:
                    self.assertTrue(url.startswith("https://example.org/images/"), url)

    def test_many_images_and_many_folders_are_turned_over(self):
        place = folder("many")
        one = self.library / "loose.szi"
        for number in range(1203):
            (place / "flat").mkdir(exist_ok=True)
            os.link(one, place / f"flat/{number:04}.szi")
        for number in range(3):
            (place / f"flat/box {number}").mkdir()
            os.link(one, place / f"flat/box {number}/leaf.szi")
        for number in range(701):
            (place / f"wide/{number:03}").mkdir(parents=True)
            os.link(one, place / f"wide/{number:03}/leaf.szi")
        for number in range(30):
            os.link(one, place / f"wide/last {number:02}.szi")
        self.assertEqual(run("reindex", place).returncode, 0)
        with Server(place) as server:
            flat = self.read(START + "flat/collection", server)
            self.assertEqual([item["label"]["none"][0] for item in flat["items"]],
                             ["box 0", "box 1", "box 2", "1–500", "501–1000", "1001–1203"])
            found = []
            for page in flat["items"][3:]:
                found += [item["id"] for item in self.read(page["id"], server)["items"]]
            self.assertEqual(found, [f"{HOST}{START}flat%2F{number:04}/manifest" for number in range(1203)])
            wide = self.read(START + "wide/collection", server)
            self.assertEqual([item["label"]["none"][0] for item in wide["items"]], ["1–500", "501–731"])
            first, second = (self.read(page["id"], server)["items"] for page in wide["items"])
            self.assertEqual([item["label"]["none"][0] for item in first + second],
                             [f"{number:03}" for number in range(701)] + [f"last {number:02}" for number in range(30)])
            self.assertEqual({item["type"] for item in first + second[:201]}, {"Collection"})
            for wrong in ("flat/collection/4", "flat/collection/0", "wide/collection/3", "wide%2F001/collection/1"):
                self.assertEqual(server.get(START + wrong).status, 404)


class Owner(CommandTest):
    def test_an_invalid_provider_is_reported_at_the_start(self):
        place = folder("providers")
        lib = folder("empty")

        def written(value) -> str:
            path = place / "provider.json"
            path.write_text(value if isinstance(value, str) else json.dumps(value))
            return str(path)

        for value, message in [
            ("Example", "<https://"), ("Example <ftp://example.org>", "<https://"), ("<https://example.org>", "<https://"),
            (written("{"), "JSON"), (written("[]"), "JSON"), (str(place), "<https://"), ("/dev/zero", "64 KB"),
        ]:
            with self.subTest(value):
                self.assertUsageError(run("serve", lib, "--provider", value), "--provider", message)
        for wrong, message in [
            ({"id": "x"}, "id"), ({"label": "Example"}, "label"), ({"label": {"en": "Example"}}, "label"), ({"type": "Person"}, "Agent"),
            ({"logos": []}, "did you mean 'logo'"), ({"homepage": {}}, "homepage"), ({"homepage": [{"id": "https://x.org"}]}, "type"),
            ({"homepage": [{"id": "https://x.org", "type": "Text"}]}, "label"),
            ({"logo": [{"id": "https://x.org/a.png", "type": "Text"}]}, "Image"),
        ]:
            with self.subTest(str(wrong)):
                self.assertUsageError(run("serve", lib, "--provider", written({**PROVIDER, **wrong})), "--provider", message)

    def test_an_invalid_name_is_reported_at_the_start(self):
        for name in ["", "  ", "two\nlines", "x" * 201]:
            self.assertUsageError(run("serve", folder("empty"), "--site-name", name), "--site-name", "line")


if __name__ == "__main__":
    unittest.main()
