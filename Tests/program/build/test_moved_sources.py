"""Sources that were renamed: their archives go along, nothing is tiled, and the old addresses lead to the new ones."""

import http.client
import json
import os
import shutil
import subprocess
import time
import unittest

from harness import BINARY, CommandTest, Server, folder, photo, run
from szi import archives

ADDRESSES = (
    "/api/images/{}", "/api/images/{}/viewport?width=100&height=50&x=1.5", "/api/images/{}/viewport.jpg?width=60&height=50",
    "/view/{}", "/dzi/{}.dzi", "/dzi/{}_files/8/0_0.jpg", "/dzi/{}_files/8/0_0.png?v=1%2F2", "/xyz/{}/0/0/0.jpg", "/xyz/{}/tilejson.json",
    "/zoomify/{}/ImageProperties.xml", "/zoomify/{}/TileGroup0/0-0-0.jpg", "/iiif/3/{}/info.json", "/iiif/2/{}/info.json",
    "/iiif/3/{}", "/iiif/3/{}/full/max/0/default.jpg", "/iiif/2/{}/0,0,90,50/90,/0/default.png", "/iiif/presentation/3/{}/manifest",
    "/iip?FIF={}&OBJ=Max-size", "/iip?DeepZoom={}.dzi", "/iip?IIIF={}/info.json")


def wait_until(holds, seconds=20):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it did not come to that")
        time.sleep(0.05)


