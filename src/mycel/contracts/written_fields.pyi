"""Made by `python -m scripts.memory_fields` from the table of a memory's fields; change that."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

class MemoryFields(TypedDict, total=False):
    """What a writer can say about a memory; whatever is left out is derived."""

    type: str
    title: str | None
    summary: str | None
    tags: Sequence[str] | str
    category: str | None
    key: str | None
    rationale: str | None
    alternatives: Sequence[str] | None
    project: str | None
    repo: str | None
    path: str
    scope: str
    session_id: str | None
    task_id: str | None
    visibility: str
    allowed_roles: Sequence[str]
    confidence: float
    observed_at: datetime | str | None
    expires_at: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    source_kind: str
    metadata: Mapping[str, Any] | None
    ttl: timedelta | float | str | None
    source: Mapping[str, Any] | str | None
    needs_review: bool
    idempotency_key: str | None

class ChangedFields(TypedDict, total=False):
    """What an update can change. None empties a field that may be empty."""

    type: str
    title: str | None
    summary: str | None
    tags: Sequence[str] | str
    category: str | None
    key: str | None
    rationale: str | None
    alternatives: Sequence[str] | None
    project: str | None
    repo: str | None
    path: str
    scope: str
    session_id: str | None
    task_id: str | None
    visibility: str
    allowed_roles: Sequence[str]
    confidence: float
    observed_at: datetime | str | None
    expires_at: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    source_kind: str
    metadata: Mapping[str, Any] | None
    ttl: timedelta | float | str | None
    source: Mapping[str, Any] | str | None
    needs_review: bool
    idempotency_key: str | None
    content: str
    status: str
    expected_version: int | None
    reason: str | None

class SurroundingFields(TypedDict, total=False):
    """Where captured material belongs and who may read it, and with it what is drawn from it."""

    project: str | None
    repo: str | None
    session_id: str | None
    visibility: str | None
    allowed_roles: Sequence[str] | None
    thread_id: str | None
    title: str | None
    uri: str | None

class EpisodeDetailFields(TypedDict, total=False):
    """What the ledger keeps of an episode; `agent_id` is who did it, by default the caller."""

    agent_id: str | None
    duration_ms: int | None
    tokens_in: int | None
    tokens_out: int | None

class EpisodeFields(TypedDict, total=False):
    """What else is said of an episode. The orchestrator, leads and admins may name another `agent_id`."""

    agent_id: str | None
    duration_ms: int | None
    tokens_in: int | None
    tokens_out: int | None
    task_id: str | None
    project: str | None
    repo: str | None
    session_id: str | None
    tags: Sequence[str] | str | None
    visibility: str | None
    allowed_roles: Sequence[str] | None
    observed_at: datetime | str | None
    idempotency_key: str | None

class ArtifactFields(TypedDict, total=False):
    """What else is said of an artifact; what is left out is read off the file."""

    agent_id: str | None
    type: str
    size_bytes: int | None
    checksum: str | None
    description: str | None
    content: str | bytes | None
    keep_content: bool
    task_id: str | None
    project: str | None
    repo: str | None
    session_id: str | None
    tags: Sequence[str] | str | None
    visibility: str | None
    allowed_roles: Sequence[str] | None
    idempotency_key: str | None

class KnowledgeFields(TypedDict, total=False):
    """What else a writer can say about a value, as in `save`."""

    title: str | None
    summary: str | None
    tags: Sequence[str] | str | None
    rationale: str | None
    alternatives: Sequence[str] | None
    repo: str | None
    visibility: str | None
    allowed_roles: Sequence[str] | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    metadata: Mapping[str, Any] | None
    source: Mapping[str, Any] | str | None
