"""Shared caches in front of servers, by packaging/nginx-edge.conf and packaging/varnish.vcl: what they keep, and what they forget."""

import hashlib
import json
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from edges import EDGES, Edge, Reply
from fronts import certificate
from harness import ROOT, CommandTest, Server, folder, photo, run

REVALIDATED = "public, max-age=0, must-revalidate, s-maxage=2, stale-if-error=600"
IMMUTABLE = "public, max-age=31536000, immutable, s-maxage=86400, stale-if-error=600"
BRIEF = "public, max-age=10, s-maxage=2, stale-if-error=600"


def siphash(key: bytes, data: bytes) -> bytes:
    """SipHash-2-4 (Aumasson, Bernstein 2012)."""
    mask = (1 << 64) - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rotated(word: int, bits: int) -> int:
        return (word << bits | word >> 64 - bits) & mask

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = v[0] + v[1] & mask
            v[2] = v[2] + v[3] & mask
            v[1], v[3] = rotated(v[1], 13) ^ v[0], rotated(v[3], 16) ^ v[2]
            v[0] = rotated(v[0], 32)
            v[2] = v[2] + v[1] & mask
            v[0] = v[0] + v[3] & mask
            v[1], v[3] = rotated(v[1], 17) ^ v[2], rotated(v[3], 21) ^ v[0]
            v[2] = rotated(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xff])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start:start + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


class EdgeTest(CommandTest):
    def setUp(self):
        base = folder("edge")
        self.base, self.photos, self.library = base, base / "photos", base / "library"
        for number, name in enumerate(("a b", "of/one", "gone")):
            photo(self.photos / f"{name}.jpg", 900, 700, left=100 * number)
        self.build()

    def build(self):
        result = run("build", self.photos, "--library", self.library, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)

    def tile(self, server: Server, id: str = "a%20b") -> str:
        """The path of a tile with its generation."""
        answer = server.get(f"/api/images/{id}/viewport?width=300&height=200")
        self.assertEqual(answer.status, 200)
        return json.loads(answer.body)["tiles"][0]["url"]


