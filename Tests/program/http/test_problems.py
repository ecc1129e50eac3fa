"""Which methods a path takes, and what is wrong with a request, in a form that programs read."""

import json
import unittest

from harness import ServerTest, folder, photo, run
from upload_client import Client, serve


class Problems(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("problems")
        for name in ("a", "book/move"):
            photo(base / f"photos/{name}.jpg", 300, 200)
        assert run("build", base / "photos", "--library", base / "library", "--quiet").returncode == 0
        cls.server = serve(base / "library")
        cls.client = Client(cls.server)

    def test_options_lists_the_allowed_methods(self):
        read = {"GET", "HEAD", "OPTIONS"}
        for path, others in {
            "/api/images": set(), "/api/images/a": {"PATCH", "DELETE"}, "/api/images/a/move": {"POST"}, "/api/images/a/copies": {"POST"},
            # An image that is called so.
            "/api/images/book/move": {"PATCH", "DELETE"}, "/api/images/a/viewport": set(), "/api/trash": {"POST"},
            "/api/trash/x/restore": {"POST"}, "/api/session": {"POST", "DELETE"}, "/api/uploads": {"POST"},
            "/api/uploads/x": {"PATCH", "DELETE"}, "/api/events": set(), "/dzi/a.dzi": set(), "/": set(),
        }.items():
            answer = self.client.ask("OPTIONS", path, tus=False)
            self.assertEqual((answer.status, set(answer["allow"].split(", "))), (204, read | others), path)
            refused = self.client.ask("PUT", path, tus=False)
            self.assertEqual((refused.status, set(refused["allow"].split(", "))), (405, read | others), path)
            kind = "application/problem+json" if path.startswith("/api/") else "text/plain; charset=utf-8"
            self.assertEqual(refused["content-type"], kind, path)
            if path.startswith("/api/"):
                self.assertEqual(json.loads(refused.body)["status"], 405)

    def errors(self, answer) -> dict:
        """By the place of each error."""
        self.assertEqual((answer.status, answer["content-type"]), (400, "application/problem+json"), answer)
        problem = json.loads(answer.body)
        first = problem["errors"][0]
        for name in ("parameter", "pointer"):
            self.assertEqual(problem.get(name), first.get(name))
        for error in problem["errors"]:
            self.assertIn(error["detail"], problem["detail"])
        return {error.get("parameter") or error["pointer"]: error["detail"] for error in problem["errors"]}

    def test_no_answer_lists_thousands_of_errors(self):
        many, twice = "&".join(f"a{n}" for n in range(700)), "&".join(["width=0"] * 400)
        for path, count in ((f"/api/images/a/viewport?{many}", 10), (f"/api/images/a/viewport?{twice}", 3), (f"/api/images?{many}", 10),
                            (f"/api/images/a?{many}", 10), ("/api/images?fields=" + ",".join(["a"] * 1500), 1),
                            ("/api/images?fields=" + ",".join(f"a{n}" for n in range(600)), 10)):
            answer = self.client.ask("GET", path)
            self.assertEqual(answer.status, 400)
            self.assertEqual(len(json.loads(answer.body)["errors"]), count, path[:60])
            self.assertLess(len(answer.body), 10_000)

    def test_every_invalid_parameter_is_named(self):
        for path, names in {
            "/api/images?limit=0&sort=x&folder=/&colour=red": ["colour", "limit", "sort", "folder"],
            "/api/images?fields=id,nothing&limit=x": ["limit", "fields"],
            "/api/images?limit=1&limit=2": ["limit"],
            "/api/images/a/viewport?width=0&scale=nan&fit=all&x=1&bogus=1": ["bogus", "width", "height", "scale", "fit"],
            "/api/images/a/viewport?height=5": ["width"],
            "/api/images/a/viewport?width=5&height=5&minScale=3&maxScale=2": ["minScale"],
            "/api/images/a/viewport.jpg?width=32768&height=32768": ["width", "height", "dpr"],
            "/api/images/a?x=1&y=2": ["x", "y"], "/api/trash?x=1": ["x"],
            "/oembed?format=yaml&maxwidth=x&maxheight=0": ["url", "format", "maxwidth", "maxheight"],
            # An escape that is malformed hides no other error, and makes no parameter missing.
            "/api/images/a/viewport?width=%zz&height=1&scale=x": ["width", "scale"],
            "/api/images/a/viewport?width=9&height=9&buffer=%": ["buffer"],
            "/api/images/a/viewport.jpg?width=%zz&height=0": ["width", "height"],
            "/api/images/a/viewport.tiles?a=%&width=x&height=2": ["a", "width"],
            "/api/images?limit=%zz&x=1": ["limit", "x"], "/api/images/a?x=%zz&y=1": ["x", "y"], "/api/images?q=%ff": ["q"],
            "/oembed?url=%zz&maxwidth=x": ["url", "maxwidth"],
        }.items():
            self.assertEqual(list(self.errors(self.client.ask("GET", path, tus=False))), names, path)

    def test_every_invalid_value_of_a_body_is_pointed_at(self):
        for method, path, body, pointers in (
            ("PATCH", "/api/images/a", {"title": 1, "keywords": ["a", 2], "a/b": 1, "caption": "x\u0000"},
             ["#/a~1b", "#/caption", "#/keywords/1", "#/title"]),
            ("PATCH", "/api/images/a", [], ["#"]), ("PATCH", "/api/images/a", {}, ["#"]),
            ("POST", "/api/trash", {"ids": []}, ["#/ids"]), ("POST", "/api/trash", {"id": "a"}, ["#/id", "#/ids"]),
            ("POST", "/api/trash", {"ids": ["a", 1], "x": 1}, ["#/ids/1", "#/x"]), ("POST", "/api/trash", {"ids": "a"}, ["#/ids"]),
            ("POST", "/api/trash", {"ids": ["a"] * 1001}, ["#/ids"]), ("POST", "/api/trash", {"ids": [None]}, ["#/ids/0"]),
            ("POST", "/api/trash", ["a"], ["#"]),
            ("POST", "/api/images/a/copies", {"region": {"x": 0.5, "y": 0, "width": "1"}, "rotation": 5, "flip": 1, "scale": 2},
             ["#/flip", "#/region/x", "#/region/width", "#/region/height", "#/rotation", "#/scale"]),
            ("POST", "/api/images/a/copies", {"rotation": 90}, ["#/region"]), ("POST", "/api/images/a/copies", [1], ["#"]),
            ("POST", "/api/images/a/copies", {"region": {"x": 0, "y": 0, "width": 999, "height": 1}}, ["#/region"]),
            ("POST", "/api/images/a/move", {"to": "moon"}, ["#/to"]),
            ("POST", "/api/images/a/move", {}, ["#/to"]), ("POST", "/api/images/a/move", {"t": 1, "to": 2}, ["#/t", "#/to"]),
            ("POST", "/api/images/a/move", {"to": "other-space"}, ["#/password"]), ("POST", "/api/images/a/move", [], ["#"]),
            ("POST", "/api/images/a/move", {"to": "space", "password": "x", "y": 1}, ["#/password", "#/y"]),
            ("POST", "/api/images/a/move", {"to": "other-space", "password": "x" * 1025}, ["#/password"]),
            # Null is no number and no flag.
            ("POST", "/api/images/a/copies", {"region": {"x": 0, "y": 0, "width": 9, "height": 9}, "rotation": None, "flip": None,
                                              "straighten": None}, ["#/flip", "#/rotation", "#/straighten"]),
        ):
            answer = self.client.ask(method, path, json.dumps(body).encode(), tus=False, Content_Type="application/json")
            self.assertEqual(sorted(self.errors(answer)), sorted(pointers), (path, body))
        answer = self.client.ask("POST", "/api/session", b"{}", tus=False, Content_Type="application/json")
        self.assertEqual(list(self.errors(answer)), ["#"])

    def test_pages_of_any_site_may_read_the_headers_that_clients_need(self):
        for path in ("/api/images", "/iiif/3/a/info.json", "/iiif/3/a/full/100,/0/default.png", "/iiif/presentation/3/a/manifest", "/nothing"):
            answer = self.server.get(path, Origin="https://anywhere.example")
            exposed = set(answer["access-control-expose-headers"].split(", "))
            self.assertLessEqual({"ETag", "Content-Range", "Content-Length", "Link", "Location", "Tus-Resumable", "Retry-After"}, exposed, path)


if __name__ == "__main__":
    unittest.main()
