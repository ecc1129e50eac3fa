"""Readers of a library through a cache, who check every body against the archives that were ever published."""

import collections
import http.client
import json
import random
import re
import sys
import threading
import zipfile
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "program/fleet", "bench")]

from edges import Edge  # noqa: E402
from harness import Server  # noqa: E402
from tile_paths import Tile  # noqa: E402


class Version(NamedTuple):
    """An image as it was published at one time."""
    generation: str
    # By level, column and row.
    tiles: dict[tuple[int, int, int], bytes]


def versions(library: Path) -> dict[str, Version]:
    """The contents of a folder of archives; generations are reported by a server of it alone."""
    found = {}
    with Server(library) as server:
        images = json.loads(server.get("/api/images?fields=all&limit=1000").body)["images"]
    for image in images:
        tiles = {}
        with zipfile.ZipFile(library / f"{image['id']}.szi") as archive:
            for name in archive.namelist():
                if place := re.search(r"_files/(\d+)/(\d+)_(\d+)\.", name):
                    tiles[tuple(map(int, place.groups()))] = archive.read(name)
        found[image["id"]] = Version(image["generation"], tiles)
    return found


class Readers:
    """Threads that ask for tiles at random, each by a connection that it keeps."""

    def __init__(self, edge: Edge, sizes: dict[str, tuple[int, int]], side: int, published: list[dict[str, Version]], chance: random.Random):
        self.edge, self.sizes, self.side, self.published = edge, sizes, side, published
        self.ids = sorted(sizes)
        self.seeds = random.Random(chance.random())
        self.lock = threading.Lock()
        # What was answered: statuses, and what the cache said of each.
        self.counts: collections.Counter[str] = collections.Counter()
        # What must not be.
        self.errors: list[str] = []
        self.left = 0

    def run(self, requests: int, threads: int = 8) -> None:
        self.left = requests
        started = [threading.Thread(target=self.read, args=(random.Random(self.seeds.random()),)) for _ in range(threads)]
        for each in started:
            each.start()
        for each in started:
            each.join()

    def target(self, chance: random.Random) -> tuple[str, str, tuple[int, int, int]]:
        """Some tile's address, the image that it is of, and its place."""
        # Some images are asked for much more than others, as by visitors.
        id = self.ids[min(int(chance.paretovariate(0.7)) - 1, len(self.ids) * 8) % len(self.ids)]
        place = chance.choice(sorted(self.published[0][id].tiles))
        tile = Tile(id, *self.sizes[id], self.side, *place, "jpg")
        path = chance.choice([tile.dzi, tile.dzi, tile.iiif3, tile.iiif2, tile.xyz or tile.dzi])
        generation = chance.choice(self.published)[id].generation
        query = chance.choice(["", "", f"v={generation}", f"v={generation}", f"g={generation}", f"from=here&v={generation}", "from=here", "v=123abc",
                               f"v=1&g={generation}", f"v={generation.upper()}&v=123abc"])
        return path + (f"?{query}" if query else ""), id, place

    def read(self, chance: random.Random) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.edge.port, timeout=60)
        tags: dict[str, str] = {}
        while True:
            with self.lock:
                if self.left == 0:
                    break
                self.left -= 1
            target, id, place = self.target(chance)
            headers = {"If-None-Match": tags[target]} if target in tags and chance.random() < 0.5 else {}
            try:
                answer = self.edge.ask(target, connection, **{name.replace("-", "_"): value for name, value in headers.items()})
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.count("no answer", f"{target}: {error!r}")
                continue
            problem = self.problem(target, id, place, headers, answer)
            if tag := answer.headers["ETag"]:
                tags[target] = tag
            self.count(f"{answer.status} {answer.cached}" if answer.status in (200, 304) else str(answer.status), problem)
        connection.close()

    def problem(self, target: str, id: str, place: tuple[int, int, int], headers: dict[str, str], answer) -> str | None:
        """What is wrong with an answer; nil where nothing is."""
        if answer.status == 503:
            return None
        if answer.status not in (200, 304):
            return f"{target}: {answer.status}"
        tag = answer.headers["ETag"] or ""
        generation = tag.strip('"').partition("-")[0]
        if answer.status == 304 and tag != headers.get("If-None-Match"):
            return f"{target}: 304 of {tag}, asked with {headers}"
        known = [version[id] for version in self.published if version[id].generation == generation]
        if not known:
            return f"{target}: {tag} is of no generation that was published"
        if answer.status == 200 and answer.body != known[0].tiles[place]:
            return f"{target}: its {len(answer.body)} bytes are not those of {tag}"
        requested = re.findall(r"[?&][vg]=([^&]*)", target)
        if "immutable" in answer.headers["Cache-Control"] and (not requested or requested[0].lower() != generation):
            return f"{target}: is to be kept for ever, and is {tag}"
        return None

    def count(self, what: str, problem: str | None) -> None:
        with self.lock:
            self.counts[what] += 1
            if problem:
                self.errors.append(problem)
