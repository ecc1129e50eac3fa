"""Tiles in a format that this browser does not show are asked for as JPEG; those that it shows as they are stored."""

import shutil
import tempfile
import unittest
from pathlib import Path

from browser import PageTest, served, source


class Formats(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-formats-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.hosts = {}
        for format in ("jxl", "avif"):
            photos = folder / format / "photos"
            photos.mkdir(parents=True)
            shutil.copyfile(source("FallenLeaf"), photos / "leaf.jpg")
            cls.hosts[format] = served(photos, "--format", format, "--fidelity", "lossless", "--tile-size", "1024")

    def endings(self, visit) -> set[str]:
        return {url.partition("?")[0].rpartition(".")[2] for url in visit.requests if "_files/" in url or "/default." in url}

    def shows(self, visit, format: str) -> bool:
        """What the browser says of a tile itself."""
        return visit.run("const blob = await (await fetch(argument)).blob()\nreturn createImageBitmap(blob).then(() => true, () => false)",
                         f"/dzi/leaf_files/9/0_0.{format}")

    def test_every_way_to_a_picture_asks_for_what_can_be_shown(self):
        for format, host in self.hosts.items():
            for way in ("view/leaf", "view/leaf#scale=1&x=600&y=400", ""):
                # The gallery holds a viewer, too, which waits.
                drawn = "return viewer?.isFullyLoaded" if way else "return document.querySelector('img.there')"
                with self.subTest(format=format, way=way):
                    visit = self.visit(host=host).open(way, wait=False)
                    visit.until(drawn, "the picture drawn")
                    wanted = format if self.shows(visit, format) else "jpg"
                    visit.requests.clear()
                    visit.page.reload()
                    visit.until(drawn, "the picture drawn again")
                    self.assertLessEqual(self.endings(visit), {wanted})
                    if way == "":
                        self.assertEqual(self.endings(visit), {wanted})

    def test_descriptions_of_others_are_read_so_too(self):
        for format, host in self.hosts.items():
            for source in ("/dzi/leaf.dzi", "/iiif/3/leaf/info.json", "/api/images/leaf"):
                with self.subTest(format=format, source=source):
                    visit = self.visit(host=host, tile_by_tile=True).open("view/leaf")
                    wanted = format if self.shows(visit, format) else "jpg"
                    visit.requests.clear()
                    visit.run("await viewer.open(argument)", source)
                    visit.sharp()
                    self.assertEqual(self.endings(visit), {wanted})


if __name__ == "__main__":
    unittest.main()
