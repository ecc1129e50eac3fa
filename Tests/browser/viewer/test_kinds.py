"""Pictures that are not just one photograph, and their descriptions on the page: captions, progress, strips, books."""

import io
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from PIL import Image

from browser import PHOTO, PageTest, served, source
from test_zoom_at_point import middle

PHONE = {"width": 390, "height": 844, "ratio": 2, "touch": True}
CAPTION = "Evening light <b>over</b> the bay"


class Kinds(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-kinds-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        photos = cls.photos = folder / "photos"
        photos.mkdir()
        photograph = source(PHOTO)
        shutil.copyfile(photograph, photos / "captioned.jpg")
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=The bay",
                        f"-XMP-dc:Description={CAPTION}", photos / "captioned.jpg"], check=True)
        for name, width, height in (("scroll", 700, 18000), ("panorama", 16000, 600)):
            subprocess.run(["vips", "thumbnail", photograph, photos / f"{name}.jpg", str(width),
                            "--height", str(height), "--size", "force"], check=True)
        # Frames of one gray each, so that a pixel shows which frame is visible.
        frames = [Image.new("RGB", (320, 200), (40 * number,) * 3) for number in range(6)]
        frames[0].save(photos / "wheel.gif", save_all=True, append_images=frames[1:], duration=120, loop=0)
        frames[0].save(photos / "waves.webp", save_all=True, append_images=frames[1:], duration=120, lossless=True)
        clear = [Image.new("RGBA", (320, 200), (0, 0, 0, 0)) for _ in range(2)]
        for number, frame in enumerate(clear):
            frame.paste((0, 0, 0, 255), (20 + 200 * number, 20, 60 + 200 * number, 60))
        clear[0].save(photos / "clear.gif", save_all=True, append_images=clear[1:], duration=120, loop=0, disposal=2)
        cls.host = served(photos)
        pages = folder / "books" / "scans" / "diary"
        pages.mkdir(parents=True)
        for number in (1, 2, 10):  # In the order in which one counts.
            subprocess.run(["vips", "thumbnail", photograph, pages / f"page{number}.jpg", str(500 + number)], check=True)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=A walk", pages / "page2.jpg"], check=True)
        cls.books = served(folder / "books" / "scans", "--book")

    def test_title_and_caption_are_shown_as_text(self):
        visit = self.visit(host=self.host).open("view/captioned")
        texts = visit.run("return [document.title, document.getElementById('title').textContent, "
                          "document.getElementById('facts').textContent, viewer.ariaLabel]")
        self.assertEqual(texts, ["The bay", "The bay", f"{CAPTION} · 5,120 × 2,880", "The bay"])
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

    def test_the_small_picture_of_a_strip_is_large_enough_to_be_hit(self):
        for name, width, height in (("scroll", 1280, 800), ("panorama", 390, 844)):
            visit = self.visit(host=self.host, width=width, height=height).open(f"view/{name}")
            visit.until("return !viewer.shadowRoot.querySelector('.navigator').hidden")
            box = visit.page.locator(".navigator").bounding_box()
            self.assertGreaterEqual(min(box["width"], box["height"]), 32)

    def test_details_of_an_animation_show_its_own_format_and_no_tiles(self):
        visit = self.visit(host=self.host).open("view/wheel")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Details").click()
        pairs = visit.run("""const terms = [...viewer.shadowRoot.querySelectorAll('dialog dt')]
            return Object.fromEntries(terms.map((dt) => [dt.textContent, dt.nextElementSibling.textContent]))""")
        self.assertEqual(pairs["Format"], "GIF")
        self.assertEqual([name for name in pairs if name in ("Levels", "Tiles", "Identifier")], [])

    FRAME = "const canvas = viewer.shadowRoot.querySelector('.moving'); "

    def test_an_animation_plays_pauses_and_steps(self):
        for name in ("wheel", "waves"):
            with self.subTest(image=name):
                visit = self.visit(host=self.host).open(f"view/{name}")
                visit.until("return viewer.animation?.plays", "plays by itself")
                kept = visit.run("const { url } = viewer.source.details.animation\n"
                                 "return [...new Uint8Array(await (await fetch(url)).arrayBuffer())]")
                self.assertEqual(bytes(kept), next(self.photos.glob(f"{name}.*")).read_bytes())
                seen = {visit.until(self.FRAME + "return canvas?.dataset.frame")}
                visit.until(self.FRAME + f"return canvas.dataset.frame !== '{seen.pop()}'", "another frame")
                visit.page.get_by_role("button", name="Pause").click()
                visit.page.wait_for_timeout(300)
                paused = int(visit.run(self.FRAME + "return canvas.dataset.frame"))
                visit.page.wait_for_timeout(400)
                self.assertEqual(int(visit.run(self.FRAME + "return canvas.dataset.frame")), paused)
                visit.run("viewer.focus()")
                for key, by in ((".", 1), (".", 2), (",", 1), (",", 0), (",", -1)):
                    visit.page.keyboard.press(key)
                    visit.until(self.FRAME + f"return canvas.dataset.frame === '{(paused + by) % 6}'", f"a step to {by}")
                # The frame stands where the picture stood, and moves with it.
                for view in ("", "scale=3&x=20&y=30", "scale=2&x=0&y=0&rotation=90"):
                    visit.look(view)
                    visit.page.wait_for_timeout(50)
                    x, y = (visit.width / 2, visit.height / 2)
                    shot = Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB")
                    self.assertAlmostEqual(shot.getpixel((int(x), int(y)))[0], 40 * ((paused - 1) % 6), delta=3)
                    off = visit.run(self.FRAME + """const box = canvas.getBoundingClientRect()
                        const middle = viewer.viewport.viewportPoint({ x: 160, y: 100 })
                        return Math.hypot((box.left + box.right) / 2 - middle.x, (box.top + box.bottom) / 2 - middle.y)""")
                    self.assertLess(off, 0.6)

    def test_where_a_moving_picture_is_transparent_it_has_the_ground_that_it_has_in_the_gallery(self):
        for scheme in ("dark", "light"):
            visit = self.visit(host=self.host, color_scheme=scheme).open("?q=clear", wait=False)
            visit.until("return document.querySelectorAll('.there').length === 1 && document.querySelector('.view.waiting')")
            box = visit.page.locator("#grid img").bounding_box()
            self.turns_white(visit, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            visit.page.locator("#grid a").click()
            visit.until("return viewer.isFullyLoaded && viewer.animation?.plays && !document.querySelector('.growing')")
            visit.until(self.FRAME + "return canvas?.dataset.frame")
            self.turns_white(visit, visit.width / 2, visit.height / 2)
            visit.page.get_by_role("button", name="Pause").click()
            visit.page.wait_for_timeout(150)
            self.assertEqual(self.gray(visit.page.screenshot(), visit.width // 2, visit.height // 2), 255, scheme)

    def turns_white(self, visit, x, y):
        """What is faded in has its colour in the end."""
        for _ in range(100):
            gray = self.gray(visit.page.screenshot(), int(x), int(y))
            if gray == 255:
                return
            visit.page.wait_for_timeout(50)
        self.fail(f"stays {gray}")

    def gray(self, picture, x, y):
        return Image.open(io.BytesIO(picture)).convert("RGB").getpixel((x, y))[0]

    def test_what_is_saved_of_a_moving_picture_is_the_frame_that_is_shown(self):
        visit = self.visit(host=self.host, ratio=2, reduced_motion="reduce").open("view/wheel")
        visit.page.get_by_role("button", name="Play").wait_for()
        for view in ("scale=2&x=-20&y=30", "scale=3&x=0&y=0&rotation=90"):
            visit.look(view)
            for _ in range(2):
                visit.run("await viewer.animation.step(1)")
                frame = visit.run("return viewer.animation.frame")
                self.assertGreater(frame, 0)
                saved = visit.run("return [...new Uint8Array(await (await viewer.snapshot()).arrayBuffer())]")
                self.assertEqual(Image.open(io.BytesIO(bytes(saved))).size, (2560, 1600))
                # The middle of the picture, and what is beside it.
                point = visit.viewport_point({"x": 160, "y": 100})
                self.assertEqual(self.gray(bytes(saved), int(2 * point["x"]), int(2 * point["y"])), 40 * frame)
                if "rotation" in view:
                    self.assertEqual(Image.open(io.BytesIO(bytes(saved))).getpixel((4, 4))[3], 0)

    def test_without_a_decoder_it_plays_as_an_image_and_pauses_at_its_first_frame(self):
        for name in ("wheel", "waves"):
            visit = self.visit(host=self.host)
            visit.page.add_init_script("delete globalThis.ImageDecoder")
            visit.open(f"view/{name}")
            visit.until("return viewer.animation?.plays && viewer.shadowRoot.querySelector('img.moving')", "an image that plays")
            visit.look("scale=2&x=-20&y=30")
            middle = visit.viewport_point({"x": 160, "y": 100})
            seen = set()
            for _ in range(40):
                seen.add(self.gray(visit.page.screenshot(), int(middle["x"]), int(middle["y"])))
                if len(seen) > 2:
                    break
                visit.page.wait_for_timeout(60)
            self.assertGreater(len(seen), 2, "frames follow one another")
            visit.page.get_by_role("button", name="Pause").click()
            visit.page.wait_for_timeout(300)
            self.assertEqual(self.gray(visit.page.screenshot(), int(middle["x"]), int(middle["y"])), 0)
            visit.page.get_by_role("button", name="Play").click()
            visit.until("return viewer.shadowRoot.querySelector('img.moving')")

    def test_a_still_picture_has_no_play_button_and_reduced_motion_waits(self):
        visit = self.visit(host=self.host).open("view/captioned")
        self.assertEqual(visit.page.get_by_role("button", name="Play").count(), 0)
        visit = self.visit(host=self.host, reduced_motion="reduce").open("view/wheel")
        play = visit.page.get_by_role("button", name="Play")
        play.wait_for()
        visit.page.wait_for_timeout(300)
        self.assertFalse(visit.run("return viewer.animation.plays"))
        play.click()
        visit.until("return viewer.animation.plays")

    def test_a_book_is_paged_through(self):
        visit = self.visit(host=self.books).open("view/diary%2Fpage1")
        visit.until("return document.getElementById('count').textContent === '/ 3'")
        for number, width in ((2, 502), (3, 510)):
            visit.page.keyboard.press("PageDown")
            visit.until(f"return viewer.isFullyLoaded && document.getElementById('number').value === '{number}'")
            self.assertEqual(visit.run("return viewer.source.pyramid.imageSize.width"), width)
            visit.until(f"return viewer.shadowRoot.querySelector('.spoken').textContent.endsWith('page{width - 500}, image {number} of 3')")
        visit.page.keyboard.press("PageDown")
        visit.page.wait_for_timeout(300)
        self.assertEqual(visit.run("return viewer.index"), 2, "the last page is the last")

    def test_a_page_is_named_by_its_book_and_number(self):
        visit = self.visit(host=self.books)
        for name, title in (("page1", "diary, page1"), ("page2", "A walk, page2"), ("page10", "diary, page10")):
            visit.open(f"view/diary%2F{name}")
            self.assertEqual(visit.run("return [document.title, document.getElementById('title').textContent, viewer.ariaLabel]"), [title] * 3)

    def test_in_the_gallery_a_book_is_its_cover_which_opens_its_pages(self):
        visit = self.visit(host=self.books).open(wait=False)
        visit.until("return document.querySelectorAll('#grid a.book img.there').length === 1")
        self.assertEqual(visit.run("return [...document.querySelectorAll('#grid a')].map(({ textContent }) => textContent)"),
                         ["diary, 3 pages"])
        visit.page.click("#grid a")
        visit.until("return document.getElementById('count')?.textContent === '/ 3' && viewer.index === 0")
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.isFullyLoaded && viewer.source.details.page === 2")
        visit.page.go_back()
        visit.until("return document.activeElement?.matches('#grid a.book')")

    def test_the_address_of_a_book_opens_it(self):
        visit = self.visit(host=self.books).open("view/diary")
        visit.until("return document.getElementById('count').textContent === '/ 3' && viewer.index === 0 && viewer.isFullyLoaded")
        self.assertEqual(visit.run("return viewer.source.pyramid.imageSize.width"), 501)

    def test_a_dialog_longer_than_the_window_shows_its_heading_first(self):
        visit = self.visit(host=self.host, width=844, height=390).open("view/captioned")
        visit.page.keyboard.press("?")
        visit.until("return viewer.shadowRoot.querySelector('dialog[open]')")
        tall, top = visit.run("const dialog = viewer.shadowRoot.querySelector('dialog')\n"
                              "return [dialog.scrollHeight > dialog.clientHeight, dialog.scrollTop]")
        self.assertTrue(tall)
        self.assertEqual(top, 0)

    def test_full_screen_and_back(self):
        visit = self.visit(host=self.host).open("view/captioned")
        visit.page.keyboard.press("f")
        visit.until("return document.fullscreenElement?.contains(viewer)")
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
