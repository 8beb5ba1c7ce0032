"""The official MCP client against a real service: over HTTP, and over the streams of a `mycel mcp` process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from mycel.domain.archive import Header
from mycel.domain.ids import MemberId, TeamName
from mycel.services.archive_files import ArchiveWriter
from tests.service_process import Service, environment

ResultT = TypeVar("ResultT")
MODERN, OLDER = "auto", "legacy"
TEAM, OTHER_TEAM = "builders", "designers"
# Members by what they are for; the lead of a team reads the parent team too.
MEMBERS = {
    "swe-1": (TEAM, "agent"),
    "swe-2": (TEAM, "agent"),
    "eng-director": (TEAM, "lead"),
    "designer-1": (OTHER_TEAM, "agent"),
    "ceo": ("executive", "agent"),
    "pm-1": (TEAM, "member"),
}
PEOPLE = {"pm-1"}


@dataclass(frozen=True)
class Served:
    service: Service
    tokens: dict[str, str]

    @asynccontextmanager
    async def http(self, who: str, *, tools: str = "full", **options: Any) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {self.tokens[who]}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{self.service.url}/mcp?tools={tools}", http_client=http)
            async with Client(transport, **options) as client:
                yield client

    @asynccontextmanager
    async def stdio(self, who: str, *, tools: str = "full", **options: Any) -> AsyncIterator[Client]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "mycel.surfaces.cli.main", "mcp", "--tools", tools],
            env=environment(
                MYCEL_DATA=str(self.service.data), MYCEL_URL=self.service.url, MYCEL_TOKEN=self.tokens[who]
            ),
        )
        async with Client(parameters, **options) as client:
            yield client


def empty_archive() -> str:
    """As lines of JSON."""
    written = BytesIO()
    header = Header(team=TeamName(TEAM), made_by=MemberId("swe-1"), made_at=datetime.now(UTC), whole=False)
    ArchiveWriter(written, header).finish()
    return written.getvalue().decode()


def run(work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
    return asyncio.run(work())


def text_of(result: CallToolResult) -> str:
    return result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]


async def save(client: Client, content: str, **fields: Any) -> str:
    result = await client.call_tool("save_memory", {"content": content, **fields})
    assert not result.is_error, text_of(result)
    assert result.structured_content
    return result.structured_content["id"]


async def found(client: Client, query: str, tool: str = "search_memory") -> list[dict[str, Any]]:
    result = await client.call_tool(tool, {"query": query})
    assert not result.is_error, text_of(result)
    assert result.structured_content
    return result.structured_content["results"]
