"""What an operator relies on: metrics, the log, addresses, and a word where there is nothing to serve."""

import gzip
import json
import re
import shutil
import socket
import subprocess
import time
import unittest
from pathlib import Path

import upload_client
from harness import BINARY, ROOT, CommandTest, Server, folder, photo, run, sample_library

TILE = "/dzi/photo_files/12/0_0.jpg"


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
            server.get("/api/images?fields=all")
            server.get("/iiif/3/photo/info.json")
            server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n")
            deadline = time.monotonic() + 30  # An answer counts when it was sent, which the client may see first.
            while server.metrics().get('requests_total{route="healthz",status="400"}', 0) < 1:
                self.assertLess(time.monotonic(), deadline)
            found = server.metrics()
            for name, value in {'requests_total{route="dzi",status="200"}': 10, 'requests_total{route="dzi",status="304"}': 1,
                                'requests_total{route="dzi",status="404"}': 1, 'requests_total{route="xyz",status="200"}': 1,
                                'requests_total{route="api",status="200"}': 1, 'requests_total{route="iiif3",status="200"}': 1,
                                'request_duration_seconds_count{route="dzi"}': 12, "images": 5, "open_archives": 1,
                                "renders_total": 1, "render_queue_length": 0, "connections": 1}.items():
                self.assertEqual(found[name], value, name)
            self.assertGreaterEqual(found['sent_bytes_total{route="dzi"}'], 10 * size)
            self.assertEqual(found['request_duration_seconds_bucket{route="dzi",le="+Inf"}'], 12)
            self.assertGreater(found['request_duration_seconds_sum{route="dzi"}'], 0)

    def test_the_format_is_prometheus(self):
        with Server(sample_library()) as server:
            answer = server.get("/metrics")
            self.assertEqual(answer["content-type"], "text/plain; version=0.0.4; charset=utf-8")
            for line in answer.body.decode().splitlines():
                self.assertRegex(line, r"^(# (HELP|TYPE) \w+ .+|\w+(\{\w+=\"[^\"]*\"(,\w+=\"[^\"]*\")*\})? [-0-9.e+]+)$")


class Manners(unittest.TestCase):
    def test_text_is_compressed_when_that_is_asked_for(self):
        with Server(sample_library()) as server:
            plain = server.get("/api/images?fields=all")
            for wanted in ("gzip", "br, GZIP;q=0.5", "*", "x-gzip"):
                answer = server.get("/api/images?fields=all", Accept_Encoding=wanted)
                self.assertEqual(answer["content-encoding"], "gzip", wanted)
                self.assertEqual(gzip.decompress(answer.body), plain.body)
                self.assertEqual(answer["vary"], "Accept-Encoding")
                self.assertNotEqual(answer["etag"], plain["etag"])
                again = server.get("/api/images?fields=all", Accept_Encoding=wanted, If_None_Match=answer["etag"])
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
        with Server(sample_library(), "--webroot", public) as server:
            self.assertEqual(server.get("/loop.html").status, 500)
            self.assertEqual(server.get("/large.html").status, 500)
            self.assertEqual(server.get("/missing.html").status, 404)
        with Server(sample_library(), "--webroot", "/") as server:
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



class Nothing(CommandTest):
    """What would be an empty page says so to who started the server."""

    def test_a_folder_of_pictures_is_no_library(self):
        place = folder("pictures")
        photo(place / "a.jpg", 60, 40)
        with Server(place) as server:
            self.assertEqual(server.get("/api/images?fields=all").status, 200)
            self.assertEqual(server.errors().count("\n"), 1)
            for word in ("contains no archive", "Is its disk mounted?", f"ziggurat build PICTURES --library {place}"):
                self.assertIn(word, server.errors())
        # A library for uploads may be on a disk that is not mounted, too.
        with upload_client.serve(folder("library")) as server:
            end = time.monotonic() + 20
            while "\n" not in server.errors() and time.monotonic() < end:
                time.sleep(0.05)
            self.assertRegex(server.errors(), r"^/\S+ contains no archive .*Is its disk mounted\?.*\n$")

    def test_it_says_how_many_images_it_has_and_where_its_page_is_from(self):
        for options, isReported in ([], True), (["--log", "text"], True), (["--log", "json"], False):
            with open(folder("start") / "log", "w+b") as log, Server(sample_library(), *options, log=log):
                # Logged once it listens, before any message about a request.
                deadline = time.monotonic() + (20 if isReported else 0.5)
                while not (reported := Path(log.name).read_text()) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertEqual(reported, f"serving 5 images of {sample_library()}; the viewer's files are from {ROOT / 'public'}\n" if isReported else "")

    def test_one_archive_is_served_by_itself(self):
        with Server(sample_library() / "photo.szi") as server:
            page = json.loads(server.get("/api/images?fields=all").body)
            self.assertEqual(([image["id"] for image in page["images"]], page["total"]), (["photo"], 1))
            self.assertEqual(server.get("/dzi/photo_files/12/0_0.jpg").status, 200)
            self.assertEqual(server.get("/view/photo").status, 200)
            self.assertEqual(server.errors(), "")
        self.assertOneLine(run("serve", sample_library() / "photo.szi", "--writable", "--port", "0"), "one archive")
        broken = folder("broken") / "a.szi"
        broken.write_bytes(b"no archive")
        result = run("serve", broken, "--port", "0")
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, str(broken))

    def test_a_program_without_its_page_says_so(self):
        place = folder("elsewhere")
        shutil.copy(BINARY, place / "ziggurat")
        process = subprocess.Popen([place / "ziggurat", "serve", sample_library(), "--port", "0"], cwd=place,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("listening on", process.stdout.readline())
        self.assertIn("--webroot DIR", process.stderr.readline())
        process.terminate()
        self.assertEqual(process.communicate(timeout=20), ("", ""))


if __name__ == "__main__":
    unittest.main()
