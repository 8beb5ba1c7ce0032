"""Writing memories: each change keeps what stood before as a version, and gets into the log."""

from __future__ import annotations

from collections.abc import Sequence

from mycel.access.scope import ReadScope
from mycel.contracts.memory_store import Rating
from mycel.domain.change import Operation
from mycel.domain.ids import MemberId, MemoryId, TeamName
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.receipt import Receipt
from mycel.errors import MemoryDamaged
from mycel.retrieval.terms import packed_terms, searched_values
from mycel.stores.sql.connection import Connection
from mycel.stores.sql.episodes import follow_memory
from mycel.stores.sql.index import OUTDATED
from mycel.stores.sql.log import log_change
from mycel.stores.sql.memories import SqlMemories
from mycel.stores.sql.memory_rows import (
    STANDING,
    WRITTEN,
    add_tags,
    insert_memories,
    remove_tags,
    remove_terms,
    standing_row,
)
from mycel.stores.sql.part import WritingPart, query
from mycel.stores.sql.receipts import erase_rows
from mycel.stores.sql.rows import MEMORY_COLUMNS, columns_of, memory_from, memory_row, micros
from mycel.stores.sql.statements import upsert

_REPLACE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in STANDING[1:])} WHERE id = ? RETURNING number"
_KEEP_VERSION = f"""
    INSERT INTO memory_versions ({", ".join(WRITTEN)}, valid_to)
    SELECT {", ".join(WRITTEN)}, ? FROM memories WHERE id = ?"""
_OUTDATED = f"""
    SELECT {columns_of("m")}, m.number
    FROM (SELECT number FROM memory_terms WHERE {OUTDATED} ORDER BY number LIMIT ?) t
    JOIN memories m ON m.number = t.number ORDER BY m.number"""
_RATE = upsert("ratings", ("memory_id", "member_id"), ("useful", "recall_id", "rated_at"))
_REDACT = f"""
    UPDATE memory_versions SET {", ".join(f"{name} = ?" for name in MEMORY_COLUMNS)} WHERE id = ? AND version = ?"""


class MemoryWriter(WritingPart, SqlMemories):
    """See `contracts.memory_store.MemoryWrites`."""

    def insert(self, written: Sequence[tuple[Memory, PackedTerms]], *, by: MemberId) -> None:
        insert_memories(self.batch, written, by=by)
        if any(memory.key is not None for memory, _ in written):
            # Now, so that a key that is taken is this operation's own failure.
            _ = self.batch.connection

    @query
    def replace(
        self,
        connection: Connection,
        before: Memory,
        after: Memory,
        *,
        by: MemberId,
        operation: Operation = Operation.UPDATE,
        reason: str | None = None,
        words: PackedTerms | None = None,
    ) -> None:
        batch = self.batch
        connection.execute(_KEEP_VERSION, (micros(batch.committed_at), before.id))
        row = (*standing_row(batch, after, by, reason), after.id)
        number = connection.execute(_REPLACE, row).fetchone()[0]
        if MemoryType.EPISODE in (before.type, after.type):
            follow_memory(connection, number, after)
        if searched_values(after) != searched_values(before):
            batch.put_terms(words or packed_terms(after), number=number)
        if after.tags != before.tags:
            remove_tags(batch.later, number=number)
            add_tags(batch.later, after, number=number)
        log_change(batch, operation, after, by=by, before=before)

    def get_mended(self, scope: ReadScope, id: MemoryId, *, deleted: bool = False) -> Memory:
        """As `get`, for whoever is about to delete it: where the memory is damaged, what can be read of it is kept."""
        try:
            return self.get(scope, id, deleted=deleted)
        except MemoryDamaged:
            self.batch.mend(id)
            return self.get(scope, id, deleted=deleted)

    @query
    def renew_words(self, connection: Connection, *, limit: int) -> int:
        rows = connection.execute(_OUTDATED, (limit,)).fetchall()
        for row in rows:
            self.batch.put_terms(packed_terms(memory_from(row, TeamName(""))), number=row[-1])
        return len(rows)

    @query
    def redact_versions(self, connection: Connection, redacted: Sequence[Memory]) -> None:
        connection.executemany(_REDACT, [(*memory_row(memory), memory.id, memory.version) for memory in redacted])

    @query
    def erase(self, connection: Connection, memory: Memory, *, by: MemberId) -> Receipt:
        number, receipt = erase_rows(connection, memory, by=by, now=self.batch.committed_at)
        remove_terms(self.batch.later, number=number)
        remove_tags(self.batch.later, number=number)
        log_change(self.batch, Operation.PURGE, memory, by=by)
        return receipt

    @query
    def rate(self, connection: Connection, rating: Rating) -> bool | None:
        sql = "SELECT useful FROM ratings WHERE memory_id = ? AND member_id = ?"
        before = connection.execute(sql, (rating.memory_id, rating.member_id)).fetchone()
        connection.execute(
            _RATE,
            (rating.memory_id, rating.member_id, rating.useful, rating.recall_id, micros(self.batch.now)),
        )
        return None if before is None else bool(before[0])
