"""Recalls: one retrieval, what it found and why, and why it left something out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from mycel.domain.ids import MemoryId, RecallId, TeamName
from mycel.domain.memory import EvidenceRef, Memory, Scope


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


@dataclass(frozen=True, slots=True)
class Pool:
    """All that a search by meaning could have found: how many memories, and how the cosines of those measured lie."""

    size: int
    measured: int = 0
    mean: float = 0.0
    deviation: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found memory. `score` orders within one recall, `relevance` 0..1 compares between recalls.

    `copies` are the memories that say nearly the same, for which it stands; `contested_by` counts those in the reader's
    sight that contradict it.
    """

    memory: Memory
    score: float
    relevance: float
    breakdown: Mapping[str, float]
    matched_scope: Scope
    snippet: str
    evidence: EvidenceRef | None
    why: str
    team: TeamName
    copies: tuple[MemoryId, ...] = ()
    contested_by: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to one search. `degraded` names the parts that could not take part, if any."""

    id: RecallId
    query: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedHit:
    """A hit as it was answered: its numbers, not its text. The title is that of today, where it is told again."""

    memory_id: MemoryId
    score: float
    relevance: float
    breakdown: Mapping[str, float]
    why: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRecall:
    """A recall as the log has it. `request` is what was asked beside the question: filters, limit, ranking."""

    id: RecallId
    query: str
    recalled_at: datetime
    request: Mapping[str, Any]
    hits: tuple[LoggedHit, ...]
    degraded: tuple[str, ...] = ()
