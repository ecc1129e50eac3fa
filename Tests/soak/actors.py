"""Those who use the server at the same time: each a thread with a pace, an address and a random source of its own."""

import random
import threading
import time
import traceback

from library import Library, Presence
from records import Answer, Client, Records


class World:
    """What all actors share."""

    def __init__(self, library: Library, records: Records, port: int, token: str):
        self.library, self.records, self.port, self.token = library, records, port, token
        self.ending = threading.Event()


class Actor:
    """Calls `act` some times a second until the end; an unexplained result is an error."""

    kind = "actor"
    pace = 1.0  # a second, at most
    writes = False
    addresses = iter(range(2, 250))

    def __init__(self, world: World, seed: int):
        self.world, self.library, self.records = world, world.library, world.records
        self.chance = random.Random(seed)
        address = f"127.0.0.{next(self.addresses)}"
        self.client = Client(world.port, address, world.token if self.writes else None)
        self.thread = threading.Thread(target=self.run, name=self.kind)

    def start(self) -> None:
        self.thread.start()

    def join(self, seconds: float) -> None:
        self.thread.join(seconds)
        if self.thread.is_alive():
            self.records.error(self.kind, f"waits for something that does not come, {seconds:.0f} s after the end")

    def run(self) -> None:
        while not self.world.ending.is_set():
            began = time.monotonic()
            try:
                self.act()
            except OSError as error:
                if not self.world.ending.is_set():
                    self.records.error(self.kind, f"no answer: {type(error).__name__}: {error}")
                    self.pause(0.5)
            except Exception:
                self.records.error(self.kind, traceback.format_exc())
                self.pause(0.5)
            self.pause(1 / self.pace * self.chance.uniform(0.5, 1.5) - (time.monotonic() - began))
        self.client.close()

    def act(self) -> None:
        raise NotImplementedError

    def pause(self, seconds: float) -> bool:
        """Whether the end came."""
        return self.world.ending.wait(max(0, seconds))

    def get(self, url: str, image: str | None = None, allowed: tuple[int, ...] = (200,), **headers) -> Answer | None:
        """Asks for something of an image; None where it was not answered, or not there as it should not be."""
        presence = self.library.presence.get(image) or Presence()
        before = presence.now()
        answer = self.client.ask("GET", url, **headers)
        after = presence.now()
        state = before[0] if before == after else "maybe"
        if state == "gone" and answer.status != 404:
            self.records.error(self.kind, f"{answer.status} for an image that was deleted: {url}")
        if state != "here":
            allowed += (404,)
        if not self.records.answer(self.kind, url, answer, allowed) or answer.status == 404:
            if answer.status == 404 and state == "here":
                self.report_more(url, image, presence)
            return None
        return answer

    def report_more(self, url: str, image: str | None, presence: Presence) -> None:
        """Whether it stays away, and how long ago it was deleted and restored."""
        again = []
        for _ in range(5):
            time.sleep(0.02)
            again.append(self.client.ask("GET", url).status)
        file = (self.library.path / f"{image}.szi").exists()
        self.records.error(self.kind, f"… {image} was there for {time.monotonic() - presence.since:.2f} s; asked again {again}, "
                           f"{presence.now()}; its file is {'' if file else 'not '}there")
