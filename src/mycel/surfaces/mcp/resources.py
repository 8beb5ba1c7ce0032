"""Resources: a memory, the newest, what to know before a task, an archive; and who hears when one reads differently."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    EmptyResult,
    Resource,
    ResourceTemplate,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from mycel.domain.ids import TeamName
from mycel.errors import InvalidInput, MycelError, NotFound
from mycel.surfaces.mcp import archives, tool_results
from mycel.surfaces.mcp.callers import Context, Door, Guest, connection_of

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
            "The ten newest memories that you may read, a line each.",
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


# For one connection; whoever wants more reads the changes of the API.
MOST_SUBSCRIBED = 1000


class _Bus(InMemorySubscriptionBus):
    def tell(self, memory_id: str) -> None:
        for uri in changed_by(memory_id):
            for listener in list(self._listeners.values()):
                listener(ResourceUpdated(uri))


class Listening:
    """Answers `subscriptions/listen`, for one caller at a time: each is told of what it may see.

    Since 2026-07-28 a subscription is one request whose answer is a stream; before, it is a state of the connection.
    """

    def __init__(self, door: Door) -> None:
        self._door = door

    async def __call__(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        guest, bus = await self._door(ctx), _Bus()
        handler = ListenHandler(bus)
        stop = await guest.watch(bus.tell, handler.close)
        try:
            return await handler(ctx, params)
        finally:
            stop()


class Subscriptions:
    """Answers `resources/subscribe` and `resources/unsubscribe` of older clients."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._subscribed: dict[Connection, _Subscribed] = {}

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        guest = await self._door(ctx)
        connection = connection_of(ctx)
        subscribed = self._subscribed.get(connection)
        if subscribed is None:
            subscribed = self._subscribed[connection] = _Subscribed(connection)
            connection.exit_stack.callback(self._forget, connection)
            await subscribed.start(guest)
        if len(subscribed.uris) < MOST_SUBSCRIBED:
            subscribed.uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        await self._door(ctx)
        subscribed = self._subscribed.get(connection_of(ctx))
        if subscribed is not None:
            subscribed.uris.discard(str(params.uri))
        return EmptyResult()

    def _forget(self, connection: Connection) -> None:
        subscribed = self._subscribed.pop(connection, None)
        if subscribed is not None:
            subscribed.stop()


class _Subscribed:
    """What one connection wants to hear of."""

    def __init__(self, connection: Connection) -> None:
        self.uris: set[str] = set()
        self.stop: Callable[[], None] = lambda: None
        self._connection = connection
        self._told: set[str] = set()
        self._sending: asyncio.Task[None] | None = None

    async def start(self, guest: Guest) -> None:
        self.stop = await guest.watch(self._tell, lambda: None)

    def _tell(self, memory_id: str) -> None:
        """However often a resource changes while the client is slow to read, it hears of it once."""
        self._told |= self.uris.intersection(changed_by(memory_id))
        if self._told and (self._sending is None or self._sending.done()):
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        while self._told:
            await self._connection.send_resource_updated(self._told.pop())
