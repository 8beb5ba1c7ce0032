"""The command that takes memory in: an archive of Mycel, or what another system holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.team import OPERATOR, Trust
from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.output import Column, counting, note, print_table

if TYPE_CHECKING:
    from mycel.domain.archive import MoveReport
    from mycel.domain.foreign_import import ForeignReport

ARCHIVE = "archive"


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Moving", {"import": import_})


def import_(
    context: typer.Context,
    from_: Annotated[
        str, typer.Argument(metavar="FROM", help="A file or folder: an archive, or what another memory system keeps.")
    ],
    *,
    form: Annotated[
        str | None, typer.Option("--form", metavar="FORM", help="What FROM is, where it is not recognised by itself.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would become what.")] = False,
    trust: Annotated[
        str | None,
        typer.Option(
            "--trust",
            metavar="LEVEL",
            help="How far what comes from elsewhere is trusted: low, normal or high; at "
            "most as far as you are. By default low, and it waits in the inbox.",
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--origin",
            metavar="NAME",
            help="What FROM is called, by which a second import knows its records; by default its file name.",
        ),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="The project that all of it belongs to.")
    ] = None,
    extract: Annotated[
        bool, typer.Option("--extract", help="Draw candidates for the inbox from conversations, which else stay raw.")
    ] = False,
) -> None:
    """Take in an archive, or the memory of another system; what was taken in before is not taken twice.

    Of an archive the operator takes a whole team with ids, times and authors; --as, memories as one's own.
    """
    call = invocation(context)
    own = {"--trust": trust, "--origin": origin, "--project": project, "--extract": extract or None}
    if form == ARCHIVE or (form is None and _is_archive(Path(from_))):
        for name, value in own.items():
            if value is not None:
                raise InvalidInput("is for what comes from other systems; an archive says it itself", field=name[2:])
        _import_archive(call, from_, dry_run=dry_run)
        return
    from mycel.engine.imports.registry import FORMS, form_of, recognise
    from mycel.surfaces.importing.places import Place
    from mycel.surfaces.importing.run import Choices, import_from

    level = _trust(trust)
    with Place(Path(from_)) as place:
        found = recognise(place) if form is None else form_of(form)
        if found is None:
            known = ", ".join([ARCHIVE, *(one.name for one in FORMS)])
            problem = "is nothing that is recognised: name it by --form" if form is None else "is not known"
            raise InvalidInput(f"{problem}; known are {known}", field="from" if form is None else "form")
        choices = Choices(origin=origin or place.origin, trust=level, extract=extract, project=project, dry_run=dry_run)
        if not call.as_json:
            note(f"{place.name} is {found.about} ({found.name}).")
        with call.memory() as memory, counting("importing") as progress:
            report = import_from(memory.imports, found, place, choices, progress=progress)
    call.answer(report, lambda: _show_foreign(report))


def _trust(given: str | None) -> str:
    if given is not None and given not in set(Trust):
        raise InvalidInput(f"must be one of: {', '.join(Trust)}", field="trust")
    return given or Trust.LOW.value


def _is_archive(path: Path) -> bool:
    from mycel.services.archive_files import looks_like_archive

    return looks_like_archive(path)


def _import_archive(call: Invocation, file: str, *, dry_run: bool) -> None:
    with call.workspace() as workspace, counting("importing") as progress:
        memory = call.memory_in(workspace)
        if memory.member_id == OPERATOR:
            report = workspace.import_(file, team=memory.team, dry_run=dry_run, progress=progress)
        else:
            report = memory.import_(file, dry_run=dry_run)
    call.answer(report, lambda: _show_archive(report))


def _show_archive(report: MoveReport) -> None:
    rows = [
        (kind, f"{number:,}", what.value if not what.left_out else f"left out: {what.value}")
        for kind, found in report.counts.items()
        for what, number in found.items()
    ]
    if rows:
        print_table((Column("kind"), Column("records"), Column("outcome")), rows)
    else:
        note("The archive is empty.")
    if report.dry_run:
        note("Nothing was stored: this was a dry run.")


def _show_foreign(report: ForeignReport) -> None:
    rows = [
        (
            one.kind,
            one.becomes or "-",
            f"{one.count:,}",
            one.outcome if one.reason is None else f"{one.outcome}: {one.reason}",
            one.example or "",
        )
        for one in report.counts
    ]
    if rows:
        columns = (Column("record"), Column("becomes"), Column("number"), Column("outcome"), Column("such as"))
        print_table(columns, rows)
    for warning in report.warnings:
        note(f"Warning: {warning}.")
    done = "would be taken" if report.dry_run else "taken"
    note(f"{report.read:,} read: {report.taken:,} {done}, {report.skipped:,} skipped, {report.refused:,} refused.")
    if report.taken and report.trust == Trust.LOW and not report.dry_run:
        note("What was taken has low trust: memories wait in the inbox (`mycel inbox`); --trust says otherwise.")
    if report.dry_run:
        note("Nothing was stored: this was a dry run.")
