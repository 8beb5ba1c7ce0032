"""The change log as one reader may see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.change import Audience, Change, Operation, audience_of
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory
from mycel.stores.sqlite.clauses import visible
from mycel.stores.sqlite.rows import audience_from, micros, moment, packed_roles

# How many log rows are looked at between two answers, however few of them the reader may see.
SCAN_ROWS = 2000


def last_sequence(connection: apsw.Connection) -> int:
    return connection.execute("SELECT ifnull(max(sequence), 0) FROM changes").fetchone()[0]


def entry(
    operation: Operation, memory: Memory, *, by: MemberId, at: datetime, before: Memory | None, other_id: str | None
) -> tuple[object, ...]:
    """Old values are stored only where they differ: most changes move nothing out of sight."""
    moved = before is not None and before.path != memory.path
    hidden = before is not None and audience_of(before) != audience_of(memory)
    old = before if before is not None and (moved or hidden) else None
    return (
        operation,
        memory.id,
        memory.version,
        by,
        micros(at),
        memory.path,
        memory.visibility,
        memory.agent_id,
        packed_roles(memory.allowed_roles),
        old.path if old else None,
        old.visibility if old else None,
        old.agent_id if old else None,
        packed_roles(old.allowed_roles) if old else None,
        other_id,
    )


def read_changes(
    connection: apsw.Connection, scope: ReadScope, *, after: int, path: str, limit: int
) -> tuple[list[Change], int]:
    """Changes in order, and the sequence up to which the log was looked at."""
    seen, values = visible(scope)
    sql = f"""
        SELECT c.sequence, c.operation, c.memory_id, c.version, c.changed_by, c.committed_at, c.path,
          c.visibility, c.agent_id, c.allowed_roles,
          c.old_path, c.old_visibility, c.old_agent_id, c.old_allowed_roles, c.other_id,
          EXISTS (SELECT 1 FROM memories m WHERE m.id = c.memory_id AND {seen})
            OR EXISTS (SELECT 1 FROM changes m WHERE m.memory_id = c.memory_id AND m.operation = 'purge' AND {seen}),
          c.other_id IS NULL OR c.other_id LIKE 'project:%' OR c.other_id LIKE 'repo:%'
            OR EXISTS (SELECT 1 FROM memories m WHERE m.id = c.other_id AND {seen})
        FROM changes c WHERE c.sequence > :after ORDER BY c.sequence LIMIT :rows"""
    found: list[Change] = []
    reached = after
    for row in connection.execute(sql, {**values, "after": after, "rows": SCAN_ROWS}):
        change = _as_seen(row, scope, path)
        if change is not None:
            found.append(change)
        reached = row[0]
        if len(found) == limit:
            break
    return found, reached


def _as_seen(row: tuple[Any, ...], scope: ReadScope, path: str) -> Change | None:
    """None, the change itself, or a removal when the memory left the reader's sight or path with it."""
    readable_today, other_readable = row[15], row[16]
    if not other_readable:
        return None
    now_here = scope.sees(audience_from(*row[7:10])) and _below(row[6], path)
    if now_here:
        return _change(row, Operation(row[1]), row[6]) if readable_today else None
    before = _old_audience(row)
    if before is not None and scope.sees(before) and _below(row[10] or row[6], path):
        return _change(row, Operation.REMOVE, row[10] or row[6])
    return None


def _old_audience(row: tuple[Any, ...]) -> Audience | None:
    return None if row[11] is None else audience_from(*row[11:14])


def _below(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(f"{folder}/")


def _change(row: tuple[Any, ...], operation: Operation, path: str) -> Change:
    return Change(
        sequence=row[0],
        operation=operation,
        memory_id=MemoryId(row[2]),
        path=path,
        version=row[3],
        changed_by=MemberId(row[4]),
        committed_at=moment(row[5]),
        other_id=row[14],
    )
