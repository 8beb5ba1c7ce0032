"""A client that asks for progress hears that a long call goes on; a quick one is answered and nothing else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from mcp_types import RequestParams

from mycel.surfaces.mcp import notifications
from mycel.surfaces.mcp.callers import Context
from mycel.surfaces.mcp.notifications import with_progress
from tests.surfaces.mcp.clients import Served, run, save


def test_a_call_with_a_progress_token_is_told_of_while_it_lasts(monkeypatch: Any) -> None:
    monkeypatch.setattr(notifications, "EVERY_SECONDS", 0.01)
    told: list[float] = []

    async def note(seconds: float) -> None:
        told.append(seconds)

    async def slow(_ctx: Context, _params: RequestParams) -> str:
        while len(told) < 3:
            await asyncio.sleep(0.001)
        return "done"

    async def work(meta: dict[str, Any], handler: Any) -> str:
        ctx = cast(Context, SimpleNamespace(meta=meta, session=SimpleNamespace(report_progress=note)))
        found = await with_progress(handler)(ctx, RequestParams())
        await asyncio.sleep(0.05)
        return found

    assert asyncio.run(work({"progress_token": 1}, slow)) == "done"
    assert told == sorted(told)
    assert len(told) == 3

    async def quick(_ctx: Context, _params: RequestParams) -> str:
        await asyncio.sleep(0.05)
        return "done"

    assert asyncio.run(work({}, quick)) == "done"
    assert len(told) == 3


def test_a_quick_call_is_answered_without_progress(served: Served) -> None:
    told: list[float] = []

    async def note(seconds: float, *_: object) -> None:
        told.append(seconds)

    async def work() -> None:
        async with served.http("swe-1") as client:
            id = await save(client, "Quickly saved.")
            assert not (await client.call_tool("memory-get", {"id": id}, progress_callback=note)).is_error

    run(work)
    assert told == []
