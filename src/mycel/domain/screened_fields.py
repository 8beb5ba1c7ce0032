"""Which texts of records are screened, by the names of their fields.

Whatever is not named here is text that somebody wrote: it is masked, and looked at for orders to its reader, however
deep it lies. A field is left out only with a reason; the fields of a memory say theirs themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, cast

from mycel.domain.memory import FIELDS

# Names by which things are found again: a masked one would find nothing, so a secret in one is refused.
NAMES = frozenset(
    {
        *("name", "folder", "thread_id", "message_id", "author_id"),
        *(row.name for row in FIELDS.values() if row.found_by),
    }
)
# Why nobody can write what they like there. Numbers, moments and choices hold no text in the first place.
NOT_SCREENED: Mapping[str, str] = {
    "source_id": "made here",
    "sha256": "computed here",
    **{row.name: row.unscreened for row in FIELDS.values() if row.unscreened},
}


def is_screened(field: str) -> bool:
    return field not in NOT_SCREENED


def texts_in(value: object) -> list[str]:
    """Every text of a value: of a list or object each, names of an object included."""
    # By the very type: a choice is text that Mycel wrote.
    if type(value) is str:
        return [value]
    if isinstance(value, str | int | float | datetime):
        return []
    if isinstance(value, list | tuple):
        inners = cast(list[object], value)
    elif isinstance(value, Mapping):
        inners = list(chain.from_iterable(cast(Mapping[object, object], value).items()))
    elif is_dataclass(value):
        inners = [inner for name, inner in named_values(value) if is_screened(name)]
    else:
        inners = []
    return [text for inner in inners for text in texts_in(inner)]


def named_values(record: Any) -> list[tuple[str, object]]:
    return [(name, getattr(record, name)) for name in _names_of(cast(type[Any], type(record)))]


@cache
def _names_of(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
