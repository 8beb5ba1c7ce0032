"""Reading what a capture says about its material: where it belongs and who may read it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mycel.domain.draft import check_audience, read_value
from mycel.domain.memory import WRITTEN, Visibility
from mycel.domain.memory_field import FieldRow, Holds, Panel, beside
from mycel.errors import InvalidInput


class CaptureMode(StrEnum):
    """`store` keeps the material and does nothing more; `extract` also draws candidates from it."""

    STORE = "store"
    EXTRACT = "extract"


_OF_MEMORIES = ("project", "repo", "session_id", "task_id", "visibility", "allowed_roles")
_OF_SOURCES = (
    beside("thread_id", Holds.LABEL, "A name of the thread", metavar="ID", panel=Panel.PLACE),
    beside("title", Holds.TITLE, "What it is called"),
    beside("uri", Holds.LABEL, "Where it can be found", option=""),
)
# What a writer can say about a source, by the names in a request; what is drawn from it has most of it too.
SURROUNDINGS: Mapping[str, FieldRow] = MappingProxyType(
    {name: WRITTEN[name] for name in _OF_MEMORIES} | {row.name: row for row in _OF_SOURCES}
)


def read_surroundings(given: Mapping[str, object]) -> dict[str, Any]:
    """Fields of a source by their names there; what is not given is left out."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in SURROUNDINGS:
            raise InvalidInput(f"is not known here; known are {', '.join(SURROUNDINGS)}", field=name)
        if value is not None:
            row = SURROUNDINGS[name]
            values[row.name] = read_value(row, value)
    check_audience(values.get("visibility", Visibility.TEAM), values.get("allowed_roles", ()))
    return values
