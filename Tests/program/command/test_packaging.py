"""What stands in packaging/: fronts that pass everything on as it is, a unit that holds, an image that has what it needs."""

import ipaddress
import json
import os
import re
import subprocess
import time
import unittest
from pathlib import Path

import fronts
from fronts import certificate
from harness import BINARY, ROOT, Server, ServerTest, folder, photo, run
from upload_client import TOKEN, TYPE, metadata, serve

PACKAGING = ROOT / "packaging"
PACKAGES = [line.split()[:2] for line in (ROOT / "Tests/scripts/debian-packages").read_text().splitlines()
            if line and not line.startswith("#")]
IDS = ("photo", "a%2Fb%20c", "q%2F%C3%BC%3F%23%25%5Bx%5D%40")
TARGETS = ["/", "/healthz", "/api/images", "/iiif/presentation/3/collection", "/nothing", "/dzi/%2e%2e%2fsecret.dzi"] + [
    form.format(id) for id in IDS for form in (
        "/dzi/{}.dzi", "/dzi/{}_files/10/0_0.jpg", "/iiif/3/{}/info.json", "/iiif/3/{}/full/^800,/0/default.jpg",
        "/iiif/3/{}/full/%5E!800,800/!90/gray.png", "/iiif/2/{}/pct:10,10,50,50/200,/22.5/default.png", "/xyz/{}/0/0/0.jpg",
        "/iip?FIF={}&JTL=0,0", "/iip?FIF={}&OBJ=IIP,1.0&OBJ=Max-size", "/zoomify/{}/TileGroup0/0-0-0.jpg", "/iiif/presentation/3/{}/manifest", "/view/{}",
        "/api/images/{}/viewport?width=300&height=200&x=-5", "/api/images/{}/viewport.tiles?width=300&height=200")]


