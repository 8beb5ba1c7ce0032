"""The third part of the audit: what the engine did by itself, run by run, and a button that undoes a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from mycel.access.rules import may_curate, may_review
from mycel.domain.report import Report
from mycel.domain.team import ENGINE
from mycel.surfaces.web.memory_page import title_of
from mycel.surfaces.web.page import Form, Page, PageRequest, SeeOther, Shown

HERE = "/audit/runs"
ROWS = 20
EVENTS = 20
# Of one run; its report as JSON has all.
ACTIONS_SHOWN = 12
# So many are looked up for a page.
TITLES = 100


def show(asked: PageRequest) -> Shown:
    """Runs by cursor; beside them the latest work on what was captured."""
    reports = asked.memory.reports(limit=ROWS, cursor=asked.one("cursor"))
    events = asked.memory.sources.events(limit=EVENTS)
    facts: dict[str, Any] = {"runs": list(reports), "next_cursor": reports.next_cursor, "events": list(events)}
    beside = {
        "counts": {one.id: counts_of(one) for one in reports},
        "may_undo": {one.id for one in reports if _may_undo(asked, one)},
        "shown": ACTIONS_SHOWN,
        "titles": _titles(asked, reports),
    }
    return Shown(facts, beside)


def _titles(asked: PageRequest, reports: Iterable[Report]) -> dict[str, str | None]:
    """Of the memories that the latest runs name, as far as the reader sees them."""
    named = (
        id for one in reports for action in one.actions[:ACTIONS_SHOWN] for id in (action.memory_id, action.other_id)
    )
    return {id: title_of(asked, id) for id in list(dict.fromkeys(id for id in named if id))[:TITLES]}


def _may_undo(asked: PageRequest, report: Report) -> bool:
    """What the engine did may touch what a reviewer cannot see."""
    if report.undone_at is not None or not report.actions:
        return False
    return may_curate(asked.caller) if report.made_by == ENGINE else may_review(asked.caller)


def counts_of(report: Report) -> list[tuple[str, int]]:
    """What a run did, in words and numbers, the most frequent first."""
    return Counter(str(action.kind) for action in report.actions).most_common()


def undo(asked: PageRequest) -> SeeOther:
    asked.memory.undo(asked.form.get("report", ""))
    return SeeOther(HERE, did="run_undone")


PAGES = (Page(address=HERE, template="runs.html", show=show, title="Audit of the engine"),)
FORMS = (Form(address=f"{HERE}/undo", act=undo, takes_long=True),)
