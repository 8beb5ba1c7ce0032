"""Between the records of an archive and its lines, which are JSON objects. Reading names the field that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from mycel.domain import archive_shapes as shapes
from mycel.domain.archive import FORMAT, FORMAT_VERSION, Header, Kind, MemoryRecord, Record, SourcePassage, Tombstone
from mycel.domain.archive_shapes import Line, checked
from mycel.domain.artifact import ArtifactDetail
from mycel.domain.episode import EpisodeDetail
from mycel.domain.ids import TeamName
from mycel.domain.link import Link
from mycel.domain.memory import FIELDS, Memory, Version
from mycel.domain.place import Project, Repo
from mycel.domain.source import IngestionEvent, Source
from mycel.errors import InvalidInput

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
    ended = {"valid_to": _plain(version.valid_to)} if kind is Kind.VERSION else {}
    history = {"valid_from": _plain(version.valid_from), "changed_by": version.changed_by, "reason": version.reason}
    return {"kind": kind.value, **known, **history, **ended}


def _plain_fields(value: Any) -> Line:
    return {field.name: _plain(getattr(value, field.name)) for field in fields_of(value)}


def _plain(value: Any) -> Any:
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
    if line.get("version") != FORMAT_VERSION:
        raise InvalidInput(f"must be {FORMAT_VERSION}; this archive is of another version", field="version")
    return Header(**checked(line, shapes.HEADER, leave=("format", "version")))


def read_footer(line: Line) -> tuple[dict[str, int], str]:
    found = checked(line, shapes.FOOTER)
    return found["counts"], found["sha256"]


def read_plain(kind: Kind, line: Line) -> Record:
    """A record that is one line."""
    made, shape = shapes.PLAIN[kind]
    return made(**checked(line, shape))


def read_state(line: Line, team: TeamName) -> Version:
    """A memory as it stands, or a version of it."""
    past = line.get("kind") == Kind.VERSION
    found = checked({**shapes.UNSAID, **line}, shapes.PAST if past else shapes.STATE)
    history = {name: found.pop(name) for name in ("valid_from", "changed_by", "reason")}
    valid_to = found.pop("valid_to") if past else None
    return Version(Memory(team=team, **found), valid_to=valid_to, **history)


def read_episode(line: Line) -> tuple[str, EpisodeDetail]:
    found = checked(line, shapes.EPISODE)
    return found.pop("memory_id"), EpisodeDetail(**found)


def read_artifact(line: Line) -> tuple[str, ArtifactDetail]:
    found = checked(line, shapes.ARTIFACT)
    return found.pop("memory_id"), ArtifactDetail(**found)
