"""HTTP and WebSockets over one connection, with a bound on whatever the other side can do before it has shown a token.

uvicorn bounds none of it where `httptools` reads the requests: neither the size of a head nor the time it takes; and it
closes a connection under whoever is still sending a body that was refused.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from mycel.errors import Unavailable
from mycel.surfaces.http.connections import LOOK_SECONDS, Connections
from mycel.surfaces.http.problems import NO_MEMORY, Problem
from mycel.wire.problems import RETRY_AFTER

# Beside the time that every client has, for links that are slow: less than this in a second is no sending.
LEAST_BYTES_PER_SECOND = 1024
# No client of ours sends one before the last is answered; each costs a hundred times its size until its turn comes.
MAX_PIPELINED = 16
# After which somebody who was refused for want of room may try again.
RETRY_SECONDS = 1
# Of answers to pings that nobody reads.
MAX_UNREAD_BYTES = 1024 * 1024


class _Unread:
    """Whether what was written to a connection is read at all."""

    def __init__(self) -> None:
        self._size = 0
        self._since: float | None = None

    def seconds(self, transport: asyncio.Transport, now: float) -> float:
        """For how long nothing of it has been taken."""
        size = transport.get_write_buffer_size()
        if not size or size < self._size or self._since is None:
            self._since = now
        self._size = size
        return now - self._since


class BoundedProtocol(HttpToolsProtocol):
    """HTTP over one connection, with a bound on whatever the other side can do."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = connections
        self._limits = connections.limits
        self._unread = _Unread()
        self._was_known = False
        # Of the head that is coming, or of trailers; and what came since the parser last had something to say.
        self._head_bytes = 0
        self._unparsed_bytes = 0
        self._head_since: float | None = None
        # Of the body that is coming, while it is wanted.
        self._in_message = False
        self._body_bytes = 0
        self._body_seconds = 0.0
        # What comes after an answer that nobody wants to hear more after.
        self._discarded_bytes = 0
        self._discards_since: float | None = None
        self._is_over = False

    @property
    def is_known(self) -> bool:
        if not self._was_known and (request := self._request) is not None:
            self._was_known = "member" in request.scope.get("state", {})
        return self._was_known

    @property
    def is_idle(self) -> bool:
        return self._request is None or self._request.response_complete

    @property
    def _request(self) -> RequestResponseCycle | None:
        return cast("RequestResponseCycle | None", self.cycle)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_since = self.loop.time()
        if not self._bounds.add(self):
            why = "as many connections are open as there may be"
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, why, Unavailable.code)

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounds.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            self._unset_keepalive_if_required()
            self._discard(len(data))
            return
        if self._head_since is None and not self._in_message:
            self._head_since = self.loop.time()
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._unparsed_bytes > self._limits.header_bytes:
            self._refuse_head()

    def handle_websocket_upgrade(self) -> None:
        self._bounds.remove(self)
        self._unparsed_bytes = 0
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        if self._is_over:
            return
        self._head_bytes = self._unparsed_bytes = 0
        if self._head_since is None:
            self._head_since = self.loop.time()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._is_over and self._counts(len(url)):
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_over and self._counts(len(name) + len(value)):
            # Blanks around a value are no part of it, and the parser leaves those at its end.
            super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        if self._is_over:
            return
        self._unparsed_bytes = 0
        self._head_since, self._in_message = None, True
        self._body_bytes, self._body_seconds = 0, 0.0
        self._discarded_bytes, self._discards_since = 0, None
        if len(self.pipeline) >= MAX_PIPELINED:
            self._is_over = True
            self.transport.abort()
            return
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not before:
            self.cycle.transport = _Ending(self, self.cycle)  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        if self._is_over:
            return
        self._unparsed_bytes = 0
        self._body_bytes += len(body)
        if self.cycle.response_complete:
            self._discard(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_over:
            return
        self._unparsed_bytes = 0
        self._in_message, self._discards_since = False, None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._is_over and not self.pipeline:
            self.server_state.total_requests += 1
            return
        if self._in_message:
            self._discards_since = self.loop.time()
        elif self._head_since is not None:
            self._head_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong with the request, or that there was no room to read it."""
        error = sys.exception()
        while error is not None and not isinstance(error, MemoryError):
            error = error.__cause__ or error.__context__
        if error is not None:
            if (request := self._request) is not None:
                # What has come of it makes room for the answer.
                request.body = bytearray()
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, NO_MEMORY, Unavailable.code)
            return
        self._refuse(HTTPStatus.BAD_REQUEST, "this is no valid HTTP request", "bad_request")

    def look(self, now: float) -> None:
        limits = self._limits
        if self._unread.seconds(self.transport, now) >= limits.stall_seconds:
            self.transport.abort()
        elif self._discards_since is not None:
            if now - self._discards_since >= limits.stall_seconds:
                self.transport.abort()
        elif self._head_since is not None and self.is_idle:
            if now - self._head_since >= limits.header_seconds:
                self._give_up("the head of the request took too long")
        elif self._in_message and not self.flow.read_paused:
            self._body_seconds += LOOK_SECONDS
            if self._body_seconds >= limits.stall_seconds + self._body_bytes / LEAST_BYTES_PER_SECOND:
                self._give_up("the body of the request took too long")

    def end(self, cycle: RequestResponseCycle) -> None:
        """After its answer: at once, or when the rest of a body has come that is still being sent.

        Closed before, its sender would find a broken pipe and no answer. A request that failed after a whole answer
        leaves the connection as it is: its client was told nothing else, and may have sent the next one.
        """
        if cycle.response_complete and cycle.keep_alive:
            return
        if self._in_message and cycle is self.cycle:
            self._linger()
        else:
            self.transport.close()

    def _counts(self, size: int) -> bool:
        self._unparsed_bytes = 0
        self._head_bytes += size
        if self._head_bytes <= self._limits.header_bytes:
            return True
        self._refuse_head()
        return False

    def _refuse_head(self) -> None:
        most = self._limits.header_bytes
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        self._refuse(status, f"the head of the request is larger than {most:,} bytes", "head_too_large")

    def _give_up(self, why: str) -> None:
        if self._request is None and not self._head_bytes:
            # It has not even begun.
            self.transport.abort()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, why, "request_timeout")

    def _refuse(self, status: HTTPStatus, why: str, code: str) -> None:
        """A request that came whole before is still answered, and nothing after it."""
        if self._is_over:
            return
        request = None if self.is_idle else self._request
        if request is not None and not self._in_message:
            self._is_over = True
            request.keep_alive = False
            return
        if request is not None and (request.response_started or self.pipeline):
            # There is no place for another answer.
            self._is_over = True
            self.transport.abort()
            return
        if request is not None:
            request.disconnected = True
            request.message_event.set()
        self.transport.write(_answer(status, Problem(status, why, code=code)))
        self._linger()

    def _linger(self) -> None:
        self._is_over = True
        self._discards_since = self.loop.time()
        self._unset_keepalive_if_required()
        # It may have gone meanwhile.
        with suppress(OSError, RuntimeError):
            self.transport.write_eof()
        self.flow.resume_reading()

    def _discard(self, size: int) -> None:
        self._discarded_bytes += size
        if self._discarded_bytes > self._limits.discarded_bytes:
            self._is_over = True
            self.transport.abort()


class _Ending:
    """The transport as one request sees it: closing it is not for the request to decide.

    The head of an answer waits for the first of its body, which mostly comes at once: sending is a tenth of what a
    small answer costs.
    """

    __slots__ = ("_cycle", "_head", "_protocol")

    def __init__(self, protocol: BoundedProtocol, cycle: RequestResponseCycle) -> None:
        self._protocol = protocol
        self._cycle = cycle
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        if self._head is None:
            self._head = data
            self._protocol.loop.call_soon(self._flush)
        elif self._head:
            data, self._head = self._head + data, b""
            self._protocol.transport.write(data)
        else:
            self._protocol.transport.write(data)

    def is_closing(self) -> bool:
        return self._protocol.transport.is_closing()

    def close(self) -> None:
        self._flush()
        self._protocol.end(self._cycle)

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head and not self.is_closing():
            self._protocol.transport.write(head)


class BoundedSocket(WebSocketsSansIOProtocol):
    """A WebSocket; it began as a request, so that its head is bounded."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._bounds = connections
        self._unread = _Unread()

    is_idle = False

    @property
    def is_known(self) -> bool:
        return self.handshake_initiated and "member" in self.scope.get("state", {})

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._bounds.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounds.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.transport.abort()
        else:
            super().data_received(data)

    def look(self, now: float) -> None:
        if self._unread.seconds(self.transport, now) >= self._bounds.limits.stall_seconds:
            self.transport.abort()


def _answer(status: HTTPStatus, problem: Problem) -> bytes:
    retry = f"{RETRY_AFTER}: {RETRY_SECONDS}\r\n" if status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"content-type: {problem.media_type}\r\n"
        f"content-length: {len(problem.body)}\r\n"
        f"{retry}connection: close\r\n\r\n"
    )
    return head.encode("ascii") + bytes(problem.body)
