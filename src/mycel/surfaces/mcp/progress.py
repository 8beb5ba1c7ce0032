"""Progress of a long call: a client that asks for it hears each second that the call goes on, and keeps waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mcp_types import RequestParams

from mycel.surfaces.mcp.callers import Context

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
