"""The commands about consolidation and contradictions: run it, look back, undo it, decide between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.memory import Status
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import show_done, show_more, when
from mycel.surfaces.cli.invocation import add_commands, invocation
from mycel.surfaces.cli.options import naming
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table, progress
from mycel.surfaces.cli.review import show_waiting, titles_of

if TYPE_CHECKING:
    from mycel.domain.inbox import InboxItem
    from mycel.domain.query import Page
    from mycel.domain.report import Report

_PANEL = "Review"


def add_to(app: typer.Typer) -> None:
    add_commands(app, _PANEL, {"consolidate": consolidate, "reports": list_reports, "undo": undo, "settle": settle})


def consolidate(
    context: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Only these memories; otherwise the inbox and what changed since the last run."
        ),
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
) -> None:
    """Merge duplicates, link contradictions and promote what is well grounded; `undo` takes it back."""
    call = invocation(context)
    with call.memory() as memory:
        with naming(ids="id"), progress("consolidating"):
            report = memory.consolidate(ids=ids or None, dry_run=dry_run)
        shown = not call.as_json
        named = [id for action in report.actions for id in (action.memory_id, action.other_id) if id and shown]
        titles = titles_of(memory, named)
        waiting = memory.inbox() if shown else None
    call.answer(report, lambda: _show_report(report, titles=titles, waiting=waiting))


def list_reports(context: typer.Context, *, limit: options.PageLimit = None, cursor: options.Cursor = None) -> None:
    """List the runs of consolidation, the newest first."""
    call = invocation(context)
    with call.memory() as memory:
        page = memory.reports(limit=limit, cursor=cursor)
    call.answer(page, lambda: _show_reports(page))


def undo(
    context: typer.Context,
    report: Annotated[str, typer.Argument(metavar="REPORT", help="The id of the report; `reports` lists them.")],
) -> None:
    """Take back a run of consolidation, but for what somebody has changed since."""
    call = invocation(context)
    with naming(id="report"), call.memory() as memory:
        undone = memory.undo(report)
    call.answer(undone, lambda: _show_undone(undone))


def settle(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of the memory that holds.")],
    *,
    over: Annotated[
        list[str], typer.Option("--over", metavar="ID", help="A memory that does not; repeat it for several.")
    ],
    superseded: Annotated[
        bool, typer.Option("--superseded", help="The others were true once, and are replaced by it.")
    ] = False,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the history of the others.")] = None,
) -> None:
    """Decide a contradiction: one memory holds, the others do not."""
    loss = Status.SUPERSEDED if superseded else Status.CONTRADICTED
    call = invocation(context)
    with call.memory() as memory:
        winner = memory.settle(id, over=over, status=loss.value, reason=reason)
    call.answer(winner, lambda: show_done(winner.id, f"holds over {len(over)} now {loss}"))


def _show_report(report: Report, *, titles: Mapping[str, str], waiting: Page[InboxItem] | None) -> None:
    columns = (
        Column("memory", "bold"),
        Column("action", "cyan"),
        Column("other", below=True, apart=True),
        Column("why", "dim", below=True, apart=True),
    )
    rows = [
        (titles[action.memory_id], action.kind, titles[action.other_id] if action.other_id else "", action.why)
        for action in report.actions
    ]
    if rows:
        print_table(columns, rows)
    if report.id is None:
        note(f"Would do: {_counted(report)}. Nothing was done.")
    elif rows:
        note(f"{_counted(report)}. `mycel undo {report.id}` takes it back.")
    else:
        note("Nothing to do.")
    if waiting is not None:
        show_waiting(waiting)


def _show_reports(page: Page[Report]) -> None:
    columns = (Column("actions", "bold"), Column("by"), Column("made", "dim"), Column("undone"))
    rows = [
        (_counted(report), report.made_by, when(report.made_at), _undone(report), report.id or "") for report in page
    ]
    if rows:
        print_table((*columns, Column("id", "dim", below=True)), rows)
    else:
        note("No reports.")
    show_more(page)


def _show_undone(report: Report) -> None:
    show_done(report.id or "", f"undone: {_counted(report)}")
    if report.left:
        note("Left as they are, since somebody has changed them:")
        print_lines(line(id, indent=2) for id in report.left)


def _counted(report: Report) -> str:
    kinds = Counter(action.kind.value for action in report.actions)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing"


def _undone(report: Report) -> str:
    return "" if report.undone_at is None else f"{when(report.undone_at)} by {report.undone_by}"
