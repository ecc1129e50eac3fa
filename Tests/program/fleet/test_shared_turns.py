"""Of servers that share a library one accepts changes at a time: a former writer accepts none, and each of two simultaneous
editors of one image gets the result."""

import collections
import http.client
import json
import os
import signal
import socket
import threading
import time

from edges import EDGES
from harness import folder, photo
from test_shared_edits import TOKEN, SharedMetadata

LATE = int(os.environ.get("LATE", 100))
STOPPED = float(os.environ.get("STOPPED", 0))
"""For how many seconds a writer stands still at least; until the next one takes over in any case."""


class SharedTurns(SharedMetadata):
    def test_each_of_several_simultaneous_editors_gets_the_result(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        with self.writable(3) as servers:
            for server in servers:
                self.listed(server, "a")
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/a", {"caption": "0"})[0], 200)
            for server in servers:
                self.eventually(lambda: self.described(server, "a").get("caption"), "0")
            answers = []

            def count_up(server):
                for _ in range(15):
                    answer = server.get("/api/images/a")
                    value = int(json.loads(answer.body)["caption"])
                    answers.append(self.ask(server, "PATCH", "/api/images/a", {"caption": str(value + 1)}, If_Match=answer["etag"])[0])

            writer = self.servers[self.writer()]
            threads = [threading.Thread(target=count_up, args=(server,)) for server in (writer, writer, *servers)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            self.assertEqual((len(answers), set(answers) - {200, 412}), (75, set()), collections.Counter(answers))
            for server in servers:
                self.eventually(lambda: self.described(server, "a")["caption"], str(answers.count(200)))

    def test_a_stopped_writer_accepts_no_edit_any_more_and_the_next_one_does(self):
        """Not those that had come to it before it stopped, of which some may be in the middle of a transaction, nor those that
        have come meanwhile."""
        under_way, late = [f"u{number}" for number in range(8)], [f"l{number}" for number in range(10)]
        for id in under_way + late:
            photo(self.photos / f"{id}.jpg", 200, 100)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.eventually(lambda: len(self.titles(server)), 18)
            first = self.servers[self.writer()]
            other = next(server for server in servers if server is not first)
            self.acknowledged = {}
            going = threading.Event()
            going.set()
            editors = [threading.Thread(target=self.edits, args=(first, id, going)) for id in under_way]
            for each in editors:
                each.start()
            self.eventually(lambda: sorted(self.acknowledged), under_way)
            os.kill(first.process.pid, signal.SIGSTOP)
            stopped = time.monotonic()
            try:
                self.eventually(lambda: self.servers.get(self.writer()) is other, True)
                # Each editor's one edit that was under way is written by now or never.
                going.clear()
                written = self.titles(other)
                for id in late:
                    self.assertEqual(self.ask(other, "PATCH", f"/api/images/{id}", {"title": "after"})[0], 200)
                # What was sent to it meanwhile it reads when it goes on, and does not write.
                self.answers = []
                waiting = [threading.Thread(target=self.late, args=(first, late[number % 10], number)) for number in range(LATE)]
                for each in waiting:
                    each.start()
                time.sleep(max(0.5, STOPPED - (time.monotonic() - stopped)))
            finally:
                going.clear()
                os.kill(first.process.pid, signal.SIGCONT)
            for each in waiting + editors:
                each.join()
            self.assertEqual(len(self.answers), LATE)
            self.assertNotIn(200, self.answers)
            print(f"[{LATE} late edits: {dict(collections.Counter(self.answers))}]", end=" ", flush=True)
            for id in under_way:
                self.assertEqual(self.acknowledged[id], written[id], id)
            for server in servers:
                self.eventually(lambda: self.titles(server), written | dict.fromkeys(late, "after"))

    def edits(self, server, id, going):
        """One after another, until one is under way when no more are to come."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        number = 0
        while going.is_set():
            number += 1
            connection.request("PATCH", f"/api/images/{id}", json.dumps({"title": f"{id} {number}"}), {"Authorization": f"Bearer {TOKEN}"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                self.acknowledged[id] = f"{id} {number}"

    def late(self, server, id, number):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.request("PATCH", f"/api/images/{id}", json.dumps({"title": f"late {number}"}), {"Authorization": f"Bearer {TOKEN}"})
        self.answers.append(connection.getresponse().status)

    def test_a_server_that_takes_no_changes_gives_way_to_one_that_does(self):
        photo(self.photos / "a.jpg", 200, 100)
        self.build()
        with self.serve() as reader:
            self.listed(reader, "a")
            self.eventually(lambda: reader.metrics()["catalog_writer"], 1)
            with self.server(0) as first, self.server(1) as second:
                self.eventually(lambda: self.ask(second, "PATCH", "/api/images/a", {"title": "after"})[0], 200)
                self.eventually(lambda: reader.metrics()["catalog_writer"], 0)
                for server in (reader, first, second):
                    self.eventually(lambda: self.titles(server), {"a": "after"})

    def test_a_killed_server_that_restarts_redirects_no_client_to_itself(self):
        photo(self.photos / "a.jpg", 200, 100)
        self.build()
        first = self.server(0)
        self.addCleanup(first.stop)
        self.listed(first, "a")
        self.eventually(lambda: self.ask(first, "PATCH", "/api/images/a", {"title": "before"})[0], 200)
        first.stop(signal.SIGKILL)
        with self.server(0) as again:
            statuses = set()

            def reported():
                status, _, headers = self.ask(again, "PATCH", "/api/images/a", {"title": "after"})
                self.assertEqual(headers["Retry-After"], "1" if status == 503 else None)
                statuses.add(status)
                return status

            self.eventually(reported, 200)
            self.assertEqual(statuses, {200, 503})

    def test_a_write_through_a_cache_reaches_the_server_that_accepts_changes(self):
        ids = [f"i{number}" for number in range(9)]
        for id in ids:
            photo(self.photos / f"{id}.jpg", 200, 100)
        self.build()
        for name, kind in EDGES.items():
            with self.subTest(name):
                servers = [self.server(number) for number in range(3)]
                for server in servers:
                    self.addCleanup(server.stop)
                    self.listed(server, ids)
                edge = kind(folder("cache"))
                self.addCleanup(edge.stop)
                edge.start([server.port for server in servers])
                self.eventually(lambda: edge.ask("/api/images/i0").status, 200)

                def change(number, headers):
                    connection = http.client.HTTPConnection("127.0.0.1", edge.port, timeout=60)
                    body = json.dumps({"title": f"{name} {number}", "caption": "x" * 15_000})
                    connection.request("PATCH", f"/api/images/i{number}", body, headers)
                    return connection.getresponse().status

                def sign_in():
                    connection = http.client.HTTPConnection("127.0.0.1", edge.port, timeout=60)
                    connection.request("POST", "/api/session", json.dumps({"token": TOKEN}), {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    cookie = (answer.headers["Set-Cookie"] or "").split(";")[0]
                    return {"Cookie": cookie, "Sec-Fetch-Site": "same-origin", "status": str(answer.status)}

                self.eventually(lambda: sign_in()["status"], "200")
                for headers in (sign_in(), {"Authorization": f"Bearer {TOKEN}"}):
                    self.assertEqual({change(number, headers) for number in range(9)}, {200}, headers)
                # An untrusted body is neither kept nor waited for.
                with socket.create_connection(("127.0.0.1", edge.port), timeout=20) as slow_client:
                    slow_client.sendall(b"PATCH /api/images/i0 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n" + bytes(1000))
                    self.assertIn(slow_client.recv(100).split()[1], (b"401", b"503"))
                # The next one takes over, of whom the cache hears within seconds.
                self.servers[self.writer()].stop(signal.SIGKILL)
                self.eventually(lambda: change(0, sign_in()), 200)
                self.assertEqual({change(number, sign_in()) for number in range(9)}, {200})
                for server in servers:
                    if server.process.poll() is None:
                        self.eventually(lambda: set(self.titles(server).values()), {f"{name} {number}" for number in range(9)})
                        server.stop()
