"""The threads in which the service does its work: the core is synchronous, and the event loop never waits for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mycel.contracts.long_work import LongWork
from mycel.errors import Unavailable
from mycel.surfaces.http.long_requests import LongLimits, LongRequests
from mycel.surfaces.http.turns import Turns

ResultT = TypeVar("ResultT")

# Writers wait for the disk, and as many of a team as wait at the same time share one sync.
WRITERS_OF_A_TEAM = 32
# So many are kept for others, where the store of one team answers nobody.
WRITERS = WRITERS_OF_A_TEAM + 16
# Readers need the processor: more of them than it has cores only take turns, which costs a sixth of the time.
READERS_OF_A_TEAM = (os.cpu_count() or 2) + 2
READERS = READERS_OF_A_TEAM + 1
# Beyond this many waiting requests it is kinder to say no at once.
MOST_WAITING = 1024
# How long the end of the service waits for long work that was told to stop.
CLOSING_SECONDS = 2.0


class _Pool:
    """Threads in which one team never takes the places of all others."""

    def __init__(self, name: str, *, at_once: int, of_a_team: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._turns = Turns(at_once=at_once, of_a_team=of_a_team)

    async def run(self, team: Hashable, work: Callable[[], ResultT]) -> ResultT:
        loop = asyncio.get_running_loop()
        if not self._turns.try_take(team):
            await self._turn(team)
        try:
            given = self._threads.submit(work)
        except RuntimeError as error:
            # No thread can be started: the machine gives this process no more room, or the service has ended.
            self._turns.leave(team)
            raise Unavailable("the service has no room for another thread; retry in a moment") from error
        try:
            return await asyncio.wrap_future(given)
        finally:
            if given.done():
                self._turns.leave(team)
            else:
                # Whoever leaves does not free a thread by that.
                given.add_done_callback(lambda _: loop.call_soon_threadsafe(self._turns.leave, team))

    async def _turn(self, team: Hashable) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def begin() -> bool:
            if turn.done():
                return False
            turn.set_result(None)
            return True

        self._turns.wait(team, begin)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._turns.leave(team)
            raise

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


class Threads:
    """Belongs to the event loop."""

    def __init__(
        self,
        *,
        readers: int = READERS,
        writers: int = WRITERS,
        most_waiting: int = MOST_WAITING,
        long_limits: LongLimits | None = None,
    ) -> None:
        self._readers = _Pool("mycel-read", at_once=readers, of_a_team=min(readers, READERS_OF_A_TEAM))
        self._writers = _Pool("mycel-write", at_once=writers, of_a_team=min(writers, WRITERS_OF_A_TEAM))
        # Large requests take turns: of several threads that need the processor, each makes all others wait longer.
        self._large = _Pool("mycel-large", at_once=1, of_a_team=1)
        self.long = LongRequests(long_limits)
        self._most = readers + writers + most_waiting
        self._under_way = 0

    @property
    def under_way(self) -> int:
        return self._under_way

    async def run(
        self,
        work: Callable[[], ResultT],
        *,
        writes: bool = False,
        is_large: bool = False,
        team: Hashable = None,
        long: LongWork | None = None,
    ) -> ResultT:
        """Do it in a thread of the right kind, in a turn of this team.

        `long` describes work that may wait for something else than the disk, or takes seconds. `Unavailable` when too
        much waits already.
        """
        if self._under_way >= self._most:
            raise Unavailable("the service has more to do than it can; retry in a moment", retry_after=1.0)
        self._under_way += 1
        try:
            if long is not None:
                return await self.long.run(long, work)
            pool = self._large if is_large else self._writers if writes else self._readers
            return await pool.run(team, work)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        self.long.stop()
        self.long.close(seconds=CLOSING_SECONDS)
        for pool in (self._readers, self._writers, self._large):
            pool.close()
