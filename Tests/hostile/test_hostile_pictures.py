"""Pictures that were made to attack a decoder, by every way into the program: reported in a line, and everything else continues."""

import json
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))

from harness import CommandTest, ROOT, folder, photo, run  # noqa: E402
from szi import archives  # noqa: E402
from upload_client import Client, serve  # noqa: E402

PICTURES = ROOT / "Tests/Fixtures/hostile"


class MetadataThatIsFreedTwice(CommandTest):
    """gexiv2 0.14 frees parts of a file's metadata when opening it fails; releasing the object frees them again."""

    PICTURE = PICTURES / "crash-3.tif"

    def test_build_goes_on(self):
        source = folder("source")
        shutil.copy(self.PICTURE, source)
        # The heap that was harmed is used for pictures on both sides of it.
        for name in ("a.jpg", "b.png", "y.jpg", "z.png"):
            photo(source / name, 900, 700)
        library = folder("library")
        result = run("build", source, "--library", library, "--jobs", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path.stem for path in archives(library)], ["a", "b", "crash-3", "y", "z"])
        self.assertEqual(run("verify", library).returncode, 0)

    def test_inspect_reports_what_it_is(self):
        result = run("inspect", self.PICTURE, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout)["format"], "tiff")

    def test_an_upload_ends_neither_the_server_nor_the_next_one(self):
        library = folder("library")
        server = serve(library)
        try:
            client = Client(server)
            # Sent more than once: the first time the heap may hold.
            for number in range(3):
                _, path = client.send(self.PICTURE.read_bytes() + bytes([number]), filename=f"crash {number}.tif")
                self.assertEqual(client.end(path)["status"], "done")
                self.assertTrue(server.alive())
        finally:
            self.assertEqual(server.stop(), 0)
        with serve(library) as again:
            self.assertEqual(Client(again).images(), {"crash 0", "crash 1", "crash 2"})

    def test_an_upload_that_waits_over_a_restart(self):
        """Its bytes are all there when the server is killed: the next one takes it up, and lives."""
        library = folder("library")
        server = serve(library)
        client = Client(server)
        path = client.create(self.PICTURE.stat().st_size, filename="crash.tif")["location"]
        client.patch(path, 0, self.PICTURE.read_bytes())
        server.stop(9)
        with serve(library) as again:
            self.assertEqual(Client(again).end(path)["status"], "done")
            self.assertTrue(again.alive())


if __name__ == "__main__":
    unittest.main()