class Fronts(ServerTest):
    """The examples with other names, ports and a certificate of our own; every other line as it stands."""

    @classmethod
    def setUpClass(cls):
        base = folder("fronts")
        for name in ("photo", "a/b c", "q/ü?#%[x]@"):
            photo(base / f"photos/{name}.jpg", 700, 500)
        built = run("build", base / "photos", "--library", base / "library", "--quiet")
        assert built.returncode == 0, built.stderr
        cls.port = fronts.free_port()
        cls.place = f"https://localhost:{cls.port}"
        # Else visitors from this machine would be proxies, too.
        cls.server = serve(base / "library", "--base-url", cls.place, "--trusted-proxy", "127.0.0.1")

    def front(self, *command, **options):
        def answers():
            return subprocess.run(self.curl("/healthz"), capture_output=True).returncode == 0

        fronts.start(self, answers, *command, **options)

    def curl(self, target: str, *options) -> list:
        client = "127.0.0.2" if "nginx" in self.id() else "127.0.0.3"
        return ["curl", "--interface", client, "--silent", "--show-error", "--path-as-is", "--globoff", "--http2", "--max-time", "30", "--cacert",
                certificate()[0], *map(str, options), self.place + target]

    def fetch(self, target: str, *options) -> tuple[int, dict[str, str], bytes]:
        head = folder("answer") / "head"
        done = subprocess.run(self.curl(target, "--dump-header", head, *options), capture_output=True, check=True)
        lines = head.read_text().strip().split("\n")
        begin = max(at for at, line in enumerate(lines) if line.startswith("HTTP/"))
        self.assertTrue(lines[begin].startswith("HTTP/2 "))
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[begin + 1:])}
        return int(lines[begin].split()[1]), fields, done.stdout

    def check(self):
        for target in TARGETS:
            with self.subTest(target):
                alone, (status, fields, body) = self.server.get(target), self.fetch(target)
                self.assertEqual((status, body), (alone.status, alone.body))
                for name in ("etag", "content-type", "cache-control", "access-control-allow-origin", "link", "location"):
                    self.assertEqual(fields.get(name, ""), alone[name], name)
                if alone["etag"]:
                    self.assertEqual(self.fetch(target, "--header", f"If-None-Match: {alone['etag']}")[::2], (304, b""))
        self.assertEqual(self.fetch("/iiif/3/a%2Fb%20c")[1]["location"], f"{self.place}/iiif/3/a%2Fb%20c/info.json")
        tile = self.server.get("/dzi/photo_files/10/0_0.jpg").body
        self.assertEqual(self.fetch("/dzi/photo_files/10/0_0.jpg", "--range", "10-99")[::2], (206, tile[10:100]))
        status, fields, _ = self.fetch("/api/images?fields=all", "--compressed")
        self.assertEqual((status, fields["content-encoding"]), (200, "gzip"))
        self.guard()
        self.upload()

    def guard(self):
        for target in ("/", "/nothing", "/metrics"):
            self.assertEqual(self.fetch(target)[1]["strict-transport-security"], "max-age=63072000", target)
        for target in ("/metrics", "/metrics?a=b", "/%6detrics", "/%6D%65trics"):
            self.assertEqual(self.fetch(target)[0], 403, target)
        for target in ("//metrics", "/metrics/", "/./metrics", "/x/../metrics", "/METRICS", "/metrics%00", "/metrics%2f", "/metrics;x"):
            # Some of these no front passes on.
            answer = subprocess.run(self.curl(target), capture_output=True)
            self.assertNotIn(b"ziggurat_requests_total", answer.stdout, target)
        self.assertIn(b"ziggurat_requests_total", self.server.get("/metrics").body)
        # Each client's failed logins are its own, by the front's header; a client's own header before it is ignored.
        statuses = [self.fetch("/api/session", "--header", "Content-Type: application/json", "--header", f"X-Forwarded-For: 10.0.0.{n}",
                               "--data-binary", '{"token": "wrong"}')[0] for n in range(12)]
        # On a slow machine the wait for one more may be over when it comes.
        self.assertEqual((statuses[:5], set(statuses[5:]) | {401}), ([401] * 5, {401, 429}))

    def rates(self):
        """More requests than a page sends are refused by the front itself."""
        urls = [f"{self.place}/api/session"] * 60
        done = subprocess.run(["curl", "--silent", "--http2", "--parallel", "--cacert", certificate()[0], "--write-out", "%{http_code}\n",
                               *[word for url in urls for word in ("--output", "/dev/null", url)]], capture_output=True, text=True)
        self.assertEqual(set(done.stdout.split()), {"200", "429"})

    def networks(self):
        """The front's limits count a network of IPv6 as one client, as the server does, and two as two."""
        def statuses(addresses: list[str]) -> set[int]:
            return {self.fetch("/api/session", "--header", f"X-Test-Client: {address}")[0] for address in addresses}

        # Also with 0a, which regular expressions may take for the end of a line, at every place.
        for base in ("2001:db8:1:2::", "2001:db8:a:a0a::", "2001:db8:1:3:a0a:a0a:a0a:a00", "a0a:a0a:a0a:a0a:a0a:a0a:a0a:a00"):
            of_one = [str(ipaddress.ip_address(base) + number) for number in range(60)]
            self.assertEqual(statuses(of_one), {200, 429}, base)
        self.assertEqual(statuses([f"2001:db8:2:{number:x}::1" for number in range(60)]), {200})
        self.assertEqual(statuses([f"198.51.100.{number}" for number in range(60)]), {200})

    def upload(self):
        """More than nginx's own megabyte goes through, and its image is there."""
        base = folder("upload")
        # Another for each: a duplicate is reported, not accepted.
        photo(base / "p.png", 1200, 1000, left=1000 if "nginx" in self.id() else 2000)
        subprocess.run(["vips", "copy", base / "p.png", base / "p.tif"], check=True)
        size, name = (base / "p.tif").stat().st_size, f"through-{self.id().split('_')[-1]}"
        self.assertGreater(size, 3_000_000)

        def headers(**fields) -> list[str]:
            fields |= {"Authorization": f"Bearer {TOKEN}", "Tus-Resumable": "1.0.0"}
            return [word for field, value in fields.items() for word in ("--header", f"{field.replace('_', '-')}: {value}")]

        status, fields, _ = self.fetch("/api/uploads", "--request", "POST", "--data-binary", "", *headers(
            Upload_Length=size, Upload_Metadata=metadata(filename=f"{name}.tif")))
        self.assertEqual(status, 201)
        status, _, _ = self.fetch("/api/uploads/" + fields["location"].split("/")[-1], "--request", "PATCH", "--data-binary",
                                  f"@{base / 'p.tif'}", *headers(Upload_Offset=0, Content_Type=TYPE))
        self.assertEqual(status, 204)
        deadline = time.monotonic() + 30
        while self.fetch(f"/dzi/{name}.dzi")[0] != 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def test_nginx(self):
        place, self.plain = folder("nginx"), fronts.free_port()
        text = (PACKAGING / "nginx.conf").read_text()
        # The redirect's port takes no change of its own here: 80 may be taken.
        for old, new in (("listen 80;", f"listen 127.0.0.1:{self.plain};"), ("  listen [::]:80;\n", ""), ("listen 443", f"listen 127.0.0.1:{self.port}"), ("listen [::]:443", f"listen [::1]:{self.port}"),
                         ("server 127.0.0.1:8080", f"server 127.0.0.1:{self.server.port}"),
                         ("/etc/letsencrypt/live/images.example.org/fullchain.pem", str(certificate()[0])),
                         ("/etc/letsencrypt/live/images.example.org/privkey.pem", str(certificate()[1]))):
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        if not Path("/proc/net/if_inet6").exists():
            text = re.sub(r".*listen \[::1\].*\n", "", text)
        (place / "site.conf").write_text(text)
        temporary = "".join(f"{kind}_temp_path {place}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (place / "nginx.conf").write_text(
            f"daemon off; pid {place}/pid; error_log stderr; events {{}} http {{ access_log off; {temporary} "
            # So that clients of any address can come from this machine.
            "set_real_ip_from 127.0.0.2; real_ip_header X-Test-Client; "
            f"include {place}/site.conf; }}")
        tested = subprocess.run(["/usr/sbin/nginx", "-t", "-c", place / "nginx.conf"], capture_output=True, text=True)
        self.assertEqual((tested.returncode, "warn" in tested.stderr), (0, False), tested.stderr)
        self.front("/usr/sbin/nginx", "-c", place / "nginx.conf")
        redirect = subprocess.run(["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code} %{redirect_url}",
                                   f"http://127.0.0.1:{self.plain}/dzi/a%2Fb.dzi?v=1"], capture_output=True, text=True).stdout
        self.assertEqual(redirect, "301 https://images.example.org/dzi/a%2Fb.dzi?v=1")
        self.check()
        self.networks()
        self.rates()

    def test_caddy(self):
        place = folder("caddy")
        text = (PACKAGING / "Caddyfile").read_text()
        for old, new in (("images.example.org {", f"localhost:{self.port} {{\n\ttls {certificate()[0]} {certificate()[1]}"),
                         ("127.0.0.1:8080", f"127.0.0.1:{self.server.port}")):
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        (place / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text)
        homes = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", place / "Caddyfile"]
        self.front(*command, env=homes)
        self.check()


