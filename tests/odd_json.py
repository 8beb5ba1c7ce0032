"""JSON of the right form with one odd value in it, at every place in turn."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

HUGE = 10**400
# What JSON can say, and what a reader of it may stumble over.
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 2**63, HUGE, -HUGE, float("nan"), float("inf"), 1e308),
    *("", " ", "a\0b", "\ud800", "\u202e", "x" * 20_000, "~nobody-of-that-name/x", "9" * 30, "9" * 5_000),
    *("2025-13-45", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    *([], {}, [[]], [None], [HUGE], ["\ud800"], [{"a": 1}], {"": None}, {"a": {"b": [{}]}}, [["x"] * 3] * 3),
)


def with_odd_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Each with what was put where, for the message of a test that fails."""
    for path in _places(value):
        for odd in ODD:
            yield f"{odd!r:.40} at {'/'.join(map(str, path)) or 'the top'}", _put(value, path, odd)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _places(one, (*path, name))


def _put(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    changed = copy.deepcopy(value)
    holder = changed
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = odd
    return changed
