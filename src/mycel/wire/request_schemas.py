"""The JSON Schema of what an operation takes: in its path, its query or its body, and the objects inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import cast

from mycel.contracts.memory_api import CaptureFields
from mycel.domain.artifact import ARTIFACT_WRITTEN
from mycel.domain.episode import Action
from mycel.domain.link import PLACE_RELATIONS
from mycel.domain.memory import WRITTEN, Scope, SourceKind, Visibility
from mycel.domain.names import ALIASES
from mycel.domain.task import MAX_TASK_OUTPUT_BYTES
from mycel.domain.team import Kind, Role
from mycel.engine.transcripts.turns import MAX_TRANSCRIPT_BYTES
from mycel.wire.operations import IDEMPOTENCY, Operation, accepts_none
from mycel.wire.schemas import (
    DEFINITIONS,
    DEFINITIONS_AT,
    ID,
    JSON,
    LABEL,
    LINKED,
    MEMBER,
    NO_NUL,
    NULL,
    TAG_LIST,
    TAGS,
    TEAM,
    Schema,
    closed,
    either,
    filled,
    listed,
    nullable,
    one_of,
    ref,
    text,
)
from mycel.wire.vocabulary import OF_ARTIFACTS, WORDS, meaning_of

_OTHERS = [visibility.value for visibility in Visibility if visibility is not Visibility.ROLE]
# Roles go with the visibility `role`, and with no other.
AUDIENCE = either(
    {
        "properties": {
            "visibility": {"const": Visibility.ROLE.value},
            "allowed_roles": either({"type": "array", "minItems": 1}, {"type": "string"}),
        },
        "required": ["allowed_roles", "visibility"],
    },
    {
        "properties": {
            "visibility": {"enum": [*_OTHERS, None]},
            "allowed_roles": either(NULL, {"type": "array", "maxItems": 0}),
        }
    },
)
# One end, or none.
EXPIRY = either({"properties": {"ttl": NULL}}, {"properties": {"expires_at": NULL}})
SOMETHING: Schema = {"minProperties": 1}
# New material, or a source that is there, of which nothing can be changed.
MATERIAL = either(
    {"properties": {"messages": {"not": NULL}, "source_id": NULL}, "required": ["messages"]},
    {
        "properties": {
            **dict.fromkeys(("messages", "closed", "scope", *CaptureFields.__annotations__), NULL),
            "source_id": ID,
        },
        "required": ["source_id"],
    },
)
# A scope that names a place goes without the fields for places.
REQUESTED = either(
    {"properties": {"scope": either(one_of(Scope), NULL)}}, {"properties": {"project": NULL, "repo": NULL}}
)
ENDING = either(
    {
        "properties": {
            "action": {"const": Action.COMPLETED.value},
            "output": filled(MAX_TASK_OUTPUT_BYTES),
            "what_went_wrong": NULL,
        },
        "required": ["output"],
    },
    {
        "properties": {"action": {"const": Action.FAILED.value}, "what_went_wrong": WORDS["what_went_wrong"]},
        "required": ["action", "what_went_wrong"],
    },
)
_TO_A_PLACE = either({"properties": {"to_id": ID}}, {"properties": {"relation": one_of(sorted(PLACE_RELATIONS))}})

CONSTRAINTS: Mapping[str, Sequence[Schema]] = MappingProxyType(
    {
        "save": [AUDIENCE, EXPIRY],
        "update": [EXPIRY, SOMETHING],
        "link": [_TO_A_PLACE],
        "set_policy": [SOMETHING],
        "index_file": [AUDIENCE],
        "capture_session": [AUDIENCE, MATERIAL, REQUESTED],
        "capture_conversation": [AUDIENCE, MATERIAL, REQUESTED],
        "summarize_thread": [AUDIENCE, MATERIAL],
        "complete_task": [AUDIENCE],
        "fail_task": [AUDIENCE],
        "knowledge.upsert": [AUDIENCE],
        "episodes.log": [AUDIENCE],
        "artifacts.register": [AUDIENCE],
    }
)


_OF_UPDATES_ALONE = frozenset({"id", "status", "needs_review", "expected_version", "reason", IDEMPOTENCY})
# One at a time, somebody reads the answer.
_OF_ONE_SAVE = frozenset({"similar", "supersedes", IDEMPOTENCY})
_SPOKEN = ["message", "text", "input_text", "output_text"]
_PLAIN = text(MAX_TRANSCRIPT_BYTES)


@cache
def definitions() -> Mapping[str, Schema]:
    """Everything that the schemas of requests refer to."""
    return {
        **DEFINITIONS,
        "NewMemory": _emptiable("save", _OF_ONE_SAVE, required=["content"], allOf=[AUDIENCE, EXPIRY]),
        "Edits": closed(
            {
                name: nullable(schema) if WRITTEN[name].emptied else schema
                for name, schema in _meanings("update", _OF_UPDATES_ALONE).items()
            },
            allOf=[EXPIRY],
        ),
        "NewEpisode": _emptiable("episodes.log", {IDEMPOTENCY}, required=["action", "approach"], allOf=[AUDIENCE]),
        "TaskResult": _emptiable("after_task", {"result", IDEMPOTENCY}, required=["task_id"], allOf=[AUDIENCE, ENDING]),
        "TaskArtifact": closed(
            {
                name: nullable(schema) if ARTIFACT_WRITTEN[name].unsaid and name != "path" else schema
                for name, schema in {**OF_ARTIFACTS, "tags": TAGS}.items()
            },
            required=["path"],
        ),
        "Origin": either(LABEL, _origin(), description="Where it came from: its name, or what is known of it."),
        "RequestedScope": either(
            one_of(Scope),
            *(one for one in LINKED["anyOf"] if "pattern" in one),
            description="Where what is drawn applies; `project:NAME`, `repo:NAME`: where it belongs.",
        ),
        "NewTeam": closed({"name": TEAM, "parent": nullable(TEAM), "members": nullable(_members())}, required=["name"]),
        "Messages": either(
            _PLAIN,
            listed(ref("Message"), most=MAX_TRANSCRIPT_BYTES, minItems=1),
            description="Messages of a talk, a text, or the JSONL transcript of Claude Code or Codex.",
        ),
        "Message": _message(),
        "MessagePart": _part(),
    }


def _meanings(operation: str, without: Iterable[str]) -> dict[str, Schema]:
    fields = Operation(operation, "POST", "/").fields
    return {name: meaning_of(name, operation=operation) for name in fields if name not in without}


def _emptiable(operation: str, without: Iterable[str], *, required: list[str], allOf: list[Schema]) -> Schema:  # noqa: N803
    """In an object of a list, null says the same as nothing."""
    known = {
        name: schema if name in required else nullable(schema) for name, schema in _meanings(operation, without).items()
    }
    return closed(known, required=required, allOf=allOf)


def _origin() -> Schema:
    kinds = {
        "type": "string",
        "enum": ["human", "agent", SourceKind.IMPORT.value, "auto"],
        "description": "`auto`: nobody wrote it. A thread summary is its thread's, the rest was drawn from a talk.",
    }
    named = {name: nullable(LABEL) for name in ("thread_id", "message_id", "uri")}
    whoever = {**LABEL, "description": "Who the source says wrote it: a claim. Its writer is always the caller."}
    return closed({"type": nullable(kinds), "author_id": nullable(whoever), "source_id": nullable(ID), **named})


def _members() -> Schema:
    member = closed(
        {"id": MEMBER, "kind": one_of(Kind), "role": one_of(Role), "title": nullable(LABEL)}, required=["id"]
    )
    return {"type": "array", "items": either(MEMBER, member)}


def _message() -> Schema:
    parts = {"type": "array", "items": ref("MessagePart")}
    return {
        "type": "object",
        "properties": {
            "role": {**LABEL, "examples": ["user", "assistant"]},
            "name": nullable(LABEL),
            "content": either(_PLAIN, parts),
            "timestamp": nullable(ref("Moment")),
        },
        "required": ["content", "role"],
        "propertyNames": NO_NUL,
        "additionalProperties": JSON,
    }


def _part() -> Schema:
    spoken: Schema = {
        "type": "object",
        "properties": {"type": {"type": "string", "enum": _SPOKEN}, "text": _PLAIN},
        "required": ["text", "type"],
        "propertyNames": NO_NUL,
        "additionalProperties": JSON,
    }
    return either(_PLAIN, spoken)


# A query is part of an address, which many on its way cut short.
MAX_IN_QUERY = 4096
# The status of what waits in the inbox is known.
_NOT_ASKED = frozenset({("inbox", "status")})
# Whose length follows from something else.
_SHAPED = frozenset({"enum", "pattern", "format"})
SPELLING = (
    "Names in camelCase are read too, but not both spellings of one name. So are other names of the same thing, where "
    "it is taken: "
    + ", ".join(f"`{name}` for `{'` or `'.join(ours)}`" for name, ours in ALIASES.items())
    + "; and filters in "
    "one object `filters`."
)


def in_path(operation: Operation) -> Mapping[str, Schema]:
    return {name: meaning_of(name, operation=operation.name) for name in operation.in_path}


def arguments(operation: Operation) -> Schema:
    """Of everything that does not stand in the path, by the names that the request has for it."""
    if operation.name == "after_task":
        return _after_task(operation)
    if operation.name == "explain":
        return _explain()
    if operation.name == "ingest":
        # Its parts may also be given by themselves, as `save` has them.
        return closed({"memory_input": ref("NewMemory"), IDEMPOTENCY: LABEL}, required=["memory_input"])
    properties = _properties(operation)
    required = {_named(operation, name) for name in operation.required if name not in operation.in_path}
    constraints = CONSTRAINTS.get(operation.name, ())
    bound = {"allOf": list(constraints)} if constraints else {}
    return closed(properties, required=required, **bound)


def without(schema: Schema, name: str) -> Schema:
    """The same but for one name, which has another place in the request."""
    if "properties" not in schema:
        return {**schema, "anyOf": [without(one, name) for one in schema["anyOf"]]}
    return {**schema, "properties": {key: one for key, one in schema["properties"].items() if key != name}}


def _properties(operation: Operation) -> dict[str, Schema]:
    return {
        _named(operation, name): _meaning(operation, name)
        for name in operation.fields
        if name not in operation.in_path and (operation.name, name) not in _NOT_ASKED
    }


def _meaning(operation: Operation, name: str) -> Schema:
    schema = meaning_of(name, operation=operation.name)
    if operation.in_query:
        return _in_query(schema)
    empty = accepts_none(operation.fields[name]) and not _is_kept(operation, name)
    return nullable(schema) if empty else schema


def _is_kept(operation: Operation, name: str) -> bool:
    """What Python takes as None and a memory cannot be without."""
    return operation.name == "update" and name in WRITTEN and not WRITTEN[name].emptied


def _in_query(schema: Schema) -> Schema:
    """There one value and a list of one look alike, and nothing is null."""
    whole = DEFINITIONS.get(schema.get("$ref", "").removeprefix(DEFINITIONS_AT), schema)
    if whole.get("type") == "string" and whole.get("maxLength", MAX_IN_QUERY + 1) > MAX_IN_QUERY:
        short = {name: value for name, value in whole.items() if name != "description"}
        return short if _SHAPED & short.keys() else {**short, "maxLength": MAX_IN_QUERY}
    if schema == TAGS:
        return TAG_LIST
    options = cast(list[Schema], schema.get("anyOf", []))
    if not any(option.get("type") == "array" for option in options):
        return schema
    single = next(option for option in options if option.get("type") != "array")
    several = next(option for option in options if option.get("type") == "array")
    # A word such as `any` stands alone.
    alone = {**single, "enum": [word for word in single["enum"] if word not in several["items"]["enum"]]}
    return either(several, alone) if alone["enum"] else several


def _named(operation: Operation, name: str) -> str:
    given = {ours: theirs for theirs, ours in (operation.renamed or {}).items()}
    return given.get(name, name)


def _after_task(operation: Operation) -> Schema:
    """As one object, or as its fields."""
    fields = _properties(operation)
    result = fields.pop("result")
    nothing = either(NULL, {"type": "object", "maxProperties": 0})
    as_fields = closed({**fields, "result": nothing}, required=["task_id"], allOf=[AUDIENCE, ENDING])
    return either(closed({"result": result["anyOf"][0]}, required=["result"]), as_fields)


def _explain() -> Schema:
    """A recall, perhaps with what it missed, or a memory."""
    recall = closed({"recall_id": ID, "missing": meaning_of("missing")}, required=["recall_id"])
    return either(recall, closed({"memory_id": ID}, required=["memory_id"]))
