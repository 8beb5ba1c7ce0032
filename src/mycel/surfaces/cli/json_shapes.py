"""Domain values as what JSON can carry: the same names, times as ISO 8601, enums as their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, cast

from mycel.domain.episode import Episode, SuccessRate
from mycel.domain.query import Page, Tree

_EPISODE = (
    *("id", "task_id", "agent_id", "action", "approach", "outcome", "duration_ms", "tokens_in", "tokens_out"),
    *("project_id", "created_at"),
)
_SUCCESS_RATE = ("name", "rate", "completed", "failed", "episodes", "tally")


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
    if isinstance(value, Episode | SuccessRate):
        return _properties(value)
    if is_dataclass(value):
        return {field.name: shape(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        named = cast(Mapping[str, Any], value)
        return {name: shape(item) for name, item in named.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shape(item) for item in cast(Sequence[object], value)]
    return value


def _properties(value: Episode | SuccessRate) -> dict[str, object]:
    """What they say of themselves, flat: the parts they are made of are nobody's concern."""
    names = _EPISODE if isinstance(value, Episode) else _SUCCESS_RATE
    return {name: shape(getattr(value, name)) for name in names}


def shape_list(items: Sequence[object]) -> dict[str, object]:
    """A list that is always whole looks like the only page of one."""
    return {"items": shape(items), "next_cursor": None}
