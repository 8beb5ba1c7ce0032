"""The threads in which the service does its work: the core is synchronous, and the event loop never waits for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mycel.errors import Unavailable

ResultT = TypeVar("ResultT")

# Writers wait for the disk, and as many as wait at the same time share one sync.
WRITERS = 32
# Readers need the processor: more of them than it has cores only take turns, which costs a sixth of the time.
READERS = (os.cpu_count() or 2) + 2
# Beyond this many waiting requests it is kinder to say no at once.
MOST_WAITING = 1024


class Threads:
    def __init__(self, *, readers: int = READERS, writers: int = WRITERS, most_waiting: int = MOST_WAITING) -> None:
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="mycel-read")
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="mycel-write")
        # Large requests take turns: of several threads that need the processor, each makes all others wait longer.
        self._large = ThreadPoolExecutor(1, thread_name_prefix="mycel-large")
        self._most = readers + writers + most_waiting
        self._under_way = 0

    @property
    def under_way(self) -> int:
        return self._under_way

    async def run(self, work: Callable[[], ResultT], *, writes: bool = False, is_large: bool = False) -> ResultT:
        """`Unavailable` when too much waits already."""
        if self._under_way >= self._most:
            raise Unavailable("the service has more to do than it can; retry in a moment", retry_after=1.0)
        self._under_way += 1
        try:
            pool = self._large if is_large else self._writers if writes else self._readers
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        for pool in (self._readers, self._writers, self._large):
            pool.shutdown(wait=True, cancel_futures=True)
