"""What is new for many followers, asked in one thread: whoever waits by then is asked for together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from mycel.errors import Unavailable

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
