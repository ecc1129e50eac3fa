"""The rules for access of docs/how-to/restrict-access.md and editors.md, in the nginx files of packaging/: no request comes around them."""

import base64
import json
import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "fleet"))

import fronts  # noqa: E402
from edges import Nginx  # noqa: E402
from harness import ROOT, folder, photo, run  # noqa: E402
from upload_client import TOKEN, serve  # noqa: E402

PACKAGING = ROOT / "packaging"
PAGES = "".join((ROOT / f"docs/how-to/{name}.md").read_text() for name in ("restrict-access", "editors"))


def recipe(first: str) -> str:
    """The block of the pages that begins so."""
    return next(block for block in re.findall(r"```text\n(.*?)```", PAGES, re.DOTALL) if block.startswith(first))


def inserted(text: str, behind: str, lines: str) -> str:
    assert text.count(behind) == 1, behind
    return text.replace(behind, behind + lines)


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base = folder("recipes")
        photo(base / "photos/photo.jpg", 300, 200)
        built = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.port = fronts.free_port()
        cls.server = serve(base / "library", "--base-url", f"http://127.0.0.1:{cls.port}/images", "--trusted-proxy", "127.0.0.1")
        cls.addClassCleanup(cls.server.stop)
        cls.readers = base / "readers"
        cls.readers.write_text("reader:{PLAIN}open sesame\n")

    def ask(self, target: str, method: str = "GET", body: dict | None = None, **headers) -> int:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            fields["Content-Type"] = "application/json"
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{target}", method=method, headers=fields,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def start(self, http: str) -> None:
        """Starts nginx with this content of its block `http`."""
        place = folder("nginx")
        temporary = "".join(f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (place / "nginx.conf").write_text(f"daemon off; master_process off; pid {place}/pid; error_log stderr; events {{}}\n"
                                          f"http {{ access_log off; {temporary}\n{http}\n}}\n")

        def answers():
            try:
                return self.ask("/") != 0
            except OSError:
                return False

        fronts.start(self, answers, "/usr/sbin/nginx", "-c", place / "nginx.conf")

    # Each returns the content of the block `http`: the file with rules for all requests, and rules for what changes something.

    def whole_host(self, everybody: str, changes: str) -> str:
        text = (PACKAGING / "nginx.conf").read_text().replace("server 127.0.0.1:8080", f"server 127.0.0.1:{self.server.port}")
        text = re.sub(r"server \{\n  listen 80;(?s:.*?)\n\}\n", "", text)
        text = re.sub(r"  listen \[.*\n|  ssl_certificate.*\n", "", text).replace("listen 443 ssl http2", f"listen 127.0.0.1:{self.port}")
        text = inserted(text, "  server_name images.example.org;\n", everybody)
        return inserted(text, "  location / {\n", changes)

    def below_a_path(self, everybody: str, changes: str) -> str:
        # The command in the comment of the file.
        shared = subprocess.run(["sed", "/^server/,$d", PACKAGING / "nginx.conf"], capture_output=True, text=True, check=True).stdout
        self.assertIn("sed '/^server/,$d' ../nginx.conf >", (PACKAGING / "below-a-path/nginx.conf").read_text())
        shared = shared.replace("server 127.0.0.1:8080", f"server 127.0.0.1:{self.server.port}")
        below = inserted((PACKAGING / "below-a-path/nginx.conf").read_text(), "location /images/ {\n", everybody + changes)
        return f"{shared}\nserver {{ listen 127.0.0.1:{self.port};\n{below}\n}}"

    def edge(self, everybody: str, changes: str) -> str:
        edge = Nginx(folder("cache"))
        edge.port = self.port
        text = inserted(edge.text([self.server.port]), "  server_name images.example.org;\n", everybody)
        return inserted(text, "  location @writer {\n", changes)

    FILES = {"whole_host": "", "below_a_path": "/images", "edge": ""}

    def check_passwords(self, name: str) -> None:
        rules = recipe("auth_basic ").replace("/etc/nginx/readers", str(self.readers))
        self.start(getattr(self, name)(rules, ""))
        top = self.FILES[name]
        password = {"Authorization": "Basic " + base64.b64encode(b"reader:open sesame").decode()}
        login = {"token": TOKEN}
        for target in ("/api/images", "/dzi/photo.dzi", "/dzi/photo_files/5/0_0.jpg?g=1", "/"):
            self.assertEqual(self.ask(top + target), 401, target)
            # A cookie leads to another location of the edge.
            self.assertEqual(self.ask(top + target, Cookie="ziggurat-session=a"), 401, target)
        for target in ("/api/session", "/api/%73ession", "/api//session"):
            self.assertEqual(self.ask(top + target, "POST", login), 401, target)
        self.assertEqual(self.ask(f"{top}/api/images/photo", "PATCH", {"title": "x"}, Authorization=f"Bearer {TOKEN}"), 401)
        # The same for every client that logs in.
        self.assertEqual(self.ask(f"{top}/api/images", **password), 200)
        self.assertEqual(self.ask(f"{top}/api/session", "POST", login, **password), 200)

    def check_changes(self, name: str) -> None:
        top, token = self.FILES[name], {"Authorization": f"Bearer {TOKEN}"}
        rules = recipe("limit_except ")
        self.assertIn("allow 10.0.0.0/8;", rules)
        self.start(getattr(self, name)("", rules))
        self.assertEqual(self.ask(f"{top}/api/images"), 200)
        self.assertEqual(self.ask(f"{top}/api/session"), 200)
        for target in ("/api/session", "/api/%73ession", "/api//session"):
            self.assertEqual(self.ask(top + target, "POST", {"token": TOKEN}), 403, target)
        self.assertEqual(self.ask(f"{top}/api/images/photo", "PATCH", {"title": "x"}, **token), 403)
        self.assertEqual(self.ask(f"{top}/api/images/photo", "DELETE", **token), 403)
        self.assertEqual(self.ask(f"{top}/api/uploads", "POST", {}, **token), 403)
        # A method that a header states does not count for a read.
        self.assertNotEqual(self.ask(f"{top}/api/images/photo", X_HTTP_Method_Override="DELETE", **token), 204)
        self.assertEqual(self.ask(f"{top}/api/images/photo"), 200)

    def check_own_network(self, name: str) -> None:
        self.start(getattr(self, name)("", recipe("limit_except ").replace("10.0.0.0/8", "127.0.0.0/8")))
        top = self.FILES[name]
        self.assertEqual(self.ask(f"{top}/api/session", "POST", {"token": TOKEN}), 200)
        self.assertEqual(self.ask(f"{top}/api/images/photo", "PATCH", {"title": name}, Authorization=f"Bearer {TOKEN}"), 200)

    def check_editors(self, name: str) -> None:
        rules = recipe("limit_except GET { auth_basic ").replace("/etc/nginx/editors", str(self.readers))
        self.start(getattr(self, name)("", rules))
        top, login = self.FILES[name], {"token": TOKEN}
        password = {"Authorization": "Basic " + base64.b64encode(b"reader:open sesame").decode()}
        self.assertEqual(self.ask(f"{top}/api/images"), 200)
        self.assertEqual(self.ask(f"{top}/api/session", "POST", login), 401)
        self.assertEqual(self.ask(f"{top}/api/images/photo", "PATCH", {"title": "x"}, Authorization=f"Bearer {TOKEN}"), 401)
        self.assertEqual(self.ask(f"{top}/api/session", "POST", login, **password), 200)


def check(name: str, rule: str):
    return lambda self: getattr(self, f"check_{rule}")(name)


for each in Recipes.FILES:
    for rule in ("passwords", "changes", "own_network", "editors"):
        setattr(Recipes, f"test_{rule}_{each}", check(each, rule))


class Locations(unittest.TestCase):
    def test_one_location_reaches_the_server(self):
        """A rule in `location /` is not inherited by others."""
        for name, passing in (("nginx.conf", ["/"]), ("below-a-path/nginx.conf", ["/images/"])):
            text = re.sub(r"#.*", "", (PACKAGING / name).read_text())
            found = [place for place, body in re.findall(r"location ([^{]*?) \{((?:[^{}]|\{[^{}]*\})*)\}", text) if "proxy_pass" in body]
            self.assertEqual(found, passing, name)


if __name__ == "__main__":
    unittest.main()
