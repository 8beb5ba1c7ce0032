"""The connection that writes, and the transactions on it: one thread owns it, and one fsync serves a batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

import apsw

from mycel.stores.sql import writer as group_commit
from mycel.stores.sql.damaged_rows import Exclusion
from mycel.stores.sql.writer import BatchLost
from mycel.stores.sqlite.connection import begin_at_once, empty_wal_at_the_end
from mycel.stores.sqlite.faults import translate
from mycel.stores.sqlite.write_queue import WriteQueue


class BatchTransaction(group_commit.BatchTransaction, Protocol):
    def finish(self) -> None:
        """Writes what operations left to be written together, right before COMMIT."""
        ...

    def excluding(self, exclusion: Exclusion) -> AbstractContextManager[None]:
        """Queries within leave these rows out."""
        ...


TxT = TypeVar("TxT", bound=BatchTransaction)
ResultT = TypeVar("ResultT")


class FilesMoved(Exception):
    """The files under the connection are no longer those that their names lead to: it must not be used any more."""


class Writer(Generic[TxT]):
    """See `stores.sql.writer`."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        *,
        transaction: Callable[[apsw.Connection], TxT],
        flush: Callable[[TxT], object] | None = None,
        committed: Callable[[], None] | None = None,
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
        leave: Callable[[apsw.Connection], None] | None = None,
        fault: Callable[[Exception], Exception] = translate,
        close: Callable[[apsw.Connection], None] = lambda connection: connection.close(),
        queue: WriteQueue,
    ) -> None:
        """`before` is asked before each batch, and `after` before it is acknowledged: they raise where it must not be.

        `leave` sees a connection whose files have moved for the last time; `fault` makes an error that of the callers.
        """
        self._connect = connect
        self._before = before
        self._after = after
        self._leave = leave or _trust
        self._close = close
        self._queue = queue
        self._transaction = transaction
        self._connection: apsw.Connection | None = None
        self.batches: group_commit.Writer[TxT] = group_commit.Writer(
            self._transact, fault=fault, flush=flush, committed=committed, ended=self._end
        )
        self.run = self.batches.run
        self.request_flush = self.batches.request_flush
        self.close = self.batches.close

    def exclusive(self, work: Callable[[apsw.Connection], ResultT]) -> ResultT:
        """Runs work on the bare connection between two batches, outside any transaction."""

        def in_turn(connection: apsw.Connection) -> ResultT:
            with self._queue.turn():
                return work(connection)

        return self.batches.run_apart(lambda: self._use(in_turn))

    def drop(self) -> None:
        """Leaves the connection; the next batch opens another one."""
        if self.batches.has_begun and not self.batches.is_at_work_here:
            self.batches.run_apart(self._drop)

    def _transact(self, work: Callable[[TxT], None]) -> None:
        def transact(connection: apsw.Connection) -> None:
            # The usual case costs one look at the queue.
            if not (self._queue.is_empty() and begin_at_once(connection)):
                with self._queue.turn():
                    connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = self._transaction(connection)
                work(transaction)
                transaction.finish()
                connection.execute("COMMIT")
                self._after()
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        try:
            self._use(transact)
        except apsw.FullError as error:
            # A full disk takes the whole transaction, at whatever statement it shows: nothing of it is stored.
            raise BatchLost from error

    def _use(self, work: Callable[[apsw.Connection], ResultT]) -> ResultT:
        try:
            return work(self._guarded())
        except FilesMoved:
            self._drop()
            raise

    def _guarded(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        self._before()
        return self._connection

    def _drop(self) -> None:
        self._queue.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(apsw.Error):
                self._leave(connection)
            with contextlib.suppress(apsw.Error):
                self._close(connection)

    def _end(self) -> None:
        self._queue.close()
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                empty_wal_at_the_end(self._connection)
                self._close(self._connection)


def _trust(_connection: apsw.Connection) -> None:
    """For a store that nobody else can reach."""
