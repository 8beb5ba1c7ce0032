"""`mycel hook`: what the hooks of coding agents run. It comes by here only for its help, or with options before it."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.hooks.hook_event import AGENTS


def add_to(app: typer.Typer) -> None:
    app.command("hook", cls=Command, rich_help_panel="Run")(hook)


def hook(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=f"Which agent calls: {', '.join(AGENTS)}.")],
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event, by the agent's own name of it.")],
) -> None:
    """Answer a hook of a coding agent: its JSON on standard input, an answer in its own form on standard output.

    Sessions are given what the team knows and are captured in turn. Nothing that goes wrong reaches the agent: see
    hooks/hooks.log in the data directory.
    """
    from mycel.surfaces.hooks.command import Asked
    from mycel.surfaces.hooks.command import hook as answer

    shared = invocation(context)
    answer(Asked(agent.lower(), event, shared.member, shared.data))
