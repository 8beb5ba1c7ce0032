"""Figures for whoever watches the service, in the text format of Prometheus; none leaves this machine by itself."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mycel import __version__
from mycel.domain.damage import Damage

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# What no route answered; a path of somebody's choice must not become a name of ours.
_NO_ROUTE = "other"


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "mycel_requests", "Requests by route and status", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "mycel_request_seconds", "Time to answer, by route", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self.under_way = Gauge("mycel_requests_under_way", "Requests being answered", registry=self.registry)
        self._damaged = Gauge(
            "mycel_store_damaged_since_seconds",
            "When a store was found damaged, by team; that of the workspace has none",
            ["team"],
            registry=self.registry,
        )
        version = Gauge("mycel_version", "Always 1; the label says which", ["version"], registry=self.registry)
        version.labels(__version__).set(1)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def tell_damages(self, damages: Sequence[Damage]) -> None:
        self._damaged.clear()
        for damage in damages:
            self._damaged.labels(damage.team or "").set(damage.since.timestamp())

    def text(self) -> bytes:
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware that counts every request. Streams go on for as long as somebody listens and are not timed."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state: dict[str, Any] = scope.setdefault("state", {})
        started = perf_counter()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = state.get("route", _NO_ROUTE)
                self._metrics.count(scope["method"], route, message["status"], perf_counter() - started)
            await send(message)

        self._metrics.under_way.inc()
        try:
            await self._app(scope, receive, answer)
        finally:
            self._metrics.under_way.dec()
