"""One line of the log per request: who asked for what, and how that went; never a path, a query or a body."""

from __future__ import annotations

import logging
import random
import re
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mycel.surfaces.http.log_lines import REQUEST, log_event

REQUEST_ID = b"x-request-id"
_ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Asked again and again by those who watch the service.
QUIET_ROUTES = frozenset({"/health", "/metrics"})
# How each kind of answer begins; a socket that is accepted switches protocols, one that is not is refused.
_BEGINNINGS = {
    "http.response.start": 200,
    "websocket.http.response.start": 403,
    "websocket.accept": 101,
}
_REFUSED_SOCKET = 403


class RequestLog:
    """ASGI middleware around the whole app. Routes say in `scope["state"]` what only they know: the template of the
    `route`, and the `member` and `team` of the caller. They find the `request_id` there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        id = _request_id(scope)
        state["request_id"] = id.decode("ascii")
        status: int | None = None
        started = perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] in _BEGINNINGS:
                status = message.get("status", _BEGINNINGS[message["type"]])
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID, id)]
            elif message["type"] == "websocket.close" and status is None:
                status = _REFUSED_SOCKET
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            _log_request(scope, state, status=status, seconds=perf_counter() - started)


def _request_id(scope: Scope) -> bytes:
    given = [value for name, value in scope["headers"] if name == REQUEST_ID]
    if len(given) == 1 and _ACCEPTED_ID.fullmatch(given[0]):
        return given[0]
    # A name and no secret: asking the system would give the interpreter away, and getting it back takes its time.
    return b"%016x" % random.getrandbits(64)


def _log_request(scope: Scope, state: dict[str, Any], *, status: int | None, seconds: float) -> None:
    route = state.get("route")
    quiet = route in QUIET_ROUTES and status == 200
    failed = status is not None and status >= 500
    log_event(
        REQUEST,
        level=logging.DEBUG if quiet else logging.ERROR if failed else logging.INFO,
        # A socket has no method.
        method=scope.get("method", "WEBSOCKET"),
        route=route,
        status=status,
        ms=round(seconds * 1000, 1),
        member=state.get("member"),
        team=state.get("team"),
        request_id=state["request_id"],
    )
