"""The access log: one line an answer, which says what was asked, how it ended and how long it took, and no secret."""

import collections
import datetime
import json
import os
import re
import subprocess
import time
import unittest

from harness import Server, folder, sample_library

TILE = "/dzi/photo_files/12/0_0.jpg"
VIEW = "width=640&height=480&scale=0.25&x=3&y=-5.5&center=1,2"
TIMESTAMP = r"^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z$"
SECRET = "correct-horse-battery-staple"


class AccessLog(unittest.TestCase):
    def logged(self, style: str, requests: list, *options) -> tuple[list[str], str]:
        """The lines that a server of the sample wrote for these requests, and its last metrics."""
        with open(folder("log") / "log", "w+b") as file:
            with Server(sample_library(), "--log", style, *options, log=file) as server:
                for request in requests:
                    server.raw(request) if isinstance(request, bytes) else server.get(request)
                # A line is written when its answer was sent, which the client may see first.
                deadline = time.monotonic() + 60
                while self.count(server) < len(requests) and time.monotonic() < deadline:
                    time.sleep(0.05)
                path, metrics = file.name, server.get("/metrics").body.decode()
            with open(path, encoding="utf-8") as written:
                # Those for metrics come last or stand between: they are not the matter.
                lines = [line for line in written.read().splitlines() if "/metrics" not in line and "/healthz" not in line and not line.startswith("serving ")]
        return lines, metrics

    @staticmethod
    def count(server) -> int:
        text = server.get("/metrics").body.decode()
        return sum(int(value) for route, value in re.findall(r'requests_total\{route="(\w+)",status="\d+"\} (\d+)', text)
                   if route not in ("metrics", "healthz"))

    def test_a_line_says_what_was_asked(self):
        asked = [TILE, TILE + "?g=abc", "/api/images?limit=2&q=deep%20leaf", f"/api/images/photo/viewport?{VIEW}", "/nothing",
                 "/iiif/3/photo/0,0,300,300/50,/0/default.jpg"]
        lines, _ = self.logged("json", asked)
        entries = [json.loads(line) for line in lines]
        self.assertEqual([(entry["path"], entry["query"]) for entry in entries],
                         [(path, query) for path, _, query in (target.partition("?") for target in asked)])
        for entry in entries:
            self.assertEqual(set(entry), {"time", "client", "method", "path", "query", "status", "bytes", "seconds"})
            self.assertIsInstance(entry["seconds"], float)
            self.assertEqual((entry["client"], entry["method"]), ("127.0.0.1", "GET"))
            self.assertRegex(entry["time"], TIMESTAMP)
        lines, _ = self.logged("text", asked)
        for line, target, entry in zip(lines, asked, entries, strict=True):
            self.assertRegex(line, r'^\S+Z 127\.0\.0\.1 GET \S+ \d+ \d+ \d+\.\d{6} "-" "-"$')
            self.assertEqual(line.split(" ")[3:6], [target, str(entry["status"]), str(entry["bytes"])])

    def test_the_seconds_are_those_of_the_metrics(self):
        asked = [TILE, "/dzi/photo.dzi", TILE, "/dzi/photo_files/12/1_1.webp", "/xyz/photo/0/0/0.jpg", "/zoomify/photo/x"]
        lines, metrics = self.logged("json", asked)
        seconds, bytes_sent = collections.Counter(), collections.Counter()
        for entry in map(json.loads, lines):
            seconds[entry["path"].split("/")[1]] += round(entry["seconds"] * 1_000_000)
            bytes_sent[entry["path"].split("/")[1]] += entry["bytes"]
        for route in ("dzi", "xyz", "zoomify"):
            reported = float(re.search(rf'duration_seconds_sum\{{route="{route}"\}} (\S+)', metrics)[1])
            self.assertEqual(seconds[route], round(reported * 1_000_000), route)
            self.assertGreater(seconds[route], 0)
            reported = int(re.search(rf'sent_bytes_total\{{route="{route}"\}} (\d+)', metrics)[1])
            self.assertEqual(bytes_sent[route], reported, route)

    def test_what_the_server_does_not_know_is_not_written(self):
        asked = [f"/?{name}={SECRET}" for name in ("token", "key", "password", "access_token", "Q", "%71", "")]
        asked += [f"/?{SECRET}", f"{TILE}?a&{SECRET}=1&g=7&&token={SECRET}", f"/api/images?limit=3&token={SECRET}",
                  f"/api/session?password={SECRET}",
                  f"GET {TILE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\nCookie: ziggurat-session={SECRET}\r\n"
                  "Connection: close\r\n\r\n".encode()]
        for style in ("json", "text"):
            lines, _ = self.logged(style, asked)
            self.assertEqual(len(lines), len(asked))
            self.assertNotIn(SECRET, "\n".join(lines))
            if style == "json":
                queries = [json.loads(line)["query"] for line in lines]
                self.assertEqual(queries[:8], ["*"] * 8)
                self.assertEqual(queries[8:11], ["*&*&g=7&&*", "limit=3&*", "*"])

    def test_an_image_named_by_a_query_is_logged_like_one_named_by_a_path(self):
        asked = ["/iip?FIF=photo&JTL=3,7", "/iip?fif=deep/er/leaf.tif&Obj=Max-size&_=5", f"/iip?FIF=photo&TOKEN={SECRET}&JTL=0,0"]
        hidden = [f"/iip?{command}{tilde}%2F{SECRET}{rest}" for tilde in ("~", "%7e", "%7E", "/~")
                  for command, rest in (("FIF=", "&JTL=0,0"), ("JTL=0,0&fif=", ""), ("DeepZoom=", ".dzi"),
                                        ("IIIF=", "/info.json"))]
        lines, _ = self.logged("json", asked + hidden)
        queries = [json.loads(line)["query"] for line in lines]
        self.assertEqual(queries[:3], ["FIF=photo&JTL=3,7", "fif=deep/er/leaf.tif&Obj=Max-size&*", "FIF=photo&*&JTL=0,0"])
        self.assertEqual(len(queries), len(asked + hidden))
        self.assertNotIn(SECRET, "\n".join(lines))

    def test_no_line_can_be_forged(self):
        asked = [b'GET /api/images?q=a"b\\c\x7f\x1b[2J HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
                 b"GET /api/images?q=%0d%0aGET%20/forged%20200 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 b"GET /api/images?q=\xff\xfe\xc2\x85 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 f"/api/images?q={'x' * 3000}"]
        lines, _ = self.logged("json", asked)
        self.assertEqual(len(lines), len(asked))
        queries = [json.loads(line)["query"] for line in lines]
        self.assertEqual(queries[:2], ['q=a"b\\c\x7f\x1b[2J', "q=%0d%0aGET%20/forged%20200"])
        for line in lines:
            self.assertNotRegex(line, r"[\x00-\x1f\x7f-\x9f]")
        lines, _ = self.logged("text", asked)
        self.assertEqual(len(lines), len(asked))
        for line in lines:
            self.assertNotRegex(line, r"[\x00-\x1f\x7f-\x9f]")
            self.assertEqual(len(line.split(" ")), 9)

    def test_referer_and_user_agent_are_logged_as_nginx_logs_them(self):
        def sent(referer: str | bytes, agent: str | bytes) -> bytes:
            fields = b"".join(name + b": " + (value.encode() if isinstance(value, str) else value) + b"\r\n"
                              for name, value in ((b"Referer", referer), (b"user-agent", agent)) if value)
            return b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" % TILE.encode() + fields + b"\r\n"

        long = "x" * 2000
        asked = [sent("https://example.org/page", "Mozilla/5.0 (X11; Linux x86_64)"), sent("", "curl/8"), sent("https://example.org/", ""),
                 sent(f"https://user:{SECRET}@example.org/a?q={SECRET}#{SECRET}", "a"), sent(f"http://localhost/view/~/{SECRET}", "a"),
                 sent(b'https://example.org/"\\\x7f\xc2\x85', 'a" 200 "b\\\t\u202e\u2028\u200b'), sent(f"https://example.org/{long}", long),
                 sent("https://example.org/é", b"caf\xe9")]
        expected = [("https://example.org/page", "Mozilla/5.0 (X11; Linux x86_64)"), (None, "curl/8"), ("https://example.org/", None),
                    ("https://example.org/a?*", "a"), ("http://localhost/view/~", "a"),
                    ('https://example.org/"\\\x7f\x85', 'a" 200 "b\\\t\u202e\u2028\u200b'),
                    (f"https://example.org/{long}"[:512] + "…", long[:512] + "…"), ("https://example.org/é", "caf\ufffd")]
        lines, _ = self.logged("json", asked)
        self.assertEqual([(entry.get("referer"), entry.get("user_agent")) for entry in map(json.loads, lines)], expected)
        texts, _ = self.logged("text", asked)
        self.assertEqual(len(texts), len(asked))
        for line, (referer, agent) in zip(texts, expected, strict=True):
            self.assertEqual(line.count("\u202e"), 0)
            # The same escapes as in JSON.
            fields = re.search(r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$', line)
            self.assertEqual([json.loads(f'"{field}"') for field in fields.groups()], [referer or "-", agent or "-"])
        for line in lines + texts:
            self.assertNotRegex(line, "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202e\u200b]")
            self.assertNotIn(SECRET, line)

    def test_a_line_has_the_time_and_the_client(self):
        asked = [f"GET {TILE} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {forwarded}\r\nConnection: close\r\n\r\n".encode()
                 for forwarded in ("203.0.113.9", "198.51.100.1, 2001:DB8::7", "x\r\nX-Forwarded-For: 203.0.113.10", "x")]
        clients = ["203.0.113.9", "2001:db8::7", "203.0.113.10", "127.0.0.1"]
        for style in ("json", "text"):
            for options, expected in ((["--trusted-proxy", "127.0.0.1"], clients), ([], ["127.0.0.1"] * 4)):
                began = time.time()
                lines, _ = self.logged(style, asked, *options)
                fields = [(entry["time"], entry["client"]) for entry in map(json.loads, lines)] if style == "json" else [
                    line.split(" ")[:2] for line in lines]
                self.assertEqual([client for _, client in fields], expected)
                for time_text, _ in fields:
                    self.assertRegex(time_text, TIMESTAMP)
                    reported = datetime.datetime.fromisoformat(time_text.replace("Z", "+00:00")).timestamp()
                    self.assertLess(began - 1, reported)
                    self.assertLess(reported, time.time() + 1)

    @unittest.skipUnless(os.geteuid() == 0, "mounts a file system")
    def test_a_full_disk_loses_whole_lines_and_says_so_once(self):
        place = folder("full")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", place], check=True))
        with Server(sample_library(), "--log", "json", "--log-file", place / "log") as server, server.connect() as connection:
            def ask(count: int):
                for _ in range(count):
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    self.assertIn(b" 200 ", connection.recv(4096)[:20])

            def wait(condition):
                deadline = time.monotonic() + 30
                while not condition():
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)

            (place / "ballast").write_bytes(b"x" * (36 << 10))
            ask(600)
            wait(lambda: server.metrics()["access_log_lost_lines_total"] > 100)
            ask(100)
            wait(lambda: "cannot write the access log: no space left on device" in server.errors())
            (place / "ballast").unlink()
            # Some lines of those that were lost, and then one that is written.
            time.sleep(0.5)
            ask(1)
            wait(lambda: "lines of the access log are written again" in server.errors())
            ask(10)
            reported = server.errors()
            time.sleep(0.5)
            lost = server.metrics()["access_log_lost_lines_total"]
            self.assertEqual(reported.count("access log"), 2, reported)
            self.assertIn(f"; {lost:.0f} were lost", reported)
        lines = (place / "log").read_text().split("\n")
        self.assertEqual(lines.pop(), "")
        for line in lines:
            json.loads(line)
        self.assertGreater(len(lines), 50)


if __name__ == "__main__":
    unittest.main()
