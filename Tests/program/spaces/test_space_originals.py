"""Originals and metadata of pictures that move between a library and its spaces: none replaces another's, none is lost."""

import io
import json
import time
import unittest

from harness import folder, run
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Owner, SpaceTest
from upload_client import TOKEN, TYPE, metadata

ONE, TWO = "the first of the passwords", "the second of the passwords"


class Sender(Owner):
    """A visitor who uploads files."""

    def upload(self, data: bytes, name: str, place: str = "") -> dict:
        made = self.ask("api/uploads", "POST", b"", Tus_Resumable="1.0.0", Upload_Length=len(data),
                        Upload_Metadata=metadata(filename=name, **({"folder": place} if place else {})))
        assert made.status == 201, made
        path = made["location"].lstrip("/")
        sent = self.ask(path, "PATCH", data, Tus_Resumable="1.0.0", Upload_Offset=0, Content_Type=TYPE)
        assert sent.status == 204, sent
        while (state := json.loads(self.ask(path).body))["status"] not in ("done", "failed"):
            time.sleep(0.05)
        return state

    def original(self, id: str):
        answer = self.ask(f"api/images/{id}/original")
        return answer.body if answer.status == 200 else answer.status

    def move(self, id: str, to: str, **more):
        answer = self.send_json(f"api/images/{id}/move", {"to": to, **more})
        return answer.status, json.loads(answer.body).get("detail", "")

    def caption(self, id: str) -> str | None:
        return json.loads(self.ask(f"api/images/{id}").body).get("caption")


def picture(number: int) -> bytes:
    """A file of which the tiles do not show the alpha: the same pixels for every number."""
    plain, out = PngInfo(), io.BytesIO()
    plain.add_text("serial", str(number))
    Image.new("RGBA", (300, 200), (90, 80, 70, 60)).save(out, "PNG", pnginfo=plain)
    return out.getvalue()


def book(pages: int) -> bytes:
    out = io.BytesIO()
    images = [Image.new("RGB", (301 + number, 200), (90 + number, 80, 70)) for number in range(pages)]
    images[0].save(out, "TIFF", save_all=True, append_images=images[1:])
    return out.getvalue()


