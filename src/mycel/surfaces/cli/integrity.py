"""`mycel check`: whether the files of every store are sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from mycel.domain.damage import GUIDE
from mycel.surfaces.cli.exit_codes import FAILED
from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import line, note, print_lines
from mycel.surfaces.cli.progress import progress


def add_to(app: typer.Typer) -> None:
    app.command("check", cls=Command, rich_help_panel="Run")(check)


def check(context: typer.Context) -> None:
    """Check every store in full, and say what is wrong. A store that was damaged and is sound is written again.

    Ends with code 1 if anything is damaged.
    """
    call = invocation(context)
    with call.operated() as workspace, progress("checking"):
        problems = workspace.check()
    call.answer({"ok": not problems, "problems": problems}, lambda: _show(problems))
    if problems:
        raise typer.Exit(FAILED)


def _show(problems: Mapping[str, Sequence[str]]) -> None:
    if not problems:
        print_lines([line("Every store is sound.")])
        return
    for store, found in problems.items():
        print_lines([line((store, "bold red"), text) for text in found])
    note(f"Restore what is damaged from a backup or an archive, then check again; see {GUIDE}.")
