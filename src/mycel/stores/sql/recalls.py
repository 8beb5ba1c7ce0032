"""What reading leaves behind: counts and recalls, gathered in memory, written together, read to explain them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from mycel.domain.ids import MemberId, MemoryId, RecallId, TeamName
from mycel.domain.recall import LoggedHit, LoggedRecall, Recall
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import Insert, Rows, Statement, insert_values
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, moment, packed, unpacked_texts

ItemT = TypeVar("ItemT")

_RECALL = "SELECT r.id, r.query, r.recalled_at, r.request, r.degraded FROM recalls r"
_INSERT_RECALL = Statement(
    0,
    "INSERT INTO recalls (id, member_id, query, recalled_at, request, degraded) VALUES ",
    "(?, ?, ?, ?, ?, ?)",
)
_INSERT_HIT = Statement(
    1,
    "INSERT INTO recall_hits (recall_id, position, memory_id, score, relevance, breakdown, why) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?)",
)

# A reader in a tight loop must not fill the memory before the next flush.
MAX_READS = 200_000
MAX_RECALLS = 10_000

# What authors read of their own is no sign to others. In order, so that two nodes that count the same memories never
# wait for each other.
_COUNT = Statement(
    2,
    "WITH given (id, reader, reads, last_at) AS (VALUES ",
    "(?, ?, CAST(? AS bigint), CAST(? AS bigint))",
    """)
    INSERT INTO memory_usage (memory_id, access_count, last_accessed_at, others_count, others_last_at)
    SELECT m.id, sum(g.reads), max(g.last_at), sum(CASE m.agent_id WHEN g.reader THEN 0 ELSE g.reads END),
      max(CASE m.agent_id WHEN g.reader THEN NULL ELSE g.last_at END)
    FROM given g CROSS JOIN memories m ON m.id = g.id WHERE true GROUP BY m.id ORDER BY m.id
    ON CONFLICT (memory_id) DO UPDATE SET access_count = memory_usage.access_count + excluded.access_count,
      last_accessed_at = max(memory_usage.last_accessed_at, excluded.last_accessed_at),
      others_count = memory_usage.others_count + excluded.others_count,
      others_last_at =
        nullif(max(coalesce(memory_usage.others_last_at, 0), coalesce(excluded.others_last_at, 0)), 0)""",
)


class Trace(NamedTuple):
    team: TeamName
    recall: Recall
    request: Mapping[str, Any]
    by: MemberId
    at: datetime

    @property
    def own(self) -> list[MemoryId]:
        """What it found in the team that keeps it."""
        return [hit.memory.id for hit in self.recall.hits if hit.team == self.team]

    @property
    def row(self) -> tuple[object, ...]:
        recall, request = self.recall, json.dumps(self.request, ensure_ascii=False)
        return recall.id, self.by, recall.query, micros(self.at), request, packed(recall.degraded)

    @property
    def hit_rows(self) -> list[tuple[object, ...]]:
        return [
            (self.recall.id, place, hit.memory.id, hit.score, hit.relevance, json.dumps(dict(hit.breakdown)), hit.why)
            for place, hit in enumerate(self.recall.hits)
        ]


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

    def take(self) -> TakenTraces:
        counts: dict[tuple[MemoryId, MemberId], tuple[int, datetime]] = {}
        for ids, by, at in _taken(self._reads):
            for id in ids:
                counts[id, by] = (counts.get((id, by), (0, at))[0] + 1, at)
        rows = [(id, by, count, micros(at)) for (id, by), (count, at) in sorted(counts.items())]
        return TakenTraces(rows, _taken(self._recalls))

    def write(self, connection: Connection) -> bool:
        return self.take().write(connection)


class TakenTraces(NamedTuple):
    """Those of one flush, which may be written again after a transaction that was lost."""

    counts: Rows
    recalls: Sequence[Trace]

    def write(self, connection: Connection, insert: Insert = insert_values) -> bool:
        """Whether anything was counted: what is only logged changes no search. What others may wait for comes last."""
        kept = self._kept(connection)
        insert(connection, _INSERT_RECALL, [trace.row for trace in kept])
        insert(connection, _INSERT_HIT, [row for trace in kept for row in trace.hit_rows])
        insert_values(connection, _COUNT, self.counts)
        return bool(self.counts)

    def _kept(self, connection: Connection) -> list[Trace]:
        """Without those of which something was purged while they waited: the question may quote it."""
        ids = sorted({id for trace in self.recalls for id in trace.own})
        sql = "SELECT m.id FROM json_each(?) n CROSS JOIN memories m ON m.id = n.value"
        there = {id for (id,) in connection.execute(sql, (json.dumps(ids),))} if ids else set[MemoryId]()
        return [trace for trace in self.recalls if there.issuperset(trace.own)]


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
