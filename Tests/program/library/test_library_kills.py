"""kill -9 of server and builder at random times of edits, deletions, restores and builds: `KILLS` times (default 8).

Afterwards `verify` finds no defect, nothing acknowledged is missing, and nothing partial is seen.
"""

import os
import random
import signal
import subprocess
import threading
import time
import unittest

from harness import BINARY, folder, photo, run, seed
from szi import archive_defects
from test_editing import ask, ids, image, writable

KILLS = int(os.environ.get("KILLS", 8))
NAMES = [f"image {number}" for number in range(8)]


class Ledger:
    """What the server has acknowledged: captions, and what is deleted; None where an answer was cut off."""

    def __init__(self):
        self.captions: dict[str, set] = {}
        self.deleted: dict[str, bool | None] = dict.fromkeys(NAMES, False)
        self.number = 0

    def edit(self, server, name: str):
        self.number += 1
        caption = f"caption {self.number}"
        old = self.captions.get(name, {None})
        self.captions[name] = old | {caption}  # either, until it is acknowledged
        if ask(server, "PATCH", image(name), {"caption": caption})[0] == 200:
            self.captions[name] = {caption}
        else:
            self.captions[name] = old

    def delete_and_restore(self, server, chosen: list[str], restores: bool):
        before = {name: self.deleted[name] for name in chosen}
        for name in chosen:
            self.deleted[name] = None
        status, body, _ = ask(server, "POST", "/api/trash", {"ids": chosen})
        if status != 200 or not body["deleted"]:
            self.deleted.update(before)
            return
        for name in chosen:
            self.deleted[name] = True if name in body["deleted"]["images"] else before[name]
        if restores:
            for name in chosen:
                self.deleted[name] = None
            for name in ask(server, "POST", f"/api/trash/{body['deleted']['id']}/restore")[1]["restored"]:
                self.deleted[name] = False
            for name in chosen:
                if self.deleted[name] is None:
                    self.deleted[name] = before[name]


class Kills(unittest.TestCase):
    def test_nothing_acknowledged_is_lost(self):
        chance = seed("library kills")
        base = folder("kills")
        for number, name in enumerate(NAMES):
            photo(base / f"photos/{name}.jpg", 600 + number, 400)
        place = base / "library"
        self.assertEqual(run("build", base / "photos", "--library", place, "--quiet").returncode, 0)
        (base / "token").write_text("a-token-for-these-tests\n")
        ledger = Ledger()
        for kill in range(KILLS):
            builds = kill % 2 == 0
            server = writable(place)
            self.check(server, place, ledger)
            if builds:  # of all that is there and of what was deleted, at the same time as the server writes
                builder = subprocess.Popen([BINARY, "build", base / "photos", "--library", place, "--force", "--quiet"],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for name in NAMES:
                    if ledger.deleted[name]:
                        # Built again, it has only its own metadata: the former ones are in the trash.
                        ledger.deleted[name] = None
                        ledger.captions[name] = ledger.captions.get(name, set()) | {None}
            worker = threading.Thread(target=self.work, args=(server, ledger, random.Random(chance.random()), builds))
            worker.start()
            time.sleep(chance.uniform(0.02, 0.8))
            if builds:
                builder.send_signal(signal.SIGKILL)
                builder.wait()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            worker.join(60)
            self.assertFalse(worker.is_alive())
            server.process.stdout.close()
            server.log.close()
        with writable(place) as server:
            self.check(server, place, ledger)
        result = run("verify", place)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("no faults", result.stderr)

    def work(self, server, ledger: Ledger, chance: random.Random, builds: bool):
        try:
            while True:
                name = chance.choice(NAMES)
                # While a builder rebuilds images, deleted ones come back by it.
                if builds or chance.random() < 0.6:
                    ledger.edit(server, name)
                else:
                    ledger.delete_and_restore(server, chance.sample(NAMES, 3), chance.random() < 0.8)
        except (OSError, ValueError, TypeError, KeyError):
            pass  # killed in the middle of an answer

    def check(self, server, place, ledger: Ledger):
        listed = set(ids(server))
        for name in NAMES:
            if ledger.deleted[name] is None:
                ledger.deleted[name] = name not in listed
            self.assertEqual(name not in listed, ledger.deleted[name], name)
            if name not in listed:
                # Nothing is lost: it can be restored.
                kept = {each for deletion in ask(server, "GET", "/api/trash")[1]["items"] for each in deletion["images"]}
                self.assertIn(name, kept)
                continue
            status, body, _ = ask(server, "GET", image(name))
            self.assertEqual(status, 200)
            if name in ledger.captions:
                self.assertIn(body.get("caption"), ledger.captions[name], name)
                ledger.captions[name] = {body.get("caption")}
            self.assertEqual(archive_defects(place / f"{name}.szi"), [])


if __name__ == "__main__":
    unittest.main()
