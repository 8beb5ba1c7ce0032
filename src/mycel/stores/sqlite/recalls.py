"""The log of recalls: written with the other traces of reading, read to explain them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import apsw

from mycel.domain.ids import MemberId, MemoryId, RecallId, TeamName
from mycel.domain.recall import LoggedHit, LoggedRecall, Recall
from mycel.stores.sqlite.rows import micros, moment, packed, unpacked_texts

_RECALL = "SELECT r.id, r.query, r.recalled_at, r.request, r.degraded FROM recalls r"
_INSERT_HIT = """
    INSERT INTO recall_hits (recall_id, position, memory_id, score, relevance, breakdown, why)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


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


def has_older(connection: apsw.Connection, before: datetime) -> bool:
    row = connection.execute("SELECT 1 FROM recalls WHERE recalled_at < ? LIMIT 1", (micros(before),)).fetchone()
    return row is not None


def forget_recalls(connection: apsw.Connection, *, before: datetime) -> int:
    old = "SELECT id FROM recalls WHERE recalled_at < ?"
    connection.execute(f"DELETE FROM recall_hits WHERE recall_id IN ({old})", (micros(before),))
    connection.execute("DELETE FROM recalls WHERE recalled_at < ?", (micros(before),))
    return connection.changes()


def find_recall(connection: apsw.Connection, member_id: MemberId, id: RecallId) -> LoggedRecall | None:
    row = connection.execute(f"{_RECALL} WHERE r.id = ? AND r.member_id = ?", (id, member_id)).fetchone()
    return None if row is None else _logged(connection, row)


def list_recalls(
    connection: apsw.Connection, member_id: MemberId, memory_id: MemoryId, *, limit: int
) -> list[LoggedRecall]:
    sql = f"""
        {_RECALL} JOIN recall_hits h ON h.recall_id = r.id
        WHERE h.memory_id = ? AND r.member_id = ? ORDER BY r.recalled_at DESC LIMIT ?"""
    return [_logged(connection, row) for row in connection.execute(sql, (memory_id, member_id, limit)).fetchall()]


def recalled_texts(connection: apsw.Connection, member_id: MemberId, *, since: datetime, limit: int) -> list[str]:
    sql = """
        SELECT DISTINCT m.content FROM recalls r JOIN recall_hits h ON h.recall_id = r.id
        JOIN memories m ON m.id = h.memory_id
        WHERE r.recalled_at >= ? AND r.member_id = ? AND m.deleted_at IS NULL AND m.status = 'active'
        ORDER BY r.recalled_at DESC LIMIT ?"""
    return [content for (content,) in connection.execute(sql, (micros(since), member_id, limit))]


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
