"""Clients that send pictures by tus: good ones, which must be shown as they are, and broken ones, which must be reported."""

import io
import json
import random
import time
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

from actors import Actor
from harness import CRASH
from library import encoded, picture
from upload_client import TYPE, metadata
from writers import address, empty_trash

# A sandboxed process that the soak killed is reported by its picture.
KILLED = ("signal 9", "killed")


class Sender(Actor):
    """What both have in common: create, send in pieces, wait for the end, and make room again."""

    writes = True
    number = 0

    def send(self, name: str, data: bytes) -> dict | None:
        """How the upload ended; None where it was refused, or the end of all came first."""
        made = self.tus("POST", "/api/uploads", b"", (201, 415), Upload_Length=len(data),
                        Upload_Metadata=metadata(filename=name, folder="sent"))
        if not made or made.status != 201:
            return None
        path = "/api/uploads/" + made.headers["Location"].split("/")[-1]
        offset = 0
        while offset < len(data):
            count = self.chance.choice([len(data), len(data) // 2 + 1, len(data) // 5 + 1])
            answer = self.tus("PATCH", path, data[offset:offset + count], (204, 415, 409, 410), Upload_Offset=offset,
                              Content_Type=TYPE)
            if answer and answer.status in (415, 410):
                break
            if answer and answer.status == 204:
                offset = int(answer.headers["Upload-Offset"])
                continue
            if self.pause(1):
                return None
            head = self.tus("HEAD", path, None, (200, 410))
            if head and head.status == 410:
                break
            offset = int(head.headers["Upload-Offset"]) if head else offset
            if offset == 0 and self.chance.random() < 0.2:
                # Given up: nothing of it may stay.
                self.tus("DELETE", path, b"", (204, 404))
                return None
        return self.end(path)

    def tus(self, method: str, path: str, body: bytes | None, allowed: tuple[int, ...], **headers):
        answer = self.client.ask(method, path, body, Tus_Resumable="1.0.0", **headers)
        if answer.status == 404 and 404 not in allowed:
            self.records.error(self.kind, f"{method} of an upload that was made: 404")
        return answer if self.records.answer(self.kind, f"{method} {path}", answer, (*allowed, 404)) else None

    def end(self, path: str) -> dict | None:
        began = time.monotonic()
        while True:
            answer = self.client.ask("GET", path)
            if self.records.answer(self.kind, f"GET {path}", answer):
                reported = json.loads(answer.body)
                if reported["status"] in ("done", "failed"):
                    return reported
                # Hanging ones before it take two minutes each.
                if time.monotonic() - began > 900 and not self.records.was_full(began):
                    self.records.error(self.kind, f"not ended after 900 s: {reported}")
                    return None
            if self.world.ending.is_set():
                time.sleep(0.5)
            else:
                self.pause(0.3)

    def remove(self, image: str) -> None:
        """Deleted, and gone for good: the disk is small."""
        until = time.monotonic() + 300
        while time.monotonic() < until:
            answer = self.client.ask("DELETE", address(image))
            if self.records.answer(self.kind, "DELETE", answer):
                return empty_trash(self.library, json.loads(answer.body)["deleted"]["id"])
            if answer.status not in (503, 507):
                return
            time.sleep(1)


class GoodSender(Sender):
    """Whole pictures, of which the server then shows what was sent."""

    kind = "uploads, good"
    pace = 0.5

    def act(self) -> None:
        self.number += 1
        kind = self.chance.choice(["jpg", "jpg", "png", "tif", "webp"])
        piece = picture(self.chance, self.chance.randint(200, 1500), self.chance.randint(200, 1000))
        began = time.monotonic()
        reported = self.send(f"{self.kind[-4:]} {self.number}.{kind}", encoded(piece, kind))
        if not reported:
            return
        if reported["status"] == "failed":
            if not any(word in reported.get("message", "") for word in KILLED):
                self.records.error(self.kind, f"a good picture failed: {reported}")
            with self.records.lock:
                self.records.counts["good pictures whose process was killed"] += 1
            return
        with self.records.lock:
            self.records.counts["good pictures taken"] += 1
        if reported.get("duplicate"):
            return
        self.look(reported["image"], piece)
        self.remove(reported["image"])

    def look(self, image: str, piece: Image.Image) -> None:
        answer = self.get(address(image))
        described = json.loads(answer.body) if answer else {}
        if answer and (described["width"], described["height"]) != piece.size:
            self.records.error(self.kind, f"{image} is {described['width']}×{described['height']}, and {piece.size} was sent")
        tile = self.get(f"/dzi/{address(image).rpartition('/')[2]}_files/{(max(piece.size) - 1).bit_length()}/0_0.jpg")
        if tile:
            shown = Image.open(io.BytesIO(tile.body)).convert("RGB")
            sent = piece.crop((0, 0, *shown.size))
            mean = sum(ImageStat.Stat(ImageChops.difference(shown, sent)).mean) / 3
            # Two encodings of a photograph differ by some 3 of 255; two photographs by 40 and more.
            if mean > 12:
                self.records.error(self.kind, f"{image} shows another picture: they differ by {mean:.0f} of 255 on average")


class BadSender(Sender):
    """Broken pictures and attacks: each upload ends, and the reason is reported."""

    kind = "uploads, bad"
    pace = 0.4

    def __init__(self, world, seed: int, files: list[Path]):
        super().__init__(world, seed)
        self.files = files

    def act(self) -> None:
        path = self.chance.choice(self.files)
        self.number += 1
        # No two are the same: a picture that is there already would only be pointed to.
        data = path.read_bytes() + random.Random(self.number).randbytes(8)
        reported = self.send(f"bad {self.number} {path.name}", data)
        if not reported:
            return
        with self.records.lock:
            self.records.counts[f"bad pictures {'told' if reported['status'] == 'failed' else 'readable all the same'}"] += 1
        if reported["status"] == "done":
            if not reported.get("duplicate"):
                self.remove(reported["image"])
        elif not reported.get("message") or CRASH.search(reported["message"]):
            self.records.error(self.kind, f"{path.name} failed without a reason: {reported}")
