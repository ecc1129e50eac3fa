"""Servers of others in front of ours: a port that is free, a certificate, and a process that answers or says why not."""

import functools
import socket
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from harness import folder


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@functools.cache
def certificate() -> tuple[Path, Path]:
    place = folder("certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", place / "key.pem", "-out", place / "cert.pem"],
                   check=True, capture_output=True)
    return place / "cert.pem", place / "key.pem"


def start(test: unittest.TestCase, answers: Callable[[], bool], *command, **options) -> None:
    """Starts a server, which ends with the test, and waits until `answers` is true of it; fails with its own output."""
    # Not a pipe, which would fill up unread.
    output = tempfile.TemporaryFile()
    test.addCleanup(output.close)
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=output, **options)

    def end() -> None:
        process.terminate()
        process.wait(timeout=20)

    def said() -> str:
        output.seek(0)
        return output.read().decode(errors="replace")

    test.addCleanup(end)
    deadline = time.monotonic() + 30
    while not answers():
        if process.poll() is not None:
            test.fail(said())
        test.assertLess(time.monotonic(), deadline, said())
        time.sleep(0.1)
