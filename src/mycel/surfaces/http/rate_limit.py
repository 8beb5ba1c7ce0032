"""How often something may happen: so many times a second, with some of it saved up; and how often strangers may try."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from weakref import WeakValueDictionary

from mycel.domain.ids import MemberId
from mycel.errors import LimitExceeded, Unavailable

# Everybody who works here may come back at the same moment, after a restart; who is known costs nothing.
STRANGERS_AT_ONCE = 2000.0
STRANGERS_PER_SECOND = 50.0
ALL_STRANGERS_AT_ONCE = 4000.0
ALL_STRANGERS_PER_SECOND = 200.0
MAX_ADDRESSES = 4096
# How much of a second's allowance a member may use at once.
BURST_SECONDS = 2.0
# Nodes tell each other of members that use so much of what they may: nobody else is near the limit.
BUSY_SHARE = 0.1
SHARE_SECONDS = 1.0
Sharing = Callable[[Mapping[MemberId, int]], Awaitable[Mapping[MemberId, int]]]


class Allowance:
    __slots__ = ("__weakref__", "_at", "_left", "_most", "_rate", "taken")

    def __init__(self, rate: float, *, at_once: float) -> None:
        self._rate = rate
        self._most = at_once
        self._left = at_once
        self._at = time.monotonic()
        # Since the last time that anybody looked.
        self.taken = 0

    def take(self) -> float:
        """How many seconds to wait until there is one; 0 when it was taken."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        self.taken += 1
        return 0.0

    def spend(self, count: float) -> None:
        """What was taken elsewhere; it is waited for at most as long as for all that may be taken at once."""
        self._left = max(-self._most, self._left - count)

    def give_back(self) -> None:
        self._left = min(self._most, self._left + 1)


class Members:
    """Each member by itself, by all its tokens together."""

    def __init__(self, requests_per_second: float) -> None:
        self._rate = requests_per_second
        # For as long as a token of the member's is known.
        self._allowances: WeakValueDictionary[MemberId, Allowance] = WeakValueDictionary()

    def allowance(self, member: MemberId) -> Allowance:
        found = self._allowances.get(member)
        if found is None:
            found = self._allowances[member] = Allowance(self._rate, at_once=self._rate * BURST_SECONDS)
        return found

    def is_busy(self, allowance: Allowance) -> bool:
        return allowance.taken >= self._rate * BUSY_SHARE * SHARE_SECONDS

    async def share(self, tell: Sharing) -> bool:
        """Tells the other nodes of the busy ones, and counts what these have had there; whether there were any."""
        allowances = dict(self._allowances)
        counts = {member: one.taken for member, one in allowances.items() if self.is_busy(one)}
        for one in allowances.values():
            one.taken = 0
        if counts:
            for member, count in (await tell(counts)).items():
                allowances[member].spend(count)
        return bool(counts)


class Strangers:
    """Secrets that nobody here has seen: whoever guesses keeps neither the directory busy nor others out for long."""

    def __init__(self) -> None:
        self._all = Allowance(ALL_STRANGERS_PER_SECOND, at_once=ALL_STRANGERS_AT_ONCE)
        self._by_address: OrderedDict[str, Allowance] = OrderedDict()

    def enter(self, address: str) -> None:
        """Before each try; `leave_known` gives it back when the secret was a true one."""
        if wait := self._of(address).take():
            raise LimitExceeded("too many unknown tokens came from here; wait", retry_after=wait)
        if wait := self._all.take():
            self._of(address).give_back()
            raise Unavailable("too many unknown tokens come at once; retry in a moment", retry_after=wait)

    def leave_known(self, address: str) -> None:
        self._all.give_back()
        self._of(address).give_back()

    def _of(self, address: str) -> Allowance:
        known = self._by_address.get(address)
        if known is None:
            known = self._by_address[address] = Allowance(STRANGERS_PER_SECOND, at_once=STRANGERS_AT_ONCE)
            if len(self._by_address) > MAX_ADDRESSES:
                self._by_address.popitem(last=False)
        else:
            self._by_address.move_to_end(address)
        return known
