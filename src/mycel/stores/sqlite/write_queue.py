"""A queue of the processes that write one database: they take turns, in the order in which they came.

SQLite gives its lock to whoever asks at the right moment, and a busy service that asks again right after its commit is
nearly always right: programs on the same files were seen to wait for ten seconds. So a process begins at once only
where nobody waits. Each that waits locks one byte of a file next to the database. The number of the byte is the time
at which it came, by a clock that all processes of a machine share. The one that finds no locked byte before its own is
next. The kernel frees the byte of a process that dies, and the file stays empty.

Only the order depends on this: SQLite's lock still decides who writes. So anything that keeps the queue from working,
such as a system without locks of this kind, costs fairness and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

ENDING = "-queue"
# Whoever is first for so long without going is stopped, or a child has inherited its place: it is passed over.
STUCK_SECONDS = 1.0
_ALL = 2**62
NEXT_SECONDS, LATER_SECONDS = 0.0005, 0.002
# `struct flock` of 64-bit Linux: kind, whence, start, length, process.
_LOCK = struct.Struct("@hhqqi4x")


def is_known() -> bool:
    """Whether the system has locks of an open file: by these, connections of one process wait for each other too."""
    return sys.platform == "linux" and sys.maxsize > 2**32 and hasattr(fcntl, "F_OFD_GETLK")


class WriteQueue:
    """One place in the queue of a database; used by one thread at a time."""

    def __init__(self, database: Path) -> None:
        self._path = f"{database}{ENDING}"
        self._file: int | None = None
        self._is_usable = is_known()
        # While it waits or has its turn.
        self.place: int | None = None
        # Those who came before are passed over.
        self._since = 0

    def is_empty(self) -> bool:
        """Whether nobody waits; False where there is no queue."""
        return self._open() and self._find(self._since, _ALL) is None

    @contextmanager
    def turn(self) -> Generator[None]:
        """Wait until all who came before have had their turn; whoever comes later waits until the block ends."""
        self.place = place = self._join()
        try:
            if place is not None:
                self._wait(place)
            yield
        finally:
            if place is not None:
                self._leave(place)
            self.place = None

    def close(self) -> None:
        """Leave the file; the next turn opens it again, or the one that is in its place by then."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> bool:
        if self._file is None and self._is_usable:
            try:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                self._is_usable = False
        return self._is_usable

    def _join(self) -> int | None:
        """Return the place, None where there is no queue."""
        if not self._open() or self._file is None:
            return None
        try:
            while True:
                place = time.monotonic_ns()
                with contextlib.suppress(BlockingIOError):
                    fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0))
                    return place
        except OSError:
            self._is_usable = False
            return None

    def _leave(self, place: int) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None:
                fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _LOCK.pack(fcntl.F_UNLCK, os.SEEK_SET, place, 1, 0))

    def _wait(self, place: int) -> None:
        first, first_since = -1, 0.0
        while (found := self._find(self._since, place)) is not None:
            while (earlier := self._find(self._since, found)) is not None:
                found = earlier
            now = time.monotonic()
            if found != first:
                first, first_since = found, now
            elif now - first_since >= STUCK_SECONDS:
                self._since = first + 1
                continue
            is_next = self._find(found + 1, place) is None
            time.sleep(NEXT_SECONDS if is_next else LATER_SECONDS)

    def _find(self, start: int, end: int) -> int | None:
        """Return the place of anybody else between the two."""
        if start >= end or self._file is None:
            return None
        wanted = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, end - start, 0)
        try:
            kind, _, found, _, _ = _LOCK.unpack(fcntl.fcntl(self._file, fcntl.F_OFD_GETLK, wanted))
        except OSError:
            return None
        return None if kind == fcntl.F_UNLCK else found
