"""Uploads outlive the server: killed at any byte, it goes on where it was."""

import os
import struct
import time
import unittest

from harness import folder, photo, run, seed
from upload_client import Client, TOKEN, TYPE, rest_of, serve, token_file


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
                            f"PATCH {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nTus-Resumable: 1.0.0\r\n"
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
            self.assertIn("another server", second.stderr)


if __name__ == "__main__":
    unittest.main()
