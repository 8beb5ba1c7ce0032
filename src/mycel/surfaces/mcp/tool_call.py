"""One call of a tool: read what the model gave, do it as the caller, tell what came of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent

from mycel.domain.envelope import one_line
from mycel.domain.ids import TeamName
from mycel.errors import MycelError, NotFound
from mycel.surfaces.mcp.arguments import read_arguments, repeat_key
from mycel.surfaces.mcp.callers import Guest
from mycel.surfaces.mcp.tool import Effect, LocalTool, Tool
from mycel.surfaces.mcp.tool_results import Told
from mycel.wire.operations import IDEMPOTENCY

PLACES = frozenset({"project", "repo"})


async def call_tool(tool: Tool, guest: Guest, given: Mapping[str, Any]) -> CallToolResult:
    """What the caller can mend is told as the result; a model reads that and tries again."""
    try:
        arguments = read_arguments(tool, given)
        told = await guest.work(lambda: _do(tool, guest, arguments), writes=tool.effect is not Effect.READS)
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
    found = _once(tool, method, {**_placed(tool, guest.place, arguments), **tool.given})
    return tool.tell(found, TeamName(memory.team))


def _placed(tool: Tool, place: Mapping[str, str], arguments: dict[str, Any]) -> dict[str, Any]:
    """A model that names neither project nor repo means the one it works in; an empty name means none."""
    if place and set(tool.takes) >= PLACES and not PLACES & arguments.keys():
        return {**place, **arguments}
    return {name: value for name, value in arguments.items() if value or name not in PLACES}


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
    return _result(Told(one_line(f"{error.code}: {error}"), values), is_error=True)