class Places(unittest.TestCase):
    def test_all_units_are_sound_and_locked_down(self):
        """systemd's own scale, of 10: as the server's unit, which decodes untrusted bytes."""
        place = folder("units")
        for name, program in (("debian/ziggurat-build.service", "/usr/bin/ziggurat"), ("edge-purge.service", "/usr/local/bin/edge-purge")):
            unit = place / Path(name).name
            unit.write_text((PACKAGING / name).read_text().replace(program, str(BINARY)))
            verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""), name)
            judged = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True)
            self.assertLess(float(re.search(r"exposure level for \S+: ([\d.]+)", judged.stdout).group(1)), 1.5, name)
        build = (PACKAGING / "debian/ziggurat-build.service").read_text()
        # Sources may lie in an object store.
        self.assertNotIn("PrivateNetwork", build)
        options = set(re.findall(r"--([a-z-]+)", run("help", "build", "--all").stdout))
        for name in re.findall(r"--([a-z-]+)", re.search(r"^ExecStart=(.*)$", build, re.MULTILINE)[1]):
            self.assertIn(name, options)

    def test_edge_purge_says_in_one_line_why_it_does_not_start(self):
        place = folder("edge")
        (place / "key").write_text("0" * 64)
        for listen, code, reported in (("192.0.2.1:8081", 1, "cannot listen on 192.0.2.1:8081: cannot assign requested address; choose an address of this machine with --listen"),
                                   ("8081", 2, "invalid value '8081' for --listen (expected ADDRESS:PORT)")):
            result = subprocess.run([PACKAGING / "edge-purge", place, place, "--key-file", place / "key", "--listen", listen], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (code, f"edge-purge: {reported}\n"))

    def test_the_unit_is_sound_and_locked_down(self):
        place = folder("unit")
        unit = (PACKAGING / "ziggurat.service").read_text().replace("/usr/local/bin/ziggurat", str(BINARY))
        (place / "ziggurat.service").write_text(unit)
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", place / "ziggurat.service"], capture_output=True,
                                  text=True)
        self.assertEqual((verified.returncode, verified.stderr), (0, ""))
        judged = subprocess.run(["systemd-analyze", "security", "--offline=true", place / "ziggurat.service"], capture_output=True,
                                text=True)
        exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", judged.stdout).group(1))
        self.assertLess(exposure, 1.5, "systemd's own scale, of 10")
        # No memory goes to a disk; a process that decodes may confine itself, and die alone.
        settings = re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE)
        for setting in (("LimitCORE", "0"), ("MemorySwapMax", "0"), ("OOMPolicy", "continue"), ("NoNewPrivileges", "yes")):
            self.assertIn(setting, settings)
        self.assertRegex(dict(settings)["MemoryMax"], r"^\d+%$")
        self.assertEqual(self.filtered(settings), {"seccomp", "landlock_create_ruleset", "landlock_restrict_self", "setpriority", "clone3"})
        # Every setting that it makes is an option.
        options = set(re.findall(r"--([a-z-]+)", run("help", "serve", "--all").stdout))
        self.assertIn(("StateDirectoryMode", "0750"), settings)
        for name in re.findall(r"ZIGGURAT_([A-Z_]+)=", dict(settings)["Environment"]):
            self.assertIn(name.lower().replace("_", "-"), options)

    def filtered(self, settings: list) -> set[str]:
        """Of some system calls, those that the unit's filter lets through."""
        sets, name = {}, ""
        for line in subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True).stdout.splitlines():
            if line.startswith("@"):
                name = line.strip()
            elif (word := line.strip()) and not word.startswith("#"):
                sets.setdefault(name, []).append(word)

        def calls(word: str) -> set[str]:
            return set().union(*map(calls, sets[word])) if word.startswith("@") else {word}

        allowed = set()
        for value in [value for name, value in settings if name == "SystemCallFilter"]:
            named = set().union(*map(calls, value.lstrip("~").split()))
            allowed = allowed - named if value.startswith("~") else allowed | named
        return allowed & {"seccomp", "landlock_create_ruleset", "landlock_restrict_self", "setpriority", "clone3", "ptrace", "mount",
                          "reboot", "bpf", "init_module", "sched_setscheduler", "perf_event_open"}

    def test_the_image_has_what_the_executable_needs(self):
        text = (PACKAGING / "Dockerfile").read_text()
        for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE):
            for source in sources.split():
                self.assertTrue((ROOT / source).exists(), source)
                # Nothing that is copied is kept out of the context.
                self.assertIn(f"!{source.split('/')[0]}", (ROOT / ".dockerignore").read_text().split())
        runtime = {package for group, package in PACKAGES if group == "runtime"}
        # What the executable names itself, not what its libraries need, which their packages bring along.
        needed = re.findall(r"NEEDED\s+(\S+)", subprocess.run(["objdump", "-p", BINARY], capture_output=True, text=True).stdout)
        found = dict(re.findall(r"(\S+) => (\S+)", subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout))
        self.assertGreater(len(needed), 15)
        for library in needed:
            path = found.get(library, "")
            # Swift's own are linked in (--static-swift-stdlib); GLib comes with libvips, as its headers say.
            if not path or "/swift/" in path or library.startswith(("libswift", "libFoundation", "lib_Foundation", "libdispatch",
                                                                     "libBlocksRuntime", "libg")):
                continue
            owner = subprocess.run(["dpkg", "-S", Path(path).name], capture_output=True, text=True).stdout
            names = {line.split(":")[0] for line in owner.splitlines()}
            if not names & {"libc6", "libstdc++6", "libgcc-s1"}:
                self.assertTrue(names & runtime, f"{library}: {names}")
        self.assertIn("--static-swift-stdlib", text)
        # Its command line is one that is taken.
        options = set(re.findall(r"--([a-z-]+)", run("help", "serve", "--all").stdout))
        for option in re.findall(r'"--([a-z-]+)"', re.search(r"^CMD (.*)$", text, re.MULTILINE).group(1)):
            self.assertIn(option, options)

    def test_health_checks_recognize_a_server_that_responds(self):
        for name, exposed in (("Dockerfile", 8080), ("Dockerfile.edge", 6081)):
            check = re.search(r"HEALTHCHECK .* CMD (\[.*\])", (PACKAGING / name).read_text()).group(1)
            command = json.loads(check)
            self.assertIn(f"/127.0.0.1/{exposed} ", command[-1])
            port = fronts.free_port()
            command[-1] = command[-1].replace(f"/{exposed}", f"/{port}")
            self.assertNotEqual(subprocess.run(command, capture_output=True).returncode, 0)
            with Server(folder("empty")) as server:
                command[-1] = command[-1].replace(f"/{port}", f"/{server.port}")
                self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)

    def test_images_name_releases_and_say_what_they_are(self):
        for name in ("Dockerfile", "Dockerfile.edge"):
            text = (PACKAGING / name).read_text()
            bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
            for base in bases:
                self.assertRegex(base, r"^[a-z]+:\d+\.\d+", "a release, not a tag that moves")
            labels = dict(re.findall(r'org\.opencontainers\.image\.([a-z.]+)="([^"]*)"', text))
            self.assertLessEqual({"title", "description", "licenses", "vendor", "version", "revision", "base.name"}, set(labels))
            self.assertEqual(labels["base.name"], f"docker.io/library/{bases[-1]}")
        for image in re.findall(r"^    image: ((?!ziggurat)\S+)$", (PACKAGING / "compose.yaml").read_text(), re.MULTILINE):
            self.assertRegex(image, r"^[a-z]+:\d+\.\d+")

    def test_certificate_authorities_are_in_the_image_and_recommended_by_the_package(self):
        self.assertIn(["runtime", "ca-certificates"], PACKAGES)
        self.assertIn("install-packages runtime", (PACKAGING / "Dockerfile").read_text())
        self.assertRegex((PACKAGING / "debian/control").read_text(), r"(?m)^Recommends:.*\bca-certificates\b")


