"""The inbox: candidates that wait for a person, with what supports them."""

from __future__ import annotations

from dataclasses import dataclass

from mycel.domain.ids import SourceId
from mycel.domain.link import Link
from mycel.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Evidence where it was said: the characters before and after it, and its place in the source."""

    source_id: SourceId
    before: str
    quote: str
    after: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class InboxItem:
    """`reason` says why it waits; `links` what it would contradict, repeat or replace."""

    memory: Memory
    reason: str
    evidence: Surroundings | None
    links: tuple[Link, ...]
