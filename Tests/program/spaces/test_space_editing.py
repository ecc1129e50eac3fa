"""Metadata changed, pictures deleted and restored inside a private space: sealed, durable, and private."""

import json
import os
import signal
import subprocess
import time
import unittest

from harness import BINARY, Server, folder, photo, run, seed
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser, Owner, SpaceTest, plain_text
from upload_client import TOKEN, serve

KILLS = int(os.environ.get("KILLS", 6))
ONE, TWO = "the first of the passwords", "the second of the passwords"
METADATA = {"title": "Lighthouse of grandmother", "caption": "grandmother,\nat the Lighthouse", "keywords": ["Lighthouse", "more"]}
ID = "~%2Ffamily%2Fgrandmother"


class SpaceEditing(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.made = folder("library")
        photos = folder("photos")
        for number, name in enumerate(("grandmother", "harbour", "garden")):
            photo(photos / f"family/{name}.jpg", 700 + number, 500, left=700 * number)
        cls.photos = photos
        for secret in (ONE, TWO):
            run("space", "create", cls.made, "--password-file", cls.file(secret), check=True)
            run("build", photos, "--library", cls.made, "--space", "--quiet", "--password-file", cls.file(secret), check=True)
        public = folder("public")
        photo(public / "open.jpg", 600, 400, left=3000)
        run("build", public, "--library", cls.made, "--quiet", check=True)

    def setUp(self):
        self.library = folder("library")
        subprocess.run(["cp", "-a", f"{self.made}/.", self.library], check=True)

    def writer(self, server: Server) -> Owner:
        writer = Owner(server)
        self.assertEqual(writer.log_in({"token": TOKEN}).status, 200)
        return writer

    def metadata(self, who: Browser, target: str = ID) -> dict:
        reported = json.loads(who.ask(f"api/images/{target}").body)
        return {name: reported[name] for name in METADATA if reported.get(name)}

    def files(self) -> set[str]:
        return {path.name for path in (self.library / ".spaces").iterdir()}

    def lasting(self, owner: Owner) -> set[str]:
        """The files that a change of something else leaves alone: all but the index and its decoys."""
        before = self.files()
        deleted = json.loads(owner.ask("api/images/~%2Ffamily%2Fharbour", "DELETE", b"").body)["deleted"]
        self.assertEqual(owner.ask(f"api/trash/{deleted['id']}/restore", "POST", b"").status, 200)
        self.assertEqual(len(before), len(self.files()))
        return before & self.files()

    def test_metadata_are_changed_everywhere_and_stored_nowhere_in_plain_text(self):
        server = self.serve()
        owner, same, other = self.owner(server), self.owner(server), self.owner(server, TWO)
        before = self.lasting(owner)
        answer = owner.send_json(f"api/images/{ID}", METADATA, "PATCH")
        self.assertEqual((answer.status, answer["cache-control"]), (200, "private, no-store"), answer)
        self.assertEqual(json.loads(answer.body)["title"], METADATA["title"])
        for who in (owner, same):
            self.assertEqual(self.metadata(who), METADATA)
            found = json.loads(who.ask("api/images?q=lighthouse").body)["images"]
            self.assertEqual([image["title"] for image in found], [METADATA["title"]])
            self.assertIn(b"at the Lighthouse", who.ask(f"iiif/presentation/3/{ID}/manifest").body)
        self.assertEqual(self.metadata(other), {"title": "grandmother"})
        self.assertEqual(json.loads(other.ask("api/images?q=lighthouse").body)["images"], [])
        self.assertEqual(plain_text(self.library / ".spaces"), [])
        self.assertEqual(len(self.lasting(owner) - before), 1)
        # One field alone, and one that is emptied; the older file is gone.
        self.assertEqual(owner.send_json(f"api/images/{ID}", {"caption": None}, "PATCH").status, 200)
        left = {"title": METADATA["title"], "keywords": METADATA["keywords"]}
        self.assertEqual((self.metadata(same), len(self.lasting(owner) - before)), (left, 1))
        self.build(self.photos, self.library, ONE, "--force", "--quiet")
        self.assertEqual(owner.ask("api/session", "DELETE").status, 204)
        self.assertEqual(same.ask("api/session", "DELETE").status, 204)
        owner = self.owner(server)
        self.assertEqual(self.metadata(owner), left, "built anew, locked and unlocked")
        for bad, status in (({"title": 5}, 400), ({}, 400), ({"size": 1}, 400), ({"title": "x" * 2000}, 400)):
            self.assertEqual(owner.send_json(f"api/images/{ID}", bad, "PATCH").status, status)
        self.assertEqual(owner.send_json("api/images/~%2Fnone", METADATA, "PATCH").status, 404)
        listed = self.space("list", self.library, ONE, options=["--json"]).stdout.splitlines()
        self.assertIn(METADATA["title"], [json.loads(line).get("title") for line in listed])
        self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)

    def test_later_of_two_editors_gets_a_conflict(self):
        server = self.serve()
        one, other = self.owner(server), self.owner(server)
        edit = lambda who, tag, title: who.send_json(f"api/images/{ID}", {"title": title}, "PATCH", If_Match=tag).status
        tag = one.ask(f"api/images/{ID}")["etag"]
        self.assertRegex(tag, r'^"[0-9a-f.]+"$')
        self.assertEqual(one.ask(f"api/images/{ID}", If_None_Match=tag).status, 304)
        self.assertEqual(edit(one, tag, "the first"), 200)
        self.assertEqual((edit(other, tag, "over it"), edit(one, '"0"', "over it")), (412, 412))
        self.assertEqual(self.metadata(other), {"title": "the first"})
        self.assertEqual(edit(other, other.ask(f"api/images/{ID}")["etag"], "the second"), 200)
        self.assertEqual((edit(one, "*", "whatever"), self.metadata(one)), (200, {"title": "whatever"}))
        # Who may not see the picture learns nothing of it.
        anonymous = Browser(server).ask(f"api/images/{ID}", If_None_Match=tag)
        self.assertEqual((anonymous.status, anonymous["etag"]), (404, ""))

    def test_damaged_or_older_metadata_are_an_error_of_their_picture(self):
        server = self.serve()
        owner = self.owner(server)
        files = self.lasting(owner)
        owner.send_json(f"api/images/{ID}", {"title": "the older one"}, "PATCH")
        name, = self.lasting(owner) - files
        path = self.library / ".spaces" / name
        older = path.read_bytes()
        owner.send_json(f"api/images/{ID}", METADATA, "PATCH")
        name, = self.lasting(owner) - files
        path = self.library / ".spaces" / name
        whole = path.read_bytes()
        places = seed("flips")
        for content in (older, whole[:-1], b"", *(self.flipped(whole, places) for _ in range(4)), None):
            path.unlink() if content is None else path.write_bytes(content)
            owner.ask("api/session", "DELETE")
            owner = self.owner(server)
            self.assertEqual(owner.ask(f"api/images/{ID}").status, 500)
            self.assertEqual(owner.ask(f"dzi/{ID}.dzi").status, 500)
            self.assertEqual(owner.ask("api/images/~%2Ffamily%2Fharbour").status, 200)
            self.assertEqual(owner.send_json(f"api/images/{ID}", METADATA, "PATCH").status, 500)
        self.assertIn("grandmother", self.space("verify", self.library, ONE, code=1).stdout)
        path.write_bytes(whole)
        owner.ask("api/session", "DELETE")
        self.assertEqual(self.metadata(self.owner(server)), METADATA)

    @staticmethod
    def flipped(whole: bytes, places) -> bytes:
        damaged = bytearray(whole)
        damaged[places.randrange(len(whole))] ^= 1 << places.randrange(8)
        return bytes(damaged)

    def test_deleted_ones_come_back(self):
        server = self.serve()
        owner, same, other = self.owner(server), self.owner(server), self.owner(server, TWO)
        owner.send_json(f"api/images/{ID}", METADATA, "PATCH")
        tile = f"dzi/{ID}_files/9/0_0.jpg"
        before, files, count = owner.ask(tile).body, self.lasting(owner), len(self.files())
        answer = owner.ask(f"api/images/{ID}", "DELETE", b"")
        self.assertEqual(answer.status, 200, answer)
        first = json.loads(answer.body)["deleted"]
        self.assertEqual(first["images"], ["~/family/grandmother"])
        self.assertEqual(owner.ask(f"api/images/{ID}", "DELETE", b"").status, 404)
        several = json.loads(owner.send_json("api/trash", {"ids": ["~/family/harbour", "~/family/garden", "~/none"]}).body)
        self.assertEqual((several["deleted"]["images"], several["refused"]), (["~/family/garden", "~/family/harbour"], ["~/none"]))
        for who in (owner, same):
            self.assertEqual(who.ids(), ["open"])
            self.assertEqual((who.ask(tile).status, who.ask(f"api/images/{ID}").status), (404, 404))
            self.assertEqual({each["id"] for each in json.loads(who.ask("api/trash").body)["items"]},
                             {first["id"], several["deleted"]["id"]})
        self.assertEqual(json.loads(other.ask("api/trash").body)["items"], [])
        self.assertEqual((other.ids()[0], len(other.ids())), ("~/family/garden", 4))
        self.assertEqual(other.ask(f"api/trash/{first['id']}/restore", "POST", b"").status, 404)
        self.assertEqual((files - self.files(), len(self.files())), (set(), count))
        self.assertEqual(plain_text(self.library / ".spaces"), [])
        # A picture of the same name has come meanwhile: the deleted one waits.
        self.build(self.photos, self.library, ONE, "--quiet")
        taken = json.loads(same.ask(f"api/trash/{several['deleted']['id']}/restore", "POST", b"").body)
        self.assertEqual((taken["restored"], taken["conflicts"]), ([], ["~/family/garden", "~/family/harbour"]))
        self.assertEqual(owner.ask(f"api/images/{ID}", "DELETE", b"").status, 200)
        back = json.loads(owner.ask(f"api/trash/{first['id']}/restore", "POST", b"").body)
        self.assertEqual((back["restored"], back["conflicts"]), (["~/family/grandmother"], []))
        self.assertEqual((same.ask(tile).body, self.metadata(same)), (before, METADATA))
        self.assertEqual(owner.ask(f"api/trash/{first['id']}/restore", "POST", b"").status, 404)

    def test_deleted_ones_are_removed_when_their_time_is_over(self):
        with serve(self.library) as first:
            owner = self.owner(first)
            owner.send_json(f"api/images/{ID}", METADATA, "PATCH")
            before = self.lasting(owner)
        server = self.serve("--keep-deleted", "0")
        owner = self.owner(server)
        deleted = json.loads(owner.ask(f"api/images/{ID}", "DELETE", b"").body)["deleted"]
        until = time.monotonic() + 30
        while len(before - self.files()) < 2 and time.monotonic() < until:
            time.sleep(0.2)
        self.assertEqual(len(before - self.files()), 2, "archive and words")
        self.assertEqual(owner.ask(f"api/trash/{deleted['id']}/restore", "POST", b"").status, 404)
        self.assertIn("2 archives", self.space("verify", self.library, ONE).stderr)

    def test_a_client_without_the_right_cannot(self):
        server = self.serve()
        owner, other, writer, anonymous = self.owner(server), self.owner(server, TWO), self.writer(server), Owner(server)
        deleted = json.loads(owner.ask("api/images/~%2Ffamily%2Fgarden", "DELETE", b"").body)["deleted"]["id"]
        change, several = json.dumps(METADATA).encode(), json.dumps({"ids": ["~/family/harbour"]}).encode()
        for who, name, statuses in ((anonymous, "stranger", (401, 401, 401, 401)), (writer, "writer", (404, 404, 200, 404))):
            asked = (who.ask(f"api/images/{ID}", "PATCH", change), who.ask(f"api/images/{ID}", "DELETE", b""),
                     who.ask("api/trash", "POST", several), who.ask(f"api/trash/{deleted}/restore", "POST", b""))
            self.assertEqual(tuple(answer.status for answer in asked), statuses, name)
        for site in ("cross-site", "same-site", "none"):
            for method, target, body in (("PATCH", f"api/images/{ID}", change), ("DELETE", f"api/images/{ID}", b""),
                                         ("POST", "api/trash", several), ("POST", f"api/trash/{deleted}/restore", b"")):
                self.assertEqual(owner.ask(target, method, body, Sec_Fetch_Site=site).status, 403, (site, target))
        # Who has a space and no token leaves what everybody sees alone.
        for method, target, body in (("PATCH", "api/images/open", change), ("DELETE", "api/images/open", b""),
                                     ("POST", "api/trash", b'{"ids": ["open"]}')):
            self.assertEqual(owner.ask(target, method, body).status, 403, target)
        self.assertEqual(owner.ask("api/trash", "POST", b'{"ids": ["open", "~/family/harbour"]}').status, 400)
        public = json.loads(writer.ask("api/images/open", "DELETE", b"").body)["deleted"]["id"]
        self.assertEqual(owner.ask(f"api/trash/{public}/restore", "POST", b"").status, 403)
        self.assertEqual(writer.ask(f"api/trash/{public}/restore", "POST", b"").status, 200)
        self.assertEqual([each["id"] for each in json.loads(writer.ask("api/trash").body)["items"]], [])
        self.assertEqual(owner.ids(), ["~/family/grandmother", "~/family/harbour", "open"])
        self.assertEqual(self.metadata(owner), {"title": "grandmother"})
        with Server(self.library) as readable:
            reader = self.owner(readable)
            self.assertEqual(reader.ask(f"api/images/{ID}", "PATCH", change).status, 405)
            self.assertFalse(reader.state()["canWriteSpace"])

    def test_killed_at_any_time_an_edit_is_complete_or_absent(self):
        chance, hits = seed("kill -9 of edits"), 0
        # What it is called where the first edit has not come through.
        title = "grandmother"
        for number in range(KILLS):
            server = serve(self.library)
            owner = self.owner(server)
            killer = subprocess.Popen(["sh", "-c", f"sleep {chance.uniform(0.02, 0.4)}; kill -9 {server.process.pid}"])
            asked, reported = title, title
            for count in range(200):
                asked = f"Lighthouse {number}-{count}"
                try:
                    answer = owner.send_json(f"api/images/{ID}", {"title": asked}, "PATCH")
                except OSError:
                    break
                if answer.status != 200:
                    break
                reported = asked
            killer.wait()
            hits += server.stop() == -signal.SIGKILL
            with serve(self.library) as again:
                title = self.metadata(self.owner(again)).get("title")
            self.assertIn(title, (reported, asked))
            self.assertIn("no faults", self.space("verify", self.library, ONE).stderr)
            self.assertEqual(plain_text(self.library / ".spaces"), [])
        self.assertGreater(hits, 0)

    def test_metadata_go_with_a_picture_that_is_moved(self):
        server = self.serve()
        writer = self.writer(server)
        self.assertEqual(writer.send_json("api/images/open", METADATA, "PATCH").status, 200)
        self.assertTrue((self.library / "open.xmp").exists())
        move = [BINARY, "space", "move", self.library, "open", "--password-file", self.file(ONE)]
        subprocess.run(move, check=True, capture_output=True)
        self.assertEqual(sorted(path.name for path in self.library.glob("open*")), [])
        self.assertEqual(plain_text(self.library / ".spaces"), [])
        owner = self.owner(server)
        self.assertEqual(self.metadata(owner, "~%2Fopen"), METADATA)
        changed = {**METADATA, "title": "changed inside"}
        self.assertEqual(owner.send_json("api/images/~%2Fopen", changed, "PATCH").status, 200)
        subprocess.run([*move, "--to", "other-space", "--new-password-file", self.file(TWO)], check=True, capture_output=True)
        self.assertEqual(self.metadata(self.owner(server, TWO), "~%2Fopen"), changed)
        subprocess.run([*move[:-1], self.file(TWO), "--to", "library"], check=True, capture_output=True)
        self.until(lambda: writer.ask("api/images/open").status == 200 and self.metadata(writer, "open") == changed, "its words")
        self.assertIn("changed inside", (self.library / "open.xmp").read_text())


if __name__ == "__main__":
    unittest.main()
