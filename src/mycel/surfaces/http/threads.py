"""The threads in which the service does its work: the core is synchronous, and the event loop never waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mycel.errors import Unavailable

ResultT = TypeVar("ResultT")

# As many writers share one sync of the disk as wait for it at the same time.
THREADS = 64
# Beyond this many waiting requests it is kinder to say no at once.
MOST_WAITING = 1024


class Threads:
    def __init__(self, *, threads: int = THREADS, most_waiting: int = MOST_WAITING) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="mycel-request")
        self._most = threads + most_waiting
        self._under_way = 0

    @property
    def under_way(self) -> int:
        return self._under_way

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """`Unavailable` when too much waits already."""
        if self._under_way >= self._most:
            raise Unavailable("the service has more to do than it can; retry in a moment", retry_after=1.0)
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
