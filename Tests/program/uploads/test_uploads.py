"""Uploads by tus 1.0: what arrives becomes a picture; what is asked wrongly is refused."""

import json
import subprocess
import shutil
import time
import unittest

from harness import Answer, ServerTest, folder, photo, run, seed
from upload_client import Client, TOKEN, TYPE, metadata, rest_of, serve, tiles


class RestoredLibraries(unittest.TestCase):
    def test_uploads_go_on_when_the_library_was_removed_and_restored(self):
        library, copy = folder("library"), folder("copy") / "library"
        data = photo(folder("photos") / "a.jpg", 300, 200).read_bytes()
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.end(client.send(data, filename="first.jpg")[1])["image"], "first")
            shutil.copytree(library, copy)
            for whole in (False, True):
                with self.subTest(whole=whole):
                    for path in library.iterdir():
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    if whole:
                        library.rmdir()
                        library.mkdir()
                    shutil.copytree(copy, library, dirs_exist_ok=True)
                    data = photo(folder("photos") / "b.jpg", 300, 200, left=500 + 100 * whole).read_bytes()
                    state = client.end(client.send(data, filename="later.jpg")[1])
                    self.assertEqual(state["status"], "done", state)
                    self.assertIn(state["image"], client.images())
            # The folder is locked again.
            second = run("serve", library, "--port", 0, "--writable", environment={"ZIGGURAT_WRITE_TOKEN": TOKEN})
            self.assertEqual(second.returncode, 1)
            self.assertIn("another process takes them", second.stderr)


