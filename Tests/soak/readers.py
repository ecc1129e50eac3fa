"""Those who look: tiles through every protocol, renders, viewports, lists and documents."""

import http.client
import io
import json
import socket
import time
from urllib.parse import quote

from actors import Actor
from library import digest
from records import Answer
from tile_paths import SCHEMES, Tile


class TileReader(Actor):
    """Stored tiles, each byte for byte one of those that the archive may have; some again by their ETags, some in part."""

    kind = "tiles"
    pace = 40

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.images = list(self.library.tiles)
        self.lists = {image: list(tiles) for image, tiles in self.library.tiles.items()}
        self.tags: dict[str, str] = {}

    def act(self) -> None:
        image = self.chance.choice(self.images)
        tile = self.chance.choice(self.lists[image])
        # Where tiles overlap, other protocols' are cut from them.
        scheme = self.chance.choice([*SCHEMES.values()] if tile.side != 254 else ["dzi"])
        url = getattr(tile, scheme)
        if not url:
            return
        bodies = self.library.tiles[image][tile]
        if url in self.tags and self.chance.random() < 0.2:
            answer = self.get(url, image, (200, 304), If_None_Match=self.tags[url])
            if answer and answer.status == 304:
                if answer.body or answer.tag != self.tags[url]:
                    self.records.error(self.kind, f"304 with another ETag or a body: {url}")
                return
        elif self.chance.random() < 0.05:
            answer = self.get(url, image, (200, 206), Range="bytes=0-99")
            if answer and answer.status == 206:
                if len(answer.body) > 100:
                    self.records.error(self.kind, f"a range of {len(answer.body)} bytes, not 100: {url}")
                return
        else:
            answer = self.get(url, image)
        if answer:
            self.tags[url] = answer.tag
            if digest(answer.body) not in bodies:
                self.records.error(self.kind, f"not the archive's bytes, {len(answer.body)} with ETag {answer.tag}: {url}")


class RenderReader(Actor):
    """Pictures that are not stored, of which most were asked for before; every format."""

    kind = "renders"
    pace = 4

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.urls = []
        for image, tiles in self.library.tiles.items():
            some = next(iter(tiles))
            part = quote(image, safe="")
            for _ in range(12):
                left, top = self.chance.randrange(some.width - 100), self.chance.randrange(some.height - 100)
                width, height = (min(self.chance.randint(90, 1200), side) for side in (some.width - left, some.height - top))
                turn = self.chance.choice([0, 0, 0, 90, "!180", 33.5])
                ending = self.chance.choice(["jpg"] * 6 + ["png", "webp", "gif", "tif", "avif", "jxl"])
                # Version 3 enlarges where `^` says so.
                version, larger = self.chance.choice([(2, ""), (3, "^")])
                self.urls.append((image, f"/iiif/{version}/{part}/{left},{top},{width},{height}/"
                                  f"{larger}!{self.chance.randint(40, 500)},{self.chance.randint(40, 500)}/{turn}/default.{ending}"))
            self.urls.append((image, f"/api/images/{part}/viewport.jpg?width=400&height=300&scale=0.3&x=5&y=7"))
            self.urls.append((image, f"/api/images/{part}/viewport.webp?width=300&height=300&fit=cover&rotation=30"))
            tile = self.chance.choice(list(tiles))
            # Tiles in another format than the stored one.
            self.urls.append((image, tile.dzi.rpartition(".")[0] + (".webp" if tile.extension != "webp" else ".png")))

    def act(self) -> None:
        image, url = self.chance.choice(self.urls)
        if answer := self.get(url, image):
            if not answer.headers["Content-Type"].startswith("image/") or len(answer.body) < 30:
                self.records.error(self.kind, f"no picture, but {answer.headers['Content-Type']} of {len(answer.body)} bytes: {url}")


