"""A checked memory that lacks only its moment; its words are ready, so that the writer need not wait for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mycel.contracts.store import Transaction
from mycel.domain.draft import written_at
from mycel.domain.ids import MemoryId, new_id
from mycel.domain.memory import Memory
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.terms import packed_values


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    id: MemoryId
    values: Mapping[str, Any]
    ttl: timedelta | None
    words: PackedTerms
    # The fields that the writer named; the others were derived.
    given: frozenset[str] = frozenset()

    def at(self, transaction: Transaction) -> Memory:
        """Its moment is that of the transaction; how long it lives is counted by the clock."""
        expires_at = None if self.ttl is None else transaction.now + self.ttl
        return written_at(self.values, transaction.committed_at, id=self.id, expires_at=expires_at)


def unwritten(
    values: Mapping[str, Any],
    *,
    ttl: timedelta | None,
    id: MemoryId | None = None,
    given: frozenset[str] = frozenset(),
) -> PreparedMemory:
    return PreparedMemory(id or MemoryId(new_id()), values, ttl, packed_values(values), given)
