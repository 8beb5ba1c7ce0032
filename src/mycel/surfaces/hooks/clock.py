"""How much of its time a hook has left."""

from __future__ import annotations

import time


class TimeUp(Exception):
    """The agent has waited long enough."""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._at = self._began + seconds

    @property
    def left(self) -> float:
        return self._at - time.monotonic()

    @property
    def spent(self) -> float:
        return time.monotonic() - self._began

    def seconds(self, *, least: float = 0.001) -> float:
        """What a step may still take; `TimeUp` when that is less than it needs."""
        left = self.left
        if left < least:
            raise TimeUp
        return left
