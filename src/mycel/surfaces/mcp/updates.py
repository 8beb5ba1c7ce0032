"""Update notifications: whoever subscribed to a resource hears when it may read differently.

Since 2026-07-28 a subscription is one request whose answer is a stream; before that it is a state of the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from mycel.surfaces.mcp.callers import Context, Door, Guest, connection_of
from mycel.surfaces.mcp.resources import changed_by

# For one connection; whoever wants more reads the changes of the API.
MOST_SUBSCRIBED = 1000


class _Bus(InMemorySubscriptionBus):
    def tell(self, memory_id: str) -> None:
        for uri in changed_by(memory_id):
            for listener in list(self._listeners.values()):
                listener(ResourceUpdated(uri))


class Listening:
    """Answers `subscriptions/listen`, for one caller at a time: each is told of what it may see."""

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
