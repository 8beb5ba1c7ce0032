"""Notices that a team was written to, by whichever node."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable


class PolledWatch:
    """See `contracts.store.Watch`."""

    def __init__(
        self, writes: Callable[[], int], *, poll_seconds: Callable[[], float], closed: Callable[[PolledWatch], None]
    ) -> None:
        """`writes` is another number after every write, and asked for every `poll_seconds`."""
        self._writes = writes
        self._poll_seconds = poll_seconds
        self._closed = closed
        self._woken = threading.Event()
        self._known: int | None = None
        self._asked_at = -math.inf

    def wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while True:
            now = time.monotonic()
            ask_at = self._asked_at + self._poll_seconds()
            if self._woken.wait(max(0.0, min(deadline, ask_at) - now)):
                # Before the log is read: what is committed during that sets it again.
                self._woken.clear()
                self._ask()
                return True
            if time.monotonic() >= ask_at and self._ask():
                return True
            if now >= deadline:
                return False

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._closed(self)

    def _ask(self) -> bool:
        """Whether there was a write since it was asked last."""
        self._asked_at = time.monotonic()
        before, self._known = self._known, self._writes()
        return self._known != before
