"""Very many rows of a catalog, made for a benchmark: in SQLite's tables beside a library of links, and in PostgreSQL's.

Names have terms with a natural distribution: few are frequent, and most are rare. A tenth of the images are in a folder of
their own.
"""

import itertools
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import material
from search_bench import SYLLABLES

SCRIPT = material.ROOT / "Tests/scripts/postgresql"
SEEDS = 50_000  # Links to one file; ext4 allows 65,000.


def natural(text: str) -> str:
    """What a catalog has for a text to stand in natural order."""

    def number(found: re.Match) -> str:
        digits = found[0].lstrip("0")
        return "9" * (len(digits) // 9) + str(len(digits) % 9) + digits

    return re.sub(r"\d+", number, text)


class Rows:
    def __init__(self, count: int):
        self.count = count
        self.random = random.Random(11)
        self.vocabulary = sorted({"".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4))) for _ in range(12_000)})
        self.random.shuffle(self.vocabulary)
        # Summed up, as choices would do for each draw.
        self.weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(self.vocabulary))))

    def ids(self) -> Iterator[str]:
        drawn = random.Random(5)
        for number in range(self.count):
            folder = f"{number // 1000:04}" if number % 10 else "all"
            yield f"{folder}/{' '.join(drawn.choices(self.vocabulary, cum_weights=self.weights, k=3))} {number:07}"

    def rows(self) -> Iterator[dict]:
        drawn = random.Random(7)
        for number, id in enumerate(self.ids()):
            title = " ".join(drawn.choices(self.vocabulary, cum_weights=self.weights, k=2))
            keywords = drawn.choices(self.vocabulary, cum_weights=self.weights, k=2)
            date = f"{drawn.randint(1850, 2020)}-{drawn.randint(1, 12):02}" if number % 3 else None
            folder, name = id.split("/")
            yield {
                "id": id, "width": drawn.randint(200, 9000), "height": drawn.randint(200, 9000), "tile_size": 512, "overlap": 0,
                "stored_bytes": 100_000, "format": "jpg", "generation": number + 1, "title": title, "date": date,
                "keywords": json.dumps(keywords), "item": id, "folder": f"{folder}/",
                "search": "\n".join([id, title, *([date] if date else []), *keywords]), "name_key": natural(id),
                "shelf": natural(id), "shown": natural(title), "inode": number + 1, "bytes": 100_000,
                "modified": drawn.randrange(10**18, 2 * 10**18), "sidecar": 0}

    def query(self, number: int) -> tuple[str, str]:
        """What somebody types, and its kind."""
        word, other = (self.random.choices(self.vocabulary, cum_weights=self.weights)[0] for _ in range(2))
        kinds = {"a word": word, "1 letter": word[:1], "2 letters": word[:2], "3 letters": word[:3],
                 "two words": f"{word} {other[:2]}", "4 digits": f"{number:06}"[:4], "what a tenth has": "all",
                 "the commonest word": self.vocabulary[0], "what none has": "nothing",
                 "one number": f"{self.random.randrange(self.count):07}"}
        return list(kinds.items())[number % len(kinds)][::-1]


