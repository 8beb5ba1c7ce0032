"""The change log: written with every change, and read as one reader may see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from mycel.access.scope import ReadScope
from mycel.access.visible_change import told
from mycel.domain.change import AuditFilter, Change, ChangeFilter, LogEntry, Operation, Sighting, Today, sighting_of
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import Statement
from mycel.stores.sql.part import Part, Session, WriteSession, query
from mycel.stores.sql.rows import Row, audience_from, memory_type, micros, moment, packed_roles

# How many log rows are looked at between two answers, however few of them the reader may see.
SCAN_ROWS = 2000

_SIGHTING = ("visibility", "agent_id", "allowed_roles", "path", "type", "project_id")
_LOG_COLUMNS = (
    *("operation", "memory_id", "version", "changed_by", "committed_at", "other_id"),
    *_SIGHTING,
    *(f"old_{name}" for name in _SIGHTING),
)
INSERT = Statement(
    6,
    f"INSERT INTO changes ({', '.join(_LOG_COLUMNS)}) VALUES ",
    f"({', '.join('?' * len(_LOG_COLUMNS))})",
)
_OPERATION = {item.value: item for item in Operation}
# What was purged has no row of its own any more: its purge says who could read it.
_READ = f"""
    SELECT c.sequence, {", ".join(f"c.{name}" for name in _LOG_COLUMNS)},
      CASE WHEN m.id IS NULL THEN p.visibility ELSE m.visibility END,
      CASE WHEN m.id IS NULL THEN p.agent_id ELSE m.agent_id END,
      CASE WHEN m.id IS NULL THEN p.allowed_roles ELSE m.allowed_roles END,
      o.visibility, o.agent_id, o.allowed_roles
    FROM changes c
    LEFT JOIN memories m ON m.id = c.memory_id
    LEFT JOIN memories o ON o.id = c.other_id
    LEFT JOIN changes p ON m.id IS NULL
      AND p.sequence = (SELECT max(sequence) FROM changes WHERE memory_id = c.memory_id AND operation = 'purge')"""
_READ_AFTER = f"{_READ} WHERE c.sequence > ? ORDER BY c.sequence LIMIT ?"


class SqlLog(Part):
    """See `contracts.store.LogReads`."""

    def __init__(self, session: Session, pause: Callable[[float], object]) -> None:
        """`pause` ends when its seconds are over, or earlier when it is worth looking again."""
        super().__init__(session)
        self._pause = pause

    def wait(self, *, after: int, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while self.last_sequence() <= after:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._pause(left)
        return True

    @query
    def changes(
        self, connection: Connection, scope: ReadScope, *, after: int, wanted: ChangeFilter, limit: int
    ) -> tuple[list[Change], int]:
        """Changes in order, and the sequence up to which the log was looked at."""
        found: list[Change] = []
        reached = after
        for entry, today in _entries(connection, after=after, rows=SCAN_ROWS):
            change = told(entry, today, scope, wanted)
            if change is not None:
                found.append(change)
            reached = entry.change.sequence
            if len(found) == limit:
                break
        return found, reached

    @query
    def latest(
        self, connection: Connection, scope: ReadScope, *, before: int | None, wanted: AuditFilter, limit: int
    ) -> tuple[list[Change], int | None]:
        where, values = _audited(wanted, before)
        found: list[Change] = []
        looked_at = 0
        reached: int | None = None
        sql = f"{_READ} WHERE {where} ORDER BY c.sequence DESC LIMIT ?"
        for row in connection.execute(sql, (*values, SCAN_ROWS)):
            if len(found) == limit:
                return found, reached
            entry, today = _entry(row)
            looked_at, reached = looked_at + 1, entry.change.sequence
            change = told(entry, today, scope, ChangeFilter())
            if change is not None and wanted.operation in (None, change.operation):
                found.append(change)
        return found, reached if looked_at == SCAN_ROWS else None

    @query
    def read(self, connection: Connection, *, after: int, limit: int) -> list[tuple[LogEntry, Today]]:
        return list(_entries(connection, after=after, rows=limit))

    @query
    def last_sequence(self, connection: Connection) -> int:
        return connection.execute("SELECT coalesce(max(sequence), 0) FROM changes").fetchone()[0]

    @query
    def first_moment_after(self, connection: Connection, sequence: int) -> datetime | None:
        sql = "SELECT committed_at FROM changes WHERE sequence > ? ORDER BY sequence LIMIT 1"
        row = connection.execute(sql, (sequence,)).fetchone()
        return None if row is None else moment(row[0])

    @query
    def changed_memories(self, connection: Connection, *, after: int, limit: int) -> tuple[list[int], int]:
        rows = connection.execute(
            """
            SELECT c.sequence, m.number FROM changes c LEFT JOIN memories m ON m.id = c.memory_id
            WHERE c.sequence > ? ORDER BY c.sequence LIMIT ?""",
            (after, limit),
        ).fetchall()
        numbers = dict.fromkeys(number for _, number in rows if number is not None)
        return list(numbers), rows[-1][0] if rows else after


def log_change(
    batch: WriteSession,
    operation: Operation,
    memory: Memory,
    *,
    by: MemberId,
    before: Memory | None = None,
    other_id: str | None = None,
) -> None:
    """Old places and readers are kept only where any differs: most changes move nothing out of sight."""
    now, then = sighting_of(memory), None if before is None else sighting_of(before)
    batch.later.add(
        INSERT,
        (
            *(operation, memory.id, memory.version, by, batch.committed_micros, other_id),
            *_sighting_row(now),
            *(_NO_SIGHTING if then is None or then == now else _sighting_row(then)),
        ),
    )


def log_created(batch: WriteSession, memories: Sequence[Memory], *, by: MemberId) -> None:
    at, created = batch.committed_micros, Operation.CREATE
    batch.later.add(
        INSERT,
        *[
            (created, one.id, one.version, by, at, None, *_sighting_row(sighting_of(one)), *_NO_SIGHTING)
            for one in memories
        ],
    )


def _entries(connection: Connection, *, after: int, rows: int) -> Iterator[tuple[LogEntry, Today]]:
    for row in connection.execute(_READ_AFTER, (after, rows)):
        yield _entry(row)


def _entry(row: Row) -> tuple[LogEntry, Today]:
    sequence, operation, memory_id, version, changed_by, committed_at, other_id = row[:7]
    now = _sighting(*row[7:13])
    change = Change(
        sequence=sequence,
        operation=_OPERATION[operation],
        memory_id=MemoryId(memory_id),
        path=now.path,
        version=version,
        changed_by=MemberId(changed_by),
        committed_at=moment(committed_at),
        other_id=other_id,
    )
    before = None if row[13] is None else _sighting(*row[13:19])
    today = Today(
        None if row[19] is None else audience_from(*row[19:22]),
        None if row[22] is None else audience_from(*row[22:25]),
    )
    return LogEntry(change, now, before), today


def _audited(wanted: AuditFilter, before: int | None) -> tuple[str, list[object]]:
    """A removal is no stored operation: it is one reader's view of another."""
    stored = None if wanted.operation is Operation.REMOVE else wanted.operation
    conditions: list[tuple[str, object]] = [
        ("c.sequence < ?", before),
        ("c.changed_by = ?", wanted.by),
        ("c.operation = ?", None if stored is None else stored.value),
        ("c.memory_id = ?", wanted.memory_id),
        ("c.committed_at >= ?", None if wanted.since is None else micros(wanted.since)),
        ("c.committed_at < ?", None if wanted.until is None else micros(wanted.until)),
    ]
    given = [(sql, value) for sql, value in conditions if value is not None]
    return " AND ".join(sql for sql, _ in given) or "1 = 1", [value for _, value in given]


_NO_SIGHTING = (None,) * len(_SIGHTING)


def _sighting_row(seen: Sighting) -> Row:
    who = seen.audience
    roles = packed_roles(who.allowed_roles) if who.allowed_roles else None
    return who.visibility, who.agent_id, roles, seen.path, seen.type, seen.project_id


# Most entries of a team stand in few places and are for the same readers; what is kept of them then shares these.
@lru_cache(maxsize=4096)
def _sighting(
    visibility: str, agent_id: str, allowed_roles: str | None, path: str, type: str | None, project_id: str | None
) -> Sighting:
    return Sighting(audience_from(visibility, agent_id, allowed_roles), path, memory_type(type), project_id)
