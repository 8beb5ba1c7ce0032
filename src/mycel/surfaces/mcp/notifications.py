"""What a client hears while a call goes on: that it does, and log messages about what its requests came to.

They carry no text of a memory and nothing of what was asked. Before 2026-07-28 a client sets the level of its
connection; since then each request says it by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast, get_args

from mcp.server.connection import allowed_log_levels
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    RequestParams,
    SetLevelRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mycel.surfaces.mcp.callers import Context, connection_of

EVERY_SECONDS = 1.0
ParamsT = TypeVar("ParamsT", bound=RequestParams)
ResultT = TypeVar("ResultT")


def with_progress(
    handler: Callable[[Context, ParamsT], Awaitable[ResultT]],
) -> Callable[[Context, ParamsT], Awaitable[ResultT]]:
    """The same handler; how much is left to do nobody knows, so what is told is how long it has taken."""

    async def run(ctx: Context, params: ParamsT) -> ResultT:
        if "progress_token" not in (ctx.meta or {}):
            return await handler(ctx, params)
        telling = asyncio.get_running_loop().create_task(_tell(ctx))
        try:
            return await handler(ctx, params)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    return run


async def _tell(ctx: Context) -> None:
    seconds = 0.0
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        seconds += EVERY_SECONDS
        await ctx.session.report_progress(seconds)


LOGGER = "mycel"
LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
_LEVEL = "mycel.log_level"


async def set_level(ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
    connection_of(ctx).state[_LEVEL] = params.level
    return EmptyResult()


async def log(ctx: Context, level: LoggingLevel, **data: Any) -> None:
    """With the answer to the request; nothing unless the client wants to hear of this level."""
    if level not in _wanted(ctx):
        return
    params = LoggingMessageNotificationParams(level=level, logger=LOGGER, data={"request": ctx.method, **data})
    await ctx.session.send_notification(LoggingMessageNotification(params=params), ctx.request_id)


def logged(
    handler: Callable[[Context, ParamsT], Awaitable[ResultT]],
) -> Callable[[Context, ParamsT], Awaitable[ResultT]]:
    """The same handler, which says at its end what came of the request."""

    async def run(ctx: Context, params: ParamsT) -> ResultT:
        started = time.monotonic()
        try:
            result = await handler(ctx, params)
        except MCPError as error:
            await log(ctx, "warning", outcome=error.code, milliseconds=_since(started))
            raise
        code = _failed_with(result)
        await log(ctx, "warning" if code else "info", outcome=code or "ok", milliseconds=_since(started))
        return result

    return run


def _failed_with(result: object) -> str | None:
    if isinstance(result, CallToolResult) and result.is_error:
        return str(cast("dict[str, Any]", result.structured_content)["code"])
    return None


def _wanted(ctx: Context) -> frozenset[LoggingLevel]:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return allowed_log_levels(ctx.protocol_version, ctx.meta)
    level = connection_of(ctx).state.get(_LEVEL)
    return frozenset(LEVELS[LEVELS.index(level) :]) if level in LEVELS else frozenset()


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
