"""Counts and recalls that reads leave behind, gathered in memory and written together."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import datetime

import apsw

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.recall import Recall
from mycel.stores.sqlite.rows import micros

# A reader in a tight loop must not fill the memory before the next flush.
MAX_RECALLS = 10_000

_COUNT = """
    INSERT INTO memory_usage SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM memories WHERE id = ?1)
    ON CONFLICT DO UPDATE SET access_count = access_count + excluded.access_count,
      last_accessed_at = max(last_accessed_at, excluded.last_accessed_at)"""
_HIT = """
    INSERT INTO recall_hits SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM memories WHERE id = ?3)"""


class ReadTraces:
    """Reads do not write: what they leave is worth a second of delay, and none of it is acknowledged."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[MemoryId, tuple[int, datetime]] = {}
        self._recalls: list[tuple[Recall, MemberId, datetime]] = []

    def count(self, ids: Iterable[MemoryId], at: datetime) -> None:
        with self._lock:
            for id in ids:
                self._counts[id] = (self._counts.get(id, (0, at))[0] + 1, at)

    def log(self, recall: Recall, by: MemberId, at: datetime) -> None:
        with self._lock:
            if len(self._recalls) < MAX_RECALLS:
                self._recalls.append((recall, by, at))

    def write(self, connection: apsw.Connection) -> None:
        with self._lock:
            counts, self._counts = self._counts, {}
            recalls, self._recalls = self._recalls, []
        connection.executemany(_COUNT, [(id, count, micros(at)) for id, (count, at) in counts.items()])
        for recall, by, at in recalls:
            connection.execute("INSERT INTO recalls VALUES (?, ?, ?, ?)", (recall.id, by, recall.query, micros(at)))
            connection.executemany(
                _HIT,
                [
                    (recall.id, position, hit.memory.id, hit.score, hit.relevance)
                    for position, hit in enumerate(recall.hits)
                ],
            )
