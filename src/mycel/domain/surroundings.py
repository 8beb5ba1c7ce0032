"""What is known of a memory beside its record: how often it is read, and what stands near it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import MemberId, MemoryId


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """A memory that stood near one when that was saved: what it says in short, how alike they are, and why."""

    id: MemoryId
    title: str
    excerpt: str
    agent_id: MemberId
    likeness: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingValue:
    """The value that stands under a key while another one waits for its place."""

    id: MemoryId
    value: str
    confidence: float
    agent_id: MemberId
    version: int


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was read by its id, counted apart from the record."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
