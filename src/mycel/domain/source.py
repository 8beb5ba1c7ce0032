"""Sources and ingestion events: the raw material, what is drawn from it, and the work still to be done on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mycel.domain.draft import check_audience, read_value
from mycel.domain.ids import EventId, MemberId, SourceId
from mycel.domain.memory import WRITTEN, Category, Memory, MemoryType, Scope, SourceKind, Visibility
from mycel.domain.memory_field import FieldRow, Holds, Panel, beside
from mycel.domain.names import read_names
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

    `grounds` names what speaks for it besides a pattern: the language model that found it, or that it was said
    outright. `said_by` is whose word it is, as the talk names them. `taken_back_by` is a later remark of the same talk
    that may have taken it back.
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
    said_by: str | None = None
    taken_back_by: str | None = None


# Of what was drawn from a talk, where nothing says it more exactly. Only memories of one category are merged.
USUAL_CATEGORY: Mapping[MemoryType, Category] = MappingProxyType(
    {
        MemoryType.DECISION: Category.DECISION,
        MemoryType.TASK_HINT: Category.FACT,
        MemoryType.REFERENCE: Category.FACT,
        MemoryType.PROJECT: Category.FACT,
        MemoryType.PROFILE: Category.PREFERENCE,
        MemoryType.FACT: Category.CODEBASE_KNOWLEDGE,
        MemoryType.LESSON: Category.MISTAKE_PATTERN,
    }
)

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


# What the engine will do by itself.
UNFINISHED = (EventState.PENDING, EventState.RUNNING, EventState.FAILED)


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


class CaptureMode(StrEnum):
    """`store` keeps the material and does nothing more; `extract` also draws candidates from it."""

    STORE = "store"
    EXTRACT = "extract"


_OF_MEMORIES = ("project", "repo", "session_id", "task_id", "visibility", "allowed_roles")
_OF_SOURCES = (
    beside("thread_id", Holds.LABEL, "A name of the thread", metavar="ID", panel=Panel.PLACE),
    beside("title", Holds.TITLE, "What it is called"),
    beside("uri", Holds.LABEL, "Where it can be found", option=""),
)
# What a writer can say about a source, by the names in a request; what is drawn from it has most of it too.
SURROUNDINGS: Mapping[str, FieldRow] = MappingProxyType(
    {name: WRITTEN[name] for name in _OF_MEMORIES} | {row.name: row for row in _OF_SOURCES}
)


def read_surroundings(given: Mapping[str, object], *, checks_audience: bool = True) -> dict[str, Any]:
    """Fields of a source by their names there; what is not given is left out."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in SURROUNDINGS:
            return read_surroundings(
                read_names(given, SURROUNDINGS, kind="known here"), checks_audience=checks_audience
            )
        if value is not None:
            row = SURROUNDINGS[name]
            values[row.name] = read_value(row, value)
    if checks_audience:
        check_audience(values.get("visibility", Visibility.TEAM), values.get("allowed_roles", ()))
    return values
