"""Who asks a server for something, and how work is done for it: the core is synchronous, a server is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext

from mycel.contracts.memory_api import MemoryApi
from mycel.domain.team import Caller
from mycel.embedded.working_memory import WorkingMemory

ResultT = TypeVar("ResultT")
Context = ServerRequestContext[Any, Any]


class Guest(Protocol):
    """One caller. What it may see is decided behind `memory`, anew for each request."""

    @property
    def memory(self) -> MemoryApi: ...
    @property
    def working(self) -> WorkingMemory | None:
        """The agent's own, where this process is the agent's."""
        ...

    @property
    def place(self) -> Mapping[str, str]:
        """The project and repo that the agent works in, where that is known: what it says is about them."""
        ...

    def caller(self) -> Caller:
        """In a worker thread."""
        ...

    async def work(
        self, work: Callable[[], ResultT], *, writes: bool = False, takes_long: str | None = None
    ) -> ResultT:
        """In a worker thread; `takes_long` names what must not keep others waiting, as its caller knows it."""
        ...

    def stage(self, name: str) -> AbstractContextManager[Path]:
        """A file of this name on its way in or out, gone afterwards. In a worker thread."""
        ...

    async def watch(self, told: Callable[[str], None], ended: Callable[[], None]) -> Callable[[], None]:
        """Calls back, in the event loop, with the id of each memory that changes in the caller's sight.

        Returns what stops it; `ended` is called when it must end before.
        """
        ...


# Admits whoever a request comes from.
Door = Callable[[Context], Awaitable[Guest]]


def connection_of(ctx: Context) -> Connection:
    # The SDK hands it to nobody, though its exit stack is where it says that cleaning up belongs.
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]
