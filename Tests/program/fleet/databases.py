"""PostgreSQL servers of tests' own."""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/postgresql"


class Database:
    """A PostgreSQL server of a test's own."""

    def __init__(self):
        # A socket's path is short.
        self.folder = tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp")
        os.chmod(self.folder.name, 0o755)
        self.start()

    def start(self):
        # What was killed may be going still.
        for _ in range(100):
            self.process = subprocess.Popen([SCRIPT, self.folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True)
            self.address = self.process.stdout.readline().strip()
            if self.address:
                return
            self.end()
            time.sleep(0.1)
        raise AssertionError("PostgreSQL does not start")

    def end(self):
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        self.process.wait()

    def kill(self):
        pid = int((Path(self.folder.name) / "data/postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        self.end()

    def stall(self):
        """Stops all its processes, as a machine that hangs does: nothing is refused, and nothing answered."""
        main = int((Path(self.folder.name) / "data/postmaster.pid").read_text().split()[0])
        # Who begins no more processes first.
        os.kill(main, signal.SIGSTOP)
        listed = subprocess.run(["pgrep", "-P", str(main)], capture_output=True, text=True, check=True).stdout
        self.stalled = [main, *map(int, listed.split())]
        for pid in self.stalled[1:]:
            os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        for pid in reversed(self.stalled):
            os.kill(pid, signal.SIGCONT)

    def ask(self, sql: str) -> str:
        return subprocess.run(["psql", "-qAt", self.address, "-c", sql], check=True, capture_output=True, text=True).stdout

    def close(self):
        self.end()
        self.folder.cleanup()
