"""Work on one team after another, batch by batch, in a thread that nobody waits for."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable

from mycel.domain.ids import TeamName
from mycel.errors import MycelError, Unavailable

RETRY_SECONDS = 5.0

_log = logging.getLogger("mycel.engine")


class TeamWorker:
    """One thread, started when there is something to do, that takes a batch of one team after another."""

    def __init__(self, work: Callable[[TeamName], bool], *, name: str) -> None:
        """`work` takes one batch and says whether there is more of that team to do; `name` is that of the thread."""
        self._work = work
        self._name = name
        self._teams: OrderedDict[TeamName, None] = OrderedDict()
        self._current: TeamName | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def wake(self, team: TeamName) -> None:
        with self._changed:
            if self._closing:
                return
            self._teams[team] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"mycel-{self._name}", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, team: TeamName, *, seconds: float) -> bool:
        """True once the team is done with, well or not; False when the time is up."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._closing or (team not in self._teams and team != self._current), timeout=seconds
            )

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (team := self._next()) is not None:
            try:
                more = self._work(team)
            except Exception as error:  # noqa: BLE001 - the other teams, and the next try, need this thread
                if not isinstance(error, MycelError):
                    _log.error("team %s: %s failed (%s)", team, self._name, type(error).__name__)
                self._finished()
                self._rest(error)
                more = True
            self._finished()
            if more:
                self.wake(team)

    def _next(self) -> TeamName | None:
        with self._changed:
            self._changed.wait_for(lambda: self._teams or self._closing)
            self._current = None if self._closing else self._teams.popitem(last=False)[0]
            return self._current

    def _finished(self) -> None:
        with self._changed:
            self._current = None
            self._changed.notify_all()

    def _rest(self, error: Exception) -> None:
        after = error.retry_after if isinstance(error, Unavailable) else RETRY_SECONDS
        with self._changed:
            self._changed.wait_for(lambda: self._closing, timeout=after)
