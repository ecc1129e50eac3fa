"""Readers through a cache over three servers, with a catalog that they share and without, a disk and two gateways of Ceph, while 200 archives are replaced, and a server and a gateway are killed."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from edge_campaign import Readers, versions

sys.path.append(str(Path(__file__).resolve().parents[1] / "program/fleet"))

from ceph import Ceph  # noqa: E402
from databases import Database  # noqa: E402
from edges import EDGES, StoreDisk  # noqa: E402
from engine import BUCKET  # noqa: E402
from harness import BINARY, Server, folder, photo, run, seed  # noqa: E402

IMAGES, REPLACED = 240, 200
REQUESTS = int(os.environ.get("REQUESTS", 100_000))
SIDE = 128


@unittest.skipUnless(shutil.which("radosgw"), "there is no Ceph: make test-edge installs it")
class EdgeRepublishing(unittest.TestCase):
    def setUp(self):
        self.base = folder("campaign")
        self.store = Ceph()
        self.store.start()
        self.addCleanup(self.store.stop)
        environment = {name: value for name, value in self.store.environment.items() if name.startswith("AWS_")}
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        self.addCleanup(patched.stop)
        # What the servers ask has a disk, which knows both gateways; the builder asks one of them.
        second = self.store.begin_another_gateway()
        self.disk = StoreDisk(folder("disk"))
        self.addCleanup(self.disk.stop)
        self.disk.start([self.store.port, second])
        self.library = f"s3://{BUCKET}/library"
        self.sizes = {f"p{number}": (300 + 13 * (number % 17), 250 + 11 * (number % 23)) for number in range(IMAGES)}
        self.sources = [self.base / "sources-0", self.base / "sources-1"]
        for version, place in enumerate(self.sources):
            for number, (id, size) in enumerate(self.sizes.items()):
                if version == 0 or number < REPLACED:
                    photo(place / f"{id}.jpg", *size, left=(7 * number + 900 * version) % 3000, top=(5 * number) % 2000)
        self.build(self.sources[0], self.library)
        self.published = [self.built(0)]
        self.published.append(self.published[0] | self.built(1))

    def build(self, sources: Path, library: Path | str):
        result = run("build", sources, "--library", library, "--tile-size", str(SIDE), "--quiet", timeout=600)
        self.assertEqual(result.returncode, 0, result.stderr)

    def built(self, version: int):
        """The same archives in a folder, byte for byte."""
        self.build(self.sources[version], self.base / f"library-{version}")
        return versions(self.base / f"library-{version}")

    def shared(self) -> list[str]:
        """A catalog that all servers share, in which one of them writes what the store has."""
        database = Database()
        self.addCleanup(database.close)
        result = run("catalog", "migrate", database.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        return ["--catalog", database.address]

    def campaign(self, name: str, requests: int, catalog: list[str]):
        chance = seed(f"{name}, readers while archives are replaced")
        edge = EDGES[name](folder("cache"))
        self.addCleanup(edge.stop)
        servers = []
        for _ in range(3):
            with mock.patch.dict(os.environ, {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.disk.port}"}):
                servers.append(Server(self.library, *edge.options, *catalog))
            self.addCleanup(servers[-1].stop)
        end = time.monotonic() + 60
        while any(server.get(f"/api/images/{id}").status != 200 for server in servers for id in self.sizes):
            self.assertLess(time.monotonic(), end)
        edge.start([server.port for server in servers])
        readers = Readers(edge, self.sizes, SIDE, self.published, chance)
        # Everybody's pictures have been looked at before.
        readers.run(requests // 10)
        warm, readers.counts = readers.counts, type(readers.counts)()
        built = threading.Event()

        def read() -> None:
            readers.run(requests)
            # However fast that was, all archives are replaced meanwhile.
            while not built.is_set():
                readers.run(requests // 100)
            readers.run(requests // 100)

        reading = threading.Thread(target=read)
        start = time.monotonic()
        reading.start()

        def share(of: float) -> None:
            while readers.counts.total() < requests * of:
                time.sleep(0.05)

        share(chance.uniform(0.1, 0.2))
        builder = subprocess.Popen([BINARY, "build", self.sources[1], "--library", self.library, "--tile-size", str(SIDE), "--quiet", "--jobs", "1"],
                                   stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (builder.kill(), builder.wait(), built.set()))
        share(chance.uniform(0.25, 0.4))
        victim = chance.choice(servers)
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait()
        share(chance.uniform(0.45, 0.6))
        self.store.gateway.kill()
        self.store.gateway.wait()
        time.sleep(chance.uniform(0.2, 1))
        self.store.begin_gateway()
        code = builder.wait(600)
        built.set()
        reading.join()
        self.assertEqual(code, 0)
        seconds = time.monotonic() - start
        total, away = readers.counts.total(), readers.counts["503"]
        kept = sum(count for what, count in readers.counts.items() if what.endswith(" HIT"))
        print(f"[{name}: {total} requests in {seconds:.0f} s, {sum(warm.values())} before; {dict(readers.counts)}; {kept / total:.3f} from the cache; "
              f"{away / total:.4%} 503; {len(readers.errors)} faults]", flush=True)
        self.assertEqual(readers.errors[:10], [])
        self.assertLess(away / total, 0.001)
        # In the end everybody has what was published last.
        end = time.monotonic() + 30
        for id, version in self.published[1].items():
            while edge.ask(f"/dzi/{id}_files/0/0_0.jpg").headers["ETag"].strip('"').partition("-")[0] != version.generation:
                self.assertLess(time.monotonic(), end, id)
                time.sleep(0.1)

    def test_nginx(self):
        self.campaign("nginx", REQUESTS, self.shared())

    def test_varnish(self):
        self.campaign("Varnish", REQUESTS // 4, [])


if __name__ == "__main__":
    unittest.main()
