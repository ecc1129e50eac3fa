"""Whose gallery it is, and what an empty one says."""

import atexit
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import BINARY, PHOTO, ROOT, PageTest, source


def shown(folder: Path, *options: str) -> str:
    """The address of a server of the folder, ending in a slash."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ZIGGURAT_")}
    server = subprocess.Popen([BINARY, "serve", folder, "--port", "0", "--webroot", ROOT / "public", *options],
                              env=clean, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    atexit.register(lambda: (server.terminate(), server.wait(20)))
    found = re.match(r"listening on (http://\S+)", server.stdout.readline())
    assert found
    return found[1].rstrip("/") + "/"


class Owner(PageTest):
    def setUp(self):
        base = tempfile.TemporaryDirectory(prefix="ziggurat-owner-")
        self.addCleanup(base.cleanup)
        self.folder = Path(base.name)

    def test_pages_are_called_as_the_owner_calls_them(self):
        (self.folder / "harbour.jpg").write_bytes(source(PHOTO).read_bytes())
        host = shown(self.folder, "--build", "--library", str(self.folder / "library"), "--site-name", "Fish & <Chips>")
        visit = self.visit(host=host)
        visit.open(wait=False)
        visit.until("return document.querySelector('#grid a')", "the gallery's picture")
        self.assertEqual(visit.run("return [document.title, document.querySelector('h1').textContent]"),
                         ["Fish & <Chips>", "Fish & <Chips>"])
        visit.photo("harbour")
        self.assertEqual(visit.until("return document.title.startsWith('harbour') && document.title"), "harbour · Fish & <Chips>")
        self.assertEqual(visit.run("return document.getElementById('title').textContent"), "harbour")

    def test_an_empty_library_says_what_to_do(self):
        visit = self.visit(host=shown(self.folder))
        visit.open(wait=False)
        note = visit.until("return document.getElementById('note').textContent.includes('images') && "
                            "document.getElementById('note').textContent")
        self.assertIn("ziggurat build PICTURES --library DIR", note)


if __name__ == "__main__":
    unittest.main()
