"""Failures from outside: a full disk, sandboxed processes that die; and the measurements of the run."""

import statistics
import threading
import time
from dataclasses import dataclass

import processes
from actors import Actor


class FullDisk(Actor):
    """Fills the disk to the last byte, twice, and keeps it so for a while."""

    kind = "full disk"

    def __init__(self, world, seed: int, disk, duration: float):
        super().__init__(world, seed)
        self.disk, self.duration = disk, duration
        self.holds = min(60, max(8, duration / 20))
        self.times = 0

    def run(self) -> None:
        for part in (0.35, 0.65):
            if self.pause(self.records.began + part * self.duration - time.monotonic()):
                break
            window = [time.monotonic(), None]
            self.records.full.append(window)
            print(f"[{window[0] - self.records.began:7.1f} s] the disk is full for {self.holds:.0f} s", flush=True)
            while time.monotonic() < window[0] + self.holds and not self.world.ending.is_set():
                self.disk.fill()
                self.pause(0.3)
            self.disk.relieve()
            window[1] = time.monotonic()
            self.times += 1


@dataclass
class Sample:
    at: float  # seconds since the start
    server: int  # bytes of its own in RAM
    tree: int  # with all its children
    files: int  # descriptors
    processes: int


class Sampler:
    """Once a second: memory, descriptors, children."""

    def __init__(self, pid: int, records):
        self.pid, self.records = pid, records
        self.samples: list[Sample] = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        dead: dict[int, int] = {}
        while not self.ending.wait(1):
            tree = processes.descendants(self.pid)
            own = processes.private(self.pid)
            self.samples.append(Sample(time.monotonic() - self.records.began, own, own + sum(map(processes.private, tree)),
                                       processes.descriptors(self.pid), len(tree)))
            # One that has just ended is waited for at the next check.
            dead = {pid: dead.get(pid, 0) + 1 for pid in processes.zombies(self.pid)}
            for pid in [pid for pid, times in dead.items() if times == 10]:
                self.records.error("processes", f"{processes.name(pid)}, {pid}, ended 10 s ago and was not waited for")

    def end(self) -> None:
        self.ending.set()
        self.thread.join()

    def windows(self, duration: float) -> list[tuple[float, dict[str, float]]]:
        """Medians of each minute, of eighths of a shorter run."""
        width = 60 if duration >= 900 else duration / 8
        found: dict[int, list[Sample]] = {}
        for sample in self.samples:
            if sample.at < duration:
                found.setdefault(int(sample.at / width), []).append(sample)
        return [((number + 1) * width, {name: statistics.median(getattr(each, name) for each in some)
                                        for name in ("server", "tree", "files", "processes")})
                for number, some in sorted(found.items())]

    def growth(self, duration: float) -> tuple[str, list[str]]:
        """The lines of a table, and what has grown since minute 10, or since the half of a shorter run."""
        windows = self.windows(duration)
        start = 600 if duration >= 900 else duration / 2
        base = next((values for at, values in windows if at >= start), None)
        lines = ["   until s   server MB   with workers MB   descriptors   processes"]
        lines += [f"{at:10.0f}{values['server'] / 1e6:12.1f}{values['tree'] / 1e6:16.1f}{values['files']:14.0f}{values['processes']:12.0f}"
                  for at, values in windows]
        errors = []
        later = [values for at, values in windows if at > start]
        if not base or not later:
            return "\n".join(lines), ["the run was too short to tell of memory"]
        # A short run has not come to rest at its half.
        allowed = 0.05 if duration >= 900 else 0.3
        for name, description in (("server", "the server's memory"), ("tree", "the memory of the server and its workers")):
            # What is left at the end is what grew, whatever a minute with a large picture took.
            most, last = max(values[name] for values in later), statistics.median(values[name] for values in later[-3:])
            lines.append(f"{description}: {base[name] / 1e6:.1f} MB at {start:.0f} s, {last / 1e6:.1f} MB at the end "
                         f"({last / base[name] - 1:+.1%}), most {most / 1e6:.1f} MB ({most / base[name] - 1:+.1%})")
            if last > (1 + allowed) * base[name]:
                errors.append(f"{description} grew by {last / base[name] - 1:.1%}, and {allowed:.0%} are allowed")
        if (files := statistics.median(values["files"] for values in later[-3:])) > base["files"] + 5:
            errors.append(f"{files:.0f} descriptors at the end, {base['files']:.0f} before")
        return "\n".join(lines), errors
