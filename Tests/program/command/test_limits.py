"""Limits of the server: what is longer, more or slower than may be is refused, and everything else is not."""

import json
import os
import resource
import select
import signal
import socket
import time
import unittest
from pathlib import Path

import upload_client
from harness import Answer, CommandTest, Server, folder, run, sample_library

TILE = "/dzi/photo_files/12/0_0.jpg"


class Limits(CommandTest):
    def test_a_long_url_is_answered_414_and_many_parameters_are_not_too_many(self):
        # Half of the headers'.
        with Server(sample_library(), "--max-header-size", 2) as server:
            self.assertEqual(server.get("/api/images?q=" + "x" * 900).status, 200)
            self.assertEqual(server.get("/api/images?q=" + "x" * 1020).status, 414)
            self.assertEqual(server.get("/" + "x" * 1100).status, 414)
            self.assertEqual(server.get("/healthz?" + "&".join(["a"] * 450)).status, 200)

    def test_headers_within_the_limit_pass_and_larger_ones_are_refused(self):
        for size, passes in [(2, 1500), (8, 7000), (32, 30000)]:
            with Server(sample_library(), "--max-header-size", size) as server:
                self.assertEqual(server.get(TILE, X_Long="a" * passes).status, 200)
                self.assertIn(server.get(TILE, X_Long="a" * (size << 11)).status, {413, 431})

    def test_the_viewport_has_the_size_that_is_allowed(self):
        with Server(sample_library()) as server:
            path = "/api/images/photo/viewport?height=100&width="
            self.assertEqual(server.get(path + "32768").status, 200)
            refused = server.get(path + "32769")
            self.assertEqual(refused.status, 400)
            self.assertIn("from 1 to 32768", json.loads(refused.body)["detail"])

    def test_one_address_has_so_many_connections_and_no_more(self):
        with Server(sample_library(), "--max-connections-per-address", 5, "--threads", 3) as server:
            held = [server.connect() for _ in range(5)]
            for connection in held:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200", connection.recv(1000))
            self.assertEqual(server.get("/healthz").status, 0)
            for connection in held:
                connection.close()
            deadline = time.monotonic() + 30
            while server.get("/healthz").status != 200 and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(server.get("/healthz").status, 200)

    def test_behind_a_proxy_each_client_has_so_many_requests_at_a_time(self):
        base = folder("proxied")
        with upload_client.serve(base, "--max-connections-per-address", 3, "--trusted-proxy", "127.0.0.1") as server:
            def ask(client: str, path: str = "/healthz") -> bytes:
                return (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {client}\r\n"
                        f"Authorization: Bearer {upload_client.TOKEN}\r\n\r\n").encode()

            # Answers without end, one more from each address of a network than there may be.
            held = [server.connect() for _ in range(4)]
            for number, connection in enumerate(held):
                connection.sendall(ask(f"2001:db8::{number}", "/api/events"))
            statuses = [int(connection.recv(1000).split(b" ")[1]) for connection in held]
            self.assertEqual(sorted(statuses), [200, 200, 200, 429])
            refused = Answer(server.raw(ask("2001:db8::9", "/api/images")))
            self.assertEqual((refused.status, refused["retry-after"]), (429, "1"))
            # Requests that end are no matter, and neither are the proxy's own connections and requests.
            idle = [server.connect() for _ in range(20)]
            for number, connection in enumerate(idle):
                for _ in range(5):
                    connection.sendall(ask("203.0.113.9" if number % 2 else "127.0.0.1"))
                    self.assertIn(b" 200 ", connection.recv(1000)[:20])
            for connection in held:
                connection.close()
            deadline = time.monotonic() + 60
            while b" 200 " not in server.raw(ask("2001:db8::9"), timeout=1)[:20] and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertIn(b" 200 ", server.raw(ask("2001:db8::9"), timeout=1)[:20])

    def test_more_connections_than_there_may_be_wait_for_others_to_end(self):
        with Server(sample_library(), "--max-connections", 5, "--threads", 2) as server:
            held = [server.connect() for _ in range(6)]
            for connection in held:
                connection.settimeout(10)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for connection in held[:5]:
                self.assertIn(b"200", connection.recv(1000))
            held[5].settimeout(0.5)
            self.assertRaises(TimeoutError, held[5].recv, 1000)
            held[0].close()
            held[5].settimeout(10)
            self.assertIn(b"200", held[5].recv(1000))
            for connection in held[1:]:
                connection.close()

    def test_hundreds_that_ask_at_once_are_all_answered(self):
        # libmicrohttpd takes 128 events at once and, left to itself, waits for more where it got as many.
        with Server(sample_library(), "--threads", 1) as server:
            for count in (127, 128, 256, 384):
                with self.subTest(connections=count):
                    connections = [server.connect() for _ in range(count)]
                    for connection in connections:
                        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        self.assertIn(b"200", connection.recv(1000))
                    os.kill(server.process.pid, signal.SIGSTOP)
                    try:
                        for connection in connections:
                            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    finally:
                        os.kill(server.process.pid, signal.SIGCONT)
                    waiting, deadline = set(connections), time.monotonic() + 30
                    while waiting and time.monotonic() < deadline:
                        for connection in select.select(list(waiting), [], [], 1)[0]:
                            self.assertIn(b"200", connection.recv(1000))
                            waiting.discard(connection)
                    for connection in connections:
                        connection.close()
                    self.assertEqual(len(waiting), 0)

    def test_slow_senders_and_slow_readers_are_cut(self):
        with Server(sample_library(), "--request-timeout", 1, "--response-timeout", 1) as server:
            for request in (b"GET /healthz HTT", b"GET /api/images/photo/viewport.tiles?width=3001&height=1703&scale=1"
                            b" HTTP/1.1\r\nHost: localhost\r\n\r\n" * 40):
                with self.subTest(request[:20]), socket.socket() as connection:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    connection.connect(("127.0.0.1", server.port))
                    connection.sendall(request)
                    began, cut = time.monotonic(), False
                    connection.settimeout(10)
                    while not cut and time.monotonic() < began + 10:
                        time.sleep(0.3)
                        try:
                            if request.endswith(b"HTT"):
                                connection.sendall(b"P")
                            elif not connection.recv(16):
                                cut = True
                        except (ConnectionResetError, BrokenPipeError):
                            cut = True
                        if not request.endswith(b"HTT") and time.monotonic() > began + 3:
                            # What the sockets hold is read to its end, which comes early.
                            try:
                                while connection.recv(1 << 20):
                                    pass
                            except ConnectionResetError:
                                pass
                            cut = True
                    self.assertTrue(cut)
                    self.assertLess(time.monotonic() - began, 8)
            self.assertTrue(server.alive())

    def test_every_limit_is_documented_and_checked(self):
        reported = run("help", "serve", "--all").stdout
        for name in ("max-header-size", "max-connections", "max-connections-per-address", "request-timeout", "response-timeout",
                     "idle-timeout", "max-pixels"):
            self.assertIn(f"--{name} ", reported)
            self.assertUsageError(run("serve", sample_library(), f"--{name}", "0"), name)

    def test_the_descriptor_limit_is_raised_to_the_hard_one(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with Server(sample_library()) as server:
            limits = Path(f"/proc/{server.process.pid}/limits").read_text()
            self.assertRegex(limits, rf"Max open files\s+{hard}\s")


if __name__ == "__main__":
    unittest.main()
