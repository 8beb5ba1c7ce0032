"""Filters in the address: read into what the operations take, and shown as chips that each come off by a click."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from mycel.domain.fields import day_or_moment
from mycel.domain.memory import MemoryType, Status
from mycel.domain.request_filters import ANY_STATUS, EXPIRED
from mycel.surfaces.web.page import PageRequest

# The parameters of an address that say which memories are wanted, and what a chip calls them.
NAMES: Mapping[str, str] = {
    "type": "type",
    "project": "project",
    "repo": "repo",
    "agent": "by",
    "tags": "tag",
    "category": "category",
    "key": "key",
    "path": "below",
    "status": "status",
    "session_id": "session",
    "task_id": "task",
    "since": "since",
    "until": "until",
}
SEVERAL = frozenset({"type", "tags"})
TYPES = tuple(MemoryType)
STATUSES = (*Status, EXPIRED, ANY_STATUS)


class Chip(NamedTuple):
    """One filter in force; `without` is the address that it leaves behind."""

    name: str
    value: str
    without: str


def filters_of(asked: PageRequest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in NAMES:
        values = asked.every(name)
        if values:
            found[name] = list(values) if name in SEVERAL else values[0]
    return {**found, **{name: moment_of(asked, name) for name in ("since", "until") if name in found}}


def moment_of(asked: PageRequest, name: str) -> datetime | None:
    """A moment, or a day as a browser's calendar gives it: since its first moment, otherwise until its last, in UTC."""
    given = asked.one(name)
    return None if given is None else day_or_moment(given, field=name, ends=name != "since")


def chips_of(asked: PageRequest) -> list[Chip]:
    found: list[Chip] = []
    for name, words in NAMES.items():
        values = asked.every(name)
        for value in values:
            others = [other for other in values if other != value]
            found.append(Chip(words, value, asked.with_query(**{name: others or None})))
    return found
