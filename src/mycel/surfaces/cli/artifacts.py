"""The commands about artifacts: what agents produced, whether the files are still the same, and how that looks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mycel.domain.artifact import ARTIFACT_WRITTEN, ArtifactType, FileState
from mycel.errors import InvalidInput
from mycel.surfaces.cli import options
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, team_column, when
from mycel.surfaces.cli.every_team import answer_deleted, teams_of
from mycel.surfaces.cli.invocation import Invocation, ListingGroup, add_group, invocation
from mycel.surfaces.cli.material import FROM_INPUT, read_material
from mycel.surfaces.cli.options import any_of, given, naming, with_fields, with_filters
from mycel.surfaces.cli.output import Column, line, note, one_line, print_lines, print_table

if TYPE_CHECKING:
    from mycel.domain.artifact import Artifact, Verification
    from mycel.domain.query import Page


FILTERS: Mapping[str, Any] = {
    "task_id": Annotated[str | None, typer.Option("--task", metavar="ID", help="Produced for this task.")],
    "type": Annotated[str | None, typer.Option(metavar="TYPE", help=f"One of {any_of(ArtifactType)}.")],
    "path": Annotated[
        str | None, typer.Option(metavar="PATH", help="This file or, ending in /, everything below this folder.")
    ],
    "agent_id": Annotated[str | None, typer.Option("--agent", metavar="MEMBER", help="Produced by this member.")],
    "project": options.ProjectFilter,
    "text": Annotated[str | None, typer.Option(metavar="WORDS", help="What a search finds, the best first.")],
    "since": options.Since,
    "until": options.Until,
}
ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="The id of the artifact.")]


def add_to(app: typer.Typer) -> None:
    add_group(
        app,
        "artifacts",
        "Capture",
        {"list": list_artifacts, "register": register, "get": get, "verify": verify, "delete": delete},
        help="Register and find what agents produced. Alone it lists.",
        cls=ListingGroup,
    )


@with_filters(FILTERS)
def list_artifacts(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List artifacts, the newest first; with --text the best match first."""
    call = invocation(context)
    with naming(task_id="task", agent_id="agent"), teams_of(call, reads_other_team=True) as teams:
        page = teams.page(
            lambda memory, most, after: memory.artifacts.list(limit=most, cursor=after, team=call.team, **filters),
            limit=limit,
            cursor=cursor,
            memory_of=lambda artifact: artifact.memory,
        )
        with_team = teams.are_several
    call.answer(page, lambda: show_artifacts(page, with_team=with_team))


@with_fields(ARTIFACT_WRITTEN.values())
def register(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file, in the current or a configured folder.")],
    *,
    fields: dict[str, Any],
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Register a file or other output with its size and SHA-256, and print its id."""
    fields |= given({"idempotency_key": idempotency_key})
    if fields.get("content") == FROM_INPUT:
        fields["content"] = read_material(FROM_INPUT, field="content")
    call = invocation(context)
    if call.settings().url is None and not fields.keys() & {"content", "size_bytes", "checksum"}:
        _require_file(call, path)
    names = naming(task_id="task", agent_id="agent", keep_content="keep", tags="tag", allowed_roles="role")
    with names, call.memory(reads_files=True) as memory:
        artifact = memory.artifacts.register(path=path, **fields)
    call.answer(artifact, lambda: show_registered(artifact))


def _require_file(call: Invocation, path: str) -> None:
    """Refuse a name that is no file: a slip of the pen would be registered as an output of unknown size."""
    roots = call.settings().artifact_roots
    folders = (Path(),) if roots is None else roots
    if not any((folder / path).exists() for folder in folders):
        told = "--content tells what it holds, --size-bytes and --checksum what is known of a file elsewhere"
        raise InvalidInput(
            f"there is no such file in {' or '.join(str(one.absolute()) for one in folders)}; {told}", field="path"
        )


def get(context: typer.Context, id: ArtifactId) -> None:
    """Show one artifact, with its text if that was kept."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        artifact = place.memory.artifacts.get(place.id)
    call.answer(artifact, lambda: show_artifact(artifact))


def verify(context: typer.Context, id: ArtifactId) -> None:
    """Tell whether the file is unchanged, changed or gone since it was registered."""
    call = invocation(context)
    with teams_of(call, reads_files=True) as teams:
        place = teams.find(id)
        verification = place.memory.artifacts.verify(place.id)
    call.answer(verification, lambda: show_verification(verification))


def delete(context: typer.Context, id: ArtifactId) -> None:
    """Delete the record of an artifact; the file stays, and `mycel restore` brings the record back."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        place.memory.artifacts.delete(place.id)
    answer_deleted(call, place)


# Enough to tell two apart by eye.
_SHOWN_DIGITS = 12
_STYLES = {FileState.UNCHANGED: "green", FileState.CHANGED: "yellow", FileState.GONE: "red"}


def show_artifacts(page: Page[Artifact], *, with_team: bool = False) -> None:
    columns = (
        Column("path", "bold"),
        Column("type", "cyan"),
        Column("task"),
        Column("by"),
        Column("created", "dim"),
        Column("id", "dim", below=True),
        Column("description", below=True, apart=True),
        *team_column(with_team=with_team),
    )
    if page:
        print_table(columns, [(*_row(one), *([one.memory.team] if with_team else [])) for one in page])
    else:
        note("No artifacts.")
    show_more(page)


def show_artifact(artifact: Artifact) -> None:
    print_lines([line((one_line(artifact.path), "bold"))])
    print_lines(labelled(name, value) for name, value in _fields(artifact) if value)
    if artifact.description is not None:
        print_lines([line(""), line(artifact.description)])
    if artifact.content is not None:
        print_lines([line(""), line(artifact.content)])


def show_registered(artifact: Artifact) -> None:
    """The id alone is the answer; what was measured is for whoever watches."""
    waits = ", waiting in the inbox for review" if artifact.memory.status.value == "inbox" else ""
    show_done(artifact.id, f"registered: {_measured(artifact)}{waits}")


def show_verification(verification: Verification) -> None:
    state = (verification.state.value, _STYLES.get(verification.state, ""))
    print_lines([line(state, f": {verification.why}")])


def _measured(artifact: Artifact) -> str:
    if artifact.checksum is None:
        return "no workspace folder has the file, so its size and checksum are not known"
    return f"{artifact.size_bytes:,} bytes, SHA-256 {artifact.checksum[:_SHOWN_DIGITS]}"


def _row(artifact: Artifact) -> tuple[str, ...]:
    about = one_line(artifact.description or "")
    created = when(artifact.created_at)
    return artifact.path, artifact.type, artifact.task_id or "", artifact.agent_id, created, artifact.id, about


def _fields(artifact: Artifact) -> list[tuple[str, str]]:
    memory = artifact.memory
    return [
        ("id", artifact.id),
        ("type", artifact.type),
        ("status", memory.status),
        ("task", artifact.task_id or ""),
        ("by", artifact.agent_id),
        ("registered by", "" if memory.agent_id == artifact.agent_id else memory.agent_id),
        ("team", memory.team),
        ("project", artifact.project_id or ""),
        ("repo", memory.repo_id or ""),
        ("tags", ", ".join(memory.tags)),
        ("visibility", memory.visibility),
        ("created", moment(artifact.created_at)),
        ("size", "" if artifact.size_bytes is None else f"{artifact.size_bytes:,} bytes"),
        ("SHA-256", artifact.checksum or ""),
    ]
