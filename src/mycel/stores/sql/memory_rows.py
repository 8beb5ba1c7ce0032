"""The rows a memory is made of: its own, its terms, its tags and its entry in the log."""

from __future__ import annotations

from mycel.domain.change import Operation
from mycel.domain.ids import MemberId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.source import origin_of
from mycel.stores.sql.deferred import DeferredWrites, Statement
from mycel.stores.sql.log import log_change
from mycel.stores.sql.part import WriteSession
from mycel.stores.sql.rows import HISTORY_COLUMNS, MEMORY_COLUMNS, memory_row, micros

# What a version keeps of a memory, and what its present row has besides.
WRITTEN = ("number", *MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
STANDING = (*WRITTEN, "clock_at")

_INSERT = Statement(0, f"INSERT INTO memories ({', '.join(STANDING)}) VALUES ", f"({', '.join('?' * len(STANDING))})")
_UNTAG = Statement(1, "DELETE FROM memory_tags WHERE number = ?")
_TAG = Statement(1, "INSERT INTO memory_tags (tag, number) VALUES ", "(?, ?)")
_FORGET_TERMS = Statement(1, "DELETE FROM memory_terms WHERE number = ?")


def insert_memory(batch: WriteSession, memory: Memory, words: PackedTerms, *, by: MemberId) -> int:
    """Written with the batch; returns the memory's number."""
    number = batch.next_number()
    batch.later.add(_INSERT, (number, *standing_row(batch, memory, by, None)))
    batch.put_terms(words, number=number)
    add_tags(batch.later, memory, number=number)
    log_change(batch, Operation.CREATE, memory, by=by)
    return number


def standing_row(batch: WriteSession, memory: Memory, by: MemberId, reason: str | None) -> tuple[object, ...]:
    """The values of STANDING, less the number."""
    clock_at = None if batch.committed_at == batch.now else micros(batch.now)
    return (*memory_row(memory), micros(batch.committed_at), by, reason, origin_of(memory), clock_at)


def remove_terms(later: DeferredWrites, *, number: int) -> None:
    later.add(_FORGET_TERMS, (number,))


def add_tags(later: DeferredWrites, memory: Memory, *, number: int) -> None:
    for tag in dict.fromkeys(memory.tags):
        later.add(_TAG, (tag, number))


def remove_tags(later: DeferredWrites, *, number: int) -> None:
    later.add(_UNTAG, (number,))
