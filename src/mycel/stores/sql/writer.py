"""Group commit: one thread runs the writes of a store, and one commit serves every waiting caller."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from mycel.errors import CLOSED, Unavailable


class BatchTransaction(Protocol):
    """What the operations of one batch share."""

    def begin(self) -> None:
        """An operation starts; what it does can be undone until it is kept."""
        ...

    def keep(self) -> None: ...
    def undo(self, error: Exception) -> None:
        """Raises `BatchLost` where the error took more than this operation."""
        ...


TxT = TypeVar("TxT", bound=BatchTransaction)
ResultT = TypeVar("ResultT")

# Bounds how long the first caller of a batch waits for the last one's work.
MAX_BATCH = 256
# Bounds how long other processes wait for one transaction; a single piece of work may take longer.
MOST_HOLD_SECONDS = 0.1
# How many of the last operations tell who is likely to come back.
RECENT = 64
MAX_LINGER_SECONDS = 0.05
FLUSH_SECONDS = 0.5


class BatchLost(Exception):
    """The whole transaction is gone or cannot be finished, not only the operation that noticed."""


class _Job(Generic[TxT]):
    """One caller's work, and the lock it waits on until its outcome is durable."""

    __slots__ = ("error", "is_apart", "is_beside", "result", "settled", "work")

    def __init__(self, work: Callable[[TxT], Any], *, is_apart: bool = False, is_beside: bool = False) -> None:
        self.work = work
        self.is_apart = is_apart
        self.is_beside = is_beside
        self.result: Any = None
        self.error: Exception | None = None
        self.settled = threading.Lock()
        self.settled.acquire()


