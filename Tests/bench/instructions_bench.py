"""Instructions, and allocations, that a stored tile takes in the server, by protocol, against another build (AGAINST): callgrind
and a library that is loaded before the heap's count them, so that a busy machine gives the same numbers.

A start takes as many again as thousands of tiles: what two servers that were asked a different number of tiles differ
by is what the tiles took.
"""

import http.client
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import before
import material
from measure import table

FEW, MORE = 200, 2200
MOST = 1.01
PATHS = {
    "Deep Zoom": "/dzi/photo_files/12/1_1.jpg",
    "XYZ": "/xyz/photo/3/1/1.jpg",
    "Zoomify": "/zoomify/photo/TileGroup0/3-1-1.jpg",
    "IIIF": "/iiif/3/photo/256,256,256,256/256,256/0/default.jpg",
}


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    if not shutil.which("valgrind"):
        raise SystemExit("bench: valgrind is not installed")
    old = before.executable()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        photo = Path(folder) / "photo.jpg"
        photo.symlink_to(material.SOURCES["jpeg-75mp"]())
        subprocess.run([ziggurat, "build", photo, "--library", library, "--tile-size", "256", "--quiet"], check=True)
        # The first start writes the catalog.
        counted(ziggurat, library, PATHS["Deep Zoom"], 1)
        more = FEW + 200 if quick else MORE
        for name, path in PATHS.items():
            if only and only.lower() not in name.lower():
                continue
            now, then = ((counted(each, library, path, more) - counted(each, library, path, FEW)) / (more - FEW)
                         for each in (ziggurat, old))
            rows.append([f"instructions of a tile by {name}", f"{now:,.0f}", f"{then:,.0f}", f"{now / then:.4f}×", f"≤ {MOST}×",
                         "met" if now <= MOST * then else "missed"])
            print(f"{name}: now {now:,.0f}, before {then:,.0f}, {now / then:.4f}×", flush=True)
            # What goes by time, and not by tiles, is a few hundredths either way.
            now, then = ((allocated(each, library, path, MORE) - allocated(each, library, path, FEW)) / (MORE - FEW)
                         for each in (ziggurat, old))
            rows.append([f"allocations of a tile by {name}", f"{now:.2f}", f"{then:.2f}", f"{now - then:+.2f}", "no more",
                         "met" if now < then + 0.1 else "missed"])
            print(f"{name}: {now:.2f} allocations, before {then:.2f}", flush=True)
    return table(["a stored tile", "now", "before", "now against before", "bar", "met"], rows)


def counted(executable: Path, library: Path, path: str, tiles: int) -> int:
    """Instructions of a server from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        # valgrind does not read all that the compiler writes for debuggers.
        subprocess.run(["strip", "--strip-debug", "-o", f"{folder}/ziggurat", executable], check=True)
        number = asked(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/%p", f"{folder}/ziggurat"], library, path, tiles)
        # Its fork server has a file of its own.
        return int(re.search(r"^totals: (\d+)", (Path(folder) / str(number)).read_text(), re.MULTILINE)[1])


def allocated(executable: Path, library: Path, path: str, tiles: int) -> int:
    """What a server has asked of the heap from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        shim = f"{folder}/allocations.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", shim, Path(__file__).with_name("allocations.c")], check=True)
        number = asked([executable], library, path, tiles, LD_PRELOAD=shim, ALLOCATIONS=folder)
        return int((Path(folder) / str(number)).read_text())


def asked(command: list, library: Path, path: str, tiles: int, **environment: str) -> int:
    """A server that gives so many tiles, until its end; its number as a process."""
    with subprocess.Popen([*command, "serve", library, "--port", "0", "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, env={**os.environ, **environment}) as server:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        # What is done once after the start is the same in both.
        time.sleep(2)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for _ in range(tiles):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"bench: {path} is answered {answer.status}")
        connection.close()
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        return server.pid
