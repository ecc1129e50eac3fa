"""`ziggurat space move`: into a space, out of it and into another, also killed at any time."""

import json
import os
import signal
import subprocess
import time
import unittest
import zipfile
from pathlib import Path

from exiftool import write
from harness import BINARY, CRASH, folder, photo, run, seed
from PIL import Image
from quick_keys import setUpModule, tearDownModule  # noqa: F401
from space_client import SpaceTest, plain_text
from upload_client import TOKEN, Client, serve

KILLS = int(os.environ.get("KILLS", 4))


class Moving(SpaceTest):
    def setUp(self):
        self.library = folder("library")
        photographs = folder("photos")
        for name in ("grandmother", "harbour"):
            path = photo(photographs / f"family/{name}.jpg", 900, 700)
            write(path, f"-Title=Lighthouse {name}")
        self.assertEqual(run("build", photographs, "--library", self.library, "--quiet").returncode, 0)
        for secret in ("the first one", "the second one"):
            self.space("create", self.library, secret)

    def move(self, *ids, code=0, secrets=("the first one",), **options):
        arguments = ["space", "move", self.library, *ids]
        for name, secret in zip(("password-file", "new-password-file"), secrets):
            arguments += [f"--{name}", self.file(secret)]
        arguments += [word for name, value in options.items() for word in (f"--{name}", value)]
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotRegex(result.stderr, CRASH)
        return result.stderr

    def listed(self, secret: str) -> list[str]:
        return [json.loads(line)["id"] for line in self.space("list", self.library, secret, options=["--json"]).stdout.splitlines()]

    def tiles(self) -> dict:
        with zipfile.ZipFile(self.library / "family/grandmother.szi") as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def test_into_a_space_another_and_back_is_the_same_picture(self):
        before = self.tiles()
        sidecar = self.library / "family/grandmother.xmp"
        sidecar.write_text("<x:xmpmeta>Lighthouse</x:xmpmeta>")
        self.assertIn("moved family/grandmother", self.move("family/grandmother"))
        self.assertEqual(self.listed("the first one"), ["family/grandmother"])
        self.assertEqual(sorted(path.name for path in (self.library / "family").iterdir()), ["harbour.szi"])
        # Nor does the catalog keep what it knew.
        for path in self.library.glob("catalog*"):
            self.assertNotIn(b"grandmother", path.read_bytes(), path)
        self.assertEqual([path for path in plain_text(self.library / ".spaces")], [])
        self.move("~/family/grandmother", secrets=("the first one", "the second one"), to="other-space")
        self.assertEqual((self.listed("the first one"), self.listed("the second one")), ([], ["family/grandmother"]))
        self.space("verify", self.library, "the second one")
        self.move("~/family/grandmother", secrets=("the second one",), to="library")
        self.assertEqual(self.tiles(), before)
        self.assertIn("Lighthouse", sidecar.read_text())
        self.assertEqual(self.listed("the second one"), [])
        self.assertEqual(run("verify", self.library).returncode, 0)

    def uploaded(self) -> tuple[Client, Path]:
        """Uploads `alpha`, whose picture does not show its alpha: the file is kept."""
        server = serve(self.library)
        self.addCleanup(server.stop)
        client = Client(server)
        picture = folder("p") / "alpha.png"
        Image.new("RGBA", (300, 200), (10, 20, 30, 40)).save(picture)
        self.assertEqual(client.end(client.send(picture.read_bytes(), filename="alpha.png")[1])["image"], "alpha")
        return client, picture

    def test_the_original_of_an_upload_is_sealed_and_comes_back(self):
        client, picture = self.uploaded()
        self.assertEqual((self.library / "alpha.png").read_bytes(), picture.read_bytes())
        reported = self.move("alpha")
        self.assertNotIn("publishes", reported)
        self.assertEqual(list(self.library.glob("alpha*")), [])
        self.space("verify", self.library, "the first one")
        self.move("~/alpha", to="library")
        self.assertEqual((self.library / "alpha.png").read_bytes(), picture.read_bytes())
        self.until(lambda: client.ask("GET", "/api/images/alpha/original").body == picture.read_bytes(), "the original is not served")

    def test_an_original_goes_along_into_a_space_that_has_the_picture(self):
        _, picture = self.uploaded()
        self.move("alpha")
        result = run("build", picture, "--library", self.library, "--space", "--quiet", "--password-file", self.file("the second one"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.move("~/alpha", secrets=("the first one", "the second one"), to="other-space")
        self.assertEqual((self.listed("the first one"), self.listed("the second one")), ([], ["alpha"]))
        self.move("~/alpha", secrets=("the second one",), to="library")
        self.assertEqual((self.library / "alpha.png").read_bytes(), picture.read_bytes())

    def test_a_refused_move_leaves_no_original(self):
        self.uploaded()
        self.move("alpha")
        other = photo(folder("other") / "alpha.jpg", 400, 300)
        self.assertEqual(run("build", other, "--library", self.library, "--quiet").returncode, 0)
        self.assertIn("another picture of that name", self.move("~/alpha", to="library", code=1))
        self.assertEqual(list(self.library.glob("alpha*.png")), [])
        self.assertEqual(self.listed("the first one"), ["alpha"])

    def test_a_picture_that_a_build_would_publish_again_is_reported(self):
        self.assertIn("the next build of a picture's source publishes it again", self.move("family/harbour"))

    def test_an_empty_sidecar_has_no_metadata(self):
        metadata = b"<x:xmpmeta>Lighthouse</x:xmpmeta>"
        for first, second in ((b"", None), (None, b""), (b"", metadata), (b"", b"")):
            for ending, content in ((".xmp", first), (".szi.xmp", second)):
                if content is not None:
                    (self.library / f"family/grandmother{ending}").write_bytes(content)
            self.move("family/grandmother")
            self.assertEqual(sorted(path.name for path in (self.library / "family").iterdir()), ["harbour.szi"])
            if (first, second) == (b"", None):
                (self.library / "family/grandmother.xmp").write_bytes(b"")
            self.move("~/family/grandmother", to="library")
            sidecar = self.library / "family/grandmother.xmp"
            self.assertEqual(sidecar.read_bytes() if sidecar.exists() else b"", second or b"")
            sidecar.unlink(missing_ok=True)

    def test_a_description_that_a_person_wrote_does_not_stay_when_its_book_goes(self):
        scans = folder("scans")
        for name in ("f1", "f2"):
            photo(scans / f"diary/{name}.jpg", 60, 80)
        (scans / "diary/book.json").write_text('{"title": "Diary"}')
        kept = self.library / "diary/book.json"
        for wrote, by_server in ((True, False), (True, True), (False, False), (False, True)):
            with self.subTest(wrote=wrote, by_server=by_server):
                self.assertEqual(run("build", scans, "--library", self.library, "--book", "--quiet").returncode, 0)
                # What is no image hides nothing.
                (self.library / "diary/notes.txt").write_text("notes")
                if wrote:
                    kept.write_text(kept.read_text().replace("Diary", "Secrets of Anna"))
                if by_server:
                    with serve(self.library) as server:
                        owner = self.owner(server, "the first one")
                        self.assertEqual(owner.log_in({"token": TOKEN}).status, 200)
                        answers = [owner.send_json(f"api/images/diary%2F{name}/move", {"to": "space"}) for name in ("f1", "f2")]
                    self.assertEqual([answer.status for answer in answers], [200, 409 if wrote else 200])
                    text = answers[1].body.decode()
                else:
                    text = self.move("diary/f1", "diary/f2", code=int(wrote))
                self.assertEqual((self.library / "diary/f2.szi").exists(), wrote)
                if wrote:
                    self.assertIn("a private space cannot keep the book's edited description", text)
                    self.assertIn("move diary/book.json out of the library first", text.replace("\\/", "/"))
                    self.assertNotIn(str(self.library), text)
                    kept.rename(folder("safe") / "book.json")
                    self.move("diary/f2")
                self.assertFalse(kept.exists())
                self.assertEqual([path for path in self.library.rglob("*") if path.is_file() and b"Anna" in path.read_bytes()], [])
                self.assertEqual(self.listed("the first one"), ["diary/f1", "diary/f2"])

    def test_a_sidecar_that_leads_out_of_the_library_is_not_sealed(self):
        outside = folder("elsewhere") / "words.xmp"
        outside.write_text("not the library's")
        link = self.library / "family/grandmother.xmp"
        link.symlink_to(outside)
        self.assertIn("a link leads out", self.move("family/grandmother", code=1))
        self.assertTrue(link.is_symlink() and link.with_suffix(".szi").exists())
        self.assertEqual(self.listed("the first one"), [])

    def test_what_cannot_be_moved_stays(self):
        self.assertIn("none", self.move("none", code=1))
        self.assertIn("no such picture", self.move("none", code=1, to="library"))
        self.assertIn("same space", self.move("none", code=1, to="other-space", secrets=("the first one", "the first one")))
        self.assertIn("no space opens", self.move("family/harbour", code=1, secrets=("wrong",)))
        for ids in ([], ["../family/harbour"], ["/etc/passwd"], [".spaces/x"]):
            self.assertEqual(self.move(*ids, code=2).count("\n"), 1)
        self.move("family/harbour", code=2, to="nowhere")
        other = folder("other")
        photo(other / "family/harbour.jpg", 500, 400)
        self.build(other, self.library, "the first one", "--quiet")
        self.assertIn("another picture of that name", self.move("family/harbour", code=1))
        self.assertIn("another picture of that name", self.move("family/harbour", code=1, to="library"))
        self.assertTrue((self.library / "family/harbour.szi").exists())
        self.assertEqual(self.listed("the first one"), ["family/harbour"])

    def test_killed_at_random_times_the_picture_remains(self):
        chance, hits = seed("kill -9 of move"), 0
        command = [BINARY, "space", "move", self.library, "family/grandmother", "--password-file", self.file("the first one")]
        began = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.monotonic() - began
        for _ in range(KILLS):
            for target in ("library", "space"):
                began = time.monotonic()
                process = subprocess.Popen([*command, "--to", target], stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0.5 * seconds, seconds))
                process.send_signal(signal.SIGKILL)
                if process.wait(20) == -signal.SIGKILL:
                    hits += 1
                else:
                    # The machine has less to do than it had.
                    seconds = 0.9 * min(seconds, time.monotonic() - began)
                self.assertTrue((self.library / "family/grandmother.szi").exists()
                                or "family/grandmother" in self.listed("the first one"))
                # The same call again ends what was begun, or finds it done.
                subprocess.run([*command, "--to", target], stderr=subprocess.DEVNULL)
                self.assertEqual((self.library / "family/grandmother.szi").exists(), target == "library")
                self.assertEqual("family/grandmother" in self.listed("the first one"), target == "space")
        self.assertGreater(hits, 0)
        self.space("verify", self.library, "the first one")


if __name__ == "__main__":
    unittest.main()
