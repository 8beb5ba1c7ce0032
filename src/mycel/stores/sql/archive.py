"""Records out of a store and into it, as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mycel.access.scope import ReadScope
from mycel.domain.archive import BackupNote, MemoryRecord, Record, SourcePassage, Standing, Tombstone
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.link import Link
from mycel.domain.memory import Memory, Status, Version
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.place import Project, Repo
from mycel.domain.source import origin_of
from mycel.stores.sql import artifacts, episodes, queue, sources
from mycel.stores.sql.clauses import visible
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.links import link_from
from mycel.stores.sql.log import log_change
from mycel.stores.sql.memory_rows import add_tags, remove_tags
from mycel.stores.sql.part import Part, Session, WritingPart, query
from mycel.stores.sql.receipts import read_receipt
from mycel.stores.sql.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    columns_of,
    memory_row,
    micros,
    micros_or_none,
    moment,
    moment_or_none,
    packed_roles,
    version_from,
)
from mycel.stores.sql.statements import upsert

_STATE = MEMORY_COLUMNS + HISTORY_COLUMNS
_PRESENT = f"SELECT {columns_of('m', _STATE)}, NULL FROM memories m WHERE m.id = ?"
_COLUMNS = (*_STATE, "source_id")
_INSERT = f"INSERT INTO memories (number, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * (1 + len(_COLUMNS)))})"
_REPLACE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ? RETURNING number"
_KEEP = f"""
    INSERT INTO memory_versions (number, {", ".join(_COLUMNS)}, valid_to)
    VALUES ({", ".join("?" * (2 + len(_COLUMNS)))}) ON CONFLICT DO NOTHING"""
# One that was purged here again keeps its number, and that its bytes are still to be scrubbed.
_PUT_STONE = """
    INSERT INTO receipts (memory_id, id, purged_by, purged_at, memory_created_at, scrubbed_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (memory_id) DO UPDATE SET id = excluded.id,
      purged_by = excluded.purged_by, purged_at = excluded.purged_at, memory_created_at = excluded.memory_created_at"""
_PUT_NOTE = upsert("backups", ("location",), ("started_at", "finished_at"))
# As the unique index of keys has it.
_KEY_TAKEN = """
    SELECT 1 FROM memories WHERE key = :key AND coalesce(project_id, '') = :project
      AND coalesce(category, '') = :category
      AND visibility = :visibility AND coalesce(allowed_roles, '') = :roles
      AND CASE visibility WHEN 'team' THEN '' ELSE agent_id END = :author
      AND status = 'active' AND deleted_at IS NULL AND id <> :id"""


class SqlArchive(Part):
    """See `contracts.store.ArchiveReads`."""

    def __init__(self, snapshot: Session) -> None:
        """Statements of one query all see the same state."""
        super().__init__(snapshot)

    @query
    def read(self, connection: Connection, scope: ReadScope, take: Callable[[Record], None]) -> None:
        for record in _all(connection, scope):
            take(record)

    @query
    def tombstones(self, connection: Connection) -> list[Tombstone]:
        return list(_tombstones(connection))

    @query
    def passages(self, connection: Connection) -> list[SourcePassage]:
        return list(_passages(connection))

    @query
    def backup_notes(self, connection: Connection) -> list[BackupNote]:
        rows = connection.execute("SELECT location, started_at, finished_at FROM backups ORDER BY started_at, location")
        return [BackupNote(location, moment(began), moment_or_none(ended)) for location, began, ended in rows]


class ArchiveWriter(WritingPart):
    """See `contracts.store.ArchiveWrites`."""

    @query
    def standing(self, connection: Connection, scope: ReadScope, record: MemoryRecord) -> Standing:
        memory = record.present.memory
        row = connection.execute(_PRESENT, (memory.id,)).fetchone()
        known = connection.execute("SELECT version FROM memory_versions WHERE id = ?", (memory.id,))
        return Standing(
            None if row is None else version_from(row, scope.team),
            frozenset(number for (number,) in known),
            is_purged=read_receipt(connection, memory.id) is not None,
            is_key_taken=_is_key_taken(connection, memory),
        )

    @query
    def is_known(self, connection: Connection, stone: Tombstone) -> bool:
        sql = "SELECT 1 FROM receipts WHERE memory_id = ? OR id = ?"
        return connection.execute(sql, (stone.memory_id, stone.id)).fetchone() is not None

    @query
    def put_tombstone(self, connection: Connection, stone: Tombstone) -> None:
        moments = (micros(stone.purged_at), micros(stone.memory_created_at), micros_or_none(stone.scrubbed_at))
        connection.execute(_PUT_STONE, (stone.memory_id, stone.id, stone.purged_by, *moments))

    @query
    def put_backup_note(self, connection: Connection, note: BackupNote) -> None:
        values = (note.location, micros(note.started_at), micros_or_none(note.finished_at))
        connection.execute(_PUT_NOTE, values)

    @query
    def forget_backup(self, connection: Connection, location: str) -> None:
        connection.execute("DELETE FROM backups WHERE location = ?", (location,))

    @query
    def put_memory(
        self,
        connection: Connection,
        record: MemoryRecord,
        words: PackedTerms,
        *,
        by: MemberId,
        before: Memory | None,
    ) -> None:
        memory, later = record.present.memory, self.batch.later
        if before is None:
            number = self.batch.next_number()
            connection.execute(_INSERT, (number, *_row(record.present)))
            if record.episode is not None:
                episodes.add_episode(later, number, memory, record.episode)
            if record.artifact is not None:
                later.add(artifacts.INSERT, artifacts.detail_row(number, record.artifact))
        else:
            number = connection.execute(_REPLACE, (*_row(record.present), memory.id)).fetchone()[0]
            episodes.follow_memory(connection, number, memory)
            remove_tags(later, number=number)
        past = [(number, *_row(version), micros_or_none(version.believed_until)) for version in record.past]
        connection.executemany(_KEEP, past)
        self.batch.put_terms(words, number=number)
        add_tags(later, memory, number=number)
        log_change(self.batch, Operation.UPDATE if before else Operation.CREATE, memory, by=by, before=before)


def _row(version: Version) -> tuple[object, ...]:
    history = (micros(version.believed_from), version.changed_by, version.reason)
    return (*memory_row(version.memory), *history, origin_of(version.memory))


def _is_key_taken(connection: Connection, memory: Memory) -> bool:
    if memory.key is None or memory.status is not Status.ACTIVE or memory.deleted_at is not None:
        return False
    values = {
        "id": memory.id,
        "key": memory.key,
        "project": memory.project_id or "",
        "category": memory.category or "",
        "visibility": memory.visibility,
        "roles": packed_roles(memory.allowed_roles) or "",
        "author": "" if memory.visibility == "team" else memory.agent_id,
    }
    return connection.execute(_KEY_TAKEN, values).fetchone() is not None


def _all(connection: Connection, scope: ReadScope) -> Iterator[Record]:
    if scope.everything:
        yield from _tombstones(connection)
    for name, about, at in connection.execute("SELECT name, description, created_at FROM projects ORDER BY name"):
        yield Project(name, about, moment(at))
    for name, project, folder, remote, at in connection.execute(
        "SELECT name, project_id, folder, remote, created_at FROM repos ORDER BY name"
    ):
        yield Repo(name, project, folder, remote, moment(at))
    yield from sources.every_source(connection, scope)
    if scope.everything:
        yield from _passages(connection)
    yield from queue.every_event(connection, scope)
    yield from _memories(connection, scope)
    yield from _links(connection, scope)


def _tombstones(connection: Connection) -> Iterator[Tombstone]:
    sql = "SELECT id, memory_id, purged_by, purged_at, memory_created_at, scrubbed_at FROM receipts ORDER BY id"
    for id, memory_id, purged_by, purged_at, created_at, scrubbed_at in connection.execute(sql):
        yield Tombstone(
            id=id,
            memory_id=MemoryId(memory_id),
            purged_by=MemberId(purged_by),
            purged_at=moment(purged_at),
            memory_created_at=moment(created_at),
            scrubbed_at=moment_or_none(scrubbed_at),
        )


def _passages(connection: Connection) -> Iterator[SourcePassage]:
    """Of sources that are there: the others cannot grow again."""
    sql = """
        SELECT p.source_id, p.words, p.letters, p.key, p.digest FROM purged_passages p
        JOIN sources s ON s.id = p.source_id ORDER BY p.source_id, p.digest"""
    for source_id, words, letters, key, digest in connection.execute(sql):
        yield SourcePassage(SourceId(source_id), words, letters, key.hex(), digest.hex())


def _alive(scope: ReadScope, table: str) -> str:
    return "true" if scope.everything else f"{table}.deleted_at IS NULL"


def _memories(connection: Connection, scope: ReadScope) -> Iterator[MemoryRecord]:
    """In the order of their numbers, which whoever takes them in gives out in the same order."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m", _STATE)}, NULL, m.number FROM memories m
        WHERE {seen} AND {_alive(scope, "m")} ORDER BY m.number"""
    for row in connection.execute(sql, values):
        present = version_from(row[:-1], scope.team)
        yield MemoryRecord(
            present,
            _past(connection, scope, present.memory.id) if present.memory.version > 1 else (),
            episodes.find_detail(connection, row[-1]),
            artifacts.find_detail(connection, row[-1]),
        )


def _past(connection: Connection, scope: ReadScope, id: MemoryId) -> tuple[Version, ...]:
    seen, values = visible(scope, "v")
    sql = f"""
        SELECT {columns_of("v", _STATE)}, v.valid_to FROM memory_versions v
        WHERE v.id = :id AND {seen} ORDER BY v.version"""
    return tuple(version_from(row, scope.team) for row in connection.execute(sql, {**values, "id": id}))


def _links(connection: Connection, scope: ReadScope) -> Iterator[Link]:
    seen, values = visible(scope)
    here = f"SELECT 1 FROM memories m WHERE {_alive(scope, 'm')} AND {seen} AND m.id ="
    sql = f"""
        SELECT l.from_id, l.to_id, l.relation, l.created_by, l.created_at FROM memory_links l
        WHERE EXISTS ({here} l.from_id)
          AND (l.to_id LIKE 'project:%' OR l.to_id LIKE 'repo:%' OR EXISTS ({here} l.to_id))
        ORDER BY l.from_id, l.to_id, l.relation"""
    for row in connection.execute(sql, values):
        yield link_from(row)