class MovedTest(CommandTest):
    def setUp(self):
        self.base = folder("moved")
        self.photos, self.library = self.base / "photos", self.base / "library"
        self.options = ("--tile-size", "128")

    def build(self, *options, code=0, sources=None, library=None):
        """The report of each image by its id, except of unchanged ones."""
        result = run("build", *(sources or [self.photos]), "--library", library or self.library, "--json", "--quiet", *self.options, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        report = {line["id"]: line for line in map(json.loads, result.stdout.splitlines()) if "id" in line}
        return {id: line["status"] + (f" {line['from']}" if "from" in line else "") for id, line in report.items() if line["status"] != "unchanged"}

    def ids(self):
        return [str(path.relative_to(self.library))[:-4] for path in archives(self.library)]

    def assertAsRebuilt(self):
        """Every archive is what a build into an empty library makes of the sources now."""
        fresh = folder("fresh") / "library"
        self.build(library=fresh)
        content = [{str(path.relative_to(place)): path.read_bytes() for path in archives(place)} for place in (self.library, fresh)]
        self.assertEqual(content[0], content[1])

    def get(self, server, path, method="GET"):
        """Status and Location of one answer."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, answer.getheader("Location")


class Renamed(MovedTest):
    def test_a_renamed_source_is_the_same_image(self):
        photo(self.photos / "old/a.jpg", 300, 200)
        photo(self.photos / "old/b.png", 90, 50)
        self.build()
        (self.library / "old/a.xmp").write_text("somebody's words")
        (self.library / "old/a.szi.xmp").write_text("somebody else's")
        inode = (self.library / "old/b.szi").stat().st_ino
        (self.photos / "new/deep").mkdir(parents=True)
        (self.photos / "old/a.jpg").rename(self.photos / "new/Größe 1%.jpg")
        (self.photos / "old/b.png").rename(self.photos / "new/deep/b.png")
        wanted = {"new/Größe 1%": "moved old/a", "new/deep/b": "moved old/b"}
        self.assertEqual(self.build("--dry-run", "--prune"), {id: status.replace("moved", "would move") for id, status in wanted.items()})
        self.assertEqual(self.ids(), ["old/a", "old/b"])
        self.assertEqual(self.build("--prune"), wanted)
        self.assertEqual(self.ids(), ["new/Größe 1%", "new/deep/b"])
        self.assertAsRebuilt()
        # Of another folder alone it is the very file.
        self.assertEqual((self.library / "new/deep/b.szi").stat().st_ino, inode)
        self.assertEqual((self.library / "new/Größe 1%.xmp").read_text(), "somebody's words")
        self.assertEqual((self.library / "new/Größe 1%.szi.xmp").read_text(), "somebody else's")
        self.assertFalse((self.library / "old").exists())
        self.assertFalse((self.library / ".ziggurat-trash").exists())
        self.assertEqual(self.build("--prune"), {})

    def test_old_addresses_lead_to_the_new_ones(self):
        photo(self.photos / "old/a.jpg", 300, 200)
        self.build()
        (self.photos / "old").rename(self.photos / "new+")
        self.assertEqual(self.build(), {"new+/a": "moved old/a"})
        for base, front in (("", ""), ("https://example.org/some/where", "/some/where")):
            with Server(self.library, *(("--base-url", base) if base else ())) as server:
                for method in ("GET", "HEAD"):
                    for address in ADDRESSES:
                        for old in ("old%2Fa", "old/a"):
                            path = address.format(old)
                            answer = self.get(server, path, method)
                            self.assertEqual(answer, (301, front + address.format("new%2B%2Fa")), path)
                        self.assertIn(self.get(server, answer[1], method)[0], (200, 303), answer[1])
                # Nobody is sent elsewhere who asks for what there is not, or wants to change something.
                for path in ("/api/images/old", "/api/images/old%2Fb", "/dzi/old.dzi", "/api/images/.moved%2Fold%2Fa"):
                    self.assertEqual(self.get(server, path)[0], 404, path)
                self.assertEqual(self.get(server, "/api/images/old%2Fa", "DELETE")[0], 405)

    def test_the_server_notices_at_once_and_an_image_stands_before_what_had_its_id(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        (self.base / "token").write_text("secret" * 6)
        (self.base / "token").chmod(0o600)
        with Server(self.library, "--writable", "--token-file", self.base / "token") as server:
            self.assertEqual(self.get(server, "/api/images/a")[0], 200)
            (self.photos / "a.jpg").rename(self.photos / "b.jpg")
            self.build()
            wait_until(lambda: self.get(server, "/api/images/a") == (301, "/api/images/b"))
            photo(self.photos / "a.jpg", 60, 40)
            self.assertEqual(self.build(), {"a": "built"})
            wait_until(lambda: self.get(server, "/api/images/a")[0] == 200)
            (self.photos / "a.jpg").unlink()
            self.assertEqual(self.build("--prune"), {"a": "pruned"})
            wait_until(lambda: self.get(server, "/api/images/a") == (301, "/api/images/b"))
            # What is deleted is not there under any name.
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("DELETE", "/api/images/b", headers={"Authorization": "Bearer " + "secret" * 6})
            answer = connection.getresponse()
            self.assertIn(answer.status, (200, 204), answer.read())
            self.assertEqual([self.get(server, f"/api/images/{id}")[0] for id in "ab"], [404, 404])

    def test_names_that_follow_each_other(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        for old, new in ("ab", "bc", "ca", "ad"):
            (self.photos / f"{old}.jpg").rename(self.photos / f"{new}.jpg")
            self.assertEqual(self.build(), {new: f"moved {old}"})
        for path in self.library.glob("catalog.sqlite*"):
            path.unlink()
        self.assertEqual(run("reindex", self.library).returncode, 0)
        with Server(self.library) as server:
            for old in "abc":
                self.assertEqual(self.get(server, f"/dzi/{old}.dzi"), (301, "/dzi/d.dzi"))

    def test_many_of_a_renamed_folder(self):
        first = photo(self.photos / "then/000.png", 20, 10)
        for number in range(1, 60):
            (self.photos / f"then/{number:03}.png").write_bytes(first.read_bytes() + bytes([number]))
        self.build()
        before = {path.name: path.stat().st_ino for path in archives(self.library)}
        (self.photos / "then").rename(self.photos / "now")
        self.assertEqual(self.build("--prune"), {f"now/{number:03}": f"moved then/{number:03}" for number in range(60)})
        self.assertEqual({path.name: path.stat().st_ino for path in archives(self.library)}, before)

    def test_pages_go_with_their_source(self):
        tall = photo(self.base / "tall.png", 60, 120)
        self.photos.mkdir()
        subprocess.run(["vips", "copy", tall, f"{self.photos}/roll.tif[page-height=40]"], check=True)
        self.build()
        (self.photos / "roll.tif").rename(self.photos / "film.tif")
        self.assertEqual(self.build("--prune"), {f"film/{page}": f"moved roll/{page}" for page in (1, 2, 3)})
        self.assertAsRebuilt()
        with Server(self.library) as server:
            self.assertEqual(self.get(server, "/iiif/presentation/3/roll/manifest"), (301, "/iiif/presentation/3/film/manifest"))
            self.assertEqual(self.get(server, "/api/images/roll%2F2"), (301, "/api/images/film%2F2"))

    def test_pages_and_books_that_are_folders(self):
        for number in (1, 2, 3):
            photo(self.photos / f"codex/f00{number}r.jpg", 60, 40 + number)
        self.options += ("--book",)
        self.build()
        (self.photos / "codex/f002r.jpg").rename(self.photos / "codex/f001v.jpg")
        self.assertEqual(self.build("--prune"), {"codex/f001v": "moved codex/f002r"})
        self.assertAsRebuilt()
        (self.photos / "codex").rename(self.photos / "chronicle")
        self.assertEqual(self.build("--prune"), {f"chronicle/{page}": f"moved codex/{page}" for page in ("f001r", "f001v", "f003r")})
        self.assertAsRebuilt()
        with Server(self.library) as server:
            self.assertEqual(self.get(server, "/iiif/presentation/3/codex/manifest"), (301, "/iiif/presentation/3/chronicle/manifest"))
            self.assertEqual(self.get(server, "/api/images/codex"), (301, "/api/images/chronicle"))
            self.assertEqual(self.get(server, "/api/images/codex%2Ff002r"), (301, "/api/images/chronicle%2Ff001v"))

    def test_a_description_that_a_person_wrote_goes_with_its_book(self):
        for number in (1, 2):
            photo(self.photos / f"old/p{number}.jpg", 300, 200 + number)
        self.build("--book")
        metadata = '{"title": "By hand"}'
        (self.library / "old/book.json").write_text(metadata)
        for old, new in (("old", "new"), ("new", "newer")):
            (self.photos / old).rename(self.photos / new)
            # That of the source does not replace it.
            (self.photos / new / "book.json").write_text('{"title": "Of the source"}')
            self.assertEqual(self.build("--book"), {f"{new}/p{number}": f"moved {old}/p{number}" for number in (1, 2)})
            self.assertEqual((self.library / new / "book.json").read_text(), metadata)
            self.assertFalse((self.library / old).exists())
        # Where another one is, each stays.
        (self.photos / "newer").rename(self.photos / "newest")
        (self.library / "newest").mkdir()
        (self.library / "newest/book.json").write_text('{"title": "Another"}')
        self.build("--book")
        self.assertEqual([json.loads((self.library / name / "book.json").read_text())["title"] for name in ("newer", "newest")],
                         ["By hand", "Another"])

    def test_a_description_of_a_build_that_a_person_edited_goes_with_its_book(self):
        for number in (1, 2):
            photo(self.photos / f"old/p{number}.jpg", 300, 200 + number)
        (self.photos / "old/book.json").write_text('{"title": "Of the source"}')
        self.build("--book")
        file = self.library / "old/book.json"
        edited = {**json.loads(file.read_text()), "title": "Edited"}
        self.assertTrue(edited["built"])
        file.write_text(json.dumps(edited))
        (self.photos / "old").rename(self.photos / "new")
        self.build("--book")
        self.assertEqual(json.loads((self.library / "new/book.json").read_text()), edited)
        self.assertFalse((self.library / "old").exists())

    def test_duplicates(self):
        for name in ("one/a", "one/b", "other/a"):
            photo(self.photos / f"{name}.jpg", 90, 60)
        self.build()
        for name in ("one/a", "one/b", "other/a"):
            (self.library / f"{name}.xmp").write_text(name)
        (self.photos / "one").rename(self.photos / "two")
        self.assertEqual(self.build("--prune"), {"two/a": "moved one/a", "two/b": "moved one/b"})
        self.assertEqual([(self.library / f"{name}.xmp").read_text() for name in ("two/a", "two/b", "other/a")], ["one/a", "one/b", "other/a"])
        # A copy beside its original is a picture of its own.
        shutil.copyfile(self.photos / "two/a.jpg", self.photos / "copy.jpg")
        self.assertEqual(self.build("--prune"), {"copy": "built"})

    def test_what_is_no_move(self):
        for number, name in enumerate("abc"):
            photo(self.photos / f"{name}.jpg", 90, 60 + number)
        self.build()
        # A picture in another's place: the metadata are those of the former picture.
        (self.library / "b.xmp").write_text("of b")
        (self.photos / "a.jpg").rename(self.photos / "b.jpg")
        # Renamed and edited.
        (self.photos / "c.jpg").unlink()
        photo(self.photos / "d.jpg", 70, 71)
        self.assertEqual(self.build("--prune"), {"b": "moved a", "d": "built", "c": "pruned"})
        self.assertFalse((self.library / "b.xmp").exists())
        self.assertEqual(self.trashed(), ["b.szi", "b.xmp", "c.szi"])
        self.assertAsRebuilt()

    def trashed(self):
        return sorted("/".join(path.parts[-(len(path.relative_to(self.library).parts) - 2):])
                      for path in (self.library / ".ziggurat-trash").rglob("*") if path.is_file())

    def test_numbers_that_close_up_behind_a_deleted_file(self):
        for options in ((), ("--prune",)):
            with self.subTest(options):
                self.setUp()
                for number in range(1, 5):
                    photo(self.photos / f"{number}.png", 20 + number, 10)
                self.build()
                for number in range(1, 5):
                    (self.library / f"{number}.xmp").write_text(f"of {number}")
                first = (self.library / "1.szi").read_bytes()
                (self.photos / "1.png").unlink()
                for number in range(2, 5):
                    (self.photos / f"{number}.png").rename(self.photos / f"{number - 1}.png")
                wanted = {str(number - 1): f"moved {number}" for number in range(2, 5)}
                would = {id: status.replace("moved", "would move") for id, status in wanted.items()}
                self.assertEqual(self.build("--dry-run", *options), would)
                self.assertFalse((self.library / ".ziggurat-trash").exists())
                self.assertEqual(self.build(*options), wanted)
                self.assertEqual([(self.library / f"{number}.xmp").read_text() for number in range(1, 4)], ["of 2", "of 3", "of 4"])
                self.assertEqual(self.ids(), ["1", "2", "3"])
                self.assertEqual(self.trashed(), ["1.szi", "1.xmp"])
                [old] = (self.library / ".ziggurat-trash").rglob("1.szi")
                self.assertEqual((old.read_bytes(), old.with_suffix(".xmp").read_text()), (first, "of 1"))
                self.assertAsRebuilt()
                with Server(self.library) as server:
                    self.assertEqual(self.get(server, "/dzi/4.dzi"), (301, "/dzi/3.dzi"))
                    self.assertEqual([json.loads(server.get(f"/api/images/{number}").body)["width"] for number in range(1, 4)], [22, 23, 24])

    def test_an_edited_file_keeps_its_metadata(self):
        photo(self.photos / "a.png", 20, 10)
        self.build()
        (self.library / "a.xmp").write_text("of a")
        photo(self.photos / "a.png", 21, 10)
        self.assertEqual(self.build(), {"a": "built"})
        self.assertEqual((self.library / "a.xmp").read_text(), "of a")

    def test_other_sources_and_those_that_are_away_lose_nothing(self):
        photo(self.base / "other/a.jpg", 90, 60)
        self.build(sources=[self.base / "other"])
        photo(self.photos / "b.jpg", 90, 60)
        (self.base / "other/a.jpg").unlink()
        self.assertEqual(self.build(), {"b": "built"})
        shutil.copyfile(self.photos / "b.jpg", self.base / "other/c.jpg")
        # One of the sources is not there.
        self.assertEqual(self.build(sources=[self.base / "other", self.base / "nowhere"], code=1), {"c": "built"})

    def test_metadata_in_the_way(self):
        photo(self.photos / "a.jpg", 90, 60)
        self.build()
        (self.library / "a.xmp").write_text("of a")
        (self.library / "b.xmp").write_text("of somebody")
        (self.photos / "a.jpg").rename(self.photos / "b.jpg")
        self.assertEqual(self.build(), {"b": "built"})
        self.assertEqual([(self.library / f"{name}.xmp").read_text() for name in "ab"], ["of a", "of somebody"])

    def test_with_other_options_it_is_moved_and_built(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        (self.library / "a.xmp").write_text("words")
        (self.photos / "a.jpg").rename(self.photos / "b.jpg")
        self.options = ("--tile-size", "64")
        self.assertEqual(self.build(), {"b": "built"})
        self.assertEqual((self.ids(), (self.library / "b.xmp").read_text()), (["b"], "words"))
        with Server(self.library) as server:
            self.assertEqual(self.get(server, "/dzi/a.dzi"), (301, "/dzi/b.dzi"))

    def test_while_it_is_watched(self):
        photo(self.photos / "a.jpg", 300, 200)
        process = subprocess.Popen([BINARY, "build", self.photos, "--library", self.library, "--watch", "--prune=all", "--json", "--quiet"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertEqual(json.loads(process.stdout.readline())["status"], "built")
            photo(self.photos / "z.jpg", 30, 20)
            self.assertEqual(json.loads(process.stdout.readline())["id"], "z")
            (self.photos / "a.jpg").rename(self.photos / "b.jpg")
            line = json.loads(process.stdout.readline())
            self.assertEqual((line["status"], line["id"], line.get("from")), ("moved", "b", "a"))
        finally:
            process.terminate()
            process.communicate()
        self.assertEqual(self.ids(), ["b", "z"])

    def test_what_others_wrote_there_leads_nowhere(self):
        photo(self.photos / "b.jpg", 90, 60)
        self.build()
        moved = self.library / ".moved"
        moved.mkdir()
        secret = self.base / "secret"
        secret.write_text("b\n")
        (moved / ".link.to").symlink_to(secret)
        (self.base / "elsewhere").mkdir()
        (self.base / "elsewhere/.x.to").write_text("b\n")
        (moved / "folder").symlink_to(self.base / "elsewhere")
        for name, content in {"none": "", "cut": "b", "long": "b" * 5000 + "\n", "up": "../b\n", "hidden": ".moved/x\n", "lines": "b\nb\n",
                              "round": "about\n", "about": "round\n", "self": "self\n", "gone": "nothing\n"}.items():
            (moved / f".{name}.to").write_text(content)
        os.mkfifo(moved / ".pipe.to")
        (moved / ".right.to").write_text("b\n")
        with Server(self.library) as server:
            for name in ("link", "folder%2Fx", "none", "cut", "long", "up", "hidden", "lines", "round", "self", "gone", "pipe", "x" * 300):
                self.assertEqual(self.get(server, f"/api/images/{name}")[0], 404, name)
            self.assertEqual(self.get(server, "/api/images/right"), (301, "/api/images/b"))


if __name__ == "__main__":
    unittest.main()
