"""Sends what an exchange asks for, waiting in the thread or in the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit
from weakref import WeakSet

import httpx2

from mycel.client.exchanges import Exchange, Failed, Pause, Received, Sent, carry_out, error_in
from mycel.errors import CLOSED, Misconfigured, Unavailable

# An archive is made, or checked, before its first byte comes back; long work ends with its caller.
LONG = httpx2.Timeout(3600.0, connect=5.0)
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)
# The service shows a sign of life every fifteen seconds.
LIVE = httpx2.Timeout(45.0, connect=5.0)
# However many changes are followed, they do not keep other requests waiting.
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
_ENDED = Failed("the service ended the stream")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class Place(Protocol):
    """Where a service is, and the secret by which it proves that it is the one."""

    @property
    def url(self) -> str: ...
    @property
    def secret(self) -> str | None: ...


class Sender:
    """In the caller's thread. Threads may share one. With a `secret`, only to who proves to be the service of it.

    `locate` finds a service that was started again, and has another address since.
    """

    def __init__(
        self,
        url: str,
        *,
        secret: str | None = None,
        transport: httpx2.BaseTransport | None = None,
        locate: Callable[[], Place | None] | None = None,
    ) -> None:
        self.client = _client(url, secret, transport)
        self._locate = locate
        self._locating = threading.Lock()
        self._lines: WeakSet[Line] = WeakSet()
        self._closed = False

    def require_open(self) -> None:
        if self._closed:
            raise Unavailable(CLOSED)

    def send(self, exchange: Exchange) -> Any:
        return carry_out(exchange, self.once)

    @contextmanager
    def fetch(
        self, path: str, query: Mapping[str, bool], headers: Mapping[str, str]
    ) -> Generator[tuple[Mapping[str, str], Iterator[bytes]]]:
        """What is too large to be held: its headers, and its parts as they come."""
        self.require_open()
        try:
            with self.client.stream("GET", _with_query(path, query), headers=dict(headers), timeout=LONG) as came:
                _raise_for(came, came.read() if came.status_code >= HTTPStatus.BAD_REQUEST else b"")
                yield came.headers, came.iter_raw()
        except httpx2.TransportError as error:
            raise Unavailable(_failed(error).reason) from None

    def submit(self, path: str, query: Mapping[str, bool], headers: Mapping[str, str], parts: Iterator[bytes]) -> bytes:
        self.require_open()
        try:
            came = self.client.post(_with_query(path, query), headers=dict(headers), content=parts, timeout=LONG)
        except httpx2.TransportError as error:
            raise Unavailable(_failed(error).reason) from None
        _raise_for(came, came.content)
        return came.content

    def line(self) -> Line:
        line = Line(self)
        self._lines.add(line)
        return line

    def close(self) -> None:
        """Whoever waits for the next change of a team learns of it now."""
        self._closed = True
        for line in list(self._lines):
            line.cut()
        self.client.close()

    def once(self, wanted: Sent) -> Received | Failed:
        self.require_open()
        client = self.client
        try:
            came = client.send(_request(client, wanted))
        except httpx2.TransportError as error:
            self.require_open()
            return self.failed(client, error)
        return Received(came.status_code, came.headers, came.content)

    def failed(self, client: httpx2.Client, error: httpx2.TransportError) -> Failed:
        """Whoever tries again reaches the service where it is by then."""
        if self._locate is not None and isinstance(error, httpx2.ConnectError):
            with self._locating:
                found = self._locate() if client is self.client and not self._closed else None
                if found is not None:
                    self.client = _client(found.url, found.secret, None)
                    client.close()
        return _failed(error)


def _client(url: str, secret: str | None, transport: httpx2.BaseTransport | None) -> httpx2.Client:
    if secret is not None:
        from mycel.client.proved import ProvedTransport

        transport = ProvedTransport(secret, host=urlsplit(url).netloc, limits=_LIMITS)
    return httpx2.Client(
        base_url=_checked(url), timeout=TIMEOUT, limits=_LIMITS, transport=transport, trust_env=not _is_here(url)
    )


class Line:
    """A connection whose answer is read as it comes; opening it again closes it first."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._came: httpx2.Response | None = None
        self._parts: Iterator[bytes] = iter(())

    def open(self, wanted: Sent) -> Received | Failed:
        self.close()
        self._sender.require_open()
        client = self._sender.client
        try:
            came = self._came = client.send(_request(client, wanted, timeout=LIVE), stream=True)
            body = came.read() if came.is_error else b""
        except httpx2.TransportError as error:
            return self._sender.failed(client, error)
        if not came.is_error:
            self._parts = came.iter_raw()
        return Received(came.status_code, came.headers, body)

    def read(self) -> Received | Failed:
        try:
            part = next(self._parts, None)
        except (httpx2.TransportError, httpx2.StreamError) as error:
            self._sender.require_open()
            return _failed(error)
        if part is None:
            self._sender.require_open()
        return _ENDED if part is None else Received(HTTPStatus.OK, {}, part)

    def close(self) -> None:
        if self._came is not None:
            self._came.close()

    def cut(self) -> None:
        """For another thread than the one that reads: closing a socket does not wake whoever waits for it."""
        stream = None if self._came is None else self._came.extensions.get("network_stream")
        opened = None if stream is None else stream.get_extra_info("socket")
        if opened is not None:
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)


