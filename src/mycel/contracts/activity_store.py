"""What the stores keep about what agents were given, and about changes of what is no memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from mycel.access.scope import ReadScope
from mycel.domain.activity import AuditEntry, Given, Injection, Use
from mycel.domain.ids import MemberId, MemoryId


class ActivityReads(Protocol):
    def last_seen(self, scope: ReadScope, members: Collection[MemberId]) -> Mapping[MemberId, datetime]:
        """When each last searched, was given something, or wrote or handed in what the scope sees.

        Those of whom nothing is known are left out.
        """
        ...

    def injections(
        self, *, member_id: MemberId | None, session_id: str | None, before: str | None, limit: int
    ) -> list[Injection]:
        """Newest first; who may read which of their notes is for the caller to see to."""
        ...

    def has_older(self, before: datetime) -> bool:
        """Whether anybody was given anything before that moment."""
        ...

    def use(self, scope: ReadScope, *, by_author: bool, limit: int) -> list[Use]:
        """Of the memories that the scope sees and anybody but their author has read or rated, the most read first."""
        ...

    def given(self, scope: ReadScope, memory_id: MemoryId, *, limit: int) -> list[Given]:
        """Who was given a memory that the scope sees, the latest first."""
        ...

    def actions(self, scope: ReadScope, *, by: MemberId | None, before: str | None, limit: int) -> Sequence[AuditEntry]:
        """Newest first, without those about memories out of sight, and without others' own affairs."""
        ...


class ActivityWrites(Protocol):
    def note_injection(self, injection: Injection, *, kept: int) -> None:
        """Of this member the latest `kept` stay."""
        ...

    def forget_injections(self, *, before: datetime) -> int: ...
    def note(
        self,
        operation: str,
        *,
        by: MemberId,
        subject: str,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
        memory_id: MemoryId | None = None,
        own: bool = False,
    ) -> None:
        """In the transaction of the change. `own` is nobody else's affair; what names a memory is told with it."""
        ...

    def actions_on(self, memory_id: MemoryId, operation: str) -> Sequence[AuditEntry]:
        """Return the actions of this name on a memory, newest first; for rules, which show them to nobody."""
        ...
