"""The lines of an archive: their fields, and how each is written and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import datetime
from enum import EnumType, StrEnum
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from mycel.domain import fields
from mycel.domain.archive import (
    FORMAT,
    FORMAT_VERSION,
    READ_VERSIONS,
    Header,
    Kind,
    MemoryRecord,
    Record,
    SourcePassage,
    Tombstone,
)
from mycel.domain.artifact import ArtifactDetail, read_path
from mycel.domain.draft import check_validity
from mycel.domain.episode import EpisodeDetail
from mycel.domain.ids import EventId, MemberId, MemoryId, SourceId, TeamName, parse_id
from mycel.domain.link import Link
from mycel.domain.memory import (
    FIELDS,
    EvidenceRef,
    Memory,
    SourceKind,
    SourceRef,
    Version,
)
from mycel.domain.memory_field import LISTS, MOMENTS, FieldRow, Holds
from mycel.domain.place import Project, Repo
from mycel.domain.source import IngestionEvent, Source
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
    by_name = {one.value: one for one in options}

    def read(value: object, field: str) -> EnumT:
        found = by_name.get(value) if isinstance(value, str) else None
        return fields.choice(value, options, field=field) if found is None else found

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


# What a value of a type is read by; whatever is text is short unless a shape says otherwise.
_BY_TYPE: Mapping[Any, Reader] = {
    **dict.fromkeys((MemoryId, SourceId, EventId), _id),
    **dict.fromkeys((MemberId, TeamName), _name),
    datetime: _time,
    bool: _flag,
    int: _count,
    str: _short,
}


def _by_type(kind: Any) -> Reader:
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        inner: Any = parts[0]
        return _each(_by_type(inner), most=len(inner) if isinstance(inner, EnumType) else fields.MOST_INTEGER)
    if origin is not None:
        return _or_none(_by_type(parts[0]))
    if issubclass(kind, StrEnum):
        return _one_of(kind)
    return _inner(kind, shape_of(kind))


def shape_of(kind: type, **own: Reader) -> Shape:
    """The fields of a class as their types say, but for those that are read in a way of their own."""
    hints = get_type_hints(kind)
    return {name: own.get(name) or _by_type(hint) for name, hint in hints.items()} | own


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
    **dict.fromkeys(MOMENTS, _time),
    Holds.METADATA: _metadata,
    Holds.ORIGIN: _inner(SourceRef, shape_of(SourceRef, source_id=_or_none(_short))),
    Holds.EVIDENCE: _inner(EvidenceRef, shape_of(EvidenceRef, source_id=_short)),
}


def _of_memory(row: FieldRow) -> Reader:
    if row.options is None:
        read = _BY_KIND[row.holds]
    else:
        read = _one_of(row.options)
        read = _each(read, most=len(row.options)) if row.holds is Holds.CHOICES else read
    return _or_none(read) if row.empty is None and not row.required else read


HEADER = shape_of(Header)
FOOTER: Shape = {"counts": _counts, "sha256": _short}
# Which team it is of is said by where it is read, and its freshness worked out then: neither is stored.
STATE: Shape = {
    **{row.name: _of_memory(row) for row in FIELDS.values() if row.stored},
    "believed_from": _time,
    "changed_by": _name,
    "reason": _or_none(_long),
}
# What a version before a field came does not say of it.
UNSAID: Line = {
    row.name: [] if row.holds in LISTS else {} if row.holds is Holds.METADATA else None
    for row in FIELDS.values()
    if row.stored and not row.required
}
PAST: Shape = {**STATE, "believed_until": _time}
EPISODE = shape_of(EpisodeDetail, memory_id=_id, wording=_integer)
ARTIFACT = shape_of(ArtifactDetail, memory_id=_id, path=_file)
_SOURCE = shape_of(Source, source_kind=_one_of(SourceKind), title=_or_none(_long), text=_long)
PLAIN: Mapping[Kind, tuple[Callable[..., Record], Shape]] = {
    Kind.RECEIPT: (Tombstone, shape_of(Tombstone, id=_id)),
    Kind.PROJECT: (Project, shape_of(Project, name=_name, description=_or_none(_long))),
    Kind.REPO: (Repo, shape_of(Repo, name=_name)),
    # `kind` is what a line is.
    Kind.SOURCE: (_source, {name: read for name, read in _SOURCE.items() if name != "kind"}),
    Kind.PASSAGE: (SourcePassage, shape_of(SourcePassage, key=_hex, digest=_hex)),
    Kind.EVENT: (IngestionEvent, shape_of(IngestionEvent, outcome=_or_none(_long), error=_or_none(_long))),
    Kind.LINK: (Link, shape_of(Link, to_id=_name)),
}


_KINDS = {
    Tombstone: Kind.RECEIPT,
    Project: Kind.PROJECT,
    Repo: Kind.REPO,
    Source: Kind.SOURCE,
    SourcePassage: Kind.PASSAGE,
    IngestionEvent: Kind.EVENT,
    MemoryRecord: Kind.MEMORY,
    Link: Kind.LINK,
}


def kind_of(record: Record) -> Kind:
    return _KINDS[type(record)]


def lines_of(record: Record) -> Iterator[Line]:
    """A memory is several lines: itself, its versions, its details."""
    if not isinstance(record, MemoryRecord):
        plain = _plain_fields(record)
        if isinstance(record, Source):
            plain["source_kind"] = plain.pop("kind")
        yield {"kind": kind_of(record).value, **plain}
        return
    id = record.present.memory.id
    yield _version_line(Kind.MEMORY, record.present)
    for version in record.past:
        yield _version_line(Kind.VERSION, version)
    if record.episode is not None:
        yield {"kind": Kind.EPISODE.value, "memory_id": id, **_plain_fields(record.episode)}
    if record.artifact is not None:
        yield {"kind": Kind.ARTIFACT.value, "memory_id": id, **_plain_fields(record.artifact)}


def header_line(header: Header) -> Line:
    return {"kind": Kind.HEADER.value, "format": FORMAT, "version": FORMAT_VERSION, **_plain_fields(header)}


def footer_line(counts: Mapping[str, int], sha256: str) -> Line:
    return {"kind": Kind.FOOTER.value, "counts": dict(counts), "sha256": sha256}


def _version_line(kind: Kind, version: Version) -> Line:
    known = {row.name: _plain(getattr(version.memory, row.name)) for row in FIELDS.values() if row.stored}
    ended = {"believed_until": _plain(version.believed_until)} if kind is Kind.VERSION else {}
    began = _plain(version.believed_from)
    history = {"believed_from": began, "changed_by": version.changed_by, "reason": version.reason}
    return {"kind": kind.value, **known, **history, **ended}


def _plain_fields(value: Any) -> Line:
    return {field.name: _plain(getattr(value, field.name)) for field in fields_of(value)}


# By the very type, and first, since most fields are of these: a choice is text too, and has to be taken apart.
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast(tuple[object, ...], value)]
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, object], value))
    return _plain_fields(value) if is_dataclass(value) else value


def read_header(line: Line) -> Header:
    if line.get("kind") != Kind.HEADER or line.get("format") != FORMAT:
        raise InvalidInput(f"is not an archive of the format {FORMAT}", field="format")
    if line.get("version") not in READ_VERSIONS:
        raise InvalidInput(f"must be {' or '.join(map(str, READ_VERSIONS))}; this archive is newer", field="version")
    return Header(**checked(line, HEADER, leave=("format", "version")))


# What the first format called when a version was believed.
_SINCE_FIRST = {"valid_from": "believed_from", "valid_to": "believed_until"}


def read_footer(line: Line) -> tuple[dict[str, int], str]:
    found = checked(line, FOOTER)
    return found["counts"], found["sha256"]


def read_plain(kind: Kind, line: Line) -> Record:
    """A record that is one line."""
    made, shape = PLAIN[kind]
    return made(**checked(line, shape))


def read_state(line: Line, team: TeamName) -> Version:
    """A memory as it stands, or a version of it."""
    past = line.get("kind") == Kind.VERSION
    if "believed_from" not in line:
        line = {_SINCE_FIRST.get(name, name): value for name, value in line.items()}
    found = checked({**UNSAID, **line}, PAST if past else STATE)
    check_validity(found["valid_from"], found["valid_until"])
    history = {name: found.pop(name) for name in ("believed_from", "changed_by", "reason")}
    until = found.pop("believed_until") if past else None
    return Version(Memory(team=team, **found), believed_until=until, **history)


def read_episode(line: Line) -> tuple[str, EpisodeDetail]:
    found = checked(line, EPISODE)
    return found.pop("memory_id"), EpisodeDetail(**found)


def read_artifact(line: Line) -> tuple[str, ArtifactDetail]:
    found = checked(line, ARTIFACT)
    return found.pop("memory_id"), ArtifactDetail(**found)
