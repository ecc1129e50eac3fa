"""Pictures that IIIF has rendered: once for all who ask, within limits of time and queue, and never of another archive."""

import concurrent.futures
import select
import socket
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import Server, folder, photo, run  # noqa: E402
from processes import workers, stopped  # noqa: E402


class Rendering(unittest.TestCase):
    def serve(self, *options) -> tuple[Server, Path, Path]:
        photos, library = folder("photos"), folder("library")
        photo(photos / "p.jpg", 2400, 1600)
        self.assertEqual(run("build", photos, "--library", library).returncode, 0)
        server = Server(library, *options)
        self.addCleanup(server.stop)
        return server, photos, library

    def test_equal_requests_share_one_answer_and_a_full_queue_says_503(self):
        server, _, _ = self.serve("--threads", 1, "--render-queue", 2)
        slow = "/iiif/3/p/full/max/1.5/default.png"
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            same = [pool.submit(server.get, slow) for _ in range(12)]
            time.sleep(0.5)
            others = [pool.submit(server.get, f"/iiif/3/p/full/max/{angle}.5/default.png") for angle in range(2, 10)]
            time.sleep(0.1)
            self.assertEqual(server.get("/dzi/p_files/12/0_0.jpg").status, 200)
            rendering = [one for one in same + others if not one.done()]
            same, others = [one.result() for one in same], [one.result() for one in others]
        self.assertEqual({answer.status for answer in same}, {200})
        self.assertEqual(len({answer.body for answer in same}), 1)
        counted = server.metrics()
        rendered = 1 + sum(answer.status == 200 for answer in others)
        self.assertEqual(counted["renders_total"], rendered)
        self.assertEqual(counted["renders_shared_total"], 11)
        self.assertEqual(counted["renders_refused_total"], sum(answer.status == 503 for answer in others))
        statuses = sorted(answer.status for answer in others)
        self.assertEqual(set(statuses), {200, 503})
        for answer in others:
            if answer.status == 503:
                self.assertTrue(answer["retry-after"].isdigit())
        self.assertNotEqual(rendering, [], "the tile was answered while pictures were rendered")
        self.assertEqual(server.get(slow).body, same[0].body)

    def test_a_rebuilt_archive_never_serves_an_old_crop(self):
        server, photos, library = self.serve()
        url = "/iiif/3/p/100,100,500,300/250,150/0/default.jpg"
        before = server.get(url)
        self.assertEqual(server.get(url).body, before.body)
        photo(photos / "p.jpg", 2400, 1600, left=0, top=0)
        self.assertEqual(run("build", photos, "--library", library).returncode, 0)
        deadline = time.monotonic() + 30
        while (after := server.get(url))["etag"] == before["etag"]:
            self.assertEqual(after.body, before.body)
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertNotEqual(after.body, before.body)
        self.assertEqual(server.get(url, If_None_Match=before["etag"]).status, 200)

    def test_clients_that_leave_and_a_stop_while_rendering(self):
        server, _, _ = self.serve("--threads", 1)
        for angle in range(1, 8):
            connection = server.connect()
            connection.sendall(f"GET /iiif/3/p/full/max/{angle}.25/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            time.sleep(0.02)
            connection.close()
        self.assertTrue(server.alive())
        waiting = [server.connect() for _ in range(4)]
        for number, connection in enumerate(waiting):
            connection.sendall(f"GET /iiif/3/p/full/max/{number}.75/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(0.1)
        self.assertEqual(server.stop(), 0)

    def wait(self, what) -> None:
        until = time.monotonic() + 20
        while not what():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    # Takes long: half a minute and more, were nobody to end it.
    DEAR = "/iiif/3/p/full/^8000,6000/{}.5/default.png"

    def ask(self, server: Server, path: str, address: str = "127.0.0.1") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=120, source_address=(address, 0))
        self.addCleanup(connection.close)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def test_the_last_client_that_leaves_ends_a_render(self):
        server, _, _ = self.serve("--threads", 1)
        first, second = (self.ask(server, self.DEAR.format(1)) for _ in range(2))
        behind = self.ask(server, "/iiif/3/p/full/^4000,/0.5/default.png")
        while server.metrics()["renders_shared_total"] < 1 or server.metrics()["render_queue_length"] != 1:
            time.sleep(0.05)
        first.close()
        second.close()
        self.assertIn(b" 200 ", behind.recv(100))
        self.assertEqual((server.metrics()["renders_cancelled_total"], server.metrics()["renders_total"]), (1, 1))

    def test_what_is_not_ready_in_time_is_503_and_ends(self):
        server, _, _ = self.serve("--threads", 1, "--render-timeout", 1)
        answer = server.get(self.DEAR.format(1))
        self.assertEqual((answer.status, answer["retry-after"]), (503, "30"))
        self.assertEqual(server.metrics()["renders_timeout_total"], 1)
        self.assertEqual(server.get("/iiif/3/p/full/300,/0/default.jpg").status, 200)

    def test_a_crowd_at_one_address_takes_nothing_from_another(self):
        server, _, _ = self.serve("--threads", 1, "--render-queue", 4)
        crowd = [self.ask(server, self.DEAR.format(1), "127.0.0.2")]
        self.wait(lambda: workers(server.process.pid))
        # However fast the machine is, the first is in work until all have asked.
        with stopped(server.process.pid):
            crowd += [self.ask(server, self.DEAR.format(number), "127.0.0.2") for number in range(2, 6)]
            self.wait(lambda: server.metrics()["render_queue_length"] == 4)
            # No stored tile: those never wait.
            single = self.ask(server, "/iiif/3/p/full/310,/0/default.jpg", "127.0.0.3")
            # One of the crowd made room, and hears it at once.
            refused = select.select(crowd, [], [], 20)[0]
            self.assertEqual([one.recv(100).split()[1] for one in refused], [b"503"])
        self.assertIn(b" 200 ", single.recv(100))
        # One or two were before it.
        answers = [one.recv(100).split()[1] for one in select.select(set(crowd) - set(refused), [], [], 60)[0]]
        self.assertEqual(set(answers), {b"200"})

    def test_formats_that_take_long_may_have_fewer_pixels(self):
        server, _, _ = self.serve("--max-pixels", 1_000_000)
        for ending, width, status in (("jpg", 1200, 200), ("png", 1200, 200), ("avif", 1200, 200), ("webp", 1200, 200),
                                      ("tif", 1200, 400), ("tif", 900, 200), ("gif", 900, 400), ("gif", 700, 200)):
            answer = server.get(f"/iiif/3/p/full/{width},/0/default.{ending}")
            self.assertEqual(answer.status, status, (ending, width))
            if status == 400:
                self.assertIn("at most", answer.body.decode())

    def test_a_damaged_tile_is_500_and_never_a_picture(self):
        server, _, library = self.serve()
        server.stop()
        path = library / "p.szi"
        data = bytearray(path.read_bytes())
        start = data.index(b"p/p_files/12/1_1.jpg") + len("p/p_files/12/1_1.jpg")
        data[start:start + 400] = bytes(400)
        path.write_bytes(data)
        again = Server(library)
        self.addCleanup(again.stop)
        self.assertEqual(again.get("/iiif/3/p/500,500,200,200/max/0/default.png").status, 500)
        self.assertEqual(again.get("/iiif/3/p/0,0,200,200/max/0/default.png").status, 200)


if __name__ == "__main__":
    unittest.main()
