"""XMP sidecars beside the sources: their metadata are in the archive, and a change tiles nothing again."""

import json
import os
import shutil
import signal
import subprocess
import time
import zipfile

from exiftool import write
from harness import BINARY, CommandTest, Server, folder, photo, run
from szi import leftovers
from test_watch import Watched


def parts(archive) -> tuple[dict, dict]:
    """What an archive says, and its tiles with what else is no word, in their order."""
    with zipfile.ZipFile(archive) as file:
        metadata = next((name for name in file.namelist() if name.endswith("/metadata.json")), None)
        rest = {info.filename: (info.header_offset, info.CRC) for info in file.infolist()
                if not info.filename.endswith((".json", ".dzi"))}
        return json.loads(file.read(metadata)) if metadata else {}, rest


class Sidecars(CommandTest):
    def setUp(self):
        self.base = folder("source sidecars")
        self.library = self.base / "library"
        self.source = photo(self.base / "photos/INV-0091.jpg", 700, 500)
        write(self.source, "-XMP-dc:Title=own", "-XMP-dc:Creator=own", "-XMP-dc:Identifier=1")

    def build(self, *options, status="built", id="INV-0091") -> dict:
        """What the archive says after a build that came out so."""
        result = run("build", self.base / "photos", "--library", self.library, "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = {line["id"]: line["status"] for line in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(report[id], status, result.stderr)
        self.assertNotIn("passed over", result.stderr)
        self.assertWhole(self.library / f"{id}.szi")
        return parts(self.library / f"{id}.szi")[0]

    def test_its_metadata_precede_the_embedded_ones(self):
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=beside", "-XMP-xmpRights:UsageTerms=ask")
        metadata = self.build()
        self.assertEqual((metadata["title"], metadata["creator"], metadata["usageTerms"], metadata["identifier"]), ("beside", "own", "ask", "1"))
        self.build(status="unchanged")
        with Server(self.library) as server:
            image = json.loads(server.get("/api/images/INV-0091").body)
            self.assertEqual((image["title"], image["usageTerms"]), ("beside", "ask"))
            # The archive's own sidecar is the nearer one.
            write(self.library / "INV-0091.xmp", "-XMP-dc:Title=nearer")
        with Server(self.library) as server:
            image = json.loads(server.get("/api/images/INV-0091").body)
            self.assertEqual((image["title"], image["usageTerms"]), ("nearer", "ask"))

    def test_one_that_takes_too_long_is_ignored(self):
        sidecar = self.base / "photos/INV-0091.xmp"
        # Valid XMP, for which Exiv2 needs time that grows with the square of its properties.
        sidecar.write_text(
            '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description rdf:about="" xmlns:q="http://q.example/">' + "".join(f"<q:p{each}>1</q:p{each}>" for each in range(60_000))
            + "</rdf:Description></rdf:RDF></x:xmpmeta>")
        result = run("build", self.base / "photos", "--library", self.library)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, f"{sidecar}.*processor time, and is ignored")
        self.assertEqual(parts(self.library / "INV-0091.szi")[0]["title"], "own")

    def test_of_two_the_one_with_the_whole_name_counts(self):
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=short")
        self.assertEqual(self.build()["title"], "short")
        write(self.base / "photos/INV-0091.jpg.xmp", "-XMP-dc:Title=long")
        self.assertEqual(self.build(status="metadata-updated")["title"], "long")
        os.rename(self.base / "photos/INV-0091.jpg.xmp", self.base / "photos/INV-0091.jpg.XMP")
        (self.base / "photos/INV-0091.xmp").unlink()
        self.assertEqual(self.build(status="unchanged")["title"], "long")

    def test_changed_metadata_tile_nothing_again(self):
        self.build()
        archive = self.library / "INV-0091.szi"
        plain, (_, tiles) = archive.read_bytes(), parts(archive)
        sidecar = self.base / "photos/INV-0091.xmp"
        for title in ("first", "second"):
            write(sidecar, f"-XMP-dc:Title={title}")
            self.build("--dry-run", status="would update metadata")
            metadata = self.build(status="metadata-updated")
            self.assertEqual((metadata["title"], metadata["creator"]), (title, "own"))
            self.assertEqual(parts(archive)[1], tiles)
            self.build(status="unchanged")
        # A build with the same metadata gives the same bytes.
        reworded = archive.read_bytes()
        self.build("--force")
        self.assertEqual(archive.read_bytes(), reworded)
        # Whose sidecar is gone says what the picture says.
        sidecar.unlink()
        self.assertEqual(self.build(status="metadata-updated")["title"], "own")
        self.assertEqual(archive.read_bytes(), plain)
        self.assertEqual(leftovers(self.library), [])

    def test_a_picture_that_said_nothing_says_nothing_again(self):
        write(self.source, "-all=")
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=beside")
        self.assertEqual(self.build()["title"], "beside")
        (self.base / "photos/INV-0091.xmp").unlink()
        self.assertEqual(self.build(status="metadata-updated"), {})

    def test_other_pixels_are_tiled_with_the_metadata(self):
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=beside")
        self.build()
        photo(self.source, 600, 400)
        metadata = self.build()
        self.assertEqual((metadata["title"], metadata.get("creator")), ("beside", None))

    def test_every_page_has_them(self):
        self.source.unlink()
        pages = self.base / "photos/codex.tif"
        subprocess.run(["vips", "copy", photo(self.base / "roll.png", 60, 120), f"{pages}[page-height=40]"], check=True)
        write(self.base / "photos/codex.tif.xmp", "-XMP-dc:Title=Kodex")
        for number in (1, 2, 3):
            self.assertEqual(self.build(id=f"codex/{number}", status="built" if number == 1 else "unchanged")["title"], "Kodex")
        write(self.base / "photos/codex.tif.xmp", "-XMP-dc:Title=Codex")
        self.assertEqual(self.build(id="codex/3", status="metadata-updated")["title"], "Codex")
        self.assertEqual(parts(self.library / "codex/1.szi")[0]["title"], "Codex")

    def test_pages_of_a_book_have_each_its_own(self):
        second = photo(self.base / "photos/page2.jpg", 60, 40)
        write(second.with_suffix(".xmp"), "-XMP-dc:Title=verso")
        built = run("build", self.base / "photos", "--library", self.library, "--book", "--quiet")
        self.assertEqual(built.returncode, 0, built.stderr)
        titles = sorted(parts(path)[0].get("title") for path in self.library.glob("photos/*.szi"))
        self.assertEqual(titles, ["own", "verso"])

    def test_those_that_cannot_be_read_are_named(self):
        write(self.base / "good.xmp", "-XMP-dc:Title=Füße", "-XMP-dc:Source=a")
        xmp = (self.base / "good.xmp").read_text()
        sidecar = self.base / "photos/INV-0091.xmp"
        doubled = xmp.replace("<dc:source>", "<dc:source>b</dc:source><dc:source>")
        for data, reason in ((b"", "is empty"), (b"title: x", "is not XMP"), (xmp.replace("\ufeff", "").encode("latin-1"), "is neither UTF-8 nor UTF-16"),
                             (doubled.encode(), "has the property 'dc:source' twice"), (xmp.encode() + b"</a>", "is not well-formed XML")):
            with self.subTest(reason):
                sidecar.write_bytes(data)
                result = run("build", self.base / "photos", "--library", self.library)
                self.assertEqual(result.returncode, 0)
                self.assertIn(f"INV-0091.xmp: {reason}", result.stderr)
                self.assertEqual(parts(self.library / "INV-0091.szi")[0]["title"], "own")
        sidecar.write_bytes(xmp.encode("utf-16"))
        result = run("build", self.base / "photos", "--library", self.library)
        self.assertNotIn("ignored", result.stderr)
        self.assertEqual(parts(self.library / "INV-0091.szi")[0]["title"], "Füße")

    def test_the_ending_in_the_other_case(self):
        upper = self.source.rename(self.base / "photos/one.JPG")
        write(self.base / "photos/one.jpg.xmp", "-XMP-dc:Title=beside")
        self.assertEqual(self.build(id="one")["title"], "beside")
        # Another picture's sidecar is not its own.
        photo(self.base / "photos/one.jpg", 300, 200)
        library = self.base / "other"
        self.assertEqual(run("build", self.base / "photos", "--library", library).returncode, 0)
        self.assertEqual(upper.name, "one.JPG")
        self.assertEqual([parts(library / f"one.{ending}.szi")[0]["title"] for ending in ("JPG", "jpg")], ["own", "beside"])

    def test_what_is_no_sidecar_says_nothing_and_stops_nothing(self):
        sidecar = self.base / "photos/INV-0091.xmp"
        status = "built"
        for bytes in (b"", b"no xmp", b"<x:xmpmeta", b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>" + b" " * (5 << 20), b"\0" * 100):
            sidecar.write_bytes(bytes)
            self.assertEqual(self.build(status=status)["title"], "own")
            status = "metadata-updated"
        sidecar.unlink()
        os.mkfifo(sidecar)
        self.assertEqual(self.build(status="metadata-updated")["title"], "own")
        sidecar.unlink()
        sidecar.mkdir()
        self.assertEqual(self.build(status="unchanged")["title"], "own")

    def test_a_damaged_archive_is_built_and_not_reworded(self):
        self.build()
        archive = self.library / "INV-0091.szi"
        bytes = bytearray(archive.read_bytes())
        # The header of the first tile.
        bytes[:4] = b"\0\0\0\0"
        archive.write_bytes(bytes)
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=beside")
        self.assertEqual(self.build()["title"], "beside")
        self.assertEqual(run("verify", self.library).returncode, 0)

    def test_killed_while_it_rewrites_leaves_the_old_or_the_new(self):
        photo(self.source, 5000, 2800)
        self.build("--quiet", "--format", "png")
        archive = self.library / "INV-0091.szi"
        for number in range(12):
            write(self.base / "photos/INV-0091.xmp", f"-XMP-dc:Title={number}")
            builder = subprocess.Popen([str(BINARY), "build", str(self.base / "photos"), "--library", str(self.library), "--quiet",
                                        "--format", "png"], stderr=subprocess.DEVNULL)
            time.sleep(0.02 * number)
            builder.send_signal(signal.SIGKILL)
            builder.wait()
            with zipfile.ZipFile(archive) as file:
                self.assertIsNone(file.testzip())
            self.assertIn(parts(archive)[0].get("title"), [None, *map(str, range(number + 1))])
        metadata = self.build("--quiet", "--format", "png", status="metadata-updated" if parts(archive)[0].get("title") != "11" else "unchanged")
        self.assertEqual(metadata["title"], "11")
        self.assertEqual(leftovers(self.library), [])

    def test_a_private_space_has_the_metadata_too(self):
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=beside")
        password = self.base / "password"
        password.write_text("correct horse battery staple")
        password.chmod(0o600)
        secret = ("--password-file", password)
        created = run("space", "create", self.library, *secret)
        self.assertEqual(created.returncode, 0, created.stderr)

        def title():
            built = run("build", self.base / "photos", "--library", self.library, "--space", "--quiet", *secret)
            self.assertEqual(built.returncode, 0, built.stderr)
            return json.loads(run("space", "list", self.library, "--json", *secret).stdout)["title"]
        self.assertEqual(title(), "beside")
        write(self.base / "photos/INV-0091.xmp", "-XMP-dc:Title=other")
        self.assertEqual(title(), "other")


class Watching(CommandTest):
    def test_a_sidecar_that_comes_changes_and_goes_is_followed(self):
        base = folder("watch sidecars")
        write(photo(base / "photos/a.jpg", 300, 200), "-XMP-dc:Title=own")
        watched = Watched(base)
        self.addCleanup(lambda: watched.process.poll() is None and watched.process.kill())
        watched.until(lambda: "watching" in watched.text(), "began to watch")

        def follow(title):
            watched.until(lambda: parts(watched.library / "a.szi")[0].get("title") == title, f"had the title {title}")
        write(base / "a.xmp", "-XMP-dc:Title=beside")
        shutil.move(base / "a.xmp", base / "photos/a.xmp")
        follow("beside")
        write(base / "photos/a.xmp", "-XMP-dc:Title=changed")
        follow("changed")
        (base / "photos/a.xmp").unlink()
        follow("own")
        self.assertEqual(watched.text().count("built a:"), 1)
        self.assertEqual(watched.end(), 130)


if __name__ == "__main__":
    import unittest
    unittest.main()
