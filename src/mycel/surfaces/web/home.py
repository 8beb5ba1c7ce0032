"""Home: what changed since the last visit, what waits for the reader, and how the memory does."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from mycel.access.rules import may_review
from mycel.domain.inbox import InboxItem
from mycel.domain.memory import Status
from mycel.domain.query import Statistics
from mycel.domain.source import UNFINISHED, EventState
from mycel.errors import MycelError
from mycel.surfaces.web.inbox import ROWS as INBOX_ROWS
from mycel.surfaces.web.inbox import grouped
from mycel.surfaces.web.page import Page, PageRequest, Shown

CHANGES_SHOWN = 15
WAITING_SHOWN = 5
# As many as are counted, whatever days were left out.
DAYS_SHOWN = 30
USES_SHOWN = 6
# What waits is told of apart.
_DECIDED = [status for status in Status if status is not Status.INBOX]


def show(asked: PageRequest) -> Shown:
    counts = asked.memory.stats()
    latest = asked.memory.list(order_by="-updated_at", limit=CHANGES_SHOWN, status=_DECIDED)
    waiting, waiting_in_all = waiting_for(asked, counts)
    since = asked.last_visit
    return Shown(
        {
            "since": since,
            "changed": [memory for memory in latest if since is None or memory.updated_at > since],
            "latest": list(latest),
            "waiting": waiting[:WAITING_SHOWN],
            "waiting_in_all": waiting_in_all,
            "counts": counts,
            "health": health(asked, counts),
            "use_by_type": asked.memory.activity.use("type", limit=USES_SHOWN),
            "use_by_agent": asked.memory.activity.use("agent", limit=USES_SHOWN),
        },
        {"days": days_until(asked.now.date(), counts), "types": ordered(counts.by_type.items())},
    )


def waiting_for(asked: PageRequest, counts: Statistics) -> tuple[list[InboxItem], int]:
    """The newest, and how many: of a few those of the reader's own inbox, without what it has put off."""
    in_all = counts.by_status.get(Status.INBOX, 0)
    if not may_review(asked.caller):
        return [], in_all
    rows = asked.memory.inbox(limit=INBOX_ROWS)
    waiting = [same[0] for same in grouped(rows)]
    return waiting, len(waiting) if rows.next_cursor is None else in_all


def health(asked: PageRequest, counts: Statistics) -> dict[str, object]:
    """Of the engine and of searching by meaning, as far as a member may know."""
    unfinished = sum(counts.events.get(state, 0) for state in UNFINISHED)
    found: dict[str, object] = {
        "stores": asked.condition.get("status", "ok"),
        "engine_waiting": unfinished,
        "engine_given_up": counts.events.get(EventState.DEAD, 0),
    }
    try:
        progress = asked.workspace.embedding_progress(asked.caller.team)
    except MycelError:
        return found
    return {**found, "embedding": progress}


def days_until(today: date, counts: Statistics) -> list[tuple[str, int]]:
    """One number for each of the last days, also where nothing was written."""
    first = today - timedelta(days=DAYS_SHOWN - 1)
    days = (first + timedelta(days=number) for number in range(DAYS_SHOWN))
    return [(day.isoformat(), counts.by_day.get(day.isoformat(), 0)) for day in days]


def ordered(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))


PAGES = (Page(address="/", template="home.html", show=show, title="Home", label="Home", key="h"),)
