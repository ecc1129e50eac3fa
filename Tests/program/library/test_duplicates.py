"""The same picture twice is noticed by its digest, without a look into the archives that are there."""

import json
import os
import sqlite3
import subprocess
import time
import unittest
from pathlib import Path

from harness import folder, photo, run
from opened_files import OpenedFiles
from szi import archives
from upload_client import Client, serve


def build(*sources: Path, library: Path):
    result = run("build", *sources, "--library", library, "--quiet")
    assert result.returncode == 0, result.stderr


class Duplicates(unittest.TestCase):
    def test_the_same_picture_twice_is_noticed(self):
        library = folder("library")
        with serve(library) as server:
            client = Client(server)
            data = photo(folder("photos") / "twice.jpg", 600, 400, left=2000).read_bytes()
            first = client.end(client.send(data, filename="first.jpg")[1])
            before = {path: path.stat().st_mtime_ns for path in archives(library)}
            second = client.end(client.send(data, filename="second.jpg", folder="elsewhere")[1])
            self.assertEqual((first["duplicate"], second["duplicate"], second["image"]), (False, True, first["image"]))
            self.assertEqual({path: path.stat().st_mtime_ns for path in archives(library)}, before)
            # Another picture by one byte.
            self.assertFalse(client.end(client.send(data + b"\0", filename="other.jpg")[1])["duplicate"])
            # What is deleted is not there.
            self.assertEqual(client.ask("DELETE", "/api/images/first", tus=False).status, 200)
            again = client.end(client.send(data, filename="again.jpg")[1])
            self.assertEqual((again["duplicate"], again["image"]), (False, "again"))

    def test_for_any_builder_and_any_page(self):
        library, source = folder("library"), folder("photos") / "wharf.jpg"
        data = photo(source, 500, 300).read_bytes()
        pages = folder("pages") / "book.tif"
        subprocess.run(["vips", "copy", f"{photo(source.parent / 'tall.png', 200, 300)}", f"{pages}[page-height=100]"], check=True)
        build(source, pages, library=library)
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.images(), {"wharf", "book"})
            for name, sent, image in [("x.jpg", data, "wharf"), ("x.tif", pages.read_bytes(), "book")]:
                reported = client.end(client.send(sent, filename=name)[1])
                self.assertEqual((reported["duplicate"], reported["image"]), (True, image))
            # The copy that was just uploaded, and no other.
            (library / "wharf.szi").rename(library / "moved.szi")
            self.assertEqual(client.end(client.send(data, filename="y.jpg")[1])["image"], "moved")

    def test_the_catalog_is_asked_and_made_of_archives_alone(self):
        library, source = folder("library"), folder("photos") / "pier.jpg"
        data = photo(source, 500, 300).read_bytes()
        build(source, library=library)
        for name in ["lost", "older"]:
            with self.subTest(name):
                if name == "lost":
                    for path in library.glob("catalog.*"):
                        path.unlink()
                    self.assertEqual(run("reindex", library).returncode, 0)
                else:
                    with sqlite3.connect(library / "catalog.sqlite") as connection:
                        connection.execute("PRAGMA user_version = 5")
                    connection.close()
                with serve(library) as server:
                    client = Client(server)
                    reported = client.end(client.send(data, filename="x.jpg")[1])
                    self.assertEqual((reported["duplicate"], reported["image"]), (True, "pier"))
                with sqlite3.connect(library / "catalog.sqlite") as connection:
                    row = connection.execute("SELECT digest FROM image WHERE id = 'pier'").fetchone()
                    plan = connection.execute("EXPLAIN QUERY PLAN SELECT id FROM image WHERE digest = ? ORDER BY id",
                                              row).fetchall()
                connection.close()
                inspected = json.loads(run("inspect", library / "pier.szi", "--json").stdout)
                self.assertIn(row[0], json.dumps(inspected))
                self.assertIn("image_digest", str(plan))

    def test_of_thousands_of_archives_none_is_opened(self):
        library, photos = folder("library"), folder("photos")
        build(photo(photos / "seed.jpg", 300, 200), library=folder("seed"))
        build(photos / "seed.jpg", library=library)
        folders = [library / f"{number:02}" for number in range(3)]
        for place in folders:
            place.mkdir()
            for number in range(1000):
                os.link(library / "seed.szi", place / f"{number:04}.szi")
        self.assertEqual(run("reindex", library).returncode, 0)
        with serve(library) as server:
            client = Client(server)
            with OpenedFiles(library, *folders) as opened:
                other = photo(photos / "other.jpg", 320, 200, left=2500).read_bytes()
                self.assertFalse(client.end(client.send(other, filename="other.jpg")[1])["duplicate"])
                self.assertTrue(client.end(client.send(other, filename="more.jpg")[1])["duplicate"])
                self.assertEqual(client.end(client.send((photos / "seed.jpg").read_bytes(), filename="x.jpg")[1])["image"],
                                 "00/0000")
                time.sleep(1.5)
                names = opened.names()
                self.assertLess(len(names), 10, names[:20])
                # The duplicates themselves, for what they say of their originals.
                self.assertEqual(set(names), {"other.szi", "0000.szi"})


if __name__ == "__main__":
    unittest.main()
