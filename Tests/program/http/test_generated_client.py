"""The description of the API is good enough to make a client of: openapi-python-client makes one, and nothing else asks here."""

import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from harness import Server, folder, photo, run
from upload_client import TOKEN, serve

# Media types that the generator does not know; all of them are bytes.
CONFIGURATION = {"content_type_overrides": {name: "application/octet-stream" for name in (
    "application/vnd.ziggurat.viewport-tiles", "application/offset+octet-stream", "image/jpeg", "image/png", "image/webp",
    "image/gif", "image/svg+xml", "image/*", "text/event-stream")}, "post_hooks": [], "package_name_override": "generated_client"}


def generated(server: Server) -> Path:
    """The folder of the package that was made of a server's own description."""
    place = folder("generated")
    (place / "openapi.json").write_bytes(server.get("/openapi.json").body)
    (place / "configuration.yml").write_text(json.dumps(CONFIGURATION))
    tools = Path(sys.executable).parent
    done = subprocess.run([tools / "openapi-python-client", "generate", "--path", "openapi.json", "--config", "configuration.yml",
                           "--output-path", "client", "--meta", "none", "--fail-on-warning"],
                          cwd=place, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    shutil.move(place / "client", place / "generated_client")
    return place


class GeneratedClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("library")
        for number, name in enumerate(["harbour", "quay", "deep/er/leaf"]):
            photo(base / f"photos/{name}.jpg", 1300, 900, left=300 * number)
        built = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.server = serve(base / "library")
        cls.addClassCleanup(cls.server.stop)
        place = str(generated(cls.server))
        sys.path.insert(0, place)
        cls.addClassCleanup(sys.path.remove, place)
        package = importlib.import_module("generated_client")
        cls.models = importlib.import_module("generated_client.models")
        cls.types = importlib.import_module("generated_client.types")
        url = f"http://127.0.0.1:{cls.server.port}"
        cls.anyone = package.Client(base_url=url, raise_on_unexpected_status=True)
        cls.owner = package.AuthenticatedClient(base_url=url, token=TOKEN, raise_on_unexpected_status=True)

    def ask(self, operation: str, *arguments, client=None, **options):
        """What the operation gives back, of a type that the description names."""
        module = importlib.import_module(f"generated_client.api.default.{operation}")
        answer = module.sync_detailed(*arguments, client=client or self.anyone, **options)
        return answer.status_code, answer.parsed

    def done(self, operation: str, *arguments, **options):
        status, parsed = self.ask(operation, *arguments, **options)
        self.assertEqual(status, 200, parsed)
        self.assertIsNotNone(parsed, operation)
        return parsed

    def test_lists_pages_and_searches(self):
        listed = self.done("list_images")
        self.assertIsInstance(listed, self.models.Page)
        self.assertEqual([image.id for image in listed.images], ["deep/er/leaf", "harbour", "quay"])
        self.assertEqual((listed.images[1].width, listed.images[1].height, listed.images[1].title), (1300, 900, "harbour"))
        self.assertEqual(listed.images[1].additional_properties, {}, "all of a listing is described")
        first = self.done("list_images", limit=2)
        rest = self.done("list_images", limit=2, cursor=first.next_cursor)
        self.assertEqual([image.id for image in first.images + rest.images], ["deep/er/leaf", "harbour", "quay"])
        self.assertIsInstance(rest.next_cursor, self.types.Unset)
        self.assertEqual([image.id for image in self.done("list_images", q="HARB").images], ["harbour"])
        self.assertEqual([image.id for image in self.done("list_images", folder="deep").images], ["deep/er/leaf"])
        down = self.done("list_images", sort=self.models.ListImagesSort("-name"))
        self.assertEqual([image.id for image in down.images], ["quay", "harbour", "deep/er/leaf"])
        self.assertIn("levels", self.done("list_images", fields="levels").images[0].additional_properties)
        status, problem = self.ask("list_images", limit=0)
        self.assertEqual((status, problem.status, type(problem)), (400, 400, self.models.Problem))

    def test_one_image(self):
        image = self.done("get_image", "deep/er/leaf")
        self.assertIsInstance(image, self.models.Image)
        self.assertEqual((image.id, image.width, image.format_), ("deep/er/leaf", 1300, self.models.ImageFormat.JPG))
        self.assertEqual([(level.width, level.height) for level in image.levels][-1], (1300, 900))
        self.assertEqual(image.additional_properties, {}, "all of an image is described")
        self.assertTrue(image.urls.additional_properties["self"].endswith("/api/images/deep%2Fer%2Fleaf"))
        status, problem = self.ask("get_image", "none")
        self.assertEqual((status, type(problem)), (404, self.models.Problem))

    def test_the_tiles_of_a_viewport(self):
        view = self.done("get_viewport", "harbour", width=600, height=400, scale=0.5)
        self.assertIsInstance(view, self.models.Coverage)
        self.assertTrue(view.tiles)
        for tile in view.tiles:
            self.assertEqual(self.server.get(tile.url).status, 200)
        packed = self.done("get_viewport_tiles", "harbour", width=600, height=400, scale=0.5).payload.read()
        sizes = []
        while packed:
            (size,) = struct.unpack(">I", packed[:4])
            sizes.append(size)
            packed = packed[4 + size:]
        self.assertEqual(len(sizes), 1 + len(view.tiles))
        formats = self.models.GetViewportPictureFormat
        picture = self.done("get_viewport_picture", "harbour", formats.PNG, width=60, height=40).payload.read()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")

    def test_an_edit_a_deletion_and_the_way_back(self):
        metadata = self.models.EditImageBody(title="Évening at the quay", keywords=["dusk", "boats"])
        status, refusal = self.ask("edit_image", "quay", body=metadata, client=self.anyone)
        self.assertEqual((status, type(refusal)), (401, self.models.Problem))
        edited = self.done("edit_image", "quay", body=metadata, client=self.owner)
        self.assertEqual((edited.title, edited.keywords), ("Évening at the quay", ["dusk", "boats"]))
        self.assertEqual(self.done("get_image", "quay").title, "Évening at the quay")
        deleted = self.done("delete_image", "quay", client=self.owner)
        self.assertIsInstance(deleted, self.models.Deleted)
        self.assertEqual((deleted.deleted.images, deleted.refused), (["quay"], []))
        self.assertEqual(self.ask("get_image", "quay")[0], 404)
        kept = self.done("list_trash", client=self.owner)
        self.assertEqual([each.id for each in kept.items], [deleted.deleted.id])
        self.assertGreater(kept.items[0].expires, kept.items[0].deleted_at)
        restored = self.done("restore_images", deleted.deleted.id, client=self.owner)
        self.assertEqual((restored.restored, restored.conflicts), (["quay"], []))
        self.assertEqual(self.done("get_image", "quay").title, "Évening at the quay")
        several = self.done("delete_images", body=self.models.DeleteImagesBody(ids=["quay", "none"]), client=self.owner)
        self.assertEqual((several.deleted.images, several.refused), (["quay"], ["none"]))
        self.done("restore_images", several.deleted.id, client=self.owner)
        self.assertEqual(self.ask("restore_images", several.deleted.id, client=self.owner)[0], 404)

    def test_the_server_and_the_session_are_described(self):
        session = self.done("get_session")
        self.assertIsInstance(session, self.models.Session)
        self.assertEqual(session.additional_properties, {}, "all of a session is described")
        self.assertEqual(self.done("list_uploads", client=self.owner).uploads, [])
        self.assertEqual(self.ask("get_health")[0], 200)


if __name__ == "__main__":
    unittest.main()
