"""Whole processes, measured from outside: wall clock, processor time and peak resident memory."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    wall: float  # seconds
    cpu: float  # seconds of user and system time, children included
    peak: int  # bytes of the largest resident set of any one process in it
    made: int = 0  # bytes of the files it wrote


def run(command: list[str], environment: dict[str, str] | None = None, output: Path | None = None) -> Run:
    """Runs a command to its end. One that fails ends the benchmark: a number of half the work is none.

    `output` is the folder whose files it makes.
    """
    with tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"bench: {' '.join(command)}\nended with {process.returncode}: {errors.read(2000).decode()}")
    made = sum(path.stat().st_size for path in output.rglob("*") if path.is_file()) if output else 0
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, made)


def median(runs: list[Run]) -> Run:
    """The median of each number by itself."""
    return Run(*(statistics.median(getattr(each, name) for each in runs) for name in ("wall", "cpu", "peak", "made")))


def spread(values: list[float]) -> float:
    """Half the range over the median: how far the rounds lie apart."""
    return (max(values) - min(values)) / 2 / statistics.median(values)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
