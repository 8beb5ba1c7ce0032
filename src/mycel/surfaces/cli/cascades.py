"""The commands between teams: sending a memory down or up the tree, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import named, show_more, when
from mycel.surfaces.cli.events import show_event_done
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import add_commands, invocation
from mycel.surfaces.cli.output import Column, note, print_table
from mycel.surfaces.cli.review import titles_in

# As `mycel list` without a limit.
_PAGE = 50

if TYPE_CHECKING:
    from mycel.domain.cascade import Cascade
    from mycel.domain.query import Page


def add_to(app: typer.Typer) -> None:
    add_commands(
        app,
        "Between teams",
        {"cascade": cascade, "escalate": escalate, "withdraw": withdraw, "cascades": list_cascades},
    )


def cascade(context: typer.Context, id: options.Id) -> None:
    """Send a memory to every team below; its later versions follow. For leads and admins."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        event = place.memory.cascade(place.id)
    call.answer(event, lambda: show_event_done(event, done=f"{named(place.found[0])} sent to the teams below"))


def escalate(context: typer.Context, id: options.Id) -> None:
    """Send a memory to the parent team; its later versions follow. For leads and admins."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        event = place.memory.escalate(place.id)
    call.answer(event, lambda: show_event_done(event, done=f"{named(place.found[0])} sent to the parent team"))


def withdraw(context: typer.Context, id: options.Id) -> None:
    """Take back every copy of a memory that was sent to other teams; the memory itself stays."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        event = place.memory.withdraw(place.id)
    call.answer(event, lambda: show_event_done(event, done=f"{named(place.found[0])} withdrawn"))


def list_cascades(context: typer.Context, *, limit: options.PageLimit = None, cursor: options.Cursor = None) -> None:
    """List the memories that were sent to other teams, the newest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        sent = teams.page_by(
            lambda memory, most, after: memory.cascades(limit=_PAGE if most is None else most, cursor=after),
            limit=limit,
            cursor=cursor,
            place=lambda one: one.started_at,
        )
        titles = {} if call.as_json else titles_in(teams, [one.memory_id for one in sent])
    call.answer(sent, lambda: _show(sent, titles=titles))


def _show(sent: Page[Cascade], *, titles: Mapping[str, str]) -> None:
    columns = (Column("memory", "bold"), Column("sent"), Column("by"), Column("started", "dim"))
    rows = [
        (
            titles[one.memory_id],
            one.direction,
            one.started_by,
            when(one.started_at),
            one.memory_id,
        )
        for one in sent
    ]
    if rows:
        print_table((*columns, Column("id", "dim", below=True)), rows)
    else:
        note("No memory of this team is shared with others.")
    show_more(sent)
