"""Runs the app: tells when it is ready, stops it when nobody uses it, and lets what is under way come to its end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Address, State
from starlette.types import ASGIApp, Receive, Scope, Send

from mycel.contracts.long_work import STOPPING, STOPPING_RETRY_SECONDS
from mycel.errors import Unavailable
from mycel.surfaces.http.bounded_protocol import BoundedProtocol, BoundedSocket
from mycel.surfaces.http.connections import ConnectionLimits, Connections
from mycel.surfaces.http.log import RequestLog, log_event
from mycel.surfaces.http.problems import problem_of


class Activity:
    """ASGI middleware around the whole app. Whoever waits for an answer or reads a stream uses the service."""

    def __init__(self, app: ASGIApp, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._clock = clock
        self._under_way = 0
        self._last = clock()

    @property
    def idle_seconds(self) -> float:
        return 0.0 if self._under_way else self._clock() - self._last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # The service ends and waits no longer. Whoever was not answered yet is told so.
            if scope["type"] != "http":
                raise
            with contextlib.suppress(RuntimeError):
                await problem_of(Unavailable(STOPPING, retry_after=STOPPING_RETRY_SECONDS))(scope, receive, send)
        finally:
            self._under_way -= 1
            self._last = self._clock()


# More than this only makes starting other programs slower.
ENOUGH_HANDLES = 65_536


def raise_handle_limit() -> int:
    """As far as the system allows it; how many this process may have from now on."""
    try:
        import resource
    except ImportError:  # Windows has no such limit per process.
        return ENOUGH_HANDLES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = ENOUGH_HANDLES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_HANDLES)
    if soft == resource.RLIM_INFINITY or soft >= allowed:
        return ENOUGH_HANDLES if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):
        # macOS allows less than it says.
        return soft
    return allowed


def most_streams(handles: int, *, wanted: int) -> int:
    """A third: the stores take up to half of them, and requests that come and go need theirs."""
    return max(1, min(wanted, handles // 3))


# Streams and requests under way get this long when the service stops, so that all of it takes less than ten seconds.
GRACE_SECONDS = 6.0
# Work that nobody waits for begins so long after the start: it loads libraries that would delay the first answers.
SETTLE_SECONDS = 1.0
SWITCH_SECONDS = 0.0005
# So many new objects are made between two looks for garbage: a request makes hundreds, and nearly all go by themselves.
YOUNG_OBJECTS = 20_000
# Open streams are told first, and have so long to end.
STREAM_SECONDS = 3.0
MAX_SOCKET_MESSAGE_BYTES = 64 * 1024
PING_SECONDS = 15.0
PONG_SECONDS = 60.0


def run_service(
    app: Starlette,
    listener: socket.socket,
    *,
    ready: Callable[[], None],
    settled: Callable[[], None],
    limits: ConnectionLimits,
    stop_when_idle: timedelta | None = None,
) -> None:
    """Until SIGTERM, SIGINT, SIGHUP or idleness. The app's `state.begin_to_stop` ends streams and long work.

    `ready` is called when it listens, `settled` when the first callers have had their turn.
    """
    activity = Activity(app)
    server = _Server(server_config(RequestLog(activity), limits), app.state, ready=ready, settled=settled)
    app.state.cut = server.cut
    if stop_when_idle is not None:
        limit = stop_when_idle.total_seconds()
        server.is_unused = lambda: activity.idle_seconds >= limit
    _stop_on_signals(server)
    # Small answers take the interpreter a dozen times: beside a thread that computes, each turn is waited for so long.
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(YOUNG_OBJECTS)
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        state: State,
        *,
        ready: Callable[[], None],
        settled: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._state = state
        self._ready = ready
        self._settled = settled
        self.is_unused: Callable[[], bool] = lambda: False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()
        asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        # What was loaded until now stays: to look through it again would stop everybody for a tenth of a second.
        gc.freeze()
        self._settled()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self.is_unused()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        why = "it was told to" if self.should_exit else "nobody uses it"
        log_event("stopping", f"the service stops: {why}")
        until = time.monotonic() + GRACE_SECONDS
        self._state.begin_to_stop()
        # Sockets that are still open then are closed by the server, which says less about why.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._state.streams_ended(), STREAM_SECONDS)
        # Its type says whole seconds, and it is only waited for.
        self.config.timeout_graceful_shutdown = cast(int, max(0.5, until - time.monotonic()))
        await super().shutdown(sockets)

    def cut(self, client: Address | None) -> None:
        """At once, with whatever it was still to be sent."""
        connections: set[Any] = {*self.server_state.connections}
        for connection in connections:
            if client is not None and connection.client == tuple(client):
                connection.transport.abort()


def server_config(app: ASGIApp, limits: ConnectionLimits) -> uvicorn.Config:
    connections = Connections(limits)
    return uvicorn.Config(
        app,
        loop="asyncio" if sys.platform == "win32" else "uvloop",
        http=cast(Any, partial(BoundedProtocol, connections)),
        ws=cast(Any, partial(BoundedSocket, connections)),
        ws_max_size=MAX_SOCKET_MESSAGE_BYTES,
        # Its buffers would cost a quarter of a megabyte for each of a thousand subscribers.
        ws_per_message_deflate=False,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PONG_SECONDS,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=math.ceil(GRACE_SECONDS),
    )


def _stop_on_signals(server: uvicorn.Server) -> None:
    """After a graceful stop uvicorn raises the signal once more for whoever was there before: with nobody there
    the process would die of it instead of ending well."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # Whoever was started to outlive its terminal ignores the end of it already.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
