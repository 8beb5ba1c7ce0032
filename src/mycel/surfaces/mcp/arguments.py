"""The arguments of a call as models give them: under other names, as text, or wrapped once more."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from mycel.errors import InvalidInput
from mycel.surfaces.mcp.argument_help import FIELDS, Schema
from mycel.surfaces.mcp.tool import Tool
from mycel.wire.spelling import snake_case

# What models call our words; read where a tool takes ours and was not given it.
OTHER_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{name: row.aliases for name, row in FIELDS.items() if row.aliases},
        "from_id": ("source", "from", "source_id", "id"),
        "id": ("memory_id", "uuid", "memory", "mem_id"),
        "learning": ("lesson", "content", "text", "memory", "message"),
        "limit": ("n", "k", "top_k", "count", "max_results", "max", "num_results", "size"),
        "memory_id": ("id",),
        "messages": ("transcript", "conversation", "session", "text", "content"),
        "min_relevance": ("threshold", "min_score", "score_threshold"),
        "note": ("scratchpad", "text"),
        "output": ("result", "outcome", "summary", "content"),
        "query": ("q", "question", "search", "search_query", "text", "keywords", "prompt", "content"),
        "reason": ("why", "comment"),
        "recall_id": ("search_id",),
        "relation": ("type", "kind"),
        "task": ("query", "description", "task_description", "goal", "prompt", "topic"),
        "to_id": ("target", "to", "target_id"),
        "token_budget": ("max_tokens", "budget", "tokens"),
        "useful": ("helpful", "rating", "good"),
        "value": ("content", "text"),
        "what_went_wrong": ("error", "reason", "failure", "why"),
    }
)
# Models wrap everything once more under one of these.
_WRAPPERS = frozenset({"arguments", "args", "input", "params", "parameters", "kwargs"})
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


def read_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """By our names and in our types. Raises `InvalidInput` that says what the tool takes."""
    named = {snake_case(name): value for name, value in _unwrapped(given).items()}
    found = {name: value for name, value in named.items() if name in tool.takes and value is not None}
    for name, value in named.items():
        if name not in tool.takes and value is not None:
            ours = _ours(tool, name, found, named)
            if ours is None:
                raise InvalidInput(_unknown(tool, name), field=name[:80])
            found[ours] = value
    missing = [name for name in tool.needs if name not in found]
    if missing:
        raise InvalidInput(f"is required: {tool.name} takes {_listed(tool)}", field=missing[0])
    properties = tool.schema["properties"]
    return {name: _fitted(properties[name], value) for name, value in found.items()}


def repeat_key(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The same call of the same caller is one call, however often it is made: a client repeats what got no answer.

    Of events only within a stretch of time; repeated across its end, one would be told twice.
    """
    stretch = 0 if tool.new_after is None else int(time.time() // tool.new_after)
    told = json.dumps([tool.name, arguments, stretch], sort_keys=True, default=str)
    return f"mcp-{hashlib.sha256(told.encode()).hexdigest()}"


def _unwrapped(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(given) == 1:
        ((name, value),) = given.items()
        if name in _WRAPPERS and isinstance(value, Mapping):
            return cast(Mapping[str, Any], value)
    return given


def _ours(tool: Tool, name: str, found: Mapping[str, Any], named: Mapping[str, Any]) -> str | None:
    """The word of ours that this one stands for; what the tool cannot do without comes first."""
    wanted = sorted(tool.takes, key=lambda word: word not in tool.needs)
    free = (word for word in wanted if word not in found and word not in named)
    return next((word for word in free if name in OTHER_NAMES.get(word, ())), None)


def _unknown(tool: Tool, name: str) -> str:
    close = get_close_matches(name, tool.takes, n=1)
    hint = f" (do you mean {close[0]}?)" if close else ""
    return f"is no argument of {tool.name}{hint}: it takes {_listed(tool)}"


def _listed(tool: Tool) -> str:
    return ", ".join(f"{name} (required)" if name in tool.needs else name for name in tool.takes)


def _fitted(schema: Schema, value: object) -> object:
    """Numbers, flags and lists that came as text; whatever does not fit is left for the method to refuse."""
    if not isinstance(value, str):
        return value
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if "string" in kinds and not value.lstrip().startswith("["):
        return value
    if "boolean" in kinds:
        word = value.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else value
    if {"integer", "number", "array", "object"} & set(kinds):
        return _parsed(value)
    return value


def _parsed(text: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(found, bool) or found is None else found
