"""Captions edited, images deleted and restored: durable, undone by nothing but its own way, and by nobody else."""

import json
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import http.client

from exiftool import write
from harness import CommandTest, Server, folder, photo, run

NAMES = ["one", "two", "deep/three", "four"]
TOKEN = "a-token-for-these-tests"


class Alerts(HTMLParser):
    """Where "alert" stands in a page, as a browser reads it: elements with their attributes, or their text (None)."""

    def __init__(self, page: str):
        super().__init__()
        self.places, self.elements = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.places |= {(tag, name) for name, value in attributes if "alert" in name + (value or "")}

    def handle_data(self, data):
        if "alert" in data:
            self.places.add((self.elements[-1], None))


def library() -> Path:
    base = folder("editing")
    for number, name in enumerate(NAMES):
        photo(base / f"photos/{name}.jpg", 300 + number, 200)
    write(base / "photos/one.jpg", "-XMP-dc:Title=Own title", "-XMP-dc:Subject=own")
    result = run("build", base / "photos", "--library", base / "library", "--quiet")
    assert result.returncode == 0, result.stderr
    (base / "token").write_text(TOKEN + "\n")
    (base / "token").chmod(0o600)
    return base / "library"


def writable(place: Path, *options) -> Server:
    return Server(place, "--writable", "--token-file", place.parent / "token", *options)


