"""The commands about consolidation and contradictions: run it, look back, undo it, decide between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain import fields
from mycel.domain.memory import Status
from mycel.errors import InvalidInput
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import named, show_done, show_more, when
from mycel.surfaces.cli.every_team import Teams, of_teams, teams_of
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.options import naming
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table, progress, whole_list
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
    with teams_of(call) as teams:
        place = teams.find(*ids) if ids else None
        those = teams if place is None else teams.alone(place.memory)
        only = None if place is None else place.ids
        with naming(ids="id"), progress("consolidating"):
            reports = those.each(lambda memory: memory.consolidate(ids=only, dry_run=dry_run))
        shown = [] if call.as_json else list(reports)
        titles = {team: titles_of(teams.memories[team], _named_in(reports[team])) for team in shown}
        waiting = {team: teams.memories[team].inbox() for team in shown}
    several = len(reports) > 1

    def show() -> None:
        for team, report in reports.items():
            if several:
                note(f"Team {team}:")
            _show_report(report, titles=titles[team], waiting=waiting[team])

    call.answer(whole_list(of_teams(reports)) if several else next(iter(reports.values())), show)


def list_reports(context: typer.Context, *, limit: options.PageLimit = None, cursor: options.Cursor = None) -> None:
    """List the runs of consolidation, the newest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page_by(
            lambda memory, most, after: memory.reports(limit=most, cursor=after),
            limit=limit,
            cursor=cursor,
            place=lambda report: report.id or "",
        )
    call.answer(page, lambda: _show_reports(page))


def undo(
    context: typer.Context,
    report: Annotated[
        str | None, typer.Argument(metavar="REPORT", help="The id of the report; `reports` lists them.")
    ] = None,
    *,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="MEMBER", help="Instead: what this member did since.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Since a moment such as 2026-11-15T09:00:00Z, or a span: 2h, 3d."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what --since would take back; ask and do nothing.")
    ] = False,
    yes: options.Yes = False,
) -> None:
    """Take back a run of consolidation, or what a member (without --agent, everybody) did since a moment.

    With --since it shows first what would be done, drawn and merged memories included. What others have changed since
    is left. It is a report itself, which `undo` takes back.
    """
    call = invocation(context)
    if (report is None) == (since is None):
        raise InvalidInput("is needed, or else --since, and not both", field="report")
    if report is not None and agent is not None:
        raise InvalidInput("goes with --since", field="agent")
    if report is not None and dry_run:
        raise InvalidInput("goes with --since", field="dry_run")
    if report is not None:
        with naming(id="report"), teams_of(call) as teams:
            memory = teams.having(lambda memory: memory.report(report), id=report, field="report")
            undone = memory.undo(report)
        call.answer(undone, lambda: _show_undone(undone))
        return
    with naming(agent_id="agent"), teams_of(call) as teams:
        done = _undo_writer(call, teams, agent, _moment_of(since or ""), dry_run=dry_run, yes=yes)
    call.answer(done, lambda: _show_reports_made(done))


def _undo_writer(
    call: Invocation, teams: Teams, agent: str | None, since: str, *, dry_run: bool, yes: bool
) -> list[Report]:
    """Run after run in every team until nothing is left; without a yes, the plan of the first run of each."""
    if dry_run or not yes:
        plans = teams.each(lambda memory: memory.reviews.undo_writer(agent_id=agent, since=since, dry_run=True))
        teams = teams.named(team for team, plan in plans.items() if plan.actions)
        if call.as_json or not teams.memories:
            return [plans[team] for team in teams.memories] or list(plans.values())[:1]
        for team, memory in teams.memories.items():
            if len(plans) > 1:
                note(f"Team {team}:")
            _show_report(plans[team], titles=titles_of(memory, _named_in(plans[team])), waiting=None)
            if plans[team].more:
                note("There is more; all of it is taken back.")
        if dry_run:
            return []
        call.require_yes("Take all of this back?")
    done: list[Report] = []
    for memory in teams.memories.values():
        report = memory.reviews.undo_writer(agent_id=agent, since=since)
        while report.more:
            done.append(report)
            report = memory.reviews.undo_writer(agent_id=agent, since=since)
        if report.actions or report.left or not teams.are_several:
            done.append(report)
    return done


def _moment_of(text: str) -> str:
    """A span counts back from now."""
    if not text[:-1].strip().isdecimal():
        return text
    return (datetime.now(UTC) - fields.lifetime(text, field="since")).isoformat()


def _named_in(report: Report) -> list[str]:
    return [id for action in report.actions for id in (action.memory_id, action.other_id) if id]


def _show_reports_made(done: list[Report]) -> None:
    for report in done:
        if report.id is not None and report.actions:
            show_done(report.id, f"undone: {_counted(report)}; `mycel undo {report.id}` takes that back")
        else:
            note("Nothing to undo.")
        if report.left:
            note("Left as they are, since somebody else has changed them or they are not yours to take back:")
            print_lines(line(id, indent=2) for id in report.left)


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
    with teams_of(call) as teams:
        place = teams.find(id, *over)
        holds, *others = place.ids
        winner = place.memory.settle(holds, over=others, status=loss.value, reason=reason)
    call.answer(winner, lambda: show_done(winner.id, f"{named(winner)} holds over {len(over)} now {loss}"))


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
