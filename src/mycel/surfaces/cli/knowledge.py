"""The commands about knowledge, and those that write for somebody else: a lesson, a fact about a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mycel.domain.knowledge import Outcome
from mycel.domain.memory import TAUGHT, WRITTEN
from mycel.errors import InvalidInput
from mycel.surfaces.cli import display, options
from mycel.surfaces.cli.display import moment, show_more, show_written, when
from mycel.surfaces.cli.every_team import answer_deleted, teams_of
from mycel.surfaces.cli.invocation import ListingGroup, add_commands, add_group, invocation
from mycel.surfaces.cli.material import FROM_INPUT, content_of, read_material
from mycel.surfaces.cli.options import any_of, naming, with_fields, with_filters
from mycel.surfaces.cli.output import Column, note, one_line, print_table, whole_list
from mycel.wire.shapes import as_knowledge

if TYPE_CHECKING:
    from mycel.contracts.written_fields import KnowledgeFields
    from mycel.domain.knowledge import ImportReport
    from mycel.domain.memory import Memory, Version
    from mycel.domain.query import Page


KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="The key, such as auth-flow.")]
FILTERS: Mapping[str, Any] = {
    "project": options.ProjectFilter,
    "category": options.CategoryFilter,
    "key": Annotated[str | None, typer.Option("--key", metavar="NAME", help="Under this key.")],
}
Category = Annotated[
    str, typer.Option("--category", metavar="NAME", help="Such as convention, architecture, decision or fact.")
]


def add_to(app: typer.Typer) -> None:
    add_commands(app, "Write", {"learn": learn})
    add_group(app, "profile", "Write", {"set": set_fact}, help="Keep facts about the people of a team.")
    add_group(
        app,
        "knowledge",
        "Write",
        {
            "list": list_values,
            "get": get,
            "set": set_value,
            "history": history,
            "candidates": candidates,
            "arbitrate": arbitrate,
            "delete": delete,
            "import": import_files,
        },
        help="Keep one standing value per project, category and key. Alone it lists.",
        cls=ListingGroup,
    )


@with_filters(FILTERS)
def list_values(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List the values that stand, the newest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, after: memory.knowledge.list(limit=most, cursor=after, **filters),
            limit=limit,
            cursor=cursor,
            memory_of=lambda memory: memory,
        )
        with_team = teams.are_several
    call.answer(as_knowledge(page), lambda: show_values(page, empty="No knowledge.", with_team=with_team))


def get(
    context: typer.Context,
    key: KeyArgument,
    *,
    project: options.ProjectFilter = None,
    category: Category = "fact",
) -> None:
    """Show the value that stands under a key."""
    call = invocation(context)
    wanted: dict[str, Any] = {"key": key, "project": project, "category": category}
    with teams_of(call) as teams:
        found = teams.having(lambda memory: memory.knowledge.get(**wanted), id=key, field="key").knowledge.get(**wanted)
    call.answer(as_knowledge(found), lambda: display.show_memory(found))


@with_fields(row for row in WRITTEN.values() if row.of_values)
def set_value(
    context: typer.Context,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value; `-` reads it from standard input.")],
    *,
    fields: dict[str, Any],
    project: options.Project = None,
    category: Category = "fact",
    confidence: options.Confidence = None,
    expected_version: Annotated[
        int | None,
        typer.Option(metavar="N", help="Fail unless the standing value is at this version; 0 if there must be none."),
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
) -> None:
    """Set the value of a key.

    It replaces what is less sure, and what the same member is as sure of. An equal value of another member confirms
    it; any other waits for an arbiter.
    """
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
    call.answer(as_knowledge(stored), lambda: display.show_written(stored, done="saved"))


def history(context: typer.Context, id: options.Id) -> None:
    """List every version of a value, the oldest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        versions = place.memory.knowledge.history(place.id)
    call.answer(whole_list(versions), lambda: show_versions(versions))


@with_filters(FILTERS)
def candidates(
    context: typer.Context,
    *,
    filters: dict[str, Any],
    limit: options.PageLimit = None,
    cursor: options.Cursor = None,
) -> None:
    """List what waits for an arbiter, the newest first."""
    call = invocation(context)
    with teams_of(call) as teams:
        page = teams.page(
            lambda memory, most, after: memory.knowledge.candidates(limit=most, cursor=after, **filters),
            limit=limit,
            cursor=cursor,
            memory_of=lambda memory: memory,
        )
        with_team = teams.are_several
    call.answer(as_knowledge(page), lambda: show_values(page, empty="Nothing waits.", with_team=with_team))


