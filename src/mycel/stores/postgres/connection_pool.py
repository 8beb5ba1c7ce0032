"""Connections to the server: opened when they are needed, lent one at a time, given up when nothing comes back."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Generator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import errors
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import Diagnostic
from psycopg.pq import TransactionStatus
from psycopg.pq.abc import PGconn
from psycopg.waiting import Ready, Wait

from mycel.errors import CLOSED, Misconfigured, Unavailable
from mycel.stores.forks import require_process

MOST_CONNECTIONS = 16
# How long a caller waits for one of them, and for the server to accept a new one.
WAIT_SECONDS = 5.0
CONNECT_SECONDS = 3
# No answer for so long is none: what stands between us and the server may take all in and pass nothing on.
ANSWER_SECONDS = 10.0
IDLE_SECONDS = 60.0

# What the network itself can notice, for an address that says nothing else.
_NETWORK: dict[str, str | int] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": int(ANSWER_SECONDS * 1000),
    "application_name": "mycel",
}
# What the driver asks for one statement: before it is handed over, and before what that left is sent.
_STATEMENT = 2
POOLERS = ("session", "transaction")
# What a server says that was left waiting in a transaction, for longer than it lets anybody.
ENDINGS = (errors.IdleInTransactionSessionTimeout.sqlstate, errors.TransactionTimeout.sqlstate)


class NoConnectionFree(psycopg.OperationalError):
    """All of them are lent, and none came back in time."""


class ServerConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for an answer only so long."""

    answer_seconds: float = ANSWER_SECONDS
    # The server has ended it in the middle of a transaction, which it tells unasked: nothing of that was stored.
    was_ended: bool = False

    def note_end(self, said: Diagnostic) -> None:
        self.was_ended |= said.sqlstate in ENDINGS

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        ends_at = time.monotonic() + self.answer_seconds
        try:
            result = super().wait(gen if self._pipeline is None else _unasked(gen), interval, self.answer_seconds)
            if not self.closed and self.pgconn.flush():
                super().wait(_sending(self.pgconn), interval, self.answer_seconds)
            return result
        except psycopg.OperationalError:
            if time.monotonic() >= ends_at:
                # What is still to come would be taken for the answer to the next question.
                self.pgconn.finish()
            raise


def _unasked(gen: PQGen[RV]) -> PQGen[RV]:
    """The driver asks whether a statement of a pipeline can be sent, and lets other threads go on meanwhile: with every
    statement once more the server would wait for this one, which may hold a team. It nearly always can."""
    try:
        state = next(gen)
        for _ in range(_STATEMENT):
            if state == Wait.RW:
                state = gen.send(Ready.RW)
        while True:
            state = gen.send((yield state))
    except StopIteration as ended:
        return ended.value


def _sending(connection: PGconn) -> PQGen[None]:
    """In a pipeline the driver leaves off with the last statement, however much of a long one is still to be sent: the
    server waits for the rest, and whoever reads the answer for the server. What it says meanwhile is taken in."""
    while connection.flush():
        if (yield Wait.RW) & Ready.R:
            connection.consume_input()


class ConnectionPool:
    """Whoever finds none idle opens one itself, and hears at once when the server cannot be reached."""

    def __init__(self, url: str, *, most: int = MOST_CONNECTIONS) -> None:
        """An address that says `pooler=transaction` leads to a pooler which gives every transaction another session."""
        address = read_address(url)
        self.conninfo = address.conninfo
        self._prepares = address.pooler != "transaction"
        self._free = threading.Semaphore(most)
        self._idle: deque[tuple[float, ServerConnection]] = deque()
        self._closed = False
        self._process = os.getpid()

    @contextlib.contextmanager
    def lend(self, *, answer_seconds: float | None = None) -> Generator[ServerConnection]:
        require_process(self._process)
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise NoConnectionFree
        try:
            raw = self._take()
            raw.answer_seconds = answer_seconds or ANSWER_SECONDS
            try:
                yield raw
            finally:
                self._put_back(raw)
        finally:
            self._free.release()

    def leave_idle(self) -> None:
        """After one was found dead: most likely they all are."""
        while (raw := self._pop()) is not None:
            raw.close()

    def stop_preparing(self) -> None:
        """Statements prepared in one session were looked for in another: there is a pooler that nobody told us of."""
        self._prepares = False
        self.leave_idle()

    def close(self) -> None:
        self._closed = True
        self.leave_idle()

    def _take(self) -> ServerConnection:
        if self._closed:
            raise Unavailable(CLOSED)
        return self._pop() or self._connect()

    def _connect(self) -> ServerConnection:
        raw = ServerConnection.connect(self.conninfo, autocommit=True)
        raw.add_notice_handler(raw.note_end)
        if not self._prepares:
            raw.prepare_threshold = None
        return raw

    def _pop(self) -> ServerConnection | None:
        try:
            return self._idle.pop()[1]
        except IndexError:
            return None

    def _put_back(self, raw: ServerConnection) -> None:
        prepares = raw.prepare_threshold is not None
        if raw.closed or raw.info.transaction_status is not TransactionStatus.IDLE or prepares != self._prepares:
            raw.close()
        else:
            self._idle.append((time.monotonic(), raw))
        if self._closed:
            self.leave_idle()
        self._close_oldest()

    def _close_oldest(self) -> None:
        with contextlib.suppress(IndexError):
            if self._idle[0][0] < time.monotonic() - IDLE_SECONDS:
                self._idle.popleft()[1].close()


class Address(NamedTuple):
    """As the driver takes it, and the mode of the pooler that it leads to."""

    conninfo: str
    pooler: str


def read_address(url: str) -> Address:
    plain, pooler = _without_pooler(url)
    try:
        said = conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        # What the driver says of it quotes the address, password and all.
        raise Misconfigured(
            "the address of the database cannot be read: write what is special in a name or a password as %XX"
        ) from None
    missing = {name: value for name, value in _NETWORK.items() if name not in said}
    return Address(make_conninfo(plain, **missing), pooler)


def _without_pooler(url: str) -> tuple[str, str]:
    """The address as the driver knows it, and the mode of the pooler that it names."""
    if "pooler=" not in url:
        return url, "session"
    parts = urlsplit(url)
    given = parse_qsl(parts.query)
    pooler = dict(given).get("pooler", "session")
    if pooler not in POOLERS:
        raise Misconfigured(f"pooler in the address of the database: must be one of {', '.join(POOLERS)}")
    query = urlencode([(name, value) for name, value in given if name != "pooler"])
    return urlunsplit(parts._replace(query=query)), pooler
