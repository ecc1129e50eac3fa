"""What an edit, a deletion and an upload cost does not grow with the library: counted in bytes read and written, folders
read and archives opened, not in time."""

import json
import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import folder, photo, run
from opened_files import OpenedFiles
from upload_client import Client, serve

SMALL, LARGE = 200, 10_000
ACTS = 5


def library(count: int) -> Path:
    """Links to one small archive, 1000 to a folder."""
    base = folder("growth")
    seeds = base / "seeds"
    built = run("build", photo(base / "seed.jpg", 90, 70), "--library", seeds, "--quiet")
    assert built.returncode == 0, built.stderr
    for number in range(count):
        place = base / f"library/{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        os.link(seeds / "seed.szi", place / f"{number % 1000:03}.szi")
    indexed = run("reindex", base / "library")
    assert indexed.returncode == 0, indexed.stderr
    return base / "library"


class Cost:
    """Of one server: bytes that it read and wrote, folders that it opened, and archives."""

    def __init__(self, server, place: Path):
        self.server = server
        self.opened = OpenedFiles(place, *(path for path in place.iterdir() if path.is_dir() and not path.name.startswith(".")))

    def bytes(self) -> tuple[int, int]:
        lines = Path(f"/proc/{self.server.process.pid}/io").read_text().splitlines()
        values = dict(line.split(": ") for line in lines)
        return int(values["rchar"]), int(values["wchar"])

    def settled(self) -> tuple[int, int]:
        """When nothing more happens for longer than the server takes to look round."""
        now = self.bytes()
        until = time.monotonic() + 60
        while True:
            time.sleep(2.5)
            if (later := self.bytes()) == now:
                return now
            assert time.monotonic() < until, "the server never rests"
            now = later

    def of(self, act) -> dict[str, float]:
        """Of one act, on average; each in a second of its own, in which the server looks round."""
        before = self.settled()
        self.opened.names("")
        for number in range(ACTS):
            act(number)
            time.sleep(1.2)
        after = self.settled()
        names = self.opened.names("")
        return {"read": (after[0] - before[0]) / ACTS, "written": (after[1] - before[1]) / ACTS,
                # A folder's own opening has no name.
                "folders": sum(not name for name in names) / ACTS, "archives": sum(name.endswith(".szi") for name in names) / ACTS}


class Growth(unittest.TestCase):
    def costs(self, count: int) -> dict[str, dict[str, float]]:
        place = library(count)
        data = photo(folder("p") / "x.jpg", 80, 60).read_bytes()
        with serve(place) as server:
            client = Client(server)
            cost = Cost(server, place)

            def edit(number: int):
                answer = client.ask("PATCH", f"/api/images/000%2F{number:03}", json.dumps({"title": f"Title {number}"}).encode(), tus=False)
                self.assertEqual(answer.status, 200, answer)

            def upload(number: int):
                state = client.end(client.send(data + bytes([number]), filename=f"{number}.jpg", folder="000")[1])
                self.assertEqual((state["status"], state["duplicate"]), ("done", False), state)

            def delete(number: int):
                self.assertEqual(client.ask("DELETE", f"/api/images/000%2F{100 + number:03}", tus=False).status, 200)
            costs = {act.__name__: cost.of(act) for act in (edit, upload, delete)}
            # And all of it is known.
            total = json.loads(server.get("/api/images?limit=1").body)["total"]
            self.assertEqual(total, count)
            self.assertEqual(json.loads(server.get("/api/images?q=title").body)["total"], ACTS)
            return costs

    def test_no_act_costs_more_in_a_larger_library(self):
        # Most of the time passes in waiting.
        with ThreadPoolExecutor() as pool:
            small, large = pool.map(self.costs, (SMALL, LARGE))
        for act, costs in large.items():
            print(f"[{act}: {costs['read'] / 1000:.0f} kB read, {costs['written'] / 1000:.0f} kB written]", end=" ", flush=True)
            with self.subTest(act, small=small[act], large=costs):
                # Fifty times as many archives: some pages more on the way down the trees, at most.
                self.assertLess(costs["read"], 3 * small[act]["read"] + 100_000)
                self.assertLess(costs["written"], 3 * small[act]["written"] + 100_000)
                self.assertLessEqual(costs["folders"], small[act]["folders"] + 1)
                self.assertLessEqual(costs["archives"], small[act]["archives"] + 1)


if __name__ == "__main__":
    unittest.main()
