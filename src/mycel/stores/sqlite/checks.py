"""Looks at every store in full soon after it was opened, one after the other, in a thread that nobody waits for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from mycel.domain.ids import TeamName
from mycel.errors import MycelError

# A command that opens a store for one answer has gone by then, and a service has given its first ones.
CHECK_AFTER_SECONDS = 1.0
# A check reads the whole file: no team needs that again whenever its store is opened.
CHECKED_SECONDS = 86_400.0
# How long whoever closes the workspace waits for a check that was told to stop.
CLOSING_SECONDS = 5.0

_log = logging.getLogger("mycel.stores")


class Checks:
    """`check` is called with each team; `after` is how long a store is left alone when it was opened."""

    def __init__(self, check: Callable[[TeamName], None], *, after: float | None) -> None:
        self._check = check
        self._after = after
        self._due: dict[TeamName, float] = {}
        self._checked: dict[TeamName, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False

    def add(self, team: TeamName) -> None:
        """It was opened."""
        now = time.monotonic()
        if self._after is not None and now >= self._checked.get(team, now):
            self._checked[team] = now + CHECKED_SECONDS
            self.again(team, after=self._after)

    def again(self, team: TeamName, *, after: float = 0.0) -> None:
        """Something has shown that it is damaged, or it could not be repaired yet."""
        with self._changed:
            if self._after is None or self._closing:
                return
            due = time.monotonic() + after
            self._due[team] = min(due, self._due.get(team, due))
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="mycel-checks", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)

    def _serve(self) -> None:
        while (team := self._next()) is not None:
            began = time.monotonic()
            try:
                self._check(team)
            except MycelError as error:
                if not self._closing:
                    _log.warning("team %s: the check of its store did not come to its end: %s", team, error)
            except Exception as error:  # noqa: BLE001 - the other teams must not wait for this one
                _log.error("team %s: the check of its store failed with %s", team, type(error).__name__)
            # As long again for everybody else's questions.
            with self._changed:
                self._changed.wait_for(lambda: self._closing, timeout=time.monotonic() - began)

    def _next(self) -> TeamName | None:
        with self._changed:
            while not self._closing:
                now = time.monotonic()
                team, due = min(self._due.items(), key=lambda item: item[1], default=(None, now))
                if team is not None and due <= now:
                    del self._due[team]
                    return team
                self._changed.wait(None if team is None else due - now)
            return None
