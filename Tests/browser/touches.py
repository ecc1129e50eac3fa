"""Fingers of the page's tests."""

import time


class Touches:
    """Fingers on the screen, through the browser's own input."""

    def __init__(self, visit, pace=None):
        """- pace: seconds from one event to the next by the fingers' own clock, however long the machine takes."""
        self.visit, self.pace, self.clock = visit, pace, time.time()
        self.session = visit.context.new_cdp_session(visit.page)

    def send(self, kind, points):
        timing = {"timestamp": self.clock} if self.pace else {}
        self.clock += self.pace or 0
        self.session.send("Input.dispatchTouchEvent", {
            **timing, "type": kind, "touchPoints": [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]})

    def down(self, *points):
        self.send("touchStart", points)

    def move(self, *points):
        self.send("touchMove", points)
        self.visit.page.wait_for_timeout(8)

    def up(self):
        self.send("touchEnd", [])

    def tap(self, x, y):
        self.down((x, y))
        self.up()

    def second_down(self, x, y):
        """The second tap of two, not lifted yet. A busy machine may take longer from one to the other than the page waits, by
        a clock of its own: those were two taps, and undo each other."""
        for _ in range(50):
            self.clock = time.time()
            self.tap(x, y)
            began = time.monotonic()
            self.down((x, y))
            if time.monotonic() - began < 0.2:
                return
            self.up()
            self.visit.page.wait_for_timeout(700)
        raise AssertionError("no second tap came in time")
