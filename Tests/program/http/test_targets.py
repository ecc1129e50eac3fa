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

    def test_a_picture_is_made_for_who_only_reads_on(self):
        # libmicrohttpd sometimes reads the end of the input when the connection resumes, and closes it without an answer.
        closed, asked = 0, 0
        with Server(sample_library(), "--render-threads", 1) as server:
            for version in (b"1.1", b"1.0"):
                connections = []
                for number in range(6):
                    connection = server.connect()
                    connection.sendall(b"GET /iiif/3/photo/%d,0,900,700/400,/0/default.jpg HTTP/%s\r\nHost: localhost\r\n\r\n"
                                       % (number + (10 if version == b"1.0" else 0), version))
                    connection.shutdown(socket.SHUT_WR)
                    connections.append(connection)
                for connection in connections:
                    with connection:
                        data = heard(connection, 30).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
                    asked += 1
                    if not data:
                        closed += 1
                        continue
                    parsed = strict.answers(data, "GET")
                    self.assertEqual([answer.status for answer in parsed], [200])
            self.assertLess(closed, asked // 2)
            self.assertLessEqual(server.metrics()["renders_abandoned_total"], closed)

    def test_no_picture_is_made_for_who_is_gone(self):
        with Server(sample_library(), "--render-threads", 1) as server:
            for number in range(30):
                with server.connect() as connection:
                    connection.sendall(b"GET /iiif/3/photo/%d,0,1900,1700/1900,/0/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n" % number)
                    if number == 0:
                        time.sleep(0.05)
            deadline = time.monotonic() + 60
            while (metrics := server.metrics())["renders_abandoned_total"] < 15:
                self.assertLess(time.monotonic(), deadline, metrics)
                time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
