"""What else lies in a library's bucket, and what a store answers wrongly: nothing ends a process, is lost, or is ours."""

import time
import unittest

from harness import Server, photo, run
from test_store import StoreTest

BELOW = "some/library/"
# Names that consoles, people and other programs give.
NAMES = ["", "a//x", "..", "../y", "a b", "1700000000000-ab (1)", "line\nfeed", "tab\t", "\u202eévil", "k" * 1000, "x/", "marks "]


class StrayObjects(StoreTest):
    def setUp(self):
        super().setUp()
        for name in "abc":
            photo(self.photos / f"{name}.jpg", 60 + ord(name), 40)
        self.assertEqual(self.build().returncode, 0)

    def stray(self, *names, body=b"stray"):
        strays = {BELOW + folder + name: body if name else b"" for folder in ("directory/", "szi/", "sweep/") for name in names}
        # A copy of what is ours under another name.
        [first] = self.store.keys(BELOW + "directory/1")[:1]
        strays[f"{first} (1)"] = self.store.objects[first]
        self.store.objects.update(strays)
        return strays

    def test_they_are_ignored_named_once_and_stay(self):
        strays = self.stray(*NAMES)
        with Server(self.bucket) as server:
            self.listed(server, "abc")
            for _ in range(3):
                photo(self.photos / "d.jpg", 77, 50)
                result = self.build()
                self.assertEqual((result.returncode, self.statuses(result)["a"]), (0, "unchanged"), result.stderr)
                self.listed(server, "abcd")
            said = [line for line in server.errors().splitlines() if "did not write" in line]
            self.assertEqual(len(said), 1, server.errors())
            self.assertIn("s3://pictures/some/library/directory: ignoring 13 objects that ziggurat did not write", said[0])
            self.assertIn("directory/..'", said[0])
            self.assertEqual(server.metrics()["store_stray_objects"], 13)
        for arguments in (("reindex",), ("reindex", "--gc"), ("reindex", "--gc"), ("verify",)):
            result = run(arguments[0], self.bucket, *arguments[1:])
            self.assertEqual(result.returncode, 0, (arguments, result.stderr))
        self.assertEqual({key: self.store.objects.get(key) for key in strays}, strays)
        self.assertEqual(len([key for key in self.store.keys(BELOW + "directory/") if key not in strays]), 1)
        self.assertIn("ignoring", run("reindex", self.bucket, "--gc").stderr)

    def test_those_that_come_while_a_server_runs_do_not_end_it(self):
        with Server(self.bucket) as server:
            self.listed(server, "abc")
            self.stray(*NAMES)
            photo(self.photos / "e.jpg", 90, 50)
            self.build()
            self.listed(server, "abce")

    def test_a_sweep_remembers_its_marks_beside_them(self):
        photo(self.photos / "a.jpg", 99, 40)
        self.build()
        self.stray("ab/a b.szi", "a b")
        self.assertIn("; 1 marked", run("reindex", self.bucket, "--gc").stdout)
        marks = self.store.objects[BELOW + "sweep/marks"].decode()
        # As an earlier version of the program wrote it.
        old = [marks + f'5 "x" {BELOW}szi/a b\n', marks]
        for text in old:
            self.store.objects[BELOW + "sweep/marks"] = text.encode()
            self.assertIn("; 1 marked", run("reindex", self.bucket, "--gc").stdout)
            time_of = int(marks.splitlines()[1].split()[0])
            self.assertIn(str(time_of), self.store.objects[BELOW + "sweep/marks"].decode())

    def test_a_segment_that_is_listed_far_too_long_is_not_copied(self):
        key = BELOW + "directory/1700000000000-ab"
        self.store.objects[key] = b"ziggurat-directory 1\n"
        self.store.listed_sizes[key] = 15 << 30
        self.store.taken()
        result = run("reindex", self.bucket)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("1700000000000-ab: it has 16106127360 bytes; a segment has 1 to", result.stderr)
        self.assertEqual([asked for asked in self.store.taken() if asked == ("GET", key)], [])

    def test_an_odd_entity_tag_of_a_response_makes_no_unreadable_line(self):
        photo(self.photos / "d.jpg", 77, 50)
        self.store.wrong_tags = ['"a b"', "\t", '"caf\u00e9"']
        self.assertNotEqual(self.build().returncode, 0)
        self.store.wrong_tags = []
        self.assertEqual(self.build().returncode, 0)
        with Server(self.bucket) as server:
            self.listed(server, "abcd")

    def test_a_store_that_answers_byte_by_byte_is_reported_and_all_goes_on_after_it(self):
        with Server(self.bucket) as server:
            self.listed(server, "abc")
            self.assertEqual(server.get("/healthz").body, b"ok\n")
            self.store.drip = 0.5
            photo(self.photos / "d.jpg", 77, 50)
            # The log looks now and then: an outage that ends before it looks is not in it.
            end = time.monotonic() + 60
            while "has not been read for" not in server.errors():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)
            body = server.get("/healthz").body
            self.assertRegex(body.decode(), r"^degraded: the object store has not been read for \d+ s\n$")
            self.assertGreaterEqual(server.metrics()["store_unread_seconds"], 10)
            self.store.drip = 0
            self.build()
            self.listed(server, "abcd")
            self.assertEqual(server.get("/healthz").body, b"ok\n")
            end = time.monotonic() + 40
            while "is read again" not in server.errors():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)


if __name__ == "__main__":
    unittest.main()
