"""The command that a coding agent starts: an MCP server over standard input and output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.errors import InvalidInput
from mycel.surfaces.cli.invocation import Command, Invocation, invocation
from mycel.surfaces.mcp.tool_sets import TOOL_SETS, ToolSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from mycel.embedded.working_memory import WorkingMemory


def add_to(app: typer.Typer) -> None:
    app.command("mcp", cls=Command, rich_help_panel="Agents")(mcp)


def mcp(
    context: typer.Context,
    tools: Annotated[
        str,
        typer.Option(metavar="SET", help="Which tools the model gets: coding, team, swarm or full."),
    ] = TOOL_SETS[0],
    project: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The project it works in; by default that of the current folder."),
    ] = None,
    session: Annotated[
        str, typer.Option(metavar="ID", help="The session whose working memory it goes on with.")
    ] = "default",
) -> None:
    """Serve MCP over standard input and output, for a coding agent that starts it.

    Who it is says the token in MYCEL_TOKEN, --as or MYCEL_AGENT. The service is started if none runs; over HTTP it
    serves the same at /mcp.
    """
    call = invocation(context)
    if tools not in TOOL_SETS:
        raise InvalidInput(f"must be one of {', '.join(TOOL_SETS)}", field="tools")
    if sys.stdin.isatty():
        typer.echo("mycel mcp speaks to an agent over standard input; `mycel install AGENT` sets one up.", err=True)

    from mycel.surfaces.hooks.environment import read_environment
    from mycel.surfaces.mcp.command import Asked, by_the_service, place_of, relay

    settings = read_environment(call.settings().data)
    if by_the_service(settings, ToolSet(tools)):
        relay(settings, Asked(tools, project, call.member, call.team))
        return
    import logging

    from mycel.surfaces.mcp.stdio import run_stdio

    # Standard output is the agent's.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    run_stdio(
        lambda: call.memory_in(call.lasting()),
        tools=ToolSet(tools),
        working=_working(call, session),
        place=place_of(project),
    )


def _working(call: Invocation, session: str) -> Callable[[str], WorkingMemory]:
    from mycel.embedded.working_memory import WorkingMemory

    def working(agent_id: str) -> WorkingMemory:
        memory = WorkingMemory(agent_id, session_id=session, data=call.settings().data)
        memory.snapshot_on_exit()
        return memory

    return working
