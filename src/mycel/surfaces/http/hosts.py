"""Answers only requests that name this service as their host, and come from its own pages or from no page at all.

No page elsewhere reaches it by rebinding DNS, nor by a form or a script in the browser of somebody who is signed in.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from mycel.surfaces.http.problems import Problem

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# To listen on, and the name of nobody: other sites can have a browser ask for them.
EVERY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - refused, not listened on
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::\d{1,5})?", re.IGNORECASE)
_POLICY_VIOLATION = 1008


class PathPrefix:
    """ASGI middleware: takes off the path under which a proxy shows the service, if the proxy has not done so itself.

    The path is a setting: a header would let whoever sends it decide where links lead.
    """

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._prefix and scope["type"] != "lifespan":
            path: str = scope["path"]
            if path == self._prefix or path.startswith(f"{self._prefix}/"):
                scope = {**scope, "path": path[len(self._prefix) :] or "/"}
        await self._app(scope, receive, send)


class KnownHosts:
    """ASGI middleware in front of everything, so that not even a missing page answers a stranger."""

    def __init__(
        self, app: ASGIApp, *, names: frozenset[str] = LOOPBACK_NAMES, origins: frozenset[str] = frozenset()
    ) -> None:
        self._app = app
        self._names = names
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None if scope["type"] == "lifespan" else self._refuse(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await refusal(scope, receive, send)

    def _refuse(self, scope: Scope) -> Problem | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if match is None:
            return Problem(HTTPStatus.BAD_REQUEST, "the request needs one valid Host header", code="bad_host")
        if (match["v6"] or match["name"]).lower() not in self._names:
            return Problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this service does not answer under that name: its operator can add it by MYCEL_ALLOWED_HOSTS",
                code="unknown_host",
            )
        origins = {value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"origin"}
        if any(not self._knows(origin, hosts[0].lower()) for origin in origins):
            return Problem(HTTPStatus.FORBIDDEN, "this service is not for pages of other sites", code="unknown_origin")
        return None

    def _knows(self, origin: str, host: str) -> bool:
        """Its own pages, whatever stands before it to speak TLS, and those that the settings name."""
        if origin in self._origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in {"http", "https"} and origin == f"{parts.scheme}://{host}"
