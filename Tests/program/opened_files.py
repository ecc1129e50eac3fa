"""The files of some folders that any process opens, reported by the kernel (inotify)."""

import ctypes
import os
import struct
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
IN_ACCESS, IN_CLOSE, IN_OPEN, IN_NONBLOCK = 0x1, 0x18, 0x20, 0o4000


class OpenedFiles:
    """Watches folders, each without those below it, from now on."""

    def __init__(self, *folders: Path):
        self.descriptor = LIBC.inotify_init1(IN_NONBLOCK)
        for folder in folders:
            # The kernel reports the same event twice in a row once: events between two opens are needed, too.
            events = IN_OPEN | IN_ACCESS | IN_CLOSE
            if LIBC.inotify_add_watch(self.descriptor, os.fsencode(folder), events) < 0:
                raise OSError(ctypes.get_errno(), f"watch {folder}")

    def read(self, ending: str) -> set[str]:
        """The files of which something was read since the last call."""
        return set(self.names(ending, IN_ACCESS))

    def names(self, ending: str = ".szi", event: int = IN_OPEN) -> list[str]:
        """The files that were opened since the last call, one for each time."""
        names = []
        while True:
            try:
                data = os.read(self.descriptor, 1 << 20)
            except BlockingIOError:
                return [name for name in names if name.endswith(ending)]
            at = 0
            while at < len(data):
                _, mask, _, length = struct.unpack_from("iIII", data, at)
                assert not mask & 0x4000, "more events than the kernel keeps"
                if mask & event:
                    names.append(os.fsdecode(data[at + 16:at + 16 + length].rstrip(b"\0")))
                at += 16 + length

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)
