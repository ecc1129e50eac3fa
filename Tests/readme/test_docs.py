"""The pages below docs/ are true: every command in them runs, every option exists. `make docs` checks links.

Each page is a test of its own: `-k commands_of_reference_http_api` runs the commands of docs/reference/http-api.md.
Blocks for root (`sh as-root`) are run by `make test-package`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("program", "program/build", "program/fleet")]

import numpy  # noqa: E402
from fronts import free_port  # noqa: E402
from harness import BINARY, ROOT, Server, folder, photo, run, sample_library  # noqa: E402
from small_store import SmallStore  # noqa: E402
from test_pixels import tiff  # noqa: E402

DOCS = ROOT / "docs"
# The catalogs of DocC are built by `make docs`.
PAGES = sorted(page for page in DOCS.rglob("*.md") if not any(part.endswith(".docc") for part in page.parts))
# `sh` and `python` blocks are run. `ini UNIT` blocks are checked as drop-ins of that unit, and `ini new UNIT` blocks as whole units.
# The others are only shown.
UNITS = {"ziggurat.service": ROOT / "packaging/ziggurat.service", "ziggurat-build.service": ROOT / "packaging/debian/ziggurat-build.service"}
KINDS = {"sh", "sh as-root", "python", "html", "css", "tsx", "json", "swift", "text"} | {f"ini {unit}" for unit in UNITS}
NEW_UNIT = "ini new "


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```([^\n]+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def events_of(page: str) -> dict[str, tuple[str, str]]:
    """The table of events of the viewer's reference: by name, the detail and the description."""
    section = re.search(r"^## Events\n(.+?)^## ", page, re.MULTILINE | re.DOTALL)[1]
    rows = re.findall(r"^\| `([a-z-]+)` \| (?:(\S.*?) )?\| (\S.*?) \|$", section, re.MULTILINE)
    return {name: (detail, text) for name, detail, text in rows}


