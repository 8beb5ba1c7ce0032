"""Answers in camelCase, for whoever asks for them: one table of names, from which answers and their schemas follow.

A memory is then the `MemoryItem` of the team memory layer: `teamId`, a `source` with its type and author, no nulls, and
`thread-summary` spelled with a hyphen. The `score` of a search is its relevance. Requests are read in either spelling,
whatever an answer is asked in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from mycel.domain.marks import PREFIX, SOURCE, marks_of
from mycel.domain.memory import FIELDS, MadeBy, Memory, MemoryType, Origin, SourceKind
from mycel.domain.memory_field import MOMENTS
from mycel.domain.query import Statistics
from mycel.domain.recall import Hit
from mycel.domain.team import Kind
from mycel.domain.validity import Validity
from mycel.errors import Conflict, InvalidInput
from mycel.wire.arguments import respelled, snake_case
from mycel.wire.operations import Operation
from mycel.wire.schemas import DEFINITIONS_AT, NULL, Schema
from mycel.wire.shapes import SELDOM, Knowledge, plain, to_json

NAMING = "naming"
HEADER = "mycel-naming"
KindOf = Callable[[str], Kind | None]
_UNDERSCORE = re.compile(r"_([a-z0-9])")


class Naming(StrEnum):
    SNAKE = "snake"
    CAMEL = "camel"


@lru_cache(maxsize=1024)
def camel_case(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)


# The fields of a memory → what they are called in a `MemoryItem`.
NAMES: Mapping[str, str] = {
    row.name: {"team": "teamId", "source_ref": "source"}.get(row.name, camel_case(row.request or row.name))
    for row in FIELDS.values()
}
# Answered as soon as it is asked: they hold for the moment of reading, not for the memory.
_OF_THE_READING = frozenset({"similar", "notices"})
_HYPHENATED: Mapping[str, str] = {MemoryType.THREAD_SUMMARY: "thread-summary"}
_DRAWN = frozenset({MadeBy.EXTRACTION, MadeBy.SESSION_SUMMARY, MadeBy.THREAD_SUMMARY, MadeBy.EPISODE_SUMMARY})


def read_naming(texts: Sequence[str], header: str | None, *, default: Naming) -> Naming:
    """What the query says goes before the header, and that before the default of the service."""
    if len(texts) > 1:
        raise InvalidInput("is given more than once", field=NAMING)
    for given, field in ((texts[0] if texts else None, NAMING), (header, "Mycel-Naming")):
        if given is not None:
            if given not in set(Naming):
                raise InvalidInput(f"must be one of: {', '.join(Naming)}", field=field)
            return Naming(given)
    return default


def encoded(value: object, naming: Naming, kind_of: KindOf = lambda _: None, *, named: bool = False) -> bytes:
    """Return an answer as JSON in this naming."""
    return to_json(value) if naming is Naming.SNAKE else to_camel_json(value, kind_of, named=named)


def to_camel_json(value: object, kind_of: KindOf = lambda _: None, *, named: bool = False) -> bytes:
    """Encode an answer; `kind_of` says whether a member is a person or an agent. A `named` one is an object of ours."""
    kind_of = lru_cache(kind_of)

    def rename(one: object) -> Any:
        if isinstance(one, Memory):
            return memory_item(one, kind_of)
        if isinstance(one, Knowledge):
            return {**memory_item(one.memory, kind_of), "value": one.memory.content}
        if isinstance(one, Mapping):
            return dict(cast("Mapping[str, object]", one))
        found = plain(one)
        if not isinstance(found, dict):
            return found
        named = {camel_case(name): _spelled(each) for name, each in cast("dict[str, object]", found).items()}
        if isinstance(one, Hit):
            named["score"] = one.relevance
        if isinstance(one, Statistics):
            named["byType"] = {_HYPHENATED.get(name, name): count for name, count in one.by_type.items()}
        return named

    encoder = json.JSONEncoder(default=rename, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if named and isinstance(value, dict):
        value = {camel_case(name): one for name, one in cast("dict[str, object]", value).items()}
    return encoder.encode(value).encode()


def _spelled(value: object) -> object:
    if isinstance(value, MemoryType):
        return _HYPHENATED.get(value, value)
    if isinstance(value, tuple | list):
        return [_spelled(one) for one in cast("Sequence[object]", value)]
    return value


def memory_item(memory: Memory, kind_of: KindOf) -> dict[str, object]:
    values = vars(memory)
    found = {said: values[name] for name, said in NAMES.items() if values[name] is not None}
    found["type"] = _spelled(memory.type)
    for name in SELDOM:
        if not values[name]:
            found.pop(NAMES[name], None)
    return {**found, "source": _source(memory, kind_of)}


def _source(memory: Memory, kind_of: KindOf) -> dict[str, object]:
    """Return where a memory comes from: as its source claims, or else as it was saved."""
    ref, claim = memory.source_ref, cast("Mapping[str, object]", memory.metadata.get(SOURCE, {}))
    kind = claim.get("type")
    if kind is None and SourceKind.IMPORT in {memory.source_kind, memory.made_by}:
        kind = Origin.IMPORT
    if kind is None:
        kind = Origin.AUTO if memory.made_by in _DRAWN else kind_of(memory.agent_id) or Origin.AGENT
    found: dict[str, object] = {"type": str(kind), "authorId": claim.get("author_id", memory.agent_id)}
    if ref is not None:
        named = {"threadId": ref.thread_id, "messageId": ref.message_id, "uri": ref.uri, "sourceId": ref.source_id}
        found |= {name: value for name, value in named.items() if value is not None}
    return found


def is_as_read(given: Mapping[str, Any], operation: Operation) -> bool:
    """Tell whether the body of an update holds what nobody can write: a memory as it was read."""
    metadata = given.get("metadata")
    marked = isinstance(metadata, Mapping) and any(str(name).startswith(PREFIX) for name in cast("Any", metadata))
    return marked or any(name in READ_NAMES and (name == "id" or name not in operation.fields) for name in given)


# What is answered of a memory, under either name, as requests are read.
READ_NAMES = frozenset({*FIELDS, *(snake_case(name) for name in NAMES.values()), "project", "repo", "id"})
_MOMENTS = frozenset(row.name for row in FIELDS.values() if row.holds in MOMENTS)
# They come back as they were read, or say how it was read.
_DROPPED = frozenset({"status", "source", "metadata", "valid_from", "valid_until"})


def changes_in(given: Mapping[str, Any], memory: Memory, kind_of: KindOf, *, operation: Operation) -> dict[str, Any]:
    """Return what a memory that is sent back as it was read would change.

    What nobody can write is refused where it differs, but for what follows from the moment of reading. A `version` or
    `updated_at` that differs is a `Conflict`: somebody has changed the memory meanwhile.
    """
    shown = (respelled(json.loads(to_camel_json(memory, kind_of))), json.loads(to_json(memory)))

    def is_same(name: str) -> bool:
        return any(_is_same(name, given[name], one[name]) for one in shown if name in one)

    for name in ("version", "updated_at"):
        if name in given and not is_same(name):
            raise Conflict(f"the memory is at version {memory.version} by now: read it again")
    written = {name for name in given if name in operation.fields and name not in operation.in_path}
    for name in given.keys() - written:
        if name not in READ_NAMES:
            raise InvalidInput("is not a field of this request", field=name)
        if not (is_same(name) or name in _OF_THE_READING or _may_have_been(name, given[name], memory)):
            raise InvalidInput("cannot be changed", field=name)
    dropped = {name for name in written & _DROPPED if is_same(name)}
    found = {name: value for name, value in given.items() if name in written - dropped}
    if isinstance(found.get("metadata"), dict):
        marks = marks_of(shown[0]["metadata"])
        own = cast("dict[str, Any]", found["metadata"]).items()
        found["metadata"] = {name: one for name, one in own if name not in marks or one != marks[name]}
    return found


def _is_same(name: str, given: object, shown: object) -> bool:
    if given == shown:
        return isinstance(given, bool) == isinstance(shown, bool)
    if given in (None, []) and shown in (None, []):
        # What was left out is null, and what was empty not there.
        return True
    if name not in _MOMENTS or not (isinstance(given, str) and isinstance(shown, str)):
        return False
    try:
        # JavaScript keeps milliseconds.
        return abs(datetime.fromisoformat(given) - datetime.fromisoformat(shown)) < timedelta(milliseconds=1)
    except (ValueError, TypeError):
        return False


def _may_have_been(name: str, value: object, memory: Memory) -> bool:
    """Whether a memory may have shown this some time ago: it ages, begins to hold, and is contested."""
    if name == "freshness":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value is None or (is_number and (memory.freshness or 0.0) <= cast("float", value) <= 1)
    return name == "validity" and (value is None or value in set(Validity))


# Schemas

ITEM, SOURCE_ITEM = "MemoryItem", "MemorySource"
_OWN: Mapping[str, str] = {Memory.__name__: ITEM, Knowledge.__name__: "KnowledgeItem"}


def camel_definitions(definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the twins of these definitions in camelCase; what has none looks the same in both."""
    twins = _twins(definitions)
    found = {twin: _renamed(definitions[name], twins) for name, twin in twins.items()}
    for name, twin in _OWN.items():
        if name in definitions:
            found[twin] = _item(definitions[name], twins, also=("value",) if name == Knowledge.__name__ else ())
            found[SOURCE_ITEM] = _SOURCE_SCHEMA
    if MemoryType.__name__ in definitions:
        options = [_HYPHENATED.get(one, one) for one in definitions[MemoryType.__name__]["enum"]]
        found[twins[MemoryType.__name__]] = {"type": "string", "enum": options}
    return found


