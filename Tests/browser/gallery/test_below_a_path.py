"""Behind the proxies of packaging/below-a-path, which strip the path or do not: everything works below it."""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import fronts
from browser import ROOT, TOKEN, Visit, source, writable

PACKAGING = ROOT / "packaging"


@functools.cache
def temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-below-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


class BelowAPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = temporary()
        for name in ("a", "deep/er/b c"):
            (base / f"photos/{name}.jpg").parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), base / f"photos/{name}.jpg", "900", "700", "1500", "1100"], check=True)
        subprocess.run([os.environ.get("ZIGGURAT", ROOT / ".build/release/ziggurat"), "build", base / "photos", "--library", base / "library", "--quiet"], check=True)
        cls.port = fronts.free_port()
        cls.host = f"http://127.0.0.1:{cls.port}/images/"
        cls.server = int(re.search(r":(\d+)/", writable(base / "library", "--base-url", cls.host))[1])

    def front(self, *command, **options):
        def answers():
            try:
                return urllib.request.urlopen(self.host + "healthz", timeout=5).status == 200
            except OSError:
                return False

        fronts.start(self, answers, *command, **options)

    def nginx(self, *pairs):
        place = Path(tempfile.mkdtemp(dir=temporary()))
        shared = (PACKAGING / "nginx.conf").read_text().partition("\nserver {")[0]
        shared = replaced(shared, ("server 127.0.0.1:8080", f"server 127.0.0.1:{self.server}"))
        below = replaced((PACKAGING / "below-a-path/nginx.conf").read_text(), *pairs)
        folders = "".join(f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (place / "nginx.conf").write_text(
            f"daemon off; pid {place}/pid; error_log stderr; events {{}} http {{ access_log off; {folders}\n{shared}\n"
            f"server {{ listen 127.0.0.1:{self.port};\n{below}\n}} }}")
        self.front("/usr/sbin/nginx", "-c", place / "nginx.conf")

    def caddy(self, *pairs):
        place = Path(tempfile.mkdtemp(dir=temporary()))
        text = replaced((PACKAGING / "below-a-path/Caddyfile").read_text(), ("\nexample.org {", f"\nhttp://127.0.0.1:{self.port} {{"),
                        ("127.0.0.1:8080", f"127.0.0.1:{self.server}"), *pairs)
        (place / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
        homes = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
        self.front("caddy", "run", "--adapter", "caddyfile", "--config", place / "Caddyfile", env=homes)

    def test_nginx(self):
        self.nginx()
        self.check()

    def test_nginx_that_strips_it(self):
        self.nginx(("  proxy_pass http://ziggurat;\n\n", "  proxy_pass http://ziggurat/;\n\n"),
                   ("    proxy_pass http://ziggurat;", "    proxy_pass http://ziggurat/api/session;"))
        self.check()

    def test_caddy(self):
        self.caddy()
        self.check()

    def test_caddy_that_strips_it(self):
        self.caddy(("\thandle /images/*", "\thandle_path /images/*"))
        self.check()

    def read(self, address: str) -> bytes:
        self.assertTrue(address.startswith(self.host), address)
        with urllib.request.urlopen(address) as answer:
            return answer.read()

    def check(self):
        visit = Visit(host=self.host)
        self.addCleanup(visit.context.close)
        visit.open("#token=" + TOKEN, wait=False)
        visit.until("return document.querySelectorAll('#grid img').length >= 2 && [...document.querySelectorAll('#grid img')].every((each) => each.naturalWidth > 0)", "pictures")
        visit.until("return document.querySelector('.add')", "who has the token may write")
        self.upload(visit)
        visit.page.locator("#grid a").first.click()
        visit.until("return viewer?.isSharp && viewer.images.length > 1", "the picture")
        self.assertTrue(visit.address().startswith(self.host + "view/"), visit.address())
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.index === 1 && viewer.isSharp && location.pathname.endsWith('/images/view/deep%2Fer%2Fb%20c')", "the next one")
        visit.run("viewer.zoomTo(1, { x: 700, y: 500 })")
        visit.sharp()
        self.assertEqual(visit.run("return viewer.missingTiles"), 0)
        visit.page.reload()
        visit.sharp()
        visit.page.get_by_role("link", name="All images").click()
        visit.until("return document.querySelectorAll('#grid img').length >= 2", "the gallery")
        self.assertEqual(visit.address(), self.host)
        # Nothing was asked for elsewhere, and nothing failed.
        self.assertEqual([url for url in visit.requests if not url.startswith((self.host, "data:", "blob:"))], [])
        self.assertEqual(visit.faults, [])
        manifest = json.loads(self.read(self.host + "iiif/presentation/3/deep%2Fer%2Fb%20c/manifest"))
        visit.page.goto(manifest["homepage"][0]["id"])
        visit.sharp()
        self.assertEqual(visit.faults, [])
        self.protocols(manifest)

    def upload(self, visit: Visit):
        if getattr(type(self), "has_uploaded", False):
            return
        type(self).has_uploaded = True
        picture = temporary() / "z.jpg"
        subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), picture, "2900", "700", "700", "500"], check=True)
        visit.page.click(".add")
        visit.page.set_input_files("#choose", picture)
        visit.until("return document.querySelectorAll('.uploads .done').length === 1", "the upload")
        self.assertTrue(visit.run("return document.querySelector('.uploads li a').href").endswith("/images/view/z"))
        visit.page.keyboard.press("Escape")

    def protocols(self, manifest: dict):
        service = manifest["items"][0]["items"][0]["items"][0]["body"]["service"][0]["id"]
        self.assertEqual(json.loads(self.read(service + "/info.json"))["id"], service)
        self.read(service + "/full/200,/0/default.jpg")
        description = json.loads(self.read(self.host + "api/images/deep%2Fer%2Fb%20c"))
        for name in ("self", "view", "manifest", "dzi", "tilejson"):
            self.read(description["urls"][name])
        self.assertEqual(json.loads(self.read(self.host + "openapi.json"))["servers"], [{"url": self.host[:-1]}])
        with urllib.request.urlopen(self.host[:-1]) as answer:
            self.assertEqual(answer.url, self.host, "without its slash the path leads to the gallery")
        for path, status in (("metrics", 403), ("%6detrics", 403), ("images/metrics", 404), ("images/%6detrics", 404)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(self.host + path)
            self.assertEqual(refused.exception.code, status, path)


if __name__ == "__main__":
    unittest.main()
