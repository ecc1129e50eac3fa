"""`Tests/scripts/install-packages` beside another program that holds apt's locks: a real apt-get on a root of its own."""

import fcntl
import os
import subprocess
import threading
import unittest

from harness import ROOT, folder

SCRIPT = ROOT / "Tests/scripts/install-packages"


class AptLocks(unittest.TestCase):
    def setUp(self):
        self.root = folder("apt")
        for each in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "var/lib/apt/lists/partial",
                     "var/lib/dpkg", "var/cache/apt/archives/partial", "var/log/apt", "bin"):
            (self.root / each).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        (self.root / "apt.conf").write_text(
            f'Dir "{self.root}/"; Dir::State::status "{self.root}/var/lib/dpkg/status"; APT::Sandbox::User ""; '
            'Debug::NoLocking "false";\n')
        (self.root / "packages").write_text("some ziggurat-does-not-exist  no repository has it\n")
        (self.root / "bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
        (self.root / "bin/sudo").chmod(0o755)

    def start(self) -> subprocess.Popen:
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "APT_CONFIG": str(self.root / "apt.conf"),
                       "DEBIAN_PACKAGES": str(self.root / "packages")}
        return subprocess.Popen([SCRIPT, "some"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def held(self, path: str):
        file = (self.root / path).open("w")
        self.addCleanup(file.close)
        fcntl.lockf(file, fcntl.LOCK_EX)
        return file

    def finish(self, process: subprocess.Popen) -> list[str]:
        timer = threading.Timer(120, process.kill)
        timer.start()
        output, errors = process.communicate()
        timer.cancel()
        self.assertEqual(output, "")
        # The repository is empty: apt-get has had its locks and says so.
        self.assertIn("Unable to locate package ziggurat-does-not-exist", errors)
        self.assertEqual(process.returncode, 1, errors)
        return errors.splitlines()

    def waits_for(self, *paths: str):
        held = [self.held(path) for path in paths]
        process = self.start()
        lines = []
        while not lines or "Waiting" not in lines[-1]:
            line = process.stderr.readline()
            self.assertTrue(line, lines)
            lines.append(line)
        for file in held:
            file.close()
        rest = self.finish(process)
        self.assertNotIn("Could not get lock", "".join(lines) + "\n".join(rest))
        self.assertEqual(sum("Waiting until another program" in line for line in [*lines, *rest]), 1)

    def test_it_waits_for_the_lock_of_the_package_lists(self):
        self.waits_for("var/lib/apt/lists/lock")

    def test_it_waits_for_the_lock_of_dpkg(self):
        self.waits_for("var/lib/dpkg/lock-frontend")

    def test_free_locks_are_not_waited_for(self):
        self.assertNotIn("Waiting", "\n".join(self.finish(self.start())))

    def test_another_failure_is_not_retried(self):
        (self.root / "apt.conf").write_text("not a configuration\n")
        process = self.start()
        errors = process.communicate(timeout=60)[1]
        self.assertNotIn("Waiting", errors)
        self.assertNotEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
