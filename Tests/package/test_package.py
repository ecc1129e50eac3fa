"""The Debian package in a Debian 12 that has nothing else: installed, it builds and serves; removed, it leaves the library.

Needs root. PACKAGE names the package.
"""

import os
import re
import shutil
import subprocess
import time
import unittest
import urllib.request
from pathlib import Path

from machine import ENVIRONMENT, Machine

from harness import folder, photo

PACKAGE = Path(os.environ["PACKAGE"])

# The maintainer scripts of packages that were made without debhelper.
FORMER = {
    "postinst": """#!/bin/sh
set -e
if [ "$1" = configure ]; then
  adduser --system --group --quiet --home /var/lib/ziggurat --no-create-home ziggurat
  install -d -o ziggurat -g ziggurat -m 0750 /var/lib/ziggurat
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if [ -z "$2" ]; then systemctl enable --now ziggurat.service; else systemctl try-restart ziggurat.service; fi
  fi
fi
""",
    "prerm": """#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now ziggurat.socket ziggurat.service ziggurat-build.timer
fi
""",
    "postrm": """#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
""",
}


def former(package: Path, place: Path) -> Path:
    """The package with the maintainer scripts of an earlier version."""
    tree = place / "tree"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    (tree / "DEBIAN/preinst").unlink()
    for name, text in FORMER.items():
        (tree / "DEBIAN" / name).write_text(text)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*", "Version: 0.0.9", control.read_text(), flags=re.MULTILINE))
    shutil.rmtree(tree / "etc/logrotate.d")
    (tree / "DEBIAN/conffiles").write_text("/etc/default/ziggurat\n")
    (tree / "DEBIAN/md5sums").unlink()
    subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", tree, place / "former.deb"], check=True, stdout=subprocess.DEVNULL)
    return place / "former.deb"


class Files(unittest.TestCase):
    """What is in the package."""

    @classmethod
    def setUpClass(cls):
        listed = subprocess.run(["dpkg-deb", "--contents", PACKAGE], capture_output=True, text=True, check=True).stdout
        cls.files = {line.split()[5].removeprefix(".") for line in listed.splitlines()}
        cls.tree = folder("package") / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", PACKAGE, cls.tree], check=True)

    def test_lintian_finds_nothing(self):
        found = subprocess.run(["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", "--allow-root", PACKAGE], capture_output=True, text=True)
        self.assertEqual((found.returncode, found.stdout), (0, ""), found.stderr)

    def test_what_it_brings(self):
        for each in ("/lib/systemd/system/ziggurat.service", "/lib/systemd/system/ziggurat.socket", "/lib/systemd/system/ziggurat-build.timer",
                     "/usr/share/man/man1/ziggurat-build.1.gz", "/usr/share/bash-completion/completions/ziggurat",
                     "/usr/share/zsh/vendor-completions/_ziggurat", "/usr/share/fish/vendor_completions.d/ziggurat.fish",
                     "/usr/share/doc/ziggurat/copyright", "/etc/default/ziggurat", "/etc/logrotate.d/ziggurat"):
            self.assertIn(each, self.files)
        for unit in (self.tree / "lib/systemd/system").iterdir():
            self.assertNotIn("/usr/local", unit.read_text())
            for program in re.findall(r"^ExecStart=(\S+)", unit.read_text(), re.MULTILINE):
                self.assertTrue((self.tree / program[1:]).exists(), program)

    def test_what_its_documents_link_is_there(self):
        documents = self.tree / "usr/share/doc/ziggurat"
        pages = [path for path in documents.rglob("*.md") if path.name != "CHANGELOG.md"]
        self.assertGreater(len(pages), 8)
        for page in pages:
            for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
                # Of the sources and of what the repository alone has there is nothing here.
                if re.search(r"(^|/)(Sources|Tests|public|\.github|LICENSE)(/|$)|\.docc/|Dockerfile|ziggurat\.service", link):
                    continue
                place = Path(os.path.normpath(page.parent / link))
                place = Path(str(place).replace(str(documents / "packaging"), str(documents / "examples")))
                self.assertTrue(place.exists(), f"{page.relative_to(documents)}: {link}")
        for page in (documents / "examples").rglob("README.md"):
            for name in re.findall(r"\b([a-z-]+\.yaml|[a-z-]+\.sbatch)\b", page.read_text()):
                self.assertTrue((page.parent / name).exists(), f"{page}: {name}")

    def test_the_copyright_of_linked_libraries_is_stated(self):
        text = (self.tree / "usr/share/doc/ziggurat/copyright").read_text()
        for word in ("Expat", "Apache-2.0 with Runtime Library exception", "Unicode-3.0", "ICU", "Swift", "Unicode, Inc."):
            self.assertIn(word, text)

    def test_nothing_can_overwrite_the_addresses_of_functions(self):
        dynamic = subprocess.run(["readelf", "--dynamic", "--program-headers", self.tree / "usr/bin/ziggurat"], capture_output=True, text=True).stdout
        self.assertRegex(dynamic, r"\(FLAGS_1\).*\bNOW\b")
        self.assertRegex(dynamic, r"\(FLAGS_1\).*\bPIE\b")
        self.assertIn("GNU_RELRO", dynamic)
        self.assertNotRegex(dynamic, r"\(R(UN)?PATH\)")


