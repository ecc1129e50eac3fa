"""Uploads outlive the server: killed at any byte, it goes on where it was."""

import json
import os
import struct
import time
import unittest
from pathlib import Path

from harness import folder, photo, run, seed
from szi import archives
from upload_client import Client, TOKEN, TYPE, rest_of, serve, tiles, token_file


class Crashes(unittest.TestCase):
    KILLS = int(os.environ.get("UPLOAD_KILLS", 25))

    def test_killed_at_any_byte(self):
        """kill -9 while bytes come and while tiles are made: what was acknowledged is there, the rest is nowhere."""
        chance = seed("kills")
        library, sent = folder("library"), {}
        server = serve(library)
        kills = 0
        try:
            while kills < self.KILLS:
                number = len(sent)
                width = chance.choice([300, 900, 1800])
                data = photo(folder("p") / "x.jpg", width, 600, left=chance.randrange(3000)).read_bytes() + struct.pack("I", number)
                client = Client(server)
                path = client.create(len(data), filename=f"picture {number}.jpg")["location"]
                sent[f"picture {number}"] = path
                offset = highest = 0
                while True:
                    # The whole rest, of which some bytes or all are sent before the server dies.
                    count = chance.randint(0, len(data) - offset)
                    with server.connect() as connection:
                        connection.sendall(
                            f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nTus-Resumable: 1.0.0\r\n"
                            f"Upload-Offset: {offset}\r\nContent-Type: {TYPE}\r\nContent-Length: {len(data) - offset}\r\n\r\n".encode()
                            + data[offset:offset + count])
                        time.sleep(chance.random() * 0.03)
                    if chance.random() < 0.6:
                        server.stop(9)
                        kills += 1
                        server = serve(library)
                        client = Client(server)
                        if chance.random() < 0.3:
                            self.assertNotIn(f"picture {number}", client.images())
                    head = client.ask("HEAD", path)
                    self.assertEqual(head.status, 200, head)
                    highest = max(highest, offset + count)
                    self.assertLessEqual(int(head["upload-offset"]), highest)
                    self.assertGreaterEqual(int(head["upload-offset"]), offset)
                    offset = int(head["upload-offset"])
                    if chance.random() < 0.5:
                        break
                # Of the request before, which broke, more may have arrived since it was asked.
                while (answer := client.patch(path, offset, data[offset:])).status == 409:
                    now = int(client.ask("HEAD", path)["upload-offset"])
                    if now == len(data):
                        break
                    self.assertGreater(now, offset)
                    offset = now
                else:
                    self.assertEqual(answer.status, 204)
                if chance.random() < 0.7:
                    time.sleep(chance.random() * 0.3)
                    server.stop(9)
                    kills += 1
                    server = serve(library)
            client = Client(server)
            # Killed twice during the same picture, it is reported as failed, and the client sends it again.
            for name, path in sent.items():
                reported = client.end("/api/uploads/" + path.split("/")[-1])
                if reported["status"] == "failed":
                    self.assertIn("ended twice", reported["message"])
                    again = photo(folder("p") / "x.jpg", 300, 600).read_bytes() + name.encode()
                    self.assertEqual(client.send(again, filename=f"{name}.jpg")[0].status, 204)
            until = time.monotonic() + 120
            while len(client.images()) < len(sent):
                self.assertLess(time.monotonic(), until, sorted(set(sent) - client.images()))
                time.sleep(0.2)
            self.assertEqual(client.images(), set(sent))
            self.assertEqual(rest_of(library), [])
        finally:
            server.stop(9)
        result = run("verify", library)
        self.assertEqual(result.returncode, 0, result.stderr)
        print(f"{kills} kills, {len(sent)} uploads", end=" ", flush=True)

    def test_two_servers_do_not_share_uploads(self):
        library = folder("library")
        with serve(library):
            second = run("serve", library, "--port", 0, "--writable", "--token-file", token_file(), timeout=20)
            self.assertEqual(second.returncode, 1)
            self.assertIn("another process", second.stderr)

    def test_killed_between_the_last_byte_and_the_picture(self):
        """What was acknowledged whole is tiled after the restart, once, under the name that it was to have."""
        library, source = folder("library"), folder("p") / "quay.jpg"
        data = photo(source, 5000, 2800).read_bytes()
        built = folder("built")
        self.assertEqual(run("build", source, "--library", built, "--quiet").returncode, 0)
        killed = []
        for wanted in ("waiting", "tiling"):
            for path in archives(library):
                path.unlink()
            server = serve(library)
            client = Client(server)
            path = client.create(len(data), filename="quay.jpg")["location"]
            record = library / ".ziggurat-uploads" / path.split("/")[-1] / ".record"
            self.assertEqual(client.patch(path, 0, data).status, 204)
            while wanted == "tiling" and '"image"' not in record.read_text():
                pass
            server.stop(9)
            # Else the kill came too late to show anything.
            self.assertEqual(archives(library), [])
            killed.append(record.read_text())
            with serve(library) as server:
                client = Client(server)
                self.assertIn(client.state(path)["status"], ("waiting", "tiling", "done"))
                head = client.ask("HEAD", path)
                self.assertEqual((head.status, head["upload-offset"]), (200, str(len(data))))
                reported = client.end(path)
                self.assertEqual((reported["status"], reported["image"], reported["duplicate"]), ("done", "quay", False))
                self.assertEqual((client.images(), rest_of(library)), ({"quay"}, []))
            self.assertEqual(tiles(library / "quay.szi"), tiles(built / "quay.szi"))
        self.assertIn('"image":"quay"', killed[1])


