"""A library in an object store that lies: a second server reads it all the while and must give no wrong byte."""

import os
import random
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from actors import Actor
from harness import Server, run
from library import digest, stored_tiles
from records import Client
from small_store import SmallStore

# Of all answers of the store, the part that is a lie.
LIES = 0.4
# Seconds in which the server reads right again once the store has stopped to lie.
RECOVERY = 5


class Liar:
    """Spoils a part of a store's answers: cut, slow, of another object, no answer at all, or a page instead."""

    def __init__(self, seed: float):
        self.chance = random.Random(seed)
        self.lies = True
        self.counts: dict[str, int] = {}

    def __call__(self, handler, status: int, body: bytes, headers: dict[str, str]) -> bool:
        """Whether it answered in the handler's place."""
        if not self.lies or self.chance.random() > LIES:
            return False
        how = self.chance.choice([self.cut, self.drip, self.long, self.page, self.other_version, self.other_range, self.refuse,
                                  self.redirect, self.reset, self.pack])
        self.counts[how.__name__] = self.counts.get(how.__name__, 0) + 1
        how(handler, status, body, headers)
        handler.close_connection = True
        return True

    @staticmethod
    def write(handler, status: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def garbage(self, length: int) -> bytes:
        return self.chance.randbytes(min(length, 1 << 20))

    def cut(self, handler, status, body, headers):
        self.write(handler, status, body[:self.chance.randint(0, len(body))], headers, len(body))

    def drip(self, handler, status, body, headers):
        self.write(handler, status, b"", headers, len(body))
        for byte in body[:self.chance.randint(1, 20)]:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.2)

    def long(self, handler, status, body, headers):
        self.write(handler, status, body + self.garbage(5000), headers)

    def page(self, handler, *_):
        self.write(handler, 200, b"<html><body>Please sign in</body></html>", {"Content_Type": "text/html"})

    def other_version(self, handler, status, body, headers):
        self.write(handler, status, self.garbage(len(body)), {**headers, "ETag": '"0123456789abcdef"'})

    def other_range(self, handler, status, body, headers):
        self.write(handler, status, self.garbage(len(body)), {**headers, "Content_Range": f"bytes 7-{6 + len(body)}/99999999"})

    def refuse(self, handler, *_):
        self.write(handler, self.chance.choice([400, 403, 429, 500, 502, 503, 504]), b"no", {})

    def redirect(self, handler, *_):
        self.write(handler, self.chance.choice([301, 302, 307]), b"", {"Location": "http://127.0.0.1:1/elsewhere"})

    def reset(self, handler, *_):
        pass

    def pack(self, handler, status, body, headers):
        self.write(handler, status, body, {**headers, "Content_Encoding": "gzip"})


class StoreReader(Actor):
    """Tiles of the library in the store: each is right, or the answer says that it is not available at present."""

    kind = "tiles of a lying store"
    pace = 20

    def __init__(self, world, seed: float, port: int, tiles: dict):
        super().__init__(world, seed)
        self.client = Client(port, self.client.address)
        self.tiles = list(tiles.items())

    def act(self) -> None:
        tile, right = self.chance.choice(self.tiles)
        answer = self.client.ask("GET", tile.dzi)
        if self.records.answer(self.kind, tile.dzi, answer, (200, 500)) and answer.status == 200 and digest(answer.body) != right:
            self.records.error(self.kind, f"not the archive's bytes, {len(answer.body)}: {tile.dzi}")


@contextmanager
def lying_library(base: Path, sources: Path, seed: float):
    """A store with a library of these sources, its liar, a server that reads it and keeps little, and the right tiles."""
    store = SmallStore(page=3)
    try:
        with mock.patch.dict(os.environ, store.environment):
            shutil.copytree(sources, base / "stored")
            for library in (f"s3://{store.BUCKET}/library", str(base / "reference")):
                result = run("build", base / "stored", "--library", library, "--tile-size", "256", "--quiet", timeout=600)
                if result.returncode != 0:
                    sys.exit(f"soak: the library in the store was not built: {result.stderr}")
            tiles = {tile: digest(data) for path in sorted((base / "reference").rglob("*.szi"))
                     for tile, data in stored_tiles(path, str(path.relative_to(base / "reference"))[:-4])}
            # The cache is small, so that most tiles are asked of the store.
            with Server(f"s3://{store.BUCKET}/library", "--object-cache-size", 1) as server:
                liar = Liar(seed)
                store.spoil = liar
                yield liar, server, tiles
    finally:
        store.close()


def recovers(liar: Liar, server: Server, tiles: dict, records) -> None:
    """Once the store responds correctly, every tile is right again in a few seconds, and no tile is another one."""
    kind = StoreReader.kind
    if server.process.poll() is not None:
        return records.error(kind, f"the server died with {server.process.returncode}: {server.errors()[-1500:]}")
    liar.lies = False
    time.sleep(RECOVERY)
    client = Client(server.port)
    for tile, right in tiles.items():
        answer = client.ask("GET", tile.dzi)
        if answer.status != 200 or digest(answer.body) != right:
            records.error(kind, f"{answer.status}, {RECOVERY} s after the last lie: {tile.dzi}")
    client.close()
