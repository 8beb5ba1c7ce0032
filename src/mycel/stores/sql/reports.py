"""Reports of consolidation, and what is needed to undo one."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from mycel.access.scope import ReadScope
from mycel.contracts.engine_store import Footprint
from mycel.domain.ids import MemberId, MemoryId, ReportId
from mycel.domain.link import Relation
from mycel.domain.query import Page
from mycel.domain.report import Action, ActionKind, Report
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, micros_or_none, moment, moment_or_none, packed

_REPORT = "r.id, r.made_by, r.made_at, r.undone_by, r.undone_at, r.kept"


class SqlReports(Part):
    """See `contracts.engine_store.ReportReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: ReportId) -> Report | None:
        """With the actions on what the reader sees; None when that is nothing and the run was not the reader's own."""
        row = connection.execute(f"SELECT {_REPORT} FROM reports r WHERE r.id = ?", (id,)).fetchone()
        return None if row is None else _report(connection, scope, row)

    @query
    def page(self, connection: Connection, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Report]:
        """Newest first."""
        seen, values = visible(scope)
        before = "" if cursor is None else "r.id < :cursor AND"
        sql = f"""
            SELECT {_REPORT} FROM reports r
            WHERE {before} (r.made_by IS :reader OR EXISTS (
              SELECT 1 FROM report_actions a JOIN memories m ON m.id = a.memory_id WHERE a.report_id = r.id AND {seen}))
            ORDER BY r.id DESC LIMIT :limit"""
        rows = connection.execute(sql, {**values, "cursor": cursor, "limit": limit + 1}).fetchall()
        found = [report for row in rows[:limit] if (report := _report(connection, scope, row))]
        return Page(found, rows[limit - 1][0] if len(rows) > limit else None)

    @query
    def undone_actions(
        self, connection: Connection, ids: Collection[MemoryId]
    ) -> set[tuple[ActionKind, MemoryId, MemoryId | None]]:
        sql = """
            SELECT a.kind, a.memory_id, a.other_id FROM json_each(?) n JOIN report_actions a ON a.memory_id = n.value
            JOIN reports r ON r.id = a.report_id WHERE r.undone_at IS NOT NULL"""
        rows = connection.execute(sql, (json.dumps(list(ids)),))
        return {
            (ActionKind(kind), MemoryId(id), None if other is None else MemoryId(other)) for kind, id, other in rows
        }

    @query
    def partners(self, connection: Connection, id: MemoryId, *, since: datetime) -> list[tuple[ReportId, MemoryId]]:
        sql = """
            SELECT r.id, CASE a.memory_id WHEN :id THEN a.other_id ELSE a.memory_id END AS other
            FROM report_actions a JOIN reports r ON r.id = a.report_id
            WHERE (a.memory_id = :id OR a.other_id = :id) AND a.other_id IS NOT NULL
              AND r.made_at >= :since AND r.undone_at IS NULL
            ORDER BY r.id, a.position"""
        rows = connection.execute(sql, {"id": id, "since": micros(since)})
        return [(ReportId(report), MemoryId(other)) for report, other in rows]

    @query
    def change_of(self, connection: Connection, id: ReportId, memory_id: MemoryId) -> tuple[int, int] | None:
        sql = "SELECT before_version, after_version FROM report_changes WHERE report_id = ? AND memory_id = ?"
        return connection.execute(sql, (id, memory_id)).fetchone()


class ReportWriter(SqlReports):
    """See `contracts.engine_store.ReportWrites`."""

    @query
    def add(self, connection: Connection, report: Report, footprint: Footprint) -> None:
        connection.execute(
            "INSERT INTO reports (id, made_by, made_at, kept) VALUES (?, ?, ?, ?)",
            (report.id, report.made_by, micros(report.made_at), packed(report.left) if report.left else None),
        )
        connection.executemany(
            "INSERT INTO report_actions VALUES (?, ?, ?, ?, ?, ?)",
            [
                (report.id, position, action.kind, action.memory_id, action.other_id, action.why)
                for position, action in enumerate(report.actions)
            ],
        )
        connection.executemany(
            "INSERT INTO report_changes VALUES (?, ?, ?, ?)", [(report.id, *change) for change in footprint.changed]
        )
        connection.executemany(
            "INSERT INTO report_links VALUES (?, ?, ?, ?)", [(report.id, *link) for link in footprint.linked]
        )

    @query
    def find_footprint(self, connection: Connection, id: ReportId) -> Footprint:
        changed = connection.execute(
            "SELECT memory_id, before_version, after_version FROM report_changes WHERE report_id = ?", (id,)
        ).fetchall()
        linked = connection.execute("SELECT from_id, to_id, relation FROM report_links WHERE report_id = ?", (id,))
        return Footprint(
            changed=tuple((MemoryId(memory_id), before, after) for memory_id, before, after in changed),
            linked=tuple((MemoryId(start), MemoryId(end), Relation(relation)) for start, end, relation in linked),
        )

    @query
    def mark_undone(self, connection: Connection, report: Report) -> None:
        connection.execute(
            "UPDATE reports SET undone_by = ?, undone_at = ?, kept = ? WHERE id = ?",
            (report.undone_by, micros_or_none(report.undone_at), packed(report.left), report.id),
        )


def _report(connection: Connection, scope: ReadScope, row: tuple[Any, ...]) -> Report | None:
    actions = _actions(connection, scope, ReportId(row[0]))
    if not actions and row[1] != scope.member_id:
        return None
    return Report(
        id=ReportId(row[0]),
        actions=actions,
        dry_run=False,
        made_by=MemberId(row[1]),
        made_at=moment(row[2]),
        undone_by=row[3],
        undone_at=moment_or_none(row[4]),
        left=_in_sight(connection, scope, row[5]),
    )


def _in_sight(connection: Connection, scope: ReadScope, ids: str | None) -> tuple[MemoryId, ...]:
    seen, values = visible(scope)
    sql = f"SELECT m.id FROM json_each(:ids) n JOIN memories m ON m.id = n.value WHERE {seen} ORDER BY m.id"
    return tuple(MemoryId(id) for (id,) in connection.execute(sql, {**values, "ids": ids or "[]"}))


def _actions(connection: Connection, scope: ReadScope, id: ReportId) -> tuple[Action, ...]:
    seen, values = visible(scope)
    other_seen, _ = visible(scope, "o")
    sql = f"""
        SELECT a.kind, a.memory_id, a.other_id, a.why FROM report_actions a JOIN memories m ON m.id = a.memory_id
        LEFT JOIN memories o ON o.id = a.other_id
        WHERE a.report_id = :id AND {seen} AND (a.other_id IS NULL OR {other_seen}) ORDER BY a.position"""
    return tuple(
        Action(
            kind=ActionKind(kind),
            memory_id=MemoryId(memory_id),
            other_id=None if other_id is None else MemoryId(other_id),
            why=why,
        )
        for kind, memory_id, other_id, why in connection.execute(sql, {**values, "id": id})
    )
