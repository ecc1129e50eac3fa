"""A private space against the same library in the open: processor time of `ziggurat serve` per tile, under wrk.

Both servers run throughout; rounds are interleaved, medians compared. Tiles that fit into memory are decrypted
once; of a library that does not fit, nearly every answer decrypts its tile.
"""

import http.client
import json
import os
import random
import re
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import material
from measure import spread, table
from tile_paths import Tile

HERE = Path(__file__).resolve().parent
PASSWORD = "correct horse battery staple\n"


class Server:
    def __init__(self, ziggurat: Path, library: Path, *options):
        self.process = subprocess.Popen([ziggurat, "serve", library, "--port", "0", *options], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env={**os.environ, "ZIGGURAT_LOG": "none"})
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline().decode() if ready else ""
        if not (found := re.search(r"http://127\.0\.0\.1:\d+/", line)):
            sys.exit("bench: ziggurat serve did not say that it listens")
        self.root, self.headers = found[0], []
        if "?key=" in line:
            # By hand: the redirection must not be followed before its cookie is seen.
            connection = http.client.HTTPConnection(self.root.split("/")[2])
            connection.request("GET", "/?key=" + line.split("?key=")[1].strip())
            self.headers = ["-H", "Cookie: " + connection.getresponse().getheader("Set-Cookie").split(";")[0]]
            connection.close()

    def seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load(self, paths: Path, seconds: int) -> tuple[float, float]:
        """Microseconds of processor time per answer, and answers a second."""
        before = self.seconds()
        result = subprocess.run(["wrk", "-t2", "-c64", f"-d{seconds}s", *self.headers, "-s", HERE / "paths.lua", self.root,
                                 "--", paths], capture_output=True, text=True, check=True)
        counts = json.loads(result.stdout[result.stdout.index("{\"requests"):].splitlines()[0])
        if counts["errors"]:
            sys.exit(f"bench: {counts['errors']} answers were errors\n{result.stdout}")
        return (self.seconds() - before) / counts["requests"] * 1e6, counts["rate"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def row(ziggurat: Path, folder: Path, copies: int, quick: bool) -> list[str]:
    plain, private, password = folder / f"plain-{copies}", folder / f"private-{copies}", folder / "password"
    photographs = folder / f"photographs-{copies}"
    photographs.mkdir()
    for copy in range(copies):
        for path in material.photographs():
            # Copies: the same file met twice is built once.
            shutil.copyfile(path, photographs / f"{path.stem}-{copy}{path.suffix}")
    password.write_text(PASSWORD)
    arguments = ["build", *(str(path) for path in sorted(photographs.iterdir())), "--quiet", "--library"]
    subprocess.run([ziggurat, *arguments, plain], check=True)
    subprocess.run([ziggurat, "space", "create", private, "--password-file", password], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([ziggurat, *arguments, private, "--space", "--password-file", password], check=True)
    tiles, sizes = [], []
    for archive in sorted(plain.glob("*.szi")):
        with zipfile.ZipFile(archive) as entries:
            for entry in entries.infolist():
                if "_files/" in entry.filename:
                    tiles.append(Tile.parse(entry.filename.split("/", 1)[1], 1, 1, 512).dzi)
                    sizes.append(entry.file_size)
    random.Random(1).shuffle(tiles)
    paths = folder / f"paths-{copies}"
    paths.write_text("\n".join(tiles) + "\n")
    servers = [Server(ziggurat, plain), Server(ziggurat, private, "--space", "--password-file", str(password))]
    try:
        rounds: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        for number in range(4 if quick else 8):
            for server, costs in zip(servers, rounds):
                cost = server.load(paths, 2 if quick else 5)
                if number > 0:  # The first warms, and is not counted.
                    costs.append(cost)
    finally:
        for server in servers:
            server.stop()
    cost = [statistics.median(cost for cost, _ in each) for each in rounds]
    # Rounds in pairs: what else the machine does at the time hits both.
    rates = [ours / theirs for (_, theirs), (_, ours) in zip(*rounds)]
    return [str(len(tiles)), f"{sum(sizes) / 1e6:.0f} MB, mean {sum(sizes) / len(sizes) / 1000:.1f} kB",
            f"{cost[1]:.1f} µs", f"{cost[0]:.1f} µs", f"{statistics.median(rates):.2f}", "0.50", f"±{100 * spread(rates):.0f}%"]


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    folder = Path(tempfile.mkdtemp(prefix="space-", dir=material.CACHE))
    try:
        rows = [row(ziggurat, folder, copies, quick) for copies in (1, 5)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return table(["tiles", "together", "private, CPU per tile", "open, CPU per tile", "rate, private to open", "bar",
                  "rounds within"], rows)
