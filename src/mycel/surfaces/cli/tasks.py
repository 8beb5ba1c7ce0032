"""The commands that say what a task came to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mycel.domain.episode import EPISODE_WRITTEN
from mycel.domain.source import SURROUNDINGS
from mycel.errors import InvalidInput
from mycel.surfaces.cli import options
from mycel.surfaces.cli.episodes import show_briefing
from mycel.surfaces.cli.events import show_event_done
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import add_group, invocation
from mycel.surfaces.cli.material import FROM_INPUT, read_material
from mycel.surfaces.cli.merged_answers import merge_briefings
from mycel.surfaces.cli.options import given, naming, with_fields

TaskId = Annotated[str, typer.Argument(metavar="ID", help="The id of the task.")]
Output = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What came out of it; `-` reads it from standard input.")
]
OutputFile = Annotated[str | None, typer.Option(metavar="FILE", help="A file that holds the output.")]
Lesson = Annotated[
    list[str] | None,
    typer.Option("--lesson", metavar="TEXT", help="What was learned, for the inbox; repeat it for several."),
]
ArtifactPath = Annotated[
    list[str] | None,
    typer.Option("--artifact", metavar="PATH", help="A file that came out of it; repeat it for several."),
]
_ABOUT = (
    EPISODE_WRITTEN["approach"],
    *(row for name, row in SURROUNDINGS.items() if name not in {"task_id", "thread_id"}),
)


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "task",
        "Capture",
        {"brief": brief, "complete": complete, "fail": fail},
        help="What to know before a task, and what it came to.",
    )


def brief(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task in your own words, or its id.")],
    *,
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="Its id, if it was tried before.")] = None,
    project: options.Project = None,
    repo: options.Repo = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="At most so many of each sort.")] = None,
    budget: Annotated[int | None, typer.Option(metavar="N", help="The most tokens of the text.")] = None,
) -> None:
    """What to know before a task is handed out: what failed, what worked elsewhere, what is known."""
    call = invocation(context)
    place = {"project": project, "repo": repo}
    with naming(**{"token_budget": "budget"}), teams_of(call) as teams:
        each = teams.each(
            lambda memory: memory.before_task(task, task_id=id, limit=limit, token_budget=budget, **place)
        )
        briefing = merge_briefings(list(each.values()))
    call.answer(briefing, lambda: show_briefing(briefing))


@with_fields(_ABOUT)
def complete(
    context: typer.Context,
    id: TaskId,
    *,
    fields: dict[str, Any],
    output: Output = None,
    output_file: OutputFile = None,
    lesson: Lesson = None,
    artifact: ArtifactPath = None,
) -> None:
    """Save what a finished task came to; lessons in its output follow as candidates."""
    text = _output(output, file=output_file)
    if text is None:
        raise InvalidInput("is needed, or --output-file", field="output")
    _save(context, id, fields | {"action": "completed", "output": text}, lesson, artifact)


@with_fields(_ABOUT)
def fail(
    context: typer.Context,
    id: TaskId,
    *,
    fields: dict[str, Any],
    wrong: Annotated[str, typer.Option("--wrong", metavar="TEXT", help="What went wrong.")],
    output: Output = None,
    output_file: OutputFile = None,
    lesson: Lesson = None,
    artifact: ArtifactPath = None,
) -> None:
    """Save why a task failed, for whoever tries it next; lessons follow as candidates."""
    text = _output(output, file=output_file)
    _save(context, id, fields | {"action": "failed", "what_went_wrong": wrong, "output": text}, lesson, artifact)


def _save(
    context: typer.Context, id: str, fields: dict[str, Any], lessons: list[str] | None, paths: list[str] | None
) -> None:
    fields |= given({"lessons": lessons, "artifacts": [{"path": path} for path in paths or ()]})
    call = invocation(context)
    with naming(task_id="id", what_went_wrong="wrong"), call.memory(reads_files=bool(paths)) as memory:
        event = memory.after_task(task_id=id, **fields).event
    call.answer(event, lambda: show_event_done(event, done="saved"))


def _output(text: str | None, *, file: str | None) -> str | None:
    if file is not None:
        if text is not None:
            raise InvalidInput("is given already by --output", field="output_file")
        return read_material(file, field="output_file")
    return read_material(FROM_INPUT, field="output") if text == FROM_INPUT else text