class Headers(EdgeTest):
    def test_what_may_be_kept_and_by_which_key_it_is_forgotten(self):
        with Server(self.library, "--shared-cache") as server:
            tile = self.tile(server)
            bare, _, version = tile.partition("?")
            picture = "/iiif/3/a%20b/0,0,97,101/50,/0/default.jpg"
            view = "/api/images/a%20b/viewport.tiles?width=300&height=200"
            headers = {view: BRIEF, f"{view}&{version}": IMMUTABLE, f"{view}&v=1": BRIEF, f"{view}&{version}&include=description": BRIEF, tile: IMMUTABLE, bare: REVALIDATED, f"{bare}?v=1": REVALIDATED, picture: REVALIDATED, f"{picture}?{version}": IMMUTABLE, f"{picture}?v=1": REVALIDATED,
                     "/dzi/a%20b.dzi": BRIEF, "/api/images": BRIEF, "/dzi/none.dzi": "no-store", "/healthz": "no-store"}
            self.assertEqual({path: server.get(path)["cache-control"] for path in headers}, headers)
            paths = (tile, bare, picture, "/dzi/%61%20b.dzi", "/iiif/3/a%20b/info.json", "/api/images/a%20b", "/iiif/presentation/3/a%20b/manifest",
                     "/xyz/a%20b/0/0/0.jpg", "/zoomify/a%20b/ImageProperties.xml", "/iip?FIF=a%20b&JTL=0,0", "/iip?FIF=a%20b.jpg&JTL=0,0",
                     "/api/images/a%20b/viewport.jpg?width=30&height=20")
            keys = {path: server.get(path)["surrogate-key"] for path in paths}
            self.assertEqual(len(set(keys.values())), 1, keys)
            self.assertRegex(keys[tile], r"^[0-9a-f]{16}$")
            self.assertNotEqual(server.get("/dzi/of%2Fone.dzi")["surrogate-key"], keys[tile])
            for path in ("/api/images", "/healthz", "/dzi/none.dzi", "/iiif/presentation/3/collection"):
                self.assertEqual(server.get(path)["surrogate-key"], "", path)

    def test_keys_cannot_be_computed_without_the_secret(self):
        """By the description of docs/how-to/fleet-cache.md: BLAKE2b of the secret gives the key of SipHash-2-4, whose bytes are the key."""
        secret = folder("secret") / "edge-key"
        secret.write_text("0123456789abcdef" * 4 + "\n")
        seed = hashlib.blake2b(digest_size=16, key=bytes.fromhex("0123456789abcdef" * 4), salt=(1).to_bytes(16, "little"),
                               person=b"edge-key".ljust(16, b"\0")).digest()
        for arguments in (("--shared-cache", "--purge-key-file", secret), ("--purge-url", "http://127.0.0.1:1/", "--purge-key-file", secret)):
            with Server(self.library, *arguments) as server:
                self.assertEqual(server.get("/dzi/a%20b.dzi")["surrogate-key"], siphash(seed, b"a b").hex())
        # One that nobody has named is the library's own, the same for each of its servers and after a restart.
        found = set()
        for _ in range(2):
            with Server(self.library, "--shared-cache") as server:
                found.add(server.get("/dzi/a%20b.dzi")["surrogate-key"])
        own = self.library / ".ziggurat-edge-key"
        self.assertEqual((len(found), own.stat().st_mode & 0o777), (1, 0o600))
        self.assertRegex(own.read_text(), r"^[0-9a-f]{64}\n$")
        self.assertNotIn(siphash(seed, b"a b").hex(), found)

    def test_a_weak_key_is_rejected(self):
        weak = folder("weak") / "key"
        for text in ("", "secret\n", "0123456789ABCDEF" * 4, "0" * 63):
            weak.write_text(text)
            self.assertUsageError(run("serve", self.library, "--shared-cache", "--purge-key-file", weak, "--port", "0"), "invalid key", str(weak))
        self.assertUsageError(run("serve", self.library, "--shared-cache", "--purge-key-file", weak / "none", "--port", "0"), "cannot read")
        self.assertUsageError(run("serve", self.library, "--purge-key-file", weak, "--port", "0"), "--purge-key-file requires --shared-cache")
        # Nothing is written into what is no library of ours.
        self.assertUsageError(run("serve", self.library / "a b.szi", "--shared-cache", "--port", "0"), "--shared-cache requires --purge-key-file")
        exported = folder("exported") / "dz"
        self.assertEqual(run("export", self.library / "a b.szi", "--layout", "dz", "--output", exported).returncode, 0)
        before = sorted(exported.iterdir())
        self.assertUsageError(run("serve", exported, "--shared-cache", "--port", "0"), "--shared-cache requires --purge-key-file")
        self.assertEqual(sorted(exported.iterdir()), before)

    def test_a_book_has_its_cover_s_key(self):
        for number in (1, 2):
            photo(self.base / f"codex/f00{number}r.jpg", 300, 400, left=100 * number)
        result = run("build", "--book", self.base / "codex", "--library", self.library, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        with Server(self.library, "--shared-cache") as server:
            generation = json.loads(server.get("/api/images/codex%2Ff001r").body)["generation"]
            answer = server.get(f"/api/images/codex/viewport.jpg?width=30&height=20&v={generation}")
            self.assertEqual((answer.status, answer["cache-control"]), (200, IMMUTABLE), answer)
            self.assertEqual(answer["surrogate-key"], server.get("/dzi/codex%2Ff001r.dzi")["surrogate-key"])

    def test_its_documentation_names_the_files_folders(self):
        page, front, unit = ((ROOT / path).read_text() for path in ("docs/how-to/fleet-cache.md", "packaging/nginx-edge.conf", "packaging/edge-purge.service"))
        cache, keys, credential = re.search(r"edge-purge (/\S+) (/\S+) --key-file %d/(\S+) --listen", unit).groups()
        secret = re.search(rf"^LoadCredential={credential}:(.*)$", unit, re.MULTILINE)[1]
        self.assertIn(f"> {secret})\n", page)
        self.assertIn(f"ReadWritePaths={cache} {keys}\n", unit)
        # nginx makes one folder, not those above it.
        self.assertEqual(Path(cache).parent, Path("/var/cache"))
        self.assertIn(f"proxy_cache_path {cache} ", front)
        self.assertIn('std.fileread("/etc/varnish/ziggurat-edge-key")', (ROOT / "packaging/varnish.vcl").read_text())
        self.assertIn("> /etc/varnish/ziggurat-edge-key\n", page)
        self.assertIn(f"access_log {keys}/$upstream_http_surrogate_key", front)
        self.assertIn(f"install -d -o www-data -m 700 {keys}\n", page)

    def test_untrusted_addresses_are_reported(self):
        for arguments in (("--shared-cache",), ("--purge-url", "http://127.0.0.1:1/")):
            server = Server(self.library, *arguments)
            # It listens before it says so.
            end = time.monotonic() + 20
            while "without --base-url" not in server.errors():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            server.stop()
        with Server(self.library, "--shared-cache", "--base-url", "http://localhost:8080") as server:
            self.assertEqual(server.get("/healthz").status, 200)
            self.assertNotIn("--base-url", server.errors())

    def test_nothing_private_goes_through_it(self):
        self.assertUsageError(run("serve", self.library, "--space", "--shared-cache", "--port", "0"), "--space cannot be used with --shared-cache")
        self.assertUsageError(run("serve", self.library, "--purge-url", "127.0.0.1:6081", "--port", "0"), "--purge-url", "http://")


class Fleet(EdgeTest):
    """Three servers of one library behind a cache; who derives from it says which."""

    edge: Edge

    def begin(self, name: str) -> None:
        place = folder("cache")
        self.edge = EDGES[name](place, certificate())
        self.addCleanup(self.edge.stop)
        self.servers = [self.serve() for _ in range(3)]
        self.edge.start([server.port for server in self.servers])

    def serve(self) -> Server:
        server = Server(self.library, *self.edge.options)
        self.addCleanup(server.stop)
        return server

    def ask(self, target: str, **headers) -> Reply:
        return self.edge.ask(target, **headers)

    def until(self, condition, what: str) -> float:
        """Waits for a state; how long that took, seconds."""
        start = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic(), start + 30, what)
            time.sleep(0.02)
        return time.monotonic() - start

    def kept(self, target: str, known: Reply) -> None:
        """A second question is answered with the same, by the cache."""
        again = self.ask(target)
        self.assertEqual((again.status, again.cached, again.body), (200, "HIT", known.body), target)


