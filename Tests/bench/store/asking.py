"""A server that is asked one question after the other."""

import http.client
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from search_bench import at


class Server:
    def __init__(self, ziggurat: Path, *arguments):
        began = time.monotonic()
        self.process = subprocess.Popen([ziggurat, "serve", *map(str, arguments), "--port", "0", "--idle-timeout", "3600"], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "ZIGGURAT_LOG": "none"})
        select.select([self.process.stdout], [], [], 600)
        line = self.process.stdout.readline().decode()
        self.start = time.monotonic() - began
        if ":" not in line:
            sys.exit("bench: ziggurat serve did not say that it listens")
        self.connection = http.client.HTTPConnection("127.0.0.1", int(line.rsplit(":", 1)[1].rstrip("/\n")))

    def ask(self, path: str) -> tuple[float, bytes]:
        began = time.monotonic()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200 or not body.startswith(b"{"):
            sys.exit(f"bench: {path} is answered {answer.status}")
        return time.monotonic() - began, body

    def memory(self) -> float:
        """Megabytes, as the system counts them for the process."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def works(self) -> bool:
        """Whether it takes a tenth of a core for a second in which nobody asks it."""

        def seconds() -> float:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

        before = seconds()
        time.sleep(1)
        return seconds() - before > 0.1

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def row(name: str, what: str, times: list[float], bar: str) -> list[str]:
    return [name, what, *(f"{1000 * at(times, part):.1f} ms" for part in (0.5, 0.99, 1)), bar]
