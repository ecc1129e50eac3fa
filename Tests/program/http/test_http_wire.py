"""Requests that are no requests, and those that smuggle a second one, over a raw socket."""

import socket
import time

from harness import Answer, Server, ServerTest, heard, sample_library, seed

HOST = b"Host: 127.0.0.1\r\n"
INNER = b"GET /dzi/photo.dzi HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Wire(ServerTest):
    @classmethod
    def setUpClass(cls):
        # What a Host may be made of is the matter here, not whose it is.
        cls.server = Server(sample_library(), "--allow-host", "*")

    def tearDown(self):
        self.assertTrue(self.server.alive(), "the server no longer answers")

    def assertRefusedOnce(self, request: bytes):
        """One 400 and a close by the server, at once; the rest of the bytes must not become a second request."""
        began = time.monotonic()
        data = self.server.raw(request, timeout=20)
        # One that is idle is closed after 15 s, one whose request is not whole after 20.
        self.assertLess(time.monotonic() - began, 12, "the connection stayed open")
        self.assertNotIn(b"<Image", data)
        self.assertEqual(data.count(b"HTTP/1.1 "), 1, data[:600])
        answer = Answer(data)
        # 413 is the word for a length that no number holds.
        self.assertIn(answer.status, (400, 413), data[:300])
        if not request.startswith(b"HEAD"):
            self.assertEqual(len(answer.rest), int(answer["content-length"]))

    def test_smuggling_shapes(self):
        for shape in (
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
            b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
            b"Content-Length: 0, 5\r\n\r\n", b"Content-Length: +5\r\n\r\nhello", b"Content-Length: -1\r\n\r\n",
            b"Content-Length: 0x5\r\n\r\nhello", b"Content-Length: 99999999999999999999\r\n\r\n",
            b"Content-Length : 5\r\n\r\nhello", b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: identity\r\n\r\n", b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"Content-Length: 5 5\r\n\r\nhello", b"Content-Length:\r\n\r\n", b"Content-Length: 5\x0b\r\n\r\nhello",
            # A bare LF or CR, in the last line, too, ends a line for some servers and none for others.
            b"Content-Length: 5\n\r\nhello", b"Content-Length: 5\n\r\n\0\0\0\0\0", b"X-A: b\rContent-Length: 5\r\n\r\nhello",
            b"X-A: b\r\r\n\r\n", b"X-A: b\r\n\n",
            b"Host: evil.example\r\n\r\n", b"Host: 127.0.0.1\r\n\r\n", b"X-A: b\x00c\r\n\r\n", b"X-\x00A: b\r\n\r\n",
            b"X A: b\r\n\r\n", b"X-A\r\n\r\n", b": x\r\n\r\n", b": x\r\nX-A: b\r\n\r\n",
            b" folded: yes\r\n\r\n", b"X-A: b\r\n folded\r\n\r\n", b"X-A: b\r\n\tfolded\r\nX-B: c\r\n\r\n",
        ):
            for method in (b"GET", b"POST"):
                with self.subTest(method=method, shape=shape):
                    self.assertRefusedOnce(method + b" /healthz HTTP/1.1\r\n" + HOST + shape + INNER)

    def test_a_length_that_is_none_is_refused_once_however_it_comes(self):
        for length, status in ((b"x", 400), (b"", 400), (b"-1", 400), (b"1 1", 400), (b"18446744073709551615", 400), (b"9223372036854775808", 400),
                               (b"18446744073709551616", 413), (b"0" * 30, 200)):
            request = b"POST /api/none HTTP/1.1\r\n" + HOST + b"Content-Length: " + length + b"\r\n\r\n"
            if status == 200:
                self.assertEqual(Answer(self.server.raw(request + INNER, timeout=2)).status, 405)
                continue
            for cut in (len(request), 1, 30, 60, len(request) - 1):
                with self.server.connect() as connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for part in (request[:cut], request[cut:] + INNER):
                        connection.sendall(part)
                        time.sleep(0.05)
                    data = heard(connection, 10)
                self.assertEqual((data.count(b"HTTP/1.1 "), Answer(data).status), (1, status), (length, cut, data))
                self.assertEqual(len(Answer(data).rest), int(Answer(data)["content-length"]))
        # Many at once, good ones among them.
        good = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
        bad = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: y\r\n\r\n"
        held = [self.server.connect() for _ in range(100)]
        for _ in range(2):
            for number, connection in enumerate(held):
                if number % 2 == 0:
                    connection.sendall(good)
                    self.assertIn(b" 200 ", connection.recv(1000)[:20])
        for number, connection in enumerate(held):
            connection.sendall(good if number % 2 == 0 else bad)
        for number, connection in enumerate(held):
            with connection:
                data = connection.recv(1000) if number % 2 == 0 else heard(connection, 10)
                self.assertEqual((data.count(b"HTTP/1.1 "), Answer(data).status), (1, 200 if number % 2 == 0 else 400))

    def test_lines_between_chunks_end_in_cr_lf(self):
        head = b"POST /api/session HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        get = b"GET /dzi/photo.dzi HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
        end = b"0\r\n\r\n"
        for body in (b"5;a=b\nhello\r\n", b"5\nhello\r\n", b"5;\nhello\r\n", b"5;a\n5\r\nhello\r\n", b"5\r\nhello\r\n5;x\nhello\r\n",
                     b"5\r\nhello\n5\r\nhello\r\n", b"5;a\rb\r\nhello\r\n", b"5;a\x00b\r\nhello\r\n", b"5;a\r\r\nhello\r\n"):
            for first in (head, get):
                with self.subTest(body=body, method=first[:4]):
                    self.assertRefusedOnce(first + body + end + INNER)
                    # The head alone first.
                    with self.server.connect() as connection:
                        connection.sendall(first)
                        time.sleep(0.1)
                        connection.sendall(body + end + INNER)
                        data = heard(connection, 10)
                    self.assertEqual((data.count(b"HTTP/1.1 "), Answer(data).status), (1, 400), data)
        for body in (b"5\r\nhello\r\n", b"5;a=b\r\nhello\r\n", b"5;a=\xff\r\nhello\r\n",
                     b"1\r\nh\r\n" * 300, b"a\r\n\nhello\r\n\n\n\r\n" * 3, b"2\r\n\n\n\r\n2;x\r\n\r\n\r\n", b""):
            with self.subTest(body=body[:40]):
                # However it is cut, a good one is read whole, and is the last of its connection.
                for size in (len(body) + 10, 1, 7):
                    with self.server.connect() as connection:
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        connection.sendall(head)
                        rest = body + end + INNER
                        try:
                            for at in range(0, len(rest), size):
                                connection.sendall(rest[at:at + size])
                        except (BrokenPipeError, ConnectionResetError):
                            pass  # What follows the last request is not taken any more.
                        data = heard(connection, 10)
                    # What it holds is no credential.
                    self.assertEqual((data.count(b"HTTP/1.1 "), Answer(data).status), (1, 400), data)
                    self.assertIn(b"Bad credential", data)
                    self.assertEqual(Answer(data)["connection"], "close")

    def test_a_nul_in_the_request_line_is_refused(self):
        for line in (b"GET /healthz\0 HTTP/1.1", b"GET /healthz\0x HTTP/1.1", b"GET /heal\0thz?a=b HTTP/1.1", b"GET /healthz?\0 HTTP/1.1",
                     b"GET /healthz?a=\0b HTTP/1.1", b"GET /healthz?a\0b?c HTTP/1.1", b"GET /healthz\0?a HTTP/1.1", b"GET \0/healthz HTTP/1.1",
                     b"GET\0 /healthz HTTP/1.1", b"GET\0x /healthz HTTP/1.1", b"GET http://127.0.0.1/healthz\0 HTTP/1.1",
                     b"GET http://127.0.0.1\0/healthz HTTP/1.1", b"GET  /healthz HTTP/1.1", b"HEAD /healthz\0 HTTP/1.1",
                     b"GET /dzi/photo.dzi\0.szi HTTP/1.1"):
            with self.subTest(line):
                self.assertRefusedOnce(line + b"\r\n" + HOST + b"\r\n" + INNER)
        for line in (b"GET /healthz? HTTP/1.1", b"GET /healthz?a HTTP/1.1", b"GET /healthz?a?b?c HTTP/1.1", b"GET http://127.0.0.1/healthz?a HTTP/1.1",
                     b"GET /healthz?%00 HTTP/1.1"):
            self.assertEqual(Answer(self.server.raw(line + b"\r\n" + HOST + b"Connection: close\r\n\r\n")).status, 200, line)

    def test_a_request_without_a_host_or_with_more_fields_is_rejected_with_a_message(self):
        # "GET  /healthz" has an empty field, "/two words" is two fields.
        for line, headers in ((b"GET /healthz HTTP/1.1", b""), (b"GET /dzi/two words.dzi HTTP/1.1", HOST),
                              (b"GET /healthz  HTTP/1.1", HOST), (b"GET /api/images?q=a b HTTP/1.1", HOST),
                              (b"GET /healthz x HTTP/1.1", HOST), (b"GET http://a b/healthz HTTP/1.1", HOST),
                              (b"HEAD /hea lthz HTTP/1.1", HOST)):
            with self.subTest(line):
                answer = Answer(self.server.raw(line + b"\r\n" + headers + b"\r\n" + INNER))
                self.assertEqual((answer.status, answer["connection"]), (400, "close"))
                if not line.startswith(b"HEAD"):
                    self.assertEqual(len(answer.body), int(answer["content-length"]))
        self.assertEqual(Answer(self.server.raw(b"GET /healthz HTTP/1.0\r\n\r\n")).status, 200)

    def test_a_coding_of_http_1_0_is_invalid(self):
        self.assertRefusedOnce(b"GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INNER)

    def test_a_host_that_is_none(self):
        for host in (b"a b", b"a@b", b"a/b", b"a?b", b"a#b", b"a\\b", b"<a>", b"\xc3\xa9", b"a\x01"):
            with self.subTest(host):
                self.assertRefusedOnce(b"GET /healthz HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + INNER)
        for host in (b"", b" ", b"a", b"a-b_c.example:8080", b"[::1]:80", b" \ta\t ", b"xn--bcher-kva.example", b"%41"):
            with self.subTest(host):
                data = self.server.raw(b"GET /healthz HTTP/1.1\r\nHost:" + host + b"\r\nConnection: close\r\n\r\n")
                self.assertEqual(Answer(data).status, 200, data)

    def test_headers_as_they_may_be(self):
        for lines in (b"", b"X-A:\r\n", b"X-A:   \r\n", b"X-A: b \t\r\n", b"X-A:b\r\nX-A:c\r\n", b"X-A: " + b"y" * 5000 + b"\r\n",
                      b"".join(b"X-%d: y\r\n" % n for n in range(200)), b"Cookie: a=b; c=d\r\nCookie: e=f\r\n",
                      b"X-A: \xc3\xa9 \xff\r\n", b"!#$%&'*+-.^_`|~: b\r\n"):
            request = b"GET /healthz?a=b&c HTTP/1.1\r\n" + HOST + lines + b"Connection: close\r\n\r\n"
            with self.subTest(lines[:40]):
                self.assertEqual(Answer(self.server.raw(request)).status, 200)
                # The same byte by byte, and behind a request on the same connection.
                with self.server.connect() as connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connection.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
                    for at in range(0, len(request), 1 if len(request) < 400 else 97):
                        connection.sendall(request[at:at + (1 if len(request) < 400 else 97)])
                    data = heard(connection, 10)
                self.assertEqual(data.count(b"HTTP/1.1 200"), 2, data[:300])

    def test_the_absolute_form_and_the_asterisk(self):
        for target, status in ((b"http://127.0.0.1/dzi/photo.dzi", 200), (b"HTTPS://other:1/dzi/photo.dzi?a=b", 200),
                               (b"http://127.0.0.1", 200), (b"http:///dzi/photo.dzi", 400), (b"ftp://a/dzi/photo.dzi", 400),
                               (b"http://a/../dzi/photo.dzi", 404)):
            self.assertEqual(self.server.get(target).status, status, target)
        self.assertEqual(self.server.get("/dzi/photo.dzi").body, self.server.get("http://x/dzi/photo.dzi").body)
        self.assertEqual(self.server.get("*", "OPTIONS").status, 204)

    def test_bare_line_feeds(self):
        self.assertRefusedOnce(b"GET /dzi/photo.dzi HTTP/1.1\nHost: 127.0.0.1\n\n")
        self.assertRefusedOnce(b"GET /dzi/photo.dzi HTTP/1.1\r\nHost: 127.0.0.1\nX-A: b\r\n\r\n")

    def test_request_lines_that_are_none(self):
        for line in (b"GET", b"GET /dzi/photo.dzi", b"GET /dzi/photo.dzi HTTP/9.9", b"GET /dzi/photo.dzi HTTP/2.0",
                     b"get /dzi/photo.dzi HTTP/1.1", b"GET /dzi/photo.dzi http/1.1",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0", b"GET * HTTP/1.1",
                     b"GET dzi/photo.dzi HTTP/1.1", b"CONNECT 127.0.0.1:80 HTTP/1.1", b"\x00" * 50, b"\xff" * 5000,
                     b"GET /dzi/\x00photo.dzi HTTP/1.1", b"GET /dzi/pho\x01to.dzi HTTP/1.1", b" GET / HTTP/1.1"):
            with self.subTest(line[:60]):
                data = self.server.raw(line + b"\r\n" + HOST + b"\r\n", half_close=True)
                self.assertIn(Answer(data).status, {0, 400, 404, 405, 414, 431, 501, 505}, data[:200])
                self.assertNotIn(b"<Image", data)

    def test_no_host_in_http_1_1(self):
        self.assertEqual(Answer(self.server.raw(b"GET /healthz HTTP/1.1\r\n\r\n", half_close=True)).status, 400)
        self.assertEqual(Answer(self.server.raw(b"GET /healthz HTTP/1.0\r\n\r\n", half_close=True)).status, 200)

    def test_headers_without_end(self):
        for headers in (b"X: " + b"a" * 100_000 + b"\r\n", b"".join(b"X-%d: y\r\n" % n for n in range(20_000)),
                        b"A" * 100_000):
            data = self.server.raw(b"GET /healthz HTTP/1.1\r\n" + HOST + headers + b"\r\n")
            self.assertIn(Answer(data).status, {0, 400, 413, 431}, data[:200])

    def test_a_body_on_a_get_is_not_a_request(self):
        data = self.server.raw(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(INNER)
                               + INNER, half_close=True)
        self.assertNotIn(b"<Image", data)

    def test_pipelined_requests_are_answered_in_order(self):
        count = 50
        request = b"".join(b"GET /dzi/photo_files/12/%d_0.jpg HTTP/1.1\r\n%s\r\n" % (n % 6, HOST) for n in range(count - 1))
        request += b"GET /dzi/photo_files/12/0_0.jpg HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        data = self.server.raw(request)
        etags = [line.split(b": ")[1] for line in data.split(b"\r\n") if line.lower().startswith(b"etag: ")]
        expected = [self.server.get(f"/dzi/photo_files/12/{n}_0.jpg")["etag"].encode() for n in range(6)]
        self.assertEqual(etags, [expected[n % 6] for n in range(count - 1)] + [expected[0]])

    def test_clients_that_leave(self):
        for request in (b"", b"G", b"GET /dzi/photo.dzi HTTP/1.1\r\n", b"GET /dzi/photo_files/12/0_0.jpg HTTP/1.1\r\n"
                        + HOST + b"\r\n"):
            for _ in range(30):
                connection = self.server.connect()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # RST on close
                connection.sendall(request)
                connection.close()

    def test_slow_and_idle_clients_do_not_hold_up_others(self):
        idle = [self.server.connect() for _ in range(200)]
        for connection in idle[:100]:
            connection.sendall(b"GET /healthz HT")
        began = time.monotonic()
        self.assertTrue(self.server.alive())
        self.assertLess(time.monotonic() - began, 12, "stuck behind idle connections")
        for connection in idle:
            connection.close()

    def test_random_bytes(self):
        chance = seed("wire")
        for _ in range(300):
            request = bytearray(b"GET /dzi/photo_files/12/0_0.jpg?a=b HTTP/1.1\r\n" + HOST
                                + b"If-None-Match: \"x\"\r\nRange: bytes=0-5\r\nConnection: close\r\n\r\n")
            for _ in range(chance.randint(1, 6)):
                request[chance.randrange(len(request))] = chance.randrange(256)
            data = self.server.raw(bytes(request), half_close=True, timeout=20)
            self.assertIn(Answer(data).status, {0, 200, 206, 304, 400, 404, 405, 411, 413, 414, 416, 417, 431, 501, 505},
                          bytes(request))
