"""The command that tells what happens in a team, as it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.change import Operation
from mycel.surfaces.cli import options
from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import line, note, one_line, print_lines

if TYPE_CHECKING:
    from mycel.domain.change import Change

_STYLES = {
    Operation.CREATE: "green",
    Operation.RESTORE: "green",
    Operation.REMOVE: "yellow",
    Operation.DELETE: "yellow",
    Operation.PURGE: "red",
}


def add_to(app: typer.Typer) -> None:
    app.command("watch", cls=Command, rich_help_panel="Find")(watch)


def watch(
    context: typer.Context,
    *,
    after: Annotated[
        int | None,
        typer.Option(metavar="N", help="Begin after this sequence; 0 is the start of the log, by default it is now."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Tell what is in the log, from its start on, and end.")] = False,
    path: options.PathFilter = None,
    project: options.ProjectFilter = None,
    type: options.TypeFilter = None,
) -> None:
    """Tell of every change you may see until Ctrl-C, one a line; with --json each is a JSON value.

    What leaves the filters, or your sight, is told as `remove`.
    """
    call = invocation(context)
    start = 0 if once and after is None else after
    with call.memory(reads_other_team=True) as memory:
        told = memory.changes(start, path or "/", project=project, type=type or None, follow=not once, team=call.team)
        if not once:
            note(f"Watching {call.team or memory.team}; Ctrl-C ends it.")
        for change in told:
            call.answer(change, lambda change=change: _show(change))


def _show(change: Change) -> None:
    time = f"{change.committed_at.astimezone():%H:%M:%S}"
    about = f"{change.memory_id} → {change.other_id}" if change.other_id else change.memory_id
    print_lines(
        [
            line(
                (f"{change.sequence}  {time}  ", "dim"),
                (change.operation.value, _STYLES.get(change.operation, "")),
                (f"  {one_line(change.path)}", "bold"),
                (f"  {about}  {one_line(change.changed_by)}", "dim"),
            )
        ]
    )
