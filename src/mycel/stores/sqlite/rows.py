"""Between a memory and its row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from mycel.domain.change import Audience
from mycel.domain.ids import MemberId, SourceId, TeamName
from mycel.domain.memory import (
    NO_METADATA,
    EvidenceRef,
    MadeBy,
    Memory,
    MemoryType,
    Scope,
    SourceKind,
    SourceRef,
    Status,
    Version,
    Visibility,
    checked_memory,
)
from mycel.domain.team import Role, Trust

Row = tuple[Any, ...]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXACT_AS_FLOAT = 2**32 * 1_000_000

MEMORY_COLUMNS = (
    "id", "visibility", "agent_id", "allowed_roles", "status", "deleted_at", "expires_at", "type", "scope",
    "project_id", "repo_id", "path", "created_at", "updated_at", "category", "key", "session_id", "task_id",
    "observed_at", "version", "confidence", "trust", "source_kind", "made_by", "source_ref", "evidence_ref",
    "tags", "title", "summary", "metadata", "rationale", "alternatives", "content",
)  # fmt: skip
HISTORY_COLUMNS = ("valid_from", "changed_by", "reason")

# Looking a member up in a dictionary costs a tenth of calling its enum.
_VISIBILITY = {item.value: item for item in Visibility}
_STATUS = {item.value: item for item in Status}
_TYPE = {item.value: item for item in MemoryType}
_SCOPE = {item.value: item for item in Scope}
_TRUST = {item.value: item for item in Trust}
_SOURCE_KIND = {item.value: item for item in SourceKind}
_MADE_BY = {item.value: item for item in MadeBy}
_ROLE = {item.value: item for item in Role}


def columns_of(table: str, names: Iterable[str] = MEMORY_COLUMNS) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


def micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    # Up to 2**32 seconds a float holds every microsecond, and is read three times as fast.
    if 0 <= value < _EXACT_AS_FLOAT:
        return datetime.fromtimestamp(value / 1e6, UTC)
    return _EPOCH + timedelta(microseconds=value)


def moment_or_none(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def packed(value: object) -> str | None:
    """JSON, or NULL for what is empty."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else None


# The same few lists of tags and roles stand in most rows.
@lru_cache(maxsize=4096)
def unpacked_texts(value: str) -> tuple[str, ...]:
    return tuple(json.loads(value))


@lru_cache(maxsize=64)
def roles_from(value: str | None) -> tuple[Role, ...]:
    return tuple(_ROLE[name] for name in json.loads(value)) if value else ()


def packed_roles(roles: tuple[Role, ...]) -> str | None:
    """Sorted, so that equal audiences are equal texts."""
    return packed(sorted(roles))


def memory_type(value: str | None) -> MemoryType | None:
    return None if value is None else _TYPE[value]


# One object for all rows with the same readers.
@lru_cache(maxsize=4096)
def audience_from(visibility: str, agent_id: str, allowed_roles: str | None) -> Audience:
    return Audience(_VISIBILITY[visibility], MemberId(agent_id), roles_from(allowed_roles))


def memory_row(memory: Memory) -> Row:
    """The values of MEMORY_COLUMNS."""
    source, evidence = memory.source_ref, memory.evidence_ref
    return (
        memory.id,
        memory.visibility,
        memory.agent_id,
        packed_roles(memory.allowed_roles),
        memory.status,
        micros_or_none(memory.deleted_at),
        micros_or_none(memory.expires_at),
        memory.type,
        memory.scope,
        memory.project_id,
        memory.repo_id,
        memory.path,
        micros(memory.created_at),
        micros(memory.updated_at),
        memory.category,
        memory.key,
        memory.session_id,
        memory.task_id,
        micros_or_none(memory.observed_at),
        memory.version,
        memory.confidence,
        memory.trust,
        memory.source_kind,
        memory.made_by,
        source and packed([source.source_id, source.thread_id, source.message_id, source.uri]),
        evidence and packed([evidence.source_id, evidence.start, evidence.end]),
        packed(memory.tags),
        memory.title,
        memory.summary,
        packed(dict(memory.metadata)) if memory.metadata else None,
        memory.rationale,
        packed(memory.alternatives),
        memory.content,
    )


def memory_from(row: Row, team: TeamName) -> Memory:
    """From the values of MEMORY_COLUMNS; anything after them is not looked at."""
    return checked_memory(
        {
            "team": team,
            "id": row[0],
            "visibility": _VISIBILITY[row[1]],
            "agent_id": row[2],
            "allowed_roles": roles_from(row[3]) if row[3] else (),
            "status": _STATUS[row[4]],
            "deleted_at": None if row[5] is None else moment(row[5]),
            "expires_at": None if row[6] is None else moment(row[6]),
            "type": _TYPE[row[7]],
            "scope": _SCOPE[row[8]],
            "project_id": row[9],
            "repo_id": row[10],
            "path": row[11],
            "created_at": moment(row[12]),
            "updated_at": moment(row[13]),
            "category": row[14],
            "key": row[15],
            "session_id": row[16],
            "task_id": row[17],
            "observed_at": None if row[18] is None else moment(row[18]),
            "version": row[19],
            "confidence": row[20],
            "trust": _TRUST[row[21]],
            "source_kind": _SOURCE_KIND[row[22]],
            "made_by": _MADE_BY[row[23]],
            "source_ref": SourceRef(*json.loads(row[24])) if row[24] else None,
            "evidence_ref": _evidence(row[25]) if row[25] else None,
            "tags": unpacked_texts(row[26]) if row[26] else (),
            "title": row[27],
            "summary": row[28],
            "metadata": MappingProxyType(json.loads(row[29])) if row[29] else NO_METADATA,
            "rationale": row[30],
            "alternatives": unpacked_texts(row[31]) if row[31] else (),
            "content": row[32],
            "freshness": None,
        }
    )


def version_from(row: Row, team: TeamName) -> Version:
    """From MEMORY_COLUMNS, HISTORY_COLUMNS and valid_to."""
    valid_from, changed_by, reason, valid_to = row[len(MEMORY_COLUMNS) :]
    return Version(memory_from(row, team), moment(valid_from), moment_or_none(valid_to), MemberId(changed_by), reason)


def _evidence(packed_ref: str) -> EvidenceRef:
    source_id, start, end = json.loads(packed_ref)
    return EvidenceRef(SourceId(source_id), start, end)
