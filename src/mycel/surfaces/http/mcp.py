"""`/mcp`: the MCP server of the service, for whoever a token says it is, asked anew with each request.

The SDK takes longer to import than the rest of the service: it is loaded when somebody first asks for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mycel.contracts.long_work import LongWork
from mycel.embedded.workspace import Visit
from mycel.errors import InvalidInput, MycelError
from mycel.surfaces.http.api import not_allowed, team_of
from mycel.surfaces.http.credentials import credentials_of
from mycel.surfaces.http.described_route import NotedRoute
from mycel.surfaces.http.feeds import Feed, Slow
from mycel.surfaces.http.mcp_sessions import Exchange, McpSessions, SessionLimits
from mycel.surfaces.http.problems import problem_of
from mycel.surfaces.http.service import Service, service_of
from mycel.surfaces.mcp.tool_sets import TOOL_SETS, ToolSet
from mycel.wire.events import CHANGE, Event

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.team import Caller

ResultT = TypeVar("ResultT")
PATH = "/mcp"
MAX_BODY_BYTES = 1024 * 1024
_VISITOR = "mycel.visitor"
_TOOLS = "tools"
_PLACE = ("project", "repo")


class HttpGuest:
    """One caller of the service; an agent's working memory is not the service's."""

    working = None

    def __init__(self, service: Service, visit: Visit, place: Mapping[str, str]) -> None:
        self.memory: MemoryApi = visit.memory
        self.place = place
        self._service = service
        self._visit = visit

    def caller(self) -> Caller:
        return self._visit.caller()

    async def work(
        self, work: Callable[[], ResultT], *, writes: bool = False, takes_long: str | None = None
    ) -> ResultT:
        team = team_of(self._visit)
        if takes_long is None:
            return await self._service.work(work, writes=writes, team=team)
        long = LongWork(takes_long, team=team, member=self._visit.token.member_id)
        return await self._service.work(work, long=long)

    @contextmanager
    def stage(self, name: str) -> Generator[Path]:
        with closing(self._service.staging.open(self._visit.token.member_id, name)) as stage:
            yield stage.file

    async def watch(self, told: Callable[[str], None], ended: Callable[[], None]) -> Callable[[], None]:
        feed = self._service.feeds.open(self._visit.token.member_id)
        try:
            await self._service.work(lambda: feed.follow(partial(self._visit.follow, after=None)))
        except BaseException:
            feed.close()
            raise
        running = asyncio.get_running_loop().create_task(_run(feed, _Outlet(told), ended))
        return lambda: _stop(feed, running)


async def _run(feed: Feed, outlet: _Outlet, ended: Callable[[], None]) -> None:
    try:
        await feed.run(outlet)
    except (MycelError, Slow):
        ended()
    finally:
        feed.close()


def _stop(feed: Feed, running: asyncio.Task[None]) -> None:
    feed.leave()
    running.cancel()


class _Outlet:
    """Of an event it tells only which memory it is about."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told

    async def begin(self) -> None: ...
    async def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.name == CHANGE:
                self._told(json.loads(event.data)["memory_id"])

    async def beat(self) -> None: ...
    async def end(self, error: MycelError) -> None: ...


class McpEndpoint:
    """One server for each tool set that somebody has asked for.

    Among several nodes a session is known to the one where it was begun. The others answer what it asks all the same,
    each request by itself; to be told of what happens it has to read where it was begun.
    """

    def __init__(self, limits: SessionLimits, *, is_one_of_many: bool = False) -> None:
        self._sessions = McpSessions(limits)
        self._is_one_of_many = is_one_of_many
        self._idle_seconds = limits.idle_seconds
        self._managers: dict[tuple[str, bool], asyncio.Task[StreamableHTTPSessionManager]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        service = service_of(request)
        try:
            visit = await service.admitted(request)
            given = credentials_of(scope)
            scope[_VISITOR] = HttpGuest(service, visit, _place(request))
            scope["user"] = _user(f"{given.secret}\n{given.member}\n{given.team}")
            elsewhere = self._is_one_of_many and self._sessions.is_elsewhere(scope)
            if elsewhere and request.method != "POST":
                await _not_here(request.method)(scope, receive, send)
                return
            manager = await self._manager(service, request.query_params.get(_TOOLS, "coding"), by_itself=elsewhere)
            await self._sessions.serve(service, Exchange(visit, scope, manager.handle_request, receive, send))
        except MycelError as error:
            await problem_of(error)(scope, receive, send)

    async def _manager(self, service: Service, tools: str, *, by_itself: bool) -> StreamableHTTPSessionManager:
        if tools not in TOOL_SETS:
            raise InvalidInput(f"must be one of {', '.join(TOOL_SETS)}", field=_TOOLS)
        if (tools, by_itself) not in self._managers:
            starting = asyncio.get_running_loop().create_task(self._start(service, tools, by_itself=by_itself))
            self._managers[tools, by_itself] = starting
        return await asyncio.shield(self._managers[tools, by_itself])

    async def _start(self, service: Service, tools: str, *, by_itself: bool) -> StreamableHTTPSessionManager:
        manager = await service.work(partial(_made, tools, self._idle_seconds, stateless=by_itself))
        started = asyncio.Event()
        running = asyncio.get_running_loop().create_task(_serve(manager, started, service.stopping))
        self._running.add(running)
        await started.wait()
        return manager


def _place(request: Request) -> dict[str, str]:
    """Where the agent works, as whoever set up its connection says."""
    return {name: value for name in _PLACE if (value := request.query_params.get(name))}


async def _serve(manager: StreamableHTTPSessionManager, started: asyncio.Event, stopping: asyncio.Event) -> None:
    async with manager.run():
        started.set()
        await stopping.wait()


def _not_here(method: str) -> Response:
    """There is nothing to end here; and whoever asks for a stream learns that this node has none for it."""
    return Response(status_code=HTTPStatus.NO_CONTENT) if method == "DELETE" else not_allowed(["POST", "DELETE"])


def _made(tools: str, idle_seconds: float, *, stateless: bool) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from mycel.surfaces.mcp.callers import Context
    from mycel.surfaces.mcp.server import Offer, make_server

    async def door(ctx: Context) -> HttpGuest:
        # The request that this message came with, not the one that began the session.
        return cast(Request, ctx.request).scope[_VISITOR]

    return StreamableHTTPSessionManager(
        app=make_server(door, Offer.of(ToolSet(tools))),
        # Every request has passed the service's own check of Host and Origin.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=idle_seconds,
        stateless=stateless,
        # They are counted in one place for all tool sets.
        max_sessions=None,
    )


def _user(who: str) -> Any:
    """A session of the older protocol is its maker's alone: nobody else's token goes on with it."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    digest = hashlib.sha256(who.encode()).hexdigest()
    return AuthenticatedUser(AccessToken(token="", client_id=digest, scopes=[]))


def route(limits: SessionLimits, *, is_one_of_many: bool) -> NotedRoute:
    endpoint = McpEndpoint(limits, is_one_of_many=is_one_of_many)
    return NotedRoute(PATH, endpoint, methods=["GET", "POST", "DELETE"])
