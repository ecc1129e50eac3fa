"""Keys of private spaces at Argon2id's least work, for tests of all that is not these keys: at what the program asks for,
each password costs half a second of a processor.

    from quick_keys import setUpModule, tearDownModule

A space that such a module made opens in such a module alone.
"""

import functools
import os
from pathlib import Path

from preload import preloaded


@functools.cache
def library() -> str:
    return preloaded(Path(__file__).with_suffix(".c"))


def setUpModule():
    os.environ["LD_PRELOAD"] = library()


def tearDownModule():
    del os.environ["LD_PRELOAD"]
