"""What an operator relies on: limits, metrics, the log, and a stop that finishes what is in flight."""

import gzip
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

import upload_client
from harness import BINARY, Answer, CommandTest, Server, folder, photo, run, sample_library
from processes import cells

TILE = "/dzi/photo_files/12/0_0.jpg"


def metrics(server: Server) -> dict[str, float]:
    answer = server.get("/metrics")
    assert answer.status == 200, answer
    lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


class Limits(CommandTest):
    def test_a_long_url_is_answered_414_and_many_parameters_are_not_too_many(self):
        with Server(sample_library(), "--max-url", 1000) as server:
            self.assertEqual(server.get("/api/images?q=" + "x" * 900).status, 200)
            self.assertEqual(server.get("/api/images?q=" + "x" * 990).status, 414)
            self.assertEqual(server.get("/" + "x" * 1100).status, 414)
            self.assertEqual(server.get("/healthz?" + "&".join(["a"] * 450)).status, 200)

    def test_headers_within_the_limit_pass_and_larger_ones_are_refused(self):
        for size, passes in [(2, 1500), (8, 7000), (32, 30000)]:
            with Server(sample_library(), "--max-header", size) as server:
                self.assertEqual(server.get(TILE, X_Long="a" * passes).status, 200)
                self.assertIn(server.get(TILE, X_Long="a" * (size << 11)).status, {413, 431})

    def test_the_viewport_has_the_size_that_is_allowed(self):
        with Server(sample_library(), "--max-viewport", 2000) as server:
            path = "/api/images/photo/viewport?height=100&width="
            self.assertEqual(server.get(path + "2000").status, 200)
            refused = server.get(path + "2001")
            self.assertEqual(refused.status, 400)
            self.assertIn("from 1 to 2000", json.loads(refused.body)["detail"])

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
                    waiting, deadline = set(connections), time.monotonic() + 8
                    while waiting and time.monotonic() < deadline:
                        for connection in select.select(list(waiting), [], [], 1)[0]:
                            self.assertIn(b"200", connection.recv(1000))
                            waiting.discard(connection)
                    for connection in connections:
                        connection.close()
                    self.assertEqual(len(waiting), 0)

    def test_slow_senders_and_slow_readers_are_cut(self):
        with Server(sample_library(), "--request-timeout", 1, "--answer-timeout", 1) as server:
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

    def test_every_limit_is_told_and_checked(self):
        told = run("help", "serve").stdout
        for name in ("max-viewport", "max-url", "max-header", "max-connections", "max-connections-per-address",
                     "request-timeout", "answer-timeout", "idle-timeout", "open-archives", "max-pixels"):
            self.assertIn(f"--{name} ", told)
            self.assertUsageError(run("serve", sample_library(), f"--{name}", "0"), name)

    def test_the_descriptor_limit_is_raised_to_the_hard_one(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with Server(sample_library()) as server:
            limits = Path(f"/proc/{server.process.pid}/limits").read_text()
            self.assertRegex(limits, rf"Max open files\s+{hard}\s")


class Metrics(unittest.TestCase):
    def test_requests_bytes_and_latencies_are_counted_by_route(self):
        with Server(sample_library()) as server:
            size = len(server.get(TILE).body)
            tag = server.get(TILE)["etag"]
            for _ in range(8):
                server.get(TILE)
            server.get(TILE, If_None_Match=tag)
            server.get("/dzi/photo_files/12/99_0.jpg")
            server.get("/xyz/photo/0/0/0.jpg")
            server.get("/api/images")
            server.get("/iiif/3/photo/info.json")
            server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n")
            deadline = time.monotonic() + 30  # An answer counts when it was sent, which the client may see first.
            while metrics(server).get('ziggurat_requests_total{route="healthz",status="400"}', 0) < 1:
                self.assertLess(time.monotonic(), deadline)
            found = metrics(server)
            for name, value in {'requests_total{route="dzi",status="200"}': 10, 'requests_total{route="dzi",status="304"}': 1,
                                'requests_total{route="dzi",status="404"}': 1, 'requests_total{route="xyz",status="200"}': 1,
                                'requests_total{route="api",status="200"}': 1, 'requests_total{route="iiif3",status="200"}': 1,
                                'request_duration_seconds_count{route="dzi"}': 12, "images": 5, "open_archives": 1,
                                "renders_total": 1, "render_queue_length": 0, "connections": 1}.items():
                self.assertEqual(found[f"ziggurat_{name}"], value, name)
            self.assertGreaterEqual(found['ziggurat_sent_bytes_total{route="dzi"}'], 10 * size)
            self.assertEqual(found['ziggurat_request_duration_seconds_bucket{route="dzi",le="+Inf"}'], 12)
            self.assertGreater(found['ziggurat_request_duration_seconds_sum{route="dzi"}'], 0)

    def test_the_format_is_prometheus(self):
        with Server(sample_library()) as server:
            answer = server.get("/metrics")
            self.assertEqual(answer["content-type"], "text/plain; version=0.0.4; charset=utf-8")
            for line in answer.body.decode().splitlines():
                self.assertRegex(line, r"^(# (HELP|TYPE) \w+ .+|\w+(\{\w+=\"[^\"]*\"(,\w+=\"[^\"]*\")*\})? [-0-9.e+]+)$")


class Manners(unittest.TestCase):
    def test_text_is_compressed_when_that_is_asked_for(self):
        with Server(sample_library()) as server:
            plain = server.get("/api/images")
            for wanted in ("gzip", "br, GZIP;q=0.5", "*", "x-gzip"):
                answer = server.get("/api/images", Accept_Encoding=wanted)
                self.assertEqual(answer["content-encoding"], "gzip", wanted)
                self.assertEqual(gzip.decompress(answer.body), plain.body)
                self.assertEqual(answer["vary"], "Accept-Encoding")
                self.assertNotEqual(answer["etag"], plain["etag"])
                again = server.get("/api/images", Accept_Encoding=wanted, If_None_Match=answer["etag"])
                self.assertEqual(again.status, 304)
            for unwanted in ("gzip;q=0", "gzip; q=0.0, *", "*;q=0", "identity", "br", ""):
                for path in ("/api/images", "/"):
                    answer = server.get(path, Accept_Encoding=unwanted)
                    self.assertEqual((answer.status, answer["content-encoding"]), (200, ""), unwanted)
            self.assertEqual(server.get(TILE, Accept_Encoding="gzip")["content-encoding"], "")

    def test_refused_requests_are_logged(self):
        with Server(sample_library(), "--log", "json") as server:
            server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n")
            server.get("/" + "x" * 5000)
            deadline = time.monotonic() + 30
            while len(server.errors().splitlines()) < 2 and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual([json.loads(line)["status"] for line in server.errors().splitlines()], [400, 414])

    def test_a_public_file_that_cannot_be_read_is_an_error_and_the_root_may_be_public(self):
        public = folder("public")
        (public / "index.html").write_text("x")
        (public / "loop.html").symlink_to("loop.html")
        with (public / "large.html").open("wb") as file:
            file.truncate(40 << 20)
        with Server(sample_library(), "--public", public) as server:
            self.assertEqual(server.get("/loop.html").status, 500)
            self.assertEqual(server.get("/large.html").status, 500)
            self.assertEqual(server.get("/missing.html").status, 404)
        with Server(sample_library(), "--public", "/") as server:
            self.assertEqual(server.get("/etc/hostname").status, 200)

    def test_a_name_is_listened_on_at_each_of_its_addresses(self):
        addresses = {entry[4][0] for entry in socket.getaddrinfo("localhost", None)}
        process = subprocess.Popen([BINARY, "serve", sample_library(), "--host", "localhost", "--port", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
            for address in addresses:
                try:
                    socket.create_connection((address, port), timeout=5).close()
                except OSError:
                    # An address that this machine does not have.
                    with self.assertRaises(OSError):
                        socket.socket(socket.AF_INET6).bind((address, 0))
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)
            process.stdout.close()

    def test_a_stop_finishes_what_is_in_flight(self):
        server, answers = Server(sample_library()), []
        path = "/api/images/photo/viewport.png?width=3000&height=1700&rotation=33"
        asker = threading.Thread(target=lambda: answers.append(server.get(path)))
        asker.start()
        deadline, seen = time.monotonic() + 30, 0
        # A connection of the question before may still be there: twice is no chance.
        while seen < 2 and time.monotonic() < deadline:
            seen = seen + 1 if metrics(server)["ziggurat_connections"] > 1 else 0
            time.sleep(0.03)
        os.kill(server.process.pid, signal.SIGTERM)
        asker.join(30)
        self.assertEqual(answers[0].status, 200)
        self.assertEqual(len(answers[0].body), int(answers[0]["content-length"]))
        # Not by another signal, which would end it at once.
        self.assertEqual(server.process.wait(20), 0)
        server.stop()

    def test_a_stop_waits_for_a_slow_download_and_takes_nothing_new(self):
        base = folder("noise")
        (base / "photos").mkdir()
        subprocess.run(["vips", "gaussnoise", base / "noise.v", "4000", "3000", "--mean", "128", "--sigma", "60"], check=True)
        subprocess.run(["vips", "cast", base / "noise.v", base / "photos/noise.png", "uchar"], check=True)
        self.assertEqual(run("build", base / "photos", "--library", base / "library", "--quiet").returncode, 0)
        server = Server(base / "library")
        with socket.socket() as slow, server.connect() as idle:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(b"GET /iiif/3/noise/full/max/0/default.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            slow.settimeout(20)
            data = slow.recv(2000)
            length = int(re.search(rb"Content-Length: (\d+)", data)[1])
            # More than sockets hold.
            self.assertGreater(length, 8_000_000)
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 200 ", idle.recv(1000))
            os.kill(server.process.pid, signal.SIGTERM)
            time.sleep(0.5)
            self.assertIsNone(server.process.poll())
            with self.assertRaises(OSError):
                server.connect().close()
            while chunk := slow.recv(1 << 20):
                data += chunk
            self.assertEqual(len(data.partition(b"\r\n\r\n")[2]), length)
            # Who only keeps a connection open is not waited for.
            self.assertEqual(server.process.wait(5), 0)
        server.stop()


class Nothing(CommandTest):
    """What would be an empty page says so to who started the server."""

    def test_a_folder_of_pictures_is_no_library(self):
        place = folder("pictures")
        photo(place / "a.jpg", 60, 40)
        with Server(place) as server:
            self.assertEqual(server.get("/api/images").status, 200)
            self.assertEqual(server.errors().count("\n"), 1)
            for word in ("no image", str(place), "ziggurat build PICTURES --library DIR"):
                self.assertIn(word, server.errors())
        # One that is about to get some is as it should be.
        with upload_client.serve(folder("library")) as server:
            self.assertEqual(server.errors(), "")

    def test_a_program_without_its_page_says_so(self):
        place = folder("elsewhere")
        shutil.copy(BINARY, place / "ziggurat")
        process = subprocess.Popen([place / "ziggurat", "serve", sample_library(), "--port", "0"], cwd=place,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("listening on", process.stdout.readline())
        self.assertIn("--public DIR", process.stderr.readline())
        process.terminate()
        self.assertEqual(process.communicate(timeout=20), ("", ""))


class HangingUp(CommandTest):
    """SIGHUP: without a terminal it begins anew what can be, with one it ends the server like SIGTERM."""

    def asking(self, server: Server, degrees: int = 33):
        """A picture that takes its time is on its way when this returns."""
        answers = []
        path = f"/api/images/photo/viewport.png?width=3000&height=1700&rotation={degrees}"
        asker = threading.Thread(target=lambda: answers.append(server.get(path)))
        asker.start()
        deadline, seen = time.monotonic() + 30, 0
        while seen < 2 and time.monotonic() < deadline:
            seen = seen + 1 if metrics(server)["ziggurat_connections"] > 1 else 0
            time.sleep(0.03)

        def answer():
            asker.join(60)
            self.assertEqual(answers[0].status, 200)
            self.assertEqual(len(answers[0].body), int(answers[0]["content-length"]))
        return answer

    def until(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def test_a_service_goes_on(self):
        with Server(sample_library()) as server:
            for count in (1, 2):
                answer = self.asking(server, 30 + count)
                os.kill(server.process.pid, signal.SIGHUP)
                self.until(lambda: server.errors().count("SIGHUP: ") == count, "told")
                answer()
                self.assertTrue(server.alive())
            self.assertEqual(server.errors().count("\n"), 2)

    def test_a_closed_terminal_ends_the_server_after_what_is_in_flight(self):
        master, terminal = os.openpty()
        server = Server(sample_library(), stdin=terminal)
        answer = self.asking(server)
        os.kill(server.process.pid, signal.SIGHUP)
        answer()
        self.assertEqual(server.process.wait(20), 0)
        self.assertEqual(server.errors(), "")
        server.stop()
        for descriptor in (master, terminal):
            os.close(descriptor)

    def test_who_ignores_it_goes_on_ignoring(self):
        """As `nohup` has it."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            server = Server(sample_library())
            build = subprocess.Popen([BINARY, "build", "--watch", folder("none"), "--library", folder("library")],
                                     stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        finally:
            signal.signal(signal.SIGHUP, before)
        self.until(lambda: "watching" in build.stderr.readline(), "watches")
        with server:
            for process in (server.process, build):
                os.kill(process.pid, signal.SIGHUP)
            self.assertTrue(server.alive())
            self.assertEqual(server.errors(), "")
        build.send_signal(signal.SIGINT)
        self.assertEqual((build.wait(20), build.stderr.read().count("no longer watching")), (130, 1))
        build.stderr.close()

    def test_a_build_clears_away_what_it_had_in_hand(self):
        base = folder("hangup")
        subprocess.run(["vips", "gaussnoise", base / "noise.v", "9000", "7000"], check=True)
        subprocess.run(["vips", "cast", base / "noise.v", base / "noise.png", "uchar"], check=True)
        build = subprocess.Popen([BINARY, "build", base / "noise.png", "--library", base / "library"],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # Its archive has no name before it is whole.
        self.until(lambda: cells(build.pid), "begun")
        build.send_signal(signal.SIGHUP)
        self.assertIn("interrupted", build.communicate(timeout=60)[1])
        self.assertEqual(build.returncode, 130)
        self.assertEqual([path.name for path in (base / "library").iterdir() if not path.name.startswith("catalog")], [])


if __name__ == "__main__":
    unittest.main()
