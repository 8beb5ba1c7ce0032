"""`mycel doctor`: is everything well, and what to do where it is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import typer

from mycel.errors import MycelError
from mycel.stores.layout import is_unused
from mycel.surfaces.cli.failure import FAILED
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.membership import admit
from mycel.surfaces.cli.output import line, print_lines

if TYPE_CHECKING:
    from mycel.surfaces.agents.checks import Finding

    # What was found, and the members with their teams where they may be asked for.
    Told = tuple[list[Finding], Mapping[str, str] | None]

PATIENCE_SECONDS = 8.0

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Agents", {"doctor": doctor})


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
    from mycel.surfaces.agents.agent_checks import Surroundings, check_agents
    from mycel.surfaces.agents.checks import (
        check_data,
        check_language_model,
        check_queue,
        check_service,
        check_sqlite,
        ok,
        problem,
    )
    from mycel.surfaces.agents.database_checks import check_database

    try:
        settings = call.settings()
    except MycelError as error:
        yield problem("settings", str(error), "correct it, then run this again")
        return
    yield ok("settings", "can be read")
    if settings.url is None:
        yield from check_language_model(settings)
    data = check_data(settings.data, is_on_files=settings.is_on_files)
    yield data
    database = list(check_database(settings)) if settings.is_on_database else []
    yield from database or [check_sqlite()]
    if data.state == "problem":
        return
    if any(one.state == "problem" for one in database):
        yield from check_agents(Surroundings(settings, silence="the database is not well"))
        return
    if settings.is_on_files and is_unused(settings.data):
        yield from check_agents(Surroundings(settings, silence="there is nothing to remember yet"))
        return
    found, service = check_service(settings)
    yield found
    if found.state == "problem":
        yield from check_agents(Surroundings(settings, silence="the service does not answer"))
        return
    findings, members = _in_time(lambda: _through_the_service(call))
    yield from findings
    yield check_queue(settings, call.member)
    yield from check_agents(Surroundings(settings, service, members))


def _through_the_service(call: Invocation) -> Told:
    from mycel.surfaces.agents.checks import check_caller, check_index, check_stores, problem

    try:
        with call.workspace() as workspace:
            admit(call, workspace)
            memory = call.memory_in(workspace)
            findings = [check_caller(memory), *check_stores(workspace), check_index(workspace, memory)]
            known = workspace.members() if workspace.who_am_i().is_operator else None
    except MycelError as error:
        advice = "set MYCEL_URL and MYCEL_TOKEN to a service and a token of it, or neither"
        return [problem("member", str(error), advice)], None
    return findings, None if known is None else {one.id: one.team for one in known}


def _in_time(ask: Callable[[], Told]) -> Told:
    """A service that takes every question and answers none must not keep the doctor."""
    from mycel.surfaces.agents.checks import problem

    answers: SimpleQueue[Told] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(ask()), name="mycel-doctor", daemon=True).start()
    try:
        return answers.get(timeout=PATIENCE_SECONDS)
    except Empty:
        text = f"the service did not answer a question within {PATIENCE_SECONDS:.0f} s"
        return [problem("member", text, "see what keeps it busy, or end it; it is started again")], None


def _show(findings: Sequence[Finding]) -> None:
    width = max(len(one.name) for one in findings)
    for one in findings:
        advice = f" → {one.advice}" if one.advice else ""
        print_lines(
            [line((f"{one.state:<8}", _STYLES[one.state]), f" {one.name:<{width}}  {one.text}", (advice, "bold"))]
        )
