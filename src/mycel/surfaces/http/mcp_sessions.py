"""Sessions of MCP over HTTP, for clients of the older protocol: how many there may be, and when they end.

Whoever is in one, or reads an answer that goes on, must still be allowed to: a token that has ended takes them with it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.types import Message, Receive, Scope, Send

from mycel.domain.ids import MemberId
from mycel.embedded.workspace import Visit
from mycel.errors import AccessDenied, LimitExceeded, NotFound, Unavailable
from mycel.surfaces.http.service import Service

# So often that what has ended goes within a second.
CHECK_SECONDS = 0.6
SESSION_ID, VERSION = b"mcp-session-id", b"mcp-protocol-version"
Answering = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    in_total: int
    per_member: int
    idle_seconds: float


@dataclass(eq=False, slots=True)
class Exchange:
    """One request on its way: it ends as if its client had gone when that may no longer be answered."""

    visit: Visit
    scope: Scope
    answer: Answering
    _receive: Receive
    _send: Send
    status: int = 0
    session_id: bytes | None = None
    _is_finished: bool = False
    _refused: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.session_id = _value_of(self.scope["headers"], SESSION_ID)

    @property
    def member(self) -> MemberId:
        return self.visit.token.member_id

    @property
    def may_open_session(self) -> bool:
        """As the SDK decides it: clients of the newer protocol name its version, and have no sessions."""
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

        version = _value_of(self.scope["headers"], VERSION)
        is_older = version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
        return is_older and _value_of(self.scope["headers"], SESSION_ID) is None

    def refuse(self) -> None:
        self._refused.set()

    async def run(self) -> None:
        await self.answer(self.scope, self.receive, self.send)
        if self._refused.is_set() and self.status and not self._is_finished:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def receive(self) -> Message:
        coming, refused = asyncio.ensure_future(self._receive()), asyncio.ensure_future(self._refused.wait())
        try:
            await asyncio.wait((coming, refused), return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else {"type": "http.disconnect"}
        finally:
            refused.cancel()
            if not coming.done():
                coming.cancel()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session_id = _value_of(message.get("headers", ()), SESSION_ID) or self.session_id
        elif message["type"] == "http.response.body":
            self._is_finished = not message.get("more_body", False)
        await self._send(message)


@dataclass(eq=False, slots=True)
class _Session:
    """Ended by a request of our own, the one that a client ends it with."""

    id: bytes
    visit: Visit
    scope: Scope
    answer: Answering
    used_at: float
    under_way: int = 0

    @property
    def member(self) -> MemberId:
        return self.visit.token.member_id

    async def end(self) -> None:
        headers = [
            *((name, value) for name, value in self.scope["headers"] if name != SESSION_ID),
            (SESSION_ID, self.id),
        ]
        await self.answer({**self.scope, "method": "DELETE", "headers": headers}, _nothing, _nowhere)


class McpSessions:
    """Belongs to the event loop."""

    def __init__(self, limits: SessionLimits) -> None:
        self._limits = limits
        self._sessions: dict[bytes, _Session] = {}
        self._exchanges: set[Exchange] = set()
        # Sessions, and requests that may open one.
        self._members: Counter[MemberId] = Counter()
        self._rounds: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._sessions)

    def is_elsewhere(self, scope: Scope) -> bool:
        """Whether it goes on with a session that its user has not begun here, or that has ended."""
        id = _value_of(scope["headers"], SESSION_ID)
        session = self._sessions.get(id or b"")
        is_own = session is not None and session.scope["user"].username == scope["user"].username
        return id is not None and not is_own

    async def serve(self, service: Service, exchange: Exchange) -> None:
        """`LimitExceeded` where it may open a session and there is no room for one."""
        session = self._sessions.get(exchange.session_id or b"")
        opens = exchange.may_open_session
        if opens:
            await self._make_room(exchange.member)
            self._members[exchange.member] += 1
        if session is not None:
            session.under_way += 1
        self._exchanges.add(exchange)
        if self._rounds is None:
            self._rounds = asyncio.get_running_loop().create_task(self._keep_rounds(service))
        try:
            await exchange.run()
        finally:
            self._exchanges.discard(exchange)
            if session is not None:
                self._used(session, exchange)
            if opens:
                self._opened(exchange)

    def _used(self, session: _Session, exchange: Exchange) -> None:
        session.under_way -= 1
        session.used_at = time.monotonic()
        if exchange.status == HTTPStatus.NOT_FOUND or exchange.scope["method"] == "DELETE":
            self._forget(session)

    def _opened(self, exchange: Exchange) -> None:
        self._leave(exchange.member)
        if exchange.session_id is not None and exchange.status < HTTPStatus.BAD_REQUEST:
            scope = {name: value for name, value in exchange.scope.items() if name != "state"}
            self._sessions[exchange.session_id] = _Session(
                exchange.session_id, exchange.visit, scope, exchange.answer, time.monotonic()
            )
            self._members[exchange.member] += 1

    def _leave(self, member: MemberId) -> None:
        self._members[member] -= 1
        if not self._members[member]:
            del self._members[member]

    def _forget(self, session: _Session) -> bool:
        is_here = self._sessions.pop(session.id, None) is not None
        if is_here:
            self._leave(session.member)
        return is_here

    async def _make_room(self, member: MemberId) -> None:
        if self._members[member] >= self._limits.per_member:
            idle = (one for one in self._sessions.values() if one.member == member and not one.under_way)
            longest = min(idle, key=lambda one: one.used_at, default=None)
            if longest is None:
                raise LimitExceeded(f"{member} has {self._limits.per_member} sessions already; end one first")
            await self._end(longest)
        elif self._members.total() >= self._limits.in_total:
            raise Unavailable("as many sessions are open as the service can have; retry in a moment", retry_after=5.0)

    async def _end(self, session: _Session) -> None:
        if self._forget(session):
            await session.end()

    async def _keep_rounds(self, service: Service) -> None:
        try:
            while (self._sessions or self._exchanges) and not service.stopping.is_set():
                await asyncio.sleep(CHECK_SECONDS)
                await self._end_idle()
                await self._end_refused(service)
        finally:
            self._rounds = None

    async def _end_idle(self) -> None:
        before = time.monotonic() - self._limits.idle_seconds
        for session in [one for one in self._sessions.values() if not one.under_way and one.used_at < before]:
            await self._end(session)

    async def _end_refused(self, service: Service) -> None:
        visits = {one.visit for one in (*self._exchanges, *self._sessions.values())}
        try:
            refused = await service.work(lambda: {visit for visit in visits if _is_refused(visit)})
        except Unavailable:
            return
        for exchange in self._exchanges:
            if exchange.visit in refused:
                exchange.refuse()
        for session in [one for one in self._sessions.values() if one.visit in refused]:
            await self._end(session)


def _is_refused(visit: Visit) -> bool:
    """In a worker thread."""
    try:
        visit.caller()
    except (AccessDenied, NotFound):
        return True
    return False


def _value_of(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> bytes | None:
    return next((value for name, value in headers if name.lower() == wanted), None)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(_message: Message) -> None: ...
