"""Pictures made to attack decoders, among good ones: the good ones are built, and each other one is reported in one line.

Each of Tests/Fixtures/hostile once ended, hung or filled the memory of a program that decoded it. GOOD good pictures
are beside them (default 100).
"""

import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))

from PIL import Image  # noqa: E402

import processes  # noqa: E402
from harness import BINARY, CRASH, ROOT, WALLPAPER, folder, photo, run  # noqa: E402
from szi import archive_defects, archives, leftovers  # noqa: E402
from upload_client import Client, rest_of, serve  # noqa: E402

GOOD = int(os.environ.get("GOOD", 100))
ATTACKS = sorted(path for path in Path(os.environ.get("HOSTILE", ROOT / "Tests/Fixtures/hostile")).iterdir()
                 if path.is_file() and path.suffix != ".md")
MEGABYTE = 1 << 20
LIMIT = 500  # MB that a build may take for pictures
SPARE = 256  # MB beside those
# Seconds that a picture may take in a build: some hang.
TIMEOUT = 10


def good_pictures() -> Path:
    """Small whole pictures of four formats, made once."""
    place = ROOT / f".cache/good-pictures-{GOOD}"
    if place.exists():
        return place
    place.parent.mkdir(exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=place.parent))
    wallpaper, chance = Image.open(WALLPAPER).convert("RGB"), random.Random(6)
    for number in range(GOOD):
        width, height = chance.randint(60, 400), chance.randint(60, 300)
        left, top = chance.randrange(wallpaper.width - width), chance.randrange(wallpaper.height - height)
        ending = ("jpg", "png", "tif", "webp")[number % 4]
        wallpaper.crop((left, top, left + width, top + height)).save(partial / f"good-{number:04}.{ending}")
    partial.rename(place)
    return place


