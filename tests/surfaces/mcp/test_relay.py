"""`mycel mcp` by way of the service: the same for a client as a server of its own, and up in a fraction of the time."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client, StdioServerParameters
from mcp.server.subscriptions import ResourceUpdated

import mycel
from mycel.surfaces.mcp.tool_sets import ToolSet
from mycel.surfaces.mcp.working_memory_tools import WORKING
from tests.service_process import environment, eventually, services_below
from tests.surfaces.mcp.clients import MODERN, OLDER, Served, found, run, save

pytestmark = pytest.mark.each_database(slow=True)

MODES = [MODERN, OLDER]
PATIENCE = 20.0
ENTRY = ["-c", "from mycel.surfaces.entry import main; main()", "mcp"]


def agent(data: Path, *words: str, cwd: Path | None = None, **variables: str) -> StdioServerParameters:
    env = environment(MYCEL_DATA=str(data), MYCEL_AGENT="swe-0", **variables)
    return StdioServerParameters(command=sys.executable, args=[*ENTRY, *words], env=env, cwd=cwd)


@asynccontextmanager
async def relayed(served: Served, who: str, **options: Any) -> AsyncIterator[Client]:
    env = environment(MYCEL_DATA=str(served.service.data), MYCEL_URL=served.service.url, MYCEL_TOKEN=served.tokens[who])
    async with Client(StdioServerParameters(command=sys.executable, args=ENTRY, env=env), **options) as client:
        yield client


def end_service(data: Path, number: signal.Signals = signal.SIGTERM) -> None:
    import os

    for process_id in services_below(data):
        os.kill(process_id, number)
    eventually(lambda: not services_below(data), seconds=30)


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_the_same_as_over_http(served: Served, mode: str) -> None:
    async def work() -> None:
        async with relayed(served, "swe-1", mode=mode) as here, served.http("swe-1", tools="coding") as there:
            assert (await here.list_tools()).tools == (await there.list_tools()).tools
            word = uuid4().hex
            id = await save(here, f"Passed on {word}.")
            assert [hit["id"] for hit in await found(there, word)] == [id]

    run(work)


@pytest.mark.parametrize("mode", MODES)
def test_calls_at_once_are_each_answered(served: Served, mode: str) -> None:
    async def work() -> None:
        async with relayed(served, "swe-1", mode=mode) as client:
            ids = await asyncio.gather(*(save(client, f"At once {number} {uuid4().hex}.") for number in range(20)))
            assert len(set(ids)) == 20

    run(work)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_goes_on_when_the_service_has_ended_meanwhile(data: Path, mode: str, number: signal.Signals) -> None:
    async def work() -> None:
        async with Client(agent(data), mode=mode) as client:
            first = await save(client, "Before the service ended.")
            await asyncio.to_thread(end_service, data, number)
            second = await save(client, "After the service ended.")
            assert {hit["id"] for hit in await found(client, "service ended")} == {first, second}

    try:
        run(work)
    finally:
        end_service(data)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_says_things_about_the_repository_it_works_in(data: Path, tmp_path: Path, mode: str) -> None:
    repository = tmp_path / "web"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:team/shop.git\n')

    async def work() -> list[str]:
        async with Client(agent(data, cwd=repository), mode=mode) as client:
            return [await save(client, "Here."), await save(client, "Elsewhere.", project="pricing")]

    try:
        ids = run(work)
    finally:
        end_service(data)
    with mycel.open(data) as workspace:
        saved = [workspace.as_member("swe-0").get(id) for id in ids]
    assert [(one.project_id, one.repo_id) for one in saved] == [("shop", "shop"), ("pricing", None)]


def test_whoever_listens_hears_of_changes(served: Served) -> None:
    async def work() -> None:
        async with relayed(served, "swe-1") as client, served.http("swe-2") as other:
            async with client.listen(resource_subscriptions=["memory://recent"]) as events:
                await save(other, f"Heard of {uuid4().hex}.")
                assert await asyncio.wait_for(anext(aiter(events)), PATIENCE) == ResourceUpdated("memory://recent")
            # The connection is free for other things after one that never ends by itself.
            await save(client, f"Still here {uuid4().hex}.")

    run(work)


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
def test_an_older_client_goes_on_hearing_after_the_service_was_restarted(data: Path) -> None:
    heard: list[str] = []

    async def note(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.append(str(message.params.uri))

    async def hears(client: Client) -> None:
        heard.clear()
        async with asyncio.timeout(PATIENCE):
            while not heard:
                await save(client, f"Changed {uuid4().hex}.")
                await asyncio.sleep(0.1)

    async def work() -> None:
        async with Client(agent(data), mode=OLDER, message_handler=note) as client:
            await client.subscribe_resource("memory://recent")
            await hears(client)
            await asyncio.to_thread(end_service, data)
            await save(client, "The service is back.")
            await hears(client)

    try:
        run(work)
    finally:
        end_service(data)


def ask(data: Path, *lines: str, words: tuple[str, ...] = (), **variables: str) -> list[dict[str, Any]]:
    ended = subprocess.run(
        [sys.executable, *ENTRY, *words],
        input="".join(f"{line}\n" for line in lines),
        env=environment(MYCEL_DATA=str(data), **variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
)


def test_what_is_no_message_is_answered_with_what_is_wrong(served: Served) -> None:
    data, url, token = served.service.data, served.service.url, served.tokens["swe-1"]
    answers = ask(data, "{", "[1]", "", INITIALIZE, MYCEL_URL=url, MYCEL_TOKEN=token)
    assert [one.get("error", {}).get("code") for one in answers] == [-32700, -32600, None]


def test_a_caller_that_is_not_let_in_is_told_why(served: Served) -> None:
    (answer,) = ask(served.service.data, INITIALIZE, MYCEL_URL=served.service.url, MYCEL_TOKEN="mycel_wrong")
    assert (answer["id"], "token" in answer["error"]["message"]) == (1, True)


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    (answer,) = ask(tmp_path / "data", INITIALIZE, MYCEL_URL="http://127.0.0.1:9", MYCEL_TOKEN="mycel_x")
    assert (answer["id"], answer["error"]["code"]) == (1, -32603)


def test_what_is_too_large_is_told(served: Served) -> None:
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
    large = json.dumps({**call, "params": {"name": "save_memory", "arguments": {"content": "x" * 2_000_000}}})
    data, url, token = served.service.data, served.service.url, served.tokens["swe-1"]
    answers = ask(data, INITIALIZE, large, MYCEL_URL=url, MYCEL_TOKEN=token)
    assert [one["id"] for one in answers] == [1, 2]
    assert "error" in answers[1]


def test_an_interrupt_ends_it_at_once(served: Served) -> None:
    env = environment(MYCEL_URL=served.service.url, MYCEL_TOKEN=served.tokens["swe-1"])
    running = subprocess.Popen([sys.executable, *ENTRY], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdin
    assert running.stdout
    running.stdin.write(INITIALIZE.encode() + b"\n")
    running.stdin.flush()
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    try:
        assert running.wait(10) == -signal.SIGINT
    finally:
        running.kill()
        running.wait()
        running.stdin.close()
        running.stdout.close()


def test_it_loads_neither_the_sdk_nor_the_command_line(served: Served) -> None:
    probe = (
        "import sys\nfrom mycel.surfaces.mcp.command import run\n"
        "assert run(sys.argv[1:])\nsys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", probe],
        input=INITIALIZE + "\n",
        env=environment(MYCEL_URL=served.service.url, MYCEL_TOKEN=served.tokens["swe-1"]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    heavy = {
        "mcp",
        "mcp_types",
        "pydantic",
        "typer",
        "rich",
        "asyncio",
        "httpx2",
        "anyio",
        "apsw",
        "numpy",
        "http.client",
    }
    assert not heavy & set(ran.stderr.split())


def test_only_sets_with_working_memory_are_served_by_a_process_of_their_own() -> None:
    assert {one for one in ToolSet if one.keeps_working_memory} == {
        one for one in ToolSet if any(tool.is_in(one) for tool in WORKING)
    }
