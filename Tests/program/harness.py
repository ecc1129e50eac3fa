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
import time
import unittest
import zipfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ZIGGURAT", ROOT / ".build/release/ziggurat")).resolve()
WALLPAPER = Path("/usr/share/wallpapers/Flow/contents/images/5120x2880.jpg")
DZI = "{http://schemas.microsoft.com/deepzoom/2008}"

# What a Swift or C crash leaves on stderr; one clear line never holds any of it.
CRASH = re.compile(r"Fatal error|Precondition failed|Crash|Stack dump|\*\*\* |malloc|SIG[A-Z]{3,}|Thread \d")


def seed(name: str) -> random.Random:
    """A random source whose seed is printed, and taken from SEED to repeat a run."""
    value = int(os.environ.get("SEED", time.time_ns() % 1_000_000_000))
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


def photo(path: Path, width: int, height: int, *, left: int = 700, top: int = 300) -> Path:
    """A piece of a real photograph; the file's extension chooses the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    left, top = min(left, 5120 - width), min(top, 2880 - height)
    if width > 5120 or height > 2880:
        subprocess.run(["vips", "resize", WALLPAPER, path, str(width / 5120), "--vscale",
                        str(height / 2880)], check=True, capture_output=True)
    else:
        subprocess.run(["vips", "crop", WALLPAPER, path, *map(str, (left, top, width, height))],
                       check=True, capture_output=True)
    return path


def archives(library: Path) -> list[Path]:
    return sorted(path for path in library.rglob("*.szi") if ".ziggurat-trash" not in path.parts)


def leftovers(library: Path) -> list[str]:
    """Everything in a library that is neither an archive nor the catalog (nor SQLite's side files)."""
    return sorted(str(path.relative_to(library)) for path in library.rglob("*")
                  if path.is_file() and path.suffix != ".szi" and not path.name.startswith("catalog."))


def levels(width: int, height: int) -> list[tuple[int, int]]:
    """The sizes of all levels, from 1×1 to full resolution: each half of the next, rounded up."""
    sizes = [(width, height)]
    while sizes[0] != (1, 1):
        sizes.insert(0, ((sizes[0][0] + 1) // 2, (sizes[0][1] + 1) // 2))
    return sizes


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height from a JPEG's frame header."""
    position = 2
    while data[position] == 0xFF:
        marker, length = data[position + 1], int.from_bytes(data[position + 2:position + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return (int.from_bytes(data[position + 7:position + 9], "big"),
                    int.from_bytes(data[position + 5:position + 7], "big"))
        position += 2 + length
    raise ValueError("no frame header")


def archive_faults(path: Path) -> list[str]:
    """All that is wrong with an SZI archive of JPEG tiles, by the specification; empty when it is whole."""
    tested = subprocess.run(["unzip", "-tqq", path], capture_output=True, text=True)
    if tested.returncode != 0:
        return [f"unzip -t: {tested.stdout.strip()} {tested.stderr.strip()}"]
    faults = []
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        root = names[0].split("/")[0]
        faults += [f"not stored: {entry.filename}" for entry in archive.infolist()
                   if entry.compress_type != zipfile.ZIP_STORED]
        faults += [f"outside {root}/: {name}" for name in names if not name.startswith(root + "/")]
        faults += [f"twice: {name}" for name in names if names.count(name) > 1] if len(names) < 2000 else []
        image = ElementTree.fromstring(archive.read(f"{root}/{root}.dzi"))
        size, tile = image.find(f"{DZI}Size"), int(image.get("TileSize"))
        extension = image.get("Format")
        if image.get("Overlap") != "0":
            faults.append(f"overlap {image.get('Overlap')}")
        expected = {}
        for level, (width, height) in enumerate(levels(int(size.get("Width")), int(size.get("Height")))):
            for column in range(-(-width // tile)):
                for row in range(-(-height // tile)):
                    expected[f"{root}/{root}_files/{level}/{column}_{row}.{extension}"] = (
                        min(tile, width - column * tile), min(tile, height - row * tile))
        found = {name for name in names if name.startswith(f"{root}/{root}_files/") and name[-1] != "/"}
        faults += [f"missing: {name}" for name in sorted(expected.keys() - found)]
        faults += [f"spare: {name}" for name in sorted(found - expected.keys())]
        if extension == "jpg":
            faults += [f"{name}: {jpeg_size(archive.read(name))}, not {expected[name]}"
                       for name in sorted(expected.keys() & found)
                       if jpeg_size(archive.read(name)) != expected[name]]
        if f"{root}/scan-properties.xml" not in names:
            faults.append("no scan-properties.xml")
    return faults


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

    def __init__(self, *arguments, log=None, stdin=subprocess.DEVNULL):
        # Files, not pipes: a full pipe would stop the server.
        self.log = log or tempfile.TemporaryFile(dir=scratch())
        self.process = subprocess.Popen([BINARY, "serve", *map(str, arguments), "--port", "0"],
                                        stdout=subprocess.PIPE, stderr=self.log, stdin=stdin)
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
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

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

    def assertOneLine(self, result, *words: str):
        """stderr is one line, without signs of a crash, and holds each of the words."""
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertNotRegex(lines[0], CRASH)
        self.assertLess(len(lines[0]), 600)
        for word in words:
            self.assertIn(word.lower(), lines[0].lower())

    def assertUsageError(self, result, *words: str):
        self.assertEqual(result.returncode, 2, result.stderr or result.stdout)
        self.assertOneLine(result, *words)
        self.assertEqual(result.stdout, "")

    def assertWhole(self, path: Path):
        self.assertEqual(archive_faults(path)[:5], [], path.name)


@functools.cache
def sample_library() -> Path:
    """A library for the HTTP tests: photographs of telling sizes, beside a file that must stay secret."""
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
