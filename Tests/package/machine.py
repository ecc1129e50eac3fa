"""A Debian 12 with nothing else, below .cache/: packages are installed into it, and it boots with a systemd of its own.

Needs root, for debootstrap, chroot and systemd-nspawn.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
from harness import ROOT  # noqa: E402

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8",
               "HOME": "/root"}
# For what is tested beside the package; none of these services starts by itself.
BESIDES = ["systemd-sysv", "dbus", "libpam-systemd", "nginx-light", "caddy", "varnish", "varnish-modules", "python3", "openssl", "curl", "iproute2",
           "logrotate", "ca-certificates"]
SERVICES = ["nginx", "caddy", "varnish", "varnishncsa", "logrotate.timer", "apt-daily.timer", "apt-daily-upgrade.timer"]


class Machine:
    def __init__(self, package: Path):
        self.root = Path(os.environ.get("MACHINE", ROOT / ".cache/bookworm"))
        self.package = package
        self.process: subprocess.Popen | None = None

    def prepare(self) -> None:
        """Makes it where it is not there, with everything that the package depends on, and without the package."""
        if os.geteuid() != 0:
            raise AssertionError("debootstrap, chroot and systemd-nspawn take root")
        self.unmount()
        if not (self.root / "usr/bin/apt-get").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", self.root], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        try:
            self.inside("apt-get", "update", "-qq")
            self.inside("apt-get", "purge", "-y", "-qq", "ziggurat", check=False)
            self.inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", *BESIDES, timeout=900)
            self.inside("systemctl", "disable", *SERVICES, check=False)
            # A machine's installer writes it.
            (self.root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
            shutil.rmtree(self.root / "var/lib/ziggurat", ignore_errors=True)
            shutil.copy(self.package, self.root / "root/ziggurat.deb")
            self.inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "/root/ziggurat.deb", timeout=900)
        finally:
            self.unmount()

    def unmount(self) -> None:
        subprocess.run(["umount", "--recursive", self.root / "proc"], stderr=subprocess.DEVNULL)

    def inside(self, *command, check: bool = True, **options) -> subprocess.CompletedProcess:
        """Runs a command in its files, while it is not booted."""
        return self.completed(["chroot", self.root, *command], check, options)

    @staticmethod
    def completed(command: list, check: bool, options: dict) -> subprocess.CompletedProcess:
        options = {"text": True, "capture_output": True, "env": ENVIRONMENT, "timeout": 120} | options
        result = subprocess.run(list(map(str, command)), **options)
        if check and result.returncode != 0:
            raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
        return result

    def boot(self) -> None:
        """Starts its systemd, in a network of its own, where it has the addresses that files of packaging/ name."""
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", "--directory", self.root, "--private-network", "--register=no", "--keep-unit", "--console=pipe",
             "--machine=ziggurat-test"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        end = time.monotonic() + 60
        while True:
            assert self.process.poll() is None and time.monotonic() < end, "it does not boot"
            if self.leaders(children) and self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip() in ("running", "degraded"):
                break
            time.sleep(0.2)
        for number in (10, 11, 12, 13, 20, 21):
            self.run("ip", "address", "add", f"10.0.0.{number}/24", "dev", "lo")

    @staticmethod
    def leaders(children: Path) -> list[str]:
        return children.read_text().split()

    def run(self, *command, check: bool = True, **options) -> subprocess.CompletedProcess:
        """Runs a command in it, booted."""
        leader = self.leaders(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children"))[0]
        return self.completed(["nsenter", "--target", leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "env",
                               "--chdir=/root", *command], check, options)

    def shell(self, script: str, check: bool = True, **options) -> subprocess.CompletedProcess:
        return self.run("bash", "-euc", script, check=check, **options)

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
