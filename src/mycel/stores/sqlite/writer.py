"""Group commit: one thread owns the writing connection and makes one fsync serve every waiting caller."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import apsw

from mycel.errors import CLOSED, Unavailable
from mycel.stores.sqlite.connection import empty_wal_at_the_end
from mycel.stores.sqlite.faults import translate


class BatchTransaction(Protocol):
    """What the operations of one batch share."""

    def begin(self) -> None:
        """An operation starts; what it does can be undone until it is kept."""
        ...

    def keep(self) -> None: ...
    def undo(self) -> None: ...
    def finish(self) -> None:
        """Writes what operations left to be written together, right before COMMIT."""
        ...


TxT = TypeVar("TxT", bound=BatchTransaction)
ResultT = TypeVar("ResultT")

# Bounds how long the first caller of a batch waits for the last one's work.
MAX_BATCH = 256
# How many of the last operations tell who is likely to come back.
RECENT = 64
MAX_LINGER_SECONDS = 0.05
FLUSH_SECONDS = 0.5


class FilesMoved(Exception):
    """The files under the connection are no longer those that their names lead to: it must not be used any more."""


class BatchLost(Exception):
    """The whole transaction is gone or cannot be finished, not only the operation that noticed."""


class _Job(Generic[TxT]):
    """One caller's work, and the lock it waits on until its outcome is durable."""

    __slots__ = ("error", "result", "settled", "work")

    def __init__(self, work: Callable[[TxT], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: Exception | None = None
        self.settled = threading.Lock()
        self.settled.acquire()


class Writer(Generic[TxT]):
    """Runs work in transactions. Work may run twice (after a rollback), so it must not act outside."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        *,
        transaction: Callable[[apsw.Connection], TxT],
        flush: Callable[[TxT], None] | None = None,
        committed: Callable[[], None] | None = None,
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
        leave: Callable[[apsw.Connection], None] | None = None,
        fault: Callable[[Exception], Exception] = translate,
        close: Callable[[apsw.Connection], None] = apsw.Connection.close,
    ) -> None:
        """`before` is asked before each batch, and `after` before it is acknowledged: they raise where it must not be.

        `leave` sees a connection whose files have moved for the last time; `fault` makes an error that of the callers.
        """
        self._connect = connect
        self._before = before
        self._after = after
        self._leave = leave or _trust
        self._fault = fault
        self._close = close
        self._transaction = transaction
        self._flush = flush
        self._committed = committed
        self._connection: apsw.Connection | None = None
        self._queue: deque[_Job[TxT]] = deque()
        self._wake = threading.Condition(threading.Lock())
        self._recent_callers: deque[int] = deque(maxlen=RECENT)
        self._worth_waking = 1
        self._last_seconds = 0.0
        self._flush_due: float | None = None
        self._closing = False
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[TxT], ResultT]) -> ResultT:
        """Returns what the work returned, once that is durable; raises what it raised."""
        job: _Job[TxT] = _Job(work)
        self._enqueue(job)
        job.settled.acquire()
        if job.error is not None:
            raise job.error
        return job.result

    def exclusive(self, work: Callable[[apsw.Connection], ResultT]) -> ResultT:
        """Runs work on the bare connection between two batches, outside any transaction."""
        result: list[ResultT] = []
        job: _Job[TxT] = _Job(_Exclusive(lambda connection: result.append(work(connection))))
        self._enqueue(job)
        job.settled.acquire()
        if job.error is not None:
            raise job.error
        return result[0]

    def drop(self) -> None:
        """Leaves the connection; the next batch opens another one."""
        if threading.current_thread() is self._thread or self._thread is None:
            return
        job: _Job[TxT] = _Job(_Drop())
        self._enqueue(job)
        job.settled.acquire()

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
        """Finishes what was queued, flushes, and closes the connection."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _enqueue(self, job: _Job[TxT]) -> None:
        with self._wake:
            self._start()
            self._queue.append(job)
            self._recent_callers.append(threading.get_ident())
            if len(self._queue) >= self._worth_waking:
                self._wake.notify()

    def _start(self) -> None:
        if self._closing:
            raise Unavailable(CLOSED)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="mycel-writer", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while (batch := self._next_batch()) is not None:
            started = time.monotonic()
            self._settle(batch)
            self._last_seconds = time.monotonic() - started
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                empty_wal_at_the_end(self._connection)
                self._close(self._connection)

    def _next_batch(self) -> list[_Job[TxT]] | None:
        with self._wake:
            self._wait_for_work()
            batch: list[_Job[TxT]] = []
            if self._flush is not None and self._flush_is_due():
                self._flush_due = None
                batch.append(_Job(self._flush))
            while self._queue and len(batch) < MAX_BATCH:
                alone = isinstance(self._queue[0].work, _Exclusive | _Drop)
                if alone and batch:
                    break
                batch.append(self._queue.popleft())
                if alone:
                    break
            return batch or None

    def _wait_for_work(self) -> None:
        self._worth_waking = 1
        while not (self._queue or self._closing or self._flush_is_due()):
            self._wake.wait(None if self._flush_due is None else self._flush_due - time.monotonic())
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
        try:
            if isinstance(batch[0].work, _Drop):
                self._drop()
            else:
                self._run(self._guarded(), batch)
        except Exception as error:  # noqa: BLE001 - told to the callers; this thread must go on
            self._fail(batch, error)
            if isinstance(error, FilesMoved):
                self._drop()
        # What reading leaves behind changes nothing that anybody waits for.
        if self._committed is not None and any(job.work is not self._flush for job in batch):
            self._committed()
        for job in batch:
            job.settled.release()

    def _guarded(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        self._before()
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(apsw.Error):
                self._leave(connection)
            with contextlib.suppress(apsw.Error):
                self._close(connection)

    def _commit(self, connection: apsw.Connection) -> None:
        connection.execute("COMMIT")
        self._after()

    def _run(self, connection: apsw.Connection, batch: list[_Job[TxT]]) -> None:
        if len(batch) == 1:
            work = batch[0].work
            if isinstance(work, _Exclusive):
                work(connection)
            else:
                self._alone(connection, batch[0])
            return
        try:
            self._together(connection, batch)
        except BatchLost:
            # One of them did not fit, or was interrupted; alone, each gets the outcome it deserves.
            for job in batch:
                self._alone(connection, job)

    def _fail(self, batch: list[_Job[TxT]], error: Exception) -> None:
        """A failed BEGIN or COMMIT is everybody's outcome: nothing of the batch is known to be stored."""
        for job in batch:
            job.error = self._fault(error)

    def _together(self, connection: apsw.Connection, batch: list[_Job[TxT]]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            transaction = self._transaction(connection)
            for job in batch:
                self._operate(connection, transaction, job)
            transaction.finish()
            self._commit(connection)
        except apsw.FullError as error:
            # A full disk takes the whole transaction, at whatever statement it shows: nothing of it is stored.
            raise BatchLost from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _operate(self, connection: apsw.Connection, transaction: TxT, job: _Job[TxT]) -> None:
        job.result = job.error = None
        transaction.begin()
        try:
            job.result = job.work(transaction)
        except BatchLost:
            raise
        except Exception as error:
            if not connection.in_transaction:
                raise BatchLost from error
            transaction.undo()
            job.error = self._fault(error)
        else:
            transaction.keep()

    def _alone(self, connection: apsw.Connection, job: _Job[TxT]) -> None:
        job.result = job.error = None
        try:
            connection.execute("BEGIN IMMEDIATE")
            transaction = self._transaction(connection)
            job.result = job.work(transaction)
            transaction.finish()
            self._commit(connection)
        except FilesMoved:
            raise
        except Exception as error:  # noqa: BLE001 - told to the caller
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            cause = error.__cause__ if isinstance(error, BatchLost) else None
            job.error = self._fault(cause if isinstance(cause, Exception) else error)


class _Exclusive:
    """Marks work that must not share a transaction."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[[apsw.Connection], None]) -> None:
        self._work = work

    def __call__(self, connection: Any) -> None:
        self._work(connection)


class _Drop:
    """Marks the wish to leave the connection."""

    __slots__ = ()

    def __call__(self, connection: Any) -> None:
        """Nothing is to be done with it."""


def _trust(_connection: apsw.Connection) -> None:
    """For a store that nobody else can reach."""
