"""Explanations: why a search answered as it did, and why it left something out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mycel.domain.memory import Memory
from mycel.domain.recall import LoggedRecall


class Step(StrEnum):
    """Where a search left a memory behind, in the order of the steps."""

    LATER = "later"
    STATUS = "status"
    EXPIRY = "expiry"
    FILTER = "filter"
    NO_MATCH = "no_match"
    REACH = "reach"
    THRESHOLD = "threshold"
    # Another that says nearly the same stands for it.
    COPY = "copy"
    # Its author had a share of the answer already, and others had something to say.
    SHARE = "share"
    RANK = "rank"
    # It was not left behind.
    RETURNED = "returned"
    # It was, but the same search would return it now.
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`text` says it in words; the rest are the facts behind it, as far as they apply."""

    text: str
    recall: LoggedRecall | None = None
    memory: Memory | None = None
    # Of the memory that was missing: where it was left behind, by which filter, and what it would have needed.
    step: Step | None = None
    filter: str | None = None
    rank: int | None = None
    relevance: float | None = None
    least: float | None = None
    # Of a memory: the caller's latest searches that found it.
    recalls: tuple[LoggedRecall, ...] = ()
