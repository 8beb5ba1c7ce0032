"""What the methods of a team's memory can be given by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from mycel.contracts.written_fields import EpisodeDetailFields, MemoryFields, SurroundingFields


class CaptureFields(SurroundingFields, total=False):
    """Of material that may belong to a task."""

    task_id: str | None


class TaskFields(SurroundingFields, EpisodeDetailFields, total=False):
    """How a task was done, and what the ledger keeps beside."""

    approach: str | None


class TaskResultFields(TaskFields, total=False):
    """What a task came to. Each artifact is an object with the fields of `artifacts.register` but those of the task."""

    task_id: str
    action: str
    output: str | None
    what_went_wrong: str | None
    lessons: Sequence[str] | None
    artifacts: Sequence[Mapping[str, Any]] | None
    idempotency_key: str | None


class IngestFields(MemoryFields, total=False):
    """Everything that `save` takes, and what a whole record says besides: its author, and whether it should wait."""

    content: str
    agent_id: str | None
    status: str | None
    similar: bool
    supersedes: str | None


class PolicyFields(TypedDict, total=False):
    """Parts of a team's policy. Times are spans such as `7d`, or `never`; `review` takes types, `all` or `none`."""

    least_trust: str
    review: str | Sequence[str] | None
    promote: str
    promote_from: float
    consolidate_every: timedelta | float | str | None
    lives: Mapping[str, timedelta | float | str | None]
    inbox_kept: timedelta | float | str | None
    episodes_kept: timedelta | float | str | None
    purge_after: timedelta | float | str | None
    secrets: str
    leads_below: str
    decisions_need_rationale: bool


Messages = Sequence[Mapping[str, Any]] | str


class AuditFields(TypedDict, total=False):
    """Which changes an auditor asks for; everything given must hold. `agent` made the change."""

    agent: str | None
    operation: str | None
    memory_id: str | None
    since: datetime | str | None
    until: datetime | str | None


class FilterFields(TypedDict, total=False):
    """What a reader can ask for; everything given must hold."""

    path: str | None
    type: str | Sequence[str] | None
    status: str | Sequence[str] | None
    scopes: str | Sequence[str] | None
    tags: str | Sequence[str] | None
    category: str | None
    key: str | None
    knowledge: bool | None
    project: str | None
    repo: str | None
    agent: str | None
    session_id: str | None
    task_id: str | None
    since: datetime | str | None
    until: datetime | str | None
    valid_at: datetime | str | None


class InboxFilterFields(FilterFields, total=False):
    """Of what waits, also what came from one source; and what the caller has put off, instead of the rest."""

    source: str | None
    snoozed: bool | None
