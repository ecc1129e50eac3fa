"""The catalog: what lists and searches a library without its archives, and may be lost at any time."""

import json
import os
import resource
import shutil
import sqlite3
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

from exiftool import write
from harness import CommandTest, Server, folder, photo, run

NAMES = ["harbour/north quay", "harbour/south quay", "museum/night watch", "museum/Äpfel", "zebra"]


def library() -> Path:
    """Five images of one size, two of them with titles."""
    base = folder("catalog")
    for number, name in enumerate(NAMES):
        photo(base / f"photos/{name}.jpg", 300 + number, 200)
    for name, title in [("zebra", "Grevy's zebra, Samburu"), ("museum/night watch", "De Nachtwacht")]:
        write(base / f"photos/{name}.jpg", f"-XMP-dc:Title={title}")
    result = run("build", base / "photos", "--library", base / "library", "--quiet")
    assert result.returncode == 0, result.stderr
    return base / "library"


def listed(server: Server, **parameters) -> tuple[list[str], int, str | None]:
    answer = server.get(f"/api/images?{urlencode(parameters)}")
    assert answer.status == 200, answer
    page = json.loads(answer.body)
    return [image["id"] for image in page["images"]], page["total"], page.get("nextCursor")


def mapped(server: Server) -> list[str]:
    """The archives that the server has open."""
    maps = Path(f"/proc/{server.process.pid}/maps").read_text()
    return sorted({line.split(maxsplit=5)[5] for line in maps.splitlines() if line.endswith(".szi")})


