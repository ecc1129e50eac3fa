"""What was asked and answered: every body against its ETag, every status against what it may be, and how long it took."""

import hashlib
import http.client
import statistics
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

BUSY = (503, 507)


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes
    began: float
    ended: float

    @property
    def tag(self) -> str | None:
        return self.headers.get("ETag")


class Records:
    """Shared by all who ask; `faults` is empty where nothing was wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.statuses = defaultdict(Counter)
        self.seconds = defaultdict(list)
        self.bodies: dict[tuple, bytes] = {}
        self.counts = Counter()
        self.errors: list[str] = []
        self.errors_by_kind = Counter()
        self.began = time.monotonic()
        # When the disk was full: a change then may wait, or be refused.
        self.full: list[list[float]] = []

    def error(self, kind: str, text: str) -> None:
        with self.lock:
            self.errors_by_kind[kind] += 1
            # The first ones suffice; the table counts all.
            if self.errors_by_kind[kind] <= 20:
                self.errors.append(f"[{time.monotonic() - self.began:7.1f} s] {kind}: {text}")
                print(f"FAULT {self.errors[-1]}", flush=True)

    def was_full(self, since: float, until: float | None = None) -> bool:
        """Whether the disk was full at a time in between; what waited for room goes on within a minute."""
        until = until or time.monotonic()
        return any(begin <= until and (end is None or end + 60 >= since) for begin, end in self.full)

    def answer(self, kind: str, url: str, answer: Answer, allowed: tuple[int, ...] = (200,)) -> bool:
        """Whether the answer is one of the allowed ones, and not that the server is busy or full."""
        with self.lock:
            self.statuses[kind][answer.status] += 1
            self.seconds[kind].append(answer.ended - answer.began)
        if answer.status in BUSY:
            if not answer.headers.get("Retry-After"):
                self.error(kind, f"{answer.status} without Retry-After: {url}")
            if answer.status == 507 and not self.was_full(answer.began, answer.ended):
                self.error(kind, f"507 while the disk has room: {url}")
            return False
        if answer.status not in allowed:
            self.error(kind, f"{answer.status} {url}: {answer.body[:200]!r}")
            return False
        self.same(kind, url, answer)
        return True

    def same(self, kind: str, url: str, answer: Answer) -> None:
        """Under one strong ETag every address has one body (RFC 9110, section 8.8.1)."""
        if answer.status not in (200, 206) or not answer.tag or answer.tag.startswith("W/"):
            return
        key = (url, answer.tag, answer.headers.get("Content-Range"))
        digest = hashlib.sha256(answer.body).digest()[:16]
        with self.lock:
            known = self.bodies.setdefault(key, digest)
        if known != digest:
            self.error(kind, f"two bodies under the ETag {answer.tag}: {url}")

    def table(self) -> str:
        """What was asked for, in lines of equal columns."""
        rows = [("what", "asked", "2xx", "304", "404", "409, 410, 412", "503", "507", "faults", "p50 ms", "p99 ms", "longest")]
        for kind, found in sorted(self.statuses.items()):
            times = sorted(self.seconds[kind])
            numbers = [sum(found.values()), sum(found[each] for each in found if 200 <= each < 300), found[304], found[404],
                       found[409] + found[410] + found[412], found[503], found[507], self.errors_by_kind[kind]]
            rows.append((kind, *map(str, numbers), f"{1000 * statistics.median(times):.1f}",
                         f"{1000 * times[int(0.99 * (len(times) - 1))]:.0f}", f"{1000 * times[-1]:.0f}"))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(text.rjust(width) if column else text.ljust(width)
                                   for column, (text, width) in enumerate(zip(row, widths))) for row in rows)


class Client:
    """One connection that is kept, from an address of its own; used by one thread."""

    def __init__(self, port: int, address: str = "127.0.0.1", token: str | None = None):
        self.port, self.address, self.token = port, address, token
        self.connection = None

    def ask(self, method: str, url: str, body: bytes | None = None, **headers) -> Answer:
        """A kept connection may be closed by the server when it was idle: then, and only then, it is asked again."""
        fields = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        began = time.monotonic()
        # A change is never sent twice.
        fresh = self.connection is None or method not in ("GET", "HEAD")
        if fresh:
            self.close()
        try:
            return self.once(method, url, body, fields, began)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            if fresh:
                raise
            self.close()
            return self.once(method, url, body, fields, began)

    def once(self, method: str, url: str, body: bytes | None, fields: dict, began: float) -> Answer:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120,
                                                         source_address=(self.address, 0))
        try:
            self.connection.request(method, url, body, fields)
            answer = self.connection.getresponse()
            data = answer.read()
        except Exception:
            self.close()
            raise
        result = Answer(answer.status, answer.headers, data, began, time.monotonic())
        if answer.will_close:
            self.close()
        return result

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None
