"""Builds of many images: the report of each, on a terminal, in a file, as JSON; dry runs."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import unittest
import zipfile

from harness import BINARY, CommandTest, folder, photo, run
from szi import archives


def ids(library):
    return [str(path.relative_to(library))[:-4] for path in archives(library)]


class Reports(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.photos = folder("reports") / "photos"
        photo(cls.photos / "good.jpg", 300, 200)
        photo(cls.photos / "deep/fine.png", 90, 50)
        (cls.photos / "bad.jpg").write_text("no picture")
        (cls.photos / "empty.png").touch()
        (cls.photos / "notes.txt").write_text("not tried")

    def test_failures_stand_again_at_the_end(self):
        library = folder("library")
        result = run("build", self.photos, "--library", library)
        self.assertEqual(result.returncode, 1)
        lines = result.stderr.splitlines()
        at = lines.index("failed:")
        report = sorted(line.removeprefix("ziggurat: ") for line in lines[:at] if line.startswith("ziggurat: "))
        self.assertEqual([re.match(r".*?/([^/:]*): ", line)[1] for line in report], ["bad.jpg", "empty.png"])
        self.assertEqual(sorted(line.strip() for line in lines[at + 1:-1]), report)
        self.assertEqual(lines[-1], "2 built, 2 failed, 1 file skipped (--verbose says why)")

    def test_what_lossless_cannot_keep_is_reported(self):
        photos = folder("lossless")
        subprocess.run(["vips", "copy", self.photos / "good.jpg", f"{photos / 'half.jpg'}[subsample-mode=on]"], check=True)
        subprocess.run(["vips", "copy", self.photos / "good.jpg", f"{photos / 'full.jpg'}[subsample-mode=off]"], check=True)
        result = run("build", photos, "--library", folder("library"), "--fidelity", "lossless")
        lines = {name: line for line in result.stderr.splitlines() for name in ("half", "full") if f"built {name}:" in line}
        self.assertIn("(not lossless: encoded again at quality 80)", lines["full"])
        self.assertNotIn("not lossless", lines["half"])
        self.assertEqual(result.stderr.splitlines()[-1], "2 built, 1 not lossless")

    def test_the_failure_of_the_only_image_stands_once(self):
        result = run("build", self.photos / "bad.jpg", "--library", folder("library"))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("bad.jpg: "), 1, result.stderr)

    def test_quiet_says_failures_once(self):
        result = run("build", self.photos, "--library", folder("library"), "--quiet")
        self.assertEqual((result.returncode, result.stdout, len(result.stderr.splitlines())), (1, "", 2))

    def test_unchanged_images_have_no_line_unless_asked_for(self):
        library = folder("library")
        arguments = ("build", self.photos, "--library", library)
        run(*arguments)
        lines = [line for line in run(*arguments).stderr.splitlines() if line.startswith("[")]
        self.assertEqual(lines, [])
        lines = run(*arguments, "--verbose").stderr.splitlines()
        self.assertEqual(sorted(re.sub(r"^\[[1-4]/4\] ", "", line) for line in lines if line.startswith("[")),
                         ["unchanged deep/fine", "unchanged good"])
        self.assertEqual(lines[-1], "0 built, 2 unchanged, 2 failed, 1 file skipped (--verbose says why)")
        for other in ("--quiet", "--summary"):
            self.assertUsageError(run(*arguments, "--verbose", other), f"--verbose cannot be used with {other}")

    def test_files_that_are_passed_over_are_listed_on_request(self):
        base = folder("listed")
        photo(base / "photos/a.jpg", 60, 40)
        for name in ("b.czi", "notes.txt"):
            (base / "photos" / name).write_text(name)
        arguments = ("build", base / "photos", "--library", base / "library")
        wanted = ["b.czi is a microscope's own format, ", "notes.txt is no image by its name"]
        for options, isListed in ((("--dry-run",), True), ((), False), (("--verbose",), True), (("--quiet", "--dry-run"), False)):
            result = run(*arguments, *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = [line for line in result.stderr.splitlines() if line.startswith("passed over: ")]
            self.assertEqual(len(lines), 2 if isListed else 0, result.stderr)
            for line, start in zip(lines, wanted):
                self.assertTrue(line.startswith(f"passed over: {base}/photos/{start}"), line)

    def test_a_summary_is_one_line_when_nothing_failed(self):
        base = folder("summary")
        shutil.copytree(self.photos, base / "photos")
        arguments = ("build", base / "photos", "--library", base / "library", "--prune", "--summary")
        result = run(*arguments)
        failures = sorted(line.split("/")[-1].split(": ")[0] for line in result.stderr.splitlines()[:-1])
        self.assertEqual((result.returncode, failures), (1, ["bad.jpg", "empty.png"]))
        self.assertEqual(result.stderr.splitlines()[-1], "2 built, 2 failed, 1 file skipped (--verbose says why)")
        (base / "photos/bad.jpg").unlink()
        (base / "photos/empty.png").unlink()
        photo(base / "photos/new.jpg", 60, 40)
        shutil.rmtree(base / "photos/deep")
        for options, wanted in (((), "1 built, 1 unchanged, 1 pruned"), (("--quiet",), "0 built, 2 unchanged")):
            result = run(*arguments, *options)
            self.assertEqual((result.returncode, result.stdout, result.stderr),
                             (0, "", f"{wanted}, 1 file skipped (--verbose says why)\n"))

    def test_pages_do_not_count_as_sources(self):
        base = folder("pages")
        photo(base / "photos/a.jpg", 60, 40)
        subprocess.run(["vips", "copy", photo(base / "tall.png", 60, 200), f"{base}/photos/b.tif[page-height=40]"], check=True)
        photo(base / "photos/c.jpg", 60, 40)
        for options in ((), ("--verbose",)):
            result = run("build", base / "photos", "--library", base / "library", "--jobs", 1, *options)
            self.assertEqual([re.match(r"\[(\d)/3\] (?:built|unchanged) ([^:]*)", line).groups()
                              for line in result.stderr.splitlines()[:-1]],
                             [("1", "a"), *(("2", f"b/{page}") for page in range(1, 6)), ("3", "c")])
            self.assertEqual(result.stderr.splitlines()[-1], "0 built, 7 unchanged" if options else "7 built")

    def test_a_source_without_images_is_reported(self):
        base = folder("empty")
        for name in ("one", "other"):
            (base / name).mkdir()
        result = run("build", base / "one", base / "other", "--library", base / "library", "--summary")
        self.assertEqual((result.returncode, result.stderr),
                         (0, f"0 built, no image in {base}/one, no image in {base}/other\n"))

    def test_json_has_a_line_for_each_image(self):
        library = folder("library")
        wanted = {"good": "built", "deep/fine": "built", "bad": "failed", "empty": "failed"}
        for statuses in (wanted, wanted | {"good": "unchanged", "deep/fine": "unchanged"}):
            result = run("build", self.photos, "--library", library, "--json", "--quiet")
            lines = [json.loads(line) for line in result.stdout.splitlines()]
            # Files that are passed over have a line, too, and no id.
            self.assertEqual(lines.pop(0), {"source": f"{self.photos}/notes.txt", "status": "passed over",
                                            "reason": "is no image by its name"})
            self.assertEqual({line["id"]: line["status"] for line in lines}, statuses)
            self.assertEqual(len(lines), 4)
            for line in lines:
                self.assertTrue(line["source"].startswith(f"{self.photos}/{line['id']}."))
                if line["status"] == "failed":
                    self.assertIn(f"{line['source']}: {line['reason']}\n", result.stderr)
                if line["status"] == "built":
                    path = library / f"{line['id']}.szi"
                    self.assertEqual(line["bytes"], path.stat().st_size)
                    self.assertEqual((line["width"], line["height"]),
                                     (300, 200) if line["id"] == "good" else (90, 50))
                    self.assertEqual((line["levels"], line["tiles"]), (10, 10) if line["id"] == "good" else (8, 8))
                    self.assertRegex(line["route"], "^(lossless|planar|exact): ")
                    self.assertEqual(line["steps"], [])

    def test_a_dry_run_reports_everything_and_changes_nothing(self):
        base = folder("dry")
        shutil.copytree(self.photos, base / "photos")
        arguments = ("build", base / "photos", "--library", base / "library", "--json", "--quiet", "--prune")

        def statuses(*options):
            result = run(*arguments, *options)
            self.assertEqual(result.returncode, 1)
            lines = map(json.loads, result.stdout.splitlines())
            return {line["id"]: line["status"] for line in lines if line["status"] != "passed over"}

        failed = {"bad": "failed"}
        (base / "photos/empty.png").unlink()
        self.assertEqual(statuses("--dry-run"), failed | {"good": "would build", "deep/fine": "would build"})
        self.assertFalse((base / "library").exists())
        statuses()
        before = {path: path.stat().st_mtime_ns for path in (base / "library").rglob("*")}
        shutil.rmtree(base / "photos/deep")
        photo(base / "photos/new.jpg", 60, 40)
        self.assertEqual(statuses("--dry-run"), failed | {
            "good": "unchanged", "new": "would build", "deep/fine": "would prune"})
        self.assertEqual({path: path.stat().st_mtime_ns for path in (base / "library").rglob("*")}, before)
        self.assertEqual(statuses(), failed | {"good": "unchanged", "new": "built", "deep/fine": "pruned"})
        self.assertEqual(ids(base / "library"), ["good", "new"])


class AtOnce(CommandTest):
    """Builds of one library at the same time."""

    def setUp(self):
        self.base = folder("at-once")
        for number in range(4):
            photo(self.base / f"photos/{number}.png", 900, 700 + number)
        self.arguments = ("build", self.base / "photos", "--library", self.base / "library", "--summary")

    def test_the_second_waits_and_does_nothing_twice(self):
        processes = [subprocess.Popen([BINARY, *map(str, self.arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                     for _ in range(3)]
        report = [process.communicate(timeout=120)[1] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * 3, report)
        self.assertEqual(sorted(text.splitlines()[-1] for text in report), ["0 built, 4 unchanged"] * 2 + ["4 built"])

    def test_one_that_waits_says_so_and_can_be_stopped(self):
        self.assertEqual(run(*self.arguments).returncode, 0)
        path = self.base / "library/.ziggurat-build.lock"
        self.assertFalse(path.exists(), "it is there only while a build runs")
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = subprocess.Popen([BINARY, *map(str, self.arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertEqual(process.stderr.readline(), f"another build of {self.base}/library is running; waiting for its end\n")
            process.terminate()
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130)
            # A dry run changes nothing, and waits for nobody.
            self.assertEqual(run(*self.arguments, "--dry-run").returncode, 0)
        # What a killed build left is in nobody's way.
        self.assertEqual(run(*self.arguments).stderr, "0 built, 4 unchanged\n")
        self.assertFalse(path.exists())


class Upgrades(CommandTest):
    """Archives of another version of the program, whose record says so."""

    def setUp(self):
        self.base = folder("upgrade")
        photo(self.base / "photos/a.jpg", 300, 200)
        photo(self.base / "photos/b.jpg", 90, 60)
        self.library = self.base / "library"
        self.build()
        for name in "ab":
            self.age(self.library / f"{name}.szi")
        self.before = self.content()

    def build(self, *options, code=0):
        result = run("build", self.base / "photos", "--library", self.library, "--json", "--summary", *options)
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        return {line["id"]: line["status"] for line in lines}, result.stderr

    def content(self):
        return {path.name: path.read_bytes() for path in archives(self.library)}

    def age(self, path):
        """The same archive with an older number in front of the options of its record."""
        with zipfile.ZipFile(path) as archive:
            entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for entry, content in entries:
                if entry.filename.endswith("/build.json"):
                    self.assertRegex(content, rb'"options" : "\d+ ')
                    content = re.sub(rb'("options" : ")\d+ ', rb"\g<1>1 ", content)
                archive.writestr(zipfile.ZipInfo(entry.filename), content)

    def test_an_upgrade_rebuilds_unless_the_option_prevents_it(self):
        statuses, report = self.build("--keep-outdated")
        self.assertEqual((statuses, report), ({"a": "outdated", "b": "outdated"}, "0 built, 2 outdated, kept as another version built them\n"))
        self.assertEqual(self.content(), self.before)
        # Nothing of them is taken for gone.
        self.assertEqual(self.build("--keep-outdated", "--prune")[0], {"a": "outdated", "b": "outdated"})
        # What somebody asks for otherwise, and what has changed, is built.
        photo(self.base / "photos/b.jpg", 90, 61)
        self.assertEqual(self.build("--keep-outdated")[0], {"a": "outdated", "b": "built"})
        self.assertEqual(self.build("--keep-outdated", "--quality", "81", "--dry-run")[0], {"a": "would build", "b": "would build"})
        self.assertEqual(self.build()[0], {"a": "built", "b": "unchanged"})
        self.assertEqual(self.build("--keep-outdated")[1], "0 built, 2 unchanged\n")

    def test_a_renamed_one_is_moved_and_as_old(self):
        self.build("--keep-outdated")
        (self.base / "photos/a.jpg").rename(self.base / "photos/c.jpg")
        self.assertEqual(self.build("--keep-outdated")[0], {"b": "outdated", "c": "moved"})
        self.assertEqual(self.build("--keep-outdated")[0], {"b": "outdated", "c": "outdated"})

    def test_usage(self):
        result = run("build", self.base / "photos", "--library", self.library, "--keep-outdated", "--force")
        self.assertUsageError(result, "--keep-outdated cannot be used with --force")


class Progress(CommandTest):
    """On a pseudo-terminal, as a person sees it."""

    @classmethod
    def setUpClass(cls):
        cls.photos = folder("progress") / "photos"
        photo(cls.photos / "a.jpg", 300, 200)
        photo(cls.photos / "b-with-a-name-that-is-so-long-that-no-terminal-of-eighty-columns-holds-it.png", 5000, 2800)
        (cls.photos / "c.jpg").write_text("no picture")

    def seen(self, *options, columns=80):
        """All that the builder writes to a terminal of so many columns."""
        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [BINARY, "build", self.photos, "--library", folder("library"), "--jobs", "1", "--format", "png", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        data = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux' word for a terminal that nobody has open any more.
                break
            if not part:
                break
            data += part
        os.close(master)
        self.assertEqual(process.wait(60), 1)
        return data.decode().replace("\r\n", "\n")

    def lines(self, text):
        """The states of the line at the foot: each is drawn over the one before."""
        return [line for line in re.findall(r"\r\x1b\[K([^\r\n\x1b]*)", text) if line]

    def test_the_line_says_how_far_it_is(self):
        text = self.seen()
        states = [line for line in self.lines(text) if "images/s" in line]
        self.assertTrue(any("  b-with-a-name" in line for line in states), text)
        # Between two pictures none is named.
        for line in states:
            self.assertRegex(line, r"^\[[123]/3\] \d+\.\d images/s, \d+ megapixels/s(, \d+:\d\d left)?(  [bc][-.]|$)")
            self.assertLess(len(line), 80)
        self.assertTrue(any(" left" in line for line in states), states)
        # Half a picture of 14 megapixels counts.
        self.assertTrue(any(" 0 megapixels" not in line for line in states), states)

    def test_a_wide_terminal_shows_how_far_the_picture_is(self):
        states = [line for line in self.lines(self.seen(columns=200)) if "%" in line]
        shares = [int(re.search(r"\.png (\d+)%", line)[1]) for line in states]
        self.assertEqual(shares, sorted(shares))
        self.assertGreater(len(set(shares)), 1)

    def test_nothing_is_wider_than_the_terminal(self):
        for columns in (1, 20, 41):
            for line in self.lines(self.seen(columns=columns)):
                if not line.startswith(("ziggurat: ", "[1/3] built", "[2/3] built", "[3/3] built", "failed:", "  /", "2 built")):
                    self.assertLess(len(line), max(columns, 2))

    def test_at_the_end_the_line_is_gone(self):
        text = self.seen()
        # What stays when each drawing is wiped by the next.
        left = re.sub(r"\r\x1b\[K", "\r", text)
        left = [line.split("\r")[-1] for line in left.rstrip("\r\n").split("\n")]
        self.assertFalse([line for line in left if "images/s" in line])
        self.assertEqual(sum("built" in line for line in left), 3)
        self.assertEqual(left[-1], "2 built, 1 failed")
        self.assertEqual(sum("c.jpg: " in line for line in left), 2)

    def test_quiet_draws_nothing(self):
        text = self.seen("--quiet")
        self.assertNotIn("\x1b", text)
        self.assertEqual(len(text.splitlines()), 1)
        self.assertIn("c.jpg: ", text)

    def test_no_terminal_gets_plain_lines(self):
        result = run("build", self.photos, "--library", folder("library"), "--format", "png")
        self.assertNotRegex(result.stderr, r"[\r\x1b]|images/s")
        self.assertEqual(sum(" built " in line for line in result.stderr.splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
