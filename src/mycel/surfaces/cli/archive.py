"""The commands that move a team out into an archive, and a workspace to another database."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.fields import MAX_PAGE
from mycel.domain.team import OPERATOR
from mycel.errors import InvalidInput
from mycel.surfaces.cli import options
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.options import with_filters
from mycel.surfaces.cli.output import Column, by_part, counting, note, print_table

if TYPE_CHECKING:
    from mycel.domain.archive import ExportReport
    from mycel.domain.memory import Memory
    from mycel.domain.transfer import TransferReport

_ARCHIVE = "archive"
_STANDARD_OUTPUT = "-"


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Moving", {"export": export, "migrate": migrate})


@with_filters(options.FILTERS)
def export(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to, a table also to `-`; packed where its name ends in .gz.")
    ],
    *,
    filters: dict[str, Any],
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="archive, markdown, csv or ndjson.")
    ] = _ARCHIVE,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="Only what a search finds, the best first.")
    ] = None,
) -> None:
    """Write a team into one archive: all of it as the operator, private memories included; --as, what a member sees.

    The other formats are for reading and for other programs: the memories that `list` shows, or those of a search.
    """
    call = invocation(context)
    if format != _ARCHIVE:
        _export_table(call, file, format, query, filters)
        return
    if query is not None or filters:
        raise InvalidInput("holds a team as it is: filters go with the other formats", field="format")
    if file == _STANDARD_OUTPUT:
        raise InvalidInput("an archive gets its name once it is complete: name a file", field="file")
    with teams_of(call) as teams, counting("exporting") as progress:
        if teams.are_several:
            names = ", ".join(teams.memories)
            raise InvalidInput(
                f"is needed: an archive holds one of {names}; `mycel backup create` has all", field="team"
            )
        workspace, memory = teams.workspace, teams.only
        if memory.member_id == OPERATOR:
            report = workspace.export(file, team=memory.team, progress=progress)
        else:
            report = memory.export(file)
    call.answer(report, lambda: _show_export(report, file))


def _export_table(call: Invocation, file: str, format: str, query: str | None, filters: Mapping[str, Any]) -> None:
    import sys
    from contextlib import nullcontext
    from pathlib import Path

    from mycel.services.archive_files import new_file
    from mycel.surfaces.cli.memory_tables import TableFormat, listed, rendered

    if format not in set(TableFormat):
        raise InvalidInput(f"must be one of {_ARCHIVE}, {', '.join(TableFormat)}", field="format")
    done = 0
    to = nullcontext(sys.stdout.buffer) if file == _STANDARD_OUTPUT else new_file(Path(file))
    with teams_of(call) as teams, to as opened, counting("exporting") as progress:

        def counted(memories: Iterable[Memory]) -> Iterator[Memory]:
            nonlocal done
            for done, one in enumerate(memories, 1):
                yield one
                if progress is not None and done % 100 == 0:
                    progress(done)

        if query is None:
            each = (listed(memory, **filters) for memory in teams.memories.values())
            found: Iterable[Memory] = heapq.merge(*each, key=lambda one: one.created_at)
        else:
            recall = teams.search(lambda memory: memory.search(query, limit=MAX_PAGE, **filters), limit=MAX_PAGE)
            found = (hit.memory for hit in recall.hits)
        for piece in rendered(counted(found), TableFormat(format)):
            opened.write(piece)
    if file == _STANDARD_OUTPUT:
        return
    call.answer({"file": file, "format": format, "memories": done}, lambda: note(f"Memories in {file}: {done:,}."))


def migrate(
    context: typer.Context,
    *,
    to: Annotated[str | None, typer.Option("--to", metavar="URL", help="The Postgres database to move to.")] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="The Postgres database to move from.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop what the other side has of a team that is not the same there.")
    ] = False,
) -> None:
    """Move all teams, members and tokens to another database, and compare both; without a URL, of the data directory.

    The old side is left as it is. What was moved before and is the same is not moved again: a second try goes on.
    """
    call = invocation(context)
    if to is None and from_ is None:
        raise InvalidInput("--to or --from names the Postgres database", field="to")
    if to == from_:
        raise InvalidInput("is the same database", field="to")
    call.require_operator()
    source, target = call.settings_on(from_, origin="--from"), call.settings_on(to, origin="--to")
    from mycel.storage import transfer_workspace

    with by_part("moving") as progress:
        report = transfer_workspace(source, target, replace=replace, report=progress)
    call.answer(report, lambda: _show_transfer(report))


def _show_transfer(report: TransferReport) -> None:
    rows = [(part.name, f"{part.rows:,}", part.checksum, part.outcome.value) for part in report.parts]
    print_table((Column("part"), Column("rows"), Column("checksum", below=True), Column("outcome")), rows)
    if report.written_meanwhile:
        names = ", ".join(report.written_meanwhile)
        note(f"Written to meanwhile: {names}. Stop the old service, then move it with --replace.")
    else:
        note("Both sides are the same, row by row.")


def _show_export(report: ExportReport, file: str) -> None:
    rows = [(kind, f"{number:,}") for kind, number in report.counts.items()]
    if rows:
        print_table((Column("kind"), Column("lines")), rows)
    whole = f"All of {report.team}" if report.whole else f"What you see of {report.team}"
    note(f"{whole} is in {file}.")
    for left_out in report.left_out:
        note(f"Left out, since it is damaged: {left_out}")