class Attempts(unittest.TestCase):
    """An upload that ends the server during tiling is tried once more, and then reported as failed."""

    def begin(self, library: Path, path: str | None = None):
        """A server that is in the midst of tiling `quay`, newly sent or taken up again; and the upload's path."""
        server = serve(library)
        client = Client(server)
        if path is None:
            data = photo(folder("p") / "quay.jpg", 9000, 7000).read_bytes()
            path = client.create(len(data), filename="quay.jpg")["location"]
            path = "/api/uploads/" + path.split("/")[-1]
            self.assertEqual(client.patch(path, 0, data).status, 204)
        until = time.monotonic() + 60
        while client.state(path)["status"] != "tiling":
            self.assertLess(time.monotonic(), until)
        return server, path

    def record(self, library: Path, path: str) -> dict:
        return json.loads((library / ".ziggurat-uploads" / path.split("/")[-1] / ".record").read_text())

    def test_an_upload_that_ended_the_server_twice_is_reported_as_failed(self):
        library = folder("library")
        path = None
        for number in (1, 2):
            server, path = self.begin(library, path)
            server.stop(9)
            self.assertEqual(archives(library), [])
            self.assertEqual(self.record(library, path)["attempts"], number)
        with serve(library) as server:
            client = Client(server)
            reported = client.end(path)
            self.assertEqual((reported["status"], reported["image"] if "image" in reported else None), ("failed", None))
            self.assertIn("ended twice", reported["message"])
            self.assertEqual(client.ask("HEAD", path).status, 410)
            self.assertEqual(rest_of(library), [])
            # The others go on.
            _, other = client.send(photo(folder("p") / "other.jpg", 300, 200).read_bytes(), filename="other.jpg")
            self.assertEqual((client.end(other)["status"], client.images()), ("done", {"other"}))
            self.assertEqual(archives(library), [library / "other.szi"])
        with serve(library) as server:
            self.assertIn("ended twice", Client(server).state(path)["message"])

    def test_an_upload_built_before_the_server_ended_twice_is_reported_as_done(self):
        library = folder("library")
        path = None
        for _ in range(2):
            server, path = self.begin(library, path)
            while "image" not in self.record(library, path):
                pass
            server.stop(9)
        self.assertEqual(archives(library), [])
        # As far as it would have come, had it been killed a little later.
        sent = photo(folder("p") / "quay.jpg", 9000, 7000)
        self.assertEqual(run("build", sent, "--library", library, "--quiet").returncode, 0)
        built = tiles(library / "quay.szi")
        with serve(library) as server:
            client = Client(server)
            reported = client.end(path)
            self.assertEqual((reported["status"], reported["image"], reported["duplicate"]), ("done", "quay", False))
            self.assertEqual((client.images(), rest_of(library), tiles(library / "quay.szi")), ({"quay"}, [], built))

    def test_what_ended_the_server_once_is_tried_again(self):
        library = folder("library")
        server, path = self.begin(library)
        server.stop(9)
        with serve(library) as server:
            client = Client(server)
            self.assertEqual((client.end(path)["status"], client.images()), ("done", {"quay"}))

    def test_a_server_that_is_stopped_blames_no_picture(self):
        library = folder("library")
        path = None
        for _ in range(3):
            server, path = self.begin(library, path)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(self.record(library, path)["attempts"], 0)
        with serve(library) as server:
            self.assertEqual(Client(server).end(path)["status"], "done")

    def test_what_was_cancelled_while_it_was_tiled_becomes_no_picture_after_a_kill(self):
        library = folder("library")
        server, path = self.begin(library)
        while "image" not in self.record(library, path):
            pass
        self.assertEqual(Client(server).ask("DELETE", path).status, 204)
        server.stop(9)
        with serve(library) as server:
            client = Client(server)
            upload_end = client.end(path)
            self.assertEqual((upload_end["status"], upload_end["errorCode"], upload_end["message"]), ("failed", "cancelled", "cancelled"))
            self.assertEqual((client.images(), archives(library), rest_of(library)), (set(), [], []))
            # Its name is free.
            _, other = client.send(photo(folder("p") / "quay.jpg", 300, 200).read_bytes(), filename="quay.jpg")
            self.assertEqual(client.end(other)["image"], "quay")

    def test_a_long_queue_keeps_no_expired_upload(self):
        library = folder("library")
        data = photo(folder("p") / "quay.jpg", 5000, 4000).read_bytes()
        server = serve(library)
        client = Client(server)
        partial = client.create(len(data), filename="late.jpg")["location"]
        self.assertEqual(client.patch(partial, 0, data[:1000]).status, 204)
        paths = [client.send(data + bytes([number]), filename=f"{number}.jpg")[1] for number in range(6)]
        server.stop(9)
        file = library / ".ziggurat-uploads" / partial.split("/")[-1] / "late.jpg"
        os.utime(file, (time.time() - 2 * 86400,) * 2)
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.end("/api/uploads/" + partial.split("/")[-1])["errorCode"], "late")
            self.assertFalse(file.exists())
            self.assertIn("waiting", {client.state(path)["status"] for path in paths})


