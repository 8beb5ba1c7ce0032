"""camelCase as some callers write it, read as our snake_case. Names that people store of their own stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from mycel.errors import InvalidInput

# Fields whose value is an object, or a list of objects, with names of ours.
_OURS = frozenset({"source", "items", "artifacts", "edits", "result", "teams", "members"})
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
