"""Reports of consolidation: what was done or would be, why, and what undoes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mycel.domain.ids import MemberId, MemoryId, ReportId


class ActionKind(StrEnum):
    """`merge`: another memory says the same and gives way. `supersede`: a later one says that it replaces it.

    `link`: it says so too, but replaces it only once it is approved. `suggest`: it says so of what somebody else wrote,
    and replaces it only once a person agrees; or two probably say the same, and are merged only then.

    The last three take back what a writer did: `withdraw` deletes what it wrote and what came of that, which is the
    other memory; `revert` is for what it changed; `unlink` for the links it made, and says of which relation.
    """

    MERGE = "merge"
    CONTRADICT = "contradict"
    SUPERSEDE = "supersede"
    LINK = "link"
    SUGGEST = "suggest"
    PROMOTE = "promote"
    CLEAR = "clear"
    WITHDRAW = "withdraw"
    REVERT = "revert"
    UNLINK = "unlink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """`memory_id` is what stays or becomes active; `other_id` what gives way to it or stands against it."""

    kind: ActionKind
    memory_id: MemoryId
    other_id: MemoryId | None = None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run. A dry run has no id: nothing was done, so there is nothing to undo."""

    id: ReportId | None
    actions: tuple[Action, ...]
    dry_run: bool
    made_by: MemberId
    made_at: datetime
    undone_by: MemberId | None = None
    undone_at: datetime | None = None
    # Of one that is undone, or undoes a writer: memories that somebody changed afterwards, which were left as they are.
    left: tuple[MemoryId, ...] = ()
    # Whether one run was not enough: the same again goes on.
    more: bool = False
