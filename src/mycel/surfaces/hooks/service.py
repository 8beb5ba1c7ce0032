"""The service that a hook talks to and as whom, in as much of HTTP/1.1 as a hook needs."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.environment import HookSettings

# Not by `http.client`, which takes longer to load than to use.
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


# As in `mycel.wire.daemon_file`.
DAEMON_FILE, OPERATOR_TOKEN = "daemon.json", "operator.token"
OPERATOR = "operator"
# Before the member that a write to the service of the data directory comes from.
HERE = "here as "
_MOST_BYTES = 64 * 1024


class Caller(NamedTuple):
    """Whoever a hook acts for: by a token, or as a member by way of the operator of the data directory."""

    token: str | None
    member: str | None

    def headers(self, operator_token: str | None) -> dict[str, str] | None:
        secret = self.token or operator_token
        if secret is None:
            return None
        acting = {} if self.token or self.member in {None, OPERATOR} else {"mycel-as": cast(str, self.member)}
        return {"authorization": f"Bearer {secret}", **acting}


def caller_of(settings: HookSettings, member: str | None) -> Caller:
    return Caller(settings.token, member or settings.agent)


def destination(settings: HookSettings, caller: Caller) -> str:
    """Which service, and as whom, in a form that holds no secret: what queued writes are told apart by."""
    if not caller.token and settings.url is None:
        return HERE + (caller.member or OPERATOR)
    import hashlib

    return f"{settings.url or 'here'} by {hashlib.sha256((caller.token or '').encode()).hexdigest()[:16]}"


class Service:
    """One that has answered, or that the settings name."""

    def __init__(self, line: Line, headers: dict[str, str]) -> None:
        self._line = line
        self._headers = headers

    def post(self, path: str, body: bytes, *, key: str | None = None) -> Reply:
        keyed = {"idempotency-key": key} if key else {}
        return self._line.ask("POST", path, body=body, headers={**self._headers, **keyed})

    def close(self) -> None:
        self._line.close()


def find_service(settings: HookSettings, caller: Caller, deadline: Deadline) -> Service | None:
    """None where none runs. A token is shown to nobody before it is clear who answers."""
    if settings.url is not None:
        headers = caller.headers(None)
        return None if headers is None else Service(Line(read_address(settings.url), deadline), headers)
    named = _read_json(settings.data / DAEMON_FILE)
    url, secret = named.get("url"), named.get("secret")
    headers = caller.headers(_read_token(settings.data))
    if not isinstance(url, str) or not isinstance(secret, str) or not secret or headers is None:
        return None
    try:
        line = Line(read_address(url), deadline, secret=secret)
        line.open()
    except (Unreachable, ValueError):
        return None
    return Service(line, headers)


def _read_token(data: Path) -> str | None:
    try:
        return (data / OPERATOR_TOKEN).read_text("ascii").strip() or None
    except (OSError, ValueError):
        return None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return _parsed(file.read(_MOST_BYTES))
    except OSError:
        return {}


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(raw)
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
