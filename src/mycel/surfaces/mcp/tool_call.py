"""One call of a tool: its arguments as models give them, and its result."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from mcp_types import CallToolResult, TextContent

from mycel.domain.envelope import envelope, one_line
from mycel.domain.ids import TeamName, is_id
from mycel.domain.names import find_name, unknown_name
from mycel.errors import AmbiguousId, InvalidInput, MycelError, NotFound
from mycel.surfaces.mcp.argument_help import FIELDS, WORDS, Schema
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.tool import Effect, LocalTool, Tool
from mycel.surfaces.mcp.tool_results import Told, candidate_lines
from mycel.wire.arguments import respelled, snake_case
from mycel.wire.operations import IDEMPOTENCY

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
    takes = tool.takes
    if not isinstance(tool, LocalTool) and tool.operation.unpacks:
        # What may come in an object may be more than models are shown.
        named = _unpacked(named, tool.operation.unpacks)
        takes = (*tool.takes, *(name for name in tool.operation.fields if name not in tool.given))
    found = {name: value for name, value in named.items() if name in takes and value is not None}
    for name, value in named.items():
        if name not in takes and value is not None:
            ours = find_name(name, takes) or _ours(tool, name, found, named)
            if ours is None:
                raise unknown_name(name, _listed(tool), kind=f"an argument of {tool.name}")
            if found.setdefault(ours, value) != value:
                raise InvalidInput(f"is also given as {ours}, with another value", field=name)
    missing = [name for name in tool.needs if name not in found]
    if missing:
        raise InvalidInput(f"is required: {tool.name} takes {', '.join(_listed(tool))}", field=missing[0])
    properties = tool.schema["properties"]
    return {name: _fitted(properties.get(name) or WORDS.get(name, {}), value) for name, value in found.items()}


def _unpacked(named: Mapping[str, Any], unpacks: str) -> dict[str, Any]:
    """The arguments with those that came in an object, which may be its JSON."""
    packed = named.get(unpacks)
    packed = _parsed(packed) if isinstance(packed, str) else packed
    rest = {name: value for name, value in named.items() if name != unpacks}
    if packed is None:
        return rest
    if not isinstance(packed, Mapping):
        raise InvalidInput("must be an object of names and values", field=unpacks)
    for name, value in respelled(cast(Mapping[str, Any], packed)).items():
        if value is not None and rest.setdefault(name, value) != value:
            raise InvalidInput(f"is also given as {name}, with another value", field=f"{unpacks}.{name}")
    return rest


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


def _listed(tool: Tool) -> list[str]:
    return [f"{name} (required)" if name in tool.needs else name for name in tool.takes]


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


PLACES = frozenset({"project", "repo"})


async def call_tool(tool: Tool, guest: Guest, given: Mapping[str, Any]) -> CallToolResult:
    """What the caller can mend is told as the result; a model reads that and tries again."""
    try:
        arguments = read_arguments(tool, given)
        told = await guest.work(
            lambda: _do(tool, guest, arguments),
            writes=tool.effect is not Effect.READS,
            takes_long=tool.name if tool.takes_long else None,
        )
    except MycelError as error:
        return _failed(error)
    return _result(told, is_error=False)


def _result(told: Told, *, is_error: bool) -> CallToolResult:
    """The text twice: some clients show a model the content, some only what is structured."""
    return CallToolResult(
        content=[TextContent(type="text", text=told.text), *told.attached],
        structured_content={"text": told.text, **told.values},
        is_error=is_error,
    )


def _do(tool: Tool, guest: Guest, arguments: dict[str, Any]) -> Told:
    memory = guest.memory
    if isinstance(tool, LocalTool):
        return tool.tell(tool.apply(guest, arguments), TeamName(memory.team))
    part, _, name = tool.does.rpartition(".")
    method = getattr(getattr(memory, part) if part else memory, name)
    named = memory.history(arguments["id"])[-1].memory if tool.names_its_memory else None
    found = _once(tool, method, {**_placed(tool, guest.place, arguments), **tool.given})
    return tool.tell(named or found, TeamName(memory.team))


def _placed(tool: Tool, place: Mapping[str, str], arguments: dict[str, Any]) -> dict[str, Any]:
    """A model that names neither project nor repo means the one it works in; an empty name means none."""
    if place and set(tool.takes) >= PLACES and not PLACES & arguments.keys() and not _has_its_place(arguments):
        return {**place, **arguments}
    return {name: value for name, value in arguments.items() if value or name not in PLACES}


def _has_its_place(arguments: Mapping[str, Any]) -> bool:
    """Whether it is about a source that was stored, or asks for a scope: either says where it belongs."""
    messages = arguments.get("messages")
    return "source_id" in arguments or "scope" in arguments or (isinstance(messages, str) and is_id(messages))


def _once(tool: Tool, method: Any, arguments: dict[str, Any]) -> Any:
    """What was done before is not done again, unless somebody has taken it away since."""
    if not tool.repeats_by_key or IDEMPOTENCY in arguments:
        return method(**arguments)
    key = repeat_key(tool, arguments)
    try:
        return method(**arguments, **{IDEMPOTENCY: key})
    except NotFound:
        return method(**arguments, **{IDEMPOTENCY: f"{key[:40]}-{secrets.token_hex(8)}"})


def _failed(error: MycelError) -> CallToolResult:
    field = getattr(error, "field", None)
    wait = getattr(error, "retry_after", None)
    values: dict[str, Any] = {"code": error.code}
    if field is not None:
        values["field"] = one_line(field)
    if wait is not None:
        values["retry_after"] = wait
    text = one_line(f"{error.code}: {error}")
    if isinstance(error, AmbiguousId):
        # Their titles are stored text.
        text = f"{text}\n{envelope(candidate_lines(error.candidates))}"
        values["candidates"] = [{"id": one.id, "team": one.team} for one in error.candidates]
    return _result(Told(text, values), is_error=True)
