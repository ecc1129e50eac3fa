"""Without a network: the page starts, the pictures that were seen last are there, nothing private ever is; and what is kept is
never older than the server's."""

import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from accessibility import AXE_OWN, axe_violations
from browser import BINARY, CLEAN, TOKEN, PageTest, bundled, source

KEPT = """const names = await caches.keys()
    return (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat()"""


class Offline(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ziggurat-offline-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # One of its scripts is changed.
        shutil.copytree(bundled(), cls.folder / "public")
        (cls.folder / "photos").mkdir()
        for name in ("leaf", "other"):
            shutil.copy(source("FallenLeaf"), cls.folder / f"photos/{name}.jpg")
        subprocess.run([BINARY, "build", cls.folder / "photos", "--library", cls.folder / "library"], check=True, env=CLEAN, capture_output=True)
        (cls.folder / "token").write_text(TOKEN)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            cls.port = one.getsockname()[1]

    def start(self):
        server = subprocess.Popen([BINARY, "serve", self.folder / "library", "--port", str(self.port), "--webroot", self.folder / "public",
                                   "--writable", "--token-file", self.folder / "token"], env=CLEAN, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, server)
        server.stdout.readline()
        return server

    def stop(self, server):
        if server.poll() is None:
            server.terminate()
        server.wait(20)
        server.stdout.close()

    def seen(self):
        """A visit that has a worker, and has seen the gallery and a picture."""
        # Without a server the page asks in vain: who is signed in, and for the neighbour that was not loaded ahead yet.
        allowed_errors = [*AXE_OWN, "ERR_CONNECTION", "Failed to", "FetchEvent", "error:", "/api/session", "^http://[^ ]*/api/images/other$"]
        visit = self.visit(host=f"http://127.0.0.1:{self.port}/", offline=True, allowed_errors=allowed_errors)
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2")
        visit.until("return Boolean((await navigator.serviceWorker.getRegistration())?.active)", "a worker")
        # From the next page on it stands between.
        visit.open(wait=False)
        visit.until("return navigator.serviceWorker.controller && document.querySelectorAll('.there').length === 2")
        visit.photo("leaf")
        visit.until(KEPT.replace("return ", "const kept = ") + "\nreturn ['leaf/viewport.tiles', '/view/'].every((part) => "
                    "kept.some((url) => url.includes(part)))", "kept")
        return visit

    def test_without_a_server_the_page_starts_and_shows_what_was_seen(self):
        server = self.start()
        visit = self.seen()
        self.stop(server)
        visit.photo("leaf")
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2", "the gallery's thumbnails")
        self.assertEqual(axe_violations(visit), [])
        server = self.start()

    def test_what_version_0_1_kept_is_shown(self):
        server = self.start()
        visit = self.seen()
        self.stop(server)
        # As that version asked for it.
        former = visit.run("""const cache = await caches.open('ziggurat-pictures')
            const former = []
            for (const { url } of await cache.keys()) {
              const before = url.replace(/([?&])v=/, '$1g=').replace('include=overview,description', 'overview=true&describe=true')
              const kept = await cache.match(url)
              if (before === url || !kept) continue
              await cache.put(before, kept)
              await cache.delete(url)
              former.push(before)
            }
            return former""")
        for part in ("leaf/viewport.tiles", "dzi/"):
            self.assertTrue([url for url in former if part in url], part)
        visit.photo("leaf")
        visit.open(wait=False)
        visit.until("return document.querySelectorAll('.there').length === 2", "the gallery's thumbnails")
        self.assertFalse([url for url in visit.run(KEPT) if "viewport.tiles" in url and "include=" in url])

    def test_changed_metadata_are_shown_at_once(self):
        self.start()
        visit = self.seen()
        change = f"""const answer = await fetch('/api/images/leaf', {{ method: 'PATCH', body: JSON.stringify({{ title: argument }}),
            headers: {{ 'Content-Type': 'application/json', Authorization: 'Bearer {TOKEN}' }} }})
            if (!answer.ok) throw new Error(answer.status)"""
        visit.until("return viewer.images.length === 2")
        for index, title in enumerate(("Once", "Twice")):
            visit.run(change, title)
            visit.run("viewer.goTo(1)")
            visit.until("return viewer.source?.details.id === 'other' && viewer.isFullyLoaded")
            visit.run("viewer.goTo(0)")
            visit.until(f"return document.getElementById('title').textContent === '{title}'")
        visit.run(change, "Thrice")
        visit.photo("leaf")
        self.assertEqual(visit.run("return document.getElementById('title').textContent"), "Thrice")

    def test_nothing_of_a_session_is_kept(self):
        self.start()
        visit = self.seen()
        visit.open(f"#token={TOKEN}", wait=False)
        visit.until("return document.querySelector('.add')")
        visit.run("await Promise.all(['/api/session', '/api/trash', '/api/uploads', '/view/~%2Fx', '/api/images/~%2Fx'].map((path) => fetch(path)))")
        visit.errors.clear()
        kept = visit.run(KEPT)
        self.assertEqual([url for url in kept if any(part in url for part in ("/api/session", "/api/trash", "/api/uploads", "/api/events", "~"))], [])

    def test_a_new_version_takes_the_place_of_the_old_one(self):
        self.start()
        visit = self.seen()
        before = visit.run("return (await caches.keys()).filter((name) => name.startsWith('ziggurat-files'))")
        self.assertEqual(len(before), 1)
        worker = self.folder / "public/worker.js"
        text = worker.read_text()
        self.addCleanup(worker.write_text, text)
        script = next(path.name for path in (self.folder / "public").glob("gallery-selection-*.js"))
        worker.write_text(text.replace(f'"{script}",', ""))
        visit.run("await (await navigator.serviceWorker.ready).update()")
        # The old one stays for the pages that it has.
        visit.until("return Boolean((await navigator.serviceWorker.ready).waiting)")
        visit.page.goto("about:blank")
        visit.open(wait=False)
        visit.until("const names = (await caches.keys()).filter((name) => name.startsWith('ziggurat-files')); return names.length === 1 && names[0] !== argument"
                    .replace("argument", repr(before[0])))


if __name__ == "__main__":
    unittest.main()
