"""Live changes for many readers at once: who is told what and when, how many there may be, and when it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from starlette.requests import HTTPConnection
from starlette.types import Receive

from mycel.domain.change import Change
from mycel.domain.ids import MemberId
from mycel.errors import LimitExceeded, MycelError, Unavailable
from mycel.services.change_feed import Follower
from mycel.surfaces.http.authentication import refusal_of
from mycel.wire.events import Event, change_event, cursor_event
from mycel.wire.naming import Naming

ResultT = TypeVar("ResultT")

# Between two jobs the others who need the interpreter get their turn.
MOST_AT_ONCE = 64


class Takings(Generic[ResultT]):
    """A job per follower would cost more for the handing over than for the work itself."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting: list[tuple[Callable[[], ResultT], asyncio.Future[ResultT]]] = []
        self._task: asyncio.Task[None] | None = None

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[ResultT] = loop.create_future()
        self._waiting.append((work, answer))
        if self._task is None:
            self._task = loop.create_task(self._work_off())
        return await answer

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _work_off(self) -> None:
        loop = asyncio.get_running_loop()
        batch: list[tuple[Callable[[], ResultT], asyncio.Future[ResultT]]] = []
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
                outcomes = await loop.run_in_executor(self._thread, _all_of, [work for work, _ in batch])
                for (_, answer), outcome in zip(batch, outcomes, strict=True):
                    _settle(answer, outcome)
        except RuntimeError:
            # The thread takes no more work.
            for _, answer in (*batch, *self._waiting):
                _settle(answer, Unavailable("the service is stopping"))
            self._waiting.clear()
        finally:
            self._task = None


def _all_of(works: Iterable[Callable[[], ResultT]]) -> list[ResultT | Exception]:
    return [_outcome(work) for work in works]


def _outcome(work: Callable[[], ResultT]) -> ResultT | Exception:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - raised again for the one that it concerns
        return error


def _settle(answer: asyncio.Future[ResultT], outcome: ResultT | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


# How long a connection that is cut may take to notice.
CUTTING_SECONDS = 5.0
_ENDS = frozenset({"http.disconnect", "websocket.disconnect"})


class Left(Exception):
    """Nobody is there any more to be told anything."""


async def deliver(feed: Feed, outlet: Outlet, *, connection: HTTPConnection, receive: Receive) -> None:
    leaving: asyncio.Future[None] | None = None
    try:
        await feed.send(outlet.begin())
        leaving = asyncio.ensure_future(_until_gone(receive))
        leaving.add_done_callback(lambda _: feed.leave())
        await _run(feed, outlet, connection)
    except Slow:
        # What is still to be sent would keep a connection open that is merely closed.
        connection.app.state.cut(connection.client)
        if leaving is not None:
            await asyncio.wait([leaving], timeout=CUTTING_SECONDS)
    except Left:
        pass
    finally:
        feed.close()
        if leaving is not None:
            leaving.cancel()


async def _run(feed: Feed, outlet: Outlet, connection: HTTPConnection) -> None:
    try:
        await feed.run(outlet)
    except MycelError as error:
        await feed.send(outlet.end(refusal_of(connection.scope, error)))


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] not in _ENDS:
        pass


# Some thirty kilobytes: with what a connection buffers, all that a slow reader costs.
BATCH = 100
# Whoever comes back need not have more than this looked at again.
UNSEEN = 1000
# So often that a revoked token, a removed or a moved member is noticed within a second, and that who is calling is
# known when there is something to tell; see `Follower.take_at_hand`.
CHECK_SECONDS = 0.7
# What a reader that takes nothing gets when the service stops.
STOPPING_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    per_member: int = 100
    in_total: int = 5000
    heartbeat_seconds: float = 15.0
    """A reader that has not taken what was sent to it for so long is disconnected."""
    patience_seconds: float = 60.0


class Taken(NamedTuple):
    changes: Sequence[Change]
    reached: int
    is_current: bool


class Slow(Exception):
    """The reader takes nothing; it cannot even be told so."""


class Outlet(Protocol):
    """How events reach one reader. Waits while it has enough to read."""

    async def begin(self) -> None: ...
    async def tell(self, events: Sequence[Event]) -> None: ...
    async def beat(self) -> None:
        """Shows that the connection still stands."""
        ...

    async def end(self, error: MycelError) -> None: ...


