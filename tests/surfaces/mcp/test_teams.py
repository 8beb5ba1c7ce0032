"""Directors and workers: who finds what by the tools of its own server."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

import mycel
from mycel.errors import NotFound
from tests.surfaces.mcp.clients import TEAM, Served, found, run, save, text_of

pytestmark = pytest.mark.each_database(slow=True)

LESSON = "The payments sandbox rejects amounts with three decimals"


def test_two_agents_of_a_team_in_two_processes_share_a_lesson_that_another_team_does_not_see(served: Served) -> None:
    async def work() -> None:
        async with (
            served.stdio("swe-1", tools="team") as writer,
            served.stdio("swe-2", tools="team") as reader,
            served.stdio("designer-1", tools="team") as stranger,
        ):
            id = await save(writer, f"{LESSON}.", type="lesson", tags="payments")
            (hit,) = await found(reader, "payments sandbox decimals")
            assert (hit["id"], hit["author"], hit["team"]) == (id, "swe-1", TEAM)
            assert await found(stranger, "payments sandbox decimals") == []
            hidden = await stranger.call_tool("memory-get", {"id": id})
            absent = await stranger.call_tool("memory-get", {"id": str(uuid4())})
            assert hidden.is_error
            assert absent.is_error
            assert _without_ids(text_of(hidden)) == _without_ids(text_of(absent))

    run(work)


def test_a_director_finds_what_the_team_and_the_executive_know_and_sees_which_is_which(served: Served) -> None:
    async def work() -> None:
        word = f"quarter{uuid4().hex[:8]}"
        async with (
            served.http("swe-1", tools="team") as worker,
            served.http("ceo", tools="team") as chief,
            served.http("eng-director", tools="team") as director,
        ):
            own = await save(worker, f"The {word} release slips by a week.", type="fact")
            above = await save(chief, f"No {word} release without a security review.", type="decision")
            hits = await found(director, f"{word} release")
            assert {(hit["id"], hit["team"]) for hit in hits} == {(own, TEAM), (above, "executive")}
            shown = text_of(await director.call_tool("search_memory", {"query": f"{word} release"}))
            assert "decision by ceo of team executive" in shown
            assert [hit["id"] for hit in await found(worker, f"{word} release")] == [own]

    run(work)


def test_an_agent_writes_into_its_own_team_whatever_it_says(served: Served) -> None:
    async def work() -> str:
        async with served.http("swe-1") as client:
            result = await client.call_tool("save_memory", {"content": "x", "team": "executive"})
            assert result.is_error
            return await save(client, f"Ours {uuid4().hex}")

    id = run(work)
    with mycel.connect(served.service.url, token=served.tokens["ceo"]) as workspace, pytest.raises(NotFound):
        workspace.me().get(id)


def test_the_recent_memory_of_a_team_reads_as_its_agents_expect_it(served: Served) -> None:
    async def work() -> None:
        async with served.http("designer-1") as client:
            for number in range(12):
                await save(client, f"Colour {number} is safe.", type="fact")
            content: Any = (await client.read_resource("memory://recent")).contents[0]
            block = content.text.partition("## Recent Team Memory\n")[2].partition("\n</stored-notes>")[0]
            assert block.splitlines() == [f"[fact][designer-1] Colour {number} is safe." for number in range(11, 1, -1)]

    run(work)


def _without_ids(text: str) -> str:
    return " ".join("ID" if word.count("-") == 4 else word for word in text.split())
