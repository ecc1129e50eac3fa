"""Stops and SIGHUP: what is in flight is finished, what is in hand cleared away."""

import os
import re
import signal
import socket
import subprocess
import time
import unittest

from harness import BINARY, Answer, CommandTest, Server, folder, heard, run, sample_library
from processes import workers


class StoppingTest(CommandTest):
    def asking(self, server: Server, degrees: int = 33):
        """A picture that takes its time is on its way when this returns."""
        connection = server.connect()
        self.addCleanup(connection.close)
        connection.sendall(f"GET /api/images/photo/viewport.png?width=3000&height=1700&rotation={degrees} HTTP/1.1\r\n"
                           "Host: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        # Connections are accepted in order: a later message follows that request.
        for _ in range(3):
            self.assertGreater(server.metrics()["connections"], 1)

        def answer():
            found = Answer(heard(connection, 60))
            self.assertEqual(found.status, 200)
            self.assertEqual(len(found.body), int(found["content-length"]))
        return answer

    def until(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)


class Stopping(StoppingTest):
    def test_a_stop_finishes_what_is_in_flight(self):
        server = Server(sample_library())
        answer = self.asking(server)
        os.kill(server.process.pid, signal.SIGTERM)
        answer()
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
            # Of a fixed size, so that it does not grow to hold the answer, and no smaller: a stop waits ten seconds.
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
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


class HangingUp(StoppingTest):
    """SIGHUP: without a terminal the server reopens its files, with one it ends like by SIGTERM."""

    def test_a_service_goes_on(self):
        with Server(sample_library()) as server:
            for count in (1, 2):
                answer = self.asking(server, 30 + count)
                os.kill(server.process.pid, signal.SIGHUP)
                self.until(lambda: server.errors().count("SIGHUP: ") == count, "told")
                answer()
                self.assertTrue(server.alive())
            self.assertEqual(server.errors().count("\n"), 2, server.errors())

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

    def test_a_process_that_ignores_it_continues_to_ignore_it(self):
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
        self.until(lambda: workers(build.pid), "begun")
        build.send_signal(signal.SIGHUP)
        self.assertIn("interrupted", build.communicate(timeout=60)[1])
        self.assertEqual(build.returncode, 130)
        self.assertEqual([path.name for path in (base / "library").iterdir() if not path.name.startswith("catalog")], [])


if __name__ == "__main__":
    unittest.main()
