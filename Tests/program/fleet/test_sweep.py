"""Archives in a store that no image has any more: marked by one sweep, removed by a later one, if nobody needs them."""

import hashlib

from harness import photo, run
from test_store import StoreTest

MARKS = "some/library/sweep/marks"


class Sweep(StoreTest):
    def sweep(self):
        result = run("reindex", self.bucket, "--gc")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.splitlines()[1]

    def later(self, hours):
        """As if all marks had been made so long ago, and the objects before that."""
        first, *lines = self.store.objects[MARKS].decode().splitlines()
        lines = [(int(line.split()[0]) - hours * 3600, *line.split()[1:]) for line in lines]
        self.store.objects[MARKS] = "\n".join([first, *(" ".join(map(str, line)) for line in lines), ""]).encode()
        for key in self.store.written:
            self.store.written[key] -= hours * 3600 + 60

    def key(self, name):
        return next(key for key, body in self.archives().items() if f"{name}/{name}.dzi".encode() in body)

    def test_what_was_replaced_is_marked_and_after_two_days_removed(self):
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 60 + ord(name), 40)
        self.build()
        self.assertEqual(self.sweep(), "0 archives without images removed, 0 bytes; 0 marked")
        old = {name: self.key(name) for name in "ab"}
        whole = dict(self.store.objects)
        for name in "ab":
            photo(self.photos / f"{name}.jpg", 90 + ord(name), 40)
        self.build()
        self.assertEqual(self.sweep(), "0 archives without images removed, 0 bytes; 2 marked")
        self.assertEqual(self.sweep(), "0 archives without images removed, 0 bytes; 2 marked")
        self.later(47)
        self.assertEqual(self.sweep(), "0 archives without images removed, 0 bytes; 2 marked")
        self.later(2)
        # One of them somebody is sending again, and has not said so yet; another is an image again.
        photo(self.photos / "d.jpg", 77, 50)
        self.build()
        again = "some/library/szi/" + old["a"].rsplit("szi/", 1)[1]
        self.store.objects[again] = whole[again]
        self.store.written[again] += 48 * 3600
        bytes = len(whole[old["b"]])
        self.assertEqual(self.sweep(), f"1 archives without images removed, {bytes} bytes; 1 marked")
        self.assertIn(old["a"], self.store.objects)
        self.assertNotIn(old["b"], self.store.objects)
        self.later(49)
        photo(self.photos / "a.jpg", 60 + ord("a"), 40)
        self.build()
        self.assertEqual(self.key("a") in self.store.objects, True)
        self.assertIn("; 1 marked", self.sweep())
        self.assertEqual(run("verify", self.bucket).returncode, 0)
        named = {hashlib.sha256(body).hexdigest() for body in self.archives().values()}
        self.assertEqual({key.rsplit("/", 1)[1].removesuffix(".szi") for key in self.archives()}, named)

    def test_forged_marks_remove_nothing(self):
        photo(self.photos / "a.jpg", 60, 40)
        self.build()
        key = self.key("a")
        photo(self.photos / "a.jpg", 90, 40)
        self.build()
        self.sweep()
        self.later(100)
        self.store.objects[MARKS] = self.store.objects[MARKS][:-1]
        self.assertEqual(self.sweep(), "0 archives without images removed, 0 bytes; 1 marked")
        self.assertIn(key, self.store.objects)
        result = run("reindex", self.library, "--gc")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--gc requires a library in an object store", result.stderr)
