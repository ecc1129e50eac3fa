"""What the black-box tests share: the executable, real pictures, libraries, and a server to talk to.

Nothing here knows the code: only the command line and HTTP. ZIGGURAT names another executable.
"""

import atexit
import functools
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from szi import archive_defects

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ZIGGURAT", ROOT / ".build/release/ziggurat")).resolve()
WALLPAPER = Path("/usr/share/wallpapers/Flow/contents/images/5120x2880.jpg")

# What a Swift or C crash leaves on stderr; one clear line never holds any of it.
CRASH = re.compile(r"Fatal error|Precondition failed|Crash|Stack dump|\*\*\* |malloc|SIG[A-Z]{3,}|Thread \d")


def seed(name: str, usual: int | None = None) -> random.Random:
    """A random source whose seed is printed, and taken from SEED to repeat a run.

    - usual: the default, where other programs are compared, which may differ in harmless ways."""
    value = int(os.environ.get("SEED", usual or time.time_ns() % 1_000_000_000))
    print(f"[{name}: SEED={value}] ", end="", flush=True)
    return random.Random(value)


def run(*arguments, timeout: float = 120, environment: dict | None = None, **options):
    """Runs the executable to its end; a hang is a failure of the test."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ZIGGURAT_")}
    return subprocess.run([str(options.pop("binary", BINARY)), *map(str, arguments)], text=True,
                          errors="replace", capture_output=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**clean, **(environment or {})}, **options)


@functools.cache
def scratch() -> Path:
    """One folder for everything of this process, readable by other users, removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-tests-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def folder(name: str) -> Path:
    """A fresh, empty folder."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch()))


@functools.cache
def wallpaper() -> Path:
    """The photograph, decoded: each piece of the file as it is would decode all of it, which takes ten times as long."""
    decoded = scratch() / "wallpaper.v"
    subprocess.run(["vips", "copy", WALLPAPER, decoded], check=True, capture_output=True)
    return decoded


# Some tests make their pictures at once.
cutting = threading.Lock()


@functools.cache
def piece(suffix: str, width: int, height: int, left: int, top: int) -> Path:
    """Where such a piece of the photograph lies, for copies: many tests ask for the same."""
    made = scratch() / f"piece {width} {height} {left} {top}{suffix}"
    where = ("crop", *map(str, (left, top, width, height))) if width <= 5120 and height <= 2880 else (
        "resize", str(width / 5120), "--vscale", str(height / 2880))
    subprocess.run(["vips", where[0], wallpaper(), made, *where[1:]], check=True, capture_output=True)
    return without_options(made)


def without_options(path: Path) -> Path:
    """The file that libvips writes where a name ends in options, as `[Q=98]`."""
    return path.with_name(path.name.rpartition("[")[0]) if path.name.endswith("]") else path


def photo(path: Path, width: int, height: int, *, left: int = 700, top: int = 300) -> Path:
    """A piece of a real photograph; the file's extension chooses the format, and may have libvips' options."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with cutting:
        made = piece(path.suffix, width, height, min(left, 5120 - width), min(top, 2880 - height))
    shutil.copyfile(made, without_options(path))
    return path


def heard(connection: socket.socket, seconds: float = 0.5) -> bytes:
    """All that comes until the other side closes or is silent for so long."""
    connection.settimeout(seconds)
    answer = b""
    try:
        while chunk := connection.recv(65536):
            answer += chunk
    except (TimeoutError, ConnectionResetError, BrokenPipeError):
        pass
    return answer


