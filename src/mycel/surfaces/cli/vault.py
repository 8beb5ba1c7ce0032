"""The commands of the markdown vault: agree once, go on agreeing, and say how things stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.surfaces.cli.invocation import add_group, invocation
from mycel.surfaces.cli.output import Column, by_part, line, note, print_lines, print_table

if TYPE_CHECKING:
    from mycel.surfaces.cli.invocation import Invocation
    from mycel.surfaces.vault.agreement import KnownVaults
    from mycel.surfaces.vault.sync import VaultReport

Directory = Annotated[str, typer.Argument(metavar="DIR", help="The folder of notes; it is made if there is none.")]
AllowDeletions = Annotated[
    bool,
    typer.Option(
        "--allow-deletions", help="Go on although more than a tenth of the notes, or of their memories, are gone."
    ),
]
TakeIn = Annotated[
    bool, typer.Option("--take-in", help="Save every note of a folder that was no vault before, however many.")
]
BeginAnew = Annotated[
    bool,
    typer.Option(
        "--begin-anew",
        help="Give up what both sides last agreed on, or was lost: nothing goes, and where they differ both stay.",
    ),
]
# Where a data directory keeps the names of this user's vaults.
VAULTS = "vaults"
KINDS = {
    "saved": "new notes saved as memories",
    "updated": "memories changed by notes",
    "deleted": "memories deleted with their notes",
    "written": "notes written",
    "moved": "notes moved",
    "removed": "notes removed with their memories",
    "restored": "memories restored with their notes",
    "conflicts": "copies kept of conflicts",
}


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "vault",
        "Moving",
        {"sync": sync, "watch": watch, "status": status},
        help="Keep a folder of markdown notes and a member's memories the same.",
    )


def sync(
    context: typer.Context,
    directory: Directory,
    *,
    allow_deletions: AllowDeletions = False,
    take_in: TakeIn = False,
    begin_anew: BeginAnew = False,
) -> None:
    """Bring a folder of notes and what you see of your team to agreement, both ways."""
    from mycel.surfaces.vault.sync import Allowed, Vault

    call = invocation(context)
    with call.memory() as memory, by_part("vault:") as progress:
        vault = Vault(Path(directory), memory, known=_known(call))
        with vault.opened(anew=begin_anew):
            report = vault.sync(Allowed(allow_deletions, take_in), progress)
    call.answer(report, lambda: _show(report))


def watch(context: typer.Context, directory: Directory, *, take_in: TakeIn = False) -> None:
    """Keep both sides in agreement until Ctrl-C, and tell of each round that did something."""
    from mycel.surfaces.vault.sync import Allowed, Vault
    from mycel.surfaces.vault.watch import watch_vault

    call = invocation(context)
    with call.lasting() as workspace:
        memory = call.memory_in(workspace)
        vault = Vault(Path(directory), memory, known=_known(call))
        with vault.opened():
            note(f"Watching {vault.root}; Ctrl-C ends it.")
            for report in watch_vault(vault, memory, Allowed(taking_in=take_in), say=note):
                call.answer(report, lambda report=report: _show(report))


def status(context: typer.Context, directory: Directory) -> None:
    """Say what a sync would do now, which copies of conflicts lie about, and what it cannot do."""
    from mycel.surfaces.vault.sync import status as status_of

    call = invocation(context)
    with call.memory() as memory:
        report = status_of(Path(directory).absolute(), memory)
    call.answer(report, lambda: _show(report))


def _known(call: Invocation) -> KnownVaults:
    from mycel.surfaces.vault.agreement import KnownVaults

    return KnownVaults(call.settings().data / VAULTS)


def _show(report: VaultReport) -> None:
    rows = [
        (about, f"{len(files):,}", ", ".join(files[:3]) + (" …" if len(files) > 3 else ""))
        for kind, about in KINDS.items()
        if (files := getattr(report, kind))
    ]
    if rows:
        print_table((Column("what"), Column("number"), Column("files", below=True)), rows)
    for problem in report.problems:
        print_lines([line((problem.file, "bold"), f"  {problem.about}")])
    agreed = " and agrees" if report.is_agreed and not report.problems else ""
    notes = f"{report.notes:,} note{'' if report.notes == 1 else 's'}"
    note(f"{report.directory} holds {notes} of {report.member} in {report.team}{agreed}.")
