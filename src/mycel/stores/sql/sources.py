"""Sources: the captured material, as far as a reader may see it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from mycel.access.scope import ReadScope
from mycel.contracts.engine_store import Quote
from mycel.domain.change import Audience
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.inbox import Surroundings
from mycel.domain.memory import EvidenceRef, SourceKind
from mycel.domain.query import Page
from mycel.domain.receipt import PurgedPassage
from mycel.domain.source import Source, SourceEntry, Turn
from mycel.domain.team import Trust
from mycel.stores.sql.clauses import Clause, visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.part import Part, query
from mycel.stores.sql.rows import (
    audience_from,
    micros,
    micros_or_none,
    moment,
    moment_or_none,
    packed,
    packed_roles,
)

COLUMNS = (
    "id", "visibility", "agent_id", "allowed_roles", "kind", "session_id", "uri", "sha256", "created_at", "title",
    "project_id", "repo_id", "task_id", "thread_id", "trust", "extracted_to", "turns", "text",
)  # fmt: skip
_ENTRY = ", ".join(f"s.{name}" for name in COLUMNS[:-2])
_SOURCE = ", ".join(f"s.{name}" for name in COLUMNS)
_QUOTED = """
    SELECT source_id, evidence_ref, content FROM memories WHERE id = ?1 AND source_id IS NOT NULL
    UNION SELECT source_id, evidence_ref, content FROM memory_versions WHERE id = ?1 AND source_id IS NOT NULL"""
_INSERT = f"INSERT INTO sources ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


def in_sight(scope: ReadScope) -> Clause:
    """A source follows its own audience and the strictest memory that its author drew from it.

    Whoever else refers to it takes it from nobody.
    """
    seen, values = visible(scope, "s")
    memory_seen, _ = visible(scope)
    return (
        f"""{seen} AND NOT EXISTS (
          SELECT 1 FROM memories m WHERE m.source_id = s.id AND m.agent_id = s.agent_id AND NOT {memory_seen})""",
        values,
    )


def out_of_sight(scope: ReadScope) -> Clause:
    """The ids of what `in_sight` leaves out, found from the hidden rows rather than from all."""
    seen, values = visible(scope, "s")
    memory_seen, _ = visible(scope)
    return (
        f"""SELECT s.id FROM sources s WHERE s.visibility <> 'team' AND NOT {seen}
          UNION SELECT s.id FROM memories m JOIN sources s ON s.id = m.source_id AND s.agent_id = m.agent_id
          WHERE m.source_id IS NOT NULL AND m.visibility <> 'team' AND NOT {memory_seen}""",
        values,
    )


class SqlSources(Part):
    """See `contracts.engine_store.SourceReads`."""

    @query
    def find(self, connection: Connection, scope: ReadScope, id: SourceId) -> Source | None:
        seen, values = in_sight(scope)
        sql = f"SELECT {_SOURCE} FROM sources s WHERE s.id = :id AND {seen}"
        row = connection.execute(sql, {**values, "id": id}).fetchone()
        return None if row is None else _source(row)

    @query
    def find_thread_title(self, connection: Connection, scope: ReadScope, thread_id: str) -> str | None:
        seen, values = in_sight(scope)
        sql = f"""
            SELECT s.title FROM sources s WHERE s.thread_id = :thread AND s.title IS NOT NULL AND {seen}
            ORDER BY s.id DESC LIMIT 1"""
        row = connection.execute(sql, {**values, "thread": thread_id}).fetchone()
        return None if row is None else row[0]

    @query
    def page(
        self,
        connection: Connection,
        scope: ReadScope,
        *,
        limit: int,
        cursor: str | None,
        agent_id: MemberId | None = None,
        session_id: str | None = None,
    ) -> Page[SourceEntry]:
        """Newest first; ids grow with time, so the last one seen is the cursor."""
        seen, values = in_sight(scope)
        after = "AND s.id < :cursor" if cursor is not None else ""
        after += " AND s.agent_id = :agent_id" if agent_id is not None else ""
        after += " AND s.session_id = :session_id" if session_id is not None else ""
        sql = f"SELECT {_ENTRY} FROM sources s WHERE {seen} {after} ORDER BY s.id DESC LIMIT :limit"
        rows = connection.execute(
            sql, {**values, "cursor": cursor, "agent_id": agent_id, "session_id": session_id, "limit": limit + 1}
        ).fetchall()
        found = [SourceEntry(**_entry(row)) for row in rows[:limit]]
        return Page(found, found[-1].id if len(rows) > limit else None)

    @query
    def find_surroundings(
        self, connection: Connection, scope: ReadScope, evidence: EvidenceRef, *, around: int
    ) -> Surroundings | None:
        """Cut out by the database: a transcript may be megabytes long."""
        seen, values = in_sight(scope)
        sql = f"""
            SELECT substr(s.text, :first + 1, :start - :first), substr(s.text, :start + 1, :end - :start),
              substr(s.text, :end + 1, :around)
            FROM sources s WHERE s.id = :id AND {seen}"""
        first = max(0, evidence.start - around)
        place = {
            "id": evidence.source_id,
            "first": first,
            "start": evidence.start,
            "end": evidence.end,
            "around": around,
        }
        row = connection.execute(sql, {**values, **place}).fetchone()
        if row is None:
            return None
        before, quote, after = row
        return Surroundings(evidence.source_id, before, quote, after, evidence.start, evidence.end)

    @query
    def find_twin(self, connection: Connection, like: Source) -> Source | None:
        """Of the same author, for the same readers, with the same text in the same place."""
        sql = f"""
            SELECT {_SOURCE} FROM sources s
            WHERE s.sha256 = ? AND s.agent_id = ? AND s.visibility = ? AND s.allowed_roles IS ? AND s.kind = ?
              AND s.uri IS ? AND s.session_id IS ? AND s.project_id IS ? AND s.repo_id IS ? AND s.task_id IS ?
              AND s.thread_id IS ?
            ORDER BY s.id DESC LIMIT 1"""
        roles = packed_roles(like.allowed_roles)
        values = (like.sha256, like.agent_id, like.visibility, roles, like.kind, like.uri, like.session_id)
        row = connection.execute(sql, (*values, like.project_id, like.repo_id, like.task_id, like.thread_id)).fetchone()
        return None if row is None else _source(row)

    @query
    def find_growing(self, connection: Connection, report: Source) -> Source | None:
        found = _growing(report)
        row = found and connection.execute(f"SELECT {_SOURCE} FROM sources s WHERE {found[0]}", found[1]).fetchone()
        return None if row is None else _source(row)

    @query
    def is_growing(self, connection: Connection, report: Source) -> bool:
        """Without its text, which may be megabytes."""
        found = _growing(report)
        row = found and connection.execute(f"SELECT s.id FROM sources s WHERE {found[0]}", found[1]).fetchone()
        return row is not None

    @query
    def purged_passages(self, connection: Connection, report: Source) -> list[PurgedPassage]:
        sql = """
            SELECT p.words, p.letters, p.key, p.digest FROM sources s JOIN purged_passages p ON p.source_id = s.id
            WHERE s.session_id = ?1 AND s.agent_id = ?3
            UNION SELECT p.words, p.letters, p.key, p.digest FROM sources s JOIN purged_passages p ON p.source_id = s.id
            WHERE s.thread_id = ?2 AND s.agent_id = ?3"""
        rows = connection.execute(sql, (report.session_id, report.thread_id, report.agent_id))
        return [PurgedPassage(*row) for row in rows]

    @query
    def find_document(self, connection: Connection, source: Source, *, shared: bool) -> Source | None:
        sql = f"SELECT {_SOURCE} FROM sources s WHERE {SAME_DOCUMENT} ORDER BY s.id DESC LIMIT 1"
        row = connection.execute(sql, document_values(source, shared=shared)).fetchone()
        return None if row is None else _source(row)

    @query
    def is_still_so(self, connection: Connection, source: Source) -> bool:
        sql = "SELECT extracted_to = ? AND substr(text, 1, ?) = ? FROM sources WHERE id = ?"
        row = connection.execute(sql, (source.extracted_to, len(source.text), source.text, source.id)).fetchone()
        return row is not None and bool(row[0])

    @query
    def quoted_by(self, connection: Connection, id: MemoryId) -> list[Quote]:
        return [
            Quote(SourceId(source_id), None if evidence is None else EvidenceRef(*json.loads(evidence)), content)
            for source_id, evidence, content in connection.execute(_QUOTED, (id,))
        ]

    @query
    def other_evidence(self, connection: Connection, id: SourceId, memory_id: MemoryId) -> list[EvidenceRef | None]:
        sql = "SELECT evidence_ref FROM memories WHERE source_id = ? AND id <> ?"
        rows = connection.execute(sql, (id, memory_id))
        return [None if evidence is None else EvidenceRef(*json.loads(evidence)) for (evidence,) in rows]


class SourceWriter(SqlSources):
    """See `contracts.engine_store.SourceWrites`."""

    @query
    def add(self, connection: Connection, source: Source) -> None:
        connection.execute(_INSERT, _row(source))

    @query
    def grow(self, connection: Connection, known: Source, renewed: Source) -> bool:
        """A source that something was purged from has no hash to know it by; its text is compared."""
        sql = """
            UPDATE sources SET text = :text, turns = :turns, sha256 = :sha256
            WHERE id = :id AND sha256 = :known AND (:known <> '' OR text = :known_text) RETURNING 1"""
        values = {
            "id": known.id,
            "text": renewed.text,
            "turns": packed([_packed_turn(turn) for turn in renewed.turns]),
            "sha256": renewed.sha256,
            "known": known.sha256,
            "known_text": known.text if not known.sha256 else None,
        }
        return connection.execute(sql, values).fetchone() is not None

    @query
    def set_extracted(self, connection: Connection, id: SourceId, to: int) -> None:
        connection.execute("UPDATE sources SET extracted_to = ? WHERE id = ?", (to, id))

    @query
    def blank(self, connection: Connection, id: SourceId, text: str, *, title: str | None) -> None:
        connection.execute("UPDATE sources SET text = ?, title = ?, sha256 = '' WHERE id = ?", (text, title, id))

    @query
    def restrict(self, connection: Connection, id: SourceId, audience: Audience) -> None:
        connection.execute(
            "UPDATE sources SET visibility = ?, agent_id = ?, allowed_roles = ? WHERE id = ?",
            (audience.visibility, audience.agent_id, packed_roles(audience.allowed_roles), id),
        )

    @query
    def passage_key(self, connection: Connection, id: SourceId) -> bytes | None:
        row = connection.execute("SELECT key FROM purged_passages WHERE source_id = ? LIMIT 1", (id,)).fetchone()
        return None if row is None else row[0]

    @query
    def has_passage(self, connection: Connection, id: SourceId, digest: bytes) -> bool:
        sql = "SELECT 1 FROM purged_passages WHERE source_id = ? AND digest = ?"
        return connection.execute(sql, (id, digest)).fetchone() is not None

    @query
    def add_passages(self, connection: Connection, id: SourceId, passages: Collection[PurgedPassage]) -> None:
        rows = [(id, one.words, one.letters, one.key, one.digest) for one in passages]
        connection.executemany("INSERT INTO purged_passages VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)


def every_source(connection: Connection, scope: ReadScope) -> Iterator[Source]:
    """Oldest first, one by one: their texts may be megabytes each."""
    seen, values = in_sight(scope)
    for row in connection.execute(f"SELECT {_SOURCE} FROM sources s WHERE {seen} ORDER BY s.id", values):
        yield _source(row)


def _growing(report: Source) -> tuple[str, tuple[Any, ...]] | None:
    """By the session, or by the thread where there is none."""
    column, name = ("session_id", report.session_id) if report.session_id else ("thread_id", report.thread_id)
    condition = f"""
        s.{column} = ? AND s.agent_id = ? AND s.kind = ? AND s.project_id IS ? AND s.repo_id IS ? AND s.task_id IS ?
        ORDER BY s.id LIMIT 1"""
    place = (report.project_id, report.repo_id, report.task_id)
    return None if name is None else (condition, (name, report.agent_id, report.kind, *place))


# What makes two sources states of one file.
SAME_DOCUMENT = """
    s.uri = :uri AND s.kind = :kind AND s.visibility = :visibility AND s.allowed_roles IS :roles
    AND s.project_id IS :project AND s.repo_id IS :repo AND (s.agent_id = :author OR :shared)"""


def document_values(source: Source, *, shared: bool) -> dict[str, Any]:
    return {
        "uri": source.uri,
        "kind": source.kind,
        "visibility": source.visibility,
        "roles": packed_roles(source.allowed_roles),
        "project": source.project_id,
        "repo": source.repo_id,
        "author": source.agent_id,
        "shared": shared,
    }


def _row(source: Source) -> tuple[Any, ...]:
    return (
        source.id,
        source.visibility,
        source.agent_id,
        packed_roles(source.allowed_roles),
        source.kind,
        source.session_id,
        source.uri,
        source.sha256,
        micros(source.created_at),
        source.title,
        source.project_id,
        source.repo_id,
        source.task_id,
        source.thread_id,
        source.trust,
        source.extracted_to,
        packed([_packed_turn(turn) for turn in source.turns]),
        source.text,
    )


def _packed_turn(turn: Turn) -> list[Any]:
    return [turn.role, turn.start, turn.end, turn.speaker, micros_or_none(turn.said_at)]


def _source(row: tuple[Any, ...]) -> Source:
    return Source(**_entry(row), turns=_turns(row[16]), text=row[17])


def _entry(row: tuple[Any, ...]) -> dict[str, Any]:
    audience = audience_from(row[1], row[2], row[3])
    return {
        "id": SourceId(row[0]),
        "visibility": audience.visibility,
        "agent_id": audience.agent_id,
        "allowed_roles": audience.allowed_roles,
        "kind": SourceKind(row[4]),
        "session_id": row[5],
        "uri": row[6],
        "sha256": row[7],
        "created_at": moment(row[8]),
        "title": row[9],
        "project_id": row[10],
        "repo_id": row[11],
        "task_id": row[12],
        "thread_id": row[13],
        "trust": Trust(row[14]),
        "extracted_to": row[15],
    }


def _turns(value: str | None) -> tuple[Turn, ...]:
    listed = json.loads(value) if value else ()
    return tuple(Turn(role, start, end, speaker, moment_or_none(at)) for role, start, end, speaker, at in listed)
