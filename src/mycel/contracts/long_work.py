"""Work that may take long: on whose behalf it is done, how far it is, and whether anybody still waits for it.

What does such work asks `require_wanted` in its loops. Work that nobody has described is simply done.

An answer that says "unavailable" promises that nothing was stored. So whoever waits is told only by the work's own end
why it was stopped, unless the work has said that it prepares something and has not begun to change anything yet.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from mycel.domain.ids import MemberId, TeamName
from mycel.errors import Unavailable

CALLER_LEFT = "its caller has gone"
STOPPING = "the service is stopping: send it again in a few seconds"
STOPPING_RETRY_SECONDS = 5.0


class LongWork:
    """One piece of work. Any thread may report on it, look at it or stop it."""

    __slots__ = ("_changing", "_done", "_is_preparing", "_stopped", "_total", "member", "name", "started_at", "team")

    def __init__(self, name: str, *, team: TeamName | None = None, member: MemberId | None = None) -> None:
        self.name = name
        self.team = team
        self.member = member
        # None while it waits for its turn.
        self.started_at: float | None = None
        self._done = 0
        self._total = 0
        self._stopped: str | None = None
        self._is_preparing = False
        self._changing = threading.Lock()

    def stop(self, why: str) -> bool:
        """Have it end at its next look; return whether its caller may be told at once, since it changes nothing."""
        with self._changing:
            self._stopped = self._stopped or why
            return self._is_preparing

    def prepare(self) -> None:
        """Say that nothing is changed from here until `begin_to_change`."""
        with self._changing:
            self._is_preparing = True

    def begin_to_change(self) -> None:
        """Raise `Unavailable` where it was stopped; from here on it is waited for."""
        with self._changing:
            self._is_preparing = False
            self.require_wanted()

    def require_wanted(self) -> None:
        if self._stopped is not None:
            raise Unavailable(self._stopped, retry_after=STOPPING_RETRY_SECONDS)

    def report(self, done: int, total: int) -> None:
        self._done, self._total = done, total

    def describe_progress(self) -> str:
        """Say in words how far it is."""
        if self.started_at is None:
            return "queued"
        seconds = time.monotonic() - self.started_at
        share = f"{100 * self._done // self._total} % after " if self._total else ""
        return f"{share}{seconds:.0f} s"


_current: ContextVar[LongWork | None] = ContextVar("mycel.long_work", default=None)


@contextmanager
def doing(work: LongWork) -> Generator[None]:
    """What is done inside, in this thread, belongs to this work."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def current_team() -> TeamName | None:
    """The team for which this thread works, as far as somebody has said so."""
    work = _current.get()
    return None if work is None else work.team


def prepare() -> None:
    """Say that what this thread does changes nothing until `begin_to_change`."""
    work = _current.get()
    if work is not None:
        work.prepare()


def begin_to_change() -> None:
    """Raise `Unavailable` when nobody waits any more; from here on the end of this thread's work is waited for."""
    work = _current.get()
    if work is not None:
        work.begin_to_change()


def require_wanted() -> None:
    """Raise `Unavailable` when nobody waits any more for what this thread does."""
    work = _current.get()
    if work is not None:
        work.require_wanted()


def report_progress(done: int, total: int) -> None:
    """Note how far this thread's work is, and go on only if somebody still waits for it."""
    work = _current.get()
    if work is not None:
        work.require_wanted()
        work.report(done, total)
