"""Names of version 0.1: requests may still have them, answers have not."""

import json
import unittest

from harness import ServerTest, folder, photo, run
from upload_client import Client, serve

# What version 0.1 had in answers.
FORMER = {"in", "moves", "place", "next", "taken", "fault", "stage", "reason", "writable", "space", "spaceWritable", "password"}


def members(value) -> set[str]:
    """The names of all members, however deep."""
    if isinstance(value, dict):
        return set(value).union(*map(members, value.values()))
    return set().union(*map(members, value)) if isinstance(value, list) else set()


class DeprecatedNames(ServerTest):
    @classmethod
    def setUpClass(cls):
        base = folder("former")
        for name in ("a", "b"):
            photo(base / f"photos/{name}.jpg", 600, 400)
        for name in ("1", "2"):
            photo(base / f"books/codex/{name}.jpg", 300, 200)
        assert run("build", base / "photos", "--library", base / "library", "--quiet").returncode == 0
        assert run("build", base / "books", "--library", base / "library", "--book", "--quiet").returncode == 0
        cls.server = serve(base / "library", "--base-url", "http://192.168.77.1:8080")
        cls.client = Client(cls.server)

    def read(self, target: str, method: str = "GET", body=None, status: int = 200) -> dict:
        answer = self.client.ask(method, target, b"" if body is None else json.dumps(body).encode(), tus=False)
        self.assertEqual(answer.status, status, (target, answer.body[:300]))
        reported = json.loads(answer.body)
        self.assertEqual(members(reported) & FORMER, set(), target)
        return reported

    def test_reads(self):
        view = "/api/images/a/viewport?width=100&height=80&scale=1"
        for former, present in {
            "/api/images?in=codex": "/api/images?book=codex",
            "/api/images?fields=in,moves,place,title": "/api/images?fields=book,animated,location,title",
            f"{view}&margin=1": f"{view}&buffer=1", f"{view}&overview=true": f"{view}&include=overview",
            f"{view}&describe=true&overview=1": f"{view}&include=overview,description",
            "/api/images/a?g=1": "/api/images/a?v=1", "/api/deleted": "/api/trash",
        }.items():
            self.assertEqual(self.read(former), self.read(present), former)
        self.assertEqual([page["book"] for page in self.read("/api/images?in=codex")["images"]], ["codex"] * 2)
        self.assertIn("nextCursor", self.read("/api/images?limit=1"))
        self.assertIn("canWrite", self.read("/api/session"))
        self.assertEqual(self.client.ask("GET", "/api/qr.svg").status, 200)
        for target, name in ((f"{view}&margin=65", "margin"), (f"{view}&describe=x", "describe"), ("/api/images?in=/", "in")):
            self.assertEqual(self.read(target, status=400)["parameter"], name)

    def test_changes(self):
        deleted = self.read("/api/deleted", "POST", {"ids": ["b"]})["deleted"]
        [kept] = self.read("/api/trash")["items"]
        self.assertEqual((kept, kept["images"], kept["expires"] > kept["deletedAt"]), (deleted, ["b"], True))
        self.assertEqual(self.read(f"/api/deleted/{deleted['id']}/restore", "POST"), {"restored": ["b"], "conflicts": []})
        region = {"x": 0, "y": 0, "width": 96, "height": 64}
        both = self.read("/api/images/a/copies", "POST", {"region": region, "turn": 90, "rotation": 90}, status=400)
        self.assertEqual([error["pointer"] for error in both["errors"]], ["#/turn"])
        made = self.read("/api/images/a/copies", "POST", {"region": region, "turn": 90}, status=202)
        state = self.client.end(f"/api/uploads/{made['id']}")
        self.assertEqual((state["status"], members(state) & FORMER), ("done", set()))
        copy = self.read(f"/api/images/{state['image']}")
        self.assertEqual((copy["width"], copy["height"]), (64, 96))


if __name__ == "__main__":
    unittest.main()
