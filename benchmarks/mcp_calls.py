"""What a tool costs over MCP, beside a call of a server of the bare SDK that does nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from benchmarks.report import Figure, p50, p99, show
from benchmarks.service import service
from benchmarks.texts import Notes
from mycel.app import open_workspace
from mycel.settings import Settings

ADDED_AIM = 0.005
MEMORIES = 500
BARE = """
import sys
from mcp.server import MCPServer
server = MCPServer("bare", log_level="ERROR")
@server.tool()
def nothing(text: str) -> str:
    "Does nothing."
    return text
if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    import socket, uvicorn
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run([listener])
"""
Call = Callable[[], Awaitable[Any]]


def run(folder: Path, *, quick: bool) -> None:
    rounds = 100 if quick else 500
    settings = Settings(data=folder, embedder="none")
    with open_workspace(settings=settings) as workspace:
        workspace.add_team("bench")
        workspace.add_member("swe-0", team="bench")
        token, notes = workspace.issue_token("swe-0"), Notes()
        saved = workspace.as_member("swe-0").save_many([{"content": notes.text()} for _ in range(MEMORIES)])
    with service(folder, embedder="none") as port, _bare_http() as bare_port:
        figures = asyncio.run(_measure(folder, port, bare_port, token, saved[0].id, rounds))
    show(f"MCP: one call after the other, {rounds} of each in turn", figures)


@contextmanager
def _bare_http() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", BARE, "http"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def _measure(folder: Path, port: int, bare_port: int, token: str, id: str, rounds: int) -> list[Figure]:
    figures: list[Figure] = []
    environment = {**os.environ, "MYCEL_URL": f"http://127.0.0.1:{port}", "MYCEL_TOKEN": token}
    ours = StdioServerParameters(
        command=sys.executable, args=["-m", "mycel.surfaces.cli.main", "mcp"], env={**environment}
    )
    theirs = StdioServerParameters(command=sys.executable, args=["-c", BARE, "stdio"])
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}))
        plain = await stack.enter_async_context(httpx2.AsyncClient())
        pairs = {
            "HTTP": (
                streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http),
                streamable_http_client(f"http://127.0.0.1:{bare_port}/mcp", http_client=plain),
            ),
            "stdio": (ours, theirs),
        }
        for way, (one, other) in pairs.items():
            client = await stack.enter_async_context(Client(one))
            bare = await stack.enter_async_context(Client(other))
            figures += await _beside(way, client, bare, id, rounds)
    return figures


async def _beside(way: str, client: Client, bare: Client, id: str, rounds: int) -> list[Figure]:
    notes = Notes()
    await client.list_tools()
    await bare.list_tools()
    words = [" ".join(notes.text().split()[:6]) for _ in range(rounds)]
    texts = iter([notes.text() for _ in range(rounds)])
    questions = iter(words)
    calls: dict[str, Call] = {
        "nothing": lambda: bare.call_tool("nothing", {"text": "x"}),
        "memory-get": lambda: client.call_tool("memory-get", {"id": id}),
        "save_memory": lambda: client.call_tool("save_memory", {"content": next(texts)}),
        "search_memory": lambda: client.call_tool("search_memory", {"query": next(questions)}),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = perf_counter()
            result = await call()
            seconds[name].append(perf_counter() - began)
            assert not result.is_error, result
    floor = p50(seconds.pop("nothing"))
    return [
        Figure(
            f"{name} over {way}, p50 (p99)",
            f"{p50(times) * 1000:.1f} ({p99(times) * 1000:.1f}) ms",
            f"bare SDK {floor * 1000:.1f} ms",
            f"{(p50(times) - floor) * 1000:+.1f} ms",
            f"+{ADDED_AIM * 1000:.0f} ms" if name == "memory-get" else "",
            p50(times) - floor <= ADDED_AIM if name == "memory-get" else None,
        )
        for name, times in seconds.items()
    ]
