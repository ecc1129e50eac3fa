"""Symbolic links inside a library are followed only within it: nothing of the machine's other files is served."""

import json
import os
import shutil
import subprocess
import unittest

from harness import SECRET, CommandTest, Server, folder, photo, run
from upload_client import Client, TOKEN, serve, token_file


class Links(CommandTest):
    def setUp(self):
        self.base = folder("links")
        self.library, self.outside = self.base / "library", self.base / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text(SECRET)
        photo(self.base / "photo.jpg", 700, 500)
        for place in (self.library, self.outside):
            self.assertEqual(run("build", self.base / "photo.jpg", "--library", place, "--quiet").returncode, 0)

    def pyramid(self, name: str = "d"):
        subprocess.run(["vips", "dzsave", self.base / "photo.jpg", self.library / name, "--tile-size", "256", "--overlap", "0",
                        "--suffix", ".jpg"], check=True, capture_output=True)
        return self.library / f"{name}_files"

    def assertKept(self, server: Server, path: str, status: int = 500):
        answer = server.get(path)
        self.assertEqual(answer.status, status, path)
        self.assertNotIn(SECRET.encode(), answer.body)
        self.assertNotIn(str(self.base).encode(), answer.body)

    def test_the_librarys_own_files_are_no_links_that_lead_out(self):
        victim = self.outside / "victim"
        victim.write_text(SECRET)
        store = self.outside / "store"
        store.mkdir()
        (store / "keep.txt").write_text(SECRET)
        (self.base / "password").write_text("a password for this test\n")
        commands = {
            "build": ("build", self.base / "photo.jpg", "--library", self.library, "--quiet"),
            "reindex": ("reindex", self.library), "serve": ("serve", self.library, "--port", "0"),
            "uploads": ("serve", self.library, "--port", "0", "--writable", "--token-file", token_file()),
            "space": ("space", "create", self.library, "--password-file", self.base / "password")}
        for name, users in (("catalog.sqlite", ("build", "reindex", "serve")), ("catalog.sqlite-wal", ("build", "reindex", "serve")),
                            (".ziggurat-uploads", ("uploads",)), (".spaces", ("space",))):
            for path in self.library.glob("catalog.sqlite*"):
                path.unlink()
            for target in (victim, self.outside / "nothing", "../outside/victim") if name.startswith("catalog") else (store, self.outside / "nothing"):
                (self.library / name).symlink_to(target)
                for user in users:
                    with self.subTest(name, user=user, target=target):
                        result = run(*commands[user], timeout=20)
                        self.assertEqual(result.returncode, 1, result)
                        lines = [line for line in result.stderr.splitlines() if "leads out of the library" in line]
                        self.assertEqual(len(lines), 1, result.stderr)
                        self.assertIn(f"{self.library}/{name}", lines[0])
                (self.library / name).unlink()
            self.assertEqual(sorted(path.name for path in self.outside.iterdir() if "catalog" not in path.name),
                             ["photo.szi", "secret.txt", "store", "victim"])
            self.assertEqual((victim.read_text(), [path.name for path in store.iterdir()]), (SECRET, ["keep.txt"]))
        # Within the library it leads where it likes.
        (self.library / "disk").mkdir()
        (self.library / ".spaces").symlink_to("disk")
        self.assertEqual(run(*commands["space"]).returncode, 0)
        self.assertIn("keyring", [path.name for path in (self.library / "disk").iterdir()])

    def test_tiles_that_are_links(self):
        files = self.pyramid()
        whole = (files / "10/0_0.jpg").read_bytes()
        for link, target in [("10/1_0.jpg", self.outside / "secret.txt"), ("10/0_1.jpg", "../../../outside/secret.txt"),
                             ("10/1_1.jpg", "0_0.jpg"), ("10/2_0.jpg", files / "10/0_0.jpg"), ("10/2_1.jpg", "/etc/passwd")]:
            (files / link).unlink()
            (files / link).symlink_to(target)
        # A level, and all tiles, that lie elsewhere.
        shutil.move(files / "9", self.outside / "9")
        (files / "9").symlink_to(self.outside / "9")
        shutil.move(self.pyramid("e"), self.outside / "e_files")
        (self.library / "e_files").symlink_to("../outside/e_files")
        shutil.move(self.pyramid("f"), self.library / "tiles of f")
        (self.library / "f_files").symlink_to("tiles of f")
        with Server(self.library) as server:
            for path in ("1_0", "0_1", "2_1"):
                self.assertKept(server, f"/dzi/d_files/10/{path}.jpg")
            for path in ("/dzi/d_files/9/0_0.jpg", "/dzi/e_files/10/0_0.jpg", "/xyz/d/2/1/0.jpg", "/iiif/3/d/full/max/0/default.jpg"):
                self.assertKept(server, path)
            for path in ("d_files/10/1_1", "d_files/10/2_0", "f_files/10/0_0"):
                answer = server.get(f"/dzi/{path}.jpg")
                self.assertEqual((answer.status, answer.body), (200, whole), path)
            # One that was served, and is put elsewhere while the server runs.
            (files / "10/0_0.jpg").unlink()
            (files / "10/0_0.jpg").symlink_to(self.outside / "secret.txt")
            self.assertKept(server, "/dzi/d_files/10/0_0.jpg")
        result = run("export", self.library / "d.dzi", "--layout", "dz", "--output", self.base / "out")
        self.assertEqual(result.returncode, 1)
        self.assertNotIn(SECRET, result.stdout + result.stderr)
        self.assertFalse((self.base / "out").exists())

    def test_archives_and_descriptors_that_are_links(self):
        self.pyramid()
        shutil.move(self.library / "d.dzi", self.outside / "d.dzi")
        (self.library / "sub").mkdir()
        for link, target in [("out.szi", self.outside / "photo.szi"), ("relative.szi", "../outside/photo.szi"),
                             ("d.dzi", self.outside / "d.dzi"), ("sub/in.szi", "../photo.szi"),
                             ("again.szi", self.library / "photo.szi")]:
            (self.library / link).symlink_to(target)
        with Server(self.library) as server:
            for name in ("out", "relative", "d"):
                self.assertKept(server, f"/api/images/{name}")
            for name in ("sub%2Fin", "again", "photo"):
                self.assertEqual(server.get(f"/api/images/{name}").status, 200, name)
        result = run("reindex", self.library)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("a link leads out of the folder"), 3, result.stderr)
        # What somebody names himself he may have.
        self.assertEqual(run("inspect", self.library / "out.szi").returncode, 0)

    def test_verify_refuses_links_that_lead_out(self):
        for link, target in [("out.szi", self.outside / "photo.szi"), ("relative.szi", "../outside/photo.szi"),
                             ("secret.szi", self.outside / "secret.txt"), ("again.szi", "photo.szi")]:
            (self.library / link).symlink_to(target)
        before = {path: path.read_bytes() for path in self.outside.rglob("*") if path.is_file()}
        result = run("verify", self.library)
        self.assertEqual(result.returncode, 1, result.stdout)
        lines = (result.stdout + result.stderr).splitlines()
        self.assertNotIn(SECRET, result.stdout + result.stderr)
        for name in ("out.szi", "relative.szi", "secret.szi"):
            self.assertEqual(sum(f"/{name}: " in line and "a link leads out of the folder" in line for line in lines), 1, (name, lines))
        # A link within the library is no error, nor is its target.
        self.assertFalse(any(f"/{name}.szi: " in line for line in lines for name in ("again", "photo")), lines)
        # Those that are named by hand are read.
        self.assertEqual(run("verify", self.library / "out.szi").returncode, 0)
        self.assertEqual({path: path.read_bytes() for path in before}, before)

    def test_sidecars_that_are_links(self):
        metadata = self.outside / "words.xmp"
        shutil.copy(self.library / "photo.szi", self.library / "other.szi")
        with serve(self.library) as server:
            client = Client(server)
            def edit(id: str, title: str) -> int:
                return client.ask("PATCH", f"/api/images/{id}", json.dumps({"title": title}).encode(), tus=False,
                                  Content_Type="application/json").status
            def title(id: str) -> str | None:
                return json.loads(server.get(f"/api/images/{id}").body).get("title")
            self.assertEqual(edit("photo", SECRET), 200)
            # Another file, for the catalog knows this one.
            shutil.copy(self.library / "photo.xmp", metadata)
            (self.library / "photo.xmp").unlink()
        (self.library / "photo.xmp").symlink_to(metadata)
        with serve(self.library) as server:
            client = Client(server)
            self.assertNotEqual(title("photo"), SECRET)
            self.assertNotIn(SECRET.encode(), server.get("/api/images").body)
            # Unreadable metadata are not overwritten.
            before = metadata.read_bytes()
            self.assertGreaterEqual(edit("photo", "mine"), 400)
            self.assertEqual(metadata.read_bytes(), before)
            self.assertTrue((self.library / "photo.xmp").is_symlink())
            self.assertEqual(edit("other", "theirs"), 200)
            os.rename(self.library / "other.xmp", self.library / "words.xmp")
            (self.library / "other.xmp").symlink_to("words.xmp")
        with serve(self.library) as server:
            self.assertEqual(title("other"), "theirs")

    def test_a_library_that_is_a_link_may_be_swapped(self):
        (self.base / "current").symlink_to("library")
        with Server(self.base / "current") as server:
            self.assertEqual(server.get("/api/images/photo").status, 200)
            (self.base / "next").symlink_to("outside")
            os.replace(self.base / "next", self.base / "current")
            self.assertEqual(server.get("/api/images/photo").status, 200)
            self.assertEqual(server.get("/dzi/photo_files/0/0_0.jpg").status, 200)


if __name__ == "__main__":
    unittest.main()
