"""Pictures that are not just one photograph, and what the page tells about them: captions, progress, strips, books."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import PHOTO, PageTest, served, source
from test_zoom_at_point import middle

PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}
CAPTION = "Evening light <b>over</b> the bay"


class Kinds(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-kinds-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        photos = folder / "photos"
        photos.mkdir()
        photograph = source(PHOTO)
        shutil.copyfile(photograph, photos / "captioned.jpg")
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=The bay",
                        f"-XMP-dc:Description={CAPTION}", photos / "captioned.jpg"], check=True)
        for name, width, height in (("scroll", 700, 18000), ("panorama", 16000, 600)):
            subprocess.run(["vips", "thumbnail", photograph, photos / f"{name}.jpg", str(width),
                            "--height", str(height), "--size", "force"], check=True)
        cls.host = served(photos)
        pages = folder / "books" / "scans" / "diary"
        pages.mkdir(parents=True)
        for number in (1, 2, 10):  # In the order in which one counts.
            subprocess.run(["vips", "thumbnail", photograph, pages / f"page{number}.jpg", str(500 + number)], check=True)
        cls.books = served(folder / "books" / "scans", "--book")

    def test_title_and_caption_are_shown_as_text(self):
        visit = self.visit(host=self.host).open("view/captioned")
        words = visit.run("return [document.title, document.getElementById('title').textContent, "
                          "document.getElementById('facts').textContent, viewer.ariaLabel]")
        self.assertEqual(words, ["The bay", "The bay", f"{CAPTION} · 5,120 × 2,880", "The bay"])
        self.assertEqual(visit.run("return document.querySelectorAll('#bar b').length"), 0)
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Details").click()
        self.assertIn(CAPTION, visit.run("return viewer.shadowRoot.querySelector('dialog').textContent"))

    def test_progress_is_shown_until_the_view_is_sharp(self):
        visit = self.visit(host=self.host, tile_by_tile=True)
        held, hold = [], True
        visit.page.route("**/captioned_files/13/*", lambda route: held.append(route) if hold else route.continue_())
        visit.open("view/captioned#scale=1&x=1500&y=900", wait=False)
        visit.until("return viewer?.requestCounts.requested > 4", "tiles asked for")
        line = "const line = viewer.shadowRoot.querySelector('.progress'); "
        visit.until(line + "return line.classList.contains('busy')", "progress shown")
        # The tile of the whole image is there, those of the view are not.
        visit.until(line + "const part = parseFloat(line.style.scale); return part > 0 && part < 1")
        hold = False
        for route in held:
            route.continue_()
        visit.sharp()
        self.assertFalse(visit.run(line + "return line.classList.contains('busy')"))

    def test_a_scroll_and_a_panorama_open_at_their_start_filling_the_window(self):
        for name, size, window in (("scroll", (700, 18000), (1280, 800)), ("scroll", (700, 18000), (390, 844)),
                                   ("panorama", (16000, 600), (390, 844))):
            with self.subTest(image=name, window=window):
                visit = self.visit(host=self.host, width=window[0], height=window[1]).open(f"view/{name}")
                view = visit.view()
                cover = min(1, max(window[0] / size[0], window[1] / size[1]))
                self.assertAlmostEqual(view["scale"], cover)
                # Centred where the window is larger, else from its first edge.
                self.assertAlmostEqual(view["x"], min(0, (size[0] * cover - window[0]) / 2), delta=0.01)
                self.assertAlmostEqual(view["y"], min(0, (size[1] * cover - window[1]) / 2), delta=0.01)
                visit.page.keyboard.press("0")
                visit.page.wait_for_timeout(500)
                visit.sharp()
                whole = min(window[0] / size[0], window[1] / size[1])
                self.assertAlmostEqual(visit.view()["scale"], whole, msg="the whole is one key away")

    def test_a_book_is_paged_through(self):
        visit = self.visit(host=self.books).open("view/diary%2F1")
        visit.until("return document.getElementById('count').textContent === '/ 3'")
        for number, width in ((2, 502), (3, 510)):
            visit.page.keyboard.press("PageDown")
            visit.until(f"return viewer.isSharp && document.getElementById('number').value === '{number}'")
            self.assertEqual(visit.run("return viewer.source.pyramid.imageSize.width"), width)
        visit.page.keyboard.press("PageDown")
        visit.page.wait_for_timeout(300)
        self.assertEqual(visit.run("return viewer.index"), 2, "the last page is the last")

    def test_full_screen_and_back(self):
        visit = self.visit(host=self.host).open("view/captioned")
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement === viewer")
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement === null")

    def test_past_a_limit_the_device_buzzes_once(self):
        visit = self.visit(host=self.host, **PHONE)
        visit.page.add_init_script("globalThis.buzzes = []; navigator.vibrate = (time) => buzzes.push(time)")
        visit.open("view/captioned#" + middle(390, 844, 1.2))
        fingers = visit.touches()
        fingers.down((195, 300))
        for y in range(320, 620, 20):  # Past the upper edge, and farther.
            fingers.move((195, y))
        fingers.up()
        self.assertEqual(visit.run("return buzzes.length"), 1)
        visit.page.wait_for_timeout(600)
        fingers.down((195, 420))
        fingers.move((197, 421))
        fingers.up()
        self.assertEqual(visit.run("return buzzes.length"), 1, "within the limits it is still")


if __name__ == "__main__":
    unittest.main()
