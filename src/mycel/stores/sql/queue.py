"""Ingestion events as a queue: claimed under a lease, extended while worked on, settled by whoever holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from mycel.access.scope import ReadScope
from mycel.contracts.engine_store import LeaseLost
from mycel.domain.ids import EventId, MemberId, SourceId
from mycel.domain.memory import Scope
from mycel.domain.query import Page
from mycel.domain.source import EventState, IngestionEvent, Step, Trigger
from mycel.domain.team import ENGINE
from mycel.stores.sql.clauses import Clause
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, micros_or_none, moment, moment_or_none
from mycel.stores.sql.sources import in_sight, out_of_sight
from mycel.stores.sql.statements import upsert

COLUMNS = (
    "id", "trigger", "source_id", "scope", "agent_id", "steps", "state", "tries", "takeovers", "outcome", "error",
    "created_at", "updated_at", "due_at", "lease", "lease_until",
)  # fmt: skip
EVENT = ", ".join(f"e.{name}" for name in COLUMNS)
_INSERT = f"INSERT INTO ingestion_events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_REPLACE = f"UPDATE ingestion_events SET {', '.join(f'{name} = ?' for name in COLUMNS[1:])} WHERE id = ?"
# What was last touched so long after now was so by a clock that has been set back since: what it says tells nothing.
CLOCK_SLACK = timedelta(minutes=1)
_AHEAD = "updated_at > :ahead"
# Searches with an index each: an OR of them would read every event there ever was.
_NEXT = f"""
    SELECT id FROM (
      SELECT id, due_at AS due FROM ingestion_events
      WHERE state IN ('pending', 'failed') AND due_at <= :now
      UNION ALL
      SELECT id, due_at FROM ingestion_events
      WHERE state IN ('pending', 'failed') AND due_at > :ahead AND {_AHEAD}
      UNION ALL
      SELECT id, lease_until FROM ingestion_events WHERE state = 'running' AND lease_until <= :now)
    ORDER BY due LIMIT 1"""
# Whoever is alive extends it; from whoever is not, it can be taken by and by.
_SHORTEN = f"""
    UPDATE ingestion_events SET lease_until = :until, updated_at = :now
    WHERE state = 'running' AND lease_until > :ahead AND {_AHEAD}"""
_NEXT_DUE = f"""
    SELECT min(due) FROM (
      SELECT min(due_at) AS due FROM ingestion_events WHERE state IN ('pending', 'failed')
      UNION ALL SELECT min(lease_until) FROM ingestion_events WHERE state = 'running'
      UNION ALL SELECT :now FROM ingestion_events
        WHERE state IN ('pending', 'failed') AND due_at > :ahead AND {_AHEAD}
      UNION ALL SELECT :now FROM ingestion_events WHERE state = 'running' AND lease_until > :ahead AND {_AHEAD})"""
_PUT_PROGRESS = upsert("progress", ("name",), ("value",))


def claim_statement(next: str) -> str:
    """Takes the event that `next` finds."""
    return f"""
    UPDATE ingestion_events AS e SET takeovers = e.takeovers + CASE e.state WHEN 'running' THEN 1 ELSE 0 END,
      state = 'running', lease = :lease, lease_until = :until, updated_at = :now
    WHERE e.id = ({next}) RETURNING {", ".join(COLUMNS)}"""


class SqlQueue(Part):
    """See `contracts.engine_store.QueueReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: EventId) -> IngestionEvent | None:
        seen, values = _in_sight(scope)
        sql = f"SELECT {EVENT} FROM ingestion_events e WHERE e.id = :id AND {seen}"
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return None if row is None else event_from(row)

    @query
    def find_latest(self, connection: Connection, source_id: SourceId) -> IngestionEvent | None:
        sql = f"SELECT {EVENT} FROM ingestion_events e WHERE e.source_id = ? ORDER BY e.id DESC LIMIT 1"
        row = connection.execute(sql, (source_id,)).fetchone()
        return None if row is None else event_from(row)

    @query
    def find_waiting(self, connection: Connection, source_id: SourceId | None, step: Step) -> IngestionEvent | None:
        """The event of a source (or the one without any) that is still to do this step."""
        sql = f"""
            SELECT {EVENT} FROM ingestion_events e
            WHERE e.source_id IS ? AND e.state IN ('pending', 'failed', 'running')
              AND instr(' ' || e.steps || ' ', ?) > 0 ORDER BY e.id DESC LIMIT 1"""
        row = connection.execute(sql, (source_id, f" {step} ")).fetchone()
        return None if row is None else event_from(row)

    @query
    def page(
        self,
        connection: Connection,
        scope: ReadScope,
        *,
        state: EventState | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> Page[IngestionEvent]:
        """Newest first."""
        seen, values = _in_sight(scope)
        wanted = "" if state is None else "AND e.state = :state"
        wanted += "" if cursor is None else " AND e.id < :cursor"
        sql = f"""
            SELECT {EVENT} FROM ingestion_events e
            WHERE {seen} {wanted}
            ORDER BY e.id DESC LIMIT :limit"""
        rows = connection.execute(sql, {**values, "state": state, "cursor": cursor, "limit": limit + 1}).fetchall()
        found = [event_from(row) for row in rows[:limit]]
        return Page(found, found[-1].id if len(rows) > limit else None)

    @query
    def count(self, connection: Connection, scope: ReadScope) -> Mapping[str, int]:
        """The counters less what is out of sight; looking at each event's source would take a hundred times as long."""
        sourceless, values = _seen_without_source(scope)
        counts = Counter[str]()
        sql = f"SELECT e.state, e.events FROM event_counts e WHERE e.agent_id = '' OR {sourceless} ORDER BY e.state"
        for state, count in connection.execute(sql, values):
            counts[state] += count
        if not scope.everything:
            hidden, values = out_of_sight(scope)
            sql = f"""
                SELECT e.state, count(*) FROM ({hidden}) h CROSS JOIN ingestion_events e ON e.source_id = h.id
                GROUP BY e.state"""
            counts.subtract(dict(connection.execute(sql, values)))
        return {state: count for state, count in counts.items() if count}

    @query
    def next_due(self, connection: Connection) -> datetime | None:
        """When the next event can be claimed, as far as is known now."""
        return moment_or_none(connection.execute(_NEXT_DUE, _present(self.session.now)).fetchone()[0])

    @query
    def gave_up_since(self, connection: Connection, step: Step, moment: datetime) -> bool:
        sql = """
            SELECT 1 FROM ingestion_events
            WHERE source_id IS NULL AND state = 'dead' AND steps = ? AND updated_at BETWEEN ? AND ?"""
        return (
            connection.execute(sql, (step, micros(moment), micros(self.session.now + CLOCK_SLACK))).fetchone()
            is not None
        )

    @query
    def progress(self, connection: Connection, name: str) -> int:
        row = connection.execute("SELECT value FROM progress WHERE name = ?", (name,)).fetchone()
        return 0 if row is None else row[0]


class QueueWriter(SqlQueue):
    """See `contracts.engine_store.QueueWrites`."""

    claim_next = claim_statement(_NEXT)

    @query
    def add(self, connection: Connection, event: IngestionEvent) -> None:
        connection.execute(_INSERT, _row(event))

    @query
    def replace(self, connection: Connection, event: IngestionEvent) -> None:
        connection.execute(_REPLACE, (*_row(event)[1:], event.id))

    @query
    def claim(self, connection: Connection, *, lease: str, until: datetime) -> IngestionEvent | None:
        values = {"lease": lease, "until": micros(until), **_present(self.session.now)}
        connection.execute(_SHORTEN, values)
        row = connection.execute(self.claim_next, values).fetchone()
        return None if row is None else event_from(row)

    @query
    def extend_lease(self, connection: Connection, event: IngestionEvent, *, until: datetime) -> bool:
        sql = """
            UPDATE ingestion_events SET lease_until = ?, updated_at = ?
            WHERE id = ? AND state = 'running' AND lease = ? RETURNING 1"""
        values = (micros(until), micros(self.session.now), event.id, event.lease)
        return connection.execute(sql, values).fetchone() is not None

    @query
    def require_lease(self, connection: Connection, event: IngestionEvent) -> None:
        sql = "SELECT 1 FROM ingestion_events WHERE id = ? AND state = 'running' AND lease = ?"
        if connection.execute(sql, (event.id, event.lease)).fetchone() is None:
            raise LeaseLost("another worker has taken this event over")

    @query
    def set_progress(self, connection: Connection, name: str, value: int) -> None:
        connection.execute(_PUT_PROGRESS, (name, value))


def _present(now: datetime) -> dict[str, int]:
    return {"now": micros(now), "ahead": micros(now + CLOCK_SLACK)}


def _in_sight(scope: ReadScope) -> Clause:
    """An event follows its source, or its author when it has none; the engine's own are for admins."""
    seen, values = in_sight(scope)
    sourceless, more = _seen_without_source(scope)
    return (
        f"""CASE WHEN e.source_id IS NULL THEN {sourceless}
          ELSE EXISTS (SELECT 1 FROM sources s WHERE s.id = e.source_id AND {seen}) END""",
        {**values, **more},
    )


def _seen_without_source(scope: ReadScope) -> Clause:
    return (
        "(e.agent_id IS :member OR (:admin AND e.agent_id = :engine) OR :everything)",
        {
            "member": scope.member_id,
            "admin": scope.every_role,
            "engine": ENGINE,
            "everything": scope.everything,
        },
    )


def every_event(connection: Connection, scope: ReadScope) -> Iterator[IngestionEvent]:
    """Oldest first."""
    seen, values = _in_sight(scope)
    for row in connection.execute(f"SELECT {EVENT} FROM ingestion_events e WHERE {seen} ORDER BY e.id", values):
        yield event_from(row)


def _row(event: IngestionEvent) -> tuple[Any, ...]:
    return (
        event.id,
        event.trigger,
        event.source_id,
        event.scope,
        event.agent_id,
        " ".join(event.steps),
        event.state,
        event.tries,
        event.takeovers,
        event.outcome,
        event.error,
        micros(event.created_at),
        micros(event.updated_at),
        micros_or_none(event.due_at),
        event.lease,
        micros_or_none(event.lease_until),
    )


def event_from(row: tuple[Any, ...]) -> IngestionEvent:
    return IngestionEvent(
        id=EventId(row[0]),
        trigger=Trigger(row[1]),
        source_id=row[2],
        scope=Scope(row[3]),
        agent_id=MemberId(row[4]),
        steps=tuple(Step(step) for step in row[5].split()),
        state=EventState(row[6]),
        tries=row[7],
        takeovers=row[8],
        outcome=row[9],
        error=row[10],
        created_at=moment(row[11]),
        updated_at=moment(row[12]),
        due_at=moment_or_none(row[13]),
        lease=row[14],
        lease_until=moment_or_none(row[15]),
    )
