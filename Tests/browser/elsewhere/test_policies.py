"""What a page must allow for the element: the policy that docs/how-to/embed.md states, and nothing beyond it."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

from browser import ROOT, bundled, served, source
from embedding import EmbeddingTest


class Policies(EmbeddingTest):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="ziggurat-policies-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "photos").mkdir()
        shutil.copy(source("FallenLeaf"), folder / "photos/leaf.jpg")
        cls.host = served(folder / "photos", pages=bundled())

    def test_the_policy_that_is_stated_is_enough(self):
        text = (ROOT / "docs/how-to/embed.md").read_text()
        policy, embedder = (re.search(rf"^{name}: (.+)$", text, re.MULTILINE)[1]
                            for name in ("Content-Security-Policy", "Cross-Origin-Embedder-Policy"))
        visit = self.visit(host=self.host)
        visit.page.route("**/policed", lambda route: route.fulfill(
            content_type="text/html", body="""<!doctype html><meta charset="utf-8"><title>A page</title>
            <script type="module" src="/viewer/elements.js"></script>
            <ziggurat-viewer src="/api/images/leaf"></ziggurat-viewer>""",
            headers={"Content-Security-Policy": policy.replace("https://images.example.org", self.host.rstrip("/")),
                     "Cross-Origin-Embedder-Policy": embedder}))
        visit.open("policed")
        style = visit.run("return getComputedStyle(viewer.shadowRoot.querySelector('.controls')).position")
        self.assertEqual(style, "absolute", "it is styled")
        visit.run("viewer.viewport = { scale: 0.9, x: 300, y: 200 }")
        visit.sharp()

    def test_parts_events_and_properties_that_are_stated_are_there(self):
        text = (ROOT / "docs/how-to/embed.md").read_text()
        sources = "".join(path.read_text() for path in (ROOT / "public").rglob("*") if path.suffix in (".js", ".css"))
        parts = set(re.findall(r"`::part\(([a-z-]+)\)`", text))
        self.assertEqual(parts, set(re.findall(r"part\.add\('([a-z-]+)'\)", sources)))
        properties = set(re.findall(r"`(--ziggurat-[a-z-]+)`", text))
        self.assertEqual(properties, set(re.findall(r"var\((--ziggurat-[a-z-]+)", sources)))
        events = re.search(r"Events: (.+?)\.", text, re.DOTALL)[1]
        for event in re.findall(r"`([a-z]+)`", events):
            self.assertRegex(sources, rf"(tell|Event)\('{event}'")


if __name__ == "__main__":
    unittest.main()
