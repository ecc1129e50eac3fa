"""A library's changes as a cache's visitors see them: each added, replaced, edited, deleted or restored image, over three servers of one folder."""

import collections
import json
import os
import shutil
import statistics
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "program/fleet")]

from edges import EDGES, Edge, Reply  # noqa: E402
from harness import Server, folder, photo, run, seed  # noqa: E402
from upload_client import Client, serve  # noqa: E402

IMAGES = 40
CHANGES = int(os.environ.get("CHANGES", 200))


class EdgeChanges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = base = folder("changes")
        cls.made = []
        # Each image three times over, so that there is something to replace it by.
        for version in range(3):
            for number in range(IMAGES):
                photo(base / f"sources-{version}/i{number}.jpg", 500 + number, 400, left=300 * version + 10 * number)
            cls.made.append(base / f"made-{version}")
            built = run("build", base / f"sources-{version}", "--library", cls.made[-1], "--quiet", timeout=300)
            assert built.returncode == 0, built.stderr

    def serve(self) -> Server:
        """Starts the three servers behind the cache.

        Returns: the one that takes changes.
        """
        self.library = folder("library")
        for path in self.made[0].glob("*.szi"):
            shutil.copy(path, self.library)
        self.servers = [Server(self.library, *self.edge.options) for _ in range(3)]
        writer = serve(self.library)
        for server in (*self.servers, writer):
            self.addCleanup(server.stop)
        return writer

    def campaign(self, name: str):
        chance = seed(f"{type(self).__name__}, {name}")
        self.edge: Edge = EDGES[name](folder("cache"))
        self.addCleanup(self.edge.stop)
        self.client = Client(self.serve())
        self.edge.start([server.port for server in self.servers])
        self.versions = dict.fromkeys(range(IMAGES), 0)
        self.deleted: dict[int, str] = {}
        # Of the image that was deleted last, with its generation.
        self.last = "/healthz"
        seconds = collections.defaultdict(list)
        for number in range(IMAGES):
            self.look(number)
        for turn in range(CHANGES):
            kind = chance.choice(["add", "replace", "replace", "edit", "delete", "restore"])
            there = sorted(set(self.versions) - set(self.deleted))
            if kind in ("add", "restore") and not self.deleted or kind not in ("add", "restore") and len(there) < 2:
                kind = "delete" if not self.deleted else "add"
            number = chance.choice(sorted(self.deleted) if kind in ("add", "restore") else there)
            self.look(number)
            is_seen = getattr(self, kind)(number, turn, chance)
            start = time.monotonic()
            late = ""
            while not is_seen(lambda target: self.edge.ask(target)):
                if not late and time.monotonic() > start + 3:
                    late = f"{kind} of i{number} is not seen: {self.summary(number)}"
                    print(f"[{late}]", flush=True)
                self.assertLess(time.monotonic(), start + 30, late)
                time.sleep(0.02)
            seconds[kind].append(time.monotonic() - start)
        every = [each for kind in seconds.values() for each in kind]
        summary = ", ".join(f"{len(each)} × {kind} {statistics.median(each):.2f} s, at most {max(each):.2f} s" for kind, each in sorted(seconds.items()))
        print(f"[{name}: {summary}; {sum(each > 3 for each in every)} of {len(every)} later than 3 s]", flush=True)

    def tile(self, number: int) -> str:
        return f"/dzi/i{number}_files/8/0_0.jpg"

    def immutable_url(self, number: int) -> str | None:
        listed = self.servers[0].get(f"/api/images/i{number}")
        return f"{self.tile(number)}?v={json.loads(listed.body)['generation']}" if listed.status == 200 else None

    def summary(self, number: int) -> str:
        """What the cache and each server say of an image that should be otherwise."""
        targets = [self.tile(number), f"/api/images/i{number}"]
        edge = [(reply.status, reply.cached, reply.headers["Age"]) for reply in map(self.edge.ask, [self.last, *targets])]
        return f"{edge} of {self.last}; servers {[[server.get(target).status for target in targets] for server in self.servers]}"

    def look(self, number: int) -> None:
        """What the cache then has."""
        for target in (self.tile(number), self.immutable_url(number), f"/api/images/i{number}"):
            if target:
                self.edge.ask(target)

    def publish(self, number: int, version: int) -> None:
        """As a build does it: whole, under its name, at once."""
        partial = self.library / f".i{number}.partial"
        shutil.copy(self.made[version] / f"i{number}.szi", partial)
        partial.rename(self.library / f"i{number}.szi")
        self.versions[number] = version

    def add(self, number: int, *_) -> Callable[[Callable[[str], Reply]], bool]:
        self.deleted.pop(number)
        self.publish(number, self.versions[number])
        return lambda ask: ask(self.tile(number)).status == 200

    def replace(self, number: int, *_):
        before = self.edge.ask(self.tile(number)).body
        self.publish(number, (self.versions[number] + 1) % 3)
        return lambda ask: ask(self.tile(number)).body not in (before, b"")

    def written(self, method: str, number: int, body: bytes = b"", **headers):
        """What the server that writes says to a change; it may have to see the image first, as the others have."""
        end = time.monotonic() + 20
        while (answer := self.client.ask(method, f"/api/images/i{number}", body, tus=False, **headers)).status == 404:
            self.assertLess(time.monotonic(), end)
        self.assertEqual(answer.status, 200, answer)
        return json.loads(answer.body)

    def edit(self, number: int, turn: int, _):
        title = f"called so in turn {turn}"
        self.written("PATCH", number, json.dumps({"title": title}).encode(), Content_Type="application/json")
        return lambda ask: json.loads(ask(f"/api/images/i{number}").body)["title"] == title

    def delete(self, number: int, *_):
        # The one of the servers that is asked for it may be the last to see that it is there again.
        end = time.monotonic() + 20
        while not (immutable_url := self.immutable_url(number)):
            self.assertLess(time.monotonic(), end)
        self.last = immutable_url
        self.edge.ask(immutable_url)
        self.assertEqual([self.edge.ask(immutable_url).status, self.edge.ask(immutable_url).cached], [200, "HIT"])
        self.deleted[number] = self.written("DELETE", number)["deleted"]["id"]
        # That nobody can be shown it, also who has its address.
        return lambda ask: ask(immutable_url).status == ask(self.tile(number)).status == ask(f"/api/images/i{number}").status == 404

    def restore(self, number: int, *_):
        answer = self.client.ask("POST", f"/api/trash/{self.deleted.pop(number)}/restore", tus=False)
        if answer.status != 200:
            # What was added in its place stays.
            self.publish(number, self.versions[number])
        return lambda ask: ask(self.tile(number)).status == 200

    def test_nginx(self):
        self.campaign("nginx")

    def test_varnish(self):
        self.campaign("Varnish")


if __name__ == "__main__":
    unittest.main()
