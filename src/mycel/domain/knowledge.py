"""Knowledge: memories with a key, of which one value stands per project and category."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemoryId, SourceId
from mycel.domain.marks import without_marks
from mycel.domain.memory import Memory, MemoryType, Visibility
from mycel.domain.team import Caller, Role

# What a writer always says, given or derived; the place under which the value stands is equal anyway.
_ALWAYS_SAID = ("content", "type", "confidence", "visibility", "allowed_roles")


def is_knowledge(memory: Memory) -> bool:
    """A profile has keys too, but is about a person, who alone decides about it."""
    return memory.key is not None and memory.type is not MemoryType.PROFILE


def is_over(standing: Memory, now: datetime) -> bool:
    """What has expired stands against nothing any more, archived or not."""
    return standing.expires_at is not None and standing.expires_at <= now


def replaces(caller: Caller, standing: Memory, incoming: Memory, *, now: datetime) -> bool:
    """Whether a write takes the place of the standing value, or waits as a candidate that contradicts it."""
    if caller.role is Role.ORCHESTRATOR or is_over(standing, now):
        return True
    if incoming.confidence == standing.confidence:
        return caller.member_id == standing.agent_id
    return incoming.confidence > standing.confidence


def confirms(caller: Caller, standing: Memory, incoming: Memory) -> bool:
    """Whether somebody else writes what stands already; the orchestrator's own word takes its place instead."""
    return (
        caller.role is not Role.ORCHESTRATOR
        and incoming.agent_id != standing.agent_id
        and same_value(standing, incoming)
    )


def same_value(one: Memory, other: Memory) -> bool:
    """Whether two values differ in blanks or the full stop at their end alone."""
    first, second = (" ".join(memory.content.split()).removesuffix(".") for memory in (one, other))
    return first == second


def says_the_same(known: Memory, incoming: Memory, *, given: Collection[str]) -> bool:
    """Whether a write by the same author repeats what is known; what it did not give, it does not deny."""
    if known.agent_id != incoming.agent_id:
        return False
    if "metadata" in given and without_marks(known.metadata) != without_marks(incoming.metadata):
        return False
    names = {*_ALWAYS_SAID, *given} - {"metadata"}
    return all(getattr(known, name) == getattr(incoming, name) for name in names)


def is_rival(one: Memory, other: Memory) -> bool:
    """Two values for the same readers of which only one can hold."""
    if one.visibility is Visibility.PRIVATE and one.agent_id != other.agent_id:
        return False
    return _place(one) == _place(other)


def _place(memory: Memory) -> tuple[object, ...]:
    audience = (memory.visibility, frozenset(memory.allowed_roles))
    return (memory.project_id, memory.category, memory.key, is_knowledge(memory), *audience)


class Outcome(StrEnum):
    """`unchanged` wrote nothing; `missing` is no longer in the file and stays as it is."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    WAITING = "waiting"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """`memory_id` is the value that stands or waits; None where there is none, as for what a dry run would make."""

    key: str
    category: str
    outcome: Outcome
    memory_id: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of the file that became no value."""

    line: int
    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """`source_id` is the file as it was kept; None in a dry run that would have kept it."""

    name: str
    source_id: SourceId | None
    entries: tuple[ImportedEntry, ...]
    missing: tuple[ImportedEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    dry_run: bool = False

    def count(self, outcome: Outcome) -> int:
        return sum(entry.outcome is outcome for entry in (*self.entries, *self.missing))
