"""Private spaces from the command line: passwords, what is on the disk, kill -9."""

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import quick_keys
from exiftool import write
from harness import BINARY, folder, photo, run, seed
from space_client import REFUSED, SpaceTest, plain_text

KILLS = int(os.environ.get("KILLS", 6))


def ask(library: Path, verb: str, *answers: str, options=()) -> tuple[int, str]:
    """Runs a command at a terminal of its own, types the answers, and returns its exit code and the screen."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(BINARY, [str(BINARY), *verb.split(), str(library), *map(str, options)])
    screen, waiting = "", list(answers)
    shown = 0
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                screen += os.read(terminal, 4096).decode()
            except OSError:
                break
        if waiting and screen[shown:].rstrip(" ").endswith(":"):
            shown = len(screen)
            os.write(terminal, waiting.pop(0).encode())
    else:
        os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen


class Passwords(SpaceTest):
    """By keys of their full cost."""

    def test_two_passwords_open_two_spaces_and_a_third_none(self):
        library = folder("library")
        source = photo(folder("photos") / "grandmother.jpg", 700, 500)
        self.space("create", library, "the first password")
        self.space("create", library, "the second password")
        self.build(source, library, "the first password", "--quiet")
        listed = json.loads(self.space("list", library, "the first password", options=["--json"]).stdout)
        self.assertEqual((listed["id"], listed["width"], listed["height"]), ("grandmother", 700, 500))
        self.assertEqual(self.space("list", library, "the second password").stdout, "")
        for refused in (self.space("list", library, "the third", code=1),
                        self.space("verify", library, "the third", code=1),
                        self.space("list", library / "none", "the third", code=1),
                        self.space("passwd", library, "the third", "a fourth", code=1)):
            self.assertTrue(refused.stderr.endswith(REFUSED), refused.stderr)
        self.build(source, library, "the third", code=1)
        self.assertIn("archive read, no faults", self.space("verify", library, "the first password").stderr)
        self.space("passwd", library, "the first password", "changed")
        self.space("list", library, "the first password", code=1)
        self.assertIn("unchanged grandmother", self.build(source, library, "changed", "--verbose").stderr)

    def test_terminal_asks_without_echo_and_twice_for_a_new_one(self):
        library = folder("library")
        code, screen = ask(library, "space create", "typed in the dark\n", "typed in the dark\n")
        self.assertEqual(code, 0, screen)
        self.assertEqual((screen.count("Password of the new space: "), screen.count("Once more: ")), (1, 1))
        self.assertNotIn("dark", screen)
        code, screen = ask(library, "space create", "one thing\n", "another\n")
        self.assertEqual(code, 1)
        self.assertIn("ziggurat: the two passwords differ", screen)
        code, screen = ask(library, "space list", "typed in the dark\n")
        self.assertEqual(code, 0, screen)
        code, screen = ask(library, "space passwd", "typed in the dark\n", "new and as dark\n", "new and as dark\n")
        self.assertEqual(code, 0, screen)
        code, screen = ask(library, "space list", "\x03")
        self.assertEqual(code, 130, screen)

    def test_stdin_that_is_no_terminal_has_a_line_for_each(self):
        library = folder("library")
        for arguments, lines, code in ((["create"], "by the pipe\n", 0), (["passwd"], "by the pipe\nanother pipe", 0),
                                   (["list"], "another pipe\r\n", 0), (["list"], "by the pipe\n", 1)):
            result = subprocess.run([BINARY, "space", *arguments, library], input=lines, text=True, capture_output=True)
            self.assertEqual(result.returncode, code, (arguments, result.stderr))

    def test_wrong_usage_is_one_line(self):
        library = folder("library")
        for arguments, said in (([], "missing action"), (["lits", library], "did you mean 'list'?"),
                            (["list"], "missing library folder"),
                            (["list", library, "more"], "unexpected argument 'more'"),
                            (["list", library, "--password", "secret"], "unknown option '--password'")):
            with self.subTest(arguments=arguments):
                result = run("space", *arguments)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
                self.assertIn(said, result.stderr)
        for password, said in (("", "it is empty"), ("x" * 2000, "longer than 1024 bytes")):
            self.assertIn(said, self.space("create", library, password, code=1).stderr)
        result = run("space", "list", library, "--password-file", library / "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)


class Disk(SpaceTest):
    @classmethod
    def setUpClass(cls):
        quick_keys.setUpModule()
        cls.addClassCleanup(quick_keys.tearDownModule)
        cls.photos = folder("photos")
        for number in range(4):
            path = photo(cls.photos / f"family/grandmother {number}.jpg", 1900, 1300, left=400 * number)
            write(path, "-Title=Lighthouse", "-Comment=Lighthouse")
        photo(cls.photos / "family/grandmother.png", 1900, 1300)

    def test_nothing_of_the_pictures_can_be_read(self):
        self.assertTrue(plain_text(self.photos), "the search finds what there is")
        library, temporary = folder("library"), folder("temporary")
        self.space("create", library, "correct horse")
        # All that is opened for writing is known to strace; without it, what is left in the folders.
        result = run("build", self.photos, "--library", library, "--space", "--password-file",
                     self.file("correct horse"), environment={"TMPDIR": str(temporary)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(plain_text(library), [])
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual([path.name for path in library.iterdir()], [".spaces"])
        plain = folder("plain")
        self.assertEqual(run("build", self.photos, "--library", plain, "--quiet").returncode, 0)
        self.assertTrue(plain_text(plain))

    def test_flipped_bytes_are_defects_of_their_image_only(self):
        library = folder("library")
        self.space("create", library, "correct horse")
        self.build(self.photos, library, "correct horse", "--quiet")
        places = seed("flips")
        files = sorted(path for path in (library / ".spaces").iterdir() if path.stat().st_size > 70_000)
        files = [path for path in files if path.name != "keyring"]
        self.assertEqual(len(files), 5)
        for file in files:
            whole = file.read_bytes()
            damaged = bytearray(whole)
            damaged[places.randrange(len(whole))] ^= 1 << places.randrange(8)
            file.write_bytes(damaged)
            defects = self.space("verify", library, "correct horse", code=1).stdout.splitlines()
            self.assertEqual(len({defect.split(":")[0] for defect in defects}), 1, defects)
            # The next build repairs damage that it can detect when it opens an archive.
            file.write_bytes(whole)
        self.space("verify", library, "correct horse")

    def test_killed_at_random_times(self):
        chance, hits, tries = seed("kill -9"), 0, 0
        first = folder("library")
        self.space("create", first, "correct horse")
        password = self.file("correct horse")
        began = time.monotonic()
        self.build(self.photos, first, "correct horse", "--quiet")
        seconds = time.monotonic() - began
        everything = self.space("list", first, "correct horse").stdout
        count = len(list((first / ".spaces").iterdir()))
        while hits < KILLS and tries < 5 * KILLS:
            tries += 1
            library = folder("library")
            shutil.rmtree(library)
            subprocess.run(["cp", "-a", first, library], check=True)
            # Everything is built once more over what is there.
            process = subprocess.Popen([BINARY, "build", self.photos, "--library", library, "--space", "--force",
                                        "--quiet", "--password-file", password])
            time.sleep(chance.uniform(0.2 * seconds, seconds))
            process.send_signal(signal.SIGKILL)
            if process.wait(20) == -signal.SIGKILL:
                hits += 1
            else:
                # The machine has less to do than it had.
                seconds *= 0.5
            self.assertEqual(plain_text(library), [])
            self.space("verify", library, "correct horse")
            # Sizes differ by nothing, since the same pictures give the same tiles.
            self.assertEqual(self.space("list", library, "correct horse").stdout, everything)
            if tries % 4 == 0:
                self.build(self.photos, library, "correct horse", "--quiet")
                self.assertEqual(len(list((library / ".spaces").iterdir())), count, "leftovers are cleared")
            shutil.rmtree(library)
        self.assertGreater(hits, 0)


if __name__ == "__main__":
    unittest.main()
