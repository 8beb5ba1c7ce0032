"""Resources: one memory by its id, the newest of the team, what to know before a task, and an archive."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, BlobResourceContents, Resource, ResourceTemplate, TextResourceContents

from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput, MycelError, NotFound
from mycel.surfaces.mcp import archives, tool_results
from mycel.surfaces.mcp.callers import Guest

SCHEME = "memory://"
MARKDOWN = "text/markdown"


@dataclass(frozen=True)
class Rendered:
    """Made anew each time it is read: a text, or bytes, which no model reads."""

    title: str
    about: str
    render: Callable[[Guest], str | bytes]
    mime_type: str = MARKDOWN
    is_listed: bool = True


RENDERED: Mapping[str, Rendered] = MappingProxyType(
    {
        f"{SCHEME}recent": Rendered(
            "Recent team memory",
            "The ten newest memories of the team, a line each.",
            lambda guest: guest.memory.context_for().to_team_memory(),
        ),
        f"{SCHEME}context": Rendered(
            "Context",
            "What holds in this team: profile, conventions, decisions, recent work, within a token budget.",
            lambda guest: guest.memory.context_for().to_markdown(),
        ),
        archives.URI: Rendered(
            "Archive",
            "An archive of what you see of the team, packed.",
            archives.read_export,
            mime_type=archives.PACKED,
            # For programs that have called `export`: in a menu it would be taken for something to read.
            is_listed=False,
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
        Resource(
            uri=uri, name=uri.removeprefix(SCHEME), title=one.title, description=one.about, mime_type=one.mime_type
        )
        for uri, one in rendered.items()
        if one.is_listed
    ]


async def read(guest: Guest, uri: str, rendered: Mapping[str, Rendered]) -> TextResourceContents | BlobResourceContents:
    try:
        made = await guest.work(lambda: _made(guest, uri, rendered))
    except (NotFound, InvalidInput):
        # What is hidden looks like what is not there.
        raise MCPError(INVALID_PARAMS, f"Resource not found: {uri[:200]}", data={"uri": uri[:200]}) from None
    except MycelError as error:
        raise MCPError(INVALID_PARAMS, str(error), data={"code": error.code}) from None
    mime_type = rendered[uri].mime_type if uri in rendered else MARKDOWN
    if isinstance(made, bytes):
        return BlobResourceContents(uri=uri, blob=base64.b64encode(made).decode(), mime_type=mime_type)
    return TextResourceContents(uri=uri, text=made, mime_type=mime_type)


def _made(guest: Guest, uri: str, rendered: Mapping[str, Rendered]) -> str | bytes:
    if uri in rendered:
        return rendered[uri].render(guest) or tool_results.NOTHING
    if not uri.startswith(SCHEME):
        raise NotFound("no such resource")
    memory = guest.memory
    return tool_results.memory(memory.get(uri.removeprefix(SCHEME)), TeamName(memory.team)).text


def changed_by(memory_id: str) -> tuple[str, ...]:
    """The resources that may read differently after a change of this memory."""
    return (f"{SCHEME}{memory_id}", *RENDERED)
