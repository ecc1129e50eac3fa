"""Clients that send many requests at once, read nothing and leave; and what stands behind an answer that is no 200."""

import http.client
import os
import socket
import subprocess
import unittest

import strict
from harness import Server, heard, sample_library

TILE = "/dzi/photo_files/12/0_0.jpg"
# As many as a thousand in `make test-sanitized`.
CLIENTS = int(os.environ.get("CLIENTS", 150))


class Floods(unittest.TestCase):
    def flood(self, server: Server, target: str):
        """Each client sends 100 requests, holds little of what comes back, and closes its end without reading."""
        request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 100
        clients = []
        for _ in range(CLIENTS):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.setblocking(False)
            clients.append(client)
            try:
                client.send(request)
            except BlockingIOError:
                pass
        for client in clients:
            client.close()

    def test_the_server_outlives_them(self):
        for form in ("text", "json", "none"):
            # Connections of a flood that is over still count for a while, and the check comes from the same address.
            server = Server(sample_library(), "--log", form, "--max-connections-per-address", 100_000)
            self.addCleanup(server.process.kill)
            try:
                for target in ("/api/images/photo", "/iiif/3/photo/info.json", "/healthz", TILE, "/api/images"):
                    with self.subTest(log=form, target=target):
                        self.flood(server, target)
                        self.assertTrue(server.alive())
                self.assertNotIn("Sanitizer", server.errors())
            finally:
                self.assertEqual(server.stop(), 0)


VIEW = "width=640&height=480&scale=0.25"
TARGETS = (
    TILE, "/dzi/photo_files/12/0_0.png", "/dzi/photo.dzi", "/iiif/3/photo/info.json", "/iiif/2/photo/info.json",
    "/iiif/3/photo/full/333,/0/default.jpg", "/iiif/3/photo/0,0,512,512/512,/0/default.jpg", "/iiif/2/photo/full/222,/0/default.png",
    "/iiif/presentation/3/photo/manifest", "/iiif/presentation/3/collection", "/zoomify/photo/ImageProperties.xml",
    "/zoomify/photo/TileGroup0/0-0-0.jpg", "/xyz/photo/tilejson.json", "/xyz/photo/0/0/0.jpg", "/iip?FIF=photo&JTL=2,0",
    "/iip?FIF=photo&WID=210&CVT=jpeg", "/api/images", "/api/images/photo", f"/api/images/photo/viewport?{VIEW}",
    f"/api/images/photo/viewport.jpg?{VIEW}", f"/api/images/photo/viewport.tiles?{VIEW}", "/openapi.json", "/", "/view/photo", "/embed/photo",
    "/iiif/presentation/2/photo/manifest", "/xyz/photo/1/0/0@2x.jpg", "/iip?IIIF=photo/full/100,/0/native.jpg", "/iip?IIIF=photo/info.json",
    "/iiif/3/photo/full/99,/0/gray.png", "/iiif/3/photo/pct:10,10,30,30/99,/90/bitonal.webp", "/iiif/3/photo/square/!64,64/!0/default.gif",
    "/iiif/3/photo/full/64,/0/default.tif", "/zoomify/photo/TileGroup0/0-0-0.png", f"/api/images/photo/viewport.png?{VIEW}&download",
    "/iiif/3/photo/full/99,/0/default.jpg?download", "/theme.css", "/icon.svg", "/robots.txt", "/favicon.ico", "/oembed?url=http://localhost/view/photo")


class NotModified(unittest.TestCase):
    def exchange(self, server: Server, *requests: bytes) -> bytes:
        """What comes back on one connection, whose last request ends it."""
        with server.connect() as connection:
            connection.sendall(b"".join(requests) + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return heard(connection, 20)

    def tags(self, server: Server) -> dict[str, str]:
        # Some documents name the host that they were asked for by.
        answers = {target: strict.answers(self.exchange(server, f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()), "GET", "GET")[0]
                   for target in TARGETS}
        return {target: answer["etag"] for target, answer in answers.items() if answer.status == 200 and answer["etag"]}

    def check(self, server: Server):
        tags = self.tags(server)
        self.assertEqual(set(tags), set(TARGETS))
        for target, tag in tags.items():
            for method in ("GET", "HEAD"):
                for coding in ("identity", "gzip"):
                    with self.subTest(target=target, method=method, coding=coding):
                        whole = strict.answers(self.exchange(server, f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n\r\n".encode()), "GET", "GET")[0]
                        request = (f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {coding}\r\n"
                                   f"If-None-Match: {whole['etag']}\r\n\r\n").encode()
                        parsed = strict.answers(self.exchange(server, request, request), method, method, "GET")
                        self.assertEqual([answer.status for answer in parsed], [304, 304, 200])
                        for answer in parsed[:2]:
                            self.assertEqual(answer["etag"], whole["etag"])
                            # Its length is that of the answer to a GET without conditions, or unsaid (RFC 9110, section 8.6).
                            self.assertIn(answer["content-length"], ("", str(len(whole.body))))

    def test_the_connection_goes_on(self):
        with Server(sample_library()) as server:
            self.check(server)

    def test_the_connection_goes_on_where_no_picture_is_kept(self):
        with Server(sample_library(), "--cache-size", 0) as server:
            self.check(server)

    def test_nothing_is_rendered_for_that(self):
        # No length is known yet, on any route.
        library = sample_library()
        with Server(library) as server:
            tags = self.tags(server)
        with Server(library) as server:
            for target, tag in tags.items():
                for method in ("GET", "HEAD"):
                    with self.subTest(target=target, method=method):
                        request = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n\r\n".encode()
                        data = self.exchange(server, request * 20)
                        parsed = strict.answers(data, *[method] * 20, "GET")
                        self.assertEqual([answer.status for answer in parsed], [304] * 20 + [200])
                        # What finds answers by their beginning finds as many.
                        self.assertEqual(data.count(b"HTTP/1.1 "), 21)
                        self.assertEqual({answer["etag"] for answer in parsed[:20]}, {tag})
                        self.assertFalse(any(answer["transfer-encoding"] or answer["connection"] for answer in parsed[:20]))
            self.assertEqual(server.metrics()["renders_total"], 0)

    def test_clients_understand_the_status_line(self):
        target = "/iiif/3/photo/full/333,/0/default.jpg"
        library = sample_library()
        with Server(library) as server:
            tag = server.get(target)["etag"]
        with Server(library) as server:
            url = f"http://127.0.0.1:{server.port}{target}"
            answer = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{num_connects}\n", "-H", f"If-None-Match: {tag}", url, "-o", "/dev/null", url],
                                    capture_output=True, text=True, timeout=20)
            self.assertEqual((answer.stdout, answer.stderr), ("304 1\n304 0\n", ""))
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            for _ in range(3):
                connection.request("GET", target, headers={"If-None-Match": tag})
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.read(), answer.will_close), (304, b"", False))


if __name__ == "__main__":
    unittest.main()
