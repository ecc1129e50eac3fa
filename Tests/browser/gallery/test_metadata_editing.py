"""Metadata of pictures that are written in the page: seen everywhere, never over an unseen edit, and never more than text."""

import json
import subprocess
import unittest
import urllib.parse

from editing import EditingTest

SCRIPT = "<img src=x onerror='globalThis.broken = 1'><script>globalThis.broken = 1</script>"
CONFLICT = ["412 http", "console: Failed to load resource: the server responded with a status of 412"]


class MetadataEditing(EditingTest):
    def test_a_caption_is_edited_by_keyboard_and_seen_everywhere(self):
        visit = self.writer()
        self.picture(visit, "c").focus()
        visit.page.keyboard.press("Space")
        for _ in range(5):
            visit.page.keyboard.press("Tab")
            if visit.run("return document.activeElement.title") == "Edit title and caption":
                break
        visit.page.keyboard.press("Enter")
        visit.until("return document.activeElement.value === 'c'", "the title's field has the focus")
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.type("Low tide,\nhigh sky")
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.type("sea,  sky ,")
        visit.page.keyboard.press("Enter")
        self.spoken(visit, "Saved.")
        image = self.api("images/c")
        self.assertEqual((image["caption"], image["keywords"], image["title"]), ("Low tide,\nhigh sky", ["sea", "sky"], "c"))
        reported = subprocess.run(["exiftool", "-j", "-Description", "-Subject", "-Title", self.library / "c.xmp"],
                              check=True, capture_output=True).stdout
        reported = json.loads(reported)[0]
        self.assertEqual((reported["Description"].replace("\r", ""), reported["Subject"]), ("Low tide,\nhigh sky", ["sea", "sky"]))
        self.assertNotIn("Title", reported, "what nobody changed is not written")
        self.assertEqual(visit.run("return document.activeElement.textContent"), "c")
        visit.page.fill("#search", "high sky")
        self.shown(visit, ["c"])
        visit.until("return document.querySelectorAll('.picture').length === 1")
        visit.page.locator("#grid .picture").click()
        visit.sharp()
        self.assertIn("Low tide, high sky", visit.page.locator("#facts").inner_text())

    def test_a_conflict_is_reported_and_keeps_the_other_edit(self):
        visit = self.writer(CONFLICT)
        self.picture(visit, "a").click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Edit title and caption").click()
        visit.page.get_by_role("textbox", name="Caption").fill("mine")
        visit.page.get_by_role("textbox", name="Keywords").fill("mine")
        self.api("images/a", "PATCH", {"title": "Their title", "caption": f"theirs {SCRIPT}", "keywords": ["theirs"]})
        visit.page.get_by_role("button", name="Save").click()
        visit.until("return /Somebody else/.test(document.querySelector('[role=alert]').textContent)")
        self.assertEqual(self.api("images/a")["caption"], f"theirs {SCRIPT}", "nothing is overwritten unseen")
        reported = visit.page.locator(".theirs").filter(visible=True).all_inner_texts()
        self.assertEqual(len(reported), 2)
        self.assertIn(f"theirs {SCRIPT}", reported[0])
        self.assertEqual(visit.page.get_by_role("textbox", name="Title").input_value(), "Their title", "not touched by this writer")
        self.assertEqual(visit.page.get_by_role("textbox", name="Caption").input_value(), "mine")
        visit.page.get_by_role("button", name="Use theirs").last.click()
        self.assertEqual(visit.page.get_by_role("textbox", name="Keywords").input_value(), "theirs")
        visit.page.get_by_role("button", name="Save").click()
        self.spoken(visit, "Saved.")
        image = self.api("images/a")
        self.assertEqual((image["title"], image["caption"], image["keywords"]), ("Their title", "mine", ["theirs"]))
        self.shown(visit, ["Their title", "b"])
        self.assertIsNone(visit.run("return globalThis.broken ?? null"))

    def test_the_viewer_edits_in_its_details_and_deletes_with_an_undo(self):
        visit = self.writer()
        self.picture(visit, "d").click()
        visit.until("return viewer?.isFullyLoaded && viewer.actions.length")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Details").click()
        visit.page.get_by_role("button", name="Edit title and caption").click()
        visit.page.get_by_role("textbox", name="Title").fill("The bay")
        visit.page.get_by_role("textbox", name="Caption").fill("Evening")
        visit.page.get_by_role("button", name="Save").click()
        visit.until("return document.getElementById('title').textContent === 'The bay'")
        self.assertIn("Evening", visit.page.locator("#facts").inner_text())
        self.assertEqual(self.api("images/d")["title"], "The bay")
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Delete").click()
        visit.until("return document.getElementById('title').textContent === 'e'", "the next picture")
        self.spoken(visit, "1 image deleted.")
        visit.page.get_by_role("button", name="Undo").click()
        visit.until("return location.pathname === '/view/d' && viewer.isFullyLoaded")
        visit.page.keyboard.press("Escape")
        self.shown(visit, ["a", "b", "c", "The bay", "e"])

    def test_stored_script_is_text_everywhere(self):
        [odd] = [image["id"] for image in self.api("images")["images"] if image["id"].startswith("z")]
        self.api("images/" + urllib.parse.quote(odd, safe=""), "PATCH", {"caption": SCRIPT, "keywords": [SCRIPT.replace(",", "")]})
        self.api("images/b", "PATCH", {"title": SCRIPT, "caption": SCRIPT})
        visit = self.writer()
        foreign = "return document.querySelectorAll('img[src=x], body script:not([src])').length + (globalThis.broken ?? 0)"

        def harmless(part, text):
            self.assertIn(part, text)
            self.assertEqual(visit.run(foreign), 0)
        visit.page.keyboard.press("Tab")
        visit.run("scrollTo(0, document.body.scrollHeight)")
        visit.until("return document.querySelectorAll('.picture').length === 8")
        harmless(SCRIPT, visit.page.locator("#grid .picture").nth(1).inner_text())
        harmless(odd, visit.page.locator("#grid .picture").nth(7).inner_text())
        visit.page.locator("#grid .picture").nth(7).click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Edit title and caption").click()
        harmless(SCRIPT, visit.page.get_by_role("textbox", name="Caption").input_value())
        visit.page.keyboard.press("Escape")
        visit.page.keyboard.press("Escape")
        for index in (1, 7):
            visit.open("", wait=False)
            visit.until("return document.querySelectorAll('.picture').length === 8")
            visit.page.locator("#grid .picture").nth(index).click()
            visit.sharp()
            harmless(SCRIPT, visit.page.locator("#bar").inner_text())
            visit.until("return viewer.actions.length")
            visit.page.get_by_role("button", name="More").click()
            visit.page.get_by_role("menuitem", name="Details").click()
            harmless(SCRIPT, visit.run("return viewer.shadowRoot.querySelector('dialog').textContent"))
            self.assertEqual(visit.run("return viewer.shadowRoot.querySelectorAll('dialog img, dialog script').length"), 0)
        # What was deleted has only its id.
        self.api("trash", "POST", {"ids": [odd]})
        visit.open("", wait=False)
        visit.page.get_by_role("button", name="Trash").click()
        harmless(odd, visit.page.locator(".trash li").inner_text())


if __name__ == "__main__":
    unittest.main()
