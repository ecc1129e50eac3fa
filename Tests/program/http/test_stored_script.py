"""Script in what pictures and people say, and in file names, stays text, wherever it is shown."""

import json
import re
import subprocess
import unittest
import zipfile
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote

from harness import Server, ServerTest, folder, heard, photo, run
from szi import archives
from upload_client import Client, serve

# Each is HTML from its first character to its last, which IIIF's viewers and maps would show as HTML.
SCRIPTS = ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "<svg/onload=alert(3)>",
           "<a href='javascript:alert(4)'>x</a>", "<p>]]>\"'&amp;</p>"]
FIELDS = ["XMP-dc:Title", "XMP-dc:Description", "XMP-dc:Creator", "XMP-dc:Rights", "XMP-photoshop:City", "XMP-dc:Subject"]
# What lets nothing in an answer run, whatever a browser takes it for.
CAUTION = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
# What browsers never take for a page.
DATA = r"^(application/((ld\+)?json|xml|problem\+json)|image/(jpeg|png|webp))\b"


def strings(value) -> list[str]:
    """All texts of a JSON value, without its keys."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


class StoredScript(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = serve(folder("library"), "--base-url", "http://192.168.77.1:8080")
        cls.client = Client(cls.server)
        cls.ids = []
        for number, script in enumerate(SCRIPTS):
            source = photo(folder("p") / "x.jpg", 300 + number, 200)
            subprocess.run(["exiftool", "-q", "-overwrite_original", *(f"-{name}={script}" for name in FIELDS), source], check=True)
            state = cls.client.end(cls.client.send(source.read_bytes(), filename=f"{number}{script.split('/')[0]}.jpg")[1])
            assert state["status"] == "done", state
            cls.ids.append(state["image"])

    def test_every_document_is_data_and_holds_it_as_text(self):
        for id, script in zip(self.ids, SCRIPTS):
            part = quote(id, safe="")
            for path in [f"/api/images/{part}", "/api/images", f"/api/images?q=alert", "/iiif/presentation/3/collection",
                         f"/iiif/presentation/3/{part}/manifest", f"/iiif/3/{part}/info.json", f"/iiif/2/{part}/info.json",
                         f"/xyz/{part}/tilejson.json", f"/api/images/{part}/viewport?width=9&height=9",
                         f"/zoomify/{part}/ImageProperties.xml", f"/dzi/{part}.dzi", f"/api/images/{part}<script>",
                         f"/api/images/{part}/viewport?width=<script>alert(1)</script>", f"/api/images/{part}/viewport.jpg?width=9&height=9"]:
                answer = self.server.get(path)
                with self.subTest(path):
                    self.assertIn(answer.status, (200, 400, 404))
                    self.assertRegex(answer["content-type"], DATA)
                    self.assertEqual((answer["x-content-type-options"], answer["content-security-policy"]), ("nosniff", CAUTION))
                    if "xml" in answer["content-type"]:
                        ElementTree.fromstring(answer.body)
                        self.assertNotIn(b"alert", answer.body)
            reported = json.loads(self.server.get(f"/api/images/{part}").body)
            self.assertEqual([reported[name] for name in ("title", "caption", "creator", "rights", "location", "keywords")],
                             [script] * 5 + [[script]])

    def test_no_value_of_a_manifest_is_html(self):
        """Presentation 3.0, section 4.5: from `<` to `>` a value is HTML, unless white space follows."""
        for path in [f"/iiif/presentation/3/{quote(id, safe='')}/manifest" for id in self.ids] + ["/iiif/presentation/3/collection"]:
            texts = strings(json.loads(self.server.get(path).body))
            self.assertTrue(any("alert" in text or "]]>" in text for text in texts), path)
            for text in texts:
                self.assertFalse(text.startswith("<") and text.endswith(">"), text)

    def test_no_attribution_of_a_map_is_html(self):
        for id in self.ids:
            tiles = json.loads(self.server.get(f"/xyz/{quote(id, safe='')}/tilejson.json").body)
            self.assertNotRegex(tiles["attribution"], "[<>]")

    def test_pages_hold_none_of_it_and_run_their_own_script_alone(self):
        for path in ["/", *(f"/view/{quote(id, safe='')}" for id in self.ids)]:
            answer = self.server.get(path)
            self.assertEqual(answer.status, 200, path)
            # Texts for link previews stand between quotation marks, where nothing ends them or begins an element.
            self.assertNotIn(b"alert", re.sub(rb'<meta property="og:[a-z_:]+" content="[^"<>]*">\n|<link rel="alternate" [^<>]*>\n', b"", answer.body))
            self.assertEqual(answer["referrer-policy"], "same-origin")
            policy = dict(part.strip().partition(" ")[::2] for part in answer["content-security-policy"].split(";"))
            script = policy.get("script-src", policy.get("default-src", "*"))
            self.assertNotRegex(script, r"unsafe-inline|unsafe-eval|data:|\*|https?:", path)
            self.assertIn(policy.get("object-src", policy.get("default-src")), ("'none'", "'self'"))
        for path in ["/view/<script>alert(1)</script>", "/<script>alert(1)</script>", "/iiif/3/<script>alert(1)</script>/info.json"]:
            answer = self.server.get(path)
            self.assertEqual(answer.status, 404)
            self.assertNotIn(b"alert", answer.body)
            if answer["content-type"] != "text/html; charset=utf-8":
                self.assertEqual(answer["content-security-policy"], CAUTION)

    def test_svg_is_neither_accepted_nor_made_of_metadata(self):
        svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>" + bytes(100)
        for name, data in [("x.svg", svg), ("x.jpg", svg), ("x.svg", b"<?xml version='1.0'?>" + svg), ("x.svgz", b"\x1f\x8b\x08" + bytes(200))]:
            answer, path = self.client.send(data, filename=name)
            self.assertEqual((answer.status, self.client.state(path)["status"]), (415, "failed"))
        # The one SVG that the server makes is of numbers alone, whatever its address is.
        answer = self.client.ask("GET", "/api/pairing.svg")
        self.assertEqual((answer.status, answer["content-type"], answer["x-content-type-options"]), (200, "image/svg+xml", "nosniff"))
        for element in ElementTree.fromstring(answer.body).iter():
            self.assertIn(element.tag.split("}")[1], ("svg", "path"))
            self.assertLessEqual(set(element.attrib), {"viewBox", "shape-rendering", "fill", "d"})
            self.assertRegex(element.get("d", ""), r"^[MHhvz0-9 -]*$")

    def test_answers_to_anything_else_are_sandboxed_too(self):
        part = quote(self.ids[0], safe="")
        for method, path, headers in [
                ("OPTIONS", "/", {}), ("POST", "/", {}), ("GET", "/none", {}), ("GET", "/%", {}), ("GET", "/healthz", {}),
                ("GET", "/metrics", {}), ("GET", "/openapi.json", {}), ("GET", "/api/pairing.svg", {}), ("HEAD", "/api/images", {}),
                ("GET", f"/iiif/3/{part}/full/9,/0/default.png", {}), ("GET", "/api/images", {"If_Match": '"x"'}),
                ("GET", f"/iiif/3/{part}/full/9,/0/default.png", {"Range": "bytes=0-5"}), ("GET", "/" + "x" * 5000, {})]:
            answer = self.server.get(path, method, **headers)
            with self.subTest(f"{method} {path[:60]}", status=answer.status):
                self.assertEqual((answer["x-content-type-options"], answer["content-security-policy"]), ("nosniff", CAUTION))

    def test_events_cannot_be_forged_by_names(self):
        answer, path = self.client.send(b"no image" * 20, filename="x\n\nevent: upload\ndata: {\"forged\": true}\r\r.jpg")
        self.assertEqual(answer.status, 415)
        self.assertNotRegex(self.client.state(path)["name"], r"[\r\n]")
        with self.server.connect() as connection:
            connection.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-of-the-tests-0123456789\r\n\r\n")
            data = heard(connection, 2)
        events = [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: ")]
        self.assertIn(path.split("/")[-1], [event["id"] for event in events])
        self.assertFalse(any("forged" in event for event in events))


class ForeignAnimations(unittest.TestCase):
    """An archive's record says what its animation is, and who made the archive may be anybody."""

    SCRIPT = b"<html><script>fetch('/api/images')</script></html>"

    def archive(self, library, name: str, kind: str, data: bytes):
        """The archive of a GIF with another kind of animation in it."""
        made = archives(self.built)[0]
        with zipfile.ZipFile(made) as old, zipfile.ZipFile(library / f"{name}.szi", "w") as new:
            for entry in old.namelist():
                content = old.read(entry)
                if entry.endswith("/build.json"):
                    record = json.loads(content)
                    record["animation"]["format"] = kind
                    content = json.dumps(record).encode()
                elif "/animation." in entry:
                    entry, content = entry.rsplit(".", 1)[0] + f".{kind}", data
                new.writestr(entry.replace("moving", name), content.replace(b"moving", name.encode()))

    def test_only_what_is_a_moving_picture_is_sent_as_one(self):
        sources, self.built, library = folder("sources"), folder("built"), folder("library")
        subprocess.run(["vips", "black", sources / "tall.v", "40", "80"], check=True)
        subprocess.run(["vips", "copy", sources / "tall.v", f"{sources}/moving.gif[page-height=40]"], check=True)
        gif = (sources / "moving.gif").read_bytes()
        self.assertEqual(run("build", sources / "moving.gif", "--library", self.built, "--quiet").returncode, 0)
        for name, kind, data in [("page", "html", self.SCRIPT), ("drawing", "svg+xml", b"<svg/>"), ("hollow", "gif", self.SCRIPT),
                                 ("other", "webp", gif), ("whole", "gif", gif)]:
            self.archive(library, name, kind, data)
        with Server(library) as server:
            for name in ("page", "drawing", "hollow", "other"):
                answer = server.get(f"/api/images/{name}/animation")
                with self.subTest(name):
                    self.assertIn(answer.status, (404, 500))
                    self.assertEqual((answer["content-type"], answer["content-security-policy"]), ("application/problem+json", CAUTION))
                    self.assertNotIn(b"<", answer.body)
                    self.assertNotRegex(server.get(f"/api/images/{name}").body, b"html|svg")
            answer = server.get("/api/images/whole/animation")
            self.assertEqual((answer.status, answer["content-type"], answer.body), (200, "image/gif", gif))
            self.assertEqual(answer["content-security-policy"], CAUTION)


if __name__ == "__main__":
    unittest.main()
