"""The programs of docs/how-to/rotated-view.md draw what the server draws."""

import base64
import functools
import http.server
import io
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import numpy
from PIL import Image

from browser import ROOT, PageTest, served, source

PAGE = (ROOT / "docs/how-to/rotated-view.md").read_text()
PYTHON, COMPARISON = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[HTML] = re.findall(r"^```html\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
# The page's own first: it is in both programs and in both commands.
SHOWN = {"width": 800, "height": 500, "scale": 0.8, "center": "800,500", "rotation": 30, "flip": "true"}
VIEWS = [
    SHOWN, {"width": 500, "height": 400, "fit": "contain", "rotation": 200}, {"width": 300, "height": 200, "scale": 1, "x": 1400, "y": 850},
    {"width": 300, "height": 300, "scale": 2.5, "center": "1590,20", "rotation": -45}, {"width": 640, "height": 400, "fit": "cover", "flip": "true"},
    {"width": 200, "height": 120, "scale": 0.07, "center": "800,500", "rotation": 90},
]


@functools.cache
def host() -> str:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-rotated-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    (folder / "photos").mkdir()
    with Image.open(source("FallenLeaf")) as picture:
        picture.convert("RGB").resize((1600, 1000)).save(folder / "photos/harbour.jpg", quality=95)
    return served(folder / "photos")


def replaced(pattern: str, new: str, text: str) -> str:
    changed, count = re.subn(pattern, lambda _: new, text)
    assert count == 1, pattern
    return changed


class RotatedView(PageTest):
    def compare(self, drawn: Image.Image, view: dict):
        """The bounds that the page states."""
        with urllib.request.urlopen(f"{host()}api/images/harbour/viewport.png?{urllib.parse.urlencode(view)}") as answer:
            asked = numpy.asarray(Image.open(answer).convert("RGBA")).astype(int)
        drawn = numpy.asarray(drawn.convert("RGBA")).astype(int)
        self.assertEqual(drawn.shape, asked.shape)
        opaque = numpy.pad(asked[..., 3] == 255, 1, constant_values=True)
        # A pixel from the picture's edge: each of its eight neighbours is inside as well.
        inside = numpy.all([opaque[y:y + asked.shape[0], x:x + asked.shape[1]] for x in range(3) for y in range(3)], axis=0)
        self.assertGreater(inside.sum(), 200)
        difference = numpy.abs(drawn - asked)[inside]
        self.assertLess(difference.mean(), 1)
        self.assertLess((difference > 4).mean(), 0.05)
        clear = numpy.pad(asked[..., 3] == 0, 1, constant_values=True)
        outside = numpy.all([clear[y:y + asked.shape[0], x:x + asked.shape[1]] for x in range(3) for y in range(3)], axis=0)
        self.assertEqual(drawn[outside][:, 3].sum(), 0)

    def test_the_python_program_draws_what_the_server_draws(self):
        for view in VIEWS:
            for dpr in (1, 2):
                with self.subTest(dpr=dpr, **view), tempfile.TemporaryDirectory() as place:
                    program = replaced(r"(?m)^QUERY = .*$", f"QUERY = {dict(view, dpr=dpr)}", PYTHON)
                    program = replaced(r"(?m)^DPR = .*$", f"DPR = {dpr}", replaced("http://localhost:8080", host().rstrip("/"), program))
                    subprocess.run([sys.executable, "-c", program], cwd=place, check=True, timeout=60)
                    with Image.open(Path(place) / "drawn.png") as drawn:
                        self.compare(drawn, {**view, "dpr": dpr})

    def test_the_page_draws_what_the_server_draws(self):
        pages = {}

        class Elsewhere(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = pages["page"].encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for view in VIEWS:
            for dpr in (1, 2):
                with self.subTest(dpr=dpr, **view):
                    members = ", ".join(f"{name}: {value!r}" for name, value in view.items())
                    pages["page"] = replaced(r"new URLSearchParams\(\{.*\}\)", f"new URLSearchParams({{ {members}, dpr }})",
                                             replaced("http://localhost:8080", host().rstrip("/"), HTML)).replace(
                                                 "<title>", "<link rel=icon href=data:,><title>")
                    visit = self.visit(host=host(), ratio=dpr)
                    visit.page.goto(f"http://localhost:{server.server_port}/")
                    visit.until("return document.getElementById('view').dataset.isDrawn", "the view drawn")
                    url = visit.run("return document.getElementById('view').toDataURL()")
                    visit.requests = [url for url in visit.requests if "//localhost" not in url]
                    self.compare(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))), {**view, "dpr": dpr})

    def test_the_programs_show_the_view_of_the_commands(self):
        names = {"width": "800", "height": "500", "scale": "0.8", "center": "800,500", "rotation": "30", "flip": "true"}
        commands = re.findall(r"harbour/viewport(?:\.png)?\?([^']+)'", PAGE)
        self.assertEqual([dict(urllib.parse.parse_qsl(query)) for query in commands], [names] * 2)
        for program, pattern in ((PYTHON, r"QUERY = (.*)"), (HTML, r"new URLSearchParams\((.*)\)")):
            given = re.search(pattern, program)[1]
            for name, value in names.items():
                self.assertRegex(given, rf"\b{name}\"?: [\"']?{re.escape(value)}[\"',]")


if __name__ == "__main__":
    unittest.main()
