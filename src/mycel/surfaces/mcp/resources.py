"""Resources: one memory by its id, the newest of the team, and what to know before a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource, ResourceTemplate, TextResourceContents

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput, MycelError, NotFound
from mycel.surfaces.mcp import telling
from mycel.surfaces.mcp.guests import Guest

SCHEME = "memory://"
MARKDOWN = "text/markdown"


@dataclass(frozen=True)
class Rendered:
    """A text that is made anew each time it is read."""

    title: str
    about: str
    render: Callable[[MemoryApi], str]


RENDERED: Mapping[str, Rendered] = MappingProxyType(
    {
        f"{SCHEME}recent": Rendered(
            "Recent team memory",
            "The ten newest memories of the team, a line each.",
            lambda memory: memory.context_for().to_team_memory(),
        ),
        f"{SCHEME}context": Rendered(
            "Context",
            "What holds in this team: profile, conventions, decisions, recent work, within a token budget.",
            lambda memory: memory.context_for().to_markdown(),
        ),
    }
)
TEMPLATE = ResourceTemplate(
    uri_template=f"{SCHEME}{{id}}",
    name="memory",
    title="A memory",
    description="The whole of one memory, with who wrote it and when.",
    mime_type=MARKDOWN,
)


def listed(rendered: Mapping[str, Rendered]) -> list[Resource]:
    return [
        Resource(uri=uri, name=uri.removeprefix(SCHEME), title=one.title, description=one.about, mime_type=MARKDOWN)
        for uri, one in rendered.items()
    ]


async def read(guest: Guest, uri: str, rendered: Mapping[str, Rendered]) -> TextResourceContents:
    try:
        text = await guest.work(lambda: _text(guest.memory, uri, rendered))
    except (NotFound, InvalidInput):
        # What is hidden looks like what is not there.
        raise MCPError(INVALID_PARAMS, f"Resource not found: {uri[:200]}", data={"uri": uri[:200]}) from None
    except MycelError as error:
        raise MCPError(INVALID_PARAMS, str(error), data={"code": error.code}) from None
    return TextResourceContents(uri=uri, text=text, mime_type=MARKDOWN)


def _text(memory: MemoryApi, uri: str, rendered: Mapping[str, Rendered]) -> str:
    if uri in rendered:
        return rendered[uri].render(memory) or telling.NOTHING
    if not uri.startswith(SCHEME):
        raise NotFound("no such resource")
    return telling.memory(memory.get(uri.removeprefix(SCHEME)), TeamName(memory.team)).text


def changed_by(memory_id: str) -> tuple[str, ...]:
    """The resources that may read differently after a change of this memory."""
    return (f"{SCHEME}{memory_id}", *RENDERED)