class Feed:
    """One reader, woken when there may be something new, when it is time to show a sign of life, or at its end."""

    def __init__(self, feeds: Feeds, member: MemberId, naming: Naming) -> None:
        self.member = member
        self._naming = naming
        self.beat_at = 0.0
        self._feeds = feeds
        self._loop = asyncio.get_running_loop()
        self._follower: Follower | None = None
        self._woken = asyncio.Event()
        self._sending: asyncio.Timeout | None = None
        self._is_gone = False
        self._told = 0

    def follow(self, follow: Callable[..., Follower]) -> None:
        """In a worker thread."""
        self._follower = follow(wake=partial(self._loop.call_soon_threadsafe, self._woken.set))

    async def run(self, outlet: Outlet) -> None:
        """Until the reader has gone. Raises why it must end before, or `Slow`."""
        self._told = self._following.reached
        self._beaten()
        await self.send(outlet.tell([cursor_event(self._told)]))
        is_current = False
        while not self._is_gone:
            # First: what comes after this question wakes it again.
            self._woken.clear()
            self._feeds.require_running()
            taken = await self._feeds.take(self._following, is_current=is_current)
            await self._tell(outlet, taken)
            is_current = taken.is_current
            if is_current:
                await self._woken.wait()

    def check(self) -> bool:
        """Whether it may go on; in a worker thread."""
        try:
            self._following.check()
        except Exception:  # noqa: BLE001 - raised again where it asks for changes
            return False
        return True

    def wake(self) -> None:
        self._woken.set()

    def leave(self) -> None:
        self._is_gone = True
        self._woken.set()

    def stop(self) -> None:
        self._woken.set()
        if self._sending is not None:
            self._sending.reschedule(self._loop.time() + STOPPING_SECONDS)

    def close(self) -> None:
        if self._follower is not None:
            self._follower.close()
        self._feeds.remove(self)

    @property
    def _following(self) -> Follower:
        if self._follower is None:
            raise RuntimeError("it does not follow yet")
        return self._follower

    async def _tell(self, outlet: Outlet, taken: Taken) -> None:
        is_due = self._loop.time() >= self.beat_at
        events = [change_event(change, self._naming) for change in taken.changes]
        if events:
            self._told = taken.changes[-1].sequence
        if taken.reached - self._told >= (1 if is_due else UNSEEN):
            self._told = taken.reached
            events.append(cursor_event(taken.reached))
        if events:
            await self.send(outlet.tell(events))
        elif is_due:
            await self.send(outlet.beat())

    async def send(self, sending: Awaitable[None]) -> None:
        """`Slow` when the reader does not make room for it in time."""
        try:
            async with asyncio.timeout(self._feeds.patience_seconds) as self._sending:
                await sending
        except TimeoutError:
            raise Slow from None
        finally:
            self._sending = None
        self._beaten()

    def _beaten(self) -> None:
        self.beat_at = self._loop.time() + self._feeds.limits.heartbeat_seconds


class Feeds:
    """Everybody who reads live. Belongs to the event loop, but for the asking."""

    def __init__(self, limits: StreamLimits, stopping: asyncio.Event) -> None:
        self.limits = limits
        self._stopping = stopping
        self._feeds: set[Feed] = set()
        self._members: Counter[MemberId] = Counter()
        self._rounds: asyncio.Task[None] | None = None
        # Whoever has much to catch up with does not keep the others waiting.
        self._live: Takings[Taken] = Takings("mycel-live")
        self._behind: Takings[Taken] = Takings("mycel-behind")
        self._checks: Takings[list[Feed]] = Takings("mycel-checks")

    @property
    def patience_seconds(self) -> float:
        return STOPPING_SECONDS if self._stopping.is_set() else self.limits.patience_seconds

    def __len__(self) -> int:
        return len(self._feeds)

    def open(self, member: MemberId, *, naming: Naming = Naming.SNAKE) -> Feed:
        """A place for one more of a member's, by whatever token; whoever gets it must close it."""
        self.require_running()
        if self._members[member] >= self.limits.per_member:
            raise LimitExceeded(f"{member} reads {self.limits.per_member} streams already; close one first")
        if len(self._feeds) >= self.limits.in_total:
            raise Unavailable("as many streams are open as the service can have; retry in a moment", retry_after=5.0)
        feed = Feed(self, member, naming)
        self._feeds.add(feed)
        self._members[member] += 1
        if self._rounds is None:
            self._rounds = asyncio.get_running_loop().create_task(self._keep_rounds())
        return feed

    def remove(self, feed: Feed) -> None:
        self._feeds.discard(feed)
        self._members[feed.member] -= 1
        if not self._members[feed.member]:
            del self._members[feed.member]

    def require_running(self) -> None:
        if self._stopping.is_set():
            raise Unavailable("the service is stopping; come back in a moment")

    async def take(self, follower: Follower, *, is_current: bool) -> Taken:
        """Mostly at once: handing it to a thread and back would take ten times as long, and more when it is busy."""
        at_hand = follower.take_at_hand(BATCH) if is_current else None
        if at_hand is not None:
            return Taken(*at_hand, follower.is_current)
        return await (self._live if is_current else self._behind).run(partial(_take, follower))

    async def ended(self) -> None:
        """When the last reader has been told that the service stops."""
        while self._feeds:
            await asyncio.sleep(0.02)

    def close(self) -> None:
        for takings in (self._live, self._behind, self._checks):
            takings.close()

    async def _keep_rounds(self) -> None:
        """One clock for all: a timer for each would cost more than all the rest of a quiet stream."""
        try:
            while self._feeds and not await self._stops_within(min(CHECK_SECONDS, self.limits.heartbeat_seconds / 2)):
                now = asyncio.get_running_loop().time()
                for feed in self._feeds:
                    if feed.beat_at <= now:
                        feed.wake()
                with contextlib.suppress(Unavailable):
                    await self._check()
            for feed in self._feeds:
                feed.stop()
        finally:
            self._rounds = None

    async def _stops_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)
        return self._stopping.is_set()

    async def _check(self) -> None:
        feeds = list(self._feeds)
        for first in range(0, len(feeds), MOST_AT_ONCE):
            some = feeds[first : first + MOST_AT_ONCE]
            for refused in await self._checks.run(lambda some=some: [feed for feed in some if not feed.check()]):
                # It learns why with its next question.
                refused.wake()


def _take(follower: Follower) -> Taken:
    found, reached = follower.take(BATCH)
    return Taken(found, reached, follower.is_current)
