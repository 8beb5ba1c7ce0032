"""The commands that say why: explain a search or a memory, and bring the vectors up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mycel.surfaces.cli.invocation import Command, invocation
from mycel.surfaces.cli.output import line, note, print_lines

if TYPE_CHECKING:
    from mycel.domain.embedding import EmbeddingProgress
    from mycel.domain.explanation import Explanation
    from mycel.domain.ids import TeamName

Report = Callable[[str, "EmbeddingProgress"], None]


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
    with call.memory() as team_memory:
        told = team_memory.explain(recall, memory_id=memory, missing=missing)
    call.answer(told, lambda: _show(told))


def embed(context: typer.Context) -> None:
    """Make the vectors that are missing, in every team, with the embedder of the settings."""
    call = invocation(context)
    with call.workspace() as workspace, _progress() as report:
        done = workspace.run_pending(report=report)
        teams = {team.name: workspace.embedding_progress(team.name) for team in workspace.teams()}
    call.answer({"done": done, "teams": teams}, lambda: _show_progress(teams))


def _show(told: Explanation) -> None:
    head = "" if told.step is None else f"{told.step}: "
    print_lines([line((head, "bold"), told.text)])


def _show_progress(teams: Mapping[TeamName, EmbeddingProgress]) -> None:
    for team, progress in teams.items():
        if progress.model is None:
            note("The embedder is `none`: memories are found by their words. See `mycel model list`.")
            return
        if progress.embedded or progress.pending:
            print_lines([line(f"{team}: {progress.embedded} embedded, {progress.pending} waiting, {progress.model}")])


@contextmanager
def _progress() -> Generator[Report | None]:
    """A bar for whoever watches; standard output stays free for the answer."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bars:
        tasks: dict[str, int] = {}

        def report(team: str, progress: EmbeddingProgress) -> None:
            if team not in tasks:
                tasks[team] = bars.add_task(f"embedding {team}")
            total = progress.embedded + progress.pending
            bars.update(tasks[team], total=total, completed=progress.embedded)  # pyright: ignore[reportArgumentType]

        yield report
