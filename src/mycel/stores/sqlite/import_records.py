"""Records into a store, as they are, unless something there stands against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw

from mycel.access.scope import ReadScope
from mycel.domain.archive import MemoryRecord, SourcePassage, Taken, Tombstone
from mycel.domain.ids import MemoryId
from mycel.domain.indexed_words import IndexedText
from mycel.domain.memory import Memory, Status, Version
from mycel.domain.place import Project, Repo
from mycel.domain.source import IngestionEvent, Source
from mycel.stores.sqlite import artifacts, catalogue, episodes, purge, queue, sources
from mycel.stores.sqlite.deferred import DeferredWrites
from mycel.stores.sqlite.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    columns_of,
    memory_row,
    micros,
    micros_or_none,
    packed_roles,
    version_from,
)
from mycel.stores.sqlite.word_index import add_words, remove_words

Plain = Tombstone | Project | Repo | Source | SourcePassage | IngestionEvent
_COLUMNS = (*MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
_INSERT = f"INSERT INTO memories (number, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * (1 + len(_COLUMNS)))})"
_REPLACE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE number = ?"
_KEEP = f"""
    INSERT OR IGNORE INTO memory_versions (number, {", ".join(_COLUMNS)}, valid_to)
    VALUES ({", ".join("?" * (2 + len(_COLUMNS)))})"""
_STANDING = f"SELECT {columns_of('m', MEMORY_COLUMNS + HISTORY_COLUMNS)}, NULL, m.number FROM memories m WHERE m.id = ?"
# As the unique index of keys has it.
_KEY_TAKEN = """
    SELECT 1 FROM memories WHERE key = :key AND ifnull(project_id, '') = :project AND ifnull(category, '') = :category
      AND visibility = :visibility AND ifnull(allowed_roles, '') = :roles
      AND CASE visibility WHEN 'team' THEN '' ELSE agent_id END = :author
      AND status = 'active' AND deleted_at IS NULL AND id <> :id"""


def find_standing(connection: apsw.Connection, scope: ReadScope, id: MemoryId) -> tuple[int, Version] | None:
    row = connection.execute(_STANDING, (id,)).fetchone()
    return None if row is None else (row[-1], version_from(row[:-1], scope.team))


def weigh_memory(connection: apsw.Connection, record: MemoryRecord, standing: Version | None) -> Taken:
    """What is to become of a memory; nothing is written yet."""
    new = record.present
    if purge.find_receipt(connection, new.memory.id) is not None:
        return Taken.PURGED
    if standing is None:
        return Taken.KEY if _is_key_taken(connection, new.memory) else Taken.NEW
    if standing == new:
        return Taken.UPDATED if _misses_versions(connection, record) else Taken.UNCHANGED
    if standing.memory.version > new.memory.version:
        return Taken.NEWER
    # It goes on only from a state that it has been in.
    known = any(past.memory == standing.memory and past.valid_from == standing.valid_from for past in record.past)
    if not known:
        return Taken.OTHER
    return Taken.KEY if _is_key_taken(connection, new.memory) else Taken.UPDATED


def insert_memory(connection: apsw.Connection, record: MemoryRecord, words: IndexedText, *, number: int) -> None:
    memory = record.present.memory
    connection.execute(_INSERT, (number, *_row(record.present)))
    _keep_versions(connection, record.past, number=number)
    _index(connection, memory, words, number=number)
    details = DeferredWrites()
    if record.episode is not None:
        episodes.add_episode(details, number, memory, record.episode)
    if record.artifact is not None:
        details.add(artifacts.INSERT, artifacts.detail_row(number, record.artifact))
    details.run_before(len(details), connection)


def replace_memory(connection: apsw.Connection, record: MemoryRecord, words: IndexedText, *, number: int) -> None:
    connection.execute(_REPLACE, (*_row(record.present), number))
    _keep_versions(connection, record.past, number=number)
    unindexed = DeferredWrites()
    remove_words(unindexed, number=number)
    unindexed.run_before(len(unindexed), connection)
    connection.execute("DELETE FROM memory_tags WHERE number = ?", (number,))
    _index(connection, record.present.memory, words, number=number)
    episodes.follow_memory(connection, number, record.present.memory)


def take_plain(connection: apsw.Connection, scope: ReadScope, record: Plain, *, dry_run: bool) -> Taken:
    """A record that nothing is drawn from here; the same one twice is unchanged."""
    if isinstance(record, Tombstone):
        return _take_tombstone(connection, record, dry_run=dry_run)
    if isinstance(record, SourcePassage):
        return _take_passage(connection, record, dry_run=dry_run)
    standing, add = _plain(connection, scope, record)
    if standing is not None:
        return Taken.UNCHANGED if standing == record else Taken.OTHER
    if not dry_run:
        add()
    return Taken.NEW


def _plain(
    connection: apsw.Connection, scope: ReadScope, record: Project | Repo | Source | IngestionEvent
) -> tuple[object, Callable[[], object]]:
    if isinstance(record, Project):
        standing = catalogue.find_project(connection, record.name)
        return standing, lambda: catalogue.register_project(connection, record)
    if isinstance(record, Repo):
        standing = catalogue.find_repo(connection, record.name)
        return standing, lambda: catalogue.register_repo(connection, record)
    if isinstance(record, Source):
        return sources.find_source(connection, scope, record.id), lambda: sources.add_source(connection, record)
    return queue.find_event(connection, scope, record.id), lambda: queue.add_event(connection, record)


def _take_tombstone(connection: apsw.Connection, stone: Tombstone, *, dry_run: bool) -> Taken:
    known = "SELECT 1 FROM receipts WHERE memory_id = ? OR id = ?"
    if connection.execute(known, (stone.memory_id, stone.id)).fetchone() is not None:
        return Taken.UNCHANGED
    if connection.execute("SELECT 1 FROM memories WHERE id = ?", (stone.memory_id,)).fetchone() is not None:
        return Taken.STANDS
    if not dry_run:
        moments = (micros(stone.purged_at), micros(stone.memory_created_at), micros_or_none(stone.scrubbed_at))
        connection.execute(
            "INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (stone.id, stone.memory_id, stone.purged_by, *moments),
        )
    return Taken.NEW


def _take_passage(connection: apsw.Connection, passage: SourcePassage, *, dry_run: bool) -> Taken:
    digest = bytes.fromhex(passage.digest)
    known = "SELECT 1 FROM purged_passages WHERE source_id = ? AND digest = ?"
    if connection.execute(known, (passage.source_id, digest)).fetchone() is not None:
        return Taken.UNCHANGED
    if not dry_run:
        connection.execute(
            "INSERT INTO purged_passages VALUES (?, ?, ?, ?, ?)",
            (passage.source_id, passage.words, passage.letters, bytes.fromhex(passage.key), digest),
        )
    return Taken.NEW


def _row(version: Version) -> tuple[object, ...]:
    origin = version.memory.evidence_ref or version.memory.source_ref
    source_id = origin.source_id if origin else None
    return (*memory_row(version.memory), micros(version.valid_from), version.changed_by, version.reason, source_id)


def _keep_versions(connection: apsw.Connection, past: Sequence[Version], *, number: int) -> None:
    rows = [(number, *_row(version), micros_or_none(version.valid_to)) for version in past]
    connection.executemany(_KEEP, rows)


def _index(connection: apsw.Connection, memory: Memory, words: IndexedText, *, number: int) -> None:
    indexed = DeferredWrites()
    add_words(indexed, memory, words, number=number)
    indexed.run_before(len(indexed), connection)
    tags = [(tag, number) for tag in dict.fromkeys(memory.tags)]
    connection.executemany("INSERT INTO memory_tags (tag, number) VALUES (?, ?)", tags)


def _misses_versions(connection: apsw.Connection, record: MemoryRecord) -> bool:
    known = connection.execute("SELECT version FROM memory_versions WHERE id = ?", (record.present.memory.id,))
    return not {version.memory.version for version in record.past} <= {number for (number,) in known}


def _is_key_taken(connection: apsw.Connection, memory: Memory) -> bool:
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
