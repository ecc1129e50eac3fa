"""A space's key changed after a leak: everything under a new one, at any time the old or the new, on a full disk the old."""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import BINARY, CRASH, Server, folder, photo, run, seed
from preload import preloaded
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import Owner, SpaceTest, plain_text
from test_private_spaces import ask
from upload_client import serve

KILLS = int(os.environ.get("KILLS", 3))
ONE, TWO = "the first of the passwords", "the second of the passwords"
METADATA = {"title": "Lighthouse", "caption": "grandmother at the Lighthouse"}


class Rekey(SpaceTest):
    @classmethod
    def setUpClass(cls):
        cls.injector = preloaded(Path(__file__).with_name("failing_keyring.c"))
        cls.made = folder("library")
        photos = folder("photos")
        for number in range(8):
            photo(photos / f"family/grandmother {number}.jpg", 5120 if number == 0 else 2400, 1800, left=300 * number)
        for secret in (ONE, TWO):
            run("space", "create", cls.made, "--password-file", cls.file(secret), check=True)
        # What is nobody's is there from now on, and no space's later.
        cls.lasting = cls.names(cls.made)
        for secret in (ONE, TWO):
            run("build", photos, "--library", cls.made, "--space", "--quiet", "--password-file", cls.file(secret), check=True)
        cls.lasting &= cls.names(cls.made)
        with serve(cls.made) as server:
            owner = Owner(server)
            owner.unlock(ONE)
            for number in range(2):
                answer = owner.send_json(f"api/images/~%2Ffamily%2Fgrandmother%20{number}", METADATA, "PATCH")
                assert answer.status == 200, answer
            answer = owner.ask("api/images/~%2Ffamily%2Fgrandmother%207", "DELETE", b"")
            assert answer.status == 200, answer
        cls.listed = run("space", "list", cls.made, "--json", "--password-file", cls.file(ONE)).stdout

    def setUp(self):
        self.library = self.copy()

    def copy(self) -> Path:
        library = folder("library")
        subprocess.run(["cp", "-a", f"{self.made}/.", library], check=True)
        return library

    @staticmethod
    def names(library: Path) -> set[str]:
        return {path.name for path in (library / ".spaces").iterdir()} - {"locked"}

    def rekey(self, *options, secret: str = ONE, code: int = 0, library: Path | None = None, **more):
        result = run("space", "rekey", library or self.library, "--password-file", self.file(secret), *options, **more)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotRegex(result.stderr, CRASH)
        return result

    def assertWhole(self, library: Path):
        """The space is as it was made, under whatever key."""
        # Sizes may differ by the text that names the file from which one was sealed.
        facts = lambda text: [{name: value for name, value in json.loads(line).items() if name != "bytes"} for line in text.splitlines()]
        self.assertEqual(facts(self.space("list", library, ONE, options=["--json"]).stdout), facts(self.listed))
        self.assertIn("7 archives read, no faults", self.space("verify", library, ONE).stderr)
        self.assertEqual(plain_text(library), [])

    def assertChanged(self, library: Path):
        """Nothing that was sealed under the old key is there, nor anything that nobody knows of."""
        self.assertWhole(library)
        names, before = self.names(library), self.names(self.made)
        self.assertEqual(len(names), len(before))
        # The other space's files have stayed.
        others = before - self.lasting - self.own(library)
        self.assertEqual(names & before, self.lasting | others)

    def own(self, library: Path) -> set[str]:
        """Names of the first space's files before: those that are not there any more."""
        gone = self.names(self.made) - self.names(library)
        # The index, a decoy or more, seven pictures, the deleted one, what was written about two.
        self.assertGreaterEqual(len(gone), 2 + 8 + 2)
        return gone

    def test_everything_is_under_a_new_key(self):
        result = self.rekey("--yes")
        self.assertRegex(result.stderr, r"encrypts 8 pictures again, which takes [\d.,]+ MB of disk space until it is done; ")
        self.assertIn("copies of the folder from before still open with the old key", result.stderr)
        self.assertChanged(self.library)
        self.assertIn("8 archives read, no faults", self.space("verify", self.library, TWO).stderr)
        # Who has the old keyring, and thereby the old key, finds nothing that it opens.
        leaked = folder("leaked")
        subprocess.run(["cp", "-a", f"{self.library}/.", leaked], check=True)
        shutil.copy(self.made / ".spaces/keyring", leaked / ".spaces/keyring")
        refused = run("space", "list", leaked, "--password-file", self.file(ONE))
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("it is not there; was the space's key changed?", refused.stderr)
        # What was deleted can come back from under the new key.
        with serve(self.library) as server:
            owner = self.owner(server)
            name = json.loads(owner.ask("api/trash").body)["items"][0]["id"]
            self.assertEqual(owner.ask(f"api/trash/{name}/restore", "POST", b"").status, 200)
            self.assertEqual(len(owner.ids()), 8)
        self.space("passwd", self.library, ONE, "and another password")
        self.rekey("--yes", secret="and another password")
        self.rekey("--yes", secret=ONE, code=1)

    def test_running_server_forgets_the_old_key_and_opens_the_new(self):
        with Server(self.library) as server:
            owner = self.owner(server)
            self.assertEqual(len(owner.ids()), 7)
            self.rekey("--yes")
            until = time.monotonic() + 30
            while owner.ids() and time.monotonic() < until:
                time.sleep(0.2)
            self.assertEqual(owner.ids(), [])
            self.assertEqual(len(self.owner(server).ids()), 7)

    def test_it_asks_whether(self):
        before = self.names(self.library)
        result = self.rekey(code=2)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("requires --yes", result.stderr)
        code, screen = ask(self.library, "space rekey", f"{ONE}\n", "no\n")
        self.assertEqual((code, self.names(self.library) == before), (1, True), screen)
        self.assertIn("nothing was changed", screen)
        code, screen = ask(self.library, "space rekey", f"{ONE}\n", "yes\n")
        self.assertEqual(code, 0, screen)
        self.assertNotIn(ONE, screen)
        self.assertChanged(self.library)

    def begin(self, library: Path) -> subprocess.Popen:
        """Until it says what it does."""
        process = subprocess.Popen([BINARY, "space", "rekey", library, "--yes", "--password-file", self.file(ONE)],
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(process.stderr.close)
        self.assertTrue(select.select([process.stderr], [], [], 60)[0])
        self.assertIn(b"encrypts", process.stderr.readline())
        return process

    def test_killed_at_random_times_it_is_the_old_or_the_new_and_a_repeat_finishes(self):
        chance, hits, rounds = seed("kill -9 of rekey"), 0, 0
        process = self.begin(self.copy())
        began = time.monotonic()
        self.assertEqual(process.wait(60), 0)
        seconds = time.monotonic() - began
        # Where the machine has become faster the first ones may end before they are killed.
        while rounds < KILLS or hits == 0 and rounds < 5 * KILLS:
            rounds += 1
            library = self.copy()
            # Killed several times on the way.
            for _ in range(chance.randint(1, 3)):
                process = self.begin(library) if not self.is_changed(library) else None
                if not process:
                    break
                time.sleep(chance.uniform(0, seconds))
                process.send_signal(signal.SIGKILL)
                if process.wait(20) == -signal.SIGKILL:
                    hits += 1
                else:
                    # The machine has less to do than it had.
                    seconds *= 0.5
                self.assertWhole(library)
            if not self.is_changed(library):
                self.rekey("--yes", library=library)
            # Who opens the space next has removed what was left.
            run("build", folder("none"), "--library", library, "--space", "--quiet", "--password-file", self.file(ONE))
            self.assertChanged(library)
            shutil.rmtree(library)
        self.assertGreater(hits, 0)

    def is_changed(self, library: Path) -> bool:
        return (library / ".spaces/keyring").read_bytes() != (self.made / ".spaces/keyring").read_bytes()

    def test_stopped_by_a_signal_it_says_so_and_goes_on_later(self):
        process = self.begin(self.library)
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        self.assertIn(code, (0, 130), "it may have been done already")
        if code == 130:
            self.assertIn(b"stopped; the space has its old key", process.stderr.read())
            self.assertWhole(self.library)
            refused = self.space("passwd", self.library, ONE, "and another password", code=1)
            self.assertIn("a change of the space's key is not finished", refused.stderr)
            self.rekey("--yes")
        self.assertChanged(self.library)
        self.space("passwd", self.library, ONE, "and another password")

    def test_full_disk_leaves_the_old_space_and_no_rest(self):
        count = len(self.names(self.library))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        sizes = [path.stat().st_size for path in (self.library / ".spaces").iterdir() if path.name != "keyring"]
        self.assertGreater(max(sizes), 300_000)
        result = self.rekey("--yes", code=75, preexec_fn=limit)
        self.assertRegex(result.stderr, r"ziggurat: cannot write .*: File too large\n$")
        self.assertEqual(len(self.names(self.library)), count)
        self.assertFalse(self.is_changed(self.library))
        self.assertWhole(self.library)
        self.rekey("--yes")
        self.assertChanged(self.library)

    def rekey_with_failure(self, failure: str, code: int) -> str:
        """What it says where this happens as soon as the keyring has the new key."""
        result = self.rekey("--yes", code=code, environment={"LD_PRELOAD": self.injector, "FAULT": failure})
        self.assertTrue(self.is_changed(self.library))
        return result.stderr

    def test_disk_that_is_full_after_the_switch_leaves_the_new_space(self):
        reported = self.rekey_with_failure("full", 75)
        self.assertIn("changed; ", reported)
        self.assertRegex(reported, r"ziggurat: some old files could not be removed: cannot write .*: No space left on device; ")
        self.assertWhole(self.library)
        self.assertIn("finished: ", self.rekey("--yes").stderr)
        self.assertChanged(self.library)

    def test_keyring_with_a_name_that_does_not_reach_the_disk_loses_nothing(self):
        self.assertRegex(self.rekey_with_failure("sync", 75), r"ziggurat: cannot write .*keyring: No space left on device\n$")
        self.assertWhole(self.library)
        # A loss of power may bring back the old keyring, and under that the space is whole, too.
        before = folder("before")
        subprocess.run(["cp", "-a", f"{self.library}/.", before], check=True)
        shutil.copy(self.made / ".spaces/keyring", before / ".spaces/keyring")
        self.assertWhole(before)
        self.assertIn("finished: ", self.rekey("--yes").stderr)
        self.assertChanged(self.library)

    def test_killed_as_the_keyring_is_written_it_has_asked_servers_to_forget(self):
        self.rekey_with_failure("kill", -signal.SIGKILL)
        times = {path.name: path.stat().st_ctime_ns for path in (self.library / ".spaces").iterdir()}
        del times["keyring"]
        # At its beginning it asks, too: before it seals anything.
        self.assertEqual(max(times, key=times.get), "locked")
        self.assertWhole(self.library)

    def test_a_lack_of_space_is_reported_before_anything_is_written(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system is mounted by root alone")
        size = sum(path.stat().st_size for path in (self.library / ".spaces").iterdir())
        small = folder("small")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size + (2 << 20)}", "tmpfs", small],
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            subprocess.run(["cp", "-a", f"{self.made}/.", small], check=True)
            before = self.names(small)
            result = self.rekey("--yes", library=small, code=75)
            self.assertIn("nothing was changed: there is not enough space on the disk", result.stderr)
            self.assertEqual(self.names(small), before)
            self.assertWhole(small)
            subprocess.run(["mount", "-o", "remount,size=1g", small], check=True)
            self.rekey("--yes", library=small)
            self.assertChanged(small)
        finally:
            subprocess.run(["umount", "-l", small], check=True)

    def test_picture_that_cannot_be_read_keeps_the_old_key(self):
        own = sorted((path for path in (self.library / ".spaces").iterdir() if path.name != "keyring"),
                     key=lambda path: -path.stat().st_size)
        # One that is of this space and not of the other, nor deleted.
        for path in own[:4]:
            whole = path.read_bytes()
            path.write_bytes(whole[:20_000] + bytes([whole[20_000] ^ 1]) + whole[20_001:])
            if "no faults" not in run("verify", self.library, "--space", "--password-file", self.file(ONE)).stderr:
                break
            path.write_bytes(whole)
        result = self.rekey("--yes", code=1)
        self.assertRegex(result.stderr, r"ziggurat: family/grandmother \d: tile \d+ is damaged\n")
        self.assertIn("the space keeps its old key until these pictures are rebuilt or deleted", result.stderr)
        self.assertFalse(self.is_changed(self.library))
        path.write_bytes(whole)
        self.assertWhole(self.library)
        # Data sealed with the new key are not sealed again.
        self.assertIn("encrypts 1 picture again", self.rekey("--yes").stderr)
        self.assertChanged(self.library)

    def test_wrong_password_says_what_it_always_says(self):
        result = self.rekey("--yes", secret="of no space", code=1)
        self.assertEqual(result.stderr, "ziggurat: no space opens with this password\n")


if __name__ == "__main__":
    unittest.main()
