"""One write transaction on a team's store: what services may do between BEGIN and COMMIT."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from itertools import groupby
from operator import itemgetter

import apsw

from mycel.access.scope import ReadScope
from mycel.contracts.clock import Clock
from mycel.contracts.store import Rating, Request
from mycel.domain.change import Operation, audience_of
from mycel.domain.ids import MemberId, MemoryId, SourceId
from mycel.domain.link import Link
from mycel.domain.memory import Memory
from mycel.domain.receipt import Receipt
from mycel.domain.source import Source
from mycel.domain.words import IndexedText
from mycel.errors import NotFound
from mycel.retrieval.columns import indexed_text
from mycel.stores.sqlite import catalogue, memories, purge
from mycel.stores.sqlite.catalogue import CatalogueWrites
from mycel.stores.sqlite.rows import (
    HISTORY_COLUMNS,
    MEMORY_COLUMNS,
    memory_row,
    micros,
    moment,
    packed_roles,
)

_WRITTEN = (*MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
_INSERT = f"INSERT INTO memories ({', '.join(_WRITTEN)}) VALUES ({', '.join('?' * len(_WRITTEN))})"
_REPLACE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in _WRITTEN)} WHERE id = ? RETURNING number"
_KEPT = ("number", *MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
_KEEP_VERSION = f"""
    INSERT INTO memory_versions ({", ".join(_KEPT)}, valid_to)
    SELECT {", ".join(_KEPT)}, ? FROM memories WHERE id = ?"""
_INDEX = "INSERT INTO memory_words (rowid, title, summary, content, tags) VALUES (?, ?, ?, ?, ?)"
_UNINDEX = "DELETE FROM memory_words WHERE rowid = ?"
_UNTAG = "DELETE FROM memory_tags WHERE number = ?"
_TAG = "INSERT INTO memory_tags (tag, number) VALUES (?, ?)"
_LOG = """
    INSERT INTO changes (operation, memory_id, version, changed_by, committed_at, path, visibility, agent_id,
      allowed_roles, old_path, old_visibility, old_agent_id, old_allowed_roles, other_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


class _Table(IntEnum):
    """What is written at the end, in this order."""

    TAGS = 1
    LOG = 2
    WORDS = 3


class SqliteTransaction(CatalogueWrites):
    """Shared by the operations of one batch; the writer opens and ends the transaction around them.

    Words, tags and the log are written at the end, for all operations together. FTS5 flushes to disk whatever is
    pending at every savepoint, and each operation has one: that would cost more than all its other statements.
    """

    def __init__(self, connection: apsw.Connection, *, clock: Clock) -> None:
        super().__init__(connection)
        self._left: list[tuple[_Table, str, tuple[object, ...]]] = []
        self.now: datetime = max(clock.now(), moment(memories.latest_commit(connection) + 1))

    def mark(self) -> int:
        return len(self._left)

    def rewind(self, mark: int) -> None:
        del self._left[mark:]

    def finish(self) -> None:
        # Table by table, and within each in the order of the operations.
        for sql, writes in groupby(sorted(self._left, key=itemgetter(0)), key=itemgetter(1)):
            self.connection.executemany(sql, [values for _, _, values in writes])

    def find(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory | None:
        return memories.find_memory(self.connection, scope, id, deleted=deleted)

    def get(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        memory = self.find(scope, id, deleted=deleted)
        if memory is None:
            raise NotFound(f"no memory {id}")
        return memory

    def find_version(self, scope: ReadScope, id: MemoryId, version: int) -> Memory | None:
        return memories.find_version(self.connection, scope, id, version)

    def find_by_key(self, scope: ReadScope, like: Memory) -> Memory | None:
        return memories.find_by_key(self.connection, scope, like)

    def find_source(self, scope: ReadScope, id: SourceId) -> Source | None:
        return catalogue.find_source(self.connection, scope, id)

    def insert(self, written: Sequence[tuple[Memory, IndexedText]], *, by: MemberId) -> None:
        self.connection.executemany(_INSERT, [self._row(memory, by, None) for memory, _ in written])
        # Numbers are given out in order, and nobody else writes meanwhile.
        first = self.connection.last_insert_rowid() - len(written) + 1
        for number, (memory, words) in enumerate(written, first):
            self._left.append((_Table.WORDS, _INDEX, (number, *words)))
            self._left += [(_Table.TAGS, _TAG, (tag, number)) for tag in memory.tags]
            self._log(Operation.CREATE, memory, by=by)

    def replace(
        self,
        before: Memory,
        after: Memory,
        *,
        by: MemberId,
        operation: Operation = Operation.UPDATE,
        reason: str | None = None,
    ) -> None:
        self.connection.execute(_KEEP_VERSION, (micros(self.now), before.id))
        row = (*self._row(after, by, reason), after.id)
        number = self.connection.execute(_REPLACE, row).fetchone()[0]
        words = indexed_text(after)
        if words != indexed_text(before):
            self._left.append((_Table.WORDS, _UNINDEX, (number,)))
            self._left.append((_Table.WORDS, _INDEX, (number, *words)))
        if after.tags != before.tags:
            self._left.append((_Table.TAGS, _UNTAG, (number,)))
            self._left += [(_Table.TAGS, _TAG, (tag, number)) for tag in after.tags]
        self._log(operation, after, by=by, before=before)

    def purge(self, memory: Memory, *, by: MemberId) -> Receipt:
        number, receipt = purge.purge_memory(self.connection, memory, by=by, now=self.now)
        self._left.append((_Table.WORDS, _UNINDEX, (number,)))
        self._left.append((_Table.TAGS, _UNTAG, (number,)))
        self._log(Operation.PURGE, memory, by=by)
        return receipt

    def link(self, link: Link, *, origin: Memory) -> Link:
        standing = memories.find_link(self.connection, link)
        if standing is not None:
            return standing
        self.connection.execute(
            "INSERT INTO memory_links VALUES (?, ?, ?, ?, ?)",
            (link.from_id, link.to_id, link.relation, link.created_by, micros(link.created_at)),
        )
        self._log(Operation.LINK, origin, by=link.created_by, other_id=link.to_id)
        return link

    def unlink(self, link: Link, *, origin: Memory) -> bool:
        self.connection.execute(
            "DELETE FROM memory_links WHERE from_id = ? AND to_id = ? AND relation = ?",
            (link.from_id, link.to_id, link.relation),
        )
        gone = self.connection.changes() > 0
        if gone:
            self._log(Operation.UNLINK, origin, by=link.created_by, other_id=link.to_id)
        return gone

    def rate(self, rating: Rating) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?)",
            (rating.memory_id, rating.member_id, rating.useful, rating.recall_id, micros(self.now)),
        )

    def find_request(self, member_id: MemberId, operation: str, key: str) -> Request | None:
        sql = """
            SELECT member_id, operation, key, request_hash, memory_id, version FROM requests
            WHERE member_id = ? AND operation = ? AND key = ? AND requested_at > ?"""
        since = micros(self.now) - Request.KEPT_MICROSECONDS
        row = self.connection.execute(sql, (member_id, operation, key, since)).fetchone()
        return None if row is None else Request(*row)

    def remember_request(self, request: Request) -> None:
        now = micros(self.now)
        self.connection.execute("DELETE FROM requests WHERE requested_at <= ?", (now - Request.KEPT_MICROSECONDS,))
        self.connection.execute(
            "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                request.member_id,
                request.operation,
                request.key,
                request.request_hash,
                request.memory_id,
                request.version,
                now,
            ),
        )

    def begin_backup(self, location: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO backups VALUES (?, ?, NULL)", (location, micros(self.now)))

    def end_backup(self, location: str) -> None:
        self.connection.execute("UPDATE backups SET finished_at = ? WHERE location = ?", (micros(self.now), location))

    def _row(self, memory: Memory, by: MemberId, reason: str | None) -> tuple[object, ...]:
        origin = memory.evidence_ref or memory.source_ref
        source_id = origin.source_id if origin else None
        return (*memory_row(memory), micros(self.now), by, reason, source_id)

    def _log(
        self,
        operation: Operation,
        memory: Memory,
        *,
        by: MemberId,
        before: Memory | None = None,
        other_id: str | None = None,
    ) -> None:
        """Old values are stored only where they differ: most changes move nothing out of sight."""
        moved = before is not None and before.path != memory.path
        hidden = before is not None and audience_of(before) != audience_of(memory)
        old = before if before is not None and (moved or hidden) else None
        entry = (
            operation,
            memory.id,
            memory.version,
            by,
            micros(self.now),
            memory.path,
            memory.visibility,
            memory.agent_id,
            packed_roles(memory.allowed_roles),
            old.path if old else None,
            old.visibility if old else None,
            old.agent_id if old else None,
            packed_roles(old.allowed_roles) if old else None,
            other_id,
        )
        self._left.append((_Table.LOG, _LOG, entry))
