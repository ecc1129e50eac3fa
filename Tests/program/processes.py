"""The child processes of one of ours, seen from outside: their number, memory and files.

Untrusted bytes are decoded in sandboxed processes called `ziggurat-worker`, which the fork server `ziggurat-zygote` starts.
"""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

WORKER, FORK_SERVER = "ziggurat-worker", "ziggurat-zygote"
PAGE = os.sysconf("SC_PAGE_SIZE")


def children(pid: int) -> list[int]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            try:
                found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
            except OSError:
                pass  # that thread has ended
    except OSError:
        pass
    return found


def descendants(pid: int) -> list[int]:
    """All that it started, and that those started, zombies too; not itself."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def workers(pid: int) -> list[int]:
    return [each for each in descendants(pid) if name(each) == WORKER]


@contextmanager
def stopped(pid: int, *names: str):
    """Whatever it started does nothing meanwhile: all of it, or what has one of the names."""
    found = [each for each in descendants(pid) if not names or name(each) in names]
    assert found, "it has started a process"
    for each in found:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in found:
            os.kill(each, signal.SIGCONT)


def zombies(pid: int) -> list[int]:
    """Those that have ended and were not waited for."""
    found = []
    for each in descendants(pid):
        try:
            if Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                found.append(each)
        except OSError:
            pass
    return found


def kill(pid: int) -> bool:
    """SIGKILL, unless it is gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def resident(pid: int) -> int:
    """Bytes of the process in RAM, files and shared pages too; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def private(pid: int) -> int:
    """Bytes in RAM that are no file's: mapped archives are the page cache's, not the process's."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


class PeakMemory:
    """The most memory that a process and all its descendants had resident at one time, looked at every 20 ms.

    Pages that a child shares with its parent count for each: the number is never too small.
    """

    def __init__(self, pid: int, pace: float = 0.02):
        self.pid, self.pace, self.peak, self.processes = pid, pace, 0, 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while not self.ending.wait(self.pace):
            tree = [self.pid, *descendants(self.pid)]
            self.peak = max(self.peak, sum(map(resident, tree)))
            self.processes = max(self.processes, len(tree))

    def end(self) -> int:
        """Bytes."""
        self.ending.set()
        self.thread.join()
        return self.peak


class ProcessKiller:
    """SIGKILL for a random sandboxed process of a process, again and again at random times, until it is stopped.

    `kills` counts those that were really hit, `fork_servers` the fork servers among them.
    """

    def __init__(self, pid: int, chance, pause: tuple[float, float], fork_server: float = 0, most: int = 1 << 30):
        self.pid, self.chance, self.pause, self.fork_server, self.most = pid, chance, pause, fork_server, most
        self.kills = self.fork_servers = 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while not self.ending.wait(self.chance.uniform(*self.pause)) and self.kills < self.most:
            wanted = FORK_SERVER if self.chance.random() < self.fork_server else WORKER
            # A sandboxed process may live for milliseconds: one that starts within the pause is taken.
            until = time.monotonic() + self.pause[1]
            while not (found := [each for each in descendants(self.pid) if name(each) == wanted]):
                if self.ending.wait(0.001) or time.monotonic() > until:
                    break
            if found and kill(self.chance.choice(found)):
                self.kills += 1
                self.fork_servers += wanted == FORK_SERVER

    def end(self) -> int:
        self.ending.set()
        self.thread.join(30)
        return self.kills
