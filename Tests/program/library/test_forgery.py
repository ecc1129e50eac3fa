"""Cross-site request forgery: what a session may do, no other site's page makes it do, by whichever route."""

import json
import unittest

from harness import folder, photo, run
from szi import archives
from upload_client import Client, TOKEN, serve

FOREIGN = [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1.evil.example"},
           {"Origin": "http://127.0.0.1@evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
           {"Sec_Fetch_Site": "none"}, {"Sec_Fetch_Site": "cross-site", "Origin": "http://127.0.0.1"},
           {"Referer": "http://127.0.0.1/"}]
# What a form of another site can send without asking first.
FORMS = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]


class Forgery(unittest.TestCase):
    def setUp(self):
        base = folder("forgery")
        self.library = base / "library"
        built = run("build", photo(base / "one.jpg", 300, 200), "--library", self.library, "--quiet")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.server = serve(self.library, "--private-spaces", "yes")
        self.addCleanup(self.server.stop)
        self.client = Client(self.server)
        self.cookie = self.session()

    def session(self) -> str:
        login = self.client.ask("POST", "/api/session", json.dumps({"token": TOKEN}).encode(), token=None, tus=False,
                                Content_Type="application/json")
        self.assertEqual(login.status, 200, login)
        return login["set-cookie"].split(";")[0]

    def routes(self) -> list[tuple[str, str]]:
        """All that changes something, as the server describes itself: a new route is asked, too."""
        paths = json.loads(self.server.get("/openapi.json").body)["paths"]
        upload = self.client.create(1000, filename="open.jpg")["location"]
        deleted = json.loads(self.client.ask("GET", "/api/trash", tus=False).body)["items"]
        values = {"{deletion}": deleted[0]["id"] if deleted else "0-0"}
        routes = []
        for path, ways in paths.items():
            path = upload if path == "/api/uploads/{id}" else path.replace("{id}", "one")
            for name, value in values.items():
                path = path.replace(name, value)
            routes += [(way.upper(), path) for way in ways if way not in ("get", "head", "options", "parameters")]
        return routes

    def test_no_other_sites_page_changes_anything(self):
        routes = self.routes()
        self.assertGreaterEqual(len(routes), 8, routes)
        before = [path.stat().st_mtime_ns for path in archives(self.library)]
        for method, path in routes:
            for headers in FOREIGN:
                # Logging in needs no session yet: there the browser's own word that it is another site counts.
                if (method, path) == ("POST", "/api/session") and headers.get("Sec_Fetch_Site", "none") == "none" \
                        and headers.get("Origin", "http://127.0.0.1/") == "http://127.0.0.1/":
                    continue
                with self.subTest(f"{method} {path}", headers=headers):
                    answer = self.client.ask(method, path, b"{}", token=None, Cookie=self.cookie, Content_Type="application/json",
                                             Upload_Length=5, Upload_Offset=0, **headers)
                    self.assertEqual(answer.status, 403, answer)
                    self.assertEqual(answer["set-cookie"], "")
        self.assertEqual([path.stat().st_mtime_ns for path in archives(self.library)], before)
        self.assertEqual(self.client.images(), {"one"})
        # The same session may, from the server's own page.
        answer = self.client.ask("PATCH", "/api/images/one", b'{"title": "mine"}', token=None, tus=False, Cookie=self.cookie,
                                 Origin="http://127.0.0.1", Content_Type="application/json")
        self.assertEqual(answer.status, 200, answer)

    def test_no_form_of_another_site_logs_a_browser_in(self):
        body = json.dumps({"token": TOKEN}).encode()
        for kind in FORMS:
            answer = self.client.ask("POST", "/api/session", body, token=None, tus=False, Content_Type=kind)
            self.assertEqual((answer.status, answer["set-cookie"]), (415, ""), kind)
        for headers in FOREIGN[1:]:
            if headers.get("Sec_Fetch_Site") == "none" or "Referer" in headers:
                continue
            answer = self.client.ask("POST", "/api/session", body, token=None, tus=False, Content_Type="application/json", **headers)
            self.assertEqual((answer.status, answer["set-cookie"]), (403, ""), headers)

    def test_reading_changes_nothing(self):
        """A picture or a link of another site brings the cookie along wherever SameSite is not obeyed."""
        paths = ["/api/session", "/api/images/one", "/api/uploads", "/api/trash", "/api/trash/0-0/restore"]
        for path in paths:
            for override in ("DELETE", "PATCH", "POST"):
                self.client.ask("GET", path, token=None, tus=False, Cookie=self.cookie, X_HTTP_Method_Override=override)
                self.client.ask("GET", f"{path}?_method={override}", token=None, tus=False, Cookie=self.cookie)
        self.assertEqual(self.client.images(), {"one"})
        reported = self.client.ask("GET", "/api/session", token=None, tus=False, Cookie=self.cookie)
        self.assertTrue(json.loads(reported.body)["canWrite"])


if __name__ == "__main__":
    unittest.main()
