"""As much of HTTP/1.1 as the programs need that an agent starts and waits for.

`http.client` takes longer to load than to use.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

MOST_OF_HEAD = 64 * 1024
RECEIVED_BYTES = 64 * 1024
_HTTPS = 443


class Address(NamedTuple):
    secure: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (_HTTPS if self.secure else 80) else f"{host}:{self.port}"


def read_address(url: str) -> Address:
    """Of an address such as the settings take; `ValueError` for another."""
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.lower() not in {"http", "https"}:
        raise ValueError("no address of a service")
    secure = scheme.lower() == "https"
    authority, _, path = rest.partition("/")
    host, _, port = authority.rpartition(":") if authority.rpartition(":")[2].isdigit() else (authority, "", "")
    return Address(secure, host.strip("[]"), int(port or (_HTTPS if secure else 80)), f"/{path}".rstrip("/"))


def connect(address: Address, *, seconds: float) -> socket.socket:
    made = socket.create_connection((address.host, address.port), timeout=seconds)
    # Head and body leave together; waiting for more would only take time.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if address.secure:
        import ssl

        made = ssl.create_default_context().wrap_socket(made, server_hostname=address.host)
    return made


# Whatever names a service answers in by default, its own clients read these.
OWN_NAMING = {"mycel-naming": "snake"}


def request(method: str, path: str, address: Address, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """What to send; `ValueError` for a header that would be two."""
    lines = [f"{method} {address.path}{path} HTTP/1.1", f"host: {address.authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if method == "POST":
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header that would be two")
    return "\r\n".join((*lines, "", "")).encode("latin-1", "replace") + body


class Answer:
    """Its head is read when it is made, its body by one of the methods below.

    `receive` waits for more, and gives nothing where the other side has ended. `ConnectionError` where the answer
    breaks off, `ValueError` where it is none.
    """

    def __init__(self, receive: Callable[[], bytes]) -> None:
        self._receive = receive
        self._came = b""
        while b"\r\n\r\n" not in self._came:
            if len(self._came) > MOST_OF_HEAD:
                raise ValueError("an endless head")
            self._more()
        head, _, self._came = self._came.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        named = (one.partition(":") for one in rest)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in named}
        self.status = int(first.split(" ", 2)[1])

    def read(self, *, most: int | None = None) -> bytes:
        """`ValueError` for more than `most`."""
        found: list[bytes] = []
        size = 0
        for part in self._parts(most):
            found.append(part)
            size += len(part)
            if most is not None and size > most:
                raise ValueError("too large an answer")
        return b"".join(found)

    def lines(self) -> Iterator[bytes]:
        """Without their ends, as they come; a stream is over when the connection is."""
        rest = b""
        with suppress(ConnectionError):
            for part in self._parts(None):
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    yield line.removesuffix(b"\r")

    def _parts(self, most: int | None) -> Iterator[bytes]:
        if self.status in {204, 304}:
            return
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            yield from self._chunks(most)
        elif "content-length" in self.headers:
            yield self._take(int(self.headers["content-length"]), most)

    def _chunks(self, most: int | None) -> Iterator[bytes]:
        while True:
            while b"\r\n" not in self._came:
                if len(self._came) > MOST_OF_HEAD:
                    raise ValueError("a chunk without its size")
                self._more()
            size, _, self._came = self._came.partition(b"\r\n")
            part = self._take(int(size.partition(b";")[0], 16), most)
            self._take(2, None)
            if not part:
                return
            yield part

    def _take(self, size: int, most: int | None) -> bytes:
        if most is not None and size > most:
            raise ValueError("too large an answer")
        parts, came = [self._came], len(self._came)
        while came < size:
            parts.append(self._received())
            came += len(parts[-1])
        whole = b"".join(parts)
        self._came = whole[size:]
        return whole[:size]

    def _more(self) -> None:
        self._came += self._received()

    def _received(self) -> bytes:
        if not (part := self._receive()):
            raise ConnectionError("the answer ends too early")
        return part
