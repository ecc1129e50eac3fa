"""Archives are complete, the same each time, and present or absent: full and read-only disks, kills at any time."""

import hashlib
import os
import shutil
import signal
import subprocess
import time

from harness import BINARY, CRASH, CommandTest, folder, photo, run, seed
from szi import archives, leftovers

# The number of random times at which the builder is killed; the campaign takes 100 (`make test-kill`).
KILLS = int(os.environ.get("KILLS", "8"))


def digests(library):
    return {str(path.relative_to(library)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in archives(library)}


class Archives(CommandTest):
    def test_announced_sizes(self):
        base = folder("sizes")
        for width, height in ((1, 1), (2, 1), (1, 1500), (511, 512), (512, 513), (513, 511), (1025, 1024),
                              (1031, 769), (2048, 1), (1536, 1024)):
            photo(base / f"photos/{width}x{height}.png", width, height)
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(archives(base / "library")), 10)
        for path in archives(base / "library"):
            with self.subTest(path.stem):
                self.assertWhole(path)
        self.assertEqual(leftovers(base / "library"), [])

    def test_names_that_are_hard(self):
        base = folder("names")
        names = ["with space", "Ünïcödé 雪", "quote'\"s", "a&b<c>", "100%", "plus+and=", "semi;colon", ".dotted",
                 "-dash", "new\nline", "x" * 200, "two..dots", "hash#mark", "question?mark", "dir.szi"]
        for name in names:
            photo(base / "model.jpg", 40, 30)
            (base / "photos").mkdir(exist_ok=True)
            shutil.copy(base / "model.jpg", base / f"photos/{name}.jpg")
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        self.assertIn(result.returncode, (0, 1))
        self.assertNotRegex(result.stderr, r"Fatal|Crash")
        built = {path.name.removesuffix(".szi") for path in archives(base / "library")}
        # Those with control characters, and hidden ones, may be refused or passed over, not mistaken.
        self.assertEqual(set(names) - built - {"new\nline", ".dotted"}, set())
        for path in archives(base / "library"):
            with self.subTest(path.name):
                self.assertWhole(path)

    def test_the_same_input_gives_the_same_bytes(self):
        base = folder("same")
        photo(base / "photos/one.jpg", 2100, 1300)
        photo(base / "photos/two.png", 900, 900)
        first, second, third = base / "first", base / "second", base / "third"
        self.assertEqual(run("build", base / "photos", "--library", first, "--quiet").returncode, 0)
        time.sleep(2.1)  # ZIP counts time in steps of two seconds.
        shutil.copytree(base / "photos", base / "copy")
        self.assertEqual(run("build", base / "copy", "--library", second, "--quiet",
                             environment={"TZ": "Asia/Tokyo", "LC_ALL": "C"}).returncode, 0)
        self.assertEqual(run("build", base / "photos", "--library", third, "--quiet",
                             "--jobs", "1").returncode, 0)
        self.assertEqual(digests(first), digests(second))
        self.assertEqual(digests(first), digests(third))
        self.assertEqual(run("build", base / "photos", "--library", third, "--quiet", "--force").returncode, 0)
        self.assertEqual(digests(first), digests(third))

    def test_other_options_give_other_bytes(self):
        base = folder("options")
        source = photo(base / "one.jpg", 700, 500)
        run("build", source, "--library", base / "a", "--quiet")
        run("build", source, "--library", base / "b", "--quiet", "--quality", "50")
        self.assertNotEqual(digests(base / "a"), digests(base / "b"))
        self.assertWhole(archives(base / "b")[0])

    def test_a_changed_source_replaces_its_archive(self):
        base = folder("change")
        source = photo(base / "one.jpg", 700, 500)
        run("build", source, "--library", base / "library", "--quiet")
        before = digests(base / "library")
        photo(source, 700, 500, left=1500)
        self.assertEqual(run("build", source, "--library", base / "library", "--quiet").returncode, 0)
        self.assertNotEqual(before, digests(base / "library"))
        self.assertWhole(archives(base / "library")[0])


