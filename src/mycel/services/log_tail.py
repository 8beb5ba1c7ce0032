"""The end of each team's log, read once for everybody, and who may read it by now."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakValueDictionary

from mycel.access.scope import ReadScope
from mycel.access.visible_change import told
from mycel.contracts.store import Stores
from mycel.domain.change import Audience, Change, ChangeFilter, LogEntry, Operation, Today
from mycel.domain.ids import MemoryId, TeamName
from mycel.errors import CLOSED, MycelError, Unavailable


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Standing:
    """A memory by the latest entry about it; shared by all entries that name it."""

    audience: Audience | None = None
    is_gone: bool = False


class Kept(NamedTuple):
    entry: LogEntry
    memory: _Standing
    other: _Standing | None

    @property
    def today(self) -> Today:
        other = self.other
        return Today(self.memory.audience, None if other is None or other.is_gone else other.audience)


class RecentLog:
    """Entries without gaps up to `last`, as many as `most`. Not safe to change from two threads at once."""

    def __init__(self, *, last: int, most: int) -> None:
        self.last = last
        self._most = most
        self._kept: list[Kept] = []
        # For as long as an entry names them.
        self._standings: WeakValueDictionary[str, _Standing] = WeakValueDictionary()

    def add(self, logged: Sequence[tuple[LogEntry, Today]]) -> None:
        if logged[0][0].change.sequence != self.last + 1:
            self._kept.clear()
        self._kept.extend(self._keep(entry, today) for entry, today in logged)
        self.last = logged[-1][0].change.sequence
        # Not one by one: what is cut off moves all that stays.
        if len(self._kept) > self._most + self._most // 4:
            del self._kept[: -self._most]

    def after(self, sequence: int) -> Sequence[Kept] | None:
        """What came after it; None when part of that is no longer kept."""
        missing = self.last - sequence
        if missing <= 0:
            return ()
        return self._kept[-missing:] if missing <= len(self._kept) else None

    def __len__(self) -> int:
        return len(self._kept)

    def _keep(self, entry: LogEntry, today: Today) -> Kept:
        change = entry.change
        memory = self._standing_of(change.memory_id)
        memory.audience = today.memory
        memory.is_gone = memory.is_gone or change.operation is Operation.PURGE
        if not change.names_another:
            return Kept(entry, memory, None)
        other = self._standing_of(MemoryId(str(change.other_id)))
        other.is_gone = other.is_gone or today.other is None
        other.audience = today.other or other.audience
        return Kept(entry, memory, other)

    def _standing_of(self, id: MemoryId) -> _Standing:
        found = self._standings.get(id)
        if found is None:
            found = self._standings[id] = _Standing()
        return found


def told_of(
    kept: Sequence[Kept], scope: ReadScope, wanted: ChangeFilter, *, after: int, limit: int
) -> tuple[list[Change], int]:
    """What a reader is told of these entries, and the sequence up to which they were looked at."""
    found: list[Change] = []
    for one in kept:
        change = told(one.entry, one.today, scope, wanted)
        if change is not None:
            found.append(change)
            if len(found) == limit:
                return found, one.entry.change.sequence
    return found, kept[-1].entry.change.sequence if kept else after


BATCH = 500
WAIT_SECONDS = 1.0
RETRY_SECONDS = 1.0

_log = logging.getLogger("mycel.following")


@dataclass(slots=True, eq=False)
class Cursor:
    """How far one follower has come. What changes of it is changed by its tail, under the lock of that."""

    wanted: ChangeFilter
    wake: Callable[[], None]
    reached: int
    is_woken: bool = False


class Tail:
    """Reads on behind a lock that no writer ever takes; what a follower makes of it happens outside of that too."""

    def __init__(
        self, team: TeamName, stores: Stores, recent: RecentLog, *, linger: float, may_end: Callable[[Tail], bool]
    ) -> None:
        self.team = team
        self._stores = stores
        self._recent = recent
        self._linger = linger
        self._may_end = may_end
        self._cursors: set[Cursor] = set()
        self._lock = threading.Lock()
        self._idle_since = time.monotonic()
        self._stopped = threading.Event()
        self._watch = stores.watch(team)
        self._thread = threading.Thread(target=self._run, name=f"mycel-tail-{team}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._watch.wake()

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    def add(self, cursor: Cursor) -> None:
        with self._lock:
            self._cursors.add(cursor)

    def remove(self, cursor: Cursor) -> None:
        with self._lock:
            self._cursors.discard(cursor)
            self._idle_since = time.monotonic()

    def is_idle(self) -> bool:
        with self._lock:
            return not self._cursors and time.monotonic() - self._idle_since >= self._linger

    def next_for(self, cursor: Cursor) -> tuple[int, Sequence[Kept] | None]:
        """Where the follower stands, and what came after it; None when the store has to be asked for that."""
        if self._stopped.is_set():
            raise Unavailable(CLOSED)
        with self._lock:
            # First: what comes from here on is not in the answer, and wakes it again.
            cursor.is_woken = False
            return cursor.reached, self._recent.after(cursor.reached)

    def advance(self, cursor: Cursor, reached: int) -> int:
        with self._lock:
            cursor.reached = max(cursor.reached, reached)
            return cursor.reached

    def has_shown_all_to(self, cursor: Cursor) -> bool:
        with self._lock:
            return cursor.reached >= self._recent.last

    def _run(self) -> None:
        try:
            is_read = self._try_to_read()
            while not self._is_over():
                is_read = self._try_to_read(wait=WAIT_SECONDS if is_read else 0.0)
        finally:
            self._watch.close()
        # Whoever still follows learns with its next question that it is over.
        with self._lock:
            left = list(self._cursors)
        self._wake_all(left)

    def _is_over(self) -> bool:
        return self._stopped.is_set() or (self.is_idle() and self._may_end(self))

    def _try_to_read(self, *, wait: float = 0.0) -> bool:
        """Whatever keeps the store from answering, followers only come to know of it later."""
        try:
            if not wait or self._watch.wait(wait):
                self._read()
        except MycelError as error:
            if not self._stopped.is_set():
                _log.warning("team %s: the log cannot be read now: %s", self.team, error)
        except Exception as error:  # noqa: BLE001 - those who follow must not wait for ever
            _log.error("team %s: reading the log failed with %s", self.team, type(error).__name__)
        else:
            return True
        self._stopped.wait(RETRY_SECONDS)
        return False

    def _read(self) -> None:
        more = True
        while more and not self._stopped.is_set():
            # Leased anew for each look, so that a tail keeps no store open.
            with self._stores.lease(self.team) as store:
                logged = store.log.read(after=self._recent.last, limit=BATCH)
            if logged:
                self._wake_all(self._add(logged))
            more = len(logged) == BATCH

    def _add(self, logged: Sequence[tuple[LogEntry, Today]]) -> list[Cursor]:
        """Returns whom to wake; who has seen everything so far and would get nothing of this is moved past it."""
        to_wake: list[Cursor] = []
        with self._lock:
            before = self._recent.last
            self._recent.add(logged)
            for cursor in self._cursors:
                if cursor.is_woken:
                    continue
                if cursor.reached == before and not any(cursor.wanted.concerns(entry) for entry, _ in logged):
                    cursor.reached = self._recent.last
                elif cursor.reached < self._recent.last:
                    cursor.is_woken = True
                    to_wake.append(cursor)
        return to_wake

    def _wake_all(self, cursors: Sequence[Cursor]) -> None:
        for cursor in cursors:
            try:
                cursor.wake()
            except Exception as error:  # noqa: BLE001 - the others must be woken too
                _log.warning("team %s: a follower cannot be woken: %s", self.team, type(error).__name__)
                self.remove(cursor)
