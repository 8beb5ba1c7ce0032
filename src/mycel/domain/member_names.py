"""What is said of a member's name that nobody has: the names that are near it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mycel.errors import InvalidInput

MOST_SUGGESTED = 3


def unknown_member(name: str, known: Iterable[str], *, field: str, remedy: str) -> InvalidInput:
    """Return the error for a name that no member has; `remedy` says how a new member is made."""
    near = get_close_matches(name, list(known), n=MOST_SUGGESTED)
    meant = f"did you mean {' or '.join(near)}?" if near else "`mycel member list` shows who there is;"
    return InvalidInput(f"there is no member {name}; {meant} {remedy}", field=field)
