"""Pictures sent from the page: dropped, chosen, interrupted and resumed, rejected with clear messages."""

import atexit
import base64
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import ROOT, TOKEN, Visit, source, writable


def empty(*options: str) -> tuple[str, Path]:
    """The address of a server that takes uploads, and its empty library."""
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-uploads-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "library").mkdir()
    return writable(folder / "library", *options), folder / "library"


def pictures(count: int, left=0) -> list[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-pictures-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for number in range(count):
        subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), folder / f"photo {number}.jpg", str(left + 300 * number), "400",
                        "900", "600"], check=True)
    return sorted(folder.iterdir())


class Uploads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host, cls.library = empty()

    def writer(self, host=None, **options) -> Visit:
        visit = Visit(host=host or self.host, **options)
        self.addCleanup(visit.context.close)
        visit.open("#token=" + TOKEN, wait=False)
        visit.until("return document.querySelector('.add')", "the button for uploads")
        return visit

    def done(self, visit, count, kind="done"):
        visit.until(f"return document.querySelectorAll('.uploads .{kind}').length === {count}", f"{count} {kind}")

    def test_chosen_several_at_once(self):
        visit = self.writer()
        visit.page.click(".add")
        visit.page.set_input_files("#choose", pictures(4))
        self.done(visit, 4)
        visit.until("return document.querySelectorAll('#grid .picture').length >= 4", "the gallery shows them")
        self.assertEqual(visit.run("return [...document.querySelectorAll('.uploads li span')].map((each) => each.textContent)"),
                         ["Added."] * 4)
        # The same ones again are there already.
        before = len(list(self.library.rglob("*.szi")))
        visit.page.set_input_files("#choose", pictures(4))
        self.done(visit, 8)
        self.assertEqual(visit.run("return [...document.querySelectorAll('.uploads li span')].slice(4).map((each) => each.textContent)"),
                         ["This image already exists."] * 4)
        self.assertEqual(len(list(self.library.rglob("*.szi"))), before)
        self.assertNotIn("token", visit.address())
        self.assertEqual(visit.errors, [])

    def test_dropped_on_the_page(self):
        visit = self.writer()
        data = base64.b64encode(pictures(1, left=2000)[0].read_bytes()).decode()
        visit.run("""const bytes = Uint8Array.from(atob(argument), (each) => each.charCodeAt(0))
            const dataTransfer = new DataTransfer()
            dataTransfer.items.add(new File([bytes], '<img src=x onerror=alert(1)>.jpg', { type: 'image/jpeg' }))
            for (const name of ['dragover', 'drop']) {
              document.querySelector('main').dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }))
            }""", data)
        self.done(visit, 1)
        self.assertIn("<img", visit.run("return document.querySelector('.uploads li a').textContent"))
        self.assertEqual(visit.run("return document.querySelectorAll('.uploads li img').length"), 0)
        visit.page.click(".uploads li a")
        visit.until("return viewer?.isFullyLoaded", "the picture in the viewer")
        self.assertEqual(visit.errors, [])

    def test_interrupted_and_resumed(self):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-large-"))
        self.addCleanup(shutil.rmtree, folder)
        large = folder / "large.tif"
        subprocess.run(["vips", "copy", source("landscapes/Volna"), f"{large}[compression=none]"], check=True)
        self.assertGreater(large.stat().st_size, 20 << 20)
        visit = self.writer()
        offsets = []

        def pass_first(route):
            offsets.append(int(route.request.headers["upload-offset"]))
            route.continue_() if len(offsets) == 1 else route.abort()
        visit.page.route("**/api/uploads/*", lambda route: pass_first(route) if route.request.method == "PATCH" else route.continue_())
        visit.page.click(".add")
        visit.page.set_input_files("#choose", large)
        visit.until("return /is not responding/.test(document.querySelector('.uploads li span')?.textContent)", "words of an interruption")
        self.assertEqual(offsets[0], 0)
        self.assertGreater(offsets[1], 0)
        visit.page.unroute_all()
        # The page is left, and comes back.
        visit.open("", wait=False)
        visit.until("return document.querySelector('.add')")
        visit.page.click(".add")
        visit.until("return /large.tif/.test(document.querySelector('.uploads .left').textContent)", "told that it is unfinished")
        again = []
        visit.page.on("request", lambda request: request.method == "PATCH" and again.append(int(request.headers["upload-offset"])))
        visit.page.set_input_files("#choose", large)
        self.done(visit, 1)
        self.assertGreaterEqual(again[0], offsets[1])

    def test_a_file_that_is_no_image_is_rejected_with_a_message(self):
        visit = self.writer()
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-text-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "letter.jpg").write_text("Dear reader, " * 100)
        visit.page.click(".add")
        visit.page.set_input_files("#choose", folder / "letter.jpg")
        self.done(visit, 1, "failed")
        self.assertEqual(visit.run("return document.querySelector('.uploads li span').textContent"), "This file type is not supported.")

    def test_an_unreadable_file_is_reported_without_an_engine_s_message(self):
        visit = self.writer()
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-broken-"))
        self.addCleanup(shutil.rmtree, folder)
        whole = pictures(1, left=900)[0].read_bytes()
        (folder / "cut.jpg").write_bytes(whole[:len(whole) // 2])
        subprocess.run(["vips", "copy", source("FallenLeaf"), folder / "whole.png"], check=True)
        (folder / "cut.png").write_bytes((folder / "whole.png").read_bytes()[:200_000])
        broken = [folder / "cut.jpg", folder / "cut.png"]
        visit.page.click(".add")
        visit.page.set_input_files("#choose", broken)
        self.done(visit, len(broken), "failed")
        reported = set(visit.run("return [...document.querySelectorAll('.uploads li span')].map((each) => each.textContent)"))
        messages = json.loads((ROOT / "public/i18n/en.json").read_text())["editing"]
        self.assertEqual(reported, {messages["damaged"]})
        # In the reader's language, too.
        visit = self.writer(locale="de-DE")
        visit.page.click(".add")
        visit.page.set_input_files("#choose", folder / "cut.jpg")
        self.done(visit, 1, "failed")
        self.assertIn("beschädigt", visit.run("return [...document.querySelectorAll('.uploads li span')].at(-1).textContent"))

    def test_cancelled(self):
        visit = self.writer()
        # It never gets through, and would be tried for ever.
        visit.page.route("**/api/uploads/*", lambda route: route.abort() if route.request.method == "PATCH" else route.continue_())
        visit.page.click(".add")
        visit.page.set_input_files("#choose", pictures(1, left=3000))
        visit.until("return document.querySelector('.uploads li button')")
        visit.page.wait_for_timeout(300)
        visit.page.click(".uploads li button")
        self.done(visit, 1, "failed")
        self.assertEqual(visit.run("return document.querySelector('.uploads li span').textContent"), "Cancelled.")

    def test_cancelled_before_the_server_answers(self):
        """The upload that the server begins all the same is cancelled there, too."""
        host, _ = empty()
        visit = self.writer(host)
        visit.run("""const send = window.fetch
            window.fetch = async (...parts) => {
              const answer = await send(...parts)
              if (parts[1]?.method === 'POST') await new Promise((go) => setTimeout(go, 1000))
              return answer
            }""")
        visit.page.click(".add")
        visit.page.set_input_files("#choose", pictures(1, left=3300))
        visit.until("return document.querySelector('.uploads li button')")
        visit.page.click(".uploads li button")
        self.done(visit, 1, "failed")
        visit.page.wait_for_timeout(1500)
        visit.until("return !(await (await fetch('/api/uploads')).text()).includes('receiving')", "nothing left on the server")

    def test_readers_see_and_load_nothing_of_it(self):
        visit = Visit(host=self.host)
        self.addCleanup(visit.context.close)
        visit.open("", wait=False)
        visit.until("return globalThis.fetched.some((url) => url.includes('/api/session'))")
        visit.page.wait_for_timeout(500)
        self.assertIsNone(visit.run("return document.querySelector('.add')"))
        self.assertFalse([url for url in visit.requests if re.search("upload|tus|editing|selection|trash|viewing", url)])
        self.assertEqual(visit.errors, [])

    def test_phones_are_shown_the_way(self):
        host, _ = empty("--host", "0.0.0.0")
        visit = self.writer(host)
        visit.page.click(".add")
        visit.until("return document.querySelector('.uploads figure img')?.naturalWidth > 0", "the QR code")
        self.assertIn("phone", visit.run("return document.querySelector('.uploads figcaption').textContent"))
        # A phone's camera is asked for by the second button.
        self.assertEqual(visit.run("return document.getElementById('camera').getAttribute('capture')"), "environment")

    def test_what_another_browser_has_begun_is_not_offered(self):
        host, _ = empty()
        first, second = self.writer(host), self.writer(host)
        first.page.route("**/api/uploads/*", lambda route: route.abort() if route.request.method == "PATCH" else route.continue_())
        first.page.click(".add")
        first.page.set_input_files("#choose", pictures(1, left=600))
        first.until("return /is not responding/.test(document.querySelector('.uploads li span')?.textContent)")
        left = "return document.querySelector('.uploads .left')"
        for visit in (first, second):
            visit.open("", wait=False)
            visit.until("return document.querySelector('.add')")
            visit.page.click(".add")
        first.until(f"{left}.hidden === false", "told that it is unfinished")
        second.until("return document.querySelector('.uploads .other')", "the server's word of it")
        self.assertTrue(second.run(f"{left}.hidden"))

    def test_what_another_device_sends_is_shown_while_the_panel_is_open(self):
        host, _ = empty()
        first, second = self.writer(host), self.writer(host)
        second.page.click(".add")
        second.until("return document.querySelector('dialog.uploads').open")
        first.page.click(".add")
        first.page.set_input_files("#choose", pictures(1, left=1200))
        self.done(first, 1)
        self.done(second, 1)
        self.assertEqual(second.run("return [document.querySelector('.uploads .other a').textContent, document.querySelector('.other button').hidden]"),
                         ["photo 0.jpg", True])
        second.until("return document.querySelectorAll('#grid .picture').length === 1", "and its picture")
        self.assertEqual(first.run("return document.querySelectorAll('.uploads li').length"), 1, "one's own is there once")

    def test_a_phone_is_not_shown_the_way_to_itself(self):
        host, _ = empty("--host", "0.0.0.0")
        visit = Visit(host=host, width=390, height=844, ratio=3, touch=True, is_mobile=True)
        self.addCleanup(visit.context.close)
        visit.open("#token=" + TOKEN, wait=False)
        visit.until("return document.querySelector('.add')")
        visit.page.tap(".add")
        visit.until("return globalThis.fetched.some((url) => url.includes('/api/session'))")
        self.assertIn("from this phone", visit.page.locator("dialog.uploads").inner_text())
        visit.page.wait_for_timeout(300)
        self.assertFalse([url for url in visit.requests if "pairing.svg" in url])

    def test_a_file_that_is_too_large_is_reported_with_the_limit(self):
        host, _ = empty("--max-upload-size", "1")
        visit = self.writer(host)
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-large-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "large.jpg").write_bytes(bytes((1 << 20) + 1))
        visit.page.click(".add")
        visit.page.set_input_files("#choose", folder / "large.jpg")
        self.done(visit, 1, "failed")
        self.assertEqual(visit.run("return document.querySelector('.uploads li span').textContent"), "This file is too large. The limit is 1\u00a0MB.")


if __name__ == "__main__":
    unittest.main()
