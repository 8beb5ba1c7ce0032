"""What agents were given and do, as one member may know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycel.domain.activity import AuditEntry, Given, Injection, MemberActivity, Use
from mycel.domain.query import Page
from mycel.domain.team import Caller
from mycel.services.activity import Activity
from mycel.wire.operations import by_any_name


@by_any_name("activity")
class ActivityOfTeam:
    def __init__(self, caller: Callable[[], Caller], activity: Activity) -> None:
        self._caller = caller
        self._activity = activity

    def members(self) -> list[MemberActivity]:
        return self._activity.members(self._caller())

    def report(
        self,
        *,
        text: str,
        occasion: str,
        memory_ids: Sequence[str] = (),
        session_id: str | None = None,
        task_id: str | None = None,
    ) -> Injection:
        return self._activity.report(
            self._caller(),
            text=text,
            occasion=occasion,
            memory_ids=memory_ids,
            session_id=session_id,
            task_id=task_id,
        )

    def injections(
        self,
        *,
        agent: str | None = None,
        session_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Injection]:
        return self._activity.injections(self._caller(), agent=agent, session_id=session_id, limit=limit, cursor=cursor)

    def given(self, id: str, *, limit: int | None = None) -> list[Given]:
        return self._activity.given(self._caller(), id, limit=limit)

    def use(self, by: str = "type", *, limit: int | None = None) -> list[Use]:
        return self._activity.use(self._caller(), by, limit=limit)

    def actions(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[AuditEntry]:
        return self._activity.actions(self._caller(), agent=agent, limit=limit, cursor=cursor)
