"""Other places to listen at and to log to: sockets of the file system, an address for monitors, a file that is rotated."""

import fcntl
import json
import os
import re
import signal
import socket
import stat
import subprocess
import time
import unittest

from harness import BINARY, Answer, CommandTest, Server, folder, heard, run, sample_library

TILE = "/dzi/photo_files/12/0_0.jpg"


class Listening(CommandTest):
    def start(self, *options, lines=1) -> tuple[subprocess.Popen, list[str]]:
        process = subprocess.Popen([BINARY, "serve", sample_library(), *map(str, options)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            process.terminate()
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)

        self.addCleanup(end)
        return process, [process.stdout.readline() for _ in range(lines)]

    def ask(self, path, target: str, *fields: str) -> Answer:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall("\r\n".join([f"GET {target} HTTP/1.1", "Host: pictures.example", "Connection: close", *fields, "", ""]).encode())
            return Answer(heard(one, 20))

    def test_a_socket_of_the_file_system(self):
        path = folder("sockets") / "z.sock"
        log = path.parent / "log"
        _, reported = self.start("--listen", f"unix:{path}", "--log", "json", "--log-file", log)
        self.assertEqual(reported, [f"listening on unix:{path}\n"])
        self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
        for target in (TILE, "/api/images", "/", "/healthz"):
            self.assertEqual(self.ask(path, target, "X-Forwarded-For: 192.0.2.7").status, 200, target)
        deadline = time.monotonic() + 20
        while log.read_text().count("\n") < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        # Who is behind the socket is a proxy, whose word counts.
        self.assertEqual({json.loads(line)["client"] for line in log.read_text().splitlines()}, {"192.0.2.7"})
        self.assertOneLine(run("serve", sample_library(), "--listen", f"unix:{path}"), "cannot listen on unix:", "in use")

    def test_a_socket_that_was_left_behind_is_taken_over_and_taken_away(self):
        path = folder("sockets") / "z.sock"
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
        server = Server(sample_library(), "--listen", f"unix:{path}")
        self.assertEqual(self.ask(path, "/healthz").status, 200)
        self.assertEqual(server.get("/healthz").status, 200, "a port that is asked for is there, too")
        self.assertEqual(server.stop(), 0)
        self.assertFalse(path.exists())
        path.write_text("a file")
        self.assertOneLine(run("serve", sample_library(), "--listen", f"unix:{path}"), "cannot listen on unix:")
        self.assertEqual(path.read_text(), "a file")
        self.assertOneLine(run("serve", sample_library(), "--listen", "unix:/" + "x" * 200), "cannot listen on unix:", "too long")

    def test_metrics_have_an_address_of_their_own(self):
        process, _ = self.start("--port", 0, "--metrics-listen", "127.0.0.1:0", lines=0)
        public = int(re.search(r":(\d+)/", process.stdout.readline())[1])
        monitor = int(re.fullmatch(r"metrics on http://127\.0\.0\.1:(\d+)/metrics\n", process.stderr.readline())[1])

        def status(port, target, method="GET"):
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.sendall(f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
                return Answer(heard(one, 20)).status

        for target, everybody, monitors in ((TILE, 200, 404), ("/", 200, 404), ("/metrics", 404, 200), ("/%6detrics", 404, 200), ("/healthz", 200, 200),
                                            ("/api/images", 200, 404), ("/api/session", 200, 404), ("/view/photo", 200, 404)):
            with self.subTest(target):
                self.assertEqual((status(public, target), status(monitor, target)), (everybody, monitors))
        for wrong in ("9100", "127.0.0.1", "::1:9100", ":9100", "127.0.0.1:x", "127.0.0.1:70000"):
            self.assertOneLine(run("serve", sample_library(), "--metrics-listen", wrong), "invalid value", wrong, "for --metrics-listen")

    def test_an_unavailable_address_is_reported_with_its_option(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assertOneLine(run("serve", sample_library(), "--port", port),
                               f"cannot listen on 127.0.0.1:{port}: address already in use; choose another port with --port")
            self.assertOneLine(run("serve", sample_library(), "--port", 0, "--metrics-listen", f"127.0.0.1:{port}"),
                               f"cannot listen on 127.0.0.1:{port}: address already in use; choose another port with --metrics-listen")
        self.assertOneLine(run("serve", sample_library(), "--port", 0, "--host", "192.0.2.1"), "choose an address of this machine with --host")
        result = run("serve", sample_library(), "--port", 0, "--metrics-listen", "192.0.2.1:0")
        self.assertOneLine(result, "choose an address of this machine with --metrics-listen")
        self.assertEqual(result.returncode, 1)

    def test_a_port_below_1024_is_for_root(self):
        first = int(open("/proc/sys/net/ipv4/ip_unprivileged_port_start").read())
        if first < 2:
            self.skipTest("every user may use every port here")
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        library = folder("library")
        library.chmod(0o777)
        self.assertOneLine(run("serve", library, "--port", 1, **options), "permission denied; only root can use ports below 1024",
                           "with --port, and put a proxy in front")

    def test_a_log_that_is_moved_away_is_followed_by_a_new_one(self):
        log = folder("log") / "access.log"
        server = Server(sample_library(), "--log", "text", "--log-file", log)
        server.get(TILE)
        server.get("/api/images")
        moved = log.rename(log.with_suffix(".1"))
        os.kill(server.process.pid, signal.SIGHUP)
        deadline = time.monotonic() + 20
        while not log.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        server.get("/healthz")
        self.assertEqual(server.stop(), 0)
        paths = lambda file: [line.split(" ")[3] for line in file.read_text().splitlines()]
        self.assertEqual((paths(moved), paths(log)), ([TILE, "/api/images"], ["/healthz"]))
        self.assertOneLine(run("serve", sample_library(), "--log-file", log), "--log text")
        self.assertOneLine(run("serve", sample_library(), "--log", "text", "--log-file", log.parent), "cannot open the log")

    def test_the_running_server_is_reported(self):
        with Server(sample_library()) as server:
            version = run("--version").stdout.split()[1]
            self.assertRegex(server.get("/metrics").body.decode(), rf'ziggurat_build_info\{{version="{re.escape(version)}",libvips="\d+\.\d+\.\d+"\}} 1\n')

    def test_every_5xx_has_its_reason_in_the_log(self):
        library = folder("damaged")
        (library / "broken.szi").write_bytes(b"PK no archive")
        for style in ("json", "text"):
            log = folder("log") / "log"
            with Server(library, "--log", style, "--log-file", log) as server:
                for target in ("/dzi/broken.dzi", "/api/images/broken", "/dzi/broken_files/3/0_0.jpg"):
                    self.assertEqual(server.get(target).status, 500, target)
                self.assertEqual(server.get("/dzi/none.dzi").status, 404)
            lines = log.read_text().splitlines()
            if style == "json":
                reasons = [json.loads(line).get("reason", "") for line in lines]
                self.assertEqual(reasons[3], "")
            else:
                reasons = [(re.search(r' "(.*)"$', line) or [0, ""])[1] for line in lines]
            for reason in reasons[:3]:
                self.assertIn("cannot be read", reason)
                self.assertIn("broken.szi", reason)

    def test_how_long_tiles_may_be_kept(self):
        with Server(sample_library(), "--tile-max-age", 600) as server:
            generation = json.loads(server.get("/api/images/photo").body)["generation"]
            for target in (TILE, "/dzi/photo_files/12/0_0.webp", "/iiif/3/photo/0,0,512,512/256,/0/default.jpg"):
                self.assertEqual(server.get(target)["cache-control"], "public, max-age=600", target)
                self.assertIn("immutable", server.get(f"{target}?v={generation}")["cache-control"])
        with Server(sample_library()) as server:
            self.assertEqual(server.get(TILE)["cache-control"], "public, no-cache")


class HandedOver(CommandTest):
    """Sockets that listen before the program is started, as systemd hands them over."""

    def start(self, *sockets: socket.socket, count=None, process_id="$$", options=()) -> subprocess.Popen:
        # Numbered from 3, as sd_listen_fds(3) has it.
        moves = " ".join(f"{3 + number}<&{one.fileno()}" for number, one in enumerate(sockets))
        script = f'exec env LISTEN_PID={process_id} LISTEN_FDS={len(sockets) if count is None else count} "$@" {moves}'
        return subprocess.Popen(["bash", "-c", script, "bash", BINARY, "serve", sample_library(), *options], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                pass_fds=[one.fileno() for one in sockets])

    @staticmethod
    def listening(family, address) -> socket.socket:
        one = socket.socket(family)
        # Above those that are handed over.
        high = socket.socket(fileno=fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, 40))
        one.close()
        high.bind(address)
        high.listen(64)
        return high

    @staticmethod
    def ask(one: socket.socket) -> Answer:
        with socket.socket(one.family) as other:
            other.settimeout(20)
            other.connect(one.getsockname())
            other.sendall(b"GET /api/images HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return Answer(heard(other, 20))

    def test_sockets_of_tcp_and_of_the_file_system_outlive_the_program(self):
        path = folder("handed") / "z.sock"
        with self.listening(socket.AF_INET, ("127.0.0.1", 0)) as tcp, self.listening(socket.AF_UNIX, str(path)) as unix:
            port = tcp.getsockname()[1]
            for _ in range(2):
                # Its own host and port are for when nothing is handed over.
                process = self.start(tcp, unix, options=["--port", "1"])
                self.assertEqual([process.stdout.readline() for _ in range(2)],
                                 [f"listening on http://127.0.0.1:{port}/\n", f"listening on unix:{path}\n"])
                for one in (tcp, unix):
                    self.assertEqual(self.ask(one).status, 200)
                process.terminate()
                process.communicate(timeout=20)
                self.assertEqual(process.returncode, 0)
                self.assertTrue(path.exists())
            # Who comes while nothing runs is answered by the next one.
            with socket.create_connection(("127.0.0.1", port), timeout=20) as early:
                early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                process = self.start(tcp)
                self.assertEqual(Answer(heard(early, 20)).status, 200)
                process.terminate()
                process.communicate(timeout=20)
                self.assertEqual(process.returncode, 0)

    def test_other_descriptors_are_reported_as_no_listening_socket(self):
        with socket.socket() as idle, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            for one, count, message in [(idle, 1, "not a listening stream"), (datagrams, 1, "not a listening stream"),
                                      (idle, 9, "descriptor"), (idle, "x", "LISTEN_FDS"), (idle, -1, "LISTEN_FDS")]:
                moved = socket.socket(fileno=fcntl.fcntl(one.fileno(), fcntl.F_DUPFD_CLOEXEC, 40))
                with self.subTest(f"{one.type} {count}"), moved:
                    process = self.start(moved, count=count)
                    process.stdout.close()
                    errors = process.stderr.read()
                    process.stderr.close()
                    self.assertEqual(process.wait(20), 1, errors)
                    self.assertIn("cannot take the sockets that were handed over", errors)
                    self.assertIn(message, errors)
                    self.assertEqual(errors.count("\n"), 1)

    def test_sockets_for_another_process_are_left_alone(self):
        with self.listening(socket.AF_INET, ("127.0.0.1", 0)) as tcp:
            process = self.start(tcp, process_id=1, options=["--port", "0"])
            reported = process.stdout.readline()
            self.assertNotEqual(reported, f"listening on http://127.0.0.1:{tcp.getsockname()[1]}/\n")
            self.assertRegex(reported, r"listening on http://127\.0\.0\.1:\d+/\n")
            process.terminate()
            process.communicate(timeout=20)

    def test_a_private_space_is_not_served_to_others(self):
        with self.listening(socket.AF_INET, ("0.0.0.0", 0)) as tcp:
            process = self.start(tcp, options=["--space"])
            _, errors = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 2)
            self.assertIn("--space cannot be used with", errors)


if __name__ == "__main__":
    unittest.main()
