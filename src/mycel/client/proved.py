"""Connections to the service of this machine that have proved whose they are, before anything is sent over them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import httpcore2
import httpx2

from mycel.wire.proof import MAX_ANSWER_BYTES, STRANGER, Proving, proving


class ProvedTransport(httpx2.HTTPTransport):
    def __init__(self, secret: str, *, host: str, limits: httpx2.Limits) -> None:
        super().__init__(limits=limits)
        self._pool.close()
        self._pool = httpcore2.ConnectionPool(network_backend=_Backend(secret, host), **_options(limits))


class AsyncProvedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, secret: str, *, host: str, limits: httpx2.Limits) -> None:
        super().__init__(limits=limits)
        self._pool = httpcore2.AsyncConnectionPool(network_backend=_AsyncBackend(secret, host), **_options(limits))


class _Backend(httpcore2.SyncBackend):
    def __init__(self, secret: str, host: str) -> None:
        self._secret = secret
        self._host = host

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        asking = proving(self._secret, stream.get_extra_info("server_addr")[:2], host=self._host)
        try:
            self._prove(stream, asking, timeout)
        except BaseException:
            stream.close()
            raise
        return stream

    def _prove(self, stream: httpcore2.NetworkStream, asking: Proving, timeout: float | None) -> None:
        wanted = next(asking)
        try:
            while True:
                if wanted:
                    stream.write(wanted, timeout)
                wanted = asking.send(stream.read(MAX_ANSWER_BYTES, timeout))
        except StopIteration as end:
            if end.value is None:
                raise httpcore2.ConnectError(STRANGER) from None


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    def __init__(self, secret: str, host: str) -> None:
        self._plain: httpcore2.AsyncNetworkBackend = cast("Any", httpcore2).AnyIOBackend()
        self._secret = secret
        self._host = host

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._plain.connect_tcp(host, port, timeout, local_address, socket_options)
        asking = proving(self._secret, stream.get_extra_info("server_addr")[:2], host=self._host)
        try:
            await self._prove(stream, asking, timeout)
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)

    async def _prove(self, stream: httpcore2.AsyncNetworkStream, asking: Proving, timeout: float | None) -> None:
        wanted = next(asking)
        try:
            while True:
                if wanted:
                    await stream.write(wanted, timeout)
                wanted = asking.send(await stream.read(MAX_ANSWER_BYTES, timeout))
        except StopIteration as end:
            if end.value is None:
                raise httpcore2.ConnectError(STRANGER) from None


def _options(limits: httpx2.Limits) -> dict[str, Any]:
    return {
        "max_connections": limits.max_connections,
        "max_keepalive_connections": limits.max_keepalive_connections,
        "keepalive_expiry": limits.keepalive_expiry,
    }
