"""Editing in the page: choosing pictures, deleting several and undoing it, words, conflicts; by mouse, keys and touch."""

import json
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from browser import BINARY, TOKEN, PageTest, source, writable
from test_everyone import AXE, AXE_OWN

NAMES = ["a", "b", "c", "d", "e", "f", "g"]
SCRIPT = "<img src=x onerror='globalThis.broken = 1'><script>globalThis.broken = 1</script>"
CONFLICT = ["412 http", "console: Failed to load resource: the server responded with a status of 412"]


class Editing(PageTest):
    """Each test has a library and a server of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ziggurat-editing-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "photos").mkdir()
        for number, name in enumerate([*NAMES, "z<img src=x onerror=alert(1)>"]):
            subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), f"{cls.folder / 'photos' / name}.jpg",
                            str(500 * number), "400", "1200", "800"], check=True)
        subprocess.run([BINARY, "build", cls.folder / "photos", "--library", cls.folder / "library"], check=True,
                       timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def setUp(self):
        own = Path(tempfile.mkdtemp(prefix="ziggurat-edited-"))
        self.addCleanup(shutil.rmtree, own, ignore_errors=True)
        self.library = shutil.copytree(self.folder / "library", own / "library")
        self.host = writable(self.library)

    def api(self, path, method="GET", body=None):
        request = urllib.request.Request(self.host + "api/" + path, method=method, headers={
            "Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, None if body is None else json.dumps(body).encode()))

    def ids(self):
        return [image["id"] for image in self.api("images")["images"]][:-1]

    def writer(self, faults=(), **options):
        visit = self.visit(host=self.host, faults=list(faults), **options)
        visit.open("#token=" + TOKEN, wait=False)
        visit.until("return document.querySelector('.select') && document.querySelectorAll('.there').length > 4", "the gallery")
        return visit

    def chosen(self, visit):
        return visit.run("return [...document.querySelectorAll('.chosen')].map((each) => each.textContent)")

    def shown(self, visit, names):
        visit.until("return [...document.querySelectorAll('.picture .caption')].slice(0, argument).map((each) => each.textContent).join()"
                    .replace("argument", str(len(names))) + f" === '{','.join(names)}'", f"the pictures {names}")

    def spoken(self, visit, words):
        visit.until(f"return document.querySelector('.spoken').textContent === {json.dumps(words)}", f"spoken: {words}")

    def picture(self, visit, name):
        return visit.page.locator(".picture").nth(NAMES.index(name))

    def test_several_are_deleted_by_mouse_and_come_back(self):
        visit = self.writer()
        self.picture(visit, "b").click(modifiers=["Control"])
        self.spoken(visit, "1 selected")
        self.picture(visit, "d").click(modifiers=["Shift"])
        self.spoken(visit, "3 selected")
        self.picture(visit, "c").click()
        self.picture(visit, "f").click()
        self.assertEqual(self.chosen(visit), ["b", "d", "f"])
        self.assertEqual(visit.page.get_by_role("checkbox", checked=True).count(), 3)
        visit.page.get_by_role("toolbar", name="Selected pictures").get_by_role("button", name="Delete").click()
        self.shown(visit, ["a", "c", "e", "g"])
        self.assertEqual(self.ids(), ["a", "c", "e", "g"])
        self.spoken(visit, "3 pictures deleted.")
        self.assertFalse((self.library / "b.szi").exists())
        visit.page.get_by_role("button", name="Undo").click()
        self.shown(visit, NAMES)
        self.spoken(visit, "3 pictures restored.")
        self.assertEqual(self.ids(), NAMES)
        self.assertEqual(visit.page.get_by_role("checkbox").count(), 0)
        # What is deleted stays so for the next visit.
        self.picture(visit, "a").hover()
        self.picture(visit, "a").locator(".tick").click()
        visit.page.keyboard.press("Delete")
        self.shown(visit, NAMES[1:])
        visit.page.reload()
        self.shown(visit, NAMES[1:])

    def test_keys_choose_extend_leave_and_delete(self):
        visit = self.writer()
        self.picture(visit, "b").focus()
        visit.page.keyboard.press("Space")
        self.assertEqual(self.chosen(visit), ["b"])
        for _ in range(3):
            visit.page.keyboard.press("Shift+ArrowRight")
        visit.page.keyboard.press("Shift+ArrowLeft")
        self.assertEqual(self.chosen(visit), ["b", "c", "d"])
        self.spoken(visit, "3 selected")
        visit.page.keyboard.press("Escape")
        self.assertEqual(self.chosen(visit), [])
        self.assertFalse(visit.page.get_by_role("toolbar", name="Selected pictures").is_visible())
        self.assertEqual(visit.run("return document.activeElement.textContent"), "d")
        visit.page.keyboard.press("Space")
        visit.page.keyboard.press("Control+a")
        self.spoken(visit, "8 selected")
        visit.page.keyboard.press("Escape")
        visit.page.keyboard.press("Shift+End")
        self.spoken(visit, "5 selected")
        visit.page.keyboard.press("Delete")
        self.shown(visit, ["a", "b", "c"])
        # The toast is reached by Tab, and stays while it has the focus.
        for _ in range(12):
            visit.page.keyboard.press("Tab")
            if visit.run("return document.activeElement.textContent") == "Undo":
                break
        visit.page.keyboard.press("Enter")
        self.shown(visit, NAMES)

    def test_a_finger_rests_to_choose_moves_on_to_the_next_and_taps(self):
        visit = self.writer(width=390, height=844, ratio=2, touch=True)
        middle = """const box = [...document.querySelectorAll('.picture')][argument].getBoundingClientRect()
            return [box.x + box.width / 2, box.y + box.height / 2]"""
        fingers = visit.touches()
        fingers.down(tuple(visit.run(middle, 0)))
        visit.until("return document.querySelector('.chosen')")
        for index in (1, 2):
            fingers.move(tuple(visit.run(middle, index)))
        visit.until("return document.querySelectorAll('.chosen').length === 3")
        fingers.up()
        visit.page.wait_for_timeout(100)
        self.assertEqual(visit.run("return scrollY"), 0, "the page stays while a finger chooses")
        self.assertEqual(self.chosen(visit), ["a", "b", "c"])
        visit.page.locator(".picture").nth(1).tap()
        self.assertEqual(self.chosen(visit), ["a", "c"])
        self.assertNotIn("/view/", visit.address())
        visit.page.get_by_role("button", name="End selecting").tap()
        self.assertEqual(self.chosen(visit), [])
        # Without a rest it scrolls, and a tap opens.
        visit.page.locator(".picture").nth(1).tap()
        visit.sharp()
        self.assertIn("/view/b", visit.address())

    def test_a_finger_at_the_edge_goes_on_choosing_while_the_page_scrolls(self):
        visit = self.writer(width=390, height=400, ratio=2, touch=True)
        fingers = visit.touches()
        fingers.down((195, 150))
        visit.until("return document.querySelector('.chosen')")
        for step in range(160):
            fingers.move((280 + step % 10, 370))
            if visit.run("return innerHeight + scrollY >= document.documentElement.scrollHeight - 1"):
                break
        fingers.move((285, 300))
        fingers.up()
        self.assertGreater(visit.run("return scrollY"), 200)
        visit.until("return parseInt(document.querySelector('.selection span').textContent) >= 7")
        self.assertEqual(visit.run("return document.querySelector('.picture').dataset.index"), "0", "the finger's picture stays")

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
        told = subprocess.run(["exiftool", "-j", "-Description", "-Subject", "-Title", self.library / "c.xmp"],
                              check=True, capture_output=True).stdout
        told = json.loads(told)[0]
        self.assertEqual((told["Description"].replace("\r", ""), told["Subject"]), ("Low tide,\nhigh sky", ["sea", "sky"]))
        self.assertNotIn("Title", told, "what nobody changed is not written")
        self.assertEqual(visit.run("return document.activeElement.textContent"), "c")
        visit.page.fill("#search", "high sky")
        self.shown(visit, ["c"])
        visit.until("return document.querySelectorAll('.picture').length === 1")
        visit.page.locator(".picture").click()
        visit.sharp()
        self.assertIn("Low tide, high sky", visit.page.locator("#facts").inner_text())

    def test_a_conflict_is_told_and_keeps_what_the_other_wrote(self):
        visit = self.writer(CONFLICT)
        self.picture(visit, "a").click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Edit title and caption").click()
        visit.page.get_by_role("textbox", name="Caption").fill("mine")
        visit.page.get_by_role("textbox", name="Keywords").fill("mine")
        self.api("images/a", "PATCH", {"title": "Their title", "caption": f"theirs {SCRIPT}", "keywords": ["theirs"]})
        visit.page.get_by_role("button", name="Save").click()
        visit.until("return /Somebody else/.test(document.querySelector('[role=alert]').textContent)")
        self.assertEqual(self.api("images/a")["caption"], f"theirs {SCRIPT}", "nothing is overwritten unseen")
        told = visit.page.locator(".theirs").filter(visible=True).all_inner_texts()
        self.assertEqual(len(told), 2)
        self.assertIn(f"theirs {SCRIPT}", told[0])
        self.assertEqual(visit.page.get_by_role("textbox", name="Title").input_value(), "Their title", "not touched by this writer")
        self.assertEqual(visit.page.get_by_role("textbox", name="Caption").input_value(), "mine")
        visit.page.get_by_role("button", name="Take theirs").last.click()
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
        visit.until("return viewer?.isSharp && viewer.actions.length")
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
        self.shown(visit, ["a", "b", "c", "e"])
        self.spoken(visit, "1 picture deleted.")
        visit.page.get_by_role("button", name="Undo").click()
        self.shown(visit, ["a", "b", "c", "The bay", "e"])

    def test_stored_script_is_text_everywhere(self):
        [odd] = [image["id"] for image in self.api("images")["images"] if image["id"].startswith("z")]
        self.api("images/" + urllib.parse.quote(odd, safe=""), "PATCH", {"caption": SCRIPT, "keywords": [SCRIPT.replace(",", "")]})
        self.api("images/b", "PATCH", {"title": SCRIPT, "caption": SCRIPT})
        visit = self.writer()
        foreign = "return document.querySelectorAll('img[src=x], script:not([src])').length + (globalThis.broken ?? 0)"

        def harmless(words, text):
            self.assertIn(words, text)
            self.assertEqual(visit.run(foreign), 0)
        visit.page.keyboard.press("Tab")
        visit.run("scrollTo(0, document.body.scrollHeight)")
        visit.until("return document.querySelectorAll('.picture').length === 8")
        harmless(SCRIPT, visit.page.locator(".picture").nth(1).inner_text())
        harmless(odd, visit.page.locator(".picture").nth(7).inner_text())
        visit.page.locator(".picture").nth(7).click(modifiers=["Control"])
        visit.page.get_by_role("button", name="Edit title and caption").click()
        harmless(SCRIPT, visit.page.get_by_role("textbox", name="Caption").input_value())
        visit.page.keyboard.press("Escape")
        visit.page.keyboard.press("Escape")
        for index in (1, 7):
            visit.open("", wait=False)
            visit.until("return document.querySelectorAll('.picture').length === 8")
            visit.page.locator(".picture").nth(index).click()
            visit.sharp()
            harmless(SCRIPT, visit.page.locator("#bar").inner_text())
            visit.until("return viewer.actions.length")
            visit.page.get_by_role("button", name="More").click()
            visit.page.get_by_role("menuitem", name="Details").click()
            harmless(SCRIPT, visit.run("return viewer.shadowRoot.querySelector('dialog').textContent"))
            self.assertEqual(visit.run("return viewer.shadowRoot.querySelectorAll('dialog img, dialog script').length"), 0)
        # The words of a refusal are the server's, of which an id may be a part.
        visit.open("", wait=False)
        visit.run(f"const {{ toast }} = await import('/editing/toast.js'); toast({json.dumps(SCRIPT)}, {json.dumps(SCRIPT)}, () => {{}})")
        harmless(SCRIPT, visit.page.locator(".toast").inner_text())

    def test_axe_finds_nothing_while_choosing_and_editing_and_nothing_sticks_out(self):
        for scheme, direction, width in (("dark", "ltr", 1280), ("light", "rtl", 360)):
            visit = self.writer(AXE_OWN, color_scheme=scheme, width=width, height=740)
            visit.run(f"document.documentElement.dir = '{direction}'")
            self.picture(visit, "a").click(modifiers=["Control"])
            visit.page.wait_for_timeout(400)
            for step in ("bar", "form"):
                if step == "form":
                    visit.page.get_by_role("button", name="Edit title and caption").click()
                    visit.page.get_by_role("textbox", name="Caption").wait_for()
                results = Axe().run(visit.page, options=AXE)
                self.assertEqual([(fault["id"], fault["nodes"][0]["html"][:200]) for fault in results.response["violations"]], [])
            sticking = visit.run("""return [...document.querySelectorAll('.selection *, .toast *, dialog, dialog *, header *')].filter((each) => {
                const box = each.getBoundingClientRect()
                return box.width > 0 && (box.left < 0 || box.right > innerWidth || box.bottom > innerHeight)
              }).map((each) => each.className || each.localName)""")
            self.assertEqual(sticking, [])


if __name__ == "__main__":
    unittest.main()
