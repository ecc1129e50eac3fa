"""Heads of requests of any shape: within the limit they pass, beyond it there is one complete refusal, which a strict client parses."""

import os
import socket
import unittest

import strict
from harness import Server, heard, sample_library

LIMIT = 8 << 10
LINE = b"GET /healthz HTTP/1.1\r\n"


def head(fields: int, size: int) -> bytes:
    """So many headers of so many bytes in all, two or more."""
    lines = [b"Host: localhost\r\n", b"Connection: close\r\n"]
    left, count = size - sum(map(len, lines)), fields - 2
    for number in range(count):
        length = left // (count - number)
        left -= length
        name = b"X-%d: " % number
        lines.append(name + b"a" * (length - len(name) - 2) + b"\r\n")
    return b"".join(lines)

RENDERED = b"/iiif/3/photo/full/99,/0/default.png"
# Nothing is decoded under the address sanitizer: the sandbox does not let it start.
RENDERS = 500 if "ASAN_OPTIONS" in os.environ else 200


class Heads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # What a Host is called is not the matter here.
        cls.server = Server(sample_library(), "--allow-host", "*")

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        assert code == 0, code

    def ask(self, *parts: bytes, methods: tuple = ("GET",)) -> list:
        """The answers, parsed. Each part is sent by itself, and all is read until the server ends the connection."""
        with self.server.connect() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for part in parts:
                    connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                pass
            data = heard(connection, 10)
        self.assertNotIn(b"<html", data.lower())
        return strict.answers(data, *methods)

    def test_bytes_count_and_not_fields(self):
        for fields in (2, 3, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 190, 199, 200):
            for size in (36, *range(1 << 10, 17 << 10, 1 << 10), 6000, 7600, LIMIT - 1, LIMIT + 1, 9000):
                text = head(fields, size)
                if len(text) != size:
                    continue  # So many do not fit, or so few.
                with self.subTest(fields=fields, size=size):
                    request = LINE + text + b"\r\n"
                    for parts in ((request,), (request[:30], request[30:]), (request[:-1], request[-1:])):
                        parsed = self.ask(*parts)
                        self.assertEqual([answer.status for answer in parsed], [200 if size <= LIMIT else 431])
                        if size > LIMIT:
                            self.assertEqual(parsed[0]["connection"], "close")

    def test_the_longest_heads_leave_memory_for_every_answer(self):
        targets = [b"/", b"/view/photo", b"/embed/photo", b"/api/images/photo", b"/api/images", b"/iiif/2/photo/info.json",
                   b"/iiif/3/photo/info.json", b"/iiif/3/photo/0,0,512,512/512,/0/default.jpg", RENDERED,
                   b"/dzi/photo_files/12/0_0.jpg", b"/iiif/presentation/3/photo/manifest", b"/openapi.json", b"/nobody"]
        for target in targets:
            for fields in (60, 199, 200):
                for method in (b"HEAD",) if target in targets[:3] else (b"GET", b"HEAD"):
                    with self.subTest(target, fields=fields, method=method):
                        request = method + b" " + target + b" HTTP/1.1\r\n" + head(fields, LIMIT) + b"\r\n"
                        answer, = self.ask(request, methods=(method.decode(),))
                        self.assertEqual(answer.status, {b"/nobody": 404, RENDERED: RENDERS}.get(target, 200))

    def test_many_short_headers_pass_or_are_refused_whole(self):
        # The daemon has a record for each: beyond some 280 there is no room for the head of an answer.
        for path, whole in ((b"/healthz", 200), (b"/api/images/photo", 200), (RENDERED, RENDERS)):
            statuses = []
            for fields in [*range(200, 420, 5), 600, 900, 2000]:
                for length in (0, 2, 8):
                    lines = b"".join(b"X%03d: %s\r\n" % (number % 1000, b"a" * length) for number in range(fields))
                    request = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + lines + b"\r\n"
                    with self.subTest(path=path, fields=fields, length=length):
                        statuses.append(self.ask(request)[0].status)
                        self.assertIn(statuses[-1], (whole, 431))
            self.assertEqual({whole, 431}, set(statuses))

    def test_cookies_are_bytes_like_others(self):
        for count, size in ((60, 100), (180, 20), (400, 18), (1, 7500), (700, 6), (2000, 3)):
            cookies = b"; ".join(b"%0*d=" % (3, n % 1000) + b"v" * (size - 4) if size > 4 else b"a=b"[:size] for n in range(count))
            request = LINE + b"Host: localhost\r\nConnection: close\r\nCookie: " + cookies + b"\r\n\r\n"
            with self.subTest(count=count, size=size):
                self.assertEqual([answer.status for answer in self.ask(request)],
                                 [200 if len(request) - len(LINE) - 2 <= LIMIT else 431])

    def test_anything_too_long_is_rejected_once_with_our_message(self):
        host = b"Host: localhost\r\n"
        cases = [(LINE + host + b"Cookie: a=" + b"b" * size + b"\r\n\r\n", 431) for size in (9 << 10, 15_600, 16 << 10, 24 << 10, 64 << 10, 1 << 20)]
        cases += [(LINE + host + b"".join(b"X-%d: y\r\n" % n for n in range(count)) + b"\r\n", 431) for count in (900, 2000, 20_000)]
        cases += [(LINE + host + b"Cookie: " + b"; ".join([b"a=b"] * count) + b"\r\n\r\n", 431) for count in (2000, 20_000)]
        cases += [(b"GET /" + b"a" * size + b" HTTP/1.1\r\n" + host + b"\r\n", 414) for size in (5000, 30_000, 200_000)]
        cases += [(LINE[:-10] + b"HTTP/9.9\r\n" + host + b"\r\n", 505), (LINE + host + b"no colon\r\n\r\n", 400)]
        for length, status in ((b"x", 400), (b"", 400), (b"9" * 20, 413), (b"1 1", 400)):
            cases.append((LINE + host + b"Content-Length: " + length + b"\r\n\r\n", status))
            cases.append((LINE + host + b"Content-Length: " + length + b"\r\nCookie: " + b"; ".join([b"a=b"] * 500) + b"\r\n\r\n", status))
        chunked = b"POST /api/session HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        cases += [(chunked + b"5;" + b"e" * size + b"\r\nhello\r\n0\r\n\r\n", 413) for size in (30 << 10, 100 << 10)]
        cases += [(chunked + b"fffffffffffffffff\r\n", 413), (chunked + b"5\r\nhelloXX", 400), (chunked + b"g\r\n", 400)]
        for request, status in cases:
            method = request.split(b" ")[0].decode()
            with self.subTest(request[:80], size=len(request)):
                for parts in ((request,), (request[:60], request[60:])):
                    parsed = self.ask(*parts, methods=(method,))
                    self.assertEqual([answer.status for answer in parsed], [status])
                    self.assertEqual((parsed[0]["connection"], parsed[0]["content-type"]), ("close", "text/plain; charset=utf-8"))
                    self.assertEqual(len(parsed[0].body), int(parsed[0]["content-length"]))
        self.assertTrue(self.server.alive())

    def test_a_head_that_is_too_long_has_no_body_in_its_answer(self):
        request = b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n"
        self.assertEqual([(answer.status, answer.body) for answer in self.ask(request, methods=("HEAD",))], [(431, b"")])

    def test_refusals_are_counted_and_others_go_on(self):
        before = self.server.metrics().get('requests_total{route="page",status="431"}', 0)
        with self.server.connect() as other:
            other.sendall(LINE[:10])
            self.assertEqual([answer.status for answer in self.ask(LINE + b"Host: localhost\r\nX-A: " + b"a" * 50_000 + b"\r\n\r\n")], [431])
            other.sendall(LINE[10:] + b"Host: localhost\r\nConnection: close\r\n\r\n")
            self.assertEqual([answer.status for answer in strict.answers(heard(other, 5), "GET")], [200])
        self.assertEqual(self.server.metrics()['requests_total{route="page",status="431"}'], before + 1)

    def test_answers_of_pipelined_requests_come_before_a_refusal(self):
        good = LINE + b"Host: localhost\r\n\r\n"
        for bad, status in ((LINE + b"Host: localhost\r\nContent-Length: x\r\n\r\n", 400), (LINE + b"Host: localhost\r\nX: " + b"a" * 40_000 + b"\r\n\r\n", 431)):
            parsed = self.ask(good * 5 + bad + good, methods=("GET",) * 7)
            self.assertEqual([answer.status for answer in parsed], [200] * 5 + [status])


if __name__ == "__main__":
    unittest.main()
