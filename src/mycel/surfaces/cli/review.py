"""The commands about the inbox: what waits for a person, and the decision about it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mycel.domain.memory import Status
from mycel.domain.query import Order
from mycel.errors import InvalidInput, ReferenceNotFound
from mycel.surfaces.cli import inbox_display, options
from mycel.surfaces.cli.display import show_written
from mycel.surfaces.cli.every_team import teams_of
from mycel.surfaces.cli.invocation import Command, ListingGroup, invocation
from mycel.surfaces.cli.json_shapes import shape_list
from mycel.surfaces.cli.material import content_of
from mycel.surfaces.cli.options import clear_fields, filters, given
from mycel.surfaces.cli.titles import present, titles_of

if TYPE_CHECKING:
    from mycel.contracts.memory_api import MemoryApi
    from mycel.contracts.memory_fields import FilterFields
    from mycel.domain.inbox import InboxItem

# Of what one moment put into the inbox.
_AT_ONCE = 1000

Ids = Annotated[list[str], typer.Argument(metavar="ID", help="The ids of the memories.")]


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=ListingGroup, help="Look through what waits for a person, and decide. Alone it lists.")
    for name, command in (
        ("list", list_items),
        ("show", show),
        ("approve", approve),
        ("edit", edit),
        ("reject", reject),
    ):
        group.command(name, cls=Command)(command)
    app.add_typer(group, name="inbox", rich_help_panel="Review")


def list_items(
    context: typer.Context,
    *,
    type: options.TypeFilter = None,
    tag: options.TagFilter = None,
    project: options.ProjectFilter = None,
    repo: options.RepoFilter = None,
    path: options.PathFilter = None,
    category: options.CategoryFilter = None,
    by: options.AuthorFilter = None,
    since: options.Since = None,
    until: options.Until = None,
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what waits, the newest first, and why; for the owner of the files in every team."""
    chosen = filters(
        type=type,
        tag=tag,
        status=None,
        project=project,
        repo=repo,
        path=path,
        category=category,
        agent=by,
        since=since,
        until=until,
    )
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, after: memory.inbox(limit=most, cursor=after, **cast("FilterFields", chosen)),
            limit=limit,
            cursor=cursor,
            order=Order,
            memory_of=lambda item: item.memory,
        )
        with_team = teams.are_several
    call.answer(page, lambda: inbox_display.show_items(page, with_team=with_team))


def show(context: typer.Context, id: options.Id) -> None:
    """Show what waits with its evidence where it was said, and what it is linked with."""
    call = invocation(context)
    with teams_of(call) as teams:
        memory, item = teams.where_it_is(lambda memory: (memory, _find_item(memory, id)))
        linked = [inbox_display.other_end(link, item.memory.id) for link in item.links if not link.to_place]
        titles = titles_of(memory, linked)
    call.answer(item, lambda: inbox_display.show_item(item, titles=titles))


def approve(context: typer.Context, ids: Ids) -> None:
    """Make what waits active: all of it, or none on an error."""
    call = invocation(context)
    with teams_of(call) as teams:
        approved = teams.where_it_is(lambda memory: memory.approve_many(ids))
    call.answer(shape_list(approved), lambda: inbox_display.show_decided(approved, done="approved"))


def edit(
    context: typer.Context,
    id: options.Id,
    *,
    content: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The new text; `-` reads it from standard input.")
    ] = None,
    type: options.Type = None,
    title: options.Title = None,
    summary: options.Summary = None,
    tag: options.Tag = None,
    category: options.Category = None,
    key: options.Key = None,
    rationale: options.Rationale = None,
    alternative: options.Alternative = None,
    confidence: options.Confidence = None,
    project: options.Project = None,
    repo: options.Repo = None,
    path: options.PathOption = None,
    visibility: options.VisibilityOption = None,
    role: options.AllowedRole = None,
    ttl: options.Ttl = None,
    clear: options.Clear = None,
) -> None:
    """Change fields of what waits, and approve it so."""
    edits = given(
        {
            "content": None if content is None else content_of(content),
            "type": type,
            "title": title,
            "summary": summary,
            "tags": tag,
            "category": category,
            "key": key,
            "rationale": rationale,
            "alternatives": alternative,
            "confidence": confidence,
            "project": project,
            "repo": repo,
            "path": path,
            "visibility": visibility,
            "allowed_roles": role,
            "ttl": ttl,
        }
    )
    clear_fields(edits, clear or [])
    if not edits:
        raise InvalidInput("must name a field to change; `approve` changes nothing", field="edit")
    call = invocation(context)
    with teams_of(call) as teams:
        approved = teams.where_it_is(lambda memory: memory.approve(id, edits=edits))
    call.answer(approved, lambda: show_written(approved, done="approved"))


def reject(
    context: typer.Context,
    ids: Ids,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for its history.")],
) -> None:
    """Archive what waits, with the reason: all of it, or none on an error."""
    call = invocation(context)
    with teams_of(call) as teams:
        rejected = teams.where_it_is(lambda memory: memory.reject_many(ids, reason))
    call.answer(shape_list(rejected), lambda: inbox_display.show_decided(rejected, done="rejected"))


def _find_item(memory: MemoryApi, id: str) -> InboxItem:
    """The inbox cannot be asked for one memory, but for what was made at its moment."""
    found = present(memory, id)
    until = found.created_at + timedelta(microseconds=1)
    for item in memory.inbox(since=found.created_at, until=until, limit=_AT_ONCE):
        if item.memory.id == found.id:
            return item
    state = "its time was up" if found.status is Status.INBOX else f"it is {found.status}"
    raise ReferenceNotFound(f"memory {found.id} does not wait in the inbox: {state}")
