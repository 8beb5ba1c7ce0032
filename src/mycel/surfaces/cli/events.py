"""The commands about the engine's queue: what waits, what was done, what failed."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.domain.source import EventState
from mycel.surfaces.cli import event_display, options
from mycel.surfaces.cli.invocation import Command, ListingGroup, invocation
from mycel.surfaces.cli.options import any_of

# As `mycel list` without a limit.
_PAGE = 50

EventIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the event.")]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=ListingGroup, help="Look into the engine's queue and its log. Alone it lists.")
    for name, command in (("list", list_events), ("show", show), ("retry", retry)):
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="events", rich_help_panel="Run")


def list_events(
    context: typer.Context,
    *,
    state: Annotated[
        str | None, typer.Option(metavar="STATE", help=f"Only these; one of {any_of(EventState)}.")
    ] = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List ingestion events, the newest first."""
    call = invocation(context)
    with call.memory() as memory:
        page = memory.sources.events(state=state, limit=_PAGE if limit is None else limit, cursor=cursor)
    call.answer(page, lambda: event_display.show_events(page))


def show(context: typer.Context, id: EventIdArgument) -> None:
    """Show one event: what was to be done, how far it is, and why it failed if it did."""
    call = invocation(context)
    with call.memory() as memory:
        event = memory.sources.event(id)
    call.answer(event, lambda: event_display.show_event(event))


def retry(context: typer.Context, id: EventIdArgument) -> None:
    """Have an event that failed or was given up done again; others stay as they are."""
    call = invocation(context)
    with call.memory() as memory:
        event = memory.sources.retry(id)
    call.answer(event, lambda: event_display.show_event_done(event, done=event.state.value))
