"""Wrong usage: exit code 2, nothing on stdout, one line with the value, the range or the fix."""

import json
import os
import socket
import time
from pathlib import Path

from harness import BINARY, CommandTest, Server, folder, photo, run, sample_library
from szi import archives


class Usage(CommandTest):
    def test_help_and_version_go_to_stdout(self):
        for arguments in (["--help"], ["help"], ["help", "build"], ["help", "serve"], ["help", "tiles"],
                          ["build", "--help"], ["--version"]):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout.strip())

    def test_help_names_every_command_and_option(self):
        self.assertTrue(all(name in run("--help").stdout for name in ("build", "serve", "tiles")))
        build = run("help", "build").stdout
        for option in ("--library", "--tile-size", "--format", "--quality", "--background", "--jobs",
                       "--force", "--quiet", "--json"):
            self.assertIn(option, build)
        serve = run("help", "serve").stdout
        for option in ("--host", "--port", "--base-url", "--log"):
            self.assertIn(option, serve)
        self.assertNotIn("--webroot", serve)
        self.assertIn("--webroot", run("help", "serve", "--all").stdout)
        self.assertEqual(run("serve", "--all", "--help").stdout, run("help", "serve", "--all").stdout)

    def test_misspelt_names_are_answered_with_the_right_ones(self):
        for arguments, fix in (
            (["biuld", "x", "--library", "y"], "build"),
            (["sreve", "x"], "serve"),
            (["build", "x", "--libary", "y"], "--library"),
            (["build", "x", "--library", "y", "--tilesize", "256"], "--tile-size"),
            (["build", "x", "--library", "y", "--qualty=80"], "--quality"),
            (["serve", "x", "--prot", "80"], "--port"),
            (["tiles", "x", "--veiwport", "1x1"], "--viewport"),
        ):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertUsageError(result, f"did you mean '{fix}'")

    def test_missing_arguments_are_named(self):
        for arguments, word in (
            (["build", "--library", "y"], "source"), (["build", "x"], "--library"), (["serve"], "library"),
            (["tiles"], "archive"), (["build", "x", "--library"], "--library"),
            (["build", "x", "--library", "y", "--quality"], "--quality"),
        ):
            with self.subTest(arguments):
                self.assertUsageError(run(*arguments), word)

    def test_no_arguments_show_usage(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("build", result.stderr + result.stdout)

    def test_values_outside_their_range(self):
        source, library = photo(folder("v") / "a.jpg", 20, 20), folder("l")
        for option, value in (
            ("--tile-size", "0"), ("--tile-size", "-5"), ("--tile-size", "abc"), ("--tile-size", ""),
            ("--tile-size", "99999999999999999999"), ("--tile-size", "512.5"), ("--tile-size", "٥١٢"),
            ("--quality", "0"), ("--quality", "101"), ("--quality", "eighty"), ("--format", "bmp"),
            ("--format", ""), ("--jobs", "0"), ("--jobs", "-1"), ("--jobs", "many"),
            ("--background", "1,2"), ("--background", "red"), ("--background", "1,2,300"),
        ):
            with self.subTest(option=option, value=value):
                result = run("build", source, "--library", library, f"{option}={value}")
                self.assertUsageError(result, option, value)
        self.assertEqual(archives(library), [])

    def test_options_from_the_environment(self):
        source = photo(folder("e") / "a.jpg", 300, 300)

        def tiles(library: Path) -> int:
            import zipfile
            return sum("_files/9/" in name for name in zipfile.ZipFile(archives(library)[0]).namelist())

        small, plain = folder("small"), folder("plain")
        self.assertEqual(run("build", source, "--library", small,
                             environment={"ZIGGURAT_TILE_SIZE": "128"}).returncode, 0)
        self.assertEqual(tiles(small), 9)
        self.assertEqual(run("build", source, "--library", plain, "--tile-size", "512",
                             environment={"ZIGGURAT_TILE_SIZE": "128"}).returncode, 0)
        self.assertEqual(tiles(plain), 1)
        bad = run("build", source, "--library", plain, environment={"ZIGGURAT_TILE_SIZE": "big"})
        self.assertUsageError(bad, "ZIGGURAT_TILE_SIZE", "big")


    def test_a_file_of_options_comes_after_the_environment(self):
        source, base = photo(folder("c") / "a.jpg", 300, 300), folder("config")
        config = base / "ziggurat.conf"
        config.write_text(f"# Both commands read it.\ntile-size = 128\nlibrary = {base}/library\nmax-header-size = 2KB\nidle-timeout = 1m\n")

        def size(*options, **environment) -> int:
            result = run("build", source, "--config", config, "--force", *options, environment=environment)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            return json.loads(run("inspect", base / "library/a.szi", "--json").stdout)["tileSize"]

        self.assertEqual(size(), 128)
        self.assertEqual(size(ZIGGURAT_TILE_SIZE="256"), 256)
        self.assertEqual(size("--tile-size", "1024", ZIGGURAT_TILE_SIZE="256"), 1024)
        with Server(base / "library", "--config", config) as server:
            self.assertEqual([server.get("/api/images?q=" + "x" * count).status for count in (900, 1100)], [200, 414])
        config.write_text("tile-size = 128\ntilesize = 256\n")
        self.assertUsageError(run("build", source, "--config", config), "'tilesize'", "line 2", "did you mean 'tile-size'")

    def test_a_former_name_of_a_running_server_s_option_is_reported_once(self):
        with Server(sample_library(), "--max-header", 2, "--max-url", 1024) as server:
            self.assertEqual(server.get("/api/images?q=" + "x" * 1100).status, 414)
            self.assertEqual(server.errors(), "--max-header is now called --max-header-size (the old name works until 2.0)\n"
                             "--max-url has no effect any more: the limit is half of --max-header-size\n")


class Viewport(CommandTest):
    """`ziggurat tiles`."""

    @classmethod
    def setUpClass(cls):
        cls.archive = next(path for path in archives(sample_library()) if path.stem == "photo")

    def test_bad_values_are_named(self):
        for option, value in (
            ("--viewport", "axb"), ("--viewport", "1280"), ("--viewport", "1280x"), ("--viewport", "x800"),
            ("--viewport", "0x800"), ("--viewport", "-1x800"), ("--viewport", "40000x800"),
            ("--viewport", "1280x800x3"), ("--viewport", ""), ("--viewport", "nanx5"),
            ("--scale", "0"), ("--scale", "-1"), ("--scale", "nan"), ("--scale", "inf"), ("--scale", "x"),
            ("--scale", "1e999"), ("--scale", ""), ("--offset", "1"), ("--offset", "1,2,3"),
            ("--offset", "a,b"), ("--offset", "nan,0"), ("--offset", "inf,0"), ("--offset", ","),
        ):
            given = {"--viewport": "640x480", "--scale": "0.25", "--offset": "0,0", option: value}
            with self.subTest(option=option, value=value):
                result = run("tiles", self.archive, *(f"{key}={text}" for key, text in given.items()))
                self.assertUsageError(result, option, value)

    def test_archives_that_are_none(self):
        base = folder("archives")
        (base / "text.szi").write_text("no archive")
        (base / "empty.szi").touch()
        whole = self.archive.read_bytes()
        (base / "half.szi").write_bytes(whole[:len(whole) // 2])
        (base / "tail.szi").write_bytes(whole[len(whole) // 2:])
        for path in (*sorted(base.iterdir()), base / "absent.szi", base, Path("/dev/null"), Path("/dev/zero")):
            with self.subTest(path.name):
                result = run("tiles", path, "--viewport", "640x480", timeout=20)
                self.assertIn(result.returncode, (1, 2))
                self.assertOneLine(result, path.name)

    def test_an_output_that_is_full(self):
        with open("/dev/full", "w") as full:
            import subprocess
            result = subprocess.run([BINARY, "tiles", self.archive, "--viewport", "640x480"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=20)
        self.assertNotEqual(result.returncode, 0)
        self.assertOneLine(result)


class Serving(CommandTest):
    """How `serve` starts, fails to start, and stops."""

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            result = run("serve", sample_library(), "--port", port, timeout=20)
        self.assertIn(result.returncode, (1, 2, 75))
        self.assertOneLine(result, str(port))
        self.assertEqual(result.stdout, "")

    def test_bad_values(self):
        for option, value in (("--port", "70000"), ("--port", "-1"), ("--port", "http"), ("--log", "loud"),
                              ("--host", "not a host"), ("--host", "999.1.1.1")):
            with self.subTest(option=option, value=value):
                result = run("serve", sample_library(), f"{option}={value}", timeout=20)
                self.assertIn(result.returncode, (1, 2))
                self.assertOneLine(result, value)

    def test_a_log_without_a_reader(self):
        reader, writer = os.pipe()
        with Server(sample_library(), "--log", "text", log=os.fdopen(writer, "wb")) as server:
            os.close(reader)
            for _ in range(5):
                self.assertEqual(server.get("/healthz").status, 200)
                time.sleep(0.3)  # The log is written a few times a second.
            self.assertTrue(server.alive())

    def test_a_log_line_cannot_be_forged(self):
        with Server(sample_library(), "--log", "json") as server:
            server.raw(b'GET","status":999,"x":" /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
            server.get("/%0a\"")
            deadline = time.monotonic() + 60
            while len(server.errors().splitlines()) < 2 and time.monotonic() < deadline:
                time.sleep(0.1)
            lines = [json.loads(line) for line in server.errors().splitlines()]
            self.assertEqual(len(lines), 2)
            for line in lines:
                self.assertNotEqual(line["status"], 999)
                self.assertEqual(set(line), {"time", "client", "method", "path", "query", "status", "bytes", "seconds"})

    def test_nothing_to_verify_is_no_proof_that_all_is_well(self):
        base = folder("elsewhere")
        result = run("verify", base)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "is not a library")
        run("build", base, "--library", base / "library")
        run("reindex", base / "library")
        self.assertEqual(run("verify", base / "library").returncode, 0, "a library without images is whole")

    def test_a_catalog_that_cannot_be_written_is_reported_with_the_reason(self):
        base = folder("folder-in-its-place")
        run("build", photo(base / "photo.jpg", 90, 50), "--library", base, "--quiet", check=True)
        for file in base.glob("catalog.sqlite*"):
            file.unlink()
        (base / "catalog.sqlite").mkdir()
        result = run("reindex", base)
        self.assertEqual(result.returncode, 1)
        self.assertOneLine(result, "catalog.sqlite: unable to open database file")

    def test_a_library_that_is_none(self):
        file = folder("f") / "file.txt"
        file.write_text("text")
        for path in ("/nonexistent-folder", file):
            with self.subTest(path):
                result = run("serve", path, "--port", "0", timeout=20)
                self.assertIn(result.returncode, (1, 2))
                self.assertOneLine(result, Path(path).name)

    def test_a_file_or_a_link_to_nothing_in_the_place_of_a_library(self):
        base = folder("places")
        for number in range(2):
            photo(base / f"photos/{number}.jpg", 60, 40)
        (base / "file").write_text("text")
        (base / "file").chmod(0o644)
        (base / "link").symlink_to("none")
        for name, reason in (("file", "there is a file of that name"), ("link", "a link of that name leads nowhere")):
            result = run("build", base / "photos", "--library", base / name, "--quiet")
            self.assertEqual((result.returncode, result.stderr), (1, f"ziggurat: cannot make the folder {base / name}: {reason}\n"))
        result = run("serve", base / "file", "--port", "0")
        self.assertEqual((result.returncode, result.stderr), (1, f"ziggurat: cannot open the library {base}/file: Not a directory\n"))

    def test_signals_end_it_with_success_or_130(self):
        import signal
        for number, codes in ((signal.SIGTERM, {0}), (signal.SIGINT, {0, 130})):
            with self.subTest(number):
                server = Server(sample_library())
                idle = server.connect()  # An idle keep-alive connection must not hold it up.
                self.assertTrue(server.alive())
                self.assertIn(server.stop(number), codes)
                idle.close()

    def test_a_library_of_bad_archives_still_serves_the_good_ones(self):
        library = folder("mixed")
        os.link(archives(sample_library())[0], library / "good.szi")
        (library / "bad.szi").write_bytes(b"PK\x03\x04 but then nothing of the kind")
        (library / "empty.szi").touch()
        (library / "loop.szi").symlink_to("loop.szi")
        os.mkfifo(library / "pipe.szi")
        with Server(library) as server:
            listed = server.get("/api/images").body.decode()
            self.assertIn('"good"', listed)
            self.assertEqual(server.get("/api/images/good").status, 200)
            for name in ("bad", "empty", "loop", "pipe"):
                self.assertIn(server.get(f"/api/images/{name}").status, (404, 500), name)
