"""Requests that take long: in threads of their own, few at a time, teams in rotation, for as long as somebody waits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from mycel.contracts.long_work import CALLER_LEFT, STOPPING, STOPPING_RETRY_SECONDS, LongWork, doing
from mycel.errors import LimitExceeded, Unavailable
from mycel.surfaces.http.turns import Turns

ResultT = TypeVar("ResultT")
# Seconds after which somebody who has asked for too much may ask again.
RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLimits:
    """How many are worked on at the same time, and how many may be under way, those that wait for a turn included."""

    at_once: int = 4
    at_once_of_a_team: int = 2
    of_a_member: int = 4
    of_a_team: int = 12
    in_all: int = 256


@dataclass(eq=False, slots=True)
class _Request:
    """One of them; `outcome` is settled by its thread, or before that by whoever stops it."""

    work: LongWork
    do: Callable[[], Any]
    outcome: asyncio.Future[Any]
    thread: threading.Thread | None = None

    def settle(self, result: Any, error: BaseException | None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(result)
        else:
            self.outcome.set_exception(error)


class LongRequests:
    """Belongs to the event loop. Its threads keep no process from ending: what they do is whole or not at all."""

    def __init__(self, limits: LongLimits | None = None) -> None:
        self._limits = limits or LongLimits()
        self._turns = Turns(at_once=self._limits.at_once, of_a_team=self._limits.at_once_of_a_team)
        self._under_way: dict[_Request, None] = {}
        self._stopped: str | None = None

    @property
    def under_way(self) -> int:
        return len(self._under_way)

    async def run(self, work: LongWork, do: Callable[[], ResultT]) -> ResultT:
        """Do it in a thread when its team has a turn.

        Raises `LimitExceeded` where its member or team has too many under way, and `Unavailable` when it is stopped.
        """
        self._require_room(work)
        request = _Request(work, do, asyncio.get_running_loop().create_future())
        self._under_way[request] = None
        self._turns.wait(work.team, lambda: self._begin(request))
        try:
            return cast(ResultT, await request.outcome)
        finally:
            work.stop(CALLER_LEFT)
            # One that has begun stays until its thread has noticed.
            if request.thread is None:
                self._under_way.pop(request, None)

    def stop(self, why: str = STOPPING) -> None:
        """Have all that are under way end with `Unavailable`, and take no more."""
        self._stopped = why
        for request in list(self._under_way):
            if request.work.stop(why) or request.thread is None:
                request.settle(None, Unavailable(why, retry_after=STOPPING_RETRY_SECONDS))

    def close(self, *, seconds: float) -> None:
        """Wait so long for the threads to notice."""
        until = time.monotonic() + seconds
        for request in list(self._under_way):
            if request.thread is not None:
                request.thread.join(max(0.0, until - time.monotonic()))

    def _require_room(self, work: LongWork) -> None:
        if self._stopped is not None:
            raise Unavailable(self._stopped, retry_after=STOPPING_RETRY_SECONDS)
        limits = self._limits
        own = [one.work for one in self._under_way if one.work.member == work.member]
        if work.member is not None and len(own) >= limits.of_a_member:
            raise _too_many("you have", own)
        teams = [one.work for one in self._under_way if one.work.team == work.team]
        if work.team is not None and len(teams) >= limits.of_a_team:
            raise _too_many("your team has", teams)
        if len(self._under_way) >= limits.in_all:
            raise Unavailable(
                "the service has more long work to do than it can; retry later", retry_after=RETRY_SECONDS
            )

    def _begin(self, request: _Request) -> bool:
        if request.outcome.done():
            return False
        loop = asyncio.get_running_loop()
        request.work.started_at = time.monotonic()

        def perform() -> None:
            result, failure = None, None
            try:
                with doing(request.work):
                    request.work.require_wanted()
                    result = request.do()
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                failure = error
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._end, request, result, failure)

        thread = threading.Thread(target=perform, name="mycel-long", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            request.settle(None, Unavailable("the machine has no room for another thread; retry later"))
            return False
        request.thread = thread
        return True

    def _end(self, request: _Request, result: Any, error: BaseException | None) -> None:
        self._under_way.pop(request, None)
        request.settle(result, error)
        self._turns.leave(request.work.team)


def _too_many(who: str, under_way: list[LongWork]) -> LimitExceeded:
    told = ", ".join(f"{work.name} ({work.describe_progress()})" for work in under_way)
    return LimitExceeded(
        f"{who} as much long work under way as there may be: {told}; wait for an answer", retry_after=RETRY_SECONDS
    )
