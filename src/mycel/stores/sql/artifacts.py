"""Artifacts: memories joined with their rows of details."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from mycel.access.scope import ReadScope
from mycel.domain.artifact import Artifact, ArtifactDetail, ArtifactFilters, ArtifactType
from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.query import Filters, Page
from mycel.errors import InvalidInput
from mycel.stores.sql.clauses import Clause, matching, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.deferred import Statement
from mycel.stores.sql.memory_rows import insert_memories
from mycel.stores.sql.part import Part, WritingPart, query
from mycel.stores.sql.rows import MEMORY_COLUMNS, columns_of, memory_from, micros, packed_roles

_COLUMNS = ("agent_id", "type", "path", "size_bytes", "checksum", "description_end", "text_start")
_ARTIFACT = f"{columns_of('m')}, {columns_of('d', _COLUMNS)}"
_JOINED = "artifacts d JOIN memories m ON m.number = d.number"
# A path says more than an author or a type; the planner, which knows no frequencies, would begin with those.
_BY_PATH = "artifacts d CROSS JOIN memories m ON m.number = d.number"
_BY_TASK = "memories m INDEXED BY memories_by_task CROSS JOIN artifacts d ON d.number = m.number"
_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")

# After the memories themselves; a batch of them is one statement.
INSERT = Statement(
    5, f"INSERT INTO artifacts (number, {', '.join(_COLUMNS)}) VALUES ", f"({', '.join('?' * (1 + len(_COLUMNS)))})"
)


def detail_row(number: int, detail: ArtifactDetail) -> tuple[object, ...]:
    return (
        number,
        detail.agent_id,
        detail.type,
        detail.path,
        detail.size_bytes,
        detail.checksum,
        detail.description_end,
        detail.text_start,
    )


class SqlArtifacts(Part):
    """See `contracts.store.ArtifactReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: MemoryId) -> Artifact | None:
        seen, values = visible(scope)
        sql = f"SELECT {_ARTIFACT} FROM {_JOINED} WHERE m.id = :id AND m.deleted_at IS NULL AND {seen}"
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return None if row is None else _artifact(row, scope)

    @query
    def find_same(self, connection: Connection, scope: ReadScope, like: Artifact) -> Artifact | None:
        seen, values = visible(scope)
        sql = f"""
            SELECT {_ARTIFACT} FROM {_BY_PATH}
            WHERE d.path = :path AND d.type = :type AND d.checksum IS :checksum AND d.agent_id = :agent
              AND m.agent_id = :author AND m.task_id IS :task AND m.project_id IS :project AND m.repo_id IS :repo
              AND m.visibility = :visibility AND m.allowed_roles IS :roles AND m.content = :content
              AND m.deleted_at IS NULL AND m.status IN ('active', 'inbox')
              AND (m.expires_at IS NULL OR m.expires_at > :now) AND {seen}
            ORDER BY m.number LIMIT 1"""
        memory, detail = like.memory, like.detail
        values |= {
            "path": detail.path,
            "type": detail.type,
            "checksum": detail.checksum,
            "agent": detail.agent_id,
            "author": memory.agent_id,
            "task": memory.task_id,
            "project": memory.project_id,
            "repo": memory.repo_id,
            "visibility": memory.visibility,
            "roles": packed_roles(memory.allowed_roles),
            "content": memory.content,
            "now": micros(self.session.now),
        }
        row = connection.execute(sql, values).fetchone()
        return None if row is None else _artifact(row, scope)

    @query
    def page(
        self,
        connection: Connection,
        scope: ReadScope,
        filters: Filters,
        wanted: ArtifactFilters,
        *,
        limit: int,
        cursor: str | None,
    ) -> Page[Artifact]:
        seen, values = visible(scope)
        kept, filter_values = matching(filters)
        described, detail_values = _described(wanted)
        values |= filter_values | detail_values | {"limit": limit + 1}
        after = ""
        if cursor is not None:
            values["last"], values["last_number"] = _read_cursor(cursor)
            after = "AND (m.created_at, m.number) < (:last, :last_number)"
        joined = _BY_PATH if wanted.path is not None else _JOINED if filters.task_id is None else _BY_TASK
        sql = f"""
            SELECT {_ARTIFACT}, m.created_at, m.number FROM {joined} WHERE {seen} AND {kept} AND {described} {after}
            ORDER BY m.created_at DESC, m.number DESC LIMIT :limit"""
        rows = connection.execute(sql, values).fetchall()
        last = f"{rows[limit - 1][-2]}.{rows[limit - 1][-1]}" if len(rows) > limit else None
        return Page([_artifact(row, scope) for row in rows[:limit]], last)

    @query
    def details(
        self, connection: Connection, scope: ReadScope, ids: Collection[MemoryId]
    ) -> Mapping[MemoryId, ArtifactDetail]:
        seen, values = visible(scope)
        sql = f"""
            SELECT m.id, {columns_of("d", _COLUMNS)} FROM json_each(:ids) n JOIN memories m ON m.id = n.value
            JOIN artifacts d ON d.number = m.number WHERE {seen}"""
        rows = connection.execute(sql, {**values, "ids": json.dumps(list(ids))})
        return {MemoryId(row[0]): _detail(row[1:]) for row in rows}


class ArtifactWriter(WritingPart, SqlArtifacts):
    """See `contracts.store.ArtifactWrites`."""

    def insert(self, memory: Memory, words: PackedTerms, detail: ArtifactDetail, *, by: MemberId) -> None:
        [number] = insert_memories(self.batch, [(memory, words)], by=by)
        self.batch.later.add(INSERT, detail_row(number, detail))


def find_detail(connection: Connection, number: int) -> ArtifactDetail | None:
    """Of a memory that another query has found in sight."""
    sql = f"SELECT {columns_of('d', _COLUMNS)} FROM artifacts d WHERE d.number = ?"
    row = connection.execute(sql, (number,)).fetchone()
    return None if row is None else _detail(row)


def _described(wanted: ArtifactFilters) -> Clause:
    """Agrees with `ArtifactFilters.matches`."""
    parts = ["true"]
    values: dict[str, Any] = {}
    if wanted.type is not None:
        parts.append("d.type = :artifact_type")
        values["artifact_type"] = wanted.type
    if wanted.agent_id is not None:
        parts.append("d.agent_id = :artifact_agent")
        values["artifact_agent"] = wanted.agent_id
    if wanted.path is not None and wanted.path.endswith("/"):
        # '0' is the character after '/'.
        parts.append("d.path > :artifact_path AND d.path < :artifact_path_after")
        values |= {"artifact_path": wanted.path, "artifact_path_after": f"{wanted.path[:-1]}0"}
    elif wanted.path is not None:
        parts.append("d.path = :artifact_path")
        values["artifact_path"] = wanted.path
    return " AND ".join(parts), values


def _read_cursor(cursor: str) -> tuple[int, int]:
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise InvalidInput("is not from a page of this list", field="cursor")
    return int(found[1]), int(found[2])


def _artifact(row: tuple[Any, ...], scope: ReadScope) -> Artifact:
    width = len(MEMORY_COLUMNS)
    return Artifact(memory_from(row, scope.team), _detail(row[width : width + len(_COLUMNS)]))


def _detail(row: tuple[Any, ...]) -> ArtifactDetail:
    agent_id, type, path, size_bytes, checksum, description_end, text_start = row
    return ArtifactDetail(
        agent_id=MemberId(agent_id),
        type=ArtifactType(type),
        path=path,
        size_bytes=size_bytes,
        checksum=checksum,
        description_end=description_end,
        text_start=text_start,
    )
