"""The time of a hook: how much is left, why it may end early, and reading no longer than that."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


class TimeUp(Exception):
    """The agent has waited long enough."""


class Unreachable(Exception):
    """Nobody answers there, or nobody who speaks HTTP."""


class Deadline:
    """`spent` is what went by before this was made."""

    def __init__(self, seconds: float, *, spent: float = 0.0) -> None:
        self._began = time.monotonic() - spent
        self._at = self._began + seconds

    @property
    def left(self) -> float:
        return self._at - time.monotonic()

    def extend(self, seconds: float) -> None:
        """At least so long from now."""
        self._at = max(self._at, time.monotonic() + seconds)

    @property
    def spent(self) -> float:
        return time.monotonic() - self._began

    def seconds(self, *, least: float = 0.001) -> float:
        """What a step may still take; `TimeUp` when that is less than it needs."""
        left = self.left
        if left < least:
            raise TimeUp
        return left


def age_of_process() -> float:
    """How long the agent has waited already: on a busy machine, Python needs most of that for its own start."""
    try:
        fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        # Elsewhere, at least the work that was done.
        return time.process_time()


MOST_BYTES = 32 * 1024 * 1024
_CHUNK = 256 * 1024


def read_stdin(deadline: Deadline) -> bytes:
    """All of it or, when it does not end in time, what has come by then."""
    if sys.stdin is None:
        return b""
    source = sys.stdin.fileno()
    if sys.platform == "win32":
        return sys.stdin.buffer.read(MOST_BYTES)
    import select

    parts: list[bytes] = []
    size = 0
    while size < MOST_BYTES:
        ready, _, _ = select.select([source], [], [], max(0.0, deadline.left / 2))
        part = os.read(source, _CHUNK) if ready else b""
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
