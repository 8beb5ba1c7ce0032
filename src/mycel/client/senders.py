"""Sends what an exchange asks for, waiting in the thread or in the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import httpx2

from mycel.client.exchanges import Exchange, Failed, Pause, Received, Sent, error_in
from mycel.errors import Misconfigured, Unavailable

# An archive is made, or checked, before its first byte comes back.
LONG = httpx2.Timeout(3600.0, connect=5.0)
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)


class Sender:
    """In the caller's thread. Threads may share one."""

    def __init__(self, url: str, *, transport: httpx2.BaseTransport | None = None) -> None:
        self._client = httpx2.Client(base_url=_checked(url), timeout=TIMEOUT, transport=transport)

    def send(self, exchange: Exchange) -> Any:
        answer: Received | Failed | None = None
        try:
            while True:
                wanted = exchange.send(answer)
                answer = time.sleep(wanted.seconds) if isinstance(wanted, Pause) else self._once(wanted)
        except StopIteration as end:
            return end.value

    @contextmanager
    def fetch(
        self, path: str, query: Mapping[str, bool], headers: Mapping[str, str]
    ) -> Generator[tuple[Mapping[str, str], Iterator[bytes]]]:
        """What is too large to be held: its headers, and its parts as they come."""
        try:
            with self._client.stream("GET", _with_query(path, query), headers=dict(headers), timeout=LONG) as came:
                _raise_for(came, came.read() if came.status_code >= HTTPStatus.BAD_REQUEST else b"")
                yield came.headers, came.iter_raw()
        except httpx2.TransportError as error:
            raise Unavailable(_failed(error).reason) from None

    def submit(self, path: str, query: Mapping[str, bool], headers: Mapping[str, str], parts: Iterator[bytes]) -> bytes:
        try:
            came = self._client.post(_with_query(path, query), headers=dict(headers), content=parts, timeout=LONG)
        except httpx2.TransportError as error:
            raise Unavailable(_failed(error).reason) from None
        _raise_for(came, came.content)
        return came.content

    def close(self) -> None:
        self._client.close()

    def _once(self, wanted: Sent) -> Received | Failed:
        try:
            came = self._client.send(_request(self._client, wanted))
        except httpx2.TransportError as error:
            return _failed(error)
        return Received(came.status_code, came.headers, came.content)


class AsyncSender:
    def __init__(self, url: str, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._client = httpx2.AsyncClient(base_url=_checked(url), timeout=TIMEOUT, transport=transport)

    async def send(self, exchange: Exchange) -> Any:
        answer: Received | Failed | None = None
        try:
            while True:
                wanted = exchange.send(answer)
                if isinstance(wanted, Pause):
                    answer = await asyncio.sleep(wanted.seconds)
                else:
                    answer = await self._once(wanted)
        except StopIteration as end:
            return end.value

    async def close(self) -> None:
        await self._client.aclose()

    async def _once(self, wanted: Sent) -> Received | Failed:
        try:
            came = await self._client.send(_request(self._client, wanted))
        except httpx2.TransportError as error:
            return _failed(error)
        return Received(came.status_code, came.headers, came.content)


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


def _request(client: httpx2.Client | httpx2.AsyncClient, wanted: Sent) -> httpx2.Request:
    path = f"{wanted.path}?{urlencode(wanted.query)}" if wanted.query else wanted.path
    return client.build_request(wanted.method, path, content=wanted.body, headers=wanted.headers)


def _failed(error: httpx2.TransportError) -> Failed:
    return Failed(f"the service cannot be reached: {error or type(error).__name__}")
