"""What stands around memories: projects, repos and saved views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.ids import MemberId
from mycel.domain.place import Project, Repo, SavedView
from mycel.stores.sql.clauses import Clause, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import micros, moment
from mycel.stores.sql.statements import upsert

_PUT_VIEW = upsert("saved_views", ("member_id", "name"), ("query", "filters", "created_at"))


class SqlPlaces(Part):
    """See `contracts.memory_store.PlaceReads`."""

    @query
    def projects(self, connection: Connection, scope: ReadScope) -> list[Project]:
        """Those registered by hand, and those that a memory in sight mentions."""
        # An expression: most memories name a project, and reading all in a row takes a third of the index's time.
        mentioned, values = _mentioned(scope, "m.project_id || ''", than="projects")
        sql = f"SELECT name, description, created_at FROM projects UNION ALL SELECT name, NULL, at FROM ({mentioned})"
        return [Project(name, about, moment(at)) for name, about, at in connection.execute(f"{sql} ORDER BY 1", values)]

    @query
    def repos(self, connection: Connection, scope: ReadScope) -> list[Repo]:
        mentioned, values = _mentioned(scope, "m.repo_id", than="repos")
        sql = f"""
            SELECT name, project_id, folder, remote, created_at FROM repos
            UNION ALL SELECT name, NULL, NULL, NULL, at FROM ({mentioned}) ORDER BY 1"""
        return [
            Repo(name, project, folder, remote, moment(at))
            for name, project, folder, remote, at in connection.execute(sql, values)
        ]

    @query
    def views(self, connection: Connection, scope: ReadScope) -> list[SavedView]:
        """A member's own; nobody else sees them."""
        sql = "SELECT name, query, filters, created_at FROM saved_views WHERE member_id = ? ORDER BY name"
        rows = connection.execute(sql, (scope.member_id,))
        return [SavedView(name, query, json.loads(filters), moment(at)) for name, query, filters, at in rows]


class PlaceWriter(SqlPlaces):
    """See `contracts.memory_store.PlaceWrites`."""

    @query
    def find_project(self, connection: Connection, name: str) -> Project | None:
        """As it was registered by hand."""
        row = connection.execute(
            "SELECT name, description, created_at FROM projects WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else Project(row[0], row[1], moment(row[2]))

    @query
    def find_repo(self, connection: Connection, name: str) -> Repo | None:
        row = connection.execute("SELECT * FROM repos WHERE name = ?", (name,)).fetchone()
        return None if row is None else Repo(row[0], row[1], row[2], row[3], moment(row[4]))

    @query
    def register_project(self, connection: Connection, project: Project) -> Project:
        row = connection.execute(
            """
            INSERT INTO projects VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET description = coalesce(excluded.description, projects.description)
            RETURNING *""",
            (project.name, project.description, micros(project.created_at)),
        ).fetchone()
        return Project(row[0], row[1], moment(row[2]))

    @query
    def register_repo(self, connection: Connection, repo: Repo) -> Repo:
        row = connection.execute(
            """
            INSERT INTO repos VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET project_id = coalesce(excluded.project_id, repos.project_id),
              folder = coalesce(excluded.folder, repos.folder), remote = coalesce(excluded.remote, repos.remote)
            RETURNING *""",
            (repo.name, repo.project_id, repo.folder, repo.remote, micros(repo.created_at)),
        ).fetchone()
        return Repo(row[0], row[1], row[2], row[3], moment(row[4]))

    @query
    def save_view(self, connection: Connection, member_id: MemberId, view: SavedView) -> None:
        connection.execute(
            _PUT_VIEW,
            (member_id, view.name, view.query, _json(view.filters), micros(view.created_at)),
        )

    @query
    def delete_view(self, connection: Connection, member_id: MemberId, name: str) -> bool:
        sql = "DELETE FROM saved_views WHERE member_id = ? AND name = ? RETURNING 1"
        return connection.execute(sql, (member_id, name)).fetchone() is not None


def _mentioned(scope: ReadScope, column: str, *, than: str) -> Clause:
    """Names that stand in memories in sight and not in the table, with the moment of the first such memory.

    Where a memory waits for a person, so does the name, for all but its author.
    """
    seen, values = visible(scope)
    return (
        f"""
        SELECT {column} AS name, min(m.created_at) AS at FROM memories m
        WHERE {column} IS NOT NULL AND m.deleted_at IS NULL AND {seen}
          AND (m.status <> 'inbox' OR m.agent_id = :reader)
          AND {column} NOT IN (SELECT name FROM {than}) GROUP BY {column}""",
        values,
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)
