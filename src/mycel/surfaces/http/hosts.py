"""Answers only requests that name this service as their host: no page elsewhere reaches it by rebinding DNS."""

from __future__ import annotations

import re
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from mycel.surfaces.http.errors import Problem

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d{1,5})?", re.IGNORECASE)
_POLICY_VIOLATION = 1008


class KnownHosts:
    """ASGI middleware in front of everything, so that not even a missing page answers a stranger."""

    def __init__(self, app: ASGIApp, *, names: frozenset[str] = LOOPBACK_NAMES) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None if scope["type"] == "lifespan" else self._refuse(Headers(scope=scope).getlist("host"))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await refusal(scope, receive, send)

    def _refuse(self, given: list[str]) -> Problem | None:
        match = _HOST.fullmatch(given[0]) if len(given) == 1 else None
        if match is None:
            return Problem(HTTPStatus.BAD_REQUEST, "the request needs one valid Host header", code="bad_host")
        if (match["v6"] or match["name"]).lower() not in self._names:
            return Problem(
                HTTPStatus.MISDIRECTED_REQUEST, "this service does not answer under that name", code="unknown_host"
            )
        return None