class Server:
    """`ziggurat serve` on a free port of 127.0.0.1, ended by SIGTERM. A crash fails the test."""

    def __init__(self, *arguments, log=None, stdin=subprocess.DEVNULL, **options):
        """- options: of the process, such as its user."""
        # Files, not pipes: a full pipe would stop the server.
        self.log = log or tempfile.TemporaryFile(dir=scratch())
        self.process = subprocess.Popen([BINARY, "serve", *map(str, arguments), "--port", "0"],
                                        stdout=subprocess.PIPE, stderr=self.log, stdin=stdin, **options)
        line = self._ready_line(20)
        found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)/\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"ready line {line!r}, stderr {self.errors()!r}")
        self.port = int(found[1])

    def _ready_line(self, seconds: float) -> str:
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().decode() if ready else ""

    def errors(self) -> str:
        """What it wrote to stderr, but for the line that it starts with."""
        # By place: the server writes where this descriptor stands, which it shares.
        text = os.pread(self.log.fileno(), os.fstat(self.log.fileno()).st_size, 0)
        return re.sub(r"^serving \d+ images? of .*\n", "", text.decode(errors="replace"), flags=re.MULTILINE)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def raw(self, request: bytes, *, half_close: bool = False, timeout: float = 20) -> bytes:
        """Sends bytes as they are and returns all that comes until the server closes or falls silent."""
        with self.connect() as connection:
            try:
                connection.sendall(request)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except (ConnectionResetError, BrokenPipeError):
                pass
            return heard(connection, timeout)

    def get(self, target: str | bytes, method: str = "GET", **headers) -> "Answer":
        """One request with the target exactly as given, on its own connection."""
        target = target.encode("latin-1") if isinstance(target, str) else target
        lines = [method.encode() + b" " + target + b" HTTP/1.1", b"Host: 127.0.0.1", b"Connection: close"]
        # Several values are several lines.
        lines += [f"{name.replace('_', '-')}: {line}".encode() for name, value in headers.items()
                  for line in (value if isinstance(value, list) else [value])]
        return Answer(self.raw(b"\r\n".join(lines) + b"\r\n\r\n"), method)

    def portless(self, body: bytes) -> bytes:
        """What another server at another port would say; the port's digits may be a scale's, too."""
        return body.replace(b":%d/" % self.port, b":PORT/")

    def metrics(self) -> dict[str, float]:
        """The samples of /metrics, by name and labels as they stand there, without "ziggurat_"."""
        answer = self.get("/metrics")
        assert answer.status == 200, answer
        lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
        return {name.removeprefix("ziggurat_"): float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def alive(self) -> bool:
        return self.process.poll() is None and self.get("/healthz").status == 200

    def stop(self, how: int = signal.SIGTERM) -> int:
        """Ends the server and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still running 20 s after signal {how}")
        finally:
            self.process.stdout.close()
            self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        dead = self.process.poll()
        if dead is not None and kind is None:
            raise AssertionError(f"the server died with {dead}: {self.errors()[-2000:]}")
        self.stop()


class Answer:
    """One HTTP answer. `status` is 0 when the connection closed without one."""

    def __init__(self, data: bytes, method: str = "GET"):
        head, _, self.rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        found = re.match(r"HTTP/1\.[01] (\d{3})", lines[0])
        self.status = int(found[1]) if found else 0
        self.fields = [(name.strip().lower(), value.strip())
                       for name, _, value in (line.partition(":") for line in lines[1:])]
        self.body = self.rest if "chunked" not in self["transfer-encoding"] else _unchunked(self.rest)

    def __getitem__(self, name: str) -> str:
        return ", ".join(value for field, value in self.fields if field == name)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:200]!r}>"


def _unchunked(data: bytes) -> bytes:
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if length == 0:
            return body
        body, data = body + data[:length], data[length + 2:]


class CommandTest(unittest.TestCase):
    """Assertions about one run of the command line."""

    def assertOneLine(self, result, *parts: str):
        """stderr is one line, without signs of a crash, and contains each of the parts."""
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertNotRegex(lines[0], CRASH)
        self.assertLess(len(lines[0]), 600)
        for word in parts:
            self.assertIn(word.lower(), lines[0].lower())

    def assertUsageError(self, result, *parts: str):
        self.assertEqual(result.returncode, 2, result.stderr or result.stdout)
        self.assertOneLine(result, *parts)
        self.assertEqual(result.stdout, "")

    def assertWhole(self, path: Path):
        self.assertEqual(archive_defects(path)[:5], [], path.name)


@functools.cache
def sample_library() -> Path:
    """A library for the HTTP tests: photographs of significant sizes, beside a file that must stay secret."""
    base = folder("sample")
    (base / "secret.txt").write_text(SECRET)
    photo(base / "photos/photo.jpg", 3001, 1703)
    photo(base / "photos/two words.png", 513, 511)
    photo(base / "photos/deep/er/leaf.jpg", 1024, 512)
    photo(base / "photos/dot.png", 1, 1)
    photo(base / "photos/line.png", 1, 2000)
    result = run("build", base / "photos", "--library", base / "library", "--quiet")
    if result.returncode != 0:
        raise AssertionError(f"the sample library did not build: {result.stderr}")
    (base / "library/.hidden").write_text(SECRET)
    return base / "library"


SECRET = "the secret that no request may ever see"


class ServerTest(unittest.TestCase):
    """Tests that ask one server, `cls.server`, which must end well when they are done."""

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        assert code == 0, f"the server ended with {code}"


class SampleServerTest(ServerTest):
    """Tests that ask a server of the sample library."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(sample_library())