class Package(unittest.TestCase):
    """Without a systemd that runs, as in a container."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(PACKAGE)
        cls.machine.prepare()
        subprocess.run(["mount", "-t", "proc", "proc", cls.machine.root / "proc"], check=True)
        cls.addClassCleanup(cls.machine.unmount)
        cls.inside = cls.machine.inside

    def test_1_nothing_of_the_toolchain_is_needed(self):
        linked = self.inside("ldd", "/usr/bin/ziggurat").stdout
        self.assertNotIn("not found", linked)
        self.assertNotIn("swift", linked)
        self.assertNotIn("/opt", linked)
        self.assertRegex(self.inside("ziggurat", "--version").stdout, r"^ziggurat \d+\.\d+\.\d+\n$")
        # The least: a library that is not there fails here, not in a user's hands.
        depends = self.inside("dpkg-query", "-W", "-f", "${Depends}", "ziggurat").stdout
        for library in ("libvips42", "libmicrohttpd12", "libsqlite3-0", "libgexiv2-2", "libc6"):
            self.assertIn(library, depends)
        self.assertIn("ca-certificates", self.inside("dpkg-query", "-W", "-f", "${Recommends}", "ziggurat").stdout)

    def test_2_it_builds_and_serves(self):
        root = self.machine.root
        pictures = root / "srv/pictures"
        shutil.rmtree(pictures, ignore_errors=True)
        photo(pictures / "harbour.jpg", 1200, 800)
        photo(pictures / "deep/leaf.png", 300, 200)
        # As the nightly unit does it, by the user that it has.
        as_ziggurat = ("setpriv", "--reuid", "ziggurat", "--regid", "ziggurat", "--init-groups")
        self.inside(*as_ziggurat, "ziggurat", "build", "/srv/pictures", "--library", "/var/lib/ziggurat")
        process = subprocess.Popen(
            ["chroot", root, *as_ziggurat, "ziggurat", "serve", "/var/lib/ziggurat", "--port", "0", "--webroot", "/usr/share/ziggurat/public"],
            stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        try:
            address = re.fullmatch(r"listening on (http://\S+)\n", process.stdout.readline())[1]

            def read(path: str, kind: str) -> bytes:
                with urllib.request.urlopen(address + path, timeout=30) as answer:
                    self.assertEqual(answer.headers.get_content_type(), kind)
                    content = answer.read()
                self.assertGreater(len(content), 100)
                return content

            read("dzi/harbour_files/10/0_0.jpg", "image/jpeg")
            read("iiif/3/deep%2Fleaf/full/max/0/default.webp", "image/webp")
            # Bundled: the scripts are called as the page says.
            scripts = re.findall(r'<script[^>]* src="/([^"]+)"', read("", "text/html").decode())
            self.assertTrue(scripts)
            for script in scripts:
                read(script, "text/javascript")
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)
            process.stdout.close()

    def test_3_removed_it_leaves_the_library(self):
        # Alphabetical order: after the others.
        library = self.machine.root / "var/lib/ziggurat"
        before = {path: path.read_bytes() for path in library.rglob("*.szi")}
        self.assertEqual(len(before), 2)
        logs = self.machine.root / "var/log/ziggurat"
        logs.mkdir(exist_ok=True)
        (logs / "access.log").write_text("a line\n")
        self.inside("apt-get", "remove", "-y", "-qq", "ziggurat")
        self.assertTrue((logs / "access.log").exists())
        self.inside("apt-get", "purge", "-y", "-qq", "ziggurat")
        self.assertFalse((self.machine.root / "usr/bin/ziggurat").exists())
        self.assertFalse(logs.exists())
        self.assertEqual({path: path.read_bytes() for path in library.rglob("*.szi")}, before)
        self.inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "/root/ziggurat.deb")
        self.assertEqual(self.inside("ziggurat", "verify", "/var/lib/ziggurat").returncode, 0)


class Services(unittest.TestCase):
    """Beside a systemd that runs: what the units do, and what becomes of them as the package comes and goes."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(PACKAGE)
        cls.machine.prepare()
        cls.machine.boot()
        cls.addClassCleanup(cls.machine.stop)
        shutil.copy(former(PACKAGE, folder("former")), cls.machine.root / "root/former.deb")
        cls.run_in, cls.shell = cls.machine.run, cls.machine.shell

    def setUp(self):
        self.shell("rm -f /usr/sbin/policy-rc.d; systemctl unmask ziggurat.service; dpkg --purge ziggurat; rm -rf /var/lib/ziggurat /etc/default/ziggurat; "
                   "rm -rf /etc/systemd/system/ziggurat*; systemctl daemon-reload; systemctl reset-failed || true")

    def install(self, name: str = "ziggurat") -> None:
        self.run_in("apt-get", "install", "-y", "-qq", "--no-install-recommends", "--allow-downgrades", "--reinstall", f"/root/{name}.deb")
        self.assertEqual(self.status(), "installed")

    def remove(self) -> None:
        self.run_in("apt-get", "remove", "-y", "-qq", "ziggurat")

    def status(self) -> str:
        return self.run_in("dpkg-query", "-W", "-f", "${db:Status-Status}", "ziggurat", check=False).stdout

    def state(self, unit: str = "ziggurat.service") -> tuple[str, str]:
        return tuple(self.run_in("systemctl", what, unit, check=False).stdout.strip() for what in ("is-enabled", "is-active"))

    def health(self, *where: str) -> str:
        return self.shell(f"curl --silent --retry 20 --retry-connrefused --retry-delay 1 --max-time 60 {' '.join(where or ['http://127.0.0.1:8080/healthz'])}").stdout

    def pid(self) -> str:
        return self.run_in("systemctl", "show", "--property", "MainPID", "--value", "ziggurat.service").stdout.strip()

    def test_installed_it_serves(self):
        self.install()
        self.assertEqual(self.state(), ("enabled", "active"))
        self.assertIn("ok", self.health())
        self.assertEqual(self.state("ziggurat.socket"), ("disabled", "inactive"))
        self.assertEqual(self.state("ziggurat-build.timer"), ("disabled", "inactive"))
        self.assertEqual(self.run_in("stat", "--format=%a %U", "/var/lib/ziggurat").stdout, "750 ziggurat\n")

    def test_removed_and_installed_again_it_serves(self):
        self.install()
        self.remove()
        self.assertEqual(self.state()[1], "inactive")
        self.install()
        self.assertEqual(self.state(), ("enabled", "active"))

    def test_an_upgrade_restarts_what_serves_and_leaves_what_was_disabled(self):
        self.install()
        before = self.pid()
        self.install()
        self.assertEqual(self.state(), ("enabled", "active"))
        self.assertNotEqual(self.pid(), before)
        self.run_in("systemctl", "disable", "--now", "ziggurat.service")
        self.install()
        self.assertEqual(self.state(), ("disabled", "inactive"))
        self.remove()
        self.install()
        self.assertEqual(self.state(), ("disabled", "inactive"))

    def test_a_socket_outlives_upgrades_and_goes_with_the_package(self):
        self.install()
        self.shell("systemctl disable --now ziggurat.service; systemctl enable --now ziggurat.socket ziggurat-build.timer")
        self.assertIn("ok", self.health())
        self.install()
        self.assertIn("ok", self.health())
        self.assertEqual(self.state("ziggurat.socket"), ("enabled", "active"))
        self.assertEqual(self.state("ziggurat-build.timer"), ("enabled", "active"))
        self.assertEqual(self.state()[0], "disabled")
        self.remove()
        for unit in ("ziggurat.socket", "ziggurat.service", "ziggurat-build.timer"):
            self.assertEqual(self.state(unit)[1], "inactive", unit)

    def test_former_packages_are_upgraded_as_they_were_set(self):
        self.install("former")
        self.assertEqual(self.state(), ("enabled", "active"))
        self.install()
        self.assertEqual(self.state(), ("enabled", "active"))
        self.setUp()
        self.install("former")
        self.shell("systemctl disable --now ziggurat.service; systemctl enable --now ziggurat.socket")
        self.install()
        self.assertEqual((self.state()[0], self.state("ziggurat.socket")), ("disabled", ("enabled", "active")))
        self.assertIn("ok", self.health())
        # Their removal disabled the service, which nobody had meant.
        self.setUp()
        self.install("former")
        self.remove()
        self.install()
        self.assertEqual(self.state(), ("enabled", "active"))

    def test_a_masked_unit_is_left_alone(self):
        self.run_in("systemctl", "mask", "ziggurat.service")
        self.install()
        self.assertEqual(self.state(), ("masked", "inactive"))

    def test_policy_rc_d_has_its_say(self):
        self.shell("printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d")
        self.install()
        self.assertEqual(self.state(), ("enabled", "inactive"))

    def test_a_socket_of_the_file_system_leaves_no_port_open(self):
        self.install()
        self.shell("echo ZIGGURAT_LISTEN=unix:/run/ziggurat/z.sock > /etc/default/ziggurat; systemctl restart ziggurat.service; "
                   "until test -S /run/ziggurat/z.sock; do sleep 0.1; done")
        self.assertIn("ok", self.health("--unix-socket", "/run/ziggurat/z.sock", "http://localhost/healthz"))
        self.assertNotIn(":8080", self.run_in("ss", "--listening", "--tcp", "--numeric").stdout)

    def test_the_nightly_build(self):
        photo(self.machine.root / "srv/nightly/one.jpg", 400, 300)
        self.install()
        self.shell("groupadd --force photographers; chgrp -R photographers /srv/nightly; chmod -R o= /srv/nightly; adduser --quiet ziggurat photographers; "
                   "echo 'SOURCES=/srv/nightly' > /etc/default/ziggurat; systemctl start ziggurat-build.service")
        self.assertEqual(self.shell("ls /var/lib/ziggurat/*.szi").stdout, "/var/lib/ziggurat/one.szi\n")
        metrics = self.run_in("setpriv", "--reuid", "nobody", "--clear-groups", "cat", "/var/cache/ziggurat-build/ziggurat.prom").stdout
        self.assertIn('ziggurat_last_build_images{outcome="built"} 1\n', metrics)
        # A source in a store is asked for.
        self.shell("""cat > /root/store.py <<'PYTHON'
import http.server
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("/root/asked", "a").write(self.path + "\\n")
        body = b'<?xml version="1.0"?><ListBucketResult><Name>scans</Name><IsTruncated>false</IsTruncated></ListBucketResult>'
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
http.server.HTTPServer(("10.0.0.20", 9000), Store).serve_forever()
PYTHON
systemd-run --quiet --unit store python3 /root/store.py
printf 'SOURCES=s3://scans/2026\\nAWS_ENDPOINT_URL_S3=http://10.0.0.20:9000\\nAWS_ACCESS_KEY_ID=k\\nAWS_SECRET_ACCESS_KEY=s\\n' > /etc/default/ziggurat
until curl --silent http://10.0.0.20:9000/ready >/dev/null; do sleep 0.1; done; rm /root/asked
systemctl start ziggurat-build.service || true""")
        self.assertIn("/scans", self.run_in("cat", "/root/asked").stdout)
        self.run_in("systemctl", "stop", "store")

    def test_logs_are_rotated_and_gone_on_with(self):
        self.install()
        self.shell("printf 'ZIGGURAT_LOG=json\\nZIGGURAT_LOG_FILE=/var/log/ziggurat/access.log\\n' > /etc/default/ziggurat; systemctl restart ziggurat.service")
        self.health()
        self.assertEqual(self.run_in("stat", "--format=%a", "/var/log/ziggurat").stdout, "750\n")
        self.shell("until test -s /var/log/ziggurat/access.log; do sleep 0.1; done")
        self.run_in("logrotate", "--force", "/etc/logrotate.d/ziggurat")
        end = time.monotonic() + 30
        while self.shell("ls /var/log/ziggurat").stdout.split() != ["access.log", "access.log.1"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        self.assertIn("ok", self.health())
        self.shell("until grep --quiet /healthz /var/log/ziggurat/access.log; do sleep 0.1; done")
        self.run_in("apt-get", "purge", "-y", "-qq", "ziggurat")
        self.assertNotEqual(self.run_in("test", "-e", "/var/log/ziggurat", check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
