"""What stands around memories: projects, repos, saved views, sources and ingestion events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.ids import EventId, MemberId, SourceId
from mycel.domain.memory import Scope, SourceKind
from mycel.domain.place import Project, Repo, SavedView
from mycel.domain.query import Page
from mycel.domain.source import EventState, IngestionEvent, Source, Trigger
from mycel.stores.sqlite.clauses import Clause, visible
from mycel.stores.sqlite.rows import (
    audience_from,
    micros,
    micros_or_none,
    moment,
    moment_or_none,
    packed_roles,
)

_SOURCE = "s.id, s.visibility, s.agent_id, s.allowed_roles, s.kind, s.session_id, s.uri, s.sha256, s.created_at, s.text"
_EVENT = (
    "e.id, e.trigger, e.source_id, e.scope, e.agent_id, e.state, e.tries, e.outcome, e.error, "
    "e.created_at, e.updated_at, e.lease_until"
)


def list_projects(connection: apsw.Connection, scope: ReadScope) -> list[Project]:
    """Those registered by hand, and those that a memory in sight mentions."""
    mentioned, values = _mentioned(scope, "project_id", than="projects")
    sql = f"SELECT name, description, created_at FROM projects UNION ALL SELECT name, NULL, at FROM ({mentioned})"
    return [Project(name, about, moment(at)) for name, about, at in connection.execute(f"{sql} ORDER BY 1", values)]


def list_repos(connection: apsw.Connection, scope: ReadScope) -> list[Repo]:
    mentioned, values = _mentioned(scope, "repo_id", than="repos")
    sql = f"""
        SELECT name, project_id, folder, remote, created_at FROM repos
        UNION ALL SELECT name, NULL, NULL, NULL, at FROM ({mentioned}) ORDER BY 1"""
    return [
        Repo(name, project, folder, remote, moment(at))
        for name, project, folder, remote, at in connection.execute(sql, values)
    ]


def _mentioned(scope: ReadScope, column: str, *, than: str) -> Clause:
    """Names that stand in memories in sight and not in the table, with the moment of the first such memory."""
    seen, values = visible(scope)
    return (
        f"""
        SELECT m.{column} AS name, min(m.created_at) AS at FROM memories m
        WHERE m.{column} IS NOT NULL AND m.deleted_at IS NULL AND {seen}
          AND m.{column} NOT IN (SELECT name FROM {than}) GROUP BY m.{column}""",
        values,
    )


def list_views(connection: apsw.Connection, scope: ReadScope) -> list[SavedView]:
    """A member's own; nobody else sees them."""
    sql = "SELECT name, query, filters, created_at FROM saved_views WHERE member_id = ? ORDER BY name"
    rows = connection.execute(sql, (scope.member_id,))
    return [SavedView(name, query, json.loads(filters), moment(at)) for name, query, filters, at in rows]


def _source_in_sight(scope: ReadScope) -> Clause:
    """A source follows its own audience and the strictest memory that came from it."""
    seen, values = visible(scope, "s")
    memory_seen, _ = visible(scope)
    return (
        f"{seen} AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.source_id = s.id AND NOT {memory_seen})",
        values,
    )


def find_source(connection: apsw.Connection, scope: ReadScope, id: SourceId) -> Source | None:
    seen, values = _source_in_sight(scope)
    sql = f"SELECT {_SOURCE} FROM sources s WHERE s.id = :id AND {seen}"
    row = connection.execute(sql, {**values, "id": id}).fetchone()
    return None if row is None else _source(row)


def list_sources(connection: apsw.Connection, scope: ReadScope, *, limit: int, cursor: str | None) -> Page[Source]:
    """Newest first; ids grow with time, so the last one seen is the cursor."""
    seen, values = _source_in_sight(scope)
    after = "AND s.id < :cursor" if cursor is not None else ""
    sql = f"SELECT {_SOURCE} FROM sources s WHERE {seen} {after} ORDER BY s.id DESC LIMIT :limit"
    rows = connection.execute(sql, {**values, "cursor": cursor, "limit": limit + 1}).fetchall()
    found = [_source(row) for row in rows[:limit]]
    return Page(found, found[-1].id if len(rows) > limit else None)


