"""What the tests of private spaces share: passwords, visitors, and the search for what nobody may read."""

import json
import os
import subprocess
import time
import unittest
from pathlib import Path

import upload_client
from harness import CRASH, Answer, Server, folder, run

REFUSED = "ziggurat: no space opens with this password\n"
# Of the sources, their metadata, their tiles, and what archives say of themselves.
# Longer than four bytes, which a megabyte of random ones holds by chance once in four thousand.
PLAIN = [b"JFIF\0\1", b"Exif\0\0", b"http://ns.adobe.com", b"ICC_PROFILE", b"grandmother", b"Lighthouse", b"Image xmlns",
         b"sourceDigest", b"tileSize", b"entries"]


def password(text: str) -> Path:
    path = folder("password") / "it"
    path.write_text(text + "\n")
    return path


def plain_text(root: Path) -> list[str]:
    """Where known plain text is found below a folder, in names or contents."""
    found = []
    for path in root.rglob("*"):
        text = str(path.relative_to(root)).encode() + (path.read_bytes() if path.is_file() else b"")
        found += [f"{word} in {path}" for word in PLAIN if word in text]
    return found


class Browser:
    """A visitor with a cookie of his own."""

    def __init__(self, server: Server):
        self.server, self.cookie = server, None

    def ask(self, target: str, method: str = "GET", body: bytes | None = None, **headers) -> Answer:
        lines = [f"{method} /{target} HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
        if self.cookie:
            lines.append("Cookie: theme=dark; " + self.cookie)
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        answer = Answer(self.server.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")), method)
        if "ziggurat-session=" in answer["set-cookie"]:
            self.cookie = answer["set-cookie"].split(";")[0]
        return answer

    def log_in(self, credential, **headers) -> Answer:
        body = credential if isinstance(credential, bytes) else json.dumps(credential).encode()
        return self.ask("api/session", "POST", body, **{"Content_Type": "application/json", **headers})

    def unlock(self, secret: str) -> Answer:
        return self.log_in({"password": secret})

    def state(self) -> dict:
        return json.loads(self.ask("api/session").body)

    def ids(self) -> list[str]:
        return [image["id"] for image in json.loads(self.ask("api/images").body)["images"]]


class Owner(Browser):
    """A visitor whose page is this server's, who may thereby change things."""

    def ask(self, target: str, method: str = "GET", body: bytes | None = None, **headers) -> Answer:
        return super().ask(target, method, body, **{"Sec_Fetch_Site": "same-origin", **headers})

    def send_json(self, target: str, value, method: str = "POST", **headers) -> Answer:
        return self.ask(target, method, json.dumps(value).encode(), Content_Type="application/json", **headers)


def open_plain_text(server: Server) -> list[str]:
    """The same in the files that a server has open, those without a name among them, and not in memory alone."""
    found = []
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        try:
            target = os.readlink(link)
            if target.startswith("/memfd:") or not link.is_file():
                continue
            content = link.read_bytes()
        except OSError:
            continue
        found += [f"{word} in {target}" for word in PLAIN if word in content]
    return found


class SpaceTest(unittest.TestCase):
    visitor = Owner

    def serve(self, *options) -> Server:
        """A writable server of the test's library."""
        return self.enterContext(upload_client.serve(self.library, *options))

    def owner(self, server: Server, secret: str = "the first of the passwords"):
        """A visitor who has opened a space."""
        owner = self.visitor(server)
        self.assertEqual(owner.unlock(secret).status, 200)
        return owner

    def until(self, condition, what) -> None:
        """Waits until a condition holds, which a server sees to in its own time."""
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)

    def space(self, verb: str, library, *passwords: str, code: int = 0, options=()) -> subprocess.CompletedProcess:
        """Runs `space verb`, or another command with --space, with the passwords on stdin."""
        files = []
        for name, secret in zip(("password-file", "new-password-file"), passwords):
            files += [f"--{name}", self.file(secret)]
        arguments = ["space", verb, library] if verb in ("create", "passwd", "list") else [verb, library, "--space"]
        result = run(*arguments, *files, *options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotRegex(result.stderr, CRASH)
        return result

    def build(self, source, library, secret: str, *options, code: int = 0) -> subprocess.CompletedProcess:
        result = run("build", source, "--library", library, "--space", "--password-file", self.file(secret), *options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    file = staticmethod(password)
