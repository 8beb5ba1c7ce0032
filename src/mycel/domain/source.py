"""Sources and ingestion events: the raw material, and the work still to be done on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import EventId, MemberId, SourceId
from mycel.domain.memory import Scope, SourceKind, Visibility
from mycel.domain.team import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Material that memories came from, kept for ever; purging a memory blanks its evidence."""

    id: SourceId
    kind: SourceKind
    agent_id: MemberId
    text: str
    sha256: str
    created_at: datetime
    visibility: Visibility = Visibility.TEAM
    allowed_roles: tuple[Role, ...] = ()
    session_id: str | None = None
    uri: str | None = None


class Trigger(StrEnum):
    """The only four moments at which anything is ingested."""

    MANUAL_WRITE = "manual_write"
    SESSION_CLOSE = "session_close"
    CONVERSATION_CAPTURE = "conversation_capture"
    MAINTENANCE = "maintenance"


class EventState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionEvent:
    """One unit of engine work: the queue and its audit log are the same rows."""

    id: EventId
    trigger: Trigger
    source_id: SourceId | None
    scope: Scope
    agent_id: MemberId
    state: EventState = EventState.PENDING
    tries: int = 0
    outcome: str | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime
    lease_until: datetime | None = None
