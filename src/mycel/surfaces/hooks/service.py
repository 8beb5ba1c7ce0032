"""The service that a hook talks to, and as whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, cast

from mycel.surfaces.hooks.clock import Deadline
from mycel.surfaces.hooks.environment import HookSettings
from mycel.surfaces.hooks.faults import Unreachable
from mycel.surfaces.hooks.sender import Line, Reply, read_address

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
