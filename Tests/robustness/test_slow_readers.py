"""Clients that ask for much and read little: what waits to be sent to them is bounded, and others are served."""

import re
import socket
import subprocess
import threading
import time
import unittest

from harness import Answer, Server, folder, photo, run

SLOW, OTHER = "127.0.0.2", "127.0.0.3"


def ask(server: Server, target: str, client: str, room: int = 4096) -> socket.socket:
    """A request whose answer is not read; so little of it waits on this side."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    connection.settimeout(40)
    connection.bind((client, 0))
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a.localhost\r\n\r\n".encode())
    return connection


def status(connection: socket.socket) -> int:
    return Answer(connection.recv(16)).status


def memory(server: Server) -> int:
    """Bytes that are the process's own."""
    text = open(f"/proc/{server.process.pid}/status").read()
    return int(re.search(r"RssAnon:\s+(\d+) kB", text)[1]) << 10


def gauge(server: Server, name: str) -> int:
    return int(re.search(rf"^ziggurat_{name} (\d+)$", server.get("/metrics").body.decode(), re.M)[1])


class SlowReadersOfPictures(unittest.TestCase):
    MB = 1 << 20
    # The most of either: four times the cache, twice the bytes of a picture's pixels.
    CACHE, PIXELS = 8, 4_000_000
    LIMIT = 32 * MB

    @classmethod
    def setUpClass(cls):
        base = folder("slow")
        # Noise: some 8 MB as PNG.
        subprocess.run(["vips", "gaussnoise", base / "noise.v", "2000", "2000", "--mean", "128", "--sigma", "60"], check=True)
        (base / "pictures").mkdir()
        subprocess.run(["vips", "cast", base / "noise.v", base / "pictures/noise.png", "uchar"], check=True)
        photo(base / "pictures/photo.jpg", 1200, 900)
        result = run("build", base / "pictures", "--library", base / "library", "--quiet")
        assert result.returncode == 0, result.stderr
        cls.library = base / "library"

    def setUp(self):
        self.server = Server(self.library, "--cache-memory", self.CACHE, "--max-pixels", self.PIXELS, "--render-threads", 2, "--render-timeout", 8,
                             "--log", "none")
        self.addCleanup(self.server.stop)
        self.connections = []
        self.addCleanup(lambda: [connection.close() for connection in self.connections])

    def crowd(self, count: int, client: str = SLOW, same: bool = False) -> list[int]:
        """Statuses of so many answers of about 4 MB, of which nothing more is read."""
        statuses = []
        for at in range(0, count, 20):
            some = [ask(self.server, f"/iiif/3/noise/{0 if same else n},0,1900,1990/max/0/gray.png", client)
                    for n in range(at, min(at + 20, count))]
            statuses += [status(connection) for connection in some]
            self.connections += some
        return statuses

    def test_memory_is_bounded_and_others_are_served(self):
        self.assertEqual(self.server.get("/iiif/3/noise/0,0,500,500/300,/0/default.jpg").status, 200)
        before = memory(self.server)
        statuses = self.crowd(60)
        held = gauge(self.server, "render_unsent_bytes")
        self.assertIn(503, statuses)
        self.assertEqual(set(statuses), {200, 503})
        # Half of the limit, and the one that reached it; those that were being rendered meanwhile count as well.
        self.assertGreater(held, self.LIMIT // 4)
        self.assertLess(held, self.LIMIT // 2 + 3 * 4 * self.MB)
        self.assertLess(memory(self.server) - before, self.LIMIT + 40 * self.MB)
        refused = ask(self.server, "/iiif/3/noise/99,0,1800,1900/max/0/gray.png", SLOW)
        self.connections.append(refused)
        answer = Answer(refused.recv(4096))
        self.assertEqual((answer.status, answer["retry-after"]), (503, "1"))
        # Stored tiles are nobody's memory.
        tile = ask(self.server, "/dzi/noise_files/11/0_0.jpg", SLOW)
        self.connections.append(tile)
        self.assertEqual(status(tile), 200)
        for target in ("/iiif/3/photo/full/310,/0/default.jpg", "/iiif/3/noise/0,0,1000,1000/max/0/gray.png"):
            with ask(self.server, target, OTHER, room=1 << 20) as other:
                self.assertEqual(status(other), 200, target)
        for connection in self.connections:
            connection.close()
        deadline = time.monotonic() + 20
        while gauge(self.server, "render_unsent_bytes") > 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        with ask(self.server, "/iiif/3/noise/98,0,1800,1900/max/0/gray.png", SLOW, room=1 << 20) as again:
            self.assertEqual(status(again), 200)

    def test_one_picture_for_many_counts_once(self):
        self.assertEqual(set(self.crowd(40, same=True)), {200})
        self.assertLess(gauge(self.server, "render_unsent_bytes"), 5 * self.MB)

    def test_what_was_asked_for_before_it_was_too_much_waits_its_turn(self):
        """All at once: no more are begun than there is room for, and what is read makes room for the rest."""
        some = [ask(self.server, f"/iiif/3/noise/{n},0,1900,1990/max/0/gray.png", SLOW) for n in range(12)]
        self.connections += some
        statuses = {}

        def read(number: int):
            with some[number] as connection:
                data = connection.recv(16)
                statuses[number] = Answer(data).status
                connection.settimeout(2)
                try:
                    while connection.recv(1 << 20):
                        pass
                except TimeoutError:
                    pass

        threads = [threading.Thread(target=read, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(set(statuses.values()) - {200, 503}, set())
        self.assertGreater(list(statuses.values()).count(200), 4)


if __name__ == "__main__":
    unittest.main()
