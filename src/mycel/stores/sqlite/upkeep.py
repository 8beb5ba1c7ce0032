"""What the engine needs to look after a store: what has changed, what has expired, how far it has come."""

from __future__ import annotations

from datetime import datetime

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.ids import SourceId
from mycel.domain.memory import MadeBy, Memory
from mycel.domain.source import Source
from mycel.stores.sqlite.clauses import visible
from mycel.stores.sqlite.rows import columns_of, memory_from, micros, micros_or_none, moment


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


def list_expired(
    connection: apsw.Connection, scope: ReadScope, *, now: datetime, episodes_before: datetime | None, limit: int
) -> list[Memory]:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.number IN (
            SELECT number FROM memories WHERE expires_at <= :now
            UNION SELECT number FROM memories WHERE type = 'episode' AND created_at <= :episodes)
          AND m.status <> 'archived' AND m.deleted_at IS NULL AND {seen}
        ORDER BY m.number LIMIT :limit"""
    moments = {"now": micros(now), "episodes": micros_or_none(episodes_before)}
    rows = connection.execute(sql, {**values, **moments, "limit": limit})
    return [memory_from(row, scope.team) for row in rows]


def list_forgotten(connection: apsw.Connection, scope: ReadScope, *, before: datetime, limit: int) -> list[Memory]:
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE (m.deleted_at <= :before OR (m.status = 'archived' AND m.valid_from <= :before)) AND {seen}
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


def list_settled(connection: apsw.Connection, scope: ReadScope, *, limit: int) -> list[Memory]:
    """The condition on the metadata is that of the index, word for word."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE instr(m.metadata, '"mycel_contested"') > 0 AND m.deleted_at IS NULL AND {seen} AND NOT EXISTS (
          SELECT 1 FROM memories o WHERE o.deleted_at IS NULL AND o.status IN ('active', 'inbox') AND o.id IN (
            SELECT to_id FROM memory_links WHERE from_id = m.id AND relation = 'contradicts'
            UNION ALL SELECT from_id FROM memory_links WHERE to_id = m.id AND relation = 'contradicts'))
        ORDER BY m.number LIMIT :limit"""
    return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, "limit": limit})]


def list_indexed(connection: apsw.Connection, scope: ReadScope, source: Source) -> list[Memory]:
    """Of the latest state before this one, which the same author or, where it is for the team, anybody wrote."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m")} FROM memories m
        WHERE m.made_by = 'file_index' AND m.deleted_at IS NULL AND m.status <> 'archived' AND {seen}
          AND m.source_id = (
            SELECT s.id FROM sources s WHERE s.uri = :uri AND s.visibility = :visibility AND s.id <> :id
              AND (s.visibility = 'team' OR s.agent_id = :author)
              AND EXISTS (SELECT 1 FROM memories i WHERE i.source_id = s.id AND i.made_by = 'file_index')
            ORDER BY s.id DESC LIMIT 1)
        ORDER BY m.number"""
    place = {"uri": source.uri, "visibility": source.visibility, "id": source.id, "author": source.agent_id}
    return [memory_from(row, scope.team) for row in connection.execute(sql, {**values, **place})]
