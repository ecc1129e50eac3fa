"""Clients that change the library: metadata, deletions and their undo, and builds into the served library from outside."""

import json
import shutil
import threading
import time
from urllib.parse import quote

from actors import Actor
from harness import CRASH


def address(image: str) -> str:
    return "/api/images/" + quote(image, safe="")


class EditCounts:
    """Acknowledged edits: for each image a count by each editor, as keywords `editor=count`."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged: dict[tuple[str, str], set[int]] = {}

    def known(self, image: str, editor: str) -> set[int]:
        """More than one where an answer did not come."""
        with self.lock:
            return set(self.acknowledged.get((image, editor), {0}))

    def set(self, image: str, editor: str, counts: set[int]) -> None:
        with self.lock:
            self.acknowledged[image, editor] = counts

    @staticmethod
    def counts(described: dict) -> dict[str, int]:
        pairs = (keyword.split("=") for keyword in described.get("keywords") or [] if keyword.count("=") == 1)
        return {name: int(count) for name, count in pairs if count.isdigit()}

    def lost(self, described: dict) -> list[str]:
        """What was acknowledged of this image and is not there."""
        found, image = self.counts(described), described["id"]
        with self.lock:
            return [f"{editor} wrote {sorted(counts)} into {image}, and there is {found.get(editor, 0)}"
                    for (name, editor), counts in self.acknowledged.items() if name == image and found.get(editor, 0) not in counts]


class Editor(Actor):
    """Raises its own count in an image's keywords, under the ETag that it read: a faster editor makes that a 412."""

    kind = "edits"
    pace = 2
    writes = True
    names = iter("abcdefgh")
    edit_counts = EditCounts()

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.name = next(self.names)
        # Few, so that editors meet.
        self.images = self.library.edited[:6] + self.library.rebuilt[:4]

    def act(self) -> None:
        image = self.chance.choice(self.images)
        url = address(image)
        answer = self.get(url, image)
        if not answer:
            return
        described = json.loads(answer.body)
        found = self.edit_counts.counts(described)
        known = self.edit_counts.known(image, self.name)
        count = found.get(self.name, 0)
        if count not in known:
            self.records.error(self.kind, f"a lost edit: {self.name} wrote {sorted(known)} into {image}, and reads {count}")
        # Nobody else writes this count.
        self.edit_counts.set(image, self.name, {count, count + 1})
        found[self.name] = count + 1
        keywords = [f"{name}={number}" for name, number in sorted(found.items())]
        body = json.dumps({"keywords": keywords, "caption": f"edit {count + 1} by {self.name}"}).encode()
        presence = self.library.presence[image]
        before = presence.now()
        answer = self.client.ask("PATCH", url, body, If_Match=answer.tag)
        # What was deleted meanwhile cannot be edited.
        # 204: the edit is written, but the image cannot be described at present, e.g. if the process that reads the sidecar was killed.
        allowed = (200, 204, 412) if presence.now() == before and before[0] == "here" else (200, 204, 404, 412)
        done = self.records.answer(self.kind, f"PATCH {url}", answer, allowed) and answer.status in (200, 204)
        # If it was deleted, or the disk became full, after its metadata were written, there is no response.
        in_doubt = answer.status in (404, 507)
        self.edit_counts.set(image, self.name, {count + 1} if done else {count, count + 1} if in_doubt else {count})
        if answer.status == 200 and done and self.edit_counts.counts(json.loads(answer.body)).get(self.name) != count + 1:
            self.records.error(self.kind, f"the edit is not in its answer: {image}")


class Deleter(Actor):
    """Deletes images, sees that they are gone, and restores them with their metadata."""

    kind = "deletions"
    pace = 0.3
    writes = True

    def act(self) -> None:
        chosen = self.chance.sample(self.library.edited, self.chance.randint(1, 3))
        self.mark(chosen, "maybe")
        if len(chosen) == 1:
            answer = self.client.ask("DELETE", address(chosen[0]))
        else:
            answer = self.client.ask("POST", "/api/trash", json.dumps({"ids": chosen}).encode())
        if not self.records.answer(self.kind, "DELETE", answer):
            # A full disk may stop it in the middle: who is gone and who is not is then looked at.
            return self.settle(chosen)
        reported = json.loads(answer.body)
        if sorted(reported["deleted"]["images"]) != sorted(chosen):
            self.records.error(self.kind, f"{reported['deleted']['images']} were deleted, not {chosen}")
        self.mark(chosen, "gone")
        for image in chosen:
            self.get(address(image), image)
        self.pause(self.chance.uniform(0, 3))
        self.mark(chosen, "maybe")
        self.restore(reported["deleted"]["id"], chosen)

    def restore(self, deletion: str, chosen: list[str]) -> None:
        """Also after the end: nothing stays deleted."""
        until = time.monotonic() + 300
        while time.monotonic() < until:
            answer = self.client.ask("POST", f"/api/trash/{deletion}/restore")
            if self.records.answer(self.kind, "restore", answer):
                reported = json.loads(answer.body)
                if sorted(reported["restored"]) != sorted(chosen):
                    self.records.error(self.kind, f"{reported} came back, not {chosen}")
                return self.mark(chosen, "here")
            if answer.status not in (503, 507):
                break
            time.sleep(1)
        self.records.error(self.kind, f"{chosen} could not be restored")

    def settle(self, chosen: list[str]) -> None:
        answer = self.client.ask("GET", "/api/trash")
        for deletion in json.loads(answer.body)["items"] if self.records.answer(self.kind, "GET", answer) else []:
            if gone := [image for image in chosen if image in deletion["images"]]:
                self.restore(deletion["id"], gone)
        self.mark(chosen, "here")

    def mark(self, images: list[str], state: str) -> None:
        for image in images:
            self.library.presence[image].set(state)


class Builder(Actor):
    """Builds the served library again from outside, of sources that have changed, or all of it by force."""

    kind = "builds"
    pace = 0.12

    def act(self) -> None:
        for image in self.chance.sample(self.library.rebuilt, self.chance.randint(0, 3)):
            self.library.swap(image)
        options = ["--force"] if self.chance.random() < 0.3 else []
        began = time.monotonic()
        result = self.library.build(self.library.base / "rebuilt", None, *options)
        with self.records.lock:
            self.records.statuses[self.kind][200 if result.returncode == 0 else 507] += 1
            self.records.seconds[self.kind].append(time.monotonic() - began)
        if CRASH.search(result.stderr) or result.returncode != 0 and not (
                result.returncode in (1, 75) and self.records.was_full(began)):
            self.records.error(self.kind, f"build ended with {result.returncode}: {result.stderr[-500:]}")


def empty_trash(library, deletion: str) -> None:
    """For good, as an administrator does who needs the room; renamed first, so that nobody restores half of it."""
    folder = library.path / ".ziggurat-trash" / deletion
    gone = folder.with_name(f"discarded-{deletion}")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
