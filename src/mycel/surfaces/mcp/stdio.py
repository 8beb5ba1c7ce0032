"""`mycel mcp`: one agent's server over its standard streams; what it does goes through the service."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from mcp.server.stdio import stdio_server

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.change import Change
from mycel.domain.team import Caller
from mycel.embedded.working_memory import WorkingMemory
from mycel.errors import MycelError, Unavailable
from mycel.surfaces.mcp.callers import Context
from mycel.surfaces.mcp.server import Offer, make_server
from mycel.surfaces.mcp.tool_sets import ToolSet

ResultT = TypeVar("ResultT")
# The service comes back after this time, if it was restarted.
_AGAIN_SECONDS = 2.0
logger = logging.getLogger(__name__)


class StdioGuest:
    """The one caller of this process. `connect` finds the service, which may have ended since it was last used."""

    def __init__(
        self,
        connect: Callable[[], MemoryApi],
        *,
        working: Callable[[str], WorkingMemory],
        place: Mapping[str, str] | None = None,
    ) -> None:
        self.memory = connect()
        self.place = place or {}
        self.working = working(self.memory.member_id)
        self._connect = connect
        self._told: set[Callable[[str], None]] = set()
        self._following: threading.Thread | None = None

    def caller(self) -> Caller:
        return self.memory.who_am_i()

    async def work(
        self, work: Callable[[], ResultT], *, writes: bool = False, takes_long: str | None = None
    ) -> ResultT:
        del writes, takes_long
        return await asyncio.to_thread(self._work, work)

    @contextmanager
    def stage(self, name: str) -> Generator[Path]:
        with tempfile.TemporaryDirectory(prefix="mycel-") as folder:
            yield Path(folder) / name

    async def watch(self, told: Callable[[str], None], ended: Callable[[], None]) -> Callable[[], None]:
        """One thread follows for all; it ends with the process."""
        del ended
        self._told.add(told)
        if self._following is None:
            changes = await self.work(self._changes)
            follow = partial(self._follow, changes, asyncio.get_running_loop())
            self._following = threading.Thread(target=follow, name="mycel-mcp", daemon=True)
            self._following.start()
        return partial(self._told.discard, told)

    def _work(self, work: Callable[[], ResultT]) -> ResultT:
        """Once more where the service was away: a service that nobody used has stopped, and every call may repeat."""
        try:
            return work()
        except Unavailable:
            self.memory = self._connect()
            return work()

    def _changes(self) -> Iterator[Change]:
        return self.memory.changes(after=None, follow=True)

    def _follow(self, changes: Iterator[Change], loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                for change in changes:
                    loop.call_soon_threadsafe(self._tell, change.memory_id)
            except MycelError as error:
                logger.warning("changes cannot be followed for now: %s", error.code)
            except RuntimeError:
                # The loop has ended, and soon the process.
                return
            time.sleep(_AGAIN_SECONDS)
            try:
                changes = self._work(self._changes)
            except MycelError:
                continue

    def _tell(self, memory_id: str) -> None:
        for told in tuple(self._told):
            told(memory_id)


def run_stdio(
    connect: Callable[[], MemoryApi],
    *,
    tools: ToolSet,
    working: Callable[[str], WorkingMemory],
    place: Mapping[str, str] | None = None,
) -> None:
    """Until the client closes the stream."""
    guest = StdioGuest(connect, working=working, place=place)

    async def door(_ctx: Context) -> StdioGuest:
        return guest

    async def run() -> None:
        server = make_server(door, Offer.of(tools))
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(run())
