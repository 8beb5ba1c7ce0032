"""The commands about the engine's queue, and how its events look while they are worked on and after."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.domain.source import UNFINISHED, EventState
from mycel.errors import NotFound
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, when
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import ListingGroup, add_group, invocation
from mycel.surfaces.cli.options import any_of
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.domain.ids import EventId, TeamName
    from mycel.domain.query import Page
    from mycel.domain.source import IngestionEvent
    from mycel.embedded.workspace import Workspace


# As `mycel list` without a limit.
_PAGE = 50

EventIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the event.")]


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "events",
        "Run",
        {"list": list_events, "show": show, "retry": retry},
        help="Look into the engine's queue and its log. Alone it lists.",
        cls=ListingGroup,
    )


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
    with teams_of(call) as teams:
        page = teams.page_by(
            lambda memory, most, after: memory.sources.events(
                state=state, limit=_PAGE if most is None else most, cursor=after
            ),
            limit=limit,
            cursor=cursor,
            place=lambda event: event.id,
        )
    call.answer(page, lambda: show_events(page))


def show(context: typer.Context, id: EventIdArgument) -> None:
    """Show one event: what was to be done, how far it is, and why it failed if it did."""
    call = invocation(context)
    with teams_of(call) as teams:
        event = teams.having(lambda memory: memory.sources.event(id), id=id).sources.event(id)
    call.answer(event, lambda: show_event(event))


def retry(context: typer.Context, id: EventIdArgument) -> None:
    """Have an event that failed or was given up done again; others stay as they are."""
    call = invocation(context)
    with teams_of(call) as teams:
        event = teams.having(lambda memory: memory.sources.event(id), id=id).sources.retry(id)
    call.answer(event, lambda: show_event_done(event, done=event.state.value))


# Of each team, the newest that may have come and gone between two looks, and of what waits as much as one page holds.
_NEWEST = 50
_WAITING = 1000
_OVER = frozenset({EventState.DONE, EventState.DEAD})


class Watch:
    """Sees what the operator sees: events about the private material of others go by unseen."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._newest: dict[TeamName, str] = {}
        self._tries: dict[TeamName, dict[EventId, int]] = {}
        for _ in self.look():
            pass

    def look(self) -> Iterator[tuple[TeamName, IngestionEvent]]:
        """Each event that is over, or has failed once more; with its team, the oldest first."""
        for team in self._workspace.teams():
            for event in self._look_at(team.name, self._workspace.as_operator(team.name)):
                yield team.name, event

    def _look_at(self, team: TeamName, memory: MemoryApi) -> list[IngestionEvent]:
        # The newest first: what arrives between the two questions is then among what waits.
        newest = [event.id for event in memory.sources.events(limit=_NEWEST)]
        waiting = {
            event.id: event
            for state in UNFINISHED
            for event in memory.sources.events(state=state.value, limit=_WAITING)
        }
        known = self._tries.get(team)
        since = self._newest.get(team, "")
        self._tries[team] = {id: event.tries for id, event in waiting.items()}
        self._newest[team] = max(newest, default=since)
        if known is None:
            return []
        gone = {id for id in (*known, *newest) if id not in waiting and (id in known or id > since)}
        failed = [event for id, event in waiting.items() if event.tries > known.get(id, 0)]
        return [*_over(memory, sorted(gone)), *failed]


def _over(memory: MemoryApi, ids: list[EventId]) -> Iterator[IngestionEvent]:
    for id in ids:
        with suppress(NotFound):
            event = memory.sources.event(id)
            if event.state in _OVER:
                yield event


_STYLES = {
    EventState.DONE: "green",
    EventState.RUNNING: "cyan",
    EventState.FAILED: "yellow",
    EventState.DEAD: "red",
}
_NEXT = "`mycel work --once` does the rest now; otherwise the running service does"


def show_event_done(event: IngestionEvent, *, done: str) -> None:
    """The id alone is the answer; what comes next is for whoever watches."""
    show_done(event.id, f"{done}: {_next_of(event)}")


def show_events(page: Page[IngestionEvent]) -> None:
    columns = (
        Column("work", "bold"),
        Column("state"),
        Column("by"),
        Column("created", "dim"),
        Column("id", "dim", below=True),
        Column("outcome", below=True, apart=True),
    )
    if page:
        print_table(columns, [_row(event) for event in page])
    else:
        note("No events.")
    show_more(page)


def show_event(event: IngestionEvent) -> None:
    print_lines([line((_work_of(event), "bold"), "  ", (event.state.value, _STYLES.get(event.state, "")))])
    print_lines(labelled(name, value) for name, value in _fields(event) if value)


def show_finished(event: IngestionEvent, *, team: str) -> None:
    """One line for whoever follows the engine."""
    said = (event.outcome if event.state is EventState.DONE else event.error) or ""
    state = (event.state.value, _STYLES.get(event.state, ""))
    time = f"{event.updated_at.astimezone():%H:%M:%S}"
    print_lines([line((f"{time}  ", "dim"), (team, "bold"), f"  {_work_of(event)} ", state, f"  {said}")])


def _next_of(event: IngestionEvent) -> str:
    if event.state is EventState.DONE:
        return event.outcome or "done"
    if event.state in (EventState.FAILED, EventState.DEAD):
        return f"it {_failed(event)}; `mycel events retry {event.id}` tries again"
    if event.state is EventState.RUNNING:
        return "it is being worked on"
    if event.due_at is not None and event.due_at > datetime.now(UTC):
        return f"nothing is drawn from it before it is closed, or quiet until {moment(event.due_at)}"
    return _NEXT


def _failed(event: IngestionEvent) -> str:
    return f"failed {event.tries} times ({event.error})" if event.tries > 1 else f"failed ({event.error})"


def _row(event: IngestionEvent) -> tuple[str, ...]:
    said = event.error or event.outcome or ""
    return _work_of(event), event.state, event.agent_id, when(event.created_at), event.id, said


def _work_of(event: IngestionEvent) -> str:
    return ", ".join(event.steps) or "store"


def _fields(event: IngestionEvent) -> list[tuple[str, str]]:
    return [
        ("id", event.id),
        ("trigger", event.trigger),
        ("by", event.agent_id),
        ("scope", event.scope),
        ("source", event.source_id or ""),
        ("outcome", event.outcome or ""),
        ("error", event.error or ""),
        ("tries", str(event.tries or "")),
        ("takeovers", str(event.takeovers or "")),
        ("created", moment(event.created_at)),
        ("updated", moment(event.updated_at)),
        ("due", moment(event.due_at)),
        ("leased until", moment(event.lease_until)),
    ]
