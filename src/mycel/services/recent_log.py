"""The last entries of one team's log in memory, and who may read what they name by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakValueDictionary

from mycel.access.scope import ReadScope
from mycel.access.visible_change import told
from mycel.domain.change import Audience, Change, ChangeFilter, LogEntry, Operation, Today
from mycel.domain.ids import MemoryId


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
