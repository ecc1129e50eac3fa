"""What visitors change in a library that servers share: one of them takes it, whichever that is, and nothing that it has
acknowledged is lost."""

import contextlib
import http.client
import json
import os
import threading
import time
from urllib.parse import quote, urlsplit

from harness import Server, photo, run
from test_shared_catalog import SharedCatalogTest

TOKEN = "a-token-for-these-tests"


class WritersTest(SharedCatalogTest):
    """Servers that take changes, each of which is found by the name that it says of itself."""

    def setUp(self):
        super().setUp()
        (self.base / "token").write_text(TOKEN + "\n")
        self.servers = {}
        self.migrated()

    def server(self, number, *options):
        name = f"server-{number}.example"
        self.servers[name] = Server(
            self.bucket, "--catalog", self.database.address, "--writable", "--token-file", self.base / "token", "--advertise-url",
            f"http://{name}/", *options)
        return self.servers[name]

    @contextlib.contextmanager
    def writable(self, count):
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.server(number)) for number in range(count)]

    def asked(self, server, method, path, body=None, **headers):
        """One request, sent on where the answer says so: status, body and headers."""
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            fields = {name.replace("_", "-"): text for name, text in headers.items()} | {"Authorization": f"Bearer {TOKEN}"}
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            reply = answer.read()
            connection.close()
            if answer.status != 307:
                break
            self.assertEqual(answer.headers["Cache-Control"], "private, no-store", path)
            place = urlsplit(answer.headers["Location"])
            self.assertEqual(place.path + (f"?{place.query}" if place.query else ""), path)
            server = self.servers[place.netloc]
        return answer.status, reply, answer.headers


class SharedMetadata(WritersTest):
    """The responses of servers for images whose metadata change."""

    def ask(self, server, method, path, value=None, **headers):
        """The same of JSON."""
        status, body, headers = self.asked(server, method, path, None if value is None else json.dumps(value), **headers)
        return status, json.loads(body) if body[:1] in (b"{", b"[") else body, headers

    def titles(self, server):
        return {item["id"]: item["title"] for item in json.loads(server.get("/api/images?limit=1000").body)["images"]}

    def described(self, server, id):
        """Beside other work a store may be away for a while, and clients get a Retry-After."""
        end = time.monotonic() + 30
        while (answer := server.get(f"/api/images/{quote(id, safe='')}")).status == 503:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        return json.loads(answer.body)

    def writer(self) -> str:
        return self.database.ask("SELECT split_part(address, '/', 3) FROM writer WHERE beat > clock_timestamp() - interval '3 seconds'").strip()


