"""Names as callers write them: other names of the same thing, and what to say of a name that is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from mycel.errors import InvalidInput

# Another name of what an operation or a record takes, read where that takes one of these and not the name itself.
ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "project_id": ("project",),
        "repo_id": ("repo",),
        "agent_id": ("agent",),
        "scope": ("scopes",),
        "source_ref": ("source_id", "source"),
        "retrieval_id": ("recall_id",),
        "inbox_items": ("ids",),
    }
)
# Objects that an operation takes apart: what is in them may as well be given by itself.
OBJECTS = ("filters", "memory_input")
OTHER_NAMES = frozenset({*ALIASES, *OBJECTS})
_LONGEST = 60


def find_name(name: str, takes: Collection[str]) -> str | None:
    """Return our name of what is meant, or None."""
    return name if name in takes else next((ours for ours in ALIASES.get(name, ()) if ours in takes), None)


def read_names(
    given: Mapping[str, Any],
    takes: Collection[str],
    *,
    kind: str,
    unpacks: str = "",
    listed: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what was given under our names, with the object that the operation `unpacks` taken apart.

    Raise `InvalidInput` for a name that is not `kind`, such as "a field of a memory", and for one thing that is given
    under two names with different values. `listed` are the names that the error lists, by default all.
    """
    found: dict[str, Any] = {}
    written: dict[str, str] = {}
    for place, name, value in _flat(given, unpacks):
        ours = find_name(name, takes)
        if ours is None:
            raise unknown_name(name, takes if listed is None else listed, kind=kind, within=place)
        meant = _ids_of(value) if name == "inbox_items" else value
        if ours in found and found[ours] != meant:
            other, twice = (written[ours], place + name) if place + name != ours else (ours, written[ours])
            raise InvalidInput(f"is also given as {other}, with another value", field=twice)
        written.setdefault(ours, place + name)
        found[ours] = meant
    return found


def unknown_name(name: object, takes: Iterable[str], *, kind: str, within: str = "") -> InvalidInput:
    """Return the error that names the nearest name and the list of those that are taken."""
    listed, wrong = list(takes), str(name)
    close = get_close_matches(wrong[:_LONGEST], listed, n=1)
    nearest = f" (do you mean {close[0]}?)" if close else ""
    known = f"it takes {', '.join(listed)}" if listed else "it takes nothing"
    return InvalidInput(f"is not {kind}{nearest}: {known}", field=f"{within}{wrong}"[:200])


def _flat(given: Mapping[str, Any], unpacks: str) -> Iterator[tuple[str, str, Any]]:
    for name, value in given.items():
        if name != unpacks:
            yield "", name, value
        elif isinstance(value, Mapping):
            inner = cast(Mapping[str, Any], value)
            # There None says nothing.
            yield from ((f"{unpacks}.", one, inner[one]) for one in inner if inner[one] is not None)
        elif value is not None:
            raise InvalidInput("must be an object of names and values", field=unpacks)


def _ids_of(items: object) -> object:
    """Items of the inbox and memories stand for their ids."""
    if not isinstance(items, list | tuple):
        return items
    return [_part_of(_part_of(one, "memory"), "id") for one in cast(list[object], items)]


def _part_of(item: object, name: str) -> object:
    """Return a part of an object, in JSON or in Python, or all of what has no such part."""
    found = cast(Mapping[str, object], item).get(name) if isinstance(item, Mapping) else getattr(item, name, None)
    return cast(object, item) if found is None else found