def spelled_schema(schema: Schema, definitions: Mapping[str, Schema], namings: Collection[Naming]) -> Schema:
    """Return the schema of an answer in any of these namings."""
    twin = _renamed(schema, _twins(definitions))
    if twin == schema or Naming.CAMEL not in namings:
        return schema
    return {"anyOf": [schema, twin]} if Naming.SNAKE in namings else twin


def _twins(definitions: Mapping[str, Schema]) -> dict[str, str]:
    objects = [name for name, one in definitions.items() if "properties" in one or name == MemoryType.__name__]
    return {name: _OWN.get(name, f"Camel{name}") for name in objects}


def _renamed(schema: Schema, twins: Mapping[str, str], *, rename: bool = True) -> Schema:
    """Rename the properties of an object; in an object within it they are names of the caller's, or values."""
    spell = camel_case if rename else str
    found: Schema = {}
    for key, value in schema.items():
        if key == "$ref":
            name = value.removeprefix(DEFINITIONS_AT)
            found[key] = f"{DEFINITIONS_AT}{twins.get(name, name)}"
        elif key == "properties":
            found[key] = {spell(name): _renamed(one, twins, rename=False) for name, one in value.items()}
        elif key == "required":
            found[key] = [spell(name) for name in value]
        elif isinstance(value, dict):
            found[key] = _renamed(cast(Schema, value), twins, rename=rename)
        elif isinstance(value, list):
            listed = cast("list[Any]", value)
            found[key] = [
                _renamed(cast(Schema, one), twins, rename=rename) if isinstance(one, dict) else one for one in listed
            ]
        else:
            found[key] = value
    return found


def _item(schema: Schema, twins: Mapping[str, str], *, also: Sequence[str]) -> Schema:
    shown = {said: schema["properties"][name] for name, said in NAMES.items()}
    shown |= {name: schema["properties"][name] for name in also}
    properties = {name: _renamed(_without_null(one), twins) for name, one in shown.items()}
    properties["source"] = {"$ref": f"{DEFINITIONS_AT}{SOURCE_ITEM}"}
    optional = {NAMES[row.name] for row in FIELDS.values() if not row.required and row.empty is None}
    optional |= {NAMES[name] for name in SELDOM}
    optional -= {"source"}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def _without_null(schema: Schema) -> Schema:
    options = [one for one in schema.get("anyOf", []) if one != NULL]
    return options[0] if len(options) == 1 else schema


_TEXT: Schema = {"type": "string"}
_SOURCE_SCHEMA: Schema = {
    "type": "object",
    "description": "Where a memory comes from. `authorId` is who its source says wrote it, by default its writer, "
    "which is `agentId`.",
    "properties": {
        "type": {"type": "string", "enum": [one.value for one in Origin]},
        **dict.fromkeys(("authorId", "threadId", "messageId", "uri", "sourceId"), _TEXT),
    },
    "required": ["type", "authorId"],
}
