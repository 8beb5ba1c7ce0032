"""What reading leaves behind: counts and recalls, gathered in memory, written together, read to explain them."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import apsw

from mycel.contracts.clock import Clock
from mycel.domain.ids import MemberId, MemoryId, RecallId, TeamName
from mycel.domain.recall import LoggedHit, LoggedRecall, Recall
from mycel.errors import StoreDamaged
from mycel.stores.sqlite.database import Database
from mycel.stores.sqlite.rows import micros, moment, packed, unpacked_texts
from mycel.stores.sqlite.session import Part, query

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")
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
    SELECT ?1, ?2, ?3, iif(agent_id = ?4, 0, ?2), iif(agent_id = ?4, NULL, ?3) FROM memories WHERE id = ?1
    ON CONFLICT DO UPDATE SET access_count = access_count + excluded.access_count,
      last_accessed_at = max(last_accessed_at, excluded.last_accessed_at),
      others_count = others_count + excluded.others_count,
      others_last_at = nullif(max(ifnull(others_last_at, 0), ifnull(excluded.others_last_at, 0)), 0)"""


class Trace(NamedTuple):
    team: TeamName
    recall: Recall
    request: Mapping[str, Any]
    by: MemberId
    at: datetime


def write_recall(connection: apsw.Connection, trace: Trace) -> None:
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


class SqliteRecalls(Part):
    """See `contracts.search_store.RecallReads`."""

    def __init__(self, database: Database[Any], traces: ReadTraces, *, team: TeamName, clock: Clock) -> None:
        super().__init__(_FlushedSession(database, traces, clock))
        self._database = database
        self._traces = traces
        self._team = team

    def count_access(self, ids: Iterable[MemoryId], *, by: MemberId, at: datetime) -> None:
        self._traces.count(ids, by=by, at=at)
        self._database.writer.request_flush()

    def log(self, recall: Recall, *, request: Mapping[str, Any], by: MemberId, at: datetime) -> bool:
        if not self._database.exists():
            return False
        self._traces.log(Trace(self._team, recall, request, by, at))
        self._database.writer.request_flush()
        return True

    @query
    def find(self, connection: apsw.Connection, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
        row = connection.execute(f"{_RECALL} WHERE r.id = ? AND r.member_id = ?", (id, member_id)).fetchone()
        return None if row is None else _logged(connection, row)

    @query
    def that_found(
        self, connection: apsw.Connection, member_id: MemberId, memory_id: MemoryId, *, limit: int
    ) -> list[LoggedRecall]:
        sql = f"""
            {_RECALL} JOIN recall_hits h ON h.recall_id = r.id
            WHERE h.memory_id = ? AND r.member_id = ? ORDER BY r.recalled_at DESC LIMIT ?"""
        return [_logged(connection, row) for row in connection.execute(sql, (memory_id, member_id, limit)).fetchall()]

    @query
    def texts(self, connection: apsw.Connection, member_id: MemberId, *, since: datetime, limit: int) -> list[str]:
        sql = """
            SELECT DISTINCT m.content FROM recalls r JOIN recall_hits h ON h.recall_id = r.id
            JOIN memories m ON m.id = h.memory_id
            WHERE r.recalled_at >= ? AND r.member_id = ? AND m.deleted_at IS NULL AND m.status = 'active'
            ORDER BY r.recalled_at DESC LIMIT ?"""
        return [content for (content,) in connection.execute(sql, (micros(since), member_id, limit))]

    @query
    def has_older(self, connection: apsw.Connection, before: datetime) -> bool:
        row = connection.execute("SELECT 1 FROM recalls WHERE recalled_at < ? LIMIT 1", (micros(before),)).fetchone()
        return row is not None


class RecallWriter(Part):
    """See `contracts.search_store.RecallWrites`."""

    @query
    def forget(self, connection: apsw.Connection, *, before: datetime) -> int:
        old = "SELECT id FROM recalls WHERE recalled_at < ?"
        connection.execute(f"DELETE FROM recall_hits WHERE recall_id IN ({old})", (micros(before),))
        connection.execute("DELETE FROM recalls WHERE recalled_at < ?", (micros(before),))
        return connection.changes()

    @query
    def forget_of(self, connection: apsw.Connection, memory_id: MemoryId) -> None:
        forget_recalls_of(connection, memory_id)


def forget_recalls_of(connection: apsw.Connection, memory_id: MemoryId) -> None:
    found = connection.execute("SELECT recall_id FROM recall_hits WHERE memory_id = ?", (memory_id,)).fetchall()
    connection.executemany("DELETE FROM recalls WHERE id = ?", found)
    connection.executemany("DELETE FROM recall_hits WHERE recall_id = ?", found)


class _FlushedSession:
    """A recall is asked about right after it was answered, before its time to be written has come."""

    def __init__(self, database: Database[Any], traces: ReadTraces, clock: Clock) -> None:
        self._database = database
        self._traces = traces
        self._clock = clock

    @property
    def now(self) -> datetime:
        return self._clock.now()

    def run(
        self,
        work: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        /,
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        if self._traces and self._database.exists():
            # What a damaged store knows is told without it.
            with contextlib.suppress(StoreDamaged):
                self._database.write(lambda batch: self._traces.write(batch.connection))
        return self._database.read(work, *args, **kwargs)


def _logged(connection: apsw.Connection, row: tuple[Any, ...]) -> LoggedRecall:
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