def folder(ziggurat: Path, rows: Rows) -> Path:
    """A library of so many links, and the catalog of it."""

    def make(partial: Path) -> None:
        library = partial / "library"
        photo = partial / "photo.jpg"
        partial.mkdir(parents=True)
        material.vips("thumbnail", material.photographs()[0], photo, 640)
        versions = []
        for number, id in enumerate(rows.ids()):
            path = library / f"{id}.szi"
            if number % SEEDS == 0:
                seed = partial / f"seed-{number}"
                subprocess.run([ziggurat, "build", photo, "--library", seed, "--quiet"], check=True)
                status = (seed / "photo.szi").stat()
                versions.append((status.st_ino, status.st_size, status.st_mtime_ns))
            if number < 1 or number % 1000 == 1:
                path.parent.mkdir(parents=True, exist_ok=True)
            os.link(seed / "photo.szi", path)
        # Its tables are the program's own.
        empty = partial / "empty"
        subprocess.run([ziggurat, "build", photo, "--library", empty, "--quiet"], check=True)
        subprocess.run([ziggurat, "reindex", empty], check=True, stdout=subprocess.DEVNULL)
        (empty / "catalog.sqlite").rename(library / "catalog.sqlite")
        with sqlite3.connect(library / "catalog.sqlite") as database:
            database.execute("DELETE FROM image")

            def stamped(number: int, row: dict) -> dict:
                inode, size, modified = versions[number // SEEDS]
                return row | {"inode": inode, "bytes": size, "modified": modified}

            names = list(next(rows.rows()))
            database.executemany(
                f"INSERT INTO image ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})",
                (stamped(number, row) for number, row in enumerate(rows.rows())))
            database.execute("INSERT INTO words (words) VALUES ('optimize')")

    return material.made(f"catalog-folder-{rows.count}", make) / "library"


class Database:
    """A PostgreSQL server whose tables hold such rows; kept for the next run."""

    def __init__(self, ziggurat: Path, rows: Rows):
        version = subprocess.run([ziggurat, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.folder = material.CACHE / f"catalog-postgresql-{rows.count}"
        self.folder.mkdir(parents=True, exist_ok=True)
        # PostgreSQL's own user has to come by.
        for place in (self.folder, *self.folder.parents):
            if place.stat().st_uid == os.geteuid() and not place.stat().st_mode & 0o001:
                place.chmod(place.stat().st_mode | 0o011)
        self.process = subprocess.Popen([SCRIPT, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "SHARED_BUFFERS": "2GB"})
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            sys.exit("bench: PostgreSQL did not start")
        reported = subprocess.run([ziggurat, "catalog", "migrate", self.address], check=True, capture_output=True, text=True).stdout
        if int(self.ask("SELECT count(*) FROM image")) != rows.count:
            self.fill(rows)
        if int(self.ask("SELECT count(*) FROM archive")) != rows.count:
            self.name_archives()
        print(f"PostgreSQL: {reported.strip()}, {self.ask('SHOW server_version').strip()}; ziggurat {version}", flush=True)

    def ask(self, sql: str) -> str:
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.address, "-c", sql], check=True,
                              capture_output=True, text=True).stdout

    def fill(self, rows: Rows) -> None:
        print(f"filling PostgreSQL with {rows.count} rows", flush=True)
        self.ask("TRUNCATE image; ALTER TABLE image DISABLE TRIGGER ALL")
        self.copy("image", (row | {"search": lexemes(row["search"])} for row in rows.rows()))
        self.ask("ALTER TABLE image ENABLE TRIGGER ALL; INSERT INTO searched "
                 "SELECT number, cover, shelf, id, setweight(search, 'A') FROM image ORDER BY shelf, id")
        self.ask("VACUUM ANALYZE image, searched")

    def name_archives(self) -> None:
        """Each image has an archive, which nobody opens."""
        record = json.dumps({"sourceDigest": "0" * 16, "sourceName": "photo.jpg", "options": "tile-size=512"})
        self.ask("TRUNCATE archive; ALTER TABLE archive DISABLE TRIGGER ALL; "
                 "INSERT INTO archive SELECT id, generation, repeat(md5(id), 2), md5(id), stored_bytes, width, height, tile_size, format, "
                 f"'{record}', '{{}}' FROM image; ALTER TABLE archive ENABLE TRIGGER ALL")
        self.ask("VACUUM ANALYZE archive")

    def copy(self, table: str, rows: Iterator[dict]) -> None:
        """Indexes are made at the end, which is far sooner."""
        indexes = self.ask("SELECT indexname || '|' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND "
                           f"tablename = '{table}' AND indexdef LIKE 'CREATE INDEX%'").splitlines()
        for index in indexes:
            self.ask(f"DROP INDEX {index.split('|')[0]}")
        first = next(rows)
        process = subprocess.Popen(["psql", "-qX", "-v", "ON_ERROR_STOP=1", self.address, "-c",
                                    f"\\copy {table} ({', '.join(first)}) FROM STDIN"], stdin=subprocess.PIPE, text=True)
        process.stdin.write(line(first))
        process.stdin.writelines(map(line, rows))
        process.stdin.close()
        if process.wait() != 0:
            sys.exit("bench: PostgreSQL does not take the rows")
        for index in indexes:
            self.ask(index.split("|")[1])

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def line(row: dict) -> str:
    """A row as COPY takes it."""
    return "\t".join("\\N" if value is None else str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
                     for value in row.values()) + "\n"


def lexemes(text: str) -> str:
    return " ".join(f"'{word}':{place + 1}" for place, word in enumerate(re.findall(r"[a-z0-9]+", text)))
