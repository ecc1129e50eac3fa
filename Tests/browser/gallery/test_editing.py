"""Editing in the page: choosing pictures, deleting several and undoing it; by mouse, keys and touch."""

import shutil
import subprocess
import unittest

from accessibility import AXE_OWN, axe_violations
from browser import BINARY
from editing import NAMES, EditingTest


class Editing(EditingTest):
    def test_a_link_that_is_used_up_says_so(self):
        visit = self.visit(host=self.host, allowed_errors=["401"])
        visit.open("#token=" + "x" * 40, wait=False)
        self.spoken(visit, "This link has expired. Ask for a new one.")
        visit.until("return document.querySelectorAll('.there').length > 4", "the gallery, to look at")
        self.assertEqual(visit.run("return location.hash"), "")

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
        visit.page.get_by_role("toolbar", name="Selected images").get_by_role("button", name="Delete").click()
        self.shown(visit, ["a", "c", "e", "g"])
        self.assertEqual(self.ids(), ["a", "c", "e", "g"])
        self.spoken(visit, "3 images deleted.")
        self.assertFalse((self.library / "b.szi").exists())
        visit.page.get_by_role("button", name="Undo").click()
        self.shown(visit, NAMES)
        self.spoken(visit, "3 images restored.")
        self.assertEqual(self.ids(), NAMES)
        self.assertEqual(visit.page.get_by_role("checkbox").count(), 0)
        # What is deleted stays so for the next visit.
        self.picture(visit, "a").hover()
        self.picture(visit, "a").locator(".tick").click()
        visit.page.keyboard.press("Delete")
        self.shown(visit, NAMES[1:])
        visit.page.reload()
        self.shown(visit, NAMES[1:])

    def test_a_book_is_deleted_whole_and_comes_back(self):
        pages = self.library.parent / "books/aa"
        pages.mkdir(parents=True)
        for name in ("f1r", "f2r"):
            shutil.copyfile(self.folder / "photos/b.jpg", pages / f"{name}.jpg")
        subprocess.run([BINARY, "build", pages.parent, "--library", self.library, "--book"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        visit = self.writer()
        with_book = ["a", "aa, 2 pages", *NAMES[1:]]
        self.shown(visit, with_book)
        book = visit.page.locator(".picture.book")
        book.click(modifiers=["Control"])
        self.assertEqual(self.chosen(visit), ["aa, 2 pages"])
        self.assertTrue(visit.page.get_by_role("button", name="Edit title and caption").is_disabled())
        visit.page.keyboard.press("Delete")
        self.spoken(visit, "2 images deleted.")
        self.shown(visit, NAMES)
        self.assertEqual(list((self.library / "aa").glob("*.szi")), [])
        visit.page.get_by_role("button", name="Undo").click()
        self.spoken(visit, "2 images restored.")
        self.shown(visit, with_book)
        # Among others, too.
        self.picture(visit, "a").click(modifiers=["Control"])
        book.click()
        visit.page.keyboard.press("Delete")
        self.spoken(visit, "3 images deleted.")
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
        self.assertFalse(visit.page.get_by_role("toolbar", name="Selected images").is_visible())
        self.assertEqual(visit.run("return document.activeElement.textContent"), "d")
        visit.page.keyboard.press("Space")
        visit.page.keyboard.press("Control+a")
        self.spoken(visit, "8 selected")
        visit.page.keyboard.press("Escape")
        visit.page.keyboard.press("Shift+End")
        self.spoken(visit, "5 selected")
        visit.page.keyboard.press("Delete")
        self.shown(visit, ["a", "b", "c"])
        # The toast, once it is there, is reached by Tab, and stays while it has the focus.
        visit.page.get_by_role("button", name="Undo").wait_for()
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
        visit.page.get_by_role("button", name="Cancel").tap()
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

    def test_every_target_is_large_enough_for_a_finger(self):
        small = """return [...document.querySelectorAll('header :is(button, input), #folder-bar :is(button, select, a), .selection button, dialog button')]
            .filter((each) => each.checkVisibility()).map((each) => [each.title || each.textContent || each.id, each.offsetWidth, each.offsetHeight])
            .filter(([, width, height]) => width < 44 || height < 44)"""
        for width, height in ((390, 844), (1280, 800)):
            visit = self.writer(width=width, height=height)
            self.assertEqual(visit.run(small), [])
            self.picture(visit, "a").click(modifiers=["Control"])
            visit.page.get_by_role("button", name="Edit title and caption").wait_for()
            self.assertEqual(visit.run(small), [])
            visit.page.keyboard.press("Escape")
            visit.page.get_by_role("button", name="Trash").click()
            visit.page.get_by_role("button", name="Close").wait_for()
            self.assertEqual(visit.run(small), [])

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
                self.assertEqual(axe_violations(visit), [])
            sticking = visit.run("""return [...document.querySelectorAll('.selection *, .toast *, dialog, dialog *, header *')].filter((each) => {
                const box = each.getBoundingClientRect()
                return box.width > 0 && (box.left < 0 || box.right > innerWidth || box.bottom > innerHeight)
              }).map((each) => each.className || each.localName)""")
            self.assertEqual(sticking, [])


if __name__ == "__main__":
    unittest.main()
