"""Counts and recalls that reads leave behind, gathered in memory and written together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

import apsw

from mycel.domain.ids import MemberId, MemoryId
from mycel.stores.sqlite.recalls import Trace, write_recall
from mycel.stores.sqlite.rows import micros

# A reader in a tight loop must not fill the memory before the next flush.
MAX_READS = 200_000
MAX_RECALLS = 10_000

ItemT = TypeVar("ItemT")

_COUNT = """
    INSERT INTO memory_usage (memory_id, access_count, last_accessed_at, others_count, others_last_at)
    SELECT ?1, ?2, ?3, iif(agent_id = ?4, 0, ?2), iif(agent_id = ?4, NULL, ?3) FROM memories WHERE id = ?1
    ON CONFLICT DO UPDATE SET access_count = access_count + excluded.access_count,
      last_accessed_at = max(last_accessed_at, excluded.last_accessed_at),
      others_count = others_count + excluded.others_count,
      others_last_at = nullif(max(ifnull(others_last_at, 0), ifnull(excluded.others_last_at, 0)), 0)"""


class ReadTraces:
    """Reads do not write: what they leave is worth a second of delay, and none of it is acknowledged.

    Appending to a deque takes no lock; what is more than it holds until the next flush is lost, oldest first.
    """

    def __init__(self) -> None:
        self._reads: deque[tuple[Iterable[MemoryId], MemberId, datetime]] = deque(maxlen=MAX_READS)
        self._recalls: deque[Trace] = deque(maxlen=MAX_RECALLS)

    def __bool__(self) -> bool:
        return bool(self._reads or self._recalls)

    def count(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        self._reads.append((ids, by, at))

    def log(self, trace: Trace) -> None:
        self._recalls.append(trace)

    def write(self, connection: apsw.Connection) -> None:
        counts: dict[tuple[MemoryId, MemberId], tuple[int, datetime]] = {}
        for ids, by, at in _taken(self._reads):
            for id in ids:
                counts[id, by] = (counts.get((id, by), (0, at))[0] + 1, at)
        connection.executemany(_COUNT, [(id, count, micros(at), by) for (id, by), (count, at) in counts.items()])
        for trace in _taken(self._recalls):
            write_recall(connection, trace)


def _taken(queue: deque[ItemT]) -> list[ItemT]:
    """What is in it now; what is added meanwhile waits for the next time."""
    return [queue.popleft() for _ in range(len(queue))]