class Install(unittest.TestCase):
    def make(self, tree: Path, *options):
        return subprocess.run(["make", "-C", tree, "install", f"DESTDIR={tree}/to", "PREFIX=/opt/z", *options], capture_output=True, text=True)

    def test_it_does_not_shadow_the_unit_of_the_package(self):
        tree = folder("shadow")
        for name in ("Makefile", "README.md", "packaging"):
            (tree / name).symlink_to(ROOT / name)
        result = self.make(tree, "DESTDIR=", f"PREFIX={tree}/to", f"packaged={tree}/Makefile")
        self.assertEqual((result.returncode, "The package ziggurat is installed" in result.stderr), (2, True), result.stderr)
        self.assertFalse((tree / "to").exists())

    def test_it_takes_what_needs_no_toolchain_or_says_what_comes_first(self):
        tree = folder("install")
        for name in ("Makefile", "README.md", "packaging"):
            (tree / name).symlink_to(ROOT / name)
        (tree / ".build/public").mkdir(parents=True)
        (tree / ".build/public/index.html").write_text("a page")
        result = self.make(tree)
        self.assertEqual((result.returncode, "make standalone, as yourself, comes first" in result.stderr), (2, True), result.stderr)
        self.assertFalse((tree / "to").exists())
        (tree / ".build/standalone/release").mkdir(parents=True)
        (tree / ".build/standalone/release/ziggurat").write_bytes(BINARY.read_bytes())
        (tree / ".build/standalone/release/ziggurat").chmod(0o700)
        result = self.make(tree)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.access(tree / "to/opt/z/bin/ziggurat", os.X_OK))
        self.assertEqual((tree / "to/opt/z/share/ziggurat/public/index.html").read_text(), "a page")
        unit = (tree / "to/opt/z/lib/systemd/system/ziggurat.service").read_text()
        self.assertIn("/opt/z/bin/ziggurat", unit)
        self.assertNotIn("/usr/local", unit)


if __name__ == "__main__":
    unittest.main()
