"""Between a memory and its row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any, cast

from mycel.domain.change import Audience
from mycel.domain.draft import checked_memory
from mycel.domain.ids import MemberId, SourceId, TeamName
from mycel.domain.memory import (
    FIELDS,
    EvidenceRef,
    Memory,
    MemoryType,
    SourceRef,
    Version,
    Visibility,
)
from mycel.domain.memory_field import MOMENTS, FieldRow, Holds
from mycel.domain.team import Role

Row = tuple[Any, ...]
Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EXACT_AS_FLOAT = 2**32 * 1_000_000
# What a moment may be: from the year 1 to the year 9999, in microseconds since 1970.
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000_000, 253_402_300_799_999_999

_STORED = tuple(row for row in FIELDS.values() if row.stored)
MEMORY_COLUMNS = tuple(row.column for row in _STORED)
_NAMES = tuple(row.name for row in _STORED)
# A version is believed from `valid_from` until `valid_to`; when it holds in the world stands in `holds_from` and
# `holds_until`.
HISTORY_COLUMNS = ("valid_from", "changed_by", "reason")

# What only a reader is told.
_UNREAD = {row.name: row.empty for row in FIELDS.values() if not row.stored and not row.required}
_VISIBILITY = {item.value: item for item in Visibility}
_TYPE = {item.value: item for item in MemoryType}
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


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def packed(value: object) -> str | None:
    """JSON, or NULL for what is empty."""
    return _encode(value) if value else None


# The same few lists of tags and roles stand in most rows.
@lru_cache(maxsize=4096)
def packed_texts(texts: tuple[str, ...]) -> str | None:
    return packed(texts)


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
    row = list(_VALUES(vars(memory)))
    for place, pack in _PACKED:
        # Nothing packed is false but what is empty.
        row[place] = pack(row[place]) if row[place] else None
    return tuple(row)


def memory_from(row: Row, team: TeamName) -> Memory:
    """From the values of MEMORY_COLUMNS; anything after them is not looked at."""
    values: dict[str, Any] = dict(zip(_NAMES, row, strict=False))
    values |= _choices_from(_CHOICES_IN(row))
    for name, unpack in _ALWAYS_PACKED:
        values[name] = unpack(values[name])
    for name, unpack, empty in _MAYBE_PACKED:
        if (found := values[name]) is not None:
            values[name] = unpack(found)
        elif empty is not None:
            values[name] = empty
    values["team"] = team
    values |= _UNREAD
    return checked_memory(values)


def version_from(row: Row, team: TeamName) -> Version:
    """From MEMORY_COLUMNS, HISTORY_COLUMNS and valid_to."""
    valid_from, changed_by, reason, valid_to = row[len(MEMORY_COLUMNS) :]
    return Version(memory_from(row, team), moment(valid_from), moment_or_none(valid_to), MemberId(changed_by), reason)


def _packed_source(source: SourceRef) -> str | None:
    return packed([source.source_id, source.thread_id, source.message_id, source.uri])


def _source_from(value: str) -> SourceRef:
    return SourceRef(*json.loads(value))


def _packed_evidence(evidence: EvidenceRef) -> str | None:
    return packed([evidence.source_id, evidence.start, evidence.end])


def _evidence_from(value: str) -> EvidenceRef:
    source_id, start, end = json.loads(value)
    return EvidenceRef(SourceId(source_id), start, end)


def _packed_metadata(metadata: Mapping[str, Any]) -> str | None:
    return packed(dict(metadata))


def _metadata_from(value: str) -> Mapping[str, Any]:
    return MappingProxyType(json.loads(value))


_PACKS: Mapping[Holds, tuple[Pack, Unpack]] = {
    **dict.fromkeys(MOMENTS, (micros, moment)),
    Holds.TAGS: (packed_texts, unpacked_texts),
    Holds.NOTES: (packed, unpacked_texts),
    Holds.CHOICES: (packed_roles, roles_from),
    Holds.METADATA: (_packed_metadata, _metadata_from),
    Holds.ORIGIN: (_packed_source, _source_from),
    Holds.EVIDENCE: (_packed_evidence, _evidence_from),
}


_CHOICES = tuple(row for row in _STORED if row.options is not None)


# Few choices go together in the rows of a team; looking all of them up at once costs as much as one.
@lru_cache(maxsize=4096)
def _choices_from(packed_choices: tuple[str | None, ...]) -> dict[str, Any]:
    return {row.name: _choice_from(row, value) for row, value in zip(_CHOICES, packed_choices, strict=True)}


def _choice_from(row: FieldRow, value: str | None) -> Any:
    if row.options is None or value is None:
        return row.empty
    return tuple(map(row.options, json.loads(value))) if row.holds is Holds.CHOICES else row.options(value)


_CHOICES_IN = itemgetter(*(place for place, row in enumerate(_STORED) if row.options is not None))
_VALUES = cast(Callable[[Mapping[str, Any]], Row], itemgetter(*_NAMES))
_PACKED = tuple((place, _PACKS[row.holds][0]) for place, row in enumerate(_STORED) if row.holds in _PACKS)
_UNPACKED = tuple((row, _PACKS[row.holds][1]) for row in _STORED if row.holds in _PACKS and row.options is None)
_ALWAYS_PACKED = tuple((row.name, unpack) for row, unpack in _UNPACKED if row.required)
_MAYBE_PACKED = tuple((row.name, unpack, row.empty) for row, unpack in _UNPACKED if not row.required)
