"""Behind the proxies of packaging/below-a-path, which strip the path or do not: everything works below it."""

import json
import subprocess
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from below import BelowAPath, temporary
from browser import TOKEN, Visit, source


class Pages(BelowAPath):
    @classmethod
    def pictures(cls, folder: Path) -> None:
        for name in ("a", "deep/er/b c"):
            (folder / f"{name}.jpg").parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["vips", "crop", source("landscapes/SafeLanding"), folder / f"{name}.jpg", "900", "700", "1500", "1100"], check=True)

    def test_nginx(self):
        self.nginx()
        self.check()

    def test_nginx_that_strips_it(self):
        self.nginx(("  proxy_pass http://ziggurat;\n\n", "  proxy_pass http://ziggurat/;\n\n"))
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
        visit.until("return viewer?.isFullyLoaded && viewer.images.length > 1", "the picture")
        self.assertTrue(visit.address().startswith(self.host + "view/"), visit.address())
        visit.page.keyboard.press("PageDown")
        visit.until("return viewer.index === 1 && viewer.isFullyLoaded && location.pathname.endsWith('/images/view/deep%2Fer%2Fb%20c')", "the next one")
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
        self.assertEqual(visit.errors, [])
        manifest = json.loads(self.read(self.host + "iiif/presentation/3/deep%2Fer%2Fb%20c/manifest"))
        visit.page.goto(manifest["homepage"][0]["id"])
        visit.sharp()
        self.assertEqual(visit.errors, [])
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
