"""Private spaces unlocked in a running server: visible to whom, for how long, and what no client learns."""

import json
import time
import unittest

from harness import CRASH, Answer, Server, folder, photo, run, seed
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser
from two_spaces import ONE, TWO, library

ID = "~%2Ffamily%2Fgrandmother"
PATHS = ["api/images/{}", "api/images/{}/viewport?width=300&height=200", "api/images/{}/viewport.tiles?width=300&height=200",
         "api/images/{}/viewport.jpg?width=300&height=200", "dzi/{}.dzi", "dzi/{}_files/9/0_0.jpg", "dzi/{}_files/9/0_0.png",
         "iiif/3/{}", "iiif/3/{}/info.json", "iiif/2/{}/info.json", "iiif/2/{}/0,0,512,512/512,/0/default.jpg",
         "iiif/3/{}/full/max/0/default.jpg", "iiif/presentation/3/{}/manifest", "zoomify/{}/ImageProperties.xml",
         "iip?FIF={}&OBJ=Max-size", "iip?FIF={}.tif&JTL=0,0", "iip?FIF={}&WID=90&CVT=jpeg", "iip?DeepZoom={}.dzi",
         "zoomify/{}/TileGroup0/0-0-0.jpg", "xyz/{}/tilejson.json", "xyz/{}/1/0/0.jpg", "view/{}"]


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = library()

    def serve(self, *options) -> Server:
        return self.enterContext(Server(self.library, *options))

    def test_two_passwords_unlock_two_spaces_and_a_third_none(self):
        server = self.serve()
        first, second, third = Browser(server), Browser(server), Browser(server)
        self.assertEqual(first.unlock(ONE).status, 200)
        self.assertEqual(second.unlock(TWO).status, 200)
        refused = third.unlock("the third of the passwords")
        self.assertEqual(refused.status, 401)
        self.assertEqual(json.loads(refused.body)["detail"], "no space opens with this password")
        self.assertIsNone(third.cookie)
        for browser, title in ((first, "Lighthouse 0"), (second, "Lighthouse 1")):
            self.assertTrue(browser.state()["hasSpace"])
            self.assertEqual(browser.ids(), ["~/family/grandmother", "harbour"])
            self.assertEqual(json.loads(browser.ask(f"api/images/{ID}").body)["title"], title)
        self.assertFalse(third.state()["hasSpace"])
        self.assertEqual(third.ids(), ["harbour"])
        # The other password in the same browser: the first space is gone for it.
        self.assertEqual(first.unlock(TWO).status, 200)
        self.assertEqual(json.loads(first.ask(f"api/images/{ID}").body)["title"], "Lighthouse 1")

    def test_every_protocol_answers_the_session_and_is_like_an_unknown_id_for_others(self):
        server = self.serve()
        inside, outside = Browser(server), Browser(server)
        inside.unlock(ONE)
        outside.cookie = "ziggurat-session=" + "A" * 43
        for path in PATHS:
            found = inside.ask(path.format(ID))
            self.assertIn(found.status, (200, 303), path)
            self.assertEqual(found["cache-control"], "private, no-store", path)
            # Which version an image is, for who edits it.
            tags = () if path.startswith("api/images/") and "json" in found["content-type"] else ("etag",)
            for name in ("access-control-allow-origin", "last-modified", *tags):
                self.assertEqual(found[name], "", path)
            answers = []
            for target in (ID, "~%2Fnone", "none", ID.replace("~", "%7E"), ID.replace("%2F", "/")):
                answer = outside.ask(path.format(target))
                fields = [field for field in answer.fields if field[0] != "date"]
                answers.append((answer.status, fields, answer.body))
            self.assertEqual(answers[0][0], 404, path)
            for other in answers[1:]:
                self.assertEqual(other, answers[0], path)
        # The same picture however its id is spelled.
        tiles = {inside.ask(f"dzi/{spelled}_files/9/0_0.jpg").body
                 for spelled in (ID, ID.replace("~", "%7e"), ID.replace("%2F", "/"))}
        self.assertEqual(len(tiles), 1)
        for path in ("", "api/images", "api/images?q=lighthouse", "api/images/harbour", "iiif/presentation/3/collection"):
            self.assertEqual(inside.ask(path)["cache-control"], "private, no-store", path)
        self.assertIn("Cookie", outside.ask("api/images")["vary"])
        # What is public stays so for everybody's caches.
        self.assertIn("public", inside.ask("dzi/harbour_files/9/0_0.jpg")["cache-control"])

    def test_lists_are_paged_and_searched_across_space_and_library(self):
        inside = Browser(self.serve())
        inside.unlock(ONE)
        seen, cursor = [], ""
        while cursor is not None:
            page = json.loads(inside.ask(f"api/images?limit=1{cursor and '&cursor=' + cursor}").body)
            self.assertEqual(page["total"], 2)
            seen += [image["id"] for image in page["images"]]
            cursor = page.get("nextCursor") and page["nextCursor"].replace("/", "%2F")
        self.assertEqual(seen, ["~/family/grandmother", "harbour"])
        found = json.loads(inside.ask("api/images?q=lighthouse").body)
        self.assertEqual(([image["id"] for image in found["images"]], found["total"]), (["~/family/grandmother"], 1))

    def test_a_wrong_password_is_reported_like_a_library_without_spaces(self):
        with_spaces = Browser(self.serve()).unlock("wrong")
        bare = folder("bare")
        photo(bare / "photos/a.jpg", 300, 200)
        run("build", bare / "photos", "--library", bare / "library", "--quiet")
        without = Browser(self.enterContext(Server(bare / "library", "--private-spaces", "yes"))).unlock("wrong")
        self.assertEqual((with_spaces.status, with_spaces.body), (without.status, without.body))
        self.assertEqual([field for field in with_spaces.fields if field[0] != "date"],
                         [field for field in without.fields if field[0] != "date"])
        closed = Browser(self.serve("--private-spaces", "no"))
        self.assertFalse(closed.state()["acceptsPassword"])
        self.assertEqual(closed.unlock(ONE).status, 403)

    def test_cookie_is_for_this_server_alone(self):
        browser = Browser(self.serve())
        answer = browser.unlock(ONE)
        for attribute in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(attribute, answer["set-cookie"].split("; "))
        self.assertNotIn("Secure", answer["set-cookie"])
        https = Browser(self.serve("--base-url", "https://example.org")).unlock(ONE)
        self.assertIn("Secure", https["set-cookie"].split("; "))

    def test_other_sites_pages_neither_log_in_nor_out(self):
        browser = Browser(self.serve())
        for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Origin": "http://127.0.0.1.evil.example"}):
            self.assertEqual(browser.log_in({"password": ONE}, **headers).status, 403, headers)
            self.assertIsNone(browser.cookie)
        # What a form of another site can send without asking.
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            self.assertEqual(browser.log_in({"password": ONE}, Content_Type=kind).status, 415)
        self.assertEqual(browser.unlock(ONE).status, 200)
        for headers in ({}, {"Sec_Fetch_Site": "cross-site"}, {"Origin": "http://evil.example"}):
            self.assertEqual(browser.ask("api/session", "DELETE", **headers).status, 403, headers)
            self.assertTrue(browser.state()["hasSpace"])
        held = browser.cookie
        self.assertEqual(browser.ask("api/session", "DELETE", Sec_Fetch_Site="same-origin").status, 204)
        browser.cookie = held
        self.assertFalse(browser.state()["hasSpace"], "the id is worth nothing any more")
        self.assertEqual(browser.ask(f"dzi/{ID}_files/9/0_0.jpg").status, 404)

    def test_session_ends_when_idle_and_at_its_longest(self):
        for options in (["--session-idle", "4"], ["--session-max-age", "3"]):
            server = self.serve(*options)
            browser = Browser(server)
            browser.unlock(ONE)
            ended = time.monotonic() + 30
            if options[0] == "--session-idle":
                used = time.monotonic()
                for _ in range(6):
                    time.sleep(1)
                    status = browser.ask(f"dzi/{ID}.dzi").status
                    # A machine that stood still so long has let it be idle.
                    if time.monotonic() - used < 4:
                        self.assertEqual(status, 200, "used every second")
                    used = time.monotonic()
                # To be looked at is no use.
                for _ in range(4):
                    time.sleep(1.2)
                    self.assertLessEqual(browser.state().get("expiresIn", 0), 4)
                self.assertFalse(browser.state()["hasSpace"])
            while browser.state()["hasSpace"] and time.monotonic() < ended:
                time.sleep(0.3)
            self.assertEqual(browser.ask(f"dzi/{ID}_files/9/0_0.jpg").status, 404)

    def test_lock_command_ends_all_sessions(self):
        server = self.serve()
        browsers = [Browser(server), Browser(server)]
        for browser, secret in zip(browsers, (ONE, TWO)):
            browser.unlock(secret)
        result = run("space", "lock", self.library)
        self.assertEqual(result.returncode, 0, result.stderr)
        ended = time.monotonic() + 30
        while any(browser.state()["hasSpace"] for browser in browsers) and time.monotonic() < ended:
            time.sleep(0.2)
        for browser in browsers:
            self.assertFalse(browser.state()["hasSpace"])
            self.assertEqual(browser.unlock(ONE).status, 200, "and the password opens again")
        self.assertEqual(run("space", "lock", folder("nowhere") / "none").returncode, 1)

    def test_nothing_private_is_logged_counted_or_written(self):
        for style in ("text", "json"):
            log = folder("log") / "log"
            before = {path.name for path in self.library.rglob("*")} | {"catalog.sqlite-wal", "catalog.sqlite-shm"}
            with open(log, "w+b") as file:
                with Server(self.library, "--log", style, log=file) as server:
                    browser = Browser(server)
                    browser.unlock(ONE)
                    for path in PATHS:
                        for target in (ID, ID.replace("~", "%7E"), ID.replace("%2F", "/")):
                            browser.ask(path.format(target))
                    browser.ask("api/images?q=lighthouse&cursor=~%2Ffamily")
                    metrics = browser.ask("metrics").body
                    time.sleep(0.5)
                    text = log.read_bytes()
            self.assertGreater(text.count(b"/~") + text.count(b"=~"), 3 * len(PATHS) - 1)
            for secret in (b"grandmother", b"family", b"ighthouse", ONE.encode(), b"ziggurat-session"):
                self.assertNotIn(secret, text)
                self.assertNotIn(secret, metrics)
                for path in self.library.glob("catalog*"):
                    self.assertNotIn(secret, path.read_bytes(), path)
            self.assertLessEqual({path.name for path in self.library.rglob("*")}, before)

    def test_any_request_is_answered(self):
        chance = seed("session JSON")
        server = self.serve()
        browser = Browser(server)
        bodies = [b"", b"{}", b"[]", b"null", b'"password"', b'{"password": 1}', b'{"password": ""}', b'{"password": null}',
                  b'{"password": "a", "token": "b"}', b'{"user": "a"}', b'{"password": ["a"]}', b"\xff\xfe", b"{" * 60_000,
                  b'{"password": "' + b"x" * 1025 + b'"}', b'{"password": "\xff"}', b"[" * 65_000 + b"]" * 500]
        whole = json.dumps({"password": "grüße, 日本 \u0000"}).encode()
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            bodies.append(bytes(data[:chance.randrange(len(data) + 1)]))
        statuses = {}
        for body in bodies:
            status = browser.log_in(body).status
            statuses[status] = statuses.get(status, 0) + 1
        self.assertLessEqual(set(statuses), {400, 401, 429}, statuses)
        self.assertGreater(statuses[400], 200)
        long = browser.log_in(b'{"password": "' + b"x" * 70_000 + b'"}')
        self.assertEqual(long.status, 413)
        chunked = (b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
                   b"Connection: close\r\n\r\n")
        answer = Answer(server.raw(chunked + b"2710\r\n" + b"x" * 10_000 + b"\r\n" + b"0\r\n\r\n"))
        self.assertEqual(answer.status, 400)
        answer = Answer(server.raw(chunked + 8 * (b"2710\r\n" + b"x" * 10_000 + b"\r\n") + b"0\r\n\r\n"))
        self.assertEqual(answer.status, 413)
        for method in ("PUT", "PATCH", "TRACE"):
            answer = browser.ask("api/session", method, b"")
            self.assertEqual(answer.status, 405)
            self.assertIn("DELETE", answer["allow"])
        self.assertTrue(server.alive())
        self.assertNotRegex(server.errors(), CRASH)


if __name__ == "__main__":
    unittest.main()