def arbitrate(
    context: typer.Context,
    id: options.Id,
    *,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the history.")] = None,
) -> None:
    """Decide that a value holds, against what stands or waits. For the orchestrator, leads and admins."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find(id)
        held = place.memory.knowledge.arbitrate(place.id, reason=reason)
    call.answer(
        as_knowledge(held),
        lambda: display.show_done(held.id, f"{display.named(held)} holds; what was against it is in the history"),
    )


def delete(context: typer.Context, id: options.Id) -> None:
    """Take a value out of every answer; `mycel restore` brings it back."""
    call = invocation(context)
    with teams_of(call) as teams:
        place = teams.find_titled(id)
        place.memory.knowledge.delete(place.id)
    answer_deleted(call, place)


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
    call.answer(whole_list(reports), lambda: show_reports(reports))


def learn(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The member who should learn it.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The lesson; `-` reads it from standard input.")],
    *,
    category: Annotated[str, typer.Option("--category", metavar="NAME", help=f"One of {any_of(TAUGHT)}.")],
    private: Annotated[bool, typer.Option("--private", help="For this member alone, not for the team.")] = False,
) -> None:
    """Teach a member of the team a lesson that the whole team may read. For leads and admins."""
    call = invocation(context)
    lesson = content_of(text, field="text")
    with naming(agent_id="agent", learning="text"), call.memory() as memory:
        taught = memory.inject_learning(agent, lesson, category, private=private)
    call.answer(taught, lambda: show_written(taught, done="saved"))


def set_fact(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the fact is about, such as editor.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The fact; `-` reads it from standard input.")],
    *,
    about: Annotated[
        str | None, typer.Option(metavar="MEMBER", help="The person; by default whoever runs this.")
    ] = None,
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="An admin vouches for it; otherwise it waits for the person.")
    ] = False,
) -> None:
    """Set a fact about a person; what stood under the key is replaced."""
    call = invocation(context)
    fact = content_of(value, field="value")
    with call.memory() as memory:
        stored = memory.upsert_profile_fact(key, fact, about=about, confirmed=confirmed)
    call.answer(stored, lambda: show_written(stored, done="saved"))


def show_values(page: Page[Memory], *, empty: str, with_team: bool = False) -> None:
    columns = (
        Column("key", "bold"),
        Column("category", "cyan"),
        Column("project"),
        Column("confidence"),
        Column("confirmed"),
        Column("by"),
        Column("updated", "dim"),
        Column("id", "dim", below=True),
        Column("value", below=True, apart=True),
        *display.team_column(with_team=with_team),
    )
    if page:
        print_table(columns, [(*_row(memory), *([memory.team] if with_team else [])) for memory in page])
    else:
        note(empty)
    show_more(page)


def show_versions(versions: Sequence[Version]) -> None:
    columns = (
        Column("version", "bold"),
        Column("status", "cyan"),
        Column("confidence"),
        Column("by"),
        Column("from", "dim"),
        Column("value", below=True, apart=True),
        Column("why", "dim", below=True, apart=True),
    )
    rows = [
        (
            str(one.memory.version),
            one.memory.status,
            f"{one.memory.confidence:g}",
            one.changed_by,
            moment(one.believed_from),
            one.memory.content,
            one.reason or "",
        )
        for one in versions
    ]
    print_table(columns, rows)


def show_reports(reports: Sequence[ImportReport]) -> None:
    columns = (
        Column("key", "bold"),
        Column("category", "cyan"),
        Column("outcome"),
        Column("id", "dim", below=True),
        Column("file", "dim", below=True),
    )
    rows = [
        (entry.key, entry.category, entry.outcome, entry.memory_id or "", report.name)
        for report in reports
        for entry in (*report.entries, *report.missing)
    ]
    if rows:
        print_table(columns, rows)
    for report in reports:
        for left in report.left_out:
            note(f"{report.name}:{left.line}: left out {one_line(left.what)}: {left.reason}")
        counts = [f"{report.count(outcome)} {outcome}" for outcome in Outcome if report.count(outcome)]
        would = "would be " if report.dry_run else ""
        note(f"{report.name}: {would}{', '.join(counts) or 'nothing to import'}")


def _row(memory: Memory) -> tuple[str, ...]:
    return (
        memory.key or "",
        memory.category or "",
        memory.project_id or "",
        f"{memory.confidence:g}",
        str(memory.confirmations or ""),
        memory.agent_id,
        when(memory.updated_at),
        memory.id,
        memory.content,
    )
