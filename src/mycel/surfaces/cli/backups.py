"""The commands about backups of the whole workspace: make one, list, look through and restore them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.transfer import ORGANISATION
from mycel.errors import InvalidInput
from mycel.surfaces.cli.display import moment, show_done
from mycel.surfaces.cli.failure import FAILED
from mycel.surfaces.cli.invocation import Invocation, add_group, invocation
from mycel.surfaces.cli.options import Yes
from mycel.surfaces.cli.output import Column, by_part, line, note, print_lines, print_table, whole_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mycel.domain.backup import Backup, BackupCheck, Restored, RestorePlan

MADE = "MYCEL_BACKUP_FOLDER, or `backups` in the data directory"
BackupFolder = Annotated[
    str, typer.Argument(metavar="DIR", help=f"The folder of the backup, or the name of one in {MADE}.")
]


def add_to(app: typer.Typer) -> None:
    add_group(
        *(app, "backup", "Moving"),
        {"create": create, "list": list_backups, "verify": verify, "restore": restore},
        help="Make, list, check and restore backups of all teams and members.",
    )


def create(
    context: typer.Context,
    folder: Annotated[
        str | None, typer.Argument(metavar="DIR", help=f"A new or empty folder; otherwise one is made in {MADE}.")
    ] = None,
) -> None:
    """Copy all teams, members, tokens and policies into a folder while everybody goes on, checked and with checksums.

    It holds every write that was acknowledged before. Settings and the operator's token are not in it.
    """
    call = invocation(context)
    call.require_operator()
    if call.settings().url is not None:
        if folder is not None:
            raise InvalidInput("is for the machine of the service: leave it out, or run it there", field="dir")
        with call.workspace() as service:
            made = service.create_backup()
    else:
        with call.files() as workspace, by_part("writing") as report:
            made = workspace.create_backup() if folder is None else workspace.backup(folder, report=report)
    call.answer(made, lambda: _show_made(made))


def _show_made(made: Backup) -> None:
    show_done(made.folder, f"{_size(made.size_bytes)}, {_teams(made)}")
    for row in made.damaged:
        note(f"In it as it is, and damaged: {row}")


def list_backups(
    context: typer.Context,
    folder: Annotated[str | None, typer.Argument(metavar="DIR", help=f"Where to look; otherwise in {MADE}.")] = None,
) -> None:
    """List backups, the newest first."""
    call = invocation(context)
    call.require_operator()
    if call.settings().url is not None and folder is None:
        with call.workspace() as service:
            found = service.backups()
    else:
        from mycel.services.backup_files import find_backups

        found = find_backups(call.backup_folder() if folder is None else Path(folder))
    call.answer(whole_list(found), lambda: _show_backups(found))


def verify(context: typer.Context, folder: BackupFolder) -> None:
    """Read all of a backup and compare it with its checksums. Ends with code 1 if anything is damaged, and names it."""
    call = invocation(context)
    call.require_operator()
    if call.settings().url is not None:
        with call.workspace() as service:
            check = service.verify_backup(folder)
    else:
        from mycel.services.backup_files import check_backup

        with by_part("reading") as report:
            check = check_backup(_place(call, folder), report=report)
    call.answer(check, lambda: _show_check(check))
    if check.problems:
        raise typer.Exit(FAILED)


def restore(context: typer.Context, folder: BackupFolder, *, yes: Yes = False) -> None:
    """Put a backup in the place of the whole workspace; says first what would be lost. The old is kept beside.

    Nothing is replaced unless every byte of the backup is right. What was purged, revoked and removed since stays so.
    Stop the service first.
    """
    call = invocation(context)
    call.require_operator()
    settings = call.settings()
    if settings.url is not None:
        raise InvalidInput("is restored on the machine of its service, not through it", field="dir")
    from mycel.restoration import restore_workspace
    from mycel.surfaces.http.ownership import owned

    def confirm(plan: RestorePlan) -> None:
        if not call.as_json:
            _show_plan(plan)
        if not yes:
            call.require_yes("Replace the whole workspace by this backup?")

    place = _place(call, folder)
    with owned(settings.data), by_part("reading") as report:
        done = restore_workspace(settings, place, confirm=confirm, report=report)
    call.answer(done, lambda: _show_restored(done))


def _place(call: Invocation, given: str) -> Path:
    """A folder, or the name of one among the backups of the settings."""
    path, named = Path(given), call.backup_folder() / given
    return named if path.name == given and not path.exists() and named.exists() else path


def _show_backups(found: Sequence[Backup]) -> None:
    rows = [
        (
            one.name,
            "" if one.made_at is None else moment(one.made_at),
            _size(one.size_bytes),
            _teams(one),
            one.problem or "",
        )
        for one in found
    ]
    if rows:
        columns = (Column("name", "bold"), Column("made", "dim"), Column("size"), Column("teams"))
        print_table((*columns, Column("problem", "red", below=True)), rows)
    else:
        note("No backups.")


def _show_check(check: BackupCheck) -> None:
    if check.problems:
        print_lines([line((check.backup.name, "bold red"), problem) for problem in check.problems])
        note("It cannot be restored as it is: use another one.")
    else:
        print_lines([line(f"Every byte of {check.backup.name} is as it was written.")])


def _show_plan(plan: RestorePlan) -> None:
    columns = (Column("team", "bold"), Column("memories now"), Column("in the backup"), Column("changes lost"))
    rows = [
        (
            *(one.team, _number(one.memories_now), _number(one.memories_then), _number(one.changes_lost)),
            str(one.purged_again or ""),
        )
        for one in plan.teams
    ]
    print_table((*columns, Column("purged again")), rows)
    made = "" if plan.backup.made_at is None else moment(plan.backup.made_at)
    note(f"The backup was made {made}; what was written since is lost from the workspace.")
    if plan.members_lost:
        note(f"Members added since, who are lost: {', '.join(plan.members_lost)}")
    if plan.members_removed:
        note(f"Members removed since, who stay removed: {', '.join(plan.members_removed)}")
    if plan.tokens_lost:
        note(f"Tokens issued since, which are lost: {plan.tokens_lost}")
    if plan.tokens_revoked:
        note(f"Tokens revoked since, which stay revoked: {plan.tokens_revoked}")
    for name in plan.unreadable:
        what = "tokens and members were ended" if name == ORGANISATION else "was purged"
        note(f"{name} cannot be read any more: what of {what} since the backup is not known, and comes back.")


def _show_restored(done: Restored) -> None:
    show_done(done.plan.backup.name, "restored")
    if done.kept is not None:
        note(f"What it replaced is kept in {done.kept}.")


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _teams(backup: Backup) -> str:
    return f"{len(backup.teams)} team{'' if len(backup.teams) == 1 else 's'}"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:,.1f} MB"
