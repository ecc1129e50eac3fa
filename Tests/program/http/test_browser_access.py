"""Access by the headers of browsers: the Host of a request, the site of a page, the cookies that are sent."""

import socket
import time
import unittest

import upload_client
from harness import Answer, Server, folder, heard, photo, run, sample_library
from space_client import Browser
from upload_client import TOKEN, Client

TILE = "/dzi/photo_files/12/0_0.jpg"
PLACES = [TILE, "/", "/api/images", "/healthz", "/dzi/photo.dzi", "/iiif/3/photo/0,0,300,300/50,/0/default.jpg", "/view/photo"]


def ask(server: Server, target: str, host: str, method: str = "GET", **headers) -> Answer:
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return Answer(server.raw("\r\n".join(lines).encode() + b"\r\n\r\n"), method)


class Hosts(unittest.TestCase):
    def test_an_unknown_host_name_for_this_machine_reads_nothing(self):
        with Server(sample_library()) as server:
            for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "localhost.evil.example", "printer"):
                for target in [*PLACES, "/metrics"]:
                    for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE"):
                        answer = ask(server, target, host, method)
                        self.assertEqual(answer.status, 421, (host, target, method))
                        self.assertEqual(answer["access-control-allow-origin"], "")
                self.assertIn(f"'{host}'".encode(), ask(server, "/", host).body)
                self.assertIn(b"--allow-host", ask(server, "/", host).body)
            for host in ("127.0.0.1", f"localhost:{server.port}", "a.localhost", "[::1]:80", socket.gethostname(), ""):
                for target in PLACES:
                    self.assertEqual(ask(server, target, host).status, 200, (host, target))
            # Another name on a connection that had a good one before.
            with server.connect() as connection:
                for host, status in (("localhost", b" 200 "), ("evil.example", b" 421 ")):
                    connection.sendall(f"GET {TILE} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    self.assertIn(status, connection.recv(100_000)[:20])

    def test_names_are_allowed(self):
        for options, hosts, others in (
            (["--allow-host", "images.example,*.museum.example", "--allow-host", "more.example"],
             ["images.example", "IMAGES.example:80", "a.b.museum.example", "more.example"], ["museum.example", "a.images.example"]),
            (["--base-url", "https://public.example:8443/images"], ["public.example", "public.example:8443"], ["a.public.example"]),
            (["--allow-host", "*"], ["evil.example"], []),
        ):
            with Server(sample_library(), *options) as server:
                for host in hosts + ["127.0.0.1"]:
                    self.assertEqual(ask(server, TILE, host).status, 200, (options, host))
                for host in others + ["evil.example"] * ("*" not in options):
                    self.assertEqual(ask(server, TILE, host).status, 421, (options, host))

    def test_an_invalid_name_is_reported(self):
        for option, values in (("--allow-host", ("a b", "http://a", "a:80", "")), ("--allow-origin", ("example.org", "https://a/", "")),
                               ("--frame-ancestors", ("example.org", "https://a; script-src *", "none,self"))):
            for value in values:
                result = run("serve", sample_library(), option, value)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertTrue(result.stderr.startswith(f"ziggurat: invalid value '{value}' for {option} (expected "), result.stderr)


class Origins(unittest.TestCase):
    PAGE = "https://app.example"

    def test_every_site_reads_and_none_writes_where_nothing_is_said(self):
        with upload_client.serve(sample_library()) as server:
            for target in PLACES:
                answer = server.get(target, Origin="https://evil.example")
                self.assertEqual((answer.status, answer["access-control-allow-origin"]), (200, "*"), target)
            asked = server.get("/api/images/photo", "OPTIONS", Origin=self.PAGE, Access_Control_Request_Method="PATCH",
                               Access_Control_Request_Headers="authorization")
            self.assertNotIn("PATCH", asked["access-control-allow-methods"])
            self.assertNotIn("authorization", asked["access-control-allow-headers"].lower())

    def test_named_sites_alone_read(self):
        for options, named in ((["--allow-origin", f"{self.PAGE},http://other.example:8080"], True), (["--allow-origin", "none"], False)):
            with Server(sample_library(), *options) as server:
                for target in PLACES + ["/nothing", "/api/nothing", f"{TILE}x"]:
                    for origin, isNamed in ((self.PAGE, named), ("http://other.example:8080", named), ("https://evil.example", False),
                                            ("http://app.example", False), ("null", False), (None, False)):
                        answer = server.get(target, **({"Origin": origin} if origin else {}))
                        self.assertEqual(answer["access-control-allow-origin"], origin if isNamed else "", (target, origin))
                        self.assertIn("Origin", answer["vary"].split(", "), target)
                        self.assertEqual(answer["access-control-allow-credentials"], "")
                part = server.get(TILE, Origin=self.PAGE, Range="bytes=0-9")
                again = server.get(TILE, Origin=self.PAGE, If_None_Match=part["etag"])
                self.assertEqual((part.status, again.status), (206, 304))
                for answer in (part, again):
                    self.assertEqual(answer["access-control-allow-origin"], self.PAGE if named else "")

    def test_a_named_site_writes_with_the_token_and_never_with_a_cookie(self):
        library = folder("library")
        photo(library / "photos/a.jpg", 300, 200)
        run("build", library / "photos", "--library", library / "l", "--quiet")
        server = self.enterContext(upload_client.serve(library / "l", "--allow-origin", self.PAGE))
        asked = server.get("/api/images/a", "OPTIONS", Origin=self.PAGE, Access_Control_Request_Method="PATCH")
        self.assertEqual(asked["access-control-allow-origin"], self.PAGE)
        # Each path has its own methods; a session is for this server's own pages.
        for path, methods in {"/api/images/a": {"PATCH", "DELETE"}, "/api/images/a/move": {"POST"}, "/api/images/a/copies": {"POST"},
                              "/api/trash": {"POST"}, "/api/trash/x/restore": {"POST"}, "/api/uploads": {"POST"},
                              "/api/uploads/x": {"PATCH", "DELETE"}, "/api/images": set(), "/api/images/a/viewport": set(),
                              "/api/events": set(), "/dzi/a.dzi": set(), "/nothing": set()}.items():
            answer = server.get(path, "OPTIONS", Origin=self.PAGE, Access_Control_Request_Method="POST")
            for field in ("allow", "access-control-allow-methods"):
                self.assertEqual(set(answer[field].split(", ")), {"GET", "HEAD", "OPTIONS"} | methods, (path, field))
            self.assertIn("Authorization", answer["access-control-allow-headers"].split(", "), path)
        session = server.get("/api/session", "OPTIONS", Origin=self.PAGE, Access_Control_Request_Method="POST")
        self.assertEqual((session["access-control-allow-origin"], session["access-control-allow-methods"]), ("", ""))
        for name in ("Authorization", "Content-Type", "Upload-Offset", "Tus-Resumable"):
            self.assertIn(name, asked["access-control-allow-headers"].split(", "))
        other = server.get("/api/images/a", "OPTIONS", Origin="https://evil.example", Access_Control_Request_Method="PATCH")
        self.assertEqual((other["access-control-allow-origin"], other["access-control-allow-methods"].count("PATCH")), ("", 0))
        client = Client(server)
        edited = client.ask("PATCH", "/api/images/a", b'{"title": "Here"}', tus=False, Content_Type="application/json",
                            Origin=self.PAGE, Sec_Fetch_Site="cross-site")
        self.assertEqual((edited.status, edited["access-control-allow-origin"]), (200, self.PAGE), edited)
        made = client.ask("POST", "/api/uploads", Upload_Length=10, Origin=self.PAGE)
        self.assertEqual((made.status, made["access-control-allow-origin"]), (201, self.PAGE))
        self.assertIn("Location", made["access-control-expose-headers"].split(", "))
        refused = client.ask("PATCH", "/api/images/a", b"{}", token="x" * 20, Origin=self.PAGE)
        self.assertEqual((refused.status, refused["access-control-allow-origin"]), (401, self.PAGE))
        # A session is this server's own pages'.
        browser = Browser(server)
        self.assertEqual(browser.log_in({"token": TOKEN}, Origin=self.PAGE, Sec_Fetch_Site="cross-site").status, 403)
        self.assertEqual(browser.log_in({"token": TOKEN}).status, 200)
        edited = browser.ask("api/images/a", "PATCH", b'{"title": "There"}', Content_Type="application/json", Origin=self.PAGE,
                             Sec_Fetch_Site="cross-site")
        self.assertEqual((edited.status, edited["access-control-allow-origin"]), (403, ""))
        state = browser.ask("api/session", Origin=self.PAGE)
        self.assertEqual((state.status, state["access-control-allow-origin"]), (200, ""))


class Frames(unittest.TestCase):
    def policy(self, server: Server, target: str) -> str:
        directives = [part.strip() for part in server.get(target)["content-security-policy"].split(";")]
        return next(word for word in directives if word.startswith("frame-ancestors"))

    def test_named_sites_frame_pictures_and_no_other_page(self):
        for options, policy in (([], "*"), (["--frame-ancestors", "self"], "'self'"), (["--frame-ancestors", "none"], "'none'"), (["--frame-ancestors", "*"], "*"),
                                (["--frame-ancestors", "self,https://museum.example", "--frame-ancestors", "https://*.b.example"],
                                 "'self' https://museum.example https://*.b.example")):
            with Server(sample_library(), *options) as server:
                for target in ("/embed/photo", "/embed/deep%2Fer%2Fleaf", "/embed/none"):
                    self.assertEqual(self.policy(server, target), f"frame-ancestors {policy}")
                own = "'self'"
                for target in ("/view/photo", "/view/none"):
                    self.assertEqual(self.policy(server, target), f"frame-ancestors {policy if options else own}")
                for target in ("/", "/embed", "/view.html", "/index.html", "/embed/~%2Fphoto", "/view/~%2Fphoto"):
                    self.assertEqual(self.policy(server, target), "frame-ancestors 'self'")


class Cookies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        photo(cls.library / "photos/a.jpg", 300, 200)
        run("build", cls.library / "photos", "--library", cls.library / "l", "--quiet")

    def serve(self, *options) -> Server:
        return self.enterContext(upload_client.serve(self.library / "l", *options))

    def test_over_tls_the_cookie_is_this_hosts_alone(self):
        browser = Browser(self.serve("--base-url", "https://images.example"))
        answer = browser.log_in({"token": TOKEN})
        name, *attributes = answer["set-cookie"].split("; ")
        self.assertTrue(name.startswith("__Host-ziggurat-session="))
        self.assertEqual(sorted(attributes), ["HttpOnly", "Path=/", "SameSite=Strict", "Secure"])
        self.assertTrue(browser.state()["canWrite"])
        # What somebody without TLS has put into the browser is not looked at.
        held = browser.cookie
        browser.cookie = f"ziggurat-session={'A' * 43}; {held}"
        self.assertTrue(browser.state()["canWrite"])
        browser.cookie = held.replace("__Host-", "")
        self.assertFalse(browser.state()["canWrite"])
        browser.cookie = held
        gone = browser.ask("api/session", "DELETE", Sec_Fetch_Site="same-origin")["set-cookie"]
        self.assertTrue(gone.startswith("__Host-ziggurat-session=;"))
        for attribute in ("Secure", "Path=/", "Max-Age=0"):
            self.assertIn(attribute, gone.split("; "))

    def test_two_of_one_name_are_refused(self):
        for options, name in (([], "ziggurat-session"), (["--base-url", "https://images.example"], "__Host-ziggurat-session")):
            with upload_client.serve(self.library / "l", *options) as server:
                browser = Browser(server)
                self.assertEqual(browser.log_in({"token": TOKEN}).status, 200)
                held = browser.cookie
                for more in (f"; {held}", f"; {name}=x", f";{name}=", f"\r\nCookie: {name}=x"):
                    browser.cookie = held + more
                    for target in ("api/session", "api/images", "dzi/a.dzi", "dzi/a_files/9/0_0.jpg", ""):
                        self.assertEqual(browser.ask(target).status, 400, (more, target))
                for more in ("; a=1; a=2", f"; x{name}=y; {name}s=z", f"; y={name}"):
                    browser.cookie = held + more
                    self.assertTrue(browser.state()["canWrite"], more)

    def test_events_end_with_their_session(self):
        server = self.serve("--session-idle", "4")
        browsers = [Browser(server) for _ in range(3)]
        for browser in browsers:
            self.assertEqual(browser.log_in({"token": TOKEN}).status, 200)
        streams = []
        for line in [f"Cookie: {browser.cookie}" for browser in browsers] + [f"Authorization: Bearer {TOKEN}"]:
            stream = server.connect()
            self.addCleanup(stream.close)
            stream.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\n{line}\r\n\r\n".encode())
            self.assertIn(b" 200 ", stream.recv(1000))
            streams.append(stream)

        def ends(stream: socket.socket) -> bool:
            return (end := heard(stream, 60)).endswith(b"0\r\n\r\n") or not end

        # Logged out; restarted, with more rights; not used.
        self.assertEqual(browsers[0].ask("api/session", "DELETE", Sec_Fetch_Site="same-origin").status, 204)
        self.assertTrue(ends(streams[0]))
        self.assertEqual(browsers[1].log_in({"token": TOKEN}).status, 200)
        self.assertTrue(ends(streams[1]))
        self.assertTrue(ends(streams[2]))
        # The token is no session: the outcome of an upload is reported as before.
        made = Client(server).create(10, filename="a.jpg")
        self.assertEqual(made.status, 201)
        reported, until = b"", time.monotonic() + 30
        while made["location"].split("/")[-1].encode() not in reported and time.monotonic() < until:
            reported += heard(streams[3], 1)
        self.assertIn(made["location"].split("/")[-1].encode(), reported)


if __name__ == "__main__":
    unittest.main()
