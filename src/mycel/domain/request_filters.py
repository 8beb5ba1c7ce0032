"""From a request to filters: every filter, order and page size is checked here, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from mycel.domain import fields
from mycel.domain.change import AuditFilter, ChangeFilter, Operation
from mycel.domain.ids import MemberId, parse_id
from mycel.domain.memory import MemoryType, Scope, Status
from mycel.domain.names import read_names
from mycel.domain.query import Filters, Order, OrderField
from mycel.errors import InvalidInput

# What may be asked for in place of a status.
ANY_STATUS = "any"
EXPIRED = "expired"
# What no longer stands is asked for as it is, whether its time is up or not.
_PAST = frozenset({Status.SUPERSEDED, Status.CONTRADICTED, Status.ARCHIVED})
DEFAULT_PAGE = 50
MAX_SEQUENCE = 2**63 - 1


def read_filters(given: Mapping[str, object], *, now: datetime) -> Filters:
    """By default what is active and has not expired. `status="any"` asks for everything, `"expired"` for what has."""
    values: dict[str, Any] = {"alive_at": now}
    for name, value in given.items():
        if name != "status" and name not in _READERS:
            return read_filters(read_names(given, (*_READERS, "status"), kind="a filter"), now=now)
        if value is None:
            continue
        if name == "status":
            values |= _read_status(value, now=now)
        else:
            target, reader = _READERS[name]
            values[target] = reader(value, name)
    return Filters(**values)


def _read_status(value: object, *, now: datetime) -> dict[str, Any]:
    if value == ANY_STATUS:
        return {"statuses": (), "alive_at": None}
    if value == EXPIRED:
        return {"statuses": (), "alive_at": None, "expired_at": now}
    statuses = fields.choices(value, Status, field="status")
    return {"statuses": statuses, "alive_at": None if _PAST.issuperset(statuses) else now}


def read_order(value: object) -> Order:
    """`created_at`, `-created_at` or `created_at DESC`."""
    if value is None:
        return Order()
    text = fields.label(value, field="order_by")
    name, _, direction = text.removeprefix("-").partition(" ")
    if direction.strip().lower() not in {"", "asc", "desc"}:
        raise InvalidInput("must end in ASC or DESC, or start with '-' for descending", field="order_by")
    descending = text.startswith("-") or direction.strip().lower() == "desc"
    return Order(fields.choice(name, OrderField, field="order_by"), descending)


def read_limit(value: object, *, default: int = DEFAULT_PAGE) -> int:
    return default if value is None else fields.whole(value, field="limit", least=1, most=fields.MAX_PAGE)


def read_mark(cursor: object) -> str | None:
    """Where the page before ended; only the list itself knows what it means."""
    return None if cursor is None else fields.text(cursor, field="cursor", max_bytes=4096)


def read_change_filter(*, path: object = None, project: object = None, type: object = None) -> ChangeFilter:
    return ChangeFilter(
        path="/" if path is None else fields.path(path),
        project_id=None if project is None else fields.label(project, field="project"),
        types=() if type is None else fields.choices(type, MemoryType, field="type"),
    )


def read_audit_filter(given: Mapping[str, object]) -> AuditFilter:
    values = {name: value for name, value in given.items() if value is not None}
    for name in values:
        if name not in _AUDITED:
            return read_audit_filter(read_names(values, _AUDITED, kind="a filter"))
    return AuditFilter(**{_AUDITED[name][0]: _AUDITED[name][1](value, name) for name, value in values.items()})


def read_sequence(value: object, *, field: str = "after") -> int:
    return fields.whole(value, field=field, least=0, most=MAX_SEQUENCE)


def _label(value: object, name: str) -> str:
    return fields.label(value, field=name)


def _moment(value: object, name: str) -> datetime:
    return fields.moment(value, field=name)


_AUDITED: Mapping[str, tuple[str, Callable[[object, str], Any]]] = {
    "agent": ("by", lambda value, name: MemberId(_label(value, name))),
    "operation": ("operation", lambda value, name: fields.choice(value, Operation, field=name)),
    "memory_id": ("memory_id", lambda value, name: parse_id(value, field=name)),
    "since": ("since", _moment),
    "until": ("until", _moment),
}
_READERS: Mapping[str, tuple[str, Callable[[object, str], Any]]] = {
    "path": ("path", lambda value, name: fields.path(value, field=name)),
    "type": ("types", lambda value, name: fields.choices(value, MemoryType, field=name)),
    "scopes": ("scopes", lambda value, name: fields.choices(value, Scope, field=name)),
    "tags": ("tags", lambda value, name: fields.tags(value, field=name)),
    "category": ("category", _label),
    "key": ("key", _label),
    "knowledge": ("knowledge", lambda value, name: fields.flag(value, field=name)),
    "project": ("project_id", _label),
    "repo": ("repo_id", _label),
    "agent": ("agent_id", _label),
    "session_id": ("session_id", _label),
    "task_id": ("task_id", _label),
    "since": ("since", _moment),
    "until": ("until", _moment),
    "valid_at": ("valid_at", lambda value, name: fields.day_or_moment(value, field=name)),
}
