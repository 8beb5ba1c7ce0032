"""What agents do beside writing memories: what each was given and when, and what anybody changed around memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.team import Kind, Role

# Longer than any hook or briefing makes one; what is longer was not made by them, and is cut.
MAX_INJECTION_CHARACTERS = 16_000
MAX_INJECTION_BYTES = 4 * MAX_INJECTION_CHARACTERS
MAX_NAMED = 200
# Of one member; the oldest go.
INJECTIONS_KEPT = 500


class Occasion(StrEnum):
    """When an agent was given something."""

    SESSION = "session"
    PROMPT = "prompt"
    BRIEFING = "briefing"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """Text that an agent was given without asking for each memory in it, as it saw it.

    Whoever else reads it finds of its notes those that it may read itself.
    """

    id: str
    member_id: MemberId
    occasion: Occasion
    given_at: datetime
    text: str
    memory_ids: tuple[MemoryId, ...] = ()
    session_id: str | None = None
    task_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """That a member was given a memory: by a search of its own, or in what it was told."""

    member_id: MemberId
    occasion: Occasion
    given_at: datetime
    session_id: str | None = None
    task_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberActivity:
    """`last_seen_at` is the last search, writing, capture or injection that is known of; None where none is."""

    member_id: MemberId
    role: Role
    kind: Kind
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How much use the memories of one type or of one author are: how often they were read by others and rated."""

    name: str
    memories: int = 0
    reads: int = 0
    useful: int = 0
    useless: int = 0

    @property
    def rate(self) -> float | None:
        """None where nobody has said."""
        rated = self.useful + self.useless
        return self.useful / rated if rated else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change of something that is no memory: who did what to which, what it was before and is after."""

    id: str
    operation: str
    by: MemberId
    at: datetime
    subject: str
    before: Mapping[str, Any] = field(default_factory=dict[str, Any])
    after: Mapping[str, Any] = field(default_factory=dict[str, Any])
