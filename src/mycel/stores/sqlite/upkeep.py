"""What the engine needs to look after a store: what has changed, what has expired, how far it has come."""

from __future__ import annotations

from datetime import datetime

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.ids import SourceId
from mycel.domain.memory import MadeBy, Memory
from mycel.domain.source import Source
from mycel.stores.sqlite.clauses import visible
from mycel.stores.sqlite.rows import columns_of, memory_from, micros, moment
from mycel.stores.sqlite.sources import SAME_DOCUMENT, document_values


def read_progress(connection: apsw.Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM progress WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else row[0]


def set_progress(connection: apsw.Connection, name: str, value: int) -> None:
    connection.execute("INSERT OR REPLACE INTO progress VALUES (?, ?)", (name, value))


def changed_memories(connection: apsw.Connection, *, after: int, limit: int) -> tuple[list[int], int]:
    rows = connection.execute(
        """
        SELECT c.sequence, m.number FROM changes c LEFT JOIN memories m ON m.id = c.memory_id
        WHERE c.sequence > ? ORDER BY c.sequence LIMIT ?""",
        (after, limit),
    ).fetchall()
    numbers = dict.fromkeys(number for _, number in rows if number is not None)
    return list(numbers), rows[-1][0] if rows else after


def first_change_after(connection: apsw.Connection, sequence: int) -> datetime | None:
    sql = "SELECT committed_at FROM changes WHERE sequence > ? ORDER BY sequence LIMIT 1"
    row = connection.execute(sql, (sequence,)).fetchone()
    return None if row is None else moment(row[0])


def list_expired(connection: apsw.Connection, scope: ReadScope, *, now: datetime, limit: int) -> list[Memory]:
    """The condition is that of the index, word for word. What the ledger counts leaves with the ledger."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.expires_at <= :now AND m.status <> 'archived' AND m.deleted_at IS NULL
          AND m.made_by <> 'task_completion' AND {seen}
          AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.number = m.number AND e.ledger <> 'out')
        ORDER BY m.expires_at LIMIT :limit"""
    rows = connection.execute(sql, {**values, "now": micros(now), "limit": limit})
    return [memory_from(row, scope.team) for row in rows]


def list_forgotten(connection: apsw.Connection, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE (m.deleted_at <= :before OR (m.status = 'archived' AND ifnull(m.clock_at, m.valid_from) <= :before))
          AND {seen}
        ORDER BY m.number LIMIT :limit"""
    rows = connection.execute(sql, {**values, "before": micros(before), "limit": limit})
    return [memory_from(row, scope.team) for row in rows]


def find_made(connection: apsw.Connection, scope: ReadScope, source_id: SourceId, made_by: MadeBy) -> Memory | None:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.source_id = :source AND m.made_by = :made_by AND m.deleted_at IS NULL AND {seen}
        ORDER BY m.number LIMIT 1"""
    row = connection.execute(sql, {**values, "source": source_id, "made_by": made_by}).fetchone()
    return None if row is None else memory_from(row, scope.team)


def list_made(connection: apsw.Connection, scope: ReadScope, source_id: SourceId) -> list[Memory]:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.source_id = :source AND m.deleted_at IS NULL AND {seen} ORDER BY m.number"""
    return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, "source": source_id})]


def list_settled(connection: apsw.Connection, scope: ReadScope, *, limit: int) -> list[Memory]:
    """The condition on the metadata is that of the index, word for word."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE instr(m.metadata, '"mycel_contested"') > 0 AND m.deleted_at IS NULL AND {seen} AND NOT EXISTS (
          SELECT 1 FROM memories o WHERE o.deleted_at IS NULL AND o.status IN ('active', 'inbox') AND o.id IN (
            SELECT to_id FROM memory_links WHERE from_id = m.id AND relation = 'contradicts'
            UNION ALL SELECT from_id FROM memory_links WHERE to_id = m.id AND relation = 'contradicts')
          AND o.visibility = m.visibility AND o.allowed_roles IS m.allowed_roles
          AND (o.visibility = 'team' OR o.agent_id = m.agent_id))
        ORDER BY m.number LIMIT :limit"""
    return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, "limit": limit})]


def list_indexed(connection: apsw.Connection, scope: ReadScope, source: Source, *, shared: bool) -> list[Memory]:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM sources s CROSS JOIN memories m ON m.source_id = s.id
        WHERE {SAME_DOCUMENT} AND s.id <> :id AND m.made_by = 'file_index' AND m.deleted_at IS NULL
          AND m.status = 'active' AND m.visibility = :visibility AND m.allowed_roles IS :roles
          AND (m.agent_id = :author OR :shared) AND {seen}
        ORDER BY m.number"""
    bound = {**values, **document_values(source, shared=shared), "id": source.id}
    return [memory_from(row, scope.team) for row in connection.execute(sql, bound)]