def list_events(connection: apsw.Connection, scope: ReadScope, *, limit: int) -> list[IngestionEvent]:
    """Newest first. An event follows its source, or its author when it has none."""
    seen, values = _source_in_sight(scope)
    sql = f"""
        SELECT {_EVENT} FROM ingestion_events e
        WHERE CASE WHEN e.source_id IS NULL THEN e.agent_id IS :member
          ELSE EXISTS (SELECT 1 FROM sources s WHERE s.id = e.source_id AND {seen}) END
        ORDER BY e.id DESC LIMIT :limit"""
    rows = connection.execute(sql, {**values, "member": scope.member_id, "limit": limit})
    return [_event(row) for row in rows]


def register_project(connection: apsw.Connection, project: Project) -> Project:
    row = connection.execute(
        """
        INSERT INTO projects VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET description = ifnull(excluded.description, description) RETURNING *""",
        (project.name, project.description, micros(project.created_at)),
    ).fetchone()
    return Project(row[0], row[1], moment(row[2]))


def register_repo(connection: apsw.Connection, repo: Repo) -> Repo:
    row = connection.execute(
        """
        INSERT INTO repos VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET project_id = ifnull(excluded.project_id, project_id),
          folder = ifnull(excluded.folder, folder), remote = ifnull(excluded.remote, remote) RETURNING *""",
        (repo.name, repo.project_id, repo.folder, repo.remote, micros(repo.created_at)),
    ).fetchone()
    return Repo(row[0], row[1], row[2], row[3], moment(row[4]))


def save_view(connection: apsw.Connection, member_id: MemberId, view: SavedView) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO saved_views VALUES (?, ?, ?, ?, ?)",
        (member_id, view.name, view.query, _json(view.filters), micros(view.created_at)),
    )


def delete_view(connection: apsw.Connection, member_id: MemberId, name: str) -> bool:
    connection.execute("DELETE FROM saved_views WHERE member_id = ? AND name = ?", (member_id, name))
    return connection.changes() > 0


def add_source(connection: apsw.Connection, source: Source) -> None:
    connection.execute(
        "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            source.id,
            source.visibility,
            source.agent_id,
            packed_roles(source.allowed_roles),
            source.kind,
            source.session_id,
            source.uri,
            source.sha256,
            micros(source.created_at),
            source.text,
        ),
    )


def add_event(connection: apsw.Connection, event: IngestionEvent) -> None:
    connection.execute(
        "INSERT INTO ingestion_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.id,
            event.trigger,
            event.source_id,
            event.scope,
            event.agent_id,
            event.state,
            event.tries,
            event.outcome,
            event.error,
            micros(event.created_at),
            micros(event.updated_at),
            micros_or_none(event.lease_until),
        ),
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)


def _source(row: tuple[Any, ...]) -> Source:
    audience = audience_from(row[1], row[2], row[3])
    return Source(
        id=SourceId(row[0]),
        visibility=audience.visibility,
        agent_id=audience.agent_id,
        allowed_roles=audience.allowed_roles,
        kind=SourceKind(row[4]),
        session_id=row[5],
        uri=row[6],
        sha256=row[7],
        created_at=moment(row[8]),
        text=row[9],
    )


def _event(row: tuple[Any, ...]) -> IngestionEvent:
    return IngestionEvent(
        id=EventId(row[0]),
        trigger=Trigger(row[1]),
        source_id=row[2],
        scope=Scope(row[3]),
        agent_id=MemberId(row[4]),
        state=EventState(row[5]),
        tries=row[6],
        outcome=row[7],
        error=row[8],
        created_at=moment(row[9]),
        updated_at=moment(row[10]),
        lease_until=moment_or_none(row[11]),
    )
