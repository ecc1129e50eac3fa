"""What a wrong password costs the server says nothing of how many spaces there are, or whether there is any: counted
in operations, which no busy machine changes."""

import os
import subprocess
import time
import unittest
import unittest.mock
from pathlib import Path

from harness import Server, folder, photo, run
from preload import preloaded
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Browser, SpaceTest

SLOTS = 8192


class Work(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.counter = preloaded(Path(__file__).with_name("counting.c"))
        photos = folder("photos")
        photo(photos / "grandmother.jpg", 700, 500)
        none = folder("library")
        run("build", photos, "--library", none, "--quiet", check=True)
        cls.libraries = {0: none}
        # The second has pictures, too.
        for count in (1, 2, 12):
            library = folder("library")
            before = cls.libraries[max(cls.libraries)]
            subprocess.run(["cp", "-a", f"{before}/.", library], check=True)
            for number in range(max(cls.libraries), count):
                run("space", "create", library, "--password-file", cls.file(f"password {number}"), check=True)
            if count == 2:
                run("build", photos, "--library", library, "--space", "--password-file", cls.file("password 1"), check=True)
            cls.libraries[count] = library

    def counted(self, *arguments, code: int) -> tuple[int, int, int]:
        """Key derivations, slots and other pieces tried, and files of spaces opened, of one command."""
        counts = folder("counts") / "counts"
        result = run(*arguments, environment={"LD_PRELOAD": self.counter, "COUNTS": str(counts)})
        self.assertEqual(result.returncode, code, result.stderr)
        return self.read(counts)

    @staticmethod
    def read(counts: Path) -> tuple[int, ...]:
        data = counts.read_bytes()
        return tuple(int.from_bytes(data[at:at + 8], "little") for at in range(0, 24, 8))

    def test_a_wrong_password_costs_a_command_the_same_in_every_library(self):
        wrong, new = self.file("of no space"), self.file("a new one")
        for arguments, costs in ((("list",), (1, SLOTS, 1)), (("passwd", "--new-password-file", new), (1, SLOTS, 1)),
                             (("move", "none"), (1, SLOTS, 1))):
            verb, *more = arguments
            for count, library in self.libraries.items():
                found = self.counted("space", verb, library, *more, "--password-file", wrong, code=1)
                self.assertEqual(found, costs, (verb, count))
        # The count sees what there is to be seen: a right one opens the index as well.
        right = self.counted("space", "list", self.libraries[12], "--password-file", self.file("password 5"), code=0)
        self.assertEqual(right[0], 1)
        self.assertEqual((right[1], right[2]), (SLOTS + 1, 2))

    def test_a_wrong_password_costs_a_server_the_same_in_every_library(self):
        for count, library in self.libraries.items():
            counts = folder("counts") / "counts"
            with unittest.mock.patch.dict(os.environ, LD_PRELOAD=self.counter, COUNTS=str(counts)):
                server = Server(library, "--private-spaces", "yes")
            with server:
                # The server reads the keyring once at its start, on another thread than the one that answers.
                while self.read(counts)[2] == 0:
                    time.sleep(0.05)
                reported = set()
                for attempt in ("of no space", "x", "of no space", "y" * 1024):
                    before = self.read(counts)
                    answer = Browser(server).unlock(attempt)
                    after = self.read(counts)
                    self.assertEqual(answer.status, 401)
                    self.assertEqual(tuple(b - a for a, b in zip(before, after)), (1, SLOTS, 1), (count, attempt))
                    reported.add((answer.body, tuple(field for field in answer.fields if field[0] != "date")))
                self.assertEqual(len(reported), 1)
                # Nor does it go on working when it is idle.
                idle = self.read(counts)
                time.sleep(2.2)
                self.assertEqual(self.read(counts), idle, count)
                if count:
                    self.assertEqual(Browser(server).unlock("password 0").status, 200)
                    self.assertEqual(self.read(counts)[0], idle[0] + 1)

    def test_keyring_has_the_same_size_however_many_keys_it_holds(self):
        sizes = {(library / ".spaces/keyring").stat().st_size for count, library in self.libraries.items() if count}
        self.assertEqual(len(sizes), 1)


if __name__ == "__main__":
    unittest.main()
