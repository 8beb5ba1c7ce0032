"""Arguments as callers write them: in a query string, and in camelCase."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, cast, get_args, get_origin

from mycel.errors import InvalidInput

_WHOLE = re.compile(r"-?\d{1,19}")
_NUMBER = re.compile(r"-?\d{1,19}(\.\d{1,19})?([eE][+-]?\d{1,3})?")
_TAKEN_BY: Mapping[type, tuple[type, ...]] = {
    **{bool: (bool,), int: (int, float), float: (float,), bytes: (bytes,)},
    str: (str, Sequence),
}
_FLAGS: Mapping[str, bool] = {"true": True, "false": False}


def read_argument(hint: Any, texts: Sequence[str], *, field: str) -> object:
    """One text, or several where the type is a list."""
    kinds = set(_kinds(hint))
    if Sequence in kinds and (len(texts) > 1 or str not in kinds):
        return list(texts)
    if len(texts) > 1:
        raise InvalidInput("is given more than once", field=field)
    (text,) = texts
    if bool in kinds:
        return _FLAGS.get(text, text)
    if int in kinds and _WHOLE.fullmatch(text):
        return int(text)
    if float in kinds and _NUMBER.fullmatch(text):
        return float(text)
    return text


def write_argument(hint: Any, value: object, *, field: str) -> list[str]:
    """In a query a number and its text look alike, so the difference is told here, as Python would."""
    kinds = set(_kinds(hint))
    taken_by = next((kinds for kind, kinds in _TAKEN_BY.items() if isinstance(value, kind)), ())
    if taken_by and kinds.isdisjoint(taken_by):
        raise InvalidInput(f"cannot be a {type(value).__name__}", field=field)
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, datetime):
        return [value.isoformat()]
    if isinstance(value, timedelta):
        return [str(value.total_seconds())]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [str(one) for one in cast(Sequence[object], value)]
    return [str(value)]


def _kinds(hint: Any) -> list[Any]:
    """The types a union is made of; of a list only that it is one."""
    origin = get_origin(hint)
    if origin is None:
        return [hint]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [Sequence]
    return [kind for part in get_args(hint) for kind in _kinds(part)]


# Fields whose value is an object, or a list of objects, with names of ours.
_OURS = frozenset(
    {"source", "items", "artifacts", "edits", "result", "teams", "members", "filters", "memory_input", "source_ref"}
)
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


@lru_cache(maxsize=1024)
def snake_case(name: str) -> str:
    return _HUMP.sub(lambda found: f"_{found[0].lower()}", name)


def respelled(given: Mapping[str, Any], *, within: str = "") -> dict[str, Any]:
    """The same object with our names; naming a field twice, in both spellings, is an error."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        ours = snake_case(name)
        if ours in found:
            raise InvalidInput(f"is given twice, also as {name}", field=within + ours)
        found[ours] = _nested(value, f"{within}{ours}") if ours in _OURS else value
    return found


def _nested(value: object, field: str) -> object:
    if isinstance(value, Mapping):
        return respelled(cast(Mapping[str, Any], value), within=f"{field}.")
    if isinstance(value, list):
        listed = cast(list[object], value)
        return [_nested(one, f"{field}[{place}]") for place, one in enumerate(listed)]
    return value
