"""From JSON back to the domain's values, by the types that the API promises. What a newer service adds is skipped."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, NewType, Union, cast, get_args, get_origin, get_type_hints

from mycel.domain.artifact import OF_AN_ARTIFACT, Artifact, ArtifactDetail
from mycel.domain.episode import OF_AN_EPISODE, Episode, EpisodeDetail, SuccessRate, Tally
from mycel.domain.memory import Memory
from mycel.domain.policy import Policy, changed_policy
from mycel.domain.query import Folder, Page, Tree
from mycel.domain.team import IssuedToken, Token
from mycel.errors import Unavailable
from mycel.wire.shapes import RENAMED, left_out

Reader = Callable[[Any], Any]


def read(kind: Any, value: object) -> Any:
    """The value of a type as the wire shows it; `Unavailable` when the service speaks another language."""
    try:
        return _reader(kind)(value)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unavailable("the service answered in an unknown form; is it of another version?") from None


def read_text(kind: Any, text: str | bytes) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        raise Unavailable("the service answered with something that is not JSON") from None
    return read(kind, value)


@cache
def _reader(kind: Any) -> Reader:
    if kind in _OWN:
        return _OWN[kind]
    if kind is None or kind is type(None):
        return lambda _value: None
    if kind is Any or kind is object:
        return lambda value: value
    if isinstance(kind, NewType):
        return _reader(kind.__supertype__)
    origin = get_origin(kind)
    if origin is not None:
        return _of_generic(origin, get_args(kind))
    if kind is datetime:
        return datetime.fromisoformat
    if is_dataclass(kind):
        return _of_dataclass(kind)
    if issubclass(kind, Enum):
        return kind
    return _exactly(kind)


def _of_generic(origin: Any, parts: tuple[Any, ...]) -> Reader:
    if origin in {Union, types.UnionType}:
        (only,) = [_reader(part) for part in parts if part is not type(None)]
        return lambda value: None if value is None else only(value)
    if origin is Page:
        item = _reader(parts[0])
        return lambda value: Page([item(one) for one in value])
    if issubclass(origin, Mapping):
        name, item = _reader(parts[0]), _reader(parts[1])
        return lambda value: {name(key): item(one) for key, one in value.items()}
    if issubclass(origin, Sequence):
        item = _reader(parts[0])
        return (lambda value: [item(one) for one in value]) if origin is list else _tuple_of(item)
    raise TypeError(f"{origin} cannot be read from the wire")


def _tuple_of(item: Reader) -> Reader:
    return lambda value: tuple(item(one) for one in value)


def _of_dataclass(kind: Any) -> Reader:
    hints, renamed = get_type_hints(kind), RENAMED.get(kind, {})
    known = [
        (field.name, renamed.get(field.name, field.name), _reader(hints[field.name]), _is_required(field))
        for field in fields(kind)
        if field.init
    ]
    absent = dict.fromkeys(left_out(kind))

    def build(given: Mapping[str, Any]) -> Any:
        if not isinstance(given, dict):
            raise TypeError(f"not a {kind.__name__}")
        value = {**absent, **given} if absent else given
        return kind(**{name: take(value[key]) for name, key, take, required in known if required or key in value})

    return build


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _exactly(kind: Any) -> Reader:
    def check(value: object) -> object:
        if kind is float and isinstance(value, int):
            return float(value)
        if not isinstance(value, kind):
            raise TypeError(f"not a {kind.__name__}")
        return value

    return check


def _given(value: Mapping[str, Any], kind: Any, said: Container[str]) -> dict[str, Any]:
    return {field.name: value[field.name] for field in fields(kind) if field.name in said}


def _episode(value: Mapping[str, Any]) -> Episode:
    memory = cast(Memory, _reader(Memory)(value["memory"]))
    approach, outcome = value["approach"], value["outcome"]
    detail = {
        **_given(value, EpisodeDetail, OF_AN_EPISODE),
        "approach_end": len(approach) if memory.content.startswith(approach) else 0,
        "outcome_start": None if outcome is None else len(memory.content) - len(outcome),
    }
    return Episode(memory, _reader(EpisodeDetail)(detail))


def _artifact(value: Mapping[str, Any]) -> Artifact:
    memory = cast(Memory, _reader(Memory)(value["memory"]))
    description, content = value["description"], value["content"]
    detail = {
        **_given(value, ArtifactDetail, OF_AN_ARTIFACT),
        "description_end": None if description is None else len(description),
        "text_start": None if content is None else len(memory.content) - len(content),
    }
    return Artifact(memory, _reader(ArtifactDetail)(detail))


def _tree(value: Mapping[str, Any]) -> Tree:
    items = Page([_reader(Memory)(one) for one in value["items"]], value["next_cursor"])
    return Tree(value["path"], items, tuple(_reader(Folder)(one) for one in value["folders"]))


_OWN: Mapping[Any, Reader] = {
    Episode: _episode,
    Artifact: _artifact,
    Tree: _tree,
    IssuedToken: lambda value: IssuedToken(_reader(Token)(value), value["token"]),
    Policy: lambda value: changed_policy(Policy(), value),
    SuccessRate: lambda value: SuccessRate(value["name"], _reader(Tally)(value["tally"])),
}
