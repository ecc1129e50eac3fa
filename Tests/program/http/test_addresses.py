"""Several addresses to listen on: each takes connections, and together they share one server's loops and limits."""

import os
import re
import select
import signal
import socket
import subprocess
import time
import unittest

from harness import BINARY, CommandTest, Server, run, sample_library

ASK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def has(address: str) -> bool:
    """Whether this machine has the address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as tried:
            tried.bind((address, 0))
        return True
    except OSError:
        return False


ADDRESSES = [address for address in ("127.0.0.1", "127.0.0.2", "::1") if has(address)]


class Addresses(CommandTest):
    def connect(self, server: Server, count: int) -> list[socket.socket]:
        """So many connections, to the addresses in turn."""
        return [socket.create_connection((ADDRESSES[number % len(ADDRESSES)], server.port), timeout=60)
                for number in range(count)]

    def serve(self, *options) -> Server:
        return Server(sample_library(), "--host", ",".join(ADDRESSES), "--max-connections-per-address", 2000, *options)

    def answered(self, connections: list[socket.socket]):
        """Every connection gets its answer."""
        waiting, deadline = set(connections), time.monotonic() + 60
        while waiting and time.monotonic() < deadline:
            for connection in select.select(list(waiting), [], [], 1)[0]:
                self.assertIn(b"200", connection.recv(1000))
                waiting.discard(connection)
        self.assertEqual(len(waiting), 0)

    def test_more_connections_than_one_loop_holds_are_answered_at_every_address(self):
        self.assertGreaterEqual(len(ADDRESSES), 2)
        # A loop that got more connections than it can hold would wait for the idle timeout.
        with self.serve("--threads", 1, "--idle-timeout", 3600, "--request-timeout", 3600) as server:
            connections = self.connect(server, 300)
            for connection in connections:
                connection.sendall(ASK)
            self.answered(connections)
            # All of them at once: the server finds them waiting.
            os.kill(server.process.pid, signal.SIGSTOP)
            try:
                for connection in connections:
                    connection.sendall(ASK)
            finally:
                os.kill(server.process.pid, signal.SIGCONT)
            self.answered(connections)
            text = server.get("/metrics").body.decode()
            self.assertEqual(int(re.search(r"^ziggurat_connections (\d+)", text, re.M)[1]), len(connections) + 1)
            # Those that come in the place of others are answered, too.
            for connection in connections[::3]:
                connection.close()
            connections = [connection for connection in connections if connection.fileno() >= 0]
            connections += self.connect(server, 150)
            for connection in connections:
                connection.sendall(ASK)
            self.answered(connections)
            for connection in connections:
                connection.close()

    def test_the_limit_counts_the_connections_of_all_addresses(self):
        with self.serve("--max-connections", 5, "--threads", 2) as server:
            held = self.connect(server, 6)
            for connection in held:
                connection.sendall(ASK)
            answered = set()
            while len(answered) < 5:
                ready = select.select([one for one in held if one not in answered], [], [], 60)[0]
                self.assertTrue(ready, "five are answered")
                for connection in ready:
                    self.assertIn(b"200", connection.recv(1000))
                    answered.add(connection)
            last = next(connection for connection in held if connection not in answered)
            self.assertEqual(select.select([last], [], [], 0.3)[0], [])
            answered.pop().close()
            self.assertIn(b"200", last.recv(1000))
            for connection in held:
                connection.close()

    def test_a_port_that_is_taken_at_one_address_is_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.2", 0))
            taken.listen()
            result = run("serve", sample_library(), "--host", "127.0.0.1,127.0.0.2", "--port", taken.getsockname()[1])
            self.assertEqual(result.returncode, 1)
            self.assertOneLine(result, "127.0.0.2", "in use", "--port")

    def test_each_address_is_printed(self):
        process = subprocess.Popen([BINARY, "serve", sample_library(), "--host", ",".join(ADDRESSES), "--port", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            lines = [process.stdout.readline() for _ in ADDRESSES]
            port = re.search(r":(\d+)/\n", lines[0])[1]
            names = [f"[{address}]" if ":" in address else address for address in ADDRESSES]
            self.assertEqual(lines, [f"listening on http://{name}:{port}/\n" for name in names])
        finally:
            process.terminate()
            self.assertEqual(process.communicate(timeout=20)[0], "")

    def test_addresses_that_make_no_sense_are_refused(self):
        for hosts in ("", ",", "127.0.0.1,", "127.0.0.1,127.0.0.1"):
            self.assertUsageError(run("serve", sample_library(), "--host", hosts, "--port", "0"), "--host")
        self.assertUsageError(run("serve", sample_library(), "--space", "--host", "127.0.0.1,0.0.0.0"), "0.0.0.0")

    @unittest.skipUnless(has("::1"), "this machine has no IPv6")
    def test_all_addresses_of_both_families(self):
        process = subprocess.Popen([BINARY, "serve", sample_library(), "--host", "0.0.0.0,::", "--port", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
            for address in ("127.0.0.1", "127.0.0.3", "::1"):
                with socket.create_connection((address, port), timeout=60) as connection:
                    connection.sendall(ASK)
                    self.assertIn(b"200", connection.recv(1000))
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)
            process.stdout.close()


if __name__ == "__main__":
    unittest.main()
