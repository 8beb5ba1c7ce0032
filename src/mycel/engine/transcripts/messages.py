"""Messages and the other items of a talk, as the interfaces of language models know them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import cast

from mycel.domain import fields
from mycel.engine.transcripts.privacy import PrivateFilter
from mycel.engine.transcripts.turns import (
    MAX_TRANSCRIPT_BYTES,
    PARAGRAPH,
    ROLES,
    TOOL,
    UNKNOWN,
    Said,
    check_size,
    clip,
    size_of,
)
from mycel.errors import InvalidInput

MOST_OF_INPUT = 200
MOST_OF_RESULT = 500
MOST_OF_NAME = 80

Item = Mapping[str, object]

_TIMES = ("timestamp", "created_at", "at")
_INPUTS = ("input", "arguments", "action", "query")
_OUTPUTS = ("content", "output", "tools")
_SPOKEN = frozenset({"message", "text", "input_text", "output_text"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


def read_messages(messages: Sequence[object], *, field: str) -> Iterator[Said]:
    """What each message says, in order; whatever is wrong is named by its place, such as `messages[3].content`."""
    size = 0
    for number, message in enumerate(messages):
        place = f"{field}[{number}]"
        size += size_of(message, field=place)
        check_size(size)
        item = as_item(message, field=place)
        yield from read_item(item, field=place, said_at=_time(item, field=place))


def read_item(item: Item, *, field: str, said_at: datetime | None) -> Iterator[Said]:
    """One message, or one call of a tool or its result where these stand beside the messages."""
    kind = item.get("type")
    if "role" not in item and isinstance(kind, str) and kind not in _SPOKEN:
        found = _part_text(item, field=field, shutter=PrivateFilter())
        if found and found[0] == TOOL:
            yield Said(TOOL, found[1], said_at=said_at)
        return
    role, speaker = _who(item, field=field)
    for part_role, text in read_content(item, role=role, field=field):
        yield Said(part_role, text, speaker if part_role == role else None, said_at)


def read_content(item: Item, *, role: str, field: str) -> Iterator[tuple[str, str]]:
    """The texts of a message under its own role, texts that follow one another as one; tools under theirs."""
    shutter = PrivateFilter()
    texts: list[str] = []
    for part, place in (*_parts(item, field=field), *_calls(item, field=field)):
        found = _part_text(part, field=place, shutter=shutter)
        if not found or not found[1].strip():
            continue
        if found[0] != TOOL:
            texts.append(found[1])
            continue
        yield from _spoken(texts, role=role)
        texts = []
        yield found
    yield from _spoken(texts, role=role)


def time_or_none(value: object) -> datetime | None:
    """For files, in which a strange time must not cost the line."""
    with contextlib.suppress(InvalidInput):
        return fields.moment(value, field="timestamp")
    return None


def as_item(value: object, *, field: str) -> Item:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"must be an object with names, not {type(value).__name__}", field=field)
    return cast("Item", value)


def kind_of(item: Item) -> str:
    """What an item or a line says it is; empty where it says nothing, or something that is no text."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else ""


def _spoken(texts: list[str], *, role: str) -> Iterator[tuple[str, str]]:
    if texts:
        text = PARAGRAPH.join(texts)
        yield role, clip(text, most=MOST_OF_RESULT) if role == TOOL else text


def _who(item: Item, *, field: str) -> tuple[str, str | None]:
    speaker = item.get("speaker") or item.get("name")
    name = None if not speaker else PrivateFilter().shown(fields.label(speaker, field=f"{field}.name")).strip() or None
    if item.get("role") in (None, ""):
        if name is None:
            raise InvalidInput("must say who speaks, as a role or a name", field=f"{field}.role")
        return UNKNOWN, name
    given = fields.label(item["role"], field=f"{field}.role")
    role = ROLES.get(given.casefold(), UNKNOWN)
    return role, name or (given if role == UNKNOWN else None)


def _time(item: Item, *, field: str) -> datetime | None:
    for name in _TIMES:
        if item.get(name) is not None:
            return fields.moment(item[name], field=f"{field}.{name}")
    return None


