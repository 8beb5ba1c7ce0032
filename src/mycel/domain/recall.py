"""Recalls: one retrieval, what it found and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mycel.domain.ids import MemoryId, RecallId, TeamName
from mycel.domain.memory import EvidenceRef, Memory, Scope


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

    `copies` are the memories that say nearly the same, for which it stands.
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
