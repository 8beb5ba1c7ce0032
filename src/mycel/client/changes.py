"""Changes as a service tells them, one after another, again from where it was after a break.

Written once as a generator that asks for what it needs and gives changes as they come, and driven by a sync and an
async sender.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from mycel.client.exchanges import (
    FIRST_WAIT,
    LONGEST_WAIT,
    TRIES,
    Failed,
    Pause,
    Received,
    Sent,
    attempts,
    error_in,
    written,
)
from mycel.domain import fields
from mycel.domain.change import Change
from mycel.errors import LimitExceeded, MycelError, Unavailable
from mycel.wire.events import (
    CHANGE,
    CHANGES,
    CURSOR,
    END,
    LAST_EVENT_ID,
    MEDIA_TYPE,
    NOW,
    Event,
    EventReader,
    problem_in,
)
from mycel.wire.problems import error_of
from mycel.wire.reading import read_text

if TYPE_CHECKING:
    from mycel.client.senders import AsyncSender, Sender


# How long a service that does not answer any more is looked for.
PATIENCE_SECONDS = 300.0
_TYPES: Mapping[str, Any] = {
    "after": int,
    "path": str,
    "project": str,
    "type": Sequence[str] | str,
    "team": str,
}


class Open(NamedTuple):
    """Send this and leave the answer open; of an error read all of it."""

    request: Sent


@dataclass(frozen=True, slots=True)
class Read:
    """The next part of what was opened."""


Telling = Generator[Sent | Open | Read | Pause | list[Change], Received | Failed | None, None]


def telling(
    headers: Mapping[str, str],
    *,
    after: int | None,
    path: str,
    project: str | None,
    type: str | Sequence[str] | None,
    follow: bool,
    team: str | None,
) -> Telling:
    """Gives a list, be it empty, as soon as it is sure that nothing that happens from then on is missed."""
    given = {"after": after, "path": path, "project": project, "type": type, "team": team}
    query = written(_TYPES, given)
    if after is None:
        query.append(("after", NOW))
    request = Sent("GET", CHANGES, query, None, dict(headers))
    return _Live(request, after).tell() if fields.flag(follow, field="follow") else _pages(request)


def _pages(request: Sent) -> Telling:
    more = True
    while more:
        came: Received = yield from attempts(request, repeatable=True)
        page: list[Change] = read_text(list[Change], came.body)
        more = "link" in came.headers and bool(page)
        yield page
        if more:
            rest = [(name, value) for name, value in request.query if name != "after"]
            request = request._replace(query=[*rest, ("after", str(page[-1].sequence))])


class _Live:
    """Comes back with the last event it has seen, so that nothing is missed and nothing told twice."""

    def __init__(self, request: Sent, after: int | None) -> None:
        self._request = request._replace(headers={**request.headers, "accept": MEDIA_TYPE})
        self._reached = after
        self._is_established = False
        self._tries = 0
        self._waited = 0.0

    def tell(self) -> Telling:
        while True:
            came = yield Open(self._next_request())
            lost = error_in(came) or (yield from self._listen())
            yield Pause(self._wait_after(lost))

    def _listen(self) -> Generator[Read | list[Change], Received | Failed | None, MycelError]:
        """Gives changes until the connection is lost, and returns why."""
        reader = EventReader()
        while True:
            part = yield Read()
            if not isinstance(part, Received):
                return error_in(part) or Unavailable("the stream has ended")
            found: list[Change] = []
            was_established = self._is_established
            for event in reader.read(part.body):
                if event.name == END:
                    yield found
                    problem = problem_in(event)
                    return error_of(int(problem.get("status", 503)), problem, {})
                found += self._heard(event)
            if found or self._is_established != was_established:
                yield found

    def _heard(self, event: Event) -> list[Change]:
        if event.name not in {CHANGE, CURSOR} or event.id is None:
            return []
        is_new = self._reached is None or event.id > self._reached
        self._reached = event.id if self._reached is None else max(event.id, self._reached)
        self._is_established, self._tries, self._waited = True, 0, 0.0
        return [read_text(Change, event.data)] if is_new and event.name == CHANGE else []

    def _next_request(self) -> Sent:
        if not self._is_established:
            return self._request
        return self._request._replace(headers={**self._request.headers, LAST_EVENT_ID: str(self._reached)})

    def _wait_after(self, lost: MycelError) -> float:
        """Raises what no waiting helps against."""
        self._tries += 1
        # Once it has been there, the service may take its time to come back or to notice that we were gone.
        may_return = isinstance(lost, Unavailable | LimitExceeded if self._is_established else Unavailable)
        is_over = self._waited >= PATIENCE_SECONDS if self._is_established else self._tries >= TRIES
        if not may_return or is_over:
            raise lost
        seconds = random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**self._tries))  # noqa: S311
        self._waited += max(seconds, FIRST_WAIT)
        return seconds


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