class Attacks(unittest.TestCase):
    def build(self, source: Path, library: Path, seconds: float) -> tuple[int, list[str], int]:
        """Exit code, lines of stderr, and the most memory that all its processes had at one time."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([BINARY, "build", source, "--library", library, "--quiet", "--memory-limit", str(LIMIT),
                                        "--image-timeout", str(TIMEOUT)], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors)
            memory = processes.PeakMemory(process.pid)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                for each in (*processes.descendants(process.pid), process.pid):
                    processes.kill(each)
                process.wait()
                self.fail(f"still running after {seconds} s")
            finally:
                peak = memory.end()
            errors.seek(0)
            return code, errors.read().decode(errors="replace").splitlines(), peak

    def assertReported(self, path: Path, lines: list[str], is_built: bool):
        """Either it is built, or one line gives the reason in plain terms."""
        reported = [line for line in lines if f"/{path.name}: " in line]
        self.assertEqual(len(reported), 0 if is_built else 1, f"{path.name}: {lines}")
        for line in reported:
            self.assertNotRegex(line.replace(path.name, ""), CRASH)
            self.assertLess(len(line), 600)

    def test_among_good_ones(self):
        self.assertGreaterEqual(len(ATTACKS), 8)
        source, library = folder("mixed") / "pictures", folder("library")
        shutil.copytree(good_pictures(), source)
        for path in ATTACKS:
            shutil.copy(path, source)
        code, lines, peak = self.build(source, library, 1200 + GOOD)
        built = {path.stem for path in archives(library)}
        self.assertEqual(code, 1, lines)
        self.assertEqual({path.stem for path in good_pictures().iterdir()} - built, set(), lines)
        for path in ATTACKS:
            self.assertReported(path, lines, path.stem in built)
        self.assertEqual(len(lines), sum(path.stem not in built for path in ATTACKS), lines)
        self.assertEqual(leftovers(library), [])
        self.assertEqual(run("verify", library).returncode, 0)
        self.assertLessEqual(peak / MEGABYTE, LIMIT + SPARE)
        print(f"[{len(built)} built, {len(lines)} told, {peak / MEGABYTE:.0f} MB] ", end="", flush=True)

    def test_each_by_itself_stays_within_memory(self):
        peaks = {}
        for path in ATTACKS:
            with self.subTest(path.name):
                library = folder("library")
                code, lines, peak = self.build(path, library, 600)
                peaks[path.name] = round(peak / MEGABYTE)
                self.assertIn(code, (0, 1), lines)
                self.assertEqual((len(archives(library)), len(lines)), (1, 0) if code == 0 else (0, 1), lines)
                self.assertReported(path, lines, code == 0)
                self.assertEqual(leftovers(library), [])
                for archive in archives(library):
                    self.assertEqual(archive_defects(archive), [])
                self.assertLessEqual(peak / MEGABYTE, LIMIT + SPARE)
        print(f"[MB: {peaks}] ", end="", flush=True)


class Watcher:
    """Asks for tiles without a pause and keeps what was wrong with the answers."""

    def __init__(self, port: int, tiles: dict[str, bytes]):
        self.port, self.tiles, self.failures, self.count, self.longest = port, tiles, [], 0, 0.0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            while not self.ending.wait(0.03):
                for path, data in self.tiles.items():
                    began = time.monotonic()
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    body = answer.read()
                    self.longest = max(self.longest, time.monotonic() - began)
                    self.count += 1
                    if (answer.status, body) != (200, data):
                        self.failures.append(f"{answer.status}, {len(body)} bytes: {path}")
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(f"no answer: {type(error).__name__} {error}")

    def end(self) -> None:
        self.ending.set()
        self.thread.join(70)


class Uploads(unittest.TestCase):
    def test_tiles_are_answered_while_attacks_are_sent(self):
        library = folder("library")
        source = photo(folder("p") / "shown.jpg", 900, 700)
        self.assertEqual(run("build", source, "--library", library, "--quiet").returncode, 0)
        good = photo(folder("p") / "good.png", 300, 200).read_bytes()
        with serve(library) as server:
            client = Client(server)
            tiles = {path: server.get(path).body for path in ("/dzi/shown_files/10/0_0.jpg", "/dzi/shown_files/10/1_1.jpg",
                                                               "/dzi/shown_files/9/0_0.jpg", "/dzi/shown_files/3/0_0.jpg")}
            watcher, memory = Watcher(server.port, tiles), processes.PeakMemory(server.process.pid)
            ends = {}
            for number, path in enumerate(ATTACKS):
                ends[path.name] = self.end(client, path.name, path.read_bytes())
                # One that is whole goes through behind it.
                reported = self.end(client, f"good {number}.png", good + bytes([number]))
                self.assertEqual(reported["status"], "done", (path.name, reported))
            watcher.end()
            peak = memory.end()
            self.assertTrue(server.alive())
            self.assertEqual((watcher.failures[:5], watcher.count > 20), ([], True))
            self.assertEqual(rest_of(library), [])
            until = time.monotonic() + 30
            while processes.workers(server.process.pid) and time.monotonic() < until:
                time.sleep(0.1)
            self.assertEqual((processes.workers(server.process.pid), processes.zombies(server.process.pid)), ([], []))
        for name, reported in ends.items():
            with self.subTest(name):
                self.assertIn(reported["status"], ("done", "failed"))
                if reported["status"] == "failed":
                    self.assertTrue(reported["message"])
                    self.assertNotRegex(reported["message"], CRASH)
                    self.assertNotIn(str(library), reported["message"])
        self.assertIn("failed", {reported["status"] for reported in ends.values()})
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self.assertLessEqual(peak / MEGABYTE, total / 4 / MEGABYTE + SPARE)
        self.assertEqual(run("verify", library).returncode, 0)
        print(f"[{watcher.count} tiles, the slowest after {watcher.longest * 1000:.0f} ms; {peak / MEGABYTE:.0f} MB; "
              f"{ {name: reported.get('message', reported['status']) for name, reported in ends.items()} }] ", end="", flush=True)

    def end(self, client: Client, name: str, data: bytes) -> dict:
        """How the upload ended; what is refused at once has a reason, too."""
        made = client.create(len(data), filename=name)
        if made.status != 201:
            return {"status": "failed", "message": json.loads(made.body)["detail"]}
        path = "/api/uploads/" + made["location"].split("/")[-1]
        client.patch(path, 0, data)
        return client.end(path, 300)


if __name__ == "__main__":
    unittest.main()
