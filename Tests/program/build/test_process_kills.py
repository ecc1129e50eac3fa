"""kill -9 of sandboxed processes at random times of builds, uploads and renders: `KILLS` times (default 12).

Each kill costs the picture in work and no other: it is reported in one line, and every other archive is complete.
"""

import http.client
import os
import random
import shutil
import subprocess
import threading
import time
import unittest

from harness import BINARY, CRASH, folder, photo, run, seed
from processes import ProcessKiller, workers, descendants, descriptors, name, zombies
from szi import archive_defects, archives, leftovers
from test_outputs import digests
from upload_client import Client, rest_of, serve

KILLS = int(os.environ.get("KILLS", 12))


class BuildKills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("cell-kills")
        for number in range(24):
            # Some get a sandboxed process of their own, and some share one.
            width = 2200 if number % 4 == 0 else 300
            ending = ("jpg", "png", "tif")[number % 3]
            photo(cls.base / f"photos/{number:02}.{ending}", width, width * 3 // 4, left=100 * number)
        began = time.monotonic()
        result = run("build", cls.base / "photos", "--library", cls.base / "clean", "--quiet")
        cls.seconds = time.monotonic() - began
        assert result.returncode == 0, result.stderr
        cls.clean = digests(cls.base / "clean")

    def test_a_build_goes_on(self):
        chance, kills, report, rounds = seed("kills of cells in builds"), 0, 0, 0
        while kills < KILLS and rounds < 5 * KILLS:
            rounds += 1
            library = self.base / f"library-{rounds}"
            with self.subTest(round=rounds):
                hits, lines = self.interrupted(library, chance)
                kills, report = kills + hits, report + lines
            shutil.rmtree(library)
        print(f"[{kills} kills in {rounds} builds, {report} pictures told] ", end="", flush=True)
        self.assertGreaterEqual(kills, KILLS, "so many processes must really have been killed")

    def interrupted(self, library, chance: random.Random) -> tuple[int, int]:
        """Kills some sandboxed processes of one build. Returns their number, and that of pictures that were not built."""
        with (self.base / "errors").open("w+") as errors:
            process = subprocess.Popen([BINARY, "build", self.base / "photos", "--library", library, "--quiet"],
                                       stdout=subprocess.DEVNULL, stderr=errors)
            pause = self.seconds / chance.choice([3, 8, 30])
            # Now and then the fork server, which is then restarted.
            killer = ProcessKiller(process.pid, random.Random(chance.random()), (0, pause), fork_server=0.05)
            code = process.wait(300)
            kills = killer.end()
            errors.seek(0)
            lines = errors.read().splitlines()
        # A request to a fork server that died may succeed with the next one: a retry helps.
        self.assertIn(code, (1, 75) if lines and killer.fork_servers else (1,) if lines else (0,), lines)
        self.assertLessEqual(len(lines), len(self.clean))
        for line in lines:
            self.assertNotRegex(line.replace("signal 9", ""), CRASH)
        failed = {path.name for path in (self.base / "photos").iterdir() if any(f"/{path.name}: " in line for line in lines)}
        self.assertEqual(len(failed), len(lines), lines)
        found = digests(library)
        # All others, whole, and nothing half there.
        self.assertEqual({name: digest for name, digest in found.items() if self.clean[name] != digest}, {})
        self.assertEqual(set(found), {each for each in self.clean if not any(file.startswith(f"{each[:-4]}.") for file in failed)})
        self.assertEqual(leftovers(library), leftovers(self.base / "clean"))
        again = run("build", self.base / "photos", "--library", library, "--quiet")
        self.assertEqual((again.returncode, again.stderr, digests(library)), (0, "", self.clean))
        return kills, len(lines)


class ServerKills(unittest.TestCase):
    def setUp(self):
        self.library = folder("library")
        source = photo(folder("p") / "big.jpg", 3000, 2000)
        subprocess.run(["vips", "dzsave", source, self.library / "foreign.zip", "--container", "zip"], check=True, capture_output=True)
        (self.library / "foreign.zip").rename(self.library / "foreign.szi")

    def test_uploads_end_and_renders_are_answered(self):
        chance = seed("kills of cells in servers")
        with serve(self.library, "--cache-size", 0) as server:
            client, pid = Client(server), server.process.pid
            kept: dict[str, str] = {}
            self.upload(client, chance, 0, kept)
            self.assertEqual(server.get("/iiif/3/foreign/7,9,800,500/300,/0/default.jpg").status, 200)
            self.settles(pid, descriptors(pid))
            files = descriptors(pid)
            killer = ProcessKiller(pid, random.Random(chance.random()), (0, 0.15), fork_server=0.03, most=KILLS)
            renders = Renders(server.port, random.Random(chance.random()))
            number, until = 1, time.monotonic() + 60 + 5 * KILLS
            failed = 0
            while killer.kills < KILLS and time.monotonic() < until:
                failed += self.upload(client, chance, number, kept)
                number += 1
            kills = killer.end()
            renders.end()
            self.assertEqual(renders.failures[:5], [])
            self.assertGreaterEqual(kills, KILLS, "so many processes must really have been killed")
            # Afterwards all is as before.
            self.assertFalse(self.upload(client, chance, number, kept), "a picture that nobody disturbs")
            self.assertEqual(server.get("/iiif/3/foreign/7,9,700,500/300,/0/default.jpg").status, 200)
            self.assertEqual(client.images(), {"foreign", *kept})
            self.assertEqual(rest_of(self.library), [])
            self.settles(pid, files)
        print(f"[{kills} kills, {killer.fork_servers} fork servers; {number} uploads, {failed} failed; renders {renders.statuses}] ", end="", flush=True)
        self.assertEqual(run("verify", self.library).returncode, 0)
        for path in archives(self.library):
            if path.name != "foreign.szi":
                self.assertEqual(archive_defects(path), [])
        self.assertEqual([path for path in self.library.rglob("*partial*")], [])

    def upload(self, client: Client, chance: random.Random, number: int, kept: dict[str, str]) -> bool:
        """Whether it was reported as failed; else it is a picture."""
        width = chance.choice([200, 900, 2400])
        data = photo(folder("p") / "x.jpg", width, width * 2 // 3, left=chance.randrange(2500)).read_bytes()
        report = client.end(client.send(data + number.to_bytes(4, "big"), filename=f"picture {number}.jpg")[1], 120)
        if report["status"] == "failed":
            self.assertNotRegex(report["message"].replace("signal 9", ""), CRASH)
            self.assertTrue(report["message"])
            return True
        kept[report["image"]] = report["status"]
        return False

    def settles(self, pid: int, files: int):
        until = time.monotonic() + 30
        while time.monotonic() < until and (workers(pid) or zombies(pid) or descriptors(pid) > files + 1):
            time.sleep(0.2)
        self.assertEqual((workers(pid), zombies(pid)), ([], []))
        # One archive more may be open for the pictures that came.
        self.assertLessEqual(descriptors(pid), files + 1, [name(each) for each in descendants(pid)])


class Renders:
    """Requests regions of the foreign archive, which sandboxed processes render; a kill gives a 503 with Retry-After or a retry."""

    def __init__(self, port: int, chance: random.Random):
        self.port, self.chance, self.failures, self.statuses = port, chance, [], {}
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while not self.ending.is_set():
            target = f"/iiif/3/foreign/{self.chance.randrange(1500)},{self.chance.randrange(900)},1400,1000/600,/0/default.jpg"
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                body = answer.read()
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                whole = answer.status == 200 and body[:2] == b"\xff\xd8" and body[-2:] == b"\xff\xd9"
                if not whole and (answer.status != 503 or not answer.headers["Retry-After"]):
                    self.failures.append(f"{answer.status}, {len(body)} bytes: {target}")
            except OSError as error:
                self.failures.append(f"no answer: {error}")
            finally:
                connection.close()

    def end(self) -> None:
        self.ending.set()
        self.thread.join(60)


if __name__ == "__main__":
    unittest.main()