class Errors(CommandTest):
    def in_mount(self, options: str, build: list[str], place):
        """Builds into a small file system mounted at `place` for that one process only."""
        script = (f'mount -t tmpfs -o {options} none "$0" || exit 99; "$@"; code=$?; '
                  "find \"$0\" -type f ! -name 'catalog.*' >&2; exit $code")
        return subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script, place, BINARY, "build", *build,
             "--library", place, "--quiet"], capture_output=True, text=True, timeout=120)

    def setUp(self):
        probe = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True)
        self.may_mount = probe.returncode == 0

    def test_a_full_disk(self):
        base = folder("full")
        photo(base / "photos/a-big.jpg", 5000, 2800)
        photo(base / "place/x.jpg", 10, 10).unlink()
        if not self.may_mount:
            self.skipTest("no user namespaces here: a small file system cannot be mounted")
        result = self.in_mount("size=300k", [str(base / "photos")], base / "place")
        self.assertEqual(result.returncode, 75, result.stderr)
        self.assertOneLine(result, "space")  # One line also says: find listed no file that was left.

    def test_a_read_only_disk(self):
        base = folder("readonly")
        photo(base / "photos/a.jpg", 300, 200)
        (base / "place").mkdir()
        if not self.may_mount:
            self.skipTest("no user namespaces here: a read-only file system cannot be mounted")
        result = self.in_mount("ro", [str(base / "photos")], base / "place")
        self.assertIn(result.returncode, (1, 2, 75), result.stderr)
        self.assertOneLine(result, "read-only")

    def test_files_limited_in_size(self):
        """A write fails half-way (EFBIG) while small files still work: nothing half-written stays."""
        base = folder("limited")
        photo(base / "photos/big.jpg", 5000, 2800)
        photo(base / "photos/small.jpg", 60, 40)

        def limit():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        result = run("build", base / "photos", "--library", base / "library", "--quiet", preexec_fn=limit)
        self.assertIn(result.returncode, (1, 75), result.stderr)
        self.assertOneLine(result, "big")
        self.assertNotIn("big", [path.stem for path in archives(base / "library")])
        self.assertEqual(leftovers(base / "library"), [])

    def test_a_library_that_is_a_file(self):
        base = folder("file")
        source = photo(base / "a.jpg", 60, 40)
        (base / "library").write_text("I am a file.")
        result = run("build", source, "--library", base / "library", "--quiet")
        self.assertIn(result.returncode, (1, 2, 75))
        self.assertOneLine(result, "library")
        self.assertEqual((base / "library").read_text(), "I am a file.")


def wait_until_caught(process: subprocess.Popen, number: int) -> None:
    """Until the process has a handler of the signal, or has ended."""
    caught = 0
    while process.poll() is None and not caught >> (number - 1) & 1:
        with open(f"/proc/{process.pid}/status") as status:
            caught = int(next((line.split()[1] for line in status if line.startswith("SigCgt:")), "0"), 16)


class Interruptions(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.base = folder("kill")
        for number in range(6):
            photo(cls.base / f"photos/{number}.jpg", 2600, 1900, left=400 * number)
        began = time.monotonic()
        result = run("build", cls.base / "photos", "--library", cls.base / "clean", "--quiet")
        cls.seconds = time.monotonic() - began
        assert result.returncode == 0, result.stderr
        cls.clean = digests(cls.base / "clean")

    def interrupt(self, library, number: int, after: float) -> int:
        process = subprocess.Popen([BINARY, "build", self.base / "photos", "--library", library, "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Before it takes signals it ends as any program would, which a busy machine gives time for.
        if number != signal.SIGKILL:
            wait_until_caught(process, number)
        time.sleep(after)
        process.send_signal(number)
        return process.wait(20)

    def check(self, library):
        """What is there is whole and right; the next run finishes the rest and tidies up."""
        found = digests(library)
        self.assertEqual({name: digest for name, digest in found.items() if self.clean[name] != digest}, {})
        finished = {name: os.stat(library / name).st_ino for name in found}
        result = run("build", self.base / "photos", "--library", library, "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stderr)
        self.assertEqual(digests(library), self.clean)
        self.assertEqual(leftovers(library), leftovers(self.base / "clean"))
        self.assertEqual(finished, {name: os.stat(library / name).st_ino for name in finished},
                         "what was finished is not done again")

    def test_killed_at_random_times(self):
        chance, hits, tries = seed("kill -9"), 0, 0
        # On a busy machine a build may end before its time of the kill: that is no kill.
        while hits < KILLS and tries < 5 * KILLS:
            tries += 1
            library = self.base / f"library-{tries}"
            after = chance.uniform(0, self.seconds)
            with self.subTest(kill=hits, after=after):
                began = time.monotonic()
                if self.interrupt(library, signal.SIGKILL, after) == -signal.SIGKILL:
                    hits += 1
                else:
                    self.seconds = 0.9 * min(self.seconds, time.monotonic() - began)
                library.mkdir(exist_ok=True)
                self.check(library)
            shutil.rmtree(library)
        print(f"[{hits} kills] ", end="", flush=True)
        self.assertEqual(hits, KILLS, "so many builds must really have been killed")

    def test_interrupted_by_a_signal(self):
        for number, codes in ((signal.SIGINT, {130}), (signal.SIGTERM, {130, 143, -signal.SIGTERM})):
            with self.subTest(number):
                for tries in range(6):  # A build that ended before the signal came is no interruption.
                    library = self.base / f"signal-{number}-{tries}"
                    code = self.interrupt(library, number, self.seconds / 2 ** (tries + 1))
                    if code != 0:
                        break
                self.assertIn(code, codes)
                self.assertEqual(leftovers(library), [])
                self.check(library)

    def test_interrupted_as_soon_as_signals_are_taken(self):
        """The handler may be the first of all that the program does: it finds everything that it needs."""
        for number in [signal.SIGINT, signal.SIGTERM] * 8:
            library = folder("early")
            process = subprocess.Popen([BINARY, "build", self.base / "photos", "--library", library, "--quiet"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            wait_until_caught(process, number)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assertNotRegex(errors, CRASH)
            # On a busy machine a picture may have been done before the signal was sent.
            self.assertEqual(leftovers(library), [])
            self.check(library)