class Protocol(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        cls.server = serve(cls.library, "--max-upload-size", 8)
        cls.client = Client(cls.server)
        cls.photo = photo(folder("photos") / "harbour.jpg", 900, 700).read_bytes()

    def test_what_the_server_can(self):
        answer = self.client.ask("OPTIONS", "/api/uploads", tus=False, token=None)
        self.assertEqual((answer.status, answer["tus-version"], answer["tus-max-size"]), (204, "1.0.0", str(8 << 20)))
        self.assertLessEqual({"creation", "creation-with-upload", "expiration", "termination"},
                             set(answer["tus-extension"].split(",")))

    def test_in_pieces_of_any_size(self):
        chance = seed("pieces")
        made = self.client.create(len(self.photo), filename="in pieces.jpg", folder="a/b")
        path, offset = made["location"], 0
        while offset < len(self.photo):
            piece = self.photo[offset:offset + chance.choice([1, 63, 64, 5000, 100_000])]
            chunked = chance.random() < 0.5
            if chunked:
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(piece), piece)
                answer = self.client.ask("PATCH", path, body, Upload_Offset=offset, Content_Type=TYPE, Transfer_Encoding="chunked")
            else:
                answer = self.client.patch(path, offset, piece)
            offset += len(piece)
            self.assertEqual((answer.status, answer["upload-offset"]), (204, str(offset)))
            head = self.client.ask("HEAD", path)
            self.assertEqual((head["upload-offset"], head["upload-length"]), (str(offset), str(len(self.photo))))
        state = self.client.end(path)
        self.assertEqual((state["status"], state["image"]), ("done", "a/b/in pieces"))
        self.assertIn("a/b/in pieces", self.client.images())
        # The very tiles that the command line makes of the same file.
        source = folder("source") / "in pieces.jpg"
        source.write_bytes(self.photo)
        other = folder("other")
        self.assertEqual(run("build", source, "--library", other, "--quiet").returncode, 0)
        self.assertEqual(tiles(self.library / "a/b/in pieces.szi"), tiles(other / "in pieces.szi"))

    def test_creation_with_upload(self):
        data = photo(folder("photos") / "with.jpg", 500, 400, left=1200).read_bytes()
        answer = self.client.ask("POST", "/api/uploads", data, Upload_Length=len(data), Content_Type=TYPE,
                                 Upload_Metadata=metadata(filename="with.jpg"))
        self.assertEqual((answer.status, answer["upload-offset"]), (201, str(len(data))))
        self.assertEqual(self.client.end(answer["location"])["image"], "with")

    def test_another_picture_of_the_same_name_gets_a_number(self):
        ids = [self.client.end(self.client.send(photo(folder("p") / "x.jpg", 300, 200, left=100 * n).read_bytes(),
                                                filename="image.jpg")[1])["image"] for n in range(3)]
        self.assertEqual(ids, ["image", "image-2", "image-3"])

    def test_refusals(self):
        made = self.client.create(1000, filename="refused.jpg")["location"]
        for status, answer in (
            (401, self.client.ask("POST", "/api/uploads", token=None, Upload_Length=5)),
            (401, self.client.ask("POST", "/api/uploads", token="wrong-token-of-the-tests", Upload_Length=5)),
            (401, self.client.ask("GET", made, token=None)), (401, self.client.ask("GET", "/api/events", token=None)),
            (401, self.client.ask("DELETE", made, token=None)), (401, self.client.ask("GET", "/api/uploads", token=None)),
            (412, self.client.ask("POST", "/api/uploads", tus=False, Upload_Length=5)),
            (412, self.client.ask("HEAD", made, tus=False)),
            (400, self.client.ask("POST", "/api/uploads")), (400, self.client.ask("POST", "/api/uploads", Upload_Length="x")),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=0)),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=-5)),
            (400, self.client.ask("POST", "/api/uploads", Upload_Length=5, Upload_Metadata="filename !!!")),
            (413, self.client.ask("POST", "/api/uploads", Upload_Length=(8 << 20) + 1)),
            (415, self.client.ask("PATCH", made, b"x", Upload_Offset=0, Content_Type="text/plain")),
            (400, self.client.ask("PATCH", made, b"x", Content_Type=TYPE)),
            (409, self.client.patch(made, 5, b"x")), (413, self.client.patch(made, 0, b"x" * 1001)),
            (404, self.client.patch("/api/uploads/" + "0" * 32, 0, b"x")), (404, self.client.ask("HEAD", "/api/uploads/x")),
            (404, self.client.ask("DELETE", "/api/uploads/..%2F..%2Fetc")), (405, self.client.ask("PUT", made)),
            (405, self.client.ask("PATCH", "/api/uploads", Upload_Offset=0)),
        ):
            with self.subTest(status, answer=answer):
                self.assertEqual(answer.status, status)
        self.assertEqual(self.client.ask("HEAD", made)["upload-offset"], "0")

    def test_no_folder_has_an_archives_name(self):
        for name in ("x.szi", "deep/x.zip/y", "x.dzi"):
            answer = self.client.create(1000, filename="a.jpg", folder=name)
            self.assertEqual(answer.status, 400, name)
            self.assertIn("has the name of an archive; name a folder that does not end in .szi, .dzi or .zip", answer.body.decode())
        self.assertEqual(self.client.create(1000, filename="a.jpg", folder="szi").status, 201)
        # A file of several pages is a folder of its name, which no image's archive may have.
        made = [self.client.end(self.client.send(data, filename=name)[1]) for name, data in (
            ("two.jpg", photo(folder("p") / "x.jpg", 310, 200).read_bytes()), ("two.szi.tif", self.pages()))]
        self.assertEqual([(state["status"], state.get("image")) for state in made], [("done", "two"), ("done", "two-szi")], made)

    def pages(self) -> bytes:
        place = folder("pages")
        photo(place / "a.png", 200, 300)
        subprocess.run(["vips", "copy", place / "a.png", f"{place}/a.tif[page-height=150]"], check=True)
        return (place / "a.tif").read_bytes()

    def test_more_bytes_than_declared_in_chunks(self):
        made = self.client.create(1000, filename="more.jpg")["location"]
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (5000, b"\xff\xd8\xff" + bytes(4997))
        answer = self.client.ask("PATCH", made, body, Upload_Offset=0, Content_Type=TYPE, Transfer_Encoding="chunked")
        self.assertEqual(answer.status, 413)
        self.assertEqual(self.client.ask("DELETE", made).status, 204)

    def test_termination(self):
        made = self.client.create(1000, filename="gone.jpg")["location"]
        self.client.patch(made, 0, b"\xff\xd8\xff" + bytes(500))
        self.assertEqual(self.client.ask("DELETE", made).status, 204)
        self.assertEqual(self.client.ask("HEAD", made).status, 410)
        self.assertEqual(self.client.patch(made, 503, b"x").status, 410)
        self.assertFalse([path for path in rest_of(self.library) if made.split("/")[-1] in path])

    def test_a_second_request_takes_over(self):
        data = photo(folder("photos") / "over.jpg", 800, 500, left=3000).read_bytes()
        path = self.client.create(len(data), filename="over.jpg")["location"]
        with self.server.connect() as hanging:
            hanging.sendall(f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nTus-Resumable: 1.0.0\r\n"
                            f"Upload-Offset: 0\r\nContent-Type: {TYPE}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data[:5000])
            time.sleep(0.2)
            self.assertEqual(self.client.patch(path, 0, data).status, 204)
            try:
                hanging.sendall(data[5000:])
                self.assertIn(Answer(hanging.recv(1000)).status, (0, 409))
            except OSError:
                pass
        self.assertEqual(self.client.end(path)["image"], "over")

    def test_forged_by_another_site(self):
        login = self.client.ask("POST", "/api/session", json.dumps({"token": TOKEN}).encode(), token=None, tus=False,
                                Content_Type="application/json")
        self.assertEqual(login.status, 200, login)
        cookie = login["set-cookie"].split(";")[0]
        for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                        {"Sec_Fetch_Site": "same-site"}, {"Origin": "http://127.0.0.1.evil.example"}):
            for method, path in (("POST", "/api/uploads"), ("DELETE", "/api/uploads/" + "0" * 32)):
                with self.subTest(headers, method=method):
                    answer = self.client.ask(method, path, token=None, Cookie=cookie, Upload_Length=5, **headers)
                    self.assertEqual(answer.status, 403)
        answer = self.client.ask("POST", "/api/uploads", token=None, Cookie=cookie, Upload_Length=5, Origin="http://127.0.0.1")
        self.assertEqual(answer.status, 201)
        self.client.ask("DELETE", answer["location"])


if __name__ == "__main__":
    unittest.main()
