"""Sources and ingestion events: the raw material, what is drawn from it, and the work still to be done on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import EventId, MemberId, SourceId
from mycel.domain.memory import Memory, MemoryType, Scope, SourceKind, Visibility
from mycel.domain.team import Role, Trust


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said: the characters from `start` to `end` of the text, without the speaker's name.

    `role` is `user`, `assistant`, `system`, `tool`, or empty where nobody knows; `speaker` a name, if one was given.
    """

    role: str
    start: int
    end: int
    speaker: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The text is what is stored as the source; evidence points into it."""

    text: str
    turns: tuple[Turn, ...]


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


# What stands where purged evidence was.
BLANK = "\N{FULL BLOCK}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """A source as it is listed: everything but what was said, which may be megabytes.

    Memories drawn from it belong where it belongs: its project, repo, session, task and thread. A session that reports
    again grows its source; `extracted_to` is how far of it has been looked at.
    """

    id: SourceId
    kind: SourceKind
    agent_id: MemberId
    sha256: str
    created_at: datetime
    visibility: Visibility = Visibility.TEAM
    allowed_roles: tuple[Role, ...] = ()
    session_id: str | None = None
    uri: str | None = None
    title: str | None = None
    project_id: str | None = None
    repo_id: str | None = None
    task_id: str | None = None
    thread_id: str | None = None
    # Of whoever captured it, at that moment: what is drawn from it later is trusted no more.
    trust: Trust = Trust.NORMAL
    extracted_to: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(SourceEntry):
    """Material that memories came from, kept for ever; purging a memory blanks its evidence."""

    text: str
    turns: tuple[Turn, ...] = ()


class Trigger(StrEnum):
    """The only four moments at which anything is ingested."""

    MANUAL_WRITE = "manual_write"
    SESSION_CLOSE = "session_close"
    CONVERSATION_CAPTURE = "conversation_capture"
    MAINTENANCE = "maintenance"


class Step(StrEnum):
    """What is to be done with an event, in this order."""

    SUMMARIZE = "summarize"
    EXTRACT = "extract"
    INDEX = "index"
    CONSOLIDATE = "consolidate"
    MAINTAIN = "maintain"
    DELIVER = "deliver"


class EventState(StrEnum):
    """A `failed` event is tried again when its time comes; a `dead` one only when somebody says so."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionEvent:
    """One unit of engine work: the queue and its audit log are the same rows.

    `tries` counts failures, `takeovers` how often a worker vanished in the middle. `lease` names the worker that has
    it until `lease_until`.
    """

    id: EventId
    trigger: Trigger
    source_id: SourceId | None
    scope: Scope
    agent_id: MemberId
    steps: tuple[Step, ...] = ()
    state: EventState = EventState.PENDING
    tries: int = 0
    takeovers: int = 0
    outcome: str | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime
    due_at: datetime | None = None
    lease: str | None = None
    lease_until: datetime | None = None


def origin_of(memory: Memory) -> SourceId | None:
    """The source that a memory was drawn from."""
    origin = memory.evidence_ref or memory.source_ref
    return origin.source_id if origin else None
