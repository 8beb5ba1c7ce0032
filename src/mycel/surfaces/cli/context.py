"""The command that gathers what an agent should know before a task."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.json_shapes import shape
from mycel.surfaces.cli.options import given
from mycel.surfaces.cli.output import line, note, print_lines

if TYPE_CHECKING:
    from mycel.domain.context import ContextBundle


class Style(StrEnum):
    """How the bundle is written: all sections, the team's newest lines, or the matches of the task."""

    MARKDOWN = "markdown"
    TEAM = "team"
    SWARM = "swarm"


TaskArgument = Annotated[
    str | None, typer.Argument(metavar="TASK", help="What the agent is about to do, in plain words, or the task's id.")
]
ProjectPlace = Annotated[str | None, typer.Option("--project", metavar="NAME", help="The project it will work in.")]
RepoPlace = Annotated[str | None, typer.Option("--repo", metavar="NAME", help="The repo it will work in.")]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="MEMBER", help="For whom, if not for you: then only what the whole team may read."),
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", help="At most so many tokens, 100 to 100000; 2000 by default.")
]
StyleOption = Annotated[
    Style,
    typer.Option(
        "--style", help="All sections, the block `Recent Team Memory`, or the section `Relevant Past Knowledge`."
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command("context", cls=Command, rich_help_panel="Find")(context_for)


def context_for(
    context: typer.Context,
    task: TaskArgument = None,
    *,
    project: ProjectPlace = None,
    repo: RepoPlace = None,
    agent: AgentOption = None,
    budget: Budget = None,
    style: StyleOption = Style.MARKDOWN,
) -> None:
    """Gather what an agent should know before it starts a task, within a budget of tokens."""
    request = given({"project": project, "repo": repo, "agent": agent, "task": task, "token_budget": budget})
    call = invocation(context)
    with call.memory() as memory:
        bundle = memory.context_for(**request)
    text = _written(bundle, style)
    answer = {"text": text, **cast(dict[str, object], shape(bundle))}
    call.answer(answer, lambda: _show(bundle, text))


def _written(bundle: ContextBundle, style: Style) -> str:
    if style is Style.TEAM:
        return bundle.to_team_memory()
    return bundle.to_past_knowledge() if style is Style.SWARM else bundle.to_markdown()


def _show(bundle: ContextBundle, text: str) -> None:
    if text:
        print_lines([line(text)])
    else:
        note("Nothing to tell.")
    if bundle.degraded:
        note(f"Searched without {', '.join(bundle.degraded)}.")
