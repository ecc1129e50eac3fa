"""A phone reaches the page by a QR code and may write with it once."""

import json
import subprocess
import unittest

from harness import folder
from upload_client import TOKEN, Client, serve


class Pairing(unittest.TestCase):
    def test_a_phone_scans_the_code_and_may_write_once(self):
        with serve(folder("library"), "--base-url", "http://192.168.77.1:8080") as server:
            client = Client(server)
            self.assertEqual(client.ask("GET", "/api/pairing.svg", token=None).status, 401)
            picture = folder("qr") / "code.svg"
            picture.write_bytes(client.ask("GET", "/api/pairing.svg").body)
            subprocess.run(["vips", "svgload", picture, picture.with_suffix(".png"), "--scale", "8"], check=True)
            read = subprocess.run(["zbarimg", "-q", "--raw", picture.with_suffix(".png")], capture_output=True, text=True, check=True)
            address, _, code = read.stdout.strip().partition("#token=")
            self.assertEqual(address, "http://192.168.77.1:8080/")
            login = lambda: client.ask("POST", "/api/session", json.dumps({"token": code}).encode(), token=None, tus=False,
                                       Content_Type="application/json")
            answer = login()
            self.assertEqual((answer.status, json.loads(answer.body)["canWrite"]), (200, True))
            self.assertEqual(login().status, 401)

    def test_a_code_ends_with_the_session_that_it_was_made_in(self):
        with serve(folder("library"), "--base-url", "http://192.168.77.1:8080") as server:
            client = Client(server)
            log_in = lambda secret: client.ask("POST", "/api/session", json.dumps({"token": secret}).encode(), token=None,
                                               tus=False, Content_Type="application/json")
            for logs_out in (True, False):
                cookie = log_in(TOKEN)["set-cookie"].split(";")[0]
                code = self.code(client.ask("GET", "/api/pairing.svg", token=None, Cookie=cookie).body)
                if logs_out:
                    left = client.ask("DELETE", "/api/session", token=None, tus=False, Cookie=cookie, Sec_Fetch_Site="same-origin")
                    self.assertEqual(left.status, 204)
                self.assertEqual(log_in(code).status, 401 if logs_out else 200)

    @staticmethod
    def code(svg: bytes) -> str:
        picture = folder("qr") / "code.svg"
        picture.write_bytes(svg)
        subprocess.run(["vips", "svgload", picture, picture.with_suffix(".png"), "--scale", "8"], check=True)
        read = subprocess.run(["zbarimg", "-q", "--raw", picture.with_suffix(".png")], capture_output=True, text=True, check=True)
        return read.stdout.strip().partition("#token=")[2]

    def test_a_server_on_loopback_has_no_code(self):
        with serve(folder("library")) as server:
            self.assertEqual(Client(server).ask("GET", "/api/pairing.svg").status, 204)


if __name__ == "__main__":
    unittest.main()
