"""Reading what a capture says about its material: where it belongs and who may read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from mycel.domain import fields
from mycel.domain.draft import check_audience
from mycel.domain.memory import Visibility
from mycel.domain.team import Role
from mycel.errors import InvalidInput


class CaptureMode(StrEnum):
    """`store` keeps the material and does nothing more; `extract` also draws candidates from it."""

    STORE = "store"
    EXTRACT = "extract"


def read_surroundings(given: Mapping[str, object]) -> dict[str, Any]:
    """Fields of a source by their names there; what is not given is left out."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _READERS:
            raise InvalidInput(f"is not known here; known are {', '.join(_READERS)}", field=name)
        if value is not None:
            target, reader = _READERS[name]
            values[target] = reader(value, name)
    check_audience(values.get("visibility", Visibility.TEAM), values.get("allowed_roles", ()))
    return values


def _label(value: object, name: str) -> str:
    return fields.label(value, field=name)


_READERS: Mapping[str, tuple[str, Callable[[object, str], Any]]] = {
    "project": ("project_id", lambda value, name: fields.place(value, field=name)),
    "repo": ("repo_id", lambda value, name: fields.place(value, field=name)),
    "session_id": ("session_id", _label),
    "task_id": ("task_id", _label),
    "thread_id": ("thread_id", _label),
    "title": ("title", _label),
    "uri": ("uri", _label),
    "visibility": ("visibility", lambda value, name: fields.choice(value, Visibility, field=name)),
    "allowed_roles": ("allowed_roles", lambda value, name: fields.choices(value, Role, field=name)),
}
SURROUNDINGS = frozenset(_READERS)
