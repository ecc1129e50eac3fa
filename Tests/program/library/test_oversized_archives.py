"""Archives that others made to cost much: huge records and vast indexes. Peak memory is the kernel's (VmHWM)."""

import json
import struct
import unittest
from pathlib import Path

from harness import Server, folder, run

DZI = '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="{}" Overlap="0" Format="png">' \
      '<Size Width="{}" Height="{}"/></Image>'


def write_zip(path: Path, entries: list[tuple[str, bytes, int]]) -> int:
    """Writes a stored ZIP (APPNOTE 4.3) whose entries have these first bytes and are this long: the rest are holes.
    Checksums are 0. Returns the size of the directory."""
    directory = bytearray()
    with path.open("wb") as file:
        for name, head, size in entries:
            text, offset = name.encode(), file.tell()
            fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, size, size, len(text), 0)
            file.write(b"PK\3\4" + fields + text + head)
            file.seek(size - len(head), 1)
            directory += b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + text
        start = file.tell()
        file.write(directory)
        # ZIP64: more than 65,535 entries, or beyond 4 GB.
        end = file.tell()
        file.write(b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(entries), len(entries), len(directory), start))
        file.write(b"PK\6\7" + struct.pack("<IQI", 0, end, 1))
        file.write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0))
    return len(directory)


def peak(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


class OversizedArchives(unittest.TestCase):
    def one_tile(self, *entries: tuple[str, bytes, int]) -> list[tuple[str, bytes, int]]:
        descriptor = DZI.format(256, 1, 1).encode()
        return [("a/a.dzi", descriptor, len(descriptor)), ("a/a_files/0/0_0.png", b"\x89PNG\r\n\x1a\n", 8), *entries]

    def test_records_of_three_gigabytes_cost_nothing(self):
        library = folder("huge")
        # An old kernel's file of this size would be whole: it is a few KB here.
        for number, name in enumerate(["build", "metadata", "own-metadata"]):
            write_zip(library / f"a{number}.szi", self.one_tile(
                (f"a/vendor/ziggurat/{name}.json", b'{"keywords": ["', 3 << 30)))
        plain = folder("plain")
        write_zip(plain / "a.szi", self.one_tile())
        with Server(plain) as server:
            self.assertEqual(server.get("/api/images/a").status, 200)
            usual = peak(server)
        with Server(library) as server:
            for number in range(3):
                answer = server.get(f"/api/images/a{number}")
                self.assertEqual((answer.status, json.loads(answer.body)["width"]), (200, 1))
            self.assertLess(peak(server) - usual, 16 << 20)
        verified = run("verify", library)
        self.assertEqual(verified.returncode, 1)
        self.assertIn("vendor/ziggurat/build.json has 3221225472 bytes, more than 262144", verified.stdout + verified.stderr)

    def test_an_index_costs_four_bytes_for_each_of_the_directory_s(self):
        """Entries with the shortest names, and a descriptor that names as many tiles as were allowed once."""
        library = folder("vast")
        count = 60_000
        # Tiles of one pixel: a pyramid of some 4/3 × side² tiles.
        def archive(name: str, side: int) -> int:
            descriptor = DZI.format(1, side, side).encode()
            tiles = [(f"a/a_files/0/{number}_0.png", b"", 0) for number in range(count)]
            return write_zip(library / name, [("a/a.dzi", descriptor, len(descriptor)), *tiles])
        directory = archive("refused.szi", int((count * 60 * 3 / 4) ** 0.5))
        archive("opened.szi", int((directory * 4 / 16 * 3 / 4 * 0.99) ** 0.5))
        plain = folder("plain")
        write_zip(plain / "a.szi", self.one_tile())
        with Server(plain) as server:
            self.assertEqual(server.get("/api/images/a").status, 200)
            usual = peak(server)
        with Server(library) as server:
            self.assertEqual(server.get("/api/images/refused").status, 500)
            self.assertEqual(server.get("/api/images/opened").status, 200)
            # The directories themselves are mapped and read: they count once. The catalog opens each once, too.
            cost = peak(server) - usual
            self.assertLess(cost, 2 * directory + 2 * 4 * directory + (8 << 20), f"a directory of {directory}")


if __name__ == "__main__":
    unittest.main()