class Writer(Generic[TxT]):
    """Runs work in transactions. Work may run twice (after a rollback), so it must not act outside."""

    def __init__(
        self,
        transact: Callable[[Callable[[TxT], None]], None],
        *,
        fault: Callable[[Exception], Exception],
        flush: Callable[[TxT], object] | None = None,
        committed: Callable[[], None] | None = None,
        idle_seconds: float | None = None,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`transact` runs a function between BEGIN and COMMIT, and stores all of it or raises.

        `fault` makes an error that of the callers. The thread ends after `idle_seconds` without work and begins again
        with the next; `ended` is the last that it does.
        """
        self._transact = transact
        self._fault = fault
        self._flush = flush
        self._committed = committed
        self._idle_seconds = idle_seconds
        self._ended = ended
        self._queue: deque[_Job[TxT]] = deque()
        self._wake = threading.Condition(threading.Lock())
        self._recent_callers: deque[int] = deque(maxlen=RECENT)
        self._worth_waking = 1
        self._last_seconds = 0.0
        self._begun_at = 0.0
        self._flush_due: float | None = None
        self._closing = False
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[TxT], ResultT], *, beside: bool = False) -> ResultT:
        """Returns what the work returned, once that is durable; raises what it raised.

        Nobody's commit waits for what is done `beside`, to take it along.
        """
        return self._settled(_Job(work, is_beside=beside))

    def run_apart(self, work: Callable[[], ResultT]) -> ResultT:
        """Runs work between two batches, outside any transaction."""
        return self._settled(_Job(lambda _: work(), is_apart=True))

    @property
    def is_at_work_here(self) -> bool:
        """Whether it is the writer itself that asks."""
        return threading.current_thread() is self._thread

    @property
    def has_begun(self) -> bool:
        return self._thread is not None

    def request_flush(self) -> None:
        """Has the flush run soon, with the next batch or by itself."""
        if self._flush_due is not None:
            return
        with self._wake:
            if self._closing:
                return
            self._start()
            self._flush_due = time.monotonic() + FLUSH_SECONDS
            self._wake.notify()

    def close(self) -> None:
        """Finishes what was queued, and flushes."""
        with self._wake:
            self._closing = True
            self._wake.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _settled(self, job: _Job[TxT]) -> Any:
        with self._wake:
            self._start()
            self._queue.append(job)
            if not job.is_beside:
                self._recent_callers.append(threading.get_ident())
            if len(self._queue) >= self._worth_waking:
                self._wake.notify()
        job.settled.acquire()
        if job.error is not None:
            raise job.error
        return job.result

    def _start(self) -> None:
        if self._closing:
            raise Unavailable(CLOSED)
        if self._thread is None:
            thread = threading.Thread(target=self._serve, name="mycel-writer", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise Unavailable("the machine has no room for another thread; retry later", retry_after=5.0) from error
            self._thread = thread

    def _serve(self) -> None:
        while (batch := self._next_batch()) is not None:
            self._begun_at = time.monotonic()
            self._settle(batch)
            self._last_seconds = time.monotonic() - self._begun_at
        self._ended()

    def _next_batch(self) -> list[_Job[TxT]] | None:
        with self._wake:
            self._wait_for_work()
            batch: list[_Job[TxT]] = []
            if self._flush is not None and self._flush_is_due():
                self._flush_due = None
                batch.append(_Job(self._flush))
            while self._queue and len(batch) < MAX_BATCH:
                is_apart = self._queue[0].is_apart
                if is_apart and batch:
                    break
                batch.append(self._queue.popleft())
                if is_apart:
                    break
            if not batch and not self._closing:
                self._thread = None
            return batch or None

    def _wait_for_work(self) -> None:
        self._worth_waking = 1
        while not (self._queue or self._closing or self._flush_is_due()):
            due = self._flush_due
            if not self._wake.wait(self._idle_seconds if due is None else due - time.monotonic()) and due is None:
                return
        expected = len(set(self._recent_callers))
        if 0 < len(self._queue) < expected:
            self._linger(expected)

    def _linger(self, expected: int) -> None:
        """Several callers were here a moment ago: a commit for all of them is worth as much patience as it takes.

        Under load they have not even been able to ask yet; without this, each of fifty stores would commit one by one.
        """
        self._worth_waking = expected
        deadline = time.monotonic() + min(self._last_seconds, MAX_LINGER_SECONDS)
        while len(self._queue) < expected and not self._closing:
            left = deadline - time.monotonic()
            if left <= 0 or not self._wake.wait(left):
                return

    def _flush_is_due(self) -> bool:
        return self._flush_due is not None and (self._closing or time.monotonic() >= self._flush_due)

    def _settle(self, batch: list[_Job[TxT]]) -> None:
        if batch[0].is_apart:
            self._run_apart(batch[0])
        else:
            self._run_together(batch)
        # What reading leaves behind changes nothing that anybody waits for.
        if self._committed is not None and any(job.work is not self._flush for job in batch):
            self._committed()
        for job in batch:
            job.settled.release()

    def _run_together(self, batch: list[_Job[TxT]]) -> None:
        """Run a batch in one transaction, with those who came while it waited for other processes to let it begin.

        After `MOST_HOLD_SECONDS` the others get their turn: what is left of the batch goes back into the queue.
        """

        def operate(transaction: TxT) -> None:
            # How long a commit takes tells how long to linger for the next one; waiting to begin is no part of it.
            self._begun_at = time.monotonic()
            self._take_more(batch)
            if len(batch) == 1:
                batch[0].result = batch[0].error = None
                batch[0].result = batch[0].work(transaction)
                return
            for done, job in enumerate(batch, start=1):
                self._operate(transaction, job)
                if done < len(batch) and time.monotonic() >= self._begun_at + MOST_HOLD_SECONDS:
                    self._put_back(batch, done)
                    return

        try:
            self._transact(operate)
        except BatchLost as error:
            if len(batch) == 1:
                batch[0].error = self._fault(_cause_of(error))
                return
            # One of them did not fit, or was interrupted; alone, each gets the outcome it deserves.
            for job in batch:
                self._run_alone(job)
        except Exception as error:  # noqa: BLE001 - told to the callers; this thread must go on
            # A failed BEGIN or COMMIT is everybody's outcome: nothing of the batch is known to be stored.
            for job in batch:
                job.error = self._fault(error)

    def _take_more(self, batch: list[_Job[TxT]]) -> None:
        if not self._queue:
            return
        with self._wake:
            while self._queue and not self._queue[0].is_apart and len(batch) < MAX_BATCH:
                batch.append(self._queue.popleft())

    def _put_back(self, batch: list[_Job[TxT]], done: int) -> None:
        with self._wake:
            self._queue.extendleft(reversed(batch[done:]))
        del batch[done:]

    def _operate(self, transaction: TxT, job: _Job[TxT]) -> None:
        job.result = job.error = None
        transaction.begin()
        try:
            job.result = job.work(transaction)
        except BatchLost:
            raise
        except Exception as error:  # noqa: BLE001 - told to the caller
            transaction.undo(error)
            job.error = self._fault(error)
        else:
            transaction.keep()

    def _run_alone(self, job: _Job[TxT]) -> None:
        def operate(transaction: TxT) -> None:
            job.result = job.work(transaction)

        job.result = job.error = None
        try:
            self._transact(operate)
        except Exception as error:  # noqa: BLE001 - told to the caller; this thread must go on
            job.error = self._fault(_cause_of(error))

    def _run_apart(self, job: _Job[TxT]) -> None:
        try:
            job.result = job.work(None)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - told to the caller; this thread must go on
            job.error = self._fault(_cause_of(error))


def _cause_of(error: Exception) -> Exception:
    cause = error.__cause__ if isinstance(error, BatchLost) else None
    return cause if isinstance(cause, Exception) else error
