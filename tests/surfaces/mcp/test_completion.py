"""Completion of arguments: what the caller may see and has begun to write, by either protocol and every way in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from uuid import uuid4

import pytest
from mcp import Client
from mcp_types import PromptReference, ResourceTemplateReference

from tests.surfaces.mcp.clients import MODERN, OLDER, Served, run, save
from tests.surfaces.mcp.test_relay import relayed

pytestmark = pytest.mark.each_database(slow=True)

MEMORY = ResourceTemplateReference(uri="memory://{id}")


async def completed(client: Client, prompt: str, name: str, begun: str) -> list[str]:
    found = await client.complete(PromptReference(name=prompt), {"name": name, "value": begun})
    return found.completion.values


def connected(served: Served, way: str, who: str, mode: str) -> AbstractAsyncContextManager[Client]:
    return relayed(served, who, mode=mode) if way == "relay" else getattr(served, way)(who, mode=mode)


@pytest.mark.parametrize("mode", [MODERN, OLDER])
@pytest.mark.parametrize("way", ["http", "stdio", "relay"])
def test_projects_tags_authors_and_ids_are_completed(served: Served, way: str, mode: str) -> None:
    async def work() -> None:
        word = uuid4().hex[:8]
        async with connected(served, way, "swe-1", mode) as client:
            assert client.server_capabilities.completions is not None
            id = await save(client, f"Completed {word}.", project=f"Pr-{word}", tags=[f"tag-{word}", f"tag-{word}-2"])
            assert await completed(client, "recall-context", "project", f"pr-{word}") == [f"Pr-{word}"]
            assert await completed(client, "save-decision", "tags", f"api,tag-{word}") == [
                f"api,tag-{word}",
                f"api,tag-{word}-2",
            ]
            assert "swe-1" in await completed(client, "review-inbox", "agent", "swe")
            found = await client.complete(MEMORY, {"name": "id", "value": id[:-2]})
            assert found.completion.values == [id]

    run(work)


def test_nothing_hidden_completes_anything(served: Served) -> None:
    async def work() -> None:
        word = uuid4().hex[:8]
        async with served.http("swe-1") as author, served.http("swe-2") as other:
            id = await save(author, f"Mine {word}.", project=f"p-{word}", tags=f"t-{word}", visibility="private")
            for client, seen in ((author, True), (other, False)):
                asked = [
                    await completed(client, "recall-context", "project", f"p-{word}"),
                    await completed(client, "save-decision", "tags", f"t-{word}"),
                    (await client.complete(MEMORY, {"name": "id", "value": id})).completion.values,
                ]
                assert [bool(values) for values in asked] == [seen] * 3

    run(work)


def test_what_is_unknown_or_free_text_completes_to_nothing(served: Served) -> None:
    async def work() -> None:
        async with served.http("swe-1") as client:
            await save(client, "Something to find.", project="shop")
            for prompt, name in (("nothing", "project"), ("review-inbox", "tags"), ("recall-context", "task")):
                assert await completed(client, prompt, name, "") == []
            other = ResourceTemplateReference(uri="file:///{path}")
            assert (await client.complete(other, {"name": "path", "value": ""})).completion.values == []

    run(work)


def test_at_most_a_hundred_are_told_and_how_many_there_are(served: Served) -> None:
    async def work() -> None:
        word = uuid4().hex[:8]
        async with served.http("designer-1") as client:
            for first in range(0, 120, 20):
                tags = [f"{word}-{number}" for number in range(first, first + 20)]
                await save(client, f"Many tags {first} {word}.", tags=tags)
            found = await client.complete(PromptReference(name="save-decision"), {"name": "tags", "value": word})
            assert (len(found.completion.values), found.completion.total, found.completion.has_more) == (100, 120, True)

    run(work)
