"""What says who sends a request: a bearer token, a cookie, the operator's file."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import Scope

from mycel.access.token_secret import is_secret
from mycel.domain.team import OPERATOR
from mycel.durable_file import replace_file
from mycel.embedded.workspace import Workspace
from mycel.errors import AccessDenied, InvalidInput, StorageFull, Unauthenticated
from mycel.surfaces.http.log import log_event
from mycel.surfaces.http.rate_limit import Allowance
from mycel.wire.daemon_file import OPERATOR_TOKEN, OWNER_ONLY, read_operator_token

# Nobody mistypes a link; the right ones are answered however many wrong ones come.
WRONG_AT_ONCE = 20.0
WRONG_PER_SECOND = 1.0


def wrong_codes() -> Allowance:
    return Allowance(WRONG_PER_SECOND, at_once=WRONG_AT_ONCE)


LABEL = "the file operator.token"


def keep_operator_token(workspace: Workspace, data: Path) -> None:
    """Makes one where there is none, or none that works any more; on a full disk, the next start does."""
    file = data / OPERATOR_TOKEN
    if _works(workspace, read_operator_token(data)):
        file.chmod(OWNER_ONLY)
        return
    try:
        replace_file(file, workspace.issue_token(OPERATOR, label=LABEL).encode("ascii") + b"\n", mode=OWNER_ONLY)
    except (StorageFull, OSError):
        log_event("no_operator_token", f"{OPERATOR_TOKEN} cannot be written: make room", level=logging.ERROR)


def _works(workspace: Workspace, secret: str | None) -> bool:
    try:
        return secret is not None and workspace.with_token(secret).member_id == OPERATOR
    except AccessDenied:
        return False


COOKIE = "mycel_token"
AS_MEMBER = "mycel-as"
IN_TEAM = "mycel-team"
# Python clients send it, so that a slip of the pen is refused. Hooks and MCP may come before their agent is added.
KNOWN_ONLY = "mycel-known-only"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# What a browser says of requests by our own pages, and by whoever typed the address.
_OWN_PAGES = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Credentials:
    secret: str = field(repr=False)
    member: str | None = None
    team: str | None = None
    by_cookie: bool = False
    known_only: bool = False


def credentials_of(scope: Scope) -> Credentials:
    """`Unauthenticated` without any, or with two that may differ in what some proxy made of them."""
    secret = _bearer(scope)
    by_cookie = secret is None
    if by_cookie:
        secret = cookie_of(scope)
    if secret is None:
        raise Unauthenticated("send the header Authorization: Bearer TOKEN")
    if by_cookie:
        require_own_page(scope)
    known_only = _single(scope, KNOWN_ONLY) is not None
    return Credentials(secret, _single(scope, AS_MEMBER), _single(scope, IN_TEAM), by_cookie, known_only)


def cookie_of(scope: Scope) -> str | None:
    """Return the secret in the cookie of this service; raise `Unauthenticated` where two could be it."""
    found = cookies_of(scope)
    if len(found) > 1:
        raise Unauthenticated(f"two cookies named {COOKIE} came along: sign out, and in again")
    return next(iter(found), None)


def cookies_of(scope: Scope) -> set[str]:
    """Return what can be a secret of ours: cookies of other paths and ports of this host come along, too."""
    found: set[str] = set()
    for text in _values(scope, b"cookie"):
        for part in text.split(";"):
            name, _, value = part.strip().partition("=")
            if name == COOKIE and value.strip('"'):
                found.add(value.strip('"'))
    # What another program keeps under this name locks nobody out.
    return {value for value in found if is_secret(value)} or found


def require_own_page(scope: Scope) -> None:
    """A cookie comes along whoever asks, so a page of ours must. Origins that are named were judged before."""
    if _values(scope, b"origin"):
        return
    if scope["type"] == "websocket" or scope["method"] not in _SAFE:
        raise Unauthenticated("a request with a cookie must name its origin")
    if any(value not in _OWN_PAGES for value in _values(scope, b"sec-fetch-site")):
        raise Unauthenticated("a cookie counts only for pages of this service")


def address_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _bearer(scope: Scope) -> str | None:
    given = _values(scope, b"authorization")
    if len(given) > 1:
        raise Unauthenticated("send the header Authorization once")
    scheme, _, secret = (given or [""])[0].partition(" ")
    return secret.strip() or None if scheme.lower() == "bearer" else None


def _single(scope: Scope, name: str) -> str | None:
    given = _values(scope, name.encode())
    if len(given) > 1:
        raise InvalidInput("is given more than once", field=name)
    return given[0] if given else None


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for given, value in scope["headers"] if given == name]
