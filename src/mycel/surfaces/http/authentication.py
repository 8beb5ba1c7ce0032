"""Who comes with a request, how often, and on whose behalf."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from starlette.types import Scope

from mycel.access.token_secret import is_secret
from mycel.domain.ids import MemberId, new_id
from mycel.embedded.workspace import Visit, Workspace
from mycel.errors import AccessDenied, InvalidInput, LimitExceeded, MycelError, NotFound, Unauthenticated
from mycel.services.callers import NOT_ADMITTED, known
from mycel.surfaces.http.credentials import address_of, credentials_of
from mycel.surfaces.http.rate_limit import SHARE_SECONDS, Allowance, Members, Strangers
from mycel.surfaces.http.threads import Threads

MAX_VISITORS = 4096
# Asked again after this time, so that a revoked token stops working within a second.
FRESH_SECONDS = 0.4


@dataclass(slots=True)
class Bearer:
    """Whoever a token belongs to, and how often that member may still ask, by all its tokens together."""

    visit: Visit
    allowance: Allowance


class _Acting(NamedTuple):
    """As whom, or where, a token of the operator acts."""

    digest: bytes
    member: str | None
    team: str | None
    known_only: bool = False


class Visitors:
    """Secrets are kept by their hashes: no two are compared letter by letter, and none stands in this memory."""

    def __init__(
        self, workspace: Workspace, threads: Threads, *, requests_per_second: float, is_one_of_many: bool = False
    ) -> None:
        self._workspace = workspace
        self._threads = threads
        self._strangers = Strangers()
        self._bearers: OrderedDict[bytes, Bearer] = OrderedDict()
        self._members = Members(requests_per_second)
        self._acting: OrderedDict[_Acting, Visit] = OrderedDict()
        self._node = new_id() if is_one_of_many else None
        self._sharing: asyncio.Task[None] | None = None

    async def admit(self, scope: Scope, *, chosen_team: str | None = None) -> Visit:
        """`Unauthenticated` without a working token; `LimitExceeded` when it has asked too often.

        `chosen_team` is where a browser's operator wants to be. It is forgotten where it does not hold any more.
        """
        given = credentials_of(scope)
        digest = _digest(given.secret)
        bearer = await self._bearer(given.secret, digest, address_of(scope))
        if given.member is not None or given.team is not None:
            return await self._act(given.secret, _Acting(digest, given.member, given.team, given.known_only))
        if chosen_team is not None:
            with suppress(AccessDenied, NotFound, InvalidInput):
                return await self._act(given.secret, _Acting(digest, None, chosen_team))
        return bearer.visit

    async def meet(self, secret: str, *, address: str) -> Visit:
        """Whoever has this secret, which came in another way than requests bring one."""
        return (await self._bearer(secret, _digest(secret), address)).visit

    def forget(self, secret: str) -> None:
        """It was revoked here: no need to wait until that is noticed."""
        digest = _digest(secret)
        self._bearers.pop(digest, None)
        for key in [key for key in self._acting if key.digest == digest]:
            del self._acting[key]

    async def _bearer(self, secret: str, digest: bytes, address: str) -> Bearer:
        bearer = self._bearers.get(digest)
        if bearer is None:
            bearer = await self._welcome(secret, digest, address)
        if wait := bearer.allowance.take():
            raise LimitExceeded("this member asks more often than the service allows; wait", retry_after=wait)
        if self._node is not None and self._sharing is None and self._members.is_busy(bearer.allowance):
            self._sharing = asyncio.get_running_loop().create_task(self._share(self._node))
        # Whoever asks often was looked up for its last request.
        if known(bearer.visit.caller, seconds=FRESH_SECONDS) is None:
            await self._check(bearer, digest)
        # It may be gone meanwhile.
        with suppress(KeyError):
            self._bearers.move_to_end(digest)
        return bearer

    async def _share(self, node: str) -> None:
        """Beside the requests, for as long as somebody asks much."""

        def tell(counts: Mapping[MemberId, int]) -> Awaitable[Mapping[MemberId, int]]:
            return self._threads.run(lambda: self._workspace.share_requests(node, counts))

        try:
            with suppress(MycelError):
                while await self._members.share(tell):
                    await asyncio.sleep(SHARE_SECONDS)
        finally:
            self._sharing = None

    async def _welcome(self, secret: str, digest: bytes, address: str) -> Bearer:
        if not is_secret(secret):
            raise Unauthenticated(NOT_ADMITTED)
        self._strangers.enter(address)
        visit = await self._threads.run(lambda: self._workspace.sign_in(secret))
        self._strangers.leave_known(address)
        found = Bearer(visit, self._members.allowance(visit.token.member_id))
        # Several first requests of one token share what they may ask.
        found = self._bearers.setdefault(digest, found)
        if len(self._bearers) > MAX_VISITORS:
            self._bearers.popitem(last=False)
        return found

    async def _check(self, bearer: Bearer, digest: bytes) -> None:
        try:
            await self._threads.run(bearer.visit.caller)
        except AccessDenied:
            self._bearers.pop(digest, None)
            raise

    async def _act(self, secret: str, key: _Acting) -> Visit:
        """Each use of a kept visit asks again whether it may."""
        visit = self._acting.get(key)
        if visit is None:
            visit = await self._threads.run(
                lambda: self._workspace.sign_in(secret, member=key.member, team=key.team, known_only=key.known_only)
            )
            self._acting[key] = visit
            if len(self._acting) > MAX_VISITORS:
                self._acting.popitem(last=False)
        return visit


def refusal_of(scope: Scope, error: MycelError) -> MycelError:
    """The error of a caller that was admitted before, as it would be admitted now."""
    given = credentials_of(scope)
    is_itself = given.member is None and given.team is None
    return Unauthenticated(str(error)) if is_itself and isinstance(error, AccessDenied) else error


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
