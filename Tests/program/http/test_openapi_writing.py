"""`/openapi.json` of a server that may be written to is true, too: of edits, deletions, uploads and sessions."""

import json
import os
import re
import shutil
import subprocess
import unittest

from harness import folder, photo, run, sample_library
from schemathesis_run import check
from upload_client import Client, TOKEN, serve

SECONDS = int(os.environ.get("WRITING_SECONDS", 25))


class Description(unittest.TestCase):
    def test_every_answer_to_a_writer_is_as_described(self):
        base = folder("writable")
        library = shutil.copytree(sample_library(), base / "library")
        subprocess.run(["vips", "crop", photo(base / "x.png", 90, 120), base / "moving.gif[page-height=40]", "0", "0", "90", "120"],
                       check=True)
        built = run("build", base / "moving.gif", "--library", library, "--quiet")
        self.assertEqual(built.returncode, 0, built.stderr)
        with serve(library, "--private-spaces", "yes", "--session-idle", 5) as server:
            client = Client(server)
            # Of every kind that can be asked for there is one.
            uploads = [client.create(1 << 20, filename="open.jpg")["location"],
                       client.send(photo(base / "sent.jpg", 300, 200).read_bytes(), filename="sent.jpg")[1],
                       client.send(b"no image" * 20, filename="refused.jpg")[1]]
            for path in uploads[1:]:
                client.end(path)
            deleted = client.ask("DELETE", "/api/images/line", tus=False)
            images = ["photo", "two words", "deep/er/leaf", "dot", "moving", "sent", "line", "ü?#%"]
            result = check(
                server, {"id": images, "upload": [path.split("/")[-1] for path in uploads] + ["0" * 32],
                         "deleteImage": ["line", "dot", "ü?#%"], "deletion": [json.loads(deleted.body)["deleted"]["id"], "0-0"]},
                "--header", f"Authorization: Bearer {TOKEN}", "--max-time", str(SECONDS), "--continue-on-failure",
                # It goes on until its listener leaves. That no wrong token is accepted is checked in `test_login_attempts`: the tool
                # knows 401 alone, and after some attempts the answer is 429.
                "--exclude-path", "/api/events")
            self.assertEqual(result.returncode, 0, result.stdout[-8000:] + result.stderr[-2000:])
            self.assertRegex(result.stdout, r"Operations: +2\d selected")
            for line in result.stdout.splitlines():
                if re.match(r" *\d+ generated", line):
                    print(f"[{line.strip()}]", end=" ", flush=True)
            # Whatever became of the images meanwhile, each can be brought back, or is there.
            for deletion in json.loads(client.ask("GET", "/api/trash", tus=False).body)["items"]:
                client.ask("POST", f"/api/trash/{deletion['id']}/restore", tus=False)
            self.assertLessEqual({"photo", "two words", "deep/er/leaf", "dot", "moving", "sent", "line"}, client.images())
        verified = run("verify", library)
        self.assertEqual(verified.returncode, 0, verified.stderr)


if __name__ == "__main__":
    unittest.main()
