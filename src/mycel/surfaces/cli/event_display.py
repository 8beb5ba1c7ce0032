"""How ingestion events look to a person: what there was to do, how far it is, and what comes next."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mycel.domain.source import EventState
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, when
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table

if TYPE_CHECKING:
    from mycel.domain.query import Page
    from mycel.domain.source import IngestionEvent

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
