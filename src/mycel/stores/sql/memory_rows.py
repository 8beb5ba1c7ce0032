"""The rows a memory is made of: its own, its terms, its tags and its entry in the log."""

from __future__ import annotations

from collections.abc import Sequence

from mycel.domain.ids import MemberId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.domain.source import origin_of
from mycel.stores.sql.deferred import DeferredWrites, Statement
from mycel.stores.sql.log import log_created
from mycel.stores.sql.part import WriteSession
from mycel.stores.sql.rows import HISTORY_COLUMNS, MEMORY_COLUMNS, memory_row

# What a version keeps of a memory, and what its present row has besides.
WRITTEN = ("number", *MEMORY_COLUMNS, *HISTORY_COLUMNS, "source_id")
STANDING = (*WRITTEN, "clock_at")

_INSERT = Statement(0, f"INSERT INTO memories ({', '.join(STANDING)}) VALUES ", f"({', '.join('?' * len(STANDING))})")
_UNTAG = Statement(1, "DELETE FROM memory_tags WHERE number = ?")
_TAG = Statement(1, "INSERT INTO memory_tags (tag, number) VALUES ", "(?, ?)")
_FORGET_TERMS = Statement(2, "DELETE FROM memory_terms WHERE number = ?")


def insert_memories(batch: WriteSession, written: Sequence[tuple[Memory, PackedTerms]], *, by: MemberId) -> list[int]:
    """Written with the batch; returns their numbers."""
    memories = [memory for memory, _ in written]
    numbers = [batch.next_number() for _ in written]
    rows = list(zip(numbers, memories, strict=True))
    batch.later.add(_INSERT, *[(number, *standing_row(batch, memory, by, None)) for number, memory in rows])
    batch.later.add(_TAG, *[(tag, number) for number, memory in rows for tag in dict.fromkeys(memory.tags)])
    for number, (_, words) in zip(numbers, written, strict=True):
        batch.put_terms(words, number=number)
    log_created(batch, memories, by=by)
    return numbers


def standing_row(batch: WriteSession, memory: Memory, by: MemberId, reason: str | None) -> tuple[object, ...]:
    """The values of STANDING, less the number."""
    return (*memory_row(memory), batch.committed_micros, by, reason, origin_of(memory), batch.clock_micros)


def remove_terms(later: DeferredWrites, *, number: int) -> None:
    later.add(_FORGET_TERMS, (number,))


def add_tags(later: DeferredWrites, memory: Memory, *, number: int) -> None:
    later.add(_TAG, *[(tag, number) for tag in dict.fromkeys(memory.tags)])


def remove_tags(later: DeferredWrites, *, number: int) -> None:
    later.add(_UNTAG, (number,))
