"""What a writer can say about a memory, from the table of its fields; type checkers read the stub beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from mycel.domain.memory import WRITTEN
from mycel.domain.memory_field import FieldRow, Holds

_TYPES: Mapping[Holds, Any] = {
    **dict.fromkeys((Holds.CONTENT, Holds.NOTE, Holds.TITLE, Holds.LABEL, Holds.PLACE, Holds.PATH, Holds.CHOICE), str),
    Holds.NOTES: Sequence[str],
    Holds.CHOICES: Sequence[str],
    Holds.TAGS: Sequence[str] | str,
    Holds.FRACTION: float,
    Holds.FLAG: bool,
    Holds.MOMENT: datetime | str,
    Holds.SPAN: timedelta | float | str,
    Holds.METADATA: Mapping[str, Any],
    Holds.ORIGIN: Mapping[str, Any] | str,
}


def _types(wanted: Callable[[FieldRow], bool], may_be_none: Callable[[FieldRow], bool]) -> dict[str, Any]:
    return {
        name: _TYPES[row.holds] | None if may_be_none(row) else _TYPES[row.holds]
        for name, row in WRITTEN.items()
        if wanted(row)
    }


# The arguments of `TypedDict` must be plain for a type checker; these are for whoever looks at run time.
_made: Any = TypedDict
MemoryFields = _made(
    "MemoryFields",
    {
        **_types(lambda row: row.at_first and not row.as_argument, lambda row: row.unsaid),
        "idempotency_key": str | None,
    },
    total=False,
)
ChangedFields = _made(
    "ChangedFields",
    {
        **MemoryFields.__annotations__,
        **_types(lambda row: row.as_argument or not row.at_first, lambda row: row.emptied),
        "expected_version": int | None,
        "reason": str | None,
    },
    total=False,
)
KnowledgeFields = _made("KnowledgeFields", _types(lambda row: row.of_values, lambda _: True), total=False)
DOCS: Mapping[str, str] = {
    "MemoryFields": "What a writer can say about a memory; whatever is left out is derived.",
    "ChangedFields": "What an update can change. None empties a field that may be empty.",
    "KnowledgeFields": "What else a writer can say about a value, as in `save`.",
}
