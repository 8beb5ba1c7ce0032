"""What stands around memories: projects, repos and saved views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.ids import MemberId
from mycel.domain.place import Project, Repo, SavedView
from mycel.stores.sqlite.clauses import Clause, visible
from mycel.stores.sqlite.rows import micros, moment
from mycel.stores.sqlite.session import Part, query


class SqlitePlaces(Part):
    """See `contracts.memory_store.PlaceReads`."""

    @query
    def projects(self, connection: apsw.Connection, scope: ReadScope) -> list[Project]:
        """Those registered by hand, and those that a memory in sight mentions."""
        mentioned, values = _mentioned(scope, "project_id", than="projects")
        sql = f"SELECT name, description, created_at FROM projects UNION ALL SELECT name, NULL, at FROM ({mentioned})"
        return [Project(name, about, moment(at)) for name, about, at in connection.execute(f"{sql} ORDER BY 1", values)]

    @query
    def repos(self, connection: apsw.Connection, scope: ReadScope) -> list[Repo]:
        mentioned, values = _mentioned(scope, "repo_id", than="repos")
        sql = f"""
            SELECT name, project_id, folder, remote, created_at FROM repos
            UNION ALL SELECT name, NULL, NULL, NULL, at FROM ({mentioned}) ORDER BY 1"""
        return [
            Repo(name, project, folder, remote, moment(at))
            for name, project, folder, remote, at in connection.execute(sql, values)
        ]

    @query
    def views(self, connection: apsw.Connection, scope: ReadScope) -> list[SavedView]:
        """A member's own; nobody else sees them."""
        sql = "SELECT name, query, filters, created_at FROM saved_views WHERE member_id = ? ORDER BY name"
        rows = connection.execute(sql, (scope.member_id,))
        return [SavedView(name, query, json.loads(filters), moment(at)) for name, query, filters, at in rows]


class PlaceWriter(SqlitePlaces):
    """See `contracts.memory_store.PlaceWrites`."""

    @query
    def find_project(self, connection: apsw.Connection, name: str) -> Project | None:
        """As it was registered by hand."""
        row = connection.execute(
            "SELECT name, description, created_at FROM projects WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else Project(row[0], row[1], moment(row[2]))

    @query
    def find_repo(self, connection: apsw.Connection, name: str) -> Repo | None:
        row = connection.execute("SELECT * FROM repos WHERE name = ?", (name,)).fetchone()
        return None if row is None else Repo(row[0], row[1], row[2], row[3], moment(row[4]))

    @query
    def register_project(self, connection: apsw.Connection, project: Project) -> Project:
        row = connection.execute(
            """
            INSERT INTO projects VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET description = ifnull(excluded.description, description) RETURNING *""",
            (project.name, project.description, micros(project.created_at)),
        ).fetchone()
        return Project(row[0], row[1], moment(row[2]))

    @query
    def register_repo(self, connection: apsw.Connection, repo: Repo) -> Repo:
        row = connection.execute(
            """
            INSERT INTO repos VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET project_id = ifnull(excluded.project_id, project_id),
              folder = ifnull(excluded.folder, folder), remote = ifnull(excluded.remote, remote) RETURNING *""",
            (repo.name, repo.project_id, repo.folder, repo.remote, micros(repo.created_at)),
        ).fetchone()
        return Repo(row[0], row[1], row[2], row[3], moment(row[4]))

    @query
    def save_view(self, connection: apsw.Connection, member_id: MemberId, view: SavedView) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO saved_views VALUES (?, ?, ?, ?, ?)",
            (member_id, view.name, view.query, _json(view.filters), micros(view.created_at)),
        )

    @query
    def delete_view(self, connection: apsw.Connection, member_id: MemberId, name: str) -> bool:
        connection.execute("DELETE FROM saved_views WHERE member_id = ? AND name = ?", (member_id, name))
        return connection.changes() > 0


def _mentioned(scope: ReadScope, column: str, *, than: str) -> Clause:
    """Names that stand in memories in sight and not in the table, with the moment of the first such memory.

    Where a memory waits for a person, so does the name, for all but its author.
    """
    seen, values = visible(scope)
    return (
        f"""
        SELECT m.{column} AS name, min(m.created_at) AS at FROM memories m
        WHERE m.{column} IS NOT NULL AND m.deleted_at IS NULL AND {seen}
          AND (m.status <> 'inbox' OR m.agent_id = :reader)
          AND m.{column} NOT IN (SELECT name FROM {than}) GROUP BY m.{column}""",
        values,
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)