class Docs(unittest.TestCase):
    def place(self) -> Path:
        """A folder with the pictures that the pages name, and a home folder."""
        place = folder("docs")
        for name in ("harbour", "INV-0091"):
            photo(place / f"pictures/{name}.jpg", 1600, 1000)
        for number in range(1, 4):
            photo(place / f"codex/f00{number}r.jpg", 300, 400)
        values = numpy.linspace(0, 4095, 300 * 200).astype(numpy.uint16).reshape(200, 300)
        tiff(place / "camera.tif", values, description='<OME><Image><Pixels ID="P" PhysicalSizeX="0.5"/></Image></OME>')
        tiff(place / "mask.tif", numpy.kron(numpy.arange(12).reshape(3, 4), numpy.ones((50, 50))).astype(numpy.uint16))
        tiff(place / "six-bands.tif", numpy.zeros((50, 60, 6), numpy.uint8))
        (place / "docs").symlink_to(DOCS)
        (place / "bin").mkdir()
        (place / "bin/ziggurat").symlink_to(BINARY)
        # A Python with what the pages have readers install.
        (place / "bin/python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (place / "bin/python3").chmod(0o755)
        return place

    def run_commands(self, page: Path) -> None:
        """Runs a page's blocks in their order, in one shell."""
        script = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
        for kind, text in blocks(page):
            if kind == "sh":
                # A reader waits until the server listens.
                script += re.sub(r"^(ziggurat serve .*) &$", r"rm -f ready; \1 > ready &\nuntil grep -qs listening ready; do sleep 0.05; done",
                                 text, flags=re.MULTILINE)
            if kind == "python":
                script += f"python3 - <<'PYTHON'\n{text}PYTHON\n"
        store = SmallStore()
        self.addCleanup(store.close)
        place, port = self.place(), str(free_port())
        store.objects["scans/2026/f001r.jpg"] = (place / "codex/f001r.jpg").read_bytes()
        script = script.replace("localhost:8080", f"localhost:{port}")
        for other in ("127.0.0.1:8079", "127.0.0.1:8081"):
            script = script.replace(other, f"127.0.0.1:{free_port()}")
        result = subprocess.run(
            ["bash", "-c", script], cwd=place, capture_output=True, text=True, timeout=120,
            env={**store.environment, "PATH": f"{place}/bin:/usr/bin:/bin", "ZIGGURAT_PORT": port, "ZIGGURAT_WEBROOT": str(ROOT / "public"),
                 "HOME": str(place), "LANG": "C.UTF-8"})
        self.assertEqual(result.returncode, 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}")

    def test_each_page_uses_known_kinds_of_blocks(self):
        self.assertGreater(len(PAGES), 5)
        for page in PAGES:
            for kind, _ in blocks(page):
                if not kind.startswith(NEW_UNIT):
                    self.assertIn(kind, KINDS, page.relative_to(DOCS))
            for kind, text in blocks(page):
                if kind == "json":
                    json.loads(text)

    def test_what_root_does_is_what_the_package_brings(self):
        text = "".join(text for page in PAGES for kind, text in blocks(page) if kind == "sh as-root")
        units = set(re.findall(r"\bziggurat(?:-build)?\b(?:\.timer|\.socket|\.service)?", " ".join(re.findall(r"systemctl .*", text))))
        self.assertEqual(units, {"ziggurat", "ziggurat-build.timer", "ziggurat-build", "ziggurat.service", "ziggurat.socket"})
        self.assertTrue((ROOT / "packaging/ziggurat.socket").exists())
        for unit in ("ziggurat-build.service", "ziggurat-build.timer"):
            self.assertTrue((ROOT / "packaging/debian" / unit).exists())
        self.assertIn("$SOURCES", (ROOT / "packaging/debian/ziggurat-build.service").read_text())

    def test_drop_ins_are_sound(self):
        """systemd reads each one together with the unit of the package; each option and variable is one of ours or of a library."""
        options = {option for command in ("serve", "build") for option in re.findall(r"^  (--[a-z-]+)", run("help", command, "--all").stdout, re.MULTILINE)}
        drop_ins = [(kind.removeprefix("ini "), text) for page in PAGES for kind, text in blocks(page)
                    if kind.startswith("ini ") and not kind.startswith(NEW_UNIT)]
        self.assertGreater(len(drop_ins), 3)
        for unit, text in drop_ins:
            place = folder("units")
            (place / unit).write_text(UNITS[unit].read_text().replace("/usr/local/bin/ziggurat", str(BINARY)).replace("/usr/bin/ziggurat", str(BINARY)))
            (place / f"{unit}.d").mkdir()
            (place / f"{unit}.d/override.conf").write_text(text.replace("/usr/bin/ziggurat", str(BINARY)))
            verified = subprocess.run(["systemd-analyze", "verify", "--man=no", place / unit], capture_output=True, text=True)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""), text)
            for option in re.findall(r" (--[a-z-]+)", text):
                self.assertIn(option, options)
            for variable in re.findall(r"\bZIGGURAT_([A-Z_]+)=", text):
                self.assertIn("--" + variable.lower().replace("_", "-"), options)
            # A wrong line is found: the drop-in is read.
            (place / f"{unit}.d/override.conf").write_text(text + "Wrong=yes\n")
            verified = subprocess.run(["systemd-analyze", "verify", "--man=no", place / unit], capture_output=True, text=True)
            self.assertIn("Wrong", verified.stderr)

    def test_the_second_service_is_sound(self):
        """The commands of the page make units that systemd reads, and a file that nginx accepts beside that of the first server."""
        place = folder("second")
        for name in ("system", "etc/systemd/system", "etc/logrotate.d", "etc/default", "etc/nginx/conf.d", "cert"):
            (place / name).mkdir(parents=True)
        unit = UNITS["ziggurat.service"].read_text().replace("/usr/local", "/usr").replace("DynamicUser=yes", "User=ziggurat")
        (place / "system/ziggurat.service").write_text(unit)
        for name in ("service", "timer"):
            shutil.copy(ROOT / f"packaging/debian/ziggurat-build.{name}", place / "system")
        shutil.copy(ROOT / "packaging/debian/ziggurat.logrotate", place / "etc/logrotate.d/ziggurat")
        text = "".join(text for kind, text in blocks(DOCS / "how-to/second-service.md") if kind == "text")
        text = re.sub(r"^(?:systemctl|curl|nginx) .*\n", "", text, flags=re.MULTILINE)
        text = text.replace(" /etc/", f" {place}/etc/").replace("cd /lib/systemd/system", f"cd {place}/system") \
            .replace("/usr/share/doc/ziggurat/examples", str(ROOT / "packaging"))
        subprocess.run(["bash", "-euc", text], check=True)
        units = place / "etc/systemd/system"
        made = {path.name: path.read_text() for path in units.iterdir()}
        self.assertEqual(set(made), {"ziggurat-staff.service", "ziggurat-staff-build.service", "ziggurat-staff-build.timer"})
        for name, text in made.items():
            left = re.findall(r"^[^#\n]*(?:/(?:var|etc/default)/[a-z/]*|Directory=)ziggurat(?!-staff).*", text, re.MULTILINE)
            self.assertEqual(left, [], name)
            (units / name).write_text(text.replace("/usr/bin/ziggurat", str(BINARY)))
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", *units.iterdir()], capture_output=True, text=True)
        self.assertEqual((verified.returncode, verified.stderr), (0, ""))
        rotated = (place / "etc/logrotate.d/ziggurat-staff").read_text()
        self.assertEqual(len(re.findall(r"^/var/log/ziggurat-staff/|HUP .*ziggurat-staff\.service", rotated, re.MULTILINE)), 4)
        first, second = (ROOT / "packaging/nginx.conf").read_text(), (place / "etc/nginx/conf.d/ziggurat-staff.conf").read_text()
        self.assertIn("proxy_pass http://ziggurat_staff;", second)
        self.assertNotIn("images.example.org", second)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x", "-keyout", place / "cert/privkey.pem",
                        "-out", place / "cert/fullchain.pem"], check=True, capture_output=True)
        (place / "nginx.conf").write_text("pid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + re.sub(
            r"/etc/letsencrypt/live/[a-z.]+", str(place / "cert"), first + second) + "}\n")
        checked = subprocess.run(["/usr/sbin/nginx", "-t", "-p", place, "-c", place / "nginx.conf"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_new_units_are_sound(self):
        """systemd reads the units of a page that readers create, and finds the options in the program."""
        self.assertGreater(sum(kind.startswith(NEW_UNIT) for page in PAGES for kind, _ in blocks(page)), 2)
        for page in PAGES:
            units = {kind.removeprefix(NEW_UNIT): text for kind, text in blocks(page) if kind.startswith(NEW_UNIT)}
            place = folder("new-units")
            for unit, text in units.items():
                (place / unit).write_text(text.replace("/usr/bin/ziggurat", str(BINARY)))
                for command, line in re.findall(r"/usr/bin/ziggurat (\w+)(.*)", text):
                    options = re.findall(r"^  (--[a-z-]+)", run("help", command, "--all").stdout, re.MULTILINE)
                    self.assertLessEqual(set(re.findall(r" (--[a-z-]+)", line)), set(options), text)
            for unit in units:
                # An instance of a template.
                path = place / unit.replace("@.", "@ziggurat-build.service.")
                verified = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
                self.assertEqual((verified.returncode, verified.stderr), (0, ""), units[unit])

    def test_metrics_have_a_port_that_no_exporter_has(self):
        """https://github.com/prometheus/prometheus/wiki/Default-port-allocations has 9090 to 10061 nearly full."""
        texts = [*PAGES, *(path for path in (ROOT / "packaging").rglob("*") if path.is_file())]
        for path in texts:
            for port in re.findall(r"metrics-listen[= ][^ \n]*:(\d+)|targets: \[\"[^\"]*:(\d+)", path.read_text(errors="replace")):
                self.assertEqual("".join(port), "8079", path)

    def test_each_page_is_in_the_index(self):
        index = DOCS / "README.md"
        linked = {(DOCS / path).resolve() for path in re.findall(r"\]\(([^)#:]+\.md)", index.read_text())}
        self.assertEqual([str(page.relative_to(DOCS)) for page in PAGES if page != index and page.resolve() not in linked], [])

    def test_options_exist(self):
        # `vips dzsave` has this one.
        options = {"--skip-blanks"}
        for command in re.findall(r"^  ziggurat (\w+)", run("--help").stdout, re.MULTILINE):
            options |= set(re.findall(r"^  (--[a-z-]+)", run("help", command, "--all").stdout, re.MULTILINE))
        for page in PAGES:
            # The element's custom properties begin alike, and are tried by Tests/browser/elsewhere.
            for option in re.findall(r"`(--(?!ziggurat-)[a-z-]+)", page.read_text()):
                self.assertIn(option, options, page.relative_to(DOCS))

    def test_generated_pages_are_up_to_date(self):
        result = subprocess.run([ROOT / "Tests/scripts/reference", "--check"], capture_output=True, text=True,
                                env={**os.environ, "ZIGGURAT": str(BINARY)})
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_table_of_requests_is_that_of_openapi(self):
        document = json.loads((ROOT / "Sources/TileServing/Description/openapi.json").read_text())
        described = {(method.upper(), path) for path, methods in document["paths"].items()
                     for method in methods if method in ("get", "post", "put", "patch", "delete")}
        page = (DOCS / "reference/http-api.md").read_text()
        self.assertEqual(set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`]+)`", page)), described)

    def test_the_table_of_metrics_is_complete(self):
        """By the names in the sources; a server prints those of its kind."""
        sources = "".join(path.read_text() for name in ("TileServing", "Adapters", "ImageLibrary") for path in (ROOT / "Sources" / name).rglob("*.swift"))
        page = (DOCS / "reference/metrics.md").read_text()
        named = set(re.findall(r"`ziggurat_([a-z_]+)`", page))
        for name in named - {"last_build_exit_code"}:
            self.assertRegex(sources, rf'"{name}"|ziggurat_{name}\b')
        with Server(sample_library(), "--writable") as server:
            printed = set(re.findall(r"^# TYPE (\S+)", server.get("/metrics").body.decode(), re.MULTILINE))
        for name in printed:
            self.assertIn(f"`{name}`", page)
        figures = re.findall(r"SourceFigure\(\s*\"([a-z_]+)\"", sources)
        self.assertGreater(len(figures), 8)
        for name in figures:
            self.assertIn(f"`ziggurat_{name}`", page)

    def test_the_tables_of_elements_are_those_of_the_code(self):
        page = (DOCS / "reference/viewer-element.md").read_text()
        named = set(re.findall(r"`([a-z-]+)(?:=\"[^`]*)?`", "".join(re.findall(r"^\|([^|]+)\|", page, re.MULTILINE))))
        for path in ("viewer/ziggurat-viewer.js", "compare/ziggurat-compare.js"):
            attributes = re.search(r"observedAttributes = \[(.*?)\]", (ROOT / "public" / path).read_text())[1]
            for name in re.findall(r"'([a-z-]+)'", attributes):
                self.assertIn(name, named, path)
        sources = "".join(path.read_text() for path in (ROOT / "public").rglob("*.js"))
        self.assertEqual(set(re.findall(r"`::part\(([a-z-]+)\)`", page)), set(re.findall(r"part\.add\('([a-z-]+)'\)", sources)))

    def test_the_pages_and_the_types_name_the_same_attributes_and_events(self):
        page = (DOCS / "reference/viewer-element.md").read_text()
        section = re.search(r"## `<ziggurat-viewer>`: attributes\n(.+?)\n## ", page, re.DOTALL)[1]
        attributes = set(re.findall(r"`([a-z-]+)(?:=[^`]*)?`", "".join(re.findall(r"^\|([^|]+)\|", section, re.MULTILINE))))
        events = set(events_of(page))
        self.assertGreater(len(attributes), 10)
        self.assertGreater(len(events), 8)
        example = (ROOT / "public/embed.html").read_text()
        for heading, names in (("Attributes", attributes), ("Events", events)):
            table = re.search(rf"<h2>{heading}</h2>.*?<table>(.+?)</table>", example, re.DOTALL)[1]
            cells = "".join(re.findall(r"<tr><td>(.+?)</td>", table))
            self.assertEqual(set(re.findall(r"<code>([a-z-]+)(?:=[^<]*)?</code>", cells)), names, heading)
        types = re.sub(r"  /\*\* @deprecated[^\n]*\n[^\n]*\n", "", (ROOT / "public/viewer/elements.d.ts").read_text())
        declared = {name: set(re.findall(r"^  '?([a-z-]+)'?\??:", re.search(rf"interface {name} \{{(.+?)\n\}}", types, re.DOTALL)[1], re.MULTILINE))
                    for name in ("ZigguratViewerAttributes", "ZigguratViewerEventMap")}
        # `lang` is an attribute of any element.
        self.assertEqual(declared["ZigguratViewerAttributes"], attributes - {"lang"})
        self.assertEqual(declared["ZigguratViewerEventMap"], events)

    def test_events_are_described_as_the_types_describe_them(self):
        types = (ROOT / "public/viewer/elements.d.ts").read_text()
        declared = re.search(r"interface ZigguratViewerEventMap \{(.+?)\n\}", types, re.DOTALL)[1]
        expected = {}
        for text, name, kind in re.findall(r"  /\*\* (.+?) \*/\n  '?([a-z-]+)'?: (\S[^\n]*)", declared):
            detail = re.sub(r"^CustomEvent<(.+)>$|^Event$", r"\1", kind)
            if cause := re.fullmatch(r"\{ cause: (\w+) \}", detail):
                *others, last = [f"`{each}`" for each in re.findall(r"'([a-z]+)'", re.search(rf"type {cause[1]} = (.+)", types)[1])]
                detail = f"`cause`: {', '.join(others)} or {last}"
            elif detail:
                detail = f"`{detail}`"
            expected[name] = (detail, text)
        self.assertEqual(events_of((DOCS / "reference/viewer-element.md").read_text()), expected)
        table = re.search(r"<h2>Events</h2>.*?<table>(.+?)</table>", (ROOT / "public/embed.html").read_text(), re.DOTALL)[1]
        shown = dict(re.findall(r"<tr><td><code>([a-z-]+)</code></td><td>(.+?)</td>", table))
        for name, (_, text) in expected.items():
            self.assertTrue(shown[name].startswith(re.sub("`([^`]+)`", r"<code>\1</code>", text)), name)
        script = (ROOT / "public/embed/main.js").read_text()
        self.assertEqual(re.findall(r"'([a-z-]+)'", re.search(r"EVENTS = \[(.+?)\]", script)[1]), list(expected))

    def test_the_table_of_metadata_has_each_field_that_is_read(self):
        page = (DOCS / "reference/metadata.md").read_text()
        sources = "".join((ROOT / f"Sources/Metadata/ImageMetadata+{name}.swift").read_text() for name in ("Embedded", "Rights"))
        fields = set(re.findall(r'"((?:Xmp|Iptc|Exif|Png)\.[A-Za-z0-9.]+)"', sources))
        self.assertGreater(len(fields), 40)
        for field in fields:
            self.assertIn(f"PNG `{field[4:]}`" if field.startswith("Png.") else f"`{field}`", page)

    def test_the_page_of_book_json_has_each_member(self):
        page = (DOCS / "reference/book-json.md").read_text()
        members = re.search(r"enum Key: String, CodingKey, CaseIterable \{\n(.*?)\n  \}", (ROOT / "Sources/Metadata/BookDescription.swift").read_text(), re.DOTALL)[1]
        table = "".join(re.findall(r"^\|([^|]+)\|", page, re.MULTILINE))
        # `built` and its digest are written by builds only.
        self.assertEqual(set(re.findall(r"`(\w+)`", table)), set(re.findall(r"\w+", members)) - {"case", "built", "buildDigest"})

    def test_the_table_of_exit_codes_is_complete(self):
        page = (DOCS / "reference/signals-and-exit-codes.md").read_text()
        codes = re.findall(r"ExitCode\(number: (\d+)\)", (ROOT / "Sources/ziggurat/Commands/Command.swift").read_text())
        self.assertEqual(re.findall(r"^\| (\d+) \|", page, re.MULTILINE), codes)

    def test_the_defaults_in_the_table_of_limits_are_those_of_the_program(self):
        """Compared in bytes, seconds and pixels: the page writes units in its own way."""
        factors = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "MP": 1_000_000,
                   "megapixels": 1_000_000}
        entries = re.split(r"^  (?=--)", run("help", "serve", "--all").stdout, flags=re.MULTILINE)
        options = {entry.split()[0]: re.search(r"default (\d+)([A-Za-z]*)\)", " ".join(entry.split())) for entry in entries[1:]}
        rows = re.findall(r"^\| `(--[a-z-]+)` \| (\d[\d,]*)(?: (megapixels|KB|MB|s)\b)?", (DOCS / "reference/limits.md").read_text(), re.MULTILINE)
        self.assertGreater(len(rows), 10)
        for option, number, unit in rows:
            default, its = options[option].groups()
            self.assertEqual(int(number.replace(",", "")) * factors[unit], int(default) * factors[its], option)

    def test_the_scale_page_is_what_the_model_prints(self):
        printed = subprocess.run([ROOT / "Tests/scale/model"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((DOCS / "explanation/scale.md").read_text(), printed)

    def test_a_backup_leaves_out_only_the_catalog(self):
        """Images may have names that begin as the catalog's do."""
        place = folder("backup")
        for name in ("catalog", "catalog.sqlite3", "prints/catalog", "prints/catalog.sqlite"):
            photo(place / f"pictures/{name}.jpg", 30, 20)
        commands = "".join(text for kind, text in blocks(DOCS / "how-to/backup.md") if kind == "sh").partition("rsync --archive --delete --dry-run")[0]
        result = subprocess.run(["bash", "-euc", commands.replace("ziggurat ", f"{BINARY} ")], cwd=place, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        library, backup = (sorted(str(path.relative_to(place / name)) for path in (place / name).rglob("*") if path.is_file())
                           for name in ("library", "backup"))
        self.assertEqual(backup, [name for name in library if name != "catalog.sqlite"])
        self.assertEqual(len(backup), 4)

    def test_the_tools_that_they_use_are_here(self):
        for tool in ("curl", "rsync", "exiftool"):
            self.assertIsNotNone(shutil.which(tool), tool)


def commands_of(page: Path):
    return lambda self: self.run_commands(page)


for each in PAGES:
    if any(kind in ("sh", "python") for kind, _ in blocks(each)):
        name = re.sub(r"\W", "_", str(each.relative_to(DOCS).with_suffix("")))
        setattr(Docs, f"test_commands_of_{name}", commands_of(each))


if __name__ == "__main__":
    unittest.main()
