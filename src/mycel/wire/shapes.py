"""Domain values as JSON: their own names, times as ISO 8601, enums as their text.

What goes in comes out under the same name: where a request says `project`, there is `project` beside `project_id`.
Four differ on purpose: a recall has `results` with `item` and `highlight`, a tree lists its folders as paths, an
episode and an artifact stand flat beside their memory, and knowledge has `value`, `project`, `source`, `confirmations`
and `applied` beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, cast, get_type_hints

from mycel.domain.artifact import OF_AN_ARTIFACT, Artifact
from mycel.domain.context import ContextBundle
from mycel.domain.episode import OF_AN_EPISODE, Episode, SuccessRate, Tally
from mycel.domain.ids import EventId, MemoryId, RecallId, ReportId, SourceId
from mycel.domain.memory import FIELDS, Memory
from mycel.domain.policy import Policy, policy_values
from mycel.domain.query import Page, Tree
from mycel.domain.recall import Hit, Recall
from mycel.domain.team import IssuedToken, Token

Dump = Callable[[Any], dict[str, object]]
MEMORY = "memory"
_BESIDE_A_MEMORY = ("task_id", "project_id", "created_at", MEMORY)
EPISODE = ("id", *OF_AN_EPISODE, *_BESIDE_A_MEMORY)
ARTIFACT = ("id", *(name for name, row in OF_AN_ARTIFACT.items() if row.stored), *_BESIDE_A_MEMORY)
# What knowledge is called by those who keep it by keys → the field of its memory.
KNOWLEDGE: Mapping[str, str] = {"value": "content", "confirmations": "confirmations"}
SUCCESS_RATE = ("name", "rate", "completed", "failed", "episodes", "tally")
# What a field is called in a request, where that is another name than its own.
SAID_AS: Mapping[str, str] = {
    row.name: row.request for row in FIELDS.values() if row.written and row.request != row.name
}
_IDS = (EventId, MemoryId, RecallId, ReportId, SourceId)
# The domain's word → the word on the wire.
RENAMED: Mapping[type, Mapping[str, str]] = {
    Recall: {"hits": "results"},
    Hit: {"memory": "item", "snippet": "highlight"},
}


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A memory as the operations of knowledge show it."""

    memory: Memory


def as_knowledge(value: object) -> object:
    """What an operation of knowledge answers, with every memory by itself or in a page as `Knowledge`."""
    if isinstance(value, Memory):
        return Knowledge(value)
    if isinstance(value, Page):
        page = cast("Page[object]", value)
        return Page([as_knowledge(one) for one in page], page.next_cursor)
    return value


def plain(value: object) -> Any:
    """One level of a value that JSON cannot carry as it is."""
    return _dumper(type(value))(value)


_ENCODER = json.JSONEncoder(default=plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_json(value: object) -> bytes:
    return _ENCODER.encode(value).encode()


@cache
def _dumper(kind: type) -> Callable[[Any], Any]:
    own = next((dump for known, dump in _OWN.items() if issubclass(kind, known)), None)
    if own is not None:
        return own
    if is_dataclass(kind):
        return _without(left_out(kind), _named([field.name for field in fields(kind)], RENAMED.get(kind, {})))
    raise TypeError(f"{kind} has no shape on the wire")


def left_out(kind: type) -> frozenset[str]:
    """Ids of what may not be there: then there is no id either, and not one that is null."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    return frozenset(name for name in names if any(hints[name] == id | None for id in _IDS))


# Of a memory, where nobody has asked for it.
SELDOM = frozenset({"similar", "notices", "embedding", "standing", "decided_by", "confirmations"})


def _without(
    names: frozenset[str], dump: Callable[[object], dict[str, object]]
) -> Callable[[object], dict[str, object]]:
    if not names:
        return dump
    return lambda value: {name: one for name, one in dump(value).items() if one is not None or name not in names}


def json_names(names: Sequence[str], renamed: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The names on the wire, each with the attribute that it shows."""
    own = {renamed.get(name, name): name for name in names}
    return own | {SAID_AS[name]: name for name in names if name in SAID_AS and SAID_AS[name] not in own}


def _named(names: Sequence[str], renamed: Mapping[str, str] = MappingProxyType({})) -> Dump:
    shown = json_names(names, renamed)
    if len(shown) == 1:
        ((key, name),) = shown.items()
        only = attrgetter(name)
        return lambda value: {key: only(value)}
    keys, values = tuple(shown), attrgetter(*shown.values())
    return lambda value: dict(zip(keys, values(value), strict=True))


def _memory(value: Memory) -> dict[str, object]:
    # Its fields are its dictionary, and every answer is full of them.
    found = dict(vars(value))
    for name in SELDOM:
        if not found[name]:
            del found[name]
    for name, said in SAID_AS.items():
        found[said] = found[name]
    return found


def _knowledge(value: Knowledge) -> dict[str, object]:
    memory = _memory(value.memory)
    shown = {name: getattr(value.memory, field) for name, field in KNOWLEDGE.items()}
    return {**memory, **shown, "source": _source_as_given(value.memory), "applied": value.memory.applied}


def _source_as_given(memory: Memory) -> object:
    """Return what the writer named as the source, or the writer where nothing was named."""
    source = memory.source_ref
    if source is None or source.source_id is not None:
        return memory.agent_id
    said = {name: one for name, one in asdict(source).items() if one is not None}
    return said["uri"] if said.keys() == {"uri"} else said


def _tree(value: Tree) -> dict[str, object]:
    return {
        "path": value.path,
        "items": value.items.items,
        "subdirs": [folder.path for folder in value.subdirs],
        "folders": value.subdirs,
        "next_cursor": value.items.next_cursor,
    }


def _bundle(value: ContextBundle) -> dict[str, object]:
    found = _BUNDLE(value)
    return {**found, "text": value.to_markdown()}


_BUNDLE = _without(left_out(ContextBundle), _named([field.name for field in fields(ContextBundle)]))
_TOKEN = _named([field.name for field in fields(Token)])
_OWN: Mapping[type, Callable[[Any], Any]] = {
    Memory: _memory,
    datetime: datetime.isoformat,
    timedelta: timedelta.total_seconds,
    Page: lambda value: cast("Page[object]", value).items,
    Knowledge: _knowledge,
    Tree: _tree,
    ContextBundle: _bundle,
    Episode: _named(EPISODE),
    Artifact: _named(ARTIFACT),
    SuccessRate: _named(SUCCESS_RATE),
    Tally: _named([field.name for field in fields(Tally)]),
    IssuedToken: lambda value: {**_TOKEN(value.token), "token": value.secret},
    Policy: policy_values,
    PurePath: str,
    # Last, since it is the widest: the read-only mappings of the domain.
    Mapping: dict,
}
