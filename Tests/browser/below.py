"""The proxies of packaging/below-a-path in front of a library, as `https://example.org/images/` would be."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request
from pathlib import Path

import fronts
from browser import BINARY, ROOT, writable

PACKAGING = ROOT / "packaging"


@functools.cache
def temporary() -> Path:
    """A folder that goes with the process."""
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-below-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


class BelowAPath(unittest.TestCase):
    """A test of a server below a path: `host` is its address there, once a front is started."""

    options: tuple[str, ...] = ()

    @classmethod
    def pictures(cls, folder: Path) -> None:
        """Makes the sources of the library."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        base = Path(tempfile.mkdtemp(dir=temporary()))
        cls.pictures(base / "photos")
        subprocess.run([BINARY, "build", base / "photos", "--library", base / "library", "--quiet", *cls.options], check=True)
        cls.port = fronts.free_port()
        cls.host = f"http://127.0.0.1:{cls.port}/images/"
        cls.server = int(re.search(r":(\d+)/", writable(base / "library", "--base-url", cls.host))[1])

    def front(self, *command, **options):
        def answers():
            try:
                return urllib.request.urlopen(self.host + "healthz", timeout=5).status == 200
            except OSError:
                return False

        fronts.start(self, answers, *command, **options)

    def nginx(self, *pairs):
        place = Path(tempfile.mkdtemp(dir=temporary()))
        shared = (PACKAGING / "nginx.conf").read_text().partition("\nserver {")[0]
        shared = replaced(shared, ("server 127.0.0.1:8080", f"server 127.0.0.1:{self.server}"))
        below = replaced((PACKAGING / "below-a-path/nginx.conf").read_text(), *pairs)
        folders = "".join(f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (place / "nginx.conf").write_text(
            f"daemon off; pid {place}/pid; error_log stderr; events {{}} http {{ access_log off; {folders}\n{shared}\n"
            f"server {{ listen 127.0.0.1:{self.port};\n{below}\n}} }}")
        self.front("/usr/sbin/nginx", "-c", place / "nginx.conf")

    def caddy(self, *pairs):
        place = Path(tempfile.mkdtemp(dir=temporary()))
        text = replaced((PACKAGING / "below-a-path/Caddyfile").read_text(), ("\nexample.org {", f"\nhttp://127.0.0.1:{self.port} {{"),
                        ("127.0.0.1:8080", f"127.0.0.1:{self.server}"), *pairs)
        (place / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
        homes = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
        self.front("caddy", "run", "--adapter", "caddyfile", "--config", place / "Caddyfile", env=homes)
