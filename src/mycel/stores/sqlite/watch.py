"""Notices that a team's file was written to, without opening it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

# How often the file is looked at for writes of other processes; those of this one are told of at once.
POLL_SECONDS = 0.2
# How far apart two writes must be to have different times: a tick of the kernel, or what old file systems count in.
TICK_SECONDS = 0.05
COARSE_TICK_SECONDS = 2.0


def last_write(path: Path) -> int:
    """Writes go to the WAL, which may be gone when the last one to use it has left."""
    name = str(path)
    for file in (f"{name}-wal", name):
        try:
            return os.stat(file).st_mtime_ns  # noqa: PTH116 - a path would take four times as long, in every tail
        except FileNotFoundError:
            continue
    return 0


class FileWatch:
    """See `contracts.store.Watch`."""

    def __init__(self, path: Path, *, closed: Callable[[FileWatch], None]) -> None:
        self._path = path
        self._closed = closed
        self._woken = threading.Event()
        self._stamp: int | None = None
        self._sure_at = 0.0
        self._is_sure = True

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if self._woken.wait(max(0.0, min(left, POLL_SECONDS))):
                # Before the log is read: what is committed during that sets it again.
                self._woken.clear()
                self._looks_written()
                return True
            if self._looks_written():
                return True
            if left <= 0:
                return False

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._closed(self)

    def _looks_written(self) -> bool:
        """A second write within a tick leaves the time as it was: so one look more, after the tick."""
        stamp, now = last_write(self._path), time.monotonic()
        if stamp != self._stamp:
            tick = TICK_SECONDS if stamp % 1_000_000_000 else COARSE_TICK_SECONDS
            self._stamp, self._sure_at, self._is_sure = stamp, now + tick, False
            return True
        was_sure = self._is_sure
        self._is_sure = now >= self._sure_at
        return not was_sure
