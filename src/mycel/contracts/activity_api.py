"""What agents were given and do, and who changed what is no memory, on every way into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mycel.domain.activity import AuditEntry, Given, Injection, MemberActivity, Use
from mycel.domain.query import Page


class ActivityApi(Protocol):
    def members(self) -> list[MemberActivity]:
        """The members of the team, and when each was last seen; the latest first."""
        ...

    def report(
        self,
        *,
        text: str,
        occasion: str,
        memory_ids: Sequence[str] = (),
        session_id: str | None = None,
        task_id: str | None = None,
    ) -> Injection:
        """Keeps what the caller was given, as it saw it, for 30 days. Hooks say so; a briefing is kept by itself.

        `occasion` is session, prompt or briefing; `memory_ids` names the memories in the text,
        by their ids or parts of them.
        """
        ...

    def injections(
        self,
        *,
        agent: str | None = None,
        session_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Injection]:
        """What agents were given, newest first: the caller's own, and for people, leads and admins the team's.

        Of what somebody else was given it holds the notes that the caller may read by now.
        """
        ...

    def given(self, id: str, *, limit: int | None = None) -> list[Given]:
        """Who was given a memory, when and for which task, the latest first; as long as searches are kept."""
        ...

    def use(self, by: str = "type", *, limit: int | None = None) -> list[Use]:
        """How much use memories are, by `type` or by `agent`: read and rated by others than their authors."""
        ...

    def actions(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[AuditEntry]:
        """Who changed what is no memory, newest first: ratings, policy, places, members, tokens, captures, runs.

        Leads and admins see those of their team, the operator also those of the workspace, others their own.
        """
        ...
