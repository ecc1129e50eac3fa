"""The public address by the word of trusted proxies alone: `--base-url auto`."""

import json
import unittest

from harness import Server, folder, photo, run

PUBLIC = {"Forwarded": "for=192.0.2.1;host=images.example.org;proto=https"}
PREFIXED = {"X_Forwarded_Host": "images.example.org", "X_Forwarded_Proto": "https", "X_Forwarded_Prefix": "/art"}


class Forwarded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("forwarded")
        photo(base / "photos/a.jpg", 700, 500)
        assert run("build", base / "photos", "--library", base / "library", "--quiet").returncode == 0
        cls.library = base / "library"

    def serve(self, *options) -> Server:
        return self.enterContext(Server(self.library, *options))

    def ids(self, server: Server, **headers) -> dict[str, str]:
        """What answers say of their own addresses."""
        tile = server.get("/iiif/3/a/0,0,512,500/512,500/0/default.jpg", **headers)
        assert tile.status == 200, tile
        return {
            "info": json.loads(server.get("/iiif/3/a/info.json", **headers).body)["id"],
            "manifest": json.loads(server.get("/iiif/presentation/3/a/manifest", **headers).body)["id"],
            "tilejson": json.loads(server.get("/xyz/a/tilejson.json", **headers).body)["tiles"][0].split("?")[0],
            "tile": tile["link"].split(">")[0][1:],
            "render": server.get("/iiif/3/a/full/33,/0/default.jpg", **headers)["link"].split(">")[0][1:],
            "api": json.loads(server.get("/api/images/a", **headers).body)["urls"]["view"],
            "redirect": server.get("/iiif/3/a", **headers)["location"],
        }

    def expected(self, base: str, api: str | None = None) -> dict[str, str]:
        return {"info": f"{base}/iiif/3/a", "manifest": f"{base}/iiif/presentation/3/a/manifest", "tilejson": f"{base}/xyz/a/{{z}}/{{x}}/{{y}}.jpg",
                "tile": f"{base}/iiif/3/a/0,0,512,500/max/0/default.jpg", "render": f"{base}/iiif/3/a/full/33,24/0/default.jpg",
                "api": f"{base if api is None else api}/view/a", "redirect": f"{base}/iiif/3/a/info.json"}

    def test_a_trusted_proxy_states_the_address(self):
        server = self.serve("--base-url", "auto", "--allow-host", "images.example.org")
        self.assertEqual(self.ids(server, **PUBLIC), self.expected("https://images.example.org"))
        self.assertEqual(self.ids(server, **PREFIXED), self.expected("https://images.example.org/art"))
        # Without a word of a proxy it is what the client says, as ever.
        self.assertEqual(self.ids(server), self.expected("http://127.0.0.1", ""))
        for path in ("/iiif/3/a/info.json", "/api/images", "/iiif/3/a/0,0,512,500/512,500/0/default.jpg"):
            names = server.get(path, **PUBLIC)["vary"].split(", ")
            self.assertLessEqual({"Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix"}, set(names), path)
        # Pages and redirects are below the prefix, too.
        page = server.get("/view/a", **PREFIXED).body
        self.assertIn(b'="/art/', page)
        self.assertNotIn(b'src="/view', page)
        self.assertNotIn(b"/art/", server.get("/view/a").body)

    def test_other_clients_do_not(self):
        for options in (["--base-url", "auto", "--allow-host", "images.example.org", "--trusted-proxy", "10.0.0.0/8"],
                        ["--base-url", "auto", "--allow-host", "images.example.org", "--trusted-proxy", "none"],
                        ["--allow-host", "images.example.org", "--trusted-proxy", "127.0.0.0/8"],
                        # A name that the server does not go by.
                        ["--base-url", "auto"]):
            server = self.serve(*options)
            for headers in (PUBLIC, PREFIXED):
                self.assertEqual(self.ids(server, **headers), self.expected("http://127.0.0.1", ""), options)
        server = self.serve("--base-url", "https://fixed.example.org/x", "--allow-host", "images.example.org")
        self.assertEqual(self.ids(server, **PUBLIC), self.expected("https://fixed.example.org/x"))


if __name__ == "__main__":
    unittest.main()
