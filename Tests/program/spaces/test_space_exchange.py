"""Pictures moved through the API: between library and private space, and from one space into another."""

import json
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from harness import Server, folder, photo, run
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser, Owner, SpaceTest, plain_text
from upload_client import TOKEN, Client, serve

ONE, TWO = "the first of the passwords", "the second of the passwords"
METADATA = {"title": "Lighthouse of grandmother", "caption": "at the Lighthouse", "keywords": ["Lighthouse"]}
PUBLIC, PRIVATE = "family%2Fgrandmother", "~%2Ffamily%2Fgrandmother"


class Exchange(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.made, photos = folder("library"), folder("photos")
        for number, name in enumerate(("grandmother", "harbour")):
            photo(photos / f"family/{name}.jpg", 1200 + number, 800, left=700 * number)
        run("build", photos, "--library", cls.made, "--quiet", check=True)
        for secret in (ONE, TWO):
            run("space", "create", cls.made, "--password-file", cls.file(secret), check=True)

    def setUp(self):
        self.library = folder("library")
        subprocess.run(["cp", "-a", f"{self.made}/.", self.library], check=True)
        self.server = self.enterContext(serve(self.library))

    def visitor(self, *, secret: str | None = None, token: bool = False) -> Owner:
        who = Owner(self.server)
        if secret:
            self.assertEqual(who.unlock(secret).status, 200)
        if token:
            self.assertEqual(who.log_in({"token": TOKEN}).status, 200)
        return who

    def move(self, who: Browser, target: str, to: str, status: int = 200, **more) -> dict:
        answer = who.send_json(f"api/images/{target}/move", {"to": to, **more})
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer["cache-control"], "private, no-store")
        result = json.loads(answer.body)
        # A build would publish it again, but not an upload.
        self.assertEqual("warning" in result, (target, to, status) == (PUBLIC, "space", 200))
        return {name: value for name, value in result.items() if name != "warning"}

    def test_there_and_back_is_the_same_picture_with_its_metadata(self):
        both, other, anonymous = self.visitor(secret=ONE, token=True), self.visitor(secret=TWO), Browser(self.server)
        tile = anonymous.ask(f"dzi/{PUBLIC}_files/10/0_0.jpg").body
        self.assertEqual(both.send_json(f"api/images/{PUBLIC}", METADATA, "PATCH").status, 200)
        self.assertEqual(self.move(both, PUBLIC, "space"), {"image": "~/family/grandmother"})
        self.assertEqual((anonymous.ids(), both.ids()), (["family/harbour"], ["~/family/grandmother", "family/harbour"]))
        for path in (f"dzi/{PUBLIC}_files/10/0_0.jpg", f"api/images/{PUBLIC}", f"dzi/{PRIVATE}_files/10/0_0.jpg"):
            self.assertEqual(anonymous.ask(path).status, 404, path)
        self.assertEqual(anonymous.ask("api/images?q=lighthouse").body.count(b"Lighthouse"), 0)
        self.assertEqual(both.ask(f"dzi/{PRIVATE}_files/10/0_0.jpg").body, tile)
        self.assertEqual(json.loads(both.ask(f"api/images/{PRIVATE}").body)["caption"], METADATA["caption"])
        self.assertEqual(self.move(both, PRIVATE, "other-space", password=TWO), {})
        self.assertEqual((both.ids(), other.ids()[0]), (["family/harbour"], "~/family/grandmother"))
        self.assertEqual(other.ask(f"dzi/{PRIVATE}_files/10/0_0.jpg").body, tile)
        # Into one that nobody has open.
        self.assertEqual(other.ask("api/session", "DELETE").status, 204)
        self.assertEqual(both.ask("api/session", "DELETE").status, 204)
        other = self.visitor(secret=TWO)
        self.move(other, PRIVATE, "other-space", password=ONE)
        both = self.visitor(secret=ONE, token=True)
        self.assertEqual(self.move(both, PRIVATE, "library"), {"image": "family/grandmother"})
        self.assertEqual(anonymous.ask(f"dzi/{PUBLIC}_files/10/0_0.jpg").body, tile)
        self.assertEqual(json.loads(anonymous.ask(f"api/images/{PUBLIC}").body)["title"], METADATA["title"])
        self.assertEqual(both.ids(), ["family/grandmother", "family/harbour"])
        for secret in (ONE, TWO):
            self.assertEqual(self.space("list", self.library, secret).stdout, "")
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_nothing_of_it_stays_readable(self):
        both, client = self.visitor(secret=ONE, token=True), Client(self.server)
        data = photo(folder("photos") / "sent.jpg", 1000, 700, left=2500).read_bytes()
        _, path = client.send(data, filename="grandmother two.jpg", folder="family")
        self.assertEqual(client.end(path)["image"], "family/grandmother two")
        for target in (PUBLIC, "family%2Fgrandmother%20two"):
            self.assertEqual(both.send_json(f"api/images/{target}", METADATA, "PATCH").status, 200)
        self.assertTrue(any(b"grandmother" in file.read_bytes() for file in self.library.glob("catalog*")))
        # Searched meanwhile, by several.
        with ThreadPoolExecutor(3) as pool:
            looks = [pool.submit(Browser(self.server).ask, "api/images?q=lighthouse") for _ in range(60)]
            for target in (PUBLIC, "family%2Fgrandmother%20two"):
                self.move(both, target, "space")
            self.assertEqual({look.result().status for look in looks}, {200})
        until = time.monotonic() + 30
        while (left := self.left()) and time.monotonic() < until:
            time.sleep(0.3)
        self.assertEqual(left, [])
        self.assertEqual([upload["image"] for upload in json.loads(client.ask("GET", "/api/uploads").body)["uploads"]], [])
        self.assertEqual(self.server.get("/api/images?q=grandmother").body.count(b"grandmother"), 0)

    def left(self) -> list[str]:
        """Where something of the pictures is; the other picture is public and keeps its tiles."""
        (self.library / "family/harbour.szi").rename(folder("aside") / "harbour.szi") \
            if (self.library / "family/harbour.szi").exists() else None
        return [line for line in plain_text(self.library) if not any(word in line for word in ("tileSize", "entries"))]

    def test_a_client_without_the_right_cannot(self):
        both, owner, writer = self.visitor(secret=ONE, token=True), self.visitor(secret=ONE), self.visitor(token=True)
        anonymous = Owner(self.server)
        self.move(anonymous, PUBLIC, "space", 401)
        self.move(anonymous, PRIVATE, "library", 401)
        self.move(writer, PUBLIC, "space", 403)
        self.move(writer, PRIVATE, "library", 404)
        self.move(owner, PUBLIC, "space", 403)
        self.assertEqual(both.ask(f"api/images/{PUBLIC}/move", "POST", b'{"to": "space"}', Sec_Fetch_Site="cross-site").status, 403)
        self.move(both, PUBLIC, "space")
        self.move(owner, PRIVATE, "library", 403)
        self.move(both, PRIVATE, "space", 409)
        self.move(both, PUBLIC, "library", 409)
        self.move(both, "family%2Fharbour", "other-space", 409, password=TWO)
        self.move(both, PRIVATE, "other-space", 409, password=ONE)
        self.move(both, "none", "space", 404)
        self.move(both, "~%2Fnone", "library", 404)
        self.move(both, "~%2Fnone", "other-space", 404, password=TWO)
        for body in (b"", b"{}", b"[]", b'{"to": "nowhere"}', b'{"to": "other-space"}', b'{"to": "space", "password": "x"}',
                     b'{"to": "other-space", "password": 1}', b'{"to": "other-space", "password": ""}'):
            self.assertEqual(both.ask(f"api/images/{PRIVATE}/move", "POST", body).status, 400, body)
        for method in ("PATCH", "PUT", "DELETE"):
            answer = both.ask(f"api/images/{PRIVATE}/move", method, b"")
            self.assertEqual((answer.status, "POST" in answer["allow"]), (405, True), method)
        with Server(self.library) as readable:
            reader = Owner(readable)
            reader.unlock(ONE)
            self.assertEqual(reader.send_json(f"api/images/{PRIVATE}/move", {"to": "library"}).status, 405)
        self.assertEqual(both.ids(), ["~/family/grandmother", "family/harbour"])

    def test_another_picture_of_that_name_is_left_alone(self):
        both = self.visitor(secret=ONE, token=True)
        self.move(both, PUBLIC, "space")
        photo(folder("photos") / "x.jpg", 500, 400)
        other = folder("other")
        photo(other / "family/grandmother.jpg", 500, 400, left=3000)
        run("build", other, "--library", self.library, "--quiet", check=True)
        self.until(lambda: "family/grandmother" in both.ids(), "listed")
        self.move(both, PUBLIC, "space", 409)
        self.move(both, PRIVATE, "library", 409)
        self.assertEqual({image["id"]: image["width"] for image in json.loads(both.ask("api/images").body)["images"]},
                         {"~/family/grandmother": 1200, "family/grandmother": 500, "family/harbour": 1201})

    def test_wrong_passwords_are_slowed_down_like_all(self):
        both = self.visitor(secret=ONE, token=True)
        self.move(both, PUBLIC, "space")
        reported = self.move(both, PRIVATE, "other-space", 401, password="none of them")
        self.assertEqual(reported["detail"], "no space opens with this password")
        statuses = [both.send_json(f"api/images/{PRIVATE}/move", {"to": "other-space", "password": "none of them"}).status
                    for _ in range(7)]
        self.assertIn(429, statuses)
        self.assertEqual(set(statuses), {401, 429})
        self.assertEqual(both.unlock(TWO).status, 429, "and count with the others")


if __name__ == "__main__":
    unittest.main()
