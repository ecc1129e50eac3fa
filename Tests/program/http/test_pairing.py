"""A phone reaches the page by a QR code and may write with it once."""

import json
import subprocess
import unittest

from harness import folder
from upload_client import Client, serve


class Pairing(unittest.TestCase):
    def test_a_phone_scans_the_code_and_may_write_once(self):
        with serve(folder("library"), "--base-url", "http://192.168.77.1:8080") as server:
            client = Client(server)
            self.assertEqual(client.ask("GET", "/api/qr.svg", token=None).status, 401)
            picture = folder("qr") / "code.svg"
            picture.write_bytes(client.ask("GET", "/api/qr.svg").body)
            subprocess.run(["vips", "svgload", picture, picture.with_suffix(".png"), "--scale", "8"], check=True)
            read = subprocess.run(["zbarimg", "-q", "--raw", picture.with_suffix(".png")], capture_output=True, text=True, check=True)
            address, _, code = read.stdout.strip().partition("#token=")
            self.assertEqual(address, "http://192.168.77.1:8080/")
            login = lambda: client.ask("POST", "/api/session", json.dumps({"token": code}).encode(), token=None, tus=False,
                                       Content_Type="application/json")
            answer = login()
            self.assertEqual((answer.status, json.loads(answer.body)["writable"]), (200, True))
            self.assertEqual(login().status, 401)

    def test_who_is_alone_has_no_code(self):
        with serve(folder("library")) as server:
            self.assertEqual(Client(server).ask("GET", "/api/qr.svg").status, 204)


if __name__ == "__main__":
    unittest.main()
