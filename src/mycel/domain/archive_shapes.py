"""The fields of each kind of line in an archive, and how each is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar, cast

from mycel.domain import fields
from mycel.domain.archive import Kind, Record, SourcePassage, Tombstone
from mycel.domain.artifact import ArtifactType, read_path
from mycel.domain.episode import Action
from mycel.domain.ids import parse_id
from mycel.domain.link import Link, Relation
from mycel.domain.memory import (
    FIELDS,
    EvidenceRef,
    Scope,
    SourceKind,
    SourceRef,
    Visibility,
)
from mycel.domain.memory_field import LISTS, FieldRow, Holds
from mycel.domain.place import Project, Repo
from mycel.domain.source import EventState, IngestionEvent, Source, Step, Trigger, Turn
from mycel.domain.team import Role, Trust
from mycel.errors import InvalidInput

Line = dict[str, Any]
Reader = Callable[[object, str], Any]
Shape = Mapping[str, Reader]
EnumT = TypeVar("EnumT", bound=StrEnum)

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_SHORT_BYTES = 4096
_HEX = re.compile("(?:[0-9a-f]{2})+")


def checked(line: Line, shape: Shape, *, leave: tuple[str, ...] = ()) -> Line:
    unknown = line.keys() - shape.keys() - {"kind", *leave}
    if unknown:
        raise InvalidInput("is not a field of this kind", field=ascii(min(unknown)[:40])[1:-1])
    missing = shape.keys() - line.keys()
    if missing:
        raise InvalidInput("is missing", field=min(missing))
    return {name: read(line[name], name) for name, read in shape.items()}


def _long(value: object, field: str) -> str:
    return fields.text(value, field=field, max_bytes=MAX_LINE_BYTES)


def _short(value: object, field: str) -> str:
    return fields.text(value, field=field, max_bytes=MAX_SHORT_BYTES)


def _name(value: object, field: str) -> str:
    return fields.filled_text(value, field=field, max_bytes=MAX_SHORT_BYTES)


def _id(value: object, field: str) -> str:
    return parse_id(value, field=field)


def _hex(value: object, field: str) -> str:
    found = _short(value, field)
    if not _HEX.fullmatch(found):
        raise InvalidInput("must be hexadecimal", field=field)
    return found


def _time(value: object, field: str) -> datetime:
    if not isinstance(value, str):
        raise InvalidInput("must be an ISO 8601 time such as 2026-11-15T09:00:00Z", field=field)
    return fields.moment(value, field=field)


def _count(value: object, field: str) -> int:
    return fields.whole(value, field=field, least=0, most=fields.MOST_INTEGER)


def _integer(value: object, field: str) -> int:
    return fields.whole(value, field=field, least=fields.LEAST_INTEGER, most=fields.MOST_INTEGER)


def _version_number(value: object, field: str) -> int:
    return fields.whole(value, field=field, least=1, most=fields.MOST_INTEGER)


def _fraction(value: object, field: str) -> float:
    return fields.fraction(value, field=field)


def _flag(value: object, field: str) -> bool:
    return fields.flag(value, field=field)


def _path(value: object, field: str) -> str:
    return fields.path(value, field=field)


def _file(value: object, field: str) -> str:
    return read_path(value, field=field)


def _one_of(options: type[EnumT]) -> Reader:
    def read(value: object, field: str) -> EnumT:
        return fields.choice(value, options, field=field)

    return read


def _or_none(reader: Reader) -> Reader:
    def read(value: object, field: str) -> Any:
        return None if value is None else reader(value, field)

    return read


def _each(reader: Reader, *, most: int = fields.MOST_INTEGER) -> Reader:
    def read(value: object, field: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise InvalidInput("must be a list", field=field)
        items = cast(list[object], value)
        if len(items) > most:
            raise InvalidInput(f"has more than {most} entries", field=field)
        return tuple(reader(item, field) for item in items)

    return read


def _inner(made: Callable[..., Any], shape: Shape) -> Reader:
    def read(value: object, field: str) -> Any:
        try:
            return made(**checked(_object(value, field), shape))
        except InvalidInput as error:
            raise InvalidInput(error.problem, field=f"{field}.{error.field}") from None

    return read


def _object(value: object, field: str) -> Line:
    if not isinstance(value, dict):
        raise InvalidInput("must be an object", field=field)
    return cast(Line, value)


def _metadata(value: object, field: str) -> Mapping[str, Any]:
    found = fields.json_value(_object(value, field), field=field, max_text_bytes=MAX_LINE_BYTES)
    return MappingProxyType(cast(Line, found))


def _counts(value: object, field: str) -> dict[str, int]:
    return {_short(name, field): _count(number, field) for name, number in _object(value, field).items()}


def _source(*, source_kind: SourceKind, **found: Any) -> Source:
    return Source(kind=source_kind, **found)


HEADER: Shape = {"team": _name, "made_by": _name, "made_at": _time, "whole": _flag}
FOOTER: Shape = {"counts": _counts, "sha256": _short}
_AUDIENCE: Shape = {
    "visibility": _one_of(Visibility),
    "agent_id": _name,
    "allowed_roles": _each(_one_of(Role), most=len(Role)),
}
_SOURCE_REF: Shape = {name: _or_none(_short) for name in ("source_id", "thread_id", "message_id", "uri")}
_EVIDENCE_REF: Shape = {"source_id": _short, "start": _count, "end": _count}
_TURN: Shape = {
    "role": _short,
    "start": _count,
    "end": _count,
    "speaker": _or_none(_short),
    "said_at": _or_none(_time),
}
_BY_KIND: Mapping[Holds, Reader] = {
    Holds.ID: _id,
    Holds.MEMBER: _name,
    **dict.fromkeys((Holds.CONTENT, Holds.NOTE, Holds.TITLE), _long),
    **dict.fromkeys((Holds.LABEL, Holds.PLACE), _short),
    Holds.NOTES: _each(_long),
    Holds.PATH: _path,
    Holds.TAGS: _each(_short, most=fields.MAX_LIST),
    Holds.FRACTION: _fraction,
    Holds.NUMBER: _version_number,
    Holds.MOMENT: _time,
    Holds.METADATA: _metadata,
    Holds.ORIGIN: _inner(SourceRef, _SOURCE_REF),
    Holds.EVIDENCE: _inner(EvidenceRef, _EVIDENCE_REF),
}


def _of_memory(row: FieldRow) -> Reader:
    if row.options is None:
        read = _BY_KIND[row.holds]
    else:
        read = _one_of(row.options)
        read = _each(read, most=len(row.options)) if row.holds is Holds.CHOICES else read
    return _or_none(read) if row.empty is None and not row.required else read


# Which team it is of is said by where it is read, and its freshness worked out then: neither is stored.
STATE: Shape = {
    **{row.name: _of_memory(row) for row in FIELDS.values() if row.stored},
    "valid_from": _time,
    "changed_by": _name,
    "reason": _or_none(_long),
}
# What a version before a field came does not say of it.
UNSAID: Line = {
    row.name: [] if row.holds in LISTS else {} if row.holds is Holds.METADATA else None
    for row in FIELDS.values()
    if row.stored and not row.required
}
PAST: Shape = {**STATE, "valid_to": _time}
EPISODE: Shape = {
    "memory_id": _id,
    "agent_id": _name,
    "action": _one_of(Action),
    "approach_end": _count,
    "outcome_start": _or_none(_count),
    "wording": _integer,
    "duration_ms": _or_none(_count),
    "tokens_in": _or_none(_count),
    "tokens_out": _or_none(_count),
}
ARTIFACT: Shape = {
    "memory_id": _id,
    "agent_id": _name,
    "type": _one_of(ArtifactType),
    "path": _file,
    "size_bytes": _or_none(_count),
    "checksum": _or_none(_short),
    "description_end": _or_none(_count),
    "text_start": _or_none(_count),
}
PLAIN: Mapping[Kind, tuple[Callable[..., Record], Shape]] = {
    Kind.RECEIPT: (
        Tombstone,
        {
            "id": _id,
            "memory_id": _id,
            "purged_by": _name,
            "purged_at": _time,
            "memory_created_at": _time,
            "scrubbed_at": _or_none(_time),
        },
    ),
    Kind.PROJECT: (Project, {"name": _name, "description": _or_none(_long), "created_at": _time}),
    Kind.REPO: (
        Repo,
        {
            "name": _name,
            "project_id": _or_none(_short),
            "folder": _or_none(_short),
            "remote": _or_none(_short),
            "created_at": _time,
        },
    ),
    Kind.SOURCE: (
        _source,
        {
            **_AUDIENCE,
            "id": _id,
            "source_kind": _one_of(SourceKind),
            "sha256": _short,
            "created_at": _time,
            "session_id": _or_none(_short),
            "uri": _or_none(_short),
            "title": _or_none(_long),
            "project_id": _or_none(_short),
            "repo_id": _or_none(_short),
            "task_id": _or_none(_short),
            "thread_id": _or_none(_short),
            "trust": _one_of(Trust),
            "extracted_to": _count,
            "text": _long,
            "turns": _each(_inner(Turn, _TURN)),
        },
    ),
    Kind.PASSAGE: (
        SourcePassage,
        {"source_id": _id, "words": _count, "letters": _count, "key": _hex, "digest": _hex},
    ),
    Kind.EVENT: (
        IngestionEvent,
        {
            "id": _id,
            "trigger": _one_of(Trigger),
            "source_id": _or_none(_id),
            "scope": _one_of(Scope),
            "agent_id": _name,
            "steps": _each(_one_of(Step), most=len(Step)),
            "state": _one_of(EventState),
            "tries": _count,
            "takeovers": _count,
            "outcome": _or_none(_long),
            "error": _or_none(_long),
            "created_at": _time,
            "updated_at": _time,
            "due_at": _or_none(_time),
            "lease": _or_none(_short),
            "lease_until": _or_none(_time),
        },
    ),
    Kind.LINK: (
        Link,
        {
            "from_id": _id,
            "to_id": _name,
            "relation": _one_of(Relation),
            "created_by": _name,
            "created_at": _time,
        },
    ),
}
