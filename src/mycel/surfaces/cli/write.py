"""The commands that write memories: save, update, delete, restore, purge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mycel.domain.memory import WRITTEN
from mycel.errors import AccessDenied, Unavailable
from mycel.surfaces.cli import display, options
from mycel.surfaces.cli.every_team import answer_deleted, teams_of
from mycel.surfaces.cli.invocation import add_commands, invocation
from mycel.surfaces.cli.material import content_of
from mycel.surfaces.cli.options import clear_fields, given, with_fields
from mycel.surfaces.cli.output import one_line

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.contracts.written_fields import ChangedFields, MemoryFields
    from mycel.domain.receipt import Receipt
    from mycel.surfaces.cli.invocation import AnyWorkspace


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Write", {"save": save, "update": update, "delete": delete, "restore": restore, "purge": purge})


@with_fields(row for row in WRITTEN.values() if row.at_first)
def save(
    context: typer.Context,
    content: Annotated[
        str, typer.Argument(metavar="CONTENT", help="The text to remember; `-` reads it from standard input.")
    ],
    *,
    fields: dict[str, Any],
    similar: Annotated[bool, typer.Option("--similar", help="Name what stands near it already.")] = False,
    supersedes: Annotated[str | None, typer.Option(metavar="ID", help="The memory that it replaces.")] = None,
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Save a memory and print its id.

    Everything but the content is optional: what is left out is derived. Text that starts with a dash goes after `--`.
    """
    fields |= given({"idempotency_key": idempotency_key})
    call = invocation(context)
    text = content_of(content)
    with teams_of(call) as teams:
        # What replaces a memory goes to its team.
        place = teams.home(call) if supersedes is None else teams.find(supersedes, field="supersedes")
        replaced = None if supersedes is None else place.id
        saved = place.memory.save(text, similar=similar, supersedes=replaced, **cast("MemoryFields", fields))
    call.answer(saved, lambda: display.show_written(saved, done="saved"))


@with_fields(WRITTEN.values())
def update(
    context: typer.Context,
    id: options.Id,
    *,
    fields: dict[str, Any],
    content: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The new text; `-` reads it from standard input.")
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
    clear: options.Clear = None,
    expected_version: Annotated[
        int | None, typer.Option(metavar="N", help="Fail if the memory is no longer at this version.")
    ] = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for its history.")] = None,
) -> None:
    """Change fields of a memory; its history keeps the version before."""
    fields |= given(
        {
            "content": None if content is None else content_of(content),
            "idempotency_key": idempotency_key,
            "expected_version": expected_version,
            "reason": reason,
        }
    )
    clear_fields(fields, clear or [])
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        changed = place.memory.update(place.id, **cast("ChangedFields", fields))
    call.answer(changed, lambda: display.show_changed(changed, done="updated"))


def delete(context: typer.Context, id: options.Id) -> None:
    """Take a memory out of every answer; `restore` brings it back."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        place.memory.delete(place.id)
    answer_deleted(call, place)


def restore(context: typer.Context, id: options.Id) -> None:
    """Bring back a deleted memory."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id, deleted=True)
        restored = place.memory.restore(place.id)
    call.answer(restored, lambda: display.show_changed(restored, done="restored"))


def purge(
    context: typer.Context,
    id: options.Id,
    *,
    yes: options.Yes = False,
) -> None:
    """Erase a memory for good, its history included. There is no way back."""
    call = invocation(context)
    with call.workspace() as workspace, teams_of(call) as teams:
        place = teams.find_to_purge(id)
        named = display.named(place.found[0]) if place.found else one_line(place.id)
        if not yes:
            call.require_yes(f"Erase {named} for good?")
        receipt = _purge(workspace, place.memory, place.id)
    call.answer(receipt, lambda: display.show_receipt(receipt, named=named))


def _purge(workspace: AnyWorkspace, memory: MemoryApi, id: str) -> Receipt:
    receipt = memory.purge(id)
    try:
        workspace.scrub()
    except (Unavailable, AccessDenied):
        # The memory is out of reach already; its bytes follow when the files are free, or in the night.
        return receipt
    return memory.receipt(id)
