"""Where the time comes from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """May step back; whoever needs order uses the change sequence, not the clock."""

    def now(self) -> datetime:
        """The present, aware, in UTC."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
