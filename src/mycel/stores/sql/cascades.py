"""What a team sends to others, and how far that has come."""

from __future__ import annotations

from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.cascade import Cascade, Delivery, Direction
from mycel.domain.ids import EventId, MemberId, MemoryId, TeamName
from mycel.domain.query import Page
from mycel.domain.source import IngestionEvent
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.queue import EVENT, event_from
from mycel.stores.sql.rows import micros, micros_or_none, moment, moment_or_none
from mycel.stores.sql.statements import upsert

_PUT = upsert("cascades", ("memory_id",), ("event_id", "direction", "started_by", "started_at", "withdrawn_at"))
_PUT_DELIVERY = upsert("deliveries", ("memory_id", "team"), ("version", "delivered_at"))
_CASCADE = "c.memory_id, c.event_id, c.direction, c.started_by, c.started_at, c.withdrawn_at"


class SqlCascades(Part):
    """See `contracts.engine_store.CascadeReads`."""

    @query
    def find(
        self, connection: Connection, *, memory_id: MemoryId | None = None, event_id: EventId | None = None
    ) -> Cascade | None:
        column, id = ("memory_id", memory_id) if memory_id is not None else ("event_id", event_id)
        row = connection.execute(f"SELECT {_CASCADE} FROM cascades c WHERE c.{column} = ?", (id,)).fetchone()
        return None if row is None else _cascade(row)

    @query
    def page(self, connection: Connection, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Cascade]:
        """Those that stand, newest first; the last one seen is the cursor, also when it was withdrawn meanwhile."""
        seen, values = visible(scope)
        last = "SELECT started_at, memory_id FROM cascades WHERE memory_id = :cursor"
        before = "" if cursor is None else f"AND (c.started_at, c.memory_id) < ({last})"
        sql = f"""
            SELECT {_CASCADE} FROM cascades c JOIN memories m ON m.id = c.memory_id
            WHERE c.withdrawn_at IS NULL AND m.deleted_at IS NULL AND {seen} {before}
            ORDER BY c.started_at DESC, c.memory_id DESC LIMIT :limit"""
        rows = connection.execute(sql, {**values, "cursor": cursor, "limit": limit + 1}).fetchall()
        found = [_cascade(row) for row in rows[:limit]]
        return Page(found, found[-1].memory_id if len(rows) > limit else None)

    @query
    def deliveries(self, connection: Connection, memory_id: MemoryId) -> list[Delivery]:
        sql = "SELECT team, version, delivered_at FROM deliveries WHERE memory_id = ? ORDER BY team"
        rows = connection.execute(sql, (memory_id,))
        return [Delivery(TeamName(team), version, moment(at)) for team, version, at in rows]


class CascadeWriter(SqlCascades):
    """See `contracts.engine_store.CascadeWrites`."""

    @query
    def put(self, connection: Connection, cascade: Cascade) -> None:
        connection.execute(
            _PUT,
            (
                cascade.memory_id,
                cascade.event_id,
                cascade.direction,
                cascade.started_by,
                micros(cascade.started_at),
                micros_or_none(cascade.withdrawn_at),
            ),
        )

    @query
    def put_delivery(self, connection: Connection, memory_id: MemoryId, delivery: Delivery) -> None:
        connection.execute(
            _PUT_DELIVERY,
            (memory_id, delivery.team, delivery.version, micros(delivery.delivered_at)),
        )

    @query
    def events(self, connection: Connection) -> list[IngestionEvent]:
        sql = f"SELECT {EVENT} FROM cascades c JOIN ingestion_events e ON e.id = c.event_id ORDER BY e.id"
        return [event_from(row) for row in connection.execute(sql)]


def _cascade(row: tuple[Any, ...]) -> Cascade:
    return Cascade(
        memory_id=MemoryId(row[0]),
        event_id=EventId(row[1]),
        direction=Direction(row[2]),
        started_by=MemberId(row[3]),
        started_at=moment(row[4]),
        withdrawn_at=moment_or_none(row[5]),
    )
