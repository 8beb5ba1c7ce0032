"""The objects inside of requests: memories and episodes of a batch, edits, what a task came to, messages, teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from mycel.domain.artifact import ARTIFACT_WRITTEN
from mycel.domain.memory import WRITTEN, SourceKind
from mycel.domain.team import Kind, Role
from mycel.engine.transcripts.limit import MAX_TRANSCRIPT_BYTES
from mycel.wire.constraints import AUDIENCE, ENDING, EXPIRY
from mycel.wire.operations import IDEMPOTENCY, Operation
from mycel.wire.schemas import (
    DEFINITIONS,
    ID,
    JSON,
    LABEL,
    MEMBER,
    NO_NUL,
    TAGS,
    TEAM,
    Schema,
    closed,
    either,
    listed,
    nullable,
    one_of,
    ref,
    text,
)
from mycel.wire.vocabulary import OF_ARTIFACTS, meaning_of

_OF_UPDATES_ALONE = frozenset({"id", "status", "needs_review", "expected_version", "reason", IDEMPOTENCY})
_SPOKEN = ["message", "text", "input_text", "output_text"]
_PLAIN = text(MAX_TRANSCRIPT_BYTES)


@cache
def definitions() -> Mapping[str, Schema]:
    """Everything that the schemas of requests refer to."""
    return {
        **DEFINITIONS,
        "NewMemory": _emptiable("save", {IDEMPOTENCY}, required=["content"], allOf=[AUDIENCE, EXPIRY]),
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
    whoever: Schema = {**JSON, "description": "Not read: who wrote it is always the caller."}
    return closed({"type": nullable(kinds), "author_id": whoever, "source_id": nullable(ID), **named})


def _members() -> Schema:
    member = closed({"id": MEMBER, "kind": one_of(Kind), "role": one_of(Role)}, required=["id"])
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
