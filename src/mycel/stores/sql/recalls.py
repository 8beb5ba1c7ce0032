"""What reading leaves behind: counts and recalls, gathered in memory, written together, read to explain them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from mycel.domain.ids import MemberId, MemoryId, RecallId, TeamName
from mycel.domain.recall import LoggedHit, LoggedRecall, Recall
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, moment, packed, unpacked_texts

ItemT = TypeVar("ItemT")

_RECALL = "SELECT r.id, r.query, r.recalled_at, r.request, r.degraded FROM recalls r"
_INSERT_HIT = """
    INSERT INTO recall_hits (recall_id, position, memory_id, score, relevance, breakdown, why)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


# A reader in a tight loop must not fill the memory before the next flush.
MAX_READS = 200_000
MAX_RECALLS = 10_000

_COUNT = """
    INSERT INTO memory_usage (memory_id, access_count, last_accessed_at, others_count, others_last_at)
    SELECT ?1, ?2, ?3, CASE agent_id WHEN ?4 THEN 0 ELSE ?2 END,
      CASE agent_id WHEN ?4 THEN NULL ELSE ?3 END FROM memories WHERE id = ?1
    ON CONFLICT (memory_id) DO UPDATE SET access_count = memory_usage.access_count + excluded.access_count,
      last_accessed_at = max(memory_usage.last_accessed_at, excluded.last_accessed_at),
      others_count = memory_usage.others_count + excluded.others_count,
      others_last_at =
        nullif(max(coalesce(memory_usage.others_last_at, 0), coalesce(excluded.others_last_at, 0)), 0)"""


class Trace(NamedTuple):
    team: TeamName
    recall: Recall
    request: Mapping[str, Any]
    by: MemberId
    at: datetime


def write_recall(connection: Connection, trace: Trace) -> None:
    """Unless something it found was purged while it waited: the question may quote it."""
    recall = trace.recall
    own = [hit.memory.id for hit in recall.hits if hit.team == trace.team]
    there = connection.execute(
        "SELECT count(*) FROM json_each(?) n CROSS JOIN memories m ON m.id = n.value", (json.dumps(own),)
    ).fetchone()[0]
    if there < len(own):
        return
    connection.execute(
        "INSERT INTO recalls (id, member_id, query, recalled_at, request, degraded) VALUES (?, ?, ?, ?, ?, ?)",
        (
            recall.id,
            trace.by,
            recall.query,
            micros(trace.at),
            json.dumps(trace.request, ensure_ascii=False),
            packed(recall.degraded),
        ),
    )
    connection.executemany(
        _INSERT_HIT,
        [
            (recall.id, position, hit.memory.id, hit.score, hit.relevance, json.dumps(dict(hit.breakdown)), hit.why)
            for position, hit in enumerate(recall.hits)
        ],
    )


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

    def write(self, connection: Connection) -> bool:
        """Whether anything was counted: what is only logged changes no search."""
        counts: dict[tuple[MemoryId, MemberId], tuple[int, datetime]] = {}
        for ids, by, at in _taken(self._reads):
            for id in ids:
                counts[id, by] = (counts.get((id, by), (0, at))[0] + 1, at)
        connection.executemany(_COUNT, [(id, count, micros(at), by) for (id, by), (count, at) in counts.items()])
        for trace in _taken(self._recalls):
            write_recall(connection, trace)
        return bool(counts)


def _taken(queue: deque[ItemT]) -> list[ItemT]:
    """What is in it now; what is added meanwhile waits for the next time."""
    return [queue.popleft() for _ in range(len(queue))]


class SqlRecalls(Part):
    """What was kept of them, for `contracts.search_store.RecallReads`."""

    @query
    def find(self, connection: Connection, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
        row = connection.execute(f"{_RECALL} WHERE r.id = ? AND r.member_id = ?", (id, member_id)).fetchone()
        return None if row is None else _logged(connection, row)

    @query
    def that_found(
        self, connection: Connection, member_id: MemberId, memory_id: MemoryId, *, limit: int
    ) -> list[LoggedRecall]:
        sql = f"""
            {_RECALL} JOIN recall_hits h ON h.recall_id = r.id
            WHERE h.memory_id = ? AND r.member_id = ? ORDER BY r.recalled_at DESC LIMIT ?"""
        return [_logged(connection, row) for row in connection.execute(sql, (memory_id, member_id, limit)).fetchall()]

    @query
    def texts(self, connection: Connection, member_id: MemberId, *, since: datetime, limit: int) -> list[str]:
        sql = """
            SELECT m.content FROM recalls r JOIN recall_hits h ON h.recall_id = r.id
            JOIN memories m ON m.id = h.memory_id
            WHERE r.recalled_at >= ? AND r.member_id = ? AND m.deleted_at IS NULL AND m.status = 'active'
            GROUP BY m.content ORDER BY max(r.recalled_at) DESC LIMIT ?"""
        return [content for (content,) in connection.execute(sql, (micros(since), member_id, limit))]

    @query
    def has_older(self, connection: Connection, before: datetime) -> bool:
        row = connection.execute("SELECT 1 FROM recalls WHERE recalled_at < ? LIMIT 1", (micros(before),)).fetchone()
        return row is not None


class RecallWriter(Part):
    """See `contracts.search_store.RecallWrites`."""

    @query
    def forget(self, connection: Connection, *, before: datetime) -> int:
        old = "SELECT id FROM recalls WHERE recalled_at < ?"
        connection.execute(f"DELETE FROM recall_hits WHERE recall_id IN ({old})", (micros(before),))
        sql = "DELETE FROM recalls WHERE recalled_at < ? RETURNING 1"
        return len(connection.execute(sql, (micros(before),)).fetchall())

    @query
    def forget_of(self, connection: Connection, memory_id: MemoryId) -> None:
        forget_recalls_of(connection, memory_id)


def forget_recalls_of(connection: Connection, memory_id: MemoryId) -> None:
    found = connection.execute("SELECT recall_id FROM recall_hits WHERE memory_id = ?", (memory_id,)).fetchall()
    connection.executemany("DELETE FROM recalls WHERE id = ?", found)
    connection.executemany("DELETE FROM recall_hits WHERE recall_id = ?", found)


def _logged(connection: Connection, row: tuple[Any, ...]) -> LoggedRecall:
    id, query, recalled_at, request, degraded = row
    hits = connection.execute(
        """
        SELECT memory_id, score, relevance, breakdown, why FROM recall_hits
        WHERE recall_id = ? ORDER BY position""",
        (id,),
    )
    return LoggedRecall(
        id=RecallId(id),
        query=query,
        recalled_at=moment(recalled_at),
        request=json.loads(request),
        hits=tuple(_hit(*hit) for hit in hits),
        degraded=unpacked_texts(degraded) if degraded else (),
    )


def _hit(memory_id: str, score: float, relevance: float, breakdown: str, why: str) -> LoggedHit:
    return LoggedHit(
        memory_id=MemoryId(memory_id), score=score, relevance=relevance, breakdown=json.loads(breakdown), why=why
    )
