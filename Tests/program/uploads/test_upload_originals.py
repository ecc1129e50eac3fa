"""Uploads whose picture is not all of their file: the file is kept, or refused with what to do."""

import unittest

import raw_photos
from harness import Server, folder, photo
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
        self.assertEqual(self.sent(photo(folder("p") / "a.jpg", 300, 200).read_bytes(), "a.jpg")["stage"], "done")
        self.assertEqual(self.sent(self.tiff(page(1)), "b.tif")["stage"], "done")
        self.assertEqual(rest_of(self.library), [])
        self.assertEqual([path.name for path in self.library.iterdir() if path.suffix in (".jpg", ".tif")], [])

    def test_one_of_several_pages_and_a_picture_beside_a_label(self):
        several = self.tiff(page(1), page(2), page(3))
        self.assertEqual(self.sent(several, "several.tif")["stage"], "done")
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
        others = Server(self.library, "--offer-originals")
        self.addCleanup(others.stop)
        self.assertEqual([others.get(f"/api/images/{id}/original").status for id in ("plain", "slide")], [200, 404])

    def test_raw_photographs_are_developed_and_kept(self):
        scene = Image.new("RGB", (96, 64), (90, 120, 60))
        dng = raw_photos.write(folder("raw") / "a.dng", raw_photos.sensor(scene) | raw_photos.dng()).read_bytes()
        state = self.sent(dng, "photo.dng")
        self.assertEqual((state["stage"], state["image"]), ("done", "photo"), state)
        self.assertEqual((self.library / "photo.dng").read_bytes(), dng)
        # Begins as no TIFF does, and nothing can be made of it.
        state = self.sent(b"FUJIFILMCCD-RAW 0201" + bytes(5000), "photo.raf")
        self.assertEqual((state["stage"], state["fault"]), ("failed", "damaged"), state)
        self.assertIn("RAW photograph", state["reason"])
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
                self.assertEqual((kind, state["stage"]), (kind, stage), state)

    def test_slides_are_called_slides(self):
        slide = svs(folder("slide") / "slide.svs", Image.new("RGB", (700, 500), (200, 150, 200))).read_bytes()
        untiled = self.tiff(strip(Image.new("RGB", (300, 200)), APERIO.format(300, 200, 240)), page(2))
        for data, name in ((slide, "slide.svs"), (slide, "slide.tif"), (untiled, "untiled.tif"), (bytes(5000), "slide.mrxs"),
                           (bytes(128) + b"DICM" + bytes(2000), "slide.dcm")):
            state = self.sent(data, name)
            self.assertEqual((state["stage"], state["fault"]), ("failed", "slide"), (name, state))
            self.assertRegex(state["reason"], "microscope slide.*ziggurat build")
        self.assertEqual((rest_of(self.library), archives(self.library)), ([], []))


if __name__ == "__main__":
    unittest.main()
