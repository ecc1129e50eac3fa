"""`build --watch`: what is added, changed or removed is followed; what is being written is left alone."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from harness import BINARY, CommandTest, folder, photo, run
from szi import archives


class Watched:
    """A builder that watches, and what it says."""

    def __init__(self, base, *options):
        self.library, self.log = base / "library", base / "log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ZIGGURAT_")}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(BINARY), "build", str(base / "photos"), "--library", str(self.library), "--watch", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def text(self):
        return self.log.read_text()

    def ids(self):
        return {str(path.relative_to(self.library))[:-4] for path in archives(self.library)}

    def until(self, condition, what, seconds=60):
        for _ in range(seconds * 10):
            if condition():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"never {what}; it said:\n{self.text()}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


class Watching(CommandTest):
    def watch(self, base, *options):
        watched = Watched(base, *options)
        self.addCleanup(lambda: watched.process.poll() is None and watched.process.kill())
        watched.until(lambda: "watching" in watched.text(), "began to watch")
        return watched

    def test_what_is_added_changed_moved_and_removed_is_followed(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        watched = self.watch(base, "--prune")
        self.assertEqual(watched.ids(), {"a"})
        # A whole tree at once, as an unpacked archive or a renamed folder brings it.
        photo(base / "elsewhere/deep/b.jpg", 200, 300)
        (base / "elsewhere").rename(base / "photos/new")
        watched.until(lambda: watched.ids() == {"a", "new/deep/b"}, "built the moved tree")
        # The new folder is watched, too.
        photo(base / "c.png", 100, 100).rename(base / "photos/new/deep/c.png")
        watched.until(lambda: "new/deep/c" in watched.ids(), "built in a folder that came later")
        before = (watched.library / "a.szi").read_bytes()
        photo(base / "other.jpg", 320, 200).replace(base / "photos/a.jpg")
        watched.until(lambda: (watched.library / "a.szi").read_bytes() != before, "built what had changed")
        shutil.rmtree(base / "photos/new")
        watched.until(lambda: watched.ids() == {"a"}, "pruned what was removed")
        self.assertEqual(watched.end(), 130)
        for path in archives(watched.library):
            self.assertWhole(path)

    def test_a_picture_that_is_being_copied_is_left_alone(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        whole = photo(base / "b.jpg", 2000, 1500).read_bytes()
        watched = self.watch(base)
        with open(base / "photos/b.jpg", "wb") as slow:
            for at in range(0, len(whole), len(whole) // 9 + 1):
                slow.write(whole[at:at + len(whole) // 9 + 1])
                slow.flush()
                time.sleep(0.4)
        watched.until(lambda: "b" in watched.ids(), "built the copied picture")
        self.assertNotIn("b.jpg", watched.text())  # no failure on the way
        self.assertEqual(watched.text().count("built b:"), 1)
        self.assertEqual(watched.end(), 130)

    def test_a_copy_that_pauses_is_no_broken_picture(self):
        base = folder("watch")
        whole = photo(base / "b.jpg", 2000, 1500).read_bytes()
        # One pauses while the first run meets it, one later.
        slow = [open(photo(base / "photos/a.jpg", 9, 9).with_name("first.jpg"), "wb", buffering=0)]
        slow[0].write(whole[:len(whole) // 2])
        watched = self.watch(base)
        slow.append(open(base / "photos/second.jpg", "wb", buffering=0))
        slow[1].write(whole[:len(whole) // 2])
        time.sleep(3)
        for file in slow:
            file.write(whole[len(whole) // 2:])
            file.close()
        watched.until(lambda: watched.ids() == {"a", "first", "second"}, "built what was copied")
        self.assertNotIn("failed", watched.text())
        self.assertNotIn("ziggurat:", watched.text())
        self.assertEqual(watched.end(), 130)

    def test_renamed_within_the_tree(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        photo(base / "photos/old/deep/b.jpg", 300, 200)
        watched = self.watch(base, "--prune")
        self.assertEqual(watched.ids(), {"a", "old/deep/b"})
        (base / "photos/a.jpg").rename(base / "photos/old/z.jpg")
        watched.until(lambda: watched.ids() == {"old/z", "old/deep/b"}, "followed the file", 30)
        (base / "photos/old").rename(base / "photos/new")
        watched.until(lambda: watched.ids() == {"new/z", "new/deep/b"}, "followed the folder", 30)
        photo(base / "c.jpg", 30, 20).rename(base / "photos/new/deep/c.jpg")
        watched.until(lambda: "new/deep/c" in watched.ids(), "listens in the renamed folder", 30)
        self.assertEqual(watched.end(), 130)

    def test_sources_that_go_away_take_nothing_along(self):
        """As a share that is unmounted, and mounted again."""
        base = folder("watch")
        for name in "ab":
            photo(base / f"photos/{name}.jpg", 30, 20)
        watched = self.watch(base, "--prune")
        self.assertEqual(watched.ids(), {"a", "b"})
        (base / "away").mkdir()
        for name in "ab":
            (base / f"photos/{name}.jpg").rename(base / f"away/{name}.jpg")
        watched.until(lambda: "holds no image" in watched.text(), "told", 30)
        # One check after another: it is reported once.
        for _ in range(3):
            (base / "photos/note.txt").touch()
            time.sleep(1.5)
            (base / "photos/note.txt").unlink()
        (base / "away/a.jpg").rename(base / "photos/a.jpg")
        # With something there it is no empty source, and one image may go.
        watched.until(lambda: watched.ids() == {"a"}, "pruned the other", 30)
        self.assertEqual(watched.text().count("nothing is pruned"), 1)
        self.assertEqual(watched.end(), 130)

    def test_an_id_that_another_file_makes_ambiguous(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        watched = self.watch(base, "--prune")
        photo(base / "a.png", 30, 20).rename(base / "photos/a.png")
        watched.until(lambda: watched.ids() == {"a.jpg", "a.png"}, "gave both their extensions", 30)
        (base / "photos/a.jpg").unlink()
        watched.until(lambda: watched.ids() == {"a"}, "took the extension away", 30)
        self.assertEqual(watched.end(), 130)

    def test_more_events_than_the_queue_holds(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        photo(base / "b.jpg", 30, 20)
        watched = self.watch(base)
        queue = int(open("/proc/sys/fs/inotify/max_queued_events").read())
        # It cannot read while it is stopped: what comes after a full queue is lost.
        watched.process.send_signal(signal.SIGSTOP)
        for number in range(queue // 2 + 100):
            (base / f"photos/{number % 2}.txt").touch()
            (base / f"photos/{number % 2}.txt").unlink()
        (base / "b.jpg").rename(base / "photos/b.jpg")
        watched.process.send_signal(signal.SIGCONT)
        watched.until(lambda: "b" in watched.ids(), "found what no event told", 30)
        self.assertEqual(watched.end(), 130)

    def test_what_is_added_during_the_first_build(self):
        base = folder("watch")
        photo(base / "photos/a.png", 5000, 2800)
        photo(base / "b.jpg", 30, 20)
        watched = Watched(base, "--jobs", "1", "--format", "png")
        self.addCleanup(lambda: watched.process.poll() is None and watched.process.kill())
        watched.until(lambda: list(watched.library.glob(".ziggurat-*")), "began to build")
        (base / "b.jpg").rename(base / "photos/b.jpg")
        self.assertNotIn("watching", watched.text())
        watched.until(lambda: watched.ids() == {"a", "b"}, "found what came meanwhile", 30)
        self.assertEqual(watched.end(), 130)

    def test_a_broken_picture_is_reported_once_and_built_when_it_is_repaired(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 300, 200)
        watched = self.watch(base)
        (base / "photos/b.jpg").write_text("no picture")
        watched.until(lambda: "b.jpg" in watched.text(), "told of the broken picture")
        photo(base / "photos/c.jpg", 30, 20)
        watched.until(lambda: "c" in watched.ids(), "went on")
        self.assertEqual(watched.text().count("1 failed"), 1, watched.text())
        photo(base / "b.jpg", 30, 20).replace(base / "photos/b.jpg")
        watched.until(lambda: "b" in watched.ids(), "built the mended picture")
        self.assertEqual(watched.end(), 130)

    def test_a_dry_run_does_not_watch(self):
        base = folder("watch")
        photo(base / "photos/a.jpg", 30, 20)
        result = run("build", base / "photos", "--library", base / "library", "--watch", "--dry-run")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "ziggurat: --watch cannot be used with --dry-run\n")


if __name__ == "__main__":
    unittest.main()
