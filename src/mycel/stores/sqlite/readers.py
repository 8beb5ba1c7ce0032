"""A few reading connections shared by any number of threads; WAL lets them read beside the writer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import apsw

from mycel.errors import CLOSED, Unavailable
from mycel.stores.sqlite.faults import translate

ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")

WAIT_SECONDS = 30.0


class ReaderPool:
    """Opens connections as they are needed, up to a limit; callers beyond it wait their turn."""

    def __init__(self, connect: Callable[[], apsw.Connection], *, limit: int) -> None:
        self._connect = connect
        self._limit = limit
        self._opened = 0
        self._waiting = 0
        self._idle: deque[apsw.Connection] = deque()
        self._returned = threading.Condition(threading.Lock())
        self._closed = False

    def run(
        self,
        query: Callable[Concatenate[apsw.Connection, ParamsT], ResultT],
        *args: ParamsT.args,
        **kwargs: ParamsT.kwargs,
    ) -> ResultT:
        """Runs a query of one statement, which therefore sees one moment."""
        try:
            # A deque's pop and append are atomic: the usual case takes no lock.
            connection = self._idle.pop()
        except IndexError:
            connection = self._open_or_wait()
        try:
            return query(connection, *args, **kwargs)
        except apsw.Error as error:
            raise translate(error) from error
        finally:
            self._idle.append(connection)
            # A waiter counts itself before it looks, so either it sees this connection or this sees the waiter.
            if self._waiting or self._closed:
                self._after_return()

    def close(self) -> None:
        with self._returned:
            self._closed = True
            self._returned.notify_all()
        while True:
            # The last connection to close checkpoints; on a full disk that fails, and the WAL keeps what it holds.
            with contextlib.suppress(apsw.Error):
                try:
                    self._idle.pop().close()
                except IndexError:
                    break

    def _open_or_wait(self) -> apsw.Connection:
        with self._returned:
            self._require_open()
            if self._opened < self._limit:
                self._opened += 1
            else:
                return self._wait()
        try:
            return self._connect()
        except apsw.Error as error:
            self._opened -= 1
            raise translate(error) from error

    def _wait(self) -> apsw.Connection:
        deadline = time.monotonic() + WAIT_SECONDS
        self._waiting += 1
        try:
            while True:
                try:
                    return self._idle.pop()
                except IndexError:
                    self._require_open()
                    if not self._returned.wait(deadline - time.monotonic()):
                        raise Unavailable("too many readers are waiting; retry", retry_after=1.0) from None
        finally:
            self._waiting -= 1

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable(CLOSED)

    def _after_return(self) -> None:
        if self._closed:
            self.close()
        with self._returned:
            self._returned.notify()
