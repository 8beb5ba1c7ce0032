"""The commands about knowledge: the values that stand under keys, what waits against them, shared markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mycel.errors import InvalidInput
from mycel.surfaces.cli import display, knowledge_display, options
from mycel.surfaces.cli.invocation import Command, ListingGroup, invocation
from mycel.surfaces.cli.json_shapes import shape_list
from mycel.surfaces.cli.material import FROM_INPUT, content_of, read_material
from mycel.surfaces.cli.options import given, naming

if TYPE_CHECKING:
    from mycel.contracts.knowledge_api import KnowledgeFields

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="The key, such as auth-flow.")]
KeyFilter = Annotated[str | None, typer.Option("--key", metavar="NAME", help="Under this key.")]
Category = Annotated[
    str, typer.Option("--category", metavar="NAME", help="Such as convention, architecture, decision or fact.")
]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=ListingGroup, help="Keep one standing value per project, category and key. Alone it lists.")
    for name, command in (
        ("list", list_values),
        ("get", get),
        ("set", set_value),
        ("history", history),
        ("candidates", candidates),
        ("arbitrate", arbitrate),
        ("delete", delete),
        ("import", import_files),
    ):
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="knowledge", rich_help_panel="Write")


def list_values(
    context: typer.Context,
    *,
    project: options.ProjectFilter = None,
    category: options.CategoryFilter = None,
    key: KeyFilter = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List the values that stand, the newest first."""
    call = invocation(context)
    with call.memory() as memory:
        page = memory.knowledge.list(project=project, category=category, key=key, limit=limit, cursor=cursor)
    call.answer(page, lambda: knowledge_display.show_values(page, empty="No knowledge."))


def get(
    context: typer.Context,
    key: KeyArgument,
    *,
    project: options.ProjectFilter = None,
    category: Category = "fact",
) -> None:
    """Show the value that stands under a key."""
    call = invocation(context)
    with call.memory() as memory:
        found = memory.knowledge.get(key=key, project=project, category=category)
    call.answer(found, lambda: display.show_memory(found))


def set_value(
    context: typer.Context,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value; `-` reads it from standard input.")],
    *,
    project: options.Project = None,
    category: Category = "fact",
    confidence: options.Confidence = None,
    tag: options.Tag = None,
    repo: options.Repo = None,
    rationale: options.Rationale = None,
    alternative: options.Alternative = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
    expected_version: Annotated[
        int | None,
        typer.Option(metavar="N", help="Fail unless the standing value is at this version; 0 if there must be none."),
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Set the value of a key.

    It replaces what is less sure, and what the same member is as sure of; otherwise it waits for an arbiter.
    """
    fields = given(
        {
            "tags": tag,
            "repo": repo,
            "rationale": rationale,
            "alternatives": alternative,
            "visibility": visibility,
            "allowed_roles": role,
        }
    )
    call = invocation(context)
    text = content_of(value, field="value")
    with call.memory() as memory:
        stored = memory.knowledge.upsert(
            key=key,
            value=text,
            project=project,
            category=category,
            confidence=confidence,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
            **cast("KnowledgeFields", fields),
        )
    call.answer(stored, lambda: display.show_written(stored, done="saved"))


def history(context: typer.Context, id: options.Id) -> None:
    """List every version of a value, the oldest first."""
    call = invocation(context)
    with call.memory() as memory:
        versions = memory.knowledge.history(id)
    call.answer(shape_list(versions), lambda: knowledge_display.show_versions(versions))


def candidates(
    context: typer.Context,
    *,
    project: options.ProjectFilter = None,
    category: options.CategoryFilter = None,
    key: KeyFilter = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what waits for an arbiter, the newest first."""
    call = invocation(context)
    with call.memory() as memory:
        page = memory.knowledge.candidates(project=project, category=category, key=key, limit=limit, cursor=cursor)
    call.answer(page, lambda: knowledge_display.show_values(page, empty="Nothing waits."))


def arbitrate(
    context: typer.Context,
    id: options.Id,
    *,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the history.")] = None,
) -> None:
    """Decide that a value holds, against what stands or waits. For the orchestrator, leads and admins."""
    call = invocation(context)
    with call.memory() as memory:
        held = memory.knowledge.arbitrate(id, reason=reason)
    call.answer(held, lambda: display.show_done(held.id, f"{held.key} holds; what was against it is in the history"))


def delete(context: typer.Context, id: options.Id) -> None:
    """Take a value out of every answer; `mycel restore` brings it back."""
    call = invocation(context)
    with call.memory() as memory:
        memory.knowledge.delete(id)
    call.answer({"id": id, "deleted": True}, lambda: display.show_done(id, "deleted"))


def import_files(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Markdown files; `-` is standard input.")],
    *,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="TEXT", help="What the file is called; by default its path as it is given."),
    ] = None,
    project: options.Project = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="NAME", help="Of sections whose headings name none; or fact.")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="0..1", help="How sure the files are.")] = 0.8,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and write nothing.")] = False,
) -> None:
    """Import the sections and `- key: value` lines of shared markdown; imported again, only what changed is written."""
    if name is not None and len(files) > 1:
        raise InvalidInput("is for a single file", field="name")
    if name is None and FROM_INPUT in files:
        raise InvalidInput("is needed for what comes from standard input", field="name")
    call = invocation(context)
    texts = [(name or Path(file).as_posix(), read_material(file)) for file in files]
    with naming(text="file"), call.memory() as memory:
        reports = [
            memory.knowledge.import_markdown(
                text, name=called, project=project, category=category, confidence=confidence, dry_run=dry_run
            )
            for called, text in texts
        ]
    call.answer(shape_list(reports), lambda: knowledge_display.show_reports(reports))
