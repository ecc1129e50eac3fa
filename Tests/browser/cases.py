"""How many cases a test tries: by turns, or with FULL=1 (`make test-moves`) all."""

import itertools
import os


def alternating(*choices, among: list[tuple]) -> list[tuple]:
    """Each of some cases with one of each of these choices, by turns; with FULL=1 with all of them together."""
    if os.environ.get("FULL"):
        return [case + more for case in among for more in itertools.product(*choices)]
    return [case + tuple(choice[number % len(choice)] for choice in choices) for number, case in enumerate(among)]


def every_other(cases: list[tuple]) -> list[tuple]:
    """Every second one of some cases; with FULL=1 all."""
    return cases if os.environ.get("FULL") else cases[::2]
