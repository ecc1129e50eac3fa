"""Builds in file systems without the usual locks: each is reported in one line, and none loops forever."""

from pathlib import Path

from harness import CommandTest, folder, photo, run
from preload import preloaded
from szi import archives, leftovers


class Locking(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.photos, cls.preloaded = folder("photos"), preloaded(Path(__file__).with_name("locking.c"))
        for number in range(3):
            photo(cls.photos / f"{number}.jpg", 300, 200, left=100 * number)

    def build(self, failure: str):
        library = folder("library")
        result = run("build", self.photos, "--library", library, timeout=60,
                     environment={"LD_PRELOAD": self.preloaded, "FAULT": failure})
        self.assertEqual(leftovers(library), [], result.stderr)
        return result, archives(library)

    def test_a_server_that_gives_no_leases_is_no_reason_to_refuse_a_picture(self):
        result, built = self.build("nfs")
        self.assertEqual((result.returncode, len(built)), (0, 3), result.stderr)
        for path in built:
            self.assertWhole(path)

    def test_a_file_with_another_writer_is_not_published(self):
        result, built = self.build("leases")
        self.assertEqual((result.returncode, built), (1, []), result.stderr)

    def test_a_failed_lock_is_reported(self):
        for failure, reason in (("flock", "No locks available"), ("open", "Too many open files")):
            with self.subTest(failure):
                result, built = self.build(failure)
                self.assertIn(result.returncode, (1, 75), result.stderr)
                self.assertIn(reason, result.stderr)
                self.assertEqual(built, [])
