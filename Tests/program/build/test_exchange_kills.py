"""kill -9 before each change of a name while images exchange their ids: nothing is lost, and the next program ends it."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from harness import BINARY, Server, folder, photo, run
from preload import preloaded
from szi import archives
from test_moved_sources import MovedTest as Moved


class ExchangeKills(Moved):
    # More calls than an exchange of three images makes.
    most = 200

    def metadata(self):
        return {path.name: path.read_text() for path in sorted(self.library.glob("*.xmp"))}

    def exchange(self, names):
        """A library of images whose sources have swapped names, and the expected owners of the sidecars beside them."""
        for number, name in enumerate(names):
            photo(self.photos / f"{name}.jpg", 90, 60 + number)
        self.build()
        for name in names:
            (self.library / f"{name}.xmp").write_text(f"of {name}")
        for name in names:
            (self.photos / f"{name}.jpg").rename(self.photos / f"{name}.old")
        wanted = {}
        for old, new in zip(names, names[1:] + names[:1]):
            (self.photos / f"{old}.old").rename(self.photos / f"{new}.jpg")
            wanted[f"{new}.xmp"] = f"of {old}"
        return wanted

    def killed_at(self, step):
        """Builds and is killed before that change. Whether it was."""
        environment = os.environ | {"LD_PRELOAD": self.preload, "KILL_AT": str(step), "KILL_IN": f"{self.library}/"}
        result = subprocess.run([BINARY, "build", self.photos, "--library", self.library, "--quiet", *self.options], env=environment,
                                capture_output=True, text=True)
        self.assertIn(result.returncode, (0, -9), result.stderr)
        return result.returncode == -9

    def check_each_step(self, names, recover):
        wanted = self.exchange(names)
        self.preload = preloaded(Path(__file__).with_name("kill_at.c"))
        kept = self.base / "kept"
        self.library.rename(kept)
        steps = 0
        for step in range(1, self.most):
            shutil.rmtree(self.library, ignore_errors=True)
            shutil.copytree(kept, self.library)
            if not self.killed_at(step):
                break
            steps += 1
            with self.subTest(step=step):
                recover()
                self.build()
                self.assertEqual(self.ids(), sorted(names))
                self.assertEqual(self.metadata(), wanted)
                self.assertAsRebuilt()
                self.assertFalse((self.library / ".moved/.exchange").exists())
        # Each of the moves is at least two changes.
        self.assertGreater(steps, 2 * len(names))

    def test_the_next_build_ends_an_exchange(self):
        self.check_each_step(["a", "b"], lambda: None)

    def test_index_ends_an_exchange_of_three(self):
        def recover():
            self.assertEqual(run("reindex", self.library).returncode, 0)
            self.assertLessEqual(set(self.ids()), {"a", "b", "c"})
        self.check_each_step(["a", "b", "c"], recover)

    def test_a_server_ends_an_exchange(self):
        self.exchange(["a", "b"])
        self.preload = preloaded(Path(__file__).with_name("kill_at.c"))
        for step in range(1, self.most):
            self.assertTrue(self.killed_at(step))
            if "a~moving" in self.ids():
                break
            shutil.rmtree(self.library / ".moved", ignore_errors=True)
        with Server(self.library) as server:
            self.assertEqual([self.get(server, f"/api/images/{id}")[0] for id in "ab"], [200, 200])
        self.assertEqual(self.ids(), ["a", "b"])

    def test_metadata_left_by_a_killed_move_do_not_become_those_of_the_next_image(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        (self.library / "a.xmp").write_text("of the first")
        (self.photos / "a.jpg").rename(self.photos / "z.jpg")
        self.preload = preloaded(Path(__file__).with_name("kill_at.c"))
        for step in range(1, self.most):
            self.assertTrue(self.killed_at(step))
            if self.ids() == ["z"] and (self.library / "a.xmp").exists():
                break
        photo(self.photos / "a.jpg", 70, 50)
        self.build()
        self.assertEqual(self.metadata(), {"z.xmp": "of the first"})


if __name__ == "__main__":
    unittest.main()