class Originals(SpaceTest):
    visitor = Sender

    def setUp(self):
        self.library = folder("library")
        for secret in (ONE, TWO):
            self.space("create", self.library, secret)
        self.server = self.serve()
        self.one, self.two = self.owner(self.server, ONE), self.owner(self.server, TWO)
        for who in (self.one, self.two):
            self.assertEqual(who.log_in({"token": TOKEN}).status, 200)

    def files(self) -> dict[str, bytes]:
        """The originals that lie in the library."""
        return {path.name: path.read_bytes() for path in self.library.iterdir() if path.suffix in (".png", ".tif")}

    def test_a_move_onto_a_picture_of_another_file_is_refused(self):
        files = [picture(number) for number in range(3)]
        self.assertEqual(self.one.upload(files[0], "m.png")["image"], "m")
        self.assertEqual(self.one.upload(files[1], "m.png", "~/")["image"], "~/m")
        self.assertEqual(self.two.upload(files[2], "m.png", "~/")["image"], "~/m")
        for answer in (self.one.move("m", "space"), self.one.move("~%2Fm", "library"),
                       self.one.move("~%2Fm", "other-space", password=TWO)):
            self.assertEqual(answer[0], 409)
            self.assertIn("was made from another file", answer[1])
        self.assertEqual((self.one.original("m"), self.one.original("~%2Fm"), self.two.original("~%2Fm")), tuple(files))
        self.assertEqual(self.files(), {"m.png": files[0]})

    def test_a_move_onto_other_metadata_is_refused(self):
        data = picture(0)
        self.one.upload(data, "n.png")
        for who in (self.one, self.two):
            self.assertEqual(who.upload(data, "n.png", "~/")["image"], "~/n")
        captions = {}
        for who, id in ((self.one, "n"), (self.one, "~%2Fn"), (self.two, "~%2Fn")):
            captions[who, id] = f"words number {len(captions)}"
            self.assertEqual(who.send_json(f"api/images/{id}", {"caption": captions[who, id]}, "PATCH").status, 200)
        for answer in (self.one.move("n", "space"), self.one.move("~%2Fn", "library"),
                       self.one.move("~%2Fn", "other-space", password=TWO)):
            self.assertEqual(answer[0], 409)
            self.assertIn("other metadata", answer[1])
        self.assertEqual({key: key[0].caption(key[1]) for key in captions}, captions)

    def test_a_sidecar_without_an_archive_is_not_overwritten(self):
        self.one.upload(picture(0), "n.png", "~/")
        self.one.send_json("api/images/~%2Fn", {"caption": "of the space"}, "PATCH")
        sidecar = self.library / "n.xmp"
        sidecar.write_text("somebody's")
        self.assertEqual(self.one.move("~%2Fn", "library")[0], 409)
        self.assertEqual((sidecar.read_text(), self.one.caption("~%2Fn")), ("somebody's", "of the space"))
        sidecar.unlink()
        # A folder of that name is other images'.
        sidecar.mkdir()
        self.assertEqual(self.one.move("~%2Fn", "library")[0], 200)
        self.assertEqual((self.one.caption("n"), (self.library / "n.szi.xmp").is_file()), ("of the space", True))

    def test_two_sidecars_with_different_metadata_are_not_made_one(self):
        self.one.upload(picture(0), "n.png")
        sidecars = [self.library / name for name in ("n.xmp", "n.szi.xmp")]
        for sidecar in sidecars:
            sidecar.write_text(sidecar.name)
        status, reason = self.one.move("n", "space")
        self.assertEqual((status, "two sidecars" in reason), (409, True))
        self.assertEqual([sidecar.read_text() for sidecar in sidecars], ["n.xmp", "n.szi.xmp"])

    def test_the_original_of_a_book_stays_with_its_pages(self):
        data = book(3)
        self.assertEqual(self.one.upload(data, "b.tif", "~/")["image"], "~/b")
        self.assertEqual(self.one.ask("api/images/~%2Fb%2F1", "DELETE").status, 200)
        self.assertEqual(self.one.original("~%2Fb%2F2"), data)
        # What lacks a page is no duplicate.
        again = self.one.upload(data, "b.tif", "~/")
        self.assertEqual((again["image"], again["duplicate"]), ("~/b-2", False))
        self.assertEqual(self.one.original("~%2Fb-2%2F1"), data)
        self.assertTrue(self.one.upload(data, "b.tif", "~/")["duplicate"])
        # Both spaces keep it, each for its own pages.
        self.assertEqual(self.one.move("~%2Fb%2F2", "other-space", password=TWO)[0], 200)
        self.assertEqual((self.one.original("~%2Fb%2F3"), self.two.original("~%2Fb%2F2")), (data, data))
        self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)

    def test_a_private_page_that_has_the_original_of_public_ones_is_not_deleted(self):
        data = book(3)
        self.one.upload(data, "b.tif")
        self.assertEqual(self.one.move("b%2F1", "space")[0], 200)
        # It shows the private page.
        self.assertEqual(self.files(), {})
        refused = self.one.ask("api/images/~%2Fb%2F1", "DELETE")
        self.assertEqual((refused.status, b"original would be lost" in refused.body), (409, True))
        self.assertEqual(self.one.original("~%2Fb%2F1"), data)
        for page in (2, 3):
            self.assertEqual(self.one.move(f"b%2F{page}", "space")[0], 200)
        self.assertEqual(self.one.ask("api/images/~%2Fb%2F1", "DELETE").status, 200)
        self.assertEqual(self.one.original("~%2Fb%2F2"), data)

    def test_an_original_too_long_for_a_space_is_a_conflict(self):
        data = picture(0) + bytes(256 << 20)
        self.assertEqual(self.one.upload(data, "big.png")["image"], "big")
        status, reason = self.one.move("big", "space")
        self.assertEqual((status, "more than 256 MB" in reason), (409, True))
        self.assertEqual(self.one.ids(), ["big"])


class Books(SpaceTest):
    def test_the_last_page_of_a_book_leaves_no_trace_of_it(self):
        base = folder("books")
        self.library = base / "library"
        for number in (1, 2):
            (base / "photos/family").mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (200 + number, 100), (9, 99, 200)).save(base / f"photos/family/p{number}.jpg")
        (base / "photos/family/book.json").write_text('{"title": "Grandmother\'s secret", "creator": "Zelda"}')
        build = ("build", base / "photos", "--book", "--library", self.library, "--quiet")
        self.assertEqual(run(*build).returncode, 0)
        (base / "photos/family").rename(base / "photos/grandma")
        self.assertEqual(run(*build).returncode, 0)
        self.assertTrue(self.traces(), "the search finds what lies open")
        self.space("create", self.library, ONE)
        who = self.owner(self.serve(), ONE)
        who.log_in({"token": TOKEN})
        for page in ("p1", "p2"):
            self.assertEqual(who.send_json(f"api/images/grandma%2F{page}/move", {"to": "space"}).status, 200)
        self.until(lambda: not self.traces(), "traces of the book stay")
        self.assertEqual(who.ids(), ["~/grandma"])

    def traces(self) -> list[str]:
        plain = (b"grandma", b"secret", b"Zelda")
        found = []
        for path in self.library.rglob("*"):
            text = str(path.relative_to(self.library)).encode() + (path.read_bytes() if path.is_file() else b"")
            found += [f"{word} in {path}" for word in plain if word in text]
        return found


if __name__ == "__main__":
    unittest.main()
