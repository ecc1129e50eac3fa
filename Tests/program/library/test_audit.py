"""The audit log: who changed what and when, and of private spaces no more than that something happened."""

import contextlib
import json
import os
import re
import signal
import time
import unittest
from pathlib import Path

import upload_client
from harness import folder, photo, run
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Owner, SpaceTest, password
from upload_client import TOKEN, Client

TIMESTAMP = r"^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z$"
SECRET = "the password of the audit"
PROXY = {"X_Forwarded_For": "198.51.100.1, 2001:db8::7"}


class Audit(SpaceTest):
    def setUp(self):
        base = folder("audit")
        self.path = base / "audit.jsonl"
        self.library = base / "library"
        for number, name in enumerate(("harbour", "tower", "bridge")):
            photo(base / f"photos/{name}.jpg", 300, 200, left=400 * number)
        photo(base / "private/grandmother.jpg", 320, 200, left=2000)
        self.assertEqual(run("build", base / "photos", "--library", self.library, "--quiet").returncode, 0)
        self.space("create", self.library, SECRET)
        self.build(base / "private", self.library, SECRET, "--quiet")
        self.server = self.serve("--audit-log", self.path, "--trusted-proxy", "127.0.0.1")

    def lines(self, path: Path | None = None) -> list[dict]:
        return [json.loads(line) for line in (path or self.path).read_text().splitlines()]

    def last(self, count: int = 1) -> list[dict]:
        found = self.lines()[-count:]
        for line in found:
            self.assertRegex(line.pop("time"), TIMESTAMP)
        return found

    def wait(self, event: str) -> dict:
        until = time.monotonic() + 60
        while not (found := [line for line in self.lines() if line["event"] == event]):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        return found[-1]

    def test_nothing_of_a_space_is_wrong_while_the_library_is_away(self):
        owner, away = Owner(self.server), self.library.with_name("away")
        self.assertEqual([owner.log_in({"token": TOKEN}).status, owner.unlock(SECRET).status], [200, 200])
        count = len(self.lines())
        self.library.rename(away)
        self.library.mkdir()
        private = "~%2Fgrandmother"
        # At once, and when the server has noticed.
        for _ in range(2):
            for target in (f"api/images/{private}", f"dzi/{private}.dzi", f"dzi/{private}_files/8/0_0.jpg", f"api/images/{private}/original",
                           f"iiif/3/{private}/full/50,/0/default.jpg", "api/trash"):
                with self.subTest(target):
                    answer = owner.ask(target)
                    self.assertEqual((answer.status, answer["retry-after"]), (503, "1"), answer.body)
            self.assertEqual(Client(self.server).ask("GET", "/api/trash", tus=False).status, 503)
            newcomer = Owner(self.server)
            # None of them counts as a login attempt.
            self.assertEqual({newcomer.unlock(SECRET).status for _ in range(12)}, {503})
            self.until(lambda: self.server.get("/healthz").status == 503, "the server notices")
        self.assertEqual(len(self.lines()), count)
        self.library.rmdir()
        away.rename(self.library)
        self.until(lambda: self.server.get("/healthz").status == 200, "the server notices")
        self.assertEqual(Owner(self.server).unlock(SECRET).status, 200)
        self.assertEqual([owner.ask(target).status for target in (f"api/images/{private}", "api/trash")], [200, 200])

    def test_logins_and_changes_are_written_down(self):
        owner = Owner(self.server)
        self.assertEqual(owner.log_in({"token": "not the token at all"}, **PROXY).status, 401)
        self.assertEqual(self.last(), [{"event": "login", "client": "2001:db8::7", "with": "token", "ok": False}])
        self.assertEqual(owner.log_in({"token": TOKEN}, **PROXY).status, 200)
        [login] = self.last()
        session = login.pop("session")
        self.assertRegex(session, "^[0-9a-f]{8}$")
        self.assertNotIn(session, owner.cookie)
        self.assertEqual(login, {"event": "login", "client": "2001:db8::7", "by": "session", "with": "token", "ok": True})
        who = {"client": "127.0.0.1", "by": "session", "session": session}
        self.assertEqual(owner.send_json("api/images/harbour", {"title": "A harbour"}, "PATCH").status, 200)
        self.assertEqual(self.last(), [{"event": "edit", **who, "images": ["harbour"]}])
        deleted = json.loads(owner.send_json("api/trash", {"ids": ["harbour", "tower", "none"]}).body)["deleted"]["id"]
        self.assertEqual(self.last(), [{"event": "delete", **who, "images": ["harbour", "tower"], "deletion": deleted}])
        self.assertEqual(owner.send_json(f"api/trash/{deleted}/restore", {}).status, 200)
        [restore] = self.last()
        self.assertEqual((restore["event"], sorted(restore["images"]), restore["deletion"]), ("restore", ["harbour", "tower"], deleted))
        # By the token. What changes nothing is no change, and a wrong token is a failed login.
        client, count = Client(self.server), len(self.lines())
        for id, status in (("none", 404), ("tower", 204)):
            self.assertIn(client.ask("DELETE", f"/api/images/{id}", tus=False, X_Forwarded_For="203.0.113.9").status, (status, 200))
        self.assertEqual(client.ask("PATCH", "/api/images/harbour", b"{}", tus=False, token="x" * 20).status, 401)
        self.assertEqual(client.ask("PATCH", "/api/images/harbour", b"[]", tus=False).status, 400)
        self.assertEqual(len(self.lines()), count + 2)
        line, refused = self.last(2)
        self.assertEqual((refused["event"], refused["with"], refused["ok"]), ("login", "token", False))
        self.assertEqual((line["event"], line["client"], line["by"], line["images"]), ("delete", "203.0.113.9", "token", ["tower"]))
        held = owner.cookie.split("=")[1]
        self.assertEqual(owner.ask("api/session", "DELETE").status, 204)
        self.assertEqual(self.last(), [{"event": "logout", **who}])
        self.assertNoSecret(held)

    def assertNoSecret(self, *secrets: str):
        text = self.path.read_text()
        for secret in (TOKEN, SECRET, "not the token", "grandmother", "~", *secrets):
            self.assertNotIn(secret, text)
        self.assertEqual(self.path.stat().st_mode & 0o007, 0)

    def test_uploads_are_written_down_from_their_beginning_to_their_end(self):
        client, base = Client(self.server), folder("sent")
        data = photo(base / "new.png", 200, 100, left=3000).read_bytes()
        sent, path = client.send(data, filename="new.png", folder="here")
        self.assertEqual(sent.status, 204)
        ended = self.wait("uploaded")
        begun = self.wait("upload")
        upload = path.split("/")[-1]
        reported = {"upload": upload[:8], "file": "here/new.png", "bytes": len(data)}
        self.assertEqual({key: begun[key] for key in reported}, reported)
        self.assertEqual((begun["client"], begun["by"]), ("127.0.0.1", "token"))
        self.assertEqual({key: ended[key] for key in reported}, reported)
        self.assertEqual((ended["ok"], ended["images"]), (True, ["here/new"]))
        self.assertNotIn(upload, self.path.read_text())
        # One that is called off, and one that is no picture.
        made = client.create(1000, filename="off.jpg")
        self.assertEqual(client.ask("DELETE", "/api/uploads/" + made["location"].split("/")[-1]).status, 204)
        self.assertEqual(self.wait("cancel")["file"], "off.jpg")
        client.send(data[:len(data) // 2], filename="half.png")
        until = time.monotonic() + 60
        while not [line for line in self.lines() if line["event"] == "uploaded" and line["file"] == "half.png"]:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        [half] = [line for line in self.lines() if line["event"] == "uploaded" and line["file"] == "half.png"]
        self.assertFalse(half["ok"])
        self.assertTrue(half["reason"])

    def test_events_of_a_private_space_are_logged_without_details(self):
        owner = Owner(self.server)
        self.assertEqual(owner.unlock("a wrong password").status, 401)
        self.assertEqual(self.last(), [{"event": "login", "client": "127.0.0.1", "with": "password", "ok": False}])
        self.assertEqual(owner.unlock(SECRET).status, 200)
        self.assertEqual(owner.log_in({"token": TOKEN}).status, 200)
        one, two = self.last(2)
        self.assertEqual(((one["with"], one["ok"]), (two["with"], two["ok"])), (("password", True), ("token", True)))
        self.assertEqual(one["session"], two["session"], "more rights are no other visitor")
        count = len(self.lines())
        private = "api/images/~%2Fgrandmother"
        self.assertEqual(owner.send_json(private, {"title": "A lighthouse"}, "PATCH").status, 200)
        self.assertEqual(owner.send_json("api/images/bridge/move", {"to": "space"}).status, 200)
        deletion = json.loads(owner.send_json("api/trash", {"ids": ["~/grandmother"]}).body)["deleted"]["id"]
        self.assertEqual(owner.send_json(f"api/trash/{deletion}/restore", {}).status, 200)
        self.assertEqual(owner.send_json("api/images/~%2Fgrandmother/move", {"to": "library"}).status, 200)
        data = photo(folder("sent") / "secretive.png", 210, 100, left=3300).read_bytes()
        made = owner.ask("api/uploads", "POST", b"", Tus_Resumable="1.0.0", Upload_Length=len(data),
                         Upload_Metadata=upload_client.metadata(filename="secretive.png", folder="~/"))
        self.assertEqual(made.status, 201)
        place = "api/uploads/" + made["location"].split("/")[-1]
        self.assertEqual(owner.ask(place, "PATCH", data, Tus_Resumable="1.0.0", Upload_Offset=0, Content_Type=upload_client.TYPE).status,
                         204)
        self.assertTrue(self.wait("uploaded")["ok"])
        held = owner.cookie.split("=")[1]
        self.assertEqual(owner.ask("api/session", "DELETE").status, 204)
        self.wait("lock")
        events = [(line["event"], line.get("private"), line.get("to")) for line in self.lines()[count:]]
        self.assertEqual(events[:7], [("edit", True, None), ("move", None, "space"), ("delete", True, None), ("restore", True, None),
                                      ("move", None, "library"), ("upload", True, None), ("uploaded", True, None)])
        self.assertEqual(sorted(event for event, _, _ in events[7:]), ["lock", "logout"])
        self.assertNoSecret(held, "bridge", "secretive", "wrong", deletion)

    def test_a_log_that_is_moved_away_is_recreated_and_a_failure_is_reported(self):
        client = Client(self.server)
        edit = (b'{"title": "x"}',)
        self.assertEqual(client.ask("PATCH", "/api/images/harbour", *edit, tus=False).status, 200)
        moved = self.path.rename(self.path.with_suffix(".1"))
        self.assertEqual(client.ask("PATCH", "/api/images/tower", *edit, tus=False).status, 200)
        self.assertEqual([line["images"] for line in self.lines(moved)], [["harbour"]])
        self.assertEqual([line["images"] for line in self.lines()], [["tower"]])
        # A full disk stops nothing.
        self.path.unlink()
        self.path.symlink_to("/dev/full")
        for _ in range(3):
            self.assertEqual(client.ask("PATCH", "/api/images/bridge", *edit, tus=False).status, 200)
        reported = re.findall(r".*audit.*", self.server.errors())
        self.assertEqual(reported, [f"ziggurat: cannot write the audit log {self.path}: No space left on device"])
        for bad, word in ((folder("none") / "none/audit", "No such file"), (folder("none"), "Is a directory")):
            result = run("serve", self.library, "--audit-log", bad)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(len(result.stderr.splitlines()), 1)
            self.assertIn(word, result.stderr)

    def test_sighup_reopens_the_file(self):
        client = Client(self.server)

        def edit(name: str) -> None:
            self.assertEqual(client.ask("PATCH", f"/api/images/{name}", b'{"title": "x"}', tus=False).status, 200)

        def renew() -> None:
            count = self.server.errors().count("SIGHUP")
            self.server.process.send_signal(signal.SIGHUP)
            until = time.monotonic() + 20
            while self.server.errors().count("SIGHUP") == count:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)

        edit("harbour")
        mode = self.path.stat().st_mode
        moved = self.path.rename(self.path.with_suffix(".1"))
        renew()
        # There before anything happens, for no more eyes than the first.
        self.assertEqual((self.path.read_bytes(), self.path.stat().st_mode), (b"", mode))
        self.assertIn(str(self.path), self.files())
        self.assertNotIn(str(moved), self.files())
        edit("tower")
        renew()
        edit("bridge")
        self.assertEqual([line["images"] for line in self.lines(moved)], [["harbour"]])
        self.assertEqual([line["images"] for line in self.lines()], [["tower"], ["bridge"]])
        # If none can be opened, the old one is kept, and that is reported once for each try.
        second = self.path.rename(self.path.with_suffix(".2"))
        self.path.mkdir()
        renew()
        edit("harbour")
        self.assertEqual(len(self.lines(second)), 3)
        reported = re.findall(r".*audit.*", self.server.errors())
        self.assertEqual(reported, [f"ziggurat: cannot open the audit log {self.path}: Is a directory"])

    def files(self) -> list[str]:
        found = []
        for each in Path(f"/proc/{self.server.process.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(each))
        return found


class Alone(SpaceTest):
    def test_a_space_that_is_served_by_itself_has_none(self):
        library = folder("alone") / "library"
        self.space("create", library, SECRET)
        result = run("serve", library, "--space", "--password-file", password(SECRET), "--audit-log", folder("log") / "audit")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--space cannot be used with --audit-log", result.stderr)


if __name__ == "__main__":
    unittest.main()
