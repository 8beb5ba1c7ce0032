"""The service that a hook talks to and as whom, over one connection."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.surfaces.hooks.clock import Deadline, TimeUp, Unreachable
from mycel.surfaces.hooks.environment import HookSettings
from mycel.wire import http1
from mycel.wire.http1 import Address, read_address

_MOST_OF_BODY = 4 * 1024 * 1024


class Reply(NamedTuple):
    status: int
    body: bytes


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

    def open(self) -> None:
        """For whoever wants to know beforehand whether the service is there."""
        try:
            self._connected()
        except TimeoutError:
            raise TimeUp from None
        except (OSError, ValueError) as error:
            raise Unreachable(type(error).__name__) from None

    def ask(self, method: str, path: str, *, body: bytes = b"", headers: dict[str, str] | None = None) -> Reply:
        try:
            asked = http1.request(method, path, self._address, headers or {}, body)
            line = self._connected()
            line.settimeout(self._deadline.seconds())
            line.sendall(asked)
            answer = http1.Answer(self._received)
            reply = Reply(answer.status, answer.read(most=_MOST_OF_BODY))
        except TimeoutError:
            self.close()
            raise TimeUp from None
        except (OSError, ValueError) as error:
            self.close()
            raise Unreachable(type(error).__name__) from None
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return reply

    def close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        made = http1.connect(self._address, seconds=self._deadline.seconds())
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

    def _received(self) -> bytes:
        line = self._connected()
        line.settimeout(self._deadline.seconds())
        return line.recv(http1.RECEIVED_BYTES)


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
        return {"authorization": f"Bearer {secret}", **http1.OWN_NAMING, **acting}


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

    def get(self, path: str) -> Reply:
        return self._line.ask("GET", path, headers=self._headers)

    def close(self) -> None:
        self._line.close()


def find_service(settings: HookSettings, caller: Caller, deadline: Deadline) -> Service | None:
    """None where none runs. A token is shown to nobody before it is clear who answers."""
    if settings.url is not None:
        headers = caller.headers(None)
        return None if headers is None else Service(Line(read_address(settings.url), deadline), headers)
    named = read_named(settings.data)
    headers = None if named is None else caller.headers(named.token)
    if named is None or headers is None:
        return None
    try:
        line = Line(read_address(named.url), deadline, secret=named.secret)
        line.open()
    except (Unreachable, ValueError):
        return None
    return Service(line, headers)


class Named(NamedTuple):
    """The service that a data directory names: perhaps one that has ended, until it proves to know the secret."""

    url: str
    secret: str
    token: str | None


def read_named(data: Path) -> Named | None:
    named = _read_json(data / DAEMON_FILE)
    url, secret = named.get("url"), named.get("secret")
    if not isinstance(url, str) or not isinstance(secret, str) or not secret:
        return None
    return Named(url, secret, _read_token(data))


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
