"""What must be true when all is over: nothing lost, nothing half there, nothing left lying about."""

import json
import os
import re
import time
from collections import Counter
from urllib.parse import quote

import processes
from harness import Server, run
from library import Library, digest
from records import Client, Records
from szi import archive_defects
from upload_client import serve
from writers import EditCounts, address


def uploads_end(client: Client, records: Records, seconds: float = 300) -> None:
    """Uploads that were sent completely and not waited for become pictures, or are reported as failed."""
    until = time.monotonic() + seconds
    while True:
        reported = json.loads(client.ask("GET", "/api/uploads").body)["uploads"]
        waiting = [each for each in reported if each["status"] in ("waiting", "tiling")]
        if not waiting:
            break
        if time.monotonic() > until:
            return records.error("end", f"{len(waiting)} uploads did not end: {waiting[:3]}")
        time.sleep(0.5)
    for each in reported:
        if each["status"] == "receiving":
            client.ask("DELETE", f"/api/uploads/{each['id']}", b"", Tus_Resumable="1.0.0")


def edits_are_there(client: Client, library: Library, edit_counts: EditCounts, records: Records) -> int:
    """Every acknowledged edit; returns how many there were."""
    for image in library.edited + library.rebuilt:
        answer = client.ask("GET", address(image))
        if answer.status != 200:
            records.error("end", f"{answer.status} for {image}, which nobody deleted")
            continue
        for lost in edit_counts.lost(json.loads(answer.body)):
            records.error("end", f"a lost edit: {lost}")
    return sum(max(counts) for counts in edit_counts.acknowledged.values())


def tiles_are_there(client: Client, library: Library, records: Records) -> int:
    """Every tile of every image, byte for byte; of rebuilt ones the last version. Returns how many."""
    count = 0
    for image, tiles in library.tiles.items():
        for tile, bodies in tiles.items():
            answer = client.ask("GET", tile.dzi)
            count += 1
            if answer.status != 200 or digest(answer.body) not in bodies:
                records.error("end", f"{answer.status}, {len(answer.body)} bytes that are not the archive's: {tile.dzi}")
    return count


def nothing_is_left(library: Library, records: Records) -> None:
    """No file but images, their metadata, the catalog and the memory of uploads."""
    known = {"loose.dzi", ".ziggurat-uploads/.lock", ".ziggurat-uploads/.ended", ".filler"}
    for path in sorted(library.path.rglob("*")):
        name = str(path.relative_to(library.path))
        fine = (name in known or name.startswith(("catalog.sqlite", "loose_files/")) or path.is_dir()
                or path.suffix in (".szi", ".xmp") and not name.startswith("."))
        if not fine:
            records.error("end", f"left behind: {name}")
    expected = {image for image in library.tiles if image != "loose"}
    found = {str(path.relative_to(library.path))[:-4] for path in library.path.rglob("*.szi")}
    if found != expected:
        records.error("end", f"archives too many: {sorted(found - expected)[:5]}, missing: {sorted(expected - found)[:5]}")
    for path in sorted(library.path.rglob("*.szi")):
        if path.name != "foreign.szi" and (defects := archive_defects(path)):
            # Of tiles in other formats than JPEG the sizes are `verify`'s business.
            records.error("end", f"{path.name}: {defects[:3]}")
    result = run("verify", library.path, timeout=600)
    if result.returncode != 0:
        records.error("end", f"verify: {result.stderr[-500:]}")


def server_is_at_rest(server: Server, files: int, records: Records) -> None:
    """No descriptor more than before, and no sandboxed process, once the last connection is closed."""
    files += 2  # One more connection to the catalog, opened when two were in use.
    pid, until = server.process.pid, time.monotonic() + 60
    while True:
        open_files, workers = processes.descriptors(pid), processes.workers(pid)
        if open_files <= files and not workers:
            return
        if time.monotonic() > until:
            break
        time.sleep(0.5)
    if workers:
        records.error("end", f"{len(workers)} processes live while there is nothing to do")
    if open_files > files:
        kinds = Counter(re.sub(r"\d+", "N", os.readlink(f"/proc/{pid}/fd/{each}")) for each in os.listdir(f"/proc/{pid}/fd"))
        records.error("end", f"{open_files} descriptors at rest, {files} at the start: {dict(kinds)}")


def server_ends(server: Server, records: Records) -> None:
    """By SIGTERM, with all its children."""
    children = processes.descendants(server.process.pid)
    errors = server.errors()
    try:
        code = server.stop()
    except AssertionError as error:
        return records.error("end", str(error))
    if code != 0:
        records.error("end", f"the server ended with {code}: {errors[-500:]}")
    until = time.monotonic() + 20
    while left := [child for child in children if processes.name(child).startswith("ziggurat")]:
        if time.monotonic() > until:
            return records.error("end", f"{[processes.name(child) for child in left]} outlive the server")
        time.sleep(0.2)


def all_is_there_again(library: Library, edit_counts: EditCounts, records: Records) -> tuple[int, int]:
    """The same of a restarted server: edits and tiles, how many of each."""
    with serve(library.path) as server:
        client = Client(server.port, token=None)
        until = time.monotonic() + 60
        # The catalog is brought up to date after the start.
        while any(client.ask("GET", "/dzi/" + quote(image, safe="") + ".dzi").status != 200 for image in library.tiles):
            if time.monotonic() > until:
                records.error("end", "images are missing after a new start")
                break
            time.sleep(0.5)
        counts = edits_are_there(client, library, edit_counts, records), tiles_are_there(client, library, records)
        client.close()
    return counts
