"""JSON objects as memories that people can read and edit, and back: the memory is the only copy of the value.

Where an object has one text that says what it is about, that text is the content, and the rest lies in the metadata.
Any other object is the content itself, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from mycel.domain.envelope import each_text
from mycel.domain.fields import MAX_METADATA_BYTES, json_value
from mycel.domain.hidden_text import program_text
from mycel.domain.memory import Memory
from mycel.engine.secrets.masking import mask_within

# The name in the metadata under which the rest of the object lies.
REST = "rest_of_item"
# The rest of the metadata needs room as well.
MAX_REST_BYTES = MAX_METADATA_BYTES // 2
# How long a text may be is for the content as a whole to say.
_ANY_LENGTH = 2**62

# Names and numbers that lead from the object to the text in it.
Spot = tuple[str | int, ...]


class Readable(NamedTuple):
    """`shown` is the object without its likely secrets, for a title: there they would lose the names that tell them."""

    content: str
    metadata: dict[str, Any]
    shown: dict[str, Any]


def readable(value: Mapping[str, Any], *, spots: Iterable[Spot], field: str) -> Readable:
    """With the text of the first spot that has one. Raises `InvalidInput` for what JSON cannot carry."""
    checked = cast(dict[str, Any], json_value(value, field=field, max_text_bytes=_ANY_LENGTH))
    masked, kinds = mask_within(checked)
    shown = cast(dict[str, Any], masked)
    # Next to its name a secret is recognised when it is stored; the text alone could pass for anything.
    for spot in () if kinds else spots:
        text = _text_at(checked, spot)
        if text is None or not text.strip():
            continue
        rest = _copied(checked)
        _put(rest, spot, None)
        if len(json.dumps(rest, ensure_ascii=False).encode()) <= MAX_REST_BYTES:
            return Readable(text, {REST: {"value": rest, "text_at": list(spot)}}, shown)
    return Readable(json.dumps(checked, ensure_ascii=False, indent=2), {}, shown)


def value_of(memory: Memory) -> dict[str, Any] | None:
    """Safe to hand to a model; None when somebody has made a text of it that is no object any more."""
    kept = memory.metadata.get(REST)
    try:
        if kept is None:
            found = json.loads(memory.content)
        else:
            found = _copied(kept["value"])
            _put(found, kept["text_at"], memory.content)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return each_text(cast(dict[str, Any], found), program_text) if isinstance(found, dict) else None


def texts_in(value: object) -> Iterable[str]:
    """Every text of a JSON value but the names, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in cast(Mapping[str, object], value).values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in cast(list[object], value):
            yield from texts_in(item)


def _text_at(value: object, spot: Spot) -> str | None:
    found: Any = value
    try:
        for step in spot:
            found = found[step]
    except (LookupError, TypeError):
        return None
    return found if isinstance(found, str) else None


def _put(value: Any, spot: Iterable[str | int], text: str | None) -> None:
    *steps, last = spot
    for step in steps:
        value = value[step]
    value[last] = text


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value))
