"""A system that gives no more threads: the server does without, or says so and ends; it never crashes."""

import os
import select
import signal
import subprocess
import unittest
from pathlib import Path

import upload_client
from harness import BINARY, CommandTest, folder, photo, run, sample_library
from preload import preloaded


class Threads(CommandTest):
    def test_a_server_without_any_one_of_its_threads(self):
        library = preloaded(Path(__file__).with_name("threads.c"))
        base = folder("threads")
        (base / "token").write_text(upload_client.TOKEN + "\n")
        (base / "token").chmod(0o600)
        ended = 0
        for number in range(24):
            with self.subTest(without=number):
                process = subprocess.Popen(
                    [BINARY, "serve", sample_library(), "--port", "0", "--threads", "2", "--writable",
                     "--token-file", base / "token"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                    env={**os.environ, "LD_PRELOAD": library, "WITHOUT": str(number)})
                ready, _, _ = select.select([process.stdout], [], [], 20)
                self.assertTrue(ready, "neither ready nor at its end")
                if process.stdout.readline().startswith("listening on "):
                    process.send_signal(signal.SIGTERM)
                _, errors = process.communicate(timeout=20)
                self.assertIn(process.returncode, {0, 1, 75})
                if process.returncode:
                    ended += 1
                    self.assertEqual(len(errors.splitlines()), 1, errors)
                    self.assertRegex(errors, "^ziggurat: (the system gives no thread|cannot start the HTTP daemon)")
        self.assertGreater(ended, 1, "no thread is needed: the fault was not played")

    def test_a_build_without_any_one_of_its_threads(self):
        library = preloaded(Path(__file__).with_name("threads.c"))
        photos = folder("threads") / "photos"
        for number in range(4):
            photo(photos / f"{number}.jpg", 700, 500)
        for number in range(12):
            with self.subTest(without=number):
                result = run("build", photos, "--library", folder("library"), "--jobs", 3,
                             environment={"LD_PRELOAD": library, "WITHOUT": str(number)})
                self.assertIn(result.returncode, {0, 1, 75}, result.stderr)
                self.assertIn(f"{4 if result.returncode == 0 else ''} built" if result.returncode != 75 else "thread",
                              result.stderr)


if __name__ == "__main__":
    unittest.main()
