"""The commands that do the engine's work here and now, make vectors, and check every store."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mycel.domain.damage import GUIDE
from mycel.domain.source import EventState
from mycel.surfaces.cli.events import Watch, show_finished
from mycel.surfaces.cli.failure import FAILED
from mycel.surfaces.cli.invocation import Invocation, add_commands, invocation
from mycel.surfaces.cli.output import line, note, print_lines, progress
from mycel.wire.shapes import plain

if TYPE_CHECKING:
    from types import FrameType

    from mycel.domain.embedding import EmbeddingProgress
    from mycel.domain.ids import TeamName
    from mycel.domain.source import IngestionEvent
    from mycel.embedded.workspace import Workspace


LOOK_SECONDS = 1.0

Finished = tuple["TeamName", "IngestionEvent"]


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Run", {"work": work, "maintain": maintain, "embed": embed, "check": check})


def work(
    context: typer.Context,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
) -> None:
    """Do the engine's work in every team until Ctrl-C: drawing memories from what was captured, consolidating, vectors.

    A line tells of each piece of work that is finished; with --json each is a JSON value.
    """
    call = invocation(context)
    with call.files() as workspace:
        watch = Watch(workspace)
        if once:
            with progress("working") as report:
                done = workspace.run_pending(report=report)
            finished = list(watch.look())
            call.answer(_summary(done, finished), lambda: _show_summary(done, finished))
        else:
            _work_on(call, workspace, watch)


def maintain(context: typer.Context) -> None:
    """Do the nightly maintenance of every team now: archive what has expired, purge what policies want gone."""
    call = invocation(context)
    call.require_operator()
    with call.files() as workspace:
        watch = Watch(workspace)
        with progress("maintaining"):
            done = workspace.maintain()
        finished = list(watch.look())
    call.answer(_summary(done, finished), lambda: _show_summary(done, finished))


def _work_on(call: Invocation, workspace: Workspace, watch: Watch) -> None:
    with _stopped_by_signal() as stopped:
        workspace.work_beside()
        note("The engine works; Ctrl-C ends it.")
        while not stopped.wait(LOOK_SECONDS):
            for finished in watch.look():
                call.answer(_item(finished), lambda finished=finished: _show(finished))


@contextmanager
def _stopped_by_signal() -> Generator[threading.Event]:
    """What a service manager sends ends the work well; an interrupt goes its usual way."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGTERM, before)


def _summary(done: int, finished: list[Finished]) -> dict[str, object]:
    return {"done": done, "failed": len(_failures(finished)), "events": [_item(one) for one in finished]}


def _item(finished: Finished) -> dict[str, object]:
    team, event = finished
    return {"team": team, **cast(dict[str, object], plain(event))}


def _failures(finished: list[Finished]) -> list[IngestionEvent]:
    return [event for _, event in finished if event.state is not EventState.DONE]


def _show_summary(done: int, finished: list[Finished]) -> None:
    for one in finished:
        _show(one)
    print_lines([line(f"{done} piece{'' if done == 1 else 's'} of work done")])
    if failures := _failures(finished):
        note(f"{len(failures)} failed: `mycel events show ID` says more, `mycel events retry ID` tries again")


def _show(finished: Finished) -> None:
    team, event = finished
    show_finished(event, team=team)


def check(context: typer.Context) -> None:
    """Check every store in full, and say what is wrong. A store that was damaged and is sound is written again.

    Ends with code 1 if anything is damaged.
    """
    call = invocation(context)
    with call.operated() as workspace, progress("checking"):
        problems = workspace.check()
    call.answer({"ok": not problems, "problems": problems}, lambda: _show_problems(problems))
    if call.settings().is_on_database and not call.as_json:
        note("The rows were checked; the files are the server's, and pg_amcheck checks those.")
    if problems:
        raise typer.Exit(FAILED)


def _show_problems(problems: Mapping[str, Sequence[str]]) -> None:
    if not problems:
        print_lines([line("Every store is sound.")])
        return
    for store, found in problems.items():
        print_lines([line((store, "bold red"), text) for text in found])
    note(f"Restore what is damaged from a backup or an archive, then check again; see {GUIDE}.")


def embed(context: typer.Context) -> None:
    """Make the vectors that are missing, in every team, with the embedder of the settings."""
    call = invocation(context)
    with call.files() as workspace, progress("working") as report:
        done = workspace.embed_pending(report=report)
        teams = {team.name: workspace.embedding_progress(team.name) for team in workspace.teams()}
    call.answer({"done": done, "teams": teams}, lambda: _show_progress(teams))


def _show_progress(teams: Mapping[TeamName, EmbeddingProgress]) -> None:
    for team, made in teams.items():
        if made.model is None:
            note("The embedder is `none`: memories are found by their words. See `mycel model list`.")
            return
        if made.embedded or made.pending:
            print_lines([line(f"{team}: {made.embedded} embedded, {made.pending} waiting, {made.model}")])
