"""How artifacts look to a person, and as JSON: with their own fields and without the whole memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.domain.artifact import FileState
from mycel.surfaces.cli.display import labelled, moment, show_done, show_more, when
from mycel.surfaces.cli.output import Column, line, note, one_line, print_lines, print_table

if TYPE_CHECKING:
    from mycel.domain.artifact import Artifact, Verification
    from mycel.domain.query import Page

# Enough to tell two apart by eye.
_SHOWN_DIGITS = 12
_STYLES = {FileState.UNCHANGED: "green", FileState.CHANGED: "yellow", FileState.GONE: "red"}


def artifact_shape(artifact: Artifact) -> dict[str, object]:
    memory = artifact.memory
    return {
        "id": artifact.id,
        "task_id": artifact.task_id,
        "agent_id": artifact.agent_id,
        "type": artifact.type,
        "path": artifact.path,
        "description": artifact.description,
        "size_bytes": artifact.size_bytes,
        "checksum": artifact.checksum,
        "created_at": artifact.created_at,
        "project_id": artifact.project_id,
        "repo_id": memory.repo_id,
        "tags": memory.tags,
        "visibility": memory.visibility,
        "status": memory.status,
        "registered_by": memory.agent_id,
        "team": memory.team,
        "content": artifact.content,
    }


def show_artifacts(page: Page[Artifact]) -> None:
    columns = (
        Column("path", "bold"),
        Column("type", "cyan"),
        Column("task"),
        Column("by"),
        Column("created", "dim"),
        Column("id", "dim", below=True),
        Column("description", below=True, apart=True),
    )
    if page:
        print_table(columns, [_row(artifact) for artifact in page])
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