class ViewportReader(Actor):
    """Which tiles cover a window, and those tiles in one answer."""

    kind = "viewports"
    pace = 10

    def act(self) -> None:
        image = self.chance.choice(list(self.library.tiles))
        part = quote(image, safe="")
        query = (f"width={self.chance.randint(200, 1600)}&height={self.chance.randint(200, 1000)}"
                 f"&scale={self.chance.uniform(0.1, 1):.3f}&x={self.chance.randint(-100, 700)}&y={self.chance.randint(-100, 500)}")
        if self.chance.random() < 0.3:
            answer = self.get(f"/api/images/{part}/viewport.tiles?{query}", image)
            if answer:
                self.take_apart(image, answer.body)
        elif answer := self.get(f"/api/images/{part}/viewport?{query}", image):
            reported = json.loads(answer.body)
            if reported["image"] != image:
                self.records.error(self.kind, f"of another image, {reported['image']}: {image}")

    def take_apart(self, image: str, body: bytes) -> None:
        """A row of parts, each behind its length: the query's answer, then the tiles that it names."""
        parts, at = [], 0
        while at < len(body):
            length = int.from_bytes(body[at:at + 4], "big")
            parts.append(body[at + 4:at + 4 + length])
            at += 4 + length
        tiles = json.loads(parts[0])["tiles"]
        if at != len(body) or len(tiles) != len(parts) - 1:
            return self.records.error(self.kind, f"{len(tiles)} tiles are named, {len(parts) - 1} came: {image}")
        some = next(iter(self.library.tiles[image]))
        for tile, data in zip(tiles, parts[1:]):
            place = Tile(some.image, some.width, some.height, some.side, tile["level"], tile["column"], tile["row"], some.extension)
            if digest(data) not in self.library.tiles[image][place]:
                self.records.error(self.kind, f"not the archive's bytes: {place.dzi} in viewport.tiles")


class DocumentReader(Actor):
    """Lists, searches, manifests, descriptors, the page, and what watches the server."""

    kind = "documents"
    pace = 6

    def act(self) -> None:
        image = self.chance.choice(list(self.library.tiles))
        part = quote(image, safe="")
        url, about = self.chance.choice([
            ("/api/images?limit=1000", None), ("/api/images?limit=5", None), ("/api/images?q=edited", None),
            (f"/api/images/{part}", image), (f"/dzi/{part}.dzi", image), (f"/iiif/3/{part}/info.json", image),
            (f"/iiif/2/{part}/info.json", image), (f"/xyz/{part}/tilejson.json", image),
            (f"/zoomify/{part}/ImageProperties.xml", image), (f"/zoomify/{part}/TileGroup0/0-0-0.jpg", image),
            (f"/iiif/presentation/3/{part}/manifest", image), ("/iiif/presentation/3/collection", None),
            (f"/view/{part}", image), ("/", None), ("/healthz", None), ("/metrics", None), ("/openapi.json", None),
            ("/api/images/there is no such/viewport".replace(" ", "%20"), "none")])
        packed = {"Accept_Encoding": "gzip"} if self.chance.random() < 0.3 else {}
        if about == "none":
            self.records.answer(self.kind, url, self.client.ask("GET", url), (404,))
        elif url == "/api/images?limit=1000":
            self.all_are_listed(url)
        else:
            self.get(url, about, **packed)

    def all_are_listed(self, url: str) -> None:
        """Whatever is there is in the list, and nothing that was deleted."""
        before = {image: presence.now() for image, presence in self.library.presence.items()}
        answer = self.client.ask("GET", url)
        if not self.records.answer(self.kind, url, answer):
            return
        listed = {each["id"] for each in json.loads(answer.body)["images"]}
        for image, presence in self.library.presence.items():
            state = presence.now()
            if state == before[image] and state[0] != "maybe" and (state[0] == "here") != (image in listed):
                self.records.error(self.kind, f"{image} is {state[0]}, and {'not ' * (image not in listed)}in the list")


