"""Values of other systems as the fields of a save take them: short labels, times, tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from mycel.domain import fields
from mycel.domain.draft import MAX_CONTENT_BYTES
from mycel.engine.imports.records import RELATED, Found, Related, Remembered, Warned
from mycel.errors import InvalidInput

# Seconds until the year 5138; what is larger counts milliseconds.
_LARGEST_SECONDS = 1e11
_ROOM = 1024


def mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def label(value: object) -> str | None:
    """On one line and not too long, or None."""
    line = fields.one_line(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return line[: fields.MAX_LABEL].strip() or None


def place(value: object) -> str | None:
    """The name of a project; slashes would make it a path."""
    name = label(value)
    return name.replace("/", "-").replace("\\", "-").strip("-. ") or None if name else None


def moment(value: object) -> str | None:
    """ISO 8601 in UTC, from a text or from seconds or milliseconds since 1970; None where it is neither."""
    if isinstance(value, bool) or value is None or value == "":
        return None
    if isinstance(value, int | float):
        try:
            seconds = value / 1000 if abs(value) > _LARGEST_SECONDS else value
            return datetime.fromtimestamp(seconds, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return None
    if isinstance(value, str) and value.strip().isdigit():
        return moment(int(value.strip()[:18]))
    if isinstance(value, str):
        value = value.strip().replace(" UTC", "+00:00")
    try:
        return fields.day_or_moment(_aware(value), field="time").isoformat()
    except (InvalidInput, TypeError):
        return None


def _aware(value: object) -> object:
    """A time without a zone is taken for UTC, as databases write it."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return value
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return value.isoformat() if hasattr(value, "isoformat") else value  # type: ignore[union-attr]


def tags(*groups: object) -> list[str]:
    """Each once; a text is split at its commas, and signs that begin a tag elsewhere go."""
    found: dict[str, None] = {}
    for group in groups:
        one_by_one: Iterable[object] = group.split(",") if isinstance(group, str) else listed(group)
        for one in one_by_one:
            name = label(one if not isinstance(one, str) else one.strip().lstrip("#").replace(",", " "))
            if name is not None:
                found[name.casefold()] = None
    return list(found)[: fields.MAX_TAGS]


def filled(**values: Any) -> dict[str, Any]:
    """Without what is empty."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, ())}


def cut_in(name: str) -> Warned:
    return Warned(f"{name} ends in the middle: what was whole is taken")


def in_parts(record: Remembered) -> Iterable[Found]:
    """The record itself or, where it is too long for one memory, its parts, each linked to the one before."""
    if len(record.content.encode("utf-8", "replace")) <= MAX_CONTENT_BYTES:
        yield record
        return
    from mycel.engine.chunks import split_document, title_of

    name = record.fields.get("title") or record.id
    earlier: str | None = None
    for number, chunk in enumerate(split_document(record.content, most_bytes=MAX_CONTENT_BYTES - _ROOM)):
        content = record.content[chunk.start : chunk.end]
        if not content.strip():
            continue
        # The first part has the id of the whole, so that links to it lead somewhere.
        id = record.id if earlier is None else f"{record.id}#part-{number + 1}"
        title = label(f"{name} \u203a {title_of(chunk, text=record.content)}")
        yield Remembered(record.kind, id, content, {**record.fields, "title": title}, memory=record.memory)
        if earlier is not None:
            yield Related("part", id, earlier, RELATED)
        earlier = id
