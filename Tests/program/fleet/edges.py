"""The caches of packaging/ in front of servers: nginx with edge-purge, and Varnish, as their files have them but for addresses."""

import http.client
import re
import secrets
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from fronts import free_port

PACKAGING = Path(__file__).resolve().parents[3] / "packaging"


class Reply(NamedTuple):
    status: int
    # What the cache says of it: HIT, MISS, STALE and so on.
    cached: str | None
    body: bytes
    headers: http.client.HTTPMessage


class Edge:
    """A cache in a folder. Who derives from it starts its processes."""

    name: str
    # Where it is asked for pictures, and where to forget them.
    port: int
    purge_port: int

    def __init__(self, folder: Path):
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        self.port, self.purge_port = free_port(), free_port()
        self.key_file = folder / "edge-key"
        self.key_file.write_text(f"{secrets.token_hex(32)}\n")

    @property
    def purge_url(self) -> str:
        return f"http://127.0.0.1:{self.purge_port}/"

    @property
    def options(self) -> list:
        """The options by which a server asks it to forget images."""
        return ["--purge-url", self.purge_url, "--purge-key-file", self.key_file]

    def start(self, ports: list[int]) -> None:
        """Starts it in front of servers that listen at these ports, and waits until it answers."""
        raise NotImplementedError

    def run(self, command: list, port: int) -> None:
        log = tempfile.TemporaryFile()
        self.processes.append(subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=log))
        end = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port)).close()
            except OSError:
                if self.processes[-1].poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    raise AssertionError(f"{self.name}: {log.read().decode(errors='replace')}{self.log()}") from None
                time.sleep(0.05)

    def log(self) -> str:
        return ""

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(20)
        self.processes = []

    def ask(self, target: str, connection: http.client.HTTPConnection | None = None, method: str = "GET", **headers) -> Reply:
        """One question, on a connection of its own where none is given."""
        one = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            one.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = one.getresponse()
            return Reply(answer.status, answer.headers["X-Cache"], answer.read(), answer.headers)
        finally:
            if not connection:
                one.close()


class Nginx(Edge):
    name = "nginx"
    # What its master has besides; benchmarks ask for more.
    workers = "master_process off;"

    def __init__(self, folder: Path, certificate: tuple[Path, Path] | None = None):
        super().__init__(folder)
        self.certificate = certificate
        self.tls_port = free_port()
        self.cache, self.keys = folder / "cache", folder / "keys"
        for each in (self.cache, self.keys):
            each.mkdir(mode=0o755)

    def log(self) -> str:
        path = self.folder / "error.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @staticmethod
    def with_servers(text: str, ports: list[int]) -> str:
        """The text with each upstream's servers at these ports, of which each line says what the file says there, or at last."""

        def lines(upstream: re.Match) -> str:
            options = re.findall(r"server \S+ ?(.*;)", upstream[0])
            return "".join(f"  server 127.0.0.1:{port} {options[min(number, len(options) - 1)]}\n" for number, port in enumerate(ports))

        return re.sub(r"(?:  server 10\.0\.0\.\d+:\d+.*\n)+", lines, text)

    def text(self, ports: list[int]) -> str:
        """The file of packaging/ with the addresses and folders that are here."""
        text = self.with_servers((PACKAGING / "nginx-edge.conf").read_text(), ports)
        # The redirect from port 80 has addresses alone, of which none is here.
        text = re.sub(r"server \{\n  listen 80;(?s:.*?)\n\}\n", "", text)
        text = re.sub(r"  listen \[.*\n", "", text)
        tls = f"listen 127.0.0.1:{self.tls_port} ssl http2;\n  " if self.certificate else ""
        text = text.replace("listen 443 ssl http2;", f"{tls}listen 127.0.0.1:{self.port};")
        if self.certificate:
            text = re.sub(r"(ssl_certificate_key +).*;", rf"\g<1>{self.certificate[1]};", re.sub(r"(ssl_certificate +).*;", rf"\g<1>{self.certificate[0]};", text))
        else:
            text = re.sub(r"  ssl_.*\n", "", text)
        return text.replace("/var/cache/ziggurat-edge", str(self.cache)).replace("/var/lib/ziggurat-edge", str(self.keys))

    def start(self, ports: list[int]) -> None:
        places = "".join(f"{kind}_temp_path {self.folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # Its user is nobody who may write into the folders of tests.
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/nginx.pid; daemon off; user root; {self.workers} error_log {self.folder}/error.log;\n"
            f"events {{ worker_connections 2048; }}\nhttp {{ access_log off; {places}\n{self.text(ports)}\n}}\n")
        self.run(["/usr/sbin/nginx", "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"], self.port)
        self.purger()

    def purger(self) -> None:
        """Starts what has the cache forget."""
        self.run([PACKAGING / "edge-purge", self.cache, self.keys, "--key-file", self.key_file, "--listen", f"127.0.0.1:{self.purge_port}"], self.purge_port)

    def kept(self) -> int:
        """Answers that are in its cache."""
        return sum(path.is_file() for path in self.cache.rglob("*"))


class Varnish(Edge):
    name = "Varnish"
    # As packaging/Dockerfile.edge runs it, or, where there is none, with what varnish.vcl asks for.
    command: list[str] = []

    def __init__(self, folder: Path, certificate: tuple[Path, Path] | None = None):
        super().__init__(folder)
        self.purge_port = self.port

    def start(self, ports: list[int]) -> None:
        text = (PACKAGING / "varnish.vcl").read_text()
        for number, port in zip((11, 12, 13), ports, strict=True):
            text = text.replace(f'.host = "10.0.0.{number}"; .port = "8080"', f'.host = "127.0.0.1"; .port = "{port}"')
        (self.folder / "varnish.vcl").write_text(text.replace("/etc/varnish/ziggurat-edge-key", str(self.key_file)))
        options = " ".join(re.findall(r"-p [a-z_]+=[^ `]+", (PACKAGING / "varnish.vcl").read_text())).split()
        here = {"-n": self.folder / "varnish", "-a": f"127.0.0.1:{self.port}", "-f": self.folder / "varnish.vcl", "-s": "malloc,256m"}
        arguments: list = self.command or ["varnishd", "-F", "-j", "none", "-T", "none", "-n", "", "-a", "", "-f", "", "-s", "", *options]
        self.run([f"/usr/sbin/{arguments[0]}", *(here.get(before, word) for before, word in zip(arguments, arguments[1:]))], self.port)


EDGES = {"nginx": Nginx, "Varnish": Varnish}


class StoreDisk(Nginx):
    """nginx between a server and its object store, by packaging/nginx-store.conf."""

    def text(self, ports: list[int]) -> str:
        text = self.with_servers((PACKAGING / "nginx-store.conf").read_text(), ports)
        return text.replace("127.0.0.1:8333", f"127.0.0.1:{self.port}").replace("/var/cache/ziggurat-store", str(self.cache))
