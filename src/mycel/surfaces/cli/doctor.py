"""`mycel doctor`: is everything well, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from mycel.errors import MycelError
from mycel.surfaces.cli.exit_codes import FAILED
from mycel.surfaces.cli.invocation import Command, Invocation, invocation
from mycel.surfaces.cli.output import line, print_lines

if TYPE_CHECKING:
    from mycel.surfaces.agents.findings import Finding

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def add_to(app: typer.Typer) -> None:
    app.command("doctor", cls=Command, rich_help_panel="Agents")(doctor)


def doctor(context: typer.Context) -> None:
    """Check everything that an agent needs, and say what to do about what is not well.

    Delivers what hooks have left in their queue. Ends with code 1 if anything is a problem.
    """
    call = invocation(context)
    findings = list(_examine(call))
    ends_well = all(one.state != "problem" for one in findings)
    call.answer({"ok": ends_well, "checks": findings}, lambda: _show(findings))
    if not ends_well:
        raise typer.Exit(FAILED)


def _examine(call: Invocation) -> Iterator[Finding]:
    from mycel.surfaces.agents.agent_checks import check_agents
    from mycel.surfaces.agents.checkup import check_data, check_queue, check_service, check_sqlite
    from mycel.surfaces.agents.findings import ok, problem

    try:
        settings = call.settings()
    except MycelError as error:
        yield problem("settings", str(error), "correct it, then run this again")
        return
    yield ok("settings", "can be read")
    data = check_data(settings.data)
    yield data
    yield check_sqlite()
    if data.state == "problem":
        return
    service = check_service(settings)
    yield service
    if service.state != "problem":
        yield from _through_the_service(call)
        yield check_queue(settings, call.member)
    yield from check_agents(settings)


def _through_the_service(call: Invocation) -> Iterator[Finding]:
    from mycel.surfaces.agents.checkup import check_caller, check_index, check_stores
    from mycel.surfaces.agents.findings import problem

    try:
        with call.workspace() as workspace:
            memory = call.memory_in(workspace)
            yield check_caller(memory)
            yield from check_stores(workspace)
            yield check_index(workspace, memory)
    except MycelError as error:
        yield problem("member", str(error), "set MYCEL_URL and MYCEL_TOKEN to a service and a token of it, or neither")


def _show(findings: Sequence[Finding]) -> None:
    width = max(len(one.name) for one in findings)
    for one in findings:
        advice = f" → {one.advice}" if one.advice else ""
        print_lines(
            [line((f"{one.state:<8}", _STYLES[one.state]), f" {one.name:<{width}}  {one.text}", (advice, "bold"))]
        )
