"""A process with few file descriptors: nobody is refused for want of one, as long as others use none."""

import resource
import shutil
import socket
import unittest
import unittest.mock

import harness
from harness import Server, folder, photo, run

LIMIT = 400


class Descriptors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("descriptors")
        photo(base / "pictures/p.jpg", 300, 200)
        result = run("build", base / "pictures", "--library", base / "library", "--quiet")
        assert result.returncode == 0, result.stderr
        for number in range(300):
            shutil.copyfile(base / "library/p.szi", base / f"library/p{number}.szi")
        cls.library = base / "library"

    def serve(self) -> Server:
        """A server whose hard limit it is."""
        binary = folder("limited") / "ziggurat"
        binary.write_text(f'#!/bin/sh\nulimit -n {LIMIT}\nexec "{harness.BINARY}" "$@"\n')
        binary.chmod(0o755)
        with unittest.mock.patch.object(harness, "BINARY", binary):
            return Server(self.library)

    def ask(self, connection: socket.socket, target: str) -> int:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        return int(data.split(b" ")[1])

    def test_archives_and_connections_fit(self):
        with self.serve() as server:
            self.assertIn("connections are limited to", server.errors())
            idle = [server.connect() for _ in range(150)]
            for connection in idle:
                self.assertEqual(self.ask(connection, "/healthz"), 200)
            with server.connect() as connection:
                for number in range(300):
                    self.assertEqual(self.ask(connection, f"/dzi/p{number}_files/8/0_0.jpg"), 200, number)
                self.assertEqual(self.ask(connection, "/api/images"), 200)
            for connection in idle:
                connection.close()
            self.assertEqual(server.metrics()["descriptor_shortages_total"], 0)

    def test_what_is_idle_makes_room(self):
        with self.serve() as server:
            idle = [server.connect() for _ in range(150)]
            for number, connection in enumerate(idle):
                self.assertEqual(self.ask(connection, f"/dzi/p{number % 60}_files/8/0_0.jpg"), 200)
            with server.connect() as busy:
                self.assertEqual(self.ask(busy, "/healthz"), 200)
                used = int(server.metrics()["process_open_fds"])
                resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (used - 20, LIMIT))
                for number in range(60, 120):
                    self.assertEqual(self.ask(busy, f"/dzi/p{number}_files/8/0_0.jpg"), 200, number)
                resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (used - 60, LIMIT))
                self.assertTrue(server.alive())
            for connection in idle:
                connection.close()
            self.assertGreater(server.metrics()["descriptor_shortages_total"], 0)
            self.assertEqual(server.errors().count("no free file descriptor"), 1)


if __name__ == "__main__":
    unittest.main()
