"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """May be moved back as well: the code under test must not mind."""

    def __init__(self, start: datetime = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def move(self, by: timedelta) -> None:
        self._now += by