class Catalog(CommandTest):
    def test_pages_and_searches_without_opening_an_archive(self):
        with Server(library()) as server:
            self.assertEqual(listed(server), (NAMES, 5, None))
            ids, total, following = listed(server, limit=2)
            self.assertEqual((ids, total), (NAMES[:2], 5))
            self.assertEqual(listed(server, limit=2, cursor=following)[0], NAMES[2:4])
            for text, found in [("QUAY", NAMES[:2]), ("quay north", NAMES[:1]), ("äPFEL", NAMES[3:4]),
                                ("nachtwacht", NAMES[2:3]), ("samburu zebra", NAMES[4:]), ("100%", []), ("_", []),
                                ("' OR 1=1 --", []), ("  ", NAMES), ("", NAMES)]:
                with self.subTest(text=text):
                    self.assertEqual(listed(server, q=text), (found, len(found), None))
            ids, total, following = listed(server, q="q", limit=1)
            self.assertEqual(total, len(listed(server, q="q")[0]))
            self.assertEqual(listed(server, q="q", limit=9, cursor=following)[0], listed(server, q="q")[0][1:])
            self.assertEqual(mapped(server), [])

    def test_agrees_with_the_archive_about_every_field(self):
        with Server(library()) as server:
            for image in json.loads(server.get("/api/images?fields=all").body)["images"]:
                alone = json.loads(server.get(image["urls"]["self"]).body)
                self.assertEqual(image, alone)

    def test_a_lost_stale_or_damaged_catalog_loses_nothing(self):
        def damage(path: Path):
            size = path.stat().st_size
            with path.open("r+b") as file:
                file.seek(100)
                file.write(b"\xa5" * (size - 100))

        def drop_rows(path: Path):
            with sqlite3.connect(path) as connection:
                connection.execute("DELETE FROM image WHERE id LIKE 'm%'")
                connection.execute("UPDATE image SET inode = 1, title = 'wrong' WHERE id = 'zebra'")
            connection.close()

        def other_version(path: Path):
            with sqlite3.connect(path) as connection:
                connection.execute("DROP TABLE image")
                connection.execute("PRAGMA user_version = 999")
            connection.close()

        for name, harm in [("lost", Path.unlink), ("no database", lambda path: path.write_bytes(b"garbage" * 999)),
                           ("empty", lambda path: path.write_bytes(b"")), ("damaged", damage),
                           ("stale", drop_rows), ("another version", other_version)]:
            with self.subTest(name):
                place = library()
                harm(place / "catalog.sqlite")
                with Server(place) as server:
                    self.assertEqual(listed(server), (NAMES, 5, None))
                    self.assertEqual(listed(server, q="nachtwacht"), (NAMES[2:3], 1, None))
                    self.assertEqual(listed(server, q="samburu"), (NAMES[4:], 1, None))
                    self.assertEqual(listed(server, q="wrong"), ([], 0, None))

    def test_a_damaged_catalog_is_reported(self):
        base = folder("damaged")
        photo(base / "photos/a.jpg", 60, 40)
        for _ in range(2):
            result = run("build", base / "photos", "--library", base / "library", "--quiet")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        file = base / "library/catalog.sqlite"
        for beside in base.glob("library/catalog.sqlite-*"):
            beside.unlink()
        file.write_bytes(b"garbage" * 999)
        result = run("build", base / "photos", "--library", base / "library", "--quiet")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rf"\A{file} was damaged and is made again: [^\n]*\n\Z")
        for beside in base.glob("library/catalog.sqlite-*"):
            beside.unlink()
        file.write_bytes(b"garbage" * 999)
        with Server(base / "library") as server:
            self.assertEqual(json.loads(server.get("/api/images").body)["total"], 1)
            self.assertIn(f"{file} was damaged and is made again from the archives\n", server.errors())

    def test_damage_while_serving_is_repaired(self):
        place = library()
        with Server(place) as server:
            for path in place.glob("catalog.sqlite*"):
                with path.open("r+b") as file:
                    file.write(b"\xa5" * path.stat().st_size)
            deadline = time.monotonic() + 30
            while listed(server, q="nachtwacht")[0] != NAMES[2:3] and time.monotonic() < deadline:
                time.sleep(0.2)
            self.assertEqual(listed(server, q="nachtwacht"), (NAMES[2:3], 1, None))
            self.assertEqual(listed(server), (NAMES, 5, None))

    def test_what_comes_and_goes_is_listed(self):
        place = library()
        with Server(place) as server:
            (place / "zebra.szi").rename(place / "okapi.szi")
            (place / "museum/night watch.szi").unlink()
            deadline = time.monotonic() + 30
            wanted = (["harbour/north quay", "harbour/south quay", "museum/Äpfel", "okapi"], 4, None)
            while listed(server) != wanted and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(listed(server), wanted)
            while listed(server, q="samburu")[0] != ["okapi"] and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(listed(server, q="samburu"), (["okapi"], 1, None))
            self.assertEqual(listed(server, q="nachtwacht"), ([], 0, None))

    def test_serves_where_the_catalog_cannot_be_written(self):
        place = library()
        (place / "catalog.sqlite").unlink()
        (place / "catalog.sqlite").mkdir()
        with Server(place) as server:
            self.assertEqual(listed(server, q="nachtwacht"), (NAMES[2:3], 1, None))
        result = run("reindex", place)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "catalog.sqlite")

    def test_reindex_rebuilds_it_and_names_unreadable_archives(self):
        place = library()
        shutil.rmtree(place / "catalog.sqlite", ignore_errors=True)
        (place / "catalog.sqlite").unlink(missing_ok=True)
        result = run("reindex", place)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "5 images\n", ""))
        (place / "broken.szi").write_bytes(b"no archive")
        result = run("reindex", place)
        self.assertEqual((result.returncode, result.stdout), (1, "5 images\n"))
        self.assertOneLine(result, "broken.szi")
        with Server(place) as server:
            self.assertEqual(listed(server), (NAMES, 5, None))
            self.assertEqual(server.get("/api/images/broken").status, 500)
        self.assertUsageError(run("reindex"))
        self.assertEqual(run("reindex", place / "nothing").returncode, 1)

    def test_several_processes_use_one_catalog_at_once(self):
        place = library()
        with Server(place) as one, Server(place) as other, ThreadPoolExecutor(4) as pool:
            runs = [pool.submit(run, "reindex", place) for _ in range(4)]
            for _ in range(20):
                self.assertEqual(listed(one, q="quay"), listed(other, q="quay"))
            for result in runs:
                self.assertEqual((result.result().returncode, result.result().stderr), (0, ""))
        connection = sqlite3.connect(place / "catalog.sqlite")
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        connection.close()

    def test_only_archives_in_use_are_open(self):
        place = library()
        for number in range(20):
            os.link(place / "zebra.szi", place / f"copy {number:02}.szi")
        # A quarter of 128 descriptors less 64.
        with Server(place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))) as server:
            for number in [*range(20), 0, 1]:
                self.assertEqual(server.get(f"/dzi/copy%20{number:02}_files/8/0_0.jpg").status, 200)
                self.assertLessEqual(len(mapped(server)), 16)
            self.assertEqual([Path(path).name for path in mapped(server)],
                             [f"copy {number:02}.szi" for number in (0, 1, *range(6, 20))])


if __name__ == "__main__":
    unittest.main()
