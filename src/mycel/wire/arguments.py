"""The JSON Schema of what an operation takes: in its path, its query or its body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mycel.domain.memory import WRITTEN
from mycel.wire.constraints import AUDIENCE, CONSTRAINTS, ENDING
from mycel.wire.operations import Operation, accepts_none
from mycel.wire.schemas import DEFINITIONS, DEFINITIONS_AT, ID, NULL, TAG_LIST, TAGS, Schema, closed, either, nullable
from mycel.wire.vocabulary import meaning_of

# A query is part of an address, which many on its way cut short.
MAX_IN_QUERY = 4096
# The status of what waits in the inbox is known.
_NOT_ASKED = frozenset({("inbox", "status")})
# Whose length follows from something else.
_SHAPED = frozenset({"enum", "pattern", "format"})
SPELLING = "Names in camelCase are read too, but not both spellings of one name."


def in_path(operation: Operation) -> Mapping[str, Schema]:
    return {name: meaning_of(name, operation=operation.name) for name in operation.in_path}


def arguments(operation: Operation) -> Schema:
    """Of everything that does not stand in the path, by the names that the request has for it."""
    if operation.name == "after_task":
        return _after_task(operation)
    if operation.name == "explain":
        return _explain()
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
