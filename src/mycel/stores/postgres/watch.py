"""Notices that a team was written to, by whichever node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# How often the database is asked for writes of other nodes; those of this one are told of at once.
POLL_SECONDS = 0.2


class PolledWatch:
    """See `contracts.store.Watch`."""

    def __init__(self, writes: Callable[[], int], *, closed: Callable[[PolledWatch], None]) -> None:
        """`writes` is another number after every write."""
        self._writes = writes
        self._closed = closed
        self._woken = threading.Event()
        self._known: int | None = None

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if self._woken.wait(max(0.0, min(left, POLL_SECONDS))):
                # Before the log is read: what is committed during that sets it again.
                self._woken.clear()
                self._known = self._writes()
                return True
            writes = self._writes()
            if writes != self._known:
                self._known = writes
                return True
            if left <= 0:
                return False

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._closed(self)
