"""Thumbnails for one address while another asks for as many of the dearest pictures as it can.

64 connections from 127.0.0.2 ask for different pictures of one kind, each as large as `--max-pixels` allows, one after
the other; meanwhile one connection from 127.0.0.3 asks for thumbnails, a new one each time, twenty a second at most.
The bar is the time in which 99 of 100 thumbnails have to be there.
"""

import contextlib
import http.client
import itertools
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import material
import serve_bench
from measure import table

WIDTH, HEIGHT = 10000, 7500
ATTACKERS, BAR = 64, 0.5
# Half of the picture's width or less where a format may have fewer pixels, so that every request is allowed.
KINDS = {"avif, 50 megapixels": ("8000,6250", "max/0/default.avif"), "webp, 50 megapixels": ("8000,6250", "max/0/default.webp"),
         "png, 49 megapixels turned by 30°": ("7000,7000", "max/30/default.png"),
         "tif, 27 megapixels": ("6000,4500", "max/0/default.tif"), "gif, 19 megapixels": ("5000,3800", "max/0/default.gif"),
         "jpg, 31 megapixels just quick": ("5000,6000", "max/0/default.jpg")}


class Client(threading.Thread):
    """Sends requests on one connection from one address until it is stopped, and aborts the one that is then pending."""

    def __init__(self, address: str, port: int, paths, pause: float = 0):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120, source_address=(address, 0))
        self.paths, self.pause = paths, pause
        self.ends = threading.Event()
        self.answers: list[tuple[int, float]] = []  # status, seconds

    def run(self) -> None:
        while not self.ends.is_set():
            began = time.monotonic()
            try:
                self.connection.request("GET", next(self.paths))
                answer = self.connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                if not self.ends.is_set():
                    self.answers.append((0, time.monotonic() - began))
                    self.connection.close()
                continue
            if self.ends.is_set():
                return
            self.answers.append((answer.status, time.monotonic() - began))
            if answer.status == 503:
                self.ends.wait(1)  # As Retry-After asks for.
            self.ends.wait(max(0, self.pause - (time.monotonic() - began)))

    def stop(self) -> None:
        self.ends.set()
        with contextlib.suppress(OSError, AttributeError):
            self.connection.sock.shutdown(socket.SHUT_RDWR)  # `close` would leave the thread waiting.


class Bench(serve_bench.Bench):
    def __init__(self, ziggurat: Path, quick: bool):
        super().__init__(ziggurat, quick, 512)
        self.seconds = 8 if quick else 30

    def start(self) -> None:
        library = self.folder / "library"
        (self.folder / "photos").mkdir()
        shutil.copyfile(material.SOURCES["jpeg-75mp"](), self.folder / "photos/photo.jpg")
        subprocess.run([self.ziggurat, "build", self.folder / "photos", "--library", library, "--quiet"], check=True)
        self.ours = self.serve(library)

    def thumbnails(self):
        """Each of its own, so that none comes from memory."""
        for number in itertools.count():
            yield f"/iiif/3/photo/{number % 500},{number // 500},9000,7000/320,/0/default.jpg"

    def dear(self, region: str, rest: str):
        # Not the same picture twice, from several threads.
        numbers = itertools.count()
        width, height = (int(side) for side in region.split(","))
        while True:
            number = next(numbers)
            yield f"/iiif/3/photo/{number % (WIDTH - width)},{number % (HEIGHT - height)},{region}/{rest}"

    def row(self, name: str, kind: tuple[str, str] | None) -> list[str]:
        lock = threading.Lock()

        def shared(paths):
            while True:
                with lock:
                    path = next(paths)
                yield path

        source = self.dear(*kind) if kind else None
        attackers = [Client("127.0.0.2", self.ours, shared(source)) for _ in range(ATTACKERS if kind else 0)]
        for attacker in attackers:
            attacker.start()
        time.sleep(2)
        visitor = Client("127.0.0.3", self.ours, self.paths_of_visitor, 0.05)
        visitor.start()
        time.sleep(self.seconds)
        for client in (visitor, *attackers):
            client.stop()
        for client in (visitor, *attackers):
            client.join(30)
        times = sorted(seconds for status, seconds in visitor.answers if status == 200)
        if len(times) < len(visitor.answers) or len(times) < 10:
            failed = {status for status, _ in visitor.answers if status != 200}
            print(f"{name}: {len(visitor.answers) - len(times)} of {len(visitor.answers)} thumbnails were refused: {failed}")
        times += [float("inf")] * (len(visitor.answers) - len(times))  # What was refused never came.
        middle, late = (times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.99)) if times else (float("inf"),) * 2
        statuses = [status for attacker in attackers for status, _ in attacker.answers]
        made, refused = statuses.count(200), len(statuses) - statuses.count(200)
        print(f"{name}: thumbnails p50 {middle * 1000:.0f} ms, p99 {late * 1000:.0f} ms (bar {BAR * 1000:.0f}) of {len(times)}; "
              f"the others got {made} pictures, {refused} refusals", flush=True)
        self.met = self.met and late <= BAR
        # What was begun for them ends by itself.
        time.sleep(1)
        return [name, str(len(attackers)), f"{middle * 1000:.0f} ms", f"{late * 1000:.0f} ms", f"{BAR * 1000:.0f} ms",
                str(made), str(refused)]

    def rows(self) -> list[list[str]]:
        self.met = True
        self.paths_of_visitor = self.thumbnails()
        return [self.row("nothing", None), *(self.row(name, kind) for name, kind in KINDS.items())]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    bench = Bench(ziggurat, quick)
    try:
        bench.start()
        rows = bench.rows()
    finally:
        bench.stop()
    text = table(["asked for beside them", "connections", "thumbnails, p50", "p99", "bar", "made meanwhile", "refused"], rows)
    return text + ("" if bench.met else "\nThe bar is missed.\n")
