"""The commands about artifacts: what agents produced, and whether the files are still the same."""

from __future__ import annotations

from typing import Annotated

import typer

from mycel.domain.artifact import ArtifactType
from mycel.surfaces.cli import options
from mycel.surfaces.cli.artifact_display import (
    artifact_shape,
    show_artifact,
    show_artifacts,
    show_registered,
    show_verification,
)
from mycel.surfaces.cli.display import show_done
from mycel.surfaces.cli.invocation import Command, ListingGroup, invocation
from mycel.surfaces.cli.material import FROM_INPUT, read_material
from mycel.surfaces.cli.options import any_of, given, naming

ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="The id of the artifact.")]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=ListingGroup, help="Register and find what agents produced. Alone it lists.")
    for name, command in (
        ("list", list_artifacts),
        ("register", register),
        ("get", get),
        ("verify", verify),
        ("delete", delete),
    ):
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="artifacts", rich_help_panel="Capture")


def list_artifacts(
    context: typer.Context,
    *,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Produced for this task.")] = None,
    type: Annotated[str | None, typer.Option(metavar="TYPE", help=f"One of {any_of(ArtifactType)}.")] = None,
    path: Annotated[
        str | None, typer.Option(metavar="PATH", help="This file or, ending in /, everything below this folder.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="MEMBER", help="Produced by this member.")] = None,
    project: options.ProjectFilter = None,
    text: Annotated[str | None, typer.Option(metavar="WORDS", help="What a search finds, the best first.")] = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List artifacts, the newest first; with --text the best match first."""
    chosen = given(
        {
            "task_id": task,
            "type": type,
            "path": path,
            "agent_id": agent,
            "project": project,
            "text": text,
            "since": since,
            "until": until,
        }
    )
    call = invocation(context)
    with naming(task_id="task", agent_id="agent"), call.memory(reads_other_team=True) as memory:
        page = memory.artifacts.list(limit=limit, cursor=cursor, team=call.team, **chosen)
    answer = {"items": [artifact_shape(artifact) for artifact in page], "next_cursor": page.next_cursor}
    call.answer(answer, lambda: show_artifacts(page))


def register(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file, in the current or a configured folder.")],
    *,
    type: Annotated[
        str, typer.Option(metavar="TYPE", help=f"One of {any_of(ArtifactType)}.")
    ] = ArtifactType.FILE.value,
    description: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is.")] = None,
    task: options.Task = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="Who produced it, if not you; for orchestrators, leads and admins."),
    ] = None,
    content: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Its content, instead of the file's; `-` reads it from standard input."),
    ] = None,
    size_bytes: Annotated[
        int | None, typer.Option(metavar="N", help="Its size, where the file itself cannot be read.")
    ] = None,
    checksum: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Its SHA-256, where the file itself cannot be read.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the text, so that a search finds it.")] = False,
    tag: options.Tag = None,
    project: options.Project = None,
    repo: options.Repo = None,
    session_id: options.SessionId = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Register a file or other output with its size and SHA-256, and print its id."""
    fields = given(
        {
            "type": type,
            "description": description,
            "task_id": task,
            "agent_id": agent,
            "keep_content": keep,
            "size_bytes": size_bytes,
            "checksum": checksum,
            "tags": tag,
            "project": project,
            "repo": repo,
            "session_id": session_id,
            "visibility": visibility,
            "allowed_roles": role,
            "idempotency_key": idempotency_key,
        }
    )
    text = read_material(FROM_INPUT, field="content") if content == FROM_INPUT else content
    call = invocation(context)
    names = naming(task_id="task", agent_id="agent", keep_content="keep", tags="tag", allowed_roles="role")
    with names, call.memory(reads_files=True) as memory:
        artifact = memory.artifacts.register(path=path, content=text, **fields)
    call.answer(artifact_shape(artifact), lambda: show_registered(artifact))


def get(context: typer.Context, id: ArtifactId) -> None:
    """Show one artifact, with its text if that was kept."""
    call = invocation(context)
    with call.memory() as memory:
        artifact = memory.artifacts.get(id)
    call.answer(artifact_shape(artifact), lambda: show_artifact(artifact))


def verify(context: typer.Context, id: ArtifactId) -> None:
    """Tell whether the file is unchanged, changed or gone since it was registered."""
    call = invocation(context)
    with call.memory(reads_files=True) as memory:
        verification = memory.artifacts.verify(id)
    call.answer(verification, lambda: show_verification(verification))


def delete(context: typer.Context, id: ArtifactId) -> None:
    """Delete the record of an artifact; the file stays, and `mycel restore` brings the record back."""
    call = invocation(context)
    with call.memory() as memory:
        memory.artifacts.delete(id)
    call.answer({"id": id, "deleted": True}, lambda: show_done(id, "deleted"))
