"""An S3 store of its own for a command: what Ceph and OpenStack Swift have in common here.

All of it listens on free ports of loopback, lies in a folder that goes with it, and ends with the command.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SECRET, BUCKET = "ziggurat-secret-0123456789", "ziggurat-test"


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now; all are held until the last is found."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Engine:
    """A store in a folder, whose processes are children of this one. Who derives from it says these, and begins it."""

    access: str
    port: int
    log: Path
    gateway: subprocess.Popen

    def __init__(self, name: str):
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
        self.running: list[subprocess.Popen] = []

    def begin_all(self) -> None:
        """Starts what there is, and waits until it answers."""
        raise NotImplementedError

    def begin_gateway(self) -> None:
        """Starts what clients talk to, again, where it has ended."""
        raise NotImplementedError

    def make_bucket(self) -> None:
        raise NotImplementedError

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """By which a command finds the store, its bucket, and what it was asked, line by line."""
        return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | {
            "AWS_ENDPOINT_URL_S3": self.endpoint, "AWS_ACCESS_KEY_ID": self.access, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1", "ZIGGURAT_TEST_BUCKET": BUCKET, "ZIGGURAT_TEST_STORE_LOG": str(self.log)}

    def begin(self, *arguments: str | Path, output: Path | None = None) -> subprocess.Popen:
        """A server that stays in front; what it says goes into a file of all, or into one of its own."""
        with (output or self.folder / "output").open("ab") as said:
            self.running.append(subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=said, stderr=said))
        return self.running[-1]

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.endpoint, timeout=2):
                return True
        except urllib.error.HTTPError:
            return True  # It asks who we are.
        except OSError:
            return False

    def wait_until_it_answers(self) -> None:
        end = time.monotonic() + 120
        while not self.answers():
            if time.monotonic() > end or self.gateway.poll() is not None:
                raise RuntimeError(f"{self.name} does not come up: {(self.folder / 'output').read_text()[-2000:]}")
            time.sleep(0.2)

    def start(self) -> None:
        try:
            self.begin_all()
            self.make_bucket()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for each in reversed(self.running):
            each.terminate()
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def beside(engine: Engine, command: list[str]) -> int:
    """Runs a command with the store, and says how it ended."""
    # So that an end from outside takes the store along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    engine.start()
    try:
        return subprocess.run(command, env=engine.environment).returncode
    finally:
        engine.stop()
