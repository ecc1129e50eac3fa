"""Clients that ask for much and read little: what waits to be sent to them is bounded, and others are served."""

import re
import resource
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
        self.server = Server(self.library, "--cache-size", self.CACHE, "--max-pixels", self.PIXELS, "--threads", 2, "--render-timeout", 8,
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
        held = self.server.metrics()["render_unsent_bytes"]
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
        while self.server.metrics()["render_unsent_bytes"] > 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        with ask(self.server, "/iiif/3/noise/98,0,1800,1900/max/0/gray.png", SLOW, room=1 << 20) as again:
            self.assertEqual(status(again), 200)

    def test_one_picture_for_many_counts_once(self):
        self.assertEqual(set(self.crowd(40, same=True)), {200})
        self.assertLess(self.server.metrics()["render_unsent_bytes"], 5 * self.MB)

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


class SlowReadersOfFolders(unittest.TestCase):
    """Each tile of a folder takes one of the places that the system has for a process's memory."""

    SIDE, TILE = 6400, 64
    WHOLE = f"/api/images/folder/viewport.tiles?width={SIDE}&height={SIDE}&scale=1&x=0&y=0"
    PLACES = int(open("/proc/sys/vm/max_map_count").read())

    @classmethod
    def setUpClass(cls):
        base = folder("folders")
        (base / "library").mkdir()
        for name, side in (("folder", cls.SIDE), ("other", 700)):
            subprocess.run(["vips", "worley", base / "worley.v", str(side), str(side), "--cell-size", "300"], check=True)
            subprocess.run(["vips", "cast", base / "worley.v", base / "worley.png", "uchar"], check=True)
            subprocess.run(["vips", "dzsave", base / "worley.png", base / "library" / name, "--tile-size", str(cls.TILE),
                            "--overlap", "0"], check=True, capture_output=True)
        cls.library = base / "library"

    def places(self, server: Server) -> int:
        return len(open(f"/proc/{server.process.pid}/maps").readlines())

    def test_the_process_has_places_left(self):
        with Server(self.library) as server:
            self.assertEqual(server.get("/healthz").status, 200)
            statuses, connections = [], []
            for _ in range(16):
                connections.append(ask(server, self.WHOLE, SLOW))
                statuses.append(status(connections[-1]))
            # As many as leave room for others; the rest get a Retry-After.
            self.assertIn(200, statuses)
            self.assertEqual(set(statuses), {200, 503})
            refused = ask(server, self.WHOLE, SLOW)
            answer = Answer(refused.recv(4096))
            self.assertEqual((answer.status, answer["retry-after"], answer["content-type"]), (503, "1", "application/problem+json"))
            self.assertLess(self.places(server), self.PLACES * 3 // 4)
            # Everybody gets single tiles, others get many, too, and pictures that are made of them.
            for target in ("/dzi/folder_files/13/7_7.jpeg", "/dzi/other_files/10/7_7.jpeg", "/iiif/3/folder/0,0,640,640/300,/0/default.jpg",
                           "/api/images/folder/viewport.tiles?width=900&height=900&scale=1&x=900&y=900"):
                with ask(server, target, OTHER, room=1 << 20) as other:
                    self.assertEqual(status(other), 200, target)
            # From other addresses as well, until nobody gets as many; single tiles still come.
            for number in range(4, 16):
                connections.append(ask(server, self.WHOLE, f"127.0.0.{number}"))
                self.assertIn(status(connections[-1]), (200, 503))
            for at in range(60):
                self.assertEqual(server.get(f"/dzi/folder_files/13/{at}_9.jpeg").status, 200)
            self.assertEqual(server.get("/iiif/3/folder/0,0,6400,6400/200,/0/default.png").status, 200)
            self.assertLess(self.places(server), self.PLACES * 3 // 4)
            for connection in connections:
                connection.close()
            deadline = time.monotonic() + 20
            while server.metrics()["unsent_mapped_tiles"] > 0:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            self.assertEqual(server.metrics()["archive_errors_total"], 0)
            self.assertEqual(server.errors(), "")
            answer = server.get(self.WHOLE)
            self.assertEqual(answer.status, 200)
            self.assertGreater(len(answer.body), 10_000 * 100)

    def test_a_lack_of_descriptors_is_no_defect_of_the_archive(self):
        with Server(self.library) as server:
            self.assertEqual(server.get("/dzi/folder_files/13/1_1.jpeg").status, 200)
            with server.connect() as connection:
                def reported(target: str) -> Answer:
                    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a.localhost\r\n\r\n".encode())
                    return Answer(connection.recv(65536))

                self.assertEqual(reported("/dzi/folder_files/13/1_2.jpeg").status, 200)
                before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
                resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
                for target in ("/dzi/folder_files/13/50_50.jpeg", "/api/images/folder/viewport.tiles?width=300&height=300&scale=1&x=3000&y=300"):
                    answer = reported(target)
                    self.assertEqual((answer.status, answer["retry-after"]), (503, "1"), target)
                resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
                self.assertEqual(reported("/dzi/folder_files/13/50_50.jpeg").status, 200)
            self.assertEqual(server.metrics()["archive_errors_total"], 0)
            self.assertEqual(server.errors(), "")


if __name__ == "__main__":
    unittest.main()