def _parts(item: Item, *, field: str) -> Iterator[tuple[object, str]]:
    content, place = item.get("content"), f"{field}.content"
    if isinstance(content, list | tuple):
        for number, part in enumerate(cast("list[object] | tuple[object, ...]", content)):
            yield part, f"{place}[{number}]"
    elif isinstance(content, str):
        yield content, place
    elif content is not None or not item.get("tool_calls"):
        raise InvalidInput("must be text or a list of parts", field=place)


def _calls(item: Item, *, field: str) -> Iterator[tuple[object, str]]:
    """Chat interfaces keep calls beside the content, with name and arguments one level down."""
    calls = item.get("tool_calls")
    if not isinstance(calls, list | tuple):
        return
    for number, call in enumerate(cast("list[object] | tuple[object, ...]", calls)):
        place = f"{field}.tool_calls[{number}]"
        found = as_item(call, field=place)
        inner = found.get("function")
        named = as_item(inner, field=f"{place}.function") if inner is not None else found
        yield {**named, "type": "tool_use"}, place


def _part_text(part: object, *, field: str, shutter: PrivateFilter) -> tuple[str, str] | None:
    """Whether a part was said or is a tool's, and its text; None for thoughts, images and what nobody knows."""
    if isinstance(part, str):
        return UNKNOWN, shutter.shown(_checked(part, field=field))
    item = as_item(part, field=field)
    name = kind_of(item)
    if name in _THOUGHTS:
        return None
    if name.endswith(("_result", "_output")):
        return TOOL, _result(item, field=field, shutter=shutter)
    if name.endswith(("tool_use", "_call")):
        return TOOL, _use(item, kind=name, field=field, shutter=shutter)
    if "text" in item or name in _SPOKEN:
        return UNKNOWN, shutter.shown(_checked(item.get("text"), field=f"{field}.text"))
    return None


def _use(item: Item, *, kind: str, field: str, shutter: PrivateFilter) -> str:
    """A short line; hidden parts go before it is cut, so that a cut cannot lose the mark that hides them."""
    given = item.get("name")
    name = given if isinstance(given, str) and given.strip() else kind.removesuffix("_call").removesuffix("tool_use")
    shown = shutter.shown(_checked(_input_text(item, field=field), field=field))
    line = clip(" ".join(shown.split()), most=MOST_OF_INPUT)
    label = clip(" ".join(PrivateFilter().shown(_checked(name, field=f"{field}.name")).split()), most=MOST_OF_NAME)
    return f"[tool {label or 'unknown'}] {line}".rstrip()


def _input_text(item: Item, *, field: str) -> str:
    found = _first(item, _INPUTS)
    if isinstance(found, str):
        found = _unpacked(found)
    if found is None or isinstance(found, str):
        return found or ""
    try:
        return json.dumps(found, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        raise InvalidInput("holds an input that JSON cannot carry", field=field) from None


def _unpacked(text: str) -> object:
    """Arguments often come as JSON inside a text, where a mark may hide behind escapes."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _result(item: Item, *, field: str, shutter: PrivateFilter) -> str:
    texts = _texts(_first(item, _OUTPUTS), field=field)
    return clip(shutter.shown(PARAGRAPH.join(texts)), most=MOST_OF_RESULT)


def _texts(value: object, *, field: str) -> Iterator[str]:
    """Every text of a result, which may be a text, a list of parts, or an object around either."""
    if isinstance(value, str):
        yield _checked(value, field=field)
    elif isinstance(value, list | tuple):
        for part in cast("list[object] | tuple[object, ...]", value):
            yield from _texts(part, field=field)
    elif isinstance(value, Mapping):
        yield from _texts(_first(cast("Item", value), ("text", *_OUTPUTS)), field=field)


def _first(item: Item, names: Iterable[str]) -> object:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _checked(value: object, *, field: str) -> str:
    return fields.text(value, field=field, max_bytes=MAX_TRANSCRIPT_BYTES)
