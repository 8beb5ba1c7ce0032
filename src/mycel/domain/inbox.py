"""The inbox: candidates that wait for a person, with what supports them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mycel.domain.ids import MemberId, MemoryId, SourceId
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
class Claim:
    """Who is looking at a candidate, and until when others had better look at another one."""

    memory_id: MemoryId
    member_id: MemberId
    until: datetime


@dataclass(frozen=True, slots=True)
class GivesWay:
    """A memory that stands, and is superseded when a candidate that replaces it is approved."""

    id: MemoryId
    title: str


@dataclass(frozen=True, slots=True)
class InboxItem:
    """`reason` says why it waits; `links` what it would contradict, repeat or replace.

    `claim` is there while somebody looks at it; `snoozed_until` where its reader has put it off. `warning` says what
    its text asks of whoever reads it, where it reads like an order: approving it takes `acknowledge_warning`.
    `gives_way` is what approving it supersedes.
    """

    memory: Memory
    reason: str
    evidence: Surroundings | None
    links: tuple[Link, ...]
    claim: Claim | None = None
    snoozed_until: datetime | None = None
    warning: str | None = None
    gives_way: tuple[GivesWay, ...] = ()


@dataclass(frozen=True, slots=True)
class Snoozes:
    """A filter of lists: what this member has put off until after `at`, or with `are_left_out` everything else."""

    member_id: MemberId
    at: datetime
    are_left_out: bool
