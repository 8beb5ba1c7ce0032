"""Records out of a store and into it, as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.archive import MemoryRecord, Record, SourcePassage, Tombstone
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.link import Link
from mycel.domain.memory import Version
from mycel.domain.place import Project, Repo
from mycel.stores.sqlite import artifacts, episodes, queue, sources
from mycel.stores.sqlite.clauses import visible
from mycel.stores.sqlite.memories import link_from
from mycel.stores.sqlite.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    columns_of,
    moment,
    moment_or_none,
    version_from,
)

_STATE = MEMORY_COLUMNS + HISTORY_COLUMNS


def read_records(connection: apsw.Connection, scope: ReadScope, take: Callable[[Record], None]) -> None:
    """In one transaction: all of it is of one moment, however long it takes."""
    connection.execute("BEGIN")
    try:
        for record in _all(connection, scope):
            take(record)
    finally:
        connection.execute("ROLLBACK")


def _all(connection: apsw.Connection, scope: ReadScope) -> Iterator[Record]:
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


def _tombstones(connection: apsw.Connection) -> Iterator[Tombstone]:
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


def _passages(connection: apsw.Connection) -> Iterator[SourcePassage]:
    """Of sources that are there: the others cannot grow again."""
    sql = """
        SELECT p.source_id, p.words, p.letters, p.key, p.digest FROM purged_passages p
        JOIN sources s ON s.id = p.source_id ORDER BY p.source_id, p.digest"""
    for source_id, words, letters, key, digest in connection.execute(sql):
        yield SourcePassage(SourceId(source_id), words, letters, key.hex(), digest.hex())


def _alive(scope: ReadScope, table: str) -> str:
    return "1" if scope.everything else f"{table}.deleted_at IS NULL"


def _memories(connection: apsw.Connection, scope: ReadScope) -> Iterator[MemoryRecord]:
    """In the order of their numbers, which whoever takes them in gives out in the same order."""
    seen, values = visible(scope)
    sql = f"""
        SELECT {columns_of("m", _STATE)}, NULL, m.number FROM memories m
        WHERE {seen} AND {_alive(scope, "m")} ORDER BY m.number"""
    for row in connection.execute(sql, values):
        present = version_from(row[:-1], scope.team)
        yield MemoryRecord(
            present,
            _past(connection, scope, present.memory.id),
            episodes.find_detail(connection, row[-1]),
            artifacts.find_detail(connection, row[-1]),
        )


def _past(connection: apsw.Connection, scope: ReadScope, id: MemoryId) -> tuple[Version, ...]:
    seen, values = visible(scope, "v")
    sql = f"""
        SELECT {columns_of("v", _STATE)}, v.valid_to FROM memory_versions v
        WHERE v.id = :id AND {seen} ORDER BY v.version"""
    return tuple(version_from(row, scope.team) for row in connection.execute(sql, {**values, "id": id}))


def _links(connection: apsw.Connection, scope: ReadScope) -> Iterator[Link]:
    seen, values = visible(scope)
    here = f"SELECT 1 FROM memories m WHERE {_alive(scope, 'm')} AND {seen} AND m.id ="
    sql = f"""
        SELECT l.from_id, l.to_id, l.relation, l.created_by, l.created_at FROM memory_links l
        WHERE EXISTS ({here} l.from_id)
          AND (l.to_id LIKE 'project:%' OR l.to_id LIKE 'repo:%' OR EXISTS ({here} l.to_id))
        ORDER BY l.from_id, l.to_id, l.relation"""
    for row in connection.execute(sql, values):
        yield link_from(row)
