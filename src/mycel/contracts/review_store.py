"""What the stores keep about reviewing itself: who looks at a candidate, and who has put one off."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from mycel.domain.ids import MemberId, MemoryId
from mycel.domain.inbox import Claim


class ReviewReads(Protocol):
    """Of memories that the caller has found in its own scope; of others nothing may be asked."""

    def claims(self, ids: Collection[MemoryId], *, at: datetime) -> Mapping[MemoryId, Claim]:
        """Those that hold at that moment."""
        ...

    def snoozes(self, member_id: MemberId, ids: Collection[MemoryId], *, at: datetime) -> Mapping[MemoryId, datetime]:
        """Until when a member has put each of them off, as far as that is after the moment."""
        ...


class ReviewWrites(ReviewReads, Protocol):
    def claim(self, claim: Claim, *, at: datetime) -> Claim:
        """The claim that holds: another member's, if there is one. A member has one claim; its former ones end."""
        ...

    def snooze(self, member_id: MemberId, id: MemoryId, *, until: datetime | None) -> None:
        """None brings it back."""
        ...

    def forget(self, id: MemoryId) -> None:
        """It is decided: nobody looks at it or puts it off any more."""
        ...
