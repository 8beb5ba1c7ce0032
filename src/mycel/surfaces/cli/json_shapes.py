"""Domain values as what JSON can carry: the same names, times as ISO 8601, enums as their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, cast

from mycel.domain.query import Page, Tree


def shape(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Page):
        page = cast("Page[object]", value)
        return {"items": shape(page.items), "next_cursor": page.next_cursor}
    if isinstance(value, Tree):
        page = cast(dict[str, object], shape(value.items))
        return {"path": value.path, "subdirs": shape(value.subdirs), **page}
    if is_dataclass(value):
        return {field.name: shape(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        named = cast(Mapping[str, Any], value)
        return {name: shape(item) for name, item in named.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shape(item) for item in cast(Sequence[object], value)]
    return value


def shape_list(items: Sequence[object]) -> dict[str, object]:
    """A list that is always whole looks like the only page of one."""
    return {"items": shape(items), "next_cursor": None}
