"""`mycel mount`: what a member sees of its team, as a file system."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from mycel.surfaces.cli.invocation import add_commands, invocation
from mycel.surfaces.cli.output import note

# Where a data directory keeps what was left in mounts and is no memory.
LEFT = "left-in-mounts"


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Moving", {"mount": mount})


def mount(
    context: typer.Context,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="An empty folder; it is made if there is none.")],
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let nothing be written.")] = False,
    allow_deletions: Annotated[
        bool, typer.Option("--allow-deletions", help="Let more than a tenth of the notes be removed at once.")
    ] = False,
) -> None:
    """Show what you see of your team as files, to read and to write, until Ctrl-C or `umount`."""
    from mycel.surfaces.mount.mounting import mount as mount_notes

    call = invocation(context)
    with call.lasting() as workspace:
        mount_notes(
            Path(directory),
            call.memory_in(workspace),
            left=call.settings().data / LEFT / time.strftime("%Y-%m-%d %H%M%S"),
            say=note,
            read_only=read_only,
            allows_removals=allow_deletions,
        )
