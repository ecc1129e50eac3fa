"""Clients that send many requests at once, read nothing and leave; and what stands behind an answer that is no 200."""

import os
import socket
import unittest

from harness import Server, sample_library

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
            server = Server(sample_library(), "--log", form)
            self.addCleanup(server.process.kill)
            try:
                for target in ("/api/images/photo", "/iiif/3/photo/info.json", "/healthz", TILE, "/api/images"):
                    with self.subTest(log=form, target=target):
                        self.flood(server, target)
                        self.assertTrue(server.alive())
                self.assertNotIn("Sanitizer", server.errors())
            finally:
                self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
