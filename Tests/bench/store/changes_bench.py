"""The delay until three servers that share a catalog show a change by one of them, or by builders. It is measured from the response
that acknowledges the change, or the end of the build, until the last server shows it."""

import http.client
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import material
from PIL import Image
from store.asking import Server, row
from store.catalog_rows import SCRIPT

sys.path.append(str(Path(__file__).resolve().parents[2] / "program/fleet"))

from small_store import SmallStore  # noqa: E402

TOKEN = "a-token-for-this-bench"


class Changes:
    def __init__(self, ziggurat: Path, count: int):
        self.ziggurat, self.count, self.random = ziggurat, count, random.Random(13)
        self.folder = Path(tempfile.mkdtemp(prefix="changes-", dir=material.CACHE))
        self.times: dict[str, list[float]] = {}

    def run(self) -> list[list[str]]:
        store, place = SmallStore(), tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp")
        os.chmod(place.name, 0o755)
        os.environ |= store.environment
        database = subprocess.Popen([SCRIPT, place.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = database.stdout.readline().strip()
        self.bucket = f"s3://{store.BUCKET}/library"
        (self.folder / "token").write_text(TOKEN + "\n")
        (self.folder / "photos").mkdir()
        subprocess.run([self.ziggurat, "catalog", "migrate", self.address], check=True, stdout=subprocess.DEVNULL)
        servers = []
        try:
            self.there = {self.picture(number): True for number in range(20)}
            self.build()
            for number in range(3):
                servers.append(Server(
                    self.ziggurat, self.bucket, "--catalog", self.address, "--writable", "--token-file", self.folder / "token",
                    "--advertise-url", f"http://{number}"))
            self.ports = [server.connection.port for server in servers]
            for port in self.ports:
                self.until(port, "p19", lambda status, _: status == 200)
            for number in range(self.count):
                kind = ["edit", "delete", "edit", "restore", "build"][number % 5]
                self.times.setdefault(kind, []).append(getattr(self, kind)(number))
            takeovers = [self.takeover(servers, number) for number in range(max(self.count // 20, 2))]
        finally:
            for server in servers:
                server.stop()
            database.stdin.close()
            database.wait()
            store.close()
            place.cleanup()
            shutil.rmtree(self.folder)
        every = [each for times in self.times.values() for each in times]
        return [row("PostgreSQL", f"{self.count} changes, until the last of 3 servers shows them", every, "≤ 2 s"),
                *(row("PostgreSQL", f"of them {kind}", times, "") for kind, times in self.times.items()),
                row("PostgreSQL", f"the writer stops {len(takeovers)} times, until another takes an edit", takeovers, "≤ 5 s")]

    def picture(self, number: int) -> str:
        body = io.BytesIO()
        Image.effect_noise((self.random.randint(50, 400), 60), 50).save(body, "jpeg")
        (self.folder / f"photos/p{number}.jpg").write_bytes(body.getvalue())
        return f"p{number}"

    def build(self, number: int | None = None) -> float:
        """A picture that is new, or another one of a name that is there."""
        if number is None:
            subprocess.run([self.ziggurat, "build", self.folder / "photos", "--library", self.bucket, "--quiet"], check=True)
            return 0
        chosen = number if number % 2 else self.random.choice([int(id[1:]) for id, is_there in self.there.items() if is_there])
        id = self.picture(chosen)
        self.there[id] = True
        width = Image.open(self.folder / f"photos/{id}.jpg").width
        subprocess.run([self.ziggurat, "build", self.folder / f"photos/{id}.jpg", "--library", self.bucket, "--quiet"], check=True)
        return self.seen(id, lambda status, body: status == 200 and json.loads(body)["width"] == width)

    def edit(self, number: int) -> float:
        id = self.random.choice([id for id, is_there in self.there.items() if is_there])
        self.ask("PATCH", f"/api/images/{id}", {"title": f"title {number}"})
        return self.seen(id, lambda status, body: json.loads(body).get("title") == f"title {number}")

    def delete(self, number: int) -> float:
        self.deleted = self.random.choice([id for id, is_there in self.there.items() if is_there])
        self.there[self.deleted] = False
        self.deletion = self.ask("DELETE", f"/api/images/{self.deleted}")["deleted"]["id"]
        return self.seen(self.deleted, lambda status, _: status == 404)

    def restore(self, number: int) -> float:
        self.ask("POST", f"/api/trash/{self.deletion}/restore")
        self.there[self.deleted] = True
        return self.seen(self.deleted, lambda status, _: status == 200)

    def takeover(self, servers: list[Server], number: int) -> float:
        id = next(id for id, is_there in self.there.items() if is_there)
        patch_title = lambda port, title: self.answer(port, "PATCH", f"/api/images/{id}", {"title": title})[0]
        writer = next(number for number, port in enumerate(self.ports) if patch_title(port, "before") == 200)
        servers[writer].process.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        try:
            others = [port for port in self.ports if port != self.ports[writer]]
            while not any(patch_title(port, f"after {number}") == 200 for port in others):
                time.sleep(0.02)
            return time.monotonic() - start
        finally:
            servers[writer].process.send_signal(signal.SIGCONT)
            # Its late look at the lease is over before the next one stops.
            while patch_title(self.ports[writer], "again") != 307:
                time.sleep(0.1)

    def answer(self, port: int, method: str, path: str, value) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(method, path, value and json.dumps(value), {"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers["Location"] or "", body

    def ask(self, method: str, path: str, value=None) -> dict:
        """Of any of them, which sends it on."""
        port = self.random.choice(self.ports)
        while True:
            status, location, body = self.answer(port, method, path, value)
            if status != 307:
                break
            port = self.ports[int(urlsplit(location).netloc)]
        if status != 200:
            raise SystemExit(f"bench: {method} {path} is answered {status} {body[:200]}")
        return json.loads(body)

    def seen(self, id: str, is_so) -> float:
        began = time.monotonic()
        for port in self.ports:
            self.until(port, id, is_so)
        return time.monotonic() - began

    def until(self, port: int, id: str, is_so) -> None:
        end = time.monotonic() + 30
        while True:
            status, _, body = self.answer(port, "GET", f"/api/images/{id}", None)
            if is_so(status, body):
                return
            if time.monotonic() > end:
                raise SystemExit(f"bench: {id} is not seen: {status} {body[:200]}")
            time.sleep(0.02)
