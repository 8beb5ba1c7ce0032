"""The part of a store that is moved as an archive: everything out in one go, and record by record in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mycel.access.scope import ReadScope
from mycel.domain.archive import Record, Taken
from mycel.domain.ids import MemberId
from mycel.domain.indexed_words import IndexedText


class MovingTransaction(Protocol):
    def take_in(
        self,
        scope: ReadScope,
        record: Record,
        *,
        by: MemberId,
        words: IndexedText | None = None,
        dry_run: bool = False,
    ) -> Taken:
        """Stores the record as it is, with its id and times, unless something here stands against it.

        What was purged here stays purged; what is newer here stays. The same record twice is `unchanged`. With
        `dry_run` it only tells what it would do. Memories and links get into the change log, as done by `by`.
        """
        ...


class MovingReads(Protocol):
    def read_records(self, scope: ReadScope, take: Callable[[Record], None]) -> None:
        """Gives everything in sight to `take`, as of one moment; a record comes after those that it refers to.

        Readers and writers go on meanwhile. Deleted memories and receipts are only for a scope that sees everything.
        """
        ...
