"""What shared caches forget when it is gone from a library, who may ask them to, and what outlives whose end."""

import subprocess
import sys
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from edges import EDGES, PACKAGING
from harness import folder, photo
from test_edge import IMMUTABLE, Fleet
from upload_client import Client, serve


class Forgetting(Fleet):
    def check_replaced(self):
        tile = self.tile(self.servers[0])
        bare = tile.partition("?")[0]
        former = self.ask(tile)
        self.assertEqual(self.ask(bare).body, former.body)
        photo(self.photos / "a b.jpg", 900, 700, left=500)
        self.build()
        seconds = self.until(lambda: self.ask(bare).body != former.body, "the cache has the former tile")
        print(f"[{self.edge.name} has a new tile after {seconds:.2f} s", end=", ", flush=True)
        # Whom the cache asked first may have been the first to know.
        self.until(lambda: len({self.tile(server) for server in self.servers}) == 1 and self.tile(self.servers[0]) != tile, "one server has the former")
        self.kept(tile, former)
        new = self.ask(self.tile(self.servers[0]))
        self.assertNotEqual(new.body, former.body)
        self.assertEqual(new.body, self.ask(bare).body)

    def check_deleted(self):
        """No address of an image that is gone goes on being answered, though each may be kept for ever; others do."""
        generation = self.tile(self.servers[0], "gone").partition("?")[2]
        tiles = [f"{path}{'&' if '?' in path else '?'}{generation}" for path in (
            "/dzi/gone_files/9/0_0.jpg", "/dzi/%67one_files/9/0_0.jpg", "/iiif/3/gone/full/max/0/default.jpg", "/iiif/2/gone/0,0,97,101/50,/0/default.png",
            "/xyz/gone/0/0/0.jpg", "/iip?FIF=gone&JTL=0,0", "/zoomify/gone/TileGroup0/0-0-0.jpg", "/api/images/gone/viewport.jpg?width=30&height=20")]
        for target in tiles:
            self.assertEqual(self.ask(target).headers["Cache-Control"], IMMUTABLE, target)
            self.assertEqual(self.ask(target).cached, "HIT", target)
        other = self.ask(self.tile(self.servers[0]))
        (self.library / "gone.szi").unlink()
        seconds = self.until(lambda: {self.ask(target).status for target in tiles} == {404}, "the cache has an image that is gone")
        print(f"forgets one after {seconds:.2f} s] ", end="", flush=True)
        self.kept(self.tile(self.servers[0]), other)
        for server in self.servers:
            # That they have no --base-url, and nothing else.
            self.assertEqual([line for line in server.errors().splitlines() if "--base-url" not in line], [])

    def test_nginx(self):
        self.begin("nginx")
        self.check_replaced()
        self.check_deleted()
        # What no file of keys names is found by the look through the cache.
        tile = self.tile(self.servers[0], "of%2Fone")
        self.assertEqual((self.ask(tile).cached, self.ask(tile).cached), ("MISS", "HIT"))
        for path in self.edge.keys.iterdir():
            path.unlink()
        (self.library / "of/one.szi").unlink()
        self.until(lambda: self.ask(tile).status == 404, "the cache has an image that is gone")

    def test_varnish(self):
        self.begin("Varnish")
        self.check_replaced()
        self.check_deleted()

    def test_a_cache_that_is_away_is_asked_again(self):
        self.edge = EDGES["nginx"](folder("cache"))
        self.addCleanup(self.edge.stop)
        server = self.serve()
        (self.library / "gone.szi").unlink()
        self.until(lambda: "cannot be purged" in server.errors(), "nobody says that the cache is away")
        self.edge.start([server.port])
        self.until(lambda: "answers purge requests again" in server.errors(), "the cache is not asked again")
        self.assertEqual(server.errors().count("cannot be purged"), 1)

    def purge(self, *headers: str, interface: str = "127.0.0.1") -> str:
        return subprocess.run(["curl", "--silent", "--interface", interface, "--request", "PURGE", *(word for header in headers for word in ("--header", header)),
                               "--output", "/dev/null", "--write-out", "%{http_code}", self.edge.purge_url], capture_output=True, text=True).stdout

    def check_only_servers(self, others: list[tuple[str, list[str]]]) -> None:
        tile = self.tile(self.servers[0])
        key = f"xkey-purge: {self.servers[0].get(tile)['surrogate-key']}"
        secret = f"Ziggurat-Edge-Key: {self.edge.key_file.read_text().strip()}"
        self.kept(tile, self.ask(tile))
        # A client at a server's address without its key: a relay of bytes gives every visitor such an address.
        wrong = [[], ["Ziggurat-Edge-Key;"], [f"Ziggurat-Edge-Key: {64 * '0'}"], [secret[:-1]], [f"{secret}0"], [secret.upper()]]
        for interface, headers in [("127.0.0.1", each) for each in wrong] + [(interface, [*each, secret]) for interface, each in others]:
            self.assertEqual((self.purge(key, *headers, interface=interface), self.ask(tile).cached), ("403", "HIT"), (interface, headers))
        self.assertEqual((self.purge(key, secret), self.ask(tile).cached), ("200", "MISS"))

    def test_only_servers_have_varnish_forget_images(self):
        self.begin("Varnish")
        # Addresses of this machine that the list does not have, and what comes by way of what ends TLS.
        self.check_only_servers([("127.0.0.9", []), ("127.0.0.1", ["X-Forwarded-For: 203.0.113.5"]), ("127.0.0.1", ["Forwarded: for=203.0.113.5"])])

    def test_only_servers_have_nginx_forget_images(self):
        self.begin("nginx")
        self.check_only_servers([])

    def test_varnish_without_a_key_forgets_nothing(self):
        self.edge = EDGES["Varnish"](folder("cache"))
        self.addCleanup(self.edge.stop)
        self.servers = [self.serve() for _ in range(3)]
        self.edge.key_file.unlink()
        self.edge.start([server.port for server in self.servers])
        for headers in ([], ["Ziggurat-Edge-Key;"], [f"Ziggurat-Edge-Key: {64 * '0'}"]):
            self.assertEqual(self.purge("xkey-purge: 0123456789abcdef", *headers), "403")

    def test_what_is_no_key_forgets_nothing(self):
        self.begin("nginx")
        secret = f"Ziggurat-Edge-Key: {self.edge.key_file.read_text().strip()}"
        for keys in ("", "../../etc", "0123456789abcde", "0123456789abcdef *"):
            self.assertEqual(self.purge(f"xkey-purge: {keys}", secret), "400", keys)

    def test_what_was_deleted_before_a_server_began_is_forgotten(self):
        self.begin("Varnish")
        tile = self.tile(self.servers[0], "gone")
        self.kept(tile, self.ask(tile))
        for server in self.servers:
            server.stop()
        with serve(self.library) as server:
            self.assertEqual(Client(server).ask("DELETE", "/api/images/gone", tus=False).status, 200)
        self.assertEqual(self.ask(tile).cached, "HIT")
        self.servers.append(self.serve())
        self.until(lambda: self.ask(tile).cached != "HIT", "the cache has what was deleted")

    def test_what_edge_purge_had_promised_its_next_start_does(self):
        self.begin("nginx")
        tile = self.tile(self.servers[0], "gone")
        self.kept(tile, self.ask(tile))
        key = self.servers[0].get(tile)["surrogate-key"]
        # Its file of keys is lost, so that a look through the cache alone finds it; and the look had not come to it.
        self.edge.processes[-1].kill()
        self.edge.processes.pop().wait()
        for path in self.edge.keys.iterdir():
            path.unlink()
        (self.edge.keys / "pending").write_text(f"{key}\n../../x\n")
        self.assertEqual(self.ask(tile).cached, "HIT")
        self.edge.purger()
        self.until(lambda: self.ask(tile).cached == "MISS", "the cache has what was to be forgotten")
        self.until(lambda: (self.edge.keys / "pending").read_text() == "", "what was forgotten is still to be")

    def test_files_of_keys_are_tidied(self):
        self.begin("nginx")
        tile = self.tile(self.servers[0])
        self.kept(tile, self.ask(tile))
        key = self.servers[0].get(tile)["surrogate-key"]
        path = self.edge.keys / key
        line = path.read_bytes()
        path.write_bytes(b"".join(b"/dzi/a_files/1/%d_0.jpg?v=1\n" % number for number in range(10_000)) + line * 9)
        (self.edge.keys / "0123456789abcdef").write_bytes(line * 3)
        # As the program itself does, in which nothing is imported by a name that Python would take.
        done = subprocess.run([sys.executable, "-c", f"""
import runpy
from pathlib import Path
module = runpy.run_path({str(PACKAGING / "edge-purge")!r})
module["Cache"](Path({str(self.edge.cache)!r}), Path({str(self.edge.keys)!r})).tidy()
"""], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(path.read_bytes(), line)
        self.assertEqual((self.edge.keys / "0123456789abcdef").read_bytes(), line * 3)

    def test_what_comes_back_while_the_cache_is_looked_through_is_known_when_it_goes_again(self):
        cache, keys = folder("cache"), folder("keys")
        (keys / "0123456789abcdef").write_text("/dzi/a_files/8/0_0.jpg?v=1\n")
        done = subprocess.run([sys.executable, "-c", f"""
import os, runpy
from pathlib import Path
walk, key = os.walk, Path({str(keys)!r}, "0123456789abcdef")
def walk_while_nginx_writes(top):
    yield from walk(top)
    with key.open("a") as file: file.write("/dzi/a_files/8/0_0.jpg?v=2\\n")
os.walk = walk_while_nginx_writes
runpy.run_path({str(PACKAGING / "edge-purge")!r})["Cache"](Path({str(cache)!r}), key.parent).look_through({{key.name}})
"""], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((keys / "0123456789abcdef").read_text(), "/dzi/a_files/8/0_0.jpg?v=2\n")

    def test_a_server_that_redirects_others_has_lost_nothing(self):
        self.edge = EDGES["Varnish"](folder("cache"))
        self.addCleanup(self.edge.stop)

        class Elsewhere(BaseHTTPRequestHandler):
            def do_PURGE(self):
                self.send_response(301)
                self.send_header("Location", "https://images.example.org/")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        elsewhere = ThreadingHTTPServer(("127.0.0.1", self.edge.purge_port), Elsewhere)
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        self.addCleanup(elsewhere.shutdown)
        server = self.serve()
        (self.library / "gone.szi").unlink()
        self.until(lambda: "cannot be purged" in server.errors(), "nobody says that the cache has forgotten nothing")


if __name__ == "__main__":
    unittest.main()
