"""Codes that sign a browser in, once and within minutes. They live in this process alone, by their hashes."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from mycel.domain.ids import MemberId
from mycel.embedded.workspace import Visit
from mycel.errors import LimitExceeded, NotFound
from mycel.surfaces.http.rate_limit import Allowance

LINK_SECONDS = 10 * 60.0
MAX_CODES = 4096
# Whoever asks for more loses its own earlier ones, and nobody else's.
MAX_OF_ONE = 8
# Nobody mistypes a link; the right ones are answered however many wrong ones come.
WRONG_AT_ONCE = 20.0
WRONG_PER_SECOND = 1.0


class Offer(NamedTuple):
    """`visit` is whoever offered it: as long as it may, the code stands for a token of the member's."""

    visit: Visit
    member: MemberId
    offered_by: MemberId
    ends_at: float


class OneTimeCodes:
    """Right, wrong and used codes take the same time: one look for a hash."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._offers: OrderedDict[bytes, Offer] = OrderedDict()
        self._wrong = Allowance(WRONG_PER_SECOND, at_once=WRONG_AT_ONCE)

    def offer(self, visit: Visit, member: MemberId, *, offered_by: MemberId, seconds: float = LINK_SECONDS) -> str:
        now = self._clock()
        self._drop([digest for digest, offer in self._offers.items() if offer.ends_at <= now])
        own = [digest for digest, offer in self._offers.items() if offer.offered_by == offered_by]
        self._drop(own[: max(0, len(own) - MAX_OF_ONE + 1)])
        code = secrets.token_urlsafe(32)
        self._offers[_digest(code)] = Offer(visit, member, offered_by, now + seconds)
        if len(self._offers) > MAX_CODES:
            self._offers.popitem(last=False)
        return code

    def redeem(self, code: str) -> tuple[Visit, MemberId]:
        """It never works again. `NotFound` when it is wrong, used or over; `LimitExceeded` when many were."""
        offer = self._offers.pop(_digest(code), None)
        if offer is not None and offer.ends_at > self._clock():
            return offer.visit, offer.member
        if wait := self._wrong.take():
            raise LimitExceeded("too many wrong codes were tried; wait", retry_after=wait)
        raise NotFound("no such code")

    def _drop(self, digests: list[bytes]) -> None:
        for digest in digests:
            del self._offers[digest]


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
