"""Resources and prompts, and who is told when one reads differently."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError
from mcp.server.subscriptions import ResourceUpdated

from tests.surfaces.mcp.clients import OLDER, Served, run, save

pytestmark = pytest.mark.each_database(slow=True)

PATIENCE = 20.0
WAYS = ["http", "stdio"]


@pytest.mark.parametrize("way", WAYS)
def test_resources_are_listed_and_read(served: Served, way: str) -> None:
    async def work() -> None:
        async with getattr(served, way)("swe-1") as client:
            id = await save(client, f"Read by its address {uuid4().hex}.")
            listed = [str(one.uri) for one in (await client.list_resources()).resources]
            assert listed == ["memory://recent", "memory://context"]
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "memory://{id}"
            for uri in (*listed, f"memory://{id}"):
                (content,) = (await client.read_resource(uri)).contents
                assert content.mime_type == "text/markdown"
                assert "Read by its address" in content.text

    run(work)


def test_a_hidden_memory_is_no_resource(served: Served) -> None:
    async def work() -> None:
        async with served.http("swe-1") as author, served.http("swe-2") as other:
            id = await save(author, "Only mine.", visibility="private")
            assert "Only mine." in (await author.read_resource(f"memory://{id}")).contents[0].text  # pyright: ignore
            for uri in (f"memory://{id}", f"memory://{uuid4()}", "memory://nonsense", "file:///etc/passwd"):
                with pytest.raises(MCPError, match="Resource not found"):
                    await other.read_resource(uri)

    run(work)


@pytest.mark.parametrize("way", WAYS)
def test_whoever_listens_hears_of_changes_that_it_may_see(served: Served, way: str) -> None:
    async def work() -> None:
        async with getattr(served, way)("swe-1") as client, served.http("swe-2") as other:
            id = await save(client, f"Watched {uuid4().hex}.")
            uri = f"memory://{id}"
            async with client.listen(resource_subscriptions=[uri, "memory://recent"]) as events:
                await save(other, "Nobody else's.", visibility="private")
                await client.call_tool("update_memory", {"id": id, "content": f"Changed {uuid4().hex}."})
                heard = {await asyncio.wait_for(anext(aiter(events)), PATIENCE) for _ in range(2)}
            assert heard == {ResourceUpdated(uri), ResourceUpdated("memory://recent")}

    run(work)


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
def test_an_older_client_subscribes_to_a_resource(served: Served, way: str) -> None:
    heard: list[str] = []

    async def note(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.append(str(message.params.uri))

    async def work() -> None:
        async with getattr(served, way)("swe-1", mode=OLDER, message_handler=note) as client:
            id = await save(client, f"Watched {uuid4().hex}.")
            await client.subscribe_resource(f"memory://{id}")
            await client.call_tool("update_memory", {"id": id, "content": f"Changed {uuid4().hex}."})
            async with asyncio.timeout(PATIENCE):
                while not heard:
                    await asyncio.sleep(0.02)
            await client.unsubscribe_resource(f"memory://{id}")
            await client.call_tool("update_memory", {"id": id, "content": f"Again {uuid4().hex}."})
            await asyncio.sleep(0.2)
        assert heard == [f"memory://{id}"]

    run(work)


def test_prompts_are_listed_and_written(served: Served) -> None:
    async def work() -> None:
        async with served.http("eng-director") as client:
            names = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert names == {"save-decision", "review-inbox", "recall-context"}
            for name in names:
                (message,) = (await client.get_prompt(name)).messages
                assert message.role == "user"
            (message,) = (await client.get_prompt("save-decision", {"decision": "Use uv."})).messages
            assert "Use uv." in message.content.text  # pyright: ignore
            for name, given in (("nothing", {}), ("save-decision", {"what": "x"})):
                with pytest.raises(MCPError):
                    await client.get_prompt(name, given)

    run(work)
