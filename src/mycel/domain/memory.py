"""The memory: the one canonical record, whatever its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mycel.domain.ids import MemberId, MemoryId, SourceId, TeamName
from mycel.domain.team import Role, Trust

NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class MemoryType(StrEnum):
    FACT = "fact"
    LESSON = "lesson"
    DECISION = "decision"
    PROFILE = "profile"
    PROJECT = "project"
    TASK_HINT = "task_hint"
    CONTEXT = "context"
    DOCUMENT = "document"
    NOTE = "note"
    REFERENCE = "reference"
    THREAD_SUMMARY = "thread_summary"
    EPISODE = "episode"
    ARTIFACT = "artifact"


class Scope(StrEnum):
    """Where a memory applies."""

    GLOBAL = "global"
    PROJECT = "project"
    REPO = "repo"
    AGENT = "agent"
    SESSION = "session"


class Visibility(StrEnum):
    """Who may read a memory."""

    TEAM = "team"
    ROLE = "role"
    PRIVATE = "private"


class Status(StrEnum):
    INBOX = "inbox"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ARCHIVED = "archived"


class SourceKind(StrEnum):
    MANUAL = "manual"
    CONVERSATION = "conversation"
    RUN = "run"
    DOCUMENT = "document"
    IMPORT = "import"


class MadeBy(StrEnum):
    """What created a memory; its time to live follows from this."""

    MANUAL = "manual"
    TASK_COMPLETION = "task_completion"
    SESSION_SUMMARY = "session_summary"
    FILE_INDEX = "file_index"
    INJECT_LEARNING = "inject_learning"
    EXTRACTION = "extraction"
    THREAD_SUMMARY = "thread_summary"
    EPISODE_SUMMARY = "episode_summary"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Where a memory came from: a stored source, or a place outside that only has a name."""

    source_id: SourceId | None = None
    thread_id: str | None = None
    message_id: str | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """The characters of a stored source that support a memory."""

    source_id: SourceId
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One version of one record. Access counters are kept apart, so reading never rewrites it.

    Without slots, so that `checked_memory` can fill it in one step.
    """

    id: MemoryId
    team: TeamName
    type: MemoryType
    title: str
    content: str
    path: str
    scope: Scope
    agent_id: MemberId
    visibility: Visibility
    status: Status
    confidence: float
    trust: Trust
    source_kind: SourceKind
    made_by: MadeBy
    created_at: datetime
    updated_at: datetime
    version: int
    category: str | None = None
    key: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] = ()
    project_id: str | None = None
    repo_id: str | None = None
    session_id: str | None = None
    task_id: str | None = None
    allowed_roles: tuple[Role, ...] = ()
    source_ref: SourceRef | None = None
    evidence_ref: EvidenceRef | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: NO_METADATA, hash=False)
    rationale: str | None = None
    alternatives: tuple[str, ...] = ()
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    deleted_at: datetime | None = None
    # How little its age takes from its rank, 0 to 1, when it was read; None in the answer to a write.
    freshness: float | None = field(default=None, compare=False)


def checked_memory(values: dict[str, Any]) -> Memory:
    """A memory from a dictionary of all its fields, which becomes its own.

    A frozen dataclass sets each field by a call, ten times the cost of the SELECT that brought the values.
    """
    memory = object.__new__(Memory)
    object.__setattr__(memory, "__dict__", values)
    return memory


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a memory in time: believed from `valid_from` until `valid_to`."""

    memory: Memory
    valid_from: datetime
    valid_to: datetime | None
    changed_by: MemberId
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was read by its id, counted apart from the record."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
