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
REOPENING = "the store is being opened again; retry"


class ReaderPool:
    """Opens connections as they are needed, up to a limit; callers beyond it wait their turn."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        *,
        limit: int,
        fault: Callable[[Exception], Exception] = translate,
        close: Callable[[apsw.Connection], None] = lambda connection: connection.close(),
    ) -> None:
        """`fault` makes an error that of the callers."""
        self._connect = connect
        self._fault = fault
        self._close = close
        self._renewing = False
        self._limit = limit
        self._opened = 0
        self._waiting = 0
        self._idle: deque[apsw.Connection] = deque()
        self._returned = threading.Condition(threading.Lock())
        self._leave: Callable[[apsw.Connection], None] = close
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
            raise self._fault(error) from error
        finally:
            self._idle.append(connection)
            # A waiter counts itself before it looks, so either it sees this connection or this sees the waiter.
            if self._waiting or self._closed or self._renewing:
                self._after_return()

    def close(self) -> None:
        with self._returned:
            self._closed = True
            self._returned.notify_all()
        while True:
            # The last connection to close checkpoints; on a full disk that fails, and the WAL keeps what it holds.
            with contextlib.suppress(apsw.Error):
                try:
                    self._close(self._idle.pop())
                except IndexError:
                    break

    def renew(self, *, seconds: float, leave: Callable[[apsw.Connection], None]) -> bool:
        """Ends every connection, one under way when its query has; False if some go on for longer.

        `leave` sees each one before it ends.
        """
        with self._returned:
            self._renewing = True
            self._leave = leave
            self._end_idle()
            self._returned.notify_all()
            ended = self._returned.wait_for(lambda: self._opened == 0, timeout=seconds)
            self._renewing = not ended
            return ended

    def _end_idle(self) -> None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return
            self._opened -= 1
            with contextlib.suppress(apsw.Error):
                self._leave(connection)
            with contextlib.suppress(apsw.Error):
                self._close(connection)

    def _open_or_wait(self) -> apsw.Connection:
        with self._returned:
            self._require_usable()
            if self._opened < self._limit:
                self._opened += 1
            else:
                return self._wait()
        try:
            return self._connect()
        except Exception as error:
            with self._returned:
                self._opened -= 1
                self._returned.notify_all()
            raise self._fault(error) from error

    def _wait(self) -> apsw.Connection:
        deadline = time.monotonic() + WAIT_SECONDS
        self._waiting += 1
        try:
            while True:
                try:
                    return self._idle.pop()
                except IndexError:
                    self._require_usable()
                    if not self._returned.wait(deadline - time.monotonic()):
                        raise Unavailable("too many readers are waiting; retry", retry_after=1.0) from None
        finally:
            self._waiting -= 1

    def _require_usable(self) -> None:
        if self._closed:
            raise Unavailable(CLOSED)
        if self._renewing:
            raise Unavailable(REOPENING, retry_after=0.2)

    def _after_return(self) -> None:
        if self._closed:
            self.close()
        with self._returned:
            if self._renewing:
                self._end_idle()
                self._returned.notify_all()
            else:
                self._returned.notify()