class Keeping(Fleet):
    def check_keys(self):
        tile = self.tile(self.servers[0])
        bare, _, version = tile.partition("?")
        expected = self.servers[0].get(tile).body
        self.assertEqual(self.ask(tile)[:3], (200, "MISS", expected))
        for query in (version, f"{version}&from=here", f"from=here&{version}", f"a=b&{version}&c=d", f"g={version[2:]}"):
            self.assertEqual(self.ask(f"{bare}?{query}")[:3], (200, "HIT", expected), query)
        known = self.ask(tile, If_None_Match=self.servers[0].get(tile)["etag"])
        self.assertEqual((known.status, known.cached, known.body), (304, "HIT", b""))
        self.assertEqual((known.headers["Surrogate-Key"], self.ask(tile).headers["Surrogate-Key"]), (None, None))
        self.assertEqual(self.ask(tile, Range="bytes=0-9")[:3], (206, "HIT", expected[:10]))
        head = self.edge.ask(tile, method="HEAD")
        self.assertEqual((head.status, head.headers["Content-Length"]), (200, str(len(expected))))
        # What the servers might read in another way than the cache is no other's answer.
        odd = f"{bare}?v={version[2:].upper().zfill(17)}&v=123"
        self.assertEqual(self.ask(f"{bare}?from=here").cached, "MISS")
        # Nor is it kept: anybody could fill the cache with copies of one tile.
        for query in (f"%76={version[2:]}", f"{version}&download", f"{version}&download=name.jpg&x=1", odd.partition("?")[2], f"{version}&x=%41"):
            for _ in range(2):
                answer = self.ask(f"{bare}?{query}")
                self.assertEqual((answer.status, answer.cached in ("MISS", "BYPASS")), (200, True), query)
        self.assertEqual(self.ask(f"{bare}?v=123").cached, "MISS")
        self.assertEqual(self.ask(f"{bare}?v=123").headers["Cache-Control"], REVALIDATED)
        # Or after its lifetime.
        kept = ("HIT", "REVALIDATED")
        self.assertIn(self.ask(bare).cached, kept)
        self.assertIsNone(self.ask(tile).headers["Content-Disposition"])
        # An escaped slash stays one.
        for path in ("/dzi/of%2Fone.dzi", "/dzi/of/one.dzi"):
            self.assertEqual(self.ask(path)[:3], (200, "MISS", self.servers[0].get(path).body), path)
        # Queries that are the question are kept apart.
        for width in (300, 301):
            self.assertEqual(self.ask(f"/api/images/a%20b/viewport?width={width}&height=200").cached, "MISS")
        self.assertIn(self.ask("/api/images/a%20b/viewport?width=301&height=200").cached, kept)
        # Whom a server may know gets its own.
        for headers in ({"Authorization": "Bearer x"}, {"Cookie": "a=b; ziggurat-session=1"}):
            self.assertIn(self.ask(tile, **headers).cached, ("BYPASS", "MISS", None))
        self.assertEqual(self.ask(tile, Cookie="a=b").cached, "HIT")
        for path in ("/metrics", "/%6detrics", "/metric%73?x", "/%6D%65trics"):
            self.assertEqual(self.ask(path).status, 403, path)

    def check_absolute_targets(self):
        """http.client writes the target as it is: an absolute-form target asks for its path, whatever its host is called."""
        tile = self.tile(self.servers[0])
        expected = self.servers[0].get(tile).body
        self.assertEqual(self.ask(tile).status, 200)
        for start in ("http://images.example.org", "https://images.example.org", "HTTPS://one.example:8443", "https://two.example", "http://[::1]:1"):
            self.assertEqual(self.ask(start + tile)[:3], (200, "HIT", expected), start)
            for path in ("/metrics", "/metrics?x", "/%6detrics"):
                answer = self.ask(start + path)
                self.assertEqual((answer.status, b"ziggurat_requests" in answer.body), (403, False), start + path)
        for host in ("one.example", "two.example:81", "[::1]"):
            self.assertEqual(self.ask(tile, Host=host)[:3], (200, "HIT", expected), host)
        for target in ("https://", "https:///metrics", "https://a@b/metrics", "ftp://x/metrics", "x/metrics", "https:/metrics", "*", "https://x#/metrics"):
            answer = self.ask(target)
            self.assertNotIn(b"ziggurat_requests", answer.body, target)
            self.assertGreaterEqual(answer.status, 400, target)

    def check_one_server_for_an_image(self):
        def sent() -> list[float]:
            metrics = [server.metrics() for server in self.servers]
            return [sum(value for name, value in each.items() if re.search('sent_bytes_total{route="(dzi|iiif|presentation)"}', name))
                    for each in metrics]

        for id in ("a%20b", "of%2Fone", "gone"):
            before = sent()
            for level in range(9):
                for target in (f"/dzi/{id}_files/{level}/0_0.jpg", f"/dzi/{id}_files/{level}/0_0.jpg?v=1", f"/dzi/{id}.dzi"):
                    self.assertEqual(self.ask(target).status, 200)
            # Of both versions, which begin with the same text.
            for target in (f"/iiif/presentation/2/{id}/manifest", f"/iiif/presentation/3/{id}/manifest", f"/iiif/2/{id}/info.json",
                           f"/iiif/3/{id}/info.json"):
                answer = self.ask(target)
                self.assertEqual((answer.status, answer.cached), (200, "MISS"), target)
            after = sent()
            self.assertEqual(sum(one > two for one, two in zip(after, before)), 1, (id, before, after))

    def test_nginx(self):
        self.begin("nginx")
        self.check_keys()
        self.check_absolute_targets()
        self.check_one_server_for_an_image()
        asked = subprocess.run(["curl", "--silent", "--show-error", "--http2", "--cacert", certificate()[0], "--output", "/dev/null", "--write-out",
                                "%{http_version} %{http_code}", f"https://localhost:{self.edge.tls_port}{self.tile(self.servers[0])}"],
                               capture_output=True, text=True)
        self.assertEqual(asked.stdout, "2 200", asked.stderr)

    def test_varnish(self):
        self.begin("Varnish")
        self.check_keys()
        self.check_absolute_targets()
        self.check_one_server_for_an_image()


class Outages(Fleet):
    def check(self):
        tiles = [self.tile(self.servers[0], id) for id in ("a%20b", "of%2Fone", "gone")]
        paths = [tile.partition("?")[0] for tile in tiles] + tiles
        for path in paths:
            self.assertEqual(self.ask(path).status, 200)
        self.servers[0].process.send_signal(signal.SIGKILL)
        self.servers[0].process.wait()
        time.sleep(2.1)  # what may change is asked for again
        for path in [*paths, "/dzi/a%20b.dzi", "/dzi/of%2Fone.dzi", "/dzi/gone.dzi"]:
            self.assertEqual(self.ask(path).status, 200, path)
        for server in self.servers[1:]:
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        time.sleep(2.1)
        for path in paths:
            answer = self.ask(path)
            self.assertEqual((answer.status, answer.cached), (200, "HIT" if "?" in path else "STALE"), path)
        answer = self.ask("/dzi/none.dzi")
        self.assertEqual((answer.status, answer.headers["Retry-After"], answer.headers["Cache-Control"]), (503, "1", "no-store"))

    def test_nginx(self):
        self.begin("nginx")
        self.check()

    def test_varnish(self):
        self.begin("Varnish")
        self.check()


if __name__ == "__main__":
    unittest.main()
