"""What a page must allow for the element: the policy that docs/how-to/embed.md states, as a header of a page of another origin."""

import json
import queue
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from browser import ROOT, SOURCE_PAGES, bundled, chromium, served, source
from embedding import Elsewhere, EmbeddingTest

GUIDE = "docs/how-to/embed.md"
# What of a page of its own stands in files of its own, as the policy demands. The result is the next page's address: a policy
# may forbid everything else.
SCRIPT = """
const violations = []
addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
  // A browser looks for the page's own icon by itself.
  if (!blockedURI.endsWith('/favicon.ico')) violations.push(`${effectiveDirective} ${blockedURI}`)
})
const pause = (time) => new Promise((done) => setTimeout(done, time))
const report = (result) => { location.href = `/report?${encodeURIComponent(JSON.stringify({ violations, ...result }))}` }
const until = async (isSo) => {
  for (let turn = 0; turn < 1200; turn += 1) {
    if (isSo()) return
    await pause(50)
  }
  throw new Error(`never: ${isSo}`)
}
addEventListener('load', async () => {
  try {
    const viewer = document.querySelector('ziggurat-viewer')
    await until(() => viewer.isFullyLoaded)
    const height = viewer.clientHeight
    viewer.viewport = { scale: 0.9, x: 300, y: 200 }
    await until(() => viewer.isFullyLoaded)
    // What is loaded later: menu and dialogs.
    viewer.run('more')
    await until(() => viewer.shadowRoot.querySelector('[role=menu]'))
    const { controls, menu } = { controls: viewer.shadowRoot.querySelector('.controls'), menu: viewer.shadowRoot.querySelector('[role=menu]') }
    const marker = viewer.querySelector('[data-x]')
    report({ height, controls: getComputedStyle(controls).position, menu: getComputedStyle(menu).position,
             marker: marker && getComputedStyle(marker).translate })
  } catch (error) {
    report({ error: String(error) })
  }
})
"""


def documented(kind: str, containing: str) -> str:
    """A block of the guide."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", (ROOT / GUIDE).read_text(), re.DOTALL)
    [block] = [each for each in blocks if containing in each]
    return block


def page_of_ones_own(image_server: str, report: Callable[[dict], None]) -> Elsewhere:
    """A server with a page as the guide has it."""
    image_server = image_server.rstrip("/")
    lines = documented("text", "Content-Security-Policy").replace("https://images.example.org", image_server).splitlines()
    body = documented("html", "data-x").replace("http://localhost:8080", image_server).replace("harbour", "leaf")

    def asked(path: str) -> None:
        if path.startswith("/report?"):
            report(json.loads(urllib.parse.unquote(path.split("?", 1)[1])))
    return Elsewhere({
        "/": ("text/html", f'<!doctype html><meta charset="utf-8"><title>A page</title><link rel="stylesheet" href="page.css">'
                           f'<script src="page.js"></script>{body}'),
        "/page.css": ("text/css", documented("css", "ziggurat-viewer")),
        "/page.js": ("text/javascript", SCRIPT),
    }, dict(line.split(": ", 1) for line in lines), asked)


class Policies(EmbeddingTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ziggurat-policies-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "photos").mkdir()
        shutil.copy(source("FallenLeaf"), cls.folder / "photos/leaf.jpg")
        # As it is delivered, and as a checkout serves it.
        cls.hosts = {"bundle": served(cls.folder / "photos", pages=bundled()), "sources": served(cls.folder / "photos", pages=SOURCE_PAGES)}

    def check(self, show):
        """- show: has a browser show an address."""
        for name, host in self.hosts.items():
            with self.subTest(name):
                reports = queue.Queue()
                page = page_of_ones_own(host, reports.put)
                self.addCleanup(page.close)
                ending = show(page.address)
                try:
                    report = reports.get(timeout=120)
                finally:
                    ending()
                self.assertEqual(report, {"violations": [], "height": 480, "controls": "absolute", "menu": "absolute",
                                          "marker": "-50% -100%"})

    def test_the_documented_policy_is_enough_in_chromium(self):
        def show(address):
            context = chromium().new_context(viewport={"width": 1000, "height": 800})
            context.new_page().goto(address)
            return context.close
        self.check(show)

    def test_the_documented_policy_is_enough_in_firefox(self):
        def show(address):
            profile = tempfile.mkdtemp(dir=self.folder)
            browser = subprocess.Popen(["firefox-esr", "--headless", "--no-remote", "--profile", profile, address],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

            def ending():
                browser.terminate()
                browser.wait(30)
            return ending
        self.check(show)

    def test_the_demonstration_states_the_same_policy(self):
        page = (ROOT / "public/embed.html").read_text()
        self.assertIn(documented("text", "Content-Security-Policy").strip(), page)

    def test_parts_events_and_properties_that_are_stated_are_there(self):
        text = (ROOT / GUIDE).read_text()
        sources = "".join(path.read_text() for path in (ROOT / "public").rglob("*") if path.suffix in (".js", ".css"))
        parts = set(re.findall(r"`::part\(([a-z-]+)\)`", text))
        self.assertEqual(parts, set(re.findall(r"part\.add\('([a-z-]+)'\)", sources)))
        properties = set(re.findall(r"`(--ziggurat-[a-z-]+)`", text))
        # The former name of this one works until version 2.0.
        self.assertEqual(properties, set(re.findall(r"var\((--ziggurat-[a-z-]+)", sources)) - {"--ziggurat-ground"})


if __name__ == "__main__":
    unittest.main()
