"""The JSON Schema of what an operation answers, read off the types that the API promises.

Objects are open: a newer service may say more.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from mycel.domain import recall, report
from mycel.domain.artifact import Artifact
from mycel.domain.context import ContextBundle
from mycel.domain.episode import Episode, SuccessRate, Tally
from mycel.domain.ids import EventId, MemoryId, RecallId, ReportId, SourceId
from mycel.domain.memory import MadeBy, Memory, MemoryType
from mycel.domain.policy import ALL, NONE, LeadsBelow, Policy, Promote, Secrets
from mycel.domain.query import Folder, Page, Tree
from mycel.domain.team import IssuedToken, Token, Trust
from mycel.wire.operations import Operation
from mycel.wire.schemas import NULL, Schema, ref
from mycel.wire.shapes import (
    ARTIFACT,
    EPISODE,
    KNOWLEDGE,
    RENAMED,
    SELDOM,
    SUCCESS_RATE,
    Knowledge,
    json_names,
    left_out,
)

_ID: Schema = {"type": "string", "format": "uuid"}
_PLAIN: Mapping[Any, Schema] = {
    **dict.fromkeys((MemoryId, SourceId, EventId, RecallId, ReportId), _ID),
    Any: {},
    object: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    timedelta: {"type": "number", "description": "Seconds."},
}
# Two of a kind in the domain, where their modules tell them apart.
_NAMES: Mapping[Any, str] = {recall.Step: "ExplanationStep", report.Action: "ReportAction"}
# Of operations of knowledge.
_KNOWLEDGE: Mapping[Any, Any] = {Memory: Knowledge, Page[Memory]: Page[Knowledge]}
MARKDOWN: Schema = {"type": "string"}


class Answers:
    """Collects the definitions that the answers it is asked about refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._named: dict[str, Any] = {}

    def of(self, operation: Operation) -> Schema | None:
        """None when it answers nothing."""
        if operation.shows == "to_agent_context":
            names = ("team_context", "project_memory", "recent_decisions")
            return _object(dict.fromkeys(names, self.schema(list[Memory])))
        if operation.shows is not None:
            return MARKDOWN
        if operation.answers is type(None):
            return None
        kind = operation.answers
        return self.schema(_KNOWLEDGE.get(kind, kind) if operation.of_knowledge else kind)

    def schema(self, kind: Any) -> Schema:
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if kind is None or kind is type(None):
            return dict(NULL)
        if isinstance(kind, NewType):
            return self.schema(kind.__supertype__)
        origin = get_origin(kind)
        if origin is not None:
            return self._generic(origin, get_args(kind))
        return self._reference(kind)

    def _generic(self, origin: Any, parts: tuple[Any, ...]) -> Schema:
        if origin in {Union, types.UnionType}:
            return {"anyOf": [self.schema(part) for part in parts]}
        if origin is not Page and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.schema(parts[1])}
        if issubclass(origin, Sequence):
            return {"type": "array", "items": self.schema(parts[0])}
        raise TypeError(f"{origin} has no schema")

    def _reference(self, kind: Any) -> Schema:
        name = _NAMES.get(kind, kind.__name__)
        known = self._named.setdefault(name, kind)
        if known is not kind:
            raise TypeError(f"{known} and {kind} are both called {name}")
        if name not in self.definitions:
            # First its name, since a kind may hold its own.
            self.definitions[name] = {}
            self.definitions[name] = self._definition(kind)
        return ref(name)

    def _definition(self, kind: Any) -> Schema:
        if kind in _OWN:
            return _OWN[kind](self)
        if is_dataclass(kind):
            return self._dataclass(kind)
        if issubclass(kind, Enum):
            return {"type": "string", "enum": [option.value for option in kind]}
        raise TypeError(f"{kind} has no schema")

    def _dataclass(self, kind: Any) -> Schema:
        hints, absent = get_type_hints(kind), left_out(kind)
        shown = json_names([field.name for field in fields(kind)], RENAMED.get(kind, {}))
        found = {name: self.schema(hints[field]) for name, field in shown.items()}
        seldom = SELDOM if kind is Memory else frozenset[str]()
        return _object({name: _ID if name in absent else one for name, one in found.items()}, absent | seldom)

    def properties(self, kind: Any, names: Sequence[str]) -> Schema:
        """Of what an object shows by properties."""
        return _object({name: self.schema(_hint(kind, field)) for name, field in json_names(names).items()})

    def bundle(self) -> Schema:
        found = self._dataclass(ContextBundle)
        return _object({**found["properties"], "text": MARKDOWN}, left_out(ContextBundle))

    def knowledge(self) -> Schema:
        of_memory = get_type_hints(Memory)
        more = {name: self.schema(of_memory[field]) for name, field in KNOWLEDGE.items()}
        more |= {"source": self.schema(str | dict[str, str]), "applied": self.schema(bool)}
        absent = (left_out(Memory) | SELDOM) - more.keys()
        return _object({**self._dataclass(Memory)["properties"], **more}, absent)

    def tree(self) -> Schema:
        return _object(
            {
                "path": self.schema(str),
                "items": self.schema(list[Memory]),
                "subdirs": self.schema(list[str]),
                "folders": self.schema(list[Folder]),
                "next_cursor": self.schema(str | None),
            }
        )

    def issued(self) -> Schema:
        return _object({**self._dataclass(Token)["properties"], "token": self.schema(str)})

    def policy(self) -> Schema:
        span: Schema = {"type": "string", "examples": ["7d", "never"]}
        some = {"anyOf": [{"const": ALL}, {"const": NONE}, self.schema(list[MemoryType])]}
        spans = dict.fromkeys(("consolidate_every", "inbox_kept", "episodes_kept", "purge_after"), span)
        return _object(
            {
                "least_trust": self.schema(Trust),
                "review": some,
                "promote": self.schema(Promote),
                "promote_from": self.schema(float),
                "lives": _object({made_by.value: span for made_by in MadeBy}),
                "secrets": self.schema(Secrets),
                "leads_below": self.schema(LeadsBelow),
                "decisions_need_rationale": self.schema(bool),
                **spans,
            }
        )


def _object(properties: Mapping[str, Schema], absent: Container[str] = ()) -> Schema:
    needed = [name for name in properties if name not in absent]
    return {"type": "object", "properties": dict(properties), "required": needed}


def _hint(kind: Any, name: str) -> Any:
    found = inspect.getattr_static(kind, name, None)
    return get_type_hints(found.fget)["return"] if isinstance(found, property) else get_type_hints(kind)[name]


_OWN: Mapping[Any, Callable[[Answers], Schema]] = {
    ContextBundle: Answers.bundle,
    Knowledge: Answers.knowledge,
    Tree: Answers.tree,
    IssuedToken: Answers.issued,
    Policy: Answers.policy,
    Episode: lambda answers: answers.properties(Episode, EPISODE),
    Artifact: lambda answers: answers.properties(Artifact, ARTIFACT),
    SuccessRate: lambda answers: answers.properties(SuccessRate, SUCCESS_RATE),
    Tally: lambda answers: answers.properties(Tally, [field.name for field in fields(Tally)]),
}
