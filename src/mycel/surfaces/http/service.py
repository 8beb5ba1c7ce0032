"""What the routes share for as long as the service runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from mycel.contracts.long_work import LongWork
from mycel.domain.damage import GUIDE, Damage
from mycel.embedded.workspace import Visit, Workspace
from mycel.errors import Misconfigured, MycelError, Unavailable
from mycel.surfaces.http.authentication import Visitors
from mycel.surfaces.http.credentials import wrong_codes
from mycel.surfaces.http.feeds import Feeds
from mycel.surfaces.http.metrics import Metrics
from mycel.surfaces.http.rate_limit import Allowance
from mycel.surfaces.http.staging import Staging
from mycel.surfaces.http.threads import Threads
from mycel.wire.naming import Naming

ResultT = TypeVar("ResultT")
logger = logging.getLogger(__name__)


# Whoever watches a service asks often, and every look goes over the files of every team.
LOOK_SECONDS = 1.0


class KnownDamages:
    """The damaged stores, looked for at most once a second however many ask."""

    def __init__(self, workspace: Workspace, threads: Threads) -> None:
        self._workspace = workspace
        self._threads = threads
        self._known: Sequence[Damage] = ()
        self._look_at = 0.0

    async def now(self) -> Sequence[Damage]:
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_SECONDS
            self._known = await self._threads.run(self._workspace.find_damages)
        return self._known


# So long a workspace may take to show that it can be read.
READY_SECONDS = 1.5
UNREADABLE = "the workspace cannot be read at the moment"


class Readiness:
    """Whether the workspace can be used, found out by one question at a time and a second, however many ask."""

    def __init__(self, workspace: Workspace, threads: Threads) -> None:
        self._workspace = workspace
        self._threads = threads
        self._asked: asyncio.Task[None] | None = None
        self._ask_at = 0.0

    async def require(self) -> None:
        """`Unavailable` with a reason that anybody may know; the log says more."""
        loop = asyncio.get_running_loop()
        asked = self._asked
        # What another loop was asked for, this one cannot wait for.
        if asked is None or asked.get_loop() is not loop or (asked.done() and time.monotonic() >= self._ask_at):
            self._ask_at = time.monotonic() + LOOK_SECONDS
            asked = self._asked = loop.create_task(self._ask())
        done, _ = await asyncio.wait([asked], timeout=READY_SECONDS)
        if not done:
            raise Unavailable(UNREADABLE)
        await asked

    async def _ask(self) -> None:
        try:
            await self._threads.run(self._workspace.require_ready)
        except Misconfigured as error:
            logger.error("%s: %s", error.code, error)
            raise Unavailable("the workspace is of another version, or not set up", retry_after=60.0) from None
        except MycelError as error:
            logger.warning("%s: %s", error.code, error)
            raise Unavailable(UNREADABLE) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """`stopping` is set when the service is asked to end: streams that would go on for ever end then."""

    workspace: Workspace
    threads: Threads
    visitors: Visitors
    secret: str = field(repr=False)
    metrics: Metrics
    feeds: Feeds
    staging: Staging
    stopping: asyncio.Event
    damages: KnownDamages
    readiness: Readiness
    wrong_codes: Allowance = field(default_factory=wrong_codes)
    public_url: str | None = None
    naming: Naming = Naming.SNAKE

    @property
    def prefix(self) -> str:
        """The path under which browsers find the service, empty where it stands at the top of its host."""
        return urlsplit(self.public_url or "").path

    @property
    def cookie_path(self) -> str:
        return self.prefix or "/"

    def own_url(self, request: HTTPConnection, path: str) -> str:
        """An address of ours as a browser reaches it; the host was checked before anybody was let in."""
        top = self.public_url or f"{request.url.scheme}://{request.headers['host']}"
        return top + path

    def is_https(self, request: HTTPConnection) -> bool:
        """Also by what the settings or the browser say, where something stands before us to speak TLS."""
        said = (self.public_url, request.headers.get("origin", "").lower(), str(request.url))
        return any(url is not None and url.startswith("https://") for url in said)

    async def admitted(self, request: HTTPConnection, *, chosen_team: str | None = None) -> Visit:
        """Whoever asks, for routes that are no operation; noted for the log of requests."""
        visit = await self.visitors.admit(request.scope, chosen_team=chosen_team)
        caller = await self.threads.run(visit.caller)
        request.scope.setdefault("state", {}).update(member=caller.member_id, team=caller.team)
        return visit

    async def work(
        self,
        work: Callable[[], ResultT],
        *,
        writes: bool = False,
        team: Hashable = None,
        long: LongWork | None = None,
    ) -> ResultT:
        """Do it in a thread; `long` describes what may take seconds."""
        return await self.threads.run(work, writes=writes, team=team, long=long)

    async def condition(self) -> dict[str, object]:
        """As much as anybody may know of what is damaged: not which team."""
        damages = await self.damages.now()
        if not damages:
            return {"status": "ok"}
        stores = sum(1 for damage in damages if not damage.rows)
        rows = sum(damage.rows for damage in damages)
        counted = {"damaged_stores": stores, "damaged_rows": rows}
        return {
            "status": "degraded",
            **{name: count for name, count in counted.items() if count},
            "advice": f"run `mycel check`; see {GUIDE}",
        }

    def begin_to_stop(self) -> None:
        """Tell streams and long work, which would go on for long, that the service ends."""
        self.stopping.set()
        self.threads.long.stop()

    def close(self) -> None:
        self.stopping.set()
        self.feeds.close()
        self.threads.close()


def service_of(request: HTTPConnection) -> Service:
    return request.app.state.service
