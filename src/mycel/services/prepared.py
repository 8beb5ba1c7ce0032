"""A checked memory that lacks only its moment; its words are ready, so that the writer need not wait for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mycel.contracts.store import Transaction
from mycel.domain.draft import Draft, written_at
from mycel.domain.ids import MemoryId, new_id
from mycel.domain.memory import Memory, MemoryType
from mycel.domain.packed_terms import PackedTerms
from mycel.retrieval.terms import packed_values

VALID = frozenset({"valid_from", "valid_until"})
# What tells of much, or of what was done: a period in it is not its own.
_NO_STATEMENTS = frozenset(
    {MemoryType.EPISODE, MemoryType.ARTIFACT, MemoryType.DOCUMENT, MemoryType.THREAD_SUMMARY, MemoryType.CONTEXT}
)


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    id: MemoryId
    values: Mapping[str, Any]
    ttl: timedelta | None
    words: PackedTerms
    # The fields that the writer named; the others were derived.
    given: frozenset[str] = frozenset()
    # Whether its text may say when it holds, and nobody else has.
    may_say_period: bool = False

    def at(self, transaction: Transaction) -> Memory:
        """Its moment is that of the transaction; how long it lives is counted by the clock."""
        values, now = self.values, transaction.now
        if self.may_say_period:
            said_at = values.get("observed_at") or now
            values = {**values, **period_of(values["type"], values["content"], said_at=said_at)}
        expires_at = None if self.ttl is None else now + self.ttl
        return written_at(values, transaction.committed_at, id=self.id, expires_at=expires_at)


def unwritten(
    values: Mapping[str, Any],
    *,
    ttl: timedelta | None,
    id: MemoryId | None = None,
    given: frozenset[str] = frozenset(),
) -> PreparedMemory:
    from mycel.engine.english.periods import may_say_period

    open_to = VALID.isdisjoint(values) and values["type"] not in _NO_STATEMENTS and may_say_period(values["content"])
    return PreparedMemory(id or MemoryId(new_id()), values, ttl, packed_values(values), given, open_to)


def period_of(type: MemoryType, content: str, *, said_at: datetime) -> dict[str, datetime | None]:
    """From when until when a memory holds by its own words."""
    from mycel.engine.english.periods import NO_PERIOD, period_in

    found = NO_PERIOD if type in _NO_STATEMENTS else period_in(content, said_at=said_at) or NO_PERIOD
    return {"valid_from": found.since, "valid_until": found.until}


def with_period(draft: Draft, before: Memory, *, now: datetime) -> Draft:
    """A change of words changes the period that was drawn from them, unless somebody has said another."""
    values = draft.values
    if "content" not in values or not VALID.isdisjoint(values):
        return draft
    drawn = period_of(before.type, before.content, said_at=before.observed_at or before.created_at)
    if drawn != {name: getattr(before, name) for name in drawn}:
        return draft
    said_at = values.get("observed_at") or before.observed_at or now
    period = period_of(values.get("type", before.type), values["content"], said_at=said_at)
    return draft if period == drawn else replace(draft, values={**values, **period})
