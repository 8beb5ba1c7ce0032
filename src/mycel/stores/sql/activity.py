"""What agents were given, and changes of what is no memory: how they are kept and read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.activity import AuditEntry, Given, Injection, Occasion, Use
from mycel.domain.ids import MemberId, MemoryId, new_id
from mycel.domain.memory import Memory
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, WritingPart, query
from mycel.stores.sql.rows import micros, moment
from mycel.stores.sql.sources import in_sight

_INJECTION = "SELECT i.id, i.member_id, i.occasion, i.given_at, i.session_id, i.task_id, i.text FROM injections i"
_ACTION = "a.id, a.operation, a.changed_by, a.changed_at, a.subject, a.before, a.after"
# The latest of each kind that the reader may know of, for the members in one JSON list.
_LAST_SEEN = """
    SELECT n.value,
      (SELECT max(recalled_at) FROM recalls WHERE member_id = n.value),
      (SELECT m.created_at FROM memories m WHERE m.agent_id = n.value AND m.status = 'active'
        AND m.deleted_at IS NULL AND {seen} ORDER BY m.created_at DESC LIMIT 1),
      (SELECT s.created_at FROM sources s WHERE s.agent_id = n.value AND {source_seen}
        ORDER BY s.created_at DESC LIMIT 1),
      (SELECT i.given_at FROM injections i WHERE i.member_id = n.value ORDER BY i.id DESC LIMIT 1)
    FROM json_each(:members) n"""
# So much of a text is enough to know it by, where it was told without its id.
_KNOWN_BY = 60


class SqlActivity(Part):
    """See `contracts.activity_store.ActivityReads`."""

    @query
    def last_seen(
        self, connection: Connection, scope: ReadScope, members: Collection[MemberId]
    ) -> Mapping[MemberId, datetime]:
        seen, values = visible(scope)
        source_seen, more = in_sight(scope)
        given = {**values, **more, "members": json.dumps(list(members))}
        rows = connection.execute(_LAST_SEEN.format(seen=seen, source_seen=source_seen), given).fetchall()
        latest = {MemberId(row[0]): [at for at in row[1:] if at is not None] for row in rows}
        return {member: moment(max(moments)) for member, moments in latest.items() if moments}

    @query
    def injections(
        self,
        connection: Connection,
        *,
        member_id: MemberId | None,
        session_id: str | None,
        before: str | None,
        limit: int,
    ) -> list[Injection]:
        asked = {"member_id": member_id, "session_id": session_id}
        given = {name: value for name, value in asked.items() if value is not None}
        wanted = [f"i.{name} = ?" for name in given] + (["i.id < ?"] if before is not None else [])
        where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
        values = (*given.values(), *([] if before is None else [before]), limit)
        rows = connection.execute(f"{_INJECTION} {where} ORDER BY i.id DESC LIMIT ?", values).fetchall()
        return [_injection(connection, row) for row in rows]

    @query
    def has_older(self, connection: Connection, before: datetime) -> bool:
        # Ids grow with time.
        row = connection.execute("SELECT given_at FROM injections ORDER BY id LIMIT 1").fetchone()
        return row is not None and row[0] < micros(before)

    @query
    def use(self, connection: Connection, scope: ReadScope, *, by_author: bool, limit: int) -> list[Use]:
        seen, values = visible(scope)
        # An expression, so that what was used is looked up, and not everything of a type gone through for it.
        named = "m.agent_id || ''" if by_author else "m.type || ''"
        sql = f"""
            SELECT {named}, count(DISTINCT used.memory_id), sum(used.reads), sum(used.useful), sum(used.useless) FROM (
              SELECT memory_id, others_count AS reads, 0 AS useful, 0 AS useless FROM memory_usage
              WHERE others_count > 0
              UNION ALL
              SELECT r.memory_id, 0, CASE WHEN r.useful THEN 1 ELSE 0 END, CASE WHEN r.useful THEN 0 ELSE 1 END
              FROM ratings r
            ) used JOIN memories m ON m.id = used.memory_id
            WHERE m.deleted_at IS NULL AND m.status = 'active' AND {seen}
            GROUP BY {named} ORDER BY 3 DESC, 1 LIMIT :limit"""
        rows = connection.execute(sql, {**values, "limit": limit}).fetchall()
        return [
            Use(name=name, memories=memories, reads=int(reads), useful=int(useful), useless=int(useless))
            for name, memories, reads, useful, useless in rows
        ]

    @query
    def given(self, connection: Connection, scope: ReadScope, memory_id: MemoryId, *, limit: int) -> list[Given]:
        seen, values = visible(scope)
        sql = f"""
            SELECT given.member_id, given.occasion, given.given_at, given.session_id, given.task_id FROM (
              SELECT i.member_id, i.occasion, i.given_at, i.session_id, i.task_id, m.memory_id
              FROM injection_memories m JOIN injections i ON i.id = m.injection_id WHERE m.memory_id = :memory
              UNION ALL
              SELECT r.member_id, 'search', r.recalled_at, NULL, NULL, h.memory_id
              FROM recall_hits h JOIN recalls r ON r.id = h.recall_id WHERE h.memory_id = :memory
            ) given JOIN memories m ON m.id = given.memory_id
            WHERE m.deleted_at IS NULL AND {seen} ORDER BY given.given_at DESC LIMIT :limit"""
        rows = connection.execute(sql, {**values, "memory": memory_id, "limit": limit}).fetchall()
        return [
            Given(
                member_id=MemberId(member), occasion=Occasion(on), given_at=moment(at), session_id=session, task_id=task
            )
            for member, on, at, session, task in rows
        ]

    @query
    def actions(
        self, connection: Connection, scope: ReadScope, *, by: MemberId | None, before: str | None, limit: int
    ) -> list[AuditEntry]:
        seen, values = visible(scope)
        wanted = f"""
            (a.own = 0 OR a.changed_by = :reader)
            AND (a.memory_id IS NULL OR EXISTS (
              SELECT 1 FROM memories m WHERE m.id = a.memory_id AND m.deleted_at IS NULL AND {seen}))"""
        wanted += "" if by is None else " AND a.changed_by = :by"
        wanted += "" if before is None else " AND a.id < :before"
        given = {**values, "reader": scope.member_id, "by": by, "before": before, "limit": limit}
        sql = f"SELECT {_ACTION} FROM actions a WHERE {wanted} ORDER BY a.id DESC LIMIT :limit"
        return [action_of(row) for row in connection.execute(sql, given).fetchall()]


class ActivityWriter(WritingPart):
    """See `contracts.activity_store.ActivityWrites`."""

    @query
    def note_injection(self, connection: Connection, injection: Injection, *, kept: int) -> None:
        connection.execute(
            """
            INSERT INTO injections (id, member_id, occasion, given_at, session_id, task_id, text)
            VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (
                injection.id,
                injection.member_id,
                injection.occasion.value,
                micros(injection.given_at),
                injection.session_id,
                injection.task_id,
                injection.text,
            ),
        )
        connection.executemany(
            "INSERT INTO injection_memories (memory_id, injection_id) VALUES (?, ?)",
            [(id, injection.id) for id in dict.fromkeys(injection.memory_ids)],
        )
        old = "SELECT id FROM injections WHERE member_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        last = connection.execute(old, (injection.member_id, kept)).fetchone()
        if last is not None:
            _forget(connection, "member_id = ? AND id <= ?", (injection.member_id, last[0]))

    @query
    def forget_injections(self, connection: Connection, *, before: datetime) -> int:
        return _forget(connection, "given_at < ?", (micros(before),))

    @query
    def note(
        self,
        connection: Connection,
        operation: str,
        *,
        by: MemberId,
        subject: str,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        memory_id: MemoryId | None = None,
        own: bool = False,
    ) -> None:
        connection.execute(
            """
            INSERT INTO actions (id, operation, changed_by, changed_at, subject, memory_id, own, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(new_id(), operation, by, micros(self.batch.now), subject, memory_id, int(own)),
                *(json.dumps(dict(value or {}), ensure_ascii=False, default=str) for value in (before, after)),
            ),
        )

    @query
    def actions_on(self, connection: Connection, memory_id: MemoryId, operation: str) -> list[AuditEntry]:
        sql = f"SELECT {_ACTION} FROM actions a WHERE a.memory_id = ? AND a.operation = ? ORDER BY a.id DESC"
        return [action_of(row) for row in connection.execute(sql, (memory_id, operation)).fetchall()]


def forget_activity_of(connection: Connection, memory: Memory) -> None:
    """What named it, and what told it without a name; and what was done about it."""
    told = " ".join(memory.content.split())[:_KNOWN_BY]
    pattern = "%" + "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in told) + "%"
    where = "id IN (SELECT injection_id FROM injection_memories WHERE memory_id = ?)"
    _forget(connection, f"{where} OR text LIKE ? ESCAPE '\\'", (memory.id, pattern))
    connection.execute("DELETE FROM actions WHERE memory_id = ?", (memory.id,))


def action_of(row: tuple[Any, ...]) -> AuditEntry:
    id, operation, by, at, subject, before, after = row
    return AuditEntry(
        id=id,
        operation=operation,
        by=MemberId(by),
        at=moment(at),
        subject=subject,
        before=json.loads(before),
        after=json.loads(after),
    )


def _forget(connection: Connection, where: str, values: tuple[Any, ...]) -> int:
    gone = connection.execute(f"SELECT id FROM injections WHERE {where}", values).fetchall()
    connection.executemany("DELETE FROM injection_memories WHERE injection_id = ?", gone)
    connection.executemany("DELETE FROM injections WHERE id = ?", gone)
    return len(gone)


def _injection(connection: Connection, row: tuple[Any, ...]) -> Injection:
    id, member, occasion, at, session, task, text = row
    named = connection.execute("SELECT memory_id FROM injection_memories WHERE injection_id = ?", (id,)).fetchall()
    return Injection(
        id=id,
        member_id=MemberId(member),
        occasion=Occasion(occasion),
        given_at=moment(at),
        session_id=session,
        task_id=task,
        text=text,
        memory_ids=tuple(MemoryId(one) for (one,) in named),
    )
