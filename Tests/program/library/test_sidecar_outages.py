"""Sidecars while sandboxed processes fail: no outage lasts, an edit gets a Retry-After, and no tile waits for metadata."""

import json
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from harness import CommandTest, Server, folder, photo, run
from processes import FORK_SERVER, descendants, kill, name, stopped
from test_editing import TOKEN, ask, ids, image

NAMES = [f"picture {number}" for number in range(20)]


def library(names: list[str] = NAMES) -> Path:
    base = folder("outage")
    for number, each in enumerate(names):
        photo(base / f"photos/{each}.jpg", 260 + number, 200)
    result = run("build", base / "photos", "--library", base / "library", "--quiet")
    assert result.returncode == 0, result.stderr
    (base / "token").write_text(TOKEN + "\n")
    return base / "library"


def serve(place: Path, *options) -> Server:
    return Server(place, "--writable", "--token-file", place.parent / "token", *options)


def write_sidecar(place: Path, name: str, title: str) -> None:
    """There at once and whole."""
    path = place / f"{name}.xmp.new"
    path.write_text('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
                    '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>'
                    f'<rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>')
    path.rename(place / f"{name}.xmp")


def fork_servers(server: Server) -> list[int]:
    return [each for each in descendants(server.process.pid) if name(each) == FORK_SERVER]


class Outages(CommandTest):
    def wait(self, seconds: float, what) -> None:
        until = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_metadata_that_could_not_be_read_are_read_later(self):
        place = library(NAMES[:3])
        lost, other = NAMES[0], NAMES[1]
        with serve(place) as server:
            with stopped(server.process.pid, FORK_SERVER):
                write_sidecar(place, lost, "Lighthouse")
                # The image is there without them, for nobody's cache, until they can be had.
                self.wait(30, lambda: ask(server, "GET", image(lost))[2]["Cache-Control"] == "no-store")
                status, body, headers = ask(server, "GET", image(lost))
                self.assertEqual((status, body["title"], headers["ETag"]), (200, lost, None))
                _, listed, headers = ask(server, "GET", "/api/images", token=None)
                self.assertEqual([each["title"] for each in listed["images"]], NAMES[:3])
                self.assertEqual(headers["Cache-Control"], "no-store")
                # An edit would lose unread metadata, whose version is unknown as well.
                for fields in ({}, {"If_Match": '"any"'}):
                    status, body, headers = ask(server, "PATCH", image(lost), {"caption": "x"}, **fields)
                    self.assertEqual((status, headers["Content-Type"]), (503, "application/problem+json"), body)
                    self.assertGreater(int(headers["Retry-After"]), 0)
                self.assertEqual(ids(server, "lighthouse"), [])
            # Without another change of the sidecar.
            self.wait(90, lambda: ids(server, "lighthouse") == [lost])
            self.wait(90, lambda: ask(server, "GET", image(lost))[1]["title"] == "Lighthouse")
            status, body, headers = ask(server, "GET", image(lost))
            self.assertTrue(headers["ETag"])
            self.assertEqual(ask(server, "PATCH", image(lost), {"caption": "x"}, If_Match=headers["ETag"])[1]["title"], "Lighthouse")
            self.assertEqual(ask(server, "PATCH", image(other), {"caption": "x"})[0], 200)

    def test_what_a_server_could_not_read_the_next_one_does(self):
        place = library(NAMES[:2])
        server = serve(place)
        with stopped(server.process.pid, FORK_SERVER):
            write_sidecar(place, NAMES[0], "Lighthouse")
            self.wait(30, lambda: ask(server, "GET", image(NAMES[0]))[2]["Cache-Control"] == "no-store")
            # The row is written by now, or never will be.
            time.sleep(1)
            server.process.kill()
            server.process.wait()
        server.stop()
        with serve(place) as server:
            self.wait(30, lambda: ids(server, "lighthouse") == NAMES[:1])

    def test_killed_fork_servers_lose_no_metadata(self):
        place = library()
        with serve(place) as server:
            ending = threading.Event()

            def work():
                # Those that live for less than a second, many in a row, have no successor.
                while not ending.wait(1.2):
                    for each in fork_servers(server):
                        kill(each)
            killer = threading.Thread(target=work)
            killer.start()
            try:
                for number in range(80):
                    write_sidecar(place, NAMES[number % len(NAMES)], f"Harbour {number}")
                    time.sleep(0.1)
            finally:
                ending.set()
                killer.join()
            # What was written last, in the catalog as in the listing.
            wanted = {NAMES[number % len(NAMES)]: f"Harbour {number}" for number in range(60, 80)}

            def titles(query: str) -> dict[str, str]:
                return {each["id"]: each["title"] for each in ask(server, "GET", f"/api/images?q={query}", token=None)[1]["images"]}
            self.wait(60, lambda: titles("") == wanted)
            self.wait(60, lambda: titles("harbour") == wanted)

    def test_tiles_do_not_wait_for_metadata(self):
        place = library(NAMES[:2])
        slow, other = NAMES[0], NAMES[1]
        write_sidecar(place, slow, "Lighthouse")
        self.assertEqual(run("reindex", place).returncode, 0)
        # One event loop for all; the catalog has the metadata, so that none were requested yet.
        for path in (image(slow), f"{image(slow)}/viewport?width=64&height=64&include=description", f"/xyz/{quote(slow)}/tilejson.json"):
            with self.subTest(path), serve(place, "--threads", "1") as server, ThreadPoolExecutor(1) as pool:
                with stopped(server.process.pid, FORK_SERVER):
                    answer = pool.submit(ask, server, "GET", path)
                    time.sleep(0.5)
                    for _ in range(10):
                        began = time.monotonic()
                        self.assertEqual(server.get(f"/dzi/{quote(other)}_files/8/0_0.jpg").status, 200)
                        # While the sandboxed process is stopped, it would wait forever.
                        self.assertLess(time.monotonic() - began, 10)
                        time.sleep(0.05)
                    self.assertFalse(answer.done(), "it waits for words")
                status, body, headers = answer.result()
                self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
                self.assertIn("Lighthouse", json.dumps(body))
                self.assertTrue(headers["ETag"])

    def test_a_sidecar_that_is_none_stays_none(self):
        place = library(NAMES[:1])
        (place / f"{NAMES[0]}.xmp").write_bytes(b"no XMP at all")
        with serve(place) as server:
            status, body, headers = ask(server, "GET", image(NAMES[0]))
            self.assertEqual((status, body["title"]), (200, NAMES[0]))
            self.assertTrue(headers["ETag"])
            self.assertEqual(ask(server, "PATCH", image(NAMES[0]), {"caption": "x"})[0], 409)


if __name__ == "__main__":
    unittest.main()
