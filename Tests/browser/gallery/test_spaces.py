"""Private spaces in the page: the password field, what is seen then, and that it is gone afterwards."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import BINARY, PHOTOS, ROOT, PageTest

ONE, TWO = "the first of the passwords", "the second of the passwords"
REFUSED = ["401 http", "console: Failed to load resource: the server responded with a status of 401"]
GONE = ["404 http", "console: Failed to load resource: the server responded with a status of 404"]


@functools.cache
def library() -> Path:
    """One public picture, and two spaces of one each."""
    base = Path(tempfile.mkdtemp(prefix="ziggurat-spaces-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)

    def run(*arguments):
        subprocess.run([BINARY, *map(str, arguments)], check=True, timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    for name, secret, source in (("harbour", None, "FallenLeaf"), ("wedding", ONE, "ColorfulCups"), ("letters", TWO, "FallenLeaf")):
        (base / name).mkdir()
        shutil.copyfile(PHOTOS / source / "contents/images/2560x1600.jpg", base / name / f"{name}.jpg")
        if secret is None:
            run("build", base / name, "--library", base / "library")
        else:
            (base / secret).write_text(secret)
            run("space", "create", base / "library", "--password-file", base / secret)
            run("build", base / name, "--library", base / "library", "--space", "--password-file", base / secret)
    return base / "library"


class Spaces(PageTest):
    def serve(self, *options) -> str:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("ZIGGURAT_")}
        server = subprocess.Popen([BINARY, "serve", library(), "--port", "0", "--webroot", ROOT / "public", *options],
                                  env=clean, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.terminate(), server.wait(10), server.stdout.close()))
        return re.match(r"listening on (http://\S+)", server.stdout.readline())[1]

    def gallery(self, root, allowed_errors=(), **options):
        visit = self.visit(host=root, allowed_errors=list(allowed_errors), **options).open(wait=False)
        self.shows(visit, "harbour")
        visit.until("return document.querySelector('.lock')", "the lock")
        return visit

    def shows(self, visit, *titles):
        visit.until("const all = [...document.querySelectorAll('.picture .caption')].map((each) => each.textContent)"
                    f"; return all.join() === '{','.join(titles)}'", f"the pictures {titles}")

    def unlock(self, visit, secret):
        visit.page.get_by_role("button", name="Unlock private space").click()
        visit.page.get_by_label("Password").fill(secret)
        visit.page.keyboard.press("Enter")

    def test_two_passwords_unlock_two_spaces_and_a_third_none(self):
        root = self.serve()
        first, second, third = self.gallery(root), self.gallery(root), self.gallery(root, REFUSED)
        self.unlock(first, ONE)
        self.shows(first, "wedding", "harbour")
        self.unlock(second, TWO)
        self.shows(second, "letters", "harbour")
        marks = """return [...document.querySelectorAll('.caption')].map((each) => getComputedStyle(each, '::before').content !== 'none')"""
        self.assertEqual(second.run(marks), [True, False], "a lock marks what is private")
        self.unlock(third, "the third of the passwords")
        third.until("return document.querySelector('[role=alert]').textContent === 'Wrong password.'")
        third.page.keyboard.press("Escape")
        third.page.reload()
        self.shows(third, "harbour")
        # The first is still what it was.
        first.page.reload()
        self.shows(first, "wedding", "harbour")

    def test_while_a_password_is_checked_nothing_can_be_typed_and_an_enter_is_not_lost(self):
        visit = self.gallery(self.serve(), [*REFUSED, "^http.*/api/session$", "console: Failed to load resource: net::ERR_FAILED"])
        held = []

        def hold(route):
            return held.append(route) if route.request.method == "POST" else route.continue_()

        def asked(count):
            for _ in range(400):
                if len(held) == count:
                    return
                visit.page.wait_for_timeout(25)
            self.fail(f"{len(held)} passwords were sent instead of {count}")

        button = "return [...document.querySelectorAll('dialog form button')].map((each) => [each.textContent, each.ariaDisabled])"
        visit.page.route("**/api/session", hold)
        self.unlock(visit, "the third of the passwords")
        asked(1)
        self.assertEqual(visit.run(button), [["Checking…", "true"]])
        visit.page.keyboard.type("more")
        visit.page.keyboard.press("Enter")
        held[0].continue_()
        visit.until("return document.querySelector('[role=alert]').textContent === 'Wrong password.'")
        self.assertEqual(visit.run(button), [["Unlock", "false"]])
        self.assertEqual(len(held), 1, "the refused password is not sent again")
        # The field has the focus, and typing replaces its text.
        visit.page.keyboard.type(ONE)
        visit.page.keyboard.press("Enter")
        asked(2)
        self.assertEqual(held[1].request.post_data_json, {"password": ONE})
        visit.page.keyboard.type("more")
        visit.page.keyboard.press("Enter")
        held[1].abort()
        asked(3)
        self.assertEqual(held[2].request.post_data_json, {"password": ONE})
        held[2].continue_()
        self.shows(visit, "wedding", "harbour")

    def test_viewer_shows_a_private_picture_until_it_is_locked_and_back_brings_nothing(self):
        root = self.serve()
        visit = self.gallery(root, GONE)
        self.unlock(visit, ONE)
        self.shows(visit, "wedding", "harbour")
        visit.page.get_by_role("link", name="wedding").click()
        visit.sharp()
        self.assertEqual(visit.run("return document.title"), "wedding")
        tiles = [url for url in visit.requests if "wedding" in url]
        self.assertTrue(tiles)
        visit.page.go_back()
        self.shows(visit, "wedding", "harbour")
        visit.page.get_by_role("button", name="Lock private space").click()
        self.shows(visit, "harbour")
        self.assertEqual(visit.run("return JSON.stringify({ ...sessionStorage })"), "{}")
        for _ in range(3):
            visit.page.go_back(wait_until="commit")
            visit.page.wait_for_timeout(500)
            self.assertNotIn("wedding", visit.page.locator("body").inner_text())
            self.assertEqual(visit.run("return document.querySelectorAll('.picture').length"
                                       " ? [...document.querySelectorAll('.picture')].filter((each) => each.href.includes('wedding')).length : 0"), 0)
        status = visit.run("return (await fetch(argument)).status", tiles[-1])
        self.assertEqual(status, 404)

    def test_locking_in_one_page_closes_the_picture_in_another_at_once(self):
        root = self.serve()
        visit = self.gallery(root, GONE)
        self.unlock(visit, ONE)
        self.shows(visit, "wedding", "harbour")
        other = visit.context.new_page()
        other.goto(root + "view/" + "~%2Fwedding")
        for _ in range(400):
            if other.evaluate("document.querySelector('ziggurat-viewer')?.isFullyLoaded === true"):
                break
            other.wait_for_timeout(25)
        # Only the other page's word can be so quick: by itself it looks once a minute.
        visit.page.get_by_role("button", name="Lock private space").click()
        other.locator(".locked").filter(has_text="The private space was locked.").wait_for()
        self.assertNotIn("wedding", other.locator("body").inner_text())

    def test_the_end_of_the_session_is_reported_and_removes_the_pictures(self):
        root = self.serve("--session-idle", "8")
        gallery, viewer = self.gallery(root, GONE), self.gallery(root, GONE)
        self.unlock(gallery, ONE)
        self.shows(gallery, "wedding", "harbour")
        self.unlock(viewer, TWO)
        self.shows(viewer, "letters", "harbour")
        viewer.page.get_by_role("link", name="letters").click()
        viewer.sharp()
        for visit in (gallery, viewer):
            visit.until("return document.querySelector('.locked')?.textContent === 'The private space was locked.'")
            self.shows(visit, "harbour")
            self.assertEqual(visit.run("return location.pathname"), "/")
            self.assertEqual(visit.run("return document.querySelector('.locked').getAttribute('role')"), "status")

    def test_it_works_by_keyboard_and_axe_finds_no_error(self):
        root = self.serve()
        for scheme in ("dark", "light"):
            visit = self.gallery(root, AXE_OWN, color_scheme=scheme)
            visit.page.keyboard.press("Tab")
            for _ in range(6):
                if visit.run("return document.activeElement?.className") == "round lock":
                    break
                visit.page.keyboard.press("Tab")
            self.assertEqual(visit.run("return document.activeElement.className"), "round lock")
            visit.page.keyboard.press("Enter")
            self.assertEqual(visit.run("return document.activeElement.type"), "password")
            self.assertEqual(axe_violations(visit), [])
            visit.page.keyboard.press("Escape")
            visit.until("return document.activeElement.className === 'round lock'", "the focus comes back")
            visit.page.keyboard.press("Enter")
            visit.page.keyboard.type(ONE)
            visit.page.keyboard.press("Enter")
            self.shows(visit, "wedding", "harbour")
