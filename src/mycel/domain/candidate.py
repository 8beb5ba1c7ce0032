"""A candidate: what extraction drew from a source, before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass

from mycel.domain.memory import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A statement worth keeping, and the characters `start` to `end` of its source that support it.

    `grounds` names what found it besides a rule: a language model.
    """

    type: MemoryType
    title: str
    content: str
    confidence: float
    start: int
    end: int
    category: str | None = None
    tags: tuple[str, ...] = ()
    rationale: str | None = None
    alternatives: tuple[str, ...] = ()
    grounds: str | None = None
