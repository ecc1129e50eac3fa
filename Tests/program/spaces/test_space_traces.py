"""What a running server keeps of a private space, and reveals of it: while it is open, and after it is locked."""

import json
import threading
import time
import unittest

from exiftool import write
from harness import Server, folder, photo, run
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser, Owner, SpaceTest
from upload_client import TOKEN

ONE, TWO = "the first of the passwords", "the second of the passwords"
ID = "~%2Ffamily%2Fgrandmother"
# What is rendered, by every protocol that renders.
RENDERED = [f"dzi/{ID}_files/10/0_0.png", f"api/images/{ID}/viewport.jpg?width=500&height=400",
            f"iiif/3/{ID}/7,9,611,503/300,/0/default.jpg", f"iiif/2/{ID}/full/200,/90/default.png"]


def cached(server: Server) -> tuple[float, float]:
    """Bytes of rendered pictures and of decoded tiles that the server keeps."""
    found = server.metrics()
    return found["render_cache_bytes"], found["tile_cache_bytes"]


class Traces(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        for number, secret in enumerate((ONE, TWO)):
            photos = folder("photos")
            path = photo(photos / "family/grandmother.jpg", 2400, 1600, left=600 * number)
            photo(photos / "family/harbour.jpg", 300, 200)
            write(path, f"-Title=Lighthouse {number}")
            for arguments in (["space", "create", cls.library], ["build", photos, "--library", cls.library, "--space", "--quiet"]):
                run(*arguments, "--password-file", cls.file(secret), check=True)
        public = folder("public")
        photo(public / "open.jpg", 800, 600, left=2500)
        run("build", public, "--library", cls.library, "--quiet", check=True)

    def render(self, owner: Browser):
        for path in RENDERED:
            self.assertEqual(owner.ask(path).status, 200, path)

    def test_rendered_pictures_go_with_the_last_session_of_the_space(self):
        server = self.serve("--session-idle", "12")  # Two passwords and all pictures take less on a slow machine too.
        for end in ("logout", "other password", "lock", "idle"):
            first, second = self.owner(server), self.owner(server)
            self.render(first)
            self.assertGreater(min(cached(server)), 10_000, end)
            if end == "logout":
                self.assertEqual(first.ask("api/session", "DELETE").status, 204)
                self.assertGreater(min(cached(server)), 10_000, "the other one still has it open")
                self.assertEqual(second.ask("api/session", "DELETE").status, 204)
            elif end == "other password":
                for who in (first, second):
                    self.assertEqual(who.unlock(TWO).status, 200)
            elif end == "lock":
                run("space", "lock", self.library, check=True)
            until = time.monotonic() + 30
            while cached(server) != (0, 0) and time.monotonic() < until:
                time.sleep(0.2)
            self.assertEqual(cached(server), (0, 0), end)
            for path in RENDERED:
                self.assertEqual(Browser(server).ask(path).status, 404, path)
        self.assertTrue(server.alive())

    def test_what_is_being_rendered_is_not_kept_either(self):
        server = self.serve("--threads", "1")
        owner = self.owner(server)
        # A queue of them, in whose midst the space is locked.
        asking = [threading.Thread(target=owner.ask, args=(f"api/images/{ID}/viewport.png?width={900 + number}&height=700",))
                  for number in range(12)]
        for thread in asking:
            thread.start()
        time.sleep(0.4)
        ender = Owner(server)
        ender.cookie = owner.cookie
        self.assertEqual(ender.ask("api/session", "DELETE").status, 204)
        for thread in asking:
            thread.join()
        self.assertEqual(cached(server), (0, 0))

    def collection(self, who: Browser, folder: str = "") -> list[tuple[str, str]]:
        answer = who.ask(f"iiif/presentation/3/{folder}collection")
        self.assertEqual(answer.status, 200)
        if who.cookie:
            self.assertEqual(answer["cache-control"], "private, no-store")
        return [(item["id"].split("/3/")[1], item["label"]["none"][0]) for item in json.loads(answer.body)["items"]]

    def test_collection_lists_the_space_to_its_session_alone(self):
        server = self.serve()
        public = [("open/manifest", "open")]
        self.assertEqual(self.collection(Browser(server)), public)
        for number, secret in enumerate((ONE, TWO)):
            owner = self.owner(server, secret)
            self.assertEqual(self.collection(owner), [("~/collection", "Private"), *public])
            self.assertEqual(self.collection(owner, "~/"), [("~%2Ffamily/collection", "family")])
            listed = self.collection(owner, "~%2Ffamily/")
            self.assertEqual(listed, [(f"{ID}/manifest", f"Lighthouse {number}"), ("~%2Ffamily%2Fharbour/manifest", "harbour")])
            manifest = json.loads(owner.ask("iiif/presentation/3/" + listed[0][0]).body)
            self.assertEqual(manifest["label"]["none"], [f"Lighthouse {number}"])
            self.assertEqual(manifest["partOf"][0]["id"].split("/3/")[1], "~%2Ffamily/collection")
        self.assertEqual(self.collection(Browser(server)), public)
        for path in ("~/", "~%2Ffamily/", "~%2Fnone/"):
            answer = Browser(server).ask(f"iiif/presentation/3/{path}collection")
            self.assertEqual((answer.status, answer.body), (404, b"there is no manifest or collection at this path\n"))

    def test_every_answer_of_a_session_is_for_no_cache(self):
        server = self.serve()
        owner = self.owner(server)
        owner.log_in({"token": TOKEN})
        body = json.dumps({"title": "x"}).encode()
        asked = [("GET", path, None) for path in (
            "", f"view/{ID}", "api/images", "api/images/open", f"api/images/{ID}", "api/images/~%2Fnone", "api/trash",
            "api/uploads", "api/session", "api/events-none", f"dzi/{ID}.dzi", f"dzi/{ID}_files/10/0_0.jpg",
            f"dzi/{ID}_files/99/0_0.jpg", f"iiif/3/{ID}/info.json", f"iiif/presentation/3/{ID}/manifest",
            "iiif/presentation/3/collection", f"xyz/{ID}/tilejson.json", f"zoomify/{ID}/ImageProperties.xml", *RENDERED,
            f"iip?FIF={ID}&JTL=0,0", f"iip?FIF={ID}.tif&OBJ=Max-size", f"iip?FIF={ID}&JTL=99,0",
            f"api/images/{ID}/viewport?width=0", f"api/images/{ID}?v=1")]
        asked += [("HEAD", path, None) for path in (f"dzi/{ID}_files/10/0_0.jpg", RENDERED[1])]
        asked += [("PATCH", f"api/images/{ID}", body), ("PATCH", f"api/images/{ID}", b"{"), ("PATCH", "api/images/~%2Fnone", body),
                  ("POST", "api/trash", b'{"ids": ["~/none"]}'), ("POST", "api/trash/~0/restore", b""),
                  ("POST", f"api/images/{ID}/move", b"{}"), ("POST", "api/session", b"{}"), ("DELETE", "api/images/~%2Fnone", b"")]
        for method, path, content in asked:
            answer = owner.ask(path, method, content)
            self.assertGreater(answer.status, 0)
            self.assertEqual(answer["cache-control"], "private, no-store", (method, path, answer.status))
            # Which version an image is, for who edits it.
            is_description = method == "GET" and path.startswith("api/images/") and answer.status == 200 and "json" in answer["content-type"]
            self.assertEqual((answer["etag"] != "", answer["access-control-allow-origin"]), (is_description, ""), (method, path))
        for method, path in (("POST", "api/uploads"), ("PATCH", "api/uploads/" + "0" * 32)):
            answer = owner.ask(path, method, b"", Tus_Resumable="1.0.0", Upload_Length=10, Upload_Offset=0)
            self.assertIn("no-store", answer["cache-control"])


if __name__ == "__main__":
    unittest.main()
