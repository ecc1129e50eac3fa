"""Events of uploads in progress."""

import http.client
import json
import time
import unittest

from harness import ServerTest, folder, photo
from upload_client import Client, TOKEN, serve


class Events(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = serve(folder("library"))
        cls.client = Client(cls.server)

    def test_events_report_sending_and_tiling(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {TOKEN}"})
        stream = connection.getresponse()
        self.assertEqual(stream.headers["Content-Type"], "text/event-stream")
        data = photo(folder("photos") / "told.jpg", 3000, 2000).read_bytes()
        _, path = self.client.send(data, filename="told.jpg")
        stages = []
        while not stages or stages[-1]["status"] != "done":
            line = stream.readline()
            if line.startswith(b"data: ") and json.loads(line[6:])["id"] in path:
                stages.append(json.loads(line[6:]))
        self.assertEqual(stages[-1]["image"], "told")
        self.assertIn("tiling", [state["status"] for state in stages])
        self.assertIn(len(data), [state["offset"] for state in stages])
        connection.close()

    def test_head_is_the_head_alone_and_listens_to_nothing(self):
        for _ in range(70):
            answer = self.server.get("/api/events", "HEAD", Authorization=f"Bearer {TOKEN}")
            self.assertEqual((answer.status, answer["content-type"], answer.rest), (200, "text/event-stream", b""))

    def test_listeners_are_bounded(self):
        open_ones = [self.server.connect() for _ in range(70)]
        statuses = []
        for connection in open_ones:
            connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            statuses.append(int(connection.recv(2000).split()[1]))
        for connection in open_ones:
            connection.close()
        self.assertEqual(set(statuses), {200, 503})
        self.assertTrue(self.server.alive())
        # The places of those that left are found empty within some beats.
        until = time.monotonic() + 40
        while True:
            with self.server.connect() as connection:
                connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
                if connection.recv(2000).startswith(b"HTTP/1.1 200"):
                    break
            self.assertLess(time.monotonic(), until)
            time.sleep(1)


if __name__ == "__main__":
    unittest.main()
