"""A catalog of a million rows, asked through `ziggurat serve`: how soon a server listens and in how much memory, what a
search takes, and what page 10,000 of the list takes, in each order.

Once as a folder has it, in SQLite beside a million archives (hard links), and once as servers share it, in PostgreSQL, where
a replica has no list of the library; there also how soon servers see what was changed (`--only changes`, `postgresql` or
`sqlite` for a part). One request after the other, beside an otherwise idle machine. The rows are made once and kept.
"""

import os
import sqlite3
import statistics
import sys
import time
from pathlib import Path
from urllib.parse import quote

import material
from measure import table
from store import catalog_rows
from store.asking import Server, row
from store.changes_bench import Changes

sys.path.append(str(Path(__file__).resolve().parents[2] / "program/fleet"))

from small_store import SmallStore  # noqa: E402

ORDERS = {
    "name": ("shelf", "shelf, id"), "-name": ("shelf", "shelf DESC, id DESC"), "title": ("shown", "shown, name_key, id"),
    "-date": ("date", "date IS NULL, date DESC, name_key, id"), "added": ("modified", "modified, name_key, id"),
    "-size": ("width * height", "width * height DESC, name_key, id")}


def searches(name: str, server: Server, rows: catalog_rows.Rows, count: int) -> list[list[str]]:
    """A new process reads its indexes from the disk, here for the first time since they were in memory last. So each is
    reported by itself: the first searches, and as many others after them."""

    def asked(count: int, where: str = "") -> dict[str, list[float]]:
        times: dict[str, list[float]] = {}
        for number in range(count):
            query, kind = rows.query(number)
            times.setdefault(kind, []).append(server.ask(f"/api/images?q={quote(query)}{where}")[0])
        return times

    together = lambda times: [each for kind in times.values() for each in kind]
    first, times = asked(count), asked(count)
    places = {f"a search, {where}": together(asked(count // 20, f"&{where}"))
              for where in ("sort=date", "sort=-size", "folder=all", "folder=0001")}
    return [row(name, f"the first {count} searches, from the disk", together(first), ""),
            row(name, "a search", together(times), "p99 ≤ 50 ms"),
            *(row(name, f"a search for {kind}", values, "") for kind, values in times.items()),
            *(row(name, what, values, "") for what, values in places.items())]


def pages(name: str, server: Server, find, count: int, rounds: int) -> list[list[str]]:
    """Page 10,000 of a hundred images each, or the last but one of fewer images."""
    found = []
    place = min(10_000 * 100, count) - 200
    for order, (key, sorting) in ORDERS.items():
        key, id = find(f"SELECT {key}, id FROM image WHERE shelf IS NOT NULL ORDER BY {sorting} LIMIT 1 OFFSET {place}")
        mark = "" if order == "name" else f"{order}!"
        cursor = f"{mark}-:{id}" if key in (None, "") else f"{mark}{len(str(key))}:{key}{id}"
        path = f"/api/images?limit=100&sort={order}&cursor={quote(cursor)}"
        times = [server.ask(path)[0] for _ in range(rounds)]
        found.append(row(name, f"page {place // 100 + 1}, sort={order}", times, "≤ 20 ms"))
        times = [server.ask(f"/api/images?limit=100&sort={order}")[0] for _ in range(rounds)]
        found.append(row(name, f"page 1, sort={order}", times, ""))
    times = [server.ask("/api/images?limit=100&folder=all")[0] for _ in range(rounds)]
    return [*found, row(name, "page 1 of a folder with a tenth of all", times, "")]


def folder(ziggurat: Path, rows: catalog_rows.Rows, searched: int, rounds: int) -> list[list[str]]:
    library = catalog_rows.folder(ziggurat, rows)
    server = Server(ziggurat, library)
    try:
        server.ask("/api/images?limit=1")
        with sqlite3.connect(f"file:{library}/catalog.sqlite?mode=ro", uri=True) as database:
            find = lambda sql: database.execute(sql).fetchone()
            if find("SELECT count(*) FROM image WHERE width IS NOT NULL")[0] != rows.count:
                sys.exit("bench: the catalog of the folder is not what was made")
            return [["SQLite", "listens", f"{server.start:.1f} s", "", "", ""],
                    ["SQLite", "memory then", f"{server.memory():.0f} MB", "", "", ""],
                    *searches("SQLite", server, rows, searched), indexed(server, find, rows.count),
                    *pages("SQLite", server, find, rows.count, rounds)]
    finally:
        server.stop()


def indexed(server: Server, find, count: int) -> list[str]:
    """How long the first visitor of each order waits; an index for the next is made behind that."""
    find_indexes = lambda: find("SELECT count(*) FROM sqlite_master WHERE name LIKE 'image_by_%'")[0]
    if had := find_indexes():
        return ["SQLite", "the first page ever of an order", f"{had} orders have their index", "", "", ""]
    orders = [order for order in ORDERS if order.lstrip("-") != "name"]
    times = [server.ask(f"/api/images?limit=100&sort={order}")[0] for order in orders]
    end = time.monotonic() + 120
    while find_indexes() < len(orders) and count >= 50_000 and time.monotonic() < end:
        time.sleep(0.1)
    return row("SQLite", "the first page ever of an order", times, "")


def shared(ziggurat: Path, rows: catalog_rows.Rows, searched: int, rounds: int) -> list[list[str]]:
    database = catalog_rows.Database(ziggurat, rows)
    store = SmallStore()
    os.environ |= store.environment
    arguments = (f"s3://{store.BUCKET}/library", "--catalog", database.address)
    servers = []
    try:
        find = lambda sql: database.ask(sql).rstrip("\n").split("|", 1)
        # One that writes, and a replica beside it.
        servers.append(Server(ziggurat, *arguments))
        starts = []
        for _ in range(5):
            servers.append(Server(ziggurat, *arguments))
            starts.append(servers[-1].start)
        server = servers[-1]
        server.ask("/api/images?limit=1")
        found = [["PostgreSQL", "a replica listens", f"{statistics.median(starts):.2f} s", "", f"{max(starts):.2f} s", "< 1 s"],
                 *searches("PostgreSQL", server, rows, searched), *pages("PostgreSQL", server, find, rows.count, rounds)]
        # Descriptions of images that it has to ask for, one by one.
        ids = [id for number, id in enumerate(rows.ids()) if number % (rows.count // searched + 1) == 0]
        found.append(row("PostgreSQL", "an image that was not asked for before",
                         [server.ask(f"/api/images/{quote(id, safe='')}")[0] for id in ids], ""))
        found.append(["PostgreSQL", "memory of a replica after all that", f"{server.memory():.0f} MB", "", "", "≤ 300 MB"])
        return found
    finally:
        for each in servers:
            each.stop()
        store.close()
        database.close()


def main(ziggurat: Path, quick: bool, only: str | None) -> str:
    material.CACHE.mkdir(parents=True, exist_ok=True)
    rows = catalog_rows.Rows(20_000 if quick else 1_000_000)
    searched, rounds = (200, 10) if quick else (2_000, 50)
    parts = {"changes": lambda: Changes(ziggurat, 40 if quick else 200).run(),
             "postgresql": lambda: shared(ziggurat, rows, searched, rounds),
             "sqlite": lambda: folder(ziggurat, rows, searched, rounds)}
    found = [row for name, part in parts.items() if only in (None, name) for row in part()]
    return table(["catalog", "of a million rows" if not quick else "of few rows", "p50", "p99", "longest", "bar"], found)
