"""The commands that say why: explain a search or a memory, and bring the vectors up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import line, note, print_lines, progress

if TYPE_CHECKING:
    from mycel.domain.embedding import EmbeddingProgress
    from mycel.domain.ids import TeamName
    from mycel.domain.recall import Explanation


def add_to(app: typer.Typer) -> None:
    app.command("explain", cls=Command, rich_help_panel="Find")(explain)
    app.command("embed", cls=Command, rich_help_panel="Run")(embed)


def explain(
    context: typer.Context,
    recall: Annotated[
        str | None, typer.Argument(metavar="RECALL", help="The id of one of your searches; `search` prints it.")
    ] = None,
    *,
    missing: Annotated[
        str | None, typer.Option(metavar="ID", help="Say at which step the search left this memory behind.")
    ] = None,
    memory: Annotated[str | None, typer.Option(metavar="ID", help="Say what is known about a memory instead.")] = None,
) -> None:
    """Say why a search found what it found, why a memory was not in it, or where a memory comes from."""
    call = invocation(context)
    with teams_of(call) as teams:
        told = teams.where_it_is(lambda one: one.explain(recall, memory_id=memory, missing=missing))
    call.answer(told, lambda: _show(told))


def embed(context: typer.Context) -> None:
    """Make the vectors that are missing, in every team, with the embedder of the settings."""
    call = invocation(context)
    with call.files() as workspace, progress("working") as report:
        done = workspace.embed_pending(report=report)
        teams = {team.name: workspace.embedding_progress(team.name) for team in workspace.teams()}
    call.answer({"done": done, "teams": teams}, lambda: _show_progress(teams))


def _show(told: Explanation) -> None:
    head = "" if told.step is None else f"{told.step}: "
    print_lines([line((head, "bold"), told.text)])


def _show_progress(teams: Mapping[TeamName, EmbeddingProgress]) -> None:
    for team, made in teams.items():
        if made.model is None:
            note("The embedder is `none`: memories are found by their words. See `mycel model list`.")
            return
        if made.embedded or made.pending:
            print_lines([line(f"{team}: {made.embedded} embedded, {made.pending} waiting, {made.model}")])
