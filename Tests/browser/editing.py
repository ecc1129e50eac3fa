"""What the tests of editing in the page share: a library of seven pictures and one of an odd name, and who may write."""

import json
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from browser import BINARY, TOKEN, PageTest, source, writable

NAMES = ["a", "b", "c", "d", "e", "f", "g"]


class EditingTest(PageTest):
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

    def writer(self, allowed_errors=(), **options):
        visit = self.visit(host=self.host, allowed_errors=list(allowed_errors), **options)
        visit.open("#token=" + TOKEN, wait=False)
        visit.until("return document.querySelector('.select') && document.querySelectorAll('.there').length > 4", "the gallery")
        return visit

    def chosen(self, visit):
        return visit.run("return [...document.querySelectorAll('.chosen')].map((each) => each.textContent)")

    def shown(self, visit, names):
        visit.until("return [...document.querySelectorAll('.picture .caption')].slice(0, argument).map((each) => each.textContent).join()"
                    .replace("argument", str(len(names))) + f" === '{','.join(names)}'", f"the pictures {names}")

    def spoken(self, visit, text):
        visit.until(f"return document.querySelector('.spoken').textContent === {json.dumps(text)}", f"spoken: {text}")

    def picture(self, visit, name):
        return visit.page.locator("#grid .picture").nth(NAMES.index(name))
