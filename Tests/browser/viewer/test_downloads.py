"""What is saved and handed on: the whole picture, a part of it, the view, a file that was kept; links."""

import shutil
import tempfile
import unittest
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import HEIGHT, PHOTO, WIDTH, PageTest, served, source
from PIL import Image
from test_zoom_at_point import middle

LINES = """return [...viewer.shadowRoot.querySelectorAll('dialog .line')].map((line) => [line.firstChild.data, line.lastChild.textContent])"""


class Downloads(PageTest):
    def choose(self, visit, name):
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name=name).click()

    def download(self, visit, name, role="link"):
        with visit.page.expect_download() as download:
            visit.page.get_by_role(role, name=name).click()
            if role == "link":
                # Shown at once, since the server may take its time, and briefly.
                visit.until("return viewer.shadowRoot.querySelector('.notice').textContent.includes('starts')", "what was told")
        with Image.open(download.value.path()) as picture:
            picture.load()
        return download.value.suggested_filename, picture

    def test_the_whole_picture_comes_at_full_resolution_by_its_name(self):
        visit = self.visit().photo(view=middle(1280, 800, 3))
        self.choose(visit, "Download")
        name, picture = self.download(visit, "Whole image")
        self.assertEqual((name, picture.size, picture.format), ("SafeLanding.jpg", (WIDTH, HEIGHT), "JPEG"))
        visit.until("return !viewer.shadowRoot.querySelector('dialog')", "the dialog is done with")

    def test_sizes_are_shown_and_a_part_is_downloaded_as_rotated(self):
        visit = self.visit().photo(view="scale=1&x=500&y=300&rotation=90")
        self.choose(visit, "Download")
        self.assertEqual(visit.run(LINES), [
            ["Whole image, as a new file", "5,120 × 2,880 JPG"], ["Visible part, at full resolution", "1,280 × 800 JPG"],
            ["This view, at screen resolution", "1,280 × 800 PNG"]])
        name, picture = self.download(visit, "Visible part")
        self.assertEqual((name, picture.size), ("SafeLanding 740,60,800,1280.jpg", (1280, 800)))

    def test_at_fit_and_at_an_angle_there_is_no_part(self):
        visit = self.visit().photo()
        for view in ("", "scale=1&x=500&y=300&rotation=30"):
            visit.look(view)
            self.choose(visit, "Download")
            self.assertEqual([name for name, _ in visit.run(LINES)], ["Whole image, as a new file", "This view, at screen resolution"])
            visit.page.keyboard.press("Escape")
            visit.until("return !viewer.shadowRoot.querySelector('dialog')")

    def test_the_view_comes_as_it_is_on_the_screen(self):
        visit = self.visit(ratio=2, width=640, height=400).photo()
        self.choose(visit, "Download")
        name, picture = self.download(visit, "This view", "button")
        self.assertEqual((name, picture.size, picture.format), ("SafeLanding.png", (1280, 800), "PNG"))

    def test_a_picture_above_the_server_s_limit_is_reported_with_its_actual_size(self):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-downloads-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "photos").mkdir()
        shutil.copy(source(PHOTO), folder / "photos/large.jpg")
        host = served(folder / "photos", serve=("--port", "0", "--max-pixels", "1000000"))
        visit = self.visit(host=host).open("view/large")
        self.choose(visit, "Download")
        reported = visit.until("const [, fact] = (() => {" + LINES + "})()[0]; return !fact.startsWith('5,120') && fact")
        name, picture = self.download(visit, "Whole image")
        self.assertEqual(f"{picture.size[0]:,} × {picture.size[1]:,} JPG", reported)
        self.assertTrue(900_000 < picture.size[0] * picture.size[1] <= 1_000_000)

    def test_another_servers_picture_is_saved_where_it_can_be(self):
        visit = self.visit(width=1000, height=700)
        visit.page.route("**/embedding", lambda route: route.fulfill(content_type="text/html", body="""<!doctype html>
            <script type="module" src="/viewer/elements.js"></script><ziggurat-viewer style="height: 500px"
            src="/dzi/landscapes%2FSafeLanding.dzi"></ziggurat-viewer>"""))
        visit.open("embedding", wait=False)
        visit.run("await customElements.whenDefined('ziggurat-viewer'); viewer.style.height = '500px'")
        visit.sharp()
        self.choose(visit, "Download")
        self.assertEqual([name for name, _ in visit.run(LINES)], ["This view, at screen resolution"])

    def test_links_are_handed_on_by_the_devices_own_way_where_it_has_one(self):
        visit = self.visit()
        visit.page.add_init_script("""navigator.canShare = () => true
            navigator.share = async (what) => { globalThis.shared = what }""")
        visit.photo(view="scale=1&x=500&y=300")
        self.choose(visit, "Share")
        shared = visit.until("return globalThis.shared")
        self.assertEqual(shared["title"], "SafeLanding")
        self.assertIn("/view/landscapes%2FSafeLanding#", shared["url"])
        visit = self.visit().photo()
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menu").wait_for()
        self.assertEqual(visit.page.get_by_role("menuitem", name="Share").count(), 0)

    def test_without_a_connection_the_menu_says_so(self):
        visit = self.visit(allowed_errors=["ERR_FAILED", "view-menu"])
        visit.page.route("**/*view-menu*.js", lambda route: route.abort())
        visit.photo()
        visit.page.get_by_role("button", name="More").click()
        visit.until("return viewer.shadowRoot.querySelector('.notice').textContent.includes('connection')")

    def test_axe_finds_nothing_in_the_dialog(self):
        visit = self.visit(allowed_errors=AXE_OWN).photo(view="scale=1&x=500&y=300")
        self.choose(visit, "Download")
        self.assertEqual(axe_violations(visit), [])


if __name__ == "__main__":
    unittest.main()
