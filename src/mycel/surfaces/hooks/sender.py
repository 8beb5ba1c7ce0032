"""As much of HTTP/1.1 as a hook needs, over one connection: the library's client takes longer to load than to use."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import NamedTuple

from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.faults import TimeUp, Unreachable

_MOST_OF_HEAD = 64 * 1024
_MOST_OF_BODY = 4 * 1024 * 1024
_CHUNK = 64 * 1024


class Reply(NamedTuple):
    status: int
    body: bytes


class Address(NamedTuple):
    secure: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def read_address(url: str) -> Address:
    """Of an address such as the settings take; `ValueError` for another."""
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.lower() not in {"http", "https"}:
        raise ValueError("no address of a service")
    secure = scheme.lower() == "https"
    authority, _, path = rest.partition("/")
    host, _, port = authority.rpartition(":") if authority.rpartition(":")[2].isdigit() else (authority, "", "")
    return Address(secure, host.strip("[]"), int(port or (443 if secure else 80)), f"/{path}".rstrip("/"))


class Line:
    """One connection, opened with the first request and again when the other side has closed it in between.

    With a `secret`, whoever answers must prove each time that it knows it, before anything else is sent.
    Everything ends by the deadline: `TimeUp` then, `Unreachable` where there is no answer.
    """

    def __init__(self, address: Address, deadline: Deadline, *, secret: str | None = None) -> None:
        self._address = address
        self._deadline = deadline
        self._secret = secret
        self._socket: socket.socket | None = None
        self._came = b""

    def open(self) -> None:
        """For whoever wants to know beforehand whether the service is there."""
        try:
            self._connected()
        except TimeoutError:
            raise TimeUp from None
        except (OSError, ValueError) as error:
            raise Unreachable(type(error).__name__) from None

    def ask(self, method: str, path: str, *, body: bytes = b"", headers: dict[str, str] | None = None) -> Reply:
        lines = [f"{method} {self._address.path}{path} HTTP/1.1", f"host: {self._address.authority}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if method != "GET":
            lines += ["content-type: application/json", f"content-length: {len(body)}"]
        if any("\r" in line or "\n" in line for line in lines):
            raise Unreachable("a header that would be two")
        head = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
        try:
            line = self._connected()
            line.settimeout(self._deadline.seconds())
            line.sendall(head + body)
            return self._reply(line)
        except TimeoutError:
            self.close()
            raise TimeUp from None
        except (OSError, ValueError) as error:
            self.close()
            raise Unreachable(type(error).__name__) from None

    def close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket, self._came = None, b""

    def _connected(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        address = self._address
        made = socket.create_connection((address.host, address.port), timeout=self._deadline.seconds())
        # Head and body leave together; waiting for more would only take time.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.secure:
            import ssl

            made = ssl.create_default_context().wrap_socket(made, server_hostname=address.host)
        if self._secret is not None:
            self._require_proof(made, self._secret)
        self._socket = made
        return made

    def _require_proof(self, line: socket.socket, secret: str) -> None:
        from mycel.wire.proof import prove

        try:
            told = prove(line, secret, host=self._address.authority, seconds=self._deadline.seconds)
        except BaseException:
            line.close()
            raise
        if told is None:
            line.close()
            raise Unreachable("something else answers at the address of the service")

    def _reply(self, line: socket.socket) -> Reply:
        while b"\r\n\r\n" not in self._came:
            if len(self._came) > _MOST_OF_HEAD:
                raise ValueError("an endless head")
            self._more(line)
        head, _, self._came = self._came.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        named = {name.strip().lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
        status = int(first.split(" ", 2)[1])
        body = self._body(line, status, named)
        if named.get("connection", "").lower() == "close":
            self.close()
        return Reply(status, body)

    def _body(self, line: socket.socket, status: int, named: dict[str, str]) -> bytes:
        if status in {204, 304}:
            return b""
        if named.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks(line)
        return self._take(line, int(named["content-length"])) if "content-length" in named else b""

    def _chunks(self, line: socket.socket) -> bytes:
        found = b""
        while True:
            while b"\r\n" not in self._came:
                self._more(line)
            size, _, self._came = self._came.partition(b"\r\n")
            part = self._take(line, int(size.partition(b";")[0], 16))
            self._take(line, 2)
            if not part:
                return found
            found += part

    def _take(self, line: socket.socket, size: int) -> bytes:
        if size > _MOST_OF_BODY:
            raise ValueError("too large an answer")
        while len(self._came) < size:
            self._more(line)
        found, self._came = self._came[:size], self._came[size:]
        return found

    def _more(self, line: socket.socket) -> None:
        line.settimeout(self._deadline.seconds())
        part = line.recv(_CHUNK)
        if not part:
            raise ValueError("the answer ends too early")
        self._came += part
