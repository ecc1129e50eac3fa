"""Changes of a private space from the page: uploads, metadata, deletion and its undo, moving in and out."""

import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from browser import BINARY, TOKEN, PageTest, source, writable

PASSWORD = "the password of the browser tests"


class SpaceEditing(PageTest):
    def setUp(self):
        base = Path(tempfile.mkdtemp(prefix="ziggurat-space-editing-"))
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        (base / "password").write_text(PASSWORD)
        for folder, names in (("open", ["harbour"]), ("private", ["letters", "wedding"])):
            (base / folder).mkdir()
            for number, name in enumerate(names):
                self.crop(base / folder / f"{name}.jpg", 700 * number)
        self.picture = base / "chosen picture.jpg"
        self.crop(self.picture, 2500)

        def run(*arguments):
            subprocess.run([BINARY, *map(str, arguments)], check=True, timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("build", base / "open", "--library", base / "library")
        run("space", "create", base / "library", "--password-file", base / "password")
        run("build", base / "private", "--library", base / "library", "--space", "--password-file", base / "password")
        self.library = base / "library"
        self.host = writable(self.library)

    def crop(self, path, left):
        subprocess.run(["vips", "crop", source("landscapes/Volna"), path, str(left), "300", "1200", "800"], check=True)

    def unlocked(self, fragment="", allowed_errors=()):
        visit = self.visit(host=self.host, allowed_errors=list(allowed_errors)).open(fragment, wait=False)
        visit.until("return document.querySelector('.lock')", "the lock")
        visit.page.get_by_role("button", name="Unlock private space").click()
        visit.page.get_by_label("Password").fill(PASSWORD)
        visit.page.keyboard.press("Enter")
        self.shows(visit, "letters", "wedding", "harbour")
        visit.until("return document.querySelector('.select')", "the way to choose")
        return visit

    def shows(self, visit, *titles):
        visit.until("return [...document.querySelectorAll('.picture .caption')].map((each) => each.textContent).join()"
                    f" === '{','.join(titles)}'", f"the pictures {titles}")

    def everybody(self, image):
        """The status of a request without a session for an image."""
        try:
            return urllib.request.urlopen(f"{self.host}api/images/{image}").status
        except urllib.error.HTTPError as error:
            return error.code

    def test_an_upload_metadata_and_a_deletion_stay_inside(self):
        visit = self.unlocked()
        visit.page.click(".add")
        into = visit.page.get_by_label("Add to the private space")
        self.assertTrue(into.is_checked() and into.is_disabled(), "a password alone opens its space alone")
        visit.page.set_input_files("#choose", self.picture)
        visit.until("return document.querySelector('.uploads .done')", "the upload")
        visit.page.keyboard.press("Escape")
        self.shows(visit, "chosen picture", "letters", "wedding", "harbour")
        self.assertEqual(self.everybody("chosen%20picture"), 404)
        self.assertEqual(visit.run("return JSON.stringify({ ...localStorage })"), "{}", "no name stays in the browser")
        # What everybody sees is not this visitor's to change.
        self.assertEqual(visit.page.locator(".picture", has_text="harbour").locator(".tick").count(), 0)
        visit.page.locator(".picture", has_text="letters").click(modifiers=["Control"])
        visit.page.keyboard.press("Control+a")
        self.assertEqual(visit.run("return document.querySelector('.selection span').textContent"), "3 selected")
        self.assertFalse(visit.page.get_by_role("button", name="Move to private space").is_visible())
        visit.page.keyboard.press("Escape")
        visit.page.locator(".picture", has_text="wedding").click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Edit title and caption").click()
        visit.page.get_by_role("textbox", name="Title").fill("Our day")
        visit.page.keyboard.press("Enter")
        self.shows(visit, "chosen picture", "letters", "Our day", "harbour")
        visit.page.locator(".picture", has_text="letters").click(modifiers=["Control"])
        visit.page.keyboard.press("Delete")
        self.shows(visit, "chosen picture", "Our day", "harbour")
        visit.page.get_by_role("button", name="Undo").click()
        self.shows(visit, "chosen picture", "letters", "Our day", "harbour")
        found = subprocess.run(["grep", "-rlaE", "Our day|chosen picture", self.library], capture_output=True, text=True).stdout
        self.assertEqual(found, "", "nothing of it is readable on the disk")

    def test_a_session_with_the_token_moves_pictures_in_and_out(self):
        visit = self.unlocked("#token=" + TOKEN)
        visit.page.locator(".picture", has_text="harbour").click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Move to private space").click()
        visit.until("return document.querySelector('.toast')?.textContent.startsWith('1 image moved. The next build of an image’s file')")
        self.shows(visit, "harbour", "letters", "wedding")
        self.assertEqual(self.everybody("harbour"), 404)
        visit.page.locator(".picture", has_text="letters").click(modifiers=["Control"])
        visit.page.locator(".picture", has_text="wedding").click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Make public").click()
        visit.until("return document.querySelector('.toast')?.textContent === '2 images moved.'")
        self.shows(visit, "harbour", "letters", "wedding")
        self.assertEqual([self.everybody(image) for image in ("letters", "wedding", "harbour")], [200, 200, 404])
        # Some of each cannot go one way; they are deleted and brought back together.
        for title in ("harbour", "wedding"):
            visit.page.locator(".picture", has_text=title).click(modifiers=["Control"])
        for name in ("Move to private space", "Make public"):
            self.assertFalse(visit.page.get_by_role("button", name=name).is_visible())
        visit.page.keyboard.press("Delete")
        self.shows(visit, "letters")
        visit.page.get_by_role("button", name="Undo").click()
        self.shows(visit, "harbour", "letters", "wedding")


if __name__ == "__main__":
    unittest.main()