def ask(server: Server, method: str, path: str, value=None, *, token: str | None = TOKEN, **headers):
    """One request with a JSON body; returns status, JSON (or text) and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    fields = {name.replace("_", "-"): text for name, text in headers.items()}
    if token:
        fields["Authorization"] = f"Bearer {token}"
    body = None if value is None else value if isinstance(value, bytes) else json.dumps(value)
    connection.request(method, path, body, fields)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    try:
        return answer.status, json.loads(text), answer.headers
    except ValueError:
        return answer.status, text.decode(errors="replace"), answer.headers


def image(name: str) -> str:
    return "/api/images/" + quote(name, safe="")


def ids(server: Server, query: str = "") -> list[str]:
    return [each["id"] for each in ask(server, "GET", f"/api/images?q={quote(query)}", token=None)[1]["images"]]


def exif(path: Path, *tags: str) -> dict:
    result = subprocess.run(["exiftool", "-j", "-G1", *tags, path], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)[0]


class Editing(CommandTest):
    def test_an_edit_is_in_sidecar_api_listing_search_and_manifest_and_the_archive_stays(self):
        place = library()
        before = (place / "deep/three.szi").read_bytes()
        metadata = {"title": "Titel <b>&\"", "caption": "Zwei\nZeilen", "keywords": ["eins, zwei", "drei"]}
        with writable(place) as server:
            status, reply, _ = ask(server, "PATCH", image("deep/three"), metadata)
            self.assertEqual(status, 200, reply)
            self.assertEqual({name: reply[name] for name in metadata}, metadata)
            self.assertEqual(ask(server, "GET", image("deep/three"), token=None)[1], reply)
            listed = ask(server, "GET", "/api/images?q=zeilen&fields=all", token=None)[1]
            self.assertEqual(listed["images"], [reply])
            manifest = json.dumps(ask(server, "GET", "/iiif/presentation/3/deep%2Fthree/manifest", token=None)[1])
            self.assertIn("Zwei\\nZeilen", manifest)
        self.assertEqual((place / "deep/three.szi").read_bytes(), before)
        read = exif(place / "deep/three.xmp", "-XMP-dc:all")
        self.assertEqual((read["XMP-dc:Title"], read["XMP-dc:Description"], read["XMP-dc:Subject"]),
                         (metadata["title"], metadata["caption"], metadata["keywords"]))
        # All that is lost comes back from archives and sidecars.
        for path in place.glob("catalog.sqlite*"):
            path.unlink()
        self.assertEqual(run("reindex", place).returncode, 0)
        with Server(place) as server:
            self.assertEqual(ids(server, "zeilen"), ["deep/three"])

    def test_emptied_fields_stay_empty(self):
        place = library()
        with writable(place) as server:
            self.assertEqual(ask(server, "GET", image("one"))[1]["title"], "Own title")
            status, reply, _ = ask(server, "PATCH", image("one"), {"title": None, "keywords": []})
            self.assertEqual((status, reply["title"], reply["keywords"]), (200, "one", []))
        with Server(place) as server:
            self.assertEqual(ask(server, "GET", image("one"))[1]["keywords"], [])

    def test_sidecars_of_others_are_read_and_kept(self):
        place = library()
        with writable(place) as server:
            for path, name in [(place / "two.xmp", "two"), (place / "four.szi.xmp", "four")]:
                for metadata in ["From Lightroom", "In place"]:
                    # The second is written into the same file or renamed over it, as programs do either.
                    options = ["-overwrite_original_in_place"] if path.exists() else []
                    subprocess.run(["exiftool", "-q", *options, f"-XMP-dc:Title={metadata}", "-XMP-xmp:Rating=4", path],
                                   check=True)
                    deadline = time.monotonic() + 30
                    while ask(server, "GET", image(name))[1]["title"] != metadata and time.monotonic() < deadline:
                        time.sleep(0.1)
                    self.assertEqual(ask(server, "GET", image(name))[1]["title"], metadata)
                self.assertEqual(ask(server, "PATCH", image(name), {"caption": "ours"})[0], 200)
                read = exif(path, "-XMP-dc:all", "-XMP-xmp:Rating")
                self.assertEqual((read["XMP-dc:Title"], read["XMP-dc:Description"], read["XMP-xmp:Rating"]),
                                 ("In place", "ours", 4))
            self.assertEqual(sorted(path.name for path in place.glob("*.xmp")), ["four.szi.xmp", "two.xmp"])
            # A rebuild keeps them.
            self.assertEqual(run("build", place.parent / "photos", "--library", place, "--force", "--quiet").returncode, 0)
            time.sleep(1.5)
            self.assertEqual(ask(server, "GET", image("two"))[1]["caption"], "ours")
            (place / "two.xmp").write_bytes(b"no XMP at all")
            deadline = time.monotonic() + 30
            while (title := ask(server, "GET", image("two"))[1]["title"]) != "two" and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(title, "two")
            self.assertEqual(ask(server, "PATCH", image("two"), {"caption": "x"})[0], 409)
            self.assertEqual((place / "two.xmp").read_bytes(), b"no XMP at all")

    def test_the_later_of_two_editors_gets_a_conflict(self):
        place = library()
        with writable(place) as server, writable(place, "--upload-types", "none") as other:
            tag = ask(server, "GET", image("one"))[2]["ETag"]
            self.assertEqual(ask(server, "PATCH", image("one"), {"title": "first"}, If_Match=tag)[0], 200)
            self.assertEqual(ask(server, "PATCH", image("one"), {"title": "second"}, If_Match=tag)[0], 412)
            self.assertEqual(ask(other, "PATCH", image("one"), {"title": "third"}, If_Match=tag)[0], 412)
            self.assertEqual(ask(other, "DELETE", image("one"), If_Match=tag)[0], 412)
            self.assertEqual(ask(other, "GET", image("one"))[1]["title"], "first")
            tag = ask(server, "GET", image("one"))[2]["ETag"]
            with ThreadPoolExecutor(8) as pool:
                results = list(pool.map(lambda number: ask([server, other][number % 2], "PATCH", image("one"),
                                                           {"title": f"race {number}"}, If_Match=tag)[0], range(8)))
            self.assertEqual(sorted(results), [200] + [412] * 7)

    def test_a_client_without_write_access_changes_nothing(self):
        place = library()
        ways = [("PATCH", image("one"), {"title": "x"}), ("DELETE", image("one"), None),
                ("POST", "/api/trash", {"ids": ["one"]}), ("POST", "/api/trash/0-0/restore", None)]
        with Server(place) as server:
            for method, path, value in ways:
                self.assertEqual(ask(server, method, path, value)[0], 405, path)
        with writable(place) as server:
            for method, path, value in ways:
                self.assertEqual(ask(server, method, path, value, token=None)[0], 401, path)
                self.assertEqual(ask(server, method, path, value, token="wrong-token-wrong")[0], 401, path)
            self.assertEqual(ask(server, "GET", "/api/trash", token=None)[0], 401)
            # By session: a page of this server may, another site's may not.
            status, _, headers = ask(server, "POST", "/api/session", {"token": TOKEN}, token=None,
                                     Content_Type="application/json")
            self.assertEqual(status, 200)
            cookie = headers["Set-Cookie"].split(";")[0]
            own = f"http://127.0.0.1:{server.port}"
            for method, path, value in ways:
                for fields in [{}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
                               {"Origin": "https://evil.example"}, {"Origin": "null"},
                               {"Origin": own, "Sec_Fetch_Site": "none"}]:
                    self.assertEqual(ask(server, method, path, value, token=None, Cookie=cookie, **fields)[0], 403, fields)
            self.assertEqual(ids(server), sorted(NAMES))
            self.assertEqual(list(place.rglob("*.xmp")), [])
            status = ask(server, "PATCH", image("one"), {"title": "x"}, token=None, Cookie=cookie, Origin=own)[0]
            self.assertEqual(status, 200)

    def test_bad_edits_are_refused_in_one_line(self):
        with writable(library()) as server:
            for value, metadata in [(b"", "JSON"), (b"[", "JSON"), (b"[1]", "JSON"), ({}, "no field is given"), ({"id": "x"}, "'id'"),
                                 ({"title": 1}, "text"), ({"title": "a\0b"}, "control"), ({"title": "x" * 1001}, "1000"),
                                 ({"keywords": "a"}, "list"), ({"keywords": ["k"] * 501}, "500")]:
                status, problem, _ = ask(server, "PATCH", image("one"), value)
                self.assertEqual(status, 400, value)
                self.assertIn(metadata, problem["detail"])
            self.assertEqual(ask(server, "PATCH", image("nothing"), {"title": "x"})[0], 404)
            self.assertEqual(ask(server, "PATCH", image("../token"), {"title": "x"})[0], 404)
            self.assertEqual(ask(server, "PATCH", image("~/x"), {"title": "x"})[0], 404)
            self.assertIn(b" 413 ", server.raw(b"PATCH /api/images/one HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n"
                                               b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n")[:20])
            for body in [b"", b"{}", {"ids": []}, {"ids": "one"}, {"ids": [1]}, {"ids": ["x"] * 1001}]:
                self.assertEqual(ask(server, "POST", "/api/trash", body)[0], 400, body)
            for name in ["x", "..", "0-0", "%2e%2e", "..%2f..", "1-1111111111111111"]:
                self.assertEqual(ask(server, "POST", f"/api/trash/{name}/restore")[0], 404, name)

    def test_deleted_images_are_restored_with_their_metadata(self):
        place = library()
        archives = {path: path.read_bytes() for path in place.rglob("*.szi")}
        with writable(place) as server:
            self.assertEqual(ask(server, "PATCH", image("deep/three"), {"caption": "kept words"})[0], 200)
            status, reply, _ = ask(server, "POST", "/api/trash", {"ids": ["one", "deep/three", "nothing", "one"]})
            self.assertEqual((status, reply["refused"], reply["deleted"]["images"]), (200, ["nothing"], ["deep/three", "one"]))
            self.assertEqual(ids(server), ["four", "two"])
            self.assertEqual(ids(server, "kept"), [])
            self.assertEqual(ask(server, "GET", image("one"))[0], 404)
            self.assertEqual(ask(server, "GET", "/.ziggurat-trash/x")[0], 404)
            name = reply["deleted"]["id"]
            self.assertEqual([each["id"] for each in ask(server, "GET", "/api/trash")[1]["items"]], [name])
            status, reply, _ = ask(server, "POST", f"/api/trash/{name}/restore")
            self.assertEqual((status, reply), (200, {"restored": ["deep/three", "one"], "conflicts": []}))
            self.assertEqual(ids(server), sorted(NAMES))
            self.assertEqual(ids(server, "kept"), ["deep/three"])
            self.assertEqual(ask(server, "POST", f"/api/trash/{name}/restore")[0], 404)
            self.assertEqual({path: path.read_bytes() for path in place.rglob("*.szi")}, archives)
            self.assertEqual(ask(server, "DELETE", image("two"))[0], 200)
            self.assertEqual(ask(server, "DELETE", image("two"))[0], 404)
            # Built again in the meantime: the new one stays.
            name = ask(server, "GET", "/api/trash")[1]["items"][0]["id"]
            self.assertEqual(run("build", place.parent / "photos", "--library", place, "--quiet").returncode, 0)
            self.assertEqual(ask(server, "POST", f"/api/trash/{name}/restore")[1]["restored"], ["two"])
            deadline = time.monotonic() + 30
            while ids(server) != sorted(NAMES) and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(ids(server), sorted(NAMES))
        self.assertEqual(run("verify", place).returncode, 0)

    def test_what_was_deleted_long_ago_is_removed(self):
        place = library()
        with writable(place, "--keep-deleted", 0) as server:
            name = ask(server, "DELETE", image("one"))[1]["deleted"]["id"]
            self.assertEqual(ask(server, "POST", f"/api/trash/{name}/restore")[0], 404)
            deadline = time.monotonic() + 30
            while list((place / ".ziggurat-trash").iterdir()) and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(list((place / ".ziggurat-trash").iterdir()), [])
            self.assertEqual(ids(server), ["deep/three", "four", "two"])

    def test_script_in_metadata_and_names_is_only_text(self):
        place = library()
        evil = "\"><script>alert(1)</script><svg onload=alert(2)>'&amp;\u202e]]>"
        name = "<img src=x onerror=alert(1)>'\"&\u202e"
        (place / "four.szi").rename(place / f"{name}.szi")
        with writable(place) as server:
            for id in ["one", name]:
                self.assertEqual(ask(server, "PATCH", image(id), {"title": evil, "caption": evil, "keywords": [evil]})[0], 200)
                part = quote(id, safe="")
                for path in [f"/iiif/presentation/3/{part}/manifest", f"/xyz/{part}/tilejson.json", f"/iiif/3/{part}/info.json",
                             f"/iiif/2/{part}/info.json", "/iiif/presentation/3/collection", "/api/images", image(id)]:
                    status, value, headers = ask(server, "GET", path, token=None)
                    self.assertEqual(status, 200, path)
                    self.assertNotIsInstance(value, str, path)
                    # No browser takes it for a page, whatever it finds in it.
                    self.assertRegex(headers["Content-Type"], r"^application/(ld\+)?json")
                    self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
                self.assertEqual(ask(server, "GET", image(id))[1]["caption"], evil)
                for path in [f"/zoomify/{part}/ImageProperties.xml", f"/dzi/{part}.dzi"]:
                    status, text, headers = ask(server, "GET", path, token=None)
                    ElementTree.fromstring(text)
                    self.assertNotIn("script", text)
                    self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
                status, page, headers = ask(server, "GET", f"/view/{part}", token=None)
                # The second link has the id in it, percent-encoded.
                self.assertEqual(Alerts(page).places - {("link", "href")}, {("meta", "content"), ("link", "title")})
                status, text, headers = ask(server, "GET", image(id + "<script>"), token=None)
                self.assertEqual((status, headers["Content-Type"]), (404, "application/problem+json"))


if __name__ == "__main__":
    unittest.main()