class AsyncSender:
    def __init__(
        self, url: str, *, secret: str | None = None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        if secret is not None:
            from mycel.client.proved import AsyncProvedTransport

            transport = AsyncProvedTransport(secret, host=urlsplit(url).netloc, limits=_LIMITS)
        self._client = httpx2.AsyncClient(
            base_url=_checked(url), timeout=TIMEOUT, limits=_LIMITS, transport=transport, trust_env=not _is_here(url)
        )

    def require_open(self) -> None:
        if self._client.is_closed:
            raise Unavailable(CLOSED)

    async def send(self, exchange: Exchange) -> Any:
        answer: Received | Failed | None = None
        try:
            while True:
                wanted = exchange.send(answer)
                if isinstance(wanted, Pause):
                    answer = await asyncio.sleep(wanted.seconds)
                else:
                    answer = await self.once(wanted)
        except StopIteration as end:
            return end.value

    def line(self) -> AsyncLine:
        return AsyncLine(self, self._client)

    async def close(self) -> None:
        await self._client.aclose()

    async def once(self, wanted: Sent) -> Received | Failed:
        self.require_open()
        try:
            came = await self._client.send(_request(self._client, wanted))
        except httpx2.TransportError as error:
            self.require_open()
            return _failed(error)
        return Received(came.status_code, came.headers, came.content)


class AsyncLine:
    def __init__(self, sender: AsyncSender, client: httpx2.AsyncClient) -> None:
        self._sender = sender
        self._client = client
        self._came: httpx2.Response | None = None
        self._parts: AsyncIterator[bytes] | None = None

    async def open(self, wanted: Sent) -> Received | Failed:
        await self.aclose()
        self._sender.require_open()
        try:
            came = self._came = await self._client.send(_request(self._client, wanted, timeout=LIVE), stream=True)
            body = await came.aread() if came.is_error else b""
        except httpx2.TransportError as error:
            return _failed(error)
        self._parts = None if came.is_error else came.aiter_raw()
        return Received(came.status_code, came.headers, body)

    async def read(self) -> Received | Failed:
        if self._parts is None:
            return _ENDED
        try:
            part = await anext(self._parts, None)
        except (httpx2.TransportError, httpx2.StreamError) as error:
            self._sender.require_open()
            return _failed(error)
        return _ENDED if part is None else Received(HTTPStatus.OK, {}, part)

    async def aclose(self) -> None:
        if self._came is not None:
            await self._came.aclose()


def _with_query(path: str, query: Mapping[str, bool]) -> str:
    return f"{path}?{urlencode({name: str(value).lower() for name, value in query.items()})}"


def _raise_for(came: httpx2.Response, body: bytes) -> None:
    error = error_in(Received(came.status_code, came.headers, body))
    if error is not None:
        raise error


def _checked(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = None
    if parsed is None or parsed.scheme not in {"http", "https"} or not parsed.host:
        raise Misconfigured("the address of the service must look like http://127.0.0.1:7077")
    return url.rstrip("/")


def _is_here(url: str) -> bool:
    """Whatever the environment says of proxies, none of them leads to a service on this machine."""
    return httpx2.URL(url).host in _HERE


def _request(
    client: httpx2.Client | httpx2.AsyncClient, wanted: Sent, *, timeout: httpx2.Timeout | None = None
) -> httpx2.Request:
    timeout = timeout or (LONG if wanted.takes_long else TIMEOUT)
    return client.build_request(
        wanted.method, wanted.target, content=wanted.body, headers=wanted.headers, timeout=timeout
    )


def _failed(error: httpx2.TransportError | httpx2.StreamError) -> Failed:
    return Failed(f"the service cannot be reached: {error or type(error).__name__}")
