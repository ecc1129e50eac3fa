"""ExifTool, which shares no code with the readers of metadata here. It is started once, since that takes longer than its work."""

import atexit
import functools
import subprocess
from pathlib import Path


@functools.cache
def running() -> subprocess.Popen:
    process = subprocess.Popen(["exiftool", "-stay_open", "True", "-@", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, encoding="utf-8")
    atexit.register(process.communicate, "-stay_open\nFalse\n", timeout=20)
    return process


def line(word: str) -> str:
    """As it reads a word from a line: one that has lines of its own, or ends in a space, is a string of C."""
    if word == word.strip() and not set(word) & {"\n", "\r"}:
        return word
    return "#[CSTR]" + word.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def write(path: Path, *options: str) -> None:
    """Changes a file in place, or makes one; what it cannot do fails the test."""
    process = running()
    lines = ["-q", "-m", "-overwrite_original", "-echo4", "status ${status}", *map(line, (*options, str(path))), "-execute"]
    process.stdin.write("".join(f"{each}\n" for each in lines))
    process.stdin.flush()
    reported = ""
    while "status " not in reported:
        heard = process.stdout.readline()
        assert heard, f"exiftool ended: {reported}"
        reported += heard
    assert reported.endswith("status 0\n"), reported