class EventReader(Actor):
    """Listens to what becomes of uploads, and leaves, again and again."""

    kind = "events"
    pace = 0.2
    writes = True

    def act(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=5, source_address=(self.client.address, 0))
        try:
            connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {self.world.token}"})
            answer = connection.getresponse()
            with self.records.lock:
                self.records.statuses[self.kind][answer.status] += 1
                self.records.seconds[self.kind].append(0)
            if answer.status not in (200, 503):
                self.records.error(self.kind, f"{answer.status} for /api/events")
            connection.sock and connection.sock.settimeout(self.chance.uniform(0.2, 3))
            try:
                while answer.read1(65536):
                    pass
            except TimeoutError:
                pass
            except http.client.IncompleteRead:
                # Pages connect again by themselves; it should be seldom all the same.
                with self.records.lock:
                    self.records.counts["event streams that the server ended"] += 1
        finally:
            connection.close()


class PipeliningReader(Actor):
    """Sends many requests on each of several connections before it reads anything. Some connections are then closed unread,
    some half read, and of the others every answer is checked: as many as requests, in their order."""

    kind = "pipelines"
    pace = 1

    def act(self) -> None:
        how = self.chance.choice(["unread", "unread", "half read", "read"])
        for _ in range(4 if how == "read" else 40):
            with self.connection() as connection:
                if how == "read":
                    self.read_all(connection)
                else:
                    self.leave(connection, how)

    def connection(self) -> socket.socket:
        connection = socket.socket()
        # The receive buffer is small, so that the server cannot send ahead.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.bind((self.client.address, 0))
        connection.settimeout(120)
        connection.connect(("127.0.0.1", self.world.port))
        return connection

    def leave(self, connection: socket.socket, how: str) -> None:
        url, last = self.chance.choice(["/healthz", "/api/images?limit=5", self.tile()[0], "/view/none"]), b""
        if self.chance.random() < 0.3:
            last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1x\r\n\r\n"
        connection.setblocking(False)
        try:
            connection.send(request(url) * self.chance.randint(1, 100) + last)
        except BlockingIOError:
            pass
        if how == "half read":
            connection.settimeout(0.05)
            try:
                connection.recv(self.chance.randint(1, 4096))
            except TimeoutError:
                pass
        with self.records.lock:
            self.records.counts["pipelines closed before their answers were read"] += 1

    def read_all(self, connection: socket.socket) -> None:
        asked = [self.tile() if self.chance.random() < 0.7 else ("/healthz", None) for _ in range(self.chance.randint(2, 60))]
        began = time.monotonic()
        connection.sendall(b"".join(request(url) for url, _ in asked[:-1]) + request(asked[-1][0], close=True))
        received = bytearray()
        while part := connection.recv(65536):
            received += part
        answers = parsed(bytes(received), began)
        if len(answers) != len(asked):
            return self.records.error(self.kind, f"{len(answers)} answers to {len(asked)} requests on one connection")
        for (url, bodies), answer in zip(asked, answers):
            if self.records.answer(self.kind, url, answer) and bodies and digest(answer.body) not in bodies:
                self.records.error(self.kind, f"the body of another tile: {url}")

    def tile(self) -> tuple[str, set]:
        """The URL of a tile of an image that nobody deletes, and its possible bodies' digests."""
        tiles = self.library.tiles[self.chance.choice(self.library.stable)]
        tile = self.chance.choice(list(tiles))
        return tile.dzi, tiles[tile]


def request(url: str, close: bool = False) -> bytes:
    closing = "Connection: close\r\n" if close else ""
    return f"GET {url} HTTP/1.1\r\nHost: localhost\r\n{closing}\r\n".encode()


def parsed(received: bytes, began: float) -> list[Answer]:
    """Responses that stand behind one another; each must state its length."""
    answers, file = [], io.BytesIO(received)
    while line := file.readline():
        version, status, _ = line.decode("latin-1").split(" ", 2)
        headers = http.client.parse_headers(file)
        if version != "HTTP/1.1" or headers["Content-Length"] is None:
            raise ValueError(f"not a response with a length: {line!r}")
        body = file.read(int(headers["Content-Length"]))
        if len(body) != int(headers["Content-Length"]):
            raise ValueError(f"{len(body)} bytes of {headers['Content-Length']}")
        answers.append(Answer(int(status), headers, body, began, time.monotonic()))
    return answers
