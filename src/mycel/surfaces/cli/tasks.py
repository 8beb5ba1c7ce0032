"""The commands that say what a task came to."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.errors import InvalidInput
from mycel.surfaces.cli import options
from mycel.surfaces.cli.event_display import show_event_done
from mycel.surfaces.cli.invocation import Command, Group, invocation
from mycel.surfaces.cli.material import FROM_INPUT, read_material
from mycel.surfaces.cli.options import given, naming

TaskId = Annotated[str, typer.Argument(metavar="ID", help="The id of the task.")]
Output = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What came out of it; `-` reads it from standard input.")
]
OutputFile = Annotated[str | None, typer.Option(metavar="FILE", help="A file that holds the output.")]
Approach = Annotated[str | None, typer.Option(metavar="TEXT", help="How it was done, for who does it next.")]
Title = Annotated[str | None, typer.Option(metavar="TEXT", help="What the task is called.")]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=Group, help="Say what a task came to.")
    for name, command in (("complete", complete), ("fail", fail)):
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="task", rich_help_panel="Capture")


def complete(
    context: typer.Context,
    id: TaskId,
    *,
    output: Output = None,
    output_file: OutputFile = None,
    approach: Approach = None,
    title: Title = None,
    project: options.Project = None,
    repo: options.Repo = None,
    session_id: options.SessionId = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
) -> None:
    """Save what a finished task came to; lessons in its output follow as candidates."""
    fields = given(
        {
            "approach": approach,
            "title": title,
            "project": project,
            "repo": repo,
            "session_id": session_id,
            "visibility": visibility,
            "allowed_roles": role,
        }
    )
    text = _output(output, file=output_file)
    if text is None:
        raise InvalidInput("is needed, or --output-file", field="output")
    call = invocation(context)
    with naming(task_id="id"), call.memory() as memory:
        event = memory.complete_task(task_id=id, output=text, **fields)
    call.answer(event, lambda: show_event_done(event, done="saved"))


def fail(
    context: typer.Context,
    id: TaskId,
    *,
    wrong: Annotated[str, typer.Option("--wrong", metavar="TEXT", help="What went wrong.")],
    output: Output = None,
    output_file: OutputFile = None,
    approach: Approach = None,
    title: Title = None,
    project: options.Project = None,
    repo: options.Repo = None,
    session_id: options.SessionId = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
) -> None:
    """Save why a task failed, for whoever tries it next; lessons follow as candidates."""
    fields = given(
        {
            "approach": approach,
            "title": title,
            "project": project,
            "repo": repo,
            "session_id": session_id,
            "visibility": visibility,
            "allowed_roles": role,
        }
    )
    text = _output(output, file=output_file)
    call = invocation(context)
    with naming(task_id="id", what_went_wrong="wrong"), call.memory() as memory:
        event = memory.fail_task(task_id=id, what_went_wrong=wrong, output=text, **fields)
    call.answer(event, lambda: show_event_done(event, done="saved"))


def _output(text: str | None, *, file: str | None) -> str | None:
    if file is not None:
        if text is not None:
            raise InvalidInput("is given already by --output", field="output_file")
        return read_material(file, field="output_file")
    return read_material(FROM_INPUT, field="output") if text == FROM_INPUT else text
