"""Who comes with a request: by bearer token, or in a browser by cookie; how often, and on whose behalf."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.types import Scope

from mycel.embedded.workspace import Visit, Workspace
from mycel.errors import AccessDenied, LimitExceeded, Unauthenticated
from mycel.surfaces.http.threads import Threads

COOKIE = "mycel_token"
AS_MEMBER = b"mycel-as"
IN_TEAM = b"mycel-team"
MAX_VISITORS = 4096
# Asked again after this time, so that a revoked token stops working within a second.
FRESH_SECONDS = 0.4
# How much of a second's allowance may be used at once.
BURST_SECONDS = 2.0
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Visitor:
    """A caller that was here before: what it may do, and how many requests it has left."""

    visit: Visit
    checked_at: float
    allowance: float
    counted_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Credentials:
    secret: str
    member: str | None = None
    team: str | None = None
    by_cookie: bool = False


class Visitors:
    def __init__(self, workspace: Workspace, threads: Threads, *, requests_per_second: float) -> None:
        self._workspace = workspace
        self._threads = threads
        self._rate = requests_per_second
        self._known: OrderedDict[Credentials, Visitor] = OrderedDict()

    async def admit(self, scope: Scope) -> Visit:
        """`Unauthenticated` without a working token; `LimitExceeded` when it has asked too often."""
        given = credentials_of(scope)
        if given is None:
            raise Unauthenticated("send the header Authorization: Bearer TOKEN")
        if given.by_cookie and scope["type"] == "http" and scope["method"] not in _SAFE and not _has_origin(scope):
            # The cookie is same-site, and every browser names the origin of what changes something.
            raise Unauthenticated("a request with a cookie must name its origin")
        visitor = self._known.get(given)
        now = time.monotonic()
        if visitor is None or now >= visitor.checked_at + FRESH_SECONDS:
            visitor = await self._look_up(given, visitor)
        self._count(visitor, now)
        return visitor.visit

    async def _look_up(self, given: Credentials, known: Visitor | None) -> Visitor:
        try:
            if known is not None:
                await self._threads.run(known.visit.caller)
                known.checked_at = time.monotonic()
                self._known[given] = known
                self._known.move_to_end(given)
                return known
            visit = await self._threads.run(
                lambda: self._workspace.sign_in(given.secret, member=given.member, team=given.team)
            )
        except AccessDenied as error:
            self._known.pop(given, None)
            if given.member is None and given.team is None:
                raise Unauthenticated(str(error)) from None
            raise
        found = Visitor(visit, time.monotonic(), self._rate * BURST_SECONDS)
        self._known[given] = found
        if len(self._known) > MAX_VISITORS:
            self._known.popitem(last=False)
        return found

    def _count(self, visitor: Visitor, now: float) -> None:
        since = now - visitor.counted_at
        visitor.counted_at = now
        visitor.allowance = min(self._rate * BURST_SECONDS, visitor.allowance + since * self._rate)
        if visitor.allowance < 1:
            wait = (1 - visitor.allowance) / self._rate
            raise LimitExceeded("this token asks more often than the service allows; wait", retry_after=wait)
        visitor.allowance -= 1


def credentials_of(scope: Scope) -> Credentials | None:
    secret: str | None = None
    cookies = ""
    named: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            secret = token.strip() if scheme.lower() == "bearer" and token.strip() else secret
        elif name == b"cookie":
            cookies = f"{cookies}; {value.decode('latin-1')}"
        elif name in {AS_MEMBER, IN_TEAM}:
            named[name] = value.decode("latin-1")
    by_cookie = secret is None
    if by_cookie:
        secret = _cookie(cookies) if cookies else None
    if not secret:
        return None
    return Credentials(secret, named.get(AS_MEMBER), named.get(IN_TEAM), by_cookie)


def _cookie(text: str) -> str | None:
    try:
        found = SimpleCookie(text.lstrip("; ")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _has_origin(scope: Scope) -> bool:
    """Whether it names one; which one it may be is checked for every request."""
    return any(name == b"origin" for name, _ in scope["headers"])
