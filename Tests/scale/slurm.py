"""A Slurm cluster of virtual nodes on this machine: started for a test, and stopped with all that it runs."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

CONFIGURATION = """\
ClusterName=ziggurat
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.sock
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,batch_sched_delay=0,requeue_delay=0
SwitchType=switch/none
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool/%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.%n.log
ReturnToService=2
JobRequeue=1
SlurmctldTimeout=10
SlurmdTimeout=6
KillWait=2
MinJobAge=300
SlurmdParameters=config_overrides
"""


def free_ports(count: int) -> int:
    """The first of so many in a row that nobody listens at."""
    for first in range(21000, 30000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()
    raise RuntimeError("no free ports")


class Slurm:
    """One host as several nodes of one processor each; no accounting, no systemd."""

    def __init__(self, place: Path, nodes: int):
        self.place, self.nodes = place, nodes
        # Jobs that wait, by when they were seen first.
        self.requeued: dict[str, float] = {}
        (place / "state").mkdir(parents=True)
        host, port = socket.gethostname().split(".")[0], free_ports(nodes + 1)
        (place / "key").write_bytes(os.urandom(256))
        (place / "key").chmod(0o600)
        # Munge's socket is for everybody, below a folder of ours.
        place.chmod(0o755)
        text = CONFIGURATION.format(host=host, port=port, place=place)
        for number in range(1, nodes + 1):
            (place / f"spool/n{number}").mkdir(parents=True)
            text += f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + number} CPUs=1 RealMemory=1000 State=UNKNOWN\n"
        text += f"PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP\n"
        (place / "slurm.conf").write_text(text)
        self.environment = {**os.environ, "SLURM_CONF": str(place / "slurm.conf")}
        self.call("munged", "--force", f"--key-file={place}/key", f"--socket={place}/munge.sock", f"--pid-file={place}/munged.pid",
                  f"--log-file={place}/munged.log", f"--seed-file={place}/munged.seed")
        self.call("slurmctld", "-c")
        for number in range(1, nodes + 1):
            self.call("slurmd", "-N", f"n{number}")
        deadline = time.monotonic() + 60
        while self.call("sinfo", "-h", "-t", "idle", "-o", "%D", check=False).strip() != str(nodes):
            if time.monotonic() > deadline:
                raise RuntimeError((place / "slurmctld.log").read_text()[-2000:])
            time.sleep(0.3)

    def call(self, *arguments, check: bool = True, **environment) -> str:
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=60, env={**self.environment, **environment})
        if check and result.returncode != 0:
            raise RuntimeError(f"{arguments}: {result.stdout}{result.stderr}")
        return result.stdout

    def jobs(self) -> dict[str, str]:
        """The states of jobs and tasks that have not ended for good."""
        lines = self.call("squeue", "-h", "-r", "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    def hurry(self) -> None:
        """Lets what was requeued begin again after two seconds: Slurm has it wait for two minutes."""
        lines = self.call("squeue", "-h", "-r", "-t", "PENDING", "-o", "%i %r").splitlines()
        pending = {job for job, reason in (line.split(maxsplit=1) for line in lines) if reason == "BeginTime"}
        self.requeued = {job: self.requeued.get(job, time.monotonic()) for job in pending}
        for job, at in self.requeued.items():
            # In the second in which its credential was revoked it would be given one that counts as revoked, and ended for good.
            if time.monotonic() - at > 2:
                # It may have begun by itself in between.
                self.call("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)

    def kill_node(self, number: int) -> None:
        """As by a power cut: its daemon and all that it runs; it never comes back."""
        os.kill(int((self.place / f"slurmd.n{number}.pid").read_text()), signal.SIGKILL)
        self.kill_tasks(f"n{number}")

    def kill_tasks(self, node: str | None = None) -> None:
        tasks = [process for process in processes() if self.runs_on(process, node)]
        # First the daemons that wait for them, which would report their end to the controller: they are nobody's children.
        steps = {parent for task in tasks if (parent := status(task).parent) and status(parent).name == "slurmstepd"}
        for process in [*steps, *tasks]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def runs_on(self, process: int, node: str | None = None) -> bool:
        """Whether it is of a job of this cluster, on the node."""
        try:
            environment = Path(f"/proc/{process}/environ").read_text(errors="replace").split("\0")
        except OSError:
            return False
        return f"SLURM_CONF={self.place}/slurm.conf" in environment and any(
            each == f"SLURMD_NODENAME={node}" or not node and each.startswith("SLURM_JOB_ID=") for each in environment)

    def stop(self) -> None:
        for path in [*self.place.glob("slurmd.*.pid"), self.place / "slurmctld.pid", self.place / "munged.pid"]:
            try:
                os.kill(int(path.read_text()), signal.SIGTERM if "munged" in path.name else signal.SIGKILL)
            except (OSError, ValueError):
                pass
        self.kill_tasks()
        shutil.rmtree(self.place, ignore_errors=True)


def processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


class Status(NamedTuple):
    """Of a process; nothing and nobody where it has ended."""

    name: str = ""
    parent: int = 0


def status(process: int) -> Status:
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return Status()
    return Status(name, int(rest.split()[1]))
