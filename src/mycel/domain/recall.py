"""Recalls: one retrieval, what it found and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mycel.domain.ids import RecallId, TeamName
from mycel.domain.memory import EvidenceRef, Memory, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found memory. `score` orders within one recall, `relevance` 0..1 compares between recalls."""

    memory: Memory
    score: float
    relevance: float
    breakdown: Mapping[str, float]
    matched_scope: Scope
    snippet: str
    evidence: EvidenceRef | None
    why: str
    team: TeamName


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to one search. `degraded` names the parts that could not take part, if any."""

    id: RecallId
    query: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
