"""The part of a store that is moved as an archive: everything out in one go, and record by record in.

What is to become of a record is decided in `domain.archive`; sources, events, places and links come in through the
parts that keep them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mycel.access.scope import ReadScope
from mycel.domain.archive import MemoryRecord, Record, Standing, Tombstone
from mycel.domain.ids import MemberId
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms


class ArchiveReads(Protocol):
    def read(self, scope: ReadScope, take: Callable[[Record], None]) -> None:
        """Gives everything in sight to `take`, as of one moment; a record comes after those that it refers to.

        Readers and writers go on meanwhile. Deleted memories and receipts are only for a scope that sees everything.
        """
        ...


class ArchiveWrites(Protocol):
    def standing(self, scope: ReadScope, record: MemoryRecord) -> Standing:
        """What is here already that bears on this memory."""
        ...

    def put_memory(self, record: MemoryRecord, words: PackedTerms, *, by: MemberId, before: Memory | None) -> None:
        """With its id, times and versions, in place of what stood before. It gets into the log, as done by `by`."""
        ...

    def is_known(self, stone: Tombstone) -> bool: ...
    def put_tombstone(self, stone: Tombstone) -> None: ...