class SharedEdits(SharedMetadata):
    def test_edits_deletions_and_what_undoes_them_are_sent_on_and_seen_by_all(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.build()
        with self.writable(3) as servers:
            for server in servers:
                self.listed(server, "abc")
            self.assertIn(self.writer(), self.servers)
            for number, server in enumerate(servers):
                tag = server.get("/api/images/a")["etag"]
                status, reply, _ = self.ask(server, "PATCH", "/api/images/a", {"title": f"Title {number} <&>"}, If_Match=tag)
                self.assertEqual((status, reply["title"]), (200, f"Title {number} <&>"))
                for each in servers:
                    self.eventually(lambda: self.described(each, "a").get("title"), f"Title {number} <&>")
                    self.eventually(lambda: self.titles(each)["a"], f"Title {number} <&>")
                # By version.
                status, reply, _ = self.ask(server, "PATCH", "/api/images/a", {"title": "late"}, If_Match=tag)
                self.assertEqual(status, 412)
                self.assertEqual(self.ask(server, "DELETE", "/api/images/a", If_Match=tag)[0], 412)
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/none", {"title": "x"})[0], 404)
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/a", {"tittle": "x"})[0], 400)
            # Metadata outlive the archive that they belonged to, and a search finds them.
            photo(self.photos / "a.jpg", 280, 190)
            self.build()
            for server in servers:
                self.eventually(lambda: (self.described(server, "a")["width"], self.described(server, "a")["title"]), (280, "Title 2 <&>"))
                self.assertEqual([item["id"] for item in json.loads(server.get("/api/images?q=title").body)["images"]], ["a"])
            status, reply, _ = self.ask(servers[1], "DELETE", "/api/images/a")
            self.assertEqual((status, reply["deleted"]["images"]), (200, ["a"]))
            for server in servers:
                self.eventually(lambda: server.get("/dzi/a.dzi").status, 404)
                self.listed(server, "bc")
            # Builders find it built; it stays deleted, whatever they write.
            photo(self.photos / "d.jpg", 200, 100)
            self.build()
            self.assertEqual(run("reindex", self.bucket).returncode, 0)
            for server in servers:
                self.listed(server, "bcd")
                deleted = self.ask(server, "GET", "/api/trash")[1]["items"]
                self.assertEqual([each["id"] for each in deleted], [reply["deleted"]["id"]])
            status, back, _ = self.ask(servers[2], "POST", f"/api/trash/{reply['deleted']['id']}/restore")
            self.assertEqual((status, back), (200, {"restored": ["a"], "conflicts": []}))
            for server in servers:
                self.listed(server, "abcd")
                self.eventually(lambda: server.get("/dzi/a.dzi").status, 200)
                self.assertEqual(self.described(server, "a")["title"], "Title 2 <&>")
            self.assertEqual(self.ask(servers[0], "GET", "/api/trash")[1]["items"], [])
            self.assertEqual(self.ask(servers[0], "DELETE", "/api/images/none")[0], 404)

    def test_ids_that_need_escapes_in_an_array_delay_no_request(self):
        photo(self.photos / "a.jpg", 300, 200)
        photo(self.photos / 'x"\u0301\\\u0301.jpg', 280, 200)
        self.build()
        with self.writable(1) as servers:
            self.listed(servers[0], ["a", 'x"\u0301\\\u0301'])
            for text in ('x"\u0301\\\u0301', 'a"\u0301', "a\\\u0301", '\u0600"', '"\ufe0f,"'):
                answer = servers[0].get(f"/api/images/{quote(text, safe='')}")
                self.assertEqual(answer.status, 200 if text.startswith("x") else 404, text)
            self.assertEqual(self.ask(servers[0], "DELETE", f"/api/images/{quote('x%s' % chr(34) + chr(0x301) + chr(92) + chr(0x301), safe='')}")[0], 200)
            self.listed(servers[0], ["a"])

    def test_an_invalid_address_is_announced_to_no_client(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "a")
            other = next(server for name, server in self.servers.items() if name != self.writer())
            self.database.ask("UPDATE writer SET address = E'http://x/\\r\\nSet-Cookie: a=b'")
            asked = lambda: other.get("/api/images/a", "DELETE", Authorization=f"Bearer {TOKEN}")
            self.eventually(lambda: asked().status, 503)
            self.assertEqual((asked()["location"], asked()["set-cookie"]), ("", ""))

    def test_redirects_and_errors_without_a_database(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "a")
            writer = self.writer()
            other = next(server for name, server in self.servers.items() if name != writer)
            token = {"Authorization": f"Bearer {TOKEN}"}
            answer = other.get('/api/images/a"%3C?b="<', "DELETE", **token)
            self.assertEqual((answer.status, answer["location"]), (307, f"http://{writer}/api/images/a%22%3C?b=%22%3C"))
            # A cache that looks for the writer; version 0.1 had the second header.
            for header in ({"Ziggurat-Require-Writer": "?1"}, {"Ziggurat-Writer": "required"}):
                self.assertEqual([server.get("/healthz", **header).status for server in (self.servers[writer], other)], [200, 503], header)
            for header in ({"Ziggurat-Require-Writer": "?0"}, {"Ziggurat-Writer": "no"}):
                self.assertEqual(other.get("/healthz", **header).status, 200, header)
            # Who may change nothing is sent nowhere.
            answer = other.get("/api/images/a", "DELETE")
            self.assertEqual((answer.status, answer["location"]), (401, ""))
            self.database.kill()
            self.eventually(lambda: b"degraded" in self.servers[writer].get("/healthz").body, True)
            for method, path in (("GET", "/api/trash"), ("DELETE", "/api/images/a")):
                answer = self.servers[writer].get(path, method, **token)
                self.assertEqual((answer.status, answer["retry-after"]), (503, "1"), path)
            self.database.start()

    def test_no_acknowledged_edit_is_lost_when_the_database_is_killed(self):
        for name in "abcd":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "abcd")
            acknowledged, stops = {}, threading.Event()

            def edit(id):
                number = 0
                while not stops.is_set():
                    number += 1
                    title = f"{id} {number}"
                    try:
                        status = self.ask(servers[0], "PATCH", f"/api/images/{id}", {"title": title})[0]
                    except OSError:
                        continue
                    # 204: it is done, and what it made cannot be read now.
                    if status in (200, 204):
                        acknowledged[id] = number
                    else:
                        time.sleep(0.05)

            threads = [threading.Thread(target=edit, args=(id,)) for id in "abcd"]
            for each in threads:
                each.start()
            try:
                for _ in range(2):
                    before = dict(acknowledged)
                    self.eventually(lambda: all(acknowledged.get(id, 0) > before.get(id, 0) + 2 for id in "abcd"), True)
                    self.database.kill()
                    self.database.start()
                before = dict(acknowledged)
                self.eventually(lambda: all(acknowledged.get(id, 0) > before[id] for id in "abcd"), True)
            finally:
                stops.set()
                for each in threads:
                    each.join()
            for server in servers:
                for id, number in acknowledged.items():
                    # What was asked for later, and not acknowledged, may stand there instead.
                    self.eventually(lambda: int(self.described(server, id)["title"].split()[1]) >= number, True)
