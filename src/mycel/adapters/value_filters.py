"""Which values a LangGraph filter lets through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Any, cast

_EQUALITY: Mapping[str, Callable[[Any, Any], bool]] = {"$eq": eq, "$ne": ne}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def require_known(wanted: object) -> None:
    """An operator that nobody knows is an error, also where nothing is there to be compared."""
    if isinstance(wanted, Mapping):
        named = cast(Mapping[str, object], wanted)
        if not _has_operators(named):
            for inner in named.values():
                require_known(inner)
        elif unknown := [name for name in named if name not in {*_EQUALITY, *_ORDER}]:
            raise ValueError(f"Unsupported operator: {unknown[0]}")
    elif isinstance(wanted, list | tuple):
        for inner in cast(Sequence[object], wanted):
            require_known(inner)


def matches(value: object, wanted: object) -> bool:
    """Objects in part, lists in full; by `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte` where the filter has them."""
    if isinstance(wanted, Mapping):
        named = cast(Mapping[str, object], wanted)
        if _has_operators(named):
            return all(_compares(value, name, bound) for name, bound in named.items())
        if not isinstance(value, Mapping):
            return False
        found = cast(Mapping[str, object], value)
        return all(matches(found.get(name), inner) for name, inner in named.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple):
            return False
        ours, theirs = cast(Sequence[object], value), cast(Sequence[object], wanted)
        return len(ours) == len(theirs) and all(map(matches, ours, theirs))
    return value == wanted


def _has_operators(wanted: Mapping[str, object]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator in _EQUALITY:
        return _EQUALITY[operator](value, bound)
    try:
        return _ORDER[operator](float(value), float(bound))
    except (TypeError, ValueError):
        # Neither more nor less than a number.
        return False
