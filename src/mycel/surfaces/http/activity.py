"""Tells for how long nobody has used the service."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


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
        finally:
            self._under_way -= 1
            self._last = self._clock()
