"""Everything that an agent is shown over MCP, called in this process."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mcp import MCPError
from mcp_types import TextResourceContents

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.team import Caller
from mycel.embedded.working_memory import WorkingMemory
from mycel.surfaces.mcp import prompts, resources
from mycel.surfaces.mcp.server import Offer
from mycel.surfaces.mcp.tool import Tool
from mycel.surfaces.mcp.tool_call import call_tool
from mycel.surfaces.mcp.tool_sets import ToolSet

ResultT = TypeVar("ResultT")


@dataclass
class Reader:
    """A guest whose work is done at once."""

    memory: MemoryApi
    working: WorkingMemory | None = None
    place: Mapping[str, str] = ()  # pyright: ignore[reportAssignmentType]

    def caller(self) -> Caller:
        raise NotImplementedError

    async def work(
        self, work: Callable[[], ResultT], *, writes: bool = False, takes_long: str | None = None
    ) -> ResultT:
        return work()

    @contextmanager
    def stage(self, name: str) -> Generator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / name

    async def watch(self, told: Callable[[str], None], ended: Callable[[], None]) -> Callable[[], None]:
        raise NotImplementedError


OFFER = Offer.of(ToolSet.FULL)


def answer_of(reader: Reader, tool: Tool, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text, which clients read in the one part or the other, and the values beside it."""
    result = asyncio.run(call_tool(tool, reader, given))
    values = dict(result.structured_content or {})
    text = values.pop("text")
    assert text == result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
    return text, values


def resources_of(reader: Reader, ids: list[str]) -> Iterator[tuple[str, str]]:
    for uri in (*OFFER.rendered, *(resources.SCHEME + id for id in ids)):
        found = asyncio.run(resources.read(reader, uri, OFFER.rendered))
        if isinstance(found, TextResourceContents):
            yield uri, found.text


def prompts_of(reader: Reader, given: str) -> Iterator[tuple[str, str]]:
    for prompt in OFFER.prompts:
        for arguments in ({}, *({name: given} for name in prompt.takes)):
            try:
                result = asyncio.run(prompts.get(reader, prompt.name, arguments, OFFER.prompts))
                yield prompt.name, result.messages[0].content.text  # pyright: ignore[reportAttributeAccessIssue]
            except MCPError as error:
                yield prompt.name, error.error.message
