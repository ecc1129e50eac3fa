"""Uploads whose picture is not all of their file: the file is kept, or refused with what to do."""

import io
import json
import time
import unittest

import raw_photos
from harness import Server, folder, photo, run
from PIL import Image
from slides import APERIO, strip, svs, write
from szi import archives
from upload_client import Client, rest_of, serve

LABEL = (250, 20, 20)


def page(number: int):
    return strip(Image.new("RGB", (200 + number, 150), (10 * number, 90, 90)), "")


class Originals(unittest.TestCase):
    def setUp(self):
        self.library = folder("library")
        self.server = serve(self.library)
        self.client = Client(self.server)
        self.addCleanup(self.server.stop)

    def sent(self, data: bytes, name: str) -> dict:
        answer, path = self.client.send(data, filename=name)
        return self.client.end(path) if answer.status == 204 else self.client.state(path)

    def tiff(self, *directories) -> bytes:
        return write(folder("tiff") / "a.tif", list(directories)).read_bytes()

    def test_the_whole_picture_needs_no_file(self):
        self.assertEqual(self.sent(photo(folder("p") / "a.jpg", 300, 200).read_bytes(), "a.jpg")["status"], "done")
        self.assertEqual(self.sent(self.tiff(page(1)), "b.tif")["status"], "done")
        self.assertEqual(rest_of(self.library), [])
        self.assertEqual([path.name for path in self.library.iterdir() if path.suffix in (".jpg", ".tif")], [])

    def test_a_name_that_a_link_to_nothing_has_is_taken(self):
        (self.library / "a.szi").symlink_to("none.szi")
        self.assertEqual(self.sent(photo(folder("p") / "a.jpg", 300, 200).read_bytes(), "a.jpg")["image"], "a-2")

    def test_one_of_several_pages_and_a_picture_beside_a_label(self):
        several = self.tiff(page(1), page(2), page(3))
        self.assertEqual(self.sent(several, "several.tif")["status"], "done")
        self.assertEqual((self.library / "several.tif").read_bytes(), several)
        slide = self.tiff(page(4), strip(Image.new("RGB", (120, 140), LABEL), "label 120x140"))
        self.assertEqual(self.sent(slide, "slide.tif")["image"], "slide")
        self.assertEqual((self.library / "slide.tif").read_bytes(), slide)
        self.assertIn("slide", self.client.images())
        self.assertNotIn("slide/2", self.client.images())
        # The file has the label: it is for those who may write.
        self.assertEqual(self.client.ask("GET", "/api/images/slide/original").status, 200)
        self.assertEqual(self.server.get("/api/images/slide/original").status, 404)
        plain = self.tiff(page(5))
        self.assertEqual(self.sent(plain, "plain.tif")["image"], "plain")
        (self.library / "plain.tif").write_bytes(plain)
        others = Server(self.library, "--public-originals")
        self.addCleanup(others.stop)
        self.assertEqual([others.get(f"/api/images/{id}/original").status for id in ("plain", "slide")], [200, 404])

    def lossy(self, number: int) -> bytes:
        """A picture whose tiles have no alpha."""
        out = io.BytesIO()
        Image.new("RGBA", (80 + number, 60), (10 * number, 90, 90, 128)).save(out, "PNG")
        return out.getvalue()

    def original(self, id: str):
        answer = self.client.ask("GET", f"/api/images/{id}/original")
        return answer.body if answer.status == 200 else answer.status

    def delete(self, id: str) -> str:
        answer = self.client.ask("DELETE", f"/api/images/{id}")
        self.assertEqual(answer.status, 200)
        return json.loads(answer.body)["deleted"]["id"]

    def restore(self, name: str) -> dict:
        return json.loads(self.client.ask("POST", f"/api/trash/{name}/restore").body)

    def files(self) -> dict[str, bytes]:
        """The pictures that lie in the library as files."""
        return {path.name: path.read_bytes() for path in self.library.iterdir() if path.suffix in (".png", ".jpg", ".tif")}

    def test_an_original_is_that_of_its_image_and_goes_and_comes_with_it(self):
        first, second = self.lossy(1), self.lossy(2)
        self.assertEqual(self.sent(first, "photo.png")["image"], "photo")
        self.assertEqual(self.original("photo"), first)
        deletion = self.delete("photo")
        self.assertEqual(self.files(), {})
        self.assertEqual(self.sent(second, "photo.png")["image"], "photo")
        self.assertEqual(self.original("photo"), second)
        # The name is taken: the deleted picture stays in the trash, and the other one is as it was.
        self.assertEqual(self.restore(deletion), {"restored": [], "conflicts": ["photo"]})
        self.assertEqual(self.original("photo"), second)
        other = self.delete("photo")
        self.assertEqual(self.restore(deletion), {"restored": ["photo"], "conflicts": []})
        self.assertEqual(self.original("photo"), first)
        self.assertEqual(self.files(), {"photo.png": first})
        self.delete("photo")
        self.assertEqual(self.restore(other)["restored"], ["photo"])
        self.assertEqual(self.files(), {"photo.png": second})

    def test_a_restored_picture_keeps_its_metadata_for_itself(self):
        first, second = (photo(folder("p") / "a.jpg", width, 200).read_bytes() for width in (300, 400))
        self.sent(first, "photo.jpg")
        metadata = json.dumps({"title": "The first"}).encode()
        self.assertEqual(self.client.ask("PATCH", "/api/images/photo", metadata, Content_Type="application/json").status, 200)
        deletion = self.delete("photo")
        self.sent(second, "photo.jpg")
        self.assertEqual(self.restore(deletion), {"restored": [], "conflicts": ["photo"]})
        shown = json.loads(self.server.get("/api/images/photo").body)
        self.assertEqual((shown["width"], shown["title"]), (400, "photo"))
        self.delete("photo")
        self.assertEqual(self.restore(deletion)["restored"], ["photo"])
        shown = json.loads(self.server.get("/api/images/photo").body)
        self.assertEqual((shown["width"], shown["title"]), (300, "The first"))

    def test_a_purged_picture_leaves_no_original(self):
        self.server.stop()
        server = serve(self.library, "--keep-deleted", "0")
        self.addCleanup(server.stop)
        self.client = Client(server)
        self.sent(self.lossy(1), "photo.png")
        self.delete("photo")
        until = time.monotonic() + 30
        while list((self.library / ".ziggurat-trash").iterdir()) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(list((self.library / ".ziggurat-trash").iterdir()), [])
        self.assertEqual(self.files(), {})

    def test_the_original_of_a_book_goes_and_comes_with_its_pages(self):
        several = self.tiff(page(1), page(2), page(3))
        self.assertEqual(self.sent(several, "book.tif")["status"], "done")
        pages = [f"book%2F{number}" for number in (1, 2, 3)]
        self.assertEqual([self.original(id) for id in pages], [several] * 3)
        first = self.delete(pages[0])
        # The others are of that file still.
        self.assertEqual(self.files(), {"book.tif": several})
        others = json.loads(self.client.ask("POST", "/api/trash", json.dumps({"ids": ["book/2", "book/3"]}).encode(),
                                            Content_Type="application/json").body)["deleted"]["id"]
        self.assertEqual(self.files(), {})
        # The file is in the later deletion, whatever comes back first.
        self.assertEqual(self.restore(first)["restored"], ["book/1"])
        self.assertEqual((self.files(), self.original(pages[0])), ({"book.tif": several}, several))
        self.assertEqual(self.restore(others)["restored"], ["book/2", "book/3"])
        self.assertEqual([self.original(id) for id in pages], [several] * 3)
        self.assertEqual(list((self.library / ".ziggurat-trash").rglob("*.tif")), [])

    def test_a_file_that_is_sent_again_replaces_a_lost_original(self):
        data, several = self.lossy(1), self.tiff(page(1), page(2))
        self.sent(data, "photo.png")
        self.sent(several, "book.tif")
        for path in self.files():
            (self.library / path).unlink()
        for sent, name, image, id in ((data, "again.png", "photo", "photo"), (several, "again.tif", "book", "book%2F2")):
            reported = self.sent(sent, name)
            self.assertEqual((reported["status"], reported["duplicate"], reported["image"]), ("done", True, image))
            self.assertEqual(self.original(id), sent)
        self.assertEqual(self.files(), {"photo.png": data, "book.tif": several})

    def test_a_book_that_lacks_pages_is_no_duplicate(self):
        several = self.tiff(page(1), page(2), page(3))
        self.sent(several, "book.tif")
        self.delete("book%2F1")
        self.delete("book%2F2")
        again = self.sent(several, "book.tif")
        self.assertEqual((again["status"], again["duplicate"], again["image"]), ("done", False, "book-2"))
        self.assertEqual([self.original(f"book-2%2F{number}") for number in (1, 2, 3)], [several] * 3)
        more = self.sent(several, "book.tif")
        self.assertEqual((more["duplicate"], more["image"]), (True, "book-2"))

    def test_a_purged_book_leaves_no_original(self):
        several = self.tiff(page(1), page(2))
        self.sent(several, "book.tif")
        self.client.ask("POST", "/api/trash", json.dumps({"ids": ["book/1", "book/2"]}).encode(), Content_Type="application/json")
        self.server.stop()
        self.addCleanup(serve(self.library, "--keep-deleted", "0").stop)
        until = time.monotonic() + 30
        while list((self.library / ".ziggurat-trash").iterdir()) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(list(self.library.rglob("*.tif")), [])

    def test_a_trash_that_is_a_link_is_refused(self):
        self.sent(self.lossy(1), "photo.png")
        elsewhere = folder("elsewhere")
        old = elsewhere / "1-1234567890abcdef"
        old.mkdir()
        (old / "a.szi").write_bytes((self.library / "photo.szi").read_bytes())
        before = sorted(path.name for path in self.library.iterdir())
        # Of a folder elsewhere, of one within the library, and of nothing.
        for target in (elsewhere, self.library / "inside", "nowhere"):
            (self.library / "inside").mkdir(exist_ok=True)
            (self.library / ".ziggurat-trash").symlink_to(target)
            self.assertNotEqual(self.client.ask("DELETE", "/api/images/photo").status, 200, target)
            self.assertEqual(json.loads(self.client.ask("GET", "/api/trash").body)["items"], [])
            self.assertNotEqual(self.client.ask("POST", f"/api/trash/{old.name}/restore").status, 200)
            result = run("build", folder("none"), "--library", self.library, "--prune=all", "--keep-deleted", "0")
            self.assertEqual(sorted(path.name for path in elsewhere.rglob("*")), [old.name, "a.szi"], result.stderr)
            (self.library / ".ziggurat-trash").unlink()
            (self.library / "inside").rmdir()
            self.assertEqual(sorted(path.name for path in self.library.iterdir() if "catalog" not in path.name),
                             [name for name in before if "catalog" not in name])
        photos = folder("photos")
        built = photo(photos / "built.jpg", 60, 40)
        self.assertEqual(run("build", photos, "--library", self.library).returncode, 0)
        built.unlink()
        (self.library / ".ziggurat-trash").symlink_to(elsewhere)
        result = run("build", photos, "--library", self.library, "--prune=all", "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A[^\n]*\.ziggurat-trash: it is a symbolic link; put a folder in its place\n\Z")
        self.assertTrue((self.library / "built.szi").exists())

    def test_another_file_of_the_name_is_neither_offered_nor_replaced(self):
        stale = self.lossy(1)
        (self.library / "photo.png").write_bytes(stale)
        sent = self.lossy(2)
        self.assertEqual(self.sent(sent, "photo.png")["image"], "photo")
        self.assertEqual(self.original("photo"), sent)
        self.assertEqual((self.library / "photo.png").read_bytes(), stale)
        deletion = self.delete("photo")
        self.assertEqual(self.files(), {"photo.png": stale})
        self.restore(deletion)
        self.assertEqual(self.original("photo"), sent)
        # A picture without an original of its own gets no other.
        self.assertEqual(self.sent(photo(folder("p") / "a.png", 90, 70).read_bytes(), "plain.png")["status"], "done")
        (self.library / "plain.png").write_bytes(stale)
        self.assertEqual(self.original("plain"), 404)

    def test_an_original_has_the_ending_of_its_format(self):
        names = ("x.xmp", "y.szi", "book.json", "z.dzi", "w.zip", "v.jpg", "u.PNG", "t", "s.szi.xmp")
        for number, name in enumerate(names):
            data = self.lossy(number + 1)
            state = self.sent(data, name)
            self.assertEqual(state["status"], "done", (name, state))
            self.assertEqual(self.original(state["image"]), data, name)
        kept = sorted(path.name for path in self.library.iterdir() if path.suffix != ".szi" and path.name[0] != "." and "catalog" not in path.name)
        self.assertEqual(kept, sorted(["x.png", "y.png", "book.png", "z.png", "w.png", "v.png", "u.PNG", "t.png", "s-szi.png"]))

    def test_what_the_tiles_do_not_have_is_kept(self):
        out = {}
        for name, image, options in (
                ("alpha.png", Image.new("RGBA", (80, 60), (1, 2, 3, 40)), {}),
                ("gray16.png", Image.new("I;16", (80, 60), 12345), {}),
                ("float.tif", Image.new("F", (80, 60), 0.5), {}),
                ("cmyk.jpg", Image.new("CMYK", (80, 60), (10, 20, 30, 40)), {}),
                ("moving.png", Image.new("RGB", (80, 60)), {"save_all": True, "append_images": [Image.new("RGB", (80, 60), (9, 9, 9))]}),
                ("pair.jpg", Image.new("RGB", (81, 60)), {"format": "MPO", "save_all": True, "append_images": [Image.new("RGB", (81, 60), (9, 9, 9))]}),
                ("whole.jpg", Image.new("RGB", (82, 60)), {}),
                ("whole.png", Image.new("RGB", (83, 60)), {}),
        ):
            path = folder("p") / name
            image.save(path, **options)
            out[name] = path.read_bytes()
        whole = out["whole.jpg"]
        out["motion.jpg"] = whole + b"\0\0\0\x18ftypmp42" + bytes(range(256)) * 20
        # The last bytes are an end marker, too.
        first = io.BytesIO()
        Image.new("RGB", (85, 60), (1, 2, 3)).save(first, "JPEG")
        out["two.jpg"] = first.getvalue() + whole
        second = io.BytesIO()
        Image.new("RGB", (90, 70), (7, 7, 7)).save(second, "PNG")
        out["trail.png"] = out["whole.png"] + second.getvalue()
        webp = io.BytesIO()
        Image.new("RGB", (84, 60)).save(webp, "WEBP")
        out["whole.webp"], out["trail.webp"] = webp.getvalue(), webp.getvalue() + second.getvalue()
        out["whole-padded.jpg"] = whole + bytes(5000)
        for name, data in out.items():
            state = self.sent(data, name)
            self.assertEqual(state["status"], "done", (name, state))
            self.assertEqual(self.original(state["image"]), 404 if name.startswith("whole") else data, name)

    def test_stacks_with_labels_are_for_writers_alone(self):
        def ome(*names: str) -> bytes:
            images = "".join(
                f'<Image ID="Image:{number}" Name="{name}"><Pixels ID="Pixels:{number}" DimensionOrder="XYCZT" Type="uint8" '
                f'SizeX="64" SizeY="48" SizeC="3" SizeZ="1" SizeT="1"><Channel ID="Channel:{number}:0" SamplesPerPixel="3"/>'
                f'<TiffData IFD="{number}" PlaneCount="1"/></Pixels></Image>' for number, name in enumerate(names))
            text = f'<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">{images}</OME>'
            return self.tiff(*[strip(Image.new("RGB", (64, 48), (9 * number, 5 * len(names), 7)), text if number == 0 else "")
                               for number in range(len(names))])

        for number, names in enumerate((("macro", "tissue"), ("label", "tissue", "tissue 2"), ("tissue", "slide label"))):
            state = self.sent(ome(*names), f"stack{number}.ome.tif")
            self.assertEqual(state["status"], "done", state)
            self.assertEqual(self.original(state["image"]), ome(*names))
        others = Server(self.library, "--public-originals")
        self.addCleanup(others.stop)
        for number in range(3):
            self.assertEqual(others.get(f"/api/images/stack{number}.ome/original").status, 404, number)

    def test_raw_photographs_are_developed_and_kept(self):
        scene = Image.new("RGB", (96, 64), (90, 120, 60))
        dng = raw_photos.write(folder("raw") / "a.dng", raw_photos.sensor(scene) | raw_photos.dng()).read_bytes()
        state = self.sent(dng, "photo.dng")
        self.assertEqual((state["status"], state["image"]), ("done", "photo"), state)
        self.assertEqual((self.library / "photo.dng").read_bytes(), dng)
        # Begins as no TIFF does, and nothing can be made of it.
        state = self.sent(b"FUJIFILMCCD-RAW 0201" + bytes(5000), "photo.raf")
        self.assertEqual((state["status"], state["errorCode"]), ("failed", "damaged"), state)
        self.assertIn("RAW photograph", state["message"])
        self.assertEqual(rest_of(self.library), [])

    def test_kinds_that_begin_alike(self):
        scene = Image.new("RGB", (96, 64), (90, 120, 60))
        dng = raw_photos.write(folder("raw") / "a.dng", raw_photos.sensor(scene) | raw_photos.dng()).read_bytes()
        for kind, taken, other in (("raw", dng, self.tiff(page(1))), ("tiff", self.tiff(page(1)), dng)):
            server = serve(folder("library"), "--upload-types", kind)
            self.addCleanup(server.stop)
            client = Client(server)
            for data, stage in ((taken, "done"), (other, "failed")):
                answer, path = client.send(data, filename="photo.tif")
                state = client.end(path) if answer.status == 204 else client.state(path)
                self.assertEqual((kind, state["status"]), (kind, stage), state)

    def test_slides_are_called_slides(self):
        slide = svs(folder("slide") / "slide.svs", Image.new("RGB", (700, 500), (200, 150, 200))).read_bytes()
        untiled = self.tiff(strip(Image.new("RGB", (300, 200)), APERIO.format(300, 200, 240)), page(2))
        for data, name in ((slide, "slide.svs"), (slide, "slide.tif"), (untiled, "untiled.tif"), (bytes(5000), "slide.mrxs"),
                           (bytes(128) + b"DICM" + bytes(2000), "slide.dcm")):
            state = self.sent(data, name)
            self.assertEqual((state["status"], state["errorCode"]), ("failed", "slide"), (name, state))
            self.assertRegex(state["message"], "microscope slide.*ziggurat build")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))


if __name__ == "__main__":
    unittest.main()
