"""Sidecars by their names: `photo.xmp` may be a folder, and `photo.szi.xmp` may belong to another image."""

import json
import unittest
from urllib.parse import quote

from harness import CommandTest, folder, photo, run
from szi import archives
from upload_client import Client, serve


class SidecarNames(CommandTest):
    def setUp(self):
        self.base = folder("names")
        self.library = self.base / "library"

    def build(self, *options):
        result = run("build", self.base / "photos", "--library", self.library, "--quiet", *options)
        self.assertEqual(result.returncode, 0, result.stderr)

    def ids(self) -> set[str]:
        return {str(path.relative_to(self.library))[:-4] for path in archives(self.library)}

    def serve(self) -> Client:
        return Client(self.enterContext(serve(self.library)))

    def edit(self, client: Client, id: str, caption: str):
        answer = client.ask("PATCH", f"/api/images/{quote(id, safe='')}", json.dumps({"caption": caption}).encode(),
                            Content_Type="application/json")
        self.assertEqual(answer.status, 200, answer.body)

    def caption(self, client: Client, id: str) -> str | None:
        return json.loads(client.ask("GET", f"/api/images/{quote(id, safe='')}").body).get("caption")

    def test_a_folder_called_like_a_sidecar_keeps_its_images(self):
        photos = self.base / "photos"
        for name, width in (("p.jpg", 60), ("p.xmp/q.jpg", 61), ("p2.xmp/q.jpg", 62), ("r.jpg", 63)):
            photo(photos / name, width, 40)
        self.build()
        (self.library / "p.szi.xmp").write_text("of p")
        (photos / "p.jpg").rename(photos / "p2.jpg")
        self.build()
        self.assertEqual(self.ids(), {"p2", "p.xmp/q", "p2.xmp/q", "r"})
        self.assertEqual((self.library / "p2.szi.xmp").read_text(), "of p")
        (photos / "p2.jpg").unlink()
        self.build("--prune")
        self.assertEqual(self.ids(), {"p.xmp/q", "p2.xmp/q", "r"})

    def test_a_sidecar_is_moved_to_its_other_name_if_a_folder_has_the_first(self):
        photos = self.base / "photos"
        for name, width in (("p.jpg", 60), ("p2.xmp/q.jpg", 62)):
            photo(photos / name, width, 40)
        self.build()
        (self.library / "p.xmp").write_text("of p")
        (photos / "p.jpg").rename(photos / "p2.jpg")
        self.build()
        self.assertEqual(self.ids(), {"p2", "p2.xmp/q"})
        self.assertEqual((self.library / "p2.szi.xmp").read_text(), "of p")
        self.assertFalse((self.library / "p.xmp").exists())

    def test_an_image_beside_such_a_folder_is_edited_deleted_and_restored(self):
        self.library.mkdir()
        client = self.serve()
        for name, place, width in (("a.jpg", "", 60), ("x.jpg", "a.xmp", 61)):
            data = photo(self.base / name, width, 40).read_bytes()
            self.assertEqual(client.end(client.send(data, filename=name, folder=place)[1])["status"], "done")
        self.edit(client, "a", "of a")
        answer = client.ask("DELETE", "/api/images/a")
        self.assertEqual((answer.status, self.ids()), (200, {"a.xmp/x"}))
        deletion = json.loads(answer.body)["deleted"]["id"]
        self.assertEqual(client.ask("POST", f"/api/trash/{deletion}/restore").status, 200)
        self.assertEqual((self.ids(), self.caption(client, "a")), ({"a", "a.xmp/x"}, "of a"))

    def test_two_images_do_not_share_a_sidecar(self):
        photo(self.base / "photos/a.jpg", 60, 40)
        photo(self.base / "photos/a.szi.jpg", 61, 40)
        self.build()
        client = self.serve()
        self.edit(client, "a.szi", "of a.szi")
        self.assertEqual((self.caption(client, "a"), self.caption(client, "a.szi")), (None, "of a.szi"))
        self.edit(client, "a", "of a")
        self.assertEqual((self.caption(client, "a"), self.caption(client, "a.szi")), ("of a", "of a.szi"))
        deletion = json.loads(client.ask("DELETE", "/api/images/a").body)["deleted"]["id"]
        self.assertEqual((self.ids(), self.caption(client, "a.szi")), ({"a.szi"}, "of a.szi"))
        self.assertEqual(client.ask("POST", f"/api/trash/{deletion}/restore").status, 200)
        self.assertEqual((self.caption(client, "a"), self.caption(client, "a.szi")), ("of a", "of a.szi"))

    def test_a_deleted_image_does_not_replace_a_sidecar_that_was_put_there(self):
        photo(self.base / "photos/a.jpg", 60, 40)
        self.build()
        client = self.serve()
        self.edit(client, "a", "of a")
        deletion = json.loads(client.ask("DELETE", "/api/images/a").body)["deleted"]["id"]
        (self.library / "a.xmp").write_text("somebody's")
        reported = json.loads(client.ask("POST", f"/api/trash/{deletion}/restore").body)
        self.assertEqual(reported, {"restored": [], "conflicts": ["a"]})
        (self.library / "a.xmp").unlink()
        client.ask("POST", f"/api/trash/{deletion}/restore")
        self.assertEqual(self.caption(client, "a"), "of a")


if __name__ == "__main__":
    unittest.main()
