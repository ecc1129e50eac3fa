"""What a request is for and from whom: the path in any spelling, the authority, the version, and clients that close their end."""

import json
import socket
import time
import unittest

import strict
from harness import Answer, SampleServerTest, Server, heard, sample_library


class Targets(SampleServerTest):
    def ids(self, request: bytes) -> str:
        """The id in an info.json."""
        answer = Answer(self.server.raw(request))
        self.assertEqual(answer.status, 200, answer)
        return json.loads(answer.body)["id"]

    def test_a_path_is_the_same_in_any_spelling_for_all_methods(self):
        plain = {method: self.server.get("/api/session", method) for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE", "PUT")}
        for spelling in ("/api/%73ession", "/%61pi/session", "/api/s%65ssion"):
            for method, expected in plain.items():
                answer = self.server.get(spelling, method)
                self.assertEqual((answer.status, answer["allow"], answer["cache-control"], answer.body),
                                 (expected.status, expected["allow"], expected["cache-control"], expected.body), (spelling, method))
        self.assertEqual(plain["GET"].status, 200)
        for plainly, spelling in (("/healthz", "/%68ealthz"), ("/api/images/photo", "/api/image%73/%70hoto"), ("/api/images", "/api/%69mages")):
            self.assertEqual(self.server.get(plainly).body, self.server.get(spelling).body)

    def test_the_authority_of_an_absolute_target_counts(self):
        for target, host, expected in (
                (b"http://localhost:81/iiif/3/photo/info.json", b"127.0.0.1:82", "http://localhost:81/iiif/3/photo"),
                (b"http://127.0.0.1/iiif/3/photo/info.json", b"localhost", "http://127.0.0.1/iiif/3/photo"),
                (b"/iiif/3/photo/info.json", b"localhost:83", "http://localhost:83/iiif/3/photo")):
            for version in (b"1.1", b"1.0"):
                request = b"GET " + target + b" HTTP/" + version + b"\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
                self.assertEqual(self.ids(request), expected)
        # By the same name a request is admitted, and refused.
        for target, host, status in ((b"http://evil.example/healthz", b"localhost", 421), (b"http://localhost/healthz", b"evil.example", 200),
                                     (b"http://user@localhost/healthz", b"localhost", 400), (b"http://local host/healthz", b"localhost", 400)):
            request = b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n"
            self.assertEqual(Answer(self.server.raw(request)).status, status, target)

    def test_without_a_host_ids_have_the_address_that_was_connected_to(self):
        for request in (b"GET /iiif/3/photo/info.json HTTP/1.0\r\n\r\n",
                        b"GET /iiif/3/photo/info.json HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"):
            self.assertEqual(self.ids(request), f"http://127.0.0.1:{self.server.port}/iiif/3/photo")

    def test_codings_are_chosen_by_their_weights(self):
        for accepted, coding in (("gzip;q=0.5, identity;q=1", ""), ("gzip", "gzip"), ("gzip;q=0.5", "gzip"), ("identity, gzip", "gzip"),
                                 ("gzip;q=0.1, *;q=0.9", ""), ("identity;q=0.5, gzip;q=0.6", "gzip")):
            self.assertEqual(self.server.get("/openapi.json", Accept_Encoding=accepted)["content-encoding"], coding, accepted)


class HalfClosed(unittest.TestCase):
    """Clients that end what they send, and go on reading (RFC 9112, section 9.6); and those that are gone."""

    def requests(self, version: bytes, number: int) -> list[bytes]:
        """Requests that are answered later, by a render, a catalog, a file or a password's check."""
        head = b" HTTP/%s\r\nHost: localhost\r\n" % version
        login = b'{"token": "none"}'
        return [b"GET /iiif/3/photo/%d,0,900,700/400,/0/default.jpg" % number + head + b"\r\n",
                b"GET /api/images/photo/viewport.jpg?width=300&height=200&scale=0.1&x=%d" % number + head + b"\r\n",
                b"GET /api/images?q=photo" + head + b"\r\n", b"GET /api/images/photo" + head + b"\r\n",
                b"GET /iiif/presentation/3/photo/manifest" + head + b"\r\n",
                b"POST /api/session" + head + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(login), login)]

    def test_answers_come_to_clients_that_only_read_on(self):
        with Server(sample_library(), "--threads", 1) as server:
            # Connections that are idle: the event loop looks at one of them first, and not at what was resumed.
            idle = [server.connect() for _ in range(5)]
            for connection in idle:
                self.addCleanup(connection.close)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(65536)
            for together in (1, 6):
                for version in (b"1.1", b"1.0"):
                    asked = []
                    for number in range(together):
                        number += together * 10 + (50 if version == b"1.0" else 0)
                        for request in self.requests(version, number):
                            connection = server.connect()
                            connection.sendall(request)
                            connection.shutdown(socket.SHUT_WR)
                            asked.append((request, connection))
                    for request, connection in asked:
                        with self.subTest(request, together=together), connection:
                            data = heard(connection, 30).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
                            answer, = strict.answers(data, request.split(b" ")[0].decode())
                            self.assertIn(answer.status, (200, 401, 403, 404, 429) if request.startswith(b"POST") else (200,))
            self.assertEqual(server.metrics()["renders_cancelled_total"], 0)

    def test_no_picture_is_rendered_for_a_client_that_left(self):
        with Server(sample_library(), "--threads", 1) as server:
            for number in range(30):
                with server.connect() as connection:
                    connection.sendall(b"GET /iiif/3/photo/%d,0,1900,1700/1900,/0/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n" % number)
                    if number == 0:
                        time.sleep(0.05)
            deadline = time.monotonic() + 60
            while (metrics := server.metrics())["renders_cancelled_total"] < 15:
                self.assertLess(time.monotonic(), deadline, metrics)
                time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
