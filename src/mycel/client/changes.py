"""The changes of a team from its service, as an iterator of the thread or of the event loop."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from mycel.client.change_stream import Open, Read, Telling, telling
from mycel.client.exchanges import Failed, Pause, Received, Sent
from mycel.domain.change import Change

if TYPE_CHECKING:
    from mycel.client.senders import AsyncSender, Sender


class Changes:
    """See `contracts.memory_api.MemoryApi.changes`. Closing the iterator closes its connection."""

    def __init__(self, sender: Sender, headers: Mapping[str, str]) -> None:
        self._sender = sender
        self._headers = headers

    def __call__(
        self,
        after: int | None = 0,
        path: str = "/",
        *,
        project: str | None = None,
        type: str | Sequence[str] | None = None,
        follow: bool = False,
        team: str | None = None,
    ) -> Iterator[Change]:
        told = _drive(
            self._sender,
            telling(self._headers, after=after, path=path, project=project, type=type, follow=follow, team=team),
        )
        # What is wrong is said at once, and nothing that happens from now on is missed.
        next(told, None)
        return cast(Iterator[Change], told)


class AsyncChanges:
    def __init__(self, sender: AsyncSender, headers: Mapping[str, str]) -> None:
        self._sender = sender
        self._headers = headers

    def __call__(
        self,
        after: int | None = 0,
        path: str = "/",
        *,
        project: str | None = None,
        type: str | Sequence[str] | None = None,
        follow: bool = False,
        team: str | None = None,
    ) -> AsyncChangeIterator:
        wanted = telling(self._headers, after=after, path=path, project=project, type=type, follow=follow, team=team)
        return AsyncChangeIterator(_drive_async(self._sender, wanted))


class AsyncChangeIterator:
    """`async for change in memory.changes(…)`.

    It begins with the first wait. `await memory.changes(…)` begins at once: nothing that happens after that is missed.
    """

    def __init__(self, told: AsyncGenerator[Change | None]) -> None:
        self._told = told
        self._is_begun = False

    def __await__(self) -> Generator[object, None, Self]:
        yield from self._begin().__await__()
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        await self._begin()
        return cast(Change, await anext(self._told))

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connection."""
        self._is_begun = True
        await self._told.aclose()

    async def _begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            await anext(self._told, None)


def _drive(sender: Sender, wanted: Telling) -> Generator[Change | None]:
    """None first, as soon as it has begun: only what has begun is closed when nobody wants it any more."""
    answer: Received | Failed | None = None
    is_new = True
    with closing(sender.line()) as line:
        while (step := _step(wanted, answer)) is not None:
            answer = None
            if isinstance(step, list):
                if is_new:
                    yield None
                is_new = False
                yield from step
            elif isinstance(step, Pause):
                time.sleep(step.seconds)
            elif isinstance(step, Sent):
                answer = sender.once(step)
            else:
                answer = line.open(step.request) if isinstance(step, Open) else line.read()


async def _drive_async(sender: AsyncSender, wanted: Telling) -> AsyncGenerator[Change | None]:
    # Here, since a command that only asks should not load it.
    import asyncio

    answer: Received | Failed | None = None
    is_new = True
    async with aclosing(sender.line()) as line:
        while (step := _step(wanted, answer)) is not None:
            answer = None
            if isinstance(step, list):
                if is_new:
                    yield None
                is_new = False
                for change in step:
                    yield change
            elif isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            elif isinstance(step, Sent):
                answer = await sender.once(step)
            else:
                answer = await (line.open(step.request) if isinstance(step, Open) else line.read())


def _step(wanted: Telling, answer: Received | Failed | None) -> Sent | Open | Read | Pause | list[Change] | None:
    """What it wants next; None at its end."""
    try:
        return wanted.send(answer)
    except StopIteration:
        return None
