"""Routes that are no operation of the API, known to the log by their template."""

from __future__ import annotations

from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send


class NotedRoute(Route):
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["route"] = self.path
        await super().handle(scope, receive, send)


class NotedSocket(WebSocketRoute):
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["route"] = self.path
        await super().handle(scope, receive, send)
