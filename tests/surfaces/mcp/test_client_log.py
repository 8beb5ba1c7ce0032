"""Log messages to a client that asks for them, by either protocol and every way in."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client
from mcp_types import LoggingMessageNotificationParams

from tests.surfaces.mcp.clients import MODERN, OLDER, Served, run, save
from tests.surfaces.mcp.test_relay import agent, end_service, relayed

pytestmark = pytest.mark.filterwarnings("ignore:The logging capability:mcp.shared.exceptions.MCPDeprecationWarning")
WAYS = ["http", "stdio", "relay"]


class Heard:
    def __init__(self) -> None:
        self.messages: list[LoggingMessageNotificationParams] = []

    async def __call__(self, params: LoggingMessageNotificationParams) -> None:
        self.messages.append(params)

    def levels(self) -> set[str]:
        return {one.level for one in self.messages}


def connected(served: Served, way: str, **options: Any) -> AbstractAsyncContextManager[Client]:
    return relayed(served, "swe-1", **options) if way == "relay" else getattr(served, way)("swe-1", **options)


@pytest.mark.parametrize("way", WAYS)
def test_an_older_client_hears_what_it_set_the_level_for(served: Served, way: str) -> None:
    heard = Heard()

    async def work() -> None:
        async with connected(served, way, mode=OLDER, logging_callback=heard) as client:
            assert client.server_capabilities.logging is not None
            await save(client, f"Before {uuid4().hex}.")
            assert heard.messages == []
            await client.set_logging_level("info")
            await save(client, f"Said {uuid4().hex}.")
            assert [(one.level, one.logger, one.data["outcome"]) for one in heard.messages] == [("info", "mycel", "ok")]
            await client.set_logging_level("warning")
            heard.messages.clear()
            await save(client, f"Said {uuid4().hex}.")
            await client.call_tool("memory-get", {"id": "nonsense"})
            assert [(one.level, one.data["outcome"]) for one in heard.messages] == [("warning", "invalid_input")]

    run(work)


@pytest.mark.parametrize("way", WAYS)
def test_a_client_of_today_hears_what_its_request_asks_for(served: Served, way: str) -> None:
    heard = Heard()

    async def work() -> None:
        options: dict[str, Any] = {"mode": MODERN, "logging_callback": heard}
        async with connected(served, way, **options) as client:
            await save(client, f"Unasked {uuid4().hex}.")
            assert heard.messages == []
        async with connected(served, way, log_level="debug", **options) as client:
            await save(client, f"Asked {uuid4().hex}.")
            assert heard.levels() == {"debug", "info"}

    run(work)


def test_no_message_carries_what_was_asked_or_stored(served: Served) -> None:
    heard, word = Heard(), f"quokka{uuid4().hex}"

    async def work() -> None:
        async with served.http("swe-1", mode=OLDER, logging_callback=heard) as client:
            await client.set_logging_level("debug")
            id = await save(client, f"A {word} sleeps.", title=word, tags=word, project=word)
            await client.call_tool("search_memory", {"query": word, word: word})
            await client.call_tool("search_memory", {"query": word})
            await client.call_tool("memory-get", {"id": word})
            await client.read_resource(f"memory://{id}")
            for asked in (
                client.read_resource(f"memory://{word}"),
                client.get_prompt(word),
                client.call_tool(word, {}),
            ):
                with pytest.raises(Exception, match=r"found|Unknown"):
                    await asked
            await client.get_prompt("recall-context", {"task": word})

    run(work)
    assert heard.levels() == {"debug", "info", "warning"}
    assert word not in json.dumps([one.model_dump(mode="json") for one in heard.messages])


def test_the_level_holds_after_the_service_was_restarted(data: Path) -> None:
    heard = Heard()

    async def work() -> None:
        async with Client(agent(data), mode=OLDER, logging_callback=heard) as client:
            await client.set_logging_level("info")
            await asyncio.to_thread(end_service, data)
            await save(client, "After the service was restarted.")
            assert heard.levels() == {"info"}

    try:
        run(work)
    finally:
        end_service(data)
