"""One connection that reads live: until it leaves, is too slow, or must end."""

from __future__ import annotations

import asyncio

from starlette.requests import HTTPConnection
from starlette.types import Receive

from mycel.errors import MycelError
from mycel.surfaces.http.authentication import refusal_of
from mycel.surfaces.http.feeds import Feed, Outlet, Slow

# How long a connection that is cut may take to notice.
CUTTING_SECONDS = 5.0
_ENDS = frozenset({"http.disconnect", "websocket.disconnect"})


class Left(Exception):
    """Nobody is there any more to be told anything."""


async def deliver(feed: Feed, outlet: Outlet, *, connection: HTTPConnection, receive: Receive) -> None:
    leaving: asyncio.Future[None] | None = None
    try:
        await feed.send(outlet.begin())
        leaving = asyncio.ensure_future(_until_gone(receive))
        leaving.add_done_callback(lambda _: feed.leave())
        await _run(feed, outlet, connection)
    except Slow:
        # What is still to be sent would keep a connection open that is merely closed.
        connection.app.state.cut(connection.client)
        if leaving is not None:
            await asyncio.wait([leaving], timeout=CUTTING_SECONDS)
    except Left:
        pass
    finally:
        feed.close()
        if leaving is not None:
            leaving.cancel()


async def _run(feed: Feed, outlet: Outlet, connection: HTTPConnection) -> None:
    try:
        await feed.run(outlet)
    except MycelError as error:
        await feed.send(outlet.end(refusal_of(connection.scope, error)))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] not in _ENDS:
        pass
