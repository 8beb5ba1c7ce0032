"""The commands about the service of the data directory: is it there, end it, and open its pages in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.memory import Status
from mycel.domain.source import UNFINISHED
from mycel.errors import InvalidInput
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.output import Column, line, note, print_lines, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mycel.client.daemon import Daemon
    from mycel.domain.query import Statistics


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Run", {"status": status, "stop": stop, "open": open_})


def status(context: typer.Context) -> None:
    """Say whether the service runs, where, on which data, and what each team holds. Starts nothing."""
    call = invocation(context)
    call.require_data()
    running = None if call.settings().url is not None else _running(call)
    answers = running is not None or call.settings().url is not None
    told = {**_service(call, running), "teams": _teams(call) if answers else None}
    call.answer(told, lambda: _show(told))


def stop(context: typer.Context) -> None:
    """End the service of the data directory, once it has answered what it was asked. Does nothing where none runs."""
    call = invocation(context)
    call.require_operator()
    call.require_data()
    if call.settings().url is not None:
        raise InvalidInput("names a service elsewhere: it is stopped where it runs", field="MYCEL_URL")

    from mycel.client.daemon import stop_daemon

    stopped = stop_daemon(call.settings().data)
    told = {"stopped": stopped is not None, **({} if stopped is None else {"url": stopped.url, "pid": stopped.pid})}
    ended = (
        "No service runs." if stopped is None else f"The service at {stopped.url}, process {stopped.pid}, has ended."
    )
    call.answer(told, lambda: typer.echo(ended))


def open_(
    context: typer.Context,
    *,
    print_only: Annotated[bool, typer.Option("--print", help="Show the link instead of opening a browser.")] = False,
) -> None:
    """Open the pages for people, signed in. The service is started if none runs.

    The link works once, within ten minutes, for the operator or for whom --as names.
    """
    call = invocation(context)
    with call.through_service() as workspace:
        link = workspace.sign_in_link(call.member)
    opened = False if print_only or call.as_json else _browse(link["url"])
    call.answer(
        {**link, "opened": opened},
        lambda: typer.echo("The pages are open in your browser." if opened else link["url"]),
    )


def _browse(url: str) -> bool:
    import webbrowser

    return webbrowser.open(url)


def _running(call: Invocation) -> Daemon | None:
    from mycel.client.daemon import find_daemon

    return find_daemon(call.settings().data)


def _service(call: Invocation, running: Daemon | None) -> dict[str, Any]:
    settings = call.settings()
    if settings.url is not None:
        return {"running": True, "url": settings.url}
    found = {"running": running is not None, "data": str(settings.data), "is_on_postgres": settings.is_on_database}
    if running is None:
        return found
    return {**found, "url": running.url, "pid": running.pid, "version": running.version}


def _teams(call: Invocation) -> list[dict[str, Any]]:
    with teams_of(call) as teams:
        return [_counted(memory.team, memory.stats()) for memory in teams.memories.values()]


def _counted(team: str, counts: Statistics) -> dict[str, Any]:
    return {
        "team": team,
        "active": counts.by_status.get(Status.ACTIVE, 0),
        "inbox": counts.by_status.get(Status.INBOX, 0),
        "engine_waiting": sum(counts.events.get(state, 0) for state in UNFINISHED),
    }


def _show(told: Mapping[str, Any]) -> None:
    where = f" on {'Postgres' if told['is_on_postgres'] else told['data']}" if "data" in told else ""
    if not told["running"]:
        print_lines([line(f"No service runs{where}.")])
        note("Commands start one when they need it; `mycel serve` runs one in the foreground.")
        return
    process = f", process {told['pid']}, Mycel {told['version']}" if "pid" in told else ""
    print_lines([line(f"The service runs at {told['url']}{process}{where}.")])
    teams: Sequence[Mapping[str, Any]] = told["teams"]
    rows = [[str(team[name]) for name in ("team", "active", "inbox", "engine_waiting")] for team in teams]
    print_table([Column("team"), Column("active"), Column("inbox"), Column("waiting for the engine")], rows)