class Memory(unittest.TestCase):
    def ended(self, client: Client) -> dict[str, dict]:
        """Uploads that ended in every way, by their paths, as they are reported."""
        data = photo(folder("p") / "x.jpg", 300, 200).read_bytes()
        paths = [client.send(data, filename="Käfer 虫.jpg", folder="a/b")[1]]
        client.end(paths[0])
        paths += [client.send(data, filename="twice.jpg")[1], client.send(b"no image" * 20, filename="x.jpg")[1],
                  client.send(b"\xff\xd8\xff" + bytes(500), filename="hollow\\n.jpg")[1],
                  client.create(100, filename="cancelled.jpg")["location"]]
        self.assertEqual(client.ask("DELETE", paths[-1]).status, 204)
        reported = {path: client.end(path) for path in paths}
        self.assertEqual([each["status"] for each in reported.values()], ["done", "done", "failed", "failed", "failed"])
        self.assertEqual([each.get("image") for each in reported.values()], ["a/b/Käfer 虫", "a/b/Käfer 虫", None, None, None])
        return reported

    def test_outcomes_of_uploads_are_reported_after_a_restart(self):
        for how in (15, 9):
            library = folder("library")
            server = serve(library)
            reported = self.ended(Client(server))
            open_one = Client(server).create(100, filename="open.jpg")["location"]
            server.stop(how)
            # A loss of power may cut the last line off.
            journal = library / ".ziggurat-uploads/.ended"
            with journal.open("ab") as file:
                file.write(b'{"id":"' + b"0" * 20)
            self.assertEqual(journal.stat().st_mode & 0o777, 0o600)
            with serve(library) as server:
                client = Client(server)
                for path, state in reported.items():
                    self.assertEqual(client.state(path), state)
                    head = client.ask("HEAD", path)
                    sent = client.patch(path, 0, b"x").status
                    if state["status"] == "done":
                        self.assertEqual((head.status, head["upload-offset"], sent), (200, str(state["length"]), 409))
                    else:
                        self.assertEqual((head.status, sent), (410, 410))
                        self.assertTrue(state["message"])
                    self.assertEqual(client.ask("GET", path, token=None).status, 401)
                self.assertEqual(client.ask("HEAD", open_one).status, 200)
                # Who needs no more answer says so; the picture stays.
                first = next(iter(reported))
                self.assertEqual(client.ask("DELETE", first).status, 204)
                self.assertEqual((client.ask("GET", first).status, client.images()), (404, {"a/b/Käfer 虫"}))
            with serve(library) as server:
                self.assertEqual([Client(server).ask("GET", path).status for path in reported], [404, 200, 200, 200, 200])

    def test_it_is_forgotten_after_a_week(self):
        library = folder("library")
        with serve(library) as server:
            reported = self.ended(Client(server))
        journal = library / ".ziggurat-uploads/.ended"
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        week = 7 * 24 * 3600
        for age, status in ((week - 60, 200), (week + 1, 404)):
            now = int(time.time())
            journal.write_text("".join(json.dumps({**line, "time": now - age}) + "\n" for line in lines))
            with serve(library) as server:
                self.assertEqual({Client(server).ask("GET", path).status for path in reported}, {status})
        self.assertEqual(journal.read_bytes(), b"")


if __name__ == "__main__":
    unittest.main()
