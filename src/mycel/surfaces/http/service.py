"""What the routes share for as long as the service runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from starlette.requests import HTTPConnection

from mycel.embedded.workspace import Visit, Workspace
from mycel.surfaces.http.feeds import Feeds
from mycel.surfaces.http.figures import Metrics
from mycel.surfaces.http.one_time_codes import OneTimeCodes
from mycel.surfaces.http.threads import Threads
from mycel.surfaces.http.visitors import Visitors

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """`stopping` is set when the service is asked to end: streams that would go on for ever end then."""

    workspace: Workspace
    threads: Threads
    visitors: Visitors
    nonce: str
    metrics: Metrics
    feeds: Feeds
    stopping: asyncio.Event
    codes: OneTimeCodes = field(default_factory=OneTimeCodes)

    async def admitted(self, request: HTTPConnection) -> Visit:
        """Whoever asks, for routes that are no operation; noted for the log of requests."""
        visit = await self.visitors.admit(request.scope)
        caller = await self.threads.run(visit.caller)
        request.scope.setdefault("state", {}).update(member=caller.member_id, team=caller.team)
        return visit

    async def work(self, work: Callable[[], ResultT], *, writes: bool = False) -> ResultT:
        return await self.threads.run(work, writes=writes)

    def close(self) -> None:
        self.stopping.set()
        self.feeds.close()
        self.threads.close()


def service_of(request: HTTPConnection) -> Service:
    return request.app.state.service
