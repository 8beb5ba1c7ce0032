"""`mycel mcp`: many at once on one data directory, and what it does when the service comes and goes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import mycel
from tests.service_process import environment, eventually, services_below
from tests.surfaces.mcp.clients import found, run, save, text_of

pytestmark = pytest.mark.each_database(slow=True)

TEAM = "builders"


def parameters(data: Path, **variables: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "mycel.surfaces.cli.main", "mcp", "--tools", "swarm"],
        env=environment(MYCEL_DATA=str(data), **variables),
    )


def prepare(data: Path, *, members: int) -> list[str]:
    names = [f"swe-{number}" for number in range(members)]
    with mycel.open(data) as workspace:
        workspace.add_team(TEAM)
        for name in names:
            workspace.add_member(name, team=TEAM)
    return names


def stop_service(data: Path) -> None:
    """Whatever the machine is busy with: the process that it names, until it has gone."""
    running = services_below(data)
    for process_id in running:
        os.kill(process_id, signal.SIGTERM)
    eventually(lambda: not services_below(data), seconds=30)


async def write(data: Path, who: str, count: int) -> list[str]:
    async with Client(parameters(data, MYCEL_AGENT=who)) as client:
        return [await save(client, f"Note {number} of {who}.") for number in range(count)]


def write_at_once(data: Path, *, servers: int, each: int) -> None:
    names = prepare(data, members=servers)

    async def work() -> list[list[str]]:
        return await asyncio.gather(*(write(data, name, each) for name in names))

    try:
        acknowledged = {id for ids in run(work) for id in ids}
    finally:
        stop_service(data)
    assert len(acknowledged) == servers * each
    with mycel.open(data) as workspace:
        memory = workspace.as_operator(TEAM)
        stored = {one.id: one.agent_id for one in memory.list(limit=1000)}
        assert workspace.check() == {}
    assert stored.keys() == acknowledged
    assert set(stored.values()) == set(names)


def test_servers_on_one_data_directory_lose_nothing(tmp_path: Path) -> None:
    write_at_once(tmp_path / "data", servers=3, each=10)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_twenty_servers_on_one_data_directory_lose_nothing(tmp_path: Path) -> None:
    write_at_once(tmp_path / "data", servers=20, each=40)


def test_it_goes_on_when_the_service_has_stopped_meanwhile(tmp_path: Path) -> None:
    data = tmp_path / "data"
    prepare(data, members=1)

    async def work() -> None:
        async with Client(parameters(data, MYCEL_AGENT="swe-0")) as client:
            first = await save(client, "Before the service stopped.")
            await asyncio.to_thread(stop_service, data)
            second = await save(client, "After the service stopped.")
            hits = await found(client, "service stopped", tool="memory-search")
            assert {hit["id"] for hit in hits} == {first, second}

    try:
        run(work)
    finally:
        stop_service(data)


def test_working_memory_survives_a_restart_and_is_nobody_elses(tmp_path: Path) -> None:
    data = tmp_path / "data"
    prepare(data, members=2)

    async def kept(who: str, given: dict[str, Any] | None = None) -> str:
        async with Client(parameters(data, MYCEL_AGENT=who)) as client:
            if given is not None:
                await client.call_tool("update_working_memory", given)
            return text_of(await client.call_tool("get_working_memory", {}))

    try:
        run(lambda: kept("swe-0", {"plan": "Ship it.", "note": "Half done.", "contextKey": "env", "contextValue": 3}))
        own = run(lambda: kept("swe-0"))
        assert all(line in own.splitlines() for line in ("> Ship it.", "- env: 3", "- Half done."))
        assert run(lambda: kept("swe-1")) == "Nothing found."
    finally:
        stop_service(data)


def test_what_an_agent_says_is_about_the_repository_it_works_in(tmp_path: Path) -> None:
    data, repository = tmp_path / "data", tmp_path / "web"
    prepare(data, members=1)
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:team/shop.git\n')
    (repository / "src").mkdir()
    given = parameters(data, MYCEL_AGENT="swe-0", MYCEL_DAEMON="off")

    async def work() -> list[str]:
        async with Client(given.model_copy(update={"cwd": str(repository / "src")})) as client:
            return [
                await save(client, "Here."),
                await save(client, "Elsewhere.", project="pricing"),
                await save(client, "Anywhere.", project=""),
            ]

    ids = run(work)
    with mycel.open(data) as workspace:
        saved = [workspace.as_member("swe-0").get(id) for id in ids]
    assert [(one.project_id, one.repo_id) for one in saved] == [("shop", "shop"), ("pricing", None), (None, None)]


def test_an_unknown_set_of_tools_is_refused_at_once(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "mycel.surfaces.cli.main", "--data", str(tmp_path), "mcp", "--tools", "all"],
        input="",
        env=environment(MYCEL_DAEMON="off"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "tools: must be one of coding, team, swarm, full" in ended.stderr


def test_arguments_as_models_give_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    prepare(data, members=1)
    good: list[tuple[str, dict[str, Any]]] = [
        ("save_memory", {"text": "Kept under another name.", "tag": ["a"]}),
        ("save_memory", {"arguments": {"memory": "Wrapped once more.", "labels": "a,b"}}),
        ("save_memory", {"content": "As JSON in text.", "tags": '["c", "d"]', "repository": "web"}),
        ("memory-search", {"question": "kept", "maxResults": "5"}),
        ("memory_search", {"q": "kept", "top_k": 2, "type": None}),
        ("complete-task", {"id": "t-1", "result": "Done."}),
        ("fail_task", {"taskId": "t-2", "error": "It broke."}),
    ]
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("save_memory", {}, "content"),
        ("save_memory", {"content": ""}, "content"),
        ("save_memory", {"content": "x", "colour": "red"}, "colour"),
        ("save_memory", {"content": "x", "type": "poem"}, "type"),
        ("save_memory", {"content": "a\x00b"}, "content"),
        ("memory-search", {"query": "x", "limit": "many"}, "limit"),
        ("memory-search", {"query": "x", "limit": 2**70}, "limit"),
        ("memory-get", {"id": "not an id"}, "id"),
    ]

    async def work() -> None:
        async with Client(parameters(data, MYCEL_AGENT="swe-0", MYCEL_DAEMON="off")) as client:
            for name, given in good:
                result = await client.call_tool(name, given)
                assert not result.is_error, (name, given, text_of(result))
            for name, given, field in bad:
                result = await client.call_tool(name, given)
                assert result.is_error, (name, given)
                assert result.structured_content
                assert result.structured_content.get("field") == field, (name, given, result.structured_content)

    run(work)
