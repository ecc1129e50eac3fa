"""Limits of uploads: kinds, how many, and for how long."""

import http.client
import struct
import threading
import time
import unittest
from pathlib import Path

from harness import folder, photo
from upload_client import Client, TOKEN, metadata, rest_of, serve


class Limits(unittest.TestCase):
    def test_types(self):
        with serve(folder("library"), "--upload-types", "png,webp") as server:
            client = Client(server)
            self.assertEqual(client.send(photo(folder("p") / "x.jpg", 90, 70).read_bytes(), filename="x.png")[0].status, 415)
            self.assertEqual(client.send(photo(folder("p") / "x.png", 90, 70).read_bytes(), filename="x.jpg")[0].status, 204)

    def test_ten_thousand_uploads(self):
        library = folder("library")
        with serve(library) as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            statuses = {}
            for number in range(10_000):
                connection.request("POST", "/api/uploads", headers={
                    "Authorization": f"Bearer {TOKEN}", "Tus-Resumable": "1.0.0", "Upload-Length": "1000",
                    "Upload-Metadata": metadata(filename=f"{number}.jpg")})
                answer = connection.getresponse()
                answer.read()
                statuses[answer.status] = statuses.get(answer.status, 0) + 1
            self.assertEqual(statuses, {201: 1000, 429: 9000})
            self.assertTrue(server.alive())
            self.assertEqual(len(list((library / ".ziggurat-uploads").glob("?" * 32))), 1000)
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])
            self.assertLess(resident, 400_000, "kB of memory")

    def test_three_hundred_at_once(self):
        data = photo(folder("photos") / "small.jpg", 64, 48).read_bytes()
        with serve(folder("library")) as server:
            client = Client(server)
            failures = []

            def work(numbers):
                for number in numbers:
                    while (made := client.create(len(data) + 2, filename="x.jpg")).status == 429:
                        time.sleep(0.1)
                    answer = client.patch(made["location"], 0, data + struct.pack("H", number))
                    if answer.status != 204:
                        failures.append(answer)
            threads = [threading.Thread(target=work, args=(range(first, 300, 6),)) for first in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            until = time.monotonic() + 120
            while len(client.images()) < 300:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.3)


if __name__ == "__main__":
    unittest.main()
